//! The run API, version 1: what is said on its paths. A run is the user-visible life of one task.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use serde_json::{Map, Value};

/// The version of the contract that these shapes are.
pub const CONTRACT: &str = "1";

/// What a control may come to; bounded, and never an error of the server.
pub const CONTROL_STATUSES: [&str; 5] = ["accepted", "not-active", "unsupported", "conflict", "expired"];

params! {
    /// `POST /v1/runs`.
    StartRun {
        /// The session to run in; the store's first one when absent.
        session_id: Option<String>,
        /// What is to be done; a playbook may leave it empty.
        #[serde(default)]
        message: String,
        /// Paths of files to hand over, absolute.
        #[serde(default)]
        attachments: Vec<String>,
        /// The folder to work in, absolute.
        #[serde(default)]
        workspace: String,
        /// Policy profile; the careful standard when absent.
        profile: Option<String>,
        /// `playbook`, `openai` or `recorded`; with neither provider nor model the host's standard.
        provider: Option<String>,
        /// A playbook's name, `URL#MODEL`, a file's path, or a whole address such as `openai:URL#MODEL`.
        model: Option<String>,
        /// Sets of tools; `standard` is the one there is.
        #[serde(default)]
        toolsets: Vec<String>,
        /// Where it comes from: `run_api`, `app`, `cli`, `webhook`, `scheduler`, `mcp`.
        source: Option<String>,
        /// Free, but for `title`, `idempotency_key` and `parameters` (of a playbook), which are used.
        #[serde(default)]
        metadata: Map<String, Value>,
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
    Respond { response: String }

    /// `POST /v1/runs/{run_id}/messages`.
    Message {
        message: String,
        /// `queue`, `steer`, `stop_and_send`.
        mode: String,
    }

    /// `POST /v1/sessions/{session_id}/goal`.
    Goal {
        /// `set`, `pause`, `resume`, `clear`, `status`, `edit`.
        action: String,
        text: Option<String>,
    }
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
    }

    /// How a run stands.
    RunStatus {
        run_id: String,
        session_id: String,
        /// `queued`, `running`, `awaiting_approval`, `awaiting_clarify`, `paused`, `cancelling`, `cancelled`,
        /// `failed`, `completed`, `expired`.
        status: String,
        last_event_id: Option<String>,
        /// The event that ended it.
        terminal_state: Option<Value>,
        active_controls: Vec<String>,
        pending_approval_id: Option<String>,
        pending_clarify_id: Option<String>,
        /// It has not ended, waits for nobody, and nothing works on it now.
        interrupted: bool,
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
