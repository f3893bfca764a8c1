//! The run API, version 1: what is said on its paths. A run is the user-visible life of one task.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::answer::AnswerCheck;
use crate::table::{answers, params};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use words::act::ActionClass;
use words::store::ToolKind;

/// The version of the contract that these shapes are.
pub const CONTRACT: &str = "1";

/// What a control may come to; bounded, and never an error of the server.
pub const CONTROL_STATUSES: [&str; 5] = ["accepted", "not-active", "unsupported", "conflict", "expired"];

/// How a message is taken that does not say how: as the contract has it.
fn queue() -> String {
    "queue".to_owned()
}

params! {
    /// `POST /v1/runs`.
    StartRun {
        /// The session to run in; the store's first one when absent or empty. One of this store, or any name of the
        /// client's own, which then names a session here.
        session_id: Option<String>,
        /// What is to be done; a playbook may leave it empty.
        #[serde(default)]
        message: String,
        /// Paths of files to hand over, absolute; each may stand in an object with a `path`.
        #[serde(default)]
        attachments: Vec<Attached>,
        /// Whether the message was spoken and written down by a machine.
        #[serde(default)]
        spoken: bool,
        /// The folder to work in, absolute. A run has one.
        workspace: Option<String>,
        /// Policy profile; with any other name, or none, the careful standard.
        profile: Option<String>,
        /// `playbook`, `openai` or `recorded`; with neither provider nor model, or a provider of the client's own, the
        /// host's standard.
        provider: Option<String>,
        /// A playbook's name, `URL#MODEL`, a file's path, or a whole address such as `openai:URL#MODEL`. Any other name
        /// is that of a model that runs on this machine, or asks for the host's standard.
        model: Option<String>,
        /// Names of the client's own; `standard` is the one set there is, and every run has it.
        #[serde(default)]
        toolsets: Vec<String>,
        /// Where it comes from, in a word of the client's own; never `system` or `scheduler`.
        source: Option<String>,
        /// Free, but for `title`, `idempotency_key` and `parameters` (of a playbook), which are used.
        metadata: Option<Map<String, Value>>,
        /// On whose behalf the client starts it: compared with the request, and told back when they agree.
        owner_fence: Option<Map<String, Value>>,
    }

    /// `POST /v1/runs/{run_id}/cancel`.
    CancelRun {}

    /// `POST /v1/runs/{run_id}/approval`.
    AnswerApproval {
        approval_id: String,
        /// `deny` is taken; everything else is a grant, which this API cannot give.
        choice: String,
    }

    /// `POST /v1/runs/{run_id}/clarifications/{clarify_id}/respond`.
    Respond {
        response: String,
        /// Whether the answer was spoken and written down by a machine.
        #[serde(default)]
        spoken: bool,
    }

    /// `POST /v1/runs/{run_id}/messages`.
    Message {
        message: String,
        /// `queue`, `steer`, `stop_and_send`; `queue` when absent.
        #[serde(default = "queue")]
        mode: String,
        /// Paths of files to hand over, absolute; each may stand in an object with a `path`.
        #[serde(default)]
        attachments: Vec<Attached>,
        /// The identifier of what it quotes: a message, question, approval, receipt, or the attempt whose last words are quoted.
        quotes: Option<String>,
        /// The passage of it, word for word; all of it when absent.
        passage: Option<String>,
        /// Whether the message was spoken and written down by a machine.
        #[serde(default)]
        spoken: bool,
    }

    /// `POST /v1/tools`: a server of tools, which a person is asked about.
    RegisterTools {
        /// Its name: a-z, 0-9 and `-`.
        server: String,
        /// Program and arguments; with `again`, none is as it was registered.
        #[serde(default)]
        command: Vec<String>,
        /// Where it is reached instead (Streamable HTTP).
        url: Option<String>,
        /// Hosts it may reach, as `name:port`.
        #[serde(default)]
        hosts: Vec<String>,
        /// Folders beside the system's that its program needs to read, absolute.
        #[serde(default)]
        reads: Vec<String>,
        /// What some of its tools are proposed to be, each a class by the tool's name.
        #[serde(default)]
        classes: BTreeMap<String, String>,
        /// Look at a registered server anew.
        #[serde(default)]
        again: bool,
        /// The folder it is started in, absolute.
        workspace: String,
    }

    /// `POST /v1/sessions/{session_id}/goal`.
    Goal {
        /// `set`, `pause`, `resume`, `clear`, `status`, `edit`.
        action: String,
        text: Option<String>,
        /// Whether the text was spoken and written down by a machine.
        #[serde(default)]
        spoken: bool,
    }
}

/// A file that is handed over.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Attached {
    /// Its path.
    Path(String),
    /// Its path, and what the client knows of it.
    Told {
        /// Absolute.
        path: String,
        /// Name, type, size: looked up here instead.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
}

answers! {
    /// What became of a start.
    RunStarted {
        run_id: String,
        session_id: String,
        /// The run's stream has the run's name.
        stream_id: String,
        status: String,
        /// Seconds since 1970.
        started_at: f64,
        cursor: String,
        active_controls: Vec<String>,
        /// In force, whatever name the client gave.
        profile: String,
        /// Who proposes.
        model: String,
        toolsets: Vec<String>,
        /// As it was given, with `accepted`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner_fence: Option<Map<String, Value>>,
    }

    /// How a run stands.
    RunStatus {
        run_id: String,
        session_id: String,
        /// `queued`, `running`, `awaiting_approval`, `awaiting_clarify`, `paused`, `cancelling`, `cancelled`,
        /// `failed`, `completed`, `expired`.
        status: String,
        last_event_id: Option<String>,
        /// How it ended, in a word of `status`.
        terminal_state: Option<String>,
        /// The event that ended it.
        terminal_event: Option<Value>,
        active_controls: Vec<String>,
        pending_approval_id: Option<String>,
        pending_clarify_id: Option<String>,
        /// It has not ended, waits for nobody, and nothing works on it now.
        interrupted: bool,
        /// What bears each sentence of its last words, once it has ended; absent where those are not a model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_check: Option<AnswerCheck>,
    }

    /// What became of a control.
    ControlResult {
        accepted: bool,
        /// One of [`CONTROL_STATUSES`].
        status: String,
        /// The last event of the run behind it.
        event_id: Option<String>,
        /// For people; holds nothing of the inside.
        safe_message: String,
        /// As `accepted`, for clients that look for it here.
        ok: bool,
        /// As `safe_message`, likewise.
        message: String,
    }

    /// The runs of a session, the newest first.
    SessionRuns {
        session_id: String,
        /// The newest that has not ended.
        active_run_id: Option<String>,
        runs: Vec<SessionRun>,
    }

    /// One of them.
    SessionRun {
        run_id: String,
        status: String,
        title: Text,
        /// Seconds since 1970.
        started_at: f64,
        ended_at: Option<f64>,
        pending_approval_id: Option<String>,
        pending_clarify_id: Option<String>,
    }

    /// `GET /v1/tools`: every tool there is.
    RegisteredTools { tools: Vec<RegisteredTool> }

    /// One of them.
    RegisteredTool {
        /// The name by which it is called: a model's word, or `playbook:NAME` as the `model` of a run.
        name: String,
        kind: ToolKind,
        /// The server that does it.
        server: Option<String>,
        /// Hermit's own version; of a server's tool, the digest of all that its server says it offers.
        version: String,
        /// The digest of what is said of it.
        sha256: String,
        /// What a call of it is, as a person said. None while nobody has, and of what Hermit does itself: that is judged by
        /// what each call names.
        class: Option<ActionClass>,
        callable: bool,
        /// Why it cannot be called now, and what helps.
        why_not: Option<String>,
        description: String,
        /// JSON Schema of its arguments.
        input_schema: Value,
        /// JSON Schema of its structured result.
        output_schema: Option<Value>,
    }

    /// What became of a registration: a run that waits for a person.
    ToolsProposed {
        server: String,
        /// The run that asks; it ends when a person has answered.
        run_id: String,
        /// `queued`, `running`, `awaiting_approval`, `failed`, …
        status: String,
        pending_approval_id: Option<String>,
        /// For people; holds nothing of the inside.
        safe_message: String,
    }

    /// What became of taking a server away.
    ToolsRemoved {
        server: String,
        /// Names by which its tools were called.
        tools: Vec<String>,
        /// For people; holds nothing of the inside.
        safe_message: String,
    }

    /// What this host understands, so that nothing is left to guess.
    Capabilities {
        contract: String,
        version: String,
        /// `METHOD /path` of everything there is.
        commands: Vec<String>,
        controls: Vec<String>,
        statuses: Vec<String>,
        control_statuses: Vec<String>,
        event_families: Vec<String>,
        message_modes: Vec<String>,
        goal_actions: Vec<String>,
        /// Commands that a message may be, behind a slash.
        slash_commands: Vec<String>,
        /// Answers to an approval that this API takes.
        approval_choices: Vec<String>,
        profiles: Vec<String>,
        providers: Vec<String>,
        playbooks: Vec<String>,
        toolsets: Vec<String>,
        sources: Vec<String>,
        /// Bytes of a body.
        body_bytes_max: u64,
        streams_max: u64,
    }
}
