//! A field that is always present, and says why when it holds nothing (reconciliation C37).

use serde::{Deserialize, Serialize};

crate::names! {
    /// Why a slot is empty.
    pub enum Absence ("reason for absence") {
        /// The path taken does not need one.
        NotRequired = "not_required",
        /// The action has none by its nature.
        NotApplicable = "not_applicable",
        /// It belongs to an action taken before any task.
        PrecedesTask = "precedes_task",
        /// It could not be obtained; the summary says how.
        Unavailable = "unavailable",
    }
}

/// A value, or the reason for having none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot<T> {
    /// The value.
    Value(T),
    /// Nothing, because of this.
    Absent(Absence),
}

impl<T> Slot<T> {
    /// The path taken does not need a value.
    pub const NOT_REQUIRED: Self = Self::Absent(Absence::NotRequired);

    /// The value, if there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent(_) => None,
        }
    }

    /// A slot from an option, with the reason for `None`.
    pub fn or(value: Option<T>, reason: Absence) -> Self {
        value.map_or(Self::Absent(reason), Self::Value)
    }
}
