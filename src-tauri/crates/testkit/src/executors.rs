//! The real executors, in a test's folder, with somebody who counts what they do.

use crate::{Crash, Edge};
use acts::{Action, ActionRequest};
use effects::{
    Contents, Executors as Real, Outcome, Progress, Sandbox, Settled, Spool, Staging, Unstaged, Workspace,
};
use governance::Authorization;
use kernel::ports::{BeforeImages, Execute, ExecutorSource, Executors, Look, Servers, Skills, StagedView};
use model::action::{ChangeItem, Reach};
use model::fault::{Faults, Point};
use model::receipt::SandboxLevel;
use model::schedule::{Condition, Unseen};
use model::tool_server::{ServerLaunch, ServerRegistration, ToolManifest};
use model::witness::{Fingerprint, StateWitness};
use model::{ActionRequestId, AttemptId, Clock, Digest, RelPath, ResourceId, WorkspaceId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts every arrival at the executors, and outlives the kernels of its world: what ran is known however often a host
/// has died.
#[derive(Default)]
pub struct Oracle {
    performed: Mutex<BTreeMap<ActionRequestId, u32>>,
    tried: AtomicU32,
    die: AtomicBool,
    tells: Mutex<Option<Arc<Tells>>>,
    stands_in: Mutex<Option<Arc<StandsIn>>>,
    serves: Mutex<Option<(ToolManifest, Box<Reads>)>>,
}

/// What a resource of a server reads.
type Reads = dyn Fn(&str) -> Result<serde_json::Value, String> + Send + Sync;

/// What comes of an act in the place of what would come of it.
type StandsIn = dyn Fn(&ActionRequest) -> Option<Outcome> + Send + Sync;

/// What an executor tells while it is at work: it is given whether it shall stop, and where to tell.
type Tells = dyn Fn(&dyn Fn() -> bool, &mut dyn FnMut(Progress<'_>)) + Send + Sync;

impl Oracle {
    /// How often each request was begun, from its first arrival; rolling forward is not counted.
    pub fn performed(&self) -> BTreeMap<ActionRequestId, u32> {
        self.performed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a command was tried in a copy of the folder.
    pub fn tried(&self) -> u32 {
        self.tried.load(Ordering::SeqCst)
    }

    /// The next act is done, and its host dies before it can say so.
    pub fn die_after_next(&self) {
        self.die.store(true, Ordering::SeqCst);
    }

    /// The next act tells this before anything of it is done.
    pub fn tells(
        &self,
        tells: impl Fn(&dyn Fn() -> bool, &mut dyn FnMut(Progress<'_>)) + Send + Sync + 'static,
    ) {
        *self.tells.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tells));
    }

    /// From now on, every server of tools offers this, and its resources read so; none is started.
    pub fn serves(
        &self,
        manifest: ToolManifest,
        reads: impl Fn(&str) -> Result<serde_json::Value, String> + Send + Sync + 'static,
    ) {
        let reads: Box<Reads> = Box::new(reads);
        *self.serves.lock().unwrap_or_else(PoisonError::into_inner) = Some((manifest, reads));
    }

    /// From now on, an act for which this answers comes to that, and nothing of it is done.
    pub fn stands_in(&self, stands_in: impl Fn(&ActionRequest) -> Option<Outcome> + Send + Sync + 'static) {
        *self.stands_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(stands_in));
    }

    fn count(&self, request: &ActionRequest) {
        let mut performed = self.performed.lock().unwrap_or_else(PoisonError::into_inner);
        *performed.entry(request.action_request_id).or_insert(0) += 1;
    }
}

/// Opens real executors; commands get the walls it was given.
pub struct RealExecutors {
    /// Where transcripts go.
    pub spool: PathBuf,
    /// Stops the world.
    pub faults: Arc<dyn Faults>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The walls.
    pub sandbox: Sandbox,
    /// Knows secrets.
    pub redactor: redact::Shared,
    /// Secrets that acts may use.
    pub secrets: Arc<dyn effects::Secrets>,
    /// Speaks to servers of tools.
    pub servers: Arc<dyn effects::ToolServers>,
    /// Speaks to chat services.
    pub messenger: Arc<dyn effects::Messenger>,
    /// What a person has of Bitcoin.
    pub clocks: Arc<dyn effects::Clocks>,
    /// Speaks with relays.
    pub relays: Arc<dyn effects::Relays>,
    /// Finds skills: in folders of projects, and in no person's.
    pub skills: effects::SkillBook,
    /// Where files of trusted ones lie for commands.
    pub shelf: PathBuf,
    /// Counts.
    pub oracle: Arc<Oracle>,
    /// How many reads of one answer run at the same time.
    pub parallel_reads: usize,
    /// How the machine stands.
    pub surroundings: Arc<std::sync::Mutex<kernel::ports::Surroundings>>,
    /// What adopted changes of Hermit reach outside the store.
    pub adopting: Arc<crate::TestAdopting>,
}

struct Adapter(Real, Arc<Oracle>);

impl ExecutorSource for RealExecutors {
    fn open(
        &self,
        root: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        let workspace = Workspace::open(root, workspace).map_err(|e| e.to_string())?;
        let (faults, clock) = (Arc::clone(&self.faults), Arc::clone(&self.clock));
        let spool = Spool::new(self.spool.clone());
        Ok(Arc::new(Adapter(
            Real::new(workspace, contents, faults, clock, spool, self.sandbox.clone())
                .with_redactor(self.redactor.clone())
                .with_secrets(Arc::clone(&self.secrets))
                .with_web(Arc::new(crate::PlainWeb))
                .with_messenger(Arc::clone(&self.messenger))
                .with_clocks(Arc::clone(&self.clocks))
                .with_relays(Arc::clone(&self.relays))
                .with_servers(Arc::clone(&self.servers), effects::ServerSessions::default())
                .with_parallel_reads(self.parallel_reads),
            Arc::clone(&self.oracle),
        )))
    }

    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String> {
        Spool::new(self.spool.clone()).sweep(needed).map_err(|e| e.to_string())
    }

    fn sandbox(&self) -> SandboxLevel {
        self.sandbox.level()
    }

    fn remote(&self, root: &Path) -> Option<String> {
        effects::remote(root)
    }

    fn skills(&self) -> Option<Skills<'_>> {
        Some(Skills { book: &self.skills, shelf: &self.shelf })
    }

    fn adopting(&self) -> Option<&dyn kernel::ports::Adopting> {
        Some(&*self.adopting)
    }

    fn parallel_reads(&self) -> usize {
        self.parallel_reads
    }

    fn surroundings(&self, _: &[Condition]) -> kernel::ports::Surroundings {
        *self.surroundings.lock().expect("nobody panicked with it")
    }

    fn environment(&self, _: &Path) -> serde_json::Value {
        serde_json::json!({ "os": "test", "sandbox_level": self.sandbox.level().as_str() })
    }
}

impl Look for Adapter {
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        self.0.observe(resources)
    }

    fn before_images<'a>(&'a self, items: &[ChangeItem]) -> BeforeImages<'a> {
        Box::new(self.0.before_images(items).map(|image| image.map_err(|e| e.to_string())))
    }

    fn can_keep(&self, items: &[ChangeItem]) -> Result<(), String> {
        self.0.can_keep(items).map_err(|e| e.to_string())
    }

    fn texts(&self, paths: &[RelPath]) -> BTreeMap<Digest, Vec<u8>> {
        self.0.texts(paths)
    }

    fn reach(&self, action: &Action) -> Reach {
        self.0.reach(action)
    }

    fn head(&self) -> Result<effects::Head, String> {
        self.0.head().map_err(|e| e.to_string())
    }

    fn files_seen(&self, globs: &[String]) -> Result<BTreeMap<RelPath, String>, Unseen> {
        self.0.files_seen(globs)
    }

    fn device_seen(&self) -> Option<String> {
        self.0.device_seen()
    }

    fn ref_seen(&self, name: &str) -> Result<Option<String>, Unseen> {
        self.0.ref_seen(name)
    }
}

impl Execute for Adapter {
    fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        self.1.count(request);
        let tells = self.1.tells.lock().unwrap_or_else(PoisonError::into_inner).take();
        tells.iter().for_each(|tells| tells(cancelled, progress));
        let stands_in = self.1.stands_in.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let instead = stands_in.and_then(|stands_in| stands_in(request));
        let outcome = instead.unwrap_or_else(|| self.0.perform(authorization, request, cancelled, progress));
        if self.1.die.swap(false, Ordering::SeqCst) {
            std::panic::panic_any(Crash(Point::EffectObserve, Edge::Before));
        }
        outcome
    }

    fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled {
        self.0.settle(request, before)
    }

    fn roll_forward(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        settled: &Settled,
    ) -> Outcome {
        self.0.roll_forward(authorization, request, settled)
    }

    fn forget(&self, request: ActionRequestId) -> Result<(), String> {
        self.0.forget(request).map_err(|e| e.to_string())
    }
}

impl StagedView for Adapter {
    fn stageable(&self, action: &Action) -> Result<(), String> {
        self.0.stageable(action)
    }

    fn stage(
        &self,
        attempt: AttemptId,
        action: &Action,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged> {
        self.1.tried.fetch_add(1, Ordering::SeqCst);
        self.0.stage(attempt, action, cancelled, progress)
    }

    fn staged_bytes(&self, attempt: AttemptId, path: &RelPath, sha256: &Digest) -> Result<Vec<u8>, String> {
        self.0.staged_bytes(attempt, path, sha256).map_err(|e| e.to_string())
    }

    fn unstage(&self, attempt: AttemptId) -> Result<(), String> {
        self.0.unstage(attempt).map_err(|e| e.to_string())
    }
}

impl Servers for Adapter {
    fn look_at_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
    ) -> Result<(ServerLaunch, ToolManifest), String> {
        match self.1.serves.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some((manifest, _)) => Ok((launch.clone(), manifest.clone())),
            None => self.0.look_at_server(server, launch),
        }
    }

    fn resource_seen(
        &self,
        of: &ServerRegistration,
        uri: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String> {
        match self.1.serves.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some((_, reads)) => reads(uri),
            None => self.0.resource_seen(of, uri, is_over),
        }
    }

    fn end_servers(&self, attempt: AttemptId) {
        self.0.end_servers(attempt);
    }

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        self.0.fits(schema, value)
    }
}
