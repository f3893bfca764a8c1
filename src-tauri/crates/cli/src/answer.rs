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

/// What stands above an answer: how much of it is verified, is to be compared, and is neither.
pub fn head(check: &AnswerCheck) -> String {
    let claims = check.sentences.iter().filter(|one| one.support != AnswerSupport::Claimless).count();
    let open = check.sentences.iter().filter(|one| one.support == AnswerSupport::Unverified).count();
    let near = check.sentences.iter().filter(|one| is_near(one)).count();
    match (open - near, claims) {
        (0, _) if near == 0 => "The model says (each sentence with what shows it):".to_owned(),
        (bare, claims) if bare == claims => {
            "The model says (UNVERIFIED: nothing that was done or seen here shows it):".to_owned()
        }
        (bare, claims) => {
            let near = if near > 0 { format!("{near} to compare, ") } else { String::new() };
            format!(
                "The model says (each sentence with what shows it: {} verified, {near}{bare} unverified):",
                claims - open
            )
        }
    }
}

/// Whether a sentence is told like the record, and not every word of it is on record.
fn is_near(sentence: &AnswerSentence) -> bool {
    sentence.support == AnswerSupport::Unverified && sentence.near.is_some()
}

/// The answer, with what bears each sentence behind it.
pub fn text(check: &AnswerCheck) -> String {
    let none_is_borne = check.sentences.iter().all(|one| {
        matches!(one.support, AnswerSupport::Unverified | AnswerSupport::Claimless) && !is_near(one)
    });
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
        AnswerSupport::Unverified if is_near(sentence) => format!(" [COMPARE{quotes}]"),
        AnswerSupport::Unverified if quotes.is_empty() => " [UNVERIFIED]".to_owned(),
        AnswerSupport::Unverified => format!(" [UNVERIFIED, compare with{quotes}]"),
    }
}

/// What the records say in their own words, where a sentence is bound to them by what the model cited alone, is told like them, or is
/// bound by nothing.
fn quotes(sentence: &AnswerSentence) -> String {
    let is_open = sentence.support == AnswerSupport::Unverified;
    let own = sentence.cites.iter().filter(|cite| is_open || (sentence.cited && cite.bears));
    let mut quotes: BTreeSet<&str> = own.filter_map(|cite| cite.quote.as_deref()).collect();
    if let Some(near) = sentence.near.as_deref().filter(|_| is_open) {
        quotes = BTreeSet::from([near]);
    }
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
                "plain": null, "near": null, "cited": false, "cites": [] })
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
        assert!(head(&mixed).ends_with("with what shows it: 3 verified, 1 unverified):"), "{}", head(&mixed));
        let bare = check(&[("unverified", "I sent it."), ("claimless", "Bye.")]);
        assert!(head(&bare).starts_with("The model says (UNVERIFIED"), "{}", head(&bare));
        assert_eq!(text(&bare), " I sent it. Bye.");
    }

    #[test]
    fn a_sentence_that_is_told_like_the_record_stands_with_its_words_and_is_not_verified() {
        let mut told = check(&[("unverified", "I improved a.md."), ("unverified", "I sent it.")]);
        told.sentences[0].near = Some("changed a.md".to_owned());
        assert!(head(&told).ends_with(": 0 verified, 1 to compare, 1 unverified):"), "{}", head(&told));
        let want = " I improved a.md. [COMPARE: \u{201c}changed a.md\u{201d}] I sent it. [UNVERIFIED]";
        assert_eq!(text(&told), want);
        // One that something shows is verified, whatever it is told like.
        told.sentences[0].support = AnswerSupport::Receipt;
        assert_eq!(mark(&told.sentences[0]), " [receipt 00001a2b]");
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
