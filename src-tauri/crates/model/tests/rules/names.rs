//! Every closed list holds the names of the documents, in their spelling, and reads back what it writes.

use model::action::{ActionClass, Reversibility};
use model::approval::{ApprovalStatus, Choice, Shape, Surface};
use model::artifact::{ArtifactClass, ArtifactKind, RetentionClass, Sensitivity, TrustTier};
use model::attempt::{AttemptPhase, AttemptStatus, LeaseMode, TerminationReason};
use model::audit::{GateDecision, KernelState};
use model::body::{Boundary, KeyPurpose};
use model::context::Section;
use model::decision::DecisionClass;
use model::event::EntityType;
use model::fault::Point;
use model::ingress::{Channel, ClarificationStatus, IngressResolution, IngressStatus};
use model::knowledge::{BeliefStatus, MemoryStatus};
use model::policy::{Profile, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ItemOutcome, ReceiptClass, ReplayClass, ResultCode, SandboxLevel, Verifiability};
use model::slot::Absence;
use model::task::{CriterionOutcome, ParallelismMode, Priority, StepKind, StepStatus, TaskStatus};

/// The whole list in its order, its JSON form, and what else it refuses.
macro_rules! list {
    ($name:ident, [$($text:literal),+ $(,)?]) => {{
        let names: Vec<&str> = $name::ALL.iter().map(|n| n.as_str()).collect();
        assert_eq!(names, [$($text),+], "{}", stringify!($name));
        for name in $name::ALL {
            assert_eq!(name.as_str().parse::<$name>().as_ref(), Ok(name));
            assert_eq!(serde_json::to_value(name).expect("it serialises"), serde_json::json!(name.as_str()));
            let read: $name = serde_json::from_value(serde_json::json!(name.as_str())).expect("it reads back");
            assert_eq!(read, *name);
            for wrong in [name.as_str().to_uppercase() + "_", format!(" {name}"), String::new()] {
                let error = wrong.parse::<$name>().expect_err("not a name").to_string();
                assert!(error.contains(name.as_str()), "{error} lists what it may be");
                assert!(serde_json::from_value::<$name>(serde_json::json!(wrong)).is_err());
            }
        }
    }};
}

/// As `list`, where the document's names come first and the house has more behind them.
macro_rules! at_least {
    ($name:ident, [$($text:literal),+ $(,)?]) => {{
        let names: Vec<&str> = $name::ALL.iter().map(|n| n.as_str()).collect();
        for text in [$($text),+] {
            assert!(names.contains(&text), "{} lacks `{text}`", stringify!($name));
        }
    }};
}

#[conforms::conforms("HK-12.1-1", "HK-12.2-1", "HK-12.3-1")]
#[test]
fn statuses_of_tasks_steps_and_attempts() {
    list!(
        TaskStatus,
        [
            "created",
            "ready",
            "running",
            "blocked",
            "paused",
            "completed",
            "failed",
            "cancelled",
            "rolled_back",
        ]
    );
    list!(
        StepStatus,
        ["planned", "ready", "running", "blocked", "succeeded", "failed", "cancelled", "superseded"]
    );
    // `awaiting_input` is added by reconciliation C3; the rest is HK-12.3.
    list!(
        AttemptStatus,
        [
            "created",
            "leased",
            "compiling_context",
            "reasoning",
            "awaiting_policy",
            "awaiting_approval",
            "awaiting_input",
            "authorized",
            "executing",
            "observing",
            "receipt_pending",
            "succeeded",
            "failed",
            "cancelled",
            "superseded",
        ]
    );
}

#[conforms::conforms(part = "HK-8.3-9")]
#[test]
fn phases_of_an_attempt() {
    list!(
        AttemptPhase,
        [
            "planning",
            "policy_pending",
            "awaiting_approval",
            "authorized_pre_exec",
            "executing",
            "observing",
            "settling",
        ]
    );
}

#[conforms::conforms("HK-15.4-1")]
#[test]
fn statuses_and_tiers_of_knowledge() {
    list!(BeliefStatus, ["active", "superseded", "contradicted", "revoked", "expired"]);
    list!(MemoryStatus, ["active", "invalidated", "revoked", "expired"]);
    list!(TrustTier, ["untrusted", "observed", "verified", "user_asserted", "policy_asserted"]);
}

#[conforms::conforms("HK-8.9-5")]
#[test]
fn names_of_approvals_principals_and_decisions() {
    list!(ApprovalStatus, ["pending", "granted", "denied", "expired", "cancelled", "invalidated"]);
    list!(
        PrincipalType,
        [
            "user",
            "supervisor",
            "agent",
            "service",
            "scheduler",
            "webhook",
            "policy_engine",
            "executor",
            "system",
        ]
    );
    list!(
        DecisionClass,
        ["planning", "execution", "safety", "memory", "publishing", "rollback", "uncertainty_resolution",]
    );
    list!(Choice, ["once", "standing", "deny"]);
    list!(Shape, ["exact", "argv_prefix", "path_glob", "host"]);
    list!(
        Surface,
        [
            "terminal",
            "approval_window",
            "browser",
            "test",
            "run_api",
            "mcp",
            "script",
            "main_window",
            "notification",
            "chat",
            "mesh"
        ]
    );
}

#[conforms::conforms("HK-16.2-1", "HK-16.3-2", part = "HK-16.4-1")]
#[test]
fn names_of_policy() {
    list!(RiskBand, ["low", "moderate", "high", "critical"]);
    list!(
        Profile,
        [
            "readonly_analysis",
            "local_edit_allowed",
            "network_read_allowed",
            "repo_mutation_gated",
            "external_publish_gated",
            "destructive_denied",
            "service",
        ]
    );
    list!(Verdict, ["allow", "require_approval", "deny", "downgrade"]);
    // HK-16.4, `policy_override`, `approval_resolution` of HK-7 (reconciliation C36), and what changes Hermit itself.
    list!(
        ActionClass,
        [
            "read_local",
            "write_local",
            "delete_local",
            "execute_command",
            "network_read",
            "network_write",
            "credentialed_api_call",
            "vcs_mutation",
            "publication",
            "payment",
            "durable_memory_write",
            "external_effect",
            "capability_change",
            "policy_override",
            "rollback",
            "approval_resolution",
        ]
    );
    list!(Reversibility, ["no_effect", "reversible", "partial", "irreversible"]);
}

#[test]
fn the_important_classes_are_those_of_the_document() {
    let plain: Vec<_> = ActionClass::ALL.iter().filter(|c| !c.is_important()).map(|c| c.as_str()).collect();
    assert_eq!(plain, ["read_local", "network_read"], "every other class of HK-7 demands a receipt");
}

#[test]
fn the_classes_that_need_a_witness_or_a_decision_are_those_of_the_document() {
    let needing = |needs: fn(ActionClass) -> bool| -> Vec<&str> {
        ActionClass::ALL.iter().filter(|c| needs(**c)).map(|c| c.as_str()).collect()
    };
    // HK-16.8.
    assert_eq!(
        needing(ActionClass::needs_witness),
        [
            "write_local",
            "delete_local",
            "network_write",
            "credentialed_api_call",
            "vcs_mutation",
            "publication",
            "external_effect",
            "capability_change",
            "rollback",
        ]
    );
    // HK-6.2-3; rollback is destructive of what is there now.
    assert_eq!(
        needing(ActionClass::needs_decision),
        [
            "delete_local",
            "network_write",
            "credentialed_api_call",
            "vcs_mutation",
            "publication",
            "payment",
            "external_effect",
            "capability_change",
            "policy_override",
            "rollback",
        ]
    );
}

#[test]
fn a_grant_comes_only_from_a_surface_with_a_person_at_it() {
    let may: Vec<_> = Surface::ALL.iter().filter(|s| s.may_grant()).map(|s| s.as_str()).collect();
    assert_eq!(may, ["terminal", "approval_window", "browser", "test", "mesh"]);
}

#[conforms::conforms(part = "HK-14.1-1")]
#[test]
fn classes_of_artifacts() {
    list!(ArtifactClass, ["source", "working", "derived", "evidence", "deliverable", "audit"]);
    list!(Sensitivity, ["public", "private", "secret"]);
    list!(RetentionClass, ["permanent", "task", "ephemeral"]);
}

#[test]
fn kinds_of_artifacts() {
    at_least!(
        ArtifactKind,
        [
            "context.pack",
            "context.summary",
            "action.request",
            "policy.result",
            "approval.packet",
            "state.witness",
            "environment.snapshot",
            "workspace.snapshot",
            "search.bundle",
            "web.snapshot",
            "file.snapshot",
            "patch",
            "diff",
            "command.transcript",
            "test.report",
            "image",
            "binary.attachment",
            "belief.extract",
            "memory.promotion",
            "receipt.bundle",
        ]
    );
}

#[test]
fn kinds_of_artifacts_in_their_order() {
    list!(
        ArtifactKind,
        [
            "context.pack",
            "context.summary",
            "answer.check",
            "action.request",
            "policy.result",
            "approval.packet",
            "approval.decision",
            "state.witness",
            "environment.snapshot",
            "workspace.snapshot",
            "search.bundle",
            "web.snapshot",
            "file.snapshot",
            "patch",
            "diff",
            "command.transcript",
            "test.report",
            "image",
            "binary.attachment",
            "belief.extract",
            "memory.promotion",
            "receipt.bundle",
            "task.contract",
            "step.contract",
            "capability.grant",
            "working.state",
            "model.request",
            "model.response",
            "model.answer",
            "playbook",
            "tool.manifest",
            "guest.launch",
            "guest.report",
            "guest.sent",
            "policy.rules",
            "skill",
            "skill.text",
            "transcript",
            "action.result",
            "answer",
            "message",
            "quote",
            "playbook.draft",
            "schedule",
            "skin",
            "gateway",
            "chat.message",
            "soul",
            "identity.link",
            "successor.patch",
            "successor.evidence",
            "successor.verdict",
            "training.dataset",
            "training.sources",
            "training.adapter",
            "training.measures",
            "model.card",
        ]
    );
}

#[conforms::conforms(part = "HK-18.1-1", part = "HK-18.3-1", part = "HK-18.5-1")]
#[test]
fn names_of_receipts() {
    list!(
        ReceiptClass,
        [
            "tool_execution",
            "command_execution",
            "publish",
            "memory_promotion",
            "approval_resolution",
            "rollback",
            "observation_resolution",
        ]
    );
    list!(Verifiability, ["hash_only", "hash_chained", "signed", "signed_with_inclusion_proof"]);
    list!(ReplayClass, ["deterministic_replay", "idempotent_replay", "observe_only", "explain_only"]);
    list!(ResultCode, ["succeeded", "failed", "partial", "unknown_outcome", "granted", "denied"]);
    list!(ItemOutcome, ["done", "not_done", "unknown"]);
    list!(
        SandboxLevel,
        [
            "beneath",
            "namespaces_landlock",
            "namespaces",
            "landlock",
            "seatbelt",
            "seatbelt_open",
            "app_container",
            "restricted_token",
            "unconfined",
            "not_applicable",
        ]
    );
    list!(Absence, ["not_required", "not_applicable", "precedes_task", "unavailable"]);
}

#[conforms::conforms(part = "HK-8.1.3-1")]
#[test]
fn names_of_leases_and_ingress() {
    list!(LeaseMode, ["readonly", "mutable", "isolated", "external_effects_disabled"]);
    list!(
        IngressResolution,
        [
            "control",
            "approval",
            "append_note",
            "fork_child",
            "start_new_root",
            "chat_only",
            "pending_disambiguation",
        ]
    );
    list!(IngressStatus, ["received", "bound", "pending_disambiguation"]);
    list!(ClarificationStatus, ["pending", "answered", "expired", "cancelled"]);
    list!(Channel, ["cli", "app", "run_api", "mcp", "webhook", "scheduler", "system", "acp", "chat", "mesh"]);
    list!(Boundary, ["pre_policy", "post_policy", "pre_exec", "post_observation", "pre_compilation"]);
}

#[test]
fn sections_of_a_context_pack_stand_in_their_precedence() {
    list!(
        Section,
        [
            "task_contract",
            "step_contract",
            "policy",
            "decisions",
            "working_state",
            "beliefs",
            "memory",
            "artifacts",
            "ingress",
            "session",
        ]
    );
    assert!(Section::ALL.is_sorted(), "the order of the list is the precedence");
}

#[conforms::conforms("KS-4.1-1", "KS-4.2-1")]
#[test]
fn states_and_decisions_of_the_gate() {
    list!(KernelState, ["BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED"]);
    list!(GateDecision, ["ALLOW", "DENY", "HALT"]);
    // And the kinds of steps.
    let kinds: Vec<&str> = StepKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let examples =
        "plan search inspect edit run_tests prepare_patch await_approval publish_result observe_remote";
    assert_eq!(kinds.join(" "), format!("pursue rollback observe ingest promote {examples}"));
}

#[rustfmt::skip] // A word a line would be a screen of its own.
#[test]
fn the_rest_of_the_closed_lists() {
    list!(Priority, ["low", "normal", "high"]);
    list!(ParallelismMode, ["serial", "parallel"]);
    list!(KeyPurpose, ["log", "receipt", "manifest", "approval"]);
    // RX-5 and reconciliation T2.
    list!(
        TerminationReason,
        [
            "done",
            "max_iterations",
            "no_progress",
            "repeated_tool_failure",
            "fatal_tool_error",
            "malformed_output",
            "model_unavailable",
            "budget_spent",
            "cancelled",
            "approval_denied",
            "expired",
            "unknown_outcome",
            "gate_halted",
            "criteria_unmet",
        ]
    );
    list!(CriterionOutcome, ["met", "unmet", "unchecked"]);
    list!(
        EntityType,
        [
            "store", "key", "host", "gate", "checkpoint", "principal", "workspace", "conversation", "ingress",
            "task", "step", "attempt", "artifact", "working_state", "belief", "memory", "decision", "approval",
            "clarification", "witness", "policy_result", "action_request", "grant", "receipt", "secret", "tool_server", "skill",
            "schedule", "skin", "gateway", "identity", "anchor", "mesh", "successor", "training",
        ]
    );
    assert!(Point::ALL.iter().all(|point| point.as_str().parse().ok() == Some(*point)));
}
