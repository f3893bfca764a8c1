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
  /** A Seatbelt profile; whatever was tried against it was refused. */
  "seatbelt",
  /** A Seatbelt profile that let something through when it was tried, or of which something could not be tried. */
  "seatbelt_open",
  /** An AppContainer and a job object. */
  "app_container",
  /** A restricted token and a job object, without a hold on the network. */
  "restricted_token",
  /** No walls; only where the profile says so. */
  "unconfined",
  /** Nothing ran. */
  "not_applicable",
] as const;
export type SandboxLevel = (typeof SANDBOX_LEVEL)[number];

/** Whether the changes that are listed are still to come. */
export const TENSE = [
  /** Of an approval: they would be made. */
  "ahead",
  /** Of a receipt: they were made. */
  "done",
] as const;
export type Tense = (typeof TENSE)[number];

/** Changes to one place of a folder. */
export const CHANGE_KIND = [
  /** A file is deleted. */
  "delete",
  /** A file is created or replaced. */
  "write",
  /** A file or folder is moved. */
  "move",
  /** A folder is made. */
  "folder",
  /** A symbolic link is made. */
  "link",
] as const;
export type ChangeKind = (typeof CHANGE_KIND)[number];

/** Changes to one place by which an act is undone. */
export const UNDO_KIND = [
  /** A file that was deleted comes back. */
  "restore",
  /** A file gets its earlier bytes. */
  "replace",
  /** A file that was made goes. */
  "delete",
  /** An empty folder that was made goes. */
  "delete_folder",
  /** A file or folder goes back to where it was. */
  "move",
  /** A folder that was deleted comes back. */
  "make_folder",
  /** A folder gets its earlier permissions. */
  "mode",
  /** A symbolic link comes back. */
  "link",
] as const;
export type UndoKind = (typeof UNDO_KIND)[number];

/** Reasons why the text of a file is not shown. */
export const NO_TEXT = [
  /** Its bytes are no text. */
  "binary",
  /** It is too long to be shown. */
  "large",
  /** Its bytes are no longer kept. */
  "gone",
  /** The folder holds other bytes now. */
  "drifted",
  /** The answer was full: the row is asked for by itself. */
  "later",
] as const;
export type NoText = (typeof NO_TEXT)[number];

/** Artifact classes (HK-14.1). */
export const ARTIFACT_CLASS = [
  /** Came from outside. */
  "source",
  /** In the making. */
  "working",
  /** Computed from others. */
  "derived",
  /** Supports a claim or a decision. */
  "evidence",
  /** What was asked for. */
  "deliverable",
  /** Shows what the kernel did. */
  "audit",
] as const;
export type ArtifactClass = (typeof ARTIFACT_CLASS)[number];

/** Artifact kinds (HK-14.1, and those the kernel itself needs). */
export const ARTIFACT_KIND = [
  /** What an attempt was given to think with. */
  "context.pack",
  /** What stands in a context in the place of the oldest turns. */
  "context.summary",
  /** What bears the sentences of a closing answer. */
  "answer.check",
  /** A typed proposal. */
  "action.request",
  /** What policy said. */
  "policy.result",
  /** What a person is shown. */
  "approval.packet",
  /** What a person signed. */
  "approval.decision",
  /** Observed preconditions. */
  "state.witness",
  /** Facts about machine and process. */
  "environment.snapshot",
  /** A folder's manifest. */
  "workspace.snapshot",
  /** What a search found. */
  "search.bundle",
  /** A page as fetched. */
  "web.snapshot",
  /** A file as it was. */
  "file.snapshot",
  /** A change to apply. */
  "patch",
  /** A change as found. */
  "diff",
  /** What a command printed. */
  "command.transcript",
  /** What tests said. */
  "test.report",
  /** A picture. */
  "image",
  /** Any other file taken in. */
  "binary.attachment",
  /** A claim taken from a source. */
  "belief.extract",
  /** A promotion to durable memory. */
  "memory.promotion",
  /** A sealed proof. */
  "receipt.bundle",
  /** What a task promises. */
  "task.contract",
  /** What a step promises. */
  "step.contract",
  /** A scoped authority record. */
  "capability.grant",
  /** Bounded execution state. */
  "working.state",
  /** The exact bytes sent to a model. */
  "model.request",
  /** The exact bytes a model answered. */
  "model.response",
  /** A model's answer, as read from its bytes. */
  "model.answer",
  /** A playbook's text. */
  "playbook",
  /** A server of tools: how it is started, and what it says it offers. */
  "tool.manifest",
  /** A guest: which agent of another program, how it is started, and what it may reach. */
  "guest.launch",
  /** What a turn of a guest came to: what it changed in its view, and what it told of itself. */
  "guest.report",
  /** What a guest sent to the hosts of its secrets, stand-ins in the place of values. */
  "guest.sent",
  /** A person's own rules of policy, all of them. */
  "policy.rules",
  /** A skill that a person trusted: what it says of itself, and its files by their digests. */
  "skill",
  /** One file of a skill, or what a model read of it. */
  "skill.text",
  /** A transcript of model answers. */
  "transcript",
  /** What an action gave back. */
  "action.result",
  /** A final answer. */
  "answer",
  /** Text a person gave. */
  "message",
  /** A passage that words quote. */
  "quote",
  /** A playbook that was drafted from what recurs, and what came of trying it. */
  "playbook.draft",
  /** A schedule: when a task is begun by itself, and what it does. */
  "schedule",
  /** The file of a skin that a person trusted. */
  "skin",
  /** A gateway: a chat service, and what tasks of its senders are. */
  "gateway",
  /** What came in or goes out over a gateway. */
  "chat.message",
  /** SOUL.md in one version, as a person approved it. */
  "soul",
  /** A signed link of an instance's chain. */
  "identity.link",
  /** A change of Hermit itself that is tried. */
  "successor.patch",
  /** What a clone with a change, or without one, left of a trial. */
  "successor.evidence",
  /** The verdict on a change of Hermit itself. */
  "successor.verdict",
  /** Examples of finished work, one a line. */
  "training.dataset",
  /** Where each example of a dataset came from. */
  "training.sources",
  /** What a model learned, apart from its weights. */
  "training.adapter",
  /** What a model could before it learned, and after. */
  "training.measures",
  /** What a model is, what it was made of, how it was measured, and what it is not for. */
  "model.card",
] as const;
export type ArtifactKind = (typeof ARTIFACT_KIND)[number];

/** How private content is. */
export const SENSITIVITY = [
  /** May be shown to anyone. */
  "public",
  /** Of this machine's owner. */
  "private",
  /** Holds what must not leave. */
  "secret",
] as const;
export type Sensitivity = (typeof SENSITIVITY)[number];

/** How long content is kept. */
export const RETENTION_CLASS = [
  /** As long as the ledger. */
  "permanent",
  /** While its task can be undone or explained. */
  "task",
  /** May be compacted when its task has ended. */
  "ephemeral",
] as const;
export type RetentionClass = (typeof RETENTION_CLASS)[number];

/** Whether an artifact's content is kept. */
export const ARTIFACT_STATE = [
  /** Kept. */
  "live",
  /** Folded into another. */
  "compacted",
  /** No longer kept; its digest is. */
  "expired",
] as const;
export type ArtifactState = (typeof ARTIFACT_STATE)[number];

/** How far was looked for what came of something. */
export const TRACE_SCOPE = [
  /** Through the whole store. */
  "store",
  /** Through the task, those it derives from and those derived from it: the log is too long to fold whole. */
  "family",
] as const;
export type TraceScope = (typeof TRACE_SCOPE)[number];

/** A chat service that a gateway speaks to. */
export const SERVICE = [
  /** Telegram, as a bot. */
  "telegram",
  /** Matrix, as a user of a server. */
  "matrix",
  /** Mail, over IMAP and SMTP. */
  "mail",
  /** Slack, as an app. */
  "slack",
  /** Discord, as a bot. */
  "discord",
  /** Nostr, by private messages at relays. */
  "nostr",
  /** A program of the person's own, by signed calls. */
  "webhook",
] as const;
export type Service = (typeof SERVICE)[number];

/** How a gateway stands. */
export const GATEWAY_STATE = [
  /** It is listened to, and sends. */
  "active",
  /** It neither listens nor sends until a person resumes it. */
  "paused",
  /** It is removed. */
  "removed",
] as const;
export type GatewayState = (typeof GATEWAY_STATE)[number];

/** What a sender who is paired may do. */
export const SENDER_PROFILE = [
  /** Give goals: tasks of theirs have the gateway's policy profile. */
  "goals",
  /** Only ask: tasks of theirs look at files and change nothing. */
  "ask",
] as const;
export type SenderProfile = (typeof SENDER_PROFILE)[number];

/** Why a message was refused. */
export const MESSAGE_REFUSAL = [
  /** It is none that can be read. */
  "unreadable",
  /** It is larger than a message may be. */
  "too_large",
  /** It was made by another node, or for another conversation. */
  "elsewhere",
  /** Nobody who may sign it has signed it. */
  "unsigned",
  /** It is older than what is still acted upon, or comes from the future. */
  "stale",
  /** It came before. */
  "repeated",
  /** It is not the next one of its chat. */
  "out_of_order",
  /** Nobody paired its sender. */
  "not_paired",
  /** It is a code of nobody, or one whose time is up. */
  "wrong_code",
  /** Its sender is not heard for a while. */
  "silenced",
  /** The button it presses is not of this sender and chat, or was used. */
  "wrong_button",
  /** Its gateway is paused or removed. */
  "not_active",
] as const;
export type MessageRefusal = (typeof MESSAGE_REFUSAL)[number];

/** What a message that came in is. */
export const MESSAGE_USE = [
  /** Words: a goal, or input of a task. */
  "words",
  /** It pairs its sender. */
  "pairing",
  /** It asks how tasks stand. */
  "status",
  /** It stops a task. */
  "stop",
  /** It denies an approval. */
  "deny",
  /** It could not be used; its sender is told why. */
  "unusable",
] as const;
export type MessageUse = (typeof MESSAGE_USE)[number];

/** What a message that goes out tells. */
export const MESSAGE_ABOUT = [
  /** How a task ended. */
  "outcome",
  /** What a task asks. */
  "question",
  /** That an approval waits for a person. */
  "approval",
  /** What became of a message. */
  "reply",
  /** How a task stands by now, in one message that is changed as it goes on. */
  "state",
] as const;
export type MessageAbout = (typeof MESSAGE_ABOUT)[number];

/** How a message that goes out stands. */
export const MESSAGE_STATE = [
  /** It waits to be sent. */
  "queued",
  /** It is being sent, or a person is asked whether it may be. */
  "sending",
  /** It was sent. */
  "sent",
  /** It may have been sent: nobody saw how that ended. */
  "unknown",
  /** It was not sent, and is not tried again. */
  "unsent",
] as const;
export type MessageState = (typeof MESSAGE_STATE)[number];

/** Why one key of an instance hands over to another. */
export const HANDOVER_REASON = [
  /** Its keys were rotated. */
  "rotation",
  /** A successor was adopted. */
  "successor",
] as const;
export type HandoverReason = (typeof HANDOVER_REASON)[number];

/** What follows attestations and hand-overs back to genesis found. */
export const TRUST_FINDING = [
  /** A signature does not hold. */
  "bad_signature",
  /** A link names a link before it that is not here. */
  "gap",
  /** Two links name the same one before them. */
  "fork",
  /** More than one link has nothing before it. */
  "second_genesis",
  /** A link is signed by a key that had handed over or was revoked before. */
  "revoked_key",
  /** A link is signed by a key to which nobody handed over. */
  "unknown_key",
  /** A link belongs to another instance. */
  "other_instance",
  /** The version or time of a link does not follow that of the one before it. */
  "out_of_order",
  /** Two keys of the instance and its log do not vouch for each other. */
  "no_log_key",
  /** A link is not in its canonical form, or too large. */
  "malformed",
] as const;
export type TrustFinding = (typeof TRUST_FINDING)[number];

/** A clock that stamps a head of the log. */
export const ANCHOR_CLOCK = [
  /** A time-stamp authority (RFC 3161). */
  "rfc3161",
  /** Calendars of OpenTimestamps, and through them Bitcoin. */
  "opentimestamps",
  /** A transaction of one's own with an OP_RETURN output. */
  "op_return",
] as const;
export type AnchorClock = (typeof ANCHOR_CLOCK)[number];

/** How an anchor stands at one clock. */
export const ANCHOR_STATE = [
  /** The clock has it, and nothing is proven yet. */
  "pending",
  /** Its time is proven as far as was asked for. */
  "anchored",
  /** It was proven, and the chain went another way since. */
  "withdrawn",
  /** The clock refused it, or gave an answer that proves nothing. */
  "failed",
] as const;
export type AnchorState = (typeof ANCHOR_STATE)[number];

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

/** What an explanation is of. */
export const EXPLAINED_KIND = [
  /** A receipt. */
  "receipt",
  /** An artifact. */
  "artifact",
  /** A file on disk, or a line of it. */
  "path",
] as const;
export type ExplainedKind = (typeof EXPLAINED_KIND)[number];

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

/** What kind of knowledge a memory record is (HV-3.4-3). */
export const MEMORY_TYPE = [
  /** What was decided. */
  "decision",
  /** How things are done here. */
  "pattern",
  /** What a person set right. */
  "correction",
  /** How things are built. */
  "architecture",
  /** What a person likes better. */
  "preference",
] as const;
export type MemoryType = (typeof MEMORY_TYPE)[number];

/** For how long a memory record is kept, and whether every context holds it (HK-8.7-3). */
export const MEMORY_RETENTION = [
  /** Until somebody says otherwise, and in every context of its project. */
  "pinned",
  /** Until somebody says otherwise. */
  "kept",
  /** Until its date. */
  "dated",
] as const;
export type MemoryRetention = (typeof MEMORY_RETENTION)[number];

/** By what a memory record was found for a context (memory.md 2). */
export const FOUND_BY = [
  /** Words that it shares with what the task is about. */
  "words",
  /** Its meaning, as an embedding model of this machine takes it. */
  "meaning",
  /** Both. */
  "both",
] as const;
export type FoundBy = (typeof FOUND_BY)[number];

/** What ends a memory record (HK-15.5-2). */
export const INVALIDATION_POLICY = [
  /** A person who takes it back or finds it wrong, or a newer record in its place. */
  "correction",
  /** These, and the end of the belief that it comes from. */
  "source",
  /** These, and its date. */
  "expiry",
] as const;
export type InvalidationPolicy = (typeof INVALIDATION_POLICY)[number];

/** Decision classes (HK-16.1). */
export const DECISION_CLASS = [
  /** Choose a plan. */
  "planning",
  /** Go on with an act. */
  "execution",
  /** Stop or lessen an act. */
  "safety",
  /** Promote or invalidate knowledge. */
  "memory",
  /** Publish. */
  "publishing",
  /** Undo. */
  "rollback",
  /** Settle what is not known. */
  "uncertainty_resolution",
] as const;
export type DecisionClass = (typeof DECISION_CLASS)[number];

/** How one thing came of another. */
export const EDGE_KIND = [
  /** A message started a task. */
  "started",
  /** A task, step or attempt has a part of its own. */
  "owns",
  /** A later task or attempt goes on where an earlier one stopped. */
  "continued",
  /** A contract binds a task or step. */
  "binds",
  /** An attempt made an artifact. */
  "produced",
  /** An artifact went into another. */
  "contributed",
  /** An artifact was folded into another. */
  "compacted",
  /** Evidence stands behind a claim or judgment. */
  "supports",
  /** A belief or artifact became memory. */
  "promoted",
  /** A belief or memory gave way to a newer one. */
  "superseded",
  /** Two beliefs say otherwise. */
  "contradicts",
  /** A pack was given to an attempt. */
  "informed",
  /** A pack was made into the bytes sent to a model. */
  "asked",
  /** A model answered. */
  "answered",
  /** An answer proposed an action. */
  "proposed",
  /** The artifact that records a thing. */
  "recorded",
  /** Policy judged an action. */
  "judged",
  /** Preconditions of an action were observed. */
  "guarded",
  /** A person was asked about an action. */
  "shown",
  /** A judgment, approval or policy result led to a grant. */
  "allowed",
  /** A grant permitted an effect. */
  "permitted",
  /** An action was carried out. */
  "executed",
  /** An effect left something behind. */
  "left",
  /** A receipt proves an act. */
  "proved",
  /** A receipt's act was undone by another's. */
  "undone",
  /** A decision, approval or receipt cites an artifact. */
  "cited",
] as const;
export type EdgeKind = (typeof EDGE_KIND)[number];

/** Kinds of what can come from something. */
export const NODE_KIND = [
  /** A message that came in. */
  "ingress",
  /** A task. */
  "task",
  /** A step. */
  "step",
  /** An attempt. */
  "attempt",
  /** An artifact. */
  "artifact",
  /** A belief. */
  "belief",
  /** A memory record. */
  "memory",
  /** A decision. */
  "decision",
  /** A proposed action. */
  "action",
  /** What policy said of it. */
  "policy_result",
  /** Preconditions observed for it. */
  "witness",
  /** An approval asked for it. */
  "approval",
  /** Authority minted for it. */
  "grant",
  /** What was done: an action that was dispatched. */
  "effect",
  /** The proof of it. */
  "receipt",
] as const;
export type NodeKind = (typeof NODE_KIND)[number];

/** What a line of a summary tells, the weightiest first: where not all lines fit, the last go. */
export const SUMMARY_LINE_KIND = [
  /** A person said no, and what they said with it. */
  "correction",
  /** A question to a person, and the answer. */
  "answer",
  /** An act that has a receipt. */
  "done",
  /** What failed, and what mended it. */
  "error",
  /** What the model said it wanted or had done, which nobody has verified. */
  "said",
  /** Words that a model left of lines that were said, looked at or quoted; each was checked against them. */
  "retold",
  /** What was looked at. */
  "seen",
  /** A line of what was looked at, word for word. */
  "quote",
] as const;
export type SummaryLineKind = (typeof SUMMARY_LINE_KIND)[number];

/** What bears a sentence of a closing answer (product.md, moonshot 9). */
export const ANSWER_SUPPORT = [
  /** Receipts show the act that it claims. */
  "receipt",
  /** Its words stand in one passage of what was seen. */
  "evidence",
  /** It says that something was not done, and no receipt says that it was. */
  "absence",
  /** It claims nothing. */
  "claimless",
  /** Nothing on record bears it. */
  "unverified",
] as const;
export type AnswerSupport = (typeof ANSWER_SUPPORT)[number];

/** How far memory of a point of the past is proven. */
export const ROOT_STANDING = [
  /** Its root follows from its records, and a signed checkpoint of the log covers it. */
  "proven",
  /** Its root follows from its records, and nothing that covers it is signed yet. */
  "unsigned",
  /** What is shown does not give the root that was stated, or its checkpoint is not signed by this store. */
  "differs",
] as const;
export type RootStanding = (typeof ROOT_STANDING)[number];

/** How far a message to another machine came. None of them says more than was observed. */
export const DELIVERY_STATE = [
  /** It waits here. */
  "queued",
  /** A relay said that it has it. */
  "accepted",
  /** The other machine said that it opened it. */
  "opened",
  /** It will not come. */
  "never",
] as const;
export type DeliveryState = (typeof DELIVERY_STATE)[number];

/** Why a message will never come. */
export const NEVER_REASON = [
  /** It waited too long. */
  "expired",
  /** The other machine was withdrawn. */
  "withdrawn",
  /** It went another way: its conversation has another owner. */
  "rerouted",
  /** It came, and the other machine could not use it. */
  "refused",
] as const;
export type NeverReason = (typeof NEVER_REASON)[number];

/** How a pairing of two machines stands. */
export const MESH_PAIRING_STATE = [
  /** None was begun since this host started. */
  "none",
  /** A code is shown, or was typed, and the other machine is waited for. */
  "waiting",
  /** Both know each other. */
  "paired",
  /** The code was another one: at the machine that shows it, three times. */
  "wrong_code",
  /** The code was right, and one of both machines did not pair. */
  "refused",
  /** The code is too old. */
  "expired",
] as const;
export type MeshPairingState = (typeof MESH_PAIRING_STATE)[number];

/** Something about a machine of the mesh that a person has to know. */
export const MESH_ALERT = [
  /** The log of a machine went back, or says two things. */
  "rolled_back",
  /** A machine told two things under one number: it was put back to an earlier state, or lies. */
  "forked",
  /** This machine was put back to an earlier state. */
  "put_back",
  /** Messages that came before this machine was put back are not to be had any more. */
  "letters_missed",
  /** This machine was away for longer than notices are kept. */
  "notices_missed",
  /** Another machine owns a conversation that this one wrote to: what it wrote is kept aside. */
  "displaced",
  /** A run that began here is counted for another machine. */
  "not_counted",
  /** A machine hands over more conversations than are taken of it. */
  "hand_overs",
] as const;
export type MeshAlert = (typeof MESH_ALERT)[number];

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
  /** A chat, through a gateway: may deny only. */
  "chat",
  /** Another machine of the same person, with its approval passphrase. */
  "mesh",
] as const;
export type Surface = (typeof SURFACE)[number];

/** Whose rules they are. A project's may only tighten: who can write into it may not loosen anything. */
export const RULE_SCOPE = [
  /** The person's, in every project. */
  "user",
  /** The person's, in every project, each change of which they approved on a card. */
  "signed",
  /** The project's own file. */
  "project",
  /** One task's. */
  "task",
  /** One schedule's. */
  "schedule",
] as const;
export type RuleScope = (typeof RULE_SCOPE)[number];

/** Where a grant stands; whether it has expired depends on the time of asking. */
export const GRANT_STATE = [
  /** May be used. */
  "active",
  /** Used as often as it may be. */
  "consumed",
  /** Taken back. */
  "revoked",
] as const;
export type GrantState = (typeof GRANT_STATE)[number];

/** Kinds of line on an approval card, the gravest first. */
export const CARD_LINE = [
  /** How grave it is, and why. */
  "risk",
  /** Something is deleted or replaced. */
  "destructive",
  /** Something cannot be taken back. */
  "unrecoverable",
  /** Something else that happens. */
  "effect",
  /** What is known about it. */
  "fact",
  /** Words of the proposer, which nobody has checked. */
  "quoted",
] as const;
export type CardLine = (typeof CARD_LINE)[number];

/** States of a grant at the time of asking. */
export const GRANT_STATUS = [
  /** It may be used. */
  "active",
  /** It was used as often as it may be. */
  "consumed",
  /** It was taken back. */
  "revoked",
  /** Its time ran out. */
  "expired",
] as const;
export type GrantStatus = (typeof GRANT_STATUS)[number];

/** States of a standing grant at the time of asking. */
export const STANDING_STATE = [
  /** It may be used. */
  "active",
  /** It was used as often as it may be. */
  "used up",
  /** A person took it back. */
  "revoked",
  /** Its time ran out. */
  "expired",
  /** It was signed by a key that is not in force any more. */
  "void",
] as const;
export type StandingState = (typeof STANDING_STATE)[number];

/** How a schedule stands. */
export const SCHEDULE_STATE = [
  /** Its slots fire. */
  "active",
  /** Its slots pass until a person resumes it. */
  "paused",
  /** Its time has come, and there is no further slot. */
  "over",
  /** It is removed. */
  "removed",
] as const;
export type ScheduleState = (typeof SCHEDULE_STATE)[number];

/** What became of a slot. */
export const SLOT_STATE = [
  /** It is still to come, or it came due and nothing has looked since. */
  "due",
  /** It fires, and its task is not made yet. */
  "waiting",
  /** Its task was made. */
  "fired",
  /** It does not fire. */
  "passed_over",
] as const;
export type SlotState = (typeof SLOT_STATE)[number];

/** Why slots were passed over. */
export const PASSED_OVER = [
  /** They were missed: nothing was there to see them in time, and missed ones are not caught up with. */
  "missed",
  /** A newer one of those that were missed was taken. */
  "newer",
  /** They were seen later than the schedule allows. */
  "too_late",
  /** The run before was still at work. */
  "still_running",
  /** Too many runs wait for a person. */
  "too_many_wait",
  /** The schedule was paused. */
  "paused",
  /** The schedule was changed or removed before they could begin. */
  "changed",
  /** The folder to work in was not there. */
  "folder_missing",
  /** Their task could not begin. */
  "not_begun",
  /** They had fired before, by a clock that was set back since. */
  "fired_before",
  /** As many runs as the schedule allows had begun within the hour. */
  "too_often",
  /** What its runs may use in a day was used. */
  "day_spent",
  /** They came due outside the hours in which its runs may begin. */
  "outside_hours",
  /** This machine ran on its battery. */
  "on_battery",
  /** There was no network. */
  "no_network",
  /** The battery of this machine was low. */
  "battery_low",
  /** Somebody was at the computer. */
  "in_use",
  /** The network was metered. */
  "metered",
  /** Another machine held the schedule: it ran them, or settled them itself. */
  "elsewhere",
] as const;
export type PassedOver = (typeof PASSED_OVER)[number];

/** What must be so for a run to begin. */
export const CONDITION = [
  /** This machine is on mains power. */
  "mains",
  /** There is a network. */
  "network",
  /** Nobody is at the computer. */
  "idle",
  /** The network is not metered. */
  "unmetered",
] as const;
export type Condition = (typeof CONDITION)[number];

/** What becomes of a slot that comes due while a run before it is not over. */
export const OVERLAP = [
  /** It is passed over while that run is at work. */
  "skip",
  /** It begins when that run rests; one slot waits so, the newest. */
  "queue",
  /** That run is ended, also where it waits for a person, and this one begins. */
  "end_older",
] as const;
export type Overlap = (typeof OVERLAP)[number];

/** What a zone's clock does to a slot when it is put forward or back. */
export const SHIFT = [
  /** There is no such time on that day: it is due at the next instant there is. */
  "left_out",
  /** There are two such times on that day: it is due at the first. */
  "twice",
] as const;
export type Shift = (typeof SHIFT)[number];

/** What becomes of slots that were missed. */
export const CATCH_UP_KIND = [
  /** They are passed over. */
  "skip",
  /** The newest fires. */
  "newest",
  /** The newest of them fire, up to a number, the oldest first. */
  "newer",
] as const;
export type CatchUpKind = (typeof CATCH_UP_KIND)[number];

/** What kind of thing a schedule waits for that is no time. */
export const TRIGGER_KIND = [
  /** Changes of files in its folder. */
  "files",
  /** A ref of the folder's repository is somewhere else. */
  "ref",
  /** A run of another schedule, or a task, has ended. */
  "after",
  /** A hook is called: a program sends a signed request. */
  "hook",
  /** A resource of a server of tools reads otherwise than it did. */
  "resource",
  /** An event of Nostr comes to a relay. */
  "events",
  /** Something of another machine of the mesh. */
  "machine",
] as const;
export type TriggerKind = (typeof TRIGGER_KIND)[number];

/** What of another machine a schedule waits for. */
export const MACHINE_EVENT = [
  /** Nobody has heard of it for a while. */
  "silent",
  /** It sent a message here. */
  "message",
  /** It told a receipt that it did not tell before. */
  "receipt",
] as const;
export type MachineEvent = (typeof MACHINE_EVENT)[number];

/** Which changes of files a schedule waits for. */
export const FILE_CHANGES = [
  /** A file is there that was not: made, or moved there from elsewhere. */
  "landed",
  /** That, and a file that was written or moved within the folder. */
  "changed",
  /** That, and a file that is gone. */
  "any",
] as const;
export type FileChanges = (typeof FILE_CHANGES)[number];

/** What became of a file. */
export const FILE_CHANGE = [
  /** It is there, and was not. */
  "landed",
  /** It was written. */
  "written",
  /** It is the same, at another place of the folder. */
  "moved",
  /** It is gone. */
  "gone",
] as const;
export type FileChange = (typeof FILE_CHANGE)[number];

/** How a run ends that a schedule waits for. */
export const RUN_END = [
  /** Its work was done. */
  "done",
  /** It failed, or its time was up. */
  "failed",
  /** However it ends. */
  "either",
] as const;
export type RunEnd = (typeof RUN_END)[number];

/** Why what a schedule waits for cannot be seen. */
export const UNSEEN = [
  /** The folder is not there. */
  "folder_missing",
  /** There are more files than a schedule may wait for. */
  "too_many_files",
  /** There is no repository whose refs can be read. */
  "no_repository",
  /** The schedule that it waits for was removed. */
  "schedule_missing",
  /** The server of tools is not there as it was registered, or does not answer. */
  "server_missing",
  /** No relay that is asked answers. */
  "relay_missing",
  /** The machine is not paired, or the mesh does not run here. */
  "machine_missing",
  /** Something else stands in the way. */
  "unreadable",
] as const;
export type Unseen = (typeof UNSEEN)[number];

/** Why a call of a hook was refused. */
export const CALL_REFUSED = [
  /** It is not signed with the secret of the hook, or not as a call is. */
  "signature",
  /** It was signed earlier or later than it may be. */
  "time",
  /** Its body is larger than a call may be. */
  "too_large",
  /** More calls came within a minute, or wait for a run, than may. */
  "too_many",
] as const;
export type CallRefused = (typeof CALL_REFUSED)[number];

/** What a step is for (examples of HK-8.2). */
export const STEP_KIND = [
  /** Pursue the goal: the loop of reasoning and action. */
  "pursue",
  /** Undo a receipt. */
  "rollback",
  /** Settle an unknown outcome. */
  "observe",
  /** Take content in. */
  "ingest",
  /** Promote knowledge. */
  "promote",
  /** Plan what is to be done. */
  "plan",
  /** Find what it is about. */
  "search",
  /** Look closely at what is there. */
  "inspect",
  /** Change files. */
  "edit",
  /** Run tests, or another command that tells how it stands. */
  "run_tests",
  /** Put a change together for others to look at. */
  "prepare_patch",
  /** Wait until a person says that what comes after it may begin. */
  "await_approval",
  /** Hand a result to others. */
  "publish_result",
  /** Look at how something elsewhere stands. */
  "observe_remote",
] as const;
export type StepKind = (typeof STEP_KIND)[number];

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

/** Where keys and secret values are kept. */
export const VAULT_KIND = [
  /** The operating system's keychain; on Linux the Secret Service. */
  "keychain",
  /** A file under a passphrase. */
  "file",
  /** Nothing durable; tests only. */
  "memory",
] as const;
export type VaultKind = (typeof VAULT_KIND)[number];

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
  /** An editor that speaks the Agent Client Protocol. */
  "acp",
  /** A chat, through a gateway. */
  "chat",
  /** Another machine of the same person, in their mesh. */
  "mesh",
] as const;
export type Channel = (typeof CHANNEL)[number];

/** What an event is about. */
export const ENTITY_TYPE = [
  /** The store as a whole. */
  "store",
  /** A signing key. */
  "key",
  /** A host process. */
  "host",
  /** The gate. */
  "gate",
  /** A checkpoint. */
  "checkpoint",
  /** A principal. */
  "principal",
  /** A workspace or its lease. */
  "workspace",
  /** A conversation. */
  "conversation",
  /** An ingress record. */
  "ingress",
  /** A task. */
  "task",
  /** A step. */
  "step",
  /** An attempt. */
  "attempt",
  /** An artifact. */
  "artifact",
  /** A working state. */
  "working_state",
  /** A belief. */
  "belief",
  /** A memory record. */
  "memory",
  /** A decision. */
  "decision",
  /** An approval. */
  "approval",
  /** A clarification. */
  "clarification",
  /** A witness. */
  "witness",
  /** A policy result. */
  "policy_result",
  /** An action request. */
  "action_request",
  /** A grant. */
  "grant",
  /** A receipt. */
  "receipt",
  /** A secret, by its handle. */
  "secret",
  /** A server of tools, by its name. */
  "tool_server",
  /** A skill, by its digest. */
  "skill",
  /** A schedule, by its name. */
  "schedule",
  /** A skin, by its digest. */
  "skin",
  /** A gateway, by its name. */
  "gateway",
  /** Who this instance is. */
  "identity",
  /** An anchor of the log, by its number. */
  "anchor",
  /** The mesh of one's own machines. */
  "mesh",
  /** A trial of a change of Hermit itself. */
  "successor",
  /** Training: a dataset, a run, or a recall. */
  "training",
] as const;
export type EntityType = (typeof ENTITY_TYPE)[number];

/** The nine kinds of actor (HK-8.11). */
export const PRINCIPAL_TYPE = [
  /** A person. */
  "user",
  /** A person or rule that oversees. */
  "supervisor",
  /** A model that proposes. */
  "agent",
  /** A background service. */
  "service",
  /** The scheduler. */
  "scheduler",
  /** An inbound webhook. */
  "webhook",
  /** The policy engine. */
  "policy_engine",
  /** An executor of effects. */
  "executor",
  /** The kernel itself. */
  "system",
] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPE)[number];

/** Which tree a checkpoint is about. */
export const CHECKPOINT_KIND = [
  /** The events of one task. */
  "task",
  /** The entries of the gate. */
  "gate",
  /** The notes of tasks and gate. */
  "global",
] as const;
export type CheckpointKind = (typeof CHECKPOINT_KIND)[number];

/** Roles of a process at a store. */
export const HOST_ROLE = [
  /** It holds the store. */
  "owner",
  /** It only reads. */
  "reader",
] as const;
export type HostRole = (typeof HOST_ROLE)[number];

/** States of a signing key. */
export const KEY_STATUS = [
  /** It signs. */
  "in_force",
  /** Another key followed it. */
  "followed",
  /** A person revoked it. */
  "revoked",
] as const;
export type KeyStatus = (typeof KEY_STATUS)[number];

/** How a store stands to a signed head that somebody kept. */
export const HEAD_STANDING = [
  /** The head signs for the beginning of what is here. */
  "consistent",
  /** The store is older than the head, set back, or a copy. */
  "older",
  /** The head signs for another history. */
  "forked",
  /** The head is none of this log. */
  "unusable",
] as const;
export type HeadStanding = (typeof HEAD_STANDING)[number];

/** Kinds of tools in the one list of them. */
export const TOOL_KIND = [
  /** Hermit does it itself. */
  "built_in",
  /** A typed list of proposals, which a run follows instead of a model. */
  "playbook",
  /** A registered server does it. */
  "server",
  /** A folder of instructions that a model reads when it chooses it. */
  "skill",
] as const;
export type ToolKind = (typeof TOOL_KIND)[number];

/** Where a skill was found, the place whose skills come first when names are the same. */
export const SKILL_PLACE = [
  /** `.hermit/skills` of the folder. */
  "project_hermit",
  /** `.agents/skills` of the folder. */
  "project_agents",
  /** `.claude/skills` of the folder. */
  "project_claude",
  /** `skills` beside the store. */
  "own_hermit",
  /** `.agents/skills` of the person. */
  "own_agents",
  /** `.claude/skills` of the person. */
  "own_claude",
] as const;
export type SkillPlace = (typeof SKILL_PLACE)[number];

/** How a skill stands. */
export const SKILL_STATE = [
  /** A person trusts these bytes: models are told of it. */
  "trusted",
  /** Nobody trusts these bytes: no model is told of it. */
  "untrusted",
  /** Other bytes of this name were trusted; these are not. */
  "changed",
  /** Trusted, and another of the same name comes first. */
  "shadowed",
  /** It cannot be used as it is. */
  "broken",
] as const;
export type SkillState = (typeof SKILL_STATE)[number];

/** How a playbook that was drafted from what recurs stands. */
export const PLAYBOOK_STATE = [
  /** Drafted; it has no effect until a person adopts it. */
  "draft",
  /** A person adopted it. */
  "adopted",
  /** A person turned it off. */
  "off",
  /** A person said no to its card. */
  "rejected",
  /** What it rests on was undone or erased. */
  "withdrawn",
] as const;
export type PlaybookState = (typeof PLAYBOOK_STATE)[number];

/** What came of a drafted playbook on a recorded task. */
export const PLAYBOOK_TRIAL_OUTCOME = [
  /** It left what the task had left. */
  "same",
  /** It left something else. */
  "differs",
  /** It could not be tried: the record is not kept any more. */
  "not_tried",
] as const;
export type PlaybookTrialOutcome = (typeof PLAYBOOK_TRIAL_OUTCOME)[number];

/** States of the log-in at a server of tools. */
export const LOGIN_STATE = [
  /** A person allowed it and has not begun. */
  "allowed",
  /** A person is waited for, in their browser. */
  "waiting",
  /** Calls are signed with its token. */
  "logged_in",
  /** Its token is renewed no more. */
  "refused",
  /** There is none. */
  "logged_out",
] as const;
export type LoginState = (typeof LOGIN_STATE)[number];

/** States of a registered server of tools. */
export const TOOL_SERVER_STATE = [
  /** Its tools may be called. */
  "ready",
  /** It says something else of a tool than when it was registered. */
  "changed",
  /** A person disabled it. */
  "disabled",
  /** Its registration cannot be read. */
  "unreadable",
] as const;
export type ToolServerState = (typeof TOOL_SERVER_STATE)[number];

/** How the weights of a model in the box stand. */
export const BOX_STATE = [
  /** They are not here, or not whole. */
  "absent",
  /** They come. */
  "fetching",
  /** All of them are here, and their digest is looked at. */
  "checking",
  /** They are here. */
  "here",
] as const;
export type BoxState = (typeof BOX_STATE)[number];

/** How a skin stands. */
export const SKIN_STATE = [
  /** It comes with Hermit. */
  "built_in",
  /** A person trusts exactly these bytes. */
  "trusted",
  /** Nobody trusts these bytes, or nobody does any more: no conversation has it. */
  "untrusted",
] as const;
export type SkinState = (typeof SKIN_STATE)[number];

/** What a change of Hermit changes (successor.md 2). */
export const PATCH_KIND = [
  /** Rules of policy, permissions, the profile. */
  "policy",
  /** Prompts, skins, skills, playbooks, limits within bounds. */
  "words",
  /** Another model, or an adapter. */
  "model",
  /** The source of Hermit. */
  "code",
] as const;
export type PatchKind = (typeof PATCH_KIND)[number];

/** What a trial of a change came to (successor.md 4). */
export const VERDICT_OUTCOME = [
  /** It does what it is for, and nothing is worse. */
  "better",
  /** No difference that counts. */
  "same",
  /** Something that worked works no more, or costs more. */
  "worse",
  /** It would allow what was denied, weakens a check, or reached for what it may not have. */
  "unsafe",
  /** What was seen says neither. */
  "inconclusive",
] as const;
export type VerdictOutcome = (typeof VERDICT_OUTCOME)[number];

/** How a trial of a change stands. */
export const TRIAL_STATE = [
  /** It runs. */
  "running",
  /** There is a verdict. */
  "judged",
  /** A person stopped it, or its host ended. */
  "stopped",
  /** It could not be made. */
  "failed",
  /** A person adopted the change. */
  "adopted",
  /** It was adopted, and a person or a failed start went back. */
  "returned",
] as const;
export type TrialState = (typeof TRIAL_STATE)[number];

/** What a trial that runs is at. */
export const TRIAL_STAGE = [
  /** It waits until another change of the source is built and tested. */
  "waiting",
  /** The source as it is is built, once for each version. */
  "building_base",
  /** The changed source is built. */
  "building",
  /** Its tests run. */
  "testing",
  /** Clones do past work again. */
  "playing",
] as const;
export type TrialStage = (typeof TRIAL_STAGE)[number];

/** Which side of a trial a clone is (successor.md 4). */
export const ARM = [
  /** As Hermit is. */
  "parent",
  /** With the change. */
  "successor",
] as const;
export type Arm = (typeof ARM)[number];

/** What of a budget a clone used up (successor.md 3). */
export const BUDGET_PART = [
  /** Time by the clock. */
  "wall_time",
  /** Time of processors. */
  "cpu_time",
  /** Memory. */
  "memory",
  /** Room on the disk. */
  "disk",
  /** Processes. */
  "processes",
  /** Tokens of models. */
  "tokens",
] as const;
export type BudgetPart = (typeof BUDGET_PART)[number];

/** Who counted what a trial compares (successor.md 4). */
export const MEASURED_BY = [
  /** The process that runs the trial, from outside. */
  "host",
  /** Hermit as it is, which no change can write. */
  "parent",
  /** A program that was built with the change: its word about itself. */
  "successor",
] as const;
export type MeasuredBy = (typeof MEASURED_BY)[number];

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

/** How a model is told of the tools that it may call. */
export const TOOL_MODE = [
  /** `json_schema` on this machine, `tools` elsewhere. */
  "auto",
  /** The protocol's own `tools`; text answers are left to the loop core's parser. */
  "tools",
  /** A schema of the answer with one alternative for each tool: the server enforces the grammar, which small local models need. Where the protocol has none, the prompt alone says it. */
  "json_schema",
] as const;
export type ToolMode = (typeof TOOL_MODE)[number];

/** How many tools a model is offered. */
export const TOOL_OFFER = [
  /** All that there are. */
  "all",
  /** Few, for small models. */
  "few",
] as const;
export type ToolOffer = (typeof TOOL_OFFER)[number];

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
  /** The agent of another task, which gave this part of it away. */
  "agent",
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
  /** A criterion that a person set for its end is not met (HK-8.2-5). */
  "criteria_unmet",
] as const;
export type TerminationReason = (typeof TERMINATION_REASON)[number];

/** What became of a criterion when its task ended (HK-8.2-5). */
export const CRITERION_OUTCOME = [
  /** It was checked and holds. */
  "met",
  /** It was checked and does not hold. */
  "unmet",
  /** It is in words that only a person can judge. */
  "unchecked",
] as const;
export type CriterionOutcome = (typeof CRITERION_OUTCOME)[number];

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
  /** The kernel, which puts to a person what they asked for. */
  "tools",
  /** Another program's agent, which works by itself in a staged view of the folder. */
  "guest",
] as const;
export type Proposer = (typeof PROPOSER)[number];

/** What a message turned out to be (HK-8.1.3). */
export const INGRESS_RESOLUTION = [
  /** A command to the kernel. */
  "control",
  /** An answer to an approval. */
  "approval",
  /** More input for the bound task. */
  "append_note",
  /** A child task of the bound one. */
  "fork_child",
  /** A task of its own. */
  "start_new_root",
  /** Talk that starts no work. */
  "chat_only",
  /** Not decided. */
  "pending_disambiguation",
] as const;
export type IngressResolution = (typeof INGRESS_RESOLUTION)[number];

/** Where a question stands. */
export const CLARIFICATION_STATUS = [
  /** Waits. */
  "pending",
  /** Answered. */
  "answered",
  /** Its time ran out. */
  "expired",
  /** Its task ended. */
  "cancelled",
] as const;
export type ClarificationStatus = (typeof CLARIFICATION_STATUS)[number];

/** How tasks stand, for lists. */
export const TASK_GROUP = [
  /** A person is waited for: an approval, a question, an outcome that nobody knows. */
  "waiting",
  /** Not ended, and nobody is waited for. */
  "going",
  /** Ended as it was meant to, and not by a no. */
  "done",
  /** Ended otherwise: failed, cancelled, expired, rolled back, or with nothing of it allowed. */
  "otherwise",
  /** Ended, one way or the other; what still waits for a person among it. */
  "ended",
] as const;
export type TaskGroup = (typeof TASK_GROUP)[number];

/** What a task waits for. */
export const WAITS_FOR = [
  /** A person is to allow an act. */
  "approval",
  /** A person is to answer a question. */
  "answer",
  /** A person is to settle an outcome that nobody knows. */
  "unknown_outcome",
  /** A person is to let it go on. */
  "resume",
  /** Another task or step is to end first. */
  "dependency",
  /** Another program's agent is to call. */
  "agent",
] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** How much of what a task did was undone since. */
export const UNDONE_EXTENT = [
  /** All of it. */
  "all",
  /** A part of it. */
  "part",
] as const;
export type UndoneExtent = (typeof UNDONE_EXTENT)[number];

/** Authors of a task's last words. */
export const WORDS_BY = [
  /** A model, whose words nobody has verified. */
  "model",
  /** Hermit itself. */
  "hermit",
] as const;
export type WordsBy = (typeof WORDS_BY)[number];

/** How a task stands with the process that drives it. */
export const DRIVE_STATE = [
  /** It is being driven. */
  "at_work",
  /** It waits or has ended, which the store tells. */
  "at_rest",
  /** Its receipts wait for keys. */
  "key_locked",
  /** Hermit is halted. */
  "halted",
  /** Driving it broke off. */
  "broke",
] as const;
export type DriveState = (typeof DRIVE_STATE)[number];

/** Who speaks in a conversation. */
export const ROLE = [
  /** A person, or what acts for one. */
  "user",
  /** The agent. */
  "agent",
  /** Hermit itself. */
  "system",
] as const;
export type Role = (typeof ROLE)[number];

/** What a line of a conversation is. */
export const MESSAGE_KIND = [
  /** A message that came in. */
  "message",
  /** A question put to a person. */
  "question",
  /** A request for approval. */
  "approval",
  /** An act, with its receipt. */
  "receipt",
  /** How a run of the loop ended. */
  "answer",
  /** A task ended. */
  "ended",
] as const;
export type MessageKind = (typeof MESSAGE_KIND)[number];

/** Why a turn of a task is not learned from. */
export const LEFT_OUT_REASON = [
  /** Its task did not complete. */
  "unfinished",
  /** A person took back what came of it. */
  "undone",
  /** Policy or a person said no to what it asked for. */
  "denied",
  /** What it asked for did not come about, or the answer was none that could be used. */
  "failed",
  /** No receipt says what came of it. */
  "unreceipted",
  /** The model was shown something that nobody vouches for. */
  "tainted",
  /** It shows a secret, or had one taken out. */
  "secret",
  /** Its folder is marked private. */
  "private",
  /** It was recalled. */
  "recalled",
  /** What was sent or answered is not kept any more. */
  "unkept",
  /** It is no text alone, or not in a form that is known. */
  "unreadable",
  /** It is longer than an example may be. */
  "unfit",
  /** An earlier one shows and answers the same. */
  "duplicate",
  /** An earlier one is nearly the same. */
  "near_duplicate",
  /** It is not of a project that is held out, and as late as what is. */
  "late",
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASON)[number];

/** How a run of training stands. */
export const TRAINING_STATE = [
  /** The program reads the model. */
  "loading",
  /** It does steps. */
  "learning",
  /** A person paused it. */
  "paused",
  /** It waits until the machine is on mains power, or nobody is at it. */
  "waiting",
  /** What it learned is measured. */
  "proving",
  /** A model is written. */
  "exporting",
  /** It ended before its end; it can be gone on with. */
  "stopped",
  /** It came to its end. */
  "done",
  /** It broke off. */
  "failed",
] as const;
export type TrainingState = (typeof TRAINING_STATE)[number];

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
  "guest",
  "message",
  "anchor",
  "publish",
  "try_change",
] as const;
export type Tool = (typeof TOOL)[number];
