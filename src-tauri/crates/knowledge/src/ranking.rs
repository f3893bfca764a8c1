//! Which tools fit some words best: ranked by the words that both share, where a rare word says more than a frequent one
//! (BM25). The same tools and words always give the same order.

use std::collections::{BTreeMap, BTreeSet};

/// How much a word counts that stands in a name, in a title and in a description.
const IN_NAME: u32 = 3;
const IN_TITLE: u32 = 2;
const IN_WORDS: u32 = 1;
/// Letters of a query and of a description that are looked at.
const LOOKED_AT: usize = 4_000;
/// How soon a word that is repeated says nothing more, and how much of a long text's length is held against it.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// A tool as it is ranked.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// The name by which a model calls it.
    pub name: &'a str,
    /// What it is called for people.
    pub title: &'a str,
    /// What it is for.
    pub words: &'a str,
}

/// Places of the tools in order of how well they fit, each with its score in thousandths; those that share no word with
/// the query come last, by their names.
pub fn ranked(query: &str, tools: &[Described<'_>]) -> Vec<(usize, u64)> {
    let asked: BTreeSet<String> = words(query).collect();
    let texts: Vec<BTreeMap<String, u32>> = tools.iter().map(|tool| weighed(tool, &asked)).collect();
    let lengths: Vec<f64> = tools.iter().map(length).collect();
    let mean = lengths.iter().sum::<f64>() / (tools.len().max(1) as f64);
    let rare = |word: &String| {
        let with = texts.iter().filter(|text| text.contains_key(word)).count() as f64;
        (1.0 + (tools.len() as f64 - with + 0.5) / (with + 0.5)).ln()
    };
    let rarity: BTreeMap<&String, f64> = asked.iter().map(|word| (word, rare(word))).collect();
    let score = |text: &BTreeMap<String, u32>, long: f64| -> f64 {
        let of = |(word, times): (&String, &u32)| {
            let times = f64::from(*times);
            let held = SATURATION * (1.0 - LENGTH + LENGTH * long / mean.max(1.0));
            rarity.get(word).copied().unwrap_or_default() * times * (SATURATION + 1.0) / (times + held)
        };
        text.iter().map(of).sum()
    };
    let mut scored: Vec<(usize, u64)> = texts
        .iter()
        .zip(&lengths)
        .map(|(text, long)| (score(text, *long) * 1_000.0) as u64)
        .enumerate()
        .collect();
    let name = |at: usize| tools.get(at).map_or("", |tool| tool.name);
    scored.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0))));
    scored
}

/// How often each word that is asked for stands in a tool, by where it stands.
fn weighed(tool: &Described<'_>, asked: &BTreeSet<String>) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for (text, weight) in [(tool.name, IN_NAME), (tool.title, IN_TITLE), (tool.words, IN_WORDS)] {
        for word in words(text).filter(|word| asked.contains(word)) {
            let times: &mut u32 = found.entry(word).or_default();
            *times = times.saturating_add(weight);
        }
    }
    found
}

fn length(tool: &Described<'_>) -> f64 {
    let bytes = tool.name.len() + tool.title.len() + tool.words.len().min(LOOKED_AT);
    bytes as f64 / 6.0
}

/// Words of a text: runs of letters and digits in lower case, where `readFile` and `read_files` are `read` and `file`.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut parts: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars().take(LOOKED_AT) {
        let begins = c.is_uppercase() && was_lower;
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            parts.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts.push(word);
    parts.into_iter().filter(|word| word.len() > 1).map(singular)
}

/// Without the `s` of many, so that `issues` is found by `issue`.
fn singular(mut word: String) -> String {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order<'a>(query: &str, tools: &[(&'a str, &'a str)]) -> Vec<&'a str> {
        let described: Vec<Described<'_>> =
            tools.iter().map(|(name, words)| Described { name, title: "", words }).collect();
        ranked(query, &described).into_iter().map(|(at, _)| tools[at].0).collect()
    }

    #[test]
    fn a_rare_word_says_more_than_a_frequent_one_and_a_name_more_than_a_description() {
        let tools = [
            ("git__list", "Lists the branches of a repository."),
            ("mail__send", "Sends a message to a person; lists nothing."),
            ("mail__list", "Lists messages of a folder."),
            ("wiki__read", "Reads a page of the wiki."),
        ];
        assert_eq!(order("list the messages", &tools)[..2], ["mail__list", "git__list"]);
        assert_eq!(order("send mail", &tools)[..2], ["mail__send", "mail__list"]);
        assert_eq!(order("WikiPage", &tools)[0], "wiki__read");
    }

    #[test]
    fn what_fits_nothing_comes_by_name_whatever_the_order_it_was_told_in() {
        let there = [("b", "x"), ("c", "x"), ("a", "x")];
        let back = [("a", "x"), ("c", "x"), ("b", "x")];
        assert_eq!(order("nothing of it", &there), ["a", "b", "c"]);
        assert_eq!(order("nothing of it", &back), order("", &there));
        assert!(ranked("", &[]).is_empty());
    }

    #[test]
    fn spellings_of_one_word_are_one() {
        let all: Vec<String> = words("readFile read_files READ-FILE issues class").collect();
        assert_eq!(all, ["read", "file", "read", "file", "read", "file", "issue", "class"]);
    }
}
