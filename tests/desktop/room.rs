//! A desktop of its own for each test: display, window manager, session bus, keychain, notifications, panel.

use super::bus::Panel;
use super::driver::Driver;
use crate::journeys::{desktop_program, hermit};
use serde_json::Value;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Lines, TO_THE_END, output};

/// What opens the approval key.
pub const APPROVAL: &str = "a yes of words";
/// The page of the app's own window.
pub const MAIN: &str = "/";
/// The page of the window a yes is given in.
pub const DESK: &str = "/approval.html";

/// Longest wait for what comes by itself: a window, a title, a file. A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(40);

/// Programs without which nothing can be shown, and the package each is in on Debian.
const PROGRAMS: [(&str, &str); 8] = [
    ("Xvfb", "xvfb"),
    ("openbox", "openbox"),
    ("dbus-daemon", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("dunst", "dunst"),
    ("xdotool", "xdotool"),
    ("import", "imagemagick"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
];

/// One desktop at a time: each is a few hundred megabytes and two busy processors.
static TURN: Mutex<()> = Mutex::new(());

/// A desktop.
pub struct Room {
    dir: TempDir,
    display: String,
    bus: String,
    programs: Vec<Child>,
    /// Its panel.
    pub panel: Panel,
    _turn: MutexGuard<'static, ()>,
}

/// What a desktop may lack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// It has all of it.
    Nothing,
    /// Nobody shows notifications, and nobody can be started who would.
    Notifications,
}

/// A bus that starts nothing by itself.
const BARE_BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context="default"><allow send_destination="*"
eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"#;

/// A desktop, or none with the reason said.
pub fn room(test: &str) -> Option<Room> {
    room_without(test, Without::Nothing)
}

/// A desktop that lacks something.
pub fn room_without(test: &str, without: Without) -> Option<Room> {
    let on_path = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
    };
    let missing: Vec<&str> =
        PROGRAMS.iter().filter(|(name, _)| !on_path(name)).map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        conforms::lacks(&format!("{test} needs a desktop, and {}", missing.join(", ")));
        return None;
    }
    if desktop_program().is_none() {
        conforms::lacks(&format!("{test} needs hermit-desktop, which `npm test` builds; it"));
        return None;
    }
    Some(Room::open(without))
}

impl Room {
    fn open(without: Without) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = TempDir::new().expect("a folder");
        for name in ["home", "run", "config", "data", "cache", "work", "store"] {
            std::fs::create_dir(dir.path().join(name)).expect("a folder");
        }
        private(&dir.path().join("run"));
        private(&dir.path().join("store"));
        let mut programs = Vec::new();
        let display = format!(
            ":{}",
            first_line(
                Command::new("Xvfb").args([
                    "-displayfd",
                    "1",
                    "-screen",
                    "0",
                    "1400x900x24",
                    "-nolisten",
                    "tcp"
                ]),
                &mut programs,
            )
        );
        let mut bus = Command::new("dbus-daemon");
        match without {
            Without::Nothing => bus.arg("--session"),
            Without::Notifications => {
                let file = dir.path().join("bus.conf");
                std::fs::write(&file, BARE_BUS).expect("a file");
                bus.arg(format!("--config-file={}", file.display()))
            }
        };
        bus.args(["--nofork", "--nopidfile", "--print-address=1"]);
        let bus = first_line(bus.env("XDG_RUNTIME_DIR", dir.path().join("run")), &mut programs);
        let panel = Panel::begin(&bus);
        let mut room = Self { dir, display, bus, programs, panel, _turn: turn };
        room.furnish(without);
        room
    }

    fn furnish(&mut self, without: Without) {
        let settings = self.at("dunstrc");
        // What is chosen in its menu is the line that refuses.
        std::fs::write(
            &settings,
            "[global]\n  dmenu = grep -m1 Deny\n  follow = none\n  enable_recursive_icon_lookup = false\n",
        )
        .expect("a file");
        let mut keyring = self.command("gnome-keyring-daemon");
        keyring.args(["--foreground", "--unlock", "--components=secrets"]).stdin(Stdio::piped());
        let mut keyring = keyring.spawn().expect("a keychain");
        keyring.stdin.take().expect("its input").write_all(b"a login").expect("it is unlocked");
        let openbox = self.command("openbox").spawn().expect("a window manager");
        self.programs.extend([keyring, openbox]);
        if without != Without::Notifications {
            let dunst = self.command("dunst").arg("-config").arg(settings).spawn().expect("notifications");
            self.programs.push(dunst);
        }
    }

    /// A program on this desktop, silent.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("HOME", self.at("home"))
            .env("XDG_RUNTIME_DIR", self.at("run"))
            .env("XDG_CONFIG_HOME", self.at("config"))
            .env("XDG_DATA_HOME", self.at("data"))
            .env("XDG_CACHE_HOME", self.at("cache"))
            .env("HERMIT_HOME", self.at("store"))
            .env("HERMIT_TEST_SECURITY_KEY", self.at("key"))
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("GTK_USE_PORTAL", "0")
            .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("HERMIT_PASSPHRASE_FILE")
            .env_remove("HERMIT_FAULT")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if std::env::var_os("HERMIT_DESKTOP_LOUD").is_none() {
            command.stderr(Stdio::null());
        }
        command
    }

    /// The display's name.
    pub fn display(&self) -> String {
        self.display.clone()
    }

    /// Where a window stands on the display.
    pub fn place(&self, title: &str) -> (u32, u32) {
        let window = self.window(title).expect("a window");
        let said = self.xdo(&["getwindowgeometry", "--shell", &window]);
        let number = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {name} in {said}"))
        };
        (number("X"), number("Y"))
    }

    /// A place on this desktop.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The folder worked in.
    pub fn work(&self) -> PathBuf {
        self.at("work")
    }

    /// The app, driven.
    pub fn app(&mut self) -> Driver {
        self.app_told(&[])
    }

    /// The same with more in its environment.
    pub fn app_told(&mut self, more: &[(&str, &str)]) -> Driver {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let mut driver = self.command("WebKitWebDriver");
        driver
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("TAURI_AUTOMATION", "true")
            .envs(more.iter().copied());
        self.programs.push(driver.spawn().expect("WebKit's driver"));
        until("WebKit's driver listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        let app = desktop_program().expect("it is built");
        let driver = Driver::begin(port, app).unwrap_or_else(|why| panic!("the app did not start: {why}"));
        until("the app's page is there", || driver.has("//h2 | //h1"));
        driver
    }

    /// `hermit --json` on the same store: attached to the app while it runs.
    pub fn hermit(&self, words: &[&str]) -> Value {
        let mut command = self.command(hermit());
        let output = output(command.arg("--json").args(words), TO_THE_END).expect("hermit");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text)
            .unwrap_or_else(|e| panic!("{words:?}: {e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// `xdotool` with these words; what it printed.
    pub fn xdo(&self, words: &[&str]) -> String {
        // `windowactivate --sync` waits for a window that is never activated for ever.
        let output = output(self.command("xdotool").args(words), PATIENCE).expect("xdotool");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The window of this title, visible; none while there is none.
    pub fn window(&self, title: &str) -> Option<String> {
        let found = self.xdo(&["search", "--onlyvisible", "--name", title]);
        found.lines().last().map(str::to_owned).filter(|id| !id.is_empty())
    }

    /// Brings a window forward, as a click on it would.
    pub fn forward(&self, title: &str) -> String {
        until(&format!("there is a window `{title}`"), || self.window(title).is_some());
        let id = self.window(title).expect("a window");
        self.xdo(&["windowactivate", "--sync", &id]);
        id
    }

    /// Moves the pointer to a place of a window's page, and does this with its button.
    pub fn point(&self, window: &str, (x, y): (i64, i64), button: &[&str]) {
        let (x, y) = (x.to_string(), y.to_string());
        self.xdo(&[&["mousemove", "--window", window, &x, &y], button].concat());
    }

    /// Keeps what the display shows, in the target folder.
    pub fn picture(&self, name: &str) {
        let folder = pictures();
        let path = folder.join(format!("{name}.png"));
        let taken = self.command("import").args(["-window", "root"]).arg(&path).status();
        assert!(taken.is_ok_and(|status| status.success()) && path.is_file(), "no picture of {name}");
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for program in self.programs.iter_mut().rev() {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// Where pictures are kept.
pub fn pictures() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test.ancestors().nth(3).expect("the target folder").join("desktop");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[cfg(unix)]
fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).expect("its mode");
}

/// Starts a program that says one line when it is ready.
fn first_line(command: &mut Command, programs: &mut Vec<Child>) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = Lines::of(child.stdout.take().expect("its words"));
    programs.push(child);
    lines.next().expect("a line").trim().to_owned()
}

/// Waits for what comes by itself.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(soon(is_so), "it never came that {what}");
}

/// Whether something came by itself, in the time that is given to such things.
pub fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}
