// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Action classes: the union of HK-7 and HK-16.4 (reconciliation C36). */
export const ACTION_CLASS = [
  /** Look at local files. */
  "read_local",
  /** Create or change local files. */
  "write_local",
  /** Delete local files. */
  "delete_local",
  /** Run a program. */
  "execute_command",
  /** Read from the network. */
  "network_read",
  /** Write to the network. */
  "network_write",
  /** Call an interface that needs a credential. */
  "credentialed_api_call",
  /** Change version control. */
  "vcs_mutation",
  /** Publish. */
  "publication",
  /** Pay or spend. */
  "payment",
  /** Promote to durable memory. */
  "durable_memory_write",
  /** Have done by somebody else's tool what nobody has classified. */
  "external_effect",
  /** Change what Hermit itself may do: its rules, tools, schedules and peers. */
  "capability_change",
  /** Override policy. */
  "policy_override",
  /** Undo an earlier act. */
  "rollback",
  /** Resolve an approval. */
  "approval_resolution",
] as const;
export type ActionClass = (typeof ACTION_CLASS)[number];

/** Where a proposed action stands. */
export const ACTION_STATE = [
  /** Normalised, not judged. */
  "requested",
  /** Policy allows it. */
  "allowed",
  /** A person is asked. */
  "awaiting_approval",
  /** A person said yes. */
  "approved",
  /** Policy or a person said no, or nobody answered. */
  "refused",
  /** Policy allows a lesser form only. */
  "downgraded",
  /** Authority exists. */
  "granted",
  /** Under way. */
  "dispatched",
  /** Its outcome is known. */
  "observed",
  /** Its outcome is not known. */
  "uncertain",
] as const;
export type ActionState = (typeof ACTION_STATE)[number];

/** How far an effect can be taken back. */
export const REVERSIBILITY = [
  /** Nothing to take back. */
  "no_effect",
  /** Fully, from what Hermit keeps. */
  "reversible",
  /** In part. */
  "partial",
  /** Not at all. */
  "irreversible",
] as const;
export type Reversibility = (typeof REVERSIBILITY)[number];

/** Receipt classes (HK-18.1). */
export const RECEIPT_CLASS = [
  /** A tool ran. */
  "tool_execution",
  /** A command ran. */
  "command_execution",
  /** Something was published. */
  "publish",
  /** Knowledge was promoted. */
  "memory_promotion",
  /** A person answered. */
  "approval_resolution",
  /** An act was undone. */
  "rollback",
  /** An unknown outcome was settled. */
  "observation_resolution",
] as const;
export type ReceiptClass = (typeof RECEIPT_CLASS)[number];

/** How a trial in a staged view came out (governance.md 5). */
export const TRIAL_OUTCOME = [
  /** It ran, and what it did is what a person is shown. */
  "staged",
  /** It cannot run in a view here; it would run in the folder itself, after a yes. */
  "not_staged",
  /** It came to nothing that could be approved. */
  "failed",
] as const;
export type TrialOutcome = (typeof TRIAL_OUTCOME)[number];

/** How it went. */
export const RESULT_CODE = [
  /** All of it happened. */
  "succeeded",
  /** None of it happened. */
  "failed",
  /** Some of it happened; items say which. */
  "partial",
  /** It is not known whether it happened (HK-19.4). */
  "unknown_outcome",
  /** A person allowed it. */
  "granted",
  /** A person refused it. */
  "denied",
] as const;
export type ResultCode = (typeof RESULT_CODE)[number];

/** How one item of an act went. */
export const ITEM_OUTCOME = [
  /** It happened. */
  "done",
  /** It did not. */
  "not_done",
  /** Not known. */
  "unknown",
] as const;
export type ItemOutcome = (typeof ITEM_OUTCOME)[number];

/** Which walls stood around an act. */
export const SANDBOX_LEVEL = [
  /** The kernel's own file executor, beneath the lease root. */
  "beneath",
  /** Namespaces, Landlock and seccomp. */
  "namespaces_landlock",
  /** Namespaces without Landlock. */
  "namespaces",
  /** Landlock and seccomp without namespaces. */
  "landlock",
  /** No walls; only where the profile says so. */
  "unconfined",
  /** Nothing ran. */
  "not_applicable",
] as const;
export type SandboxLevel = (typeof SANDBOX_LEVEL)[number];

/** How far content may be relied on (HK-15.4). */
export const TRUST_TIER = [
  /** From outside, unchecked. */
  "untrusted",
  /** Seen by an executor of this machine. */
  "observed",
  /** Checked against something independent. */
  "verified",
  /** A person says so. */
  "user_asserted",
  /** Policy says so. */
  "policy_asserted",
] as const;
export type TrustTier = (typeof TRUST_TIER)[number];

/** Belief states (HK-8.6-4). */
export const BELIEF_STATUS = [
  /** Held. */
  "active",
  /** A newer one took its place. */
  "superseded",
  /** Another says otherwise. */
  "contradicted",
  /** Taken back. */
  "revoked",
  /** Too old. */
  "expired",
] as const;
export type BeliefStatus = (typeof BELIEF_STATUS)[number];

/** Memory states (HK-8.7-4). */
export const MEMORY_STATUS = [
  /** Held. */
  "active",
  /** Found wrong, or superseded. */
  "invalidated",
  /** Taken back. */
  "revoked",
  /** Too old. */
  "expired",
] as const;
export type MemoryStatus = (typeof MEMORY_STATUS)[number];

/** The six profiles of HK-16.3. */
export const PROFILE = [
  /** Look, never touch. */
  "readonly_analysis",
  /** Edits below the workspace, each asked for unless allowed. */
  "local_edit_allowed",
  /** As above, and may read from the network. */
  "network_read_allowed",
  /** Edits, commands and version control, consequential ones gated. */
  "repo_mutation_gated",
  /** Publication possible, each one gated. */
  "external_publish_gated",
  /** Nothing that destroys, whoever asks. */
  "destructive_denied",
  /** Background work: reads, and proposes changes that wait for a person. */
  "service",
] as const;
export type Profile = (typeof PROFILE)[number];

/** Exactly one of these comes back (HK-16.5). */
export const POLICY_VERDICT = [
  /** May run. */
  "allow",
  /** A person must allow it first. */
  "require_approval",
  /** May not run. */
  "deny",
  /** May run only in a lesser form. */
  "downgrade",
] as const;
export type PolicyVerdict = (typeof POLICY_VERDICT)[number];

/** How much is at stake (HK-16.2). */
export const RISK_BAND = [
  /** Read, or trivially undone. */
  "low",
  /** Undone with what Hermit keeps. */
  "moderate",
  /** Hard to undo, or wide. */
  "high",
  /** Cannot be undone, or leaves the machine. */
  "critical",
] as const;
export type RiskBand = (typeof RISK_BAND)[number];

/** What a rule does when it is met. */
export const RULE_EFFECT = [
  /** Permits. */
  "permit",
  /** Forbids, whatever a person says. */
  "forbid",
  /** Asks a person. */
  "ask",
  /** Allows a lesser form only. */
  "downgrade",
] as const;
export type RuleEffect = (typeof RULE_EFFECT)[number];

/** Approval states (HK-8.9). */
export const APPROVAL_STATUS = [
  /** Waits. */
  "pending",
  /** A person said yes. */
  "granted",
  /** A person said no. */
  "denied",
  /** Its time ran out; that decides nothing in favour. */
  "expired",
  /** Its task was cancelled. */
  "cancelled",
  /** What it was about has changed. */
  "invalidated",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUS)[number];

/** Where a decision was taken. */
export const SURFACE = [
  /** A terminal on its controlling TTY. */
  "terminal",
  /** The app's approval window. */
  "approval_window",
  /** A browser with the approval passphrase or a passkey. */
  "browser",
  /** The test kit's own person. */
  "test",
  /** The run API: may deny only. */
  "run_api",
  /** MCP: may deny only. */
  "mcp",
  /** The command line without a terminal: may deny only. */
  "script",
  /** The app's main window: may deny only. */
  "main_window",
  /** A native notification: may deny only. */
  "notification",
] as const;
export type Surface = (typeof SURFACE)[number];

/** What a key signs; no key serves two purposes (proof.md 3). */
export const KEY_PURPOSE = [
  /** Checkpoints. */
  "log",
  /** Receipts and statements. */
  "receipt",
  /** `SHA256SUMS` of a bundle. */
  "manifest",
  /** A person's decisions. */
  "approval",
] as const;
export type KeyPurpose = (typeof KEY_PURPOSE)[number];

/** What a project is told by. */
export const PROJECT_SOURCE = [
  /** The address of a git remote. */
  "remote",
  /** The folder itself. */
  "folder",
] as const;
export type ProjectSource = (typeof PROJECT_SOURCE)[number];

/** The surface a message came through. */
export const CHANNEL = [
  /** The command line. */
  "cli",
  /** The desktop app. */
  "app",
  /** The run API. */
  "run_api",
  /** MCP. */
  "mcp",
  /** A webhook. */
  "webhook",
  /** The scheduler. */
  "scheduler",
  /** The kernel itself. */
  "system",
] as const;
export type Channel = (typeof CHANNEL)[number];

/** Task states (HK-12.1). */
export const TASK_STATUS = [
  /** Recorded, not yet accepted for work. */
  "created",
  /** May be picked up. */
  "ready",
  /** An attempt holds a live lease. */
  "running",
  /** Waits for a person or the outside. */
  "blocked",
  /** A person asked it to wait. */
  "paused",
  /** Its contract is fulfilled. */
  "completed",
  /** It ended without fulfilling its contract. */
  "failed",
  /** A person ended it. */
  "cancelled",
  /** Its effects were undone. */
  "rolled_back",
] as const;
export type TaskStatus = (typeof TASK_STATUS)[number];

/** Run status, table T1 of the reconciliation; a projection of task and attempt. */
export const RUN_STATUS = [
  /** Not picked up yet. */
  "queued",
  /** At work. */
  "running",
  /** A person is asked to allow. */
  "awaiting_approval",
  /** A person is asked a question. */
  "awaiting_clarify",
  /** A person asked it to wait. */
  "paused",
  /** Asked to end, not ended yet. */
  "cancelling",
  /** Ended by a person. */
  "cancelled",
  /** Ended badly. */
  "failed",
  /** Ended well. */
  "completed",
  /** Ended because an approval, grant or deadline ran out. */
  "expired",
] as const;
export type RunStatus = (typeof RUN_STATUS)[number];

/** Whose no it was. */
export const REFUSED_BY = [
  /** A rule denied it. */
  "policy",
  /** A person denied it. */
  "person",
] as const;
export type RefusedBy = (typeof REFUSED_BY)[number];

/** Who something that came in comes from. */
export const ORIGIN = [
  /** A person of this machine. */
  "person",
  /** Another program. */
  "program",
  /** A background service of Hermit itself. */
  "service",
  /** A job of the scheduler. */
  "scheduler",
] as const;
export type Origin = (typeof ORIGIN)[number];

/** How urgent a task is. */
export const PRIORITY = [
  /** Behind everything else. */
  "low",
  /** The usual. */
  "normal",
  /** Before everything else. */
  "high",
] as const;
export type Priority = (typeof PRIORITY)[number];

/** Step states (HK-12.2). */
export const STEP_STATUS = [
  /** Known, its dependencies open. */
  "planned",
  /** May be attempted. */
  "ready",
  /** An attempt is at work. */
  "running",
  /** Its attempt waits. */
  "blocked",
  /** Its contract is fulfilled. */
  "succeeded",
  /** It ran out of attempts. */
  "failed",
  /** A person ended it. */
  "cancelled",
  /** Another step took its place. */
  "superseded",
] as const;
export type StepStatus = (typeof STEP_STATUS)[number];

/** Attempt states (HK-12.3, with `awaiting_input` of C3). */
export const ATTEMPT_STATUS = [
  /** Numbered, nothing held yet. */
  "created",
  /** Holds its workspace lease. */
  "leased",
  /** Its context pack is being compiled. */
  "compiling_context",
  /** The model is asked. */
  "reasoning",
  /** A request is before policy. */
  "awaiting_policy",
  /** A person is asked to allow. */
  "awaiting_approval",
  /** A person is asked a question. */
  "awaiting_input",
  /** A grant exists, nothing is dispatched. */
  "authorized",
  /** Dispatched; the effect may have begun. */
  "executing",
  /** The outcome is being established. */
  "observing",
  /** The outcome is known, its receipt is not yet issued. */
  "receipt_pending",
  /** Ended well. */
  "succeeded",
  /** Ended badly. */
  "failed",
  /** Ended by a person. */
  "cancelled",
  /** Another attempt took its place. */
  "superseded",
] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUS)[number];

/** Why a run of the loop ended (reconciliation T2). */
export const TERMINATION_REASON = [
  /** The `done` tool, or a final answer without a tool call. */
  "done",
  /** The cap of iterations was reached. */
  "max_iterations",
  /** Nothing new for too long. */
  "no_progress",
  /** A tool failed again and again. */
  "repeated_tool_failure",
  /** A tool failed beyond repair. */
  "fatal_tool_error",
  /** The model's answers stayed malformed. */
  "malformed_output",
  /** The model could not be reached. */
  "model_unavailable",
  /** A budget is spent. */
  "budget_spent",
  /** A person cancelled. */
  "cancelled",
  /** A person said no and there was no other way. */
  "approval_denied",
  /** An approval, grant or deadline ran out. */
  "expired",
  /** The outcome of an effect is not known. */
  "unknown_outcome",
  /** The gate was halted. */
  "gate_halted",
] as const;
export type TerminationReason = (typeof TERMINATION_REASON)[number];

/** How a call of another program's agent stands. */
export const CALL_STATUS = [
  /** On its way. */
  "working",
  /** A person is asked to allow it. */
  "awaiting_approval",
  /** A person is asked what the agent asks. */
  "awaiting_answer",
  /** It may have happened, and a person settles whether it did. */
  "unknown_outcome",
  /** A person has paused the task. */
  "paused",
  /** Keys are locked, and receipts wait for them. */
  "key_locked",
  /** Hermit is halted. */
  "halted",
  /** It was done, or failed in the doing. */
  "done",
  /** A person refused it. */
  "refused",
  /** Policy denies it. */
  "denied",
  /** Another call is at work, and nothing of this one was taken. */
  "behind",
  /** The task has ended, and nothing came of it. */
  "ended",
] as const;
export type CallStatus = (typeof CALL_STATUS)[number];

/** Who proposes in an attempt. */
export const PROPOSER = [
  /** A model that is asked turn by turn. */
  "openai",
  /** A typed list of proposals. */
  "playbook",
  /** A transcript that is replayed. */
  "recorded",
  /** Proposals that a test hands over. */
  "scripted",
  /** The kernel, which plans the inverse of receipts. */
  "rollback",
  /** Another program's agent, call by call. */
  "session",
  /** The kernel, which puts a change of servers of tools to a person. */
  "tools",
] as const;
export type Proposer = (typeof PROPOSER)[number];

/** The tool of an act. */
export const TOOL = [
  "observe",
  "change",
  "command",
  "fetch",
  "vcs",
  "remember",
  "rollback",
  "call",
  "register",
] as const;
export type Tool = (typeof TOOL)[number];
