//! Seats for work that may block, so that there is never more of it than there are threads for.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Does it when one of these seats is free, and answers what came of it. The seat is taken until the work has ended, also where nobody waits
/// for it any more: whoever calls and hangs up, again and again, has no more at work than there are seats.
///
/// # Errors
/// In words, where the work broke off.
pub async fn at_a_seat<T: Send + 'static>(
    seats: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    // Nobody closes them.
    let seat = Arc::clone(seats).acquire_owned().await.map_err(|e| e.to_string())?;
    let seated = move || {
        let came = work();
        drop(seat);
        came
    };
    tokio::task::spawn_blocking(seated).await.map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn whoever_hangs_up_leaves_no_seat_to_another_before_the_work_has_ended() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(3)
            .build()
            .expect("a runtime");
        let seats = Arc::new(Semaphore::new(2));
        // What is at work waits until these are dropped.
        let (mut held, mut asked) = (Vec::new(), Vec::new());
        runtime.block_on(async {
            for _ in 0..20 {
                let (hold, holds) = channel::<()>();
                held.push(hold);
                let seats = Arc::clone(&seats);
                asked.push(tokio::spawn(
                    async move { at_a_seat(&seats, move || holds.recv().is_err()).await },
                ));
                // Each is asked for before the next one, and its asker then goes.
                tokio::task::yield_now().await;
                asked.iter().for_each(tokio::task::JoinHandle::abort);
                tokio::task::yield_now().await;
            }
            // A thread is left for whoever comes by another kind of seat.
            let other = Arc::new(Semaphore::new(1));
            let came = tokio::time::timeout(Duration::from_secs(30), at_a_seat(&other, || 7)).await;
            assert_eq!(came, Ok(Ok(7)));
            held.clear();
            let came = tokio::time::timeout(Duration::from_secs(30), at_a_seat(&seats, || 8)).await;
            assert_eq!(came, Ok(Ok(8)), "what has ended has given its seat back");
        });
    }

    #[test]
    fn work_that_panics_gives_its_seat_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let seats = Arc::new(Semaphore::new(1));
        let broke: Result<(), String> = runtime.block_on(at_a_seat(&seats, || panic!("a fault")));
        assert!(broke.is_err());
        assert_eq!(runtime.block_on(at_a_seat(&seats, || 9)), Ok(9));
    }
}
