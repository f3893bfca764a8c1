//! The one place that composes a kernel with real adapters, takes the lock, or attaches to whoever holds it.
//!
//! **What this room is for.** A store's folder becomes a running Hermit: the system's clock and chance, executors behind
//! the walls of this machine, models over the network, keys out of the vault that was chosen, logs, and threads that
//! drive tasks. Whoever wants something of a store gets a [`Session`]: it owns the store, is attached to the process
//! that does, or only reads.
//!
//! **What it must never do.** Choose a vault by itself; write a secret, a passphrase or a goal into a log or an error;
//! lock a store for a command that only reads; hold the approval key longer than governance allows; let an injected
//! fault into a program that is not a debug build.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The store's folder belongs to its owner alone (0700), and no workspace shows it.
//! 2. A command of class `read` takes no lock, boots no gate and resumes nothing.
//! 3. Two processes on one store: one owns it, the other is attached to it or told who has it. When the owner has
//!    ended, whoever was attached takes its place.
//! 4. A secret leaves the vault for one request to the server it was asked for; redirects do not carry it on.
//! 5. A new owner first binds what came in and was not bound, then goes on with everything that can, unless a halt
//!    is in force.
//! 6. High and critical risk open the approval key for one decision; no key stays open beyond
//!    [`model::limits::APPROVAL_KEY_OPEN_MS_MAX`].
//! 7. A host that is told to end leaves off at a durable boundary and withdraws its address; one that is killed leaves
//!    an address that nobody believes.
//! 8. Locked keys stop nothing but what they sign: receipts wait and say so.
//!
//! **Where to start reading.** [`Session`], then [`Local`], then [`Home`].
#![allow(
    clippy::result_large_err,
    reason = "the wire's error is what people read; it is made once in a run, never in a loop"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "this room is where clock, chance, environment and disk enter the house"
)]

mod adoptions;
mod anchor_settings;
mod anchoring;
mod approval_key;
mod approval_signing;
mod attached_machines;
mod attached_person;
pub mod bitcoin_node;
pub mod bitcoin_wallet;
mod chance;
mod chat_threads;
mod chats;
mod clock;
mod clones;
mod compactor;
mod config;
pub mod control_socket;
pub mod cosign_client;
mod days;
mod disk_reserve;
mod doctor;
mod embeddings;
mod erase;
mod error;
mod executors;
mod faults;
mod fetch_client;
mod garbage;
mod guest_door;
mod guest_stream;
mod guests;
mod head_pin;
mod historian;
mod home;
mod hooks;
mod interrupt;
mod key_control;
mod key_rotation;
mod keys;
pub mod launch;
mod lent_secrets;
mod local;
pub mod log_witness;
mod logins;
mod logs;
mod machine_name;
mod mesh_settings;
mod mesh_thread;
pub mod model_box;
mod model_http;
mod model_sizes;
mod models;
mod models_tested;
mod notices;
mod older_store;
mod own_clocks;
mod own_source;
mod own_trials;
mod passphrases;
mod places;
mod prices;
mod process_memory;
mod program_group;
pub mod programs;
mod push_services;
mod push_thread;
mod pushes;
mod reanchor;
mod reasoners;
mod relay_client;
mod relay_looks;
mod run_stream;
mod run_stream_thread;
mod scheduler;
pub mod secrets;
pub mod security_key;
pub mod service;
mod session;
mod skin_signing;
mod small_artifacts;
mod state_roots;
pub mod successor;
mod surroundings;
mod task_drivers;
mod telemetry;
mod trainer;
pub mod trust;
pub mod updates;
mod watcher;

pub use acts::visible_path;
pub use api::Stands;
pub use api::page_approval::{Lasting, Offer, not_shown};
pub use approval_signing::{ApprovalSession, card_lines, signed_values};
pub use chance::{OsEntropy, SystemClock};
pub use clones::clone_if_asked;
pub use config::Config;
pub use disk_reserve::make_room;
pub use error::Error;
pub use executors::executor_is_at;
pub use gateway::squares;
pub use governance::standing::in_words as standing_in_words;
pub use head_pin::Pin;
pub use home::Home;
pub use interrupt::{Interrupts, hear_file_limits};
pub use kernel::command::erase::Erasure;
pub use key_rotation::Rotated;
pub use keychain::PASSPHRASE_CHARS_MIN;
pub use keys::{HostKeys, Known, Made, NewKeys, Unlock, VaultChoice, name_passphrase_file, try_keychain};
pub use ledger::verify::Break;
pub use local::Local;
pub use logs::log_file;
pub use model_http::Outbound;
pub use models::{model_form, provider_url};
pub use models_tested::server_named;
pub use older_store::{Older, older};
pub use own_source::{OwnSource, carry_source, unpack_source};
pub use passphrases::PassphraseOf;
pub use process_memory::{keep_private, keep_private_with_pages};
pub use reanchor::broken;
pub use reasoners::advice;
pub use relay_client::chain_at;
pub use session::{Need, Session, ToldBy};
pub use skin_signing::sign_skin;
pub use socket::relay;
