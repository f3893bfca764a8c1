//! Whether a memory record helped in a task, or was contradicted there, told by rules and without a model (memory.md 2).
//!
//! A record can only have helped where it said something that nobody had said in the task: words of its claim that neither the
//! goal nor the person's own words hold. Where at least half of those stand in what an act was, or in the closing answer, that
//! followed it. What a person refuses, or sets right, and that followed it, speaks against it; their word wins.

use crate::historian;
use crate::relevance;
use model::MemoryId;
use std::collections::BTreeSet;

/// A record that a model was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Which.
    pub memory_id: MemoryId,
    /// What it says.
    pub claim: String,
}

/// What became of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// Its receipt says that it was done.
    Done,
    /// A person said no.
    Refused,
}

/// An act, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Which records a model had been told of by then.
    pub told: BTreeSet<MemoryId>,
    /// What it was.
    pub words: String,
    /// What became of it.
    pub came: Came,
}

/// A task at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// The goal.
    pub goal: String,
    /// What the person said since, in their own words.
    pub said: Vec<String>,
    /// What it did and was refused.
    pub acts: Vec<Followed>,
    /// Its closing answer, where it came to one.
    pub answer: Option<String>,
}

/// Records that helped in a task, and records that were contradicted there; none is both.
pub fn judge(told: &[Told], story: &Story) -> (Vec<MemoryId>, Vec<MemoryId>) {
    let (mut helped, mut contradicted) = (Vec::new(), Vec::new());
    let mut by_person = vec![story.goal.as_str()];
    by_person.extend(story.said.iter().map(String::as_str));
    for one in told {
        let own = said_alone(&one.claim, &by_person);
        // What a person says against it is not what they had said before it.
        let before = said_alone(&one.claim, &[&story.goal]);
        let at = |came: Came| {
            let follows = |act: &&Followed| {
                act.came == came && act.told.contains(&one.memory_id) && stands_in(&own, &act.words)
            };
            story.acts.iter().any(|act| follows(&act))
        };
        let set_right = |words: &String| historian::corrects(words) && stands_in(&before, words);
        if at(Came::Refused) || story.said.iter().any(set_right) {
            contradicted.push(one.memory_id);
        } else if at(Came::Done) || story.answer.as_ref().is_some_and(|answer| stands_in(&own, answer)) {
            helped.push(one.memory_id);
        }
    }
    (helped, contradicted)
}

/// Words of a claim that nobody said.
fn said_alone(claim: &str, said: &[&str]) -> BTreeSet<String> {
    let theirs: BTreeSet<String> = said.iter().flat_map(|text| relevance::every_word(text)).collect();
    relevance::every_word(claim).filter(|word| !theirs.contains(word)).collect()
}

/// Whether at least half of these words stand in a text; never of none.
fn stands_in(words: &BTreeSet<String>, text: &str) -> bool {
    let there: BTreeSet<String> = relevance::every_word(text).collect();
    !words.is_empty() && words.intersection(&there).count().saturating_mul(2) >= words.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn one(claim: &str) -> (Told, MemoryId) {
        let memory_id: MemoryId = "mem_00000000000000000000000000000001".parse().unwrap();
        (Told { memory_id, claim: claim.to_owned() }, memory_id)
    }

    fn act(words: &str, id: MemoryId, came: Came) -> Followed {
        Followed { told: BTreeSet::from([id]), words: words.to_owned(), came }
    }

    #[test]
    fn an_act_or_an_answer_follows_what_nobody_else_said() {
        let (told, id) = one("use pnpm here");
        let told = [told];
        let task = |acts: Vec<Followed>, answer: Option<&str>| Story {
            goal: "install the parts".to_owned(),
            acts,
            answer: answer.map(str::to_owned),
            ..Story::default()
        };
        assert_eq!(judge(&told, &task(vec![act("run `pnpm install`", id, Came::Done)], None)).0, [id]);
        assert_eq!(judge(&told, &task(vec![], Some("Installed with pnpm."))).0, [id]);
        // It went without it, or was told of it only afterwards.
        assert!(
            judge(&told, &task(vec![act("run `npm install`", id, Came::Done)], Some("Done."))).0.is_empty()
        );
        let early = Followed { told: BTreeSet::new(), ..act("run `pnpm install`", id, Came::Done) };
        assert!(judge(&told, &task(vec![early], None)).0.is_empty());
        // The goal said so already: nobody can tell whether the record helped.
        let said =
            Story { goal: "install with pnpm".to_owned(), ..task(vec![act("pnpm", id, Came::Done)], None) };
        assert_eq!(judge(&told, &said), (vec![], vec![]));
    }

    #[test]
    fn half_of_its_own_words_is_the_least() {
        let (told, id) = one("taxes round down yearly");
        let at = |words: &str| {
            let story = Story { acts: vec![act(words, id, Came::Done)], ..Story::default() };
            judge(std::slice::from_ref(&told), &story).0.len()
        };
        assert_eq!((at("taxes"), at("taxes round"), at("taxes round yearly")), (0, 1, 1));
    }

    #[test]
    fn what_a_person_refuses_or_sets_right_speaks_against_it_and_wins() {
        let (told, id) = one("use pnpm here");
        let both = Story {
            acts: vec![act("pnpm install", id, Came::Done), act("pnpm add x", id, Came::Refused)],
            ..Story::default()
        };
        assert_eq!(judge(std::slice::from_ref(&told), &both), (vec![], vec![id]));
        let said = Story {
            said: vec!["No, do not use pnpm, npm is right".to_owned()],
            acts: vec![act("run pnpm", id, Came::Done)],
            ..Story::default()
        };
        assert_eq!(judge(std::slice::from_ref(&told), &said), (vec![], vec![id]));
        let asks = Story { said: vec!["what is pnpm?".to_owned()], ..said };
        assert_eq!(judge(&[told], &asks), (vec![], vec![]));
    }
}
