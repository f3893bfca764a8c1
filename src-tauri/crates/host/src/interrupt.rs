//! Ctrl-C: the first one asks for a clean pause, the second one ends the process. Everything is durable anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often the person pressed Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<AtomicU32>);

/// The exit code shells expect of a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

impl Interrupts {
    /// Begins to listen, on a thread of its own. The second one ends this process at once.
    pub fn watch() -> Self {
        Self::begin(false)
    }

    /// As [`Self::watch`], for a process that others end: a request to terminate counts as well.
    pub fn watch_all() -> Self {
        Self::begin(true)
    }

    fn begin(terminations: bool) -> Self {
        let watched = Self::default();
        let count = Arc::clone(&watched.0);
        let listen = move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                let mut ends = Ends::new(terminations);
                while ends.next().await {
                    if count.fetch_add(1, Ordering::SeqCst) > 0 {
                        std::process::exit(INTERRUPTED);
                    }
                }
            });
        };
        // Without the thread Ctrl-C ends the process as usual, which the store survives.
        let _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(listen);
        watched
    }

    /// Whether it was pressed.
    pub fn pressed(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

/// What tells this process to end.
struct Ends {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Ends {
    #[cfg(unix)]
    fn new(terminations: bool) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { terminate: terminations.then(|| signal(SignalKind::terminate()).ok()).flatten() }
    }

    #[cfg(not(unix))]
    fn new(_: bool) -> Self {
        Self {}
    }

    /// Waits for the next one; false when nothing can be heard.
    #[cfg(unix)]
    async fn next(&mut self) -> bool {
        match &mut self.terminate {
            Some(terminate) => tokio::select! {
                heard = tokio::signal::ctrl_c() => heard.is_ok(),
                heard = terminate.recv() => heard.is_some(),
            },
            None => tokio::signal::ctrl_c().await.is_ok(),
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
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
