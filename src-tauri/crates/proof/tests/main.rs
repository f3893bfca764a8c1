//! Bundles under test: made, read by strangers, changed by forgers, cut by chance.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test that cannot go on stops where it stands; some run the tools of strangers, and are told how much to do"
)]

mod anchors;
#[allow(dead_code, reason = "shared with the test kit")]
#[path = "../../testkit/src/authenticator.rs"]
mod authenticator;
#[allow(dead_code, reason = "shared with the test kit")]
#[path = "../../testkit/src/blocks.rs"]
mod blocks;
mod bundles;
mod dual;
mod evidence;
#[path = "../../seal/tests/foreign/mod.rs"]
mod foreign;
mod harness;
mod hostile;
mod kit;
mod limits;
mod long;
mod mutants;
mod nouns;
mod passkeys;
mod program;
mod redaction;
mod release;
mod roots;
mod splices;
mod standing;
mod stock;
mod traps;
mod twin;
mod world;
