//! The executor of profiles with a stand-in in the place of the program that enforces them: what it is told is seen, and that
//! walls which hold nothing are found out.

use super::*;
use crate::system::walls::System;
use model::receipt::SandboxLevel;
use std::process::Command;

/// A program that is told as `sandbox-exec` is, does `what` and becomes the command. Another process writes it, so that nobody
/// has it open for writing when it is started.
fn stand_in(folder: &Path, what: &str) -> PathBuf {
    let program = folder.join("stand-in");
    let script = "printf '%s\\n' '#!/bin/sh' \"$2\" 'shift 2' 'exec \"$@\"' >\"$1\" && chmod 700 \"$1\"";
    let written = Command::new("/bin/sh").args(["-c", script, "sh"]).arg(&program).arg(what).status();
    assert!(written.unwrap().success());
    program
}

/// The stand-in is a script of a shell that Windows has not.
fn is_tried_here() -> bool {
    walls::SYSTEM != System::Windows
}

#[test]
fn walls_that_hold_nothing_are_found_out_and_called_not_confined() {
    if !is_tried_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let walls = Sandbox::by_profile(&stand_in(folder.path(), ":"));
    assert_eq!(walls.level(), SandboxLevel::SeatbeltOpen, "{}", walls.why());
    let through = walls.escapes().unwrap().through;
    for name in ["write outside", "read outside", "signal"] {
        assert!(through.contains(&name), "{name} was not found out: {}", walls.why());
    }
    assert!(!walls.is_confined() && walls.why().contains("got through: "), "{}", walls.why());
    assert!(walls.told().starts_with("sandbox: not confined: "), "{}", walls.told());
}

#[test]
fn a_program_that_refuses_the_profile_leaves_no_walls_and_its_words_are_told() {
    if !is_tried_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let walls = Sandbox::by_profile(&stand_in(folder.path(), "echo line 3: unbound variable >&2; exit 65"));
    assert_eq!(walls.level(), SandboxLevel::Unconfined);
    assert!(walls.why().contains("line 3: unbound variable"), "{}", walls.why());
    let missing = Sandbox::by_profile(&folder.path().join("nothing"));
    assert_eq!((missing.level(), missing.is_by_profile()), (SandboxLevel::Unconfined, false));
}

#[test]
fn a_command_gets_its_profile_its_words_its_folder_and_limits_and_nothing_of_this_process() {
    if !is_tried_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = stand_in(folder.path(), "printf '%s' \"$2\" >profile");
    let walls = Sandbox { seatbelt: Some(program), ..Sandbox::none(String::new()) };
    let lease = folder.path().canonicalize().unwrap().join("le \"ase");
    std::fs::create_dir_all(lease.join("src")).unwrap();
    let mut view = View::nowhere();
    view.root = lease.clone();
    view.cwd = lease.join("src");
    view.private = lease.clone();
    let script = "pwd; echo \"$1\"; ulimit -t; echo \"$HOME\"; env | wc -l";
    let argv = ["/bin/sh", "-c", script, "sh", "a 'b' $c"].map(str::to_owned);
    let ran = walls.enclosed(&view, &argv, 77).unwrap().stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    let at = |path: PathBuf| path.to_string_lossy().into_owned();
    assert_eq!(lines[..3], [at(lease.join("src")).as_str(), "a 'b' $c", "77"], "{out}");
    assert_eq!(lines[3], at(lease.join("home")));
    let variables: usize = lines[4].trim().parse().unwrap();
    assert!(variables <= 12, "this process's environment went along: {variables}");
    let profile = std::fs::read_to_string(lease.join("src/profile")).unwrap();
    assert!(profile.starts_with("(version 1)\n(deny default)\n"), "{profile}");
    assert!(profile.contains("le \\\"ase\")") && !profile.contains("network-outbound"), "{profile}");
    // What has no profile is not run without one.
    view.root = PathBuf::from("/a\nb");
    assert!(walls.command(&view, &argv, false, 1).unwrap_err().contains("rename it"));
}

#[test]
fn a_program_of_hermits_own_has_a_home_in_which_nothing_can_be_made() {
    let walls = Sandbox { seatbelt: Some("/x".into()), ..Sandbox::none(String::new()) };
    let command = walls.enclosed(&View::nowhere(), &["/bin/true".to_owned()], 1).unwrap();
    let home = command.get_envs().find(|(name, _)| *name == "HOME").and_then(|(_, value)| value);
    assert_eq!(home, Some(std::ffi::OsStr::new(crate::sandbox::NOWHERE)));
}

/// Where there is a program that enforces profiles, all of the table is tried; a survivor is what no profile has a word for.
#[test]
fn where_profiles_are_enforced_nothing_gets_through_but_a_grandchild() {
    let Some(program) = walls::SEATBELT else {
        return conforms::skip("nothing enforces Seatbelt profiles on this system");
    };
    let walls = Sandbox::by_profile(Path::new(program));
    let escapes = walls.escapes().unwrap_or_else(|why| panic!("{why}: {}", walls.why()));
    let reached: Vec<_> = escapes.through.iter().filter(|name| **name != "grandchild").collect();
    assert!(reached.is_empty() && escapes.not_tried.is_empty(), "{escapes}");
}
