//! The place at which this machine is dialled.

use crate::direct;
use crate::shared::Shared;
use crate::wake::{On, Wake};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long it is waited where the system has no more connections to give.
const NONE_LEFT: Duration = Duration::from_millis(200);
/// How long it is waited for a connection before it is waited again.
const LOOK: Duration = Duration::from_secs(600);

/// Listens until it is dropped.
pub(crate) struct Listener {
    asked: SocketAddr,
    address: SocketAddr,
    gate: Arc<Gate>,
    thread: Option<JoinHandle<()>>,
}

struct Gate {
    is_over: AtomicBool,
    wake: Wake,
}

impl Listener {
    pub(crate) fn begin(shared: &Arc<Shared>, at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let gate = Arc::new(Gate { is_over: AtomicBool::new(false), wake: Wake::new()? });
        let (shared, own) = (Arc::clone(shared), Arc::clone(&gate));
        let thread = thread::Builder::new().name("listener".to_owned());
        let thread = thread.spawn(move || serve(&shared, &listener, &own))?;
        Ok(Self { asked: at, address, gate, thread: Some(thread) })
    }

    /// Where it was asked to listen.
    pub(crate) fn asked(&self) -> SocketAddr {
        self.asked
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.gate.is_over.store(true, Ordering::SeqCst);
        self.gate.wake.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Arc<Shared>, listener: &TcpListener, gate: &Gate) {
    while !gate.is_over.load(Ordering::SeqCst) && !shared.is_over() {
        match listener.accept() {
            Ok((tcp, from)) => direct::take(shared, tcp, from.ip()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                gate.wake.wait(On::Listener(listener), LOOK)
            }
            // Whoever hung up before it was taken up holds up nobody.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
            Err(_) => gate.wake.pause(NONE_LEFT),
        }
    }
}
