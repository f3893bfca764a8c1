//! The room's tests, in one binary: playbooks on real folders, servers on real sockets, transcripts, addresses.

#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod chat;
mod malformed;
mod others;
#[cfg(unix)]
mod playbooks;
#[cfg(unix)]
mod post;
#[cfg(unix)]
mod server;
