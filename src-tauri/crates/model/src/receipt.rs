//! The durable proof record of an important action (HK-8.10, HK-18, proof.md 4).

use crate::action::{ActionClass, Reversibility};
use crate::artifact::ArtifactRef;
use crate::standing::StandingRef;
use crate::witness::Found;
use crate::{ApprovalId, AttemptId, DecisionId, GrantId, ReceiptId, Slot, StepId, TaskId, UnixMs};
use seal::Digest;
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::act::{ItemOutcome, ReceiptClass, ResultCode, SandboxLevel};

/// `_type` of an in-toto statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// `predicateType` of a Hermit receipt.
pub const PREDICATE_TYPE: &str = "https://hermit.local/receipt/v1";
/// DSSE payload type of an in-toto statement.
pub const STATEMENT_PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

crate::names! {
    /// How it could be gone through again (HK-18.5).
    pub enum ReplayClass ("replay class") {
        /// Same inputs, same bytes.
        DeterministicReplay = "deterministic_replay",
        /// May run again without a second effect.
        IdempotentReplay = "idempotent_replay",
        /// Look, do not run.
        ObserveOnly = "observe_only",
        /// Only the record explains it.
        ExplainOnly = "explain_only",
    }
}

crate::names! {
    /// What a receipt can show by itself (HK-18.3).
    pub enum Verifiability ("verifiability") {
        /// Its digest.
        HashOnly = "hash_only",
        /// Its place in a chain.
        HashChained = "hash_chained",
        /// A signature.
        Signed = "signed",
        /// A signature and a place in a signed log.
        SignedWithInclusionProof = "signed_with_inclusion_proof",
    }
}

/// One thing that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Resource identifier.
    pub resource: Sensitive<String>,
    /// What was there.
    pub before: Found,
    /// What is there now.
    pub after: Found,
    /// Where the bytes that were there are kept, if they are.
    pub before_image: Option<ArtifactRef>,
    /// `done`, `not_done`, `unknown`, per item.
    pub outcome: ItemOutcome,
}

/// What actually ran (HK-18.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The executor's name.
    pub executor: String,
    /// Digest of the request as executed.
    pub request_sha256: Digest,
    /// Arguments, for a command.
    pub argv: Option<Sensitive<Vec<String>>>,
    /// Digest of the program, for a command.
    pub executable_sha256: Option<Digest>,
    /// Exit status, for a command.
    pub exit_code: Option<i32>,
    /// When it was dispatched.
    pub started_at: UnixMs,
    /// When its outcome was known.
    pub finished_at: UnixMs,
}

/// Whether and how it can be undone (HK-18.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackInfo {
    /// How far.
    pub reversibility: Reversibility,
    /// `restore_before_images`, `none`, or a compensating action's name.
    pub method: String,
    /// What must still hold, in words.
    pub prerequisites: Vec<String>,
    /// Where the earlier bytes are.
    pub artifact_refs: Vec<ArtifactRef>,
    /// The receipt this one undoes.
    pub rolls_back: Option<ReceiptId>,
}

/// What was authorised, by digest (HK-18.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorized {
    /// The policy result.
    pub policy_result_sha256: Slot<Digest>,
    /// The packet a person saw.
    pub approval_packet_sha256: Slot<Digest>,
    /// The envelope a person signed.
    pub approval_decision_sha256: Slot<Digest>,
    /// The grant.
    pub capability_grant_sha256: Slot<Digest>,
    /// The witness observed last.
    pub witness_sha256: Slot<Digest>,
    /// The gate entry that let it pass.
    pub audit_entry_sha256: Slot<Digest>,
    /// The standing grant that stood in for a person's yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingRef>,
    /// What a person signed before with another key, where two had to say yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_decision_sha256: Option<Digest>,
}

/// The predicate: HK-8.10-2 and HK-18.2, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its identifier.
    pub receipt_id: ReceiptId,
    /// The task.
    pub task_id: TaskId,
    /// The step.
    pub step_id: StepId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// Its class.
    pub receipt_class: ReceiptClass,
    /// The class of the act.
    pub action_class: ActionClass,
    /// What was intended.
    pub action_request_ref: Slot<ArtifactRef>,
    /// What it was derived from.
    pub input_refs: Vec<ArtifactRef>,
    /// In which environment it ran.
    pub environment_ref: Slot<ArtifactRef>,
    /// What policy said.
    pub policy_result_ref: Slot<ArtifactRef>,
    /// The approval.
    pub approval_ref: Slot<ApprovalId>,
    /// The grant.
    pub capability_grant_ref: Slot<GrantId>,
    /// The decision.
    pub decision_ref: Slot<DecisionId>,
    /// What was authorised, by digest.
    pub authorized: Authorized,
    /// What actually ran.
    pub ran: Slot<Ran>,
    /// What changed.
    pub changes: Vec<Change>,
    /// What was produced.
    pub output_refs: Vec<ArtifactRef>,
    /// What was observed afterwards, in words.
    pub observed: Vec<Sensitive<String>>,
    /// Whether and how it can be undone.
    pub rollback: RollbackInfo,
    /// How it went.
    pub result_code: ResultCode,
    /// How it went, in words.
    pub result_summary: Sensitive<String>,
    /// When it was issued.
    pub created_at: UnixMs,
    /// How it could be gone through again.
    pub replay_class: ReplayClass,
    /// What it can show by itself.
    pub verifiability: Verifiability,
    /// The walls around it.
    pub sandbox_level: SandboxLevel,
    /// Key id of the signer.
    pub signer_ref: Slot<Digest>,
    /// Key id of the manifest key in force: it, or one that followed it, may vouch for a bundle of this receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_ref: Option<Digest>,
    /// Makes its issue idempotent.
    pub idempotency_key: String,
}

/// Something that came of an act, by its digest; `changes` and `output_refs` say what has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Resource or artifact identifier, in receipts of before: in-toto wants a plain text there, and a sensitive value
    /// is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Sensitive<String>>,
    /// Digests by algorithm; `sha256`.
    pub digest: std::collections::BTreeMap<String, String>,
}

/// An in-toto Statement v1 that carries a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// Digests of outputs; a statement without outputs names its request.
    pub subject: Vec<Subject>,
    /// [`PREDICATE_TYPE`].
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// The receipt.
    pub predicate: Receipt,
}
