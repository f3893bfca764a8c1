//! Schedules: previewed, put to a person, paused, resumed, removed; what became of their times, and what they would ask. Nothing
//! here keeps one.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use crate::task::{Budget, Reasoner};
use crate::{PersonSigned, Text};
use serde::{Deserialize, Serialize};
use words::policy::{ApprovalStatus, PolicyVerdict, Profile};
use words::schedule::{
    CallRefused, CatchUpKind, Condition, FileChanges, MachineEvent, Overlap, PassedOver, RunEnd,
    ScheduleState, SlotState, TriggerKind, Unseen,
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
    /// What must be so for a run to begin, beside what the words say; what this machine cannot tell counts as so.
    #[serde(default)]
    pub only: Vec<Condition>,
    /// Per cent that the battery must have more than for a run to begin, 1 to 99, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery_above: Option<u32>,
}

params! {
    /// Nothing to say.
    List {}
    /// One schedule, with what it did and does next.
    Show { name: String }
    /// A time, or what else is waited for, as a person says it.
    Preview {
        /// Plain English, such as `every weekday at 8:30`, a cron expression, or what else it waits for, such as `when a file lands
        /// here`, `when main moves`, `after morning`, `when the hook deploy is called`.
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
        /// Whether a run is reported only where it changed something, asked, was denied something or failed.
        #[serde(default)]
        quiet: bool,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The schedule whose times pass from now on.
    Pause { name: String, reason: Option<String> }
    /// The schedule that fires again.
    Resume {
        name: String,
        /// What a person signed; not needed in the process that holds the store.
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// The schedule that is removed.
    Remove { name: String, reason: Option<String> }
    /// The schedule whose task begins now.
    Run { name: String, channel: Option<String>, idempotency_key: Option<String> }
    /// The schedule whose last runs are judged again.
    Rehearse {
        name: String,
        /// How many of them, 1 to 20; 10 when absent.
        runs: Option<u32>,
    }
    /// The times of a month, or of a span.
    Calendar {
        /// A month such as `2026-11`; this month when absent, unless a span is named.
        month: Option<String>,
        /// Instead of a month: from when, ms.
        from: Option<i64>,
        /// Until when, ms, without that instant; at most 62 days later.
        to: Option<i64>,
        /// The time zone whose days are told, by its name; that of the host when absent.
        zone: Option<String>,
        /// One schedule alone, also one that is removed.
        name: Option<String>,
    }
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
        waits_for: Option<ScheduleTrigger>,
        /// Why that cannot be seen now, where it cannot.
        unseen: Option<Unseen>,
        /// How its hook stands, where it waits for one.
        hook: Option<ScheduleHook>,
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
        /// Whether a run is reported only where it changed something, asked, was denied something or failed.
        quiet: bool,
        since: i64,
        /// Times that fired, and that were passed over.
        fired: u64,
        passed_over: u64,
        /// The newest runs, the newest first.
        runs: Vec<ScheduleRun>,
        /// The newest times that were passed over.
        last_passed_over: Option<PassedOverAt>,
        artifact_id: String,
        /// Which machines may run it, and which one does, where the mesh holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held_by: Option<ScheduleHolder>,
    }
    /// Machines that may run a schedule, and the one that does.
    ScheduleHolder {
        /// Those that may, by name, the first one first.
        nodes: Vec<String>,
        /// The one that does; none where none took it yet.
        holder: Option<String>,
        /// Which of them that is, from 1.
        rank: Option<u32>,
        /// Whether it is this machine.
        is_here: bool,
        /// Those that cannot run it now: their person did not approve the same schedule, it is paused there, or its folder is missing.
        unready: Vec<String>,
        /// Whether it waits here: no way to another machine is open, so this one begins nothing of it until one is.
        #[serde(default)]
        is_cut_off: bool,
    }
    /// What a schedule waits for that is no time.
    ScheduleTrigger {
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
        /// Of a hook: its name.
        hook: Option<String>,
        /// Of a resource: the name of its server of tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// Of a resource: its address there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        /// Of a resource, and of events: minutes from one look to the next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every_minutes: Option<u32>,
        /// Of events: which, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        events: Option<String>,
        /// Of events: the relays that are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        relays: Option<Vec<String>>,
        /// Of a machine: its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
        /// Of a machine: what of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine_event: Option<MachineEvent>,
        /// Of a machine that is silent: for how many minutes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silent_minutes: Option<u32>,
    }
    /// How a hook stands that a schedule waits for.
    ScheduleHook {
        name: String,
        /// Where it is called, below the address of the host.
        path: String,
        /// The handle of the secret that calls are signed with.
        secret: String,
        /// Whether there is one: until then no call is taken.
        has_secret: bool,
        /// Calls that were taken.
        called: u64,
        /// Of these, how many wait for a run.
        waiting: u32,
        /// Calls that were refused, as far as that is on record: it is put there once an hour at most.
        refused: u64,
        /// Why the newest of those was.
        last_refused: Option<CallRefused>,
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
        /// The machine whose run of this time counts, where two began it and this one does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counts_instead: Option<String>,
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
        waits_for: Option<ScheduleTrigger>,
        /// The next times; none where it is no time.
        next: Vec<Due>,
        /// What the words say that must be so for a run to begin.
        only: Vec<Condition>,
        /// Per cent that the words say the battery must have more than.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        battery_above: Option<u32>,
    }
    /// What the last runs of a schedule would ask today.
    Rehearsal {
        name: String,
        version: u32,
        /// All of it in a sentence.
        summary: String,
        /// Runs that were looked at; none where there was none yet.
        runs: u32,
        /// What they did or asked for, each judged by the policy of today.
        acts: u32,
        /// Of these, what policy allows by itself.
        allowed: u32,
        /// What a standing grant allows.
        granted: u32,
        /// What a person is asked about.
        asked: u32,
        /// What policy denies.
        denied: u32,
        /// What policy allows in a lesser form only.
        lesser: u32,
        /// Acts beside these that cannot be judged again: something of them is erased.
        unreadable: u32,
        /// Whether there were more acts than are judged at once.
        is_cut: bool,
        /// The standing grants that hold in its runs as it is now, the narrowest first.
        grants: Vec<GrantOfRuns>,
        /// The acts, those of the newest run first.
        rows: Vec<RehearsedAct>,
    }
    /// A standing grant that holds in the runs of a schedule.
    GrantOfRuns {
        grant_id: String,
        /// What it allows, in a sentence.
        words: String,
        /// How often it can still be used.
        left: u32,
        expires_at: i64,
        /// The acts that it would allow.
        acts: u32,
    }
    /// An act of a run, judged again.
    RehearsedAct {
        action_request_id: String,
        task_id: String,
        /// The time whose run it belongs to, ms.
        slot_at: i64,
        summary: Text,
        /// What policy says today.
        verdict: PolicyVerdict,
        /// The standing grant by which it is allowed.
        grant_id: Option<String>,
        /// The rules that decide.
        rules: Vec<String>,
        /// Why, in words.
        reason: String,
        /// What policy said then.
        was: PolicyVerdict,
        /// What a person answered then.
        answered: Option<ApprovalStatus>,
    }
    /// The times of a span, and what became of each.
    Times {
        /// From when until when, ms.
        from: i64,
        to: i64,
        /// The time zone whose days are told.
        zone: String,
        /// The day of now there, such as `2026-11-28`.
        today: String,
        /// In order.
        entries: Vec<TimeEntry>,
        /// Schedules of which not every time is here, by name: ask for one alone, or for less.
        cut: Vec<String>,
        /// Schedules that were not looked at, because there are so many.
        left_out: u32,
    }
    /// One time of a schedule; or several that were passed over together.
    TimeEntry {
        schedule: String,
        /// When, ms; of several the first.
        at: i64,
        /// Its day, such as `2026-11-28`; of several that began before the span, the first day of it.
        day: String,
        /// Its time of day, such as `08:30`.
        time: String,
        state: SlotState,
        /// Why it was passed over.
        why: Option<PassedOver>,
        /// How many there are, where they can be counted.
        times: Option<u64>,
        /// Of several the last, by the clock of the zone.
        until: Option<String>,
        /// What it was that it waited for, in words, where that is no time.
        because: Option<String>,
        /// The task of its run.
        task_id: Option<String>,
        /// How that stands.
        run_status: Option<RunStatus>,
    }
}
