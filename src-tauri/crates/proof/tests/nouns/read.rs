//! Reads the shapes of records off the sources of the rooms `words`, `model` and `acts`: plain items, and the rows of
//! their macros.

use quote::ToTokens as _;
use std::collections::BTreeMap;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Fields, Ident, Item, LitInt, LitStr, Token, braced, parenthesized};

/// Macros that have more bodies, behind those of `bodies`.
const MORE_BODIES: [&str; 3] = ["with_schedules", "with_skins", "with_gateways"];

/// Every type of the sources by its name, and every body by its event type.
#[derive(Default)]
pub struct Model {
    pub types: BTreeMap<String, Def>,
    /// Event type, version and fields, in the order of the registry.
    pub bodies: Vec<(String, u32, Vec<Field>)>,
    /// Prefix by the name of the identifier.
    pub ids: BTreeMap<String, String>,
}

/// What serde makes of a type.
pub enum Def {
    /// One of a closed list of names.
    Words(Vec<String>),
    Record(Record),
    /// Told apart by the member of this name.
    Tagged(String, Vec<(String, Variant)>),
    /// A name, or an object whose one member is named like the variant.
    Plain(Vec<(String, Option<Ty>)>),
}

pub struct Record {
    pub fields: Vec<Field>,
    /// Whether it refuses a member that it does not know.
    pub closed: bool,
}

pub enum Variant {
    Unit,
    Fields(Record),
    Newtype(Ty),
}

pub struct Field {
    pub name: String,
    pub ty: Ty,
    /// Whether it may be missing.
    pub has_default: bool,
    /// Whether it is left out when it is empty.
    pub is_skipped: bool,
}

pub enum Ty {
    Named(String),
    Option(Box<Ty>),
    List(Box<Ty>),
    Map(Box<Ty>),
    Sensitive(Box<Ty>),
    Slot(Box<Ty>),
}

impl Model {
    /// Takes in one source file.
    pub fn read(&mut self, source: &str) {
        for item in syn::parse_file(source).unwrap().items {
            match item {
                Item::Macro(found) => self.rows(&found),
                Item::Struct(found) if found.generics.params.is_empty() => {
                    self.add(&found.ident, Def::Record(record(&found.fields, &serde(&found.attrs))));
                }
                Item::Enum(found) if found.generics.params.is_empty() => {
                    self.add(&found.ident, union(&found))
                }
                Item::Use(found) => self.rename(&found.tree),
                _ => {}
            }
        }
    }

    /// A list of `words`, which is read before, is called in `model` as `pub use` says.
    fn rename(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.rename(&path.tree),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.rename(item)),
            syn::UseTree::Rename(name) => {
                if let Some(def) = self.types.remove(&name.ident.to_string()) {
                    self.add(&name.rename, def);
                }
            }
            syn::UseTree::Name(_) | syn::UseTree::Glob(_) => {}
        }
    }

    /// Takes in the list of tools, `module::Type = "name",` a row, with the records of the room `acts`: a tool's own have no
    /// name here, for a receipt's change is another thing than the tool.
    pub fn take_tools(&mut self, mut acts: Self, list: &str) {
        let list = list.split("macro_rules! each_tool").nth(1).unwrap();
        let rows = list.lines().map(str::trim).take_while(|line| *line != "}");
        let tools: Vec<_> = rows
            .filter(|line| line.ends_with("\","))
            .map(|row| {
                let (path, name) = row.split_once(" = ").unwrap();
                let ty = path.rsplit("::").next().unwrap();
                let variant = match acts.types.remove(ty) {
                    Some(Def::Record(record)) => Variant::Fields(record),
                    found => {
                        self.types.extend(found.map(|def| (ty.to_owned(), def)));
                        Variant::Newtype(Ty::Named(ty.to_owned()))
                    }
                };
                (name.trim_matches(['"', ',']).to_owned(), variant)
            })
            .collect();
        self.types.insert("Action".to_owned(), Def::Tagged("tool".to_owned(), tools));
        for name in ["ActionRequest", "ApprovalPacket"] {
            self.types.insert(name.to_owned(), acts.types.remove(name).unwrap());
        }
    }

    fn add(&mut self, name: &Ident, def: Def) {
        assert!(self.types.insert(name.to_string(), def).is_none(), "two types are called `{name}`");
    }

    fn take_bodies(&mut self, rows: Vec<BodyRow>) {
        self.bodies.extend(rows.into_iter().map(|row| (row.0, row.1, row.2)));
    }

    fn rows(&mut self, found: &syn::ItemMacro) {
        let name = found.mac.path.segments.last().unwrap().ident.to_string();
        let tokens = found.mac.tokens.clone();
        match name.as_str() {
            "names" => {
                let (name, words) = closed_list.parse2(tokens).unwrap();
                self.add(&name, Def::Words(words));
            }
            "ids" => self.ids.extend(all::<Id>.parse2(tokens).unwrap().into_iter().map(|row| (row.0, row.1))),
            "bodies" => self.take_bodies(all.parse2(tokens).unwrap()),
            "with_schedules" => self.take_bodies(named.parse2(tokens).unwrap()),
            "macro_rules"
                if found.ident.as_ref().is_some_and(|name| MORE_BODIES.iter().any(|more| name == more)) =>
            {
                self.take_bodies(behind.parse2(tokens).unwrap());
            }
            _ => {}
        }
    }
}

/// `bodies` and the rows: a list that goes on to other macros, one after another, which have more of them.
fn named(input: ParseStream<'_>) -> syn::Result<Vec<BodyRow>> {
    while input.peek(Ident) {
        input.parse::<Ident>()?;
    }
    all(input)
}

/// `($then:ident $($before:tt)*) => { $then! { $($before)* and the rows } };`
fn behind(input: ParseStream<'_>) -> syn::Result<Vec<BodyRow>> {
    let (pattern, outer, inner, repeated);
    parenthesized!(pattern in input);
    pattern.parse::<proc_macro2::TokenStream>()?;
    input.parse::<Token![=>]>()?;
    braced!(outer in input);
    outer.parse::<Token![$]>()?;
    outer.parse::<Ident>()?;
    outer.parse::<Token![!]>()?;
    braced!(inner in outer);
    inner.parse::<Token![$]>()?;
    parenthesized!(repeated in inner);
    repeated.parse::<proc_macro2::TokenStream>()?;
    inner.parse::<Token![*]>()?;
    let rows = all(&inner)?;
    input.parse::<proc_macro2::TokenStream>()?;
    Ok(rows)
}

fn all<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        found.push(input.parse()?);
    }
    Ok(found)
}

/// `/// docs pub enum Name ("kind") { /// docs Variant = "text", … }`
fn closed_list(input: ParseStream<'_>) -> syn::Result<(Ident, Vec<String>)> {
    input.call(Attribute::parse_outer)?;
    input.parse::<syn::Visibility>()?;
    input.parse::<Token![enum]>()?;
    let name = input.parse()?;
    let (kind, inside);
    parenthesized!(kind in input);
    kind.parse::<LitStr>()?;
    braced!(inside in input);
    let mut words = Vec::new();
    while !inside.is_empty() {
        inside.call(Attribute::parse_outer)?;
        inside.parse::<Ident>()?;
        inside.parse::<Token![=]>()?;
        words.push(inside.parse::<LitStr>()?.value());
        inside.parse::<Token![,]>()?;
    }
    Ok((name, words))
}

/// `/// docs Name = "prefix", "kind";`
struct Id(String, String);

impl Parse for Id {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let prefix = input.parse::<LitStr>()?.value();
        input.parse::<Token![,]>()?;
        input.parse::<LitStr>()?;
        input.parse::<Token![;]>()?;
        Ok(Self(name.to_string(), prefix))
    }
}

/// `/// docs Name ("type", 1, Entity, |b| …) { field: Type, …; since field: Type, … }`
struct BodyRow(String, u32, Vec<Field>);

impl Parse for BodyRow {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Ident>()?;
        let (head, inside);
        parenthesized!(head in input);
        let event_type = head.parse::<LitStr>()?.value();
        head.parse::<Token![,]>()?;
        let version = head.parse::<LitInt>()?.base10_parse()?;
        head.parse::<proc_macro2::TokenStream>()?;
        braced!(inside in input);
        let (mut fields, mut is_later) = (Vec::new(), false);
        while !inside.is_empty() {
            if inside.peek(Token![;]) {
                inside.parse::<Token![;]>()?;
                inside.parse::<Ident>()?;
                is_later = true;
            }
            let name: Ident = inside.parse()?;
            inside.parse::<Token![:]>()?;
            let ty: syn::Type = inside.parse()?;
            fields.push(match is_later {
                true => {
                    field(name.to_string(), &syn::parse_quote!(Option<#ty>), "default,skip_serializing_if")
                }
                false => field(name.to_string(), &ty, ""),
            });
            if inside.peek(Token![,]) {
                inside.parse::<Token![,]>()?;
            }
        }
        Ok(Self(event_type, version, fields))
    }
}

fn record(fields: &Fields, said: &str) -> Record {
    let named = fields.iter().filter_map(|one| {
        let said = serde(&one.attrs);
        let name = one.ident.as_ref()?.to_string();
        Some(field(value_of(&said, "rename").unwrap_or(name), &one.ty, &said))
    });
    Record { fields: named.collect(), closed: said.contains("deny_unknown_fields") }
}

fn field(name: String, ty: &syn::Type, said: &str) -> Field {
    let (has_default, is_skipped) = (said.contains("default"), said.contains("skip_serializing_if"));
    Field { name, ty: type_of(ty), has_default, is_skipped }
}

fn union(found: &syn::ItemEnum) -> Def {
    let said = serde(&found.attrs);
    let word = |name: &Ident| {
        if said.contains("rename_all=\"snake_case\"") { snake(&name.to_string()) } else { name.to_string() }
    };
    let only = |fields: &Fields| fields.iter().next().map(|one| type_of(&one.ty));
    let variants = found.variants.iter();
    match value_of(&said, "tag") {
        Some(tag) => {
            let variants = variants.map(|one| {
                let variant = match &one.fields {
                    Fields::Unit => Variant::Unit,
                    Fields::Named(_) => Variant::Fields(record(&one.fields, &said)),
                    Fields::Unnamed(_) => Variant::Newtype(only(&one.fields).unwrap()),
                };
                (word(&one.ident), variant)
            });
            Def::Tagged(tag, variants.collect())
        }
        None => Def::Plain(variants.map(|one| (word(&one.ident), only(&one.fields))).collect()),
    }
}

/// Everything said to serde, without spaces.
fn serde(attrs: &[Attribute]) -> String {
    let found = attrs.iter().filter(|a| a.path().is_ident("serde"));
    found.map(|a| a.meta.to_token_stream().to_string().replace(' ', "")).collect()
}

/// What stands between the quotes after `name=`.
fn value_of(said: &str, name: &str) -> Option<String> {
    said.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
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

fn type_of(ty: &syn::Type) -> Ty {
    // What no record holds, such as an array, is found out when a record leads there.
    let syn::Type::Path(path) = ty else { return Ty::Named(ty.to_token_stream().to_string()) };
    let last = path.path.segments.last().unwrap();
    let inside = match &last.arguments {
        syn::PathArguments::AngleBracketed(given) => given.args.iter().next_back(),
        _ => None,
    };
    let inside = || match inside {
        Some(syn::GenericArgument::Type(ty)) => Box::new(type_of(ty)),
        _ => panic!("`{}` is of nothing", ty.to_token_stream()),
    };
    match last.ident.to_string().as_str() {
        "Option" => Ty::Option(inside()),
        "Box" => *inside(),
        "Vec" => Ty::List(inside()),
        "BTreeMap" => Ty::Map(inside()),
        "Sensitive" => Ty::Sensitive(inside()),
        "Slot" => Ty::Slot(inside()),
        "Text" => Ty::Sensitive(Box::new(Ty::Named("String".to_owned()))),
        name => Ty::Named(name.to_owned()),
    }
}
