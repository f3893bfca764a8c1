//! Words of a model in the place of lines of a summary, each checked against the lines that it cites (memory.md 3).
//!
//! A model may leave words out, and nothing else: what it says has to stand in the lines that it cites, in their order, with
//! every number and every word that turns a meaning round. What it makes up is refused, and the lines stay as they were. What a
//! person said, what was done and what failed is not put to it at all.

use super::{LINE_CHARS_MAX, one_line, text};
use crate::tokens::count_tokens;
use model::EventId;
use model::context::{SummaryLine, SummaryLineKind};
use redact::Redactor;
use std::collections::BTreeSet;

/// What a model is told before the lines.
pub const ASKED: &str = "You shorten lines of a record. Each line below has a number. Where lines belong together, write one \
shorter line in their place: first the numbers of the lines it stands for in brackets, such as [3, 4], then words of these lines, in \
their order. You may leave words out. Never add a word, never change one, and keep every number and every `not`. Write nothing \
but such lines, and leave out lines that cannot be shortened.";

/// Lines that are worth a question, at least.
const LINES_MIN: usize = 3;
/// Lines of an answer that are looked at.
const SAID_MAX: usize = 200;
/// Lines that one line may stand for.
const CITED_MAX: usize = 12;

/// Words that may stand between those of the lines; none that says from where, where to or by whom.
const GLUE: &[&str] = &["a", "an", "and", "are", "is", "it", "its", "that", "the", "was", "were", "which"];

/// Words that turn a meaning round, or bound it: where a line has one, the shorter one has it.
const TURNS: &[&str] = &[
    "after", "almost", "before", "but", "can", "cannot", "could", "denied", "except", "fail", "failed",
    "fails", "false", "hardly", "if", "instead", "less", "may", "maybe", "might", "more", "must", "neither",
    "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "only", "or", "perhaps", "probably",
    "refused", "should", "than", "unable", "unless", "until", "will", "without", "would", "aucun", "jamais",
    "kein", "keine", "keinen", "nicht", "nichts", "nie", "niemals", "niemand", "nunca", "nur", "ohne", "pas",
    "sans", "sin", "sondern",
];

/// Signs that do the same between values: each is a word, and what stands before a number as `-` is the last of them.
const SIGNS: &str = "=<>≠≤≥≈±%−";

/// What came of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retelling {
    /// The lines of the summary, with those of the model in the place of what they stand for.
    pub lines: Vec<SummaryLine>,
    /// Lines of the model that stand in it.
    pub taken: usize,
    /// Why others do not, one for each.
    pub refused: Vec<String>,
}

/// The lines that a model may shorten, each with its number, as many as have room; nothing where they are too few.
pub fn numbered(lines: &[SummaryLine], tokens: u32) -> Option<String> {
    let (mut all, mut count, mut left) = (String::new(), 0, tokens);
    for (number, line) in (1..).zip(lines).filter(|(_, line)| may_be_retold(line.kind)) {
        let next = format!("{number}. {}\n", line.text);
        let Some(rest) = left.checked_sub(count_tokens(&next)) else { break };
        all.push_str(&next);
        (left, count) = (rest, count + 1);
    }
    (count >= LINES_MIN).then_some(all)
}

/// The lines of a summary with what a model answered to [`numbered`], as far as it bears looking at.
pub fn retold(lines: &[SummaryLine], answer: &str, redactor: &Redactor) -> Retelling {
    let (mut gone, mut new, mut refused) = (BTreeSet::new(), Vec::new(), Vec::new());
    for said in answer.lines().map(str::trim).filter(|said| !said.is_empty()).take(SAID_MAX) {
        match shorter(lines, said, &gone, redactor) {
            Ok((cited, line)) => {
                gone.extend(cited);
                new.push(line);
            }
            Err(why) => refused.push(why),
        }
    }
    let taken = new.len();
    let kept = lines.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, line)| line.clone());
    let mut lines: Vec<SummaryLine> = kept.chain(new).collect();
    lines.sort_by_key(|line| (line.iteration, line.kind));
    Retelling { lines, taken, refused }
}

/// One line of an answer, and the places of those that it stands for.
fn shorter(
    lines: &[SummaryLine],
    said: &str,
    gone: &BTreeSet<usize>,
    redactor: &Redactor,
) -> Result<(BTreeSet<usize>, SummaryLine), String> {
    let bare = said.trim_start_matches(['-', '*', ' ']);
    let (numbers, words) = bare
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .ok_or_else(|| "it cites no line".to_owned())?;
    let mut cited = BTreeSet::new();
    for number in numbers.split(',') {
        let at = number.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let at = at.ok_or_else(|| "it cites no line".to_owned())?;
        if gone.contains(&at) || !cited.insert(at) {
            return Err("it cites a line twice".to_owned());
        }
    }
    let of: Option<Vec<&SummaryLine>> =
        cited.iter().map(|at| lines.get(*at).filter(|line| may_be_retold(line.kind))).collect();
    let of = of
        .filter(|of| of.len() <= CITED_MAX)
        .ok_or_else(|| "it cites a line that was not put to it".to_owned())?;
    let clean = redactor.text(words).rest.into_owned();
    if clean.trim().chars().count() > LINE_CHARS_MAX {
        return Err("it is longer than a line may be".to_owned());
    }
    let clean = one_line(&clean, LINE_CHARS_MAX);
    stands_in(&clean, &of)?;
    let events: BTreeSet<EventId> = of.iter().flat_map(|line| line.events.iter().copied()).collect();
    let first = of.first().and_then(|line| line.artifact_id);
    let line = SummaryLine {
        kind: SummaryLineKind::Retold,
        iteration: of.iter().map(|line| line.iteration).min().unwrap_or_default(),
        text: clean,
        events: events.into_iter().collect(),
        artifact_id: first.filter(|id| of.iter().all(|line| line.artifact_id == Some(*id))),
    };
    let cost = |line: &SummaryLine| count_tokens(&text(std::slice::from_ref(line), 0));
    let before = of.iter().fold(0_u32, |sum, line| sum.saturating_add(cost(line)));
    if cost(&line) >= before {
        return Err("it is no shorter than what it stands for".to_owned());
    }
    Ok((cited, line))
}

/// Whether words only leave out of what lines say.
fn stands_in(said: &str, of: &[&SummaryLine]) -> Result<(), String> {
    let own = words(said);
    let source: Vec<String> = of.iter().flat_map(|line| words(&line.text)).collect();
    let says = |word: &&String| !GLUE.contains(&word.as_str());
    let mut left = source.iter();
    for word in own.iter().filter(says) {
        if !left.any(|one| one == word) {
            return Err(format!("`{word}` does not stand there in the lines that it cites"));
        }
    }
    let bound =
        |words: &[String]| -> Vec<String> { words.iter().filter(|word| is_bound(word)).cloned().collect() };
    if bound(&own) != bound(&source) {
        return Err("it leaves out a number, or a word that turns the meaning round".to_owned());
    }
    let (kept, all) = (own.iter().filter(says).count(), source.iter().filter(says).count());
    if kept.saturating_mul(2) < all {
        return Err("it leaves out more than half of what the lines say".to_owned());
    }
    Ok(())
}

/// Whether a word may never be left out.
fn is_bound(word: &str) -> bool {
    word.chars().any(|c| c.is_numeric() || SIGNS.contains(c)) || TURNS.contains(&word)
}

/// The words and signs of a text in small letters; `don't` is `do not`.
fn words(text: &str) -> Vec<String> {
    let plain = text.to_lowercase().replace('\u{2019}', "'").replace("n't", " not").replace("!=", "≠");
    let (mut apart, mut before) = (String::with_capacity(plain.len()), ' ');
    let mut letters = plain.chars().peekable();
    while let Some(c) = letters.next() {
        let is_minus =
            c == '-' && !before.is_alphanumeric() && letters.peek().is_some_and(char::is_ascii_digit);
        let sign = if is_minus { '−' } else { c };
        match SIGNS.contains(sign) {
            true => apart.extend([' ', sign, ' ']),
            false => apart.push(c),
        }
        before = c;
    }
    let parts = apart.split(|c: char| !c.is_alphanumeric() && !SIGNS.contains(c));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whether a line may be put in fewer words. What a person said, what was done and what failed is told as it was.
const fn may_be_retold(kind: SummaryLineKind) -> bool {
    match kind {
        SummaryLineKind::Said | SummaryLineKind::Seen | SummaryLineKind::Quote => true,
        SummaryLineKind::Correction
        | SummaryLineKind::Answer
        | SummaryLineKind::Done
        | SummaryLineKind::Error
        | SummaryLineKind::Retold => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u32, kind: SummaryLineKind, text: &str) -> SummaryLine {
        let event = format!("evt_0190a1b2c3d47e8f9a0b{n:012x}").parse().unwrap();
        SummaryLine { kind, iteration: n, text: text.to_owned(), events: vec![event], artifact_id: None }
    }

    fn lines() -> Vec<SummaryLine> {
        vec![
            line(1, SummaryLineKind::Correction, "write a.py: use tabs"),
            line(
                2,
                SummaryLineKind::Quote,
                "old.txt: The staging port of the old machine, which stands in the cellar, is 8443.",
            ),
            line(
                3,
                SummaryLineKind::Quote,
                "new.txt: The staging port of the new machine is not 8443 but 9000.",
            ),
            line(
                4,
                SummaryLineKind::Said,
                "I look at the other machine before I write anything into the folder",
            ),
        ]
    }

    fn told(answer: &str) -> Retelling {
        retold(&lines(), answer, &Redactor::default())
    }

    #[test]
    fn what_only_leaves_words_out_stands_in_the_place_of_the_lines_and_for_their_events() {
        let asked = numbered(&lines(), 1_000).unwrap();
        assert!(!asked.contains("use tabs") && asked.starts_with("2. old.txt"), "{asked}");
        assert_eq!(numbered(&lines()[..3], 1_000), None, "two are too few");
        assert_eq!(numbered(&lines(), 10), None, "and so are those that have no room");
        let came = told(
            "- [2, 3] old.txt: staging port of old machine is 8443. new.txt: port of the new machine is not 8443 but 9000",
        );
        assert_eq!((came.taken, came.refused.len(), came.lines.len()), (1, 0, 3), "{came:?}");
        let own = came.lines.iter().find(|line| line.kind == SummaryLineKind::Retold).unwrap();
        assert_eq!((own.iteration, own.events.len()), (2, 2));
        assert_eq!(came.lines[0], lines()[0], "what a person said stays word for word");
    }

    #[test]
    fn what_is_made_up_turned_round_or_cites_nothing_is_refused_and_nothing_is_lost() {
        for (said, why) in [
            ("The staging port is 8443.", "cites no line"),
            ("[] port 8443", "cites no line"),
            ("[0] port 8443", "cites no line"),
            ("[2, 2] old.txt staging port old machine 8443", "twice"),
            ("[1] write a.py: tabs", "not put to it"),
            ("[9] port", "not put to it"),
            ("[2] old.txt: The production port of the old machine is 8443", "`production` does not stand"),
            ("[2] old.txt: The staging port of the old machine is 9000", "`9000` does not stand"),
            ("[3] new.txt: The staging port of the new machine is 8443 but 9000", "leaves out a number"),
            ("[3] new.txt: The staging port of the new machine is not 9000", "leaves out a number"),
            ("[3] new.txt: the new machine staging port is not 8443 but 9000", "does not stand"),
            ("[2] txt 8443", "more than half"),
            ("[4] I look at the other machine before I write anything into the folder", "no shorter"),
        ] {
            let came = told(said);
            assert!(came.taken == 0 && came.refused[0].contains(why), "{said}: {came:?}");
            assert_eq!(came.lines, lines(), "{said}");
        }
        let long = format!("[2] old.txt {}", "port ".repeat(200));
        assert!(told(&long).refused[0].contains("longer"));
        assert_eq!(told(&"x\n".repeat(10_000)).refused.len(), SAID_MAX, "an endless answer has an end");
    }

    #[test]
    fn little_words_and_signs_that_say_another_thing_are_not_put_in_or_left_out() {
        for (text, said) in [
            (
                "The service was moved from alpha to the machine beta.",
                "service moved to alpha from machine beta",
            ),
            ("The plan was approved by Alice on the first day.", "plan was approved for Alice on first day"),
            ("Nobody in the team has approved the long plan yet.", "team has approved the long plan"),
            ("The new build of the service may pass all tests.", "new build of service pass all tests"),
            ("The limit of the staging port here is != 8443.", "limit of staging port is = 8443"),
            ("The limit of the staging machine here is -5 now.", "limit of staging machine is 5 now"),
        ] {
            let of = line(2, SummaryLineKind::Quote, text);
            assert!(stands_in(said, &[&of]).is_err(), "{said}");
            assert_eq!(stands_in(text, &[&of]), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_line_is_put_in_fewer_words_once() {
        let twice =
            "[2] old.txt: staging port of old machine is 8443\n[2] old.txt: port of old machine uses 8443";
        let came = told(twice);
        assert_eq!(
            (came.taken, came.refused.as_slice()),
            (1, ["it cites a line twice".to_owned()].as_slice())
        );
        assert_eq!(
            numbered(&came.lines, 1_000),
            None,
            "what was put in fewer words is not asked about again"
        );
    }
}
