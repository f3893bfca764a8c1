//! What the threads of one [`crate::Sockets`] share: who is open, who is let in, and where what comes goes.

use crate::line::Line;
use crate::listener::Listener;
use crate::wake::Handle;
use crate::{At, Came, Proves, lock};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;

/// How long a thread waits that has something for whoever has not taken the last of it.
const FULL: Duration = Duration::from_millis(5);
/// For how long after a socket opened another one may be of the same moment: each side dialled the other.
const SAME_MOMENT: Duration = Duration::from_secs(10);
/// Guests that came here, and guests that this side is: more than one address has sockets, so that one stranger keeps nobody out.
const GUESTS_MAX: usize = 16;

pub(crate) struct Shared {
    came: SyncSender<Came>,
    pub(crate) proves: Arc<dyn Proves>,
    pub(crate) authorities: Vec<Certificate<'static>>,
    pub(crate) state: Mutex<State>,
    /// Held by whoever tells that something opened or ended, so that no two tell of one way at once.
    telling: Mutex<()>,
    is_over: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// This node, where it can prove itself.
    own: OnceLock<String>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) relays: BTreeMap<String, Arc<Line>>,
    /// Nodes that are dialled: where, and by what.
    pub(crate) direct: BTreeMap<String, (String, Arc<Line>)>,
    pub(crate) only_public: BTreeSet<String>,
    pub(crate) admitted: BTreeSet<String>,
    pub(crate) open: BTreeMap<At, Open>,
    pub(crate) accepted: BTreeMap<u64, Accepted>,
    pub(crate) guests: BTreeMap<u64, Guest>,
    pub(crate) are_guests_welcome: bool,
    pub(crate) listener: Option<Listener>,
    next: u64,
}

/// A connection that stands.
pub(crate) struct Open {
    pub(crate) number: u64,
    pub(crate) handle: Arc<Handle>,
    pub(crate) is_dialled: bool,
    pub(crate) since: Instant,
}

/// A socket that came here.
pub(crate) struct Accepted {
    pub(crate) from: IpAddr,
    pub(crate) handle: Arc<Handle>,
    pub(crate) is_proven: bool,
}

/// Somebody who proved nothing and is heard.
pub(crate) struct Guest {
    pub(crate) handle: Arc<Handle>,
    pub(crate) is_dialled: bool,
}

impl State {
    /// A number that nothing had before.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Whether a node's socket is kept.
    pub(crate) fn admits(&self, node: &str) -> bool {
        self.admitted.contains(node) || self.direct.contains_key(node)
    }

    /// Takes in a guest, where there is room and it is welcome.
    pub(crate) fn take_guest(&mut self, handle: &Arc<Handle>, is_dialled: bool) -> Option<u64> {
        let others = self.guests.values().filter(|guest| guest.is_dialled == is_dialled).count();
        if others >= GUESTS_MAX || !(is_dialled || self.are_guests_welcome) {
            return None;
        }
        let number = self.number();
        self.guests.insert(number, Guest { handle: Arc::clone(handle), is_dialled });
        Some(number)
    }

    /// Ends the sockets of nodes that are kept no more.
    pub(crate) fn end_strangers(&self) {
        for (at, open) in &self.open {
            if let At::Direct(node) = at
                && !self.admits(node)
            {
                open.handle.end();
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(
        came: SyncSender<Came>,
        proves: Arc<dyn Proves>,
        authorities: Vec<Certificate<'static>>,
    ) -> Self {
        Self {
            came,
            proves,
            authorities,
            state: Mutex::default(),
            telling: Mutex::default(),
            is_over: AtomicBool::new(false),
            threads: Mutex::default(),
            own: OnceLock::new(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Begins a thread; whether it began.
    pub(crate) fn spawn(self: &Arc<Self>, work: impl FnOnce(&Arc<Self>) + Send + 'static) -> bool {
        let shared = Arc::clone(self);
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !thread.is_finished());
        let begun = thread::Builder::new().name("socket".to_owned()).spawn(move || work(&shared));
        let is_begun = begun.is_ok();
        threads.extend(begun);
        is_begun
    }

    /// Gives something to whoever uses the room, as soon as there is room for it; whether it was given. Until then nothing more
    /// is read from where it came.
    pub(crate) fn give(&self, mut came: Came, is_wanted: impl Fn() -> bool) -> bool {
        while !self.is_over() && is_wanted() {
            match self.came.try_send(came) {
                Ok(()) => return true,
                Err(TrySendError::Full(back)) => came = back,
                Err(TrySendError::Disconnected(_)) => {
                    self.is_over.store(true, Ordering::SeqCst);
                    return false;
                }
            }
            thread::sleep(FULL);
        }
        false
    }

    /// This node, as its own proof says, as soon as it has one.
    pub(crate) fn own(&self) -> Option<&str> {
        if self.own.get().is_none() {
            let challenge = self.proves.challenge();
            let own = self.proves.check(&challenge, "", &self.proves.answer(&challenge, "")?)?;
            let _ = self.own.set(own);
        }
        self.own.get().map(String::as_str)
    }

    /// A connection is the one of its way from now on, and takes the place of an older one; whether it is.
    pub(crate) fn open(&self, at: &At, open: Open) -> bool {
        let own = self.own();
        let _telling = lock(&self.telling);
        let former = {
            let mut state = lock(&self.state);
            let is_wanted = match at {
                At::Relay(_) => true,
                At::Direct(node) => state.admits(node) && own != Some(node.as_str()),
            };
            let stays = state.open.get(at).is_some_and(|old| stays(at, old, open.is_dialled, own));
            if self.is_over() || open.handle.is_over() || !is_wanted || stays {
                return false;
            }
            state.open.insert(at.clone(), open)
        };
        if let Some(former) = former {
            former.handle.end();
            self.give(Came::Shut(at.clone(), "another connection took its place".to_owned()), || true);
        }
        self.give(Came::Open(at.clone()), || true)
    }

    /// Whether a socket that stands is not to be taken the place of by one that is about to open.
    pub(crate) fn has_better(&self, at: &At, is_dialled: bool) -> bool {
        let own = self.own();
        lock(&self.state).open.get(at).is_some_and(|old| stays(at, old, is_dialled, own))
    }

    /// A connection ended. It is told of unless another one took its place, which told of it.
    pub(crate) fn shut(&self, at: &At, number: u64, why: &str) {
        let _telling = lock(&self.telling);
        {
            let mut state = lock(&self.state);
            if state.open.get(at).is_none_or(|open| open.number != number) {
                return;
            }
            state.open.remove(at);
            if let At::Direct(node) = at
                && let Some((_, line)) = state.direct.get(node)
            {
                line.wake();
            }
        }
        self.give(Came::Shut(at.clone(), why.to_owned()), || true);
    }

    /// Ends everything, and waits for it until a time.
    pub(crate) fn end(&self, within: Duration) {
        self.is_over.store(true, Ordering::SeqCst);
        let listener = {
            let mut state = lock(&self.state);
            let lines = state.relays.values().chain(state.direct.values().map(|(_, line)| line));
            lines.for_each(|line| line.end());
            let accepted = state.accepted.values().map(|accepted| &accepted.handle);
            accepted.chain(state.guests.values().map(|guest| &guest.handle)).for_each(|handle| handle.end());
            state.listener.take()
        };
        drop(listener);
        let until = Instant::now() + within;
        // A thread that was begun meanwhile ends as soon as it looks.
        loop {
            let Some(thread) = lock(&self.threads).pop() else { return };
            while !thread.is_finished() && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
            // A name that is being looked up, or a connection that is coming about, ends by itself and is not used.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

/// Whether the older one of two sockets to a node stays: where each side dialled the other in the same moment, both sides keep
/// the one that the node with the lower key dialled, or each would end the one that the other keeps.
fn stays(at: &At, old: &Open, is_dialled: bool, own: Option<&str>) -> bool {
    let At::Direct(node) = at else { return false };
    let is_crossed = old.is_dialled != is_dialled && old.since.elapsed() < SAME_MOMENT;
    let is_own_lower = own.is_some_and(|own| own < node.as_str());
    is_crossed && !old.handle.is_over() && old.is_dialled == is_own_lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_sockets_of_one_moment_both_sides_keep_the_same_one() {
        let open = |is_dialled| {
            let handle = Arc::new(Handle::new().unwrap());
            Open { number: 1, handle, is_dialled, since: Instant::now() }
        };
        let (low, high) = (At::Direct("a".to_owned()), At::Direct("b".to_owned()));
        // The lower node dialled one, and the higher node the other; each sees them in either order.
        for (own, at) in [("a", &high), ("b", &low)] {
            let by_lower = own == "a";
            assert!(stays(at, &open(by_lower), !by_lower, Some(own)));
            assert!(!stays(at, &open(!by_lower), by_lower, Some(own)));
        }
        // A node that dials again has lost the former one.
        assert!(!stays(&high, &open(true), true, Some("a")) && !stays(&low, &open(false), false, Some("b")));
        let mut older = open(true);
        older.since = older.since.checked_sub(SAME_MOMENT).unwrap();
        assert!(!stays(&high, &older, false, Some("a")));
        assert!(!stays(&At::Relay("b".to_owned()), &open(true), false, Some("a")));
    }
}
