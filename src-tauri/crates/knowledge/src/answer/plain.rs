//! The same in plainer words: phrases that say what a plain verb says, and a sentence in the clauses of which each says something by
//! itself. Nothing is made weaker by it; what comes of it is judged as any other sentence, by every rule.

use super::passages::is_content;
use super::sentence::Sentence;
use super::tokens::{Kind, Token, tokens};
use super::verbs::holds;
use super::{Bound, Checker, Shown, is_at};
use model::answer::AnswerSupport as Support;
use std::collections::BTreeSet;

/// Clauses of a sentence that are looked at.
const CLAUSES_MAX: usize = 6;

/// Words by which a clause hangs on another.
const HANGS: &str = "because since so if unless although despite than instead respectively both either neither until \
    only first last then before after whose which who that it they them its their this these those one ones other others another he she his her former latter same";

/// Phrases, and what says the same. The longer ones of a kind come first.
const PHRASES: &[(&str, &str)] = &[
    ("got rid of", "removed"),
    ("nuked", "deleted"),
    ("put together", "made"),
    ("had a go at", "tried to read"),
    ("now live in", "are in"),
    ("now lives in", "is in"),
    ("now sit in", "are in"),
    ("now sits in", "is in"),
    ("are now in", "are in"),
    ("is now in", "is in"),
    ("is now at", "is in"),
    ("can be found in", "is in"),
    ("can be found at", "is in"),
    ("is at", "is in"),
    ("was put under", "was moved to"),
    ("were put under", "were moved to"),
    ("was put into", "was moved to"),
    ("were put into", "were moved to"),
    ("went over to", "were moved to"),
    ("have been filed", "were moved"),
    ("were filed", "were moved"),
    ("is saved as", "was saved as"),
    ("are saved as", "were saved as"),
    ("was left alone", "was left unchanged"),
    ("were left alone", "were left unchanged"),
    ("was left as it was", "was left unchanged"),
    ("was left as is", "was left unchanged"),
    ("were left as they were", "were left unchanged"),
    ("did not work", "failed"),
    ("didn't work", "failed"),
    ("did not go through", "failed"),
    ("didn't go through", "failed"),
    ("did not succeed", "failed"),
    ("didn't succeed", "failed"),
    ("did not go out", "was not sent"),
    ("didn't go out", "was not sent"),
    ("went down from", "fell from"),
    ("is missing", "was not found"),
    ("the whole suite is green", "all tests pass"),
    ("the full suite passes", "all tests pass"),
    ("is switched on", "is on"),
    ("is turned on", "is on"),
    ("is switched off", "is off"),
    ("is turned off", "is off"),
    ("used to be", "was"),
    ("right away", "at once"),
    ("ought to", "should"),
    ("altogether", ""),
    ("comes to", "is"),
    ("amounts to", "is"),
    ("kids", "children"),
    ("a head", "each"),
];

impl Checker<'_> {
    /// What bears a sentence that nothing bears as it stands: in plainer words, or clause by clause.
    pub(super) fn in_plain_words(&self, text: &str) -> Option<Bound> {
        let plain = plain(text);
        let other = (plain != text).then_some(plain.as_str());
        other
            .and_then(|plain| self.says(plain))
            .or_else(|| self.renamed(text))
            .or_else(|| self.clause_by_clause(clauses(&plain)?))
            .or_else(|| self.clause_by_clause(headlines(&plain)?))
    }

    /// What bears a text as it stands, where it claims anything.
    pub(super) fn says(&self, text: &str) -> Option<Bound> {
        self.shown(&Sentence::new(text)).ok().filter(|bound| bound.support != Support::Claimless)
    }

    /// `a.jpg became b.jpg`, `a.jpg → b.jpg`: one act moved the one to the other.
    fn renamed(&self, text: &str) -> Option<Bound> {
        let all = tokens(text);
        let content: Vec<&Token> = all.iter().filter(|token| is_content(token)).collect();
        let exact: Vec<&&Token> = content.iter().filter(|token| token.kind == Kind::Exact).collect();
        let [old, new] = exact.as_slice() else { return None };
        let is_free =
            |token: &&&Token| token.kind != Kind::Exact && !holds("became renamed called", &token.raw);
        let leads = text.contains('→')
            || (all.iter().any(|token| token.raw == "became"))
            || (all.iter().any(|token| holds("is was", &token.raw))
                && all.iter().any(|token| token.raw == "now"));
        let denies = all.iter().any(super::passages::is_negation);
        if content.iter().filter(is_free).count() > 0 || !leads || denies {
            return None;
        }
        let moves = |(from, to): &(String, String)| is_at(from, &old.key) && is_at(to, &new.key);
        let deed = self.record.deeds.iter().find(|deed| deed.succeeded && deed.moved.iter().any(moves))?;
        let mut bound = Bound::of(Support::Receipt);
        bound.receipts.insert(deed.receipt_id);
        Some(bound)
    }

    /// Each clause of a sentence is borne by itself.
    fn clause_by_clause(&self, clauses: Vec<String>) -> Option<Bound> {
        let mut all = Bound::of(Support::Claimless);
        for clause in &clauses {
            let shown: Shown = self.shown(&Sentence::new(clause));
            let bound = match shown {
                Ok(bound) if bound.support != Support::Claimless => bound,
                _ => self.renamed(clause)?,
            };
            all = all.with(bound);
        }
        Some(all)
    }
}

/// A text in which phrases are put in plainer words.
pub(super) fn plain(text: &str) -> String {
    let mut plain = text.replace('\u{2019}', "'");
    for (phrase, word) in PHRASES {
        let lower = plain.to_ascii_lowercase();
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
        let is_whole = |at: usize| {
            let before = lower.get(..at).and_then(|before| before.chars().next_back());
            let behind = lower.get(at + phrase.len()..).and_then(|behind| behind.chars().next());
            // What is quoted stands as it is written.
            let is_quoted = lower.get(..at).is_some_and(|before| {
                before.matches('`').count() % 2 == 1 || before.matches('"').count() % 2 == 1
            });
            !is_letter(before) && !is_letter(behind) && !is_quoted
        };
        let Some(at) = lower.match_indices(phrase).map(|(at, _)| at).find(|at| is_whole(*at)) else {
            continue;
        };
        plain.replace_range(at..at + phrase.len(), word);
    }
    plain
}

/// A sentence in its clauses, where each is one by itself: it has what it is about, and hangs on no other by a cause, a condition or
/// a comparison.
pub(super) fn clauses(text: &str) -> Option<Vec<String>> {
    const BETWEEN: [&str; 7] = ["; ", " – ", " — ", ", and ", ", but ", ", whereas ", " and "];
    let mut parts: Vec<&str> = vec![text.trim_end_matches('.')];
    for between in BETWEEN {
        parts = parts.into_iter().flat_map(|part| cut(part, between)).collect();
    }
    let whole = |part: &str| {
        let said = tokens(part);
        let content = said.iter().filter(|token| is_content(token)).count();
        let says = said.iter().any(|token| {
            super::asserts::is_link(token) || super::asserts::is_past(token) || token.raw.ends_with('s')
        });
        content >= 2 && says && !said.iter().any(|token| token.kind == Kind::Word && holds(HANGS, &token.raw))
    };
    let is_fit = (2..=CLAUSES_MAX).contains(&parts.len()) && parts.iter().all(|part| whole(part));
    let subjects: BTreeSet<bool> = parts.iter().map(|part| is_first_person(part)).collect();
    let clauses = parts.iter().enumerate().map(|(at, part)| {
        let part = part.trim();
        // `I read a and wrote b`: who did the first did the second.
        let leads = tokens(part).first().is_some_and(super::asserts::is_past);
        if at > 0 && leads && subjects.contains(&true) { format!("I {part}") } else { part.to_owned() }
    });
    let clauses: Vec<String> = clauses.collect();
    let has_subject = |clause: &String| {
        let said = tokens(clause);
        let first = said.iter().find(|token| token.kind != Kind::Mark);
        first.is_some_and(|first| {
            !super::asserts::is_link(first) && (is_first_person(clause) || !super::asserts::is_past(first))
        })
    };
    (is_fit && clauses.iter().skip(1).all(has_subject)).then_some(clauses)
}

/// A sentence without its little verbs, in clauses that have them: `One file deleted, three moved`, `Corrected the table, committed`.
fn headlines(text: &str) -> Option<Vec<String>> {
    let text = ["Done – ", "Done: ", "In short: ", "Status: "]
        .iter()
        .find_map(|lead| text.strip_prefix(lead))
        .unwrap_or(text);
    let mut parts: Vec<&str> = vec![text.trim_end_matches('.')];
    for between in ["; ", ", and ", ", ", " and "] {
        parts = parts.into_iter().flat_map(|part| cut(part, between)).collect();
    }
    let told = |part: &&str| {
        let said = tokens(part);
        let content: Vec<&Token> = said.iter().filter(|token| token.kind != Kind::Mark).collect();
        let (first, last) = (content.first()?, content.last()?);
        let hangs = content.iter().any(|token| super::asserts::is_link(token) || holds(HANGS, &token.raw));
        let pasts = content.iter().filter(|token| super::asserts::is_past(token)).count();
        if hangs || pasts != 1 || is_first_person(part) {
            return None;
        }
        if super::asserts::is_past(first) {
            let (head, rest) = part.trim().split_once(' ').unwrap_or((part.trim(), ""));
            return Some(format!("I {} {rest}", head.to_lowercase()).trim().to_owned());
        }
        if !super::asserts::is_past(last) || content.len() < 2 {
            return None;
        }
        let (what, done) = part.trim().rsplit_once(' ')?;
        let denied = what.strip_suffix(" not");
        Some(denied.map_or_else(|| format!("{what} was {done}"), |what| format!("{what} was not {done}")))
    };
    let clauses: Option<Vec<String>> = parts.iter().map(told).collect();
    // By itself it may be a heading, which is judged as one.
    clauses.filter(|clauses| (2..=CLAUSES_MAX).contains(&clauses.len()))
}

fn is_first_person(text: &str) -> bool {
    tokens(text).iter().any(|token| holds("i we i've we've", &token.raw.replace('\u{2019}', "'")))
}

/// A text cut at what stands between two clauses, outside of what it quotes.
fn cut<'t>(text: &'t str, between: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(between) {
        let before = text.get(..at).unwrap_or_default();
        let is_quoted = before.matches('`').count() % 2 == 1 || before.matches('"').count() % 2 == 1;
        let is_held = before.matches('(').count() > before.matches(')').count();
        if !is_quoted && !is_held {
            parts.extend(text.get(from..at));
            from = at + between.len();
        }
    }
    parts.extend(text.get(from..));
    parts
}

#[cfg(test)]
mod tests {
    use super::{clauses, plain};

    #[test]
    fn a_phrase_is_put_in_plainer_words_where_it_stands_as_a_whole_and_is_not_quoted() {
        assert_eq!(plain("I got rid of `a.dmg`."), "I removed `a.dmg`.");
        assert_eq!(plain("The reload didn’t work."), "The reload failed.");
        assert_eq!(plain("It says \"got rid of\"."), "It says \"got rid of\".");
        assert_eq!(plain("Forgot rid of"), "Forgot rid of");
    }

    #[test]
    fn a_sentence_is_cut_in_clauses_that_each_have_what_they_are_about() {
        let told = |text: &str| clauses(text).unwrap_or_default();
        assert_eq!(told("I read `a.md` and wrote `b.md`."), ["I read `a.md`", "I wrote `b.md`"]);
        assert_eq!(
            told("The script is written; the reload failed."),
            ["The script is written", "the reload failed"]
        );
        for whole in [
            "It is blue and it is red.",
            "The run failed because the disk is full; the disk is old.",
            "Bob and Alice.",
        ] {
            assert!(told(whole).is_empty(), "{whole}");
        }
    }
}
