//! Every durable boundary, before and after, with a death, an error and a full disk there; and again in recovery.

use super::audit::{Ending, audit};
use super::sim::{Plan, Sim};
use super::stories::{ALL, COMMAND, SEND, Story};
use crate::journeys;
use model::fault::Point;
use model::receipt::ResultCode;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use testkit::{Edge, Mode};

/// Boundaries that no code passes today, each with its reason.
const NOT_PASSED: [(Point, &str); 25] = [
    (Point::PrincipalRegister, "principals are made known within the store's first commit"),
    (Point::AttemptLease, "a new attempt and its lease are one commit, `task.start`"),
    (Point::LeaseRenew, "a lease is renewed within the commit that closes a turn"),
    (Point::DecisionRecord, "a grant is consumed by the commit that issues it, none is left to be revoked"),
    (
        Point::CommandTranscript,
        "commands of the stories are staged, and one that is staged leaves nothing to settle",
    ),
    (Point::EffectProgress, "acts of the stories are over at once; the kernel's own tests stop it there"),
    (Point::PinMove, "the host pins heads; the program's own tests stop it there"),
    (Point::ProofExport, "the bundle is written by its room, without asking for faults"),
    (Point::BackupWrite, "the backup is written by its room, without asking for faults"),
    (Point::KeyStage, "the host rotates keys; its own tests stop it there"),
    (Point::KeyRotate, "the host rotates keys; its own tests stop it there"),
    (Point::KeyPromote, "the host rotates keys; its own tests stop it there"),
    (Point::KeyMark, "the host rotates keys; its own tests stop it there"),
    (Point::KeyRevoke, "only a key that was rotated is revoked"),
    (Point::ScheduleSettle, "no story is scheduled; the kernel's own tests stop it there"),
    (Point::ScheduleFire, "no story is scheduled; the kernel's own tests stop it there"),
    (Point::DisclosureErase, "only a person erases, at a terminal"),
    (Point::ChainReanchor, "only a person anchors anew, and only what is broken"),
    (Point::PinAccept, "only a person accepts an older store"),
    (Point::StoreRestore, "nothing is restored in the simulation; the program's own tests do it"),
    (Point::CheckpointCosign, "there is no witness in the simulation"),
    (Point::WitnessRemember, "there is no witness in the simulation"),
    (Point::MeshRecord, "no story has another machine; the kernel's own tests stop it there"),
    (Point::TrialRecord, "no story tries a change of Hermit; the kernel's own tests stop it there"),
    (Point::UpdateApply, "the host updates Hermit, without a kernel; the program's own tests stop it there"),
];

/// Passes of one boundary that get a death, in the suite.
const DEATHS: usize = 2;

type Boundary = (Point, Edge);

/// One run of a story: how it came out, and the boundaries passed since the last fault.
pub struct Run {
    pub ending: Ending,
    passed: BTreeMap<Boundary, u32>,
    settled: u32,
    deaths: u32,
    /// How often the story's server was asked.
    heard: usize,
}

pub fn play(story: &Story, plans: Vec<Plan>) -> Run {
    let mut sim = run(story, plans);
    let ending = audit(&mut sim);
    let heard = sim.server.as_ref().map_or(0, |server| server.heard().len());
    Run { ending, passed: sim.world.faults.hits(), settled: sim.settled, deaths: sim.deaths, heard }
}

/// Plays a story to its end.
pub fn run(story: &Story, plans: Vec<Plan>) -> Sim {
    let mut sim = Sim::new(story.name, 0x5EED, false);
    sim.name = format!("{} {plans:?}", story.name);
    if story.name == COMMAND.name {
        sim.world.sandbox = walls().clone();
    }
    for (path, text) in story.before {
        sim.world.file(path, text);
    }
    sim.plans = plans;
    sim.arm();
    for step in story.steps {
        sim.run(*step);
    }
    sim.settle();
    sim
}

/// The walls of this machine, tried once.
fn walls() -> &'static effects::Sandbox {
    static WALLS: OnceLock<effects::Sandbox> = OnceLock::new();
    WALLS.get_or_init(|| effects::Sandbox::probe(journeys::exec()))
}

/// `hermit-exec`, where this machine lets it put up walls.
fn exec() -> Option<&'static Path> {
    (walls().level() != model::receipt::SandboxLevel::Unconfined).then(journeys::exec)
}

/// Every story that this machine can play.
pub fn stories() -> Vec<Story> {
    let command = exec().map(|_| COMMAND);
    ALL.iter().copied().chain(command).collect()
}

/// What one fault at this boundary may change: executors report an error or a full disk as a failed act, and the model
/// is told; everywhere else, and whenever the process dies, the story comes out as ever.
fn comes_out_the_same(plan: Plan) -> bool {
    let name = plan.point.as_str();
    plan.mode == Mode::Abort
        || !["item.", "command.", "stage.", "call."].iter().any(|kind| name.starts_with(kind))
}

/// What was sent is sent once, whoever died when, and a receipt never says otherwise: it went and was answered, or it did
/// not go, or nobody can tell and a person was asked.
fn sent_once_or_said(run: &Run, plans: &[Plan]) {
    let said = run.ending.results.as_slice();
    assert!(run.heard <= 1, "{plans:?}: sent {} times", run.heard);
    match run.heard {
        0 => assert!(!said.contains(&ResultCode::Succeeded), "{plans:?}: not sent, and said to be: {said:?}"),
        _ => assert_ne!(said, [ResultCode::Failed], "{plans:?}: sent, and said not to be"),
    }
    let between = |plan: &Plan| {
        matches!((plan.point, plan.edge), (Point::CallSend, Edge::After) | (Point::CallAnswer, Edge::Before))
    };
    if let [plan] = plans
        && plan.mode == Mode::Abort
        && between(plan)
    {
        assert!(said.contains(&ResultCode::UnknownOutcome), "{plans:?}: nobody can know, and {said:?}");
        assert_eq!(run.settled, 1, "{plans:?}: a person is asked");
    }
}

/// A command cannot be taken up where it broke off: it ran once and its receipt says so, or it did not run and the
/// receipt says that, or nobody can tell and a person was asked.
fn once_or_said(ending: &Ending, plans: &[Plan]) {
    let ran = ending.files.get("count.txt").map(Vec::as_slice);
    assert!(matches!(ran, None | Some(b"done\n")), "{plans:?}: the command ran twice: {ran:?}");
    let said = ending.results.to_vec();
    match ran {
        Some(_) => assert_ne!(said, [ResultCode::Failed], "{plans:?}: it ran and is said not to have"),
        None => {
            assert!(!said.contains(&ResultCode::Succeeded), "{plans:?}: it did not run and is said to have")
        }
    }
}

fn check(story: &Story, calm: &Ending, plans: &[Plan]) -> Run {
    let run = play(story, plans.to_vec());
    if story.name == COMMAND.name {
        once_or_said(&run.ending, plans);
    } else if story.name == SEND.name {
        sent_once_or_said(&run, plans);
    } else if run.settled == 0 && plans.iter().all(|plan| comes_out_the_same(*plan)) {
        // What receipts say may differ: the earlier a death, the more can be told of what it interrupted.
        assert_eq!(run.ending.tasks, calm.tasks, "{} {plans:?}: tasks came out differently", story.name);
        assert_eq!(run.ending.files, calm.files, "{} {plans:?}: the folder came out differently", story.name);
    }
    run
}

/// Runs all jobs on as many threads as there are processors, then reports every one that failed.
pub fn spread<J: Sync>(what: &'static str, jobs: &[J], work: impl Fn(&J) + Sync) {
    let progress = super::Progress::new(what, jobs.len());
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(job))) {
                        let text = payload.downcast_ref::<String>().cloned();
                        failed.lock().expect("no poison").push(text.unwrap_or_else(|| "a panic".to_owned()));
                    }
                    progress.add(1);
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no poison");
    assert!(failed.is_empty(), "{} of {} failed:\n\n{}", failed.len(), jobs.len(), failed.join("\n\n"));
}

/// One fault to play in one story.
struct Case {
    story: Story,
    calm: Ending,
    plan: Plan,
}

/// Every boundary on both sides: `deaths` of its passes, evenly chosen over all stories and times, get a death; an
/// error and a full disk come at the first.
fn cases(calm: &[(Story, Run)], deaths: usize) -> Vec<Case> {
    let mut passes: BTreeMap<Boundary, Vec<(usize, u32)>> = BTreeMap::new();
    for (at, (_, run)) in calm.iter().enumerate() {
        for (boundary, hits) in &run.passed {
            passes.entry(*boundary).or_default().extend((1..=*hits).map(|nth| (at, nth)));
        }
    }
    let mut cases = Vec::new();
    for ((point, edge), passes) in passes {
        let mut add = |mode, (at, nth): (usize, u32)| {
            if let Some((story, run)) = calm.get(at) {
                let plan = Plan { point, edge, mode, nth };
                cases.push(Case { story: *story, calm: run.ending.clone(), plan });
            }
        };
        let every = passes.len().div_ceil(deaths.min(passes.len()).max(1));
        passes.iter().rev().step_by(every).for_each(|pass| add(Mode::Abort, *pass));
        for mode in [Mode::Error, Mode::Full] {
            passes.iter().take(1).for_each(|pass| add(mode, *pass));
        }
    }
    cases
}

fn hit_all(calm: &[(Story, Run)]) {
    let hit: BTreeSet<Boundary> = calm.iter().flat_map(|(_, run)| run.passed.keys().copied()).collect();
    let excused = |point: Point| {
        let commands = [
            Point::CommandSpawn,
            Point::CommandTranscript,
            Point::StageLay,
            Point::StageRun,
            Point::StageDiff,
        ];
        NOT_PASSED.iter().any(|(p, _)| *p == point) || exec().is_none() && commands.contains(&point)
    };
    let open: Vec<_> = Point::ALL
        .iter()
        .flat_map(|point| [(*point, Edge::Before), (*point, Edge::After)])
        .filter(|boundary| !hit.contains(boundary) && !excused(boundary.0))
        .collect();
    assert!(open.is_empty(), "no story passes {open:?}");
    let wrong: Vec<_> = NOT_PASSED.iter().filter(|(p, _)| hit.contains(&(*p, Edge::Before))).collect();
    assert!(wrong.is_empty(), "said not to be passed, and is: {wrong:?}");
}

#[conforms::conforms(
    part = "HK-10.3-5",
    "HK-19.1-1",
    "HK-19.2-1",
    "HK-19.3-1",
    "HK-19.4-1",
    "HK-19.4-2",
    "HK-19.5-2"
)]
#[test]
fn every_boundary_survives_a_death_an_error_and_a_full_disk_also_while_recovering() {
    let began = std::time::Instant::now();
    if exec().is_none() {
        conforms::lacks_walls(
            "a sandbox (bubblewrap, or Landlock in the kernel), for the story of a command,",
        );
    }
    let calm: Vec<(Story, Run)> =
        stories().into_iter().map(|story| (story, play(&story, Vec::new()))).collect();
    hit_all(&calm);
    let cases = cases(&calm, super::asked("HERMIT_SIMULATION_DEATHS", DEATHS));
    let (deaths, unknown, twice) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let count = |run: &Run| {
        deaths.fetch_add(run.deaths as usize, Ordering::SeqCst);
        unknown.fetch_add(run.settled as usize, Ordering::SeqCst);
    };
    spread("faults", &cases, |case| {
        let run = check(&case.story, &case.calm, &[case.plan]);
        count(&run);
        if case.plan.mode == Mode::Abort {
            // The second death: one of the boundaries that recovery has just passed, another for each case.
            let passed: Vec<Boundary> = run.passed.keys().copied().collect();
            let at = (case.plan.point as usize * 2 + case.plan.edge as usize) % passed.len().max(1);
            if let Some(&(point, edge)) = passed.get(at) {
                let then = Plan { point, edge, mode: Mode::Abort, nth: 1 };
                twice.lock().expect("no poison").push((case.story, case.calm.clone(), [case.plan, then]));
            }
        }
    });
    let twice = twice.into_inner().expect("no poison");
    spread("faults in recovery", &twice, |(story, calm, plans)| count(&check(story, calm, plans)));
    println!(
        "crash points: {} of {} boundaries, {} faults, {} again in recovery, {} hosts died, {} outcomes unknown, {:?}",
        Point::ALL.len() - NOT_PASSED.len(),
        Point::ALL.len(),
        cases.len(),
        twice.len(),
        deaths.into_inner(),
        unknown.into_inner(),
        began.elapsed(),
    );
}
