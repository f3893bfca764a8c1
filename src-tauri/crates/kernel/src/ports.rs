//! What the kernel asks of others: executors, reasoners, signers, and somebody who listens.

use acts::{Action, ActionRequest};
use effects::{BeforeImage, Head, Outcome, Progress, Settled, Staging, Unstaged};
use governance::Authorization;
use model::action::{ChangeItem, Reach};
use model::receipt::SandboxLevel;
use model::schedule::{Condition, Unseen};
use model::task::ModelChoice;
use model::witness::{Fingerprint, StateWitness};
use model::{ActionRequestId, AttemptId, RelPath, ResourceId, TaskId, UnixMs, WorkspaceId};
use reasoning::Reasoner;
use seal::schnorr::SchnorrKey;
use seal::{Digest, PublicKey, Signer};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

mod adopting;
mod servers;

pub use adopting::Adopting;
pub use servers::Servers;

/// Bytes that would be lost, each read when it is asked for.
pub type BeforeImages<'a> = Box<dyn Iterator<Item = Result<BeforeImage, String>> + 'a>;

/// What is there, looked at and never changed.
pub trait Look: Send + Sync {
    /// What is at these resources now.
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint>;

    /// Bytes that a change set would overwrite or delete, one after another; in words, when one of them cannot be read.
    fn before_images<'a>(&'a self, items: &[ChangeItem]) -> BeforeImages<'a>;

    /// Whether all of them can be kept.
    ///
    /// # Errors
    /// In words, when one of them is too large.
    fn can_keep(&self, items: &[ChangeItem]) -> Result<(), String>;

    /// Bytes of those of the files that are short enough to be merged line by line, by their digest.
    fn texts(&self, paths: &[RelPath]) -> BTreeMap<Digest, Vec<u8>>;

    /// What the words of a command lead to: files, programs, and what looks like a key.
    fn reach(&self, action: &Action) -> Reach;

    /// What is checked out in the folder's repository.
    ///
    /// # Errors
    /// In words, when there is none that can be read.
    fn head(&self) -> Result<Head, String>;

    /// The files that fit, each with its stamp, as a schedule that waits for changes compares them.
    ///
    /// # Errors
    /// Why they cannot be seen.
    fn files_seen(&self, globs: &[String]) -> Result<BTreeMap<RelPath, String>, Unseen>;

    /// The file system that the folder is on, where the system tells.
    fn device_seen(&self) -> Option<String> {
        None
    }

    /// The commit that a ref of the folder's repository is at; none where there is no such ref.
    ///
    /// # Errors
    /// Why it cannot be seen.
    fn ref_seen(&self, name: &str) -> Result<Option<String>, Unseen>;
}

/// Acts that were granted, from their start to what is known of their end.
pub trait Execute: Send + Sync {
    /// Does it, inside the authorisation.
    fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome;

    /// After an interruption: looks at what became of it, never runs it.
    fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled;

    /// Completes what was found not done and whose prior still holds.
    fn roll_forward(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        settled: &Settled,
    ) -> Outcome;

    /// Drops what was kept to settle this act by; called when its outcome and receipt are stored.
    ///
    /// # Errors
    /// In words, when it cannot be dropped.
    fn forget(&self, request: ActionRequestId) -> Result<(), String>;
}

/// Trials of commands in a staged view of the folder, which itself is never touched (governance.md 5).
pub trait StagedView: Send + Sync {
    /// Whether a command can be tried in one here.
    ///
    /// # Errors
    /// Why not, in words for the card.
    fn stageable(&self, action: &Action) -> Result<(), String>;

    /// Runs a command in one.
    ///
    /// # Errors
    /// It cannot be staged, or came to nothing that could be committed.
    fn stage(
        &self,
        attempt: AttemptId,
        action: &Action,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged>;

    /// Bytes that a staged run left for a path.
    ///
    /// # Errors
    /// In words, when they are gone.
    fn staged_bytes(&self, attempt: AttemptId, path: &RelPath, sha256: &Digest) -> Result<Vec<u8>, String>;

    /// Forgets what a staged run left.
    ///
    /// # Errors
    /// In words, when it cannot be removed.
    fn unstage(&self, attempt: AttemptId) -> Result<(), String>;
}

/// Executors in one workspace.
pub trait Executors: Look + Execute + StagedView + Servers {}

impl<T: Look + Execute + StagedView + Servers> Executors for T {}

impl Look for effects::Executors {
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        self.observe(resources)
    }

    fn before_images<'a>(&'a self, items: &[ChangeItem]) -> BeforeImages<'a> {
        Box::new(self.before_images(items).map(|image| image.map_err(|e| e.to_string())))
    }

    fn can_keep(&self, items: &[ChangeItem]) -> Result<(), String> {
        self.can_keep(items).map_err(|e| e.to_string())
    }

    fn texts(&self, paths: &[RelPath]) -> BTreeMap<Digest, Vec<u8>> {
        self.texts(paths)
    }

    fn reach(&self, action: &Action) -> Reach {
        self.reach(action)
    }

    fn head(&self) -> Result<Head, String> {
        self.head().map_err(|e| e.to_string())
    }

    fn files_seen(&self, globs: &[String]) -> Result<BTreeMap<RelPath, String>, Unseen> {
        self.files_seen(globs)
    }

    fn device_seen(&self) -> Option<String> {
        self.device_seen()
    }

    fn ref_seen(&self, name: &str) -> Result<Option<String>, Unseen> {
        self.ref_seen(name)
    }
}

impl Execute for effects::Executors {
    fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        self.perform(authorization, request, cancelled, progress)
    }

    fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled {
        self.settle(request, before)
    }

    fn roll_forward(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        settled: &Settled,
    ) -> Outcome {
        self.roll_forward(authorization, request, settled)
    }

    fn forget(&self, request: ActionRequestId) -> Result<(), String> {
        self.forget(request).map_err(|e| e.to_string())
    }
}

impl StagedView for effects::Executors {
    fn stageable(&self, action: &Action) -> Result<(), String> {
        self.stageable(action)
    }

    fn stage(
        &self,
        attempt: AttemptId,
        action: &Action,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged> {
        self.stage(attempt, action, cancelled, progress)
    }

    fn staged_bytes(&self, attempt: AttemptId, path: &RelPath, sha256: &Digest) -> Result<Vec<u8>, String> {
        self.staged_bytes(attempt, path, sha256).map_err(|e| e.to_string())
    }

    fn unstage(&self, attempt: AttemptId) -> Result<(), String> {
        self.unstage(attempt).map_err(|e| e.to_string())
    }
}

/// Opens executors.
pub trait ExecutorSource: Send + Sync {
    /// Executors below a root; `contents` is the kernel's own content store.
    ///
    /// # Errors
    /// In words, when the folder cannot be worked in.
    fn open(
        &self,
        root: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn effects::Contents>,
    ) -> Result<Arc<dyn Executors>, String>;

    /// Forgets what staged runs have left that nobody wants any more; how many.
    ///
    /// # Errors
    /// In words, when something of it is still there.
    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String>;

    /// The walls that a command would get here.
    fn sandbox(&self) -> SandboxLevel;

    /// The address of the git remote that the folder's own configuration names, in one spelling; git is not run.
    fn remote(&self, root: &Path) -> Option<String>;

    /// Facts about machine and process for the environment snapshot (HK-17.2).
    fn environment(&self, root: &Path) -> serde_json::Value;

    /// How many reads of one answer run at the same time.
    fn parallel_reads(&self) -> usize {
        model::limits::PARALLEL_READS
    }

    /// How this machine stands now, as far as these conditions ask for it.
    fn surroundings(&self, _: &[Condition]) -> Surroundings {
        Surroundings::default()
    }

    /// Skills, and where those that are trusted lie for commands; a source without any finds none.
    fn skills(&self) -> Option<Skills<'_>> {
        None
    }

    /// Whether a change of Hermit can be tried here.
    ///
    /// # Errors
    /// Why not, in words.
    fn tries_changes(&self) -> Result<(), String> {
        Err("no change of Hermit can be tried in this process".to_owned())
    }

    /// What adopted changes of Hermit reach outside the store; a source without any adopts nothing.
    fn adopting(&self) -> Option<&dyn Adopting> {
        None
    }
}

/// How this machine stands, as far as anybody can tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether it is on mains power.
    pub on_mains: Option<bool>,
    /// Whether there is a network.
    pub has_network: Option<bool>,
    /// Per cent of its battery; none also where it has none.
    pub battery_percent: Option<u32>,
    /// Whether nobody is at it.
    pub is_idle: Option<bool>,
    /// Whether its network is not metered.
    pub is_unmetered: Option<bool>,
}

impl Surroundings {
    /// Whether a condition holds.
    pub const fn is(self, of: Condition) -> Option<bool> {
        match of {
            Condition::Mains => self.on_mains,
            Condition::Network => self.has_network,
            Condition::Idle => self.is_idle,
            Condition::Unmetered => self.is_unmetered,
        }
    }
}

/// Skills of this machine.
#[derive(Clone, Copy)]
pub struct Skills<'a> {
    /// Finds and reads them.
    pub book: &'a effects::SkillBook,
    /// The folder in which commands find the files of those that are trusted.
    pub shelf: &'a Path,
}

/// Finds the reasoner a contract names.
pub trait ReasonerSource: Send + Sync {
    /// The reasoner; `text` is the artifact the choice points at, if it points at one.
    ///
    /// # Errors
    /// In words, with what to do.
    fn reasoner(&self, choice: &ModelChoice, text: Option<&[u8]>) -> Result<Arc<dyn Reasoner>, String>;

    /// The process ends soon: nobody is waited for to find a reasoner.
    fn wind_down(&self) {}
}

/// A day of the person, and what models may cost in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// Its name, such as `2026-11-27`.
    pub name: String,
    /// Its first instant.
    pub begins: UnixMs,
    /// The first instant of the next one.
    pub ends: UnixMs,
    /// When that is, in words.
    pub ends_in_words: String,
    /// What models may cost in it, in millionths of a US dollar; no bound when absent.
    pub cost_micros_max: Option<u64>,
}

/// Knows where the person's days begin, and what models may cost in one.
pub trait Days: Send + Sync {
    /// The day that an instant lies in.
    ///
    /// # Errors
    /// In words, when the setting cannot be read: nothing is spent then.
    fn day_of(&self, at: UnixMs) -> Result<Day, String>;
}

/// An embedding model of this machine, where a person named one (memory.md 2).
pub trait Embedder: Send + Sync {
    /// The address of the model that is named now.
    fn named(&self) -> Option<String>;

    /// What the model answers to these texts: one vector for each, unless it answers otherwise. It takes no longer than
    /// `patience`, and ends when `goes_on` says no.
    ///
    /// # Errors
    /// [`Unembedded`].
    fn embed(
        &self,
        model: &str,
        texts: &[&str],
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, Unembedded>;
}

/// Why a model answered no vectors, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unembedded {
    /// It refuses these texts; it may take others.
    Refused(String),
    /// It does not answer, or answers what is none.
    Failed(String),
}

/// No embedding model: memory is found by words.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEmbedder;

impl Embedder for NoEmbedder {
    fn named(&self) -> Option<String> {
        None
    }

    fn embed(
        &self,
        _: &str,
        _: &[&str],
        _: Duration,
        _: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, Unembedded> {
        Err(Unembedded::Failed("no embedding model is named".to_owned()))
    }
}

/// Keys that are open now. A missing one is locked or was never made.
pub trait KeyRing: Send + Sync {
    /// Signs receipts and statements.
    fn receipt(&self) -> Option<Arc<dyn Signer>>;

    /// Signs checkpoints.
    fn log(&self) -> Option<Arc<dyn Signer>>;

    /// Signs that heads of the logs of one's other machines were seen.
    fn cosign(&self) -> Option<Arc<dyn Signer>>;

    /// Public halves of the keys that sign checkpoints, now and before, as they are known outside the ledger.
    fn log_keys(&self) -> Vec<PublicKey>;

    /// The key of the instance whose first SOUL.md has this digest.
    fn instance(&self, first_soul: &Digest) -> Option<SchnorrKey>;

    /// Its keys before that one, as far as they are still to be had, the newest first.
    fn former_instances(&self, first_soul: &Digest) -> Vec<SchnorrKey>;
}

/// Something happened that a surface may want to show. Never truth: the events are.
#[derive(Debug, Clone)]
pub enum Notice {
    /// An event was committed.
    Event {
        /// Its task.
        task_id: TaskId,
        /// Its place.
        task_seq: u64,
        /// Its type.
        event_type: String,
    },
    /// A reasoner wrote a piece of text.
    Delta {
        /// The task it thinks for.
        task_id: TaskId,
        /// The asking that it answers: a number that grows with each, also from one host to the next.
        asking: u64,
        /// How much of its text came before, in UTF-16 code units, as pages count.
        from: u64,
        /// The piece.
        text: String,
    },
    /// A reasoner wrote a piece of its reasoning, which is no part of its answer.
    Reasoning {
        /// The task it thinks for.
        task_id: TaskId,
        /// The asking that it answers, as above.
        asking: u64,
        /// How much of its reasoning came before, counted in the same way.
        from: u64,
        /// The piece.
        text: String,
    },
    /// Long work went on.
    Progress {
        /// The task.
        task_id: TaskId,
        /// What is being done.
        what: &'static str,
        /// How much is done.
        done: u64,
        /// Of how much; 0 when not known.
        total: u64,
    },
    /// An act printed something, or the tool of a server said something of how far it is.
    Output {
        /// Its task.
        task_id: TaskId,
        /// The act, or its trial.
        act: ActionRequestId,
        /// `stdout`, `stderr` or `tool`.
        stream: &'static str,
        /// The piece, without secrets.
        text: String,
    },
}

/// Listens.
pub trait Observer: Send + Sync {
    /// Takes one notice; must not block.
    fn notice(&self, notice: Notice);
}
