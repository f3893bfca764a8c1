//! The bundle's own statement: an in-toto Statement v1 over what it proves, with what it was made of.

use crate::layout::FORMAT;
use model::receipt::STATEMENT_TYPE;
use model::{ReceiptId, TaskId};
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `predicateType` of the bundle's statement.
pub(crate) const PREDICATE_TYPE: &str = "https://hermit.local/proof/v1";

/// An in-toto Statement v1 over files of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    #[serde(rename = "_type")]
    pub statement_type: String,
    pub subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: Predicate,
}

/// A file by its name in the bundle; no sensitive leaf is in a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subject {
    pub name: String,
    pub digest: Sha256,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sha256 {
    pub sha256: Digest,
}

/// Which part of which store, as of when, under which keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Predicate {
    /// [`FORMAT`].
    pub bundle: String,
    pub canon: String,
    pub log_id: String,
    pub task_id: TaskId,
    /// The one receipt it is about; absent for a whole task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<ReceiptId>,
    /// First and last event it is about; absent for a whole task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<[u64; 2]>,
    /// Number of events of the task, shown or not.
    pub task_size: u64,
    /// Root over them.
    pub task_root: Digest,
    /// Time of the checkpoint; one receipt alone does not tell it.
    pub exported_at_ms: i64,
    /// Key ids by purpose; the keys are in `keys/`.
    pub keys: BTreeMap<String, Digest>,
    /// Whether all sensitive values go along that are not erased.
    pub disclosures: bool,
    /// What was withheld; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<String>,
    /// `all`, `none`, or the kinds of artifacts whose content goes along, with commas.
    pub artifacts: String,
}

impl Statement {
    pub(crate) fn new(subjects: impl IntoIterator<Item = (String, Digest)>, predicate: Predicate) -> Self {
        let subject = subjects.into_iter().map(|(name, sha256)| Subject { name, digest: Sha256 { sha256 } });
        Self {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: subject.collect(),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate,
        }
    }

    /// Whether its fixed fields are ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.statement_type == STATEMENT_TYPE
            && self.predicate_type == PREDICATE_TYPE
            && self.predicate.bundle == FORMAT
            && self.predicate.canon == seal::canon::CANON
    }
}

impl Predicate {
    /// Whether it is about all events of the task.
    pub(crate) fn is_whole(&self) -> bool {
        self.receipt_id.is_none() && self.span.is_none()
    }
}

/// Whether a file is a subject: what is proven, not what proves or explains it.
pub(crate) fn is_subject(path: &str) -> bool {
    use crate::layout as l;
    let heads = [l::LOG_CHECKPOINT, l::TASK_CHECKPOINT, l::GATE_CHECKPOINT];
    let bodies = [l::TASK_EVENTS, l::GATE_ENTRIES];
    let folders = ["receipts/", "artifacts/", "task/events/"];
    heads.contains(&path) || bodies.contains(&path) || folders.iter().any(|folder| path.starts_with(folder))
}
