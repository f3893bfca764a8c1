//! Where signing keys and secret values sleep: OS keychain, passphrase file, and the in-memory twin for tests.
//!
//! # What this room is for
//!
//! A store's root seed sleeps in the vault its owner chose; four signers are derived from it, one for each
//! purpose (proof.md 3; mesh.md 4). A person's approval key has a seed and a file of its own, under a passphrase of its own.
//! Secrets that actions refer to by handle sleep in the same vault.
//!
//! # What it must never do
//!
//! Choose a vault by itself, or fall back to another when the chosen one fails. Derive the approval key from
//! anything. Write a seed, a passphrase or a secret to a log, an error or a file that is not wrapped. Overwrite
//! a key.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. No key serves two purposes, and all four come again from the same seed, bit for bit.
//! 2. The approval key has its own seed; who holds the root seed, or an open keychain, cannot approve.
//! 3. The vault that was chosen is written down; another one is refused, never tried.
//! 4. A wrong passphrase is told apart from a damaged file, and opens nothing.
//! 5. A wrapped file has its old bytes or its new ones, belongs to its owner alone (0600), and is refused when
//!    others may read it.
//! 6. What leaves a vault is wiped when dropped.
//! 7. A key is made once: creation never overwrites.
//! 8. A rotation that breaks off leaves the old keys or the new ones, as the log says, never neither.
//! 9. The key of an instance is derived each time: no vault, file or log holds it. Of former ones the vault holds what they come of.
//!
//! # Where to start reading
//!
//! [`Vault`], then [`Keys`], then [`ApprovalKey`]; [`Secrets`] last.

mod approval;
mod error;
mod file;
mod instance;
mod keys;
mod memory;
mod os;
mod pieces;
mod rotation;
mod secrets;
mod vault;
mod vault_choice;
mod wrap;

pub use approval::ApprovalKey;
pub use error::Error;
pub use file::FileVault;
pub use keys::Keys;
pub use memory::MemoryVault;
pub use os::OsVault;
pub use secrets::Secrets;
pub use vault::{Vault, VaultKind};
pub use vault_choice::{Earlier, KeyFact, MARKER_FILE, Marker};
pub use wrap::{Cost, PASSPHRASE_CHARS_MIN, check_passphrase};
