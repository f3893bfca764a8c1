//! The will: the only writer. It decides, appends, projects, and only then acts.
//!
//! **What this room is for.** A goal becomes a task, a task's step an attempt, an attempt's turn a context pack, a
//! proposal, a verdict, an approval, a grant, a dispatch, an effect, an observation, a receipt. Each link is
//! committed before the next begins, and every one of them is found again after a crash.
//!
//! **What it must never do.** Act before its intent is on disk; run an effect again whose outcome is not known;
//! believe a projection where authority is concerned; let anything but a person's signature grant.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Nothing is executed but by [`effects`] executors with an [`governance::Authorization`], after a commit that holds
//!    the dispatch, the grant it consumes and the gate's entries (HK-6.2, KS-3.4).
//! 2. What comes next is a pure function of the folded events: [`next::next`].
//! 3. One driver per task, one writer per store (HK-20.1-1).
//! 4. An approval pauses the same attempt, and the same attempt goes on (HK-11.5).
//! 5. What was approved is what runs: any drift asks again (HK-16.8).
//! 6. Dispatched and not observed is looked at, never repeated (HK-19.3).
//! 7. An important act is complete only with its receipt (HK-6.4-1).
//! 8. A halt outlives the process (recovery.md 1).
//!
//! **Where to start reading.** [`next`], then [`drive`], then [`command`].

pub mod adoption_registry;
pub mod anchor_registry;
pub mod command;
mod decide;
pub mod drive;
mod error;
mod folders;
mod gatepass;
pub mod gateway_registry;
pub mod identity_registry;
mod kernel;
pub mod keyring;
pub mod logins;
mod meaning;
pub mod mesh_registry;
pub mod mesh_schedules;
pub mod next;
mod open;
pub mod passkey_registry;
pub mod playbook_registry;
pub mod ports;
pub mod push_registry;
mod query;
mod redaction;
pub mod schedule_registry;
pub mod sender;
pub mod skill_registry;
pub mod skin_registry;
pub mod state;
mod store;
pub mod tool_registry;
pub mod training_registry;
pub mod trial_registry;
mod tx;
pub mod workspace;
mod writeup;

pub use drive::{CallResult, CallStanding, DriveOutcome, Proposed, Taken};
pub use effects::{FoundSkill, FoundSkills, SkillBook, SkillBytes, check_skill, hunks};
pub use error::Error;
pub use kernel::{Kernel, Ports};
pub use knowledge::pack_tokens;
pub use meaning::VectorsMade;
pub use next::{Next, Waiting};
pub use open::VERSION;
pub use store::{Conversation, StoreState};
