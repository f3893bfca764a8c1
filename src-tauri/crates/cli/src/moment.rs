//! Times as people write them, in UTC.

const DAY_MS: i64 = 86_400_000;
const WEEKDAYS: [&str; 7] = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"];

/// Milliseconds since 1970 of what was written; `now` in the same unit. A weekday is its latest beginning before now.
pub fn parse(text: &str, now: i64) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let today = now.div_euclid(DAY_MS);
    match text.as_str() {
        "now" => return Some(now),
        "today" => return today.checked_mul(DAY_MS),
        "yesterday" => return today.checked_sub(1)?.checked_mul(DAY_MS),
        _ => {}
    }
    // 1970 began on a Thursday.
    if let Some(day) = WEEKDAYS.iter().position(|name| *name == text || name.get(..3) == Some(&text)) {
        let back = (today.rem_euclid(7) - i64::try_from(day).ok()?).rem_euclid(7);
        return today.checked_sub(back)?.checked_mul(DAY_MS);
    }
    back(&text).and_then(|ms| now.checked_sub(ms)).or_else(|| civil(&text))
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

/// `2026-11-22`, with `05:30` or `05:30:10` behind a space or a `T`, with or without a `Z`.
fn civil(text: &str) -> Option<i64> {
    let text = text.strip_suffix('z').unwrap_or(text);
    let (day, clock) = match text.split_once(['t', ' ']) {
        Some((day, clock)) => (day, clock.trim()),
        None => (text, "00:00"),
    };
    let [year, month, day] = numbers::<3>(day, '-')?;
    if !(1970..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || day < 1
        || day > month_days(year, month)
    {
        return None;
    }
    let clock = if clock.matches(':').count() == 1 { format!("{clock}:00") } else { clock.to_owned() };
    let [hour, minute, second] = numbers::<3>(&clock, ':')?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = (1970..year).map(year_days).sum::<i64>()
        + (1..month).map(|month| month_days(year, month)).sum::<i64>()
        + (day - 1);
    Some(days * DAY_MS + (hour * 3_600 + minute * 60 + second) * 1_000)
}

fn numbers<const N: usize>(text: &str, between: char) -> Option<[i64; N]> {
    let parts: Option<Vec<i64>> = text
        .split(between)
        .map(|part| {
            let digits = !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        })
        .collect();
    parts?.try_into().ok()
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn year_days(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

const fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        // 2026-11-22 05:30:10 UTC, a Sunday.
        let now = 1_795_325_410_000;
        assert_eq!(crate::text::time(now), "2026-11-22 05:30:10Z");
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
            assert_eq!(parse(text, now).map(crate::text::time).as_deref(), Some(then), "{text}");
        }
        for text in
            ["", "d", "-1d", "2026-13-01", "2026-02-29", "2026-11-22 24:00", "22.11.2026", "noon", "1y"]
        {
            assert_eq!(parse(text, now), None, "{text}");
        }
    }
}
