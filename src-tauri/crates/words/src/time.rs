//! How a time stands in a sentence.

use std::time::Duration;

/// A time, milliseconds since 1970, in the one form in which a sentence tells it: UTC, to the second, such as
/// `2026-11-24 16:54:05Z`. A terminal and a page show it by the clock of whoever reads it.
pub fn utc(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days since 1970, after Howard Hinnant's public-domain algorithm.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// A length of time as a sentence tells it, exact to the millisecond: `0.3 seconds`, `1 second`, `2 minutes`,
/// `1 hour 30.5 seconds`.
pub fn lasting(time: Duration) -> String {
    let whole = time.as_secs();
    let exact = format!("{}.{:03}", whole % 60, time.subsec_millis());
    let seconds = exact.trim_end_matches('0').trim_end_matches('.').to_owned();
    let parts = [
        ((whole / 3600).to_string(), "hour"),
        ((whole / 60 % 60).to_string(), "minute"),
        (seconds, "second"),
    ];
    let told = parts.iter().filter(|(number, _)| number != "0");
    let told = told.map(|(number, unit)| format!("{number} {unit}{}", if number == "1" { "" } else { "s" }));
    let told: Vec<String> = told.collect();
    if told.is_empty() { "0 seconds".to_owned() } else { told.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_told_as_a_person_says_it() {
        let told = |ms| lasting(Duration::from_millis(ms));
        let all = [0, 7, 300, 1_000, 1_500, 10_000, 59_999, 60_000, 90_500, 3_600_000, 7_230_000, 90_061_000];
        assert_eq!(
            all.map(told),
            [
                "0 seconds",
                "0.007 seconds",
                "0.3 seconds",
                "1 second",
                "1.5 seconds",
                "10 seconds",
                "59.999 seconds",
                "1 minute",
                "1 minute 30.5 seconds",
                "1 hour",
                "2 hours 30 seconds",
                "25 hours 1 minute 1 second",
            ]
        );
    }

    #[test]
    fn a_time_is_told_in_utc_to_the_second() {
        assert_eq!(utc(0), "1970-01-01 00:00:00Z");
        assert_eq!(utc(1_795_539_245_999), "2026-11-24 16:54:05Z");
        assert_eq!(utc(-1), "1969-12-31 23:59:59Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(utc(1_790_000_000_000), "2026-09-21 14:13:20Z");
    }
}
