//! Power cuts: whatever the disk had not been told to keep may be gone, and the unmodified kernel goes on from the rest.
//!
//! A story is played once, below `strace`. From what it wrote and synced, images are made of what a power cut may leave
//! ([`super::disk`]) at every place of the recording. Of images that are alike one is opened: alike in every byte, or
//! alike once SQLite has brought ledger and WAL together, for more than that the kernel never reads. Of the latter a
//! few are opened all the same.
//!
//! Each kind of sync is taken out of the recording once, as if the product had forgotten it, and must be missed.

use super::Progress;
use super::audit::{Ending, audit_of};
use super::disk::{Content, Disk, Image, Left};
use super::points::{play, spread};
use super::recorded::{Op, Recorded, record};
use super::seeds::Dice;
use super::sim::{Scribe, Sim, log_after};
use super::stories::{ALL, MIXED, Story};
use model::body::Body;
use model::{ActionRequestId, TaskId};
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use testkit::World;

/// Images in the suite, which `HERMIT_SIMULATION_IMAGES` makes more (`recovery.md` 3). A sync that is left out shows in as few as
/// [`MISSED_IN`], which each run sees.
const IMAGES: usize = 8_000;
/// One of so many images that are alike only to SQLite is opened as well.
const OPENED_ALL_THE_SAME: u64 = 400;
/// The views are folded anew for one of so many that are opened.
const VIEWS_OF_ONE_IN: usize = 10;
/// Images in which a sync that is not made must show, and calls behind it at which they are taken.
const MISSED_IN: usize = 400;
const MISSED_WITHIN: usize = 400;
type OfPath = fn(&str) -> bool;

/// The syncs that everything hangs on: were one of them not made, an image would fail.
const SYNCS: [(&str, OfPath); 7] = [
    ("a commit's", |path| path == "store/ledger.db-wal"),
    ("the ledger's, before its WAL begins anew", |path| path == "store/ledger.db"),
    ("the store's folder's", |path| path == "store"),
    ("an artifact's", |path| path.starts_with("store/artifacts/tmp/")),
    ("an artifact's folder's", |path| path.starts_with("store/artifacts/sha256/")),
    ("a changed file's", |path| path.starts_with("folder/") && is_temporary(path)),
    ("a changed folder's", |path| path.starts_with("folder") && !is_temporary(path)),
];

/// Where the process that is recorded plays, and what.
const PLACE: &str = "HERMIT_TEST_RECORDED";

/// Stories that pass every place where something is written, but staged commands: `strace` sees their writes where they
/// believe to be, in the folder itself, and not where the overlay puts them.
fn stories() -> Vec<Story> {
    let chosen = ["undo", "bring"];
    let known = ALL.iter().copied().filter(|story| chosen.contains(&story.name));
    known.chain([MIXED]).collect()
}

fn world(at: &Path, seed: u64) -> World {
    let folder = |name: &str| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(name).rand_bytes(0).tempdir_in(at).expect("a folder")
    };
    World::inside(seed, folder("store"), folder("folder"))
}

/// Not a test of its own: what the next test records.
#[test]
fn the_story_that_is_recorded() {
    let Some(at) = std::env::var_os(PLACE) else { return };
    let at = Path::new(&at);
    let name = at.file_name().expect("a story's name");
    let story = stories().into_iter().find(|story| story.name == name).expect("a story");
    let mut sim = Sim::over(story.name, world(&at.join("tree"), 1));
    for (path, text) in story.before {
        sim.world.file(path, text);
    }
    let scribe = |line: &str| Scribe::new(&at.join("told")).tell(line);
    scribe("begin");
    sim.tell(Scribe::new(&at.join("told")));
    for step in story.steps {
        sim.run(*step);
        scribe("quiet");
    }
    sim.settle();
    sim.run(|sim| {
        let tasks = sim.kernel().reader().task_ids().expect("readable");
        sim.kernel().checkpoint(&tasks)?;
        Ok(())
    });
    sim.run(|sim| Ok(sim.kernel().close()?));
    scribe("quiet");
    sim.world.crash();
    sim.world.store.disable_cleanup(true);
    sim.world.folder.disable_cleanup(true);
}

/// A story as it was recorded.
struct Tape {
    story: Story,
    calm: Ending,
    recorded: Recorded,
    /// Every event, as it stood there in the end.
    log: BTreeMap<(TaskId, u64), Digest>,
    /// What files of the folder held when nobody was at work on them.
    whole: HashSet<[u8; 32]>,
}

/// What was told up to a place of the recording.
#[derive(Default, Clone)]
struct Told {
    events: BTreeMap<(TaskId, u64), Digest>,
    asked: BTreeMap<String, Vec<Digest>>,
    clock: i64,
}

fn tape(story: Story, at: &Path) -> Tape {
    let calm = play(&story, Vec::new()).ending;
    let tree = at.join("tree");
    std::fs::create_dir_all(&tree).expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "simulation::images::the_story_that_is_recorded"]).env(PLACE, at);
    let recorded = record(&mut command, &tree, &at.join("told"));
    let reader = ledger::Reader::open(&tree.join("store")).expect("a store");
    let log = log_after(&reader, 0).into_iter();
    let log = log.map(|stored| ((stored.task_id, stored.task_seq), Digest::of(&stored.bytes))).collect();
    drop(reader);
    let mut tape = Tape { story, calm, recorded, log, whole: HashSet::new() };
    tape.read_again(&tree);
    std::fs::remove_dir_all(&tree).expect("removed");
    std::fs::create_dir(&tree).expect("a folder");
    tape
}

impl Tape {
    /// The recording says what the disk says, to the byte; and what files hold between two steps is noted.
    fn read_again(&mut self, tree: &Path) {
        let mut disk = Disk::new(&self.recorded, |_| false);
        for (at, op) in self.recorded.ops.iter().enumerate() {
            disk.take(at);
            if matches!(op, Op::Told(line) if line == "begin" || line == "quiet") {
                let image = disk.image(Left::All);
                self.whole.extend(image.below("folder/").map(|(_, content)| content.digest));
            }
        }
        let image = disk.image(Left::All);
        for (path, content) in image.below("").filter(|(path, _)| !path.ends_with("-shm")) {
            let there = std::fs::read(tree.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert!(there == content.bytes(), "{}: `{path}` was recorded otherwise", self.story.name);
        }
        let recorded: BTreeSet<&str> = image.below("folder/").map(|(path, _)| path).collect();
        let there: BTreeSet<&str> = self.calm.files.keys().map(String::as_str).collect();
        assert_eq!(recorded, there, "{}: the recording lacks files", self.story.name);
    }

    /// What was there before the story is on the disk.
    fn begin(&self) -> usize {
        let is = |op: &Op| matches!(op, Op::Told(line) if line == "begin");
        self.recorded.ops.iter().position(is).expect("a beginning")
    }

    fn hear(&self, told: &mut Told, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["event", task, seq, clock] => {
                let place = (task.parse().expect("a task"), seq.parse().expect("a number"));
                told.events.insert(place, self.log[&place]);
                told.clock = clock.parse().expect("a time");
            }
            ["asked", name, request] => {
                told.asked.entry((*name).to_owned()).or_default().push(request.parse().expect("a digest"));
            }
            _ => {}
        }
    }
}

/// What was counted.
#[derive(Default, Debug)]
struct Count {
    images: usize,
    bytes: usize,
    opened: usize,
    calls: usize,
}

/// Ledger and WAL as SQLite brings them together.
#[derive(Default)]
struct Together(HashMap<([u8; 32], [u8; 32]), [u8; 32]>);

const LEDGER: [&str; 3] = ["store/ledger.db", "store/ledger.db-wal", "store/ledger.db-shm"];

impl Together {
    fn digest(&mut self, image: &Image, scratch: &Path) -> [u8; 32] {
        let bytes = |name: &str| image.file(name).map(|content| (content.digest, content));
        let (db, wal) = (bytes(LEDGER[0]), bytes(LEDGER[1]));
        let key = (db.map_or([0; 32], |b| b.0), wal.map_or([0; 32], |b| b.0));
        let lay = |name: &str, content: Option<([u8; 32], &Content)>| {
            let path = scratch.join(name);
            match content {
                Some((_, content)) => content.write(&path).expect("a scratch file"),
                None => _ = std::fs::remove_file(path),
            }
        };
        *self.0.entry(key).or_insert_with(|| {
            lay("l.db", db);
            lay("l.db-wal", wal);
            lay("l.db-shm", None);
            let conn = rusqlite::Connection::open(scratch.join("l.db")).expect("it opens");
            let moved = conn.execute_batch("PRAGMA synchronous=OFF; PRAGMA wal_checkpoint(TRUNCATE)");
            drop(conn);
            let bytes = std::fs::read(scratch.join("l.db")).expect("a database");
            let mut together = *Digest::of(&bytes).as_bytes();
            // What SQLite will not read is like nothing else.
            if moved.is_err() {
                together
                    .iter_mut()
                    .zip(key.0.iter().zip(key.1))
                    .for_each(|(t, (a, b))| *t ^= a ^ b.rotate_left(1));
            }
            together
        })
    }
}

/// The ledger beside it, what the kernel reads of it, and how many questions were asked by then.
type Alike = ([u8; 32], [u8; 32], usize);

/// Which images of a tape, and what is known of those that were opened.
struct Cutting<'a> {
    tape: &'a Tape,
    at: &'a Path,
    told: Told,
    count: Count,
    failed: Vec<String>,
    /// Images by what they are to the last byte, and what was told then.
    seen: HashSet<([u8; 32], usize)>,
    /// What stood in the logs of those that were opened, by what the kernel reads of them.
    opened: HashMap<Alike, BTreeSet<(TaskId, u64)>>,
    together: Together,
    dice: Dice,
}

/// Every image of a part of a tape that is asked for.
fn cut(
    tape: &Tape,
    at: &Path,
    images: usize,
    range: Range<usize>,
    unsynced: fn(&str) -> bool,
    progress: Option<&Progress>,
) -> (Count, Vec<String>) {
    let places = range.len().max(1);
    // Six kinds at a place, and parts of what is loose: four, or more where every place is taken and that is not enough.
    let parts = (images / places).saturating_sub(6).max(4);
    let taken = (images / (6 + parts)).max(1);
    std::fs::create_dir_all(at.join("scratch")).expect("a folder");
    let mut cutting = Cutting {
        tape,
        at,
        told: Told::default(),
        count: Count::default(),
        failed: Vec::new(),
        seen: HashSet::new(),
        opened: HashMap::new(),
        together: Together::default(),
        dice: Dice(places as u64),
    };
    let (mut disk, begin) = (Disk::new(&tape.recorded, unsynced), tape.begin());
    for (place, op) in tape.recorded.ops.iter().enumerate() {
        disk.take(place);
        if let Op::Told(line) = op {
            tape.hear(&mut cutting.told, line);
        }
        if place == begin {
            disk.sync_all();
        }
        let passed =
            place < begin || !range.contains(&place) || !disk.is_loose() && matches!(op, Op::Told(_));
        if passed || cutting.dice.below(places) >= taken {
            continue;
        }
        cutting.here(&mut disk, place, parts);
        progress.into_iter().for_each(|progress| progress.add(6 + parts));
        if !cutting.failed.is_empty() {
            break;
        }
    }
    (cutting.count, cutting.failed)
}

impl Cutting<'_> {
    /// All images of one place.
    fn here(&mut self, disk: &mut Disk<'_>, place: usize, parts: usize) {
        self.count.calls += 1;
        let whole = [Left::All, Left::Nothing, Left::Names, Left::Bytes];
        let broken = [Left::Torn(self.dice.roll()), Left::Garbage(self.dice.roll())];
        let some: Vec<Left> = (0..parts).map(|_| Left::Some(self.dice.roll())).collect();
        for left in whole.into_iter().chain(broken).chain(some) {
            self.count.images += 1;
            let image = disk.image(left);
            // The index of the WAL is shared memory: nothing of it is on the disk.
            let bytes = image.digest(|path| path.ends_with("-shm"));
            if self.seen.insert((bytes, self.told.events.len())) {
                self.count.bytes += 1;
                self.look_at(&image, place, left);
            }
        }
    }

    /// Opens an image, unless nothing is new about it.
    fn look_at(&mut self, image: &Image, place: usize, left: Left) {
        let asked = self.told.asked.values().map(Vec::len).sum();
        let beside = image.digest(|path| LEDGER.contains(&path));
        let alike = (beside, self.together.digest(image, &self.at.join("scratch")), asked);
        // What is there is known of one that was alike; what must be there may be more by now.
        if let Some(there) = self.opened.get(&alike)
            && !self.dice.roll().is_multiple_of(OPENED_ALL_THE_SAME)
            && self.told.events.keys().all(|place| there.contains(place))
        {
            return;
        }
        self.count.opened += 1;
        let name = format!("{} cut off at {place}, {left:?}", self.tape.story.name);
        let views = self.count.opened.is_multiple_of(VIEWS_OF_ONE_IN);
        let tree = self.at.join("tree");
        let check = || goes_on(self.tape, &self.told, image.clone(), &tree, &name, views);
        match catch_unwind(AssertUnwindSafe(check)) {
            Ok(there) => _ = self.opened.insert(alike, there),
            Err(why) => {
                let why = why.downcast_ref::<String>().cloned();
                self.failed.push(format!("{name}: {}", why.unwrap_or_default()));
            }
        }
    }
}

/// The one oracle of all images. Answers which events stood in the log before anything went on.
fn goes_on(
    tape: &Tape,
    told: &Told,
    mut image: Image,
    tree: &Path,
    name: &str,
    views: bool,
) -> BTreeSet<(TaskId, u64)> {
    image.0.retain(|path, _| !path.ends_with("-shm"));
    let story = &tape.story;
    for (path, content) in image.below("folder/").filter(|(path, _)| !is_temporary(path)) {
        assert!(
            tape.whole.contains(&content.digest),
            "`{path}` holds neither its old bytes nor its new ones"
        );
    }
    let touched = image.below("folder/").filter(|(path, _)| !is_temporary(path)).any(|(path, content)| {
        !story.before.iter().any(|(before, text)| *before == path && text.as_bytes() == content.bytes())
    });
    let mut sim = Sim::over(name, world(tree, 2));
    image.lay(tree);
    sim.asked.clone_from(&told.asked);
    sim.world.clock.advance((told.clock - 1_790_000_000_000).max(0) + 1_000);
    sim.remember(told.events.clone());
    sim.learn(true);
    let is_store = ledger::Reader::open(sim.world.store.path()).is_ok();
    let (mut there, mut dispatched) = (BTreeSet::new(), BTreeSet::new());
    if is_store {
        let events = sim.events();
        there.extend(events.iter().map(|(event, _)| (event.task_id, event.task_seq)));
        dispatched.extend(events.iter().filter_map(dispatch));
    }
    assert!(!touched || !dispatched.is_empty(), "the folder was touched without a dispatch");
    for step in story.steps {
        sim.run(*step);
    }
    sim.settle();
    let ending = audit_of(&mut sim, views);
    for (request, begun) in sim.world.oracle.performed() {
        assert!(!dispatched.contains(&request), "`{request}` was begun {begun} times more");
    }
    assert_eq!(sim.settled, 0, "nobody can tell what was done");
    assert_eq!(ending.tasks, tape.calm.tasks, "tasks came out differently");
    let differs = |path: &&String| ending.files.get(*path) != tape.calm.files.get(*path);
    let differing: Vec<_> = ending.files.keys().chain(tape.calm.files.keys()).filter(differs).collect();
    assert!(differing.is_empty(), "the folder came out differently: {differing:?}");
    sim.run(|_| Ok(()));
    let spool = std::fs::read_dir(sim.world.store.path().join("spool")).into_iter().flatten().flatten();
    let left: Vec<_> = spool.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "left in the spool: {left:?}");
    there
}

/// As if a sync had been forgotten in the product: it does not come through.
fn every_sync_is_missed(tape: &Tape, at: &Path) {
    for (whose, of) in SYNCS {
        let ops = tape.recorded.ops.iter();
        let first = ops
            .skip_while(|op| !matches!(op, Op::Told(line) if line == "begin"))
            .position(|op| matches!(op, Op::Sync { path, .. } if of(path)));
        let first = first.unwrap_or_else(|| panic!("{whose} sync is not in the recording")) + tape.begin();
        let behind = first..(first + MISSED_WITHIN).min(tape.recorded.ops.len());
        let (count, failed) = cut(tape, at, MISSED_IN, behind, of, None);
        assert!(!failed.is_empty(), "without {whose} sync nothing is lost in {} images", count.images);
    }
}

/// What an act has beside the file it is about to give its place.
fn is_temporary(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(".hermit-"))
}

fn dispatch((_, body): &(model::Event, Body)) -> Option<ActionRequestId> {
    match body {
        Body::EffectDispatched(b) => Some(b.action_request_id),
        _ => None,
    }
}

#[test]
fn a_power_cut_anywhere_loses_nothing_that_was_told_and_leaves_nothing_half_done() {
    let began = std::time::Instant::now();
    let images = super::asked("HERMIT_SIMULATION_IMAGES", IMAGES);
    let home = super::sim::folder("images", false);
    let stories = stories();
    let counts = Mutex::new(BTreeMap::new());
    let progress = Progress::new("images", images);
    spread("stories", &stories, |story| {
        let at = home.path().join(story.name);
        std::fs::create_dir(&at).expect("a folder");
        let tape = tape(*story, &at);
        let all = 0..tape.recorded.ops.len();
        let (count, failed) = cut(&tape, &at, images / stories.len(), all, |_| false, Some(&progress));
        assert!(failed.is_empty(), "{}", failed.join("\n\n"));
        if story.name == MIXED.name {
            every_sync_is_missed(&tape, &at);
        }
        counts.lock().expect("no poison").insert(story.name, count);
    });
    let counts = counts.into_inner().expect("no poison");
    let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
    println!(
        "power cuts: {} images at {} calls of {} stories, {} of them different in some byte, {} opened; {} kinds of sync \
         forgotten, each missed; {:?}",
        sum(|c| c.images),
        sum(|c| c.calls),
        counts.len(),
        sum(|c| c.bytes),
        sum(|c| c.opened),
        SYNCS.len(),
        began.elapsed()
    );
}
