//! What policy says, in words for a person.

use model::policy::Verdict;
use std::collections::BTreeSet;

/// Why, in one line.
pub(crate) fn reasoning(verdict: Verdict, reasons: &BTreeSet<String>) -> String {
    let lead = match verdict {
        Verdict::Allow => "allowed",
        Verdict::RequireApproval => "a person must agree",
        Verdict::Deny => "denied",
        Verdict::Downgrade => "allowed only in a lesser form",
    };
    let why: Vec<&str> = reasons.iter().map(String::as_str).collect();
    format!("{lead}: {}", why.join("; "))
}
