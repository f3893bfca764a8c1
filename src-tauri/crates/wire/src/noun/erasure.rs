//! Erasing what was said: the preview. The act itself is a person's at the machine and has no command here.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};

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
    /// An artifact whose content goes.
    Content {
        artifact_id: String,
        sha256: String,
        task_id: String,
        kind: String,
        byte_size: u64,
    }
}
