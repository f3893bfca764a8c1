//! A summary of the oldest turns of an attempt, made without a model (HV-3.2-4, memory.md 3); one of this machine may then
//! leave words out of it ([`retold`]).
//!
//! It is an extract: each line is taken from what is on record and names the events it stands for, so that nothing in it is
//! invented and all of it unfolds. Where there is room for less than all, the lines that weigh least go first, and of
//! these the oldest; what a summary before this one had said stays in that one.

pub mod retold;

use crate::relevance::words;
use crate::tokens::count_tokens;
use crate::trust;
use model::artifact::TrustTier;
use model::context::{SummaryLine, SummaryLineKind};
use model::{ArtifactId, EventId};
use redact::Redactor;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Lines quoted of one text.
const QUOTES_EACH: usize = 3;
/// Letters of a line; what is longer is cut, and says so.
const LINE_CHARS_MAX: usize = 280;
/// Letters of what a person said, with what it was about.
const SAID_CHARS_MAX: usize = 4_000;
/// Letters of the act that it was about.
const ACT_CHARS_MAX: usize = 120;
/// Texts that one line names.
const NAMED_TOGETHER: usize = 12;
/// The share of a summary that what was said, done and failed may fill before anything is quoted, in percent.
const DEEDS_PERCENT: u32 = 70;
/// Lines of one text that are looked at for quotes.
const LINES_READ: usize = 20_000;

/// One turn that is over, as the log tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedTurn {
    /// Which, from 1.
    pub iteration: u32,
    /// The tool that was asked for.
    pub tool: String,
    /// What was done or wanted, in one line.
    pub did: String,
    /// What the model said with it, where that is more than the name of its tool.
    pub said: Option<String>,
    /// Whether it has a receipt of its own.
    pub has_receipt: bool,
    /// How it came out, in a word.
    pub came_to: String,
    /// What went wrong.
    pub error: Option<String>,
    /// A person's no, with their words.
    pub denied: Option<String>,
    /// The words with which a person allowed a part, and denied the rest.
    pub limited: Option<String>,
    /// A question to a person, and the answer.
    pub asked: Option<(String, String)>,
    /// The events of the turn that lines of it stand for.
    pub events: Vec<EventId>,
    /// What was seen in it.
    pub seen: Vec<SeenText>,
}

/// A text that was seen in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenText {
    /// The artifact it stands in.
    pub artifact_id: ArtifactId,
    /// A path, a command, a search.
    pub title: String,
    /// The text.
    pub text: String,
    /// Whether it may be quoted: content that is secret is named at most.
    pub may_be_quoted: bool,
}

/// Lines of a summary within `tokens`, in the order of what they tell of, and how many found no room: those of the summary
/// before and of the turns closed since. Lines that hold words of `about` are quoted first.
pub fn extract(
    before: &[SummaryLine],
    turns: &[ClosedTurn],
    about: &[&str],
    tokens: u32,
    redactor: &Redactor,
) -> (Vec<SummaryLine>, u32) {
    let wanted: BTreeSet<String> = words(about).into_iter().collect();
    let mut lines = before.to_vec();
    lines.extend(told(turns));
    for turn in turns {
        for seen in turn.seen.iter().filter(|seen| seen.may_be_quoted) {
            lines.extend(quotes(turn, seen, &wanted));
        }
    }
    // What a person said is whole as far as half of the room goes, the newest first, and is there in any case.
    let mut whole = tokens / 2;
    for line in lines.iter_mut().rev() {
        let clean = redactor.text(&line.text);
        let (full, brief) =
            (one_line(&clean.rest, longest(line.kind)), one_line(&clean.rest, LINE_CHARS_MAX));
        let more = count_tokens(&full).saturating_sub(count_tokens(&brief));
        line.text = if more <= whole { full } else { brief };
        whole = whole.saturating_sub(if line.text.len() > LINE_CHARS_MAX { more } else { 0 });
    }
    lines.retain(|line| !line.text.is_empty() && !line.events.is_empty());
    within(lines, &wanted, tokens)
}

/// The lowest trust of all that a summary is made of. Nothing that was read makes it higher (memory.md, authority).
pub fn lowest(tiers: impl IntoIterator<Item = TrustTier>) -> TrustTier {
    tiers.into_iter().fold(TrustTier::Observed, |low, tier| match trust::rank(tier) < trust::rank(low) {
        true => tier,
        false => low,
    })
}

/// The text of a summary as a context holds it.
pub fn text(lines: &[SummaryLine], left_out: u32) -> String {
    let mut text = String::new();
    for line in lines {
        let word = match line.kind {
            SummaryLineKind::Correction => "refused",
            SummaryLineKind::Answer => "asked",
            SummaryLineKind::Done => "done",
            SummaryLineKind::Error => "failed",
            SummaryLineKind::Said => "you said",
            SummaryLineKind::Retold => "in short",
            SummaryLineKind::Seen => "looked",
            SummaryLineKind::Quote => "quoted",
        };
        text.push_str(&format!("- turn {}, {word}: {}\n", line.iteration, line.text));
    }
    if left_out > 0 {
        text.push_str(&format!(
            "({left_out} older lines are left out here; look again where you need them)\n"
        ));
    }
    text
}

/// What the turns came to, but for quotes.
fn told(turns: &[ClosedTurn]) -> Vec<SummaryLine> {
    let mut lines = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let said = |kind, text: String| SummaryLine {
            kind,
            iteration: turn.iteration,
            text,
            events: turn.events.clone(),
            artifact_id: None,
        };
        if let Some(words) = turn.denied.as_ref().or(turn.limited.as_ref()) {
            let part = if turn.limited.is_some() { "a part of " } else { "" };
            lines.push(said(SummaryLineKind::Correction, format!("{part}{}: {words}", brief(&turn.did))));
        }
        if turn.denied.is_some() {
            // Nothing was done.
        } else if let Some((question, answer)) = &turn.asked {
            lines.push(said(
                SummaryLineKind::Answer,
                format!("{} The answer: {answer}", one_line(question, LINE_CHARS_MAX)),
            ));
        } else if let Some(error) = &turn.error {
            let mended =
                turns.iter().skip(at + 1).find(|later| later.tool == turn.tool && later.error.is_none());
            let then =
                mended.map(|later| format!("; after that this worked: {}", later.did)).unwrap_or_default();
            let mut line = said(SummaryLineKind::Error, format!("{}: {error}{then}", turn.did));
            line.events.extend(mended.iter().flat_map(|later| later.events.iter().copied()));
            lines.push(line);
        } else if turn.has_receipt {
            lines.push(said(SummaryLineKind::Done, format!("{} ({})", turn.did, turn.came_to)));
        }
        lines.extend(turn.said.iter().map(|words| said(SummaryLineKind::Said, words.clone())));
    }
    lines.extend(looked_at(turns));
    lines.sort_by_key(|line| line.iteration);
    lines
}

/// Texts that were seen, several on a line.
fn looked_at(turns: &[ClosedTurn]) -> Vec<SummaryLine> {
    let quiet =
        turns.iter().filter(|turn| turn.error.is_none() && !turn.has_receipt && turn.denied.is_none());
    let seen: Vec<(&ClosedTurn, &str)> =
        quiet.flat_map(|turn| turn.seen.iter().map(move |seen| (turn, seen.title.as_str()))).collect();
    let together = |part: &[(&ClosedTurn, &str)]| {
        let titles: Vec<&str> = part.iter().map(|(_, title)| *title).collect();
        let events: BTreeSet<EventId> =
            part.iter().flat_map(|(turn, _)| turn.events.iter().copied()).collect();
        part.first().map(|(turn, _)| SummaryLine {
            kind: SummaryLineKind::Seen,
            iteration: turn.iteration,
            text: titles.join("; "),
            events: events.into_iter().collect(),
            artifact_id: None,
        })
    };
    // Short lines: a long list of long names would be cut.
    seen.chunks(NAMED_TOGETHER).flat_map(|part| split_by_length(part)).filter_map(together).collect()
}

/// The same in parts whose titles fit a line.
fn split_by_length<'p, 't>(part: &'p [(&'t ClosedTurn, &'t str)]) -> Vec<&'p [(&'t ClosedTurn, &'t str)]> {
    let (mut parts, mut from, mut length) = (Vec::new(), 0, 0);
    for (at, (_, title)) in part.iter().enumerate() {
        let more = title.chars().count() + 2;
        if length > 0 && length + more > LINE_CHARS_MAX {
            parts.extend(part.get(from..at));
            (from, length) = (at, 0);
        }
        length += more;
    }
    parts.extend(part.get(from..));
    parts
}

/// The lines of a text that hold most of the words, and its first line where none holds any.
fn quotes(turn: &ClosedTurn, seen: &SeenText, wanted: &BTreeSet<String>) -> Vec<SummaryLine> {
    let lines = seen.text.lines().take(LINES_READ).map(str::trim).filter(|line| !line.is_empty());
    let mut scored: Vec<(Reverse<usize>, usize, &str)> =
        lines.enumerate().map(|(at, line)| (Reverse(score(line, wanted)), at, line)).collect();
    scored.sort_unstable();
    let best = scored.first().map_or(0, |(best, ..)| best.0);
    let many = if best == 0 { 1 } else { QUOTES_EACH };
    let mut chosen: Vec<(usize, &str)> = scored
        .iter()
        .filter(|(score, ..)| best == 0 || score.0 > 0)
        .take(many)
        .map(|(_, at, line)| (*at, *line))
        .collect();
    chosen.sort_unstable();
    let quote = |(_, line): (usize, &str)| SummaryLine {
        kind: SummaryLineKind::Quote,
        iteration: turn.iteration,
        text: format!("{}: {line}", seen.title),
        events: turn.events.clone(),
        artifact_id: Some(seen.artifact_id),
    };
    chosen.into_iter().map(quote).collect()
}

fn score(line: &str, wanted: &BTreeSet<String>) -> usize {
    words(&[line]).into_iter().filter(|word| wanted.contains(word)).count()
}

/// What fits. What was said, done and failed comes first, within its share; then lines that hold words of what the task is
/// about, the best first; then the rest, the newest first.
fn within(lines: Vec<SummaryLine>, wanted: &BTreeSet<String>, tokens: u32) -> (Vec<SummaryLine>, u32) {
    let mut told = BTreeSet::new();
    let lines: Vec<SummaryLine> = lines
        .into_iter()
        .filter(|line| told.insert((line.kind, line.text.clone(), line.iteration)))
        .collect();
    let mut order: Vec<(bool, SummaryLineKind, Reverse<usize>, Reverse<usize>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let score = if line.kind == SummaryLineKind::Quote { score(&line.text, wanted) } else { 0 };
        let is_deed = line.kind < SummaryLineKind::Seen;
        order.push((!is_deed && score == 0, line.kind, Reverse(score), Reverse(at)));
    }
    order.sort_unstable();
    let costs: Vec<u32> =
        lines.iter().map(|line| count_tokens(&text(std::slice::from_ref(line), 0))).collect();
    let (mut fits, mut left) = (BTreeSet::new(), tokens);
    let of_deeds = tokens.saturating_mul(DEEDS_PERCENT) / 100;
    for pass in 0..3 {
        for (is_rest, kind, _, Reverse(at)) in &order {
            let cost = costs.get(*at).copied().unwrap_or(u32::MAX);
            let is_deed = *kind < SummaryLineKind::Seen;
            let is_its_turn = match pass {
                0 => is_deed && tokens.saturating_sub(left).saturating_add(cost) <= of_deeds,
                1 => !is_deed && !is_rest,
                _ => true,
            };
            if is_its_turn && cost <= left && fits.insert(*at) {
                left -= cost;
            }
        }
    }
    let dropped = lines.len().saturating_sub(fits.len());
    let kept = lines.into_iter().enumerate().filter(|(at, _)| fits.contains(at)).map(|(_, line)| line);
    let mut kept: Vec<SummaryLine> = kept.collect();
    kept.sort_by_key(|line| (line.iteration, line.kind));
    (kept, u32::try_from(dropped).unwrap_or(u32::MAX))
}

/// How long a line may be: what a person said is not summed up.
const fn longest(kind: SummaryLineKind) -> usize {
    match kind {
        SummaryLineKind::Correction | SummaryLineKind::Answer => SAID_CHARS_MAX,
        SummaryLineKind::Done
        | SummaryLineKind::Error
        | SummaryLineKind::Said
        | SummaryLineKind::Retold
        | SummaryLineKind::Seen
        | SummaryLineKind::Quote => LINE_CHARS_MAX,
    }
}

/// What an act was, in a few words, before what a person said to it.
fn brief(did: &str) -> String {
    one_line(did, ACT_CHARS_MAX)
}

/// One line without control characters, cut where it is longer.
fn one_line(text: &str, longest: usize) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let flat = flat.trim();
    if flat.chars().count() <= longest {
        return flat.to_owned();
    }
    let short: String = flat.chars().take(longest).collect();
    format!("{short}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(n: u32) -> EventId {
        format!("evt_0190a1b2c3d47e8f9a0b{n:012x}").parse().unwrap()
    }

    fn artifact(n: u32) -> ArtifactId {
        format!("art_0190a1b2c3d47e8f9a0b{n:012x}").parse().unwrap()
    }

    fn turn(iteration: u32, tool: &str, did: &str) -> ClosedTurn {
        let (tool, did, events) = (tool.to_owned(), did.to_owned(), vec![event(iteration)]);
        ClosedTurn { iteration, tool, did, events, ..ClosedTurn::default() }
    }

    fn saw(iteration: u32, title: &str, text: &str) -> ClosedTurn {
        let (title, text) = (title.to_owned(), text.to_owned());
        let seen = SeenText { artifact_id: artifact(iteration), title, text, may_be_quoted: true };
        ClosedTurn { seen: vec![seen], ..turn(iteration, "observe", "look") }
    }

    fn summed(before: &[SummaryLine], turns: &[ClosedTurn], tokens: u32) -> (Vec<SummaryLine>, u32) {
        extract(before, turns, &["Find the staging port"], tokens, &Redactor::default())
    }

    #[test]
    fn a_correction_an_answer_and_a_fact_survive_fifty_summaries() {
        let no = ClosedTurn { denied: Some("use tabs".to_owned()), ..turn(1, "change", "write a.py") };
        let asked = Some(("Which port?".to_owned(), "the old one".to_owned()));
        let asked = ClosedTurn { asked, ..turn(2, "", "") };
        let fact = saw(3, "f0.txt", "nothing\nThe staging port is 8443.\nnothing");
        let (mut lines, mut left) = summed(&[], &[no, asked, fact], 400);
        for round in 0..50 {
            let from = 4 + round * 3;
            let turns: Vec<ClosedTurn> = (from..from + 3)
                .map(|n| saw(n, &format!("f{n}.txt"), "it says nothing new at all"))
                .collect();
            let more;
            (lines, more) = summed(&lines, &turns, 400);
            left += more;
        }
        let all = text(&lines, left);
        for words in
            ["write a.py: use tabs", "Which port? The answer: the old one", "The staging port is 8443."]
        {
            assert!(all.contains(words), "`{words}` is lost: {all}");
        }
        assert!(count_tokens(&text(&lines, 0)) <= 400 && left > 0, "{left}");
        assert!(lines.iter().all(|line| !line.events.is_empty()));
        assert!(lines.is_sorted_by_key(|line| line.iteration));
    }

    #[test]
    fn what_failed_is_told_with_what_mended_it() {
        let failed = ClosedTurn { error: Some("no such file".to_owned()), ..turn(1, "run", "run make tset") };
        let mended = ClosedTurn {
            has_receipt: true,
            came_to: "succeeded".to_owned(),
            ..turn(3, "run", "run make test")
        };
        let (lines, _) = summed(&[], &[failed, saw(2, "Makefile", "test:"), mended], 400);
        let line = lines.iter().find(|line| line.kind == SummaryLineKind::Error).unwrap();
        assert_eq!(line.text, "run make tset: no such file; after that this worked: run make test");
        assert_eq!(line.events, [event(1), event(3)]);
        assert!(lines.iter().any(|line| line.text == "run make test (succeeded)"));
    }

    #[test]
    fn secrets_and_control_characters_are_in_no_line_and_secret_content_is_not_quoted() {
        let key = format!("sk-ant-api03-{}AA", "a1B2c3".repeat(16));
        let mut hidden = saw(1, "key.txt", "The staging port is 1");
        hidden.seen[0].may_be_quoted = false;
        let (lines, _) =
            summed(&[], &[hidden, saw(2, "a\u{1b}[2J.txt", &format!("staging port {key}"))], 400);
        let all = text(&lines, 0);
        assert!(!all.contains(&key) && !all.contains('\u{1b}'), "{all}");
        assert!(all.contains("key.txt") && !all.contains("port is 1"), "{all}");
    }

    #[test]
    fn a_long_line_and_many_names_are_bounded() {
        let long = saw(1, "long.txt", &format!("staging port {}", "x".repeat(100_000)));
        let many: Vec<ClosedTurn> =
            (2..400).map(|n| saw(n, &format!("a/rather/long/path/{n}.txt"), "")).collect();
        let (lines, left) = summed(&[], &[&[long][..], &many].concat(), 600);
        assert!(lines.iter().all(|line| line.text.chars().count() <= LINE_CHARS_MAX + 1));
        assert!(count_tokens(&text(&lines, 0)) <= 600 && left > 0);
    }

    #[test]
    fn trust_is_the_lowest_of_all() {
        assert_eq!(lowest([]), TrustTier::Observed);
        assert_eq!(lowest([TrustTier::UserAsserted, TrustTier::PolicyAsserted]), TrustTier::Observed);
        assert_eq!(lowest([TrustTier::Verified, TrustTier::Untrusted]), TrustTier::Untrusted);
    }
}
