//! The tasks' trees, grown beside the chain check in a thread of their own: hashing a leaf costs as much as hashing
//! the event, and neither needs the other.

use super::report::{Place, Stop};
use crate::{CheckpointKind, Error};
use model::TaskId;
use seal::Digest;
use seal::merkle::{Frontier, leaf_hash};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Leaves handed over at once, and how many such heaps may wait: memory stays bounded.
const HEAP: usize = 256;
const HEAPS: usize = 8;

/// Sizes, roots and rows of the checkpoints of each task, the nearest last.
pub(super) type Ahead = BTreeMap<TaskId, Vec<(u64, Digest, u64)>>;

type Leaves = Vec<(TaskId, Vec<u8>)>;

/// The end through which leaves go to the trees.
pub(super) struct Grow {
    heap: Leaves,
    trees: Option<SyncSender<Leaves>>,
}

impl Grow {
    /// The next leaf of a task.
    pub fn leaf(&mut self, task: TaskId, bytes: &[u8]) {
        self.heap.push((task, bytes.to_vec()));
        if self.heap.len() >= HEAP {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let heap = std::mem::take(&mut self.heap);
        // Nobody takes leaves any more once a root did not fit; that is told when the thread is joined.
        if self.trees.as_ref().is_some_and(|trees| trees.send(heap).is_err()) {
            self.trees = None;
        }
    }
}

/// Runs `read`, which hands over the leaves of every event, while the trees grow. What `read` finds comes first.
pub(super) fn beside(ahead: Ahead, read: impl FnOnce(&mut Grow) -> Result<(), Stop>) -> Result<(), Stop> {
    std::thread::scope(|scope| {
        let (trees, inbox) = sync_channel(HEAPS);
        let grown = scope.spawn(move || grow(ahead, &inbox));
        let mut leaves = Grow { heap: Vec::with_capacity(HEAP), trees: Some(trees) };
        let read = read(&mut leaves);
        leaves.hand_over();
        drop(leaves);
        let grown = grown.join();
        read?;
        grown.map_err(|_| Stop::Error(Error::io("verifying the trees", &"the thread broke off")))?
    })
}

fn grow(mut ahead: Ahead, inbox: &Receiver<Leaves>) -> Result<(), Stop> {
    let mut trees: HashMap<TaskId, Frontier> = HashMap::new();
    while let Ok(leaves) = inbox.recv() {
        for (task, bytes) in leaves {
            let tree = trees.entry(task).or_default();
            tree.push(leaf_hash(&bytes));
            let Some(signed) = ahead.get_mut(&task) else { continue };
            while let Some((size, root, number)) =
                signed.last().copied().filter(|(size, ..)| *size <= tree.size())
            {
                if tree.root() != root {
                    let place = Place::Checkpoint { number, kind: CheckpointKind::Task };
                    return Err(Stop::At(
                        place,
                        format!("the first {size} events of its task have another root"),
                    ));
                }
                signed.pop();
            }
        }
    }
    Ok(())
}
