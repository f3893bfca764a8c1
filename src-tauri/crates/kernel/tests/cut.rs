//! Every step of the work in the background, cut at each boundary that it passes: the next process finds nothing doubled and
//! nothing half done, and finishes it (memory.md 7).

use crate::story::{completed, count, events, log, packs, rebuilt, shows, state};
use kernel::{DriveOutcome, Kernel, Waiting};
use model::fault::Point;
use model::ingress::Channel;
use model::knowledge::MemoryStatus;
use model::receipt::ReceiptClass;
use model::task::Origin;
use model::{Body, TaskId};
use projections::Vectors;
use projections::query::Ask;
use serde_json::json;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use testkit::{Edge, Embedding, Mode, Mood, World};

/// Does a job on worlds that are alike, each cut before or after another of the boundaries that it passes, and then has the
/// next process do it twice; `whole` looks at what it came to. How many places there are to be cut at.
fn cut(make: &dyn Fn() -> World, job: &dyn Fn(&World), whole: &dyn Fn(&mut World, &str)) -> usize {
    let mut calm = make();
    calm.faults.forget_hits();
    job(&calm);
    let hits: BTreeMap<(Point, Edge), u32> = calm.faults.hits();
    whole(&mut calm, "without a cut");
    let every =
        hits.into_iter().flat_map(|((point, edge), times)| (1..=times).map(move |nth| (point, edge, nth)));
    let every: Vec<(Point, Edge, u32)> = every.collect();
    for at in chosen(every.len()) {
        let (point, edge, nth) = every[at];
        let place = format!("{point:?}, {edge:?}, pass {nth}");
        let mut world = make();
        world.faults.plan(point, edge, Mode::Abort, nth);
        let died = catch_unwind(AssertUnwindSafe(|| job(&world)));
        // A boundary whose failure is no failure of the job lets it go on.
        assert!(world.faults.fired(), "{place} was not reached: {died:?}");
        world.faults.clear();
        world.reopen();
        job(&world);
        job(&world);
        whole(&mut world, &place);
    }
    every.len()
}

/// Cuts of each job in the suite, spread over all places; with `HERMIT_CUTS=all` every place is cut.
const CUTS: usize = 4;

fn chosen(all: usize) -> BTreeSet<usize> {
    if std::env::var("HERMIT_CUTS").is_ok_and(|said| said == "all") {
        return (0..all).collect();
    }
    (0..CUTS.min(all)).map(|n| (n * all / CUTS.min(all) + all / 7) % all).collect()
}

/// The tasks that Hermit itself began, which have not ended.
fn of_service(kernel: &Kernel) -> Vec<TaskId> {
    let created = log(kernel).into_iter().filter_map(|(_, body)| match body {
        Body::TaskCreated(b) if b.task.origin() == Origin::Service => Some(b.task.task_id),
        _ => None,
    });
    created.filter(|task| !kernel.task(*task).unwrap().task.status.is_terminal()).collect()
}

/// Drives a task to its end, allowing what it asks.
fn through(world: &World, task: TaskId) {
    for _ in 0..5 {
        match world.drive(task) {
            DriveOutcome::Waiting(Waiting::Approval(at)) => {
                world.person.allow(world.kernel(), task, at).unwrap();
            }
            other => return assert_eq!(other, completed()),
        }
    }
    panic!("it asks again and again");
}

/// Looks at what ended, and lets a person say yes to all that is proposed of it.
fn remember_all(world: &World) {
    for _ in 0..3 {
        world.kernel().read_history(0).unwrap();
        of_service(world.kernel()).into_iter().for_each(|task| through(world, task));
    }
}

#[test]
fn the_historian_and_the_promotion_of_its_lines_are_cut_everywhere() {
    let make = || {
        let world = World::new(9_201);
        crate::history::corrected(&world, "First", "Always write dates as year, month, day", Channel::App);
        crate::history::corrected(&world, "Second", "Do not touch the vendor folder", Channel::App);
        world
    };
    let whole = |world: &mut World, place: &str| {
        let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
        let held: BTreeSet<&String> = rows.iter().filter_map(|row| row.claim.shown()).collect();
        assert_eq!((rows.len(), held.len()), (2, 2), "{place}: each line once");
        assert!(rows.iter().all(|row| row.status == MemoryStatus::Active), "{place}");
        let (mut looks, mut marks, mut services) = (Vec::new(), Vec::new(), Vec::new());
        for (_, body) in log(world.kernel()) {
            match body {
                Body::HistoryRead(b) => {
                    looks.push(b.look);
                    marks.extend(b.marks.into_iter().map(|mark| mark.claim_sha256));
                }
                Body::TaskCreated(b) if b.task.origin() == Origin::Service => services.push(b.task.task_id),
                _ => {}
            }
        }
        assert_eq!(looks, (0..looks.len() as u64).collect::<Vec<_>>(), "{place}: each look once");
        let once: BTreeSet<&model::Digest> = marks.iter().collect();
        assert_eq!(marks.len(), once.len(), "{place}: each claim is marked once");
        let [task] = services[..] else { panic!("{place}: proposed once: {services:?}") };
        assert_eq!(count(world.kernel(), task, "approval.requested"), 1, "{place}: a person is asked once");
        let receipts = state(world, task).receipts;
        let promoted = receipts.iter().filter(|r| r.receipt_class == ReceiptClass::MemoryPromotion).count();
        assert_eq!(promoted, 1, "{place}: one act, one receipt");
        let (views, fresh) = rebuilt(world);
        assert_eq!(views, fresh, "{place}");
    };
    let cuts = cut(&make, &remember_all, &whole);
    println!("historian and promotion: {cuts} places to be cut at");
    assert!(cuts >= 12, "{cuts}");
}

#[test]
fn the_dreamer_is_cut_everywhere() {
    let make = || {
        let world = World::new(9_202);
        for part in ["alpha", "beta", "gamma"] {
            crate::dreaming::began(&world, part);
        }
        world
    };
    let job = |world: &World| {
        while world.kernel().read_history(0).unwrap().more {}
    };
    let whole = |world: &mut World, place: &str| {
        let [one] = &crate::dreaming::drafts(world)[..] else { panic!("{place}: drafted once") };
        assert_eq!(one.mark.tasks.len(), 3, "{place}");
        let drafted = log(world.kernel()).into_iter().filter_map(|(_, body)| match body {
            Body::HistoryRead(b) => b.drafts,
            _ => None,
        });
        assert_eq!(drafted.flatten().count(), 1, "{place}");
        // What it holds is there, and a person can adopt it.
        let task = world.kernel().propose_playbook(&one.mark.name, Channel::Cli).unwrap().task_id;
        through(world, task);
        assert_eq!(world.kernel().playbook_registry().0.len(), 1, "{place}");
    };
    let cuts = cut(&make, &job, &whole);
    println!("dreamer: {cuts} places to be cut at");
    assert!(cuts >= 2, "{cuts}");
}

#[test]
fn compaction_is_cut_everywhere() {
    let make = || {
        let world = crate::compacting::world(9_203);
        let ends =
            vec![crate::compacting::write("out.txt", "8443\n"), ("done", json!({ "summary": "8443" }))];
        let (_, task) = crate::compacting::reading(&world, 12, ends);
        assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(_))));
        world
    };
    let task_of = |world: &World| {
        let created = log(world.kernel()).into_iter().find_map(|(_, body)| match body {
            Body::TaskCreated(b) => Some(b.task.task_id),
            _ => None,
        });
        created.unwrap()
    };
    let job = |world: &World| {
        world.kernel().compact(task_of(world), false).unwrap();
    };
    let whole = |world: &mut World, place: &str| {
        let task = task_of(world);
        assert_eq!(count(world.kernel(), task, "attempt.context_compacted"), 1, "{place}: once");
        let folded: Vec<_> = events(world.kernel(), task)
            .into_iter()
            .filter_map(|(_, body)| match body {
                Body::ArtifactCompacted(b) => Some(b.artifact_id),
                _ => None,
            })
            .collect();
        let once: BTreeSet<_> = folded.iter().collect();
        assert_eq!(folded.len(), once.len(), "{place}: nothing is folded twice");
        through(world, task);
        let last = packs(world.kernel(), task).pop().unwrap();
        assert!(shows(&last, "The staging port of the old machine is 8443."), "{place}: the fact is lost");
    };
    let cuts = cut(&make, &job, &whole);
    println!("compaction: {cuts} places to be cut at");
    assert!(cuts >= 2, "{cuts}");
}

/// Vectors are made by a model and kept outside the log, so that the cuts are where it is asked, and behind each batch.
#[test]
fn the_making_of_vectors_is_cut_wherever_the_model_is_asked() {
    let mut nth = 0;
    loop {
        let embedding = Arc::new(Embedding::of(crate::meaning::SAME));
        let mut world = crate::meaning::learnt(9_204, &embedding);
        let (own, mut left) = (Arc::clone(&embedding), nth);
        *embedding.before.lock().unwrap() = Box::new(move || match left {
            0 => own.set(Mood::Dies),
            _ => left -= 1,
        });
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().make_vectors(usize::MAX, &|| true)));
        *embedding.before.lock().unwrap() = Box::new(|| ());
        embedding.set(Mood::Well);
        world.reopen();
        assert_eq!(world.kernel().make_vectors(usize::MAX, &|| true).unwrap().trouble, None, "{nth}");
        assert_eq!(crate::meaning::vectors(&world), 3, "{nth}: each once");
        assert_eq!(world.kernel().make_vectors(usize::MAX, &|| true).unwrap().made, 0, "{nth}: none twice");
        let told = crate::meaning::pack(&world, "store money without decimals");
        assert_eq!(crate::meaning::found(&told).len(), 1, "{nth}");
        if died.is_ok() {
            break;
        }
        nth += 1;
    }
    println!("vectors: {nth} cuts");
    assert!(nth >= 2, "{nth}");
}

#[test]
fn the_erasure_of_a_text_and_its_vector_is_cut_everywhere() {
    let embedding = Arc::new(Embedding::of(crate::meaning::SAME));
    // The bytes of the vector that has to go, of the world that was made last.
    let numbers: Cell<Vec<u8>> = Cell::default();
    let claim = crate::meaning::CLAIMS[0];
    let row = |world: &World| {
        let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
        rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim))
    };
    let make = || {
        let world = crate::meaning::learnt(9_205, &embedding);
        world.kernel().make_vectors(usize::MAX, &|| true).unwrap();
        let id = row(&world).unwrap().memory_id.to_string();
        let project = world.kernel().store_state().projects.values().next().map(|(hash, _)| *hash);
        let kept = Vectors::reading(world.store.path()).unwrap();
        let _ = kept
            .each(project, &mut |of, bytes| {
                if of == id {
                    numbers.set(bytes.unwrap().to_vec());
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        world
    };
    let job = |world: &World| {
        if row(world).is_some() {
            crate::meaning::erase(world, claim);
        }
        // What the host does when it begins.
        world.kernel().make_vectors(usize::MAX, &|| true).unwrap();
    };
    let whole = |world: &mut World, place: &str| {
        assert!(row(world).is_none(), "{place}: the words are gone");
        assert_eq!(crate::meaning::vectors(world), 2, "{place}: the others stay");
        let file = std::fs::read(world.store.path().join(projections::vectors::FILE)).unwrap();
        let gone = numbers.take();
        assert!(
            !gone.is_empty() && !file.windows(gone.len()).any(|part| part == gone),
            "{place}: no byte of it"
        );
        numbers.set(gone);
    };
    let cuts = cut(&make, &job, &whole);
    println!("erasure: {cuts} places to be cut at");
    assert!(cuts >= 2, "{cuts}");
}
