//! The tasks' trees, grown leaf by leaf and held against what was signed.

use super::report::{Place, Stop};
use crate::CheckpointKind;
use model::TaskId;
use seal::Digest;
use seal::merkle::Frontier;
use std::collections::{BTreeMap, HashMap};

/// Sizes, roots and rows of checkpoints, the nearest last.
type Signed = Vec<(u64, Digest, u64)>;

/// Those of each task.
pub(super) type Ahead = BTreeMap<TaskId, Signed>;

/// A tree for every task that has a checkpoint.
pub(super) struct Trees {
    trees: HashMap<TaskId, (Frontier, Signed)>,
}

impl Trees {
    pub fn new(ahead: Ahead) -> Self {
        Self { trees: ahead.into_iter().map(|(task, ahead)| (task, (Frontier::new(), ahead))).collect() }
    }

    /// The next leaf of a task.
    pub fn push(&mut self, task: TaskId, leaf: Digest) -> Result<(), Stop> {
        let Some((tree, ahead)) = self.trees.get_mut(&task) else {
            return Ok(());
        };
        tree.push(leaf);
        while let Some((size, root, number)) = ahead.last().copied().filter(|(size, ..)| *size <= tree.size())
        {
            if tree.root() != root {
                let place = Place::Checkpoint { number, kind: CheckpointKind::Task };
                return Err(Stop::At(
                    place,
                    format!("the first {size} events of its task have another root"),
                ));
            }
            ahead.pop();
        }
        Ok(())
    }
}
