//! What no window may hand in, read by the build script and by the code: a decision, a lasting yes, a security key or an
//! override that was signed somewhere else. An app signs its own.

/// Rows of the wire's table.
pub const NEVER: [&str; 4] = ["approvals.decide", "grants.allow", "passkeys.enrol", "policy.allow_override"];
