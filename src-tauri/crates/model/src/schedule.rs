//! Schedules: when a task begins by itself, what it does, and what became of each slot (schedule.md 1).
//!
//! When a rule is due is the business of the room `schedule`.

use crate::policy::Profile;
use crate::skill::check_skill_name;
use crate::task::{Budget, ModelApi};
use crate::{ConversationId, Digest, UnixMs, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use words::schedule::{
    CallRefused, Condition, FileChange, FileChanges, MachineEvent, Overlap, PassedOver, RunEnd,
    ScheduleState, Shift, TriggerKind, Unseen,
};

mod afar;
mod bounds;
mod trigger;

pub use afar::{
    EVENT_TEXT_BYTES_MAX, EVENTS_BACK_SECS, EVENTS_SEEN_MAX, EVENTS_TOLD_MAX, EventFilter, EventTag,
    SeenEvent, ToldEvent,
};
pub use bounds::{Bounds, DayBudget, Hours, only_in_words};
pub use trigger::{
    CALL_BYTES_MAX, CHANGES_TOLD_MAX, ChangedFile, EVERY_MS_USUAL, EndedRun, HookCall, PER_HOUR_USUAL,
    QUIET_MS_USUAL, RESOURCE_TOLD_BYTES_MAX, SEEN_FILES_MAX, Seen, SeenChange, SeenState, Trigger,
    check_hook_name, hook_secret,
};

/// The longest goal of a schedule, in bytes.
const GOAL_BYTES_MAX: usize = 16 * 1024;
/// The most slots that fire afterwards.
pub const AFTERWARDS_MAX: u32 = 20;
/// The longest time that a slot may begin later than its rule says, in milliseconds.
const JITTER_MS_MAX: u64 = 3_600_000;

/// A rule that says when something is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// A cron expression of five fields, by the clock of a zone.
    Cron {
        /// Minute, hour, day of the month, month, day of the week; with names, ranges, steps, `L` and `#`.
        expression: String,
        /// The zone whose clock is read, by its name in the IANA database.
        zone: String,
    },
    /// A period, on the grid that `from` begins.
    Every {
        /// Milliseconds from one slot to the next.
        period_ms: u64,
        /// The instant that the grid is counted from; it is no slot itself.
        from: UnixMs,
    },
    /// One instant.
    Once {
        /// When.
        at: UnixMs,
        /// The zone that it was said in.
        zone: String,
    },
    /// No time: something happens that the schedule says it waits for (`on`).
    Event,
}

impl Rule {
    /// The rule as a person reads it, without its zone.
    pub fn in_words(&self) -> String {
        match self {
            Self::Cron { expression, .. } => expression.clone(),
            Self::Once { .. } => "once".to_owned(),
            Self::Event => "when something happens".to_owned(),
            Self::Every { period_ms, .. } => {
                let units =
                    [("week", 604_800_000), ("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)];
                let whole = |(_, ms): &&(&str, u64)| period_ms % ms == 0;
                match units.iter().find(whole) {
                    Some((unit, ms)) if period_ms == ms => format!("every {unit}"),
                    Some((unit, ms)) => format!("every {} {unit}s", period_ms / ms),
                    None => format!("every {} seconds", period_ms / 1000),
                }
            }
        }
    }
}

/// What a person chose for slots that were missed: the machine slept, was off, or its clock was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// They are passed over.
    Skip,
    /// The newest fires, the others are passed over.
    Newest,
    /// The newest of them fire, this many at most, the oldest first.
    Newer(u32),
}

/// When slots are due, and what becomes of missed ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The rule.
    pub rule: Rule,
    /// For missed slots.
    pub catch_up: CatchUp,
    /// Milliseconds after which a slot is too late, whatever else was chosen; none is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Milliseconds that a schedule may begin later than its rule says, so that not all begin at once; by how many is its own and
    /// stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<u64>,
}

/// An instant at which a rule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DueSlot {
    /// When.
    pub at: UnixMs,
    /// What the zone's clock did to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

/// What became of slots that came due: each slot is in exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Settled {
    /// This one fires.
    Fires(DueSlot),
    /// These do not.
    PassedOver {
        /// The first of them.
        first: UnixMs,
        /// The instant until which they lie.
        until: UnixMs,
        /// How many there are; none where there are too many to be counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slots: Option<u64>,
        /// Why.
        why: PassedOver,
    },
}

/// Who proposes in the tasks of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScheduleProposer {
    /// A playbook's text.
    Playbook {
        /// Its name.
        name: String,
        /// Its text, exactly as it will run.
        text: String,
        /// Parameters by name.
        parameters: BTreeMap<String, String>,
    },
    /// A server of models.
    Model {
        /// The protocol that it speaks.
        api: ModelApi,
        /// Base address.
        base_url: String,
        /// Model there.
        model: String,
        /// Handle of the secret that opens it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<String>,
    },
}

/// A schedule as a person approves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its name, unique among those that are not removed.
    pub name: String,
    /// The time as it was said.
    pub said: String,
    /// When.
    pub when: When,
    /// What its tasks are to do.
    pub goal: String,
    /// The folder they work in.
    pub workspace_id: WorkspaceId,
    /// That folder's path, as a person reads it.
    pub folder: String,
    /// Who proposes.
    pub proposer: ScheduleProposer,
    /// The policy profile of its tasks.
    pub profile: Profile,
    /// What each of them may spend.
    pub budget: Budget,
    /// The conversation that they report into; the first one where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// What bounds its runs beside the budget of each.
    #[serde(default, skip_serializing_if = "Bounds::are_none")]
    pub bounds: Bounds,
    /// What it waits for, where that is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Trigger>,
    /// Whether a run is reported only where there is something to say: it changed something, asked, was denied something or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

impl Schedule {
    /// Whether it can be meant; its rule is read by the room `schedule`.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        check_skill_name(&self.name)?;
        if self.goal.trim().is_empty() {
            return Err("a schedule needs a goal: what is to be done each time".to_owned());
        }
        if self.goal.len() > GOAL_BYTES_MAX {
            return Err(format!("the goal of a schedule has at most {GOAL_BYTES_MAX} bytes"));
        }
        if self.when.jitter_ms.is_some_and(|ms| !(1..=JITTER_MS_MAX).contains(&ms)) {
            return Err("a schedule begins at most an hour later than its time says".to_owned());
        }
        self.bounds.check()?;
        self.check_trigger()?;
        match self.when.catch_up {
            CatchUp::Newer(0) => Err("catch up with at least one missed time, or skip them".to_owned()),
            CatchUp::Newer(most) if most > AFTERWARDS_MAX => {
                Err(format!("at most {AFTERWARDS_MAX} missed times are caught up with"))
            }
            _ => Ok(()),
        }
    }

    fn check_trigger(&self) -> Result<(), String> {
        match (&self.on, &self.when.rule) {
            (None, Rule::Event) => Err("a schedule waits for a time or for something else".to_owned()),
            (None, _) => Ok(()),
            (Some(_), Rule::Event) if self.when.jitter_ms.is_some() => {
                Err("only what begins at a time can begin later than its time".to_owned())
            }
            (Some(Trigger::After { of, .. }), Rule::Event) if *of == self.name => {
                Err(format!("`{of}` cannot wait for its own end: name another schedule or a task"))
            }
            (Some(on), Rule::Event) => on.check(),
            (Some(_), _) => Err("a schedule waits for a time or for something else, not for both".to_owned()),
        }
    }

    /// What it waits for, as a person reads it, without its zone.
    pub fn in_words(&self) -> String {
        self.on.as_ref().map_or_else(|| self.when.rule.in_words(), Trigger::in_words)
    }

    /// SHA-256 over its canonical bytes.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn digest(&self) -> Result<Digest, seal::Error> {
        seal::canon::to_canonical(self).map(|bytes| Digest::of(&bytes))
    }
}

/// The slot of a schedule that began a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledBy {
    /// The schedule's name.
    pub name: String,
    /// Its version then.
    pub version: u32,
    /// When it was due.
    pub slot_at: UnixMs,
    /// Whether it is reported only where there is something to say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

/// A schedule that a person is asked to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepSchedule {
    /// As it will be.
    pub schedule: Schedule,
    /// The version that it would be, from 1.
    pub version: u32,
    /// Its first times from when this was proposed, each as a person reads it; none where it waits for no time.
    pub next: Vec<String>,
    /// As it is, where it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Box<Schedule>>,
}
