//! `kill -9` of the real program while it begins what is scheduled: at times nobody chose, and in a debug build also at each
//! boundary between a slot and its task. No slot is lost, none is settled or begins a task twice, and each file that landed
//! meanwhile is told of once.

use super::audit::audit;
use super::killed::{finish, to_this_moment};
use super::sim::Sim;
use crate::journeys;
use model::artifact::ArtifactRef;
use model::body::{Body, KeyPurpose};
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::{
    Bounds, CatchUp, FileChanges, Rule, Schedule, ScheduleProposer, SeenChange, Settled, Trigger, When,
};
use model::task::Budget;
use model::{Clock as _, TaskId, UnixMs};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::Killed;

/// Deaths in the suite.
const DEATHS: usize = 24;
/// Deaths of one store at most, then its host may go on.
const DEATHS_OF_ONE: usize = 8;
/// The schedule that came due, and the one that waits for files.
const OFTEN: &str = "often";
const LANDED: &str = "landed";
/// It changes nothing and asks nobody where no file is there twice.
const PLAYBOOK: &str = "duplicates";
const HOUR: i64 = 3_600_000;
/// Hours that nobody was there, and half of one: the next slot is far.
const AWAY: i64 = 30;
/// Slots of them that fire.
const FIRES: u32 = 6;
/// How long a host may take to begin all that is due: what could not begin is tried again after a minute.
const PATIENCE: Duration = Duration::from_secs(180);
/// What is passed between a slot and its task.
const POINTS: [Point; 5] =
    [Point::ScheduleSettle, Point::IngressReceive, Point::IngressBind, Point::TaskStart, Point::ScheduleFire];

/// A host, which is killed.
pub(super) struct Serving(Killed);

impl Serving {
    /// `fault`: the boundary at which it dies by itself.
    pub(super) fn begins(hermit: &Path, sim: &Sim, fault: Option<&str>) -> Self {
        let mut command = Command::new(hermit);
        command.arg("--home").arg(sim.world.store.path()).args(["--json", "serve"]);
        command.env_clear().env("HOME", sim.world.store.path()).env("PATH", "/usr/bin:/bin");
        command.envs(fault.map(|fault| ("HERMIT_FAULT", fault)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(Killed(command.spawn().expect("the program starts")))
    }

    /// Lets it work for a while, or until it dies; it is dead then.
    fn dies_within(mut self, time: Duration) {
        let began = Instant::now();
        while began.elapsed() < time {
            if let Some(ended) = self.0.try_wait().expect("a child") {
                assert_eq!(ended.code(), None, "it ended by itself");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A schedule of a folder, by a playbook that asks nobody.
pub(super) fn schedule(sim: &Sim, root: &Path, name: &str, (rule, on): (Rule, Option<Trigger>)) -> Schedule {
    let playbook = reasoning::Playbook::shipped().into_iter().find(|one| one.name() == PLAYBOOK);
    Schedule {
        name: name.to_owned(),
        said: name.to_owned(),
        when: When { rule, catch_up: CatchUp::Newer(FIRES), grace_ms: None, jitter_ms: None },
        goal: format!("Run the playbook {PLAYBOOK}"),
        workspace_id: sim.kernel().workspace(root).expect("the folder is known"),
        folder: root.display().to_string(),
        proposer: ScheduleProposer::Playbook {
            name: PLAYBOOK.to_owned(),
            text: playbook.expect("shipped").text().to_owned(),
            parameters: BTreeMap::new(),
        },
        profile: Profile::LocalEditAllowed,
        budget: Budget::default(),
        conversation_id: None,
        bounds: Bounds::default(),
        on,
        quiet: false,
    }
}

/// A person keeps it.
pub(super) fn keep(sim: &Sim, schedule: Schedule) {
    let by = (Channel::App, schedule.name.clone());
    let task = sim.kernel().propose_schedule(schedule, "UTC", by).expect("proposed").task_id;
    let approval = sim.world.drive_to_approval(task);
    sim.world.person.allow(sim.kernel(), task, approval).expect("allowed");
    sim.world.drive(task);
}

/// What is there now is no news from here on: it is looked at, and again when it was left alone.
pub(super) fn looks(sim: &Sim) {
    for _ in 0..2 {
        let names: Vec<String> = sim.kernel().schedule_registry().0.keys().cloned().collect();
        for name in names {
            sim.kernel().want_look(&name, sim.world.clock.now());
        }
        sim.kernel().look_due().expect("looked at");
        sim.world.clock.advance(2_000);
    }
}

/// A store whose schedules a person has kept, and to which nobody came for a day and more; since when slots count.
fn away(round: usize) -> (Sim, UnixMs) {
    let mut sim = Sim::new(&format!("fired-{round}"), 0xF1DE + round as u64, false);
    to_this_moment(&sim);
    sim.world.clock.advance(-(AWAY * HOUR + HOUR / 2));
    sim.world.take_up().expect("the store opens");
    // The keys of a test stay with the test.
    sim.world.keys.lock(true);
    let person = [(KeyPurpose::Approval, sim.world.person.public())];
    sim.kernel().register_keys(&person, "test").expect("a key");
    let from = sim.world.clock.now();
    let (period_ms, root) = (HOUR.unsigned_abs(), sim.world.folder.path().canonicalize().expect("a folder"));
    keep(&sim, schedule(&sim, &root, OFTEN, (Rule::Every { period_ms, from }, None)));
    let files = Trigger::Files { globs: Vec::new(), changes: FileChanges::Landed, quiet_ms: 500 };
    keep(&sim, schedule(&sim, &root, LANDED, (Rule::Event, Some(files))));
    looks(&sim);
    sim.world.crash();
    sim.world.keys.lock(false);
    sim.learn(true);
    (sim, from)
}

/// What the log says of both schedules.
#[derive(Default)]
struct Told {
    /// Every slot of the clock that was settled, and whether it fires.
    slots: BTreeMap<i64, bool>,
    /// Slots that fire, of each schedule.
    fires: usize,
    /// Tasks of slots that fired, by schedule and slot.
    fired: BTreeMap<(String, i64), TaskId>,
    not_begun: usize,
    /// Tasks that were made for a slot.
    made: BTreeMap<(String, i64), TaskId>,
    changes: Vec<ArtifactRef>,
    until: i64,
}

fn told(sim: &Sim, from: UnixMs) -> Told {
    let mut told = Told { until: from.0, ..Told::default() };
    for (_, body) in sim.events().iter() {
        match body {
            Body::ScheduleSettled(b) => {
                told.changes.extend(b.seen.iter().filter_map(|seen| seen.change.clone()));
                told.fires += b.settled.iter().filter(|one| matches!(one, Settled::Fires(_))).count();
                if b.name != OFTEN {
                    continue;
                }
                assert!(b.since.0 >= told.until && b.until.0 >= b.since.0, "{}: spans overlap", sim.name);
                told.until = b.until.0;
                for (slot, fires) in b.settled.iter().flat_map(slots_of) {
                    assert_eq!(
                        told.slots.insert(slot, fires),
                        None,
                        "{}: slot {slot} is told of twice",
                        sim.name
                    );
                }
            }
            Body::ScheduleFired(b) => {
                let before = told.fired.insert((b.name.clone(), b.slot_at.0), b.about_task_id);
                assert_eq!(before, None, "{}: slot {} fired twice", sim.name, b.slot_at.0);
            }
            Body::ScheduleNotBegun(_) => told.not_begun += 1,
            Body::TaskCreated(b) => {
                let Some(by) = &b.task.scheduled_by else { continue };
                let before = told.made.insert((by.name.clone(), by.slot_at.0), b.task.task_id);
                assert_eq!(before, None, "{}: slot {} has two tasks", sim.name, by.slot_at.0);
            }
            _ => {}
        }
    }
    told
}

/// The slots of the clock that an entry tells of.
fn slots_of(one: &Settled) -> Vec<(i64, bool)> {
    match one {
        Settled::Fires(slot) => vec![(slot.at.0, true)],
        Settled::PassedOver { first, until, slots, .. } => {
            let count = slots.and_then(|slots| i64::try_from(slots).ok()).expect("they were counted");
            let all: Vec<i64> = (0..count).map(|nth| first.0 + nth * HOUR).collect();
            assert!(all.last().is_some_and(|last| *last <= until.0 && until.0 < last + HOUR));
            all.into_iter().map(|at| (at, false)).collect()
        }
    }
}

/// Lets a host begin all that is due and tell of so many files, and kills it.
fn begins_all(hermit: &Path, sim: &Sim, from: UnixMs, landings: usize) -> Duration {
    let (serving, began) = (Serving::begins(hermit, sim, None), Instant::now());
    loop {
        let told = told(sim, from);
        let is_made = told.fires == told.fired.len() + told.not_begun && !told.slots.is_empty();
        // Files that landed together are one change, and each change is one at least.
        if is_made && (landings == 0 || names(sim, &told.changes).len() >= landings) {
            drop(serving);
            return began.elapsed();
        }
        assert!(began.elapsed() < PATIENCE, "{}: not all that is due has begun", sim.name);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The files that changes tell of, each as often as it is told.
fn names(sim: &Sim, changes: &[ArtifactRef]) -> Vec<String> {
    let reader = ledger::Reader::open(sim.world.store.path()).expect("a store");
    let files = changes.iter().flat_map(|at| {
        let bytes = reader.blob(&at.sha256).expect("readable").expect("a small artifact");
        let change: SeenChange = serde_json::from_slice(&bytes).expect("a change");
        match change {
            SeenChange::Files { files, .. } => files,
            other => panic!("files: {other:?}"),
        }
    });
    files.map(|file| file.path.to_string()).collect()
}

/// Everything that was due is told of once, has one task, and that has ended.
fn whole(hermit: &Path, sim: &mut Sim, from: UnixMs, landings: usize) {
    begins_all(hermit, sim, from, landings);
    finish(hermit, sim);
    let told = told(sim, from);
    let due: Vec<i64> = (1..).map(|nth| from.0 + nth * HOUR).take_while(|at| *at <= told.until).collect();
    assert!(due.len() >= 30, "{}: {due:?}", sim.name);
    assert_eq!(told.slots.keys().copied().collect::<Vec<_>>(), due, "{}: a slot is silent", sim.name);
    let fires = told.slots.values().filter(|fires| **fires).count();
    assert_eq!(fires, FIRES as usize, "{}: how many are caught up with", sim.name);
    assert_eq!(
        told.made, told.fired,
        "{}: each slot that fired has its task, and no other has one",
        sim.name
    );
    assert_eq!(told.fires, told.fired.len() + told.not_begun, "{}: a slot waits for ever", sim.name);
    let mut names = names(sim, &told.changes);
    names.sort();
    let landed: Vec<String> = (0..landings).map(|nth| format!("scan-{nth}.txt")).collect();
    assert_eq!(names, landed, "{}: each file is told of once", sim.name);
    to_this_moment(sim);
    let ending = audit(sim);
    assert!(
        ending.tasks.values().all(|(status, _)| status.is_terminal()),
        "{}: {:?}",
        sim.name,
        ending.tasks
    );
}

#[test]
fn the_program_is_killed_while_it_fires_and_no_slot_is_lost_or_begins_twice() {
    let hermit = journeys::hermit();
    let began = Instant::now();
    let (mut sim, from) = away(0);
    let calm = begins_all(hermit, &sim, from, 0);
    whole(hermit, &mut sim, from, 0);
    let (mut deaths, mut stores, mut chance) = (0, 0, 0x9E37_79B9_7F4A_7C15_u64);
    let asked = super::asked("HERMIT_SIMULATION_FIRED", DEATHS);
    let progress = super::Progress::new("deaths", asked);
    while deaths < asked {
        stores += 1;
        let (mut sim, from) = away(stores);
        for nth in 0..DEATHS_OF_ONE {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let point = POINTS[deaths % POINTS.len()];
            let edge = ["before", "after"][(chance >> 20) as usize % 2];
            // A release build knows no boundaries to die at: there it is time alone.
            let fault = format!("{}:{edge}:abort:{}", point.as_str(), 1 + (chance >> 30) % 3);
            let fault = (cfg!(debug_assertions) && nth % 2 == 0).then_some(fault.as_str());
            let part = u32::try_from(chance >> 54).unwrap_or(0);
            let time = if fault.is_some() { calm } else { calm * part / 1_024 };
            sim.name = format!("fired: store {stores}, {fault:?}, after {time:?} of {calm:?}");
            // Put into its place whole, as a scanner does.
            let aside = sim.world.store.path().join("aside.txt");
            std::fs::write(&aside, format!("scan {nth} of store {stores}")).expect("a file");
            std::fs::rename(&aside, sim.world.path(&format!("scan-{nth}.txt"))).expect("it lands");
            Serving::begins(hermit, &sim, fault).dies_within(time);
            sim.learn(true);
            deaths += 1;
            progress.add(1);
        }
        whole(hermit, &mut sim, from, DEATHS_OF_ONE);
    }
    println!(
        "fired: {deaths} deaths of hermit over {stores} stores of {AWAY} slots, a calm start takes {calm:?}, {:?}",
        began.elapsed()
    );
}
