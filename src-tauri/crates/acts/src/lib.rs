//! What can be done: one file for each tool with all that is known of it, and the typed request around it.
//!
//! # What this room is for
//!
//! A tool is one file here: its arguments, and as [`Tool`] everything that policy, card, receipt, standing grants and
//! lists say of an act of it. The list [`each_tool`] names each tool once; from it come the [`Action`] that requests
//! hold, and wherever else every tool must be met.
//!
//! # What it must never do
//!
//! Read a clock, a disk or the network; decide; believe what a proposer says about its own act.
//!
//! # Invariants
//!
//! 1. A tool is told apart by its tag alone; the bytes of a request of every version that landed keep their meaning.
//! 2. What is said of an act follows from its typed arguments, and of a staged command from what its run came to.
//! 3. Whatever a tool does not say of itself is the gravest answer, never the mildest.
//!
//! # Where to start reading
//!
//! [`Tool`], then one tool: [`Remember`] is the shortest.

/// The list of tools: what each is for, its type, and its name in requests. Hands the rows to the macro that is named.
///
/// A new tool is a file of this room, a row here, and a file of `effects/src/tools` with what carries it out.
#[macro_export]
macro_rules! each_tool {
    ($then:ident) => {
        $then! {
            /// Look at files.
            observe::Observe = "observe",
            /// Change files.
            change::Change = "change",
            /// Run a program under the sandbox.
            command::Command = "command",
            /// Ask a server over HTTP or HTTPS, once.
            fetch::Fetch = "fetch",
            /// Change version control: a commit, or one branch or tag.
            vcs::Vcs = "vcs",
            /// Promote a claim to durable memory.
            remember::Remember = "remember",
            /// Undo the effects of one receipt or of many.
            rollback::Rollback = "rollback",
            /// Call a tool of a server.
            call::Call = "call",
            /// Change what Hermit may do: tools of servers, a person's rules of policy, and trusted skills.
            register::Register = "register",
            /// Let the agent of another program work in a staged view.
            guest::Guest = "guest",
            /// Send a message through a gateway.
            message::Message = "message",
            /// Ask a clock elsewhere to stamp a head of the log.
            anchor::Anchor = "anchor",
            /// Publish who this instance is.
            publish::Publish = "publish",
            /// Try a change of Hermit itself, which changes nothing.
            try_change::TryChange = "try_change",
        }
    };
}

mod adoption;
mod anchor;
mod arguments;
mod call;
mod change;
mod command;
mod counts;
mod fetch;
pub mod folders;
mod gateway;
mod guest;
pub mod items;
mod line;
mod login;
mod message;
mod money;
mod observe;
mod packet;
mod playbook;
pub mod programs;
mod publish;
mod register;
mod remember;
mod request;
mod rollback;
mod rules;
mod schedule;
pub mod sensitive_paths;
pub mod shell;
mod skill;
mod skin;
mod soul;
mod tense;
mod tool;
mod tools;
mod try_change;
mod vcs;
mod visible;

pub use anchor::Anchor;
pub use arguments::{as_written, file, files, inside, said};
pub use call::{Call, fetcher};
pub use change::Change;
pub use command::{Command, parts as command_parts};
pub use counts::Counts;
pub use fetch::Fetch;
pub use guest::{Guest, unreported};
pub use items::changed_paths;
pub use line::{Line, LineKind, count, place, short};
pub use message::Message;
pub use money::money;
pub use observe::{Observe, read_path};
pub use packet::ApprovalPacket;
pub use publish::Publish;
pub use register::Register;
pub use remember::Remember;
pub use request::{ActionRequest, resources_of};
pub use rollback::Rollback;
pub use rules::{drops_dual, rule_in_words, rules_apart};
pub use tense::{VERBS, doing, done};
pub use tool::{INVALIDATE_MEMORY, Part, RESTORE_BEFORE_IMAGES, Tool};
pub use tools::Action;
pub use try_change::TryChange;
pub use vcs::Vcs;
pub use visible::{visible, visible_lossy, visible_path};
