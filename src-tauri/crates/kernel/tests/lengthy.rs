//! Conversations of thousands of messages and attempts that are summed up again and again stay within their bounds, and lose
//! nothing that a person said (memory.md 7).

use crate::story::{count, log, object, packs, shows, state};
use crate::told::{SEVERAL, Wire, settings};
use kernel::command::ingress::Saying;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::context::{ContextSummary, Section};
use model::ingress::Channel;
use model::{Body, TaskId};
use projections::query::Ask;
use reasoning::{Address, ModelServer, Settings, ToolMode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use testkit::World;

/// Messages of the conversation in the suite; `HERMIT_MESSAGES` says another number.
const MESSAGES: usize = 400;
/// Summaries that a correction survives in the suite; `HERMIT_SUMMARIES` says another number, 50 at most: an attempt has no turns
/// for more.
const SUMMARIES: usize = 16;
/// Turns that read something beside those that are summed up.
const TURNS_BESIDE: usize = 11;

/// A task of a model at a server, which may take as many turns as an attempt has.
fn give(world: &World, wire: &Arc<Wire>, goal: &str, settings: Settings) -> TaskId {
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let model = ModelServer::new(&address, settings, Arc::clone(wire) as _).unwrap();
    world.reasoners.put(goal, Arc::new(model));
    let mut submission: Submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    submission.budget.iterations_max = model::limits::ITERATIONS_MAX;
    submission.budget.tokens_max = 100_000_000;
    world.kernel().submit(&submission).unwrap().task_id
}

fn small() -> Settings {
    Settings { context_tokens: 12_000, answer_tokens: 1_000, ..settings(ToolMode::Tools, &[]) }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_conversation_of_thousands_of_messages_is_bound_packed_and_listed_within_its_bounds() {
    let world = World::new(9_301);
    let asked = std::env::var("HERMIT_MESSAGES").ok().and_then(|text| text.parse().ok());
    let many: usize = asked.unwrap_or(MESSAGES);
    let wire = Wire::new(vec![("ask", json!({ "question": "and now?" }))]);
    let goal = "Keep the list of the harbour";
    let task = give(&world, &wire, goal, small());
    let conversations = world.kernel().query().unwrap().conversations(Ask::ALL).unwrap().rows;
    let conversation = conversations[0].conversation_id;
    let mut times = Vec::new();
    for n in 0..many {
        let text = format!("Berth {n} goes to the boat number {n}, which comes from the island {}", n % 97);
        let key = format!("m{n}");
        let began = Instant::now();
        let heard = world.kernel().say(&Saying::of(&text, Channel::App, &key)).unwrap();
        times.push(began.elapsed());
        assert_eq!(heard.task_id, Some(task), "it is bound by what is in focus");
    }
    let part = (many / 10).max(1);
    let (first, last) = (median(&mut times[..part].to_vec()), median(&mut times[many - part..].to_vec()));
    let began = Instant::now();
    let DriveOutcome::Waiting(Waiting::Answer(_)) = world.drive(task) else { panic!("it asks") };
    let turn = began.elapsed();
    let pack = packs_of(&world, task).pop().unwrap();
    let bytes = serde_json::to_vec(&pack).unwrap().len();
    assert!(pack.tokens <= pack.tokens_max, "{} of {}", pack.tokens, pack.tokens_max);
    // What a context may hold bounds its record, and not how much was said.
    let bound = 400 * 1024;
    assert!(bytes < bound, "{bytes} bytes of a context of {} tokens", pack.tokens_max);
    let said = pack.items.iter().filter(|item| item.section == Section::Ingress).count();
    assert!(
        shows(&pack, &format!("Berth {} goes to", many - 1)) && shows(&pack, goal),
        "the newest and the goal"
    );
    if many > 2_000 {
        let told =
            pack.omissions.iter().find(|one| one.reason.contains("older messages")).expect("it says so");
        let older: usize = told.reason.split(' ').next().unwrap().parse().unwrap();
        assert!(older > 0 && older + said < many + 1, "{}", told.reason);
    }
    // Listed page by page, each message once.
    let (mut listed, mut pages, mut longest, mut ask) = (0, 0_u32, 0, Ask::ALL);
    let began = Instant::now();
    loop {
        let page = world.kernel().query().unwrap().messages(conversation, Some(task), ask).unwrap();
        (listed, pages, longest) = (listed + page.rows.len(), pages + 1, longest.max(page.rows.len()));
        match page.next {
            Some(next) => ask = Ask::ALL.after(Some(next)),
            None => break,
        }
    }
    let listing = began.elapsed() / pages;
    assert!(listed >= many && longest <= 1_000, "{listed} in {pages} pages of {longest} at most");
    // Nothing is there to be summed up, and whether there is, is told at once.
    let began = Instant::now();
    assert!(world.kernel().compact(task, true).unwrap().is_none());
    let compacting = began.elapsed();
    println!(
        "{many} messages: a message at first {first:.1?} and at last {last:.1?}, the turn behind them {turn:.1?}, its context \
         {bytes} bytes with {said} messages, a page of the list {listing:.1?}, a look at compaction {compacting:.1?}"
    );
}

/// The packs of a task whose stream is longer than one page.
fn packs_of(world: &World, task: TaskId) -> Vec<model::context::ContextPack> {
    let now = state(world, task);
    let compiled = log(world.kernel()).into_iter().filter_map(|(event, body)| match body {
        Body::ContextCompiled(b) if event.task_id == task => Some(b.pack.artifact_id),
        _ => None,
    });
    compiled.map(|id| object(world.kernel(), &now, id)).collect()
}

/// Reads of two files of one turn, which no other turn reads.
fn turn(at: usize) -> (&'static str, Value) {
    let read = |file: usize| json!({ "tool": "read", "arguments": { "path": format!("f{file:03}.txt") } });
    (SEVERAL, json!([read(at * 2), read(at * 2 + 1)]))
}

#[test]
fn what_a_person_set_right_survives_summary_after_summary() {
    let world = World::new(9_302);
    let asked = std::env::var("HERMIT_SUMMARIES").ok().and_then(|text| text.parse().ok());
    let wanted: usize = asked.unwrap_or(SUMMARIES).min(50);
    // In the suite there are turns to spare; of 50 summaries, almost every turn makes one.
    let turns = (wanted + TURNS_BESIDE).max(40);
    for n in 0..turns * 2 {
        let filler: String =
            (0..110).map(|line| format!("entry {line} of ledger {n} says nothing new\n")).collect();
        world.file(&format!("f{n:03}.txt"), &filler);
    }
    let mut script = vec![turn(0), ("write", json!({ "path": "note.txt", "content": "a line\n" }))];
    script.extend((1..turns).map(turn));
    script.push(("done", json!({ "summary": "read" })));
    let wire = Wire::new(script);
    let goal = "Read the ledgers of the harbour";
    let task = give(&world, &wire, goal, small());
    let DriveOutcome::Waiting(Waiting::Approval(at)) = world.drive(task) else { panic!("it asks") };
    world.person.deny(world.kernel(), task, at, "call it memo.txt from now on").unwrap();
    world
        .kernel()
        .append_note(task, "Never write to the attic folder, use the cellar", Channel::Cli, "n")
        .unwrap();
    // Before each further answer it is summed up, as the thread beside the loop does it.
    let (thinks, is_thinking) = channel::<()>();
    let (go, goes): (_, Receiver<()>) = channel();
    let goes = std::sync::Mutex::new(goes);
    wire.before_each(move || {
        let _ = thinks.send(());
        let _ = goes.lock().unwrap().recv_timeout(Duration::from_secs(60));
    });
    let (mut made, mut slowest) = (0, Duration::ZERO);
    let outcome = std::thread::scope(|scope| {
        // Owned here, so that a panic lets the model go on.
        let go = go;
        let driving = scope.spawn(|| world.drive(task));
        while !driving.is_finished() {
            if is_thinking.recv_timeout(Duration::from_millis(50)).is_ok() {
                let began = Instant::now();
                made += usize::from(world.kernel().compact(task, true).unwrap().is_some());
                slowest = slowest.max(began.elapsed());
                go.send(()).unwrap();
            }
        }
        driving.join().unwrap()
    });
    // Something was refused on its way, and it came to its end.
    assert!(matches!(outcome, DriveOutcome::Ended { .. }), "{outcome:?}");
    assert!(made >= wanted, "{made} summaries");
    assert_eq!(count_all(&world, task), made);
    let sent = wire.sent();
    let last = sent.last().unwrap();
    for words in [goal, "Never write to the attic folder", "call it memo.txt from now on"] {
        assert!(last.contains(words), "`{words}` is lost after {made} summaries");
    }
    let at = state(&world, task).attempt().unwrap().compacted.clone().unwrap().summary;
    let summary: ContextSummary = object(world.kernel(), &state(&world, task), at.artifact_id);
    assert!(
        summary.lines.iter().any(|line| line.text.contains("call it memo.txt from now on")),
        "{summary:?}"
    );
    let bytes = serde_json::to_vec(&summary).unwrap().len();
    assert!(bytes < 256 * 1024, "a summary does not grow with how often it was made: {bytes} bytes");
    for pack in packs(world.kernel(), task) {
        assert!(pack.tokens <= pack.tokens_max && shows(&pack, goal));
    }
    println!("{made} summaries, the slowest in {slowest:.1?}, the last of {bytes} bytes");
}

fn count_all(world: &World, task: TaskId) -> usize {
    count(world.kernel(), task, "attempt.context_compacted")
}
