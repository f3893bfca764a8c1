//! A turn of a guest beside the same agent without walls: run as it is, and spoken to by the Agent Client Protocol.

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use crate::rules::support::World;
use acts::Action;
use effects::Sandbox;
use model::guest::{GuestLaunch, GuestTells};
use model::reach::Program;
use model::receipt::ResultCode;
use seal::Digest;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Files of the folder.
const FILES: usize = 2_000;
const TIMES: usize = 15;

/// What both agents do: they read everything, change a file, and make twenty.
const WORK: &str = "cat *.txt > /dev/null; echo more >> file-0001.txt; mkdir -p made; \
                    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $n > made/$n; done";

/// The same, spoken to: it answers three requests, and works at the third.
const SPEAKS: &str = r#"while IFS= read -r line; do case "$line" in
*'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}' ;;
*'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}' ;;
*'"method":"session/prompt"'*) WORK; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}' ;;
esac; done"#;

pub fn run(_: &Asked, board: &Board) {
    let Some(exec) = program("hermit-exec") else {
        return board.figure("a turn of a guest", "`hermit-exec` is not built");
    };
    let walls = Sandbox::probe(&exec);
    let what = format!("{} ({})", walls.level(), walls.why());
    let world = World::with(walls);
    for number in 0..FILES {
        std::fs::write(world.root.join(format!("file-{number:04}.txt")), format!("file {number}\n"))
            .expect("a file");
    }
    let agents = world.store.join("agents");
    std::fs::create_dir_all(&agents).expect("a folder");
    let plain = agent(&agents, "plain", WORK);
    let speaks = agent(&agents, "speaks", &SPEAKS.replace("WORK", WORK));
    let bare = agents.join("bare");
    let kinds: [(&str, &PathBuf, Option<GuestTells>); 2] = [
        ("added to an agent's run by copy, walls and record, ms", &plain, None),
        ("added to one that is spoken to by ACP, ms", &speaks, Some(GuestTells::Acp)),
    ];
    for (name, agent, tells) in kinds {
        let (mut alone, mut guests) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            alone.push(without(&world.root, &bare, agent, tells.map(|_| exec.as_path())));
            let request = world.request(turn(agent, tells));
            let (took, outcome) = timed(|| world.perform(&request));
            assert_eq!(outcome.result_code, ResultCode::Succeeded, "{what}: {outcome:?}");
            guests.push(took);
        }
        let alone = at(&mut alone, 0.5);
        board.figure("the same without walls", &ms(alone));
        board.at_most(name, (at(&mut guests, 0.5) - alone) * 1_000.0, 150.0, &what);
    }
}

fn agent(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its bits");
    path
}

/// How long it takes in a copy that is made beforehand.
fn without(root: &Path, bare: &Path, agent: &Path, speaker: Option<&Path>) -> Duration {
    let _ = std::fs::remove_dir_all(bare);
    assert!(Command::new("cp").arg("-a").args([root, bare]).status().expect("cp").success());
    let mut command = match speaker {
        None => Command::new(agent),
        Some(exec) => {
            let mut command = Command::new(exec);
            command.args(["--acp", "go", "--"]).arg(agent);
            command
        }
    };
    command.current_dir(bare).env("HOME", bare).env_remove("HERMIT_MCP").stdout(Stdio::null());
    let (took, done) = timed(|| command.status().expect("it runs"));
    assert!(done.success(), "it works");
    took
}

fn turn(agent: &Path, tells: Option<GuestTells>) -> Action {
    let path = agent.display().to_string();
    let sha256 = Digest::of(&std::fs::read(agent).expect("a file"));
    Action::Guest(acts::Guest {
        launch: GuestLaunch {
            guest: "bench".to_owned(),
            program: Program { name: path.clone(), path: path.clone(), sha256 },
            words: Vec::new(),
            goes_on: Vec::new(),
            tells_version: Vec::new(),
            hosts: Vec::new(),
            secrets: BTreeMap::new(),
            environment: BTreeMap::new(),
            home: BTreeMap::new(),
            reads: vec![path],
            tells,
        },
        prompt: "go".to_owned(),
        goes_on: false,
        heard: 0,
        timeout_ms: 60_000,
    })
}
