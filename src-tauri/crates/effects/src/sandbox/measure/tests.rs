//! The executor of profiles with a stand-in in the place of the program that enforces them: what it is told is seen, and that
//! walls which hold nothing are found out.

use super::super::Asks;
use super::super::seatbelt::{Seatbelt, Stays};
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

/// Walls by this program that nobody has tried.
fn by(program: PathBuf) -> Sandbox {
    let seatbelt = Seatbelt { program, stays: Stays::WithoutSpawn };
    Sandbox { seatbelt: Some(seatbelt), ..Sandbox::none(String::new()) }
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
fn what_each_try_printed_is_told_apart_where_all_are_made_in_one_shell() {
    let [first, second, third, ..] = table(System::Linux) else { panic!("three tries") };
    let printed = format!("{BEGUN}\n{}\nwords{}\n{THROUGH}", head(first), head(second));
    assert_eq!(part(&printed, first), Some("\nwords"));
    assert_eq!(part(&printed, second), Some("\ngot through"));
    assert_eq!(part(&printed, third), None, "what was not come to shows nothing");
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
    let walls = by(program);
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
    let walls = by("/x".into());
    let command = walls.enclosed(&View::nowhere(), &["/bin/true".to_owned()], 1).unwrap();
    let home = command.get_envs().find(|(name, _)| *name == "HOME").and_then(|(_, value)| value);
    assert_eq!(home, Some(std::ffi::OsStr::new(crate::sandbox::NOWHERE)));
}

/// An older system does not know each word of the language: what it refuses is left out, and what that costs is found by trying.
#[test]
fn a_system_that_does_not_know_a_word_gets_a_profile_without_it() {
    if !is_tried_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let refuses = "case \"$2\" in *errno*) echo unbound variable: errno >&2; exit 65;; esac";
    let walls = Sandbox::by_profile(&stand_in(folder.path(), refuses));
    assert_eq!(walls.seatbelt.as_ref().map(|by| by.stays), Some(Stays::Refused), "{}", walls.why());
    assert!(walls.has_walls() && !walls.is_confined(), "the stand-in holds nothing: {}", walls.why());
}

/// The port of the proxy is open in the profile that is tried as well, and no other is.
#[test]
fn what_reaches_a_proxy_is_a_profile_with_its_port_and_whom_it_trusts() {
    let walls = by("/x".into());
    let mut view = View::nowhere();
    view.root = PathBuf::from("/no such/lease");
    view.private = PathBuf::from("/no such/private");
    let roots = Some(PathBuf::from("/no such/run/roots.pem"));
    let told = vec![("HTTPS_PROXY".to_owned(), "http://hermit:x@127.0.0.1:50000".into())];
    view.proxy = Some(crate::command::view::WayOut { socket: None, port: Some(50000), roots, told });
    let command = walls.enclosed(&view, &["/bin/true".to_owned()], 1).unwrap();
    let profile = command.get_args().nth(1).unwrap().to_str().unwrap().to_owned();
    assert!(profile.contains("(allow network-outbound (remote tcp \"localhost:50000\"))"), "{profile}");
    assert!(profile.contains("(subpath \"/no such/run/roots.pem\")"), "{profile}");
    let proxy = command.get_envs().find(|(name, _)| *name == "HTTPS_PROXY").and_then(|(_, value)| value);
    assert_eq!(proxy, Some(std::ffi::OsStr::new("http://hermit:x@127.0.0.1:50000")));
}

/// What is spoken to over its standard streams behind a profile that was believed, with the network: it comes out at the port alone.
#[test]
fn a_server_of_tools_behind_a_profile_asks_its_host_through_the_proxy_and_needs_walls_that_were_believed() {
    use std::io::Write as _;
    if !is_tried_here() || !Path::new("/bin/bash").exists() {
        return conforms::skip("`/bin/bash`, which the script of this test needs, is not here");
    }
    let folder = tempfile::tempdir().unwrap();
    let host = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = host.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in host.incoming().flatten() {
            let (mut asked, mut byte) = (Vec::new(), [0]);
            while !asked.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                asked.extend_from_slice(&byte);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere").unwrap();
        }
    });
    let walls = Sandbox { level: SandboxLevel::Seatbelt, ..by(stand_in(folder.path(), ":")) };
    let hosts = [format!("127.0.0.1:{port}")];
    let secrets = crate::egress_proxy::NoSecrets;
    let outlet =
        crate::egress_proxy::Outlet::open((folder.path(), walls.meets()), &hosts, &[], &secrets, "salt");
    let outlet = outlet.unwrap();
    let mut view = View::nowhere();
    view.private = folder.path().canonicalize().unwrap();
    view.proxy = Some(outlet.way_out());
    let script = "at=${HTTP_PROXY#http://}; said=$(printf %s \"${at%@*}\" | base64 | tr -d '\\n'); at=${at#*@}
        exec 3<>\"/dev/tcp/${at%:*}/${at#*:}\"
        printf 'GET http://127.0.0.1:%s/ HTTP/1.1\\r\\n%s\\r\\n\\r\\n' \"$1\" \"Proxy-Authorization: Basic $said\" >&3
        cat <&3";
    let argv = ["/bin/bash", "-c", script, "bash", &port.to_string()].map(str::to_owned);
    let (mut command, _lent) = walls.spoken_to(&view, &argv, true, 60).unwrap();
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(out.starts_with("HTTP/1.1 200") && out.ends_with("here"), "{out} {:?}", ran.stderr);
    let open = Sandbox { level: SandboxLevel::SeatbeltOpen, ..walls };
    let refused = open.spoken_to(&view, &argv, true, 60).err();
    assert_eq!(refused, Some(open.lacks(Asks::Server)), "what got through somewhere holds no network");
}

/// Where there is a program that enforces profiles, all of the table is tried and refused: else commands have no walls there.
#[test]
fn where_profiles_are_enforced_nothing_gets_through() {
    let Some(program) = walls::SEATBELT else {
        return conforms::skip("nothing enforces Seatbelt profiles on this system");
    };
    let walls = Sandbox::by_profile(Path::new(program));
    assert_eq!(walls.level(), SandboxLevel::Seatbelt, "{}", walls.why());
    assert!(walls.is_confined() && walls.can_hold_network(), "{}", walls.why());
}
