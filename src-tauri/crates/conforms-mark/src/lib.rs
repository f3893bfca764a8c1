//! The `#[conforms("ID")]` attribute itself; `conforms` is the crate that tests name.
//!
//! # What this room is for
//!
//! One expansion: the test runs as before, inside a closure that `conforms::watched` calls and that leaves the ids once it
//! has returned. A crate that exports an attribute may export nothing else, so what is done then stands in `conforms`.
//!
//! # What it must never do
//!
//! Change what a test checks.
//!
//! # Invariants
//!
//! 1. An id that is not of the form `DOC-section-number` does not compile, nor does an empty or doubled list.
//! 2. A test that must panic, is ignored, waits or answers cannot carry it.
//!
//! # Where to start reading
//!
//! [`macro@conforms`], then `expand`: the whole room is one expansion.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, ItemFn, LitStr, ReturnType, Token};

/// The documents a requirement may come from: kernel spec, kernels spec, rx kernel, run adapter, architecture.
const DOCUMENTS: [&str; 5] = ["HK", "KS", "RX", "RA", "HV"];

/// Marks a test as the proof of one or more requirements.
///
/// Takes string literals, each an id of `tests/conformance/requirements.tsv` (`"HK-13.1-1"`, `"RX-4-2b"`) whose whole text the
/// test shows, and `part = "ID"` for each of which it shows a part.
/// The function must carry `#[test]` below this attribute, take nothing and return `()`.
#[proc_macro_attribute]
pub fn conforms(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(args.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// One requirement, whole or in part.
struct Claim {
    id: LitStr,
    is_part: bool,
}

impl Parse for Claim {
    fn parse(input: ParseStream) -> Result<Self, Error> {
        let is_part = input.peek(Ident);
        if is_part {
            let word: Ident = input.parse()?;
            if word != "part" {
                return Err(Error::new(word.span(), "an id stands alone or behind `part =`"));
            }
            input.parse::<Token![=]>()?;
        }
        Ok(Self { id: input.parse()?, is_part })
    }
}

fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let claims = parse_claims(args)?;
    let test: ItemFn = syn::parse2(item)?;
    check_shape(&test)?;
    let ItemFn { attrs, vis, sig, block, .. } = &test;
    let name = sig.ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let of = |part: bool| claims.iter().filter(move |c| c.is_part == part).map(|c| &c.id);
    let (whole, parts) = (of(false), of(true));
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            ::conforms::watched(
                || #block,
                &[#(#whole),*],
                &[#(#parts),*],
                ::core::concat!(::core::module_path!(), "::", #name),
                ::core::env!("CARGO_PKG_NAME"),
            );
        }
    })
}

fn parse_claims(args: TokenStream) -> Result<Vec<Claim>, Error> {
    let span = proc_macro2::Span::call_site();
    let claims = Punctuated::<Claim, Token![,]>::parse_terminated.parse2(args)?;
    let claims: Vec<Claim> = claims.into_iter().collect();
    if claims.is_empty() {
        return Err(Error::new(span, "name at least one requirement, as in `#[conforms(\"HK-13.1-1\")]`"));
    }
    let mut seen = std::collections::BTreeSet::new();
    for Claim { id, .. } in &claims {
        let text = id.value();
        if !is_requirement_id(&text) {
            let say = format!("`{text}` is not a requirement id; one looks like `HK-13.1-1` or `RX-4-2b`");
            return Err(Error::new(id.span(), say));
        }
        if !seen.insert(text.clone()) {
            return Err(Error::new(id.span(), format!("`{text}` is named twice; leave one")));
        }
    }
    Ok(claims)
}

fn check_shape(test: &ItemFn) -> Result<(), Error> {
    let has = |wanted: &str| test.attrs.iter().any(|a: &Attribute| a.path().is_ident(wanted));
    let sig = &test.sig;
    if !has("test") {
        return Err(Error::new_spanned(sig, "`#[conforms]` stands above `#[test]`; this function has none"));
    }
    if has("should_panic") || has("ignore") {
        return Err(Error::new_spanned(sig, "a test that must panic or is ignored proves no requirement"));
    }
    let plain = sig.inputs.is_empty() && sig.generics.params.is_empty() && sig.asyncness.is_none();
    if !plain || !matches!(sig.output, ReturnType::Default) {
        return Err(Error::new_spanned(
            sig,
            "a conforming test takes nothing, is not async and returns `()`",
        ));
    }
    Ok(())
}

/// `DOC-section-number`, the number with at most one letter behind it.
fn is_requirement_id(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(doc), Some(section), Some(number), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let number = number.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(number);
    DOCUMENTS.contains(&doc)
        && !section.is_empty()
        && section.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(args: &str, item: &str) -> Result<String, String> {
        let args: TokenStream = args.parse().expect("the arguments are tokens");
        let item: TokenStream = item.parse().expect("the item is tokens");
        expand(args, item).map(|t| t.to_string()).map_err(|e| e.to_string())
    }

    const PLAIN: &str = "#[test] fn a_thing_holds() { assert!(true); }";

    #[test]
    fn ids_of_the_requirement_table_are_accepted() {
        for id in ["HK-1-1", "HK-13.1-12", "KS-4a-3", "RX-13-1b", "RA-5.2.1-44", "HV-A-1"] {
            assert!(is_requirement_id(id), "{id} should be accepted");
        }
    }

    #[test]
    fn malformed_ids_do_not_compile() {
        let bad = [
            "", "HK", "HK-1", "HK--1", "HK-1-", "XX-1-1", "HK-1-1-1", "HK-1-1bb", "hk-1-1", "HK-1 1-1",
            "HK-1-b",
        ];
        for id in bad {
            assert!(!is_requirement_id(id), "{id} should be refused");
            let error = expanded(&format!("{id:?}"), PLAIN).expect_err("a malformed id is refused");
            assert!(error.contains("is not a requirement id"), "{error}");
        }
    }

    #[test]
    fn an_empty_or_doubled_list_does_not_compile() {
        assert!(expanded("", PLAIN).is_err());
        assert!(expanded(r#""HK-1-1", "HK-1-1""#, PLAIN).expect_err("doubled").contains("twice"));
    }

    #[test]
    fn only_a_plain_test_may_carry_it() {
        for item in [
            "fn no_test() {}",
            "#[test] async fn waits() {}",
            "#[test] fn answers() -> Result<(), String> { Ok(()) }",
            "#[test] fn takes(x: u8) {}",
            "#[test] #[should_panic] fn breaks() {}",
            concat!("#[test] #[ig", "nore] fn sleeps() {}"),
        ] {
            assert!(expanded(r#""HK-1-1""#, item).is_err(), "{item} should be refused");
        }
    }

    #[test]
    fn what_is_shown_in_part_is_told_apart() {
        let code = expanded(r#""HK-1-1", part = "HK-1-2", "HK-1-3""#, PLAIN).expect("a plain test expands");
        assert!(code.contains("& [\"HK-1-1\" , \"HK-1-3\"] , & [\"HK-1-2\"]"), "{code}");
        assert!(expanded(r#"half = "HK-1-2""#, PLAIN).is_err());
        assert!(expanded(r#""HK-1-2", part = "HK-1-2""#, PLAIN).is_err());
    }
}
