//! The list of tools, and what comes from it.

use serde::{Deserialize, Serialize};

/// Makes the [`Action`] from the list.
macro_rules! tools {
    ($($(#[$meta:meta])* $tool:ident = $tag:literal,)+) => {
        /// What a request asks to be done: a tool with its arguments. Stored with the tool's name as `tool` beside them.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "tool")]
        pub enum Action {
            $($(#[$meta])* #[serde(rename = $tag)] $tool(crate::$tool),)+
        }

        impl Action {
            /// The tool's name, as in the stored tag.
            pub const fn tool(&self) -> &'static str {
                match self { $(Self::$tool(_) => $tag,)+ }
            }
        }
    };
}

tools! {
    /// Look at files.
    Observe = "observe",
    /// Change files.
    Change = "change",
    /// Run a program under the sandbox.
    Command = "command",
    /// Ask a server over HTTP or HTTPS, once.
    Fetch = "fetch",
    /// Change version control: a commit, or one branch or tag.
    Vcs = "vcs",
    /// Promote a claim to durable memory.
    Remember = "remember",
    /// Undo the effects of one receipt or of many.
    Rollback = "rollback",
}
