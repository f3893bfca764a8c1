//! The store behind the windows: opened once, away from the windows' thread. Whoever asks early waits for it.

use host::{Home, Need, Session, Unlock};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wire::{Code, Error};

/// Opening takes a moment, and longer where another process has to let go first.
const PATIENCE: Duration = Duration::from_secs(30);

enum Way {
    NotYet,
    Opening,
    Open(Arc<Session>),
    Failed(Error),
    Closed,
}

/// The store of this app.
pub struct Store {
    home: Home,
    way: Mutex<Way>,
    changed: Condvar,
}

impl Store {
    /// A store that nobody has opened yet.
    pub fn new(home: Home) -> Self {
        Self { home, way: Mutex::new(Way::NotYet), changed: Condvar::new() }
    }

    /// Where it is.
    pub const fn home(&self) -> &Home {
        &self.home
    }

    fn way(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens it in this process or through the one that owns it, lets others attach, and goes on with what was
    /// interrupted. A second call while it is open does nothing.
    pub fn open(&self) -> Result<Arc<Session>, Error> {
        {
            let mut way = self.way();
            match &*way {
                Way::Open(session) => return Ok(Arc::clone(session)),
                Way::Opening => {
                    drop(way);
                    return self.session();
                }
                Way::Closed => return Err(ending()),
                Way::NotYet | Way::Failed(_) => *way = Way::Opening,
            }
        }
        let opened = Session::open(&self.home, Need::Write, &Unlock::Environment).map(Arc::new);
        if let Ok(session) = &opened {
            session.be_host();
            session.serve();
            if let Some(Err(error)) = session.local().map(|local| local.go_on()) {
                tracing::warn!(%error, "what was interrupted does not go on yet");
            }
        }
        let mut way = self.way();
        *way = match &opened {
            Ok(session) if !matches!(&*way, Way::Closed) => Way::Open(Arc::clone(session)),
            Ok(_) => Way::Closed,
            Err(error) => Way::Failed(error.clone()),
        };
        self.changed.notify_all();
        opened
    }

    /// The way to the store; waits until it was opened.
    pub fn session(&self) -> Result<Arc<Session>, Error> {
        let until = Instant::now() + PATIENCE;
        let mut way = self.way();
        loop {
            match &*way {
                Way::Open(session) => return Ok(Arc::clone(session)),
                Way::Failed(error) => return Err(error.clone()),
                Way::Closed => return Err(ending()),
                Way::NotYet | Way::Opening => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(Code::Unavailable, "the store is still being opened")
                    .hint("try again in a moment"));
            }
            way = self.changed.wait_timeout(way, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Leaves off at the next durable boundary and lets go of the store; the next host goes on from there.
    pub fn close(&self) {
        let before = std::mem::replace(&mut *self.way(), Way::Closed);
        self.changed.notify_all();
        if let Way::Open(session) = before {
            if let Some(local) = session.local() {
                local.wind_down();
            }
            session.close();
        }
    }
}

fn ending() -> Error {
    Error::new(Code::Unavailable, "Hermit is ending")
}
