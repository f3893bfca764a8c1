//! Approve what it did, not what it said: a command, or a tool of a server that changes files, that policy does not deny is
//! tried in a staged view before anybody is asked, and what it did there is what the request says (governance.md 5).
//!
//! A trial has no effect. That it starts, and what policy said of the words alone, is on record before; a host that dies
//! in between tries again. What it came to is in the request that is made of it, and the bytes wait in the spool.

use super::normalise::Normalised;
use super::progress::Lasting;
use super::several::Plan;
use super::{DriveOutcome, Then};
use crate::Error;
use crate::decide::may_be_tried;
use crate::kernel::{Cell, Kernel, lock};
use crate::next::{Next, next};
use crate::ports::Executors;
use crate::state::{TaskState, Turn};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{Action, ActionRequest};
use effects::{Staging, Unstaged};
use model::action::{ChangeItem, Prior};
use model::approval::{StagedChange, StagedView};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::body::{TrialEnded, TrialOutcome, TrialStarted};
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::ModelChoice;
use model::witness::{Fingerprint, Found};
use model::{ActionRequestId, AttemptId, PolicyResultId, ResourceId, Sensitive, WorkspaceId};
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

/// Bytes of unified lines that a packet holds itself; what goes beyond is in the artifact.
const PACKET_TEXT_BYTES: usize = 128 * 1024;

/// Characters of its output that a packet made anew shows.
const PRINTED_CHARS: usize = 4 * 1024;

/// What a trial came to, kept until the task goes on.
pub(crate) struct Tried {
    trial: ActionRequestId,
    known: Known,
}

/// What is known of a command before a person is asked.
#[allow(clippy::large_enum_variant, reason = "made and taken apart once for each command")]
pub(crate) enum Known {
    /// It ran in a staged view.
    Staged(Staging),
    /// It cannot; it would run in the folder itself, after the yes.
    NotStaged(String),
    /// It was tried and came to nothing: the proposer is told.
    Failed(String),
    /// The server of a tool says something else of it by now: why it was not called, and what it says.
    Changed(String, effects::Output),
    /// Policy says no by now, so nothing was tried.
    Forbidden,
}

/// Whether a command is tried before it becomes a request.
#[allow(clippy::large_enum_variant, reason = "made and taken apart once for each command")]
pub(crate) enum Trial {
    /// No; this is known of it.
    Not(Option<Known>),
    /// Yes, as soon as that is on disk.
    Started,
}

impl Kernel {
    /// Asks policy about a command in its words alone. What it does not deny is tried in a staged view, and that is on
    /// record before it starts; the request that comes of it is judged anew, with all that the command did.
    pub(super) fn trial_of(&self, tx: &mut Tx<'_>, command: &Action) -> Result<Trial, Error> {
        let executors = self.executors(tx)?;
        if let Err(why) = executors.stageable(command) {
            return Ok(Trial::Not(Some(not_staged(command, why))));
        }
        let wish = "to see what it would do";
        let Normalised { request, bytes, .. } = self.request_of(tx, &*executors, command.clone(), wish)?;
        let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let policy = self.ask_policy(tx, &request, Digest::of(&bytes), id, tx.now())?;
        if !may_be_tried(policy.verdict) {
            return Ok(Trial::Not(None));
        }
        tx.at(Point::TrialStart);
        tx.act_as(PrincipalType::Agent)?;
        let inputs = request.evidence_refs.clone();
        let request_at = tx.artifact(&bytes, NewArtifact::audit(ArtifactKind::ActionRequest).from(inputs))?;
        tx.act_as(PrincipalType::PolicyEngine)?;
        let new = NewArtifact::audit(ArtifactKind::PolicyResult).from([request_at.artifact_id]);
        let policy_result = tx.object(&policy, new)?;
        tx.push(TrialStarted {
            action_request_id: request.action_request_id,
            about_attempt_id: request.attempt_id,
            request: request_at,
            policy_result,
            verdict: policy.verdict,
            summary: Sensitive::from(request.action.as_tool().one_line()),
        });
        Ok(Trial::Started)
    }

    /// Tries the command in hand, without holding the task: a person may look, pause and cancel meanwhile.
    pub(super) fn try_command(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let (executors, request, known) = {
            let state = self.lock_task(cell)?;
            let Some(Turn::Trying { trial, .. }) = state.attempt().map(|attempt| &attempt.turn) else {
                return Err(Error::Broken("no command is to be tried".to_owned()));
            };
            let request: ActionRequest = self.read_object(&state, trial.request.artifact_id)?;
            let tried = lock(&cell.tried).take().filter(|tried| tried.trial == request.action_request_id);
            let known = match tried {
                Some(tried) => Some(tried.known),
                // Another host may have begun it, under rules of then.
                None => {
                    let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
                    let now = self.now_of(&state);
                    let policy = self.ask_policy(&state, &request, trial.request.sha256, id, now)?;
                    (!may_be_tried(policy.verdict)).then_some(Known::Forbidden)
                }
            };
            (self.executors(&state)?, request, known)
        };
        let trial = request.action_request_id;
        let known = match known {
            Some(known) => known,
            None => self.staged_run(cell, &*executors, &request)?,
        };
        let mut tx = self.begin_tx(cell, Point::ActionJudge, PrincipalType::Executor)?;
        if next(&tx, tx.now()) != Next::Try || self.winding.load(Ordering::SeqCst) {
            // Whoever stopped it has said so in the log: it goes on with what it came to, or is tried again; an attempt
            // that was superseded meanwhile does neither.
            let attempt = tx.attempt().map(|attempt| &attempt.attempt);
            if attempt.is_none_or(|at| at.attempt_id != request.attempt_id || at.status.is_ended()) {
                self.unstage(&tx, request.attempt_id);
            } else if matches!(known, Known::Staged(_) | Known::NotStaged(_)) {
                *lock(&cell.tried) = Some(Tried { trial, known });
            }
            return Ok(None);
        }
        let then = self.follow_trial(&mut tx, &request, known)?;
        self.go_through(cell, tx, then)
    }

    fn staged_run(
        &self,
        cell: &Cell,
        executors: &dyn Executors,
        request: &ActionRequest,
    ) -> Result<Known, Error> {
        let attempt = request.attempt_id;
        let lasting = Lasting::new(self, cell, request.task_id, request.action_request_id);
        let mut lasting = lasting.of(&request.action);
        let stop = || cell.stop.load(Ordering::SeqCst) || self.winding.load(Ordering::SeqCst);
        Ok(match executors.stage(attempt, &request.action, &stop, &mut |told| lasting.hear(told)) {
            Ok(staging) => match self.fit_to_keep(executors, attempt, staging) {
                Ok(staging) => Known::Staged(staging),
                Err(why) => {
                    executors.unstage(attempt).map_err(Error::Effects)?;
                    Known::Failed(why)
                }
            },
            Err(Unstaged::Cannot(why)) => not_staged(&request.action, why),
            Err(Unstaged::Failed(why)) => Known::Failed(why),
            Err(Unstaged::Changed(why, now)) => Known::Changed(why, now),
        })
    }

    /// What a trial came to becomes the request, or is told to whoever proposed the command.
    fn follow_trial(&self, tx: &mut Tx<'_>, request: &ActionRequest, known: Known) -> Result<Then, Error> {
        super::asked::close_questions(tx);
        super::sampled::close_sampled(tx);
        let known = match known {
            Known::Changed(why, now) => {
                self.note_changed(tx, &request.action, &now.bytes)?;
                Known::Failed(why)
            }
            known => known,
        };
        let change = match self.contract(tx)?.model {
            ModelChoice::Tools { change } => Some(change),
            _ => None,
        };
        tx.hand.trial = match tx.attempt().map(|attempt| &attempt.turn) {
            Some(Turn::Trying { trial, .. }) => Some(trial.request.artifact_id),
            _ => None,
        };
        let (outcome, reason) = match &known {
            Known::Staged(_) => (TrialOutcome::Staged, None),
            Known::NotStaged(why) => (TrialOutcome::NotStaged, Some(why.clone())),
            Known::Failed(why) | Known::Changed(why, _) => (TrialOutcome::Failed, Some(why.clone())),
            Known::Forbidden => (TrialOutcome::Failed, Some("policy does not allow it any more".to_owned())),
        };
        let action_request_id = request.action_request_id;
        tx.push(TrialEnded { action_request_id, outcome, reason: reason.map(Sensitive::from) });
        let known = Some(known).filter(|known| !matches!(known, Known::Forbidden));
        if let Some(change) = change {
            return self.request_planned(tx, change, known);
        }
        let (answer, proposals) = self.stored_answer(tx)?;
        let taken = tx.attempt().map_or(0, |attempt| attempt.taken);
        let plan = Plan::of(&proposals.map_err(Error::Broken)?, taken);
        self.follow_answer(tx, &answer, plan, known)
    }

    /// A staged run without secrets in its words; none when one stands in what it would leave behind, because those
    /// bytes are what a person allows and cannot be changed.
    fn fit_to_keep(
        &self,
        executors: &dyn Executors,
        attempt: AttemptId,
        mut staging: Staging,
    ) -> Result<Staging, String> {
        let redactor = self.ports.redactor.now();
        for item in &staging.staged.items {
            if let ChangeItem::Write { path, content_sha256, .. } = item
                && !redactor.is_empty()
            {
                let held = redactor.holds(&executors.staged_bytes(attempt, path, content_sha256)?);
                if !held.is_empty() {
                    let named = crate::redaction::named(held);
                    return Err(format!(
                        "nothing was done: `{path}` would hold the value of {named}, which Hermit does not keep"
                    ));
                }
            }
        }
        let clean = |bytes: &mut Vec<u8>, shapes: bool| -> Result<Digest, String> {
            let clean = crate::redaction::clean(&redactor, bytes, shapes).map_err(|e| e.to_string())?;
            *bytes = clean.rest.into_owned();
            Ok(Digest::of(bytes))
        };
        staging.staged.transcript_sha256 = clean(&mut staging.transcript.bytes, true)?;
        staging.staged.diff_sha256 = clean(&mut staging.diff.bytes, false)?;
        staging.printed = redactor.text(&staging.printed).rest.into_owned();
        for change in &mut staging.changes {
            if let Some(text) = &mut change.text {
                *text = redactor.values(text).rest.into_owned();
            }
        }
        let words = staging.staged.notes.iter_mut().chain(&mut staging.staged.error);
        words.for_each(|text| *text = redactor.values(text).rest.into_owned());
        Ok(staging)
    }

    /// Puts what a staged run did, or why there was none, into the request.
    pub(crate) fn with_staged(
        &self,
        normalised: &mut Normalised,
        workspace: WorkspaceId,
        executors: &dyn Executors,
        known: &Known,
    ) -> Result<(), Error> {
        let request = &mut normalised.request;
        match known {
            Known::NotStaged(why) | Known::Failed(why) | Known::Changed(why, _) => {
                request.not_staged = Some(why.clone());
            }
            Known::Forbidden => {}
            Known::Staged(staging) => {
                let items = &staging.staged.items;
                request.staged = Some(staging.staged.clone());
                request.reach = staging.reach.clone();
                request.target_resources = acts::resources_of(
                    workspace,
                    &request.action,
                    request.staged.as_ref(),
                    request.reach.as_ref(),
                );
                let observable = governance::witness::observable(&request.target_resources);
                normalised.found = executors.observe(&observable);
                let made = acts::folders::foreseen(workspace, items, |places| executors.observe(places));
                request.expected_effects.extend(acts::items::expected(workspace, items, &normalised.found));
                request.expected_effects.extend(made);
                request.reversibility_hint = request.known_way_back();
                request.action_class = request.gravest();
                normalised.staging = Some(staging.clone());
            }
        }
        normalised.bytes = seal::canon::to_canonical(request)?;
        Ok(())
    }

    /// Stores what a person will be shown of a staged run: its transcript and its difference.
    pub(super) fn keep_view(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        staging: &Staging,
    ) -> Result<StagedView, Error> {
        let mut keep = |output: &effects::Output| {
            let mut new = NewArtifact::audit(output.kind)
                .class(ArtifactClass::Evidence)
                .of_act(request)
                .trust(TrustTier::Untrusted)
                .from(request.evidence_refs.clone());
            new.alias = Some(output.about.clone());
            tx.artifact(&output.bytes, new)
        };
        let (transcript, diff) = (keep(&staging.transcript)?, keep(&staging.diff)?);
        let mut changes = staging.changes.clone();
        fit(&mut changes);
        Ok(StagedView {
            diff,
            transcript,
            changes,
            printed: staging.printed.clone(),
            printed_bytes: staging.printed_bytes,
        })
    }

    /// The view of a request that was judged before: made again from its stored artifacts.
    pub(super) fn view_again(
        &self,
        state: &TaskState,
        request: &ActionRequest,
    ) -> Result<Option<StagedView>, Error> {
        let Some(staged) = &request.staged else { return Ok(None) };
        let at = |sha256: &Digest| {
            let artifact = state.artifacts.values().find(|a| a.content_hash == *sha256);
            let artifact = artifact
                .ok_or_else(|| Error::Broken("what a staged run showed is not in the log".to_owned()))?;
            Ok::<_, Error>(ArtifactRef { artifact_id: artifact.artifact_id, sha256: *sha256 })
        };
        let (diff, transcript) = (at(&staged.diff_sha256)?, at(&staged.transcript_sha256)?);
        let broken = |e: serde_json::Error| Error::Broken(format!("what a staged run showed: {e}"));
        let read = |at: &ArtifactRef| -> Result<serde_json::Value, Error> {
            serde_json::from_slice(&self.artifacts.read(&at.sha256)?).map_err(broken)
        };
        let changes = read(&diff)?.get_mut("changes").map(serde_json::Value::take).unwrap_or_default();
        let mut changes: Vec<StagedChange> = serde_json::from_value(changes).map_err(broken)?;
        fit(&mut changes);
        let said = read(&transcript)?;
        let text = |name: &str| said.get(name).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        let bytes = |name: &str| said.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default();
        let printed = match said.get("answer") {
            Some(answer) => effects::words_of(answer),
            None => text("stdout") + &text("stderr"),
        };
        let from = printed.char_indices().rev().nth(PRINTED_CHARS).map_or(0, |(at, _)| at);
        Ok(Some(StagedView {
            diff,
            transcript,
            changes,
            printed: printed.get(from..).unwrap_or_default().to_owned(),
            printed_bytes: match said.get("answer") {
                Some(answer) => effects::words_of(answer).len() as u64,
                None => bytes("stdout_bytes").saturating_add(bytes("stderr_bytes")),
            },
        }))
    }

    /// Why a staged run cannot be carried over any more: places that are not as the command saw them, bytes that
    /// are gone. Empty when it can.
    pub(super) fn staged_stale(
        &self,
        request: &ActionRequest,
        executors: &dyn Executors,
        found: &[Fingerprint],
    ) -> Vec<String> {
        if request.staged.is_none() {
            return Vec::new();
        }
        let mut stale = Vec::new();
        let found = by_path(found);
        let mut made: BTreeSet<&model::RelPath> = BTreeSet::new();
        for item in request.items() {
            let (path, prior) = match item {
                ChangeItem::Write { path, prior, .. }
                | ChangeItem::Link { path, prior, .. }
                | ChangeItem::Delete { path, prior } => (path, prior),
                ChangeItem::Folder { path, was: None, .. } => (path, &Prior::Absent),
                ChangeItem::Folder { path, was: Some(_), .. } => (path, &Prior::EmptyFolder),
                ChangeItem::Move { from, prior, .. } => (from, prior),
            };
            // What an item before this one has made or taken away is not there yet.
            if !made.contains(path) && !holds(prior, &found, path) {
                stale.push(format!("`{path}` is not as it was when the command ran"));
            }
            if let ChangeItem::Write { content_sha256, .. } = item
                && let Err(why) = executors.staged_bytes(request.attempt_id, path, content_sha256)
            {
                stale.push(why);
            }
            match item {
                ChangeItem::Delete { .. } | ChangeItem::Folder { was: None, .. } => {
                    made.insert(path);
                }
                ChangeItem::Move { to, .. } if !made.contains(to) && !holds(&Prior::Absent, &found, to) => {
                    stale.push(format!("something is at `{to}` now"));
                }
                ChangeItem::Move { .. }
                | ChangeItem::Write { .. }
                | ChangeItem::Folder { .. }
                | ChangeItem::Link { .. } => {}
            }
        }
        stale
    }

    /// The bytes of a staged run go to the store with the dispatch: from then on the log holds them.
    pub(super) fn keep_staged(
        &self,
        tx: &mut Tx<'_>,
        executors: &dyn Executors,
        request: &ActionRequest,
    ) -> Result<(), Error> {
        for item in request.staged.iter().flat_map(|staged| &staged.items) {
            if let ChangeItem::Write { path, content_sha256, .. } = item {
                let bytes = executors
                    .staged_bytes(request.attempt_id, path, content_sha256)
                    .map_err(Error::Effects)?;
                tx.keep(&bytes)?;
            }
        }
        Ok(())
    }
}

/// What cannot be staged here: a command may run in the folder itself, after a yes; a tool of a server may not.
fn not_staged(action: &Action, why: String) -> Known {
    match action {
        Action::Call(_) => Known::Failed(format!(
            "nothing was done: a tool that changes files is called in a copy of the folder, and there is none here: {why}"
        )),
        _ => Known::NotStaged(why),
    }
}

/// Leaves out texts that are too long for a packet, and says so.
fn fit(changes: &mut [StagedChange]) {
    let mut room = PACKET_TEXT_BYTES;
    for change in changes {
        let Some(text) = &change.text else { continue };
        match room.checked_sub(text.len()) {
            Some(rest) => room = rest,
            None => {
                change.no_text = Some(format!("{} lines, too many for here", text.lines().count()));
                change.text = None;
            }
        }
    }
}

pub(super) fn by_path(found: &[Fingerprint]) -> BTreeMap<&model::RelPath, &Found> {
    let of = found.iter().rev().filter_map(|print| match &print.resource {
        ResourceId::File(_, path) => Some((path, &print.state)),
        _ => None,
    });
    of.collect()
}

pub(super) fn holds(prior: &Prior, found: &BTreeMap<&model::RelPath, &Found>, path: &model::RelPath) -> bool {
    match (prior, found.get(path)) {
        (Prior::Absent, Some(Found::Absent)) | (Prior::EmptyFolder, Some(Found::Folder { .. })) => true,
        (Prior::Sha256(wanted), Some(Found::File { sha256, .. })) => wanted == sha256,
        (Prior::Link(wanted), Some(Found::Symlink { target_sha256 })) => wanted == target_sha256,
        _ => false,
    }
}
