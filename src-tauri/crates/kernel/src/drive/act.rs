//! From a yes to an observed effect: witness again, grant, dispatch, perform (HK-11.1, 10–15). One road leads here,
//! whether policy allowed it outright or a person did.

use super::Then;
use super::judge::Judged;
use crate::Error;
use crate::command::standing::{Held, is_overtaken};
use crate::decide::{Basis, cited, lapsed};
use crate::folders::FolderTurn;
use crate::kernel::{Kernel, lock};
use crate::ports::Executors;
use crate::state::{ApprovalRecord, Stage, TaskState};
use crate::tx::{After, Tx};
use crate::writeup::NewArtifact;
use acts::{Action, ActionRequest, ApprovalPacket};
use governance::Authorization;
use governance::approval::{verify, verify_by_passkey};
use governance::grant::{Approved, First, MintInput, mint};
use model::action::ActionClass;
use model::approval::{Approval, ApprovalDecision, ApprovalStatus};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::attempt::AttemptStatus;
use model::body::{DecisionRecorded, EffectDispatched, GrantIssued, WitnessValidated};
use model::decision::{Decision, DecisionClass};
use model::fault::Point;
use model::grant::FilesystemScope;
use model::policy::PolicyResult;
use model::principal::PrincipalType;
use model::receipt::ReceiptClass;
use model::witness::StateWitness;
use model::{DecisionId, Digest, GrantId, PrincipalId, Sensitive, UnixMs, WitnessId};
use std::path::PathBuf;
use std::sync::Arc;

/// A person's yes with everything it was about, checked again from the log.
pub(crate) struct Yes {
    pub(crate) approval: Approval,
    pub(crate) decision: ApprovalDecision,
    pub(crate) packet: ApprovalPacket,
    /// The yes before it, where two different keys had to say yes; and both keys.
    pub(crate) first: Option<(ApprovalDecision, [Digest; 2])>,
}

/// Whether what a person approved may be done now.
enum AsApproved {
    /// It may, by this yes.
    Holds(Box<(Judged, Option<Yes>, Option<FolderTurn>)>),
    /// The yes does not count any more, for this reason.
    Lapsed(&'static str),
    /// What it was about has changed.
    Drifted(WitnessId, Vec<String>),
    /// Another task changes the folder.
    Busy(PathBuf),
}

impl Kernel {
    /// The act in hand is dispatched: witness, decision, grant and gate in one commit; then the executor starts.
    pub(super) fn dispatch(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::EffectDispatch);
        let executors = self.executors(tx)?;
        let asked = matches!(self.act(tx)?.stage, Stage::Asked);
        let (judged, yes, turn) = match (tx.hand.judged.take(), asked) {
            // What it rests on was seen in this transaction, and nobody has changed anything there since.
            (Some(judged), _) => match self.turn(tx, &judged.request, tx.hand.seen)? {
                Ok(turn) => (judged, None, turn),
                Err(root) => return Ok(Then::Busy(root)),
            },
            (None, false) => return self.judge(tx),
            // A person allowed it. Only if all that they saw still holds is anything dispatched (HK-12.4-6).
            (None, true) => match self.as_approved(tx, &*executors)? {
                AsApproved::Holds(held) => *held,
                AsApproved::Lapsed(why) => return self.judge_again(tx, why),
                AsApproved::Drifted(witness_id, drifts) => return self.drifted(tx, witness_id, &drifts),
                AsApproved::Busy(root) => return Ok(Then::Busy(root)),
            },
        };
        // A lease that ran out while a person was waited for is lost in so many words before anything runs (HK-20.3-2).
        self.renew_lease(tx);
        let authorization = match self.authorise(tx, &judged, yes.as_ref()) {
            Err(error) if judged.policy.standing.is_some() && self.is_overtaken(&error) => {
                return Ok(Then::Drop);
            }
            authorised => authorised?,
        };
        tx.unblock("allowed")?;
        tx.set_attempt(AttemptStatus::Authorized, "granted")?;
        match (self.keep_before_images(tx, &*executors, &judged.request), &judged.witness) {
            (Err(Error::Effects(why)), Some((witness, _))) if yes.is_some() => {
                // What would be lost cannot be kept: nothing is done, the yes is void, and whoever proposed it is told.
                let witness_id = witness.witness_id;
                tx.restart(Point::EffectDispatch, PrincipalType::System)?;
                return self.drifted(tx, witness_id, &[why]);
            }
            (kept, _) => kept?,
        }
        self.keep_staged(tx, &*executors, &judged.request)?;
        self.dispatched(tx, &judged, yes.as_ref(), &authorization)?;
        if let Action::Remember(_) = judged.request.action {
            return self.remember(tx, judged, yes.as_ref());
        }
        if let Action::Register(_) = judged.request.action {
            return self.change_capability(tx, judged);
        }
        tx.hand.by_standing = judged.policy.standing.is_some();
        let first = judged.request;
        let beside = match self.dispatch_beside(tx, &executors, &first) {
            // A lasting yes was taken back meanwhile: nothing of this is there, and policy is asked again.
            Err(error) if self.is_overtaken(&error) => return Ok(Then::Drop),
            beside => beside?,
        };
        tx.then(After::Perform(Arc::clone(&executors), Box::new(first), authorization, turn));
        for (request, authorization) in beside {
            tx.then(After::Perform(Arc::clone(&executors), Box::new(request), authorization, None));
        }
        Ok(Then::Commit)
    }

    /// The task's turn in its folder, where the act can change something there; the folder, where another task has it or
    /// has changed it after `seen` acts were over.
    pub(super) fn turn(
        &self,
        state: &TaskState,
        request: &ActionRequest,
        seen: u64,
    ) -> Result<Result<Option<FolderTurn>, PathBuf>, Error> {
        // What a server of tools does is done elsewhere, and it may itself propose something in this folder.
        let scope = request.action.as_tool().filesystem_scope();
        if !matches!(scope, FilesystemScope::Named | FilesystemScope::Lease) {
            return Ok(Ok(None));
        }
        let root = self.workspace_root(state)?;
        Ok(self.folders.take(state.task.task_id, &root, seen).map(Some).ok_or(root))
    }

    /// What a person allowed, with everything that it rested on looked at again.
    fn as_approved(&self, tx: &mut Tx<'_>, executors: &dyn Executors) -> Result<AsApproved, Error> {
        let act = self.act(tx)?.clone();
        let request = self.request_in_hand(tx)?;
        let policy_at =
            act.policy.as_ref().ok_or_else(|| Error::Broken("an act without a policy result".to_owned()))?;
        let policy: PolicyResult = self.read_object(tx, policy_at.artifact.artifact_id)?;
        let asked = act.authority.approval.and_then(|id| tx.approvals.get(&id));
        let basis = Basis {
            approval_ends: asked.map(ApprovalRecord::ends),
            override_holds: policy.standing.map(|named| self.still_holds(&named, tx.now())),
            policy_sets: (
                policy.policy_set_sha256,
                self.policy_for(tx)?.policy_set_sha256(tx.task.policy_profile_ref),
            ),
        };
        if let Some(why) = lapsed(basis, tx.now()) {
            return Ok(AsApproved::Lapsed(why));
        }
        let yes = match self.yes(tx) {
            // Policy asks again, and the person answers under the key that is in force.
            Err(Error::Refused(refusal))
                if matches!(refusal.code, "decision_signature" | "passkey_enrolment") =>
            {
                return Ok(AsApproved::Lapsed("the approval key was replaced before the yes was used"));
            }
            yes => yes?,
        };
        // First the turn, then the look: nobody changes anything in between.
        let turn = match self.turn(tx, &request, self.folders.over())? {
            Ok(turn) => turn,
            Err(root) => return Ok(AsApproved::Busy(root)),
        };
        let mut witness = None;
        if let Some(at) = &act.witness {
            let approved: StateWitness = self.read_object(tx, at.artifact.artifact_id)?;
            let resources = governance::witness::observable(&request.target_resources);
            let observed = self.witness_of(&request, executors.observe(&resources), tx.now())?;
            let observed = StateWitness { witness_id: approved.witness_id, ..observed };
            let mut drifts = self.drifts(&request, executors, &approved, &observed);
            drifts.extend(self.taken_back(tx, &request));
            if !drifts.is_empty() || tx.now() > approved.expires_at {
                return Ok(AsApproved::Drifted(approved.witness_id, drifts));
            }
            let new = NewArtifact::audit(ArtifactKind::StateWitness).from([at.artifact.artifact_id]);
            let at = tx.object(&observed, new)?;
            witness = Some((observed, at));
        }
        // A call without a witness has nothing that is looked at again: what was said of its tool is.
        if witness.is_none() && !self.taken_back(tx, &request).is_empty() {
            return Ok(AsApproved::Lapsed("what a person said of the tool has changed"));
        }
        let policy_ref = policy_at.artifact.clone();
        let (request_ref, view, denied_before) = (act.request, None, false);
        let judged = Judged { request, request_ref, policy, policy_ref, witness, view, denied_before };
        Ok(AsApproved::Holds(Box::new((judged, yes, turn))))
    }

    /// How what was approved differs from what is there now.
    fn drifts(
        &self,
        request: &ActionRequest,
        executors: &dyn Executors,
        approved: &StateWitness,
        observed: &StateWitness,
    ) -> Vec<String> {
        let compared: Vec<String> =
            governance::witness::compare(approved, observed).iter().map(ToString::to_string).collect();
        if !compared.is_empty() {
            return compared;
        }
        let stale = self.staged_stale(request, executors, &observed.fingerprints);
        if stale.is_empty() { led_elsewhere(request, executors) } else { stale }
    }

    /// The yes in the log: envelope, approval as it was when asked, packet; verified again before it is used, and so is the one
    /// before it where two different keys had to say yes.
    fn yes(&self, state: &TaskState) -> Result<Option<Yes>, Error> {
        let Some(id) = self.act(state)?.authority.approval else { return Ok(None) };
        let record =
            state.approvals.get(&id).ok_or_else(|| Error::Broken(format!("approval `{id}` is missing")))?;
        let Some(envelope) = &record.envelope else { return Ok(None) };
        let packet_bytes = self.artifacts.read(&record.approval.approval_packet_sha256)?;
        let mut asked = record.approval.clone();
        asked.status = ApprovalStatus::Pending;
        // It held when it was given, or it would not be in the log; whether it still does was asked before.
        let given_at = record.approval.resolved_at.unwrap_or(state.latest);
        let question = (&asked, packet_bytes.as_slice());
        let (decision, key) = self.signed(question, (envelope, record.passkey.as_ref()), given_at)?;
        let first = match record.first_of_two() {
            None => None,
            Some(first) => {
                let (decision, before) =
                    self.signed(question, (&first.envelope, first.passkey.as_ref()), first.at)?;
                Some((decision, [before, key]))
            }
        };
        let packet = serde_json::from_slice(&packet_bytes).map_err(|e| Error::Broken(e.to_string()))?;
        Ok(Some(Yes { approval: record.approval.clone(), decision, packet, first }))
    }

    /// A decision in the log, verified again, and the name of the key that signed it.
    fn signed(
        &self,
        (asked, packet): (&Approval, &[u8]),
        (envelope, passkey): (&ArtifactRef, Option<&ArtifactRef>),
        given_at: UnixMs,
    ) -> Result<(ApprovalDecision, Digest), Error> {
        let envelope = self.artifacts.read(&envelope.sha256)?;
        let (keyid, key) = self.approval_key()?;
        let Some(enrolment) = passkey else {
            return Ok((verify(&envelope, asked, packet, &key, given_at)?, keyid));
        };
        let passkey = self.enrolled_passkey(enrolment, &key)?;
        // What it had counted was compared then.
        let (decision, _) = verify_by_passkey(&envelope, (asked, packet), (&passkey, 0), given_at)?;
        Ok((decision, passkey.credential.key.keyid()))
    }

    /// Whether the standing grant that was to answer does not answer any more: nothing was written, and the next step
    /// of the driver asks policy again.
    pub(super) fn is_overtaken(&self, error: &Error) -> bool {
        let system = lock(&self.store).system_task_id;
        is_overtaken(error, system)
    }

    /// Whether somebody else wrote into the store's own stream between a look at it and a commit that rests on it.
    pub(crate) fn store_moved(&self, error: &Error) -> bool {
        let system = lock(&self.store).system_task_id;
        matches!(error, Error::Ledger(ledger::Error::Moved { task, .. }) if Some(*task) == system)
    }

    /// Decision where HK-6.2-3 demands one, witness observed just now, grant, and the token executors take.
    pub(super) fn authorise(
        &self,
        tx: &mut Tx<'_>,
        judged: &Judged,
        yes: Option<&Yes>,
    ) -> Result<Authorization, Error> {
        let Judged { request, request_ref, policy, witness, .. } = judged;
        tx.act_as(PrincipalType::PolicyEngine)?;
        if let Some((witness, at)) = witness {
            tx.push(WitnessValidated {
                witness_id: witness.witness_id,
                action_request_id: request.action_request_id,
                observed: at.clone(),
            });
        }
        let decision_ref = if policy.decision_required { Some(self.decide(tx, judged, yes)?) } else { None };
        let held = policy.standing.as_ref().map(|named| self.standing_named(named)).transpose()?;
        let grant = mint(&MintInput {
            grant_id: GrantId::fresh(&*self.ports.clock, &*self.ports.entropy),
            request,
            request_sha256: request_ref.sha256,
            policy,
            approved: yes.map(|y| Approved {
                approval: &y.approval,
                decision: &y.decision,
                packet: &y.packet,
                first: y.first.as_ref().map(|(decision, keys)| First { decision, keys: *keys }),
            }),
            standing: held.as_ref().map(Held::in_force),
            observed: witness.as_ref().map(|(witness, _)| witness),
            decision_ref,
            issued_to: self.actor(PrincipalType::Executor)?.actor_id,
            issued_by: tx.actor().actor_id,
            now: tx.now(),
        })?;
        let inputs = [request_ref.artifact_id, judged.policy_ref.artifact_id];
        let at = tx.object(&grant, NewArtifact::audit(ArtifactKind::CapabilityGrant).from(inputs))?;
        tx.push_keyed(
            Some(format!("grant:{}", grant.grant_id)),
            GrantIssued {
                grant_id: grant.grant_id,
                action_request_id: request.action_request_id,
                grant: at,
                action_class: grant.action_class,
                issued_to: grant.issued_to_principal_id,
                expires_at: grant.expires_at,
                max_uses: grant.max_uses,
                approval_ref: grant.approval_ref.clone(),
                decision_ref: grant.decision_ref.clone(),
            },
        );
        if let Some(held) = &held {
            self.use_standing(tx, held, request.action_request_id)?;
        }
        Ok(governance::authorize(&grant, request, 0, tx.now())?)
    }

    /// The decision record of HK-6.2-3: a person's where one was asked, else policy's.
    fn decide(&self, tx: &mut Tx<'_>, judged: &Judged, yes: Option<&Yes>) -> Result<DecisionId, Error> {
        let decided_by: PrincipalId = yes.map_or(tx.actor().actor_id, |y| y.decision.decided_by);
        let rationale = match yes {
            Some(yes) => {
                format!("a person allowed it on {}: {}", yes.decision.surface, judged.request.reason)
            }
            None => judged.policy.reasoning_summary.clone(),
        };
        let of_act = (judged.request.action.as_tool().receipt_class(), judged.request.action_class);
        let decision_type = match of_act {
            (ReceiptClass::Rollback, _) => DecisionClass::Rollback,
            (ReceiptClass::MemoryPromotion, _) => DecisionClass::Memory,
            (_, ActionClass::Publication) => DecisionClass::Publishing,
            _ => DecisionClass::Execution,
        };
        let packet = yes.map(|yes| ArtifactRef {
            artifact_id: yes.approval.approval_packet_ref,
            sha256: yes.approval.approval_packet_sha256,
        });
        let rests_on = [Some(&judged.request_ref), Some(&judged.policy_ref), packet.as_ref()];
        let decision = Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: Some(judged.request.step_id),
            attempt_id: Some(judged.request.attempt_id),
            decision_type,
            summary: Sensitive::from(judged.policy.action_summary.clone()),
            rationale: Sensitive::from(rationale),
            evidence_refs: rests_on.into_iter().flatten().map(cited).collect(),
            risk_level: judged.policy.risk_band,
            decided_by,
            reversible: judged.request.way_back() != model::action::Reversibility::Irreversible,
            created_at: tx.now(),
            alternatives_considered: Vec::new(),
            policy_override_ref: self.override_behind(tx, judged)?,
            effective_until: None,
            constraints_ref: Some(tx.task.task_contract_ref),
        };
        let decision_id = decision.decision_id;
        tx.push(DecisionRecorded { decision });
        Ok(decision_id)
    }

    /// Bytes that will be gone afterwards are stored with the dispatch, before anything is done (pain 7).
    fn keep_before_images(
        &self,
        tx: &mut Tx<'_>,
        executors: &dyn Executors,
        request: &ActionRequest,
    ) -> Result<(), Error> {
        if request.items().is_empty() {
            return Ok(());
        }
        tx.act_as(PrincipalType::Executor)?;
        for image in executors.before_images(request.items()) {
            let (path, _, bytes) = image.map_err(Error::Effects)?;
            let mut new =
                NewArtifact::audit(ArtifactKind::FileSnapshot).class(ArtifactClass::Evidence).of_act(request);
            new.media_type = "application/octet-stream";
            new.trust_tier = TrustTier::Untrusted;
            new.alias = Some(format!("before {path}"));
            tx.artifact(&bytes, new)?;
        }
        Ok(())
    }

    /// The gate lets it pass and the dispatch consumes the grant.
    pub(super) fn dispatched(
        &self,
        tx: &mut Tx<'_>,
        judged: &Judged,
        yes: Option<&Yes>,
        authorization: &Authorization,
    ) -> Result<(), Error> {
        let granted = yes.map(|y| y.decision.packet_sha256);
        let receipt = tx.pass(&judged.ask(judged.policy.verdict, granted))?;
        if !receipt.is_accepted() {
            tx.keep_refusal()?;
            return Err(Error::Gate(receipt.error.unwrap_or_else(|| "not accepted".to_owned())));
        }
        let audit_entry_sha256 =
            receipt.evidence_hash.ok_or_else(|| Error::Broken("the gate gave no entry".to_owned()))?;
        tx.act_as(PrincipalType::Executor)?;
        let key = format!("dispatch:{}", judged.request.action_request_id);
        tx.push_keyed(
            Some(key),
            EffectDispatched {
                action_request_id: judged.request.action_request_id,
                grant_id: authorization.grant_id(),
                executor: judged.request.action.executor(),
                audit_entry_sha256,
            },
        );
        tx.writeup().batch.consume.push((authorization.grant_id(), 1));
        tx.set_attempt(AttemptStatus::Executing, "dispatched")
    }
}

/// How the words of a command that runs in the folder itself lead elsewhere than when a person was asked: to another
/// program, to files that were not there, to a key that it could not read, or that it could and read by nothing. What is hidden from
/// it may be more.
fn led_elsewhere(request: &ActionRequest, executors: &dyn Executors) -> Vec<String> {
    let (Some(then), None) = (&request.reach, &request.staged) else { return Vec::new() };
    let now = executors.reach(&request.action);
    let mut said = Vec::new();
    for was in &then.programs {
        match now.programs.iter().find(|is| is.name == was.name) {
            Some(is) if is == was => {}
            Some(is) => said.push(format!("`{}` was {} and is {}", was.name, was.path, is.path)),
            None => said.push(format!("`{}` was {} and is gone", was.name, was.path)),
        }
    }
    let new = now.programs.iter().filter(|is| !then.programs.iter().any(|was| was.name == is.name));
    said.extend(new.map(|is| format!("`{}` is {}, which was not there", is.name, is.path)));
    let come = |now: &[model::RelPath], then: &[model::RelPath]| -> Vec<String> {
        now.iter().filter(|path| !then.contains(path)).map(|path| format!("`{path}` was not there")).collect()
    };
    said.extend(come(&now.files, &then.files));
    said.extend(come(&now.secrets, &then.secrets));
    // Git has it in its index by now, or the repository starts a program that could print it.
    let is_read = |path: &&model::RelPath| then.in_sight.contains(path) && !now.in_sight.contains(path);
    said.extend(now.secrets.iter().filter(is_read).map(|path| format!("`{path}` may be read by it now")));
    if now.unsure != then.unsure {
        said.extend(now.unsure.map(|why| format!("what it can read is no longer known: {why}")));
    }
    said
}
