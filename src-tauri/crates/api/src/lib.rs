//! Command bodies against a Host trait; model to wire conversion; error codes.
//!
//! **What this room is for.** One plain function for each command of the wire's table, one file for each noun, run by
//! whoever implements [`Host`]: the command line, the gateway, the shell.
//!
//! **What it must never do.** Grant: the only yes it passes on is an envelope that a person signed elsewhere, and it
//! holds no key that could. Lock, boot or resume for a command that only reads. Serve two shapes for one noun.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Every command of the table has a body, or this does not compile.
//! 2. A command of class `read` works in a process without a kernel.
//! 3. What a parameter names by a part of an identifier is one thing, or an error that names the candidates.
//! 4. Domain types become wire types here and nowhere else.
//! 5. An unknown parameter is refused by name, and nothing in the store changes.
//!
//! **Where to start reading.** [`Host`], then [`call()`], then a noun in `body`.

mod anchors;
mod backtest;
mod body;
mod call;
mod caller;
mod change_lists;
mod convert;
mod curation;
mod error;
mod file_names;
mod files;
mod fold;
pub mod hooks;
mod host;
mod ids;
mod lineages;
mod mesh;
pub mod messages;
mod money;
mod notice;
pub mod page_approval;
pub mod passkeys;
pub mod pushes;
pub mod runs;
pub mod sign_in;
mod source;
mod stamped;
mod stands;
mod state_proof;
mod suggest;
mod trainer;
mod trials;
mod writers;

pub use crate::mesh::{Mesh, MeshLive, MeshShown, MeshWay, Presence};
pub use anchors::AnchorClocks;
pub use body::approvals::line as card_line;
pub use body::disk_usage;
pub use body::identity::instance_key;
pub use body::mesh_answers::{question_of, to_enrol};
pub use body::proposed_trials::{BegunProposed, ProposedTrial, begin_proposed, proposed_came};
pub use body::store::PutBack;
pub use call::{call, call_for, misfit};
pub use caller::{Asker, Through};
pub use change_lists::{Sheets, prepare};
pub use error::{
    Wire, failed, no_host, no_store, not_found, of_artifacts, of_kernel, of_ledger, of_projections, of_proof,
    usage,
};
pub use files::{broken_off, open as open_file};
pub use fold::store_state;
pub use host::{BundleSigners, ChatAccount, Chats, Host, LoginStands, Logins, ModelBox};
pub use kernel::hunks;
pub use money::dollars;
pub use notice::{conversation_of, notice};
pub use runs::Journal;
pub use stands::{Flow, Stands};
pub use trainer::Trainer;
pub use trials::{Drawn, Trials};
