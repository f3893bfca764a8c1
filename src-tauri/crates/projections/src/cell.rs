//! Columns into values and back: identifiers, names, times, lists, and sensitive leaves, of which a column keeps the
//! digest and a screen sees the text that survives.

use crate::fold::disclosed;
use model::approval::ApprovalScope;
use model::state_root::{Frontier, StateSubject};
use model::{Digest, Sensitive, UnixMs};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Display, Write as _};
use std::str::FromStr;

/// A value that a column holds.
pub(crate) trait Cell: Sized {
    /// Reads it; `shown` looks up the text of a leaf, which stays concealed without it.
    fn read(value: ValueRef<'_>, shown: Option<&Connection>) -> Result<Self, String>;
    /// As the column holds it.
    fn write(&self) -> ToSqlOutput<'_>;
}

/// Of the parts that it is printed in, at once: nearly all are identifiers and digests of known length.
fn printed(value: impl Display) -> ToSqlOutput<'static> {
    let mut text = String::with_capacity(64);
    // Writing to a string never fails.
    let _ = write!(text, "{value}");
    text.into()
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

impl Cell for String {
    fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
        words(value).map(str::to_owned)
    }

    fn write(&self) -> ToSqlOutput<'_> {
        self.as_str().into()
    }
}

macro_rules! text_cells {
    ($write:expr; $($ty:ty),+ $(,)?) => { $(
        impl Cell for $ty {
            fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> { parsed(value) }
            fn write(&self) -> ToSqlOutput<'_> { $write(*self) }
        }
    )+ };
}

text_cells!(
    printed;
    Digest,
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
    StateSubject,
);

/// A name, which is spelled in the program.
macro_rules! name_cells {
    ($($ty:ty),+ $(,)?) => { text_cells!(|name: Self| name.as_str().into(); $($ty),+); };
}

name_cells!(
    model::task::Origin,
    model::task::TaskStatus,
    model::task::StepStatus,
    model::task::StepKind,
    model::task::Priority,
    model::attempt::AttemptStatus,
    model::attempt::AttemptPhase,
    model::attempt::TerminationReason,
    model::attempt::LeaseMode,
    model::task::Proposer,
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
    model::knowledge::InvalidationPolicy,
    model::knowledge::MemoryRetention,
    model::knowledge::MemoryType,
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
            fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
                let number = whole(value)?;
                <$ty>::try_from(number).map_err(|_| format!("{number} where a smaller number should be"))
            }

            fn write(&self) -> ToSqlOutput<'_> {
                i64::try_from(*self).unwrap_or(i64::MAX).into()
            }
        }
    )+ };
}

number_cells!(i64, u64, u32, u16);

impl Cell for bool {
    fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
        whole(value).map(|n| n != 0)
    }

    fn write(&self) -> ToSqlOutput<'_> {
        i64::from(*self).into()
    }
}

impl Cell for UnixMs {
    fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
        whole(value).map(UnixMs)
    }

    fn write(&self) -> ToSqlOutput<'_> {
        self.0.into()
    }
}

impl<T: Cell> Cell for Option<T> {
    fn read(value: ValueRef<'_>, shown: Option<&Connection>) -> Result<Self, String> {
        if value == ValueRef::Null { Ok(None) } else { T::read(value, shown).map(Some) }
    }

    fn write(&self) -> ToSqlOutput<'_> {
        self.as_ref().map_or(ToSqlOutput::Borrowed(ValueRef::Null), T::write)
    }
}

impl Cell for Sensitive<String> {
    fn read(value: ValueRef<'_>, shown: Option<&Connection>) -> Result<Self, String> {
        let bytes = value.as_blob().map_err(|_| wrong(value, "a digest"))?;
        reveal(Digest::try_from(bytes).map_err(|e| e.to_string())?, shown)
    }

    fn write(&self) -> ToSqlOutput<'_> {
        match self {
            Self::Erased(digest) => ToSqlOutput::Borrowed(ValueRef::Blob(&digest.0)),
            // A stored event never shows a leaf; one that did would be found by its own digest, and read as erased.
            Self::Shown(plain) => Digest::of(to_json(plain).as_bytes()).0.to_vec().into(),
        }
    }
}

fn reveal(digest: Digest, shown: Option<&Connection>) -> Result<Sensitive<String>, String> {
    let text = shown.map_or(Ok(None), |conn| disclosed(conn, &digest)).map_err(|e| e.to_string())?;
    Ok(text.map_or(Sensitive::Erased(digest), Sensitive::Shown))
}

fn from_json<T: DeserializeOwned>(value: ValueRef<'_>) -> Result<T, String> {
    serde_json::from_str(words(value)?).map_err(|e| e.to_string())
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Cell for ApprovalScope {
    fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
        from_json(value)
    }

    fn write(&self) -> ToSqlOutput<'_> {
        to_json(self).into()
    }
}

impl Cell for Frontier {
    fn read(value: ValueRef<'_>, _: Option<&Connection>) -> Result<Self, String> {
        let bytes = value.as_blob().map_err(|_| wrong(value, "the edge of a tree"))?;
        Self::from_bytes(bytes).map_err(|e| e.to_string())
    }

    fn write(&self) -> ToSqlOutput<'_> {
        self.to_bytes().into()
    }
}

/// A list kept as JSON whose items are read as they are.
pub(crate) trait Item: DeserializeOwned + Serialize {
    /// The item with the text that survives.
    fn shown(self, _: Option<&Connection>) -> Result<Self, String> {
        Ok(self)
    }
}

impl Item for String {}
impl Item for model::TaskId {}
impl Item for model::StepId {}
impl Item for model::ArtifactId {}
impl Item for model::BeliefId {}
impl Item for model::artifact::EvidenceRef {}
impl Item for crate::rows::Turns {}
impl Item for Sensitive<String> {
    fn shown(self, shown: Option<&Connection>) -> Result<Self, String> {
        match self {
            Self::Erased(digest) => reveal(digest, shown),
            Self::Shown(text) => Ok(Self::Shown(text)),
        }
    }
}

impl<T: Item> Cell for Vec<T> {
    fn read(value: ValueRef<'_>, shown: Option<&Connection>) -> Result<Self, String> {
        from_json::<Self>(value)?.into_iter().map(|item| item.shown(shown)).collect()
    }

    fn write(&self) -> ToSqlOutput<'_> {
        if self.is_empty() { "[]".into() } else { to_json(self).into() }
    }
}
