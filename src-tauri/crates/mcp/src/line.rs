//! Calls that a client makes at once, in the order in which they came: who came first goes first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Who stands in line.
#[derive(Debug, Default)]
pub(crate) struct Line {
    standing: Mutex<Standing>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct Standing {
    next: u64,
    all: BTreeSet<u64>,
}

impl Line {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place behind everybody who stands there; whoever drops it has left.
    pub(crate) fn ticket(self: &Arc<Self>) -> Ticket {
        let mut standing = self.standing();
        let number = standing.next;
        standing.next += 1;
        standing.all.insert(number);
        Ticket { line: Arc::clone(self), number }
    }
}

/// A place in the line.
#[derive(Debug)]
pub(crate) struct Ticket {
    line: Arc<Line>,
    number: u64,
}

impl Ticket {
    /// How many stand before it.
    pub(crate) fn before(&self) -> usize {
        self.line.standing().all.range(..self.number).count()
    }

    /// Until nobody stands before it.
    pub(crate) async fn turn(&self) {
        loop {
            let mut moved = std::pin::pin!(self.line.moved.notified());
            // Whoever leaves from here on is heard.
            moved.as_mut().enable();
            if self.before() == 0 {
                return;
            }
            moved.await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.line.standing().all.remove(&self.number);
        self.line.moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(300);

    #[tokio::test]
    async fn who_came_first_goes_first_and_who_leaves_is_not_waited_for() {
        let line = Arc::new(Line::default());
        let all: Vec<Ticket> = (0..6).map(|_| line.ticket()).collect();
        assert_eq!(all.last().map(Ticket::before), Some(5));
        let went = Arc::new(Mutex::new(Vec::new()));
        let go = |ticket: Ticket| {
            let went = Arc::clone(&went);
            tokio::spawn(async move {
                ticket.turn().await;
                tokio::task::yield_now().await;
                went.lock().unwrap_or_else(PoisonError::into_inner).push(ticket.number);
            })
        };
        let mut tasks = Vec::new();
        // They ask in another order than they came in, and one has left.
        for ticket in all.into_iter().rev().filter(|ticket| ticket.number != 3) {
            tasks.push(go(ticket));
        }
        for task in tasks {
            tokio::time::timeout(LIMIT, task).await.expect("in a minute").expect("it ends");
        }
        assert_eq!(*went.lock().unwrap_or_else(PoisonError::into_inner), [0, 1, 2, 4, 5]);
    }
}
