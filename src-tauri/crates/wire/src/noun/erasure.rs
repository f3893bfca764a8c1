//! Erasing what was said: the preview. The act itself is a person's at the machine and has no command here.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::artifact::ArtifactKind;

params! {
    /// Exactly one of the three.
    Plan {
        /// The digest of one value, as `$sd` or `erased` shows it.
        value: Option<String>,
        /// All values of an artifact, and its content.
        artifact: Option<String>,
        /// Everything that was said in a task, and content that repeats it.
        task: Option<String>,
    }
}

answers! {
    /// What would be erased.
    Planned {
        values: Vec<Value>,
        contents: Vec<Content>,
        /// Bytes that only a request of these leads to, such as what was to be written.
        written: Vec<Written>,
        /// Content that stays, because another task has the same bytes; here it is only let go.
        kept: Vec<Held>,
        tasks: Vec<String>,
        /// Words to read before it is done.
        warnings: Vec<String>,
    }
    /// One value.
    Value {
        digest: String,
        task_id: String,
        /// The event's type, and where in it the value stands.
        event_type: String,
        pointer: String,
        text: Text,
    }
    /// Bytes that are no artifact of their own.
    Written { sha256: String, byte_size: u64 }
    /// Content, and a task that has it as well.
    Held { sha256: String, task_id: String }
    /// An artifact whose content goes.
    Content {
        artifact_id: String,
        sha256: String,
        task_id: String,
        kind: ArtifactKind,
        byte_size: u64,
    }
}
