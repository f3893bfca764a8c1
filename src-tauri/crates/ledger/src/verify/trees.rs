//! A task's tree, grown leaf by leaf and held against what was signed.

use super::report::{Place, Stop};
use crate::CheckpointKind;
use seal::Digest;
use seal::merkle::Frontier;

/// Sizes, roots and rows of checkpoints, the nearest last.
pub(super) type Ahead = Vec<(u64, Digest, u64)>;

/// The tree of a task that has a checkpoint; a task without one needs none.
pub(super) struct Tree(Option<(Frontier, Ahead)>);

impl Tree {
    pub fn new(ahead: Option<Ahead>) -> Self {
        Self(ahead.map(|ahead| (Frontier::new(), ahead)))
    }

    /// The next leaf.
    pub fn push(&mut self, leaf: Digest) -> Result<(), Stop> {
        let Some((tree, ahead)) = &mut self.0 else {
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
