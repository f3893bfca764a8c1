//! Executors of a clone: what an act comes to is what it came to then, and nothing is done.
//!
//! An act is recognised by the digest of its action. What is looked at before and after it is what was found there then, so that the
//! same proposal becomes the same request. An act that is not in the recording does nothing, and its task has diverged.

use super::recording::{Recording, action_digest, decoded, is_within, place_of};
use ::successor::RecordedTask;
use acts::{Action, ActionRequest};
use effects::{Authorization, Contents, Head, Outcome, Progress, Settled, SkillBook, Staging, Unstaged};
use kernel::ports::{BeforeImages, Execute, ExecutorSource, Executors, Look, Servers, Skills, StagedView};
use model::action::{ChangeItem, Prior, Reach};
use model::receipt::{Change, ItemOutcome, Ran, ResultCode, SandboxLevel};
use model::schedule::Unseen;
use model::tool_server::{ServerLaunch, ServerRegistration, ToolManifest};
use model::witness::{Fingerprint, Found, StateWitness};
use model::{ActionRequestId, AttemptId, Clock, Digest, RelPath, ResourceId, WorkspaceId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why an act of a clone did nothing.
pub const NOT_RECORDED: &str = "it is not in the recording";
/// Bytes of the end of what a staged run printed that a card shows.
const PRINTED_CHARS: usize = 4 * 1024;

/// One act of the recording.
struct RecordedOne {
    action_sha256: Digest,
    answered: Option<String>,
    denied: bool,
    came: Recording,
}

/// A recorded task, as far as it has been played.
pub struct RecordedWorld {
    acts: Vec<RecordedOne>,
    bytes: BTreeMap<String, Vec<u8>>,
    /// Whether another model than the recorded one is at work in it.
    live: bool,
    played: Mutex<PlayedWorld>,
}

/// How far it has been played.
#[derive(Default)]
struct PlayedWorld {
    /// By the act's place: whether it was done again.
    done: Vec<bool>,
    /// The turn in hand, from 1.
    turn: u32,
    /// What acts have left, by place.
    left: BTreeMap<String, Found>,
    /// What went where no recording leads, first.
    diverged: Option<String>,
}

impl RecordedWorld {
    /// A world in which nothing is recorded.
    pub fn empty() -> Self {
        Self { acts: Vec::new(), bytes: BTreeMap::new(), live: false, played: Mutex::default() }
    }

    /// The world of a task; `live`: another model than the recorded one is at work in it.
    ///
    /// # Errors
    /// In words, when what came of an act cannot be read.
    pub fn of(task: &RecordedTask, live: bool) -> Result<Self, String> {
        let (mut acts, mut bytes) = (Vec::with_capacity(task.acts.len()), BTreeMap::new());
        for act in &task.acts {
            let came: Recording = serde_json::from_value(act.outcome.clone())
                .map_err(|e| format!("what came of `{}` cannot be read: {e}", act.summary))?;
            for (digest, text) in &came.bytes {
                let decoded = decoded(text).ok_or_else(|| format!("bytes of `{digest}` cannot be read"))?;
                bytes.insert(digest.clone(), decoded);
            }
            acts.push(RecordedOne {
                action_sha256: act.action_sha256,
                answered: act.answered.clone(),
                denied: act.verdict == model::policy::Verdict::Deny.as_str(),
                came,
            });
        }
        let played = PlayedWorld { done: vec![false; acts.len()], ..PlayedWorld::default() };
        Ok(Self { acts, bytes, live, played: Mutex::new(played) })
    }

    fn played(&self) -> MutexGuard<'_, PlayedWorld> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model answers for this turn: what was proposed in turns before it is behind.
    pub fn turn(&self, turn: u32) {
        self.played().turn = turn;
    }

    /// Where it left the recording, in words; none while it has not.
    pub fn diverged(&self) -> Option<String> {
        self.played().diverged.clone()
    }

    /// It leaves the recording here.
    pub fn diverge(&self, at: &str) {
        self.played().diverged.get_or_insert_with(|| at.to_owned());
    }

    /// What the person would say to an action: what they said then; yes to what needed no yes; no to what was denied, and to what is
    /// not in the recording.
    pub fn would_allow(&self, action: &Digest) -> bool {
        let played = self.played();
        let equal = |(at, act): &(usize, &RecordedOne)| {
            act.action_sha256 == *action && !played.done.get(*at).copied().unwrap_or(true)
        };
        let Some((_, act)) = self.acts.iter().enumerate().find(equal) else { return false };
        match act.answered.as_deref() {
            Some(answered) => answered == model::approval::ApprovalStatus::Granted.as_str(),
            None => !act.denied,
        }
    }

    /// The next act of the recording with this action that was done then and not yet again.
    fn next(&self, played: &PlayedWorld, action: &Digest) -> Option<usize> {
        self.acts.iter().enumerate().position(|(at, act)| {
            act.action_sha256 == *action
                && act.came.result_code.is_some()
                && !played.done.get(at).copied().unwrap_or(true)
        })
    }

    /// The act of the recording that tells what an action comes to. Another model does the same in another order: what a look or a
    /// command sees has to be as it was then, and the same look may be taken again.
    fn telling(&self, played: &PlayedWorld, action: &Action, digest: &Digest) -> Option<usize> {
        let sees: Option<Vec<&RelPath>> = match action {
            Action::Observe(look) if self.live => Some(look.items.iter().map(acts::read_path).collect()),
            Action::Command(_) | Action::Call(_) if self.live => None,
            _ => return self.next(played, digest),
        };
        let tells = |(at, act): &(usize, &RecordedOne)| {
            act.action_sha256 == *digest
                && act.came.result_code.is_some()
                && self.is_as_then(played, *at, sees.as_deref())
        };
        let told: Vec<usize> = self.acts.iter().enumerate().filter(tells).map(|(at, _)| at).collect();
        let open = told.iter().find(|at| !played.done.get(**at).copied().unwrap_or(true));
        open.or_else(|| told.first().filter(|_| sees.is_some())).copied()
    }

    /// Whether all that an act sees is as it was when it was recorded: what was changed before it then is changed by now, and nothing
    /// else. `sees`: the places; everything where none are named.
    fn is_as_then(&self, played: &PlayedWorld, at: usize, sees: Option<&[&RelPath]>) -> bool {
        self.acts.iter().enumerate().all(|(other, act)| {
            let is_done = played.done.get(other).copied().unwrap_or(true);
            let touches = |change: &Change| {
                change.outcome != ItemOutcome::NotDone
                    && sees.is_none_or(|places| places.iter().any(|place| is_within(change, place)))
            };
            other == at || is_done == (other < at) || !act.came.changes.iter().any(touches)
        })
    }

    /// The recording of an action, done again or not: what is said of it before it is done.
    fn about(&self, action: &Action) -> Option<&Recording> {
        let digest = action_digest(action).ok()?;
        let played = self.played();
        let open = self.next(&played, &digest).and_then(|at| self.acts.get(at));
        open.or_else(|| self.acts.iter().find(|act| act.action_sha256 == digest)).map(|act| &act.came)
    }

    /// What is at a place now.
    fn found(&self, resource: &ResourceId) -> Found {
        let (played, place) = (self.played(), place_of(resource));
        if let Some(left) = played.left.get(&place).filter(|_| self.live) {
            return left.clone();
        }
        let of = |act: &RecordedOne| {
            let print = act.came.found.iter().find(|print| place_of(&print.resource) == place);
            print.map(|print| print.state.clone())
        };
        let coming = self.acts.iter().enumerate().filter(|(at, act)| {
            let is_done = played.done.get(*at).copied().unwrap_or(true);
            !is_done && act.came.turn >= played.turn
        });
        // What came of nothing tells of its places too, but after it nothing is else than before.
        let (ran, other): (Vec<_>, Vec<_>) = coming.partition(|(_, act)| act.came.result_code.is_some());
        let told = ran.into_iter().chain(other).find_map(|(_, act)| of(act));
        let told = told.or_else(|| played.left.get(&place).cloned());
        told.or_else(|| self.acts.iter().rev().find_map(of)).unwrap_or(Found::Absent)
    }
}

/// Opens the executors of a clone, by the folder that a task is played in.
pub struct RecordedSource {
    worlds: Mutex<BTreeMap<PathBuf, Arc<RecordedWorld>>>,
    servers: Arc<BTreeMap<String, ServerRegistration>>,
    clock: Arc<dyn Clock>,
    /// Skills lie in the folders of tasks alone.
    skills: SkillBook,
    shelf: PathBuf,
}

impl RecordedSource {
    /// With the parent's servers of tools, none of which is ever started; `shelf`: where files of skills are laid out.
    pub fn new(servers: BTreeMap<String, ServerRegistration>, clock: Arc<dyn Clock>, shelf: PathBuf) -> Self {
        let (worlds, skills) = (Mutex::default(), SkillBook::default());
        Self { worlds, servers: Arc::new(servers), clock, skills, shelf }
    }

    /// A task is played in this folder.
    pub fn put(&self, root: PathBuf, world: Arc<RecordedWorld>) {
        self.worlds.lock().unwrap_or_else(PoisonError::into_inner).insert(root, world);
    }
}

impl ExecutorSource for RecordedSource {
    fn open(
        &self,
        root: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        let worlds = self.worlds.lock().unwrap_or_else(PoisonError::into_inner);
        let world = worlds.get(root).cloned().unwrap_or_else(|| Arc::new(RecordedWorld::empty()));
        let (servers, clock) = (Arc::clone(&self.servers), Arc::clone(&self.clock));
        Ok(Arc::new(RecordedExecutors { world, workspace, contents, servers, clock }))
    }

    fn sweep(&self, _: &dyn effects::Needed) -> Result<usize, String> {
        Ok(0)
    }

    /// As on the machine that recorded it: a clone is made where there is a sandbox, and nowhere else.
    fn sandbox(&self) -> SandboxLevel {
        SandboxLevel::NamespacesLandlock
    }

    fn remote(&self, _: &Path) -> Option<String> {
        None
    }

    fn skills(&self) -> Option<Skills<'_>> {
        Some(Skills { book: &self.skills, shelf: &self.shelf })
    }

    /// A trial that is in the recording comes to what it came to; no clone makes clones.
    fn tries_changes(&self) -> Result<(), String> {
        Ok(())
    }

    fn environment(&self, _: &Path) -> serde_json::Value {
        serde_json::json!({ "os": std::env::consts::OS, "sandbox_level": self.sandbox().as_str() })
    }
}

/// Executors in one folder of a clone.
struct RecordedExecutors {
    world: Arc<RecordedWorld>,
    workspace: WorkspaceId,
    contents: Arc<dyn Contents>,
    servers: Arc<BTreeMap<String, ServerRegistration>>,
    clock: Arc<dyn Clock>,
}

impl RecordedExecutors {
    fn bytes(&self, sha256: &Digest) -> Option<Vec<u8>> {
        let recorded = self.world.bytes.get(&sha256.to_string()).cloned();
        recorded.or_else(|| self.contents.read(sha256).ok())
    }

    /// What an act comes to, with what it ran as.
    fn outcome(&self, request: &ActionRequest, code: ResultCode, error: Option<String>) -> Outcome {
        let now = self.clock.now();
        let request_sha256 = seal::canon::to_canonical(request).map(|bytes| Digest::of(&bytes));
        let ran = Ran {
            executor: request.action.executor(),
            request_sha256: request_sha256.unwrap_or(Digest::ZERO),
            argv: None,
            executable_sha256: None,
            exit_code: None,
            started_at: now,
            finished_at: now,
        };
        Outcome {
            result_code: code,
            changes: Vec::new(),
            outputs: Vec::new(),
            ran,
            sandbox_level: SandboxLevel::NotApplicable,
            observed: Vec::new(),
            error,
            kept: Vec::new(),
        }
    }

    /// The changes of a recorded act, in this folder.
    fn changes_here(&self, came: &Recording) -> Vec<Change> {
        let here = |resource: &str| match resource.parse() {
            Ok(ResourceId::File(_, path)) => ResourceId::File(self.workspace, path).to_string(),
            Ok(ResourceId::Ref(_, name)) => ResourceId::Ref(self.workspace, name).to_string(),
            _ => resource.to_owned(),
        };
        let moved = |change: &Change| {
            let resource = change.resource.as_ref().map(|text| here(text));
            Change { resource, before_image: None, ..change.clone() }
        };
        came.changes.iter().map(moved).collect()
    }

    fn leave(&self, changes: &[Change]) {
        let mut played = self.world.played();
        for change in changes {
            let resource = change.resource.shown().and_then(|text| text.parse::<ResourceId>().ok());
            if let Some(resource) = resource {
                played.left.insert(place_of(&resource), change.after.clone());
            }
        }
    }
}

impl Look for RecordedExecutors {
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        let look = |resource: &ResourceId| Fingerprint {
            resource: resource.clone(),
            state: self.world.found(resource),
        };
        resources.iter().map(look).collect()
    }

    fn before_images<'a>(&'a self, items: &[ChangeItem]) -> BeforeImages<'a> {
        let lost = items.iter().filter_map(|item| match item {
            ChangeItem::Write { path, prior: Prior::Sha256(sha256), .. }
            | ChangeItem::Delete { path, prior: Prior::Sha256(sha256) } => Some((path.clone(), *sha256)),
            _ => None,
        });
        let image = |(path, sha256): (RelPath, Digest)| match self.bytes(&sha256) {
            Some(bytes) => Ok((path, sha256, bytes)),
            None => Err(format!("the bytes of `{path}` are not in the recording")),
        };
        Box::new(lost.map(image).collect::<Vec<Result<_, String>>>().into_iter())
    }

    fn can_keep(&self, _: &[ChangeItem]) -> Result<(), String> {
        Ok(())
    }

    fn texts(&self, paths: &[RelPath]) -> BTreeMap<Digest, Vec<u8>> {
        let text = |path: &RelPath| {
            let there = self.world.found(&ResourceId::File(self.workspace, path.clone()));
            let Found::File { sha256, .. } = there else { return None };
            Some((sha256, self.bytes(&sha256)?))
        };
        paths.iter().filter_map(text).collect()
    }

    fn reach(&self, action: &Action) -> Reach {
        self.world.about(action).and_then(|came| came.reach.clone()).unwrap_or_default()
    }

    fn head(&self) -> Result<Head, String> {
        Err("version control is not recorded".to_owned())
    }

    fn files_seen(&self, _: &[String]) -> Result<BTreeMap<RelPath, String>, Unseen> {
        Ok(BTreeMap::new())
    }

    fn ref_seen(&self, _: &str) -> Result<Option<String>, Unseen> {
        Ok(None)
    }
}

impl Execute for RecordedExecutors {
    fn perform(
        &self,
        _: Authorization,
        request: &ActionRequest,
        _: &dyn Fn() -> bool,
        _: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        let next = action_digest(&request.action).ok().and_then(|digest| {
            let mut played = self.world.played();
            let at = self.world.telling(&played, &request.action, &digest)?;
            if let Some(done) = played.done.get_mut(at) {
                *done = true;
            }
            self.world.acts.get(at)
        });
        let Some(act) = next else {
            self.world.diverge(&request.action.as_tool().one_line());
            return self.outcome(request, ResultCode::Failed, Some(NOT_RECORDED.to_owned()));
        };
        let came = &act.came;
        let code = came.result_code.unwrap_or(ResultCode::Failed);
        let mut outcome = self.outcome(request, code, came.error.clone());
        outcome.changes = self.changes_here(came);
        outcome.outputs = came.outputs.iter().filter_map(super::recording::RecordedOutput::output).collect();
        outcome.observed.clone_from(&came.observed);
        outcome.sandbox_level = came.sandbox_level.unwrap_or(SandboxLevel::NotApplicable);
        outcome.ran.exit_code = came.exit_code;
        self.leave(&outcome.changes);
        outcome
    }

    fn settle(&self, _: &ActionRequest, before: &StateWitness) -> Settled {
        Settled { before: before.fingerprints.clone(), ..Settled::default() }
    }

    fn roll_forward(&self, _: Authorization, request: &ActionRequest, _: &Settled) -> Outcome {
        self.outcome(request, ResultCode::Failed, Some(NOT_RECORDED.to_owned()))
    }

    fn forget(&self, _: ActionRequestId) -> Result<(), String> {
        Ok(())
    }
}

impl StagedView for RecordedExecutors {
    fn stageable(&self, action: &Action) -> Result<(), String> {
        match self.world.about(action) {
            Some(Recording { staged: Some(_), .. }) => Ok(()),
            Some(Recording { not_staged: Some(why), .. }) => Err(why.clone()),
            _ => Err(NOT_RECORDED.to_owned()),
        }
    }

    fn stage(
        &self,
        _: AttemptId,
        action: &Action,
        _: &dyn Fn() -> bool,
        _: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged> {
        let cannot = || Unstaged::Cannot(NOT_RECORDED.to_owned());
        let came = self.world.about(action).ok_or_else(cannot)?;
        let output = |output: &Option<super::recording::RecordedOutput>| {
            output.as_ref().and_then(super::recording::RecordedOutput::output).ok_or_else(cannot)
        };
        let (transcript, diff) = (output(&came.transcript)?, output(&came.diff)?);
        let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
        let changes = value(&diff.bytes).get_mut("changes").map(serde_json::Value::take).unwrap_or_default();
        let said = value(&transcript.bytes);
        let text = |name: &str| said.get(name).and_then(|v| v.as_str()).unwrap_or_default();
        let printed = match said.get("answer") {
            Some(answer) => effects::words_of(answer),
            None => format!("{}{}", text("stdout"), text("stderr")),
        };
        let from = printed.char_indices().rev().nth(PRINTED_CHARS).map_or(0, |(at, _)| at);
        Ok(Staging {
            staged: came.staged.clone().ok_or_else(cannot)?,
            changes: serde_json::from_value(changes).unwrap_or_default(),
            transcript,
            diff,
            printed_bytes: printed.len() as u64,
            printed: printed.get(from..).unwrap_or_default().to_owned(),
            reach: came.reach.clone(),
        })
    }

    fn staged_bytes(&self, _: AttemptId, path: &RelPath, sha256: &Digest) -> Result<Vec<u8>, String> {
        self.bytes(sha256).ok_or_else(|| format!("the bytes of `{path}` are not in the recording"))
    }

    fn unstage(&self, _: AttemptId) -> Result<(), String> {
        Ok(())
    }
}

impl Servers for RecordedExecutors {
    fn look_at_server(&self, server: &str, _: &ServerLaunch) -> Result<(ServerLaunch, ToolManifest), String> {
        let known = self.servers.get(server).ok_or_else(|| NOT_RECORDED.to_owned())?;
        Ok((known.launch.clone(), known.manifest.clone()))
    }

    fn resource_seen(
        &self,
        _: &ServerRegistration,
        _: &str,
        _: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String> {
        Err(NOT_RECORDED.to_owned())
    }

    fn end_servers(&self, _: AttemptId) {}

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        effects::ToolServers::fits(&toolservers::McpClient, schema, value)
    }
}

#[cfg(test)]
mod tests;
