//! Work of calls that waits for Hermit, beside the connections, and within bounds.

use crate::work_seats::at_a_seat;
use std::sync::{Arc, LazyLock};
use tokio::sync::Semaphore;

/// Calls at work at once, of all clients together; more wait their turn. Whoever serves agents over HTTP has threads for others, too.
const CALLS_MAX: usize = 16;

static CALLS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(CALLS_MAX)));

/// Does what waits for Hermit on a thread of its own, when fewer than [`CALLS_MAX`] do. It counts until it has ended, also where nobody
/// waits for it any more.
///
/// # Errors
/// What it says, or in words that it broke off.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    at_a_seat(&CALLS, work).await.map_err(|why| format!("a call broke off: {why}"))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn calls_whose_clients_went_leave_a_thread_to_whoever_else_needs_one() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(CALLS_MAX + 1)
            .build()
            .unwrap();
        // What is at work waits until these are dropped.
        let (mut held, mut asked) = (Vec::new(), Vec::new());
        runtime.block_on(async {
            for _ in 0..3 * CALLS_MAX {
                let (hold, holds) = channel::<()>();
                held.push(hold);
                asked.push(tokio::spawn(aside(move || Ok(holds.recv().is_err()))));
                // Each is asked for before the next one, and its asker then goes.
                tokio::task::yield_now().await;
                asked.iter().for_each(tokio::task::JoinHandle::abort);
                tokio::task::yield_now().await;
            }
            let other = tokio::task::spawn_blocking(|| 7);
            let came = tokio::time::timeout(Duration::from_secs(30), other).await;
            assert!(matches!(came, Ok(Ok(7))), "{came:?}");
            held.clear();
            let came = tokio::time::timeout(Duration::from_secs(30), aside(|| Ok(8))).await;
            assert_eq!(came, Ok(Ok(8)), "what has ended is at work no more");
        });
    }
}
