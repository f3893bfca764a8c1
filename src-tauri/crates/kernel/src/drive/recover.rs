//! Dispatched, and nobody wrote down how it ended: look, reconcile, and only then go on (HK-19.3, recovery.md 1).

use super::{DriveOutcome, Then};
use crate::Error;
use crate::decide::{Settling, settling};
use crate::folders::FolderTurn;
use crate::kernel::{Cell, Kernel};
use crate::state::{Stage, TaskState};
use acts::{Action, ActionRequest};
use effects::{Outcome, Settled};
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::grant::CapabilityGrant;
use model::principal::PrincipalType;
use model::receipt::{Change, ItemOutcome, Ran, ResultCode, SandboxLevel};
use model::witness::{Fingerprint, Found, StateWitness};
use model::{RelPath, ResourceId, Sensitive, UnixMs};
use std::collections::BTreeMap;

impl Kernel {
    /// Establishes what became of the act in hand. It is never run again; items of a change set that were
    /// certainly not done are completed under the same grant while that and the approval still hold.
    pub(super) fn settle(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let state = self.lock_task(cell)?;
        let act = self.act(&state)?.clone();
        let request = self.request_in_hand(&state)?;
        let is_accompanied = state.is_accompanied();
        if let (Action::Observe(_), false) = (&request.action, is_accompanied) {
            drop(state);
            return self.look_again(cell);
        }
        let turn = match self.turn(&state, &request, self.folders.over())? {
            Ok(turn) => turn.map(FolderTurn::begin),
            Err(root) => {
                let task_id = state.task.task_id;
                drop(state);
                self.wait_for_folder(cell, task_id, &root)?;
                return Ok(None);
            }
        };
        let executors = self.executors(&state)?;
        let dispatched_at = match act.stage {
            Stage::Dispatched { at } => Some(at),
            _ => None,
        };
        let before: StateWitness = match &act.witness {
            Some(witness) => self.read_object(&state, witness.artifact.artifact_id)?,
            None => self.witness_of(&request, Vec::new(), dispatched_at.unwrap_or(UnixMs(0)))?,
        };
        let mut settled = executors.settle(&request, &before);
        if let Action::Observe(_) = request.action {
            // Others of the same answer come after it: the model is told of this one with them, and may look again.
            let late = self.now_of(&state);
            let outcome = self.outcome_of(&request, &settled, ResultCode::Failed, dispatched_at, late)?;
            drop(state);
            return self.observed(cell, request, outcome, true);
        }
        if let Some(outcome) = settled.outcome.take() {
            drop(state);
            let standing = self.observed(cell, request, outcome, true);
            drop(turn);
            return standing;
        }
        let now = self.ports.clock.now();
        let late = self.now_of(&state);
        let grant = self.grant_in_hand(&state)?;
        // Under a clock that was set back since, nobody can tell whether it still holds: what is there is concluded.
        let holds = (grant.not_before..grant.expires_at).contains(&now) && !self.is_revoked(&state, &grant);
        // Who stopped the task has nothing of it done again.
        let holds = holds && !(settled.repeats && state.cancel_requested.is_some());
        let outcome = match settling(&settled, request.staged.is_some(), holds) {
            Settling::Unknown => {
                self.outcome_of(&request, &settled, ResultCode::UnknownOutcome, dispatched_at, late)?
            }
            Settling::Conclude(code) => self.outcome_of(&request, &settled, code, dispatched_at, late)?,
            Settling::RollForward => {
                // This use of the grant is the one under way: it is not counted twice.
                let uses = self.reader.grant_uses(grant.grant_id)?.saturating_sub(1);
                let authorization = governance::authorize(&grant, &request, uses, now)?;
                executors.roll_forward(authorization, &request, &settled)
            }
        };
        drop(state);
        let standing = self.observed(cell, request, outcome, true);
        drop(turn);
        standing
    }

    /// A look has no effect: it is simply taken again (HK-19.5).
    fn look_again(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let mut tx = self.begin_tx(cell, Point::EffectObserve, PrincipalType::System)?;
        tx.set_attempt(AttemptStatus::Observing, "interrupted while looking")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "looks again")?;
        self.go_through(cell, tx, Then::Commit)
    }

    fn is_revoked(&self, state: &TaskState, grant: &CapabilityGrant) -> bool {
        state.grants.get(&grant.grant_id).is_some_and(|record| record.revoked)
            || self.is_standing_revoked(grant.standing.as_ref())
    }

    pub(super) fn grant_in_hand(&self, state: &TaskState) -> Result<CapabilityGrant, Error> {
        let id = self
            .act(state)?
            .authority
            .grant
            .ok_or_else(|| Error::Broken("dispatched without a grant".to_owned()))?;
        let record =
            state.grants.get(&id).ok_or_else(|| Error::Broken(format!("grant `{id}` is missing")))?;
        self.read_object(state, record.artifact.artifact_id)
    }

    /// An outcome in the words of what was found, without any further act.
    fn outcome_of(
        &self,
        request: &ActionRequest,
        settled: &Settled,
        result_code: ResultCode,
        dispatched_at: Option<UnixMs>,
        finished_at: UnixMs,
    ) -> Result<Outcome, Error> {
        let transcript = settled.transcript.as_ref();
        let bytes = seal::canon::to_canonical(request)?;
        let mut outputs = Vec::new();
        if let Some(t) = transcript {
            let mut printed = t.stdout.clone();
            printed.extend_from_slice(&t.stderr);
            outputs.push(effects::Output {
                kind: ArtifactKind::CommandTranscript,
                media_type: "text/plain; charset=utf-8".to_owned(),
                bytes: printed,
                about: "what the command had printed before the interruption".to_owned(),
            });
        }
        let error = match result_code {
            ResultCode::UnknownOutcome => {
                Some("interrupted, and it cannot be told whether it happened".to_owned())
            }
            ResultCode::Succeeded => None,
            _ => Some("interrupted; what had not been done was left undone".to_owned()),
        };
        Ok(Outcome {
            result_code,
            changes: settled.changes.iter().cloned().chain(changes_of(settled)).collect(),
            outputs,
            ran: Ran {
                executor: request.action.executor(),
                request_sha256: seal::Digest::of(&bytes),
                argv: None,
                executable_sha256: None,
                exit_code: transcript.and_then(|t| t.exit_code),
                started_at: dispatched_at.unwrap_or(finished_at),
                finished_at,
            },
            sandbox_level: match request.action {
                Action::Command(_) => self.ports.executors.sandbox(),
                _ => SandboxLevel::Beneath,
            },
            observed: settled
                .notes
                .iter()
                .cloned()
                .chain(transcript.into_iter().flat_map(|t| t.notes.clone()))
                .collect(),
            error,
            kept: settled.kept.clone(),
        })
    }
}

/// Item by item, from what was witnessed before and what is there now.
fn changes_of(settled: &Settled) -> Vec<Change> {
    let workspace = settled.now.iter().chain(&settled.before).find_map(|f| match &f.resource {
        ResourceId::File(workspace, _) => Some(*workspace),
        _ => None,
    });
    let Some(workspace) = workspace else { return Vec::new() };
    let (before, now) = (by_resource(&settled.before), by_resource(&settled.now));
    let change = |path: &RelPath, outcome: ItemOutcome| {
        let resource = ResourceId::File(workspace, path.clone());
        let found = |prints: &BTreeMap<&ResourceId, &Found>| {
            prints.get(&resource).map_or(Found::Absent, |found| (*found).clone())
        };
        let (before, now) = (found(&before), found(&now));
        Change {
            resource: Sensitive::from(resource.to_string()),
            after: if outcome == ItemOutcome::NotDone { before.clone() } else { now },
            before,
            before_image: None,
            outcome,
        }
    };
    settled
        .items
        .iter()
        .flat_map(|(item, outcome)| acts::changed_paths(item).map(|path| change(path, *outcome)))
        .collect()
}

fn by_resource(prints: &[Fingerprint]) -> BTreeMap<&ResourceId, &Found> {
    prints.iter().rev().map(|print| (&print.resource, &print.state)).collect()
}
