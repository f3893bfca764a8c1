//! Identifiers and digests as columns, and back.

use model::{EventId, TaskId};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use seal::Digest;
use uuid::Uuid;

/// A digest column: 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(pub Digest);

/// An identifier column: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(pub Uuid);

impl Id {
    pub fn task(self) -> TaskId {
        TaskId::new(self.0)
    }

    pub fn event(self) -> EventId {
        EventId::new(self.0)
    }
}

impl From<TaskId> for Id {
    fn from(id: TaskId) -> Self {
        Self(id.uuid())
    }
}

impl From<EventId> for Id {
    fn from(id: EventId) -> Self {
        Self(id.uuid())
    }
}

impl From<model::GrantId> for Id {
    fn from(id: model::GrantId) -> Self {
        Self(id.uuid())
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Digest::try_from(value.as_blob()?).map(Self).map_err(|e| FromSqlError::Other(e.to_string().into()))
    }
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Uuid::from_slice(value.as_blob()?).map(Self).map_err(|e| FromSqlError::Other(e.to_string().into()))
    }
}

/// SQLite counts in signed integers; nothing here comes near their end.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count that a CHECK keeps from being negative.
pub(crate) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
