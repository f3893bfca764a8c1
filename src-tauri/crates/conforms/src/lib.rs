//! The `#[conforms("ID")]` attribute: a test that passes leaves its ids for the conformance report.
//!
//! # What this room is for
//!
//! `#[conforms::conforms("HK-13.1-1", "HK-13.1-2")]` stands above `#[test]`. The test runs as before. When its
//! body has returned (it did not panic) and `HERMIT_CONFORMANCE_DIR` names a folder, one line per id,
//! `ID<TAB>module_path::fn_name`, is appended to a file of that folder, one file for each process.
//! `cargo xtask test` sets the variable and folds the files into `tests/conformance/report.tsv`, so the report
//! counts tests that ran and passed, never names that merely stand in a source.
//!
//! # What it must never do
//!
//! Change what a test checks, or report an id before the body has returned.
//!
//! # Invariants
//!
//! 1. A test that panics leaves no line.
//! 2. An id that is not of the form `DOC-section-number` does not compile, nor does an empty or doubled list.
//! 3. A line that cannot be written fails the test: missing proof is never silent.
//! 4. Without the variable nothing is written.
//!
//! # Where to start reading
//!
//! [`macro@conforms`], then `expand`: the whole room is one expansion.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, ItemFn, LitStr, ReturnType, Token};

/// The documents a requirement may come from: kernel spec, kernels spec, rx kernel, run adapter, architecture.
const DOCUMENTS: [&str; 5] = ["HK", "KS", "RX", "RA", "HV"];

/// Marks a test as the proof of one or more requirements.
///
/// Takes string literals, each an id of `tests/conformance/requirements.tsv` (`HK-13.1-1`, `RX-4-2b`).
/// The function must carry `#[test]` below this attribute, take nothing and return `()`.
#[proc_macro_attribute]
pub fn conforms(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(args.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let ids = parse_ids(args)?;
    let test: ItemFn = syn::parse2(item)?;
    check_shape(&test)?;
    let ItemFn { attrs, vis, sig, block, .. } = &test;
    let name = sig.ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let body = format_ident!("conforms_body");
    let record = record_fn();
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            fn #body() #block
            #record
            #body();
            conforms_record(&[#(#ids),*], ::core::concat!(::core::module_path!(), "::", #name));
        }
    })
}

fn parse_ids(args: TokenStream) -> Result<Vec<LitStr>, Error> {
    let span = proc_macro2::Span::call_site();
    let ids = Punctuated::<LitStr, Token![,]>::parse_terminated.parse2(args)?;
    let ids: Vec<LitStr> = ids.into_iter().collect();
    if ids.is_empty() {
        return Err(Error::new(span, "name at least one requirement, as in `#[conforms(\"HK-13.1-1\")]`"));
    }
    let mut seen = std::collections::BTreeSet::new();
    for id in &ids {
        let text = id.value();
        if !is_requirement_id(&text) {
            let say = format!("`{text}` is not a requirement id; one looks like `HK-13.1-1` or `RX-4-2b`");
            return Err(Error::new(id.span(), say));
        }
        if !seen.insert(text.clone()) {
            return Err(Error::new(id.span(), format!("`{text}` is named twice; leave one")));
        }
    }
    Ok(ids)
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

/// The function that leaves the lines. It is written into each test because a crate that exports an attribute
/// may export nothing else. All lines go out in one write to a file opened for appending, so tests that end
/// at the same moment in one process do not cut into each other's lines.
fn record_fn() -> TokenStream {
    quote! {
        #[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "test evidence, not the room's own work")]
        fn conforms_record(ids: &[&str], test: &str) {
            use ::std::io::Write as _;
            let ::core::option::Option::Some(dir) = ::std::env::var_os("HERMIT_CONFORMANCE_DIR") else {
                return;
            };
            let lines: ::std::string::String =
                ids.iter().map(|id| ::std::format!("{id}\t{test}\n")).collect();
            let path = ::std::path::Path::new(&dir).join(::std::format!("{}.tsv", ::std::process::id()));
            let written = ::std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .and_then(|mut file| file.write_all(lines.as_bytes()));
            ::core::assert!(
                written.is_ok(),
                "the passed test `{test}` could not leave its conformance line in `{}`: {written:?}",
                path.display()
            );
        }
    }
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
    fn the_record_comes_after_the_body() {
        let code = expanded(r#""HK-1-1", "HK-1-2""#, PLAIN).expect("a plain test expands");
        let body = code.find("conforms_body () ;").expect("the body is called");
        let record = code.find("conforms_record (& [\"HK-1-1\" , \"HK-1-2\"]").expect("the ids are recorded");
        assert!(body < record);
    }
}
