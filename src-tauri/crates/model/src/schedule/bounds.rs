//! What bounds the runs of a schedule, beside the budget of each (schedule.md 1, HV-3.5-2).

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use words::schedule::{Condition, Overlap};

/// Runs that may begin within an hour, where that is bounded.
const PER_HOUR: RangeInclusive<u32> = 1..=20;
/// How long a run may last, in milliseconds: a minute to a week.
const ENDS_AFTER_MS: RangeInclusive<u64> = 60_000..=7 * 86_400_000;
/// Per cent of its battery that a run may wait for.
const BATTERY_PERCENT: RangeInclusive<u32> = 1..=99;
/// Minutes of a day.
const DAY_MINUTES: u16 = 24 * 60;

/// What a person bounds of the runs of a schedule; what is absent is not bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// When a slot comes due while the run before is not over; it is passed over where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// Runs that begin within any hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_hour_max: Option<u32>,
    /// Milliseconds from the beginning of a run to its end; it has expired then, whatever it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_after_ms: Option<u64>,
    /// What all runs of a day use together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<DayBudget>,
    /// The hours in which a run begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// What must be so for a run to begin; what nobody can tell counts as so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<Condition>,
    /// Per cent that the battery must have more than for a run to begin, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery_above: Option<u32>,
}

/// A condition as a person reads it, in the words by which it can be said.
const fn condition_in_words(of: Condition) -> &'static str {
    match of {
        Condition::Mains => "on mains power",
        Condition::Network => "when the network is there",
        Condition::Idle => "while nobody is at the computer",
        Condition::Unmetered => "when the network is not metered",
    }
}

/// All that must be so for a run to begin, in the words by which it can be said; none where nothing must.
pub fn only_in_words(only: &[Condition], battery_above: Option<u32>) -> Option<String> {
    let mut all: Vec<String> = only.iter().map(|one| condition_in_words(*one).to_owned()).collect();
    all.extend(battery_above.map(|percent| format!("when the battery is above {percent} %")));
    (!all.is_empty()).then(|| all.join(" and "))
}

/// What the runs of a schedule may use together in a day of the person; what is absent is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayBudget {
    /// Runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_max: Option<u32>,
    /// Turns of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_max: Option<u32>,
    /// Tokens in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// Cost in millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros_max: Option<u64>,
    /// Milliseconds of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms_max: Option<i64>,
}

/// A part of each day, by the clock of a zone: from the first minute, up to the last and without it. Where the last lies before
/// the first it goes on past midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    /// Minutes after midnight.
    pub from: u16,
    /// Minutes after midnight; 1440 is the end of the day.
    pub until: u16,
    /// The zone, by its name in the IANA database.
    pub zone: String,
}

impl Bounds {
    /// Whether nothing is bounded.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether they can be meant.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        if self.per_hour_max.is_some_and(|most| !PER_HOUR.contains(&most)) {
            return Err(format!("1 to {} runs may begin within an hour", PER_HOUR.end()));
        }
        if self.ends_after_ms.is_some_and(|ms| !ENDS_AFTER_MS.contains(&ms)) {
            return Err("a run ends after a minute to seven days".to_owned());
        }
        if let Some(day) = &self.day {
            let none = [
                day.runs_max == Some(0),
                day.iterations_max == Some(0),
                day.tokens_max == Some(0),
                day.cost_micros_max == Some(0),
                day.wall_ms_max.is_some_and(|ms| ms <= 0),
            ];
            if none.contains(&true) {
                return Err("a day with nothing to use begins no run: say more than 0".to_owned());
            }
            if *day == DayBudget::default() {
                return Err("a budget of a day says how much of something".to_owned());
            }
        }
        if self.only.iter().enumerate().any(|(at, one)| self.only.iter().take(at).any(|before| before == one))
        {
            return Err("a condition is said once".to_owned());
        }
        if self.battery_above.is_some_and(|percent| !BATTERY_PERCENT.contains(&percent)) {
            return Err("the battery is above 1 to 99 per cent".to_owned());
        }
        self.hours.as_ref().map_or(Ok(()), Hours::check)
    }
}

impl Hours {
    fn check(&self) -> Result<(), String> {
        if self.from >= DAY_MINUTES || self.until > DAY_MINUTES || self.from == self.until {
            return Err("write the hours as 8-18, 8:30-17:45 or 22-6".to_owned());
        }
        Ok(())
    }

    /// Whether a minute of the day lies in them.
    pub const fn holds(&self, minute: u16) -> bool {
        if self.from < self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }
}

/// From when until when, as a person writes it, without the zone.
impl std::fmt::Display for Hours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [from, until] = [self.from, self.until].map(|minutes| (minutes / 60, minutes % 60));
        write!(f, "{:02}:{:02}-{:02}:{:02}", from.0, from.1, until.0, until.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_that_go_past_midnight_hold_both_ends_of_the_day() {
        let hours = |from, until| Hours { from, until, zone: "UTC".to_owned() };
        let day = hours(8 * 60, 18 * 60);
        assert!(day.holds(480) && day.holds(1079) && !day.holds(1080) && !day.holds(479));
        let night = hours(22 * 60, 6 * 60);
        assert!(
            night.holds(1320)
                && night.holds(0)
                && night.holds(359)
                && !night.holds(360)
                && !night.holds(1319)
        );
        assert_eq!(hours(510, 1440).to_string(), "08:30-24:00");
        assert!(hours(1440, 60).check().is_err() && hours(60, 60).check().is_err() && day.check().is_ok());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_can() {
        let none = Bounds::default;
        let day = |day| Bounds { day: Some(day), ..none() };
        for (wrong, word) in [
            (Bounds { per_hour_max: Some(0), ..none() }, "within an hour"),
            (Bounds { per_hour_max: Some(21), ..none() }, "within an hour"),
            (Bounds { ends_after_ms: Some(59_999), ..none() }, "a minute to seven days"),
            (Bounds { ends_after_ms: Some(8 * 86_400_000), ..none() }, "a minute to seven days"),
            (Bounds { only: vec![Condition::Mains, Condition::Mains], ..none() }, "said once"),
            (Bounds { battery_above: Some(0), ..none() }, "1 to 99"),
            (Bounds { battery_above: Some(100), ..none() }, "1 to 99"),
            (day(DayBudget::default()), "how much of something"),
            (day(DayBudget { wall_ms_max: Some(0), ..DayBudget::default() }), "more than 0"),
        ] {
            assert!(wrong.check().is_err_and(|why| why.contains(word)), "{wrong:?}");
        }
        assert!(none().check().is_ok() && none().are_none());
    }
}
