//! Sentences that are told like the record and are not in its words (decision 304). Something on record is of their kind and their names;
//! a lie may be as well. They are not verified: the words of the record stand beside them, to be compared.

use super::cited::{Held, Outcome, shortened, told_of};
use super::marks::Mark;
use super::sentence::Sentence;
use super::sentences::{Piece, pieces};
use super::{Bound, CITED_MAX, Checker, Record, Support};

/// Acts and texts whose words stand beside one sentence.
const NEAR_MAX: usize = 3;

/// How far the record bears an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing on record bears a sentence of it.
    Unverified,
    /// Each sentence is told like the record, and one is not in its words.
    Near,
    /// Each word of it is on record.
    Verified,
}

/// How far the record bears an answer whole if each sentence of it that nothing else bears cited the results of these numbers, one set
/// of them after the other: what [`check`](super::check) says of as many answers.
pub fn grades(answer: &str, record: &Record, sets: &[Vec<u32>]) -> Vec<Grade> {
    let checker = Checker::new(answer, record);
    let all = pieces(answer);
    let found: Vec<(&Piece<'_>, Grade)> = all.iter().map(|piece| (piece, checker.found(piece))).collect();
    let grade = |set: &Vec<u32>| {
        checker.cited_left.set(CITED_MAX);
        let cited = |(piece, found): &(&Piece<'_>, Grade)| {
            let is_borne = || checker.is_borne_by(piece.text, set);
            if *found == Grade::Verified || piece.is_code || !checker.loosely(is_borne) {
                *found
            } else if is_borne() {
                Grade::Verified
            } else {
                Grade::Near
            }
        };
        found.iter().map(cited).min().unwrap_or(Grade::Verified)
    };
    sets.iter().map(grade).collect()
}

impl Checker<'_> {
    /// What is found where what bears a sentence need not have each word of it.
    fn loosely<T>(&self, find: impl FnOnce() -> T) -> T {
        self.is_exact.set(false);
        let found = find();
        self.is_exact.set(true);
        found
    }

    /// How far the search for a piece, or its code, is borne.
    fn found(&self, piece: &Piece<'_>) -> Grade {
        let is_borne = |bound: &Bound| bound.support != Support::Unverified;
        if piece.is_code {
            return if is_borne(&self.code(piece.text)) { Grade::Verified } else { Grade::Unverified };
        }
        if !is_borne(&self.loosely(|| self.sentence(piece.text))) {
            Grade::Unverified
        } else if is_borne(&self.sentence(piece.text)) {
            Grade::Verified
        } else {
            Grade::Near
        }
    }

    /// What bears a sentence: all of it, or what it is to be compared with. `at` is where it begins.
    pub(super) fn compared(&self, at: usize, words: &str, marks: &[Mark]) -> Outcome {
        let compare = || self.cited(at, words, marks, self.sentence(words));
        let loose = self.loosely(compare);
        if matches!(loose.bound.support, Support::Unverified | Support::Claimless) {
            return loose;
        }
        let exact = compare();
        if exact.bound.support == Support::Unverified { self.near(loose, words) } else { exact }
    }

    /// A sentence that is told like the record: nothing is shown, and the record's words stand beside it.
    fn near(&self, loose: Outcome, words: &str) -> Outcome {
        let Outcome { bound, cited, mut cites, .. } = loose;
        let quote = cites.iter().filter(|cite| cited && cite.bears).find_map(|cite| cite.quote.clone());
        for cite in &mut cites {
            cite.bears = false;
        }
        let because = self.carried(&Sentence::new(words), &bound).err();
        let because = Some(because.unwrap_or_else(|| "its words do not stand there as they are".to_owned()));
        let mut bound = Bound { support: Support::Unverified, because, ..bound };
        if bound.receipts.is_empty() && bound.sources.is_empty() {
            // What was not done is compared with what was.
            bound.receipts = self.record.deeds.iter().take(NEAR_MAX).map(|deed| deed.receipt_id).collect();
        }
        let near = quote.unwrap_or_else(|| self.words_near(&bound, words));
        Outcome { bound, cited: false, cites, near: Some(near) }
    }

    /// The record's words by which a sentence was found: those of its acts and of what was seen.
    fn words_near(&self, bound: &Bound, words: &str) -> String {
        let sources = self.record.sources.iter().enumerate();
        let texts = sources.filter(|(_, source)| bound.sources.contains(&source.named()));
        let held = |text: usize| Held { deeds: Vec::new(), texts: vec![text] };
        let acts = self.record.deeds.iter().filter(|deed| bound.receipts.contains(&deed.receipt_id));
        let told = acts.map(told_of).chain(texts.map(|(text, _)| self.nearest(&held(text), words)));
        let mut told: Vec<String> = told.take(NEAR_MAX).collect();
        told.dedup();
        if told.is_empty() { "nothing was done".to_owned() } else { shortened(&told.join("; ")) }
    }
}
