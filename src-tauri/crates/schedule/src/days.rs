//! Days and months by the clock of a zone.

use crate::NotARule;
use crate::rule::{instant, zone};
use jiff::Timestamp;
use jiff::civil::Date;
use model::UnixMs;

/// The month of a text such as `2026-11` by the clock of a zone: its first instant, and the first behind it.
///
/// # Errors
/// [`NotARule`] where it is no month, or where this machine does not know the zone.
pub fn month(text: &str, zone_name: &str) -> Result<(UnixMs, UnixMs), NotARule> {
    let wrong = || NotARule(format!("`{text}` is no month: write it as 2026-11"));
    let (year, month) = text.split_once('-').ok_or_else(wrong)?;
    let digits = |text: &str, many: usize| text.len() == many && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 4) || !digits(month, 2) {
        return Err(wrong());
    }
    let (year, month): (i16, i8) = (year.parse().map_err(|_| wrong())?, month.parse().map_err(|_| wrong())?);
    let zone = zone(zone_name)?;
    let first = |year: i16, month: i8| {
        let day = Date::new(year, month, 1).ok()?;
        instant(&zone, day.at(0, 0, 0, 0)).map(|(at, _)| UnixMs(at.as_millisecond()))
    };
    let next = if month == 12 { (year.saturating_add(1), 1) } else { (year, month.saturating_add(1)) };
    first(year, month).zip(first(next.0, next.1)).ok_or_else(wrong)
}

/// An instant by the clock of a zone: its day, such as `2026-11-28`, and its time of day, such as `08:30`.
///
/// # Errors
/// [`NotARule`] where the zone or the instant cannot be read on this machine.
pub fn day_and_time(at: UnixMs, zone_name: &str) -> Result<(String, String), NotARule> {
    let at = Timestamp::from_millisecond(at.0).map_err(|e| NotARule(e.to_string()))?;
    let there = at.to_zoned(zone(zone_name)?);
    Ok((there.strftime("%Y-%m-%d").to_string(), there.strftime("%H:%M").to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn utc(text: &str) -> UnixMs {
        UnixMs(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn a_month_is_that_of_the_zone_also_where_its_clock_is_put_back_within_it() {
        assert_eq!(
            month("2027-10", "Europe/Berlin").unwrap(),
            (utc("2027-09-30T22:00:00Z"), utc("2027-10-31T23:00:00Z"))
        );
        assert_eq!(
            month("2026-12", "UTC").unwrap(),
            (utc("2026-12-01T00:00:00Z"), utc("2027-01-01T00:00:00Z"))
        );
        for wrong in ["2026-13", "2026-00", "2026-1", "26-11", "2026", "2026-11-01", "soon", "-026-11"] {
            assert!(month(wrong, "UTC").unwrap_err().to_string().contains("2026-11"), "{wrong}");
        }
        assert!(month("2026-11", "Europe/Atlantis").is_err());
    }

    #[test]
    fn an_instant_has_the_day_and_the_time_of_the_zone() {
        let told = day_and_time(utc("2026-11-28T23:05:59Z"), "Europe/Berlin").unwrap();
        assert_eq!(told, ("2026-11-29".to_owned(), "00:05".to_owned()));
    }
}
