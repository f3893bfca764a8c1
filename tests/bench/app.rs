//! The app as a person meets it: how soon its window answers, what it and an idle host keep in memory, how large it is.
//!
//! It runs on a display of its own and is looked at from outside, as pictures: nothing in it is told that it is measured.

use crate::Asked;
use crate::board::{Board, at, program};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts that are measured; the first, with nothing in the system's cache, is told by itself.
const STARTS: usize = 5;
/// A window that has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(60);
/// After that an idle program has settled.
const SETTLE: Duration = Duration::from_secs(8);
/// Shades of grey in a small picture of the display: an empty window has few, a drawn one many.
const DRAWN: usize = 24;

/// A display and a bus that go away with it.
struct Stage {
    folder: tempfile::TempDir,
    display: String,
    bus: String,
    programs: Vec<Child>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        for program in self.programs.iter_mut().rev() {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

impl Stage {
    fn open() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mut programs = Vec::new();
        let mut begin = |command: &mut Command| -> Option<String> {
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
            let mut line = String::new();
            BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
            programs.push(child);
            Some(line.trim().to_owned())
        };
        let screen = ["-displayfd", "1", "-screen", "0", "1400x900x24", "-nolisten", "tcp"];
        let display = format!(":{}", begin(Command::new("Xvfb").args(screen))?);
        let bus = ["--session", "--nofork", "--nopidfile", "--print-address=1"];
        let bus = begin(Command::new("dbus-daemon").args(bus).env("XDG_RUNTIME_DIR", folder.path()))?;
        let mut stage = Self { folder, display, bus, programs };
        let manager = stage.command("openbox").spawn().ok()?;
        stage.programs.push(manager);
        Some(stage)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env(name, self.folder.path());
        }
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("HERMIT_HOME", self.folder.path().join("store"))
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("GTK_USE_PORTAL", "0")
            .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// What the display shows, small and in shades of grey.
    fn picture(&self) -> Vec<u8> {
        let mut command = self.command("import");
        command.args(["-silent", "-window", "root", "-resize", "175x112!", "-depth", "8", "gray:-"]);
        command.stdout(Stdio::piped()).output().map(|output| output.stdout).unwrap_or_default()
    }

    fn until(&self, mut is_so: impl FnMut(&[u8]) -> bool) -> Option<Duration> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            // A picture takes a moment: what it shows was there when it was begun.
            let at = begun.elapsed();
            if is_so(&self.picture()) {
                return Some(at);
            }
        }
        None
    }
}

fn is_drawn(picture: &[u8]) -> bool {
    let mut seen = [false; 256];
    picture.iter().for_each(|shade| seen[usize::from(*shade)] = true);
    seen.iter().filter(|seen| **seen).count() >= DRAWN
}

/// A program and all below it: each by its name, with its own share of memory in megabytes.
fn shares(root: u32) -> BTreeMap<String, f64> {
    let read =
        |pid: u32, file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let numbers = || {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    let above = |pid: u32| -> Option<u32> {
        read(pid, "status").lines().find_map(|l| l.strip_prefix("PPid:")?.trim().parse().ok())
    };
    let mut family = vec![root];
    while let Some(next) =
        numbers().find(|pid| !family.contains(pid) && above(*pid).is_some_and(|up| family.contains(&up)))
    {
        family.push(next);
    }
    let mut found = BTreeMap::new();
    for pid in family {
        let rollup = read(pid, "smaps_rollup");
        let share: Option<f64> = rollup
            .lines()
            .find_map(|l| l.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok());
        *found.entry(read(pid, "comm").trim().to_owned()).or_insert(0.0) +=
            share.unwrap_or_default() / 1_024.0;
    }
    found
}

/// What a program alone keeps in memory and the system cannot take back, in megabytes.
fn kept_by(pid: u32) -> f64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let dirty = rollup.lines().find_map(|l| l.strip_prefix("Private_Dirty:")?.trim().strip_suffix(" kB"));
    dirty.and_then(|kilobytes| kilobytes.trim().parse::<f64>().ok()).unwrap_or(f64::NAN) / 1_024.0
}

fn told(shares: &BTreeMap<String, f64>) -> (f64, String) {
    let parts: Vec<String> = shares.iter().map(|(name, share)| format!("{name} {share:.0}")).collect();
    (shares.values().sum(), parts.join(", "))
}

/// The programs to measure: beside this one, or where `HERMIT_PROGRAMS` says, such as a package that was unpacked.
fn find(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("HERMIT_PROGRAMS").map(PathBuf::from);
    let there = folder.map(|folder| folder.join(name)).filter(|path| path.is_file());
    there.or_else(|| program(name))
}

fn end(mut child: Child) {
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    let _ = child.wait();
}

pub fn run(_: &Asked, board: &Board) {
    let (Some(app), Some(hermit)) = (find("hermit-desktop"), find("hermit")) else {
        return board.figure("the app", "not built: `npm run bundle`, or name its folder in HERMIT_PROGRAMS");
    };
    let Some(stage) = Stage::open() else {
        return board.figure("the app", "this machine has no Xvfb, dbus-daemon or openbox");
    };
    let megabytes = |path: &Path| path.metadata().map_or(0.0, |found| found.len() as f64 / 1e6);
    board.figure("the app's program alone", &format!("{:.1} MB", megabytes(&app)));
    let (mut drawn, mut answered) = (Vec::new(), Vec::new());
    for start in 0..STARTS {
        let begun = Instant::now();
        let child = stage.command(&app).spawn().expect("the app starts");
        let Some(_) = stage.until(is_drawn) else {
            end(child);
            return board.figure("the app", "its window never came");
        };
        let first = begun.elapsed();
        // The palette opens on a key when the page hears keys, and not before.
        let before = stage.picture();
        let _ = stage.command("xdotool").args(["key", "ctrl+k"]).status();
        let is_other = |picture: &[u8]| {
            picture.iter().zip(&before).filter(|(a, b)| a.abs_diff(**b) > 16).count() > before.len() / 50
        };
        let heard = stage.until(is_other).map(|_| begun.elapsed());
        let told_so = heard.map_or("no key was heard".to_owned(), |at| format!("{} ms", at.as_millis()));
        board.figure(
            &format!("start {}: first screen drawn; a key answered", start + 1),
            &format!("{} ms; {told_so}", first.as_millis()),
        );
        drawn.push(first);
        answered.extend(heard);
        if start + 1 == STARTS {
            std::thread::sleep(SETTLE);
            let (sum, parts) = told(&shares(child.id()));
            board.figure(
                "memory of the idle app, its share of all it uses",
                &format!("{sum:.0} MB ({parts})"),
            );
            let detail = "its process alone, without pages of files that the system can drop";
            board.at_most("memory that the idle app keeps, MB", kept_by(child.id()), 60.0, detail);
        }
        end(child);
    }
    let ms = |times: &mut Vec<Duration>| format!("{:.0} ms", at(times, 0.5) * 1_000.0);
    board.figure("first screen drawn, in the middle of these", &ms(&mut drawn));
    board.figure("a key answered, in the middle of these", &ms(&mut answered));
    let host = stage.command(&hermit).arg("serve").spawn().expect("the host starts");
    std::thread::sleep(SETTLE);
    let (sum, _) = told(&shares(host.id()));
    board.at_most("memory of an idle host without a window, MB", sum, 30.0, "its share of all it uses");
    end(host);
}
