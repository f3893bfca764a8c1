//! Where keys and secrets sleep, under test.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops where it stands"
)]

mod keys;
mod os_keychain;
mod rotations;
mod vaults;
