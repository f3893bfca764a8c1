//! Security keys: CTAP2 over USB, spoken to a key that is plugged in (schedule.md 4).
//!
//! # What this room is for
//!
//! A person at a terminal or before the app's window has no browser that would ask their security key. This room finds keys,
//! has one make a passkey and sign with it, and tells whoever watches when it wants to be touched.
//!
//! # What it must never do
//!
//! Judge whether a signature counts: that is the kernel's, and the verifiers'. Keep a PIN, or hand it on in any other way than
//! encrypted to the key that it was typed for. Believe a length or a count that a key says.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. A key has said everything within bounds and a time, or it is an [`Error`]: a message of 7609 bytes, CBOR eight deep, one
//!    minute for a touch, ten seconds for what needs none, three without a word.
//! 2. A PIN leaves as the encrypted half of its digest, and is wiped when dropped. Each wrong one says how many are left.
//! 3. Nothing is asked of a key that has no PIN: it could not verify who touches it.
//! 4. What a person leaves is cancelled at the key, too, which then stops blinking.
//!
//! # Where to start reading
//!
//! [`SecurityKey`], then `channel` below it and `pin` beside it.

#![allow(
    clippy::disallowed_methods,
    reason = "a key is waited for by the clock, and a test says by the environment where its own is"
)]

mod cbor;
mod channel;
mod device;
mod error;
mod find;
mod key;
mod pin;

pub use device::{Device, REPORT};
pub use error::Error;
pub use find::{Found, plugged_in};
pub use key::{Asserted, Making, SecurityKey, Wanted};
pub use pin::Pin;

/// What a key is at while it is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It computes.
    Working,
    /// It blinks, and wants to be touched.
    Touch,
}

/// Whoever watches a key: told several times a second what it is at; answers whether to go on.
pub type Watch<'w> = &'w mut dyn FnMut(Moment) -> bool;

fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::Randomness)
}
