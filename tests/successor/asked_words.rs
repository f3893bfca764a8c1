//! Words that a model reads, tried by asking it anew: the same model on this machine in both arms, and what it did by the words decides.
//! The models are servers of this machine that do one thing by SOUL.md as it stands and another by SOUL.md as the change has it.

use super::proposed::{done, task_of, writes};
use super::{has_walls, soon};
use crate::journeys::attached::Served;
use crate::journeys::stage::{APPROVAL, Stage};
use crate::journeys::tool_servers::{asked, card, put, yes};
use conforms::conforms;
use serde_json::{Value, json};
use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use testkit::{Answers, Chat, Large, Server};

const GOAL: &str = "write the plan down";
/// What stands in the words of a change, and in no other context.
pub(super) const MARK: &str = "I keep to the goal of the zebra.";

pub(super) fn reads(path: &str) -> Value {
    json!({ "tool": "read", "arguments": { "path": path } })
}

/// A model that answers so in each conversation by words as they stand, and otherwise by those with the mark.
pub(super) fn by_its_words(stands: Vec<Value>, changed: Vec<Value>) -> Chat {
    let turns = [AtomicUsize::new(0), AtomicUsize::new(0)];
    Chat::begin(Large::STRONG, move |request| {
        let has_mark = request.to_string().contains(MARK);
        let (answers, turn) = if has_mark { (&changed, &turns[1]) } else { (&stands, &turns[0]) };
        answers[turn.fetch_add(1, Ordering::SeqCst) % answers.len()].clone()
    })
}

/// A store in which this model was asked to write the plan down; the task. Its person allows all but `b.md`.
fn worked(model: &str) -> (Stage, String) {
    let stage = Stage::new();
    let task = works_in(&stage, model);
    (stage, task)
}

/// The same in a store that is there.
pub(super) fn works_in(stage: &Stage, model: &str) -> String {
    works_on(stage, model, GOAL)
}

/// The same with another goal.
pub(super) fn works_on(stage: &Stage, model: &str, goal: &str) -> String {
    std::fs::write(stage.work().join("plan.md"), "one\ntwo\n").expect("a file");
    let folder = stage.work();
    let words =
        ["run", "--log", "--goal", goal, "--model", model, "--workspace", folder.to_str().expect("UTF-8")];
    let mut pty = stage.terminal(&words, &[]).without_hurry();
    let passphrase = format!("{APPROVAL}\r");
    let asks = [
        ("Approve?", "y\r"),
        ("Type `high`", "high\r"),
        ("Approval passphrase", passphrase.as_str()),
        ("Reason (optional", "\r"),
    ];
    while let Some(which) = pty.expect_one_or_end(&asks.map(|(words, _)| words)) {
        let is_denied = which == 0 && waits_for(stage, "b.md");
        pty.send(if is_denied { "n\r" } else { asks[which].1 });
    }
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    task_of(stage, goal)
}

/// Whether the question that waits now is about this file.
fn waits_for(stage: &Stage, file: &str) -> bool {
    stage.waiting().iter().any(|row| row.to_string().contains(file))
}

/// Tries a SOUL.md with the mark on this task alone; what came of it.
fn tried(stage: &Stage, task: &str, more: &[&str]) -> Value {
    let soul = stage.at("SOUL.md");
    std::fs::write(&soul, format!("# Ada\n{MARK}\n")).expect("a file");
    tried_words(stage, task, &format!("soul={}", soul.to_str().expect("UTF-8")), more)
}

/// Tries words, as `--words` takes them, on this task alone; what came of it.
pub(super) fn tried_words(stage: &Stage, task: &str, words: &str, more: &[&str]) -> Value {
    let tries =
        ["successor", "try", "--words", words, "--source", "my own idea", "--on", task, "--tasks", "1"];
    let all = [&tries[..], &["--task", "it asks less and breaks nothing"], more].concat();
    stage.hermit(&all).json()
}

pub(super) fn rules(shown: &Value) -> Vec<&str> {
    let reasons = shown["verdict"]["reasons"].as_array().unwrap_or_else(|| panic!("no verdict: {shown}"));
    reasons.iter().filter_map(|reason| reason["rule"].as_str()).collect()
}

/// What the rule says of the trial.
fn says<'v>(shown: &'v Value, rule: &str) -> &'v str {
    let reasons = shown["verdict"]["reasons"].as_array().unwrap_or_else(|| panic!("no verdict: {shown}"));
    let found = reasons.iter().find(|reason| reason["rule"] == rule);
    found.and_then(|reason| reason["says"].as_str()).unwrap_or_else(|| panic!("no {rule}: {shown}"))
}

#[track_caller]
pub(super) fn is_sound(shown: &Value) {
    assert_eq!(shown["verdict"]["is_signed"], true, "{shown}");
    let planted = shown["verdict"]["planted"].as_array().expect("planted changes");
    assert!(!planted.is_empty() && planted.iter().all(|bad| bad["refused"] == true), "{planted:?}");
}

#[conforms(part = "HV-5-2")]
#[test]
fn words_by_which_a_model_does_not_do_its_work_any_more_are_worse() {
    if !has_walls() {
        return;
    }
    let works = vec![reads("plan.md"), writes("a.md"), done("written")];
    let chat = by_its_words(works, vec![reads("plan.md"), done("read, and left as it is")]);
    let (stage, task) = worked(&chat.address());
    let before = chat.requests().len();
    let shown = tried(&stage, &task, &[]);
    assert_eq!(shown["trial"]["outcome"], "worse", "{shown}");
    assert!(rules(&shown).contains(&"effects_differ"), "{shown}");
    is_sound(&shown);

    // It was asked in both arms, within what the verdict says, with the same seed and settings, and not once more: nothing was saved.
    let requests = chat.requests();
    let anew = &requests[before..];
    let asked = json!({ "model": chat.address(), "parent": 3, "successor": 2 });
    assert_eq!((&shown["trial"]["asked"], anew.len()), (&asked, 5), "{shown}");
    let marked = anew.iter().filter(|request| request.to_string().contains(MARK)).count();
    assert_eq!(marked, 2, "the change stands in one arm alone");
    for name in ["seed", "temperature", "model"] {
        assert!(anew.iter().all(|request| request[name] == anew[0][name]), "{name}");
    }
    let measures = shown["trial"]["measures"].as_array().expect("measures");
    let turns = measures.iter().find(|one| one["name"] == "turns").expect("it is measured");
    assert_eq!(turns, &json!({ "name": "turns", "parent": 3, "successor": 2, "measured_by": "host" }));
    assert!(says(&shown, "a_model_was_asked").contains("3 times without the change and 2 times with it"));
    // What it did was done in clones.
    assert_eq!(std::fs::read_to_string(stage.work().join("a.md")).expect("it is there"), "text\n");
    stage.is_sound();
}

#[conforms(part = "HV-5-2", part = "HV-5-7")]
#[test]
fn words_by_which_a_model_asks_its_person_less_are_better_and_the_card_says_which_was_asked() {
    if !has_walls() {
        return;
    }
    let stands = vec![reads("plan.md"), writes("b.md"), writes("a.md"), done("written")];
    let chat = by_its_words(stands, vec![reads("plan.md"), writes("a.md"), done("written")]);
    let (stage, task) = worked(&chat.address());
    assert!(stage.work().join("a.md").exists() && !stage.work().join("b.md").exists());
    let shown = tried(&stage, &task, &[]);
    assert_eq!(shown["trial"]["outcome"], "better", "{shown}");
    for rule in ["proposes_no_more_what_was_denied", "did_the_same_again"] {
        assert!(rules(&shown).contains(&rule), "no {rule}: {shown}");
    }
    let (has_evidence, digests) = (&shown["verdict"]["has_evidence"], &shown["verdict"]["evidence_sha256"]);
    assert_eq!((has_evidence, digests.as_array().map(Vec::len)), (&json!(true), Some(3)), "{shown}");
    // Once for the work, once with the change, and twice without it.
    assert_eq!(chat.requests().len(), 4 + 4 + 3 + 4, "{shown}");
    let measures = shown["trial"]["measures"].as_array().expect("measures");
    let questions = measures.iter().find(|one| one["name"] == "questions").expect("it is measured");
    assert_eq!((&questions["parent"], &questions["successor"]), (&json!(2), &json!(1)), "{shown}");
    is_sound(&shown);

    let id = shown["trial"]["trial_id"].as_str().expect("an identifier");
    let told = Stage::ran(&mut stage.command(&["successor", "show", id])).ends(0).out;
    assert!(told.contains("was asked again: 4 answers without the change, 3 with it"), "{told}");
    let (_, approval) = asked(&stage.hermit(&["successor", "adopt", id]).ends(4).json());
    let (card, address) = (card(&stage, &approval), chat.address());
    for words in ["a_model_was_asked", address.as_str(), "4 times without the change and 3 times with it"] {
        assert!(card.contains(words), "`{words}` is not on the card: {card}");
    }
    stage.is_sound();
}

#[test]
fn words_that_save_only_because_a_model_answers_otherwise_each_time_are_not_better() {
    if !has_walls() {
        return;
    }
    let stands = [reads("plan.md"), writes("b.md"), writes("a.md"), done("written")];
    let less = [reads("plan.md"), writes("a.md"), done("written")];
    let (unchanged, changed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // It does the same for the work and for the trial, and by the third time it asks less without the change as well.
    let chat = Chat::begin(Large::STRONG, move |request| {
        if request.to_string().contains(MARK) {
            return less[changed.fetch_add(1, Ordering::SeqCst) % 3].clone();
        }
        match unchanged.fetch_add(1, Ordering::SeqCst) {
            at @ ..8 => stands[at % 4].clone(),
            at => less[(at - 8) % 3].clone(),
        }
    });
    let (stage, task) = worked(&chat.address());
    let shown = tried(&stage, &task, &[]);
    assert_eq!(shown["trial"]["outcome"], "inconclusive", "{shown}");
    assert!(rules(&shown).contains(&"did_something_else_again"), "{shown}");
    assert_eq!(chat.requests().len(), 4 + 4 + 3 + 3, "{shown}");
    is_sound(&shown);
    stage.is_sound();
}

/// A way to a server that can be closed.
struct Way {
    port: u16,
    closed: Arc<AtomicBool>,
}

impl Way {
    /// To the server of this model; its own address.
    fn to(chat: &Chat) -> (Self, String) {
        let address = chat.address();
        let host = address.trim_start_matches("openai:http://").trim_end_matches("/v1#words").to_owned();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let closed = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&closed);
        spawn(move || {
            for from in listener.incoming().flatten() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let to = TcpStream::connect(&host).expect("the server");
                let (mut asks, mut asked) =
                    (from.try_clone().expect("a pipe"), to.try_clone().expect("a pipe"));
                spawn(move || drop(copy(&mut asks, &mut asked)));
                let (mut says, mut said) = (to, from);
                spawn(move || {
                    drop(copy(&mut says, &mut said));
                    // Who hears no more also says no more.
                    drop(said.shutdown(Shutdown::Both));
                });
            }
        });
        (Self { port, closed }, format!("openai:http://127.0.0.1:{port}/v1#words"))
    }

    /// Nobody answers there from now on.
    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        soon("nobody answers", || TcpStream::connect(("127.0.0.1", self.port)).is_err());
    }
}

#[conforms(part = "HV-5-2")]
#[test]
fn words_without_a_model_on_this_machine_are_the_same_at_most_and_one_may_be_named() {
    if !has_walls() {
        return;
    }
    let works = vec![reads("plan.md"), writes("a.md"), done("written")];
    let chat = by_its_words(works.clone(), works.clone());
    let (way, address) = Way::to(&chat);
    let (stage, task) = worked(&address);
    way.close();

    // The model that did the work is away: what it answered then is played, and what to do is said.
    let shown = tried(&stage, &task, &[]);
    assert_ne!(shown["trial"]["outcome"], "better", "{shown}");
    assert_eq!(shown["trial"]["asked"], Value::Null, "{shown}");
    let why = says(&shown, "no_model_was_asked");
    for words in [address.as_str(), "nobody answers at 127.0.0.1", "`--ask MODEL`"] {
        assert!(why.contains(words), "`{words}` is not in `{why}`");
    }
    is_sound(&shown);

    // Another one on this machine is named: it is asked in its place.
    let other = by_its_words(works.clone(), works);
    let shown = tried(&stage, &task, &["--ask", &other.address()]);
    let asked = json!({ "model": other.address(), "parent": 3, "successor": 3 });
    assert_eq!((&shown["trial"]["asked"], other.requests().len()), (&asked, 6), "{shown}");
    assert!(rules(&shown).contains(&"a_model_was_asked"), "{shown}");
    is_sound(&shown);

    // One that cannot be asked ends the trial, and none on another machine is asked at all: nor one that a server here hands on.
    let handed_on = other.address().replace("#words", "#gpt-oss:120b-cloud");
    for (model, says) in [
        (address.as_str(), "nobody answers at 127.0.0.1"),
        ("openai:https://models.invalid/v1#large", "is on another machine"),
        (handed_on.as_str(), "is on another machine"),
    ] {
        let shown = tried(&stage, &task, &["--ask", model]);
        assert_eq!(
            (&shown["trial"]["state"], &shown["verdict"]),
            (&json!("failed"), &Value::Null),
            "{shown}"
        );
        assert!(shown["trial"]["why"].to_string().contains(says), "`{says}`: {shown}");
    }
    stage.is_sound();
}

#[conforms(part = "HV-5-2")]
#[test]
fn about_what_a_playbook_did_no_model_is_asked() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    put(&stage, "one.jpg", "a picture\n");
    let (task, approval) = stage.asks("tidy");
    yes(&stage, &approval);
    let shown = tried(&stage, &task, &[]);
    assert_eq!(shown["trial"]["asked"], Value::Null, "{shown}");
    assert!(says(&shown, "no_model_was_asked").contains("no model did the tasks"), "{shown}");
    is_sound(&shown);
    let chat = by_its_words(vec![done("written")], vec![done("written")]);
    let shown = tried(&stage, &task, &["--ask", &chat.address()]);
    assert_eq!(shown["trial"]["state"], "failed", "{shown}");
    assert!(shown["trial"]["why"].to_string().contains("no model did the tasks"), "{shown}");
    assert_eq!(chat.requests().len(), 0);
    stage.is_sound();
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn a_model_that_has_no_tokens_or_speaks_nonsense_makes_no_words_better() {
    if !has_walls() {
        return;
    }
    let works = vec![reads("plan.md"), writes("a.md"), done("written")];
    let chat = by_its_words(works.clone(), works);
    let (stage, task) = worked(&chat.address());
    let before = chat.requests().len();
    let shown = tried(&stage, &task, &["--tokens", "1"]);
    assert_eq!(shown["trial"]["outcome"], "inconclusive", "{shown}");
    assert_eq!(shown["verdict"]["ended_for"], "tokens", "{shown}");
    assert!(rules(&shown).contains(&"parent_used_up_its_budget"), "{shown}");
    assert_eq!(chat.requests().len(), before, "there was no room for a single question");

    let nonsense = Server::begin(|_| Answers::With(200, Vec::new(), "no JSON, nor an event".to_owned()));
    let address = format!("openai:{}#words", nonsense.url("/v1"));
    let shown = tried(&stage, &task, &["--ask", &address]);
    match shown["trial"]["state"].as_str() {
        Some("failed") => assert!(shown["trial"]["why"].to_string().contains(&address), "{shown}"),
        _ => assert_eq!(shown["trial"]["outcome"], "inconclusive", "{shown}"),
    }
    // One that answers, and nothing that its tools know.
    let odd = Chat::saying(Large::STRONG, vec![json!({ "tool": "fly", "arguments": { "to": "the moon" } })]);
    let shown = tried(&stage, &task, &["--ask", &odd.address()]);
    let outcome = shown["trial"]["outcome"].as_str().unwrap_or("none");
    assert!(!["better", "same"].contains(&outcome), "{shown}");
    stage.is_sound();
}

#[test]
fn a_trial_whose_model_does_not_answer_says_how_far_it_is_and_is_stopped() {
    if !has_walls() {
        return;
    }
    let works = vec![reads("plan.md"), writes("a.md"), done("written")];
    let chat = by_its_words(works.clone(), works);
    let (stage, task) = worked(&chat.address());
    let served = Served::by(&stage);
    let (answers, waits) = channel::<()>();
    let waits = Mutex::new(waits);
    let silent = Chat::begin(Large::STRONG, move |_| {
        // Whoever is at the other end has let go of it at the end of the test.
        let _gone = waits.lock().expect("no poison").recv();
        done("late")
    });
    let begun = tried(&stage, &task, &["--ask", &silent.address(), "--detach"]);
    let id = begun["trials"][0]["trial_id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let shown = || stage.hermit(&["successor", "show", &id]).ends(0).json();
    let until_now = json!({ "model": silent.address(), "parent": 0, "successor": 0 });
    // Only the host that asks knows, and the command asks it.
    soon("it says which model it asks", || shown()["trial"]["asked"] == until_now);
    stage.hermit(&["successor", "stop", &id]).ends(0);
    assert_eq!((&shown()["trial"]["state"], &shown()["verdict"]), (&json!("stopped"), &Value::Null));
    soon("nothing asks any more", || shown()["trial"]["asked"] == Value::Null);
    drop(served);
    drop(answers);
    stage.is_sound();
}
