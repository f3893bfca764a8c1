//! Schedules: previewed, put to a person, paused, resumed, removed. Nothing here keeps one.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use crate::task::{Budget, Reasoner};
use serde::{Deserialize, Serialize};
use words::policy::Profile;
use words::schedule::{
    CatchUpKind, FileChanges, Overlap, PassedOver, RunEnd, ScheduleState, TriggerKind, Unseen,
};
use words::task::RunStatus;

/// What bounds the runs of a schedule, beside the budget of each; what is absent is not bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// What becomes of a time while the run before is not over; it is skipped when absent.
    pub overlap: Option<Overlap>,
    /// Minutes that its runs may begin later than their time, at most 60.
    pub jitter_minutes: Option<u32>,
    /// Runs that begin within any hour, at most 20.
    pub per_hour_max: Option<u32>,
    /// Minutes after which a run has expired.
    pub ends_after_minutes: Option<u32>,
    /// The hours in which a run begins, such as `8-18`, by the clock of the time zone.
    pub hours: Option<String>,
    /// Runs that begin in a day.
    pub day_runs_max: Option<u32>,
    /// Turns of a model that the runs of a day use together.
    pub day_iterations_max: Option<u32>,
    /// Tokens in and out, as well.
    pub day_tokens_max: Option<u64>,
    /// Cost, in millionths of a US dollar, as well.
    pub day_cost_micros_max: Option<u64>,
    /// Minutes of work, as well.
    pub day_minutes_max: Option<u32>,
}

params! {
    /// Nothing to say.
    List {}
    /// One schedule, with what it did and does next.
    Show { name: String }
    /// A time, or what else is waited for, as a person says it.
    Preview {
        /// Plain English, such as `every weekday at 8:30`, a cron expression, or what else it waits for, such as `when a file lands
        /// here`, `when main moves`, `after morning`.
        said: String,
        /// The time zone, by its name; that of the host when absent.
        zone: Option<String>,
    }
    /// The schedule that a person is asked about.
    Keep {
        /// Its name; one that stands is changed. When absent, one is made that none has yet.
        name: Option<String>,
        /// The time, or what else it waits for, as in a preview.
        said: String,
        zone: Option<String>,
        /// Of what waits for files: which, as globs below the folder, beside those that the words name.
        #[serde(default)]
        globs: Vec<String>,
        /// Of what waits for files: seconds that one must have been left alone; 2 when absent.
        quiet_seconds: Option<u32>,
        /// What is to be done each time; a playbook may leave it empty.
        #[serde(default)]
        goal: String,
        /// The folder to work in, absolute.
        workspace: String,
        /// Who proposes: a model or a playbook.
        #[serde(default)]
        reasoner: Reasoner,
        /// What becomes of missed times; the newest is made up for when absent.
        catch_up: Option<CatchUpKind>,
        /// With `newer`: how many at most.
        catch_up_most: Option<u32>,
        /// Minutes after which a time is too late in any case.
        grace_minutes: Option<u32>,
        /// The policy profile of its tasks; `local_edit_allowed` when absent.
        profile: Option<String>,
        /// What each run may spend.
        #[serde(default)]
        budget: Budget,
        /// What bounds its runs beside that.
        #[serde(default)]
        limits: Limits,
        /// The conversation that its tasks report into.
        conversation: Option<String>,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The schedule whose times pass from now on.
    Pause { name: String, reason: Option<String> }
    /// The schedule that fires again.
    Resume { name: String }
    /// The schedule that is removed.
    Remove { name: String, reason: Option<String> }
    /// The schedule whose task begins now.
    Run { name: String, channel: Option<String>, idempotency_key: Option<String> }
}

answers! {
    /// Every schedule that stands, by name.
    Schedules { schedules: Vec<Schedule> }
    /// A schedule as it stands.
    Schedule {
        name: String,
        version: u32,
        state: ScheduleState,
        /// Why, where it is paused or removed.
        why: Option<String>,
        /// Whether it paused itself, where it is paused: it waits for a person.
        by_itself: bool,
        /// The time as it was said.
        said: String,
        /// As it is read: a cron expression, a period, or what else it waits for.
        rule: String,
        zone: String,
        /// What it waits for, where that is no time.
        waits_for: Option<WaitsFor>,
        /// Why that cannot be seen now, where it cannot.
        unseen: Option<Unseen>,
        /// What is done each time.
        goal: String,
        folder: String,
        /// The playbook, or the model with its address.
        worker: String,
        /// The policy profile of its tasks.
        profile: Profile,
        /// Its next times.
        next: Vec<Due>,
        catch_up: CatchUpKind,
        catch_up_most: Option<u32>,
        grace_minutes: Option<u32>,
        /// What bounds its runs beside their budget.
        limits: Limits,
        since: i64,
        /// Times that fired, and that were passed over.
        fired: u64,
        passed_over: u64,
        /// The newest runs, the newest first.
        runs: Vec<ScheduleRun>,
        /// The newest times that were passed over.
        last_passed_over: Option<PassedOverAt>,
        artifact_id: String,
    }
    /// What a schedule waits for that is no time.
    WaitsFor {
        kind: TriggerKind,
        /// Of files: which, as globs below the folder; all where there are none.
        globs: Vec<String>,
        /// Of files: which changes.
        changes: Option<FileChanges>,
        /// Of files: milliseconds that one must have been left alone.
        quiet_ms: Option<u64>,
        /// Of a ref: its whole name.
        ref_name: Option<String>,
        /// Of an end: the schedule's name, or the task's identifier.
        of: Option<String>,
        /// Of an end: which.
        end: Option<RunEnd>,
    }
    /// A time at which something is due.
    Due {
        /// When, ms.
        at: i64,
        /// By the clock of its zone, with what that clock does to it.
        text: String,
    }
    /// A run that a schedule began.
    ScheduleRun {
        /// The time that fired, or at which what it waited for was seen, ms.
        slot_at: i64,
        task_id: String,
        status: Option<String>,
        /// How it went, as lists of runs tell it: `expired` where its time was up.
        run_status: Option<RunStatus>,
    }
    /// Times that were passed over.
    PassedOverAt {
        /// Until when, ms.
        until: i64,
        why: PassedOver,
    }
    /// A time, or what else is waited for, as it is read.
    Previewed {
        rule: String,
        zone: String,
        /// What is waited for, where that is no time.
        waits_for: Option<WaitsFor>,
        /// The next times; none where it is no time.
        next: Vec<Due>,
    }
}
