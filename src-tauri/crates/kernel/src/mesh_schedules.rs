//! Schedules that the mesh holds, as this machine knows it (mesh.md 4): who may run each, who holds it, which of its times began and
//! where, and what two machines have to have in common to run the same one.

use crate::Error;
use crate::mesh_registry::MeshRegistry;
use mesh::NodeId;
use mesh::state::{Began, State};
use model::policy::Profile;
use model::schedule::{Bounds, DueSlot, Rule, Schedule, ScheduleProposer, When};
use model::task::Budget;
use model::{Digest, UnixMs};
use serde::Serialize;
use std::cmp::Reverse;

/// Who holds a schedule of the mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshHolder {
    /// The machines that may, the first one first.
    pub nodes: Vec<NodeId>,
    /// The one that does; none where none took it yet.
    pub holder: Option<NodeId>,
    /// Since which epoch; 0 where none does.
    pub epoch: u64,
    /// Those of them that cannot run it now, by their own word.
    pub unready: Vec<NodeId>,
}

/// What this process saw of the times of a schedule that the mesh holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotsSeen {
    /// The newest that was seen when it was due.
    pub(crate) newest: UnixMs,
    /// The oldest of those that were said to be due together.
    pub(crate) first: UnixMs,
}

impl MeshRegistry {
    /// Whether a schedule begins here on the mesh's word alone.
    pub fn holds(&self, name: &str) -> bool {
        self.state().is_some_and(|state| state.is_held(name))
    }

    /// Who holds a schedule, where the mesh names this machine among others that may.
    pub fn holder_of(&self, name: &str) -> Option<MeshHolder> {
        let (state, me) = (self.state()?, self.node()?);
        let held = state.schedule(name).filter(|one| one.ranks.contains(&me) && one.ranks.len() > 1)?;
        let lease = state.lease(name);
        let unready = held.ranks.iter().filter(|node| state.readiness(name, **node) == Some(false));
        Some(MeshHolder {
            unready: unready.copied().collect(),
            nodes: held.ranks.clone(),
            holder: lease.map(|lease| lease.holder),
            epoch: lease.map_or(0, |lease| lease.epoch),
        })
    }

    /// The machine whose run of a time counts, where two began it and that of this one does not.
    pub fn counts_instead(&self, name: &str, rule: &Rule, slot_at: UnixMs) -> Option<NodeId> {
        let (state, me) = (self.state()?, self.node()?);
        state.began(name, &slot_key(rule, slot_at)).map(|began| began.by).filter(|by| *by != me)
    }

    /// Why a schedule that the mesh held here is to be paused before it begins by this machine's clock alone, with what tells one such
    /// reason from a later one: other machines run it by now, or may, where this one left the mesh.
    pub(crate) fn why_paused(&self, name: &str) -> Option<(String, String)> {
        let state = self.believed().filter(|state| state.was_ready(name))?;
        let held = state.schedule(name)?;
        let others = held.ranks.iter().filter(|node| **node != state.me());
        let others: Vec<String> = others.map(|node| format!("`{}`", self.name_of(*node))).collect();
        let names_me = held.ranks.contains(&state.me());
        if others.is_empty() || (names_me && self.node().is_some()) {
            return None;
        }
        let (key, why) = match names_me {
            false => (format!("out:{}", held.version), "the mesh has it run elsewhere"),
            true => (
                format!("left:{}", self.steps()),
                "this machine left the mesh, where it may be run elsewhere",
            ),
        };
        Some((key, format!("{why}: at {}; resume it to run it here as well", others.join(", "))))
    }
}

/// What each machine that may hold a schedule has to have: all that its person approved, except what is bound to the machine (the
/// folder, the conversation) or says the same in other words, and the moment from which a period is counted.
#[derive(Serialize)]
struct Compared<'s> {
    format: &'static str,
    name: &'s str,
    when: &'s When,
    goal: &'s str,
    proposer: &'s ScheduleProposer,
    profile: Profile,
    budget: Budget,
    bounds: &'s Bounds,
    quiet: bool,
}

/// The digest by which two machines know that they approved the same schedule.
///
/// # Errors
/// When it has no canonical form.
pub fn compared(schedule: &Schedule) -> Result<Digest, Error> {
    let rule = match &schedule.when.rule {
        Rule::Every { period_ms, .. } => Rule::Every { period_ms: *period_ms, from: UnixMs(0) },
        rule => rule.clone(),
    };
    let when = When { rule, ..schedule.when.clone() };
    let all = Compared {
        format: "hermit-mesh-schedule/1",
        name: &schedule.name,
        when: &when,
        goal: &schedule.goal,
        proposer: &schedule.proposer,
        profile: schedule.profile,
        budget: schedule.budget,
        bounds: &schedule.bounds,
        quiet: schedule.quiet,
    };
    Ok(Digest::of(&seal::canon::to_canonical(&all)?))
}

/// The milliseconds of which a rule has exactly one slot in each: those of a period, and else one.
fn step(rule: &Rule) -> i64 {
    match rule {
        Rule::Every { period_ms, .. } => i64::try_from(*period_ms).unwrap_or(i64::MAX).max(1),
        _ => 1,
    }
}

fn number(rule: &Rule, at: UnixMs) -> i64 {
    at.0.div_euclid(step(rule))
}

/// The key of a slot, which is the same on each machine: its instant; and of a period, which each machine counts from another
/// moment, which period it lies in since 1970.
pub(crate) fn slot_key(rule: &Rule, at: UnixMs) -> String {
    number(rule, at).to_string()
}

/// The slot of a key, where the rule has one.
pub(crate) fn slot_of(rule: &Rule, key: &str) -> Option<DueSlot> {
    let from = key.parse::<i64>().ok()?.checked_mul(step(rule))?;
    let slot = schedule::next(rule, UnixMs(from.checked_sub(1)?)).ok()??;
    (slot_key(rule, slot.at) == key).then_some(slot)
}

/// The newest slot of a span, without its beginning, that began, with whose start counts.
pub(crate) fn newest_begun(
    state: &State,
    (name, rule): (&str, &Rule),
    (after, until): (UnixMs, UnixMs),
) -> Option<(DueSlot, Began)> {
    let span = number(rule, after)..=number(rule, until);
    let begun = state.begun(name);
    let numbered = begun.iter().filter_map(|(key, began)| Some((key.parse::<i64>().ok()?, *key, *began)));
    let mut begun: Vec<_> = numbered.filter(|(number, ..)| span.contains(number)).collect();
    begun.sort_unstable_by_key(|(number, ..)| Reverse(*number));
    begun.into_iter().find_map(|(_, key, began)| {
        let slot = slot_of(rule, key).filter(|slot| slot.at > after && slot.at <= until)?;
        Some((slot, began))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn machines_that_count_a_period_from_other_moments_have_one_key_for_each_time() {
        let from = |minutes: i64| schedule::every(3_600_000, UnixMs(7 * HOUR + minutes * 60_000)).unwrap();
        let (one, other) = (from(7), from(31));
        for hour in 8..40 {
            let (at_one, at_other) = (hour * HOUR + 7 * 60_000, hour * HOUR + 31 * 60_000);
            let key = slot_key(&one, UnixMs(at_one));
            assert_eq!(slot_key(&other, UnixMs(at_other)), key);
            assert_eq!(slot_of(&one, &key).unwrap().at, UnixMs(at_one));
            assert_eq!(slot_of(&other, &key).unwrap().at, UnixMs(at_other));
        }
        assert_eq!(slot_of(&one, "7"), None, "it begins with the hour after");
    }

    #[test]
    fn a_key_that_no_slot_has_is_none() {
        let daily = schedule::cron("0 8 * * *", "UTC").unwrap();
        let at = UnixMs(24 * HOUR + 8 * HOUR);
        assert_eq!(slot_of(&daily, &slot_key(&daily, at)).unwrap().at, at);
        for key in ["115200001", "+115200000", "0115200000", "eight", "", "-9223372036854775808"] {
            assert_eq!(slot_of(&daily, key), None, "{key}");
        }
    }
}
