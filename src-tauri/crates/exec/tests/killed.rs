//! The host of a command is killed: what can be told afterwards.
#![allow(clippy::disallowed_methods, reason = "this test starts itself as the host that will be killed")]

use crate::support::{self, World};
use acts::{Action, ActionRequest};
use effects::{Executors, Sandbox, Spool, TranscriptState, Workspace};
use model::fault::Point;
use model::witness::StateWitness;
use model::{RelPath, WorkspaceId};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");
const HOST: &str = "HERMIT_TEST_HOST";

fn request(world: &World, script: &str) -> (ActionRequest, StateWitness) {
    let argv = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    let request = world.request(Action::Command(acts::Command {
        argv,
        cwd: RelPath::ROOT,
        network: false,
        timeout_ms: 60_000,
        hosts: Vec::new(),
        secrets: Vec::new(),
    }));
    let witness = world.witness(&request);
    (request, witness)
}

fn settle(world: &World, case: &(ActionRequest, StateWitness)) -> effects::Transcript {
    world.executors.settle(&case.0, &case.1).transcript.unwrap()
}

/// Waits for something that is bound to happen, for as long as a slow machine may need.
fn until(what: &str, happened: impl Fn() -> bool) {
    let begin = Instant::now();
    while !happened() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::yield_now();
    }
}

/// Not a test of its own: the host process that the next test starts and kills.
#[test]
fn the_host_that_will_be_killed() {
    let Some(folder) = std::env::var_os(HOST).map(PathBuf::from) else { return };
    let text = std::fs::read(folder.join("request.json")).unwrap();
    let (id, request): (WorkspaceId, ActionRequest) = serde_json::from_slice(&text).unwrap();
    let world = World::new();
    let sandbox = match folder.join("landlock").exists() {
        true => Sandbox::probe_without_namespaces(Path::new(EXEC)),
        false => Sandbox::probe(Path::new(EXEC)),
    };
    let executors = Executors::new(
        Workspace::open(&folder.join("lease"), id).unwrap(),
        world.shelf.clone(),
        support::no_faults(),
        Arc::new(support::StillClock),
        Spool::new(folder.join("store/spool")),
        sandbox,
    );
    executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
}

#[conforms::conforms("HK-6.4-2")]
#[test]
fn a_command_whose_host_was_killed_is_unknown_and_ends_with_its_host() {
    for landlock in [false, true] {
        let world = World::new();
        let word = format!("86397.{}{}", std::process::id(), u8::from(landlock));
        world.put("made", "less");
        let case = request(&world, &format!("echo more > made; echo here; exec sleep {word}"));
        std::fs::write(
            world.folder.path().join("request.json"),
            serde_json::to_vec(&(world.id, &case.0)).unwrap(),
        )
        .unwrap();
        if landlock {
            std::fs::write(world.folder.path().join("landlock"), "").unwrap();
        }
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::the_host_that_will_be_killed"])
            .env(HOST, world.folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let spool = world.store.join("spool").join(case.0.action_request_id.to_string());
        let printed = || std::fs::read(spool.join("stdout")).is_ok_and(|bytes| bytes == b"here\n");
        until("the command", printed);
        if !landlock {
            assert_eq!(settle(&world, &case).state, TranscriptState::Running);
        }
        host.kill().unwrap();
        host.wait().unwrap();
        until("the end of the command", || settle(&world, &case).state != TranscriptState::Running);
        let found = settle(&world, &case);
        assert_eq!(found.state, TranscriptState::Unknown, "{found:?}");
        assert_eq!(found.stdout, b"here\n");
        assert!(!found.state.is_certain());
        // What it had done by then is told, with what was there before.
        let settled = world.executors.settle(&case.0, &case.1);
        assert_eq!(settled.changes.len(), 1, "{settled:?}");
        assert_eq!(settled.kept.len(), 1, "{settled:?}");
        assert_eq!(world.shelf.0.lock().unwrap().get(&settled.kept[0].sha256).unwrap(), b"less");
        let alive = || {
            let lines = std::fs::read_dir("/proc").unwrap().flatten();
            let mut lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
            lines.any(|line| line.starts_with(b"sleep") && String::from_utf8_lossy(&line).contains(&word))
        };
        until("the death of the command", || !alive());
        // It is not begun a second time, whatever is asked.
        let again = world.executors.perform(world.authorize(&case.0), &case.0, &|| false, &mut |_| {});
        assert_eq!(again.result_code, model::receipt::ResultCode::Failed);
        assert!(again.error.unwrap().contains("transcript"));
    }
}

#[test]
fn a_command_that_ended_is_told_from_one_that_never_began() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    let never = request(&world, "echo never");
    assert_eq!(settle(&world, &never).state, TranscriptState::NeverStarted);
    let ended = request(&world, "echo out; echo err >&2; exit 4");
    world.perform(&ended.0);
    let found = settle(&world, &ended);
    assert_eq!((found.state, found.exit_code), (TranscriptState::Exited, Some(4)));
    assert_eq!((found.stdout, found.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    world.executors.observe(&[]);
    Spool::new(world.store.join("spool")).forget(ended.0.action_request_id).unwrap();
    assert_eq!(settle(&world, &ended).state, TranscriptState::NeverStarted);
}

#[test]
fn a_break_before_the_start_is_never_started_and_one_behind_it_is_not_hidden() {
    for (point, after, expected) in [
        (Point::CommandSpawn, false, TranscriptState::NeverStarted),
        (Point::CommandTranscript, false, TranscriptState::Unknown),
        (Point::CommandTranscript, true, TranscriptState::Exited),
    ] {
        let world = World::with(Sandbox::probe(Path::new(EXEC)));
        let case = request(&world, "echo x >> effects");
        world.traps.set(move |here, now_after| match here == point && now_after == after {
            true => Err(std::io::ErrorKind::Other.into()),
            false => Ok(()),
        });
        let outcome = world.perform(&case.0);
        assert_ne!(outcome.result_code, model::receipt::ResultCode::Succeeded, "{point} {after}");
        // A child that another test starts at this moment holds every open file until it is somebody else.
        until("the lock to be let go", || settle(&world, &case).state != TranscriptState::Running);
        assert_eq!(settle(&world, &case).state, expected, "{point} {after}");
        let ran = point == Point::CommandTranscript;
        assert_eq!(world.get("effects").is_some(), ran);
        assert_eq!(!outcome.changes.is_empty(), ran);
    }
}

/// Printed, not judged: what walls cost. `cargo test -p hermit-exec what_walls_cost -- --nocapture`
#[test]
fn what_walls_cost() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    let bare = World::new();
    for (name, world) in [("walls", &world), ("none", &bare)] {
        let mut times: Vec<Duration> = (0..10)
            .map(|_| {
                let case = request(world, "true");
                let begin = Instant::now();
                world.perform(&case.0);
                begin.elapsed()
            })
            .collect();
        times.sort();
        println!("a command through {name} ({}): median {:?}", world.executors.sandbox().level(), times[5]);
    }
    for n in 0..2_000 {
        world.put(&format!("d{}/f{n}", n % 20), vec![b'x'; 10_000]);
    }
    let case = request(&world, "true");
    let begin = Instant::now();
    world.perform(&case.0);
    println!("the same over 2000 files of 10 kB, copies aside included: {:?}", begin.elapsed());
}
