//! Reads the shapes out of Rust sources: plain items, and the rows of `params!`, `answers!`, `topics!`, `codes!`.

use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Expr, Fields, Ident, Item, Lit, Meta, Token, braced, parenthesized};

/// One exported type.
pub(super) struct Type {
    pub name: String,
    pub generic: Option<String>,
    pub docs: String,
    pub shape: Shape,
}

pub(super) enum Shape {
    Record(Vec<Field>),
    Words(Vec<(String, String)>),
    /// A closed list of the room `words`: pages also ask at run time what belongs to it.
    List(Vec<(String, String)>),
    /// Variants told apart by the field named here; untagged when `None`.
    Union(Option<String>, Vec<Variant>),
    Alias(String),
    /// A re-export of another noun's type.
    From(String),
}

pub(super) struct Field {
    pub name: String,
    pub docs: String,
    pub ts: String,
    /// The field may be missing.
    pub open: bool,
}

pub(super) struct Variant {
    pub word: String,
    pub docs: String,
    /// The one unnamed value of an untagged variant.
    pub bare: Option<String>,
    pub fields: Vec<Field>,
}

pub(super) fn types(source: &str) -> Vec<Type> {
    let file = syn::parse_file(source).unwrap();
    let mut found: Vec<Type> = file.items.iter().flat_map(item).collect();
    // A bare `Value` is the noun's own where it has one, and any JSON otherwise.
    if !found.iter().any(|one| one.name == "Value") {
        for field in found.iter_mut().flat_map(fields_of) {
            if field.ts == "Value" {
                field.ts = "unknown".to_owned();
            }
        }
    }
    found
}

fn fields_of(one: &mut Type) -> Vec<&mut Field> {
    match &mut one.shape {
        Shape::Record(fields) => fields.iter_mut().collect(),
        Shape::Union(_, variants) => variants.iter_mut().flat_map(|v| v.fields.iter_mut()).collect(),
        Shape::Words(_) | Shape::List(_) | Shape::Alias(_) | Shape::From(_) => Vec::new(),
    }
}

fn item(item: &Item) -> Vec<Type> {
    match item {
        Item::Macro(found) => in_macro(found),
        Item::Struct(found) if public(&found.vis) => {
            let generic = found.generics.type_params().next().map(|p| p.ident.to_string());
            let shape = Shape::Record(fields(&found.fields, true));
            vec![Type { name: found.ident.to_string(), generic, docs: docs(&found.attrs), shape }]
        }
        Item::Enum(found) if public(&found.vis) => {
            let shape = union(found);
            vec![Type { name: found.ident.to_string(), generic: None, docs: docs(&found.attrs), shape }]
        }
        Item::Type(found) => {
            let shape = Shape::Alias(ts(&found.ty));
            vec![Type { name: found.ident.to_string(), generic: None, docs: docs(&found.attrs), shape }]
        }
        Item::Use(found) if public(&found.vis) => {
            let words = found.tree.to_token_stream().to_string().replace(' ', "");
            let parts: Vec<&str> = words.split("::").collect();
            let [_, noun, name] = parts[..] else { panic!("`{words}` is no `crate::noun::Name`") };
            let (name, shape) = (name.to_owned(), Shape::From(noun.to_owned()));
            vec![Type { name, generic: None, docs: String::new(), shape }]
        }
        _ => Vec::new(),
    }
}

fn in_macro(found: &syn::ItemMacro) -> Vec<Type> {
    let name = found.mac.path.get_ident().map(Ident::to_string).unwrap_or_default();
    let words = |name: &str, all: Vec<&'static str>| {
        let rows = all.into_iter().map(|word| (word.to_owned(), String::new())).collect();
        vec![Type { name: name.to_owned(), generic: None, docs: String::new(), shape: Shape::Words(rows) }]
    };
    match name.as_str() {
        "params" | "answers" => {
            let rows = |input: ParseStream<'_>| {
                let mut found = Vec::new();
                while !input.is_empty() {
                    found.push(input.parse::<Row>()?);
                }
                Ok(found)
            };
            let rows = rows.parse2(found.mac.tokens.clone()).unwrap();
            rows.into_iter().map(|row| row.typed(name == "params")).collect()
        }
        _ if found.mac.path.segments.last().is_some_and(|last| last.ident == "names") => {
            let list: List = syn::parse2(found.mac.tokens.clone()).unwrap();
            vec![list.0]
        }
        "topics" => words("Topic", wire::Topic::ALL.iter().map(|t| t.as_str()).collect()),
        "codes" => words("Code", wire::Code::ALL.iter().map(|c| c.as_str()).collect()),
        _ => Vec::new(),
    }
}

/// `/// docs pub enum Name ("noun") { /// docs Value = "value", ... }`
struct List(Type);

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        input.parse::<Token![enum]>()?;
        let name = input.parse::<Ident>()?.to_string();
        let (noun, inside);
        parenthesized!(noun in input);
        noun.parse::<syn::LitStr>()?;
        braced!(inside in input);
        let shape = Shape::List(list_rows(&inside)?);
        Ok(Self(Type { name, generic: None, docs: docs(&attrs), shape }))
    }
}

/// `/// docs Value = "value", ...`
fn list_rows(input: ParseStream<'_>) -> syn::Result<Vec<(String, String)>> {
    let mut rows = Vec::new();
    while !input.is_empty() {
        let about = docs(&input.call(Attribute::parse_outer)?);
        input.parse::<Ident>()?;
        input.parse::<Token![=]>()?;
        rows.push((input.parse::<syn::LitStr>()?.value(), about));
        input.parse::<Token![,]>()?;
    }
    Ok(rows)
}

/// `/// docs Name { field: Type, ... }`
struct Row {
    attrs: Vec<Attribute>,
    name: Ident,
    fields: Vec<(Vec<Attribute>, Ident, syn::Type)>,
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        let inside;
        braced!(inside in input);
        let mut fields = Vec::new();
        while !inside.is_empty() {
            let attrs = inside.call(Attribute::parse_outer)?;
            let name = inside.parse()?;
            inside.parse::<Token![:]>()?;
            fields.push((attrs, name, inside.parse()?));
            if !inside.is_empty() {
                inside.parse::<Token![,]>()?;
            }
        }
        Ok(Self { attrs, name, fields })
    }
}

impl Row {
    fn typed(self, is_params: bool) -> Type {
        let fields = self.fields.iter().map(|(attrs, name, ty)| field(attrs, name, ty, is_params));
        let shape = Shape::Record(fields.collect());
        Type { name: self.name.to_string(), generic: None, docs: docs(&self.attrs), shape }
    }
}

fn public(vis: &syn::Visibility) -> bool {
    matches!(vis, syn::Visibility::Public(_))
}

fn fields(fields: &Fields, is_params: bool) -> Vec<Field> {
    fields.iter().filter_map(|f| Some(field(&f.attrs, f.ident.as_ref()?, &f.ty, is_params))).collect()
}

fn field(attrs: &[Attribute], name: &Ident, ty: &syn::Type, is_params: bool) -> Field {
    let said = serde(attrs);
    let ts = ts(ty);
    let open = said.contains("default") || said.contains("skip_serializing_if");
    Field {
        name: name.to_string(),
        docs: docs(attrs),
        open: open || (is_params && ts.ends_with("| null")),
        ts,
    }
}

fn union(found: &syn::ItemEnum) -> Shape {
    let said = serde(&found.attrs);
    let case = |name: &str| if said.contains("snake_case") { snake(name) } else { name.to_owned() };
    let plain = found.variants.iter().all(|v| matches!(v.fields, Fields::Unit));
    if plain {
        let words = found.variants.iter().map(|v| (case(&v.ident.to_string()), docs(&v.attrs)));
        return Shape::Words(words.collect());
    }
    let tag = said.split("tag=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    let variants = found.variants.iter().map(|v| Variant {
        word: case(&v.ident.to_string()),
        docs: docs(&v.attrs),
        bare: match &v.fields {
            Fields::Unnamed(one) => one.unnamed.first().map(|f| ts(&f.ty)),
            _ => None,
        },
        fields: fields(&v.fields, false),
    });
    Shape::Union(tag, variants.collect())
}

/// Everything said to serde, without spaces.
fn serde(attrs: &[Attribute]) -> String {
    let found = attrs.iter().filter(|a| a.path().is_ident("serde"));
    found.map(|a| a.meta.to_token_stream().to_string().replace(' ', "")).collect()
}

fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|a| match &a.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn snake(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// The TypeScript of a Rust type, as serde writes it.
fn ts(ty: &syn::Type) -> String {
    let syn::Type::Path(path) = ty else { panic!("`{}` has no TypeScript", ty.to_token_stream()) };
    let last = path.path.segments.last().unwrap();
    let inside: Vec<String> = match &last.arguments {
        syn::PathArguments::AngleBracketed(given) => given
            .args
            .iter()
            .filter_map(|a| match a {
                syn::GenericArgument::Type(ty) => Some(ts(ty)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let first = || inside[0].clone();
    match last.ident.to_string().as_str() {
        "String" => "string".to_owned(),
        "bool" => "boolean".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "i64" | "usize" | "f64" => "number".to_owned(),
        "Option" => format!("{} | null", first()),
        "Vec" if first().contains(' ') => format!("({})[]", first()),
        "Vec" => format!("{}[]", first()),
        "Box" => first(),
        "BTreeMap" => format!("Record<{}, {}>", inside[0], inside[1]),
        "Value" if path.path.segments.len() > 1 => "unknown".to_owned(),
        name if inside.is_empty() => name.to_owned(),
        name => format!("{name}<{}>", inside.join(", ")),
    }
}
