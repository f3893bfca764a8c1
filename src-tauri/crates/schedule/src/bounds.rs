//! By how much a schedule begins later than its rule says, and whether an instant lies in the hours of its runs.

use crate::NotARule;
use crate::rule::zone;
use jiff::Timestamp;
use model::schedule::{Hours, When};
use model::{Digest, UnixMs};

/// By how many milliseconds the slots of a schedule begin later, less than its jitter. It follows from name and version, so that
/// it is the same for each slot and on every machine, and the order of slots stays.
pub fn delay_ms(when: &When, name: &str, version: u32) -> i64 {
    let Some(most) = when.jitter_ms.filter(|most| *most > 0) else { return 0 };
    let drawn = Digest::of(format!("{name}:{version}").as_bytes());
    let drawn = drawn.0.iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    i64::try_from(drawn % most).unwrap_or(0)
}

/// Whether an instant lies in these hours, by the clock of their zone.
///
/// # Errors
/// [`NotARule`] where this machine does not know the zone.
pub fn within(hours: &Hours, at: UnixMs) -> Result<bool, NotARule> {
    let zone = zone(&hours.zone)?;
    let beyond = |_| NotARule("that instant lies beyond the calendar".to_owned());
    let time = Timestamp::from_millisecond(at.0).map_err(beyond)?.to_zoned(zone).time();
    let minute = i32::from(time.hour()) * 60 + i32::from(time.minute());
    Ok(u16::try_from(minute).is_ok_and(|minute| hours.holds(minute)))
}

/// When these hours begin, seen from an instant outside of them; none where that is further off than an hour.
///
/// # Errors
/// As [`within`].
pub fn opens(hours: &Hours, at: UnixMs) -> Result<Option<UnixMs>, NotARule> {
    let minute = at.0.div_euclid(60_000);
    for ahead in 1..=60 {
        let next = UnixMs(minute.saturating_add(ahead).saturating_mul(60_000));
        if within(hours, next)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Hours as a person writes them: `8-18`, `8:30-17:45`, `22-6`.
///
/// # Errors
/// [`NotARule`] where they are written otherwise.
pub fn hours(text: &str, zone: &str) -> Result<Hours, NotARule> {
    let wrong = || NotARule(format!("`{text}` are no hours: write them as 8-18, 8:30-17:45 or 22-6"));
    let minutes = |text: &str| {
        let (hour, minute) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
        let two = |part: &str, most: u16| {
            let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            part.parse().ok().filter(|n: &u16| is_number && *n <= most)
        };
        let minutes = two(hour, 24)? * 60 + two(minute, 59)?;
        Some(minutes).filter(|minutes| *minutes <= 24 * 60)
    };
    let (from, until) = text.split_once('-').ok_or_else(wrong)?;
    let (from, until) = (minutes(from).ok_or_else(wrong)?, minutes(until).ok_or_else(wrong)?);
    if from == until || from == 24 * 60 {
        return Err(wrong());
    }
    Ok(Hours { from, until, zone: zone.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::cron;
    use model::schedule::CatchUp;

    #[test]
    fn a_delay_is_the_same_each_time_and_less_than_it_may_be_and_another_for_another_schedule() {
        let when = |jitter_ms| When {
            rule: cron("0 8 * * *", "UTC").unwrap(),
            catch_up: CatchUp::Newest,
            grace_ms: None,
            jitter_ms,
        };
        let ten = when(Some(600_000));
        let all: Vec<i64> = (0..50).map(|n| delay_ms(&ten, &format!("s-{n}"), 1)).collect();
        assert_eq!(all, (0..50).map(|n| delay_ms(&ten, &format!("s-{n}"), 1)).collect::<Vec<_>>());
        assert!(all.iter().all(|ms| (0..600_000).contains(ms)));
        assert!(all.iter().min().unwrap() + 300_000 < *all.iter().max().unwrap(), "{all:?}");
        assert_ne!(delay_ms(&ten, "s-1", 1), delay_ms(&ten, "s-1", 2));
        assert_eq!(delay_ms(&when(None), "s-1", 1), 0);
    }

    #[test]
    fn hours_begin_within_the_hour_or_further_off() {
        let of = hours("22-6", "Europe/Berlin").unwrap();
        let at = |text: &str| UnixMs(text.parse::<Timestamp>().unwrap().as_millisecond());
        for (now, begins) in [
            ("2026-01-05T20:59:59.500Z", Some("2026-01-05T21:00:00Z")),
            ("2026-01-05T20:00:00Z", Some("2026-01-05T21:00:00Z")),
            ("2026-01-05T19:59:59Z", None),
            ("2026-01-05T05:00:00Z", None),
        ] {
            assert_eq!(opens(&of, at(now)).unwrap(), begins.map(at), "{now}");
        }
    }

    #[test]
    fn hours_are_read_by_the_clock_of_their_zone_also_when_it_is_put_forward() {
        let of = hours("8:30-18", "Europe/Berlin").unwrap();
        assert_eq!((of.from, of.until), (510, 1080));
        let at = |text: &str| UnixMs(text.parse::<Timestamp>().unwrap().as_millisecond());
        // 08:30 in Berlin, in winter and in summer.
        for (text, is_within) in [
            ("2026-01-05T07:29:59Z", false),
            ("2026-01-05T07:30:00Z", true),
            ("2026-01-05T17:00:00Z", false),
            ("2026-07-06T06:30:00Z", true),
            ("2026-07-06T16:00:00Z", false),
        ] {
            assert_eq!(within(&of, at(text)), Ok(is_within), "{text}");
        }
        assert!(within(&hours("22-6", "UTC").unwrap(), at("2026-01-05T23:10:00Z")).unwrap());
        for wrong in ["", "8", "8-", "25-3", "8-8", "24-3", "8:60-9", "+8-9", "8-24:01", "a-b", "8-9-10"] {
            assert!(hours(wrong, "UTC").is_err(), "{wrong}");
        }
        assert!(hours("0-24", "UTC").is_ok());
        assert!(within(&Hours { zone: "Atlantis".to_owned(), ..of }, UnixMs(0)).is_err());
    }
}
