//! Tool executors: file and command executors, sandbox, undo, observation.
//!
//! # What this room is for
//!
//! It does what has been authorised, beneath one folder, and tells the truth about what happened: reads, change
//! sets, commands behind walls, the look at the world that witness and recovery need, and the plan of an undo.
//!
//! # What it must never do
//!
//! Decide whether something may be done; touch anything an [`Authorization`] does not name; run something again
//! to find out whether it ran.
//!
//! # Invariants
//!
//! 1. Nothing changes without an [`Authorization`], which is used up by the call; its digest and its resource
//!    scope are checked again at every item (HK-6.2-2, HK-8.12-5).
//! 2. A path is itself: no symbolic link on the way to it is ever followed, so what policy judged is what is
//!    touched. A link is named, with what it points to.
//! 3. A file has its old bytes or its new bytes, never a mixture, whatever breaks.
//! 4. Bytes a person wrote in between are never lost: a prior that does not hold is a conflict, found before or
//!    undone after the exchange, and nothing is written for that item.
//! 5. A change set stops at its first failure and says for each item whether it was done. It says so when all of it is on
//!    the disk: bytes are synced before they are placed, folders once for many items, the one that gets a file before the
//!    one that gives it, and what an item builds on before it begins.
//! 6. After a crash [`Executors::settle`] looks and never runs; what it cannot tell is `unknown` (HK-19.4).
//! 7. A command sees the lease root, a private home and system folders, and leaves no process behind where the
//!    machine can promise it; which walls stood is in the outcome.
//! 8. A staged command cannot reach the folder itself: it works on a layer or a copy with the network held, and
//!    only [`Executors::perform`], with an authorization of exactly those bytes, carries them over (governance.md 5). Where
//!    nothing isolates it, nothing is staged.
//!
//! 9. A command with the network has a network of its own, in which there is only our proxy: it reaches the hosts that the
//!    grant names, at addresses that were checked, and each connection is in the outcome. It sees no secret, only a
//!    sentinel.
//!
//! 10. A request to a server goes once, to the one address that was checked. It is written down before it is sent and its
//!     answer before it is told; what may have arrived and was not answered is `unknown`, never sent again.
//!
//! 11. Version control moves one ref, by compare-and-swap, with plumbing alone and behind the walls; where it is afterwards
//!     is read from the repository's own files.
//!
//! 12. A server of tools lives behind the walls of a command, sees the folder and changes nothing in it, and is ended with
//!     all it started. A tool is called only while its server says of it what it said when a person registered it; what
//!     may have been called and was not answered is `unknown`, unless a person said that it may be repeated.
//!
//! 13. A message goes to the chat and the hosts that the grant names, with a key that is the same for each repeat of it; one that
//!     was interrupted is sent again under the same grant, and its receipt says what the chat may show.
//!
//! 14. A clock elsewhere is given 32 bytes, and what it answers is kept only where it is of them and holds; a transaction is looked
//!     for before it is made, and one that was interrupted is never made anew.
//!
//! 15. What is published goes to the relays that the grant names, as the exact events that were approved; each is told by itself.
//!
//! 16. A change of Hermit that is tried is tried once for each act, and changes nothing; what was interrupted is looked for.
//!
//! # Where to start reading
//!
//! [`Executors`], then `tools.rs` and one tool, `change::perform`, `change::settle`, `undo`, `command::run`, `stage`, `http::fetch`, `vcs::perform`.
#![allow(clippy::disallowed_methods, reason = "this room starts commands and limits how long they run")]

mod anchoring;
mod change;
mod clocks;
mod command;
mod egress_proxy;
mod error;
mod executors;
mod http;
pub mod hunks;
mod merge;
mod messenger;
mod outcome;
mod project;
mod reads;
mod relays;
mod sandbox;
mod server;
mod skills;
mod snapshot;
mod stage;
mod system;
mod tools;
mod trials;
mod undo;
mod vcs;
mod workspace;

pub use anchoring::calendars_of;
pub use change::settle::Settled;
pub use clocks::{AnchorCame, Clocks, NoClocks, OpReturnSeen, SeenBlock, Sent};
pub use command::process_limits::{FamilyLooks, FamilyUse};
pub use command::spool::{Needed, Spool, Transcript, TranscriptState};
pub use egress_proxy::{NoSecrets, Secrets};
pub use error::Error;
pub use executors::Executors;
pub use governance::Authorization;
pub use http::{Call, NoReply, NoWeb, Reply, Web};
pub use messenger::{Delivered, Messenger, NoMessenger, Undelivered};
pub use outcome::{
    Asking, BeforeImage, Contents, Kept, NO_ANSWER, Outcome, Output, Over, Progress, Sampled, Sampling,
    Standing,
};
pub use project::remote;
pub use relays::{NoRelays, Published, Relays};
pub use sandbox::{CLONE_HOME, CloneHome, CloneView, Escapes, Sandbox};
pub use server::{
    Digests, Ended, Endpoint, Heard, Lone, NoToolServers, Offers, Pipes, ServerSessions, ToolCall, ToolReply,
    ToolServers, ToolSession, Unspoken, dialled, words_of,
};
pub use skills::{FoundSkill, FoundSkills, SkillBook, SkillBytes, SkillPlaces, check_skill, skill_body};
pub use snapshot::check_globs;
pub use stage::{GuestDoor, NoGuestDoor, OpenDoor, Staging, Unstaged, difference};
pub use system::local_sockets::{LocalListener, LocalStream};
pub use trials::{AskedTrial, NoTrials, TrialCame, Trials};
pub use undo::{Conflict, ConflictItem, Plan, plan_rollback, plan_rollback_keeping, plan_undo};
pub use vcs::Head;
pub use workspace::Workspace;

/// Bytes of one file given back by one `read`: a larger file is given in part and says so.
pub const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Matches that one `search` returns.
pub const SEARCH_MATCHES_MAX: usize = 1_000;
/// Bytes of one matching line that are shown.
pub const SEARCH_LINE_BYTES_MAX: usize = 1_000;
/// Files that one `hash` of a folder covers.
pub const HASH_ENTRIES_MAX: usize = model::limits::LIST_ENTRIES_MAX;
/// Entries of the lease root that are compared before and after a command.
pub const MANIFEST_ENTRIES_MAX: usize = 200_000;
/// Bytes of one file whose content is kept aside before a command, so that its change can be undone.
pub const COMMAND_KEEP_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of all files kept aside before a command.
pub const COMMAND_KEEP_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Files kept aside before a command.
pub const COMMAND_KEEP_FILES_MAX: usize = 20_000;
/// Bytes of all files that a staged command may leave behind.
pub const STAGE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Bytes on disk that the view of a staged command may hold while it runs, with what ignore rules leave out.
pub const STAGE_VIEW_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Entries that the view of a staged command may hold while it runs.
pub const STAGE_VIEW_ENTRIES_MAX: u64 = 400_000;
/// Folders in each other that the view of a staged command may hold: as many as a path has room for.
pub const STAGE_VIEW_DEPTH_MAX: usize = model::limits::PATH_BYTES_MAX / 2;
/// Bytes of all paths of the folders in the view of a staged command.
pub const STAGE_VIEW_PATH_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of a folder that is copied to stage a command in, where no layer can be put over it.
pub const STAGE_COPY_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Entries of a folder that is copied to stage a command in.
pub const STAGE_COPY_ENTRIES_MAX: usize = 20_000;
/// Bytes of one side of a difference that is shown line by line.
pub const STAGE_TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// How often a command is staged for one act when the host ends each time while it runs.
pub const STAGE_HOSTS_MAX: u32 = 3;
/// How often a command is staged again because somebody changed the same files while it ran.
pub const STAGE_TRIES_MAX: u32 = 3;
