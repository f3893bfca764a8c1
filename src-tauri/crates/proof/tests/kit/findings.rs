//! Every sentence by which our verifier finds something is provoked by a vector, or says why none can.

use super::KIT;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Sentences without a vector, each with the reason.
const WITHOUT: &str = include_str!("without.tsv");

/// The parts of the verifier that find something. `words.rs` tells what was shown, and refuses nothing.
const PARTS: [&str; 3] = ["verify.rs", "lines.rs", "consistency.rs"];
const FOLDERS: [&str; 2] = ["verify", "container"];

/// Files are read when the test runs: its binary may have been compiled for another clone.
fn texts() -> Vec<String> {
    let room = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("src");
    let mut files: Vec<PathBuf> = PARTS.iter().map(|name| room.join(name)).collect();
    files.push(room.join("container.rs"));
    for folder in FOLDERS {
        let entries = std::fs::read_dir(room.join(folder)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("words.rs")));
    }
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Texts of four words and more, outside attributes and comments.
fn sentences(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut is_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if is_attribute && group.delimiter() == Delimiter::Bracket => {}
            TokenTree::Group(group) => sentences(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                let text = text.map(|text| text.value()).unwrap_or_default();
                let is_sentence = text.split(' ').count() >= 4 && !text.contains('\n');
                found.extend(Some(text).filter(|_| is_sentence));
            }
            TokenTree::Punct(punct) => {
                is_attribute = punct.as_char() == '#' || is_attribute && punct.as_char() == '!';
                continue;
            }
            TokenTree::Ident(_) => {}
        }
        is_attribute = false;
    }
}

/// The pieces of a sentence around what is filled in.
fn pieces(sentence: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_filled = false;
    for c in sentence.chars() {
        match c {
            '{' => {
                is_filled = true;
                pieces.push(String::new());
            }
            '}' => is_filled = false,
            _ if is_filled => {}
            c => pieces.last_mut().unwrap().push(c),
        }
    }
    pieces
}

/// Whether what was said is that sentence, whatever was filled in.
fn says(said: &str, sentence: &str) -> bool {
    let mut rest = said;
    pieces(sentence).iter().all(|piece| match rest.split_once(piece.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn every_sentence_by_which_our_verifier_refuses_has_a_vector_or_a_reason() {
    let mut all = BTreeSet::new();
    for text in texts() {
        let product = text.split("#[cfg(test)]").next().unwrap();
        sentences(product.parse().unwrap(), &mut all);
    }
    assert!(all.len() > 120, "the verifier was read: {}", all.len());
    let rows = WITHOUT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let without: BTreeMap<&str, &str> = rows.map(|line| line.split_once('\t').expect("a reason")).collect();
    let said: Vec<String> = KIT.0.iter().map(|vector| vector.report.headline()).collect();
    let is_said = |sentence: &str| said.iter().any(|said| says(said, sentence));
    let mut wrong = Vec::new();
    for sentence in &all {
        match (is_said(sentence), without.get(sentence.as_str())) {
            (false, None) => {
                wrong.push(format!("no vector provokes `{sentence}`; make one, or say why none can"))
            }
            (true, Some(_)) => {
                wrong.push(format!("a vector provokes `{sentence}`; take it out of without.tsv"))
            }
            _ => {}
        }
    }
    let gone = without.keys().filter(|sentence| !all.contains(**sentence));
    wrong.extend(gone.map(|sentence| format!("nothing says `{sentence}` any more")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sentence_is_found_whatever_is_filled_in() {
    let mut found = BTreeSet::new();
    let text = "#[doc = \"not in this attribute\"] fn f() { g(\"it is the {one} of {}\", \"short\", b\"not of bytes at all\") }";
    sentences(text.parse().unwrap(), &mut found);
    assert_eq!(found, BTreeSet::from(["it is the {one} of {}".to_owned()]));
    assert!(says("invalid at x: it is the 3 of y", "it is the {one} of {}"));
    assert!(!says("invalid at x: of y it is the 3", "it is the {one} of {}"));
}
