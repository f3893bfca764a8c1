//! What Windows tells in numbers of this machine: its power, what its network costs, and how long nobody has touched it.

#[cfg(windows)]
pub(super) use system::{battery_percent, has_network, is_idle, is_unmetered, on_mains};

/// How long nobody touches a machine that nobody is at, as desktops of Linux have it.
const IDLE_MS: u32 = 5 * 60 * 1_000;

/// A bit of its battery: there is none.
const NO_BATTERY: u8 = 128;
/// What it says of a battery that nobody knows.
const UNKNOWN: u8 = 255;

/// Whether it runs on mains power. A machine that says of mains power nothing, and has no battery, does.
const fn is_supplied(mains: u8, battery: u8) -> Option<bool> {
    match mains {
        0 => Some(false),
        1 => Some(true),
        _ if battery != UNKNOWN && battery & NO_BATTERY != 0 => Some(true),
        _ => None,
    }
}

/// Per cent of what its batteries hold; none where it has none, or nobody knows.
fn charge(battery: u8, percent: u8) -> Option<u32> {
    (battery & NO_BATTERY == 0 && percent <= 100).then(|| u32::from(percent))
}

/// Whether nobody is at it.
const fn is_untouched(idle_ms: u32) -> bool {
    idle_ms >= IDLE_MS
}

/// Whether its network is not metered, by the bits of what it costs (`NLM_CONNECTION_COST`).
const fn is_free(cost: u32) -> Option<bool> {
    /// Each byte is paid for, or there is a limit; it is over its limit; it is somebody else's network.
    const METERED: u32 = 0x0002 | 0x0004 | 0x0001_0000 | 0x0004_0000;
    const UNRESTRICTED: u32 = 0x0001;
    if cost & METERED != 0 {
        Some(false)
    } else if cost & UNRESTRICTED != 0 {
        Some(true)
    } else {
        None
    }
}

#[cfg(windows)]
mod system {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, Instant};

    /// How long what a service told is told again: schedules are looked at one behind the other.
    const TOLD: Duration = Duration::from_secs(10);
    /// How long a service may take to tell.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// What the network costs, as it was told last, and when.
    static COST: Mutex<Option<(Instant, Option<u32>)>> = Mutex::new(None);
    /// Somebody still asks for it: one that never gets an answer is not asked again beside it.
    static IS_ASKED: AtomicBool = AtomicBool::new(false);

    pub(crate) fn on_mains() -> Option<bool> {
        let power = win32::power().ok()?;
        super::is_supplied(power.mains, power.battery)
    }

    pub(crate) fn battery_percent() -> Option<u32> {
        let power = win32::power().ok()?;
        super::charge(power.battery, power.percent)
    }

    pub(crate) fn has_network() -> Option<bool> {
        win32::has_route()
    }

    pub(crate) fn is_idle() -> Option<bool> {
        let idle = win32::idle_ms().ok()?;
        idle.map(super::is_untouched)
    }

    pub(crate) fn is_unmetered() -> Option<bool> {
        let mut last = COST.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = match *last {
            Some((at, cost)) if at.elapsed() < TOLD => cost,
            _ => {
                let cost = cost();
                *last = Some((Instant::now(), cost));
                cost
            }
        };
        super::is_free(cost?)
    }

    /// Asks on a thread of its own, which is left where no answer comes.
    fn cost() -> Option<u32> {
        if IS_ASKED.swap(true, Ordering::SeqCst) {
            return None;
        }
        let (tells, told) = channel();
        let ask = move || {
            let cost = win32::network_cost();
            IS_ASKED.store(false, Ordering::SeqCst);
            let _ = tells.send(cost);
        };
        if std::thread::Builder::new().name("network-cost".to_owned()).spawn(ask).is_err() {
            IS_ASKED.store(false, Ordering::SeqCst);
            return None;
        }
        told.recv_timeout(PATIENCE).ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_windows_without_mains_power_runs_on_its_battery_and_one_without_a_battery_does_not() {
        assert_eq!(is_supplied(0, 1), Some(false));
        assert_eq!(is_supplied(1, 8), Some(true));
        assert_eq!(is_supplied(255, NO_BATTERY), Some(true), "nothing else is there to run on");
        assert_eq!(is_supplied(255, UNKNOWN), None);
        assert_eq!(is_supplied(255, 1), None);
        assert_eq!((charge(1, 80), charge(8, 100), charge(0, 0)), (Some(80), Some(100), Some(0)));
        assert_eq!((charge(NO_BATTERY, 100), charge(1, 255), charge(UNKNOWN, 50)), (None, None, None));
    }

    #[test]
    fn nobody_is_at_a_machine_of_windows_after_five_minutes() {
        assert!(!is_untouched(0) && !is_untouched(IDLE_MS - 1));
        assert!(is_untouched(IDLE_MS) && is_untouched(u32::MAX));
    }

    #[test]
    fn a_network_that_costs_is_metered_and_one_of_which_nothing_is_known_is_neither() {
        assert_eq!((is_free(0), is_free(0x0002_0000)), (None, None));
        assert_eq!(is_free(1), Some(true));
        assert_eq!(is_free(0x0008_0001), Some(true), "it comes near a limit, and is not over it");
        for cost in [2, 4, 0x0001_0001, 0x0004_0001, 0x0001_0002] {
            assert_eq!(is_free(cost), Some(false), "{cost:x}");
        }
    }
}
