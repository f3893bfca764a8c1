//! A command behind the walls beside the same command without any.

use crate::Asked;
use crate::board::{Board, at, program, timed};
use crate::rules::support::World;
use effects::Sandbox;
use model::RelPath;
use model::action::Action;
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
    let argv = vec!["true".to_owned()];
    let action = Action::Command { argv, cwd: RelPath::ROOT, network: false, timeout_ms: 20_000 };
    let (mut raw, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        raw.push(timed(|| Command::new("true").status().expect("it runs")).0);
        let request = world.request(action.clone());
        let (took, outcome) = timed(|| world.perform(&request));
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{what}: {outcome:?}");
        confined.push(took);
    }
    let added = (at(&mut confined, 0.5) - at(&mut raw, 0.5)) * 1_000.0;
    board.at_most("added to a spawn by walls, workspace and record, ms", added, 60.0, &what);
}
