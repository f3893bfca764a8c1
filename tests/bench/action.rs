//! A whole governed action, and the way from a yes to the step that goes on.

use crate::Asked;
use crate::board::{Board, at, ms, syncs, timed};
use kernel::Standing;
use testkit::{Edge, World, done, look, write};

/// Answers of one script; a task's budget of turns is larger.
const LOOKS: u32 = 16;
const YESES: u64 = 15;

fn looked(world: &World, looks: u32) {
    world.file("a.txt", "something to look at");
    let mut answers: Vec<_> = (0..looks).map(|_| look("a.txt")).collect();
    answers.push(done("looked"));
    let task = world.script(&format!("look {looks} times"), answers);
    assert!(matches!(world.drive(task), Standing::Ended { .. }), "it ends");
}

/// Commits between here and the last counting.
fn commits(world: &World) -> u32 {
    let hits = world.faults.hits();
    world.faults.forget_hits();
    hits.iter().filter(|((point, edge), _)| *edge == Edge::After && !point.as_str().starts_with("artifact.")).map(|(_, n)| n).sum()
}

pub fn run(_: &Asked, board: &Board) {
    let world = World::new(21);
    world.faults.forget_hits();
    let (few, ()) = timed(|| looked(&world, 1));
    let commits_few = commits(&world);
    let (many, ()) = timed(|| looked(&world, 1 + LOOKS));
    let commits_many = commits(&world);
    let each = many.saturating_sub(few).as_secs_f64() / f64::from(LOOKS);
    let turn = f64::from(commits_many.saturating_sub(commits_few)) / f64::from(LOOKS);
    board.figure("a turn with a governed read, request to receipt", &ms(each));
    board.figure("ledger boundaries passed in such a turn", &format!("{turn:.1} (model and context included)"));
    match syncs(&["--actions-only", "1"]).zip(syncs(&["--actions-only", "17"])) {
        Some((few, many)) => {
            let each = many.saturating_sub(few) as f64 / 16.0;
            board.at_most("syncs of such a turn", each, 3.0, "by strace; the model's part of the turn included");
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
