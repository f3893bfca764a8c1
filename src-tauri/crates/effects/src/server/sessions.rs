//! Servers that are alive between the calls of an attempt, so that what one remembers of a call is there for the next.
//!
//! A server is ended when its attempt ends, when nobody has called it for a while, when it grows too large, and with the
//! process that started it, however that ends.

use super::alive::Alive;
use super::digests::Digests;
use model::limits::{SERVER_IDLE_MS, SERVER_SESSIONS_MAX};
use model::{AttemptId, Digest};
use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often servers that nobody calls are looked at, while there are any.
const LOOK: Duration = Duration::from_secs(1);

/// A server by the attempt that calls it and the registration that it was started from.
pub(super) type Key = (AttemptId, Digest);

/// Servers of one host, shared by all its executors.
#[derive(Clone, Default)]
pub struct ServerSessions(Arc<Sessions>);

#[derive(Default)]
struct Sessions {
    idle: Mutex<Idle>,
    starter: Mutex<Option<Sender<Start>>>,
    digests: Digests,
}

#[derive(Default)]
struct Idle {
    servers: BTreeMap<Key, (Alive, Instant)>,
    /// Somebody looks after them.
    is_watched: bool,
}

/// A process to be started, and who waits for it.
type Start = (Command, Sender<io::Result<Child>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServerSessions {
    /// The server that was put back last under this key; whoever takes it puts it back or ends it.
    pub(super) fn take(&self, key: &Key) -> Option<Alive> {
        lock(&self.0.idle).servers.remove(key).map(|(process, _)| process)
    }

    /// Puts a server back for the next call. Where there are too many, the one that has waited longest is ended.
    pub(super) fn put(&self, key: Key, process: Alive) {
        let mut idle = lock(&self.0.idle);
        let mut over = vec![idle.servers.insert(key, (process, Instant::now()))];
        while idle.servers.len() > SERVER_SESSIONS_MAX {
            let oldest = idle.servers.iter().min_by_key(|(_, (_, since))| *since).map(|(key, _)| *key);
            over.push(oldest.and_then(|key| idle.servers.remove(&key)));
        }
        if !idle.is_watched {
            let watched = Arc::downgrade(&self.0);
            let thread = std::thread::Builder::new().name("tool servers".to_owned());
            // Without a thread nobody would end it in time.
            match thread.spawn(move || watch(&watched)) {
                Ok(_) => idle.is_watched = true,
                Err(_) => over.push(idle.servers.remove(&key)),
            }
        }
        drop(idle);
        drop(over);
    }

    /// Ends every server of an attempt.
    pub(crate) fn end(&self, attempt: AttemptId) {
        let over: Vec<_> =
            lock(&self.0.idle).servers.extract_if(.., |(whose, _), _| *whose == attempt).collect();
        drop(over);
    }

    /// What is known of the programs of servers.
    pub(super) fn digests(&self) -> &Digests {
        &self.0.digests
    }

    /// Starts a process from a thread that lives as long as this: the walls end a process with the thread that started it.
    pub(super) fn start(&self, command: Command) -> io::Result<Child> {
        let gone = || io::Error::other("nobody starts processes any more");
        let starter = {
            let mut starter = lock(&self.0.starter);
            match &*starter {
                Some(starter) => starter.clone(),
                None => {
                    let (send, receive) = channel();
                    let thread = std::thread::Builder::new().name("starter".to_owned());
                    thread.spawn(move || start_all(&receive))?;
                    starter.insert(send).clone()
                }
            }
        };
        let (send, started) = channel();
        starter.send((command, send)).map_err(|_| gone())?;
        drop(starter);
        started.recv().map_err(|_| gone())?
    }
}

fn start_all(asked: &Receiver<Start>) {
    while let Ok((mut command, answer)) = asked.recv() {
        if let Err(unheard) = answer.send(command.spawn())
            && let Ok(mut child) = unheard.0
        {
            crate::command::supervise::end_all(&mut child);
        }
    }
}

/// Ends servers that nobody calls or that grow too large, until there are none.
fn watch(sessions: &Weak<Sessions>) {
    let most = Duration::from_millis(SERVER_IDLE_MS);
    loop {
        std::thread::sleep(LOOK);
        let Some(sessions) = sessions.upgrade() else { return };
        let mut idle = lock(&sessions.idle);
        let over: Vec<_> = idle
            .servers
            .extract_if(.., |_, (process, since)| since.elapsed() > most || process.is_over())
            .collect();
        idle.is_watched = !idle.servers.is_empty();
        let goes_on = idle.is_watched;
        drop(idle);
        drop(over);
        if !goes_on {
            return;
        }
    }
}
