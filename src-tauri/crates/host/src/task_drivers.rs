//! Threads that drive tasks: one for each task at work, several at once.

use crate::clock::Bell;
use kernel::{DriveOutcome, Kernel};
use model::TaskId;
use model::task::Priority;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a drive that broke off is left alone before it is tried again, the first time.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// And at most; each time it is twice as long.
const RETRY_MOST: Duration = Duration::from_secs(60);

/// Tasks driven at the same time; others wait for a free thread.
const AT_ONCE_MAX: usize = 8;

/// What waiting for a drive came to.
#[derive(Debug, Clone)]
pub enum Waited {
    /// It is still at work.
    AtWork,
    /// It ended like this.
    Ended(Ended),
    /// Nobody drives it here, or did.
    NotHere,
}

/// How a drive ended, for whoever waits for it.
#[derive(Debug, Clone)]
pub enum Ended {
    /// It stands there.
    Stands(DriveOutcome),
    /// It broke off; the log holds everything up to there.
    Failed(wire::Error),
}

#[derive(Default)]
struct Board {
    /// At work; true when somebody asked again meanwhile.
    at_work: BTreeMap<TaskId, bool>,
    /// What waits for a free thread, in the order it came, each with how urgent it is.
    queue: Vec<(TaskId, Priority)>,
    ended: BTreeMap<TaskId, Ended>,
    /// How long a task that broke off is left alone.
    patience: BTreeMap<TaskId, Duration>,
    /// When each of those is driven again.
    again: BTreeMap<TaskId, Instant>,
    /// Whether a thread waits for that: one does for all.
    is_awaited: bool,
    closing: bool,
}

impl Board {
    /// Takes its place among those that wait; one that waits already keeps it, and is as urgent as it is now.
    fn enqueue(&mut self, task: TaskId, urgency: Priority) {
        match self.queue.iter_mut().find(|(queued, _)| *queued == task) {
            Some(queued) => queued.1 = urgency,
            None => self.queue.push((task, urgency)),
        }
    }

    /// The most urgent of those that wait; of those alike the one that came first.
    fn next(&mut self) -> Option<TaskId> {
        let most = self.queue.iter().map(|(_, urgency)| *urgency).max()?;
        let at = self.queue.iter().position(|(_, urgency)| *urgency == most)?;
        Some(self.queue.remove(at).0)
    }

    fn is_queued(&self, task: TaskId) -> bool {
        self.queue.iter().any(|(queued, _)| *queued == task)
    }

    /// The tasks that are to be driven again now, and until when the others are left alone. One that somebody has taken up meanwhile has
    /// no end of its own any more, and is none of them.
    fn due_again(&mut self, now: Instant) -> (Vec<TaskId>, Option<Instant>) {
        let ended = &self.ended;
        self.again.retain(|task, _| matches!(ended.get(task), Some(Ended::Failed(_))));
        let due: Vec<TaskId> =
            self.again.iter().filter(|(_, at)| **at <= now).map(|(task, _)| *task).collect();
        for task in &due {
            self.again.remove(task);
        }
        (due, self.again.values().min().copied())
    }

    /// How long the task is left alone now that it broke off again.
    fn wait_of(&mut self, task: TaskId) -> Duration {
        let wait = self.patience.get(&task).map_or(RETRY_FIRST, |last| (*last * 2).min(RETRY_MOST));
        self.patience.insert(task, wait);
        wait
    }
}

/// How a drive ended. One that panics has ended, too: else whoever waits for it would wait for ever.
fn ended(task: TaskId, drive: impl FnOnce() -> Result<DriveOutcome, kernel::Error>) -> Ended {
    match catch_unwind(AssertUnwindSafe(drive)) {
        Ok(Ok(standing)) => Ended::Stands(standing),
        Ok(Err(error)) => {
            tracing::error!(%task, %error, "a drive broke off");
            Ended::Failed(api::of_kernel(error))
        }
        Err(_) => {
            tracing::error!(%task, "a drive panicked; what it was at is looked at when it is taken up again");
            let why = "Hermit failed while it worked on this task; what was done is on record, and it is taken up again";
            Ended::Failed(wire::Error::new(wire::Code::Failed, why))
        }
    }
}

/// Whether what broke a drive off may pass by itself: a full disk, a file system or a machine that failed.
const fn passes(code: wire::Code) -> bool {
    matches!(code, wire::Code::DiskFull | wire::Code::Failed | wire::Code::Unavailable)
}

/// The drives of one owner.
pub struct TaskDrivers {
    kernel: Arc<Kernel>,
    board: Mutex<Board>,
    changed: Condvar,
    /// Rung whenever a task has come to rest: what it waits for may end by time.
    rested: Bell,
}

impl TaskDrivers {
    /// No drives yet.
    pub fn new(kernel: Arc<Kernel>, rested: Bell) -> Arc<Self> {
        Arc::new(Self { kernel, board: Mutex::default(), changed: Condvar::new(), rested })
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the task is driven, from where it stands when this returns.
    pub fn wake(self: &Arc<Self>, task: TaskId) {
        // One that cannot be read now is as urgent as any.
        let urgency = self.kernel.priority(task).unwrap_or(Priority::Normal);
        let mut board = self.board();
        if board.closing {
            return;
        }
        board.ended.remove(&task);
        if let Some(again) = board.at_work.get_mut(&task) {
            *again = true;
            return;
        }
        board.enqueue(task, urgency);
        self.fill(&mut board);
    }

    /// Starts threads for what waits, as far as there may be more.
    fn fill(self: &Arc<Self>, board: &mut Board) {
        while board.at_work.len() < AT_ONCE_MAX && !board.closing {
            let Some(task) = board.next() else { return };
            board.at_work.insert(task, false);
            let drives = Arc::clone(self);
            let spawned =
                std::thread::Builder::new().name(format!("drive {task}")).spawn(move || drives.run(task));
            if let Err(error) = spawned {
                board.at_work.remove(&task);
                let why = wire::Error::new(wire::Code::Failed, format!("no thread to work with: {error}"));
                board.ended.insert(task, Ended::Failed(why));
                self.changed.notify_all();
            }
        }
    }

    fn run(self: &Arc<Self>, task: TaskId) {
        loop {
            let result = ended(task, || self.kernel.drive(task));
            let mut board = self.board();
            let retry = match &result {
                Ended::Failed(error) if passes(error.code) => Some(board.wait_of(task)),
                _ => {
                    board.patience.remove(&task);
                    None
                }
            };
            match board.at_work.get_mut(&task) {
                // Whoever woke it meanwhile wants it driven from here on, however the drive before has ended.
                Some(again) if *again => *again = false,
                _ => {
                    board.at_work.remove(&task);
                    board.ended.insert(task, result);
                    self.fill(&mut board);
                    self.changed.notify_all();
                    drop(board);
                    self.wake_kin(task);
                    if let Err(error) = self.kernel.run_rested(task) {
                        tracing::warn!(%task, %error, "whether its schedule pauses is looked at when its next time comes");
                    }
                    self.rested.ring();
                    return retry.into_iter().for_each(|wait| self.retry(task, wait));
                }
            }
        }
    }

    /// Child tasks go on beside the task that waits for them, and it when they have ended.
    fn wake_kin(self: &Arc<Self>, task: TaskId) {
        match self.kernel.kin(task) {
            Ok(kin) => kin.into_iter().for_each(|task| self.wake(task)),
            Err(error) => tracing::warn!(%task, %error, "the tasks around one cannot be read"),
        }
    }

    /// Leaves a task that broke off alone for a while, and drives it again, unless somebody was faster or the host ends. The thread that
    /// is the first to wait does so for every other task as well: on a full disk many break off.
    fn retry(self: &Arc<Self>, task: TaskId, wait: Duration) {
        let mut board = self.board();
        board.again.insert(task, Instant::now() + wait);
        self.changed.notify_all();
        if std::mem::replace(&mut board.is_awaited, true) {
            return;
        }
        while !board.closing {
            let now = Instant::now();
            let (due, next) = board.due_again(now);
            if due.is_empty() {
                let Some(next) = next else { break };
                let left = next.saturating_duration_since(now);
                board = self.changed.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                // Whoever breaks off meanwhile waits by itself.
                board.is_awaited = false;
                drop(board);
                for task in due {
                    tracing::info!(%task, "a drive that broke off is taken up again");
                    self.wake(task);
                }
                board = self.board();
                if std::mem::replace(&mut board.is_awaited, true) {
                    return;
                }
            }
        }
        board.is_awaited = false;
    }

    /// Waits until the task is not driven any more, at most `patience`.
    pub fn wait(&self, task: TaskId, patience: Duration) -> Waited {
        let until = Instant::now() + patience;
        let mut board = self.board();
        while board.at_work.contains_key(&task) || board.is_queued(task) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Waited::AtWork;
            }
            board = self.changed.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        board.ended.get(&task).cloned().map_or(Waited::NotHere, Waited::Ended)
    }

    /// Starts nothing new. What was queued is taken up by the next owner.
    pub fn stop(&self) {
        let mut board = self.board();
        board.closing = true;
        board.queue.clear();
        self.changed.notify_all();
    }

    /// Whether nothing new is started any more.
    pub fn is_ending(&self) -> bool {
        self.board().closing
    }

    /// How much of what may be at work at once is at work, in per cent.
    pub fn busy_percent(&self) -> u8 {
        u8::try_from((self.board().at_work.len() * 100 / AT_ONCE_MAX).min(100)).unwrap_or(100)
    }

    /// Waits until nothing is at work and nothing waits to be.
    pub fn settle(&self) {
        let mut board = self.board();
        while !board.at_work.is_empty() || !board.queue.is_empty() {
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_is_taken_first_and_a_change_counts_while_it_waits() {
        let [a, b, c, d] = [1, 2, 3, 4]
            .map(|n| format!("task_0190a1b2c3d47e8f9a0b1c2d0000000{n}").parse::<TaskId>().expect("an id"));
        let mut board = Board::default();
        for (task, urgency) in
            [(a, Priority::Low), (b, Priority::Normal), (c, Priority::High), (d, Priority::High)]
        {
            board.enqueue(task, urgency);
        }
        board.enqueue(a, Priority::High);
        assert!(board.is_queued(a));
        let order: Vec<TaskId> = std::iter::from_fn(|| board.next()).collect();
        assert_eq!(order, [a, c, d, b], "those alike in the order that they came in");
    }

    #[test]
    fn tasks_that_broke_off_are_taken_up_again_each_in_its_time_and_not_those_that_somebody_took_up() {
        let [a, b, c] = [1, 2, 3]
            .map(|n| format!("task_0190a1b2c3d47e8f9a0b1c2d0000000{n}").parse::<TaskId>().expect("an id"));
        let (mut board, now) = (Board::default(), Instant::now());
        let broke = || Ended::Failed(wire::Error::new(wire::Code::DiskFull, "full"));
        let after = |seconds| now + Duration::from_secs(seconds);
        for (task, seconds) in [(a, 5), (b, 1), (c, 2)] {
            board.ended.insert(task, broke());
            board.again.insert(task, after(seconds));
        }
        assert_eq!(board.due_again(now), (Vec::new(), Some(after(1))));
        assert_eq!(board.due_again(after(1)), (vec![b], Some(after(2))));
        // Somebody was faster.
        board.ended.remove(&c);
        assert_eq!(board.due_again(after(3)), (Vec::new(), Some(after(5))));
        // It broke off once more, and is left alone for longer.
        board.again.insert(a, after(9));
        assert_eq!(board.due_again(after(5)), (Vec::new(), Some(after(9))));
        assert_eq!(board.due_again(after(9)), (vec![a], None));
        assert_eq!(board.due_again(after(99)), (Vec::new(), None));
    }

    #[test]
    fn a_drive_that_panics_has_ended_and_is_taken_up_again() {
        let task = "task_0190a1b2c3d47e8f9a0b1c2d00000001".parse().expect("an id");
        let Ended::Failed(error) = ended(task, || panic!("a fault")) else { panic!("it stands") };
        assert!(passes(error.code) && error.message.contains("on record"), "{error:?}");
        assert!(matches!(ended(task, || Ok(DriveOutcome::Halted)), Ended::Stands(DriveOutcome::Halted)));
    }
}
