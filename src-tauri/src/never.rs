//! What no window may hand in, read by the build script and by the code: a decision, a lasting yes or an override that
//! was signed somewhere else. An app signs its own.

/// Rows of the wire's table.
pub const NEVER: [&str; 3] = ["approvals.decide", "grants.allow", "policy.allow_override"];
