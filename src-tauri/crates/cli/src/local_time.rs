//! Times as people write them, on this machine's clock.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

const DAY_MS: i64 = 86_400_000;
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Milliseconds since 1970 of what was written; `now` in the same unit. A weekday is its latest beginning before now.
pub fn parse(text: &str, now: i64) -> Option<i64> {
    parse_in(text, now, &TimeZone::system())
}

fn parse_in(text: &str, now: i64, zone: &TimeZone) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let at = Timestamp::from_millisecond(now).ok()?.to_zoned(zone.clone());
    let ms = |at: Zoned| at.timestamp().as_millisecond();
    match text.as_str() {
        "now" => return Some(now),
        "today" => return at.start_of_day().ok().map(ms),
        "yesterday" => return at.yesterday().ok()?.start_of_day().ok().map(ms),
        _ => {}
    }
    if let Some((_, day)) = WEEKDAYS.iter().find(|(name, _)| *name == text || name.get(..3) == Some(&text)) {
        let back = i64::from(at.weekday().since(*day));
        return at.checked_sub(back.days()).ok()?.start_of_day().ok().map(ms);
    }
    back(&text).and_then(|ms| now.checked_sub(ms)).or_else(|| civil(&text, zone))
}

/// `90m`, `3h`, `2d`, `1w`, `45s`, in milliseconds.
fn back(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let number = text.strip_suffix(unit)?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ms: i64 = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => DAY_MS,
        'w' => 7 * DAY_MS,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(ms)
}

/// `2026-11-22`, with `05:30` or `05:30:10` behind a space or a `T`; with a `Z` behind it in UTC.
fn civil(text: &str, zone: &TimeZone) -> Option<i64> {
    let (text, zone) = match text.strip_suffix('z') {
        Some(text) => (text, TimeZone::UTC),
        None => (text, zone.clone()),
    };
    let known = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 't' | ' ');
    if !text.chars().all(known) || text.matches('-').count() != 2 {
        return None;
    }
    let at: DateTime = text.parse().ok()?;
    Some(at.to_zoned(zone).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        // 2026-11-22 05:30:10 UTC, a Sunday.
        let now = 1_795_325_410_000;
        assert_eq!(wire::utc(now), "2026-11-22 05:30:10Z");
        for (text, then) in [
            ("2026-11-22", "2026-11-22 00:00:00Z"),
            ("2026-11-22 05:30", "2026-11-22 05:30:00Z"),
            ("2024-02-29T23:59:58Z", "2024-02-29 23:59:58Z"),
            ("today", "2026-11-22 00:00:00Z"),
            ("yesterday", "2026-11-21 00:00:00Z"),
            ("Tuesday", "2026-11-17 00:00:00Z"),
            ("sun", "2026-11-22 00:00:00Z"),
            ("monday", "2026-11-16 00:00:00Z"),
            ("90m", "2026-11-22 04:00:10Z"),
            ("2d", "2026-11-20 05:30:10Z"),
            ("1w", "2026-11-15 05:30:10Z"),
            ("now", "2026-11-22 05:30:10Z"),
        ] {
            let found = parse_in(text, now, &TimeZone::UTC).map(wire::utc);
            assert_eq!(found.as_deref(), Some(then), "{text}");
        }
        for text in [
            "",
            "d",
            "-1d",
            "2026-13-01",
            "2026-02-29",
            "2026-11-22 24:00",
            "22.11.2026",
            "noon",
            "1y",
            "2026-11-22 05:30+02:00",
        ] {
            assert_eq!(parse_in(text, now, &TimeZone::UTC), None, "{text}");
        }
    }

    #[test]
    fn a_day_begins_where_the_person_is() {
        let now = 1_795_325_410_000;
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        // There it is still Saturday evening.
        for (text, then) in [
            ("today", "2026-11-21 08:00:00Z"),
            ("sunday", "2026-11-15 08:00:00Z"),
            ("2026-11-20 09:15", "2026-11-20 17:15:00Z"),
            ("2026-11-20T09:15Z", "2026-11-20 09:15:00Z"),
        ] {
            assert_eq!(parse_in(text, now, &zone).map(wire::utc).as_deref(), Some(then), "{text}");
        }
    }
}
