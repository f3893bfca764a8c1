//! One governed act, from proposal to receipt, as the kernel would record it.

use super::World;
use acts::ApprovalPacket;
use acts::{Action, ActionRequest};
use gate::GateDecision;
use model::action::{ActionClass, ChangeItem, ExpectedEffect, Prior, Reversibility};
use model::approval::{
    Approval, ApprovalDecision, ApprovalScope, ApprovalStatus, Choice, DECISION_PAYLOAD_TYPE, Shape, Surface,
};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::*;
use model::chance::Clock;
use model::grant::{CapabilityGrant, FilesystemScope};
use model::policy::{PolicyResult, Profile, RiskBand, Verdict};
use model::receipt::*;
use model::slot::Absence;
use model::standing::StandingRef;
use model::witness::{Fingerprint, Found, StateWitness};
use model::*;
use seal::{Digest, Signer, dsse};
use std::collections::BTreeMap;

/// What an act leaves for its receipt.
pub struct Trail {
    pub request: ActionRequest,
    pub request_ref: ArtifactRef,
    pub policy_ref: ArtifactRef,
    pub packet_sha256: Digest,
    pub envelope: Digest,
    pub approval_id: ApprovalId,
    pub grant_id: GrantId,
    pub grant: Digest,
    pub witness: Digest,
    pub environment: ArtifactRef,
    pub entry: Digest,
}

impl World {
    pub fn act(&mut self, n: usize) {
        let request = self.request(n);
        self.perform(request);
    }

    /// The whole of one act: a person is asked and says yes, it is done, and a receipt tells of it.
    pub(super) fn perform(&mut self, request: ActionRequest) {
        let request_ref = self.proposed(&request);
        let (policy, policy_ref) = self.judge(&request, &request_ref, None);
        let witness = self.witness(&request);
        let (approval_id, packet_sha256, envelope) =
            self.ask(&request, &request_ref, &policy, &policy_ref, &witness);
        let environment = self.artifact(ArtifactKind::EnvironmentSnapshot, br#"{"os":"linux"}"#.to_vec());
        let witness_ref = self.object(ArtifactKind::StateWitness, &witness);
        let action_request_id = request.action_request_id;
        self.push(WitnessValidated {
            witness_id: witness.witness_id,
            action_request_id,
            observed: witness_ref.clone(),
        });
        let grant =
            self.grant(&request, &request_ref, &policy_ref, packet_sha256, witness_ref.sha256, approval_id);
        let grant_ref = self.object(ArtifactKind::CapabilityGrant, &grant);
        let entry = self.begin((&request, &request_ref), &grant, &grant_ref, Slot::Value(approval_id));
        let trail = Trail {
            request,
            request_ref,
            policy_ref,
            packet_sha256,
            envelope,
            approval_id,
            grant_id: grant.grant_id,
            grant: grant_ref.sha256,
            witness: witness_ref.sha256,
            environment,
            entry,
        };
        let receipt = self.blank_receipt(&trail);
        self.issue(receipt, action_request_id);
    }

    /// The grant is on record, the gate lets its act pass, and it is dispatched; the gate's entry.
    pub(super) fn begin(
        &mut self,
        (request, request_ref): (&ActionRequest, &ArtifactRef),
        grant: &CapabilityGrant,
        grant_ref: &ArtifactRef,
        approval_ref: Slot<ApprovalId>,
    ) -> Digest {
        self.push(GrantIssued {
            grant_id: grant.grant_id,
            action_request_id: request.action_request_id,
            grant: grant_ref.clone(),
            action_class: grant.action_class,
            issued_to: self.agent,
            expires_at: grant.expires_at,
            max_uses: 1,
            approval_ref,
            decision_ref: Slot::NOT_REQUIRED,
        });
        let entry = self.pass(request.action.tool(), &request_ref.sha256, GateDecision::Allow).unwrap();
        self.push(EffectDispatched {
            action_request_id: request.action_request_id,
            grant_id: grant.grant_id,
            executor: "hermit.change".to_owned(),
            audit_entry_sha256: entry,
        });
        entry
    }

    pub(super) fn propose(&mut self, n: usize) -> (ActionRequest, ArtifactRef) {
        let request = self.request(n);
        let request_ref = self.proposed(&request);
        (request, request_ref)
    }

    /// One small file is to be written.
    fn request(&mut self, n: usize) -> ActionRequest {
        let path: RelPath = format!("notes/{n}.txt").parse().unwrap();
        let content = self.artifact(ArtifactKind::FileSnapshot, format!("content {n}\n").into_bytes());
        let resource = ResourceId::File(self.workspace, path.clone());
        ActionRequest {
            action_request_id: ActionRequestId::fresh(&self.clock, &self.dice),
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            action_class: ActionClass::WriteLocal,
            target_resources: vec![resource.clone()],
            action: Action::Change(acts::Change {
                items: vec![ChangeItem::Write {
                    path,
                    content_sha256: content.sha256,
                    byte_size: 10,
                    prior: Prior::Absent,
                    mode: None,
                }],
            }),
            expected_effects: vec![ExpectedEffect {
                resource,
                effect: "create".to_owned(),
                before_sha256: None,
                after_sha256: Some(content.sha256),
                byte_size: Some(10),
            }],
            reversibility_hint: Reversibility::Reversible,
            reason: "asked for".to_owned(),
            proposed_by: self.agent,
            proposed_at: self.clock.now(),
            evidence_refs: Vec::new(),
            staged: None,
            not_staged: None,
            reach: None,
            instead_of: None,
            guest: None,
        }
    }

    fn proposed(&mut self, request: &ActionRequest) -> ArtifactRef {
        let request_ref = self.object(ArtifactKind::ActionRequest, request);
        self.push(ActionRequested {
            action_request_id: request.action_request_id,
            request: request_ref.clone(),
            action_class: request.action_class,
            tool: request.action.tool().to_owned(),
            summary: Sensitive::from(format!("{} of {}", request.action.tool(), request.target_resources[0])),
        });
        request_ref
    }

    pub(super) fn judge(
        &mut self,
        request: &ActionRequest,
        request_ref: &ArtifactRef,
        standing: Option<StandingRef>,
    ) -> (PolicyResult, ArtifactRef) {
        let result = PolicyResult {
            policy_result_id: PolicyResultId::fresh(&self.clock, &self.dice),
            action_request_id: request.action_request_id,
            action_request_sha256: request_ref.sha256,
            verdict: if standing.is_some() { Verdict::Allow } else { Verdict::RequireApproval },
            risk_band: self.vary("RiskBand", RiskBand::Moderate),
            action_classes: vec![request.action_class],
            policy_profile: self.vary("Profile", Profile::LocalEditAllowed),
            policy_set_sha256: Digest::of(b"policy set"),
            schema_sha256: Digest::of(b"schema"),
            determining_rules: vec!["ask-before-write".to_owned()],
            affected_resources: request.target_resources.iter().map(ToString::to_string).collect(),
            action_summary: "write one file".to_owned(),
            risk_summary: "can be undone".to_owned(),
            reasoning_summary: "a person asked to be asked".to_owned(),
            witness_required: true,
            decision_required: false,
            downgrade: None,
            evaluated_at: self.clock.now(),
            standing,
            need: self.need,
        };
        let result_ref = self.object(ArtifactKind::PolicyResult, &result);
        self.push(PolicyEvaluated {
            policy_result_id: result.policy_result_id,
            action_request_id: request.action_request_id,
            result: result_ref.clone(),
            verdict: result.verdict,
            risk_band: result.risk_band,
            policy_set_sha256: result.policy_set_sha256,
        });
        (result, result_ref)
    }

    pub(super) fn witness(&mut self, request: &ActionRequest) -> StateWitness {
        StateWitness {
            witness_id: WitnessId::fresh(&self.clock, &self.dice),
            action_request_id: request.action_request_id,
            attempt_id: self.attempt,
            fingerprints: vec![Fingerprint {
                resource: request.target_resources[0].clone(),
                state: self.vary("Found", Found::Absent),
            }],
            preconditions: vec!["nothing is there".to_owned()],
            observed_at: self.clock.now(),
            expires_at: self.clock.now().plus_ms(60_000),
            observed_by: self.agent,
        }
    }

    /// Asks the person, who says yes.
    fn ask(
        &mut self,
        request: &ActionRequest,
        request_ref: &ArtifactRef,
        policy: &PolicyResult,
        policy_ref: &ArtifactRef,
        witness: &StateWitness,
    ) -> (ApprovalId, Digest, Digest) {
        let (packet, packet_sha256) = self.question(request, request_ref, policy, policy_ref, witness);
        let approval_id = packet.approval_id;
        (approval_id, packet_sha256, self.say_yes(packet, packet_sha256))
    }

    /// Shows the person a packet; its digest.
    pub(super) fn question(
        &mut self,
        request: &ActionRequest,
        request_ref: &ArtifactRef,
        policy: &PolicyResult,
        policy_ref: &ArtifactRef,
        witness: &StateWitness,
    ) -> (ApprovalPacket, Digest) {
        let approval_id = ApprovalId::fresh(&self.clock, &self.dice);
        let now = self.clock.now();
        let packet = ApprovalPacket {
            approval_id,
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            goal: "tidy".to_owned(),
            action_request: request.clone(),
            policy_result: policy.clone(),
            action_summary: "write one file".to_owned(),
            risk_summary: "can be undone".to_owned(),
            risk_band: RiskBand::Moderate,
            rationale: "asked for".to_owned(),
            evidence_refs: Vec::new(),
            impacted_resources: policy.affected_resources.clone(),
            rollback_availability: "whole".to_owned(),
            state_witness: Some(witness.clone()),
            requested_at: now,
            expires_at: now.plus_ms(self.patience_ms),
            nonce: "00112233445566778899aabbccddeeff".to_owned(),
            staged: self.vary("StagedView", None),
        };
        let packet_ref = self.object(ArtifactKind::ApprovalPacket, &packet);
        let approval = Approval {
            approval_id,
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            status: ApprovalStatus::Pending,
            approval_type: ActionClass::WriteLocal,
            requested_action_ref: request_ref.artifact_id,
            approval_packet_ref: packet_ref.artifact_id,
            approval_packet_sha256: packet_ref.sha256,
            requested_at: now,
            resolved_at: None,
            resolved_by: None,
            expires_at: packet.expires_at,
            state_witness_ref: Some(witness.witness_id),
            policy_result_ref: policy_ref.artifact_id,
        };
        self.push(ApprovalRequested {
            approval,
            action_request_id: request.action_request_id,
            risk_band: RiskBand::Moderate,
            nonce: packet.nonce.clone(),
            summary: Sensitive::from("write one file".to_owned()),
            need: self.need,
        });
        (packet, packet_ref.sha256)
    }

    /// The person signs for this packet; the digest of the envelope.
    fn say_yes(&mut self, packet: ApprovalPacket, packet_sha256: Digest) -> Digest {
        let approval_id = packet.approval_id;
        let scope = ApprovalScope {
            shape: self.vary("Shape", Shape::Exact),
            pattern: Vec::new(),
            expires_at: packet.expires_at,
            max_uses: 1,
        };
        let decision = ApprovalDecision {
            approval_id,
            packet_sha256,
            choice: Choice::Once,
            scope: scope.clone(),
            nonce: packet.nonce,
            surface: Surface::Test,
            decided_by: self.person,
            decided_at: self.clock.now(),
            feedback: None,
        };
        let payload = seal::canon::to_canonical(&decision).unwrap();
        let envelope =
            dsse::sign(DECISION_PAYLOAD_TYPE, &payload, &self.keys.approval).unwrap().to_bytes().unwrap();
        let envelope = self.artifact(ArtifactKind::ApprovalDecision, envelope);
        self.push(ApprovalGranted {
            approval_id,
            decided_by: self.person,
            surface: Surface::Test,
            scope,
            envelope: envelope.clone(),
            keyid: self.keys.approval.public().keyid(),
            receipt_id: None,
            passkey: None,
            first: None,
        });
        envelope.sha256
    }

    pub(super) fn grant(
        &mut self,
        request: &ActionRequest,
        request_ref: &ArtifactRef,
        policy_ref: &ArtifactRef,
        packet: Digest,
        witness: Digest,
        approval: ApprovalId,
    ) -> CapabilityGrant {
        let now = self.clock.now();
        CapabilityGrant {
            grant_id: GrantId::fresh(&self.clock, &self.dice),
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            issued_to_principal_id: self.agent,
            issued_by_principal_id: self.agent,
            action_class: request.action_class,
            resource_scope: request.target_resources.iter().map(ToString::to_string).collect(),
            issued_at: now,
            not_before: now,
            expires_at: now.plus_ms(60_000),
            max_uses: 1,
            action_request_sha256: request_ref.sha256,
            policy_result_sha256: policy_ref.sha256,
            approval_packet_sha256: Slot::Value(packet),
            witness_sha256: Slot::Value(witness),
            approval_ref: Slot::Value(approval),
            decision_ref: Slot::NOT_REQUIRED,
            filesystem_scope: self.vary("FilesystemScope", FilesystemScope::Named),
            network_scope: Vec::new(),
            secret_scope: Vec::new(),
            standing: None,
        }
    }

    pub fn blank_receipt(&mut self, trail: &Trail) -> Receipt {
        let (started_at, finished_at) = (self.clock.now(), self.clock.now());
        let after = Found::File { sha256: Digest::of(b"content"), byte_size: 7, mode: Some(0o644) };
        Receipt {
            receipt_id: ReceiptId::fresh(&self.clock, &self.dice),
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            receipt_class: self.vary("ReceiptClass", ReceiptClass::ToolExecution),
            action_class: trail.request.action_class,
            action_request_ref: Slot::Value(trail.request_ref.clone()),
            input_refs: Vec::new(),
            environment_ref: Slot::Value(trail.environment.clone()),
            policy_result_ref: Slot::Value(trail.policy_ref.clone()),
            approval_ref: Slot::Value(trail.approval_id),
            capability_grant_ref: Slot::Value(trail.grant_id),
            decision_ref: Slot::NOT_REQUIRED,
            authorized: Authorized {
                policy_result_sha256: Slot::Value(trail.policy_ref.sha256),
                approval_packet_sha256: Slot::Value(trail.packet_sha256),
                approval_decision_sha256: Slot::Value(trail.envelope),
                capability_grant_sha256: Slot::Value(trail.grant),
                witness_sha256: Slot::Value(trail.witness),
                audit_entry_sha256: Slot::Value(trail.entry),
                standing: None,
                first_decision_sha256: None,
            },
            ran: Slot::Value(Ran {
                executor: "hermit.change".to_owned(),
                request_sha256: trail.request_ref.sha256,
                argv: None,
                executable_sha256: None,
                exit_code: None,
                started_at,
                finished_at,
            }),
            changes: vec![Change {
                resource: Sensitive::from(trail.request.target_resources[0].to_string()),
                before: self.vary("Found", Found::Absent),
                after,
                before_image: None,
                outcome: self.vary("ItemOutcome", ItemOutcome::Done),
            }],
            output_refs: Vec::new(),
            observed: vec![Sensitive::from("the file is there".to_owned())],
            rollback: RollbackInfo {
                reversibility: Reversibility::Reversible,
                method: "restore_before_images".to_owned(),
                prerequisites: vec!["every changed file is still as this receipt left it".to_owned()],
                artifact_refs: Vec::new(),
                rolls_back: None,
            },
            result_code: self.vary("ResultCode", ResultCode::Succeeded),
            result_summary: Sensitive::from("one file was written".to_owned()),
            created_at: self.clock.now(),
            replay_class: self.vary("ReplayClass", ReplayClass::IdempotentReplay),
            verifiability: if self.with_keys { Verifiability::Signed } else { Verifiability::HashChained },
            sandbox_level: self.vary("SandboxLevel", SandboxLevel::Beneath),
            signer_ref: Slot::or(
                self.with_keys.then(|| self.keys.receipt.public().keyid()),
                Absence::Unavailable,
            ),
            manifest_ref: (self.with_keys && !self.is_of_before).then(|| self.keys.manifest.public().keyid()),
            idempotency_key: format!("receipt:{}", trail.request.action_request_id),
        }
    }

    /// Seals a receipt and records it.
    pub fn issue(&mut self, receipt: Receipt, about: ActionRequestId) {
        let subject = Subject {
            name: self.is_of_before.then(|| receipt.changes[0].resource.clone()),
            digest: BTreeMap::from([("sha256".to_owned(), Digest::of(b"content").to_string())]),
        };
        let statement = Statement {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: vec![subject],
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: receipt.clone(),
        };
        let plain = serde_json::to_value(&statement).unwrap();
        let (concealed, disclosures) = seal::disclose::conceal(plain, "", &mut || self.dice.salt()).unwrap();
        self.disclosures.extend(disclosures.into_iter().map(|d| (d.digest, d.bytes)));
        let payload = seal::canon::canonical_value(&concealed).unwrap();
        let bytes = if self.with_keys {
            dsse::sign(STATEMENT_PAYLOAD_TYPE, &payload, &self.keys.receipt).unwrap().to_bytes().unwrap()
        } else {
            payload.clone()
        };
        let envelope = self.artifact(ArtifactKind::ReceiptBundle, bytes);
        self.push(ReceiptIssued {
            receipt_id: receipt.receipt_id,
            receipt_class: receipt.receipt_class,
            action_class: receipt.action_class,
            result_code: receipt.result_code,
            action_request_id: Some(about),
            envelope,
            statement_sha256: Digest::of(&payload),
            reversibility: receipt.rollback.reversibility,
            rolls_back: None,
            verifiability: receipt.verifiability,
            summary: receipt.result_summary.clone(),
        });
        self.receipts.push(receipt.receipt_id);
    }
}
