//! The nouns of Hermit: every object of HK-8, every status list and transition table of HK-12,
//! the registry of events, and every limit.
//!
//! What this room must never do: read a clock, draw a random number, touch a disk, or decide.
//! Time and chance enter through [`chance::Clock`] and [`chance::Entropy`].
//!
//! Invariants
//! 1. An identifier parses or fails; it never carries another kind's prefix.
//! 2. A status changes only along its table; the tables are the only place that says how.
//! 3. An event body, once written, keeps its bytes and its meaning for ever; a change is a new version.
//! 4. Free text, paths and outputs inside an event or receipt are [`seal::disclose::Sensitive`].
//!
//! Start reading at [`event`], then [`action`], then [`transition`].

pub mod action;
pub mod adoption;
pub mod anchor;
pub mod answer;
pub mod approval;
pub mod artifact;
pub mod attempt;
pub mod audit;
pub mod body;
pub mod chance;
pub mod context;
pub mod criterion;
pub mod decision;
pub mod envelope;
pub mod event;
pub mod fault;
pub mod file_name;
pub mod gateway;
pub mod grant;
pub mod guest;
pub mod id;
pub mod identity;
pub mod ingress;
pub mod json;
pub mod knowledge;
pub mod launch;
pub mod limits;
pub mod login;
pub mod look;
pub mod mesh;
pub mod passkey;
pub mod path;
pub mod playbook;
pub mod policy;
pub mod principal;
pub mod proposal;
pub mod reach;
pub mod receipt;
pub mod resource;
pub mod sampling;
pub mod schedule;
pub mod secret;
pub mod server_part;
pub mod skill;
pub mod skin;
pub mod slot;
pub mod standing;
pub mod state_root;
pub mod task;
mod terms;
pub mod tool_server;
pub mod transition;
pub mod vcs;
pub mod visible;
pub mod web;
pub mod witness;

pub use body::Body;
pub use chance::{Clock, Entropy, UnixMs};
pub use event::Event;
pub use id::*;
pub use path::RelPath;
pub use resource::ResourceId;
pub use seal::Digest;
pub use seal::disclose::{Sensitive, concealed_in};
pub use slot::Slot;
pub use words::names;
pub use words::number::grouped;
pub use words::time::lasting;

/// What can be wrong with a value that comes from outside this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not an identifier of the expected kind.
    #[error("`{text}` is not a {kind} identifier, which looks like `{prefix}_` and 32 hexadecimal digits")]
    Id {
        /// What was given.
        text: String,
        /// The noun expected.
        kind: &'static str,
        /// The prefix expected.
        prefix: &'static str,
    },
    /// The text is none of the names of a closed list.
    #[error(transparent)]
    Name(#[from] words::UnknownName),
    /// The path is absolute, climbs out, or holds an empty part.
    #[error("`{0}` is not a path inside a workspace; give it relative, without `..`")]
    Path(String),
    /// The text is not a resource identifier.
    #[error("`{0}` is not a resource, such as `file:WORKSPACE/path` or `host:name:443`")]
    Resource(String),
    /// A status may not follow another.
    #[error("a {noun} that is {from} cannot become {to}")]
    Transition {
        /// Task, step or attempt.
        noun: &'static str,
        /// The status it has.
        from: &'static str,
        /// The status asked for.
        to: &'static str,
    },
    /// Stored bytes are no event of a version this program knows.
    #[error("event type `{event_type}` version {version} is unknown; open this store with a newer Hermit")]
    UnknownEvent {
        /// The type named by the bytes.
        event_type: String,
        /// The version named by the bytes.
        version: u32,
    },
    /// Stored bytes do not have the shape their type says.
    #[error("malformed {what}: {why}")]
    Malformed {
        /// Which object.
        what: &'static str,
        /// What was wrong.
        why: String,
    },
}
