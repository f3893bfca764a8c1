//! What a test reads afterwards: events of a task in order, objects behind artifacts, what was said in which order.

use acts::ApprovalPacket;
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use kernel::state::TaskState;
use kernel::{DriveOutcome, Kernel};
use model::artifact::ArtifactKind;
use model::attempt::TerminationReason;
use model::context::ContextPack;
use model::fault::Point;
use model::task::TaskStatus;
use model::{ArtifactId, Body, Event, TaskId};
use projections::Flow;
use seal::Digest;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World};

/// Every event of a stream with its revealed body.
pub fn events(kernel: &Kernel, task: TaskId) -> Vec<(Event, Body)> {
    let stored = kernel.reader().events(task, 0, 10_000).unwrap();
    stored.iter().map(|s| s.event().unwrap()).map(|e| (e.clone(), body(kernel, &e))).collect()
}

/// Every event of the store in the order of its log.
pub fn log(kernel: &Kernel) -> Vec<(Event, Body)> {
    let stored = kernel.reader().log(0, 100_000).unwrap();
    stored.iter().map(|s| s.event().unwrap()).map(|e| (e.clone(), body(kernel, &e))).collect()
}

fn body(kernel: &Kernel, event: &Event) -> Body {
    event.body(&|digest| kernel.reader().disclosure(digest).unwrap()).unwrap()
}

/// The types of a task's events in order.
pub fn types(kernel: &Kernel, task: TaskId) -> Vec<String> {
    events(kernel, task).into_iter().map(|(event, _)| event.event_type).collect()
}

/// How many events of a type a task has.
pub fn count(kernel: &Kernel, task: TaskId, event_type: &str) -> usize {
    types(kernel, task).iter().filter(|t| *t == event_type).count()
}

/// How many events of a type the store's own task has.
pub fn in_store(world: &World, event_type: &str) -> usize {
    count(world.kernel(), world.kernel().store_state().system_task_id.unwrap(), event_type)
}

/// The first packet that a person was asked with in a task.
pub fn packet(world: &World, task: TaskId) -> ApprovalPacket {
    let held = state(world, task);
    let packet = held.artifacts.values().find(|a| a.kind == ArtifactKind::ApprovalPacket).unwrap();
    serde_json::from_slice(&world.kernel().artifacts().read(&packet.content_hash).unwrap()).unwrap()
}

/// What its card shows, line by line.
pub fn card(world: &World, task: TaskId) -> String {
    let packet = packet(world, task);
    let tool = packet.action_request.action.as_tool();
    let lines = tool.lines(&packet.action_request).into_iter().map(|line| line.text);
    lines.chain(tool.details()).collect::<Vec<_>>().join("\n")
}

/// Erases, as the person of this world says.
pub fn erased(world: &World, erasure: &Erasure) {
    let kernel = world.kernel();
    let (log, now) = (kernel.reader().log_id().to_owned(), kernel.ports().clock.now());
    let signed = Signed::of(&log, Matter::Erase, erasure.sha256().unwrap(), now, world.person.signer());
    kernel.erase(erasure, &signed.unwrap()).unwrap();
}

/// The place of the first event of a type; a test fails without one.
pub fn place(types: &[String], event_type: &str) -> usize {
    types.iter().position(|t| t == event_type).unwrap_or_else(|| panic!("no `{event_type}` in {types:?}"))
}

/// The object behind an artifact of a task.
pub fn object<T: serde::de::DeserializeOwned>(kernel: &Kernel, state: &TaskState, id: ArtifactId) -> T {
    let digest = state.digest_of(id).expect("an artifact of the task");
    serde_json::from_slice(&kernel.artifacts().read(&digest).unwrap()).unwrap()
}

/// A task's state as its events say.
pub fn state(world: &World, task: TaskId) -> TaskState {
    world.kernel().task(task).unwrap()
}

/// Drives until the world stops at a boundary, as a dying process would; then the next host opens the store.
pub fn die(world: &mut World, task: TaskId, point: Point, edge: Edge) {
    world.faults.plan(point, edge, Mode::Abort, 1);
    let died = catch_unwind(AssertUnwindSafe(|| world.kernel().drive(task)));
    assert!(world.faults.fired(), "`{point}` was not reached: {died:?}");
    world.faults.clear();
    world.reopen();
}

/// The context packs of a task, in order.
pub fn packs(kernel: &Kernel, task: TaskId) -> Vec<ContextPack> {
    let state = kernel.task(task).unwrap();
    let compiled = events(kernel, task).into_iter().filter_map(|(_, body)| match body {
        Body::ContextCompiled(b) => Some(b.pack.artifact_id),
        _ => None,
    });
    compiled.map(|id| object(kernel, &state, id)).collect()
}

/// Whether any text of a pack holds these words.
pub fn shows(pack: &ContextPack, words: &str) -> bool {
    pack.items.iter().any(|item| item.text.contains(words))
}

/// How a task ended.
pub fn ended(status: TaskStatus, reason: TerminationReason) -> DriveOutcome {
    DriveOutcome::Ended { status, reason: Some(reason) }
}

/// A task that is done.
pub fn completed() -> DriveOutcome {
    ended(TaskStatus::Completed, TerminationReason::Done)
}

/// The views, and what the log alone makes of them.
pub fn rebuilt(world: &mut World) -> (Digest, Digest) {
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    let before = projections::digest(&views).unwrap();
    views.execute("DELETE FROM view_tasks", []).unwrap();
    views.execute("DELETE FROM view_messages", []).unwrap();
    views.execute("DELETE FROM view_conversations", []).unwrap();
    assert_ne!(projections::digest(&views).unwrap(), before);
    projections::rebuild(&views, &mut |_| Flow::Continue).unwrap();
    let after = projections::digest(&views).unwrap();
    drop(views);
    world.take_up().unwrap();
    (before, after)
}
