//! What is tried against walls before they are believed: one table for all systems, as data. Each try says by which evidence it
//! is told that it got through, and most of it is found from outside, where the command has no say.

use super::Sandbox;
use crate::system::walls::System;
use model::receipt::SandboxLevel;

/// How it is told that a try got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The file `written` is in the folder outside.
    Written,
    /// What the file `secret` holds, or `got through`, was printed.
    Printed,
    /// Somebody connected to the port of the loopback address.
    Connected,
    /// Somebody connected to the socket in the folder outside.
    ConnectedLocally,
    /// The process outside has ended, or `got through` was printed by whoever ended it.
    Ended,
    /// A process still has the standard output open, after the command was ended with its group.
    Outlives,
}

/// One try.
#[derive(Debug, Clone, Copy)]
pub(super) struct Try {
    pub(super) name: &'static str,
    /// A script, with the folder outside, the port, the process and the socket as `$1` to `$4`; on Windows for PowerShell, with
    /// `$args` and a pipe in the place of the socket. It prints `not tried` where what it needs is not there.
    pub(super) script: &'static str,
    pub(super) evidence: Evidence,
}

const fn of(name: &'static str, evidence: Evidence, script: &'static str) -> Try {
    Try { name, script, evidence }
}

/// What tells of a try that got through, where nothing outside can see it.
pub(super) const THROUGH: &str = "got through";
/// What tells that a try could not be made.
pub(super) const NOT_TRIED: &str = "not tried";

/// The words by which a program connects to sockets at these places.
macro_rules! connects {
    ($places:literal) => {
        concat!(
            "command -v perl >/dev/null || echo not tried; exec perl -MSocket -e \
             'for (@ARGV) { my $s; socket($s, PF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un($_)) \
             && print \"got through\" }' ",
            $places
        )
    };
}

const LINUX: [Try; 9] = [
    of("write outside", Evidence::Written, "echo x >\"$1/written\""),
    of("read outside", Evidence::Printed, "cat \"$1/secret\""),
    of("keychain", Evidence::Printed, connects!("\"/run/user/$(id -u)/bus\" /run/dbus/system_bus_socket")),
    of(
        "socket",
        Evidence::Connected,
        "command -v bash >/dev/null || echo not tried; exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/'\"$2\"",
    ),
    of(
        "network",
        Evidence::Printed,
        "command -v bash >/dev/null || echo not tried; \
         exec bash -c 'exec 3<>/dev/udp/192.0.2.1/9 && echo got through'",
    ),
    of(
        "unix socket",
        Evidence::ConnectedLocally,
        "command -v perl >/dev/null || echo not tried; exec perl -MSocket -e \
         'socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($ARGV[0]))' \"$4\"",
    ),
    of("signal", Evidence::Ended, "kill -KILL \"$3\" && echo got through"),
    // The command ends only when the other has left its group: whoever still makes itself ready would be ended with it.
    of(
        "grandchild",
        Evidence::Outlives,
        "command -v setsid >/dev/null || echo not tried; \
         exec 3>&1; : \"$(setsid sh -c 'exec sleep 20 1>&3' &)\"",
    ),
    of(
        "clipboard",
        Evidence::Printed,
        // A folder that cannot be listed may be gone into all the same.
        connects!(
            "/tmp/.X11-unix/* /tmp/.X11-unix/X0 /tmp/.X11-unix/X1 \
             \"/run/user/$(id -u)\"/wayland-* \"/run/user/$(id -u)/wayland-0\""
        ),
    ),
];

const MAC_OS: [Try; 12] = [
    of("write outside", Evidence::Written, "echo x >\"$1/written\""),
    of("read outside", Evidence::Printed, "cat \"$1/secret\""),
    // It lists entries without what they hold, and asks nobody.
    of(
        "keychain",
        Evidence::Printed,
        "security dump-keychain 2>/dev/null | grep -q keychain: && echo got through",
    ),
    of("socket", Evidence::Connected, "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/'\"$2\""),
    of("network", Evidence::Printed, "exec bash -c 'exec 3<>/dev/udp/192.0.2.1/9 && echo got through'"),
    of(
        "unix socket",
        Evidence::ConnectedLocally,
        "command -v nc >/dev/null || echo not tried; exec nc -w 1 -U \"$4\" </dev/null",
    ),
    of("signal", Evidence::Ended, "kill -KILL \"$3\" && echo got through"),
    of(
        "grandchild",
        Evidence::Outlives,
        "command -v perl >/dev/null || echo not tried; \
         exec 3>&1; : \"$(perl -MPOSIX -e \
         'fork and exit; POSIX::setsid(); exec \"sh\", \"-c\", \"exec sleep 20 1>&3\"')\"",
    ),
    of(
        "process group",
        Evidence::Outlives,
        "command -v perl >/dev/null || echo not tried; \
         exec 3>&1; : \"$(perl -MPOSIX -e \
         'fork and exit; POSIX::setpgid(0, 0); exec \"sh\", \"-c\", \"exec sleep 20 1>&3\"')\"",
    ),
    // What it is told could begin a session where no rule sees it, so the call itself must be refused (1) or not be there (78).
    // Nothing is started: no program is named, of which a call that is there complains otherwise.
    of(
        "spawn",
        Evidence::Printed,
        "perl -e '$r = syscall(244, 0, 0, 0, 0, 0); $n = $! + 0; \
         print \"got through\" unless $r == -1 && ($n == 1 || $n == 78)' || echo not tried",
    ),
    // It says nothing of an empty clipboard; writing would take what a person copied.
    of("clipboard", Evidence::Printed, "[ -n \"$(pbpaste 2>/dev/null | head -c 1)\" ] && echo got through"),
    // Whoever can ask which program is in front can have one opened; nothing is opened by asking.
    of("open an app", Evidence::Printed, "lsappinfo front 2>/dev/null | grep -q ASN && echo got through"),
];

const WINDOWS: [Try; 10] = [
    of("write outside", Evidence::Written, "Set-Content -Path (Join-Path $args[0] 'written') -Value x"),
    of("read outside", Evidence::Printed, "Get-Content -Path (Join-Path $args[0] 'secret')"),
    of("keychain", Evidence::Printed, "if ((cmdkey /list) -match 'target=') { 'got through' }"),
    of("socket", Evidence::Connected, "[Net.Sockets.TcpClient]::new('127.0.0.1', [int]$args[1])"),
    of(
        "network",
        Evidence::Printed,
        // A container is asked at the first bytes, not before; nobody has this address.
        "$s = [Net.Sockets.UdpClient]::new(); $s.Connect('192.0.2.1', 9); \
         if ($s.Send([byte[]](0), 1) -eq 1) { 'got through' }",
    ),
    of(
        "unix socket",
        Evidence::ConnectedLocally,
        "$s = [IO.Pipes.NamedPipeClientStream]::new('.', $args[3]); $s.Connect(500)",
    ),
    of("signal", Evidence::Ended, "Stop-Process -Force -Id ([int]$args[2])"),
    of("grandchild", Evidence::Outlives, "Start-Process -NoNewWindow ping '-n 20 127.0.0.1'"),
    of("clipboard", Evidence::Printed, "if (Get-Clipboard) { 'got through' }"),
    of(
        "open an app",
        Evidence::Printed,
        "if ((New-Object -ComObject Shell.Application).Windows()) { 'got through' }",
    ),
];

/// The table of a system.
pub(super) const fn table(system: System) -> &'static [Try] {
    match system {
        System::Linux => &LINUX,
        System::MacOs => &MAC_OS,
        System::Windows => &WINDOWS,
    }
}

/// What came of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Nothing got through.
    Refused,
    /// Something did.
    Through,
    /// What it needs is not there, or it did not run: it shows nothing.
    NotTried,
}

/// What came of all tries, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Escapes {
    /// What was tried and refused.
    pub refused: Vec<&'static str>,
    /// What was tried and got through.
    pub through: Vec<&'static str>,
    /// What could not be tried.
    pub not_tried: Vec<&'static str>,
}

impl Escapes {
    pub(super) fn add(&mut self, name: &'static str, came: Came) {
        match came {
            Came::Refused => self.refused.push(name),
            Came::Through => self.through.push(name),
            Came::NotTried => self.not_tried.push(name),
        }
    }

    /// Whether all was tried and all was refused: what could not be tried is not believed.
    pub fn all_refused(&self) -> bool {
        self.through.is_empty() && self.not_tried.is_empty() && !self.refused.is_empty()
    }
}

impl std::fmt::Display for Escapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lists =
            [("refused", &self.refused), ("got through", &self.through), ("not tried", &self.not_tried)];
        let told = lists.iter().filter(|(_, names)| !names.is_empty());
        let told: Vec<String> = told.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
        f.write_str(&told.join("; "))
    }
}

impl Sandbox {
    /// Walls by a Seatbelt profile, at the level that what was tried against them shows.
    pub(super) fn measured(mut self, tried: Result<Escapes, String>) -> Self {
        (self.level, self.why) = match tried {
            Ok(escapes) if escapes.all_refused() => (SandboxLevel::Seatbelt, escapes.to_string()),
            Ok(escapes) => (SandboxLevel::SeatbeltOpen, escapes.to_string()),
            Err(why) => {
                self.seatbelt = None;
                (SandboxLevel::Unconfined, format!("`sandbox-exec` does not work here: {why}"))
            }
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::seatbelt::{Seatbelt, Stays};
    use super::*;
    use crate::egress_proxy::Meets;
    use std::collections::BTreeSet;

    #[test]
    fn every_system_tries_the_same_kinds_of_escape_each_under_one_name() {
        let names = |system| -> BTreeSet<&str> { table(system).iter().map(|one| one.name).collect() };
        let contract = [
            "write outside",
            "keychain",
            "socket",
            "unix socket",
            "grandchild",
            "signal",
            "network",
            "clipboard",
        ];
        for system in [System::Linux, System::MacOs, System::Windows] {
            let names = names(system);
            assert_eq!(names.len(), table(system).len(), "{system:?}: a name twice");
            for wanted in contract {
                assert!(names.contains(wanted), "{system:?} does not try: {wanted}");
            }
        }
        // Its walls keep a command together by its group alone.
        for wanted in ["process group", "spawn"] {
            assert!(names(System::MacOs).contains(wanted), "{wanted}");
        }
        // A program is opened over the same sockets as the keychain and the clipboard there.
        assert!([System::MacOs, System::Windows].iter().all(|system| names(*system).contains("open an app")));
    }

    #[test]
    fn a_try_that_nothing_outside_can_see_says_so_itself() {
        for system in [System::Linux, System::MacOs, System::Windows] {
            for one in table(system).iter().filter(|one| one.evidence == Evidence::Printed) {
                let says = one.script.contains(THROUGH) || one.script.contains("secret");
                assert!(says, "{system:?}: {} would never be told", one.name);
            }
        }
    }

    #[test]
    fn only_walls_that_refused_everything_are_believed_and_what_was_not_tried_is_not() {
        let escapes = |refused: &[&'static str], through: &[&'static str], not_tried: &[&'static str]| {
            Escapes { refused: refused.to_vec(), through: through.to_vec(), not_tried: not_tried.to_vec() }
        };
        let walls = || {
            let seatbelt = Seatbelt { program: "/x".into(), stays: Stays::WithoutSpawn };
            Sandbox { seatbelt: Some(seatbelt), ..Sandbox::none(String::new()) }
        };
        let level = |tried| walls().measured(tried).level();
        assert_eq!(level(Ok(escapes(&["signal"], &[], &[]))), SandboxLevel::Seatbelt);
        assert_eq!(level(Ok(escapes(&["signal"], &["network"], &[]))), SandboxLevel::SeatbeltOpen);
        assert_eq!(level(Ok(escapes(&["signal"], &[], &["network"]))), SandboxLevel::SeatbeltOpen);
        assert_eq!(level(Ok(Escapes::default())), SandboxLevel::SeatbeltOpen);
        let none = walls().measured(Err("no such file".to_owned()));
        assert_eq!((none.level(), none.has_walls()), (SandboxLevel::Unconfined, false));
        assert!(none.why().contains("no such file"));

        let open = walls().measured(Ok(escapes(&["signal", "socket"], &["grandchild"], &["keychain"])));
        assert_eq!(open.why(), "refused: signal, socket; got through: grandchild; not tried: keychain");
        assert!(!open.is_confined() && !open.can_hide() && open.has_walls());
        let best = walls().measured(Ok(escapes(&["signal"], &[], &[])));
        assert!(best.is_confined() && best.can_hide() && best.can_hold_network() && !best.can_layer());
        assert!(!open.can_hold_network(), "what was not refused all along holds no network");
        assert_eq!((best.meets(), Sandbox::none(String::new()).meets()), (Meets::AtPort, Meets::AtSocket));
    }
}
