//! Machines of one person as one, by the real programs: each a store and a `hermit serve` of its own, between them relays that die,
//! sockets, and a stick.

mod asking;
mod dual;
mod hostile;
mod independent;
mod learning;
pub(crate) mod machines;
mod public;
mod published;
mod reach;
mod schedules;
mod triggers;
mod work;
