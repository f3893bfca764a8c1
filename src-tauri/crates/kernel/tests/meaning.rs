//! Memory found by its meaning, with an embedding model that is a function: beside words, never in their place, and without
//! a vector that outlives its text.

use crate::story::{completed, erased, events, packs};
use kernel::command::erase::Erasure;
use model::context::{ContextItem, ContextPack, FoundBy, Section};
use model::{Body, Digest, MemoryId, TaskId};
use projections::Vectors;
use projections::query::Ask;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use testkit::{Embedding, Mood, World, done, look, say};

/// What means the same.
pub const SAME: &[&[&str]] = &[
    &["prices", "money", "amounts"],
    &["whole", "decimals", "floating"],
    &["refunds", "repaid"],
    &["approval", "permission"],
];

pub const CLAIMS: [&str; 3] = [
    "prices never have floating point",
    "refunds need approval from Karen",
    "the harbour opens on Sunday mornings",
];

fn world(seed: u64, embedding: &Arc<Embedding>) -> World {
    let mut world = World::bare(seed);
    world.embedder = Arc::clone(embedding) as _;
    world.take_up().unwrap();
    world.register_keys().unwrap();
    world
}

fn learn(world: &World, goal: &str, claims: &[&str]) {
    world.file("a.txt", "seen");
    let remember = |claim: &&str| {
        let said = json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"] });
        say("remember", said)
    };
    let answers = std::iter::once(look("a.txt")).chain(claims.iter().map(remember)).chain([done("learnt")]);
    assert_eq!(world.drive_allowing(world.script(goal, answers.collect())).0, completed());
}

/// A world that knows [`CLAIMS`].
pub fn learnt(seed: u64, embedding: &Arc<Embedding>) -> World {
    let world = world(seed, embedding);
    // Named only now: a task that is told of memory makes vectors of what is new.
    let named = embedding.named.lock().unwrap().take();
    learn(&world, "learn", &CLAIMS);
    *embedding.named.lock().unwrap() = named;
    world
}

/// The first pack of a task with this goal.
pub fn pack(world: &World, goal: &str) -> ContextPack {
    let task = world.script(goal, vec![done("ok")]);
    assert_eq!(world.drive(task), completed());
    packs(world.kernel(), task).remove(0)
}

pub fn found(pack: &ContextPack) -> Vec<(&str, Option<FoundBy>)> {
    let of_memory = pack.items.iter().filter(|item| item.section == Section::Memory);
    let told =
        |item: &ContextItem| CLAIMS.into_iter().find(|claim| item.text.contains(claim)).unwrap_or("another");
    of_memory.map(|item| (told(item), item.found_by)).collect()
}

fn alone(pack: &ContextPack) -> String {
    pack.meaning.clone().unwrap().words_alone.unwrap_or_default()
}

pub fn vectors(world: &World) -> u64 {
    Vectors::reading(world.store.path()).map_or(0, |kept| kept.count().unwrap())
}

fn make(world: &World) -> kernel::VectorsMade {
    world.kernel().make_vectors(usize::MAX, &|| true).unwrap()
}

/// The digests of the claims that a task promoted, by the record.
fn leaves(world: &World, task: TaskId) -> BTreeMap<MemoryId, Digest> {
    let of = |(event, body): (model::Event, Body)| match body {
        Body::MemoryPromoted(b) => {
            Some((b.record.memory_id, event.payload["record"]["claim"]["$sd"].as_str()?.parse().ok()?))
        }
        _ => None,
    };
    events(world.kernel(), task).into_iter().filter_map(of).collect()
}

/// Erases a claim, as a person does.
pub fn erase(world: &World, claim: &str) -> MemoryId {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let row = rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim)).unwrap();
    let values = vec![leaves(world, row.task_id)[&row.memory_id]];
    let erasure = Erasure { values, ..Erasure::default() };
    erased(world, &erasure);
    row.memory_id
}

#[test]
fn what_shares_no_word_is_found_by_its_meaning_and_the_pack_says_by_what() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = learnt(4_401, &embedding);
    let told = pack(&world, "store money without decimals");
    assert_eq!(found(&told), [(CLAIMS[0], Some(FoundBy::Meaning))], "and what is about neither is not in it");
    let meaning = told.meaning.clone().unwrap();
    assert_eq!((meaning.model.as_str(), meaning.words_alone), ("openai:http://127.0.0.1:9/v1#mini", None));
    assert!(meaning.key.is_some());
    assert_eq!(vectors(&world), 3, "what had no vector got one when it was asked for");
    let told = pack(&world, "is permission needed for refunds");
    assert_eq!(found(&told), [(CLAIMS[1], Some(FoundBy::Both))]);
    let told = pack(&world, "ask Karen");
    assert_eq!(found(&told), [(CLAIMS[1], Some(FoundBy::Both))], "a name is a word of the meaning, too");
    // The same state gives the same pack, and a goal that was asked for is not asked for again.
    let times = embedding.times();
    let again = [pack(&world, "ask Karen"), pack(&world, "ask  Karen")];
    assert_eq!(embedding.times(), times);
    assert_eq!(found(&again[0]), found(&again[1]));
    // Without a model it is as it was, and nothing says otherwise.
    *embedding.named.lock().unwrap() = None;
    let told = pack(&world, "store money without  decimals");
    assert!(found(&told).is_empty() && told.meaning.is_none());
    let told = pack(&world, "refunds today");
    assert_eq!(found(&told), [(CLAIMS[1], None)]);
    make(&world);
    assert!(!world.store.path().join(projections::vectors::FILE).exists(), "nobody needs them any more");
}

#[test]
fn whatever_the_model_answers_memory_is_found_by_words_and_the_pack_says_why() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = learnt(4_402, &embedding);
    assert_eq!(make(&world).made, 3);
    for (mood, says) in [
        (Mood::Gone, "nobody answers"),
        (Mood::TooMany, "vectors for"),
        (Mood::Uneven, "different lengths"),
        (Mood::NoNumber, "no number"),
        (Mood::Zeros, "zeros"),
        (Mood::TooLong, "5000 numbers"),
    ] {
        embedding.set(mood);
        let told = pack(&world, &format!("refunds of {mood:?}"));
        assert!(alone(&told).contains(says), "{mood:?}: {:?}", told.meaning);
        assert_eq!(found(&told), [(CLAIMS[1], Some(FoundBy::Words))], "{mood:?}");
        // It is left alone for a while: the next context waits for nobody.
        let times = embedding.times();
        assert!(alone(&pack(&world, &format!("refunds after {mood:?}"))).contains(says));
        assert_eq!(embedding.times(), times, "{mood:?}");
        let kept = Vectors::reading(world.store.path()).unwrap().of().unwrap();
        assert!(kept.trouble.is_some_and(|trouble| trouble.contains(says)), "{mood:?}");
        assert_eq!(vectors(&world), 3, "what there was stays: {mood:?}");
        world.clock.count(31_000);
    }
    embedding.set(Mood::Well);
    let told = pack(&world, "money and decimals");
    assert_eq!((found(&told), alone(&told)), (vec![(CLAIMS[0], Some(FoundBy::Meaning))], String::new()));
    assert_eq!(Vectors::reading(world.store.path()).unwrap().of().unwrap().trouble, None);
}

#[test]
fn vectors_of_another_model_are_never_compared_and_are_made_anew() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = learnt(4_403, &embedding);
    let first = pack(&world, "money and decimals").meaning.unwrap().key;
    // Other weights under the same name.
    embedding.set(Mood::Other);
    let told = pack(&world, "amounts as decimals");
    assert!(alone(&told).contains("another model answers"), "{:?}", told.meaning);
    assert!(found(&told).is_empty());
    assert_eq!(vectors(&world), 0, "they are forgotten");
    world.clock.count(31_000);
    assert_eq!(make(&world).made, 3);
    let told = pack(&world, "amounts in decimals");
    assert_eq!(found(&told), [(CLAIMS[0], Some(FoundBy::Meaning))]);
    assert_ne!(told.meaning.unwrap().key, first);
    // Another name.
    *embedding.named.lock().unwrap() = Some("ollama:http://127.0.0.1:9#other".to_owned());
    let told = pack(&world, "amounts with decimals");
    assert_eq!(
        (told.meaning.clone().unwrap().model.as_str(), alone(&told)),
        ("ollama:http://127.0.0.1:9#other", String::new())
    );
    assert_eq!(found(&told), [(CLAIMS[0], Some(FoundBy::Meaning))]);
    assert_eq!(vectors(&world), 3, "and none of the other's");
}

#[test]
fn no_vector_outlives_its_text() {
    let embedding = Arc::new(Embedding::of(SAME));
    let mut world = learnt(4_404, &embedding);
    assert_eq!(make(&world).made, 3);
    let file = world.store.path().join(projections::vectors::FILE);
    let mut numbers = BTreeMap::new();
    let kept = Vectors::reading(world.store.path()).unwrap();
    let project = world.kernel().store_state().projects.values().next().map(|(hash, _)| *hash);
    let _ = kept
        .each(project, &mut |id, bytes| {
            numbers.insert(id.to_owned(), bytes.unwrap().to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(numbers.len(), 3);
    drop(kept);
    let has = |bytes: &[u8]| {
        let whole = std::fs::read(&file).unwrap();
        whole.windows(bytes.len()).any(|window| window == bytes)
    };
    let gone = erase(&world, CLAIMS[0]);
    assert_eq!(vectors(&world), 2);
    assert!(!has(&numbers[&gone.to_string()]), "no byte of it is left in the file");
    assert!(numbers.iter().filter(|(_, bytes)| has(bytes)).count() == 2);
    // One that is being made while its text is erased is not kept.
    learn(&world, "learn more", &["lanterns hang in the cellar"]);
    let (halted, at) = testkit::stop();
    *embedding.before.lock().unwrap() = Box::new(move || halted.waits());
    std::thread::scope(|scope| {
        let kernel = world.kernel();
        let making = scope.spawn(move || kernel.make_vectors(usize::MAX, &|| true).unwrap());
        at.is_reached();
        erase(&world, "lanterns hang in the cellar");
        at.goes_on();
        making.join().unwrap();
    });
    *embedding.before.lock().unwrap() = Box::new(|| ());
    assert_eq!(vectors(&world), 2);
    // One that was left by a host that died is taken away by the next.
    let row = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.remove(1);
    world.kernel().revoke_memory(row.memory_id, "private").unwrap();
    world.reopen();
    make(&world);
    assert_eq!(vectors(&world), 1);
}

#[test]
fn a_text_that_the_model_refuses_costs_the_others_nothing_and_what_broke_off_goes_on() {
    let embedding = Arc::new(Embedding::of(SAME));
    let mut world = world(4_405, &embedding);
    let named = embedding.named.lock().unwrap().take();
    for part in 0..4 {
        let claims: Vec<String> =
            (0..10).map(|n| format!("thing{part}{n} lies beside another{part}{n}")).collect();
        let claims: Vec<&str> = claims.iter().map(String::as_str).collect();
        learn(&world, &format!("learn {part}"), &claims);
    }
    *embedding.named.lock().unwrap() = named;
    embedding.set(Mood::Refuses("thing05"));
    // The host ends after the first batch.
    let first = world.kernel().make_vectors(1, &|| true).unwrap();
    assert_eq!((first.made, first.refused), (7, 1), "a batch has 8");
    world.reopen();
    let second = make(&world);
    assert_eq!((second.made, second.refused, second.trouble), (32, 0, None));
    assert_eq!(vectors(&world), 39);
    // A file that is none is made anew.
    std::fs::write(world.store.path().join(projections::vectors::FILE), "this is no database, and never was")
        .unwrap();
    world.reopen();
    assert_eq!(make(&world).made, 39);
    assert_eq!(make(&world), kernel::VectorsMade::default());
}

/// What a person takes back counts at once, also for what is under way.
#[test]
fn who_is_named_no_more_gets_no_text_and_nobody_gets_what_looks_like_a_secret() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = world(4_406, &embedding);
    let named = embedding.named.lock().unwrap().take();
    let claims: Vec<String> = (0..20).map(|n| format!("lantern {n} hangs in cellar {n}")).collect();
    for (n, some) in claims.chunks(5).enumerate() {
        learn(&world, &format!("learn {n}"), &some.iter().map(String::as_str).collect::<Vec<_>>());
    }
    *embedding.named.lock().unwrap() = named.clone();
    // Named no more while the first of its texts are under way: the others stay here, and what it answers is not kept.
    let (own, mut times) = (Arc::clone(&embedding), 0);
    *embedding.before.lock().unwrap() = Box::new(move || {
        times += 1;
        if times == 2 {
            own.named.lock().unwrap().take();
        }
    });
    assert_eq!(world.kernel().make_vectors(usize::MAX, &|| true).unwrap().made, 0);
    *embedding.before.lock().unwrap() = Box::new(|| ());
    let sent = |claim: &String| embedding.asked.lock().unwrap().iter().flatten().any(|text| text == claim);
    assert!(
        embedding.asked.lock().unwrap()[0].iter().all(|text| !claims.contains(text)),
        "the sentences first"
    );
    assert_eq!(claims.iter().filter(|claim| sent(claim)).count(), 8, "one batch was under way");
    make(&world);
    assert!(!world.store.path().join(projections::vectors::FILE).exists());

    // Other weights answer, and the vectors are begun anew, while a batch is under way: nothing of it counts as made.
    *embedding.named.lock().unwrap() = named;
    make(&world);
    assert_eq!(vectors(&world), 20);
    embedding.set(Mood::Other);
    assert!(alone(&pack(&world, "where is the lantern")).contains("another model answers"));
    world.clock.count(31_000);
    let (own, mut times) = (Arc::clone(&embedding), 0);
    *embedding.before.lock().unwrap() = Box::new(move || {
        times += 1;
        if times == 3 {
            own.set(Mood::Well);
        }
    });
    world.kernel().make_vectors(usize::MAX, &|| true).unwrap();
    *embedding.before.lock().unwrap() = Box::new(|| ());
    world.clock.count(31_000);
    make(&world);
    assert_eq!(vectors(&world), 20, "none is left behind");

    let key = ["sk-ant-", "api03-abcdefghijklmnopqrstuv"].concat();
    pack(&world, &format!("light the lantern with {key}"));
    assert!(embedding.asked.lock().unwrap().iter().flatten().all(|text| !text.contains(&key)));
    assert!(embedding.asked.lock().unwrap().iter().flatten().any(|text| text.contains("light the lantern")));
}

#[test]
fn a_context_reads_through_vectors_for_so_long_and_goes_on_with_words() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = learnt(4_407, &embedding);
    assert_eq!(make(&world).made, 3);
    // A machine on which half a second is gone with each look at the clock.
    world.clock.slow(500);
    let told = pack(&world, "refunds of slow machines");
    assert!(alone(&told).contains("could not be read through within 0.4 seconds"), "{:?}", told.meaning);
    assert_eq!(found(&told), [(CLAIMS[1], Some(FoundBy::Words))]);
    assert_eq!(told.meaning.unwrap().vectors, None);
    world.clock.slow(1);
    // The next contexts do not wait for as little.
    let times = embedding.times();
    assert!(alone(&pack(&world, "refunds of others")).contains("could not be read through"));
    assert_eq!(embedding.times(), times);
    world.clock.count(31_000);
    let told = pack(&world, "money and decimals");
    assert_eq!((found(&told), alone(&told)), (vec![(CLAIMS[0], Some(FoundBy::Meaning))], String::new()));
}

#[test]
fn a_pack_says_how_far_vectors_were_made() {
    let embedding = Arc::new(Embedding::of(SAME));
    let world = world(4_408, &embedding);
    let named = embedding.named.lock().unwrap().take();
    for part in 0..4 {
        let claims: Vec<String> =
            (0..5).map(|n| format!("lantern {part}{n} hangs in cellar {part}{n}")).collect();
        learn(&world, &format!("learn {part}"), &claims.iter().map(String::as_str).collect::<Vec<_>>());
    }
    *embedding.named.lock().unwrap() = named;
    let far = |goal: &str| {
        let there = pack(&world, goal).meaning.unwrap().vectors.unwrap();
        (there.made, there.records)
    };
    assert_eq!(far("where is the lantern"), (0, 20), "more than a context makes by itself");
    embedding.set(Mood::Refuses("lantern 03"));
    assert_eq!(world.kernel().make_vectors(1, &|| true).unwrap().made, 7);
    assert_eq!(far("where are lanterns"), (7, 20), "the one that is refused is a record without a vector");
    embedding.set(Mood::Well);
    make(&world);
    assert_eq!(far("where were lanterns"), (19, 20));
}

#[cfg(unix)]
#[test]
fn a_file_of_vectors_that_others_may_read_is_closed_to_them_or_made_anew() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let embedding = Arc::new(Embedding::of(SAME));
    let mut world = learnt(4_409, &embedding);
    make(&world);
    let file = world.store.path().join(projections::vectors::FILE);
    let mode = || std::fs::metadata(&file).unwrap().mode() & 0o777;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    world.reopen();
    make(&world);
    assert_eq!((mode(), vectors(&world)), (0o600, 3), "closed");
    // One that cannot be opened, and neither be removed: a folder in its place. It is told, and words go on.
    world.crash();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    std::fs::write(file.join("kept"), "x").unwrap();
    world.take_up().unwrap();
    let told = pack(&world, "refunds today");
    let why = alone(&told);
    assert!(why.contains("rights cannot be narrowed") && why.contains("remove it"), "{why}");
    assert_eq!(found(&told), [(CLAIMS[1], Some(FoundBy::Words))]);
    std::fs::remove_dir_all(&file).unwrap();
    assert_eq!((make(&world).made, mode()), (3, 0o600));
}
