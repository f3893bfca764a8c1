//! A rule of a calendar, and its slots.

use crate::NotARule;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use model::UnixMs;
use model::schedule::{DueSlot, Rule, Shift};

/// The shortest period, and the finest step of a cron expression, in milliseconds.
const PERIOD_MS_MIN: u64 = 60_000;
/// The longest period, in milliseconds: ten years.
const PERIOD_MS_MAX: u64 = 10 * 366 * 86_400_000;
/// The longest cron expression, in bytes.
const EXPRESSION_MAX: usize = 200;

/// Slots of a rule, in order, each once.
pub type Slots = Box<dyn Iterator<Item = DueSlot>>;

/// The name of a time zone as the IANA database spells it.
///
/// # Errors
/// [`NotARule`] where this machine knows no zone of that name.
pub fn zone_named(name: &str) -> Result<String, NotARule> {
    let unknown = || {
        NotARule(format!(
            "no time zone is named `{name}`: write one such as Europe/Berlin, America/New_York or UTC"
        ))
    };
    let zone = TimeZone::get(name).map_err(|_| unknown())?;
    Ok(zone.iana_name().ok_or_else(unknown)?.to_owned())
}

pub(crate) fn zone(name: &str) -> Result<TimeZone, NotARule> {
    TimeZone::get(name).map_err(|_| NotARule(format!("this machine does not know the time zone {name}")))
}

/// A rule by a cron expression, in a zone.
///
/// # Errors
/// [`NotARule`] where it is none of five fields, or where no day there is fits it.
pub fn cron(expression: &str, zone: &str) -> Result<Rule, NotARule> {
    let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
    let rule = Rule::Cron { expression, zone: zone.to_owned() };
    check(&rule)?;
    Ok(rule)
}

/// A rule by a period in milliseconds.
///
/// # Errors
/// [`NotARule`] where it is shorter than a minute or longer than ten years.
pub fn every(period_ms: u64, from: UnixMs) -> Result<Rule, NotARule> {
    let rule = Rule::Every { period_ms, from };
    check(&rule)?;
    Ok(rule)
}

/// Whether a rule can be kept: it can be read, and it is due at some time.
///
/// # Errors
/// [`NotARule`], which says what is wrong.
pub fn check(rule: &Rule) -> Result<(), NotARule> {
    match rule {
        Rule::Every { period_ms, .. } if !(PERIOD_MS_MIN..=PERIOD_MS_MAX).contains(period_ms) => {
            Err(NotARule("a period is between one minute and ten years".to_owned()))
        }
        Rule::Every { .. } | Rule::Event => Ok(()),
        Rule::Once { zone: name, .. } => zone(name).map(drop),
        Rule::Cron { expression, .. } => match next(rule, UnixMs(0))? {
            Some(_) => Ok(()),
            None => Err(NotARule(format!("`{expression}` is never due: no day there is fits it"))),
        },
    }
}

/// The first slot of a rule after an instant; none where there is none any more.
///
/// # Errors
/// [`NotARule`] where the rule cannot be read on this machine.
pub fn next(rule: &Rule, after: UnixMs) -> Result<Option<DueSlot>, NotARule> {
    Ok(slots(rule, after)?.next())
}

/// The slots of a rule after an instant.
///
/// # Errors
/// [`NotARule`] where the rule cannot be read on this machine.
pub fn slots(rule: &Rule, after: UnixMs) -> Result<Slots, NotARule> {
    match rule {
        Rule::Event => Ok(Box::new(std::iter::empty())),
        Rule::Every { period_ms, from } => {
            let (period, from) = (i64::try_from(*period_ms).unwrap_or(i64::MAX).max(1), from.0);
            let first = after.0.saturating_sub(from).div_euclid(period).max(0).saturating_add(1);
            let at = move |n: i64| from.checked_add(n.checked_mul(period)?);
            Ok(Box::new((first..).map_while(at).map(|at| DueSlot { at: UnixMs(at), shift: None })))
        }
        Rule::Once { at, .. } => {
            let slot = (at.0 > after.0).then_some(DueSlot { at: *at, shift: None });
            Ok(Box::new(slot.into_iter()))
        }
        Rule::Cron { expression, zone: name } => {
            let (cron, zone) = (read(expression)?, zone(name)?);
            let Ok(begin) = Timestamp::from_millisecond(after.0) else {
                return Ok(Box::new(std::iter::empty()));
            };
            let civil = zone.to_datetime(begin);
            Ok(Box::new(CronSlots { cron, zone, civil, last: begin }))
        }
    }
}

/// A slot as a person reads it by the clock of a zone, with what that clock does to it.
///
/// # Errors
/// [`NotARule`] where the zone or the instant cannot be read on this machine.
pub fn in_words(slot: &DueSlot, zone_name: &str) -> Result<String, NotARule> {
    let at = Timestamp::from_millisecond(slot.at.0).map_err(|e| NotARule(e.to_string()))?;
    let there = at.to_zoned(zone(zone_name)?).strftime("%A, %-d %B %Y, %H:%M").to_string();
    let shift = match slot.shift {
        None => "",
        Some(Shift::LeftOut) => ", as clocks go forward over the time itself",
        Some(Shift::Twice) => ", the first of two such times, as clocks go back",
    };
    Ok(format!("{there}{shift}"))
}

fn read(expression: &str) -> Result<Cron, NotARule> {
    let not = |why: String| {
        NotARule(format!(
            "`{expression}` is no cron expression: {why}; it has five fields: minute, hour, day of the month, month, day of \
             the week"
        ))
    };
    if expression.len() > EXPRESSION_MAX {
        return Err(NotARule(format!("a cron expression has at most {EXPRESSION_MAX} characters")));
    }
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(expression).map_err(|why| not(why.to_string()))
}

/// The slots of a cron expression.
struct CronSlots {
    cron: Cron,
    zone: TimeZone,
    /// The last time of day that was looked at.
    civil: DateTime,
    /// The last slot's instant.
    last: Timestamp,
}

impl Iterator for CronSlots {
    type Item = DueSlot;

    fn next(&mut self) -> Option<DueSlot> {
        loop {
            self.civil = self.cron.find_next_occurrence(&self.civil, false).ok()?;
            let (at, shift) = instant(&self.zone, self.civil)?;
            // Times that are left out together, and one that comes a second time, are one slot.
            if at > self.last {
                self.last = at;
                return Some(DueSlot { at: UnixMs(at.as_millisecond()), shift });
            }
        }
    }
}

/// The instant of a time of day in a zone.
pub(crate) fn instant(zone: &TimeZone, civil: DateTime) -> Option<(Timestamp, Option<Shift>)> {
    let found = zone.to_ambiguous_timestamp(civil);
    match found.offset() {
        AmbiguousOffset::Unambiguous { offset } => Some((offset.to_timestamp(civil).ok()?, None)),
        AmbiguousOffset::Fold { before, .. } => Some((before.to_timestamp(civil).ok()?, Some(Shift::Twice))),
        AmbiguousOffset::Gap { after, .. } => {
            // Read by the clock as it is afterwards, the time lies before the change; the change is the next instant there is.
            let before = after.to_timestamp(civil).ok()?;
            let change = zone.following(before).next()?;
            Some((change.timestamp(), Some(Shift::LeftOut)))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn utc(text: &str) -> UnixMs {
        UnixMs(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn first(rule: &Rule, after: &str, n: usize) -> Vec<String> {
        let slots = slots(rule, utc(after)).unwrap().take(n);
        slots.map(|slot| Timestamp::from_millisecond(slot.at.0).unwrap().to_string()).collect()
    }

    fn berlin(expression: &str) -> Rule {
        cron(expression, "Europe/Berlin").unwrap()
    }

    #[test]
    fn a_time_that_the_clock_leaves_out_is_due_at_the_next_instant_and_once() {
        // On 28 March 2027, at two, clocks in Berlin go to three: that is 01:00 in UTC.
        let rule = berlin("30 2 * * *");
        assert_eq!(
            first(&rule, "2027-03-27T00:00:00Z", 3),
            ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]
        );
        assert_eq!(next(&rule, utc("2027-03-27T12:00:00Z")).unwrap().unwrap().shift, Some(Shift::LeftOut));
        assert_eq!(
            first(&berlin("*/30 * * * *"), "2027-03-28T00:29:59Z", 3),
            ["2027-03-28T00:30:00Z", "2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"]
        );
    }

    #[test]
    fn a_time_that_comes_twice_is_due_the_first_time_wherever_one_looks_from() {
        // On 31 October 2027, at three, clocks in Berlin go back to two: two o'clock is 00:00 and 01:00 in UTC.
        let rule = berlin("30 2 * * *");
        for (after, then) in [
            ("2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z"),
            ("2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"),
            ("2027-10-31T01:10:00Z", "2027-11-01T01:30:00Z"),
            ("2027-10-31T01:30:00Z", "2027-11-01T01:30:00Z"),
        ] {
            assert_eq!(first(&rule, after, 1), [then], "{after}");
        }
        assert_eq!(next(&rule, utc("2027-10-30T12:00:00Z")).unwrap().unwrap().shift, Some(Shift::Twice));
    }

    #[test]
    fn the_last_day_and_the_nth_weekday_of_a_month_are_found() {
        assert_eq!(
            first(&berlin("0 9 L * *"), "2027-01-01T00:00:00Z", 2),
            ["2027-01-31T08:00:00Z", "2027-02-28T08:00:00Z"]
        );
        assert_eq!(
            first(&berlin("0 9 * * MON#1"), "2027-01-01T00:00:00Z", 2),
            ["2027-01-04T08:00:00Z", "2027-02-01T08:00:00Z"]
        );
        assert_eq!(first(&berlin("0 9 * * FRI#L"), "2027-01-01T00:00:00Z", 1), ["2027-01-29T08:00:00Z"]);
    }

    #[test]
    fn a_period_stands_on_its_grid_whenever_one_looks() {
        let rule = every(15 * 60_000, utc("2027-01-01T00:07:00Z")).unwrap();
        assert_eq!(first(&rule, "2026-01-01T00:00:00Z", 1), ["2027-01-01T00:22:00Z"], "not before it began");
        assert_eq!(first(&rule, "2027-03-28T00:59:00Z", 2), ["2027-03-28T01:07:00Z", "2027-03-28T01:22:00Z"]);
        assert_eq!(
            first(&rule, "2027-03-28T01:07:00Z", 1),
            ["2027-03-28T01:22:00Z"],
            "a slot is not after itself"
        );
    }

    #[test]
    fn what_is_no_rule_or_never_due_is_refused_with_words() {
        for (expression, word) in [
            ("0 0 30 2 *", "never due"),
            ("* * * *", "five fields"),
            ("0 0 8 * * *", "five fields"),
            ("61 * * * *", "five fields"),
            ("", "five fields"),
            ("0 8 * * * 2027 1", "five fields"),
        ] {
            let why = cron(expression, "UTC").unwrap_err().to_string();
            assert!(why.contains(word), "{expression}: {why}");
        }
        assert!(cron(&"1,".repeat(200), "UTC").unwrap_err().to_string().contains("at most"));
        assert!(zone_named("Europe/Atlantis").unwrap_err().to_string().contains("Europe/Berlin"));
        assert!(every(59_999, UnixMs(0)).is_err() && every(u64::MAX, UnixMs(0)).is_err());
        assert!(cron("0 0 29 2 MON", "UTC").is_ok());
    }

    #[test]
    fn a_rule_is_kept_and_read_again_as_it_was() {
        for rule in [
            berlin("30 8 * * MON-FRI"),
            every(60_000, UnixMs(5)).unwrap(),
            Rule::Once { at: UnixMs(7), zone: "UTC".to_owned() },
        ] {
            let kept = serde_json::to_string(&rule).unwrap();
            assert_eq!(serde_json::from_str::<Rule>(&kept).unwrap(), rule, "{kept}");
        }
    }
}
