//! Lies that are made of true sentences by machine: the true sentences of a stranger's corpus, each changed in one thing that makes it
//! false by what it is. None is verified, by the search or by any record of its task.

use crate::answers::Task;
use crate::cited::tasks;
use knowledge::answer::{Grade, grades};
use std::collections::BTreeSet;

/// A change of one word.
struct Change {
    kind: &'static str,
    said: String,
}

/// Words that turn what a sentence says, with what they are turned into.
const TURNED: &[(&str, &str)] = &[
    ("before", "after"),
    ("after", "before"),
    ("first", "last"),
    ("last", "first"),
    ("more", "less"),
    ("less", "more"),
    ("higher", "lower"),
    ("lower", "higher"),
    ("without", "with"),
    ("failed", "succeeded"),
    ("fails", "passes"),
    ("passed", "failed"),
    ("pass", "fail"),
    ("passes", "fails"),
    ("open", "closed"),
    ("up", "down"),
    ("some", "all"),
    ("two", "all"),
    ("three", "all"),
    ("several", "no"),
    ("all", "no"),
    ("every", "no"),
    ("one", "every"),
];
/// Verbs of acts: one is not another.
const VERBS: [&str; 12] = [
    "deleted",
    "moved",
    "sent",
    "committed",
    "downloaded",
    "installed",
    "encrypted",
    "translated",
    "printed",
    "ran",
    "wrote",
    "archived",
];
/// Verbs that are the same act.
const ALIKE: [&[&str]; 3] = [
    &[
        "wrote",
        "created",
        "added",
        "saved",
        "updated",
        "changed",
        "edited",
        "made",
        "put",
        "set",
        "drafted",
        "corrected",
        "fixed",
        "entered",
        "translated",
        "printed",
    ],
    &["moved", "renamed", "archived", "filed", "sorted"],
    &["ran", "tested", "built", "installed", "tried", "started"],
];
const LINKS: [&str; 10] = ["is", "are", "was", "were", "has", "have", "can", "will", "had", "must"];
const ENDINGS: [&str; 6] = ["md", "csv", "txt", "pdf", "json", "py"];

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn with(words: &[&str], at: usize, other: &str) -> String {
    let word = words[at];
    let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    all[at] = word.replacen(bare(word), other, 1);
    all.join(" ")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b':'))
}

fn is_name(word: &str) -> bool {
    word.len() > 2
        && word.chars().next().is_some_and(char::is_uppercase)
        && word.chars().skip(1).all(char::is_lowercase)
}

/// A number that is another: of the record, and one beside it.
fn numbers<'r>(words: &[&'r str], record: &BTreeSet<&'r str>, found: &mut Vec<Change>) {
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_number(bare(word))) {
        let own = bare(word);
        let others = record.iter().filter(|other| {
            is_number(other) && **other != own && !words.iter().any(|word| bare(word) == **other)
        });
        let mut said: Vec<String> = others.take(6).map(|other| (*other).to_owned()).collect();
        said.extend(own.parse::<u64>().ok().map(|number| (number + 1).to_string()));
        found.extend(said.iter().map(|other| Change { kind: "number", said: with(words, at, other) }));
    }
}

/// Two names that change places, or one of the record in the place of another.
fn names<'r>(words: &[&'r str], record: &BTreeSet<&'r str>, found: &mut Vec<Change>) {
    let own: Vec<usize> = (1..words.len()).filter(|at| is_name(bare(words[*at]))).collect();
    for (place, at) in own.iter().enumerate() {
        let others =
            record.iter().filter(|other| is_name(other) && !words.iter().any(|word| bare(word) == **other));
        found.extend(others.take(4).map(|other| Change { kind: "name", said: with(words, *at, other) }));
        // `Ann and Bob` says the same the other way round.
        for other in own.iter().skip(place + 1).filter(|other| **other > at + 2) {
            let (one, two) = (bare(words[*at]), bare(words[*other]));
            let between = &words[at + 1..*other];
            if one != two
                && !between.iter().any(|word| matches!(*word, "and" | "or") || word.ends_with(','))
                && !words[*at].ends_with(',')
            {
                let swapped = with(words, *at, two);
                let words: Vec<&str> = swapped.split(' ').collect();
                found.push(Change { kind: "sides", said: with(&words, *other, one) });
            }
        }
    }
}

/// Another verb, a verb that is denied, a word that is turned, and a file of another kind.
fn words_of(words: &[&str], found: &mut Vec<Change>) {
    for (at, word) in words.iter().enumerate() {
        let own = bare(word);
        let after_i = at > 0 && words[at - 1] == "I" && own.ends_with("ed");
        if after_i || VERBS.contains(&own) {
            let alike = |other: &str| ALIKE.iter().any(|list| list.contains(&own) && list.contains(&other));
            let others = VERBS.iter().filter(|other| **other != own && !alike(other));
            found.extend(others.map(|other| Change { kind: "verb", said: with(words, at, other) }));
            if after_i {
                found.push(Change { kind: "denied", said: with(words, at, &format!("never {own}")) });
            }
        }
        if LINKS.contains(word)
            && !words
                .get(at + 1)
                .is_some_and(|next| matches!(*next, "not" | "no" | "only" | "nothing" | "none"))
        {
            found.push(Change { kind: "denied", said: with(words, at, &format!("{own} not")) });
        }
        found.extend(
            TURNED
                .iter()
                .filter(|(one, _)| *one == own)
                .map(|(_, other)| Change { kind: "turned", said: with(words, at, other) }),
        );
        if let Some((name, ending)) = own.rsplit_once('.').filter(|(_, ending)| ENDINGS.contains(ending)) {
            let others = ENDINGS.iter().filter(|other| **other != ending);
            found.extend(
                others.map(|other| Change {
                    kind: "ending",
                    said: with(words, at, &format!("{name}.{other}")),
                }),
            );
        }
    }
}

/// What a sentence is changed into; nothing that stands in another true sentence of its task.
fn changes(said: &str, task: &Task) -> Vec<Change> {
    let text: Vec<&str> = task.record.sources.iter().map(|source| source.text.as_str()).collect();
    let record: BTreeSet<&str> = text.iter().flat_map(|text| text.split_whitespace()).map(bare).collect();
    let words: Vec<&str> = said.split(' ').collect();
    let mut found = Vec::new();
    numbers(&words, &record, &mut found);
    names(&words, &record, &mut found);
    words_of(&words, &mut found);
    found
}

#[test]
fn no_true_sentence_that_one_word_makes_false_is_verified() {
    let (mut lies, mut near, mut wrong) = (0_usize, 0_usize, Vec::new());
    for corpus in [include_str!("data/cited/held_out_1.json"), include_str!("data/cited/held_out_2.json")] {
        for (task, told) in tasks(corpus) {
            let sets: Vec<Vec<u32>> = task.record.references.iter().map(|one| vec![one.number]).collect();
            for said in told {
                for change in changes(&said, &task) {
                    lies += 1;
                    let grade = grades(&change.said, &task.record, &sets).into_iter().max();
                    near += usize::from(grade == Some(Grade::Near));
                    if grade == Some(Grade::Verified) {
                        wrong.push(format!("{} of {}: {}  <- {said}", change.kind, task.name, change.said));
                    }
                }
            }
        }
    }
    println!("{lies} lies, {near} near, {} pass\n{}", wrong.len(), wrong.join("\n"));
    assert!(lies >= 2_000, "{lies}");
    assert!(wrong.is_empty(), "{} of {lies}: {wrong:#?}", wrong.len());
    assert!(near <= 204, "{near} are told like the record");
}
