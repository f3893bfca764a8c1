//! The run of training in hand: the program `hermit-train` behind walls, how far it is, and what came of it on record
//! (successor.md 6, HV-3.8-1).

mod circle;
mod letterbox;
mod plan;
mod process;
mod together;
mod work;

pub(crate) use letterbox::Letterbox;

use crate::executors::LocalExecutors;
use crate::mesh_thread::MeshThread;
use crate::model_box::{Files, program_of};
use crate::notices::Notices;
use crate::{Error, Home, Local, OsEntropy};
use kernel::Kernel;
use kernel::training_registry::{DatasetRecord, RunRecord};
use letterbox::Invitation;
use mesh::NodeId;
use model::Entropy as _;
use plan::{Plan, Together, refused};
use seal::Digest;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use training::RanOn;
use training::outer::{MACHINES_MAX, OuterSettings, Terms, is_name};
use wire::Code;
use wire::training::{InvitationRow, Join, LiveRun, Run};
use words::training::TrainingState;
use work::{Task, Work};

/// The program's name.
const PROGRAM: &str = "hermit-train";
/// Names it, for tests and for whoever builds their own.
const VARIABLE: &str = "HERMIT_TRAINER";
/// Where `cargo xtask trainer` puts it, in the user's cache.
const CACHED: &str = "trainer";
/// What a person is told where it is not there: README.md tells whoever builds Hermit how to add it.
const MISSING: &str = "this build of Hermit has no program that trains; nothing else needs it";

/// Rounds of a run that machines learn together, steps of each, places of a hundred that are sent, and seconds that a round waits,
/// unless a person says otherwise.
const ROUNDS: u32 = 10;
const ROUND_STEPS: u32 = 20;
const PERCENT: u32 = 5;
const PATIENCE_S: u32 = 600;

/// What a person wishes of the run in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wish {
    /// It goes on.
    #[default]
    Go,
    /// It does no further step for now.
    Pause,
    /// It ends.
    Stop,
}

/// The run in hand, as its thread and whoever asks see it.
pub(crate) struct Told {
    live: Mutex<LiveRun>,
    wish: Mutex<Wish>,
}

impl Told {
    fn live(&self) -> MutexGuard<'_, LiveRun> {
        lock(&self.live)
    }

    fn wish(&self) -> Wish {
        *lock(&self.wish)
    }

    fn wishes(&self, wish: Wish) {
        *lock(&self.wish) = wish;
    }
}

struct Hand {
    told: Arc<Told>,
    thread: JoinHandle<()>,
}

/// The place of the run in hand; there is one in each process that holds a store.
#[derive(Default)]
pub(crate) struct Trainer {
    hand: Mutex<Option<Hand>>,
}

/// What a run works with.
pub(crate) struct With {
    pub(crate) home: Home,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) executors: Arc<LocalExecutors>,
    pub(crate) notices: Arc<Notices>,
    /// The mesh, while it is on.
    pub(crate) mesh: Option<Arc<MeshThread>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program, where it is.
pub(crate) fn program() -> Result<PathBuf, String> {
    program_of((PROGRAM, VARIABLE, CACHED), None, MISSING)
}

/// That a model which is to be the default saw nothing that was recalled: also beside the process that holds the store.
pub(crate) fn may_be_standard(local: &Local, address: &str) -> Result<(), wire::Error> {
    let Some(sha256) = crate::model_box::weights_of(local.home(), address) else { return Ok(()) };
    if !local.home().has_store() {
        return Ok(());
    }
    let registry = api::store_state(&api::Host::reader(local)?)?.training;
    match registry.run_of_model(&sha256).filter(|run| !run.offered || run.recalled.is_some()) {
        None => Ok(()),
        Some(run) => Err(wire::Error::new(
            Code::Refused,
            format!(
                "`{address}` learned from something that was recalled (`{}`), so it is not offered any more",
                run.run_id
            ),
        )
        .hint("use a different model: `hermit models list`")),
    }
}

/// Whether a model in the box learned from something that was recalled.
pub(crate) fn is_recalled(home: &Home, kernel: &Kernel, address: &str) -> bool {
    let registry = kernel.training();
    let sha256 = crate::model_box::weights_of(home, address);
    let run = sha256.and_then(|sha256| registry.run_of_model(&sha256));
    run.is_some_and(|run| run.recalled.is_some())
}

fn conflict(message: &str, hint: &str) -> Error {
    Error::Said(wire::Error::new(Code::Conflict, message).hint(hint))
}

impl Trainer {
    /// How the run in hand stands, or the last one.
    pub(crate) fn live(&self) -> Option<LiveRun> {
        lock(&self.hand).as_ref().map(|hand| hand.told.live().clone())
    }

    /// Runs that can be gone on with.
    pub(crate) fn resumable(&self, home: &Home, kernel: &Kernel) -> Vec<String> {
        let registry = kernel.training();
        let at_work = self.at_work();
        let plans = Plan::all(home).into_iter().map(|plan| plan.run_id);
        plans.filter(|run| registry.run(run).is_none() && at_work.as_ref() != Some(run)).collect()
    }

    fn at_work(&self) -> Option<String> {
        let hand = lock(&self.hand);
        hand.as_ref().filter(|hand| !hand.thread.is_finished()).map(|hand| hand.told.live().run_id.clone())
    }

    /// Takes away what runs have of datasets that are not kept any more, and copies that a killed host left.
    pub(crate) fn forget(&self, home: &Home, kernel: &Kernel) {
        let (registry, at_work) = (kernel.training(), self.at_work());
        for plan in Plan::all(home) {
            match (plan.is_kept(&registry), at_work.as_ref() == Some(&plan.run_id)) {
                (true, true) => {}
                (true, false) => plan.take_back(),
                (false, false) => plan.remove(),
                // Its own thread takes the rest away.
                (false, true) => {
                    plan.take_back();
                    self.stop_run(&plan.run_id);
                }
            }
        }
    }

    fn stop_run(&self, run_id: &str) {
        let hand = lock(&self.hand);
        if let Some(hand) = hand.as_ref().filter(|hand| hand.told.live().run_id == run_id) {
            hand.told.wishes(Wish::Stop);
        }
    }

    /// Begins a run with a dataset.
    pub(crate) fn begin(&self, with: With, dataset: &DatasetRecord, wanted: &Run) -> Result<(), Error> {
        let plan = Plan::of((&with.home, &with.kernel.training()), named(&with), &dataset.dataset, wanted)?;
        self.take_up(with, plan, Task::Learn)
    }

    /// Begins a run that machines learn together; this one leads it.
    pub(crate) fn together(
        &self,
        with: With,
        dataset: &DatasetRecord,
        wanted: &wire::training::Together,
        others: &[NodeId],
    ) -> Result<(), Error> {
        let name = wanted.name.trim().to_owned();
        let mut plan =
            Plan::of((&with.home, &with.kernel.training()), named(&with), &dataset.dataset, &wanted.run)?;
        let settings = OuterSettings::default();
        if !is_name(&name) {
            return Err(usage("the name of a run has letters and digits, 64 bytes at most"));
        }
        if !(settings.peers_min..=MACHINES_MAX).contains(&others.len().saturating_add(1)) {
            return Err(usage(&format!(
                "between {} and {MACHINES_MAX} machines learn together, this one among them: of fewer, one that is compromised \
                 could change the result",
                settings.peers_min
            )));
        }
        let terms = Terms {
            base_sha256: plan.spec.base.sha256,
            rank: plan.spec.rank,
            alpha: plan.spec.alpha,
            feed_forward: plan.spec.feed_forward,
            seed: plan.spec.seed,
            rounds: wanted.rounds.unwrap_or(ROUNDS),
            steps: wanted.run.steps.unwrap_or(ROUND_STEPS),
            percent: wanted.percent.unwrap_or(PERCENT),
            patience_s: wanted.patience_s.unwrap_or(PATIENCE_S),
            settings,
        };
        let id = Digest::of(format!("hermit/together/1\n{}\n{name}\n", plan.run_id).as_bytes());
        let asked = others.to_vec();
        learns_together(&mut plan, Together { id, name, lead: None, asked, terms })?;
        self.take_up(with, plan, Task::Together)
    }

    /// Takes up an invitation to learn together; whose it is.
    pub(crate) fn join(
        &self,
        with: With,
        dataset: &DatasetRecord,
        wanted: &Join,
        from: Option<NodeId>,
    ) -> Result<NodeId, Error> {
        let letterbox = Letterbox::of(with.home.clone());
        let registry = with.kernel.mesh_registry();
        let is_peer = |of: NodeId| registry.state().is_some_and(|state| state.is_peer(of));
        let mut all = letterbox.invitations();
        all.retain(|one| one.name == wanted.name.trim() && is_peer(one.from));
        all.retain(|one| from.is_none_or(|from| from == one.from));
        let found = match all.as_slice() {
            [one] => one.clone(),
            [] => {
                let hint = "`hermit train show` lists invitations";
                return Err(refused(Code::NotFound, format!("no machine asks for `{}`", wanted.name), hint));
            }
            _ => {
                let hint = "say which machine: `--from MACHINE`";
                let message = format!("several machines ask for `{}`", wanted.name);
                return Err(refused(Code::Ambiguous, message, hint));
            }
        };
        drop(registry);
        let run = own_part(&with, &found, &wanted.run)?;
        let mut plan = Plan::of((&with.home, &with.kernel.training()), named(&with), &dataset.dataset, &run)?;
        (plan.spec.alpha, plan.spec.feed_forward) = (found.terms.alpha, found.terms.feed_forward);
        let Invitation { from, id, name, terms } = found.clone();
        learns_together(&mut plan, Together { id, name, lead: Some(from), asked: Vec::new(), terms })?;
        self.take_up(with, plan, Task::Together)?;
        letterbox.answered(&found);
        Ok(from)
    }

    /// Machines that ask whether this one learns together with them.
    pub(crate) fn invitations(home: &Home, kernel: &Kernel) -> Vec<InvitationRow> {
        let registry = kernel.mesh_registry();
        let all = Letterbox::of(home.clone()).invitations().into_iter();
        let all = all.filter(|one| registry.state().is_some_and(|state| state.is_peer(one.from)));
        let row = |one: Invitation| InvitationRow {
            name: one.name,
            from: registry.name_of(one.from),
            node: one.from.to_string(),
            base_sha256: one.terms.base_sha256.to_string(),
            rounds: one.terms.rounds,
            steps: one.terms.steps,
        };
        all.map(row).collect()
    }

    /// Goes on with a run that is paused, or that ended before its end.
    pub(crate) fn go_on(&self, with: With, run_id: &str) -> Result<(), Error> {
        if self.at_work().as_deref() == Some(run_id)
            && let Some(hand) = &*lock(&self.hand)
        {
            hand.told.wishes(Wish::Go);
            return Ok(());
        }
        let plan = unfinished(&with, run_id)?;
        let task = if plan.together.is_some() { Task::Together } else { Task::Learn };
        self.take_up(with, plan, task)
    }

    /// Measures what a run has learned so far.
    pub(crate) fn prove(&self, with: With, run_id: &str) -> Result<(), Error> {
        let plan = unfinished(&with, run_id)?;
        self.take_up(with, plan, Task::Prove)
    }

    /// Makes a model with the adapter of a run.
    pub(crate) fn export(&self, with: With, run: &RunRecord, name: Option<&str>) -> Result<(), Error> {
        let plan = Plan::read(&with.home, &run.run_id)?;
        let own = run.run_id.trim_start_matches("run_");
        let own = format!("{}-{}", plan.base, own.get(..8).unwrap_or(own));
        let name = name.map_or(own, |name| name.strip_prefix("box:").unwrap_or(name).to_owned());
        crate::model_box::may_be_named(&name)?;
        self.take_up(with, plan, Task::Export(name))
    }

    /// Says what is wished of the run in hand.
    pub(crate) fn say(&self, wish: Wish) -> Result<(), Error> {
        let hand = lock(&self.hand);
        let at_work = hand.as_ref().filter(|hand| !hand.thread.is_finished());
        let hand =
            at_work.ok_or_else(|| conflict("no run is in hand", "begin one with `hermit train run`"))?;
        hand.told.wishes(wish);
        Ok(())
    }

    /// Stops the run in hand, and waits until it has ended.
    pub(crate) fn end(&self) {
        let Some(hand) = lock(&self.hand).take() else { return };
        hand.told.wishes(Wish::Stop);
        // One that broke off has nobody left to tell.
        let _ = hand.thread.join();
    }

    fn take_up(&self, with: With, plan: Plan, task: Task) -> Result<(), Error> {
        let program = program().map_err(|why| Error::Said(wire::Error::new(Code::NotFound, why)))?;
        let mut hand = lock(&self.hand);
        if hand.as_ref().is_some_and(|hand| !hand.thread.is_finished()) {
            return Err(conflict(
                "a run is in hand already",
                "wait for its end, or stop it: `hermit train stop`",
            ));
        }
        plan.keep()?;
        let live = LiveRun {
            run_id: plan.run_id.clone(),
            state: TrainingState::Loading,
            dataset_id: plan.dataset.artifact_id.to_string(),
            base: plan.base.clone(),
            step: 0,
            steps: plan.spec.steps,
            losses: Vec::new(),
            examples_per_ks: 0,
            memory: 0,
            ran_on: plan.ran_on().iter().map(RanOn::in_words).collect(),
            checkpoint: None,
            words: None,
            together: None,
            begun_at: plan.begun_at,
        };
        let told = Arc::new(Told { live: Mutex::new(live), wish: Mutex::default() });
        let work = Work { with, plan, program, told: Arc::clone(&told) };
        let thread = std::thread::Builder::new().name("training".to_owned());
        let thread = thread.spawn(move || work.to_the_end(&task));
        let thread = thread.map_err(|e| Error::io("start", std::path::Path::new(PROGRAM), &e))?;
        *hand = Some(Hand { told, thread });
        Ok(())
    }
}

impl Drop for Trainer {
    fn drop(&mut self) {
        self.end();
    }
}

fn usage(message: &str) -> Error {
    refused(Code::Usage, message.to_owned(), "see `hermit train together --help`")
}

/// The name of a run that begins now, and when that is.
fn named(with: &With) -> (String, i64) {
    let mut drawn = [0; 8];
    OsEntropy.fill(&mut drawn);
    let run_id: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
    (format!("run_{run_id}"), with.kernel.ports().clock.now().0)
}

/// Has a run learned together with others.
fn learns_together(plan: &mut Plan, of: Together) -> Result<(), Error> {
    of.terms.check().map_err(|error| usage(&error.to_string()))?;
    plan.spec.steps = of.terms.rounds.saturating_mul(of.terms.steps).min(training::STEPS_MAX);
    plan.spec.check().map_err(|error| usage(&error.to_string()))?;
    plan.together = Some(of);
    Ok(())
}

/// What is this machine's own of a run that it was asked for, with what all have in common.
fn own_part(with: &With, of: &Invitation, wanted: &Run) -> Result<Run, Error> {
    let sha256 = of.terms.base_sha256.to_string();
    let base = Files::of(&with.home).all().into_iter().find(|one| one.sha256 == sha256);
    let base = base.ok_or_else(|| {
        let hint = "get the same one: `hermit models get`";
        refused(Code::NotFound, format!("the model {sha256} is not on this machine"), hint)
    })?;
    let (rank, seed) = (Some(of.terms.rank), Some(of.terms.seed));
    Ok(Run { base: Some(base.name), rank, seed, steps: None, ..wanted.clone() })
}

/// A run that has not come to its end.
fn unfinished(with: &With, run_id: &str) -> Result<Plan, Error> {
    if with.kernel.training().run(run_id).is_some() {
        let hint = "`hermit train list` shows what came of it; begin another with `hermit train run`";
        return Err(conflict(&format!("the run `{run_id}` came to its end already"), hint));
    }
    Plan::read(&with.home, run_id)
}
