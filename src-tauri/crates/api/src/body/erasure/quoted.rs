//! What an erasure takes of comparisons of answers: beside a sentence they hold the words of what it cites or is told like, cut and in
//! one line.

use super::Search;
use crate::Host;
use crate::convert::every;
use model::ArtifactId;
use model::answer::{AnswerCheck, AnswerCite, AnswerSentence};
use model::artifact::ArtifactKind;
use projections::ArtifactState;
use projections::query::ArtifactFilter;
use std::collections::BTreeSet;
use wire::Error;

/// What goes, as a comparison may hold it.
#[derive(Default)]
struct Going {
    artifacts: BTreeSet<ArtifactId>,
    /// Each in one line.
    texts: Vec<String>,
    /// Whether what an act was asked for is among it.
    has_request: bool,
}

impl Search {
    /// Comparisons of the tasks concerned that quote what goes. They are derived: without one its answer is unverified, no more.
    pub(super) fn quoted(&mut self, host: &dyn Host) -> Result<(), Error> {
        let (query, store) = (host.query()?, host.artifacts()?);
        let mut going = Going::default();
        for found in self.values.values() {
            going.texts.push(in_one_line(&found.text));
            // The words of a command.
            let words = serde_json::from_str::<Vec<String>>(&found.text);
            going.texts.extend(words.ok().map(|words| in_one_line(&words.join(" "))));
        }
        for row in self.contents.values() {
            going.artifacts.insert(row.artifact_id);
            going.has_request |= row.kind == ArtifactKind::ActionRequest;
            if let Ok(bytes) = store.read(&row.content_hash) {
                going.texts.push(in_one_line(&String::from_utf8_lossy(&bytes)));
            }
        }
        for task in self.tasks.clone() {
            let filter = ArtifactFilter {
                task: Some(task),
                kind: Some(ArtifactKind::AnswerCheck),
                ..ArtifactFilter::default()
            };
            for row in every(|ask| query.artifacts(&filter, ask))? {
                if row.state == ArtifactState::Expired {
                    continue;
                }
                let Ok(bytes) = store.read(&row.content_hash) else { continue };
                let check = serde_json::from_slice::<AnswerCheck>(&bytes);
                if check.is_ok_and(|check| going.is_quoted_in(&check)) {
                    self.contents.insert(row.artifact_id, row);
                }
            }
        }
        Ok(())
    }
}

impl Going {
    /// Whether it has words of what goes, or its title.
    fn is_quoted_in(&self, check: &AnswerCheck) -> bool {
        check.sentences.iter().any(|one| self.is_beside(one))
    }

    fn is_beside(&self, one: &AnswerSentence) -> bool {
        let near = |near: &str| {
            (self.has_request && !one.receipts.is_empty())
                || near.split("; ").any(|near| self.has_words(near))
        };
        one.sources.iter().any(|source| self.artifacts.contains(&source.artifact_id))
            || one.cites.iter().any(|cite| self.is_quoted_by(cite))
            || one.near.as_deref().is_some_and(near)
    }

    fn is_quoted_by(&self, cite: &AnswerCite) -> bool {
        if cite.source.as_ref().is_some_and(|source| self.artifacts.contains(&source.artifact_id)) {
            return true;
        }
        let Some(quote) = &cite.quote else { return false };
        (self.has_request && !cite.receipts.is_empty()) || self.has_words(quote)
    }

    /// Whether words of the record, which may be cut, are of what goes.
    fn has_words(&self, quote: &str) -> bool {
        let words = quote.trim_end_matches('…').trim();
        !words.is_empty()
            && self.texts.iter().any(|text| {
                text.contains(words)
                    || (text.chars().count() >= super::HUNTED_CHARS_MIN && words.contains(text.as_str()))
            })
    }
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Going, in_one_line};
    use model::answer::{AnswerCite, AnswerSentence, AnswerSupport};

    #[test]
    fn words_of_what_goes_are_found_in_a_quotation_that_is_cut() {
        let cite = |quote: &str| AnswerCite {
            start: 0,
            length: 4,
            number: 1,
            bears: true,
            source: None,
            receipts: Vec::new(),
            quote: Some(quote.to_owned()),
        };
        let text = in_one_line("Alice orders it.\nBob  owes the\nlandlord 1,250 EUR.");
        let going = Going { texts: vec![text], ..Going::default() };
        assert!(going.is_quoted_by(&cite("Bob owes the landlord…")));
        assert!(!going.is_quoted_by(&cite("Carol owes the landlord")));
        assert!(!Going::default().is_quoted_by(&cite("Bob owes the landlord")));
    }

    #[test]
    fn words_of_what_goes_are_found_among_those_that_a_sentence_is_to_be_compared_with() {
        let sentence = |near: &str| AnswerSentence {
            start: 0,
            length: 4,
            support: AnswerSupport::Unverified,
            receipts: Vec::new(),
            sources: Vec::new(),
            because: None,
            near: Some(near.to_owned()),
            cited: false,
            cites: Vec::new(),
        };
        let text = in_one_line("Alice orders it.\nBob  owes the\nlandlord 1,250 EUR.");
        let going = Going { texts: vec![text], ..Going::default() };
        assert!(going.is_beside(&sentence("made SUMMARY.md; Bob owes the landlord…")));
        assert!(!going.is_beside(&sentence("made SUMMARY.md")));
        assert!(!Going::default().is_beside(&sentence("Bob owes the landlord")));
    }
}
