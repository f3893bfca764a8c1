//! Connections that stand: relays dialled again when they are gone, sockets between two machines that prove their keys,
//! and a small relay of one's own.
//!
//! **What this room is for.** Bytes between this machine and others over TCP, TLS and WebSocket. Whoever uses it says whom to
//! connect to and gets frames; what they mean is for others.
//!
//! **What it must never do.** Keep anything that a restart could lose, know what a frame says (but for the two that prove a
//! key), decide whom to believe, or open a connection that nobody asked for: as long as nothing is set there is no thread.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Everything that another side sends is bounded in bytes and time, and is read no faster than it is taken.
//! 2. What ended is told once, after what came from it, and what is told open was not open before.
//! 3. No frame of a direct socket is given on before the other side proved whose it is, at the place that was dialled; between two
//!    nodes one socket stands.
//! 4. A guest is heard only while guests are welcome.
//! 5. A connection that is dead is noticed within 90 seconds, and dialled again after a pause that grows.
//! 6. Whoever drops [`Sockets`] or [`relay::OwnRelay`] has no connection after two seconds.
//!
//! Start reading at [`Sockets`], then `line`, `talk` and `direct`. [`Socket`] and [`dial`] are for services that are spoken to
//! otherwise.
#![allow(
    clippy::disallowed_methods,
    reason = "connections are waited for by a clock, and a dead one is found by it"
)]

mod address;
mod direct;
mod json;
mod line;
mod link;
mod listener;
pub mod relay;
mod shared;
mod sockets;
mod talk;
mod wake;

pub use address::{host_of, is_loopback};
pub use json::{Heard, Socket};
pub use link::{Allowance, Link, dial};
pub use sockets::Sockets;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of one frame.
const FRAME_BYTES_MAX: usize = 160 * 1024;
/// Bytes of one frame of whoever proved nothing.
const GUEST_FRAME_BYTES_MAX: usize = 16 * 1024;

/// By which connection something came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// A relay, by its URL.
    Relay(String),
    /// A socket to a node, by its key: 64 hex digits.
    Direct(String),
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// A connection stands from now on. Whoever wants to be told of something there asks for it now.
    Open(At),
    /// It stands no more, and why.
    Shut(At, String),
    /// A frame.
    Bytes(At, Vec<u8>),
    /// A frame of somebody who proved nothing, by number.
    Guest(u64, Vec<u8>),
}

/// Proves whose node this is, and checks what another one proves.
///
/// A frame that proves a key is an array of JSON that begins with `"AUTH"` and goes on with an object. It is signed over what the
/// other side gave and over the place that was dialled (`address:port`, as each side sees it of the connection), so that nobody at
/// another place can hand it on.
pub trait Proves: Send + Sync {
    /// What the other side is to sign: never the same twice, 256 bytes at most.
    fn challenge(&self) -> String;
    /// The frame that proves this node to whoever gave a challenge.
    fn answer(&self, challenge: &str, place: &str) -> Option<Vec<u8>>;
    /// Whose key a frame proves for a challenge: 64 hex digits.
    fn check(&self, challenge: &str, place: &str, frame: &[u8]) -> Option<String>;
}

/// Why a connection did not come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// Why, in words.
    pub fn why(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// A lock, whoever held it when it ended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
