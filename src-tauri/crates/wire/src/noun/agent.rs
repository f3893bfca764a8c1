//! Agents of other programs, which act through Hermit call by call. Nothing here grants, configures or erases.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use serde_json::Value;
use words::task::CallStatus;

params! {
    /// A program that wants to work in a folder, by its own word.
    Open {
        /// Its name.
        client: String,
        #[serde(default)]
        version: String,
        /// The folder to work in, absolute.
        workspace: String,
        /// Policy profile; the careful standard when absent.
        profile: Option<String>,
        /// The same key twice is the same task.
        idempotency_key: Option<String>,
    }
    /// Which tools there are.
    Tools {
        /// The folder to work in, absolute: what is said of a tool may hold in one folder alone.
        #[serde(default)]
        workspace: Option<String>,
    }
    /// One call of a tool.
    Call {
        task: String,
        /// The caller's own key for it: the same key is the same call. Without one a call is known by what it says.
        key: Option<String>,
        tool: String,
        arguments: Value,
        /// Keys of earlier calls whose results the caller has received.
        #[serde(default)]
        seen: Vec<String>,
        /// How long to wait for its end, at most 2000.
        wait_ms: Option<u64>,
    }
    /// A call that nobody waits for any more.
    Stop {
        task: String,
        /// The key of the call.
        key: String,
    }
}

answers! {
    /// The task that the calls belong to.
    Opened {
        task_id: String,
        /// The folder, for people.
        workspace: String,
        profile: String,
        /// Whether it was open before.
        again: bool,
    }
    /// What can be called: the tools that a model is told of.
    ToolList { tools: Vec<ToolSpec> }
    /// One tool.
    ToolSpec {
        name: String,
        description: String,
        /// A JSON Schema of its arguments.
        parameters: Value,
    }
    /// How a call stands.
    Called {
        status: CallStatus,
        /// Under which the call is known.
        key: String,
        /// What came of it, or what its caller can do, in plain lines.
        text: Vec<String>,
        /// What a person has said to the task since the call before.
        said: Vec<String>,
        is_error: bool,
        /// The act in one line.
        summary: String,
        receipt_id: Option<String>,
        /// The card that a person is shown.
        approval_id: Option<String>,
        /// The question that a person is asked.
        clarification_id: Option<String>,
    }
}
