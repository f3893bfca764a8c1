//! What programs of macOS print of this machine: its power, the way out of it, and how long nobody has touched it.

#[cfg(target_os = "macos")]
pub(super) use system::{battery_percent, has_network, is_idle, on_mains};

/// How long nobody touches a machine that nobody is at, as desktops of Linux have it.
const IDLE_S: u64 = 5 * 60;
/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Whether it runs on mains power, by what `pmset -g batt` prints first.
fn is_supplied(told: &str) -> Option<bool> {
    let source = told.lines().next()?.split_once('\'')?.1.split_once('\'')?.0;
    match source {
        "AC Power" => Some(true),
        // What keeps a machine without a battery running when the mains fail is drained as well.
        "Battery Power" | "UPS Power" => Some(false),
        _ => None,
    }
}

/// Per cent of what its batteries hold, by the same; none where it has none. That of a mouse or a keyboard is not the machine's.
fn charge(told: &str) -> Option<u32> {
    let percent =
        |line: &str| line.split_whitespace().find_map(|word| word.strip_suffix("%;")?.parse::<u32>().ok());
    let all: Vec<u32> = told
        .lines()
        .filter(|line| line.trim_start().starts_with("-InternalBattery"))
        .filter_map(percent)
        .collect();
    let many = u32::try_from(all.len()).ok().filter(|many| *many > 0)?;
    all.iter().try_fold(0_u32, |sum, one| sum.checked_add((*one).min(100))).map(|sum| sum / many)
}

/// Whether there is a way out of it, by what `route -n get default` prints: the device that it leads through.
fn leads_out(told: &str) -> bool {
    let device = told.lines().find_map(|line| line.trim_start().strip_prefix("interface:"));
    device.is_some_and(|device| !matches!(device.trim(), "" | "lo0"))
}

/// Whether nobody is at it, by what `ioreg -c IOHIDSystem` prints: nanoseconds since something was touched.
fn is_untouched(told: &str) -> Option<bool> {
    let since = told.lines().find_map(|line| line.split_once("\"HIDIdleTime\" = "))?.1;
    since.trim().parse::<u64>().ok().map(|since| since / SECOND_NS >= IDLE_S)
}

#[cfg(target_os = "macos")]
mod system {
    use std::process::{Command, Stdio};
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, Instant};

    /// How long what was printed is told again: schedules are looked at one behind the other.
    const TOLD: Duration = Duration::from_secs(10);

    /// What a program printed last, and when.
    struct Printed(Mutex<Option<(Instant, Option<String>)>>);

    static POWER: Printed = Printed(Mutex::new(None));
    static ROUTE: Printed = Printed(Mutex::new(None));
    static ROUTE_6: Printed = Printed(Mutex::new(None));
    static TOUCHED: Printed = Printed(Mutex::new(None));

    impl Printed {
        /// The same while it is new, or what it prints now; none where it cannot be started.
        fn by(&self, program: &str, words: &[&str]) -> Option<String> {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((at, told)) = &*last
                && at.elapsed() < TOLD
            {
                return told.clone();
            }
            let mut command = Command::new(program);
            command.args(words).env_clear().env("LC_ALL", "C").stdin(Stdio::null());
            let told =
                command.output().ok().map(|printed| String::from_utf8_lossy(&printed.stdout).into_owned());
            *last = Some((Instant::now(), told.clone()));
            told
        }
    }

    fn power() -> Option<String> {
        POWER.by("/usr/bin/pmset", &["-g", "batt"])
    }

    pub(crate) fn on_mains() -> Option<bool> {
        super::is_supplied(&power()?)
    }

    pub(crate) fn battery_percent() -> Option<u32> {
        super::charge(&power()?)
    }

    pub(crate) fn has_network() -> Option<bool> {
        let v4 = ROUTE.by("/sbin/route", &["-n", "get", "default"])?;
        let v6 = ROUTE_6.by("/sbin/route", &["-n", "get", "-inet6", "default"])?;
        Some(super::leads_out(&v4) || super::leads_out(&v6))
    }

    pub(crate) fn is_idle() -> Option<bool> {
        super::is_untouched(
            &TOUCHED.by("/usr/sbin/ioreg", &["-c", "IOHIDSystem", "-r", "-k", "HIDIdleTime", "-d", "1"])?,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAINED: &str = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t68%; discharging; 4:12 remaining present: true\n";
    const CHARGED: &str = "Now drawing from 'AC Power'\n -InternalBattery-0 (id=4653155)\t100%; charged; 0:00 remaining present: true\n";

    #[test]
    fn what_a_machine_runs_on_and_what_its_batteries_hold_is_read_and_nothing_is_made_up() {
        assert_eq!((is_supplied(DRAINED), charge(DRAINED)), (Some(false), Some(68)));
        assert_eq!((is_supplied(CHARGED), charge(CHARGED)), (Some(true), Some(100)));
        let desk = "Now drawing from 'AC Power'\n";
        assert_eq!((is_supplied(desk), charge(desk)), (Some(true), None), "it has no battery");
        let ups = "Now drawing from 'UPS Power'\n -Back-UPS ES 700 (id=1)\t42%; discharging; 0:20 remaining present: true\n";
        assert_eq!((is_supplied(ups), charge(ups)), (Some(false), None));
        let two =
            format!("{DRAINED} -InternalBattery-1 (id=2)\t20%; discharging; (no estimate) present: true\n");
        assert_eq!(charge(&two), Some(44));
        for other in ["", "Now drawing from ''\n", "No batteries", " -InternalBattery-0\tx%; y"] {
            assert_eq!((is_supplied(other), charge(other)), (None, None), "{other}");
        }
    }

    #[test]
    fn a_default_route_through_a_device_is_a_network() {
        let route = "   route to: default\ndestination: default\n       mask: default\n    gateway: 192.0.2.1\n  interface: en0\n";
        assert!(leads_out(route));
        assert!(!leads_out(&route.replace("en0", "lo0")) && !leads_out(&route.replace("en0", "")));
        assert!(!leads_out("") && !leads_out("route: writing to routing socket: not in table\n"));
    }

    #[test]
    fn nobody_is_at_a_machine_that_was_not_touched_for_five_minutes() {
        let told = |ns: u64| {
            format!("+-o IOHIDSystem  <class IOHIDSystem>\n    {{\n      \"HIDIdleTime\" = {ns}\n    }}\n")
        };
        assert_eq!(is_untouched(&told(299 * SECOND_NS)), Some(false));
        assert_eq!(is_untouched(&told(300 * SECOND_NS)), Some(true));
        assert_eq!(is_untouched(""), None);
        assert_eq!(is_untouched("\"HIDIdleTime\" = soon"), None);
    }
}
