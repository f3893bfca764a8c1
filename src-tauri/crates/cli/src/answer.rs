//! A closing answer as a terminal shows it: each sentence with what bears it.

use crate::text::{clip, paragraph, plain, short};
use std::collections::BTreeSet;
use wire::answer::{AnswerCheck, AnswerSentence};
use words::knowledge::AnswerSupport;

/// Receipts and sources that are named with one sentence.
const NAMED: usize = 3;
/// Letters of a source's title.
const TITLE: usize = 60;
/// Letters of a record's own words.
const QUOTE: usize = 160;

/// What stands above an answer: how much of it nothing bears.
pub fn head(check: &AnswerCheck) -> String {
    let claims = check.sentences.iter().filter(|one| one.support != AnswerSupport::Claimless).count();
    let bare = check.sentences.iter().filter(|one| one.support == AnswerSupport::Unverified).count();
    match (bare, claims) {
        (0, _) => "The model says (each sentence with what shows it):".to_owned(),
        (bare, claims) if bare == claims => {
            "The model says (UNVERIFIED: nothing that was done or seen here shows it):".to_owned()
        }
        (bare, claims) => format!(
            "The model says (each sentence with what shows it; {bare} of {claims} UNVERIFIED, with nothing done or seen here that shows it):"
        ),
    }
}

/// The answer, with what bears each sentence behind it.
pub fn text(check: &AnswerCheck) -> String {
    let none_is_borne = check
        .sentences
        .iter()
        .all(|one| matches!(one.support, AnswerSupport::Unverified | AnswerSupport::Claimless));
    let mut text = String::new();
    for sentence in &check.sentences {
        text.push_str(&sentence.gap);
        text.push_str(&paragraph(sentence.plain.as_deref().unwrap_or(&sentence.text)));
        if !none_is_borne {
            text.push_str(&mark(sentence));
        }
    }
    text
}

fn mark(sentence: &AnswerSentence) -> String {
    let named = |all: Vec<String>| {
        let more = all.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", all.into_iter().take(NAMED).collect::<Vec<_>>().join(", "))
    };
    let receipts = || sentence.receipts.iter().map(|id| short(id).to_owned()).collect();
    let sources = || sentence.sources.iter().map(|source| plain(&clip(&source.title, TITLE))).collect();
    let quotes = quotes(sentence);
    match sentence.support {
        AnswerSupport::Receipt => format!(" [receipt {}{quotes}]", named(receipts())),
        AnswerSupport::Evidence => format!(" [seen: {}{quotes}]", named(sources())),
        AnswerSupport::Absence => " [no receipt says otherwise]".to_owned(),
        AnswerSupport::Claimless => String::new(),
        AnswerSupport::Unverified if quotes.is_empty() => " [UNVERIFIED]".to_owned(),
        AnswerSupport::Unverified => format!(" [UNVERIFIED, compare with{quotes}]"),
    }
}

/// What the records say in their own words, where a sentence is bound to them by what the model cited alone, or by nothing.
fn quotes(sentence: &AnswerSentence) -> String {
    let is_open = sentence.support == AnswerSupport::Unverified;
    let own = sentence.cites.iter().filter(|cite| is_open || (sentence.cited && cite.bears));
    let quotes: BTreeSet<&str> = own.filter_map(|cite| cite.quote.as_deref()).collect();
    quotes.into_iter().map(|quote| format!(": \u{201c}{}\u{201d}", plain(&clip(quote, QUOTE)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(supports: &[(&str, &str)]) -> AnswerCheck {
        let sentence = |(support, text): &(&str, &str)| {
            json!({ "gap": " ", "text": text, "support": support, "receipts": ["rcp_00000000000000000000000000001a2b"],
                "sources": [{ "artifact_id": "art_1", "title": "read notes.md" }], "because": null,
                "plain": null, "cited": false, "cites": [] })
        };
        let sentences: Vec<_> = supports.iter().map(sentence).collect();
        serde_json::from_value(json!({ "method": "m", "sentences": sentences })).unwrap()
    }

    #[test]
    fn each_sentence_is_told_with_what_shows_it() {
        let mixed = check(&[
            ("receipt", "I wrote a.md."),
            ("evidence", "Bob owes 5."),
            ("absence", "Nothing was deleted."),
            ("unverified", "I sent it."),
            ("claimless", "Anything else?"),
        ]);
        let told = text(&mixed);
        assert_eq!(
            told,
            " I wrote a.md. [receipt 00001a2b] Bob owes 5. [seen: read notes.md] Nothing was deleted. \
             [no receipt says otherwise] I sent it. [UNVERIFIED] Anything else?"
        );
        assert!(head(&mixed).contains("1 of 4 UNVERIFIED"));
        let bare = check(&[("unverified", "I sent it."), ("claimless", "Bye.")]);
        assert!(head(&bare).starts_with("The model says (UNVERIFIED"), "{}", head(&bare));
        assert_eq!(text(&bare), " I sent it. Bye.");
    }

    #[test]
    fn a_citation_is_told_by_the_words_of_its_record_and_its_mark_is_not() {
        let mut told = check(&[("receipt", "The port is another now [r2].")]);
        told.sentences[0].plain = Some("The port is another now.".to_owned());
        told.sentences[0].cited = true;
        told.sentences[0].cites = vec![wire::answer::AnswerCite {
            number: 2,
            bears: true,
            source: None,
            receipts: Vec::new(),
            quote: Some("changed app.toml".to_owned()),
        }];
        let want = " The port is another now. [receipt 00001a2b: \u{201c}changed app.toml\u{201d}]";
        assert_eq!(text(&told), want);
        // Where the search for it bound the sentence as well, it needs no words beside it.
        told.sentences[0].cited = false;
        assert_eq!(text(&told), " The port is another now. [receipt 00001a2b]");
        // Where it does not show the sentence, a person compares the two.
        told.sentences[0].support = AnswerSupport::Unverified;
        told.sentences[0].cites[0].bears = false;
        assert!(mark(&told.sentences[0]).contains("UNVERIFIED, compare with: \u{201c}changed app.toml"));
    }
}
