//! What can go wrong with a view.

/// Every refusal of this room.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tables are of another version, or not there; the host that writes makes them anew when it opens.
    #[error("the lists are of version {found}, this Hermit needs {needed}; let a host open the store once")]
    Version {
        /// The version found, 0 for none.
        found: u32,
        /// The version needed.
        needed: u32,
    },
    /// A rebuild was cancelled; everything is as it was.
    #[error("the rebuild was cancelled; the lists are as they were")]
    Cancelled,
    /// A stored event cannot be read.
    #[error("event {log_seq} cannot be folded: {why}")]
    Event {
        /// Its place in the log.
        log_seq: u64,
        /// Why.
        why: String,
    },
    /// A row does not hold what its column says; a rebuild mends it.
    #[error("a row of `{table}` is not as it should be: {why}; rebuild the lists")]
    Row {
        /// Which table.
        table: &'static str,
        /// What is wrong.
        why: String,
    },
    /// What was asked for cannot be: a cursor or search text that makes no sense.
    #[error("{why}")]
    Asked {
        /// What is wrong with it.
        why: String,
    },
    /// The ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The database refused.
    #[error("the database says: {0}")]
    Database(#[from] rusqlite::Error),
}
