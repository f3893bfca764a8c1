//! When a family of processes is looked at: often where it moves or is near its bounds, seldom where it does not.
//!
//! A look reads all of `/proc`. What is asked each time beside that are two lines about the whole machine: a family cannot grow by
//! much without being seen there, so waiting longer weakens no bound.

use super::{FamilyUse, Missed, free_bytes, machine, whole_family};
use std::time::{Duration, Instant};

/// How long a family that moves is not looked at.
const WAIT_MIN: Duration = Duration::from_millis(10);
/// How long one that does not.
const WAIT_MAX: Duration = Duration::from_millis(250);
/// A family is near a bound beyond this part of it.
const NEAR: u64 = 2;
/// Parts of a bound by which the whole machine may move before the family is looked at.
const PART: u64 = 4;
/// Parts of a bound by which a family may move and still count as calm.
const CALM_PART: u64 = 8;

/// What the whole machine has, in so far as it says.
#[derive(Debug, Clone, Copy)]
struct Machine {
    threads: Option<u64>,
    free_bytes: Option<u64>,
}

/// A family of processes under bounds, looked at as often as these need it.
#[derive(Debug)]
pub struct FamilyLooks {
    first: u32,
    most: FamilyUse,
    processors: u64,
    seen: FamilyUse,
    machine: Machine,
    looked: Option<Instant>,
    wait: Duration,
    missed: Missed,
}

impl FamilyLooks {
    /// Everything that descends from `first` or is of its group, and the most that it may use.
    pub fn of(first: u32, most: FamilyUse) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            first,
            most,
            processors: u64::try_from(processors).unwrap_or(u64::MAX),
            seen: FamilyUse::default(),
            machine: Machine { threads: None, free_bytes: None },
            looked: None,
            wait: WAIT_MIN,
            missed: Missed::default(),
        }
    }

    /// What the family uses, as the system tells it now or told it at the last look; none where it again and again does not list its
    /// processes.
    pub fn now(&mut self) -> Option<FamilyUse> {
        let machine = Machine { threads: machine(), free_bytes: free_bytes() };
        if self.looked.is_none_or(|at| self.is_due(machine, at.elapsed())) {
            let Some(seen) = whole_family(self.first) else {
                return (!self.missed.is_too_often(Instant::now())).then_some(self.seen);
            };
            self.missed = Missed::default();
            self.wait = self.wait_behind(seen);
            (self.seen, self.machine, self.looked) = (seen, machine, Some(Instant::now()));
        }
        Some(self.seen)
    }

    /// Whether the family may have come to a bound since the last look.
    fn is_due(&self, machine: Machine, since: Duration) -> bool {
        let moved = |less: Option<u64>, more: Option<u64>, most: u64| match (less, more) {
            (Some(less), Some(more)) => more.saturating_sub(less) > most / PART,
            _ => true,
        };
        let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        since >= self.wait
            || moved(self.machine.threads, machine.threads, self.most.threads)
            || moved(machine.free_bytes, self.machine.free_bytes, self.most.bytes)
            || self.seen.cpu_ms.saturating_add(ms.saturating_mul(self.processors)) > self.most.cpu_ms
    }

    /// How long it is not looked at behind a look at which it used so much.
    fn wait_behind(&self, seen: FamilyUse) -> Duration {
        let calm = |was: u64, is: u64, most: u64| is <= most / NEAR && is.abs_diff(was) <= most / CALM_PART;
        let is_calm = seen.child.is_some()
            && calm(self.seen.threads, seen.threads, self.most.threads)
            && calm(self.seen.bytes, seen.bytes, self.most.bytes);
        if is_calm { self.wait.saturating_mul(2).min(WAIT_MAX) } else { WAIT_MIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: FamilyUse = FamilyUse { threads: 8, bytes: 800, cpu_ms: 100, child: Some(2) };

    fn looks() -> FamilyLooks {
        FamilyLooks {
            first: 1,
            most: FamilyUse { threads: 80, bytes: 8_000, cpu_ms: 10_000, child: None },
            processors: 2,
            seen: FAMILY,
            machine: Machine { threads: Some(300), free_bytes: Some(50_000) },
            looked: None,
            wait: WAIT_MAX,
            missed: Missed::default(),
        }
    }

    #[test]
    fn a_crowd_or_a_heap_that_grows_is_looked_at_at_once_however_calm_it_was() {
        let (looks, short) = (looks(), Duration::from_millis(1));
        let is_due = |threads, free_bytes| looks.is_due(Machine { threads, free_bytes }, short);
        assert!(!is_due(Some(320), Some(48_000)));
        assert!(is_due(Some(321), Some(50_000)), "threads of a quarter of the bound came");
        assert!(is_due(Some(300), Some(47_999)), "a quarter of the memory went");
        // What ends or is given back is no reason.
        assert!(!is_due(Some(10), Some(90_000)));
        // Where the machine says nothing, nothing is left out.
        assert!(is_due(None, Some(50_000)) && is_due(Some(300), None));
        // What was calm is at most half of a bound, and a quarter of it came unseen: that is less than the bound.
        let unseen = looks.most.threads / NEAR + looks.most.threads / PART;
        assert!(unseen < looks.most.threads);
    }

    #[test]
    fn one_that_may_have_used_up_its_processors_is_looked_at() {
        let (mut looks, machine) = (looks(), looks().machine);
        looks.seen.cpu_ms = 9_900;
        assert!(!looks.is_due(machine, Duration::from_millis(49)));
        assert!(looks.is_due(machine, Duration::from_millis(50)), "two processors, 50 ms each");
        looks.seen.cpu_ms = 0;
        assert!(!looks.is_due(machine, Duration::from_millis(249)));
        assert!(looks.is_due(machine, WAIT_MAX));
    }

    #[test]
    fn the_wait_grows_while_nothing_changes_and_is_short_again_near_a_bound() {
        let mut looks = looks();
        looks.wait = WAIT_MIN;
        let mut waits = Vec::new();
        for _ in 0..6 {
            looks.wait = looks.wait_behind(FAMILY);
            waits.push(looks.wait.as_millis());
        }
        assert_eq!(waits, [20, 40, 80, 160, 250, 250]);
        let short = |seen: FamilyUse, why: &str| assert_eq!(looks.wait_behind(seen), WAIT_MIN, "{why}");
        short(FamilyUse { threads: 41, ..FAMILY }, "more than half of its threads");
        short(FamilyUse { bytes: 4_001, ..FAMILY }, "more than half of its memory");
        short(FamilyUse { threads: 19, ..FAMILY }, "it moved by more than an eighth");
        short(FamilyUse { child: None, ..FAMILY }, "its namespace does not stand yet");
    }

    #[test]
    fn the_first_look_is_made_at_once_and_the_next_is_not() {
        let most = FamilyUse { threads: u64::MAX, bytes: u64::MAX, cpu_ms: u64::MAX, child: None };
        let mut looks = FamilyLooks::of(std::process::id(), most);
        let seen = looks.now();
        assert!(looks.looked.is_some());
        (looks.wait, looks.first) = (Duration::MAX, u32::MAX);
        if machine().is_some() && free_bytes().is_some() {
            assert_eq!(looks.now(), seen, "it is told from the last look");
        }
        looks.most.cpu_ms = 0;
        assert_eq!(looks.now(), Some(FamilyUse::default()), "nothing is of this family");
    }
}
