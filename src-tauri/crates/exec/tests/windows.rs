//! Commands that `hermit-exec` starts on Windows: what they print, the number they end with, and that nobody outlives them.

use effects::Sandbox;
use model::receipt::SandboxLevel;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");
const PATH: &str = r"C:\Windows\System32;C:\Windows";
const OWN: [&str; 1] = ["--own"];
const RESTRICTED: [&str; 2] = ["--restricted", "S-1-9-1214607981-1-2-3-4"];
/// More than a slow machine takes for anything here.
const GENEROUS: Duration = Duration::from_secs(120);
/// How long a program that shall not outlive another would go on.
const LONG: &str = "600";

fn command(token: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(EXEC);
    command.args(token).args(["--host", &std::process::id().to_string(), "--memory", "1073741824"]);
    command.args(["--processes", "16", "--cpu", "120", "--"]).args(words).env("PATH", PATH);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ran(token: &[&str], words: &[&str]) -> Output {
    command(token, words).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Not every system lets a user make a lesser token; why not is told.
fn stands(token: &[&str]) -> bool {
    let tried = ran(token, &["cmd", "/d", "/c", "exit 0"]);
    let code = tried.status.code();
    let is_wall = code == Some(i32::from(exec::WALLS_FAILED))
        || token != OWN && code == Some(i32::from(exec::NOT_STARTED));
    if is_wall {
        let why = String::from_utf8_lossy(&tried.stderr).into_owned();
        conforms::lacks_walls(&format!("a command under {token:?} ({})", why.trim()));
    }
    !is_wall
}

#[test]
fn a_command_prints_and_ends_with_its_own_number() {
    for token in [&OWN[..], &RESTRICTED] {
        if !stands(token) {
            return;
        }
        let echoed = ran(token, &["cmd", "/d", "/c", "echo hello& exit 7"]);
        let complaints = String::from_utf8_lossy(&echoed.stderr).into_owned();
        assert_eq!(
            (said(&echoed).trim(), echoed.status.code()),
            ("hello", Some(7)),
            "{token:?}: {complaints}"
        );
        // All 32 bits of it.
        let large = ran(token, &["cmd", "/d", "/c", "exit -1073741510"]);
        assert_eq!(large.status.code(), Some(-1_073_741_510), "{token:?}");
    }
}

/// A server of tools lives so: it hears and answers while it lives, and ends when nobody speaks to it any more.
#[test]
fn a_program_is_spoken_to_over_its_streams_while_it_lives() {
    for token in [&OWN[..], &RESTRICTED] {
        if !stands(token) {
            return;
        }
        let mut child = command(token, &["cmd", "/d", "/q"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut asked = child.stdin.take().unwrap();
        let pipe = child.stdout.take().unwrap();
        let (send, heard) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines() {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        for word in ["first-answer", "second-answer"] {
            asked.write_all(format!("echo {word}\r\n").as_bytes()).unwrap();
            asked.flush().unwrap();
            // What it says first, and its prompts, are of no interest.
            while !heard.recv_timeout(GENEROUS).unwrap().trim_end().ends_with(word) {}
            assert!(child.try_wait().unwrap().is_none(), "{token:?}: it lives on");
        }
        drop(asked);
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < GENEROUS, "{token:?}: it hears that nobody speaks any more");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_is_no_program_is_told_by_its_number() {
    let none = ran(&OWN, &["no-such-program-of-hermit"]);
    assert_eq!(none.status.code(), Some(i32::from(exec::NOT_FOUND)));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no-such-program-of-hermit"));
    let nobody = ran(&["--restricted", "somebody"], &["cmd", "/d", "/c", "exit 0"]);
    assert_eq!(nobody.status.code(), Some(i32::from(exec::WALLS_FAILED)));
}

#[test]
fn a_batch_file_gets_its_words_and_no_second_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b.cmd");
    std::fs::write(&file, "@echo off\r\necho [%~1] [%~2]\r\nexit /b 3\r\n").unwrap();
    let file = file.to_str().unwrap();
    let told = ran(&OWN, &[file, "x y", "z"]);
    assert_eq!((said(&told).trim(), told.status.code()), ("[x y] [z]", Some(3)));
    let bad = ran(&OWN, &[file, "x&echo second"]);
    assert_eq!(bad.status.code(), Some(i32::from(exec::NOT_STARTED)), "{}", said(&bad));
    assert!(!said(&bad).contains("second"));
}

/// Whether its output is closed in time: whoever outlived it would hold it open.
fn closes(child: &mut Child) -> bool {
    let mut pipe = child.stdout.take().unwrap();
    let (send, heard) = channel();
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        let read = pipe.read_to_end(&mut rest);
        send.send(read.is_ok())
    });
    heard.recv_timeout(GENEROUS).is_ok()
}

#[test]
fn a_grandchild_ends_with_its_command() {
    for token in [&OWN[..], &RESTRICTED] {
        if !stands(token) {
            return;
        }
        // The command ends at once and leaves somebody who keeps its output open.
        let begun = Instant::now();
        let words = ["cmd", "/d", "/c", &format!("start /b ping -n {LONG} 127.0.0.1 & exit 5")];
        let mut child = command(token, &words).spawn().unwrap();
        assert!(closes(&mut child), "{token:?}: somebody outlived the command");
        assert_eq!(child.wait().unwrap().code(), Some(5), "{token:?}");
        assert!(begun.elapsed() < GENEROUS, "{token:?}");
    }
}

#[test]
fn a_command_that_is_ended_from_outside_ends_with_all_that_it_started() {
    let words = ["cmd", "/d", "/c", &format!("echo begun& ping -n {LONG} 127.0.0.1")];
    let begun = Instant::now();
    let mut child = command(&OWN, &words).spawn().unwrap();
    let mut first = String::new();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    pipe.read_line(&mut first).unwrap();
    assert_eq!(first.trim(), "begun");
    child.kill().unwrap();
    child.wait().unwrap();
    child.stdout = Some(pipe.into_inner());
    assert!(closes(&mut child), "somebody outlived what was ended");
    assert!(begun.elapsed() < GENEROUS);
}

/// Which sandbox a machine has differs; that its level is what was tried, and that the rest is told, does not.
#[test]
fn the_level_of_this_machine_is_what_was_tried_against_it() {
    let walls = Sandbox::probe(Path::new(EXEC));
    let why = walls.why();
    match walls.level() {
        SandboxLevel::AppContainer => {
            let escapes = walls.escapes().unwrap();
            assert!(escapes.all_refused(), "{escapes}");
        }
        SandboxLevel::RestrictedToken => {
            let escapes = walls.escapes().unwrap();
            let is_meant = |name: &&str| matches!(*name, "socket" | "network");
            assert!(escapes.through.iter().all(is_meant) && escapes.not_tried.is_empty(), "{escapes}");
            assert!(why.contains("an AppContainer"), "why it is not the best is told: {why}");
        }
        SandboxLevel::Unconfined => {
            for name in ["an AppContainer", "a restricted token"] {
                assert!(why.contains(name), "{name}: {why}");
            }
            conforms::lacks_walls(&format!("a sandbox of Windows ({why})"));
        }
        other => panic!("a level of another system: {other:?}"),
    }
}
