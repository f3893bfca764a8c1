//! The ways out of this process, as the mesh uses them: sockets, or a test's double of them.

use super::reach::Reach;
use socket::{At, Sockets};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Ways to relays and machines.
pub trait Ways: Send {
    /// Connects to these, and to nobody else.
    fn keep(&self, reach: &Reach);
    /// Listens there, or nowhere.
    ///
    /// # Errors
    /// In words.
    fn listen(&self, at: Option<SocketAddr>) -> Result<(), String>;
    /// Whether a socket that proved nothing may speak of a pairing.
    fn accept_guests(&self, are_welcome: bool);
    /// Whose direct sockets are kept.
    fn admit(&self, nodes: &BTreeSet<String>);
    /// Connects to a machine that shows a code.
    ///
    /// # Errors
    /// In words.
    fn dial_guest(&self, at: &str) -> Result<u64, String>;
    /// Ends what was dialled so.
    fn hang_up_guest(&self, guest: u64);
    /// Writes a frame; whether there was room for it.
    fn write(&self, at: &At, bytes: Vec<u8>) -> bool;
    /// Writes a frame to a socket that proved nothing.
    fn write_guest(&self, guest: u64, bytes: Vec<u8>) -> bool;
    /// Every way that is wanted or open, and what was said of it last.
    fn stands(&self) -> Vec<(At, bool, Option<String>)>;
}

impl Ways for Sockets {
    fn keep(&self, reach: &Reach) {
        self.only_public(&reach.only_public);
        self.keep(&reach.relays, &reach.direct);
    }

    fn listen(&self, at: Option<SocketAddr>) -> Result<(), String> {
        self.listen(at).map(|_| ()).map_err(|fault| fault.to_string())
    }

    fn accept_guests(&self, are_welcome: bool) {
        self.accept_guests(are_welcome);
    }

    fn admit(&self, nodes: &BTreeSet<String>) {
        self.admit(nodes);
    }

    fn dial_guest(&self, at: &str) -> Result<u64, String> {
        self.dial_guest(at).map_err(|fault| fault.to_string())
    }

    fn hang_up_guest(&self, guest: u64) {
        self.hang_up_guest(guest);
    }

    fn write(&self, at: &At, bytes: Vec<u8>) -> bool {
        self.write(at, bytes)
    }

    fn write_guest(&self, guest: u64, bytes: Vec<u8>) -> bool {
        self.write_guest(guest, bytes)
    }

    fn stands(&self) -> Vec<(At, bool, Option<String>)> {
        self.stands()
    }
}
