//! Connections within bounds. Whoever has shown neither token nor session holds a place that the next stranger may take;
//! whoever has is not pushed out by strangers, however many there are.

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
    gone: Notify,
}

impl Visit {
    /// Somebody who may come in speaks over this connection.
    pub(crate) fn know(&self) {
        self.is_known.store(true, Ordering::SeqCst);
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
        if strangers.len() > STRANGERS_MAX
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.gone.notify_one();
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
