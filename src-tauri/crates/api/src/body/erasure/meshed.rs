//! What an erasure takes of messages of other machines, and of the answers to them, which stand in the store's own stream.

use super::Search;
use crate::Wire as _;
use crate::fold::walk;
use ledger::Reader;
use mesh::{Delivered, Fact, Input, Says};
use model::{Body, Digest, Sensitive, TaskId};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use wire::Error;

impl Search {
    /// The messages that the task was made of or told, and how it was answered. A node does without the record of them.
    pub(super) fn meshed(&mut self, reader: &Reader, task: TaskId) -> Result<(), Error> {
        let Some(first) = reader.log(0, 1).wire()?.into_iter().next() else { return Ok(()) };
        let mut inputs = BTreeSet::new();
        walk(reader, first.task_id, &mut |_, _, body| {
            if let Body::MeshTaken(b) = body
                && b.about_task_id == task
            {
                inputs.insert(b.input);
            }
            Ok(())
        })?;
        if inputs.is_empty() {
            return Ok(());
        }
        walk(reader, first.task_id, &mut |_, event, body| {
            let Body::MeshStepped(b) = body else { return Ok(()) };
            let facts = b.facts.iter().map(|text| read::<Fact>(text).and_then(|fact| about(&fact)));
            let brought = b.deliver.iter().map(|text| read::<Delivered>(text).and_then(|one| of(&one)));
            for (name, list) in [("facts", facts.collect::<Vec<_>>()), ("deliver", brought.collect())] {
                let leaves = event.payload.get(name).and_then(Json::as_array).into_iter().flatten();
                for (leaf, input) in leaves.zip(list) {
                    if input.is_some_and(|input| inputs.contains(&input)) {
                        self.leaves(reader, leaf, event.task_id, &event.event_type)?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// The message that a fact repeats or answers.
fn about(fact: &Fact) -> Option<Digest> {
    match fact {
        Fact::Queued { says: Says::Input(input), .. } | Fact::Held(input) => Some(Input::id(input)),
        Fact::Queued { says: Says::Answer(answer), .. } => Some(answer.answers),
        _ => None,
    }
}

/// The message that a delivery brings or answers.
fn of(delivered: &Delivered) -> Option<Digest> {
    match delivered {
        Delivered::Input { input, .. } => Some(input.id()),
        Delivered::Answer { answer, .. } => Some(answer.answers),
        _ => None,
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &Sensitive<String>) -> Option<T> {
    serde_json::from_str(text.shown()?).ok()
}
