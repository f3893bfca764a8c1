//! The table of commands, parameters, answers, topics; TypeScript comes from here.
//!
//! **What this room is for.** Everything that a surface may ask of Hermit and everything it gets back, as plain
//! serde structs: one table, [`with_commands!`], from which the dispatch of `api`, the routes of `gateway`, the
//! typed calls of `cli` and shell, and later the TypeScript of the UI are made.
//!
//! **What it must never do.** Know a domain type but the closed lists of `words`, a database, a key or a socket. Carry anything that could grant:
//! the only yes that fits through here is an envelope that a person signed somewhere else.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A command has one name, one parameter struct, one answer struct, one access class, and stands in the table once.
//! 2. Parameters refuse unknown fields; answers may grow.
//! 3. Identifiers and digests are strings, times are milliseconds since 1970, numbers stay below 2^53.
//! 4. A list has a cursor and a cap; `next` is absent at its end.
//! 5. An error has a code of a closed list, and every code has an exit code.
//!
//! **Where to start reading.** [`mod@table`], then a noun such as [`task`], then [`Error`].

mod error;
mod notice;
mod noun;
mod page;
pub mod runs;
pub mod table;
mod text;

pub use error::{Code, Error, exit};
pub use notice::{Notice, Topic, topics_of};
pub use noun::{
    adoptions, agent, anchors, answer, approvals, artifacts, changes, context, conversations, erasure, gate,
    gateways, grants, guests, host, identity, keys, knowledge, ledger, lineage, mesh, models, passkeys,
    playbooks, policy, proof, receipts, schedules, secrets, skills, skins, store, successor, task,
    task_events, tools, trace, training, version, workspaces,
};
pub use page::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, Page};
pub use table::{Access, COMMANDS, Caller, Command, Info, PLACES, Use, find, places};
pub use text::{PartOf, PersonSigned, Text, Verdict, in_folder, who_asks};
pub use words::time::utc;
