//! Garbage collection: whatever receipt there is can still be undone and proven afterwards.

use crate::story::{completed, log, rebuilt, state};
use kernel::command::ingest::Incoming;
use kernel::{DriveOutcome, Error, Waiting};
use model::artifact::{ArtifactKind, TrustTier};
use model::ingress::Channel;
use model::limits::COLLECT_AFTER_MS;
use model::proposal::Answer;
use model::receipt::ReceiptClass;
use model::{Body, TaskId};
use projections::ArtifactState;
use projections::query::{ArtifactFilter, Ask};
use serde_json::json;
use std::collections::BTreeMap;
use testkit::{World, change, done, look, write};

const FILES: [&str; 4] = ["a.txt", "b.txt", "c.txt", "d/e.txt"];

/// Chance of a seed, and of nothing else.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn file(&mut self) -> &'static str {
        FILES[usize::try_from(self.below(4)).unwrap()]
    }
}

fn act(dice: &mut Dice, turn: u64) -> Vec<Answer> {
    let file = dice.file();
    match dice.below(3) {
        0 => vec![look(file), change(json!([{ "op": "delete", "path": file }]))],
        1 => vec![look(file), change(json!([{ "op": "move", "from": file, "to": format!("moved/{turn}") }]))],
        // Long enough for a file of its own beside the ledger, now and then.
        _ => vec![
            look(file),
            write(
                file,
                &format!("turn {turn}\n").repeat(1 + 12_000 * usize::try_from(dice.below(2)).unwrap()),
            ),
        ],
    }
}

/// Drives a task; every question is answered by chance, the first with a yes.
fn drive(world: &World, dice: &mut Dice, task: TaskId) {
    let mut asked = 0;
    while let DriveOutcome::Waiting(Waiting::Approval(id)) = world.drive(task) {
        if asked == 0 || dice.below(3) > 0 {
            world.person.allow(world.kernel(), task, id).unwrap();
        } else {
            world.person.deny(world.kernel(), task, id, "not this").unwrap();
        }
        asked += 1;
    }
}

fn life(seed: u64) -> (World, Vec<TaskId>, BTreeMap<String, Vec<u8>>) {
    let world = World::new(9_000 + seed);
    let mut dice = Dice(seed);
    for file in FILES {
        world.file(file, &format!("{file} as it was\n"));
    }
    let before = world.files();
    let tasks: Vec<TaskId> = (0..3)
        .map(|number| {
            let mut answers: Vec<Answer> =
                (0..3).flat_map(|turn| act(&mut dice, number * 10 + turn)).collect();
            answers.push(done("enough"));
            let task = world.script(&format!("task {number}"), answers);
            drive(&world, &mut dice, task);
            task
        })
        .collect();
    (world, tasks, before)
}

fn receipts(world: &World, tasks: &[TaskId]) -> Vec<model::ReceiptId> {
    let of = |task: &TaskId| state(world, *task).receipts;
    let acts = tasks.iter().rev().flat_map(|task| of(task).into_iter().rev().collect::<Vec<_>>());
    acts.filter(|r| r.receipt_class == ReceiptClass::ToolExecution).map(|r| r.receipt_id).collect()
}

fn is_valid(world: &World) {
    let key = seal::Signer::public(world.keys.log_signer().as_ref());
    let report = ledger::verify(world.kernel().reader(), &[key], None, &mut |_| true).unwrap();
    assert_eq!(report.verdict, ledger::Verdict::Valid, "{}", report.reason);
}

#[conforms::conforms("HK-6.4-3")]
#[test]
fn after_a_collection_every_receipt_can_be_undone_and_the_log_is_valid() {
    let mut collected_in_all = 0;
    for seed in 1..=3 {
        let (mut world, tasks, before) = life(seed);
        // One that has not ended: all of it stays.
        let waits = world.script("waits", vec![write("w.txt", &"w".repeat(100_000)), done("written")]);
        let DriveOutcome::Waiting(Waiting::Approval(question)) = world.drive(waits) else {
            panic!("it waits")
        };
        let (now, files) = world.kernel().garbage(COLLECT_AFTER_MS).unwrap();
        assert_eq!(
            (now.garbage.len(), files.digests.len()),
            (0, 0),
            "seed {seed}: nothing goes before its time"
        );
        assert!(now.young > 0);
        world.person.allow(world.kernel(), waits, question).unwrap();

        let all = receipts(&world, &tasks);
        let plans = |world: &World| {
            all.iter().map(|id| world.kernel().preview_rollback(&[*id]).unwrap()).collect::<Vec<_>>()
        };
        let planned = plans(&world);
        world.clock.advance(COLLECT_AFTER_MS + 1);
        let (garbage, _) = world.kernel().garbage(COLLECT_AFTER_MS).unwrap();
        let kinds: Vec<ArtifactKind> = garbage.garbage.iter().map(|one| one.kind).collect();
        assert!(kinds.contains(&ArtifactKind::ModelRequest), "seed {seed}: {kinds:?}");
        let collected = world.kernel().collect(COLLECT_AFTER_MS, None, &mut |_, _| {}).unwrap();
        assert_eq!(collected.artifacts, garbage.garbage.len() as u64);
        collected_in_all += collected.artifacts;
        assert_eq!(plans(&world), planned, "seed {seed}: every undo is as it was");
        let (left, files) = world.kernel().garbage(COLLECT_AFTER_MS).unwrap();
        assert_eq!((left.garbage, files.digests), (Vec::new(), Vec::new()), "seed {seed}: once is enough");
        is_valid(&world);

        world.reopen();
        let key = format!("undo all of {seed}");
        let undo = world.kernel().rollback_many(&all, None, "Undo it".to_owned(), Channel::Cli, key).unwrap();
        assert_eq!(world.drive_allowing(undo.task_id).0, completed(), "seed {seed}");
        assert_eq!(world.files(), before, "seed {seed}: every byte is back");
        is_valid(&world);
        let (views, log) = rebuilt(&mut world);
        assert_eq!(views, log, "seed {seed}: what is listed follows from the log alone");
    }
    println!("content of {collected_in_all} artifacts collected in three lives");
}

#[test]
fn what_a_person_keeps_stays_until_they_let_it_go() {
    let (world, ..) = life(1);
    world.clock.advance(COLLECT_AFTER_MS + 1);
    let garbage = || world.kernel().garbage(COLLECT_AFTER_MS).unwrap().0.garbage;
    let one = garbage()[0].artifact_id;
    let has = |id| garbage().iter().any(|other| other.artifact_id == id);
    world.kernel().keep_artifact(one, true).unwrap();
    assert!(!has(one));
    world.kernel().keep_artifact(one, false).unwrap();
    assert!(has(one));
}

#[conforms::conforms("HK-14.3-2")]
#[test]
fn what_is_said_of_an_artifact_changes_by_events_alone_and_how_it_began_never() {
    let (mut world, ..) = life(4);
    world.clock.advance(COLLECT_AFTER_MS + 1);
    let kept = world.kernel().garbage(COLLECT_AFTER_MS).unwrap().0.garbage[0].artifact_id;
    let row = |world: &World| world.kernel().query().unwrap().artifact(kept).unwrap().unwrap();
    let before = row(&world);
    world.kernel().keep_artifact(kept, true).unwrap();
    world.kernel().collect(COLLECT_AFTER_MS, None, &mut |_, _| {}).unwrap();
    assert_eq!((before.state, row(&world).state), (ArtifactState::Live, ArtifactState::Live));
    let (mut made, mut gone) = (BTreeMap::new(), BTreeMap::new());
    for (_, body) in log(world.kernel()) {
        match body {
            Body::ArtifactCreated(b) => drop(made.insert(b.artifact.artifact_id, b.artifact)),
            Body::ArtifactExpired(b) => drop(gone.insert(b.artifact_id, b.reason)),
            _ => {}
        }
    }
    let rows = world.kernel().query().unwrap().artifacts(&ArtifactFilter::default(), Ask::ALL).unwrap().rows;
    for row in &rows {
        let first = &made[&row.artifact_id];
        assert_eq!(
            (row.kind, row.class, row.content_hash, row.byte_size),
            (first.kind, first.class, first.content_hash, first.byte_size)
        );
        assert_eq!(
            row.state == ArtifactState::Expired,
            gone.contains_key(&row.artifact_id),
            "{:?}",
            row.kind
        );
    }
    assert!(gone.len() > 3 && gone.len() < rows.len() && !gone.contains_key(&kept));
    let (views, log) = rebuilt(&mut world);
    assert_eq!(views, log, "and nothing but events says so");
}

/// The very content that is being collected is taken in again by others meanwhile, small and large: whoever comes first,
/// what the log names in the end is there.
#[test]
fn what_is_kept_again_while_it_is_being_collected_is_there_in_the_end() {
    let (world, ..) = life(2);
    world.clock.advance(COLLECT_AFTER_MS + 1);
    let kernel = world.kernel();
    let garbage = kernel.garbage(COLLECT_AFTER_MS).unwrap().0.garbage;
    let contents: Vec<Vec<u8>> =
        garbage.iter().map(|one| kernel.artifacts().read(&one.sha256).unwrap()).collect();
    let take_in = |bytes: &Vec<u8>| {
        let incoming = Incoming {
            name: "again".to_owned(),
            uri: "inline:again".to_owned(),
            media_type: "application/octet-stream",
            bytes: &mut bytes.as_slice(),
            trust_tier: TrustTier::Untrusted,
        };
        kernel.ingest(incoming, Channel::Cli).unwrap().0.sha256
    };
    let (taken_in, rounds) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| contents.iter().rev().map(take_in).collect::<Vec<_>>());
        let mut rounds = 0;
        loop {
            let ended = writer.is_finished();
            match kernel.collect(COLLECT_AFTER_MS, None, &mut |_, _| {}) {
                Ok(_) | Err(Error::Conflict(_)) => rounds += 1,
                Err(error) => panic!("{error}"),
            }
            if ended {
                break (writer.join().unwrap(), rounds);
            }
        }
    });
    assert_eq!(taken_in.len(), garbage.len());
    for sha256 in taken_in {
        assert!(
            kernel.artifacts().read(&sha256).is_ok(),
            "`{sha256}` is named and gone, after {rounds} rounds"
        );
    }
    is_valid(&world);
}

#[test]
fn a_collection_that_was_shown_takes_that_and_nothing_else() {
    let (world, ..) = life(3);
    world.clock.advance(COLLECT_AFTER_MS + 1);
    let shown = world.kernel().garbage(COLLECT_AFTER_MS).unwrap().0;
    world.kernel().keep_artifact(shown.garbage[0].artifact_id, true).unwrap();
    let named = Some(shown.sha256().unwrap());
    let refused = world.kernel().collect(COLLECT_AFTER_MS, named, &mut |_, _| {});
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let now = world.kernel().garbage(COLLECT_AFTER_MS).unwrap().0;
    assert_eq!(now.garbage.len(), shown.garbage.len() - 1, "nothing went");
    let named = Some(now.sha256().unwrap());
    let collected = world.kernel().collect(COLLECT_AFTER_MS, named, &mut |_, _| {}).unwrap();
    assert_eq!((collected.artifacts, collected.planned), (now.garbage.len() as u64, now));
}
