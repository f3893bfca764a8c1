//! Fake clock, seeded chance, crash points, scripted reasoners, a person of its own. Only ever a dev-dependency.
//!
//! **What this room is for.** Everything a test needs to run the real kernel in a small world it controls.
//!
//! **What it must never do.** Be linked into a program, or make a fake so kind that a real fault stays unseen: the
//! ledger, the artifacts, the executors and the policy in here are the real ones.
//!
//! **Invariants.**
//! 1. The same seed gives the same identifiers, salts and times.
//! 2. Whatever the person of this kit signs says so: its surface is `test`.
//!
//! **Where to start reading.** [`World`].

mod adopting;
mod anchors;
mod authenticator;
mod authority;
pub mod blocks;
mod chance;
mod chat;
mod embedding;
mod executors;
mod faults;
mod keys;
mod messenger;
mod open_files;
mod person;
#[cfg(target_os = "linux")]
pub mod pty;
mod push;
mod reasoners;
mod security_key;
mod server;
mod spoken;
mod tool_servers;
mod waiting;
mod world;

pub use adopting::TestAdopting;
pub use anchors::{AuthorityMood, CalendarMood, TestCalendar, TestChain, WalletMood, time_authority};
pub use authenticator::Authenticator;
pub use authority::{Authority, got};
pub use chance::{FakeClock, SeededEntropy};
pub use chat::{Chat, Large};
pub use embedding::{Embedding, Mood};
pub use executors::{Oracle, RealExecutors};
pub use faults::{Crash, Edge, Mode, Script};
pub use keys::{TestKeys, cheap_keys};
pub use messenger::{ChatMood, ChatService};
pub use open_files::OpenFiles;
pub use person::Person;
pub use push::{Subscribed, is_signed};
pub use reasoners::{Model, Reasoners, Say};
pub use security_key::{PlainKey, Touch};
pub use server::{Answers, Heard, PlainWeb, Server};
pub use spoken::Spoken;
pub use tool_servers::{LyingTools, ManyTools, Reached, one_tool};
pub use waiting::{Halted, Killed, Lines, Stop, TO_THE_END, comes, ends, finished, output, stop};
pub use world::{Listener, World, base64, change, command, done, fetch, look, say, write};
