//! Pictures that a model is shown: kept once, gone where they are erased, bounded in what they cost whoever decodes them, and
//! named with a reason where they are left out.

use crate::seeing::{begin, drive, furnished, pictures, png, png_of, script, taken_in, with_camera};
use crate::story::{completed, erased, events, packs};
use crate::told::{Wire, settings};
use kernel::command::erase::Erasure;
use model::artifact::{Artifact, ArtifactKind};
use model::context::ContextPack;
use model::fault::Point;
use model::limits::{ANSWER_CONTENTS_MAX, PICTURES_LEFT_OUT_NAMED};
use model::task::ModelApi;
use model::{Body, Digest, TaskId};
use reasoning::{Address, ModelServer, ToolMode};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use testkit::{Edge, Mode, World, base64};

/// Whether this content of the store holds a picture, in bytes or in base64.
fn holds(content: &[u8], picture: &[u8]) -> bool {
    let data = base64(picture);
    let within = |part: &[u8]| content.windows(part.len()).any(|window| window == part);
    within(picture) || within(data.as_bytes())
}

/// The artifacts of a task that hold a picture.
fn holders(world: &World, task: TaskId, picture: &[u8]) -> Vec<Artifact> {
    let state = world.kernel().task(task).unwrap();
    let read = |artifact: &&Artifact| world.kernel().artifacts().read(&artifact.content_hash).ok();
    let holds = |artifact: &&Artifact| read(artifact).is_some_and(|content| holds(&content, picture));
    state.artifacts.values().filter(holds).cloned().collect()
}

fn left_out(pack: &ContextPack) -> Vec<&str> {
    let reasons = pack.omissions.iter().map(|one| one.reason.as_str());
    reasons.filter(|reason| reason.starts_with("picture left out")).collect()
}

/// How a picture is named where it is left out.
fn named(media_type: &str, picture: &[u8]) -> String {
    let digest = Digest::of(picture).to_string();
    format!("({media_type}, {} bytes, sha256 {}…)", picture.len(), &digest[..12])
}

#[test]
fn a_picture_that_is_erased_is_in_no_request_of_its_task() {
    let world = furnished(1_821);
    let given = taken_in(&world, "given.png", &png("given"));
    let wire = script(ModelApi::Openai);
    let task = begin(&world, &wire, ModelApi::Openai, true, vec![given]);
    drive(&world, task);
    assert!(wire.sent().iter().all(|sent| sent.contains(&base64(&png("given")))), "it was shown");
    for (name, kind) in [
        ("given", ArtifactKind::BinaryAttachment),
        ("plan", ArtifactKind::ActionResult),
        ("snapped", ArtifactKind::Image),
    ] {
        let held = holders(&world, task, &png(name));
        assert_eq!(held.iter().map(|one| one.kind).collect::<Vec<_>>(), [kind], "{name} is kept once");
        let mut contents = vec![(held[0].artifact_id, held[0].content_hash)];
        // What came with the goal was taken in before, and is there as well.
        contents.extend((name == "given").then_some((given, held[0].content_hash)));
        contents.sort_unstable();
        let erasure = Erasure { contents, tasks: vec![task], ..Erasure::default() };
        erased(&world, &erasure);
        world.kernel().scrub().unwrap();
        assert!(holders(&world, task, &png(name)).is_empty(), "{name}");
        for entry in walk(world.store.path()) {
            assert!(!holds(&std::fs::read(&entry).unwrap(), &png(name)), "{name}: {}", entry.display());
        }
    }
}

/// Every file below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: std::path::PathBuf| if path.is_dir() { walk(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.is_file()).collect()
}

#[test]
fn requests_are_kept_in_the_size_of_their_words_however_large_their_pictures_are() {
    let world = furnished(1_822);
    let large = |name: &str| {
        let mut bytes = png(name);
        bytes.resize(300 << 10, 7);
        bytes
    };
    let files = ["one", "two", "three"].map(|name| taken_in(&world, &format!("{name}.png"), &large(name)));
    let mut acts: Vec<(&str, serde_json::Value)> =
        (0..3).map(|n| ("read", json!({ "path": format!("note-{n}.txt") }))).collect();
    acts.push(("done", json!({ "summary": "seen" })));
    (0..3).for_each(|n| world.file(&format!("note-{n}.txt"), "a short note"));
    let wire = Wire::speaking(ModelApi::Openai, acts);
    let task = begin(&world, &wire, ModelApi::Openai, true, files.to_vec());
    drive(&world, task);
    let sent: usize = wire.sent().iter().map(String::len).sum();
    assert!(sent > 4 * 1_200_000, "each request showed all of them: {sent}");
    let kept = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ModelRequested(b) => Some(world.kernel().artifacts().read(&b.request.sha256).unwrap().len()),
        _ => None,
    });
    let kept: Vec<usize> = kept.collect();
    assert!(kept.len() == 4 && kept.iter().sum::<usize>() < 4 * 64 * 1024, "{kept:?}");
}

/// Lets the host die after the request of this turn was stored.
fn dies_before_it_asks(world: &mut World, task: TaskId, turn: u32) {
    world.faults.plan(Point::ContextCompile, Edge::After, Mode::Abort, turn);
    let _died = catch_unwind(AssertUnwindSafe(|| drive(world, task)));
    assert!(world.faults.fired());
    world.faults.clear();
    world.reopen();
}

#[test]
fn a_request_that_was_stored_before_a_crash_is_sent_with_its_pictures_or_made_anew_where_one_is_gone() {
    for is_gone in [false, true] {
        // Small content stands in the ledger, and is gone with it alone.
        let mut snapped = png("snapped");
        snapped.resize(200_000, 7);
        let mut world = with_camera(1_823, vec![base64(&snapped)]);
        let given = taken_in(&world, "given.png", &png("given"));
        let wire = script(ModelApi::Openai);
        let task = begin(&world, &wire, ModelApi::Openai, true, vec![given]);
        dies_before_it_asks(&mut world, task, 3);
        assert_eq!(wire.sent().len(), 2);
        if is_gone {
            world.kernel().artifacts().erase(&Digest::of(&snapped)).unwrap();
        }
        drive(&world, task);
        let last = serde_json::from_str(wire.sent().last().unwrap()).unwrap();
        let shown = pictures(ModelApi::Openai, &last);
        assert_eq!(shown.len(), if is_gone { 2 } else { 3 });
        let failed =
            events(world.kernel(), task).into_iter().filter(|(_, b)| matches!(b, Body::ModelFailed(_)));
        assert_eq!(failed.count(), usize::from(is_gone), "it is on record that nothing was sent");
        let pack = packs(world.kernel(), task).pop().unwrap();
        let gone = left_out(&pack).iter().any(|reason| reason.contains("its bytes cannot be read"));
        assert_eq!(gone, is_gone, "{:?}", pack.omissions);
        assert_eq!(pack.items.iter().map(|item| item.pictures.len()).sum::<usize>(), shown.len());
    }
}

#[test]
fn a_picture_of_too_many_pixels_or_without_a_size_is_not_sent_and_named_with_the_reason() {
    let world = furnished(1_824);
    let wide = png_of("wide", 8_001, 10);
    let bomb = png_of("bomb", 7_000, 7_000);
    let mut headless = png("headless");
    headless.truncate(20);
    let files = [("wide", &wide), ("bomb", &bomb), ("headless", &headless)];
    let files = files.map(|(name, bytes)| taken_in(&world, &format!("{name}.png"), bytes));
    let wire = Wire::speaking(ModelApi::Openai, vec![("done", json!({ "summary": "seen" }))]);
    let task = begin(&world, &wire, ModelApi::Openai, true, files.to_vec());
    drive(&world, task);
    let sent = wire.sent().remove(0);
    assert_eq!(pictures(ModelApi::Openai, &serde_json::from_str(&sent).unwrap()), []);
    let pack = packs(world.kernel(), task).remove(0);
    for (bytes, why) in [
        (&wide, "more than 8000 on one side"),
        (&bomb, "more than 40 million pixels"),
        (&headless, "how wide and high"),
    ] {
        let name = named("image/png", bytes);
        let said = left_out(&pack).into_iter().any(|reason| reason.contains(why) && reason.ends_with(&name));
        assert!(said, "{why} {name}: {:?}", left_out(&pack));
        assert!(sent.contains(why) && sent.contains(&name[..30]), "the model is told: {sent}");
    }
}

#[test]
fn each_picture_that_a_tool_or_a_file_had_too_much_of_is_named_and_the_rest_is_counted() {
    let snapped: Vec<Vec<u8>> = (0..ANSWER_CONTENTS_MAX + 6).map(|n| png(&format!("snapped {n}"))).collect();
    let world = with_camera(1_825, snapped.iter().map(|bytes| base64(bytes)).collect());
    let mut plan = png("plan");
    plan.resize((4 << 20) + 1, 7);
    std::fs::write(world.path("plan.png"), &plan).unwrap();
    let wire = script(ModelApi::Openai);
    let task = begin(&world, &wire, ModelApi::Openai, true, Vec::new());
    drive(&world, task);
    let all = packs(world.kernel(), task);
    let cut = format!("only the first 4 MiB of a file are read {}", named("image/png", &plan));
    assert_eq!(left_out(&all[1]), [format!("picture left out: {cut}")]);
    let last = left_out(&all[2]);
    let not_kept = |bytes: &Vec<u8>| {
        format!(
            "picture left out: only the first 16 contents of one answer are kept {}",
            named("image", bytes)
        )
    };
    let no_room = last.iter().filter(|reason| reason.contains("8 pictures of 8 MiB together")).count();
    assert_eq!(no_room, 8, "of 16 that were kept 8 are shown: {last:?}");
    let further = snapped.iter().skip(ANSWER_CONTENTS_MAX).map(not_kept);
    let further = further.filter(|reason| last.contains(&reason.as_str())).count();
    assert_eq!(no_room + further, PICTURES_LEFT_OUT_NAMED, "{last:?}");
    assert!(last.contains(&"picture left out: so are 3 more"), "{last:?}");
    assert!(last.iter().all(|reason| !reason.contains("snap") && !reason.contains("plan")), "{last:?}");
}

#[test]
fn a_picture_whose_turn_is_summed_up_is_named_as_long_as_the_summary_stands() {
    let world = furnished(1_826);
    // Two long results stay as they are; what was seen before them is summed up.
    let long: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
    ["a.txt", "b.txt", "c.txt"].iter().for_each(|name| world.file(name, &long));
    let read = |path: &str| ("read", json!({ "path": path }));
    let wire = Wire::new(vec![
        read("plan.png"),
        ("s00__snap", json!({})),
        read("a.txt"),
        read("b.txt"),
        ("write", json!({ "path": "d.txt", "content": "d" })),
        read("c.txt"),
        ("done", json!({ "summary": "seen" })),
    ]);
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let settings =
        reasoning::Settings { sees: true, context_tokens: 64_000, ..settings(ToolMode::Tools, &[]) };
    let model = ModelServer::new(&address, settings, Arc::clone(&wire) as _).unwrap();
    world.reasoners.put("look at it", Arc::new(model));
    let task = crate::seeing::submitted(&world, Vec::new());
    let snap = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, snap).unwrap();
    let write = world.drive_to_approval(task);
    let shown = packs(world.kernel(), task).pop().unwrap();
    assert_eq!(shown.items.iter().map(|item| item.pictures.len()).sum::<usize>(), 2, "{:?}", shown.omissions);
    let made = world.kernel().compact(task, true).unwrap().expect("there is something to sum up");
    assert_eq!(made.results, 2);
    world.person.allow(world.kernel(), task, write).unwrap();
    assert_eq!(world.drive(task), completed());
    for pack in packs(world.kernel(), task).iter().skip(5) {
        for name in ["plan", "snapped"] {
            let name = named("image/png", &png(name));
            let why = "a summary stands in the place of what it came with; look again to see it";
            let said = format!("picture left out: {why} {name}");
            assert!(left_out(pack).contains(&said.as_str()), "{name}: {:?}", left_out(pack));
        }
        assert!(pack.items.iter().all(|item| item.pictures.is_empty()));
    }
    assert!(wire.sent().last().unwrap().contains("a summary stands in the place of what it came with"));
}
