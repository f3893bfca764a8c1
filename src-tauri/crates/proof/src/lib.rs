//! The bundle format and its verifier; knows nothing of kernel or database.
//!
//! # What this room is for
//!
//! One file that a person can hand to somebody who does not run Hermit: `hermit-proof/1` (proof.md 6). It is made
//! from bytes that a [`Source`] hands over, and checked with nothing but the file and, for more than consistency,
//! a key the receiver already trusts. Every part of it is also readable by tools that nobody here wrote. A release of Hermit
//! itself is checked in the same way (`release`).
//!
//! # What it must never do
//!
//! Ask a database. Re-serialise anything in order to verify it. Say `valid` of what is signed by nobody the
//! receiver trusts, of an empty or truncated log, or of a file it does not know. Claim that a proof shows more
//! than integrity, order and authority.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. The same store, task, options and checkpoint give the same bytes.
//! 2. Every byte of a bundle is covered: an unknown, missing, changed, doubled or compressed file is refused.
//! 3. What the log signed decides: number, order and bytes of events; a receipt, an entry or a decision that does
//!    not follow from it is refused.
//! 4. `valid` needs a key that the caller named; without one the best verdict is `unverifiable`.
//! 5. Memory is bounded by the largest single file that must be whole, and by what is known of the task; a
//!    hostile bundle costs time in proportion to its size and no more.
//! 6. The report says what is proven, what is only asserted, and what is not shown.
//! 7. Of a release every file is signed, the signature stands in a log of which every leaf is shown, and the list of
//!    components names what the lock files name.
//!
//! # Where to start reading
//!
//! [`Source`] and [`export()`] for making, [`verify()`] for checking; [`evidence`] for the gate's own bundle (KS-4.8).

mod anchored;
mod consistency;
mod container;
mod error;
pub mod evidence;
mod export;
mod facts;
mod given;
mod instance;
mod layout;
mod lines;
mod names;
mod options;
mod parts;
mod readme;
mod release;
mod report;
mod single;
mod source;
mod state;
mod statement;
mod time;
mod trust;
mod verify;

pub use anchored::Requested;
pub use error::Error;
pub use export::{Exported, Kind, Leaf, Preview, export, export_to, preview};
pub use given::{AUTHORITIES_MAX, AUTHORITY_BYTES_MAX, Given, HEADERS_BYTES_MAX};
pub use layout::FORMAT;
pub use options::{Include, Options, Redact, Scope};
pub use parts::parts;
pub use release::{
    MadeOf, ReleaseAsked, ReleaseFound, ReleaseParts, ReleaseReport, is_newer, make_release, release_signer,
    verify_release,
};
pub use report::{AnchorFound, Counts, FoundSaid, IdentityFound, Report, Stands, Verdict};
pub use single::file_of;
pub use source::{AnchorFiles, Head, IdentityFiles, PublicKeys, Signers, Source, StateProof};
pub use state::{STATE_LEAVES_MAX, SubjectProof};
pub use trust::Trust;
pub use verify::{verify, verify_given, verify_since};
