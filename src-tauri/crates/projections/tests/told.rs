//! In which turns models were told of a memory record, and what came of it there.

use crate::views::Desk;
use crate::world::words;
use model::MemoryId;
use model::attempt::TerminationReason;
use model::body::RunTerminated;
use model::task::Proposer;

/// The context of a turn holds these records.
fn compile(desk: &mut Desk, turn: u32, memories: &[MemoryId]) {
    let body = desk.world.compiled(desk.place, turn, memories);
    desk.say(body);
}

#[test]
fn a_record_keeps_the_turns_that_were_told_of_it_attempt_by_attempt() {
    let mut desk = Desk::new();
    let (told, other) = (desk.world.memory(desk.place, None), desk.world.memory(desk.place, None));
    let (id, unused) = (told.memory_id, other.memory_id);
    for body in [knowledge::memory::promoted(told), knowledge::memory::promoted(other)].concat() {
        desk.say(body);
    }
    let first = desk.place.attempt.expect("an attempt");
    // The second turn is compiled again, and the third goes without it.
    for (turn, held) in [(1, vec![id]), (2, vec![id]), (2, vec![id]), (3, vec![]), (4, vec![id])] {
        compile(&mut desk, turn, &held);
    }
    let (place, begun) = desk.world.attempt(desk.task, desk.step, 2);
    desk.put(vec![begun]);
    desk.place = place;
    compile(&mut desk, 5, &[id]);
    let (rows, all) = desk.query.memory_uses(id, 50).expect("it reads");
    assert_eq!((rows.len(), all, rows[0].task_id, rows[0].contexts), (1, 1, desk.task, 5));
    let turns: Vec<_> = rows[0].turns.iter().map(|one| (one.attempt_id, one.first, one.last)).collect();
    let second = place.attempt.expect("an attempt");
    assert_eq!(turns, [(first, 1, 2), (first, 4, 4), (second, 5, 5)]);
    let row = desk.query.memory(id).expect("it reads").expect("it is there");
    assert_eq!((row.uses, row.last_used_at), (5, Some(rows[0].last_at)), "as it is counted");
    assert!(!rows[0].helped && !rows[0].contradicted && rows[0].first_at < rows[0].last_at);
    desk.say(RunTerminated {
        about_attempt_id: second,
        reason: TerminationReason::Done,
        iterations: 5,
        summary: words("all done", 1),
        answer: None,
        helped: Some(vec![id]),
        contradicted: Some(vec![unused]),
    });
    let (rows, _) = desk.query.memory_uses(id, 50).expect("it reads");
    assert!(rows[0].helped && !rows[0].contradicted);
    assert_eq!(
        desk.query.memory_uses(id, 0).expect("it reads"),
        (vec![], 1),
        "how many there are beyond the bound"
    );
    // What was sent to nobody is told of no task, whatever is said of it.
    assert_eq!(desk.query.memory_uses(unused, 50).expect("it reads"), (vec![], 0));
}

/// A playbook, and the kernel where it carries out what a person asked, read no context: a record that stands in one was told to nobody.
#[test]
fn what_stands_in_contexts_that_no_model_reads_is_not_counted() {
    for (proposer, uses) in [
        (Proposer::Model, 1),
        (Proposer::Recorded, 1),
        (Proposer::Session, 1),
        (Proposer::Playbook, 0),
        (Proposer::Tools, 0),
        (Proposer::Rollback, 0),
    ] {
        let mut desk = Desk::new();
        let told = desk.world.memory(desk.place, None);
        let id = told.memory_id;
        for body in knowledge::memory::promoted(told) {
            desk.say(body);
        }
        desk.world.proposer = Some(proposer);
        let (place, begun) = desk.world.attempt(desk.task, desk.step, 2);
        desk.put(vec![begun]);
        desk.place = place;
        compile(&mut desk, 1, &[id]);
        desk.say(RunTerminated {
            about_attempt_id: place.attempt.expect("an attempt"),
            reason: TerminationReason::Done,
            iterations: 1,
            summary: words("all done", 1),
            answer: None,
            helped: Some(vec![id]),
            contradicted: None,
        });
        let row = desk.query.memory(id).expect("it reads").expect("it is there");
        assert_eq!((row.uses, row.helped), (uses, uses), "{proposer}");
        let (rows, all) = desk.query.memory_uses(id, 50).expect("it reads");
        assert_eq!((rows.len(), all), (usize::try_from(uses).expect("few"), u64::from(uses)), "{proposer}");
    }
}
