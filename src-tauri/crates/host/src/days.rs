//! The person's days, by the clock of this machine, and what models may cost in one.

use crate::{Config, Error, Home};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use kernel::ports::{Day, Days};
use model::UnixMs;

/// Days where this machine is; the setting is read anew each time.
pub(crate) struct LocalDays {
    home: Home,
}

impl LocalDays {
    pub(crate) const fn new(home: Home) -> Self {
        Self { home }
    }
}

impl Days for LocalDays {
    fn day_of(&self, at: UnixMs) -> Result<Day, String> {
        let config = Config::load(&self.home).map_err(|e| e.to_string())?;
        let cost_micros_max = config.daily_ceiling.as_deref().map(api::dollars).transpose();
        let cost_micros_max =
            cost_micros_max.map_err(|why| format!("`daily_ceiling` in config.json: {why}"))?;
        let day =
            day_in(at, &TimeZone::system()).map_err(|e| format!("what day it is cannot be told: {e}"))?;
        Ok(Day { cost_micros_max, ..day })
    }
}

/// The zone of this machine as it is set now, by its name; UTC where it has none.
pub(crate) fn zone() -> String {
    TimeZone::system().iana_name().unwrap_or("UTC").to_owned()
}

/// The day that an instant lies in, in a zone. Its first instant is not always midnight, and it may have 23 hours or 25.
fn day_in(at: UnixMs, zone: &TimeZone) -> Result<Day, jiff::Error> {
    let there: Zoned = Timestamp::from_millisecond(at.0)?.to_zoned(zone.clone());
    let begins = there.start_of_day()?;
    let ends = there.tomorrow()?.start_of_day()?;
    Ok(Day {
        name: begins.strftime("%Y-%m-%d").to_string(),
        begins: UnixMs(begins.timestamp().as_millisecond()),
        ends: UnixMs(ends.timestamp().as_millisecond()),
        ends_in_words: ends.strftime("%Y-%m-%d %H:%M (UTC%:z)").to_string(),
        cost_micros_max: None,
    })
}

/// Keeps what models may cost in a day.
pub(crate) fn keep_ceiling(home: &Home, cost_micros_max: Option<u64>) -> Result<(), Error> {
    let text = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    Config::change(home, |config| {
        config.daily_ceiling = cost_micros_max.map(text);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_day_ends_at_the_next_midnight_there_and_has_25_hours_when_clocks_go_back() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        let at = UnixMs("2026-11-27T07:59:59Z".parse::<Timestamp>().unwrap().as_millisecond());
        let day = day_in(at, &zone).unwrap();
        assert_eq!((day.name.as_str(), day.ends.0), ("2026-11-26", at.0 + 1_000));
        assert_eq!(day.ends_in_words, "2026-11-27 00:00 (UTC-08:00)");
        assert_eq!(day_in(day.ends, &zone).unwrap().name, "2026-11-27");
        let Ok(berlin) = TimeZone::get("Europe/Berlin") else { return };
        let at = UnixMs("2026-10-25T12:00:00Z".parse::<Timestamp>().unwrap().as_millisecond());
        let day = day_in(at, &berlin).unwrap();
        assert_eq!(day.ends.0 - day.begins.0, 25 * 3_600_000);
    }

    #[test]
    fn days_keep_their_ceiling_while_other_settings_change() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::find(Some(folder.path())).unwrap();
        let refused = |n: usize| format!("parameter {n}");
        std::thread::scope(|scope| {
            for of in 0..4 {
                let home = &home;
                scope.spawn(move || {
                    for n in 0..25 {
                        let with = |config: &mut Config| {
                            let mut own = config.model("openai:http://127.0.0.1:1/v1#m").cloned();
                            let mut own = own.take().unwrap_or_default();
                            "openai:http://127.0.0.1:1/v1#m".clone_into(&mut own.address);
                            own.without.insert(refused(of * 25 + n));
                            config.set_model(own);
                            Ok(())
                        };
                        Config::change(home, with).unwrap();
                    }
                });
            }
            keep_ceiling(&home, Some(5_000_000)).unwrap();
        });
        let config = Config::load(&home).unwrap();
        assert_eq!(config.daily_ceiling.as_deref(), Some("5.000000"));
        assert_eq!(config.models[0].without.len(), 100);
    }
}
