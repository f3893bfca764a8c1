//! Times as a person reads them.

/// Milliseconds since 1970 as UTC, to the second: rounded up, since it says before when something existed.
pub(crate) fn before(ms: i64) -> String {
    utc(ms.div_euclid(1_000).saturating_add(i64::from(ms.rem_euclid(1_000) != 0)))
}

/// Milliseconds since 1970 as UTC, to the second that had begun.
pub(crate) fn at(ms: i64) -> String {
    utc(ms.div_euclid(1_000))
}

/// Seconds since 1970 as RFC 3339 spells them.
pub(crate) fn rfc3339(seconds: i64) -> String {
    utc(seconds).replace(" UTC", "Z").replacen(' ', "T", 1)
}

fn utc(seconds: i64) -> String {
    let (mut days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Four hundred years have always as many days, so no loop below is long.
    let mut year = 1970 + 400 * days.div_euclid(DAYS_OF_400);
    days = days.rem_euclid(DAYS_OF_400);
    let leaps = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while days >= 365 + i64::from(leaps(year)) {
        days -= 365 + i64::from(leaps(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + i64::from(leaps(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", days + 1)
}

const DAYS_OF_400: i64 = 146_097;

#[cfg(test)]
mod tests {
    use super::{at, before};

    #[test]
    fn times_are_those_of_a_calendar() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (951_868_800_000, "2000-03-01 00:00:00 UTC"),
            (1_735_689_599_000, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
            (-1_000, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!((at(ms), before(ms)), (text.to_owned(), text.to_owned()));
        }
        assert_eq!(at(1_735_689_599_001), "2024-12-31 23:59:59 UTC");
        assert_eq!(before(1_735_689_599_001), "2025-01-01 00:00:00 UTC");
        // The ends of what can be said do not go on for ever.
        assert!(at(i64::MAX).ends_with("UTC") && before(i64::MIN).ends_with("UTC"));
    }
}
