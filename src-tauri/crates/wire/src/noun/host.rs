//! The process that holds the store, and what waits for a person.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::store::HostRole;
use words::task::DriveState;

params! {
    /// Nothing to say.
    Status {}
    /// Nothing to say.
    Doctor {}
    /// Nothing to say.
    Resume {}
    /// A task, and how long to wait at most.
    Wait {
        task: String,
        /// Milliseconds; a host waits for a second at most.
        #[serde(default)]
        patience_ms: u64,
    }
}

answers! {
    /// Who, and how it stands.
    HostStatus {
        /// What this process is to the store.
        role: HostRole,
        /// The process that holds it, when one does.
        held_by: Option<Holder>,
        store_id: String,
        dir: String,
        version: String,
        epoch: u64,
        halted: bool,
        halt_reason: Option<Text>,
        waiting: Waiting,
    }
    /// A process that holds the store.
    Holder { pid: u32, since: i64, address: Option<String> }
    /// How much waits.
    Waiting {
        approvals: u64,
        questions: u64,
        unknown_effects: u64,
        undecided_messages: u64,
        /// Schedules that paused themselves.
        paused_schedules: u64,
        /// Gateways that paused themselves.
        paused_gateways: u64,
        running: u64,
        /// Of the approvals and questions those of work that Hermit began by itself: they interrupt nobody.
        quiet: u64,
    }
    /// What was found.
    Facts {
        facts: Vec<Fact>,
        /// The service of the system that keeps work going; none where there can be none.
        service: Option<ServiceStands>,
        /// To whom telemetry is sent; none while it is off.
        telemetry: Option<TelemetryStands>,
        /// How updates of Hermit stand with this store; none where that cannot be read.
        update: Option<UpdateStands>,
    }
    /// How the service of the system stands with this store. Only a terminal installs and removes it.
    ServiceStands {
        state: ServiceState,
        /// The same in words.
        says: String,
        /// What is typed at a terminal to have it run; to take it away, where it runs; to look, where neither helps.
        command: String,
    }
    /// What a collector of telemetry was told, without contents. Only `config.json` names one.
    TelemetryStands {
        /// The collector's address.
        otlp: String,
        /// Spans that it took.
        sent: u64,
        /// Spans that it refuses.
        refused: u64,
        /// Requests that failed.
        failures: u64,
        /// What went wrong last, where nothing went well since.
        failing: Option<String>,
    }
    /// How updates of Hermit stand with this store. Only a person at a terminal updates it.
    UpdateStands {
        /// Version of the program that is started for this store.
        at_work: String,
        /// When a person updated to it; none where it is the installed one.
        since: Option<i64>,
        /// The newest update, where it is not started any more, and why.
        left: Option<String>,
        /// How the app of that version stands, in words; none where no update brought one.
        app: Option<String>,
        /// Version of the release that was checked last, where it is newer and still there.
        at_hand: Option<String>,
        /// What is typed at a terminal: to update to that release, else to look.
        command: String,
    }
    /// One fact.
    Fact {
        name: String,
        /// `fine`, `note`, `trouble`.
        level: Level,
        value: String,
        /// What to do about it; empty when nothing is to be done.
        advice: String,
    }
    /// Tasks that go on.
    Resumed { tasks: Vec<String> }
    /// A host that others attach to, as `hermit serve` tells it.
    Serving {
        pid: u32,
        /// `127.0.0.1:PORT`.
        address: String,
        /// A link for a browser, which works once and for ten minutes.
        url: String,
        /// Whether it is the process that says so.
        here: bool,
        /// Interrupted tasks that go on.
        tasks: Vec<String>,
    }
    /// How a task stands with the process that drives it.
    Stood {
        task_id: String,
        stands: DriveState,
        /// Why it broke off.
        error: Option<crate::Error>,
    }
}

/// How much a fact matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// Something does not work.
    Trouble,
}

/// How the service of the system stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    /// It is not installed.
    Absent,
    /// Something is there under its name that Hermit did not write.
    Foreign,
    /// It is installed for another store.
    Elsewhere,
    /// It runs.
    Runs,
    /// It is installed and does not run.
    Ended,
    /// What it starts with is not there any more.
    Broken,
    /// The system cannot be asked.
    Unknown,
}
