//! A whole governed action, and the way from a yes to the step that goes on.

use crate::Asked;
use crate::board::{Board, at, ms, syncs, timed};
use kernel::DriveOutcome;
use model::attempt::TerminationReason;
use model::fault::Point;
use std::collections::BTreeMap;
use testkit::{Edge, World, done, look, write};

/// Answers of one script; a task's budget of turns is larger.
const LOOKS: u32 = 16;
const YESES: u64 = 15;

fn looked(world: &World, looks: u32) {
    // Another file each time: looking twice at the same is no progress, and ends the task.
    let name = |n| format!("file-{n}.txt");
    (0..looks).for_each(|n| world.file(&name(n), &format!("something to look at, {n}")));
    let mut answers: Vec<_> = (0..looks).map(|n| look(&name(n))).collect();
    answers.push(done("looked"));
    let task = world.script(&format!("look {looks} times"), answers);
    let standing = world.drive(task);
    assert!(
        matches!(standing, DriveOutcome::Ended { reason: Some(TerminationReason::Done), .. }),
        "{standing:?}"
    );
}

/// Boundaries of the ledger passed since they were last asked for.
fn passed(world: &World) -> BTreeMap<Point, u32> {
    let hits = world.faults.hits();
    world.faults.forget_hits();
    let of_ledger = hits
        .into_iter()
        .filter(|((point, edge), _)| *edge == Edge::After && !point.as_str().starts_with("artifact."));
    of_ledger.map(|((point, _), n)| (point, n)).collect()
}

pub fn run(_: &Asked, board: &Board) {
    let world = World::new(21);
    world.faults.forget_hits();
    let (few, ()) = timed(|| looked(&world, 1));
    let before = passed(&world);
    let (many, ()) = timed(|| looked(&world, 1 + LOOKS));
    let each = many.saturating_sub(few).as_secs_f64() / f64::from(LOOKS);
    board.figure("a turn with a governed read, request to receipt", &ms(each));
    for (point, n) in passed(&world) {
        let more = n.saturating_sub(before.get(&point).copied().unwrap_or(0));
        if more > 0 {
            let turns = f64::from(more) / f64::from(LOOKS);
            board.figure(&format!("of such a turn, commits at `{}`", point.as_str()), &format!("{turns:.2}"));
        }
    }
    match syncs(&["--actions-only", "1"]).zip(syncs(&["--actions-only", "17"])) {
        Some((few, many)) => {
            let each = many.saturating_sub(few) as f64 / 16.0;
            let detail = format!("by strace; {each:.2} with the commit before the model is asked");
            board.at_most("syncs from the request to the receipt", (each - 1.0).round(), 3.0, &detail);
        }
        None => board.figure("syncs of such a turn", "not counted: there is no strace"),
    }
    approvals(board);
}

fn approvals(board: &Board) {
    let mut world = World::new(22);
    let (mut resumed, mut governed) = (Vec::new(), Vec::new());
    for n in 0..YESES {
        let path = format!("note-{n}.txt");
        let task = world.script(&format!("write {path}"), vec![write(&path, "hello\n"), done("written")]);
        let approval = world.drive_to_approval(task);
        let (said, _) = timed(|| world.person.allow(world.kernel(), task, approval).expect("allowed"));
        world.crash();
        let (opened, ()) = timed(|| world.reopen());
        let (driven, _) = timed(|| world.drive(task));
        assert!(world.files().contains_key(&path), "it was written");
        resumed.push(said + opened + driven);
        governed.push(driven);
    }
    let detail = format!("median of {YESES}, the store closed and opened in between");
    board.at_most("from a yes to the task's end, ms", at(&mut resumed, 0.5) * 1_000.0, 100.0, &detail);
    board.figure("of that the effect, its receipt and the end", &ms(at(&mut governed, 0.5)));
}

/// Nothing but looks, for strace to watch.
pub fn only(words: &[String]) {
    let looks = words.get(1).and_then(|n| n.parse().ok()).expect("a number");
    looked(&World::new(23), looks);
}
