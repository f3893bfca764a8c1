//! `kill -9` of the real program in its work in the background: while it reads what ended and drafts, while it remembers what a
//! person allowed, and while it makes and forgets vectors (memory.md 7). What the next process finds is whole.

use super::killed::{kill_after, to_this_moment};
use super::sim::Sim;
use crate::journeys;
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use kernel::{DriveOutcome, Waiting};
use ledger::Reader;
use model::body::KeyPurpose;
use model::fault::Point;
use model::ingress::Channel;
use model::knowledge::MemoryStatus;
use model::proposal::Answer;
use model::receipt::ReceiptClass;
use model::task::Origin;
use model::{Body, Digest, Event, TaskId};
use projections::query::Ask;
use projections::{Vectors, vectors};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Answers, Edge, Embedding, Mode, Server, World, change, done, look, say};

/// Kills of each job.
const KILLS: u32 = 3;
/// Records whose vectors are made.
const RECORDS: usize = 24;

fn sim(name: &str, seed: u64) -> Sim {
    let mut sim = Sim::new(name, seed, false);
    to_this_moment(&sim);
    sim.world.take_up().expect("the store opens");
    // Receipts are chained and not signed here: the keys of a test stay with the test.
    let person = [(KeyPurpose::Approval, sim.world.person.public())];
    sim.kernel().register_keys(&person, "test").expect("a key");
    sim
}

fn program(store: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(journeys::hermit());
    command.arg("--home").arg(store).args(words);
    command.env_clear().env("HOME", store).env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// Kills the program so many times, each after another part of the time that a calm run takes, and then lets it finish.
fn killed(store: &Path, words: &[&str], calm: Duration) -> u32 {
    let mut kills = 0;
    for part in 1..=KILLS {
        kills += u32::from(kill_after(program(store, words), calm * part / (KILLS + 1)));
    }
    assert!(program(store, words).wait().expect("it ends").code().is_some());
    kills
}

fn log(world: &World) -> Vec<(Event, Body)> {
    let reader = world.kernel().reader();
    let stored = reader.log(0, 100_000).expect("read");
    let event = |stored: &ledger::Stored| {
        let event = stored.event().expect("an event");
        let body = event.body(&|digest| reader.disclosure(digest).expect("read")).expect("a body");
        (event, body)
    };
    stored.iter().map(event).collect()
}

fn finished(world: &World, goal: &str, answers: Vec<Answer>) {
    let task = world.script(goal, answers);
    let (outcome, _) = world.drive_allowing(task);
    assert!(matches!(outcome, DriveOutcome::Ended { .. }), "{outcome:?}");
}

/// Three tasks that did the same, and two that a person corrected.
fn ended(world: &World) {
    for part in ["alpha", "beta", "gamma"] {
        let files = json!([
            { "op": "write", "path": format!("parts/{part}/README.md"), "content": format!("# {part}\n\nIt belongs to {part}.\n") },
            { "op": "write", "path": format!("parts/{part}/TODO.md"), "content": "- [ ] say what it is for" },
        ]);
        finished(world, &format!("Begin {part}"), vec![change(files), done("Begun.")]);
    }
    for (goal, words) in
        [("First", "Always write dates as year, month, day"), ("Second", "Do not touch the vendor folder")]
    {
        let ask = say("ask", json!({ "question": format!("go on with {goal}?") }));
        let task = world.script(goal, vec![ask]);
        let DriveOutcome::Waiting(Waiting::Answer(id)) = world.drive(task) else { panic!("it asks") };
        world.kernel().append_note(task, words, Channel::App, goal).expect("heard");
        world.reasoners.script(goal, vec![done("ok")]);
        if let DriveOutcome::Waiting(_) = world.drive(task) {
            world.kernel().answer(task, id, "yes", Channel::App).expect("answered");
            world.drive(task);
        }
    }
}

/// The tasks that Hermit itself began.
fn of_service(world: &World) -> Vec<TaskId> {
    let created = log(world).into_iter().filter_map(|(_, body)| match body {
        Body::TaskCreated(b) if b.task.origin() == Origin::Service => Some(b.task.task_id),
        _ => None,
    });
    created.collect()
}

#[test]
fn the_program_is_killed_while_it_reads_what_ended_and_while_it_remembers() {
    let calm = {
        let mut sim = sim("beside-calm", 9_500);
        ended(&sim.world);
        sim.world.crash();
        let began = Instant::now();
        assert!(program(sim.world.store.path(), &["memory", "review"]).wait().expect("it ends").success());
        began.elapsed()
    };
    let mut sim = sim("beside", 9_501);
    ended(&sim.world);
    sim.world.crash();
    let read = killed(sim.world.store.path(), &["memory", "review"], calm);
    to_this_moment(&sim);
    sim.world.take_up().expect("the store opens");
    let world = &sim.world;
    let (mut looks, mut marks) = (Vec::new(), Vec::new());
    for (_, body) in log(world) {
        if let Body::HistoryRead(b) = body {
            looks.push(b.look);
            marks.extend(b.marks.into_iter().map(|mark| mark.claim_sha256));
        }
    }
    assert_eq!(looks, (0..looks.len() as u64).collect::<Vec<_>>(), "each look once");
    let once: BTreeSet<&Digest> = marks.iter().collect();
    assert_eq!(marks.len(), once.len(), "each claim is marked once");
    assert_eq!(world.kernel().drafts().expect("drafts").len(), 1, "what was done alike is drafted once");
    let [card] = of_service(world)[..] else { panic!("one card: {:?}", of_service(world)) };
    // A person says yes, and the program is killed while it remembers both lines.
    let at = world.drive_to_approval(card);
    world.person.allow(world.kernel(), card, at).expect("allowed");
    sim.world.crash();
    let remembered = killed(sim.world.store.path(), &["resume"], calm);
    to_this_moment(&sim);
    sim.world.take_up().expect("the store opens");
    let world = &sim.world;
    let outcome = world.drive(card);
    assert!(matches!(outcome, DriveOutcome::Ended { .. }), "{outcome:?}");
    let rows = world.kernel().query().expect("a query").memories(None, Ask::ALL).expect("rows").rows;
    let held: BTreeSet<&String> = rows.iter().filter_map(|row| row.claim.shown()).collect();
    assert_eq!((rows.len(), held.len()), (2, 2), "each line once: {held:?}");
    assert!(rows.iter().all(|row| row.status == MemoryStatus::Active));
    let receipts = world.kernel().task(card).expect("there").receipts;
    let promoted = receipts.iter().filter(|r| r.receipt_class == ReceiptClass::MemoryPromotion).count();
    assert_eq!(promoted, 1, "one act, one receipt");
    println!(
        "kill -9: {read} while it read and drafted, {remembered} while it remembered; a calm look takes {calm:.1?}"
    );
    assert!(read >= 2 && remembered >= 1, "it was too quick to be killed");
}

/// A server of vectors that takes a moment for each request, and remembers nothing.
fn slow_vectors() -> Server {
    let model = Embedding::of(&[]);
    Server::begin(move |heard| {
        std::thread::sleep(Duration::from_millis(60));
        let body: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        let texts = body["input"].as_array().cloned().unwrap_or_default();
        let one = |(at, text): (usize, &Value)| json!({ "object": "embedding", "index": at, "embedding": model.vector(text.as_str().unwrap_or(""), 0) });
        let data: Vec<Value> = texts.iter().enumerate().map(one).collect();
        Answers::With(200, Vec::new(), json!({ "data": data }).to_string())
    })
}

fn count(store: &Path) -> usize {
    Vectors::reading(store).map_or(0, |kept| usize::try_from(kept.count().expect("counted")).expect("few"))
}

/// The file of vectors can be read, and holds each record once.
fn is_whole(store: &Path) {
    let Some(kept) = Vectors::reading(store) else { return };
    let records = kept.records().expect("they can be read");
    assert_eq!(records.len(), records.iter().collect::<BTreeSet<_>>().len(), "each once");
    assert!(kept.count().expect("counted") <= RECORDS as u64);
}

/// Hosts the store until `is_done`, at most so long.
fn hosted(store: &Path, is_done: &dyn Fn() -> bool) {
    let mut child = program(store, &["serve"]);
    let until = Instant::now() + Duration::from_secs(60);
    while !is_done() {
        assert!(Instant::now() < until, "it did not come to an end");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("killed");
    child.wait().expect("a child");
}

#[test]
fn the_host_is_killed_while_it_makes_vectors_and_while_it_forgets_one() {
    let mut sim = sim("beside-vectors", 9_510);
    let server = slow_vectors();
    let world = &sim.world;
    world.file("a.txt", "seen");
    let claims: Vec<String> = (0..RECORDS).map(|n| format!("lantern {n} hangs in cellar {n}")).collect();
    for (part, some) in claims.chunks(12).enumerate() {
        let remember = |claim: &String| {
            let said = json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"] });
            say("remember", said)
        };
        let answers: Vec<_> =
            std::iter::once(look("a.txt")).chain(some.iter().map(remember)).chain([done("learnt")]).collect();
        finished(world, &format!("learn {part}"), answers);
    }
    sim.world.crash();
    let store = sim.world.store.path().to_owned();
    let settings = json!({ "embedding_model": format!("openai:{}#mini", server.url("/v1")) });
    std::fs::write(store.join("config.json"), settings.to_string()).expect("settings");
    // It begins two seconds after it was opened, and makes eight in a batch.
    let (mut kills, mut part_way) = (0, 0);
    for part in 0..KILLS {
        let time = Duration::from_millis(2_120 + u64::from(part) * 60);
        kills += u32::from(kill_after(program(&store, &["serve"]), time));
        is_whole(&store);
        part_way += u32::from((1..RECORDS).contains(&count(&store)));
    }
    hosted(&store, &|| count(&store) == RECORDS);
    is_whole(&store);
    let made = server.heard().len();
    println!(
        "kill -9: {kills} while vectors were made, {part_way} times some were there; {made} requests in all"
    );
    assert!(part_way >= 1, "it was never killed on the way");

    // A text is erased and the host dies before its vector goes; the next ones are killed while they take it away.
    to_this_moment(&sim);
    sim.world.take_up().expect("the store opens");
    let gone = erased_half(&sim.world, &claims[7]);
    sim.world.crash();
    let has = || {
        let whole = std::fs::read(store.join(vectors::FILE)).expect("the file");
        whole.windows(gone.len()).any(|window| window == gone)
    };
    assert!(has(), "the host died before it took the vector away");
    for part in 0..2_u64 {
        kill_after(program(&store, &["serve"]), Duration::from_millis(1_995 + part * 10));
        is_whole(&store);
    }
    hosted(&store, &|| count(&store) == RECORDS - 1);
    assert!(!has(), "no byte of it is left in the file");
}

/// Erases the words of a record and dies before its vector goes; the bytes of that vector.
fn erased_half(world: &World, claim: &str) -> Vec<u8> {
    let kernel = world.kernel();
    let mut rows = Vec::new();
    let mut ask = Ask::ALL;
    loop {
        let page = kernel.query().expect("a query").memories(None, ask).expect("rows");
        rows.extend(page.rows);
        match page.next {
            Some(next) => ask = Ask::ALL.after(Some(next)),
            None => break,
        }
    }
    let row =
        rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim)).expect("the record");
    let leaf = log(world).into_iter().find_map(|(event, body)| match body {
        Body::MemoryPromoted(b) if b.record.memory_id == row.memory_id => {
            event.payload["record"]["claim"]["$sd"].as_str()?.parse::<Digest>().ok()
        }
        _ => None,
    });
    let mut numbers = Vec::new();
    let kept = Vectors::reading(world.store.path()).expect("vectors");
    let id = row.memory_id.to_string();
    let _ = kept
        .each(row.project_hash, &mut |of, bytes| {
            if of == id {
                numbers = bytes.expect("numbers").to_vec();
            }
            ControlFlow::Continue(())
        })
        .expect("read");
    let erasure = Erasure { values: vec![leaf.expect("its words")], ..Erasure::default() };
    let (log_id, now) = (kernel.reader().log_id().to_owned(), kernel.ports().clock.now());
    let signed =
        Signed::of(&log_id, Matter::Erase, erasure.sha256().expect("a digest"), now, world.person.signer());
    world.faults.plan(Point::DisclosureErase, Edge::After, Mode::Abort, 1);
    let died = catch_unwind(AssertUnwindSafe(|| kernel.erase(&erasure, &signed.expect("signed"))));
    assert!(died.is_err() && world.faults.fired(), "it dies behind its commit: {died:?}");
    world.faults.clear();
    let reader = Reader::open(world.store.path()).expect("a store");
    assert!(reader.disclosure(&erasure.values[0]).expect("read").is_none(), "the words are gone");
    numbers
}
