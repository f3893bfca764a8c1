//! How this machine stands, as conditions of schedules ask for it: its power, its network, and whether somebody is at it (schedule.md
//! 1). What the system does not tell is told as that.

#[cfg(any(target_os = "macos", test))]
mod mac;
#[cfg(target_os = "linux")]
mod system_bus;
#[cfg(any(windows, test))]
mod windows;

use kernel::ports::Surroundings;
use model::schedule::Condition;

/// How it stands now. A service of the system is asked only where a condition asks for what it knows.
#[cfg(target_os = "linux")]
pub(crate) fn now(asked: &[Condition]) -> Surroundings {
    use std::path::Path;
    let supplies = Path::new("/sys/class/power_supply");
    let if_asked = |of, tell: fn() -> Option<bool>| asked.contains(&of).then(tell).flatten();
    Surroundings {
        on_mains: linux::on_mains(supplies),
        has_network: linux::has_network(Path::new("/proc/net")),
        battery_percent: linux::battery_percent(supplies),
        is_idle: if_asked(Condition::Idle, system_bus::is_idle),
        is_unmetered: if_asked(Condition::Unmetered, system_bus::is_unmetered),
    }
}

/// How it stands now. A program of the system is started only where a condition asks for what it tells; whether the network is
/// metered none of them tells.
#[cfg(target_os = "macos")]
pub(crate) fn now(asked: &[Condition]) -> Surroundings {
    let if_asked = |of, tell: fn() -> Option<bool>| asked.contains(&of).then(tell).flatten();
    Surroundings {
        on_mains: mac::on_mains(),
        has_network: if_asked(Condition::Network, mac::has_network),
        battery_percent: mac::battery_percent(),
        is_idle: if_asked(Condition::Idle, mac::is_idle),
        is_unmetered: None,
    }
}

/// How it stands now. What only a condition asks for is asked only then; a service tells what the network costs.
#[cfg(windows)]
pub(crate) fn now(asked: &[Condition]) -> Surroundings {
    let if_asked = |of, tell: fn() -> Option<bool>| asked.contains(&of).then(tell).flatten();
    Surroundings {
        on_mains: windows::on_mains(),
        has_network: if_asked(Condition::Network, windows::has_network),
        battery_percent: windows::battery_percent(),
        is_idle: if_asked(Condition::Idle, windows::is_idle),
        is_unmetered: if_asked(Condition::Unmetered, windows::is_unmetered),
    }
}

/// Nobody asks this system yet.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub(crate) fn now(_: &[Condition]) -> Surroundings {
    Surroundings::default()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    /// A route that is in use.
    const UP: u32 = 1;
    /// One that takes nothing.
    const REJECT: u32 = 0x200;

    /// Whether what the machine runs on is no battery. One without a battery is on mains power.
    pub(super) fn on_mains(at: &Path) -> Option<bool> {
        let (mut is_supplied, mut is_drained) = (false, false);
        for supply in std::fs::read_dir(at).ok()?.flatten() {
            let read = |name: &str| std::fs::read_to_string(supply.path().join(name)).unwrap_or_default();
            match read("type").trim() {
                "Mains" | "USB" => is_supplied |= read("online").trim() == "1",
                // That of a mouse or a keyboard is not the machine's.
                "Battery" if read("scope").trim() != "Device" => {
                    is_drained |= read("status").trim() == "Discharging";
                }
                _ => {}
            }
        }
        Some(is_supplied || !is_drained)
    }

    /// Per cent of all that the machine's batteries hold; none where it has none, or nobody tells.
    pub(super) fn battery_percent(at: &Path) -> Option<u32> {
        let (mut batteries, mut percent, mut now, mut full) = (0_u64, 0_u64, 0_u64, 0_u64);
        for supply in std::fs::read_dir(at).ok()?.flatten() {
            let read = |name: &str| std::fs::read_to_string(supply.path().join(name)).unwrap_or_default();
            let number = |name: &str| read(name).trim().parse::<u64>().ok();
            if read("type").trim() != "Battery" || read("scope").trim() == "Device" {
                continue;
            }
            let Some(capacity) = number("capacity") else { continue };
            (batteries, percent) = (batteries.saturating_add(1), percent.saturating_add(capacity.min(100)));
            // Of two batteries that differ in size the larger one says more.
            if let Some((has, holds)) = number("energy_now").zip(number("energy_full")) {
                (now, full) = (now.saturating_add(has), full.saturating_add(holds));
            }
        }
        let all = match batteries > 1 && full > 0 {
            true => now.saturating_mul(100).checked_div(full),
            false => percent.checked_div(batteries),
        };
        all.and_then(|percent| u32::try_from(percent.min(100)).ok())
    }

    /// Whether there is a way out of this machine: a default route that is in use.
    pub(super) fn has_network(at: &Path) -> Option<bool> {
        let read = |name: &str| std::fs::read_to_string(at.join(name)).ok();
        let (v4, v6) = (read("route"), read("ipv6_route"));
        if v4.is_none() && v6.is_none() {
            return None;
        }
        let is_up = |flags: Option<&&str>| {
            flags
                .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                .is_some_and(|flags| flags & (UP | REJECT) == UP)
        };
        let is_zero = |text: Option<&&str>| text.is_some_and(|hex| hex.chars().all(|c| c == '0'));
        let leads_out_v4 = |line: &str| {
            let of: Vec<&str> = line.split_whitespace().collect();
            of.get(1) == Some(&"00000000") && of.get(7) == Some(&"00000000") && is_up(of.get(3))
        };
        let leads_out_v6 = |line: &str| {
            let of: Vec<&str> = line.split_whitespace().collect();
            // A modem or a tunnel is a way out without the address of a next machine.
            let is_default = is_zero(of.first()) && of.get(1) == Some(&"00");
            is_default && is_up(of.get(8)) && of.get(9).is_some_and(|device| *device != "lo")
        };
        let v4 = v4.unwrap_or_default();
        let v6 = v6.unwrap_or_default();
        Some(v4.lines().any(leads_out_v4) || v6.lines().any(leads_out_v6))
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

        use super::*;

        /// What the system tells of a supply of power.
        fn put(folder: &Path, supply: &str, facts: &[(&str, &str)]) {
            let at = folder.join(supply);
            std::fs::create_dir_all(&at).unwrap();
            for (name, text) in facts {
                std::fs::write(at.join(name), format!("{text}\n")).unwrap();
            }
        }

        #[test]
        fn a_battery_that_is_drained_and_nothing_that_supplies_is_no_mains_power() {
            let folder = tempfile::TempDir::new().unwrap();
            let put = |supply: &str, facts: &[(&str, &str)]| put(folder.path(), supply, facts);
            assert_eq!(on_mains(&folder.path().join("gone")), None);
            assert_eq!(on_mains(folder.path()), Some(true), "it has no battery");
            put("mouse", &[("type", "Battery"), ("scope", "Device"), ("status", "Discharging")]);
            assert_eq!(on_mains(folder.path()), Some(true));
            put("BAT0", &[("type", "Battery"), ("status", "Discharging")]);
            put("AC", &[("type", "Mains"), ("online", "0")]);
            assert_eq!(on_mains(folder.path()), Some(false));
            put("AC", &[("online", "1")]);
            assert_eq!(on_mains(folder.path()), Some(true));
            put("AC", &[("online", "0")]);
            put("BAT0", &[("status", "Charging")]);
            assert_eq!(on_mains(folder.path()), Some(true), "what charges it is not told");
        }

        #[test]
        fn what_is_in_its_batteries_is_told_together_and_that_of_a_mouse_is_none_of_it() {
            let folder = tempfile::TempDir::new().unwrap();
            let put = |supply: &str, facts: &[(&str, &str)]| put(folder.path(), supply, facts);
            let told = || battery_percent(folder.path());
            assert_eq!((battery_percent(&folder.path().join("gone")), told()), (None, None));
            put("AC", &[("type", "Mains"), ("online", "1")]);
            put("mouse", &[("type", "Battery"), ("scope", "Device"), ("capacity", "7")]);
            assert_eq!(told(), None);
            put(
                "BAT0",
                &[("type", "Battery"), ("capacity", "80"), ("energy_now", "8"), ("energy_full", "10")],
            );
            assert_eq!(told(), Some(80));
            put("BAT1", &[("type", "Battery"), ("capacity", "20")]);
            put("BAT1", &[("energy_now", "18"), ("energy_full", "90")]);
            assert_eq!(told(), Some(26), "of what both hold");
            std::fs::remove_file(folder.path().join("BAT1/energy_now")).unwrap();
            std::fs::remove_file(folder.path().join("BAT0/energy_now")).unwrap();
            assert_eq!(told(), Some(50));
        }

        #[test]
        fn a_default_route_in_use_is_a_network() {
            let folder = tempfile::TempDir::new().unwrap();
            let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(has_network(folder.path()), None);
            let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
            put("route", head);
            assert_eq!(has_network(folder.path()), Some(false));
            let near = "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
            put("route", &format!("{head}{near}"));
            assert_eq!(has_network(folder.path()), Some(false), "the next machine alone");
            let out = "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
            put("route", &format!("{head}{out}{near}"));
            assert_eq!(has_network(folder.path()), Some(true));
            put("route", &format!("{head}{}", out.replace("0003", "0002")));
            assert_eq!(has_network(folder.path()), Some(false), "it is not in use");
            let none = "0".repeat(32);
            let v6 = |next: &str, device: &str| {
                format!("{none} 00 {none} 00 {next} 00000400 00000001 00000000 00000003 {device}\n")
            };
            put("ipv6_route", &v6(&none, "lo"));
            assert_eq!(has_network(folder.path()), Some(false), "it leads nowhere");
            put("ipv6_route", &v6(&format!("fe8{}1", "0".repeat(28)), "eth0"));
            assert_eq!(has_network(folder.path()), Some(true));
            put("ipv6_route", &v6(&none, "wwan0"));
            assert_eq!(has_network(folder.path()), Some(true), "a modem has no next machine");
            put("ipv6_route", &v6(&none, "wwan0").replace(" 00000003 ", " 00000201 "));
            assert_eq!(has_network(folder.path()), Some(false), "it takes nothing");
            std::fs::remove_file(folder.path().join("route")).unwrap();
            put("ipv6_route", &v6(&none, "tun0"));
            assert_eq!(has_network(folder.path()), Some(true), "a machine without the older protocol");
        }
    }
}
