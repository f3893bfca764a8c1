//! The append-only, hash-chained event log in SQLite; checkpoints; one fenced writer; verification.
