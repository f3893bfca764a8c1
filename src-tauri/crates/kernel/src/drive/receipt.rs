//! Receipts: what was intended, authorised, run, changed, produced, observed, and whether it can be undone (HK-18.2).

use super::Then;
use super::judge::Came;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::{ApprovalRecord, Stage, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{Action, ActionRequest};
use effects::Outcome;
use model::action::{ActionClass, Reversibility};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{ArtifactSealed, KeyPurpose, ReceiptIssued, ReceiptsUndone};
use model::fault::Point;
use model::principal::PrincipalType;
use model::receipt::{
    Authorized, Change, PREDICATE_TYPE, Receipt, ReceiptClass, ReplayClass, ResultCode, RollbackInfo,
    STATEMENT_PAYLOAD_TYPE, STATEMENT_TYPE, SandboxLevel, Statement, Subject, Verifiability,
};
use model::slot::Absence;
use model::task::ModelChoice;
use model::witness::Found;
use model::{ActionRequestId, ReceiptId, Sensitive, Slot};
use seal::{Digest, dsse};
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// Seals a receipt and adds its event. `false` when its key is locked: then nothing was added.
    ///
    /// # Errors
    /// When it has no canonical form or cannot be stored.
    pub(crate) fn issue(
        &self,
        tx: &mut Tx<'_>,
        mut receipt: Receipt,
        about: Option<ActionRequestId>,
    ) -> Result<bool, Error> {
        let keyid = |purpose| lock(&self.store).keys.get(&purpose).map(|(keyid, _)| *keyid);
        let registered = keyid(KeyPurpose::Receipt).is_some();
        let signer = self.ports.keys.receipt();
        if registered && signer.is_none() {
            return Ok(false);
        }
        receipt.signer_ref = Slot::or(signer.as_ref().map(|s| s.public().keyid()), Absence::Unavailable);
        receipt.verifiability =
            if signer.is_some() { Verifiability::Signed } else { Verifiability::HashChained };
        receipt.manifest_ref = signer.as_ref().and_then(|_| keyid(KeyPurpose::Manifest));
        let statement = Statement {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: subjects(&receipt),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: receipt.clone(),
        };
        let plain = serde_json::to_value(&statement).map_err(|e| Error::Broken(e.to_string()))?;
        let (concealed, disclosures) = seal::disclose::conceal(plain, "", &mut || self.ports.entropy.salt())?;
        let payload = seal::canon::canonical_value(&concealed)?;
        let envelope = match &signer {
            Some(signer) => dsse::sign(STATEMENT_PAYLOAD_TYPE, &payload, &**signer)?.to_bytes()?,
            None => payload.clone(),
        };
        tx.writeup().batch.disclosures.extend(disclosures);
        let inputs = receipt.output_refs.iter().chain(&receipt.input_refs).map(|r| r.artifact_id);
        let media =
            if signer.is_some() { "application/vnd.dsse.envelope.v1+json" } else { STATEMENT_PAYLOAD_TYPE };
        let new = NewArtifact::audit(ArtifactKind::ReceiptBundle).media(media).from(inputs);
        let at = tx.artifact(&envelope, new)?;
        // What an effect came to stands behind its receipt from now on.
        let outputs: BTreeSet<_> = receipt.output_refs.iter().map(|output| output.artifact_id).collect();
        for artifact_id in outputs.into_iter().filter(|_| about.is_some()) {
            if !tx.sealed.contains(&artifact_id) {
                tx.push(ArtifactSealed { artifact_id, by: receipt.receipt_id.to_string() });
            }
        }
        tx.push_keyed(
            Some(receipt.idempotency_key.clone()),
            ReceiptIssued {
                receipt_id: receipt.receipt_id,
                receipt_class: receipt.receipt_class,
                action_class: receipt.action_class,
                result_code: receipt.result_code,
                action_request_id: about,
                envelope: at,
                statement_sha256: Digest::of(&payload),
                reversibility: receipt.rollback.reversibility,
                rolls_back: receipt.rollback.rolls_back,
                verifiability: receipt.verifiability,
                summary: receipt.result_summary,
            },
        );
        Ok(true)
    }

    /// The receipt of an effect.
    pub(crate) fn effect_receipt(
        &self,
        tx: &Tx<'_>,
        request: &ActionRequest,
        outcome: &Outcome,
        outputs: &[ArtifactRef],
        result: &ArtifactRef,
    ) -> Result<Receipt, Error> {
        let mut changes = outcome.changes.clone();
        let images = name_images(tx, &mut changes);
        let rolls_back = match &request.action {
            Action::Rollback(acts::Rollback { receipt_id, .. }) => Some(*receipt_id),
            _ => None,
        };
        let reversibility = reversibility_of(request, outcome);
        let mut receipt = self.blank(tx, request.action_class)?;
        receipt.receipt_class = request.action.as_tool().receipt_class();
        receipt.changes = changes;
        receipt.output_refs = outputs.iter().chain(std::iter::once(result)).cloned().collect();
        let mut listed = BTreeSet::new();
        receipt.output_refs.retain(|output| listed.insert(output.artifact_id));
        receipt.observed = outcome.observed.iter().cloned().map(Sensitive::from).collect();
        receipt.ran = Slot::Value(outcome.ran.clone());
        receipt.rollback = RollbackInfo {
            reversibility,
            method: method_of(request, reversibility, &receipt.changes).to_owned(),
            prerequisites: vec!["every changed file is still as this receipt left it".to_owned()],
            artifact_refs: images,
            rolls_back,
        };
        receipt.result_code = outcome.result_code;
        receipt.result_summary = Sensitive::from(super::observe::summary_of(request, outcome));
        // What ran in a view is carried over byte for byte, as often as that is done.
        receipt.replay_class = match request.staged {
            Some(_) => ReplayClass::DeterministicReplay,
            None => request.action.as_tool().replay_class(),
        };
        receipt.sandbox_level = outcome.sandbox_level;
        receipt.idempotency_key = match outcome.result_code {
            ResultCode::UnknownOutcome => format!("receipt:{}:unknown", request.action_request_id),
            _ => format!("receipt:{}", request.action_request_id),
        };
        super::downgrade::receipted(tx, request, &mut receipt);
        Ok(receipt)
    }

    /// One receipt per attempt for what went to a model on another machine (reconciliation C15). `false` when its
    /// key is locked.
    pub(super) fn remote_receipt(&self, tx: &mut Tx<'_>) -> Result<bool, Error> {
        let Some(attempt) = tx.attempt().filter(|a| !a.remote_calls.is_empty()) else { return Ok(true) };
        let credentialed =
            matches!(self.choice(tx, &self.contract(tx)?)?, ModelChoice::Openai { secret: Some(_), .. });
        let class = if credentialed { ActionClass::CredentialedApiCall } else { ActionClass::NetworkWrite };
        let mut receipt = self.blank(tx, class)?;
        let decided = tx.decisions.iter().rev().find(|d| d.attempt_id == tx.current);
        receipt.decision_ref = Slot::or(decided.map(|d| d.decision_id), Absence::NotRequired);
        receipt.action_request_ref = Slot::NOT_REQUIRED;
        receipt.input_refs = attempt.remote_calls.iter().map(|(request, _)| request.clone()).collect();
        receipt.output_refs = attempt.remote_calls.iter().map(|(_, response)| response.clone()).collect();
        let calls = attempt.remote_calls.len();
        receipt.result_summary = Sensitive::from(format!("{calls} calls to a model on another machine"));
        receipt.rollback.reversibility = Reversibility::Irreversible;
        receipt.idempotency_key = format!("receipt:{}:remote", attempt.attempt.attempt_id);
        self.issue(tx, receipt, None)
    }

    /// A receipt with everything the act in hand already says of itself.
    pub(crate) fn blank(&self, tx: &Tx<'_>, action_class: ActionClass) -> Result<Receipt, Error> {
        let attempt = tx.attempt().ok_or_else(|| Error::Broken("a receipt without an attempt".to_owned()))?;
        let act = attempt.act();
        let by = act.map(|act| &act.authority);
        let approval = by.and_then(|by| by.approval).and_then(|id| tx.approvals.get(&id));
        let grant = by.and_then(|by| by.grant).and_then(|id| Some((id, tx.grants.get(&id)?)));
        let policy = act.and_then(|a| a.policy.as_ref());
        let validated = by.and_then(|by| by.validated.as_ref());
        let witness = validated.or(act.and_then(|a| Some(&a.witness.as_ref()?.artifact))).map(|at| at.sha256);
        let none = Absence::NotRequired;
        let skills = attempt.skill_texts.iter().cloned();
        let inputs = attempt.observed.iter().map(|o| o.artifact.clone()).chain(skills).collect();
        Ok(Receipt {
            receipt_id: ReceiptId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: attempt.attempt.step_id,
            attempt_id: attempt.attempt.attempt_id,
            receipt_class: ReceiptClass::ToolExecution,
            action_class,
            action_request_ref: Slot::or(act.map(|a| a.request.clone()), none),
            input_refs: inputs,
            environment_ref: Slot::or(attempt.environment.clone(), Absence::Unavailable),
            policy_result_ref: Slot::or(policy.map(|p| p.artifact.clone()), none),
            approval_ref: Slot::or(approval.map(|r| r.approval.approval_id), none),
            capability_grant_ref: Slot::or(grant.map(|(id, _)| id), none),
            decision_ref: Slot::or(by.and_then(|by| by.decision), none),
            authorized: Authorized {
                policy_result_sha256: Slot::or(policy.map(|p| p.artifact.sha256), none),
                approval_packet_sha256: Slot::or(approval.map(|r| r.approval.approval_packet_sha256), none),
                approval_decision_sha256: Slot::or(
                    approval.and_then(|r| r.envelope.as_ref()).map(|e| e.sha256),
                    none,
                ),
                capability_grant_sha256: Slot::or(grant.map(|(_, g)| g.artifact.sha256), none),
                witness_sha256: Slot::or(witness, none),
                audit_entry_sha256: Slot::or(by.and_then(|by| by.audit_entry), none),
                standing: by.and_then(|by| by.standing),
                first_decision_sha256: approval
                    .and_then(ApprovalRecord::first_of_two)
                    .map(|first| first.envelope.sha256),
            },
            ran: Slot::Absent(Absence::NotApplicable),
            changes: Vec::new(),
            output_refs: Vec::new(),
            observed: Vec::new(),
            rollback: RollbackInfo {
                reversibility: Reversibility::NoEffect,
                method: "none".to_owned(),
                prerequisites: Vec::new(),
                artifact_refs: Vec::new(),
                rolls_back: None,
            },
            result_code: ResultCode::Succeeded,
            result_summary: Sensitive::from(String::new()),
            created_at: tx.now(),
            replay_class: ReplayClass::ExplainOnly,
            verifiability: Verifiability::HashChained,
            sandbox_level: SandboxLevel::NotApplicable,
            signer_ref: Slot::Absent(Absence::Unavailable),
            manifest_ref: None,
            idempotency_key: String::new(),
        })
    }

    /// What a receipt needs and no event holds, kept for when its key opens.
    fn park_receipt(
        &self,
        tx: &mut Tx<'_>,
        about: ActionRequestId,
        outcome: &Outcome,
        outputs: &[ArtifactRef],
    ) -> Result<(), Error> {
        let parked = Parked {
            changes: outcome.changes.clone(),
            observed: outcome.observed.clone(),
            ran: outcome.ran.clone(),
            error: outcome.error.clone(),
            outputs: outputs.to_vec(),
        };
        let bytes = serde_json::to_vec(&parked).map_err(|e| Error::Broken(e.to_string()))?;
        let mut new = NewArtifact::audit(ArtifactKind::ActionResult);
        new.alias = Some(parked_of(about));
        tx.artifact(&bytes, new)?;
        Ok(())
    }

    /// The outcome in hand gets its receipt; when its key is locked, what the receipt needs is stored and waits.
    pub(super) fn receipt_in_hand(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let fresh = tx.hand.came.take();
        let is_fresh = fresh.is_some();
        let came = match fresh {
            Some(came) => came,
            None => {
                tx.at(Point::ReceiptIssue);
                tx.act_as(PrincipalType::Executor)?;
                self.parked(tx)?
            }
        };
        let Came { request, outcome, outputs, result } = &came;
        let receipt = self.effect_receipt(tx, request, outcome, outputs, result)?;
        let by = receipt.receipt_id;
        if !self.issue(tx, receipt, Some(request.action_request_id))? {
            return match (is_fresh, &request.action) {
                (false, _) => Ok(Then::KeyLocked),
                // Memory is written by the same commit: nothing of it is there yet.
                (true, Action::Remember(_)) => Err(Error::KeyLocked("receipt")),
                (true, _) => {
                    self.park_receipt(tx, request.action_request_id, outcome, outputs)?;
                    Ok(Then::Commit)
                }
            };
        }
        note_undone(tx, &request.action, by, outcome);
        tx.hand.came = Some(came);
        Ok(Then::GoOn)
    }

    /// What was observed before and not receipted: from what was recorded, never from a second look (recovery.md 1).
    fn parked(&self, tx: &Tx<'_>) -> Result<Came, Error> {
        let request = self.request_in_hand(tx)?;
        let Stage::Observed { result, result_code, sandbox_level } = self.act(tx)?.stage.clone() else {
            return Err(Error::Broken("a receipt is due and no outcome is recorded".to_owned()));
        };
        let own = parked_of(request.action_request_id);
        let parked_as = |name: &str| {
            let named = tx.artifacts.values().filter(move |a| {
                let alias = a.task_local_alias.as_ref().and_then(|alias| alias.shown());
                alias.is_some_and(|alias| alias == name)
            });
            named
                .filter(|a| a.kind == ArtifactKind::ActionResult && a.produced_by == tx.current)
                .max_by_key(|a| (a.created_at, a.artifact_id))
        };
        // Hosts of before did not name the request.
        let parked = parked_as(&own).or_else(|| parked_as(PARKED));
        let parked: Parked = match parked {
            Some(at) => self.read_object(tx, at.artifact_id)?,
            None => return Err(Error::Broken("what the receipt needs was not kept".to_owned())),
        };
        let outcome = parked.outcome(result_code, sandbox_level);
        Ok(Came { request, outcome, outputs: parked.outputs, result })
    }
}

/// Says which receipts an undo has left nothing of, where its own receipt cannot say all of it.
fn note_undone(tx: &mut Tx<'_>, action: &Action, by: ReceiptId, outcome: &Outcome) {
    let Action::Rollback(acts::Rollback { receipt_id, also, partly, .. }) = action else { return };
    let went_through =
        outcome.error.is_none() && matches!(outcome.result_code, ResultCode::Succeeded | ResultCode::Partial);
    if !went_through || (also.is_empty() && partly.is_empty()) {
        return;
    }
    let first = Some(*receipt_id).filter(|id| !partly.contains(id));
    let undone = first.into_iter().chain(also.iter().copied()).collect();
    tx.push(ReceiptsUndone { by, undone, partly: partly.clone() });
}

const PARKED: &str = "what the receipt needs";

/// The name of what the receipt for one request needs.
fn parked_of(request: ActionRequestId) -> String {
    format!("{PARKED}: {request}")
}

/// The parts of an outcome that only its receipt would hold.
#[derive(serde::Serialize, serde::Deserialize)]
struct Parked {
    changes: Vec<Change>,
    observed: Vec<String>,
    ran: model::receipt::Ran,
    error: Option<String>,
    outputs: Vec<ArtifactRef>,
}

impl Parked {
    fn outcome(&self, result_code: ResultCode, sandbox_level: SandboxLevel) -> Outcome {
        Outcome {
            result_code,
            changes: self.changes.clone(),
            outputs: Vec::new(),
            ran: self.ran.clone(),
            sandbox_level,
            observed: self.observed.clone(),
            error: self.error.clone(),
            kept: Vec::new(),
        }
    }
}

/// Names the artifacts that keep what was there before, by digest; returns them.
fn name_images(state: &TaskState, changes: &mut [Change]) -> Vec<ArtifactRef> {
    let mut known: BTreeMap<Digest, ArtifactRef> = BTreeMap::new();
    for artifact in state.artifacts.values().filter(|a| a.kind == ArtifactKind::FileSnapshot) {
        let sha256 = artifact.content_hash;
        known.insert(sha256, ArtifactRef { artifact_id: artifact.artifact_id, sha256 });
    }
    let mut used = Vec::new();
    for change in changes {
        if let Found::File { sha256, .. } | Found::Symlink { target_sha256: sha256 } = &change.before
            && let Some(image) = known.get(sha256)
        {
            change.before_image = Some(image.clone());
            used.push(image.clone());
        }
    }
    used.sort_by_key(|r| r.artifact_id);
    used.dedup();
    used
}

/// Digests of outputs; a statement without outputs names its request.
fn subjects(receipt: &Receipt) -> Vec<Subject> {
    let written = receipt.changes.iter().filter_map(|change| match &change.after {
        Found::File { sha256, .. } => Some(sha256),
        _ => None,
    });
    let named = receipt.output_refs.iter().chain(receipt.action_request_ref.value());
    let mut digests: Vec<&Digest> = written.chain(named.map(|output| &output.sha256)).collect();
    let mut seen = BTreeSet::new();
    digests.retain(|digest| seen.insert(*digest));
    let subject = |sha256: &Digest| BTreeMap::from([("sha256".to_owned(), sha256.to_string())]);
    digests.into_iter().map(|sha256| Subject { name: None, digest: subject(sha256) }).collect()
}

/// How far it can be taken back: a file whose earlier bytes are not kept cannot.
fn reversibility_of(request: &ActionRequest, outcome: &Outcome) -> Reversibility {
    if outcome.changes.iter().all(|c| c.outcome == model::receipt::ItemOutcome::NotDone) {
        return request.action.as_tool().reversibility_without_changes(request, outcome.result_code);
    }
    request.way_back()
}

/// How it is taken back: nothing is promised that no before-image or command of ours could keep.
fn method_of(request: &ActionRequest, reversibility: Reversibility, changes: &[Change]) -> &'static str {
    match (request.action.as_tool().undo_method(), reversibility) {
        (_, Reversibility::Irreversible | Reversibility::NoEffect) => "none",
        (acts::RESTORE_BEFORE_IMAGES, _) if changes.is_empty() => "none",
        (method, _) => method,
    }
}
