//! Bytes to meaning: canonical JSON, digests, chain links, Merkle trees, checkpoints, disclosures, DSSE, Ed25519, BIP-340.
//!
//! **What this room is for.** Everything that turns bytes into something a stranger can check: one canonical
//! form of JSON, SHA-256 and its tree, chain links, signed notes and their checkpoints, salted disclosures that
//! can be erased without breaking a hash, signatures and the envelopes that carry them. Every format here is one
//! that tools of other people read: `sha256sum`, `openssl`, `ssh-keygen`, Go's `sumdb/note`.
//!
//! **What it must never do.** Read a clock, draw randomness, touch a disk or a network. Salts, seeds and bytes
//! are passed in. It never re-serialises anything in order to verify it, and never repairs what it reads.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Whatever [`canon::to_canonical`] writes, [`canon::parse_canonical`] reads back, and nothing else is
//!    accepted: one value, one byte string.
//! 2. No number leaves or enters but integers within ±(2^53−1); no float, no NaN, no duplicate name, no lone
//!    surrogate, no depth beyond [`canon::DEPTH_MAX`].
//! 3. A concealed leaf is bound to its place: a disclosure opens only the digest and the pointer it was made for.
//! 4. `$plain` and `$sd` mean one thing only; data that carries them in any other shape is refused.
//! 5. Ed25519 is verified with `verify_strict`, and small-order keys are no keys.
//! 6. A parser accepts exactly one spelling: parse then write gives the same bytes, for digests, envelopes,
//!    notes, checkpoints, proofs, keys and SSH signatures alike.
//! 7. An empty tree, an empty chain, a proof of the wrong length prove nothing.
//! 8. A signature by a key nobody trusts is [`Error::Untrusted`], never a success and never confused with a
//!    signature that does not hold ([`Error::Signature`]).
//! 9. A passkey's yes is about one digest, by one key, at one origin, of a person who was verified; all of it is signed.
//!
//! **Where to start reading.** [`Digest`], then [`canon`], [`disclose`], [`merkle`], and [`note`] last.

pub mod canon;
pub mod chain;
pub mod cosignature;
mod digest;
mod direct;
pub mod disclose;
pub mod dsse;
mod encoding;
mod error;
mod ijson;
pub mod keys;
pub mod merkle;
pub mod note;
mod scan;
pub mod schnorr;
pub mod sshsig;
pub mod succession;
pub mod tlog_proof;
pub mod webauthn;
pub mod webhook;
pub mod webpush;
mod write;

pub use digest::{Digest, Hasher};
pub use disclose::{Disclosure, Sensitive};
pub use error::{ChainFault, Error};
pub use keys::{Pieces, PublicKey, SecretSource, SeedSigner, Signature, Signer, Verifying};
