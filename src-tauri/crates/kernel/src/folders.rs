//! Whose turn it is in a folder: one task at a time changes it, and nobody looks away meanwhile (reconciliation C17).

use crate::kernel::lock;
use model::TaskId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// In so many folders the end of the last act is remembered.
const ENDS_MAX: usize = 1_024;
/// How often whoever waits for a folder looks whether there is something else to do, such as to be cancelled.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct Turns {
    /// Acts at work: whose, and in which folder.
    at_work: Vec<(TaskId, PathBuf)>,
    /// How many acts are over.
    over: u64,
    /// The count at which the last act in a folder was over.
    last: BTreeMap<PathBuf, u64>,
    /// The count up to which ends of acts were forgotten, in whichever folder.
    forgotten: u64,
    /// Tasks that wait for another one.
    waiting: BTreeSet<TaskId>,
}

/// The folders of all tasks of a kernel. A folder within another is the same place as that one.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    turns: Mutex<Turns>,
    freed: Condvar,
}

/// The turn of one act, which ends when it falls.
#[derive(Debug)]
pub(crate) struct FolderTurn {
    folders: Arc<Folders>,
    task: TaskId,
    root: PathBuf,
    /// Whether the act has begun.
    begun: bool,
}

impl FolderTurn {
    /// The act begins: whoever has looked at the folder before looks again.
    pub(crate) fn begin(mut self) -> Self {
        self.begun = true;
        self
    }
}

impl Drop for FolderTurn {
    fn drop(&mut self) {
        let mut turns = lock(&self.folders.turns);
        turns.at_work.retain(|(task, root)| (task, root) != (&self.task, &self.root));
        if self.begun {
            turns.over += 1;
            let over = turns.over;
            turns.last.insert(self.root.clone(), over);
            turns.forget();
        }
        drop(turns);
        self.folders.freed.notify_all();
    }
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

impl Turns {
    /// Bounds what is remembered: whoever looked before the oldest end looks again, wherever that was.
    fn forget(&mut self) {
        if self.last.len() <= ENDS_MAX {
            return;
        }
        if let Some((root, over)) = self.last.iter().min_by_key(|(_, over)| **over) {
            self.forgotten = *over;
            let root = root.clone();
            self.last.remove(&root);
        }
    }

    fn is_taken(&self, task: TaskId, root: &Path) -> bool {
        self.at_work.iter().any(|(other, at)| *other != task && overlap(at, root))
    }
}

impl Folders {
    /// How many acts are over by now.
    pub(crate) fn over(&self) -> u64 {
        lock(&self.turns).over
    }

    /// The turn of a task in a folder; none while another task has it, and none where another act there was over
    /// since `seen`, the count when the task began to look.
    pub(crate) fn take(self: &Arc<Self>, task: TaskId, root: &Path, seen: u64) -> Option<FolderTurn> {
        let mut turns = lock(&self.turns);
        let is_old =
            turns.forgotten > seen || turns.last.iter().any(|(at, over)| *over > seen && overlap(at, root));
        if is_old || turns.is_taken(task, root) {
            return None;
        }
        turns.at_work.push((task, root.to_owned()));
        Some(FolderTurn { folders: Arc::clone(self), task, root: root.to_owned(), begun: false })
    }

    /// Waits until no other task has the folder, or there is something else to do.
    pub(crate) fn wait(&self, task: TaskId, root: &Path, something_else: impl Fn() -> bool) {
        let mut turns = lock(&self.turns);
        while turns.is_taken(task, root) {
            turns.waiting.insert(task);
            let (back, waited) = self.freed.wait_timeout(turns, LOOK).unwrap_or_else(PoisonError::into_inner);
            turns = back;
            if waited.timed_out() {
                drop(turns);
                let leaves = something_else();
                turns = lock(&self.turns);
                if leaves {
                    break;
                }
            }
        }
        turns.waiting.remove(&task);
    }

    /// Whether the task waits for another one to be done with its folder.
    pub(crate) fn is_waiting(&self, task: TaskId) -> bool {
        lock(&self.turns).waiting.contains(&task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_tasks_with_all_that_lies_in_it_and_around_it() {
        let folders = Arc::new(Folders::default());
        let [one, two] =
            [1, 2].map(|n| TaskId::fresh(&testkit::FakeClock::new(), &testkit::SeededEntropy::new(n)));
        let seen = folders.over();
        let turn = folders.take(one, Path::new("/a/b"), seen).map(FolderTurn::begin);
        assert!(turn.is_some());
        for (root, free) in [("/a/b", false), ("/a/b/c", false), ("/a", false), ("/a/bc", true), ("/d", true)]
        {
            assert_eq!(folders.take(two, Path::new(root), seen).is_some(), free, "{root}");
        }
        assert!(
            folders.take(one, Path::new("/a/b"), folders.over()).is_some(),
            "its own turn is in nobody's way"
        );
        drop(turn);
        assert!(folders.take(two, Path::new("/a/b"), seen).is_none(), "what it saw is from before");
        assert!(folders.take(two, Path::new("/a/b"), folders.over()).is_some());

        let looked = folders.over();
        for n in 0..=ENDS_MAX {
            drop(
                folders
                    .take(one, &Path::new("/many").join(n.to_string()), folders.over())
                    .map(FolderTurn::begin),
            );
        }
        assert_eq!(lock(&folders.turns).last.len(), ENDS_MAX);
        assert!(
            folders.take(two, Path::new("/a/b"), looked).is_none(),
            "its end was forgotten, not what it means"
        );
        assert!(folders.take(two, Path::new("/a/b"), folders.over()).is_some());
    }
}
