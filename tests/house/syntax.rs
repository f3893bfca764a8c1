//! Rust sources as syntax: how long each function is, and what the code outside tests says.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use std::collections::BTreeSet;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

/// Name and length in lines of every function of a file, nested and associated ones too, in order.
pub fn functions(text: &str) -> Vec<(String, usize)> {
    let mut lengths = Lengths { scope: Vec::new(), found: Vec::new() };
    lengths.visit_file(&parse(text));
    lengths.found
}

struct Lengths {
    scope: Vec<String>,
    found: Vec<(String, usize)>,
}

impl Lengths {
    fn enter(&mut self, name: String, walk: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        walk(self);
        self.scope.pop();
    }

    /// From the line of `fn` to the closing brace; attributes and docs do not count.
    fn measure(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line + 1 - sig.span().start().line;
        let name = self.scope.iter().cloned().chain([sig.ident.to_string()]);
        self.found.push((name.collect::<Vec<_>>().join("::"), lines));
    }
}

impl<'ast> Visit<'ast> for Lengths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.enter(item.ident.to_string(), |s| syn::visit::visit_item_mod(s, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = item.self_ty.to_token_stream().to_string().replace(' ', "");
        self.enter(name, |s| syn::visit::visit_item_impl(s, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig, &item.block);
        self.enter(item.sig.ident.to_string(), |s| syn::visit::visit_item_fn(s, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig, &item.block);
        self.enter(item.sig.ident.to_string(), |s| syn::visit::visit_impl_item_fn(s, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.measure(&item.sig, block);
        }
    }
}

/// The tokens of a file outside `#[cfg(test)]` items, joined by spaces: no comments, no docs, no literals.
/// A path reads as `std :: fs :: read`,
/// and `use std::{fs, io}` as `std :: fs` and `std :: io` besides.
pub fn code_words(text: &str) -> String {
    let file = parse(text);
    let mut words = Vec::new();
    for item in file.items.iter().filter(|item| !is_for_tests(attributes(item))) {
        collect(item.to_token_stream(), &mut words);
        Imports { words: &mut words }.visit_item(item);
    }
    words.join(" ")
}

/// The names that a file says outside `#[cfg(test)]` items, comments and literals, as often as it says them.
pub fn production_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for item in parse(text).items.iter().filter(|item| !is_for_tests(attributes(item))) {
        collect(item.to_token_stream(), &mut words);
    }
    words.retain(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    words
}

/// Spells out each import with its whole path.
struct Imports<'a> {
    words: &'a mut Vec<String>,
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.spell(&item.tree, "");
    }
}

impl Imports<'_> {
    fn spell(&mut self, tree: &syn::UseTree, before: &str) {
        match tree {
            syn::UseTree::Path(path) => self.spell(&path.tree, &format!("{before}{} :: ", path.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.spell(item, before)),
            syn::UseTree::Name(name) => self.words.push(format!("{before}{} ;", name.ident)),
            syn::UseTree::Rename(name) => self.words.push(format!("{before}{} ;", name.ident)),
            syn::UseTree::Glob(_) => self.words.push(format!("{before}* ;")),
        }
    }
}

/// The lines that hold code outside `#[cfg(test)]` items and comments.
pub fn code_lines(text: &str) -> usize {
    let mut lines = BTreeSet::new();
    for item in parse(text).items.iter().filter(|item| !is_for_tests(attributes(item))) {
        lines_of(item.to_token_stream(), &mut lines);
    }
    lines.len()
}

fn lines_of(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == '#' && trees.next_if(is_doc).is_some() => {}
            TokenTree::Group(group) => {
                lines.insert(group.span_open().start().line);
                lines.insert(group.span_close().end().line);
                lines_of(group.stream(), lines);
            }
            other => {
                lines.insert(other.span().start().line);
            }
        }
    }
}

/// The bracket of `#[doc = "..."]`, which is what a doc comment is to the parser.
fn is_doc(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else {
        return false;
    };
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(first)) if first == "doc")
}

fn collect(tokens: TokenStream, words: &mut Vec<String>) {
    let mut colon = false;
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => collect(group.stream(), words),
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Literal(_) => {}
            TokenTree::Punct(punct) if punct.as_char() == ':' && colon => {
                words.pop();
                words.push("::".to_owned());
                colon = false;
                continue;
            }
            TokenTree::Punct(punct) => {
                colon = punct.as_char() == ':';
                words.push(punct.as_char().to_string());
                continue;
            }
        }
        colon = false;
    }
}

/// Names of fields, statics and other names of types outside `#[cfg(test)]` items whose type holds such a type,
/// wherever it stands in it (`Arc<Vec<Mutex<u8>>>`); a field without a name has that of its struct or variant.
/// `is_kind` is told each word of a type, and whether parameters follow it. What changes of itself is found too:
/// `static mut`, and the statics of `thread_local!`.
pub fn holders(text: &str, is_kind: fn(&str, bool) -> bool) -> BTreeSet<String> {
    let mut holders = Holders { is_kind, owner: String::new(), found: BTreeSet::new() };
    holders.visit_file(&parse(text));
    holders.found
}

struct Holders {
    is_kind: fn(&str, bool) -> bool,
    owner: String,
    found: BTreeSet<String>,
}

impl Holders {
    fn holds(&self, kind: &syn::Type) -> bool {
        let mut words = Vec::new();
        collect(kind.to_token_stream(), &mut words);
        let followed = words.iter().skip(1).map(String::as_str).chain([""]);
        words.iter().zip(followed).any(|(word, next)| (self.is_kind)(word, next == "<"))
    }

    fn note(&mut self, name: &syn::Ident, kind: &syn::Type) {
        if self.holds(kind) {
            self.found.insert(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Holders {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.owner = item.ident.to_string();
        syn::visit::visit_item_struct(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.owner = variant.ident.to_string();
        syn::visit::visit_variant(self, variant);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if self.holds(&field.ty) {
            self.found.insert(field.ident.as_ref().map_or_else(|| self.owner.clone(), ToString::to_string));
        }
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
            self.found.insert(item.ident.to_string());
        }
        self.note(&item.ident, &item.ty);
        syn::visit::visit_item_static(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.note(&item.ident, &item.ty);
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        self.note(&item.ident, &item.ty);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.segments.last().is_some_and(|last| last.ident == "thread_local") {
            let mut words = Vec::new();
            collect(call.tokens.clone(), &mut words);
            let named = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| *word == "static");
            self.found.extend(named.map(|(_, name)| name.clone()));
        }
    }
}

/// A file with every name of its own changed, laid out anew, without its comments.
pub fn renamed(text: &str) -> String {
    // What the language and its prelude name stays, or it would be another program.
    const STAYS: [&str; 6] = ["Some", "None", "Ok", "Err", "bool", "char"];
    fn walk(tokens: TokenStream, names: &mut Vec<String>) -> TokenStream {
        let change = |token: TokenTree| match token {
            TokenTree::Group(group) => {
                let inside = walk(group.stream(), names);
                TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inside))
            }
            TokenTree::Ident(name) => {
                let text = name.to_string();
                if STAYS.contains(&text.as_str()) || syn::parse_str::<syn::Ident>(&text).is_err() {
                    return TokenTree::Ident(name);
                }
                let at = names.iter().position(|known| *known == text).unwrap_or_else(|| {
                    names.push(text);
                    names.len() - 1
                });
                TokenTree::Ident(proc_macro2::Ident::new(&format!("n{at}"), name.span()))
            }
            other => other,
        };
        tokens.into_iter().map(change).collect()
    }
    let mut file = parse(text);
    file.attrs.clear();
    walk(file.to_token_stream(), &mut Vec::new()).to_string()
}

fn parse(text: &str) -> syn::File {
    syn::parse_file(text).expect("a Rust file of the house parses")
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg") && {
            let mut words = Vec::new();
            collect(a.meta.to_token_stream(), &mut words);
            words.iter().any(|w| w == "test") && !words.iter().any(|w| w == "not")
        }
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

#[test]
fn a_function_is_measured_from_fn_to_brace() {
    let text = "/// doc\n#[inline]\nfn a() {\n    b();\n}\nmod m { struct S; impl S { fn c() {} } }\n";
    assert_eq!(functions(text), [("a".to_owned(), 3), ("m::S::c".to_owned(), 1)]);
}

#[test]
fn code_words_leave_out_comments_docs_literals_and_tests() {
    let text = "/// SystemTime\nuse std::fs; // tokio\nconst A: &str = \"rand\";\n#[cfg(test)]\nmod tests { use std::env; }";
    let words = code_words(text);
    assert!(words.contains("std :: fs"), "{words}");
    for absent in ["SystemTime", "tokio", "rand", "env"] {
        assert!(!words.contains(absent), "{absent} in {words}");
    }
}

#[test]
fn code_lines_leave_out_comments_and_tests() {
    let text = "//! docs\n\n// why\n/// more\nfn a() {\n    b(); // c\n\n}\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\n";
    assert_eq!(code_lines(text), 3);
}
