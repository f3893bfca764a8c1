//! A small made-up world: identifiers, requests, and the whole way from question to grant.

use crate::approval::{PacketInput, answer, build_packet, packet_bytes};
use crate::grant::{Approved, MintInput};
use crate::{PolicyEngine, Question, Refusal, grant, witness};
use acts::ApprovalPacket;
pub(super) use acts::{Action, ActionRequest, resources_of};
use model::action::{ChangeItem, ExpectedEffect, Prior, ReadItem, Reversibility};
use model::approval::{Approval, ApprovalDecision, ApprovalStatus, Choice, Surface};
use model::artifact::{EvidenceRef, Selector, TrustTier};
use model::grant::CapabilityGrant;
use model::policy::{PolicyResult, Profile, Verdict};
use model::receipt::SandboxLevel;
use model::witness::{Fingerprint, Found, StateWitness};
use model::{Digest, PrincipalId, RelPath, ResourceId, UnixMs, WorkspaceId};
use seal::{SeedSigner, canon};
use serde_json::json;
use std::sync::LazyLock;
use uuid::Uuid;

pub(crate) static ENGINE: LazyLock<PolicyEngine> =
    LazyLock::new(|| PolicyEngine::shipped().expect("the shipped rules are sound"));

/// When everything begins.
pub(crate) const T0: UnixMs = UnixMs(1_800_000_000_000);
pub(crate) const DAY: i64 = 24 * 3600 * 1000;

pub(crate) const fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number)
}

macro_rules! id {
    ($name:ident, $number:expr) => {
        model::$name::new($crate::tests::world::uuid($number))
    };
}

pub(crate) use id;

pub(crate) const PERSON: PrincipalId = id!(PrincipalId, 70);
pub(crate) const AGENT: PrincipalId = id!(PrincipalId, 71);
pub(crate) const KERNEL: PrincipalId = id!(PrincipalId, 72);
pub(crate) const HANDS: PrincipalId = id!(PrincipalId, 73);
pub(crate) const SPACE: WorkspaceId = id!(WorkspaceId, 80);

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::from_bytes(text.as_bytes()).expect("a path")
}

pub(crate) fn file(text: &str) -> ResourceId {
    ResourceId::File(SPACE, path(text))
}

pub(crate) fn sha(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub(crate) fn create(at: &str) -> ChangeItem {
    let (content_sha256, path) = (sha("new"), path(at));
    ChangeItem::Write { path, content_sha256, byte_size: 3, prior: Prior::Absent, mode: Some(0o644) }
}

pub(crate) fn overwrite(at: &str) -> ChangeItem {
    let (content_sha256, prior) = (sha("new"), Prior::Sha256(sha("old")));
    ChangeItem::Write { path: path(at), content_sha256, byte_size: 3, prior, mode: None }
}

pub(crate) fn delete(at: &str) -> ChangeItem {
    ChangeItem::Delete { path: path(at), prior: Prior::Sha256(sha("old")) }
}

pub(crate) fn rename(from: &str, to: &str) -> ChangeItem {
    ChangeItem::Move { from: path(from), to: path(to), prior: Prior::Sha256(sha("old")) }
}

pub(crate) fn change(items: &[ChangeItem]) -> Action {
    Action::Change(acts::Change { items: items.to_vec() })
}

pub(crate) fn rollback(items: &[ChangeItem]) -> Action {
    Action::Rollback(acts::Rollback {
        receipt_id: id!(ReceiptId, 60),
        also: Vec::new(),
        partly: Vec::new(),
        left: Vec::new(),
        items: items.to_vec(),
    })
}

pub(crate) fn read(at: &str) -> Action {
    Action::Observe(acts::Observe { items: vec![ReadItem::Read { path: path(at) }] })
}

pub(crate) fn command(argv: &[&str], network: bool) -> Action {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Action::Command(acts::Command {
        argv,
        cwd: path("src"),
        network,
        timeout_ms: 1000,
        hosts: Vec::new(),
        secrets: Vec::new(),
    })
}

pub(crate) fn remember(claim: &str) -> Action {
    Action::Remember(acts::Remember {
        claim: claim.to_owned(),
        scope: "this workspace".to_owned(),
        promotion_reason: "asked for often".to_owned(),
        evidence_refs: vec![EvidenceRef {
            artifact_id: id!(ArtifactId, 62),
            selector: Selector::Lines { start: 1, end: 3, of: None },
            excerpt_hash: sha("three lines"),
            capture_method: "read".to_owned(),
            confidence: 900,
            trust_tier: TrustTier::Observed,
        }],
        sources: Vec::new(),
        belief_id: Some(id!(BeliefId, 61)),
        project: None,
        memory_type: None,
        retention: None,
        days: None,
        replaces: None,
        also: Vec::new(),
    })
}

/// Something that is fetched.
pub(crate) fn fetch() -> Action {
    let request = json!({ "method": "GET", "url": "https://example.org/a?b=c", "headers": [{ "name": "Accept", "value": "text/html" }] });
    Action::Fetch(serde_json::from_value(request).expect("a request"))
}

/// Something that is sent, with a credential, where a version is replaced.
pub(crate) fn send() -> Action {
    let request = json!({
        "method": "PUT",
        "url": "https://api.example.org:8443/notes/1",
        "headers": [
            { "name": "Content-Type", "value": "text/plain" },
            { "name": "Authorization", "value": "Bearer ", "secret": "notes" },
        ],
        "body": "first line\nsecond line",
        "timeout_ms": 1000,
        "if_match": "\"v1\"",
    });
    Action::Fetch(serde_json::from_value(request).expect("a request"))
}

/// A commit that takes a file in and another away.
pub(crate) fn commit() -> Action {
    let file = |at: &str, sha256, executable| model::vcs::Tracked { path: path(at), sha256, executable };
    let files = vec![file("a.sh", Some(sha("new")), true), file("gone.txt", None, false)];
    let (branch, prior) = ("refs/heads/main".to_owned(), Some("a".repeat(40)));
    Action::Vcs(acts::Vcs {
        change: model::vcs::VcsChange::Commit { branch, prior, files, message: "why\nmore".to_owned() },
    })
}

/// A branch that goes elsewhere, forward or by force.
pub(crate) fn move_ref(forward: bool) -> Action {
    let (name, from, to) = ("refs/heads/old".to_owned(), "a".repeat(40), "b".repeat(40));
    Action::Vcs(acts::Vcs { change: model::vcs::VcsChange::Move { name, from, to, forward } })
}

/// A tag that goes.
pub(crate) fn delete_ref() -> Action {
    let (name, at) = ("refs/tags/v1".to_owned(), "a".repeat(40));
    Action::Vcs(acts::Vcs { change: model::vcs::VcsChange::Delete { name, at } })
}

/// Change sets, commands and all other kinds of action that a proposer can make.
pub(crate) fn every_kind() -> Vec<Action> {
    vec![
        read("notes.txt"),
        change(&[create("a.txt")]),
        change(&[overwrite("a.txt")]),
        change(&[delete("a.txt")]),
        change(&[rename("a.txt", "b.txt")]),
        change(&[create(".git/hooks/pre-commit")]),
        command(&["make", "test"], false),
        command(&["curl", "https://example.org"], true),
        command(&["git", "commit"], false),
        fetch(),
        send(),
        commit(),
        move_ref(true),
        move_ref(false),
        delete_ref(),
        remember("the tests take a minute"),
        rollback(&[overwrite("a.txt")]),
    ]
}

pub(crate) fn request(action: Action) -> ActionRequest {
    let effect = ExpectedEffect {
        resource: file("a.txt"),
        effect: "replace".to_owned(),
        before_sha256: Some(sha("old")),
        after_sha256: None,
        byte_size: Some(3),
    };
    ActionRequest {
        action_request_id: id!(ActionRequestId, 1),
        task_id: id!(TaskId, 2),
        step_id: id!(StepId, 3),
        attempt_id: id!(AttemptId, 4),
        action_class: action.classes()[0],
        target_resources: action.resources(SPACE),
        action,
        expected_effects: vec![effect],
        reversibility_hint: Reversibility::Reversible,
        reason: "the goal needs it".to_owned(),
        proposed_by: AGENT,
        proposed_at: T0,
        evidence_refs: vec![id!(ArtifactId, 5)],
        staged: None,
        not_staged: None,
        reach: None,
        instead_of: None,
        guest: None,
    }
}

/// A command that has run in a staged view, where it deleted, replaced and made a file.
pub(crate) fn staged_request() -> ActionRequest {
    let action = command(&["make", "clean"], false);
    let items = vec![delete("gone"), overwrite("kept"), create("new")];
    let mut request = request(action);
    request.staged = Some(model::action::Staged {
        method: model::action::StageMethod::Overlay,
        sandbox_level: SandboxLevel::NamespacesLandlock,
        items,
        transcript_sha256: sha("printed"),
        diff_sha256: sha("diff"),
        exit_code: Some(0),
        error: None,
        executable_sha256: Some(sha("make")),
        started_at: T0,
        finished_at: T0.plus_ms(40),
        notes: vec!["walls".to_owned()],
        look_first: None,
        left_out: vec![model::action::LeftOut { path: path("out"), entries: 7 }],
    });
    request.target_resources =
        resources_of(SPACE, &request.action, request.staged.as_ref(), request.reach.as_ref());
    request
}

pub(crate) fn digest<T: serde::Serialize>(value: &T) -> Digest {
    Digest::of(&canon::to_canonical(value).expect("it can be sealed"))
}

pub(crate) fn question(request: &ActionRequest, profile: Profile) -> Question<'_> {
    Question {
        request,
        request_sha256: digest(request),
        profile,
        sandbox: SandboxLevel::NamespacesLandlock,
        allow_unconfined: false,
        approved_packet: None,
        packet: None,
        untrusted_in_context: false,
        steps_allowed: &[],
        standing: &[],
        policy_result_id: id!(PolicyResultId, 6),
        now: T0,
    }
}

pub(crate) fn evaluate(action: Action, profile: Profile) -> PolicyResult {
    let request = request(action);
    ENGINE.evaluate(&question(&request, profile))
}

/// What is found at every place a request touches that can be looked at.
pub(crate) fn witness_of(request: &ActionRequest, at: UnixMs) -> StateWitness {
    let found = Found::File { sha256: sha("old"), byte_size: 3, mode: Some(0o644) };
    let print = |resource| Fingerprint { resource, state: found.clone() };
    StateWitness {
        witness_id: id!(WitnessId, 7),
        action_request_id: request.action_request_id,
        attempt_id: request.attempt_id,
        fingerprints: witness::observable(&request.target_resources).into_iter().map(print).collect(),
        preconditions: vec!["the files are as they were read".to_owned()],
        observed_at: at,
        expires_at: at.plus_ms(DAY),
        observed_by: HANDS,
    }
}

/// A request that a person was asked about and agreed to, up to the moment before the grant.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) request: ActionRequest,
    pub(crate) policy: PolicyResult,
    pub(crate) packet: ApprovalPacket,
    pub(crate) approval: Approval,
    pub(crate) decision: ApprovalDecision,
    pub(crate) observed: StateWitness,
    pub(crate) now: UnixMs,
}

impl Case {
    pub(crate) fn new(action: Action) -> Self {
        Self::under(action, Profile::ExternalPublishGated)
    }

    pub(crate) fn under(action: Action, profile: Profile) -> Self {
        Self::of(request(action), profile)
    }

    pub(crate) fn of(request: ActionRequest, profile: Profile) -> Self {
        let policy = ENGINE.evaluate(&question(&request, profile));
        assert_eq!(policy.verdict, Verdict::RequireApproval, "{}", policy.reasoning_summary);
        let packet = build_packet(PacketInput {
            approval_id: id!(ApprovalId, 8),
            goal: "tidy the folder".to_owned(),
            request: request.clone(),
            policy: policy.clone(),
            witness: Some(witness_of(&request, T0)),
            requested_at: T0,
            expires_at: T0.plus_ms(DAY),
            nonce: [7; 16],
            staged: None,
        });
        let approval = pending(&packet);
        let at = T0.plus_ms(1000);
        let bytes = packet_bytes(&packet).expect("it can be sealed");
        let decision = answer(&bytes, Choice::Once, Surface::Test, PERSON, at, None).expect("it is a packet");
        let observed = witness_of(&request, T0.plus_ms(2000));
        let now = T0.plus_ms(3000);
        Self { request, policy, packet, approval, decision, observed, now }
    }

    pub(crate) fn packet_bytes(&self) -> Vec<u8> {
        packet_bytes(&self.packet).expect("it can be sealed")
    }

    /// The approval as it is after the answer.
    pub(crate) fn granted(&self) -> Approval {
        Approval {
            status: ApprovalStatus::Granted,
            resolved_at: Some(self.decision.decided_at),
            resolved_by: Some(self.decision.decided_by),
            ..self.approval.clone()
        }
    }

    pub(crate) fn mint(&self) -> Result<CapabilityGrant, Refusal> {
        let approval = self.granted();
        let approved =
            Approved { approval: &approval, decision: &self.decision, packet: &self.packet, first: None };
        grant::mint(&MintInput { approved: Some(approved), ..self.input() })
    }

    /// Without any yes.
    pub(crate) fn input(&self) -> MintInput<'_> {
        MintInput {
            grant_id: id!(GrantId, 9),
            request: &self.request,
            request_sha256: digest(&self.request),
            policy: &self.policy,
            approved: None,
            standing: None,
            observed: Some(&self.observed),
            decision_ref: Some(id!(DecisionId, 10)),
            issued_to: HANDS,
            issued_by: KERNEL,
            now: self.now,
        }
    }
}

pub(crate) fn pending(packet: &ApprovalPacket) -> Approval {
    Approval {
        approval_id: packet.approval_id,
        task_id: packet.task_id,
        step_id: packet.step_id,
        attempt_id: packet.attempt_id,
        status: ApprovalStatus::Pending,
        approval_type: packet.action_request.action_class,
        requested_action_ref: id!(ArtifactId, 11),
        approval_packet_ref: id!(ArtifactId, 12),
        approval_packet_sha256: digest(packet),
        requested_at: packet.requested_at,
        resolved_at: None,
        resolved_by: None,
        expires_at: packet.expires_at,
        state_witness_ref: packet.state_witness.as_ref().map(|witness| witness.witness_id),
        policy_result_ref: id!(ArtifactId, 13),
    }
}

pub(crate) fn key() -> SeedSigner {
    SeedSigner::from_seed([42; 32])
}
