//! A command behind the walls beside the same command without any.

use crate::Asked;
use crate::board::{Board, at, program, timed};
use crate::rules::support::World;
use acts::Action;
use effects::Sandbox;
use model::RelPath;
use model::receipt::ResultCode;
use std::process::Command;

const TIMES: usize = 30;

pub fn run(_: &Asked, board: &Board) {
    let Some(exec) = program("hermit-exec") else {
        return board.figure("spawn of a confined command", "`hermit-exec` is not built");
    };
    let walls = Sandbox::probe(&exec);
    let what = format!("{} ({})", walls.level(), walls.why());
    let world = World::with(walls);
    let command = |network: bool| {
        Action::Command(acts::Command {
            argv: vec!["true".to_owned()],
            cwd: RelPath::ROOT,
            network,
            timeout_ms: 20_000,
            hosts: if network { vec!["example.org:443".to_owned()] } else { Vec::new() },
            secrets: Vec::new(),
        })
    };
    let mut raw = Vec::new();
    for _ in 0..TIMES {
        raw.push(timed(|| Command::new("true").status().expect("it runs")).0);
    }
    let raw = at(&mut raw, 0.5);
    let kinds = [
        (false, "added to a spawn by walls, workspace and record, ms"),
        (true, "added to a spawn by these and a proxy of its own, ms"),
    ];
    for (network, name) in kinds {
        let mut confined = Vec::new();
        for _ in 0..TIMES {
            let request = world.request(command(network));
            let (took, outcome) = timed(|| world.perform(&request));
            assert_eq!(outcome.result_code, ResultCode::Succeeded, "{what}: {outcome:?}");
            confined.push(took);
        }
        board.at_most(name, (at(&mut confined, 0.5) - raw) * 1_000.0, 60.0, &what);
    }
}
