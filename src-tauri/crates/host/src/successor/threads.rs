//! A thread for each trial that is under way in the process that holds the store.

use super::asked_words::{AskedModel, Wanted};
use super::build::SOURCE;
use super::case::so_far;
use super::confined::clear;
use super::live_model::{LiveModel, reached};
use super::{BASES, BUILDS, Bases, CodeTrial, ParentPlaces, TrialRun, base, clean_room, draw, run_trial};
use crate::Home;
use crate::executors::LocalExecutors;
use crate::programs::keep_built;
use ::successor::{Asked, Change, Patch};
use api::Drawn;
use effects::Sandbox;
use kernel::Kernel;
use kernel::trial_registry::Trial;
use model::policy::Profile;
use model::receipt::SandboxLevel;
use model::{Digest, TaskId};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use wire::Code;
use words::successor::{PatchKind, TrialStage};

/// Unpacks the source of this program into an empty folder, and answers its digest.
pub type UnpackOwn = fn(&Path) -> Result<Digest, String>;

/// How long trials that are told to end are waited for.
const ENDING: Duration = Duration::from_secs(10);
/// How often it is looked whether they have.
const LOOK: Duration = Duration::from_millis(10);
/// Why no model is asked about words that a task proposes: a model at work would have itself asked, and from the tokens of its task.
const FOR_A_TASK: &str =
    "a task proposed this change, and none is asked for a task: try it yourself to have one asked";

/// The trials that are under way here.
pub struct TrialThreads(Arc<Threads>);

/// The models that a trial asks.
struct Models {
    /// Where the change is one of the model.
    changed: Option<Arc<LiveModel>>,
    /// Anew in both arms, where the change is one of words that a model reads; or in words why none is.
    anew: Result<AskedModel, String>,
}

impl Models {
    /// None, and why.
    fn none(why: String) -> Self {
        Self { changed: None, anew: Err(why) }
    }
}

/// Takes away what builds of a process that was killed have left, and what nothing was built on for long.
pub(crate) fn sweep_builds(home: &Home) {
    let left = home.path(BUILDS);
    match sweep(&left) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %left.display(), "what a trial left behind is still there");
        }
        _ => {}
    }
}

fn sweep(builds: &Path) -> io::Result<()> {
    let mut is_empty = true;
    for entry in std::fs::read_dir(builds)? {
        let entry = entry?;
        let stays = entry.file_name() == BASES && entry.file_type()?.is_dir() && !base::sweep(&entry.path())?;
        if stays {
            is_empty = false;
        } else {
            clear(&entry.path())?;
        }
    }
    if is_empty { std::fs::remove_dir(builds) } else { Ok(()) }
}

struct Threads {
    home: Home,
    kernel: Arc<Kernel>,
    executors: Arc<LocalExecutors>,
    unpack: Option<UnpackOwn>,
    address: Mutex<Option<SocketAddr>>,
    under_way: Mutex<BTreeMap<String, Arc<UnderWay>>>,
    /// Whether none begins any more; looked at and said with `under_way` held.
    closed: AtomicBool,
}

/// A trial that is under way.
#[derive(Default)]
struct UnderWay {
    /// Whether it is to end.
    stop: AtomicBool,
    /// The model on this machine that a person named to be asked about words.
    named: Option<String>,
    /// The model that is asked, once it is known.
    asked: OnceLock<AskedModel>,
    /// What it is at.
    stage: Mutex<Option<TrialStage>>,
}

impl UnderWay {
    fn stage(&self) -> MutexGuard<'_, Option<TrialStage>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrialThreads {
    /// None is under way yet.
    pub(crate) fn new(
        home: &Home,
        kernel: &Arc<Kernel>,
        executors: &Arc<LocalExecutors>,
        unpack: Option<UnpackOwn>,
    ) -> Self {
        let (home, kernel, executors) = (home.clone(), Arc::clone(kernel), Arc::clone(executors));
        let (address, under_way) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Threads {
            home,
            kernel,
            executors,
            unpack,
            address,
            under_way,
            closed: AtomicBool::new(false),
        }))
    }

    /// Where this process is reached: clones try to.
    pub(crate) fn reached_at(&self, address: SocketAddr) {
        *self.0.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }

    /// Ends every trial, lets none begin any more, and waits until none is under way.
    pub(crate) fn end_all(&self) {
        {
            let all = self.0.under_way();
            self.0.closed.store(true, Ordering::SeqCst);
            all.values().for_each(|one| one.stop.store(true, Ordering::SeqCst));
        }
        let begun = Instant::now();
        while !self.0.under_way().is_empty() && begun.elapsed() < ENDING {
            std::thread::sleep(LOOK);
        }
    }
}

/// Whether clones can be made here, and confined.
///
/// # Errors
/// Why not, in words.
pub(crate) fn can_be_made(sandbox: &Sandbox) -> Result<(), String> {
    if !matches!(sandbox.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces) {
        return Err(format!("no clone can be confined on this machine: {}", sandbox.why()));
    }
    program().map(drop)
}

impl api::Trials for TrialThreads {
    fn draw(&self, seed: u64, named: &[TaskId], most: usize) -> Result<Drawn, wire::Error> {
        draw(&self.0.kernel, seed, named, most).map_err(|why| wire::Error::new(Code::Usage, why))
    }

    fn so_far(&self, task: TaskId) -> Result<(), String> {
        so_far(&self.0.kernel, task).map(drop).map_err(|why| why.to_string())
    }

    fn begin(&self, trial_id: &str, ask: Option<&str>) -> Result<(), wire::Error> {
        let failed = |why: String| wire::Error::new(Code::Failed, why);
        can_be_made(self.0.executors.walls()).map_err(failed)?;
        let one = Arc::new(UnderWay { named: ask.map(str::to_owned), ..UnderWay::default() });
        {
            let mut all = self.0.under_way();
            if self.0.closed.load(Ordering::SeqCst) {
                return Err(failed("this program ends, and begins no trial any more".to_owned()));
            }
            if all.contains_key(trial_id) {
                return Ok(());
            }
            all.insert(trial_id.to_owned(), Arc::clone(&one));
        }
        let (threads, trial) = (Arc::clone(&self.0), trial_id.to_owned());
        let run = move || {
            // However it ends, the log says so.
            let came = catch_unwind(AssertUnwindSafe(|| threads.to_verdict(&trial, &one)));
            let came = came.unwrap_or_else(|_| Err("a fault of this program ended it".to_owned()));
            if let Err(why) = came {
                threads.unjudged(&trial, &why, one.stop.load(Ordering::SeqCst));
            }
            threads.under_way().remove(&trial);
        };
        let begun = std::thread::Builder::new().name("trial".to_owned()).spawn(run);
        begun.map(drop).map_err(|error| {
            self.0.under_way().remove(trial_id);
            failed(format!("there is no thread for it: {error}"))
        })
    }

    /// Its thread says in the log that it was stopped, unless that is there already.
    fn stop(&self, trial_id: &str) {
        if let Some(one) = self.0.under_way().get(trial_id) {
            one.stop.store(true, Ordering::SeqCst);
        }
    }

    fn asked(&self, trial_id: &str) -> Option<Asked> {
        self.0.under_way().get(trial_id)?.asked.get().map(AskedModel::asked_until_now)
    }

    fn stage(&self, trial_id: &str) -> Option<TrialStage> {
        *self.0.under_way().get(trial_id)?.stage()
    }
}

impl Threads {
    fn under_way(&self) -> MutexGuard<'_, BTreeMap<String, Arc<UnderWay>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says in the log that there is no verdict. One that a person stopped, or its task, has its end there already: whatever else stops
    /// one is this program.
    fn unjudged(&self, trial_id: &str, why: &str, is_stopped: bool) {
        tracing::info!(trial = trial_id, why, "a trial has no verdict");
        let said = match is_stopped {
            true => self.kernel.stop_trial_unasked(trial_id, why),
            false => self.kernel.fail_trial(trial_id, why),
        };
        match said {
            Ok(()) | Err(kernel::Error::Conflict(_)) => {}
            Err(error) => tracing::warn!(trial = trial_id, %error, "that a trial ended is not on record"),
        }
    }

    /// The models that a trial asks. One that cannot be asked is told before a clone is made.
    fn models(&self, trial: &Trial, patch: &Patch, one: &UnderWay) -> Result<Models, String> {
        if let Change::Model { address, sha256 } = &patch.change {
            let model = reached(&self.home, &*self.kernel.ports().reasoners, address, *sha256)?;
            let live = LiveModel::new(address, model, trial.budget.tokens, trial.tasks.len());
            let live = if trial.proposed_by.is_some() { live.in_all() } else { live };
            return Ok(Models { changed: Some(Arc::new(live)), anew: Err(String::new()) });
        }
        if !patch.is_read_by_models() {
            return Ok(Models::none(String::new()));
        }
        if trial.proposed_by.is_some() {
            return Ok(Models::none(FOR_A_TASK.to_owned()));
        }
        let wanted = Wanted {
            home: &self.home,
            kernel: &self.kernel,
            named: one.named.as_deref(),
            tasks: &trial.tasks,
            tokens_max: trial.budget.tokens,
        };
        let anew = wanted.found()?;
        if let Ok(model) = &anew {
            one.asked.get_or_init(|| model.clone());
        }
        Ok(Models { changed: None, anew })
    }

    /// How code is built for a trial. What a task proposes is built and tested in its time, too, which is not enough for all of Hermit.
    fn code<'a>(
        &self,
        unpack: &'a dyn Fn(&Path) -> Result<Digest, String>,
        folder: &Path,
        trial: &Trial,
    ) -> Option<CodeTrial<'a>> {
        let code = CodeTrial::of_hermit(unpack, folder.to_owned())?;
        let is_a_persons = trial.proposed_by.is_none();
        let bases = Some(Bases { folder: self.home.path(BUILDS).join(BASES), makes: is_a_persons });
        let code = if is_a_persons { code } else { code.within(trial.budget) };
        Some(CodeTrial { bases, ..code })
    }

    fn to_verdict(&self, trial_id: &str, one: &UnderWay) -> Result<(), String> {
        let registry = self.kernel.trial_registry();
        let trial = registry.get(trial_id).ok_or("it is not on record")?;
        // Whoever stopped it before it was known here found nothing to end.
        if !trial.is_running() {
            return Err("it has its end already".to_owned());
        }
        let bytes = self.kernel.artifacts().read(&trial.patch.sha256).map_err(|e| e.to_string())?;
        let patch = Patch::read(&bytes).map_err(|e| e.to_string())?;
        let address = *self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let program = program()?;
        let unpack = self.unpack.as_ref().map(|unpack| unpack as &dyn Fn(&Path) -> Result<Digest, String>);
        let unpack = unpack.filter(|_| patch.kind() == PatchKind::Code);
        let folder = self.home.path(BUILDS).join(trial_id);
        let models = self.models(trial, &patch, one)?;
        let run = TrialRun {
            kernel: &self.kernel,
            sandbox: self.executors.walls(),
            program: &program,
            places: ParentPlaces::of(self.home.dir(), address),
            trial_id,
            patch: &patch,
            about: trial.about.as_deref().unwrap_or_default(),
            tasks: &trial.tasks,
            seed: trial.seed,
            budget: trial.budget,
            profile: Profile::LocalEditAllowed.as_str(),
            model: models.changed,
            asked: models.anew,
            code: unpack.and_then(|unpack| self.code(unpack, &folder, trial)),
            clean_room: clean_room::check(&patch),
            stopped: &|| one.stop.load(Ordering::SeqCst),
            at: &|stage| *one.stage() = Some(stage),
        };
        let end = run_trial(&run).and_then(|mut end| {
            // What nobody may adopt goes with its folder.
            if let Some(program) = end.program.as_ref().filter(|_| end.verdict.may_be_adopted()) {
                let source = folder.join(SOURCE);
                end.verdict.built = Some(keep_built(&self.home, trial_id, program, &source)?);
            }
            Ok(end)
        });
        if let Err(error) = clear(&folder) {
            tracing::warn!(%error, folder = %folder.display(), "what a trial left behind is still there");
        }
        let end = end?;
        self.kernel.end_trial(&end.verdict, &end.evidence).map_err(|e| e.to_string())
    }
}

/// `hermit`: this program, or the one beside it.
fn program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| format!("the running program is not known: {e}"))?;
    if own.file_name().is_some_and(|name| name == "hermit") {
        return Ok(own);
    }
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join("hermit")).find(|at| at.is_file());
    beside.ok_or_else(|| format!("`hermit` is not beside `{}`", own.display()))
}
