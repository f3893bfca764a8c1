//! Roots of state: one of every conversation and of the memory of every project, stated when it changed and signed with the
//! log (HV-3.6-1, HV-3.6-2).

use crate::story::{completed, erased, events, log};
use kernel::command::erase::Erasure;
use kernel::command::state_roots::Stated;
use ledger::CheckpointKind;
use model::body::StateRooted;
use model::fault::Point;
use model::proposal::Answer;
use model::state_root::{StateRoot, StateSubject, over_all};
use model::{Body, Digest, MemoryId};
use projections::query::Ask;
use serde_json::json;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World, done, look, say};

fn remember(claim: &str, scope: &str) -> Answer {
    say(
        "remember",
        json!({ "claim": claim, "scope": scope, "reason": "it will be needed", "evidence": ["a.txt"] }),
    )
}

fn stated(world: &World) -> Vec<StateRooted> {
    let bodies = log(world.kernel()).into_iter().map(|(_, body)| body);
    bodies
        .filter_map(|body| match body {
            Body::StateRooted(b) => Some(b),
            _ => None,
        })
        .collect()
}

/// The list that an event states.
fn roots(said: &StateRooted) -> &[StateRoot] {
    said.roots.shown().unwrap()
}

fn state(world: &World) -> Stated {
    world.kernel().state_roots().unwrap()
}

/// The roots as the events themselves say them, up to a place in the log: no view is asked.
fn by_events(world: &World, through: u64) -> BTreeMap<String, StateRoot> {
    let reader = world.kernel().reader();
    let mut leaves: BTreeMap<String, Vec<(Option<MemoryId>, Digest)>> = BTreeMap::new();
    let (mut of_task, mut project_of) = (BTreeMap::new(), BTreeMap::new());
    for stored in reader.log(0, 100_000).unwrap().into_iter().filter(|stored| stored.log_seq <= through) {
        let event = stored.event().unwrap();
        let leaf = seal::merkle::leaf_hash(&stored.bytes);
        let mut said = |conversation| {
            let subject = StateSubject::Conversation(conversation).to_string();
            leaves.entry(subject).or_default().push((None, leaf));
        };
        match event.body(&|_| None).unwrap() {
            Body::TaskCreated(b) => {
                of_task.insert(b.task.task_id, b.task.conversation_id);
            }
            Body::IngressReceived(b) => said(b.record.conversation_id),
            Body::ClarificationRequested(_)
            | Body::ApprovalRequested(_)
            | Body::ReceiptIssued(_)
            | Body::RunTerminated(_) => said(of_task[&event.task_id]),
            Body::TaskStatusChanged(b) if b.to.is_terminal() => said(of_task[&b.about_task_id]),
            Body::MemoryPromoted(b) => {
                let subject = StateSubject::Memory(b.record.project_hash).to_string();
                project_of.insert(b.record.memory_id, subject.clone());
                leaves.entry(subject).or_default().push((Some(b.record.memory_id), leaf));
            }
            Body::MemoryInvalidated(b) => gone(&mut leaves, &project_of, b.memory_id),
            Body::MemoryRevoked(b) => gone(&mut leaves, &project_of, b.memory_id),
            Body::MemoryExpired(b) => gone(&mut leaves, &project_of, b.memory_id),
            _ => {}
        }
    }
    let root = |(subject, leaves): (String, Vec<(Option<MemoryId>, Digest)>)| {
        let hashes: Vec<Digest> = leaves.into_iter().map(|(_, leaf)| leaf).collect();
        let (size, root) = (hashes.len() as u64, seal::merkle::root(&hashes));
        (subject.clone(), StateRoot { subject: subject.parse().unwrap(), size, root })
    };
    leaves.into_iter().map(root).collect()
}

type Leaves = BTreeMap<String, Vec<(Option<MemoryId>, Digest)>>;

fn gone(leaves: &mut Leaves, of: &BTreeMap<MemoryId, String>, id: MemoryId) {
    leaves.get_mut(&of[&id]).unwrap().retain(|(memory, _)| *memory != Some(id));
}

fn memory_named(world: &World, claim: &str) -> MemoryId {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim)).unwrap().memory_id
}

fn learnt(world: &World, goal: &str, claims: &[(&str, &str)]) {
    world.file("a.txt", "rates");
    let mut all = vec![look("a.txt")];
    all.extend(claims.iter().map(|(claim, scope)| remember(claim, scope)));
    all.push(done("learnt"));
    assert_eq!(world.drive_allowing(world.script(goal, all)).0, completed());
}

#[conforms::conforms(part = "HV-3.6-1", part = "HV-3.6-2")]
#[test]
fn every_message_and_every_memory_in_force_stands_under_a_root_that_the_log_key_signed() {
    let mut world = World::new(9_101);
    learnt(&world, "learn", &[("rates live in rates.toml", "project"), ("answers are short", "*")]);
    let first = state(&world);
    assert_eq!(first.events, 1);
    let said = stated(&world).remove(0);
    let all: BTreeMap<String, StateRoot> =
        roots(&said).iter().map(|root| (root.subject.to_string(), root.clone())).collect();
    assert_eq!(all, by_events(&world, said.through), "as the events say it");
    assert_eq!(all.len(), 3, "a conversation, a project, and what holds everywhere: {all:?}");
    assert_eq!(said.state_root, over_all(all.values()).unwrap());
    assert!(all.values().find(|one| matches!(one.subject, StateSubject::Conversation(_))).unwrap().size > 3);
    // The head of the stream in which it is said is a leaf of the log, and the log key signed both.
    let system = world.kernel().store_state().system_task().unwrap();
    let rooted = world.kernel().store_state().rooted.clone();
    let reader = world.kernel().reader();
    let head = reader.last_checkpoint(CheckpointKind::Task, Some(system)).unwrap().unwrap();
    let global = reader.last_checkpoint(CheckpointKind::Global, None).unwrap().unwrap();
    assert!(head.size >= rooted.task_seq && head.leaf_index.unwrap() < global.size);
    assert_eq!(reader.global_checkpoint_covering(system, rooted.task_seq).unwrap(), Some(global));
    // Nothing new: nothing is stated and nothing signed.
    assert_eq!(state(&world), Stated::default());
    // One record less: its project alone is stated again, and the root over all follows.
    let gone = memory_named(&world, "rates live in rates.toml");
    world.kernel().revoke_memory(gone, "wrong").unwrap();
    assert_eq!(state(&world).events, 1);
    let second = stated(&world).remove(1);
    assert_eq!((second.number, roots(&second).len()), (1, 1), "{:?}", second.roots);
    assert_eq!((roots(&second)[0].size, roots(&second)[0].root), (0, seal::merkle::root(&[])));
    assert_eq!(second.state_root, over_all(by_events(&world, second.through).values()).unwrap());
    assert_ne!(second.state_root, said.state_root);
    // The views made anew give the same roots, of then and of now.
    let query = world.kernel().query().unwrap();
    let project = all.values().find_map(|one| match one.subject {
        StateSubject::Memory(Some(project)) => Some(project),
        _ => None,
    });
    let asked = |query: &projections::Query, at| query.memory_root(project, at).unwrap();
    let before = (asked(&query, said.through), asked(&query, second.through));
    assert_eq!(before.0.size, 1, "as of then it is in force");
    drop(query);
    let (views, anew) = crate::story::rebuilt(&mut world);
    assert_eq!(views, anew);
    let query = world.kernel().query().unwrap();
    assert_eq!((asked(&query, said.through), asked(&query, second.through)), before);
    assert_eq!(state(&world), Stated::default(), "the same state has the same roots");
    let then = projections::query::MemoryThen { through: said.through, memory_type: None, project: None };
    assert_eq!(query.memories_then(then, Ask::ALL).unwrap().rows.len(), 2);
}

#[test]
fn an_erased_record_is_proven_still_and_read_no_more() {
    let world = World::new(9_102);
    learnt(&world, "learn", &[("the code is 4711", "project")]);
    state(&world);
    let row = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.remove(0);
    let before = stated(&world).remove(0);
    let claim = events(world.kernel(), row.task_id).into_iter().find_map(|(event, body)| match body {
        Body::MemoryPromoted(_) => event.payload["record"]["claim"]["$sd"].as_str()?.parse().ok(),
        _ => None,
    });
    let values: Vec<Digest> = claim.into_iter().collect();
    let erasure = Erasure { values, contents: Vec::new(), written: Vec::new(), tasks: Vec::new() };
    erased(&world, &erasure);
    let query = world.kernel().query().unwrap();
    let then = projections::query::MemoryThen { through: before.through, memory_type: None, project: None };
    let shown = query.memories_then(then, Ask::ALL).unwrap().rows.remove(0);
    assert!(shown.claim.shown().is_none(), "it is erased then, too");
    let root = query.memory_root(row.project_hash, before.through).unwrap();
    assert!(roots(&before).contains(&root), "and its digest proves that it was there");
}

#[test]
fn what_changed_is_cut_by_place_conversations_and_projects_together() {
    let world = World::new(9_104);
    for n in 0..3 {
        learnt(
            &world,
            &format!("learn {n}"),
            &[(&format!("claim {n}"), "project"), (&format!("rule {n}"), "*")],
        );
        world.kernel().open_conversation("another", None).unwrap();
    }
    for most in [1, 2, 500] {
        let (mut after, mut all, mut steps) = (0, BTreeMap::new(), 0);
        loop {
            let since = world.kernel().query().unwrap().roots_since(after, most).unwrap();
            assert!(since.roots.len() <= most && since.through > after, "{most}: {since:?}");
            let then = by_events(&world, since.through);
            let wrong = since.roots.iter().find(|root| then[&root.subject.to_string()] != **root);
            assert_eq!(wrong, None, "{most}: as it was in that place");
            all.extend(since.roots.into_iter().map(|root| (root.subject.to_string(), root)));
            (after, steps) = (since.through, steps + 1);
            if !since.more {
                break;
            }
        }
        assert_eq!(all, by_events(&world, after), "{most}");
        assert!(most > 2 || steps > 1, "{most}: {steps}");
    }
    // The most that one event states is far from the largest event.
    let one = StateRoot {
        subject: StateSubject::Memory(Some(Digest::ZERO)),
        size: u64::from(u32::MAX),
        root: Digest::ZERO,
    };
    let list = vec![one; model::state_root::ROOTS_MAX];
    assert!(serde_json::to_vec(&list).unwrap().len() * 2 < model::limits::EVENT_BYTES_MAX);
}

#[test]
fn a_list_that_was_erased_is_stated_anew() {
    let mut world = World::new(9_105);
    learnt(&world, "learn", &[("rates live in rates.toml", "project"), ("answers are short", "*")]);
    state(&world);
    let system = world.kernel().store_state().system_task().unwrap();
    let list = events(world.kernel(), system).into_iter().find_map(|(event, body)| match body {
        Body::StateRooted(_) => event.payload["roots"]["$sd"].as_str()?.parse().ok(),
        _ => None,
    });
    let values: Vec<Digest> = vec![list.unwrap()];
    let erasure = Erasure { values, contents: Vec::new(), written: Vec::new(), tasks: Vec::new() };
    erased(&world, &erasure);
    world.reopen();
    assert!(world.kernel().store_state().rooted.lost);
    assert_eq!(state(&world).events, 1);
    let last = stated(&world).pop().unwrap();
    let all: BTreeMap<String, StateRoot> =
        roots(&last).iter().map(|root| (root.subject.to_string(), root.clone())).collect();
    assert_eq!(all, by_events(&world, last.through));
    assert_eq!(last.state_root, over_all(all.values()).unwrap());
    world.reopen();
    assert!(!world.kernel().store_state().rooted.lost);
    assert_eq!(state(&world).events, 0);
}

#[test]
fn a_host_that_dies_at_any_step_has_stated_each_root_once_and_signs_it_in_the_end() {
    let steps = [Point::KnowledgeChange, Point::CheckpointSign].into_iter();
    let steps = steps.flat_map(|point| [(point, Edge::Before), (point, Edge::After)]);
    for (n, (point, edge)) in (0..).zip(steps) {
        let mut world = World::new(9_110 + n);
        learnt(&world, "learn", &[("rates live in rates.toml", "project")]);
        world.faults.plan(point, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().state_roots()));
        assert!(!matches!(died, Ok(Ok(_))), "{point:?} {edge:?}: {died:?}");
        world.faults.clear();
        world.reopen();
        learnt(&world, "learn more", &[("the logo is blue", "project")]);
        state(&world);
        let all = stated(&world);
        let numbers: Vec<u64> = all.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{point:?} {edge:?}");
        for one in &all {
            let found = by_events(&world, one.through);
            assert!(
                roots(one).iter().all(|root| found[&root.subject.to_string()] == *root),
                "{point:?} {edge:?}"
            );
        }
        let last = all.last().unwrap();
        assert_eq!(last.state_root, over_all(by_events(&world, last.through).values()).unwrap());
        let (system, rooted) = {
            let store = world.kernel().store_state();
            (store.system_task().unwrap(), store.rooted.clone())
        };
        assert_eq!(rooted.events, all.len() as u64);
        let covered = world.kernel().reader().global_checkpoint_covering(system, rooted.task_seq).unwrap();
        assert!(covered.is_some(), "{point:?} {edge:?}: it is signed");
    }
}
