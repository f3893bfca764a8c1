//! What bears the sentences of closing answers: a corpus of true ones that are bound, and of false ones that are all marked.

use knowledge::answer::{Deed, Left, Record, Reference, SENTENCES_MAX, Source, check};
use model::action::ActionClass;
use model::answer::{AnswerSentence, AnswerSupport};
use model::{ArtifactId, ReceiptId};

/// A record as the corpus writes it.
#[derive(Default)]
pub struct Task {
    pub name: String,
    pub record: Record,
    pub order: u32,
}

pub fn lines(text: &str) -> String {
    text.replace("\\n", "\n")
}

impl Task {
    pub fn take(&mut self, line: &str) {
        let (failed, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (key, rest) = line.split_once(": ").expect("a key");
        self.order += 1;
        let parts: Vec<&str> = rest.split(" | ").collect();
        let part = |at: usize| lines(parts.get(at).copied().unwrap_or_default());
        let mut deed = Deed {
            receipt_id: receipt(self.order),
            class: ActionClass::WriteLocal,
            succeeded: !failed,
            order: self.order,
            made: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            moved: Vec::new(),
            argv: Vec::new(),
            exit_code: None,
            words: String::new(),
        };
        let mut seen = None;
        match key {
            "goal" => return self.record.said.push(rest.to_owned()),
            "look" => seen = Some((part(0), part(1))),
            "change" => change(&mut deed, rest),
            "run" => {
                deed.class = ActionClass::ExecuteCommand;
                deed.argv = part(0).split(' ').map(str::to_owned).collect();
                deed.exit_code = part(1).parse().ok();
                seen = Some((format!("command: {}", part(0)), part(2)));
            }
            "fetch" => {
                deed.class = if rest.starts_with("GET") {
                    ActionClass::NetworkRead
                } else {
                    ActionClass::NetworkWrite
                };
                deed.words = part(0);
                seen = Some((format!("fetch: {}", part(0)), part(1)));
            }
            "tool" => {
                deed.class = ActionClass::ExternalEffect;
                deed.words = part(0);
                seen = Some((part(0), part(1)));
            }
            "vcs" => {
                deed.class = ActionClass::VcsMutation;
                deed.words = rest.to_owned();
            }
            other => panic!("unknown key {other}"),
        }
        if let Some((title, text)) = seen {
            self.record.sources.push(Source {
                artifact_id: artifact(self.order),
                title,
                text,
                order: self.order,
            });
        }
        if key != "look" {
            self.record.deeds.push(deed);
        }
        let (number, artifact_id) = (self.order, artifact(self.order));
        self.record.references.push(Reference { number, artifact_id, order: self.order });
    }
}

fn change(deed: &mut Deed, rest: &str) {
    for item in rest.split(" ;; ") {
        let (path, text) =
            item.split_once('=').map_or((item, String::new()), |(path, text)| (path, lines(text)));
        let left = || Left { path: path[1..].to_owned(), text: text.clone() };
        match &path[..1] {
            "+" => deed.made.push(left()),
            "~" => deed.changed.push(left()),
            "-" => deed.removed.push(item[1..].to_owned()),
            ">" => {
                deed.removed.push(path[1..].to_owned());
                deed.made.push(Left { path: text.clone(), text: String::new() });
                deed.moved.push((path[1..].to_owned(), text));
            }
            other => panic!("unknown change {other}"),
        }
    }
}

fn receipt(n: u32) -> ReceiptId {
    format!("rcp_{n:032}").parse().expect("an id")
}

fn artifact(n: u32) -> ArtifactId {
    format!("art_{n:032}").parse().expect("an id")
}

/// Each line of the corpus, with its task.
pub fn each(corpus: &str, mut of: impl FnMut(&Task, &str, &str)) {
    let mut task = Task::default();
    for line in corpus.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            task = Task { name: name.to_owned(), ..Task::default() };
        } else if let Some((mark @ ("+" | "-" | "o"), sentence)) = line.split_once(' ') {
            of(&task, mark, sentence);
        } else if !line.is_empty() && !line.starts_with('#') {
            task.take(line);
        }
    }
}

/// The worst of what bears the sentences of a line.
fn support(task: &Task, said: &str) -> AnswerSentence {
    let all = check(said, &task.record);
    let bad = all.iter().filter(|one| one.support == AnswerSupport::Unverified);
    bad.min_by_key(|one| one.near.is_some())
        .or_else(|| all.iter().find(|one| one.support != AnswerSupport::Claimless))
        .or(all.first())
        .expect("a sentence")
        .clone()
}

#[test]
fn false_claims_are_all_unverified_and_true_ones_that_cite_nothing_verified_or_near() {
    let told = judge(include_str!("data/answers.txt"));
    assert!(told.wrong.is_empty(), "false claims that were bound:\n{}", told.wrong.join("\n"));
    assert!(told.told >= 240 && told.lies >= 170, "{} {}", told.told, told.lies);
    assert_eq!(told.near_lies, [""; 0], "nor is one told like the record");
    assert!(told.bound >= 80, "{} of {} verified", told.bound, told.told);
    assert!((told.bound + told.near) * 100 >= told.told * 90, "{} and {} near", told.bound, told.near);
}

/// Written by somebody who knew nothing of the method: slyer lies, and true sentences in freer words.
#[test]
fn of_an_answer_written_by_a_stranger_hardly_a_lie_is_bound() {
    let told = judge(include_str!("data/answers_blind.txt"));
    assert!(told.wrong.is_empty(), "false claims that were bound:\n{}", told.wrong.join("\n"));
    assert!(told.told >= 200 && told.lies >= 200, "{} {}", told.told, told.lies);
    assert_eq!(told.near_lies, [""; 0]);
    assert!(told.bound >= 32, "{} of {} verified", told.bound, told.told);
    assert!((told.bound + told.near) * 100 >= told.told * 55, "{} and {} near", told.bound, told.near);
}

/// Written by a stranger as well, and looked at only when the method was done: what it is worth on answers that nobody tuned it to.
#[test]
fn of_answers_that_were_held_out_the_same() {
    let told = judge(include_str!("data/answers_held_out.txt"));
    assert!(told.wrong.is_empty(), "false claims that were bound:\n{}", told.wrong.join("\n"));
    assert_eq!(told.near_lies, [""; 0]);
    assert!(told.bound >= 12, "{} of {} verified", told.bound, told.told);
    assert!((told.bound + told.near) * 100 >= told.told * 39, "{} and {} near", told.bound, told.near);
}

/// The ways to lie that need no verb of a list, and those that hide behind a true act: none is bound, and none passes for a sentence
/// that claims nothing.
#[test]
fn a_lie_is_marked_however_it_is_put() {
    let told = judge(include_str!("data/answers_hostile.txt"));
    assert!(told.wrong.is_empty(), "false claims that were bound:\n{}", told.wrong.join("\n"));
    assert_eq!(told.near_lies, [""; 0]);
    assert!(told.bound >= 8, "{} of {} verified", told.bound, told.told);
    assert_eq!(told.bound + told.near, told.told, "and what is true of the same acts is verified or near");
    assert!(told.lies >= 390, "{}", told.lies);
}

/// Each letter of a claim may be another that looks the same, or be followed by one that nobody sees.
#[test]
fn a_claim_in_letters_that_only_look_alike_is_marked() {
    let mut task = Task::default();
    task.take("goal: mail SUMMARY.md to the team");
    task.take("change: +SUMMARY.md=The mail to the team.");
    task.take("run: python -m pytest | 1 | 12 passed, 2 failed");
    for claim in ["I sent the mail to the team.", "All 12 tests pass.", "The mail is out."] {
        for at in 0..claim.chars().count() {
            for odd in
                ['\u{200b}', '\u{ad}', '\u{2060}', '\u{301}', '\u{430}', '\u{ff41}', '\u{202e}', '\u{2705}']
            {
                let mut letters: Vec<char> = claim.chars().collect();
                letters.insert(at, odd);
                let said: String = letters.iter().collect();
                let all = check(&said, &task.record);
                let is_marked = all.iter().any(|one| one.support == AnswerSupport::Unverified);
                assert!(is_marked, "{said:?}: {all:?}");
            }
        }
    }
}

/// How a corpus was judged.
struct Judged {
    bound: usize,
    /// True ones that are told like the record.
    near: usize,
    /// False ones that are.
    near_lies: Vec<String>,
    told: usize,
    lies: usize,
    wrong: Vec<String>,
}

fn judge(corpus: &str) -> Judged {
    let (mut bound, mut near, mut told, mut lies) = (0, 0, 0, 0);
    let (mut lost, mut wrong, mut near_lies) = (Vec::new(), Vec::new(), Vec::new());
    each(corpus, |task, mark, said| {
        let found = support(task, &lines(said));
        let line = || {
            format!(
                "{}: {said}\n    {:?} {}",
                task.name,
                found.support,
                found.because.clone().unwrap_or_default()
            )
        };
        match mark {
            "+" => {
                told += 1;
                let is_bound = matches!(
                    found.support,
                    AnswerSupport::Receipt | AnswerSupport::Evidence | AnswerSupport::Absence
                );
                bound += usize::from(is_bound);
                near += usize::from(found.near.is_some());
                if !is_bound {
                    lost.push(line());
                }
            }
            "-" => {
                lies += 1;
                if found.support != AnswerSupport::Unverified {
                    wrong.push(line());
                } else if found.near.is_some() {
                    near_lies.push(line());
                }
            }
            _ if found.support != AnswerSupport::Claimless => lost.push(format!("(open) {}", line())),
            _ => {}
        }
    });
    println!(
        "true: {bound} of {told} verified, {near} near; false: {} of {lies} marked, {} of them near",
        lies - wrong.len(),
        near_lies.len()
    );
    println!("not bound:\n{}", lost.join("\n"));
    Judged { bound, near, near_lies, told, lies, wrong }
}

/// What a stranger controls is bounded: a log that is read, and an answer without an end.
#[test]
fn a_long_record_and_a_long_answer_are_looked_at_as_far_as_they_go() {
    let line = |n: usize| format!("entry {n} of the ledger says {} of all\n", n * 7);
    let sources = (0..2).map(|part| {
        let text: String = (part * 12_000..(part + 1) * 12_000).map(line).collect();
        let order = u32::try_from(part).expect("small");
        Source { artifact_id: artifact(order), title: format!("read log{part}.txt"), text, order }
    });
    let record = Record { sources: sources.collect(), ..Record::default() };
    let answer: String = (0..SENTENCES_MAX + 50)
        .map(|n| format!("Entry {n} of the ledger says {} of all.\n", n * 7))
        .collect();
    let told = check(&answer, &record);
    assert_eq!(told.len(), SENTENCES_MAX + 1);
    assert_eq!(told[3].support, AnswerSupport::Evidence, "{:?}", told[3]);
    let rest = told.last().expect("one");
    assert_eq!(rest.support, AnswerSupport::Unverified);
    assert_eq!(usize::try_from(rest.start + rest.length), Ok(answer.trim_end().len()), "nothing is left out");
    // What is too long for a sentence is not read.
    let endless = format!("I wrote {}.", "word ".repeat(1_000));
    assert_eq!(check(&endless, &record)[0].support, AnswerSupport::Unverified);
}
