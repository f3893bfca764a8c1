//! What is said of a time, and how it is read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// Friday, 27 November 2026, 10:00 in Berlin.
const NOW: UnixMs = UnixMs(1_795_770_000_000);

fn read(text: &str) -> Result<Rule, NotARule> {
    parse(text, "Europe/Berlin", NOW)
}

#[test]
fn what_people_say_of_days_and_times_becomes_a_cron_expression() {
    for (text, expression) in [
        ("every weekday at 8:30", "30 8 * * 1-5"),
        ("each weekday at half past eight", "30 8 * * 1-5"),
        ("Every day at 17:05", "5 17 * * *"),
        ("daily at 9", "0 9 * * *"),
        ("at 6pm every day", "0 18 * * *"),
        ("each morning", "0 8 * * *"),
        ("every morning at quarter to seven", "45 6 * * *"),
        ("every night at midnight", "0 0 * * *"),
        ("every monday and thursday at 18:00", "0 18 * * 1,4"),
        ("every monday, wednesday and friday at noon", "0 12 * * 1,3,5"),
        ("mondays at 9 am", "0 9 * * 1"),
        ("on weekends at 10", "0 10 * * 0,6"),
        ("every friday to monday at 7", "0 7 * * 0,1,5,6"),
        ("every day at 8 and 20", "0 8,20 * * *"),
        ("on the first of each month at noon", "0 12 1 * *"),
        ("on the 15th of every month at 8.15", "15 8 15 * *"),
        ("on the last day of the month at 23:00", "0 23 L * *"),
        ("every first monday of the month at 9", "0 9 * * 1#1"),
        ("on the last friday of every month at 16:00", "0 16 * * 5#L"),
        ("every year on 24 december at 8", "0 8 24 12 *"),
        ("every december 24th at 8", "0 8 24 12 *"),
        ("30 8 * * MON-FRI", "30 8 * * mon-fri"),
        ("*/5  *  * * *", "*/5 * * * *"),
    ] {
        let rule = read(text);
        assert!(matches!(&rule, Ok(Rule::Cron { expression: e, .. }) if e == expression), "{text}: {rule:?}");
    }
}

#[test]
fn periods_and_single_times_are_understood() {
    let minutes = |n: u64| every(n * 60_000, NOW).unwrap();
    for (text, n) in [
        ("every 15 minutes", 15),
        ("every hour", 60),
        ("hourly", 60),
        ("every two hours", 120),
        ("every 3 days", 3 * 24 * 60),
        ("every minute", 1),
    ] {
        assert_eq!(read(text).unwrap(), minutes(n), "{text}");
    }
    for (text, then) in [
        ("tomorrow at 9", "2026-11-28T08:00:00Z"),
        ("today at 17:00", "2026-11-27T16:00:00Z"),
        ("monday at 8", "2026-11-30T07:00:00Z"),
        ("next friday at 8", "2026-12-04T07:00:00Z"),
        ("2027-07-01 08:00", "2027-07-01T06:00:00Z"),
        ("on 2027-07-01 at 8am", "2027-07-01T06:00:00Z"),
        ("in 2 hours", "2026-11-27T11:00:00Z"),
        ("in an hour", "2026-11-27T10:00:00Z"),
        // That morning clocks in Berlin go from two to three: the next instant there is.
        ("2027-03-28 02:30", "2027-03-28T01:00:00Z"),
    ] {
        let at = then.parse::<Timestamp>().unwrap().as_millisecond();
        assert!(
            matches!(read(text), Ok(Rule::Once { at: UnixMs(t), .. }) if t == at),
            "{text}: {:?}",
            read(text)
        );
    }
}

#[test]
fn what_is_not_understood_is_refused_whole_and_says_what_can_be_written() {
    for (text, word) in [
        ("", "for example"),
        ("whenever you like", "for example"),
        ("every weekday at 8:30 or so", "for example"),
        ("every weekday at 25:00", "for example"),
        ("every weekday at 8:75", "for example"),
        ("every other tuesday at 8", "for example"),
        ("every weekday", "for example"),
        ("every 0 minutes", "one minute"),
        ("every 99999999999999999999 minutes", "for example"),
        ("every 30 seconds", "for example"),
        ("today at 9", "gone by"),
        ("every day at 8:00 and 17:30", "same minute"),
        ("on the 31st of february at 8", "for example"),
        ("24 december at 8", "for example"),
        ("every monday at quarter to 12am", "for example"),
        ("every day at half past 8:30", "for example"),
        ("in 0 minutes", "gone by"),
        ("in 9000000000 days", "next ten years"),
        ("2999-01-01 at 8", "next ten years"),
        ("every year on 30 february at 8", "never due"),
        ("every february 30 at 8", "never due"),
        ("13pm every day", "for example"),
        ("* * * *", "five fields"),
    ] {
        let why = read(text).unwrap_err().to_string();
        assert!(why.contains(word), "{text}: {why}");
    }
    assert!(read(&"every ".repeat(100)).unwrap_err().to_string().contains("at most"));
}

#[test]
fn a_time_of_day_that_there_is_not_is_named_as_the_fault() {
    for (text, word) in [
        ("on the hour 25:00", "`25:00`"),
        ("every weekday at 25:00", "`25:00`"),
        ("every weekday at 8:75", "`8:75`"),
        ("13pm every day", "`13pm`"),
        ("every day at 25", "`25`"),
        ("every day at 24.10", "`24.10`"),
    ] {
        let why = read(text).unwrap_err().to_string();
        assert!(why.contains(&format!("{word} is no time of day")), "{text}: {why}");
        assert!(why.contains("0 to 23") && why.contains("for example"), "{text}: {why}");
    }
    // What is wrong with these is no time of day.
    for text in ["on the hour 23:00", "whenever you like at 9", "every 25.5 minutes", "24 december at 8"] {
        let why = read(text).unwrap_err().to_string();
        assert!(!why.contains("is no time of day"), "{text}: {why}");
    }
}
