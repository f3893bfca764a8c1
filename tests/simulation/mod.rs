//! The real kernel in small worlds that die: at every durable boundary, at random, and by `kill -9`.
//!
//! What must hold afterwards is in [`audit`]; how a world dies and comes back is in [`sim`].

mod asked_clocks;
mod audit;
mod bursts;
mod disk;
mod fired;
mod history_read;
mod images;
mod killed;
mod looked_together;
mod points;
mod recorded;
mod seeds;
mod sim;
mod stories;
mod traces;
mod tried;
mod worlds;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a long proof says how far it is.
const SAYS_EVERY: Duration = Duration::from_secs(10);

/// Says now and then how far a proof is. What stops it is Ctrl-C: nothing of it has to be put back.
struct Progress {
    what: &'static str,
    all: usize,
    began: Instant,
    done: AtomicUsize,
    said: Mutex<Instant>,
}

impl Progress {
    fn new(what: &'static str, all: usize) -> Self {
        let began = Instant::now();
        Self { what, all, began, done: AtomicUsize::new(0), said: Mutex::new(began) }
    }

    /// So many more are done.
    fn add(&self, more: usize) {
        let done = self.done.fetch_add(more, Ordering::SeqCst) + more;
        let mut said = self.said.lock().expect("no poison");
        if said.elapsed() >= SAYS_EVERY {
            *said = Instant::now();
            eprintln!("  {done} of {} {} in {:.0?}", self.all, self.what, self.began.elapsed());
        }
    }
}

/// How much of something to do: `given` in the suite, and as much as a variable says, if it is more.
fn asked(variable: &str, given: usize) -> usize {
    let asked = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(given).max(given)
}
