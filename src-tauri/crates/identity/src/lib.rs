//! Who is this instance? The chain of what its keys said of it: signed, bound to the log's key, followed back to genesis.
//!
//! # What this room is for
//!
//! An instance says of itself what it is (an attestation of SOUL.md), that one key hands over to another, and that a key is not
//! to be believed (mesh.md 2, HV-3.9). Each is a link that names the one before it by the digest of its canonical bytes and is
//! signed by the key in force. Here links are signed and followed; who keeps them, and where they came from, is no matter.
//!
//! # What it must never do
//!
//! Read a clock, keep a key, or trust a link for its place in a file. It never ends at the first fault: who follows a chain is
//! told all that is wrong with it.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. A chain is unbroken only when nothing was found: one genesis, each link signed by the key in force, in order, of one
//!    instance.
//! 2. A key signs nothing after it handed over or was revoked.
//! 3. One link, one byte string; whatever is spelled otherwise is no link.
//! 4. Following a chain costs at most what [`model::identity::LINKS_MAX`] links of
//!    [`model::identity::LINK_BYTES_MAX`] bytes cost.
//! 5. The key in force that is told is one that an unbroken beginning of the chain leads to.
//!
//! # Where to start reading
//!
//! [`sign`] and [`bind`], then [`follow`].

mod error;
mod following;
mod signing;

pub use error::Error;
pub use following::{Finding, Followed, Graph, follow};
pub use signing::{BoundKey, bind, lines, link_sha256, sign};
