//! What a test reads afterwards: events of a task in order, objects behind artifacts, what was said in which order.

use kernel::Kernel;
use kernel::state::TaskState;
use model::{ArtifactId, Body, Event, TaskId};
use testkit::World;

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
