//! A task on the whole screen of a terminal, as a terminal shows it, and the terminal afterwards.

use crate::bench::{APPROVAL, Bench, before, text};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, OutputModes};
use serde_json::{Value, json};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use testkit::pty::Pty;
use testkit::{Answers, Chat, Large, Server};

const USUAL: (u16, u16) = (80, 24);
const UP: &str = "\u{1b}[5~";
const DOWN: &str = "\u{1b}[6~";
const LAST: &str = "\u{1b}[F";

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "tool": name, "arguments": arguments })
}

fn tidy(bench: &Bench, size: (u16, u16)) -> Pty {
    let folder = bench.folder();
    bench.screen(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--screen"], size)
}

/// A run with a model at this address.
fn goal(bench: &Bench, goal: &str, model: &str, size: (u16, u16)) -> Pty {
    let folder = bench.folder();
    let words =
        ["run", "--goal", goal, "--workspace", folder.to_str().unwrap(), "--model", model, "--screen"];
    bench.screen(&words, size)
}

/// Says yes at the question.
fn allow(terminal: &mut Pty) {
    terminal.sees("Approve? (y)es").send("y\r");
    terminal.sees("Approval passphrase:").send(&format!("{APPROVAL}\r"));
}

/// The terminal is as a shell leaves it to a program, and shows what it showed.
fn given_back(terminal: &Pty) {
    assert!(!terminal.is_taken(), "the screen is given back: {}", terminal.seen());
    let modes = terminal.modes();
    let usual = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    assert!(modes.local_modes.contains(usual), "{:?}", modes.local_modes);
    assert!(modes.output_modes.contains(OutputModes::OPOST), "{:?}", modes.output_modes);
}

/// A model that says the beginning of something and waits to be told the rest.
fn slow(words: &str) -> (Server, Sender<String>, String) {
    let (tell, told) = channel();
    let told = Arc::new(Mutex::new(told));
    let begin = piece(words);
    let server = Server::begin(move |heard| match heard.line.as_str() {
        "POST /v1/chat/completions" => {
            let kind = vec![("Content-Type", "text/event-stream".to_owned())];
            Answers::Begins(kind, begin.clone(), Arc::clone(&told))
        }
        _ => Answers::With(404, Vec::new(), String::new()),
    });
    let address = format!("openai:{}#words", server.url("/v1"));
    (server, tell, address)
}

fn piece(words: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": words } }] }))
}

fn rest(words: &str) -> String {
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    format!("{}data: {end}\n\ndata: [DONE]\n\n", piece(words))
}

#[test]
fn a_person_watches_a_task_reads_its_card_allows_it_and_finds_the_result_in_the_scrollback() {
    let bench = Bench::new();
    let mut terminal = tidy(&bench, USUAL);
    terminal
        .sees("Moves 3 files; nothing is lost")
        .sees("a.txt")
        .sees("Moderate risk")
        .sees("Approve? (y)es");
    let card = terminal.seen();
    let folder = bench.folder();
    let folder = folder.to_str().unwrap();
    assert!(card.contains(&folder[..folder.len().min(60)]) && card.contains("tidy"), "{card}");
    assert!(terminal.is_taken());
    assert!(!terminal.modes().local_modes.intersects(LocalModes::ECHO | LocalModes::ISIG));
    assert_eq!(bench.files(), before(), "nothing moves before the yes");
    // What is no answer decides nothing, and a passphrase typed there is not shown.
    terminal.send("\r").sees("Enter alone decides nothing").send(&format!("{APPROVAL}\r"));
    terminal.sees("That is not one of the answers");
    allow(&mut terminal);
    let code = terminal.ended();
    let (seen, shown) = (terminal.seen(), terminal.shown());
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(APPROVAL), "the passphrase is never shown");
    given_back(&terminal);
    assert!(seen.contains("Done.") && seen.contains("Moved 3 files"), "{seen}");
    assert!(
        seen.contains("Undo: hermit rollback ") && seen.contains("Proof: hermit proof export "),
        "{seen}"
    );
    assert!(!seen.contains("Approve?"), "the card stands on the other screen: {seen}");
    assert!(!bench.files().contains_key("a.txt") && bench.files().len() == 3);

    // The way back on a screen as well, on a narrow terminal that becomes wide.
    let mut terminal = bench.screen(&["undo", "--screen"], (40, 24));
    terminal.sees("Moves 3 files").sees("later, details:");
    terminal.resize((100, 30)).sees("Approve? (y)es, (n)o, stop, part, always, later, details:");
    allow(&mut terminal);
    assert_eq!(terminal.ended(), 0, "{}", terminal.seen());
    assert_eq!(bench.files(), before());
}

#[test]
fn words_come_as_they_are_said_and_escape_pauses_the_task_which_is_resumed_on_a_screen() {
    let bench = Bench::new();
    let (_server, tell, model) = slow("I will look at the \u{1b}[31mnotes first");
    let mut terminal = goal(&bench, "sum up the notes", &model, USUAL);
    // The line has not ended, and what would be a command to the terminal is written out.
    terminal.sees("I will look at the \\u{1b}[31mnotes first").sees("Waiting for the model");
    terminal.sees("Esc or Ctrl-C pauses").send("\u{1b}").sees("Pausing. Nothing is lost.");
    tell.send(rest(".\n")).unwrap();
    let code = terminal.ended();
    let seen = terminal.seen();
    assert_eq!(code, 4, "{seen}");
    given_back(&terminal);
    assert!(seen.contains("Paused. To continue: hermit task resume "), "{seen}");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(tasks["rows"][0]["status"], "paused", "{tasks}");

    // It goes on where it was.
    let task = text(&tasks["rows"][0]["task_id"]);
    tell.send(rest(".\n")).unwrap();
    let mut terminal = bench.screen(&["task", "resume", &task, "--screen"], USUAL);
    assert_eq!(terminal.ended(), 0, "{}", terminal.seen());
    given_back(&terminal);
    assert!(terminal.seen().contains("Done."), "{}", terminal.seen());
}

#[test]
fn a_second_interrupt_leaves_at_once_with_the_terminal_as_it_was() {
    let bench = Bench::new();
    let (_server, _tell, model) = slow("Let me think");
    let mut terminal = goal(&bench, "sum up the notes", &model, USUAL);
    terminal.sees("Let me think").send("\u{3}").sees("Pausing. Nothing is lost.").send("\u{3}");
    assert_eq!(terminal.ended(), 130, "{}", terminal.seen());
    given_back(&terminal);
}

#[test]
fn a_terminal_is_given_back_when_the_program_is_told_to_end() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let bench = Bench::new();
        let mut terminal = tidy(&bench, USUAL);
        terminal.sees("Approve? (y)es");
        let id = Pid::from_raw(i32::try_from(terminal.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
        assert_eq!(terminal.ended(), code, "{}", terminal.seen());
        given_back(&terminal);
        assert_eq!(bench.files(), before());
    }
}

#[test]
fn hunks_are_chosen_and_a_question_is_answered_and_a_no_is_said_on_the_screen() {
    let bench = Bench::new();
    let lines = |changed: &[usize]| -> String {
        (1..=60).map(|n| format!("{}{n}\n", if changed.contains(&n) { "new " } else { "" })).collect()
    };
    std::fs::write(bench.folder().join("a.txt"), lines(&[])).unwrap();
    let says = vec![
        tool("ask", json!({ "question": "Which currency?", "choices": ["EUR", "USD"] })),
        tool("read", json!({ "path": "a.txt" })),
        tool("command", json!({ "argv": ["sh", "-c", "echo it makes $((40 + 2)); exit 3"] })),
        tool("write", json!({ "path": "a.txt", "content": lines(&[3, 30, 55]) })),
        tool("command", json!({ "argv": ["sh", "-c", "rm a.txt"] })),
        tool("done", json!({ "summary": "I did it." })),
    ];
    let model = Chat::saying(Large::STRONG, says).address();
    let mut terminal = goal(&bench, "change the list", &model, USUAL);
    terminal.sees("It asks: Which currency?").sees("2  USD").sees("Your answer").send("3\r");
    terminal.sees("That is not one of the choices").send("2\r").sees("hunk 1 of 3");
    // The card is longer than the screen; the question stays.
    terminal.sees("PgDn shows more").sees("Approve? (y)es").send(LAST).sees("+new 55").misses("+new 3");
    terminal.send(UP).send(UP).sees("+new 3").send(DOWN).sees("+new 30");
    terminal.sees("Approve? (y)es").send("part\r").sees("hunks as file#1,3").send("a.txt#1\r");
    terminal.sees("> a.txt#1").sees("Another one").send("a.txt#3\r").sees("> a.txt#3").send("\r");
    terminal.sees("Reason").send("not that\r").sees("A PART of what was asked");
    allow(&mut terminal);
    // The next act is refused, with the story behind it.
    terminal.sees("DELETES 1 file").send("n\r").sees("Reason").send("keep it\r");
    let code = terminal.ended();
    let seen = terminal.seen();
    given_back(&terminal);
    assert_eq!(bench.files()["a.txt"], lines(&[3, 55]), "{code}: {seen}");
    let shown = terminal.shown();
    for told in [
        "It printed:",
        "it makes 42",
        "The command ended with status 3",
        "You denied it: not that (left out: hunk 2",
        "You approved it.",
    ] {
        assert!(shown.contains(told), "{told}");
    }
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
}

#[test]
fn first_steps_use_the_whole_terminal_and_time_goes_on_while_a_question_waits() {
    let bench = Bench::new();
    let folder = bench.folder();
    let words = ["start", "--screen", "--workspace", folder.to_str().unwrap()];
    let mut terminal = bench.screen(&words, (100, 30));
    terminal.sees("Moves 3 files; nothing is lost").sees("Approve? (y)es");
    let seconds = |seen: &str| {
        let line = seen.lines().find(|line| line.contains(" s   ")).unwrap_or_default();
        line.split(' ').find_map(|word| word.parse::<u64>().ok())
    };
    let then = seconds(&terminal.seen()).unwrap();
    terminal.sees(&format!("{} s   ", then + 2));
    allow(&mut terminal);
    assert_eq!(terminal.ended(), 0, "{}", terminal.seen());
    given_back(&terminal);
    let seen = terminal.seen();
    assert!(seen.contains("3. A proof that anybody can check") && seen.contains("valid"), "{seen}");
}

#[test]
fn keys_pressed_before_the_card_was_shown_approve_nothing_on_the_screen() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let mut terminal = bench.screen(&["approvals", "approve", &approval, "--screen"], USUAL);
    terminal.send(&format!("y\rhigh\r{APPROVAL}\r"));
    // Leaving by the key that leaves.
    terminal.sees("Approve? (y)es").send("\u{1b}");
    assert_eq!(terminal.ended(), 4, "{}", terminal.seen());
    given_back(&terminal);
    assert!(terminal.seen().contains("Nothing was decided. It still waits for you."), "{}", terminal.seen());
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());
}

#[test]
fn a_screen_is_refused_where_there_is_none_and_beside_a_log() {
    let bench = Bench::new();
    let folder = bench.folder();
    let run = ["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--screen"];
    let refused = bench.run(&run).ends_with(2);
    assert!(refused.err.contains("needs a terminal") && refused.err.contains("--log"), "{}", refused.err);
    for other in ["--log", "--quiet"] {
        let refused = bench.run(&[&run[..], &[other]].concat()).ends_with(2);
        assert!(refused.err.contains("cannot be used with"), "{}", refused.err);
    }
    // A terminal that does not say how large it is cannot be drawn on either.
    let refused = bench.terminal(&run).end();
    assert!(refused.0 == 2 && refused.1.contains("--log"), "{refused:?}");
    assert_eq!(bench.files(), before());
}
