//! Schedules: what many of them cost a host that has nothing to do, how soon a file that lands has its task, and how long a look
//! at a folder takes (schedule.md 1).

use crate::Asked;
use crate::board::{Board, at, ms, timed};
use crate::grown;
use crate::idle::{Host, IDLE, Idle};
use crate::journeys::stage::Stage;
use ledger::{Batch, Reader, Stored};
use model::artifact::ArtifactRef;
use model::body::{Body, ScheduleKept, WorkspaceRegistered};
use model::event::Draft;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::{
    Bounds, CatchUp, FileChanges, QUIET_MS_USUAL, Rule, Schedule, ScheduleProposer, Trigger, When,
};
use model::task::Budget;
use model::{ArtifactId, Digest, Sensitive, TaskId, WorkspaceId};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::World;

/// The schedule that a person keeps; the others are written as copies of it.
const FIRST: &str = "first";
const ZONE: &str = "Europe/Berlin";
/// It moves later duplicates, so it changes nothing and asks nothing where there are none.
const PLAYBOOK: &str = "duplicates";
/// Schedules of one commit.
const COMMIT: usize = 1_000;
/// Files of one folder; more lie in folders inside it.
const EACH: u64 = 100;
/// Files that land, as many as runs may begin within an hour.
const LANDINGS: usize = 20;
const QUIET: Duration = Duration::from_secs(1);
/// Whatever is waited for comes within this time or not at all.
const PATIENCE: Duration = Duration::from_secs(120);
/// Files of the folder that is looked at, and how often.
const LOOKED_AT: u64 = 10_000;
const LOOKS: usize = 20;
/// Megabytes that all schedules and watched folders may add together.
const ADDED_MB: f64 = 20.0;
/// Milliseconds in which the system counts processor time: less is not measurable.
const TICK_MS: f64 = 10.0;

pub fn run(asked: &Asked, board: &Board) {
    let stage = stage();
    Host::of(&stage).ends();
    let none = measured(&stage);
    let detail = format!("{:.1} MB, at rest after {:.2} s", none.idle.megabytes, none.rested.as_secs_f64());
    board.figure("a host without a schedule", &detail);
    drop(stage);
    let many = many(asked, &none.idle, board);
    let watching = watching(asked, &none.idle, board);
    let size = format!(
        "{} schedules and {} folders of {} files; the bound is for 10000 and 200 of 10000",
        asked.schedules, asked.folders, asked.files
    );
    let added = many.megabytes + watching.megabytes - 2.0 * none.idle.megabytes;
    board.at_most("memory that all of these add, MB", added, ADDED_MB, &size);
    landings(board);
    looks(board);
}

/// A store whose host begins nothing by itself but what is scheduled.
fn stage() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.home().join("config.json"), r#"{"historian":false}"#).expect("its settings");
    stage
}

/// A host that was started on what the one before has left, and its idle time.
struct Measured {
    rested: Duration,
    idle: Idle,
}

fn measured(stage: &Stage) -> Measured {
    let host = Host::of(stage);
    let rested = host.rests();
    let idle = host.idles();
    host.ends();
    Measured { rested, idle }
}

/// Tells what it costs beside a host with none.
fn told(what: &str, with: &Measured, none: &Idle, board: &Board) {
    let idle = &with.idle;
    let detail = format!(
        "{:.1} MB beside {:.1}, {:.1} at most before; at rest after {:.2} s",
        idle.megabytes,
        none.megabytes,
        idle.most,
        with.rested.as_secs_f64()
    );
    board.figure(
        &format!("{what}: memory added"),
        &format!("{:.1} MB; {detail}", idle.megabytes - none.megabytes),
    );
    let seconds = IDLE.as_secs();
    let detail = format!("{:.2} ms beside {:.2} in {seconds} s", idle.ran_ms, none.ran_ms);
    board.at_most(&format!("{what}: processor time added, ms"), idle.ran_ms - none.ran_ms, TICK_MS, &detail);
    let detail = format!(
        "in {seconds} s, beside {} with none; all threads {} beside {}",
        none.clock_woke, idle.woke, none.woke
    );
    board.at_most(&format!("{what}: the clock woke"), idle.clock_woke, none.clock_woke, &detail);
}

/// A schedule that was kept, as its store has it.
struct Kept {
    /// The store's own stream.
    stream: TaskId,
    body: ScheduleKept,
    schedule: Schedule,
}

fn body(reader: &Reader, stored: &Stored) -> Body {
    let event = stored.event().expect("an event");
    reader.revealing(|shown| event.body(shown)).expect("read").expect("a body")
}

/// Has a schedule of the stage's folder kept by a yes.
fn kept(stage: &Stage, said: &str, more: &[&str]) -> Kept {
    let work = stage.work();
    let at = work.to_str().expect("UTF-8");
    let add = ["schedule", "add", said, "--playbook", PLAYBOOK, "--name", FIRST, "--workspace", at];
    let asked = stage.hermit(&[&add[..], more].concat()).ends(4).json();
    let approval = asked["waits_for"]["id"].as_str().expect("an approval").to_owned();
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let reader = Reader::open(&stage.home()).expect("the store");
    let all = reader.log(0, 100_000).expect("its log");
    let found = all.iter().rev().find_map(|stored| match body(&reader, stored) {
        Body::ScheduleKept(body) => Some((stored.task_id, body)),
        _ => None,
    });
    let (stream, body) = found.expect("it was kept");
    let bytes = reader.blob(&body.schedule.sha256).expect("read").expect("a small artifact");
    Kept { stream, body, schedule: serde_json::from_slice(&bytes).expect("a schedule") }
}

/// Writes copies of a schedule into its store, each as a yes would have: a person would type for days. What has to be known before
/// it is kept comes with it.
fn copied(stage: &Stage, kept: &Kept, copies: impl Iterator<Item = (Schedule, Option<Body>)>) {
    let writer = grown::writer(&stage.home(), true);
    let mut copies = copies.peekable();
    while copies.peek().is_some() {
        let mut batch = Batch::new(Point::DecisionRecord);
        for (schedule, before) in copies.by_ref().take(COMMIT) {
            let bytes = seal::canon::to_canonical(&schedule).expect("canonical");
            let sha256 = Digest::of(&bytes);
            let artifact_id = ArtifactId::fresh(&grown::Now, &grown::IDS);
            let copy = ScheduleKept {
                name: schedule.name,
                when: schedule.when,
                schedule: ArtifactRef { artifact_id, sha256 },
                slots_task_id: grown::task(),
                ..kept.body.clone()
            };
            let bodies = before.into_iter().chain([Body::from(copy)]);
            let drafts = bodies.map(|body| Draft { body, ..grown::draft(kept.stream, false) });
            batch.drafts.extend(drafts);
            batch.blobs.push((sha256, bytes));
        }
        writer.commit(batch).expect("committed");
    }
}

/// A month that begins in about half a year: nothing of it comes due meanwhile.
fn far_month() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let months = now.as_secs_f64() / (86_400.0 * 30.436_875);
    (months as u64 + 6) % 12 + 1
}

/// Many schedules of which none is due.
fn many(asked: &Asked, none: &Idle, board: &Board) -> Idle {
    let (stage, month) = (stage(), far_month());
    let rule = |n: u64| format!("{} {} {} {month} *", n % 60, n / 60 % 24, n / 1_440 % 28 + 1);
    let kept = kept(&stage, &rule(0), &["--zone", ZONE]);
    let copy = |n: u64| {
        let (expression, zone) = (rule(n), ZONE.to_owned());
        let when = When { rule: Rule::Cron { expression, zone }, ..kept.schedule.when.clone() };
        (Schedule { name: format!("copy-{n}"), said: rule(n), when, ..kept.schedule.clone() }, None)
    };
    copied(&stage, &kept, (1..asked.schedules).map(copy));
    Host::of(&stage).ends();
    let with = measured(&stage);
    told(&format!("{} schedules", asked.schedules), &with, none, board);
    with.idle
}

/// Puts files into a folder, in folders inside it; how many folders that are.
fn fill(folder: &Path, files: u64) -> usize {
    std::fs::create_dir_all(folder).expect("a folder");
    for n in 0..files {
        let inside = folder.join(format!("{:03}", n / EACH));
        if n.is_multiple_of(EACH) {
            std::fs::create_dir(&inside).expect("a folder");
        }
        std::fs::write(inside.join(format!("{n:05}.txt")), format!("file {n}\n")).expect("a file");
    }
    1 + usize::try_from(files.div_ceil(EACH)).expect("a size")
}

/// Many folders that are watched, and in which nothing happens.
fn watching(asked: &Asked, none: &Idle, board: &Board) -> Idle {
    let stage = stage();
    let mut inside = fill(&stage.work(), asked.files);
    let kept = kept(&stage, "when files change", &[]);
    let all = stage.at("watched");
    std::fs::create_dir(&all).expect("a folder");
    let all = all.canonicalize().expect("there");
    let copies = (1..asked.folders).map(|n| {
        let folder = all.join(format!("{n:03}"));
        inside += fill(&folder, asked.files);
        let workspace_id = WorkspaceId::fresh(&grown::Now, &grown::IDS);
        let root_path = Sensitive::from(kernel::workspace::encode_root(&folder));
        let folder = folder.display().to_string();
        let schedule = Schedule { name: format!("copy-{n}"), workspace_id, folder, ..kept.schedule.clone() };
        (schedule, Some(Body::from(WorkspaceRegistered { workspace_id, root_path })))
    });
    copied(&stage, &kept, copies);
    let what = format!("{} folders of {} files", asked.folders, asked.files);
    // The first one finds what there is, and the next one compares it.
    let host = Host::of(&stage);
    let found = host.rests();
    host.ends();
    board.figure(&format!("{what}: seen first"), &format!("{:.2} s", found.as_secs_f64()));
    let host = Host::of(&stage);
    let watched = watched(&host, inside);
    host.ends();
    let raw = raw_watches(&[&stage.work(), &all]);
    let detail = match (watched, raw) {
        (Some(watched), Some(raw)) => {
            let (watched, raw) = (watched.as_secs_f64(), raw.as_secs_f64());
            format!(
                "{watched:.2} s from the start, {:.1} of raw watches of the same {inside} ({raw:.2} s)",
                watched / raw
            )
        }
        _ => format!("not all {inside} are, or the system does not tell (see /proc/sys/fs/inotify)"),
    };
    board.figure(&format!("{what}: all watched"), &detail);
    let with = measured(&stage);
    told(&what, &with, none, board);
    with.idle
}

/// How long after its start a host watches so many folders, if it does.
fn watched(host: &Host, folders: usize) -> Option<Duration> {
    while host.watches()? < folders {
        if host.begun.elapsed() > PATIENCE {
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(host.begun.elapsed())
}

/// What is below a folder, walked with metadata. `each`: told of every folder.
fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) -> u64 {
    each(folder);
    let (mut files, mut folders) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.metadata().expect("there").is_dir() {
            true => folders.push(entry.path()),
            false => files += 1,
        }
    }
    for inside in &folders {
        files += walk(inside, each);
    }
    files
}

/// How long raw watches of these folders and all inside them take.
#[cfg(target_os = "linux")]
fn raw_watches(folders: &[&Path]) -> Option<Duration> {
    use rustix::fs::inotify;
    let notices = inotify::init(inotify::CreateFlags::CLOEXEC).ok()?;
    let mut are_all = true;
    let mut each = |folder: &Path| {
        are_all &= inotify::add_watch(&notices, folder, inotify::WatchFlags::ALL_EVENTS).is_ok()
    };
    let (took, _) = timed(|| folders.iter().map(|folder| walk(folder, &mut each)).sum::<u64>());
    are_all.then_some(took)
}

#[cfg(not(target_os = "linux"))]
fn raw_watches(_: &[&Path]) -> Option<Duration> {
    None
}

/// From a file's landing to the event that says which task it began.
fn landings(board: &Board) {
    let stage = stage();
    let seconds = QUIET.as_secs().to_string();
    let kept = kept(&stage, "when a file lands here", &["--quiet-seconds", &seconds, "--per-hour", "20"]);
    let host = Host::of(&stage);
    host.rests();
    let reader = Reader::open(&stage.home()).expect("the store");
    let mut times: Vec<Duration> = (0..LANDINGS)
        .map(|n| {
            let (aside, landed) = (stage.at("aside.txt"), stage.work().join(format!("{n:02}.txt")));
            std::fs::write(&aside, format!("file {n}\n")).expect("a file");
            let begun = Instant::now();
            std::fs::rename(&aside, &landed).expect("it lands");
            let task = fired(&reader, &kept, n);
            let took = begun.elapsed();
            ends(&reader, task);
            host.rests();
            took
        })
        .collect();
    host.ends();
    let (middle, most) = (at(&mut times, 0.5), at(&mut times, 0.95));
    let quiet = QUIET.as_secs_f64();
    board.figure(
        "from a file's landing to its task",
        &format!(
            "median {}, 95th {} of {LANDINGS}; {:.2} of the quiet time of {}",
            ms(middle),
            ms(most),
            middle / quiet,
            ms(quiet)
        ),
    );
    match raw_notices(&stage.work()) {
        Some(mut raw) => {
            let detail = format!("median {}, 95th {}", ms(at(&mut raw, 0.5)), ms(at(&mut raw, 0.95)));
            board.figure("from a file's landing to a raw notice", &detail);
        }
        None => board.figure("from a file's landing to a raw notice", "this system gives none"),
    }
}

/// Waits for what `look` finds.
fn comes<T>(what: &str, every: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(every);
    }
}

/// The task of the next run of a schedule that has begun so many before, as soon as the store tells it.
fn fired(reader: &Reader, kept: &Kept, before: usize) -> TaskId {
    comes("the task of a file that landed", Duration::from_millis(1), || {
        let stream = reader.events(kept.body.slots_task_id, 0, 10_000).expect("read");
        // A run is two events, and what was found first is one.
        let newer = stream.iter().skip(2 * before);
        let mut runs = newer.filter_map(|stored| match body(reader, stored) {
            Body::ScheduleFired(fired) => Some(fired),
            _ => None,
        });
        runs.find(|fired| fired.runs > before as u64).map(|fired| fired.about_task_id)
    })
}

/// Waits until a task has ended.
fn ends(reader: &Reader, task: TaskId) {
    comes("the end of a task", Duration::from_millis(50), || {
        let events = reader.events(task, 0, 10_000).expect("read");
        let is_over = |stored: &Stored| match body(reader, stored) {
            Body::TaskStatusChanged(changed) => changed.to.is_terminal(),
            _ => false,
        };
        events.iter().any(is_over).then_some(())
    });
}

/// How long the system itself takes to tell somebody who waits for it that a file has landed.
#[cfg(target_os = "linux")]
fn raw_notices(folder: &Path) -> Option<Vec<Duration>> {
    use rustix::fs::inotify;
    use std::mem::MaybeUninit;
    let notices = inotify::init(inotify::CreateFlags::CLOEXEC).ok()?;
    inotify::add_watch(&notices, folder, inotify::WatchFlags::MOVED_TO).ok()?;
    let aside = folder.with_extension("aside");
    let mut times = Vec::new();
    for n in 0..LANDINGS {
        std::fs::write(&aside, "a file\n").expect("a file");
        let took = std::thread::scope(|scope| {
            let hears = scope.spawn(|| {
                let mut room = [MaybeUninit::uninit(); 1_024];
                let mut heard = inotify::Reader::new(&notices, &mut room);
                heard.next().map(|_| Instant::now()).expect("a notice")
            });
            // By then it waits.
            std::thread::sleep(Duration::from_millis(20));
            let begun = Instant::now();
            std::fs::rename(&aside, folder.join(format!("raw-{n:02}.txt"))).expect("it lands");
            hears.join().expect("it heard").duration_since(begun)
        });
        times.push(took);
    }
    Some(times)
}

#[cfg(not(target_os = "linux"))]
fn raw_notices(_: &Path) -> Option<Vec<Duration>> {
    None
}

/// One look at a folder in which nothing has changed.
fn looks(board: &Board) {
    let world = World::new(93);
    fill(world.folder.path(), LOOKED_AT);
    let root = world.folder.path().canonicalize().expect("there");
    let kernel = world.kernel();
    let schedule = waits_for_files(&root, kernel.workspace(&root).expect("known"));
    let by = (Channel::App, "looked-at".to_owned());
    let task = kernel.propose_schedule(schedule, "UTC", by).expect("proposed").task_id;
    let approval = world.drive_to_approval(task);
    world.person.allow(kernel, task, approval).expect("allowed");
    world.drive(task);
    let begun = kernel.look_due().expect("it looks");
    assert!(begun.is_empty() && kernel.schedule_registry().standing(FIRST).is_some(), "it is kept");
    let mut own: Vec<Duration> = (0..LOOKS)
        .map(|_| {
            assert!(kernel.want_look(FIRST, kernel.ports().clock.now()), "it is due");
            timed(|| kernel.look_due().expect("it looks")).0
        })
        .collect();
    let mut raw: Vec<Duration> = (0..LOOKS)
        .map(|_| {
            let (took, files) = timed(|| walk(&root, &mut |_| {}));
            assert_eq!(files, LOOKED_AT);
            took
        })
        .collect();
    let (own, raw) = (at(&mut own, 0.5), at(&mut raw, 0.5));
    board.figure(
        &format!("one look at {LOOKED_AT} files / a walk with metadata"),
        &format!("{:.1} ({} of {})", own / raw, ms(own), ms(raw)),
    );
}

fn waits_for_files(root: &Path, workspace_id: WorkspaceId) -> Schedule {
    let all = reasoning::Playbook::shipped();
    let playbook = all.into_iter().find(|one| one.name() == PLAYBOOK).expect("shipped");
    Schedule {
        name: FIRST.to_owned(),
        said: "when files change".to_owned(),
        when: When { rule: Rule::Event, catch_up: CatchUp::Newest, grace_ms: None, jitter_ms: None },
        goal: "Set duplicates aside".to_owned(),
        workspace_id,
        folder: root.display().to_string(),
        proposer: ScheduleProposer::Playbook {
            name: PLAYBOOK.to_owned(),
            text: playbook.text().to_owned(),
            parameters: BTreeMap::new(),
        },
        profile: Profile::LocalEditAllowed,
        budget: Budget::default(),
        conversation_id: None,
        bounds: Bounds::default(),
        on: Some(Trigger::Files {
            globs: Vec::new(),
            changes: FileChanges::Changed,
            quiet_ms: QUIET_MS_USUAL,
        }),
        quiet: false,
    }
}
