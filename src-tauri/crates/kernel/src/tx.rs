//! A transaction on one task: it holds the task's lock, says who acts, checks that nobody was faster, and is consumed by
//! its commit. Nothing is done to the world before: what follows a commit is handed out by it.
//!
//! The events of a transaction are folded as they are added, so that [`crate::next::next`] can be asked what comes next
//! before they are on disk. When they never get there, the task is folded from the log again.

use crate::Error;
use crate::drive::InHand;
use crate::folders::FolderTurn;
use crate::gatepass::{Ask, GatePass};
use crate::kernel::{Cell, Kernel};
use crate::ports::Executors;
use crate::state::{EventAt, TaskState};
use crate::writeup::{NewArtifact, Writeup};
use acts::ActionRequest;
use gate::KernelReceipt;
use governance::Authorization;
use ledger::Placed;
use model::artifact::ArtifactRef;
use model::attempt::{AttemptPhase, AttemptStatus};
use model::body::{AttemptStatusChanged, Body, StepStatusChanged, TaskStatusChanged};
use model::event::Actor;
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::{StepStatus, TaskStatus};
use model::{ActionRequestId, AttemptId, EventId, GrantId, Sensitive, StepId, TaskId, UnixMs};
use seal::Digest;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

/// What is done once a transaction is on disk.
#[allow(clippy::large_enum_variant, reason = "a handful for each commit")]
pub(crate) enum After {
    /// The executor starts.
    Perform(Arc<dyn Executors>, Box<ActionRequest>, Authorization, Option<FolderTurn>),
    /// What a staged run left is dropped.
    Unstage(AttemptId),
    /// An attempt is over: the servers of tools that it has called are ended.
    EndServers(AttemptId),
    /// Whoever waited for child tasks is gone: they are cancelled.
    CancelChildren(Vec<TaskId>),
    /// How an act went is on record: what was kept to settle it by is dropped.
    Forget(ActionRequestId),
    /// The task's head is signed.
    Checkpoint,
}

/// A task that is locked, its state perhaps ahead of its log.
pub(crate) struct Locked<'k> {
    cell: &'k Cell,
    state: MutexGuard<'k, TaskState>,
    is_ahead: bool,
}

impl Deref for Locked<'_> {
    type Target = TaskState;

    fn deref(&self) -> &TaskState {
        &self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if self.is_ahead {
            self.cell.stale.store(true, Ordering::SeqCst);
        }
    }
}

/// A transaction on one task.
pub(crate) struct Tx<'k> {
    kernel: &'k Kernel,
    locked: Locked<'k>,
    w: Writeup<'k>,
    folded: usize,
    broken: Option<Error>,
    gate: Option<GatePass<'k>>,
    after: Vec<After>,
    /// What this transaction knows of the act in hand beside what its events say.
    pub(crate) hand: InHand,
}

/// A transaction that is on disk.
pub(crate) struct Committed<'k> {
    /// The task, still locked.
    pub(crate) state: Locked<'k>,
    /// What is to be done now.
    pub(crate) after: Vec<After>,
    /// Every event of it.
    pub(crate) placed: Vec<Placed>,
}

impl Kernel {
    /// Begins a transaction on a task as one of the store's own principals.
    ///
    /// # Errors
    /// When the task cannot be read.
    pub(crate) fn begin_tx<'k>(
        &'k self,
        cell: &'k Cell,
        point: Point,
        actor: PrincipalType,
    ) -> Result<Tx<'k>, Error> {
        let actor = self.actor(actor)?;
        let state = self.lock_task(cell)?;
        Ok(self.tx(cell, state, point, actor))
    }

    /// A transaction on a task that is locked already.
    pub(crate) fn tx<'k>(
        &'k self,
        cell: &'k Cell,
        state: MutexGuard<'k, TaskState>,
        point: Point,
        actor: Actor,
    ) -> Tx<'k> {
        let w = self.writeup(point, &state, actor);
        self.tx_from(cell, state, w)
    }

    /// A transaction that goes on with what was begun in another stream.
    pub(crate) fn tx_from<'k>(
        &'k self,
        cell: &'k Cell,
        state: MutexGuard<'k, TaskState>,
        w: Writeup<'k>,
    ) -> Tx<'k> {
        let locked = Locked { cell, state, is_ahead: false };
        let (broken, gate, after) = (None, None, Vec::new());
        let hand = InHand { seen: self.folders.over(), ..InHand::default() };
        Tx { kernel: self, locked, w, folded: 0, broken, gate, after, hand }
    }
}

impl Deref for Tx<'_> {
    type Target = TaskState;

    fn deref(&self) -> &TaskState {
        &self.locked.state
    }
}

impl<'k> Tx<'k> {
    /// How many uses of a grant this counts.
    pub(crate) fn uses_of(&self, grant: GrantId) -> u32 {
        let uses = self.w.batch.consume.iter().filter(|(counted, _)| *counted == grant).count();
        u32::try_from(uses).unwrap_or(u32::MAX)
    }

    /// The task's cell.
    pub(crate) const fn cell(&self) -> &'k Cell {
        self.locked.cell
    }

    /// When it is.
    pub(crate) const fn now(&self) -> UnixMs {
        self.w.now
    }

    /// Who acts.
    pub(crate) const fn actor(&self) -> Actor {
        self.w.actor
    }

    /// Goes on as somebody else.
    ///
    /// # Errors
    /// When there is no such principal.
    pub(crate) fn act_as(&mut self, actor: PrincipalType) -> Result<(), Error> {
        self.w.actor = self.kernel.actor(actor)?;
        Ok(())
    }

    /// The durable boundary that the commit is.
    pub(crate) const fn at(&mut self, point: Point) {
        self.w.batch.point = point;
    }

    /// What follows concerns this attempt of this step.
    pub(crate) const fn scope(&mut self, step_id: StepId, attempt_id: AttemptId) {
        self.w.scope.step_id = Some(step_id);
        self.w.scope.attempt_id = Some(attempt_id);
    }

    /// The writeup, for what is written into other streams with the same commit.
    pub(crate) const fn writeup(&mut self) -> &mut Writeup<'k> {
        &mut self.w
    }

    /// Values that are taken out of everything.
    pub(crate) fn redactor(&self) -> &redact::Redactor {
        self.w.redactor()
    }

    /// Adds an event, caused by the one before it.
    pub(crate) fn push(&mut self, body: impl Into<Body>) -> EventId {
        self.push_keyed(None, body)
    }

    /// Adds an event whose repetition is harmless.
    pub(crate) fn push_keyed(&mut self, key: Option<String>, body: impl Into<Body>) -> EventId {
        let event_id = self.w.push_keyed(key, body);
        self.fold();
        event_id
    }

    /// Content that this transaction keeps with its commit, which nobody can read from the store before.
    pub(crate) fn kept(&self, sha256: &Digest) -> Option<&[u8]> {
        let found = self.w.batch.blobs.iter().find(|(digest, _)| digest == sha256);
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// Stores content and adds its `artifact.created`.
    ///
    /// # Errors
    /// When the content cannot be stored.
    pub(crate) fn artifact(&mut self, bytes: &[u8], new: NewArtifact) -> Result<ArtifactRef, Error> {
        let at = self.w.artifact(bytes, new);
        self.fold();
        at
    }

    /// As [`Tx::artifact`], for content that is stored already.
    pub(crate) fn artifact_of(&mut self, sha256: Digest, byte_size: u64, new: NewArtifact) -> ArtifactRef {
        let at = self.w.artifact_of(sha256, byte_size, new);
        self.fold();
        at
    }

    /// A canonical object as an artifact.
    ///
    /// # Errors
    /// When it has no canonical form or cannot be stored.
    pub(crate) fn object<T: serde::Serialize>(
        &mut self,
        value: &T,
        new: NewArtifact,
    ) -> Result<ArtifactRef, Error> {
        let at = self.w.object(value, new);
        self.fold();
        at
    }

    /// Stores content byte for byte.
    ///
    /// # Errors
    /// As [`Writeup::keep`].
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Result<Digest, Error> {
        self.w.keep(bytes)
    }

    /// Content of the store, also what is only written by this transaction.
    ///
    /// # Errors
    /// When it is not there.
    pub(crate) fn read(&self, sha256: &Digest) -> Result<Vec<u8>, Error> {
        match self.w.batch.blobs.iter().find(|(digest, _)| digest == sha256) {
            Some((_, bytes)) => Ok(bytes.clone()),
            None => Ok(self.kernel.artifacts.read(sha256)?),
        }
    }

    /// What is done once this is on disk.
    pub(crate) fn then(&mut self, after: After) {
        self.after.push(after);
    }

    /// Runs the request in hand through the gate, whose entries join this commit.
    ///
    /// # Errors
    /// [`Error::Halted`] when the gate is; [`Error::Gate`] when it cannot record it.
    pub(crate) fn pass(&mut self, ask: &Ask<'_>) -> Result<KernelReceipt, Error> {
        let mut gate = match self.gate.take() {
            Some(gate) => gate,
            None => GatePass::begin(self.kernel)?,
        };
        let receipt = gate.pass(self.kernel, &mut self.w, ask)?;
        self.gate = Some(gate);
        Ok(receipt)
    }

    /// What the gate did not let pass although it was allowed is on record, and nothing else of this transaction.
    ///
    /// # Errors
    /// When the ledger fails.
    pub(crate) fn keep_refusal(&mut self) -> Result<(), Error> {
        let entries = std::mem::take(&mut self.w.batch.entries);
        let session = self.kernel.session.clone();
        let mut refused = self.kernel.store_writeup(self.w.batch.point, self.w.actor, session, None)?;
        refused.batch.entries = entries;
        self.kernel.commit(refused)?;
        if let Some(gate) = self.gate.take() {
            gate.moved();
        }
        Ok(())
    }

    /// Folds what was added since into the state.
    fn fold(&mut self) {
        let own = self.locked.state.task.task_id;
        for draft in self.w.batch.drafts.iter().skip(self.folded) {
            self.folded = self.folded.saturating_add(1);
            if draft.task_id != own {
                continue;
            }
            let at = EventAt {
                task_id: own,
                task_seq: self.locked.state.seq.saturating_add(1),
                event_id: draft.event_id,
                attempt_id: draft.attempt_id,
                occurred_at: draft.occurred_at,
            };
            self.locked.is_ahead = true;
            if let Err(error) = self.locked.state.fold(&at, &draft.body) {
                self.broken.get_or_insert(error);
            }
        }
    }

    /// Forgets everything that was added, and begins again.
    ///
    /// # Errors
    /// When the task cannot be read.
    pub(crate) fn restart(&mut self, point: Point, actor: PrincipalType) -> Result<(), Error> {
        let actor = self.kernel.actor(actor)?;
        if self.locked.is_ahead {
            *self.locked.state = self.kernel.load(self.locked.state.task.task_id)?;
            self.locked.is_ahead = false;
        }
        self.w = self.kernel.writeup(point, &self.locked.state, actor);
        (self.folded, self.broken, self.gate) = (0, None, None);
        self.after.clear();
        Ok(())
    }

    /// Commits. Nothing of it is there when this fails.
    ///
    /// # Errors
    /// When what was added does not fit the task, somebody was faster, or the ledger fails.
    pub(crate) fn commit(mut self) -> Result<Committed<'k>, Error> {
        self.fold();
        let Self { kernel, mut locked, w, broken, gate, after, .. } = self;
        if let Some(error) = broken {
            return Err(error);
        }
        if w.batch.drafts.is_empty() {
            return Ok(Committed { state: locked, after, placed: Vec::new() });
        }
        let placed = kernel.commit(w)?;
        let last = placed.iter().rev().find(|p| p.event.task_id == locked.task.task_id);
        if last.is_some_and(|last| last.event.task_seq != locked.seq) {
            return Err(Error::Broken("the log and the state that was folded ahead differ".to_owned()));
        }
        locked.is_ahead = false;
        if let Some(gate) = gate {
            gate.moved();
        }
        Ok(Committed { state: locked, after, placed })
    }
}

/// Changes of status: each follows from the last.
impl Tx<'_> {
    pub(crate) fn set_task(
        &mut self,
        to: TaskStatus,
        reason: &str,
        note: Option<String>,
    ) -> Result<(), Error> {
        let (about_task_id, from) = (self.task.task_id, self.task.status);
        if from != to {
            model::transition::task(from, to)?;
            let (reason, note) = (reason.to_owned(), note.map(Sensitive::from));
            self.push(TaskStatusChanged { about_task_id, from, to, reason, note });
        }
        Ok(())
    }

    /// The step of the attempt at work.
    pub(crate) fn set_step(&mut self, to: StepStatus, reason: &str) -> Result<(), Error> {
        match self.step().map(|step| step.step_id) {
            Some(step_id) => self.set_step_of(step_id, to, reason),
            None => Ok(()),
        }
    }

    pub(crate) fn set_step_of(
        &mut self,
        about_step_id: StepId,
        to: StepStatus,
        reason: &str,
    ) -> Result<(), Error> {
        let from = self.steps.get(&about_step_id).map(|step| step.status);
        let from = from.ok_or_else(|| Error::Broken(format!("there is no step `{about_step_id}`")))?;
        if from != to {
            model::transition::step(from, to)?;
            self.push(StepStatusChanged { about_step_id, from, to, reason: reason.to_owned() });
        }
        Ok(())
    }

    pub(crate) fn set_attempt(&mut self, to: AttemptStatus, reason: &str) -> Result<(), Error> {
        let attempt = self.attempt().ok_or_else(|| Error::Broken("no attempt is at work".to_owned()))?;
        let (about_attempt_id, from) = (attempt.attempt.attempt_id, attempt.attempt.status);
        if from != to {
            model::transition::attempt(from, to)?;
            let (phase, reason) = (phase(to), reason.to_owned());
            self.push(AttemptStatusChanged { about_attempt_id, from, to, phase, reason });
        }
        Ok(())
    }

    /// Task and step wait (HK-12.4).
    pub(crate) fn block(&mut self, reason: &str) -> Result<(), Error> {
        self.set_task(TaskStatus::Blocked, reason, None)?;
        self.set_step(StepStatus::Blocked, reason)
    }

    /// Task and step go on.
    pub(crate) fn unblock(&mut self, reason: &str) -> Result<(), Error> {
        self.set_task(TaskStatus::Running, reason, None)?;
        self.set_step(StepStatus::Running, reason)
    }
}

/// The phase metadata that belongs to a status (HK-8.3-9).
const fn phase(status: AttemptStatus) -> AttemptPhase {
    match status {
        AttemptStatus::Created
        | AttemptStatus::Leased
        | AttemptStatus::CompilingContext
        | AttemptStatus::Reasoning
        | AttemptStatus::AwaitingInput => AttemptPhase::Planning,
        AttemptStatus::AwaitingPolicy => AttemptPhase::PolicyPending,
        AttemptStatus::AwaitingApproval => AttemptPhase::AwaitingApproval,
        AttemptStatus::Authorized => AttemptPhase::AuthorizedPreExec,
        AttemptStatus::Executing => AttemptPhase::Executing,
        AttemptStatus::Observing => AttemptPhase::Observing,
        AttemptStatus::ReceiptPending
        | AttemptStatus::Succeeded
        | AttemptStatus::Failed
        | AttemptStatus::Cancelled
        | AttemptStatus::Superseded => AttemptPhase::Settling,
    }
}
