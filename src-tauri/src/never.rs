//! What no window may hand in, read by the build script and by the code: a decision or a lasting yes that was signed
//! somewhere else. An app signs its own.

/// Rows of the wire's table.
pub const NEVER: [&str; 2] = ["approvals.decide", "grants.allow"];
