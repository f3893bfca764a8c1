//! Connections within bounds. Whoever has shown neither token nor session holds a place that the next stranger may take;
//! whoever has is not pushed out by strangers, however many there are. Of strangers, one whose last call was refused goes first.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections at once.
pub(crate) const CONNECTIONS_MAX: usize = 256;
/// Connections at once of which nobody has shown that they may come in; a further one ends the oldest.
pub(crate) const STRANGERS_MAX: usize = 64;

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Visit {
    is_known: AtomicBool,
    is_refused: AtomicBool,
    gone: Notify,
}

impl Visit {
    /// Somebody who may come in speaks over this connection.
    pub(crate) fn know(&self) {
        self.is_known.store(true, Ordering::SeqCst);
    }

    /// Whether what came last over this connection was refused; a further call may be a better one.
    pub(crate) fn refuse(&self, is_refused: bool) {
        self.is_refused.store(is_refused, Ordering::SeqCst);
    }

    /// Until its place was given to another.
    pub(crate) async fn ended(&self) {
        self.gone.notified().await;
    }
}

/// Who is there.
pub(crate) struct Connections {
    all: Arc<Semaphore>,
    strangers: Mutex<VecDeque<Arc<Visit>>>,
}

impl Connections {
    pub(crate) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(CONNECTIONS_MAX)), strangers: Mutex::default() }
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<Visit>>> {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|visit| !visit.is_known.load(Ordering::SeqCst));
        strangers
    }

    /// A place for a connection; none when those who may come in hold them all.
    pub(crate) fn enter(&self) -> Option<(Arc<Visit>, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.all).try_acquire_owned().ok()?;
        let visit = Arc::new(Visit::default());
        let mut strangers = self.strangers();
        strangers.push_back(Arc::clone(&visit));
        if strangers.len() > STRANGERS_MAX {
            let refused = strangers.iter().position(|one| one.is_refused.load(Ordering::SeqCst));
            if let Some(one) = strangers.remove(refused.unwrap_or(0)) {
                one.gone.notify_one();
            }
        }
        Some((visit, place))
    }

    pub(crate) fn leave(&self, visit: &Arc<Visit>) {
        self.strangers().retain(|one| !Arc::ptr_eq(one, visit));
    }
}

/// The other loopback address at the same port, which browsers try as well for `localhost`: whoever else listens there
/// would be sent what is meant for this host. Whether that name leads here, and the listener where the system has one.
pub(crate) fn beside(address: SocketAddr) -> (Option<TcpListener>, bool) {
    let other: IpAddr = match address {
        SocketAddr::V4(own) if *own.ip() == Ipv4Addr::LOCALHOST => Ipv6Addr::LOCALHOST.into(),
        SocketAddr::V6(own) if *own.ip() == Ipv6Addr::LOCALHOST => Ipv4Addr::LOCALHOST.into(),
        _ => return (None, false),
    };
    match TcpListener::bind((other, address.port())) {
        Ok(listener) => (Some(listener), true),
        // A system that has no such address leads nobody there.
        Err(error) => (None, error.kind() != ErrorKind::AddrInUse),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn of_too_many_strangers_one_that_was_refused_goes_first_and_then_the_oldest() {
        let all = Connections::new();
        let visits: Vec<_> = (0..STRANGERS_MAX).map(|_| all.enter().expect("a place")).collect();
        let is_there = |at: usize| all.strangers().iter().any(|one| Arc::ptr_eq(one, &visits[at].0));
        visits[3].0.refuse(true);
        visits[5].0.refuse(true);
        visits[5].0.refuse(false);
        let _first = all.enter().expect("a place");
        assert!(is_there(0) && !is_there(3) && is_there(5));
        let _second = all.enter().expect("a place");
        assert!(!is_there(0) && is_there(5));
    }
}
