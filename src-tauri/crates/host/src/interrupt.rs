//! Ctrl-C: the first one asks for a clean pause, the second one ends the process. Everything is durable anyway.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often the person pressed Ctrl-C.
#[derive(Debug, Clone)]
pub struct Interrupts {
    count: Arc<(Mutex<u32>, Condvar)>,
    /// What is done before this process ends by it.
    leave: fn(),
}

/// The exit code shells expect of a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;
/// And by a request to terminate, or by a terminal that went.
const TERMINATED: i32 = 143;
const HUNG_UP: i32 = 129;

/// Which requests to end are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// Ctrl-C.
    Interrupt,
    /// A request to terminate.
    Terminate,
    /// The terminal went.
    HangUp,
}

impl Interrupts {
    /// Begins to listen, on a thread of its own. The second one ends this process at once.
    pub fn watch() -> Self {
        Self::begin(&[Heard::Interrupt], || {})
    }

    /// As [`Self::watch`], for a process that others end: a request to terminate counts as well.
    pub fn watch_all() -> Self {
        Self::begin(&[Heard::Interrupt, Heard::Terminate], || {})
    }

    /// As [`Self::watch`], for a process that holds its terminal: whatever ends it, `leave` is called before. A request
    /// to terminate ends it at once, and so does a terminal that goes.
    pub fn watch_leaving(leave: fn()) -> Self {
        Self::begin(&[Heard::Interrupt, Heard::Terminate, Heard::HangUp], leave)
    }

    fn begin(hears: &'static [Heard], leave: fn()) -> Self {
        let watched = Self { count: Arc::default(), leave };
        let (told, holds) = (watched.clone(), hears.contains(&Heard::HangUp));
        let listen = move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                let mut ends = Ends::new(hears);
                while let Some(heard) = ends.next().await {
                    match heard {
                        Heard::Terminate if holds => told.end(TERMINATED),
                        Heard::HangUp => told.end(HUNG_UP),
                        Heard::Interrupt | Heard::Terminate => told.press(),
                    }
                }
            });
        };
        // Without the thread Ctrl-C ends the process as usual, which the store survives.
        let _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(listen);
        watched
    }

    /// Counts one more, as for a key that this process read itself. The second one ends this process at once.
    pub fn press(&self) {
        let mut count = self.count.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        self.count.1.notify_all();
        if *count > 1 {
            self.end(INTERRUPTED);
        }
    }

    fn end(&self, code: i32) {
        (self.leave)();
        std::process::exit(code);
    }

    /// Whether it was pressed.
    pub fn pressed(&self) -> bool {
        *self.count.0.lock().unwrap_or_else(PoisonError::into_inner) > 0
    }

    /// Waits until it is pressed, or this long; whether it was pressed.
    pub fn wait_for(&self, time: Duration) -> bool {
        let count = self.count.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.count.1.wait_timeout_while(count, time, |count| *count == 0);
        let (count, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *count > 0
    }

    /// Waits until it is pressed.
    pub fn wait(&self) {
        let count = self.count.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.count.1.wait_while(count, |count| *count == 0));
    }
}

/// What tells this process to end.
struct Ends {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Ends {
    #[cfg(unix)]
    fn new(hears: &[Heard]) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let of = |heard, kind| hears.contains(&heard).then(|| signal(kind).ok()).flatten();
        Self {
            terminate: of(Heard::Terminate, SignalKind::terminate()),
            hang_up: of(Heard::HangUp, SignalKind::hangup()),
        }
    }

    #[cfg(not(unix))]
    fn new(_: &[Heard]) -> Self {
        Self {}
    }

    /// Waits for the next one; none when nothing can be heard.
    #[cfg(unix)]
    async fn next(&mut self) -> Option<Heard> {
        tokio::select! {
            heard = tokio::signal::ctrl_c() => heard.is_ok().then_some(Heard::Interrupt),
            Some(()) = of(&mut self.terminate) => Some(Heard::Terminate),
            Some(()) = of(&mut self.hang_up) => Some(Heard::HangUp),
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Option<Heard> {
        tokio::signal::ctrl_c().await.is_ok().then_some(Heard::Interrupt)
    }
}

/// The next one of a signal; nothing for ever where it is not heard.
#[cfg(unix)]
async fn of(signal: &mut Option<tokio::signal::unix::Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Hears that a file may not grow any longer: the write then answers so and is told, where the signal would end the
/// process without a word. Programs that it starts are ended by it as ever.
#[cfg(unix)]
pub fn hear_file_limits() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let _inside = runtime.enter();
    // What was heard once is heard as long as the process lives.
    let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
}

/// There is no such signal.
#[cfg(not(unix))]
pub const fn hear_file_limits() {}
