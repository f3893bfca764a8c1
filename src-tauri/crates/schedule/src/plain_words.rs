//! Rules as people say them: `every weekday at 8:30`, `on the first of each month at noon`, `tomorrow at 9`.

mod afar;
mod trigger;

use crate::rule::{instant, zone as zone_of};
use crate::{NotARule, check, cron as of_cron, every};
use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, ToSpan as _};
use model::UnixMs;
use model::schedule::{Rule, Trigger};

/// The longest text, in bytes.
const TEXT_MAX: usize = 300;
/// How far a single time may lie ahead, in milliseconds: ten years.
const ONCE_MS_MAX: i64 = 10 * 366 * 86_400_000;

const DAYS: [(&str, u8, Weekday); 7] = [
    ("sunday", 0, Weekday::Sunday),
    ("monday", 1, Weekday::Monday),
    ("tuesday", 2, Weekday::Tuesday),
    ("wednesday", 3, Weekday::Wednesday),
    ("thursday", 4, Weekday::Thursday),
    ("friday", 5, Weekday::Friday),
    ("saturday", 6, Weekday::Saturday),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
const ORDINALS: [&str; 6] = ["zeroth", "first", "second", "third", "fourth", "fifth"];

/// A rule from what a person wrote, and what it waits for where that is no time: as [`parse`], and `when a file lands here`,
/// `when main moves`, `after morning`.
///
/// # Errors
/// [`NotARule`], with what can be written instead.
pub fn said(text: &str, zone: &str, now: UnixMs) -> Result<(Rule, Option<Trigger>), NotARule> {
    if text.len() <= TEXT_MAX
        && let Some(on) = trigger::parse(text.trim())
    {
        return on.map(|on| (Rule::Event, Some(on)));
    }
    parse(text, zone, now).map(|rule| (rule, None))
}

/// A rule from what a person wrote: plain English words, or a cron expression as it is.
///
/// `now`: the instant that `tomorrow` and the grid of a period are counted from.
///
/// # Errors
/// [`NotARule`], with what can be written instead: nothing is guessed.
pub fn parse(text: &str, zone: &str, now: UnixMs) -> Result<Rule, NotARule> {
    if text.len() > TEXT_MAX {
        return Err(NotARule(format!("a time is said in at most {TEXT_MAX} characters")));
    }
    let lower = text.trim().to_lowercase();
    if looks_like_cron(&lower) {
        return of_cron(&lower, zone);
    }
    let spaced = lower.replace(',', " , ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let found = Words { all: &words, at: 0 }.rule(zone, now)?;
    let rule = found.ok_or_else(|| {
        let fault = no_time(&words).map_or_else(String::new, |word| {
            format!(
                "`{word}` is no time of day (hours 0 to 23 and minutes 0 to 59, or hours 1 to 12 with am or pm); "
            )
        });
        NotARule(format!(
            "`{}` is not understood as a time: {fault}write for example \"every weekday at 8:30\", \"every 15 minutes\", \"on the \
             first of each month at noon\", \"tomorrow at 9\", \"2027-01-31 08:00\", a cron expression such as \
             \"30 8 * * MON-FRI\", or what else it waits for, such as \"when a file lands here\"",
            text.trim()
        ))
    })?;
    check(&rule)?;
    Ok(rule)
}

/// The first word that is written as a time of day and is none: `25:00`, `8:75`, `13pm`, or `25` and `24.10` behind `at`.
fn no_time<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mut is_behind_at = false;
    words.iter().copied().find(|&word| {
        let half = ["am", "pm"].iter().find_map(|end| word.strip_suffix(end));
        let digits = half.unwrap_or(word);
        let is_meant = match digits.split_once([':', '.']) {
            Some((hour, minute)) => {
                (is_behind_at || digits.contains(':')) && is_digits(hour) && is_digits(minute)
            }
            None => (is_behind_at || half.is_some()) && is_digits(digits),
        };
        is_behind_at = word == "at";
        is_meant && Words { all: &[word], at: 0 }.clock().is_none()
    })
}

/// Whether it is meant as a cron expression: five parts that begin as its fields do, or a nickname.
fn looks_like_cron(text: &str) -> bool {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let field = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit() || c == '*');
    text.starts_with('@') || parts.len() >= 4 && parts.iter().take(3).all(|part| field(part) || *part == "l")
}

/// The words that are still to be read.
struct Words<'a> {
    all: &'a [&'a str],
    at: usize,
}

/// On which days.
enum On {
    /// Cron's fields: day of the month, month, day of the week.
    Each([String; 3]),
    /// One day.
    Day(Date),
}

impl Words<'_> {
    /// The rule that all of the words say; none where one of them is not understood.
    fn rule(mut self, zone: &str, now: UnixMs) -> Result<Option<Rule>, NotARule> {
        if let Some(rule) = self.period(now) {
            return rule.map(Some);
        }
        if self.take("in") {
            let Some(ms) = self.span().filter(|_| self.ended()) else { return Ok(None) };
            let at = UnixMs(now.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
            return at_once(at, zone, now).map(Some);
        }
        // "at 8 every weekday" is "every weekday at 8".
        let before = if self.take("at") { self.times() } else { None };
        let Some((on, usual)) = self.days(zone, now)? else { return Ok(None) };
        let times = match before {
            Some(times) => Some(times),
            None => {
                let _ = self.take("at");
                if self.ended() { usual.map(|time| vec![time]) } else { self.times() }
            }
        };
        let Some(times) = times.filter(|_| self.ended()) else { return Ok(None) };
        match on {
            On::Day(day) => once(day, &times, zone, now).map(Some),
            On::Each(fields) => cron(&fields, &times, zone).map(Some),
        }
    }

    fn peek(&self) -> Option<&str> {
        self.all.get(self.at).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn take_one(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.take(word))
    }

    fn ended(&self) -> bool {
        self.at == self.all.len()
    }

    /// Reads with this, and goes back where it does not fit.
    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let begin = self.at;
        let found = read(self);
        if found.is_none() {
            self.at = begin;
        }
        found
    }

    /// `every 15 minutes`, `hourly`: a period, where nothing else follows.
    fn period(&mut self, now: UnixMs) -> Option<Result<Rule, NotARule>> {
        let ms = self.maybe(|words| {
            if words.take("hourly") {
                return words.ended().then_some(3_600_000);
            }
            if !words.take_one(&["every", "each"]) {
                return None;
            }
            let ms = words.span()?;
            words.ended().then_some(ms)
        })?;
        Some(every(ms, now))
    }

    /// `15 minutes`, `an hour`, `hour`, `two days`: milliseconds. A day alone is a day of the calendar, and no period.
    fn span(&mut self) -> Option<u64> {
        let counted = self.maybe(|words| {
            let word = words.peek()?;
            let n = if matches!(word, "a" | "an") { 1 } else { number(word)? };
            words.at += 1;
            Some(n)
        });
        let unit: u64 = match self.peek()?.strip_suffix('s').unwrap_or(self.peek()?) {
            "minute" | "min" => 60_000,
            "hour" => 3_600_000,
            "day" if counted.is_some() => 86_400_000,
            "week" if counted.is_some() => 7 * 86_400_000,
            _ => return None,
        };
        self.at += 1;
        counted.unwrap_or(1).checked_mul(unit)
    }

    /// On which days, and the time of day that the words imply.
    fn days(&mut self, zone: &str, now: UnixMs) -> Result<Option<(On, Option<Time>)>, NotARule> {
        if let Some(found) = self.one_day(zone, now)? {
            return Ok(Some(found));
        }
        let each = |dom: &str, month: &str, dow: &str| On::Each([dom, month, dow].map(str::to_owned));
        let _ = self.take("on");
        let _ = self.take("the");
        let said = self.take_one(&["every", "each"]);
        if self.take("daily") || said && self.take("day") {
            return Ok(Some((each("*", "*", "*"), None)));
        }
        for (word, hour) in [("morning", 8), ("noon", 12), ("evening", 18), ("night", 22), ("midnight", 0)] {
            if said && self.take(word) {
                return Ok(Some((each("*", "*", "*"), Some(Time::constant(hour, 0, 0, 0)))));
            }
        }
        if let Some(days) = self.weekdays() {
            let usual = if self.take("morning") { Some(Time::constant(8, 0, 0, 0)) } else { None };
            return Ok(Some((each("*", "*", &days), usual)));
        }
        if let Some(day) = self.maybe(|words| words.day_of_month()) {
            return Ok(Some((each(&day[0], "*", &day[1]), None)));
        }
        // "24 december" alone could be one day or each year's: "every year on 24 december" is read.
        let year = if said { self.maybe(|words| words.day_of_year()) } else { None };
        Ok(year.map(|(month, day)| (each(&day.to_string(), &month.to_string(), "*"), None)))
    }

    /// `today`, `tomorrow`, `monday` alone, `2027-01-31`: one day.
    fn one_day(&mut self, zone: &str, now: UnixMs) -> Result<Option<(On, Option<Time>)>, NotARule> {
        let there = Timestamp::from_millisecond(now.0).map_err(|e| NotARule(e.to_string()))?;
        let today = zone_of(zone)?.to_datetime(there).date();
        let found = self.maybe(|words| {
            if words.take("today") {
                return Some(today);
            }
            if words.take("tomorrow") {
                return today.tomorrow().ok();
            }
            let _ = words.take("on");
            let next = words.take("next");
            let word = words.peek()?;
            let day = if let Some((_, _, day)) = DAYS.iter().find(|(name, _, _)| *name == word) {
                let ahead = i64::from(today.weekday().until(*day));
                today.checked_add((if ahead == 0 { 7 } else { ahead }).days()).ok()?
            } else {
                word.parse::<Date>().ok().filter(|_| !next && word.len() == 10)?
            };
            words.at += 1;
            // "monday and friday" are no one day.
            (!matches!(words.peek(), Some("and" | ","))).then_some(day)
        });
        Ok(found.map(|day| (On::Day(day), None)))
    }

    /// `weekday`, `weekend`, `monday, wednesday and friday`, `mondays`, `monday to friday`: cron's day of the week.
    fn weekdays(&mut self) -> Option<String> {
        if self.take_one(&["weekday", "weekdays", "workday", "workdays"]) {
            return Some("1-5".to_owned());
        }
        if self.take_one(&["weekend", "weekends"]) {
            return Some("0,6".to_owned());
        }
        let first = self.weekday()?;
        if self.take_one(&["to", "through", "-"]) {
            let last = self.weekday()?;
            // A range may go over the end of the week.
            let days = (0..7).map(|n| (first + n) % 7);
            let upto = days.clone().position(|day| day == last)?;
            return Some(list(days.take(upto + 1)));
        }
        let mut all = vec![first];
        while self.take_one(&["and", ","]) {
            let _ = self.take("and");
            all.push(self.weekday()?);
        }
        Some(list(all.into_iter()))
    }

    fn weekday(&mut self) -> Option<u8> {
        let word = self.peek()?;
        let word = word.strip_suffix('s').unwrap_or(word);
        let (_, number, _) = DAYS.iter().find(|(name, _, _)| *name == word || name.get(..3) == Some(word))?;
        self.at += 1;
        Some(*number)
    }

    /// `first of each month`, `15th of the month`, `last day of every month`, `first monday of the month`: cron's day of the
    /// month and of the week.
    fn day_of_month(&mut self) -> Option<[String; 2]> {
        let last = self.take("last");
        let nth = if last { None } else { Some(self.ordinal()?) };
        let weekday = self.weekday();
        if weekday.is_none() {
            let _ = self.take("day");
        }
        if !self.take("of") || !self.take_one(&["each", "every", "the", "a"]) || !self.take("month") {
            return None;
        }
        match (nth, weekday) {
            (Some(n), Some(day)) if n <= 5 => Some(["*".to_owned(), format!("{day}#{n}")]),
            (None, Some(day)) => Some(["*".to_owned(), format!("{day}#L")]),
            (Some(n), None) if n <= 31 => Some([n.to_string(), "*".to_owned()]),
            (None, None) => Some(["L".to_owned(), "*".to_owned()]),
            _ => None,
        }
    }

    /// `year on 24 december`, `24 december`, `december 24`: month and day.
    fn day_of_year(&mut self) -> Option<(usize, u64)> {
        let _ = self.take("year");
        let _ = self.take("on");
        let day = self.maybe(|words| words.ordinal());
        let _ = day.is_some() && self.take("of");
        let month = self.peek()?;
        let month = MONTHS.iter().position(|name| *name == month)? + 1;
        self.at += 1;
        let day = match day {
            Some(day) => day,
            None => self.ordinal()?,
        };
        (1..=31).contains(&day).then_some((month, day))
    }

    /// `first`, `1st`, `1`.
    fn ordinal(&mut self) -> Option<u64> {
        let word = self.peek()?;
        let bare = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let n = ORDINALS.iter().position(|name| *name == word).and_then(|n| u64::try_from(n).ok());
        let n = n.or_else(|| bare.parse().ok()).filter(|n| *n > 0)?;
        self.at += 1;
        Some(n)
    }

    /// `8:30`, `half past eight`, `8 and 17`: times of day.
    fn times(&mut self) -> Option<Vec<Time>> {
        let mut all = vec![self.time()?];
        while self.take_one(&["and", ","]) {
            let _ = self.take("and");
            let _ = self.take("at");
            all.push(self.time()?);
        }
        Some(all)
    }

    fn time(&mut self) -> Option<Time> {
        for (word, hour) in [("noon", 12), ("midnight", 0)] {
            if self.take(word) {
                return Time::new(hour, 0, 0, 0).ok();
            }
        }
        for (first, second, minute) in [("half", "past", 30), ("quarter", "past", 15), ("quarter", "to", -15)]
        {
            let hour = self.maybe(|words| {
                let _ = words.take("a");
                (words.take(first) && words.take(second)).then(|| words.clock())?
            });
            if let Some(hour) = hour {
                // "half past 8:30" is no time, and a quarter to midnight lies on the day before.
                let whole = Some(hour).filter(|hour| hour.minute() == 0)?;
                return whole.checked_add(i64::from(minute).minutes()).ok();
            }
        }
        self.clock()
    }

    /// `8`, `eight`, `8:30`, `8.30`, `8am`, `8 pm`, `20h`, `8 o'clock`.
    fn clock(&mut self) -> Option<Time> {
        let word = self.peek()?.to_owned();
        let (digits, half) = match word.find(|c: char| c.is_ascii_alphabetic()) {
            Some(at) if word.starts_with(|c: char| c.is_ascii_digit()) => word.split_at(at),
            _ => (word.as_str(), ""),
        };
        let (hour, minute) = digits.split_once([':', '.']).unwrap_or((digits, "0"));
        let minute: i8 = (minute.len() <= 2).then(|| minute.parse().ok())??;
        let hour = number(hour).and_then(|hour| i8::try_from(hour).ok())?;
        self.at += 1;
        let half = if half.is_empty() {
            let next = ["am", "pm", "o'clock"].into_iter().find(|half| self.take(half));
            next.unwrap_or_default().to_owned()
        } else {
            half.to_owned()
        };
        let hour = match half.as_str() {
            "" | "h" | "o'clock" => hour,
            "am" if (1..=12).contains(&hour) => hour % 12,
            "pm" if (1..=12).contains(&hour) => hour % 12 + 12,
            _ => return None,
        };
        Time::new(hour, minute, 0, 0).ok()
    }
}

fn number(word: &str) -> Option<u64> {
    let named = NUMBERS.iter().position(|name| *name == word).and_then(|n| u64::try_from(n).ok());
    named.or_else(|| word.parse().ok().filter(|_| word.bytes().all(|b| b.is_ascii_digit())))
}

fn list(days: impl Iterator<Item = u8>) -> String {
    let mut days: Vec<u8> = days.collect();
    days.sort_unstable();
    days.dedup();
    days.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

fn cron(fields: &[String; 3], times: &[Time], zone: &str) -> Result<Rule, NotARule> {
    let minute = times.first().map_or(0, |time| time.minute());
    if times.iter().any(|time| time.minute() != minute) {
        return Err(NotARule(
            "times of one schedule are at the same minute, such as 8:30 and 17:30: make a schedule for each"
                .to_owned(),
        ));
    }
    let mut hours: Vec<i8> = times.iter().map(|time| time.hour()).collect();
    hours.sort_unstable();
    hours.dedup();
    let hours = hours.iter().map(i8::to_string).collect::<Vec<_>>().join(",");
    let [dom, month, dow] = fields;
    of_cron(&format!("{minute} {hours} {dom} {month} {dow}"), zone)
}

fn once(day: Date, times: &[Time], zone: &str, now: UnixMs) -> Result<Rule, NotARule> {
    let [time] = times else { return Err(NotARule("what happens once has one time".to_owned())) };
    let (at, _) = instant(&zone_of(zone)?, day.to_datetime(*time))
        .ok_or_else(|| NotARule("there is no such time: write one of the next ten years".to_owned()))?;
    at_once(UnixMs(at.as_millisecond()), zone, now)
}

fn at_once(at: UnixMs, zone: &str, now: UnixMs) -> Result<Rule, NotARule> {
    if at.0 <= now.0 {
        return Err(NotARule("that time has gone by: write one that is still to come".to_owned()));
    }
    if at.0.saturating_sub(now.0) > ONCE_MS_MAX {
        return Err(NotARule("that time is too far: write one of the next ten years".to_owned()));
    }
    Ok(Rule::Once { at, zone: zone.to_owned() })
}

#[cfg(test)]
mod tests;
