//! What is dialled again for as long as it is named: a relay, or a node.

use crate::address::Whom;
use crate::direct;
use crate::link::Terms;
use crate::shared::{Open, Shared};
use crate::talk::Talk;
use crate::wake::{Handle, Wake};
use crate::{At, Came, FRAME_BYTES_MAX, Fault, GUEST_FRAME_BYTES_MAX, lock};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use url::Url;

/// The pause before the second try, and the longest one.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(300);
/// How long a connection has to have stood for the pauses to begin anew. One that is accepted and ended at once is none.
const STOOD: Duration = Duration::from_secs(30);
/// How long a node that dialled this one is left alone, unless its socket ends before.
const LOOK: Duration = Duration::from_secs(60);

pub(crate) struct Line {
    is_over: AtomicBool,
    wake: Wake,
    /// The connection that it has, or makes.
    current: Mutex<Option<Arc<Handle>>>,
    /// Why there is none.
    why: Mutex<Option<String>>,
}

impl Line {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            is_over: AtomicBool::new(false),
            wake: Wake::new()?,
            current: Mutex::default(),
            why: Mutex::default(),
        })
    }

    /// Dials no more, and ends what stands.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(handle) = lock(&self.current).as_ref() {
            handle.end();
        }
        self.wake.wake();
    }

    pub(crate) fn wake(&self) {
        self.wake.wake();
    }

    /// Why there is no connection.
    pub(crate) fn why(&self) -> Option<String> {
        lock(&self.why).clone()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// A handle for the next connection.
    fn handle(&self) -> Result<Arc<Handle>, Fault> {
        let handle = Handle::new().map_err(|error| Fault::new(error.kind().to_string()))?;
        let handle = Arc::new(handle);
        *lock(&self.current) = Some(Arc::clone(&handle));
        if self.is_over() {
            handle.end();
        }
        Ok(handle)
    }

    /// Tries until it is ended. A try tells how long a connection stood, and why it is none.
    fn keep_up(&self, shared: &Shared, mut attempt: impl FnMut() -> (Duration, String)) {
        let mut pauses = Pauses::new();
        while !self.is_over() && !shared.is_over() {
            let (stood, why) = attempt();
            *lock(&self.current) = None;
            *lock(&self.why) = Some(why);
            let until = Instant::now() + pauses.after(stood, drawn());
            while !self.is_over() && !shared.is_over() {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                self.wake.pause(left);
            }
        }
    }

    /// Keeps a relay connected.
    pub(crate) fn to_relay(&self, shared: &Shared, url: &Url, named: &str) {
        self.keep_up(shared, || match self.relay_once(shared, url, named) {
            Ok(ended) => ended,
            Err(fault) => (Duration::ZERO, fault.why().to_owned()),
        });
    }

    fn relay_once(&self, shared: &Shared, url: &Url, named: &str) -> Result<(Duration, String), Fault> {
        let handle = self.handle()?;
        let is_public = lock(&shared.state).only_public.contains(named);
        let whom = if is_public { Whom::Public } else { Whom::Anybody };
        let reached = |tcp: &TcpStream| handle.reached(tcp);
        let terms = Terms { whom, by_proxy: true, reached: &reached };
        let mut talk = Talk::dial(url, &shared.authorities, &terms, FRAME_BYTES_MAX)?;
        Ok(stand(shared, &At::Relay(named.to_owned()), &mut talk, &handle, true))
    }

    /// Keeps a socket to a node, unless the node has one to this.
    pub(crate) fn to_node(&self, shared: &Shared, url: &Url, node: &str) {
        let at = At::Direct(node.to_owned());
        self.keep_up(shared, || {
            while lock(&shared.state).open.contains_key(&at) && !self.is_over() && !shared.is_over() {
                self.wake.pause(LOOK);
            }
            match self.node_once(shared, url, node, &at) {
                Ok(ended) => ended,
                Err(fault) => (Duration::ZERO, fault.why().to_owned()),
            }
        });
    }

    fn node_once(
        &self,
        shared: &Shared,
        url: &Url,
        node: &str,
        at: &At,
    ) -> Result<(Duration, String), Fault> {
        let handle = self.handle()?;
        let reached = |tcp: &TcpStream| handle.reached(tcp);
        // A peer that names this machine's own address means another service here, unless this node is one of several here.
        let is_here = lock(&shared.state).listener.as_ref().is_some_and(|it| it.address().ip().is_loopback());
        let whom = if is_here { Whom::Anybody } else { Whom::Others };
        let terms = Terms { whom, by_proxy: false, reached: &reached };
        let mut talk = Talk::dial(url, &shared.authorities, &terms, GUEST_FRAME_BYTES_MAX)?;
        direct::prove(shared, &mut talk, &handle, node).map_err(Fault::new)?;
        talk.trust();
        Ok(stand(shared, at, &mut talk, &handle, true))
    }
}

/// Has a connection be the one of its way until it ends: how long it stood, and why it ended.
pub(crate) fn stand(
    shared: &Shared,
    at: &At,
    talk: &mut Talk,
    handle: &Arc<Handle>,
    is_dialled: bool,
) -> (Duration, String) {
    let (number, since) = (lock(&shared.state).number(), Instant::now());
    let open = Open { number, handle: Arc::clone(handle), is_dialled, since };
    if !shared.open(at, open) {
        return (Duration::ZERO, "another connection stands".to_owned());
    }
    let why = talk.speak(shared, handle, None, |frame| {
        shared.give(Came::Bytes(at.clone(), frame), || !handle.is_over())
    });
    shared.shut(at, number, why);
    (since.elapsed(), why.to_owned())
}

/// The pauses between tries.
struct Pauses(Duration);

impl Pauses {
    fn new() -> Self {
        Self(PAUSE_FIRST)
    }

    /// The pause after a connection that stood for so long: longer each time, and never the same for all that lost the same relay.
    fn after(&mut self, stood: Duration, drawn: u64) -> Duration {
        if stood >= STOOD {
            self.0 = PAUSE_FIRST;
        }
        let pause = self.0;
        self.0 = pause.saturating_mul(2).min(PAUSE_MOST);
        let of_thousand = u32::try_from(drawn % 500).unwrap_or(0) + 750;
        (pause * of_thousand / 1000).min(PAUSE_MOST)
    }
}

/// Chance that nothing but a pause depends on.
fn drawn() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_minutes_and_begin_anew_after_a_connection_that_stood() {
        let mut pauses = Pauses::new();
        let middle: Vec<u64> = (0..11).map(|_| pauses.after(Duration::ZERO, 250).as_secs()).collect();
        assert_eq!(middle, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(pauses.after(STOOD - Duration::from_secs(1), 250), PAUSE_MOST);
        assert_eq!(pauses.after(STOOD, 250), PAUSE_FIRST);
    }

    #[test]
    fn no_two_pauses_need_be_the_same_and_none_is_far_from_its_middle() {
        let of = |drawn| Pauses::new().after(Duration::ZERO, drawn);
        assert_eq!((of(0), of(499)), (Duration::from_millis(750), Duration::from_millis(1249)));
        assert!((0..64).map(|_| drawn()).collect::<std::collections::BTreeSet<_>>().len() > 32);
    }
}
