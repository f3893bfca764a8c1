//! Columns into values: identifiers, names, times, lists, and sensitive leaves with the text that survives.

use crate::fold::disclosed;
use model::approval::ApprovalScope;
use model::{Digest, Sensitive, UnixMs};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;
use std::str::FromStr;

/// A value that a column holds.
pub(crate) trait Cell: Sized {
    /// Reads it; `conn` looks up the text of a leaf.
    fn read(value: ValueRef<'_>, conn: &Connection) -> Result<Self, String>;
}

fn wrong(value: ValueRef<'_>, wanted: &str) -> String {
    format!("{} where {wanted} should be", value.data_type())
}

fn words(value: ValueRef<'_>) -> Result<&str, String> {
    value.as_str().map_err(|_| wrong(value, "text"))
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(value: ValueRef<'_>) -> Result<T, String> {
    words(value)?.parse().map_err(|e: T::Err| e.to_string())
}

fn whole(value: ValueRef<'_>) -> Result<i64, String> {
    value.as_i64().map_err(|_| wrong(value, "a number"))
}

macro_rules! text_cells {
    ($($ty:ty),+ $(,)?) => { $(
        impl Cell for $ty {
            fn read(value: ValueRef<'_>, _: &Connection) -> Result<Self, String> { parsed(value) }
        }
    )+ };
}

text_cells!(
    String,
    Digest,
    lineage::NodeId,
    model::TaskId,
    model::StepId,
    model::AttemptId,
    model::ArtifactId,
    model::BeliefId,
    model::MemoryId,
    model::DecisionId,
    model::ApprovalId,
    model::ReceiptId,
    model::PrincipalId,
    model::GrantId,
    model::IngressId,
    model::ClarificationId,
    model::ConversationId,
    model::LeaseId,
    model::WorkspaceId,
    model::ActionRequestId,
    model::PolicyResultId,
    model::WitnessId,
    model::task::TaskStatus,
    model::task::StepStatus,
    model::task::StepKind,
    model::task::Priority,
    model::attempt::AttemptStatus,
    model::attempt::AttemptPhase,
    model::attempt::TerminationReason,
    model::attempt::LeaseMode,
    model::action::ActionClass,
    model::action::Reversibility,
    model::approval::ApprovalStatus,
    model::approval::Surface,
    model::artifact::ArtifactClass,
    model::artifact::ArtifactKind,
    model::artifact::TrustTier,
    model::artifact::Sensitivity,
    model::artifact::RetentionClass,
    model::body::Boundary,
    model::decision::DecisionClass,
    model::event::EntityType,
    model::ingress::Channel,
    model::ingress::IngressStatus,
    model::ingress::IngressResolution,
    model::ingress::ClarificationStatus,
    model::knowledge::BeliefStatus,
    model::knowledge::MemoryStatus,
    model::policy::Profile,
    model::policy::Verdict,
    model::policy::RiskBand,
    model::principal::PrincipalType,
    model::receipt::ReceiptClass,
    model::receipt::ResultCode,
    model::receipt::SandboxLevel,
    model::receipt::Verifiability,
    crate::RunStatus,
    crate::ActionState,
    crate::GrantState,
    crate::ArtifactState,
    crate::Role,
    crate::MessageKind,
);

macro_rules! number_cells {
    ($($ty:ty),+) => { $(
        impl Cell for $ty {
            fn read(value: ValueRef<'_>, _: &Connection) -> Result<Self, String> {
                let number = whole(value)?;
                <$ty>::try_from(number).map_err(|_| format!("{number} where a smaller number should be"))
            }
        }
    )+ };
}

number_cells!(i64, u64, u32, u16);

impl Cell for bool {
    fn read(value: ValueRef<'_>, _: &Connection) -> Result<Self, String> {
        whole(value).map(|n| n != 0)
    }
}

impl Cell for UnixMs {
    fn read(value: ValueRef<'_>, _: &Connection) -> Result<Self, String> {
        whole(value).map(UnixMs)
    }
}

impl<T: Cell> Cell for Option<T> {
    fn read(value: ValueRef<'_>, conn: &Connection) -> Result<Self, String> {
        if value == ValueRef::Null { Ok(None) } else { T::read(value, conn).map(Some) }
    }
}

impl Cell for Sensitive<String> {
    fn read(value: ValueRef<'_>, conn: &Connection) -> Result<Self, String> {
        let bytes = value.as_blob().map_err(|_| wrong(value, "a digest"))?;
        reveal(Digest::try_from(bytes).map_err(|e| e.to_string())?, conn)
    }
}

fn reveal(digest: Digest, conn: &Connection) -> Result<Sensitive<String>, String> {
    let text = disclosed(conn, &digest).map_err(|e| e.to_string())?;
    Ok(text.map_or(Sensitive::Erased(digest), Sensitive::Shown))
}

fn from_json<T: DeserializeOwned>(value: ValueRef<'_>) -> Result<T, String> {
    serde_json::from_str(words(value)?).map_err(|e| e.to_string())
}

impl Cell for ApprovalScope {
    fn read(value: ValueRef<'_>, _: &Connection) -> Result<Self, String> {
        from_json(value)
    }
}

/// A list kept as JSON whose items are read as they are.
pub(crate) trait Item: DeserializeOwned {
    /// The item with the text that survives.
    fn shown(self, _: &Connection) -> Result<Self, String> {
        Ok(self)
    }
}

impl Item for String {}
impl Item for model::TaskId {}
impl Item for model::StepId {}
impl Item for model::ArtifactId {}
impl Item for model::BeliefId {}
impl Item for model::artifact::EvidenceRef {}
impl Item for Sensitive<String> {
    fn shown(self, conn: &Connection) -> Result<Self, String> {
        match self {
            Self::Erased(digest) => reveal(digest, conn),
            Self::Shown(text) => Ok(Self::Shown(text)),
        }
    }
}

impl<T: Item> Cell for Vec<T> {
    fn read(value: ValueRef<'_>, conn: &Connection) -> Result<Self, String> {
        from_json::<Self>(value)?.into_iter().map(|item| item.shown(conn)).collect()
    }
}
