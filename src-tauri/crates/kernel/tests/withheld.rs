//! What a look into a secret brought is in no claim of memory, whoever makes it, and no context is told of one that holds it.

use crate::story::{completed, events, object, packs, state};
use kernel::command::memory::Memorandum;
use kernel::{DriveOutcome, Error, Waiting};
use model::context::Section;
use model::ingress::Channel;
use model::knowledge::MemoryType;
use model::proposal::Answer;
use model::task::TaskStatus;
use model::{Body, TaskId};
use projections::query::Ask;
use serde_json::json;
use std::sync::Arc;
use testkit::{Embedding, World, done, look, say};

/// A value that nobody says by chance, and how it stands in base64.
const BIRD: &str = concat!("pel", "ican42kestrel");
const BIRD_IN_BASE64: &str = concat!("cGVsaWNh", "bjQya2VzdHJlbA==");

fn remember(claim: &str, kind: &str) -> Answer {
    let told = json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"], "kind": kind });
    say("remember", told)
}

/// All claims that are kept, in the order of their letters.
fn claims(world: &World) -> Vec<String> {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let mut claims: Vec<String> = rows.iter().filter_map(|row| row.claim.shown().cloned()).collect();
    claims.sort_unstable();
    claims
}

/// What the first context of a new task is told of memory.
fn told(world: &World, goal: &str) -> String {
    told_and_not(world, goal).0
}

/// The same, and which records it says it does not tell of.
fn told_and_not(world: &World, goal: &str) -> (String, Vec<String>) {
    let task = world.script(goal, vec![done("ok")]);
    assert_eq!(world.drive(task), completed());
    let pack = packs(world.kernel(), task).remove(0);
    let items = pack.items.into_iter().filter(|item| item.section == Section::Memory);
    let not = pack.omissions.into_iter().filter(|one| one.reason.contains("a value of a secret"));
    let told = items.map(|item| item.text).collect::<Vec<_>>().join("\n");
    (told, not.map(|one| one.source).collect())
}

/// The identifiers of the records with these claims, in their order.
fn ids(world: &World, claims: &[&str]) -> Vec<String> {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let named = rows.iter().filter(|row| row.claim.shown().is_some_and(|one| claims.contains(&one.as_str())));
    let mut ids: Vec<String> = named.map(|row| row.memory_id.to_string()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn what_a_model_wants_remembered_holds_nothing_of_what_its_task_looked_into_not_even_encoded() {
    let world = World::new(9_801);
    world.file(".env", "PET=flamingo\n");
    world.file("a.txt", "text");
    let answers = vec![
        look("a.txt"),
        look(".env"),
        remember("the pet is a Flamingo", "pattern"),
        remember("the pet is called ZmxhbWluZ28", "pattern"),
        remember("the pet has a cage", "pattern"),
        done("ok"),
    ];
    let task = world.script("learn", answers);
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(claims(&world), ["the pet has a cage"]);
    let all = events(world.kernel(), task);
    let told = all.iter().filter_map(|(_, body)| match body {
        Body::IterationCompleted(b) => b.record.error.as_ref().and_then(|error| error.shown().cloned()),
        _ => None,
    });
    assert_eq!(
        told.filter(|why| why.contains("say it without that value")).count(),
        2,
        "the model is told why"
    );
}

/// A task that looks into the file of secrets and asks about it, and is told these things by a person.
fn looked_and_was_told(world: &World, goal: &str, words: &[&str]) -> TaskId {
    let ask = say("ask", json!({ "question": "Which cage does the flamingo live in?" }));
    let task = world.script(goal, vec![look(".env"), ask]);
    let (DriveOutcome::Waiting(Waiting::Answer(id)), 1) = world.drive_allowing(task) else {
        panic!("it looks, and asks")
    };
    for one in words {
        world.kernel().append_note(task, one, Channel::App, &format!("{goal}: {one}")).unwrap();
    }
    world.reasoners.script(goal, vec![done("ok")]);
    if let DriveOutcome::Waiting(_) = world.drive(task) {
        world.kernel().answer(task, id, "the big cage behind the house", Channel::App).unwrap();
        assert_eq!(world.drive(task), completed());
    }
    assert_eq!(state(world, task).task.status, TaskStatus::Completed);
    task
}

#[test]
fn the_historian_proposes_of_a_task_that_looked_into_a_secret_what_a_person_said_without_its_values() {
    let world = World::new(9_802);
    world.file(".env", "PET=flamingo\n");
    let dates = "Always write dates as year, month, day";
    looked_and_was_told(&world, "Feed it", &["Always feed the Flamingo before noon", dates]);
    let looked = world.kernel().read_history(0).unwrap();
    assert_eq!((looked.lines, looked.tasks), (1, 1), "{looked:?}");
    let asks = looked.task_id.unwrap();
    let at = world.drive_to_approval(asks);
    let now = state(&world, asks);
    let packet = object(world.kernel(), &now, now.approvals[&at].approval.approval_packet_ref);
    let lines = governance::approval::card(&packet).lines;
    let card = lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
    assert!(card.contains(dates) && !card.to_lowercase().contains("flamingo"), "{card}");
    world.person.allow(world.kernel(), asks, at).unwrap();
    assert_eq!(world.drive(asks), completed());
    assert_eq!(claims(&world), [dates]);
    assert!(told(&world, "Something else").contains(dates));
}

fn said(claim: &str) -> Memorandum {
    Memorandum {
        claim: claim.to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "I say so".to_owned(),
        memory_type: Some(MemoryType::Decision),
        pinned: false,
        days: None,
        replaces: None,
    }
}

#[test]
fn what_a_person_wants_remembered_holds_no_value_of_a_look_that_came_before_it_is_kept() {
    let world = World::new(9_803);
    world.file(".env", &format!("BIRD={BIRD}\nHOST=localhost:5432\n"));
    let root = world.folder.path().canonicalize().unwrap();
    let propose = |claim: &str| {
        world.kernel().propose_memory(said(claim), &root, (Channel::Cli, format!("said: {claim}")))
    };
    let before = propose(&format!("the first bird is {BIRD}")).unwrap().task_id;
    let at = world.drive_to_approval(before);
    let looker = world.script("look", vec![look(".env"), done("ok")]);
    assert_eq!(world.drive_allowing(looker), (completed(), 1));
    for claim in [format!("its bird is {BIRD}"), format!("its bird is {BIRD_IN_BASE64}")] {
        let refused = propose(&claim).unwrap_err();
        assert!(
            matches!(&refused, Error::Input(why) if why.contains("say it without that value")),
            "{claim}: {refused}"
        );
    }
    // It was asked about before anybody looked, and is not kept all the same.
    world.person.allow(world.kernel(), before, at).unwrap();
    world.drive(before);
    assert!(claims(&world).is_empty(), "{:?}", claims(&world));
    // What stands beside secrets everywhere can be said of other things.
    let host = "the tests need a database at localhost:5432";
    let other = propose(host).unwrap().task_id;
    assert_eq!(world.drive_allowing(other).0, completed());
    assert_eq!(claims(&world), [host]);
}

const PET: &str = "the pet is a flamingo";
const CAGE: &str = "the pet has a cage";

/// Two claims are kept, and then the task that made them looks into a secret, of which the first repeats a value.
fn learn(world: &World) {
    world.file(".env", "PET=flamingo\n");
    world.file("a.txt", "text");
    let claims = [remember(PET, "preference"), remember(CAGE, "preference")];
    let answers = std::iter::once(look("a.txt")).chain(claims).chain([look(".env"), done("ok")]);
    assert_eq!(world.drive_allowing(world.script("learn", answers.collect())).0, completed());
}

/// Does this to the views of a store that no host holds.
fn to_views(world: &mut World, statement: &str) {
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    assert_eq!(views.execute(statement, []).unwrap(), 1);
    drop(views);
    world.reopen();
}

/// As if the looks had come before all claims, which an older Hermit kept then.
const LOOKED_BEFORE: &str = "UPDATE view_withheld SET seq = 0";

#[test]
fn a_claim_that_a_store_holds_with_a_value_is_told_to_no_task_and_one_that_may_hold_it_neither() {
    let mut world = World::new(9_804);
    learn(&world);
    assert_eq!(claims(&world), [CAGE, PET], "what was said before the look is not of it");
    let (first, not) = told_and_not(&world, "First");
    assert!(first.contains(PET) && first.contains(CAGE) && not.is_empty(), "{first}");
    to_views(&mut world, LOOKED_BEFORE);
    let (second, not) = told_and_not(&world, "Second");
    assert!(!second.contains("flamingo") && second.contains(CAGE), "{second}");
    assert_eq!(not, ids(&world, &[PET]), "that it is left out is said");
    // As if what it brought were no longer kept.
    to_views(&mut world, "UPDATE view_withheld SET found = NULL");
    let (third, not) = told_and_not(&world, "Third");
    assert!(!third.contains("flamingo") && !third.contains(CAGE), "{third}");
    assert_eq!(not, ids(&world, &[PET, CAGE]));
    assert_eq!(claims(&world), [CAGE, PET], "each is listed");
}

#[test]
fn an_embedding_model_is_told_nothing_of_a_claim_that_holds_a_value() {
    let embedding = Arc::new(Embedding::of(&[]));
    let named = embedding.named.lock().unwrap().take();
    let mut world = World::bare(9_805);
    world.embedder = Arc::clone(&embedding) as _;
    world.take_up().unwrap();
    world.register_keys().unwrap();
    learn(&world);
    to_views(&mut world, LOOKED_BEFORE);
    *embedding.named.lock().unwrap() = named;
    assert_eq!(world.kernel().make_vectors(usize::MAX, &|| true).unwrap().made, 2);
    let asked = embedding.asked.lock().unwrap().concat().join("\n");
    assert!(asked.contains(CAGE) && !asked.contains("flamingo"), "{asked}");
}
