//! What becomes of slots that came due, also while nothing was there to see it.

use crate::{NotARule, next, slots};
use model::UnixMs;
use model::schedule::{AFTERWARDS_MAX, CatchUp, DueSlot, PassedOver, Settled, When};

/// How late a slot may be seen and still counts as seen in time, in milliseconds: a clock that looks each five minutes whether
/// the machine slept, and a minute until what failed is tried again, are within it.
const ON_TIME_MS: i64 = 10 * 60_000;
/// The most slots that are told one by one: two weeks of minutes. Of more, the older ones are told as one.
const LOOKED_MAX: usize = 20_160;
/// Milliseconds of a minute, in which no rule has two slots.
const MINUTE_MS: i64 = 60_000;

/// Settles each slot that lies after `settled` and not after `now`, in order; and the instant until which everything is settled
/// then, never before `settled`: a clock that was set back settles nothing again.
///
/// # Errors
/// [`NotARule`] where the rule cannot be read on this machine.
pub fn settle(when: &When, settled: UnixMs, now: UnixMs) -> Result<(Vec<Settled>, UnixMs), NotARule> {
    let (rule, catch_up) = (&when.rule, when.catch_up);
    let grace = when.grace_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    let mut begin = settled;
    let all_due = |after| Ok::<_, NotARule>(slots(rule, after)?.take_while(|slot| slot.at.0 <= now.0));
    if all_due(settled)?.nth(LOOKED_MAX).is_some() {
        begin = newer_than(settled, now, |after| Ok(all_due(after)?.next().is_some()))?;
        let (first, edge) =
            (next(rule, settled)?.map_or(settled, |slot| slot.at), now.0.saturating_sub(grace));
        // Those that are too late lie before those that are only older.
        if first.0 < edge {
            let until = UnixMs(edge.saturating_sub(1).min(begin.0));
            all.push(Settled::PassedOver { first, until, slots: None, why: PassedOver::TooLate });
        }
        if let Some(slot) =
            next(rule, UnixMs(edge.saturating_sub(1).max(settled.0)))?.filter(|slot| slot.at.0 <= begin.0)
        {
            all.push(Settled::PassedOver { first: slot.at, until: begin, slots: None, why: left(catch_up) });
        }
    }
    let late = |slot: &DueSlot| now.0.saturating_sub(slot.at.0);
    let due: Vec<DueSlot> = all_due(begin)?.collect();
    let may = due.iter().filter(|slot| late(slot) <= grace);
    let (in_time, missed): (Vec<&DueSlot>, Vec<&DueSlot>) = may.partition(|slot| late(slot) <= ON_TIME_MS);
    let wanted = match catch_up {
        CatchUp::Skip => in_time.len().min(1),
        CatchUp::Newest => 1,
        CatchUp::Newer(most) => usize::try_from(most.clamp(1, AFTERWARDS_MAX)).unwrap_or(1),
    };
    let fires = due.len() - wanted.min(in_time.len() + missed.len());
    for (nth, slot) in due.into_iter().enumerate() {
        if nth >= fires {
            all.push(Settled::Fires(slot));
            continue;
        }
        pass_over(&mut all, slot.at, if late(&slot) > grace { PassedOver::TooLate } else { left(catch_up) });
    }
    Ok((all, UnixMs(settled.0.max(now.0))))
}

/// An instant in a long span behind which slots are due, and not more of them than are told one by one.
fn newer_than(
    settled: UnixMs,
    now: UnixMs,
    is_due_after: impl Fn(UnixMs) -> Result<bool, NotARule>,
) -> Result<UnixMs, NotARule> {
    let most = i64::try_from(LOOKED_MAX).unwrap_or(i64::MAX).saturating_mul(MINUTE_MS);
    let mut end = now.0;
    loop {
        let begin = UnixMs(end.saturating_sub(most).max(settled.0));
        // Behind a part in which nothing is due, the part before it is looked at: no more slots lie there.
        if begin == settled || is_due_after(begin)? {
            return Ok(begin);
        }
        end = begin.0;
    }
}

/// Why one that is not too late does not fire.
const fn left(catch_up: CatchUp) -> PassedOver {
    match catch_up {
        CatchUp::Skip => PassedOver::Missed,
        CatchUp::Newest | CatchUp::Newer(_) => PassedOver::Newer,
    }
}

/// Adds a slot to the span before it, or begins one.
fn pass_over(all: &mut Vec<Settled>, at: UnixMs, reason: PassedOver) {
    if let Some(Settled::PassedOver { until, slots: Some(slots), why, .. }) = all.last_mut()
        && *why == reason
    {
        (*until, *slots) = (at, *slots + 1);
        return;
    }
    all.push(Settled::PassedOver { first: at, until: at, slots: Some(1), why: reason });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::cron;
    use model::schedule::Rule;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;

    fn when(rule: Rule, catch_up: CatchUp, grace_ms: Option<u64>) -> When {
        When { rule, catch_up, grace_ms, jitter_ms: None }
    }

    fn daily(catch_up: CatchUp, grace_ms: Option<u64>) -> When {
        when(cron("0 8 * * *", "UTC").unwrap(), catch_up, grace_ms)
    }

    fn fired(all: &[Settled]) -> Vec<i64> {
        let at = |one: &Settled| match one {
            Settled::Fires(slot) => Some(slot.at.0),
            Settled::PassedOver { .. } => None,
        };
        all.iter().filter_map(at).collect()
    }

    fn passed(all: &[Settled]) -> Vec<(u64, PassedOver)> {
        let of = |one: &Settled| match one {
            Settled::PassedOver { slots, why, .. } => Some((slots.unwrap(), *why)),
            Settled::Fires(_) => None,
        };
        all.iter().filter_map(of).collect()
    }

    #[test]
    fn after_ten_days_off_a_daily_rule_does_what_was_chosen() {
        let now = UnixMs(10 * DAY + 9 * HOUR);
        let newest = 10 * DAY + 8 * HOUR;
        let of = |catch_up, grace| settle(&daily(catch_up, grace), UnixMs(DAY), now).unwrap().0;
        let all = of(CatchUp::Skip, None);
        assert_eq!((fired(&all), passed(&all)), (vec![], vec![(10, PassedOver::Missed)]));
        let all = of(CatchUp::Newest, None);
        assert_eq!((fired(&all), passed(&all)), (vec![newest], vec![(9, PassedOver::Newer)]));
        let all = of(CatchUp::Newer(3), None);
        assert_eq!(fired(&all), [newest - 2 * DAY, newest - DAY, newest], "the oldest first");
        let all = of(CatchUp::Newer(3), u64::try_from(DAY + 2 * HOUR).ok());
        assert_eq!(fired(&all), [newest - DAY, newest]);
        assert_eq!(passed(&all), [(8, PassedOver::TooLate)]);
    }

    #[test]
    fn what_is_seen_in_time_fires_whatever_was_chosen() {
        let at = 2 * DAY + 8 * HOUR;
        for catch_up in [CatchUp::Skip, CatchUp::Newest, CatchUp::Newer(5)] {
            let (all, until) =
                settle(&daily(catch_up, Some(60_000)), UnixMs(at - HOUR), UnixMs(at + 5_000)).unwrap();
            assert_eq!((fired(&all), until.0), (vec![at], at + 5_000));
        }
    }

    #[test]
    fn a_clock_that_is_set_back_settles_nothing_again() {
        let at = 2 * DAY + 8 * HOUR;
        let (all, until) = settle(&daily(CatchUp::Newest, None), UnixMs(at), UnixMs(at - 3 * HOUR)).unwrap();
        assert!(all.is_empty() && until.0 == at);
        let (all, _) = settle(&daily(CatchUp::Newest, None), until, UnixMs(at + HOUR)).unwrap();
        assert!(all.is_empty(), "it came due before, and once: {all:?}");
    }

    #[test]
    fn years_of_minutes_are_settled_with_their_newest_and_without_counting_each() {
        let rule = cron("* * * * *", "UTC").unwrap();
        let now = UnixMs(3_650 * DAY);
        let (all, _) = settle(&when(rule, CatchUp::Newest, None), UnixMs(0), now).unwrap();
        assert_eq!(fired(&all), [now.0]);
        assert!(
            matches!(all[0], Settled::PassedOver { first: UnixMs(60_000), slots: None, .. }),
            "{:?}",
            all[0]
        );
        // Of a month of minutes that was months ago, the newest is that month's last.
        let january = cron("* * * 1 *", "UTC").unwrap();
        let (all, _) = settle(&when(january, CatchUp::Newest, None), UnixMs(0), UnixMs(60 * DAY)).unwrap();
        assert_eq!(fired(&all), [31 * DAY - 60_000]);
        // What is too late is told apart from what is only older.
        let each = cron("* * * * *", "UTC").unwrap();
        let grace = u64::try_from(20 * DAY).ok();
        let (all, _) = settle(&when(each, CatchUp::Newest, grace), UnixMs(0), now).unwrap();
        let whys: Vec<PassedOver> = all
            .iter()
            .filter_map(|one| match one {
                Settled::PassedOver { why, .. } => Some(*why),
                Settled::Fires(_) => None,
            })
            .collect();
        assert_eq!(whys, [PassedOver::TooLate, PassedOver::Newer, PassedOver::Newer]);
    }

    proptest! {
        /// However a span of time is cut into looks, each slot is settled exactly once, in order.
        #[test]
        fn each_slot_is_settled_once_however_often_one_looks(
            looks in proptest::collection::vec(0_i64..4 * DAY, 1..40),
            catch_up in prop_oneof![Just(CatchUp::Skip), Just(CatchUp::Newest), (0_u32..9).prop_map(CatchUp::Newer)],
            grace in 0_u64..20 * 86_400_000,
        ) {
            let rule = cron("*/20 */6 * * *", "America/New_York").unwrap();
            let when = when(rule.clone(), catch_up, Some(grace));
            let begin = UnixMs(1_772_000_000_000);
            let (mut now, mut settled, mut seen, mut told) = (begin, begin, 0_u64, Vec::new());
            for (nth, step) in looks.into_iter().enumerate() {
                // Every fifth time the clock has been set back.
                now = UnixMs(if nth % 5 == 4 { now.0 - step } else { now.0 + step });
                let (all, until) = settle(&when, settled, now).unwrap();
                prop_assert!(until.0 >= settled.0);
                settled = until;
                for one in all {
                    let (first, last, n) = match one {
                        Settled::Fires(slot) => (slot.at, slot.at, 1),
                        Settled::PassedOver { first, until, slots, .. } => (first, until, slots.unwrap()),
                    };
                    told.extend([first.0, last.0]);
                    seen += n;
                }
            }
            prop_assert!(told.is_sorted());
            let due = slots(&rule, begin).unwrap().take_while(|slot| slot.at.0 <= settled.0).count();
            prop_assert_eq!(seen, due as u64);
        }
    }
}
