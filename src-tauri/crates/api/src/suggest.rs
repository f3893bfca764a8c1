//! From the answers that a person gave, the narrowest standing grants that would have given them (governance.md 1).
//!
//! A grant that would also have answered a question which the person refused, or never answered, is no suggestion.

use crate::backtest::History;
use acts::ActionRequest;
use governance::standing::{covers, in_words, propose};
use model::policy::{PolicyResult, RiskBand, Verdict};
use model::standing::{StandingGrant, StandingScope};
use std::collections::BTreeSet;
use wire::policy::{Suggestion, Suggestions};
use words::policy::ApprovalStatus;

/// Candidates that are tried at most; the newest answers say best what is asked now.
const CANDIDATES_MAX: usize = 400;
/// Suggestions at most: a list that a person still reads.
const ROWS_MAX: usize = 12;
const UNTRUSTED: &str = "base.untrusted_context";

/// A question that a person was asked.
struct Past {
    request: ActionRequest,
    risk: RiskBand,
    untrusted: bool,
    allowed: bool,
}

impl Past {
    fn of(request: ActionRequest, was: &PolicyResult, allowed: bool) -> Self {
        let untrusted = was.determining_rules.iter().any(|rule| rule == UNTRUSTED);
        Self { request, risk: was.risk_band, untrusted, allowed }
    }

    fn answered_by(&self, grant: &StandingGrant) -> bool {
        self.risk != RiskBand::Critical
            && (grant.after_untrusted || !self.untrusted)
            && covers(grant, &self.request).is_ok()
    }
}

/// The suggestions, those that spare most questions first.
pub(crate) fn suggest(
    history: &History,
    store: &artifacts::Store,
    frame: &StandingGrant,
    since: Option<i64>,
) -> Suggestions {
    let asked: Vec<Past> = history
        .all(store)
        .filter(|(asked, _, was)| {
            was.verdict == Verdict::RequireApproval && since.is_none_or(|since| asked.at.0 >= since)
        })
        .map(|(asked, request, was)| Past::of(request, &was, asked.answered == Some(ApprovalStatus::Granted)))
        .collect();
    let mut open: BTreeSet<usize> =
        asked.iter().enumerate().filter(|(_, past)| past.allowed).map(|(at, _)| at).collect();
    let allowed = open.len() as u64;
    let mut candidates = candidates(&asked, frame);
    let mut rows = Vec::new();
    while rows.len() < ROWS_MAX {
        // The earlier of two that spare as many is the narrower.
        let spared = |grant: &StandingGrant| -> BTreeSet<usize> {
            open.iter().copied().filter(|at| asked.get(*at).is_some_and(|p| p.answered_by(grant))).collect()
        };
        let best = candidates.iter().enumerate().map(|(at, grant)| (at, spared(grant)));
        let Some((at, spares)) = best
            .max_by_key(|(at, spares)| (spares.len(), std::cmp::Reverse(*at)))
            .filter(|(_, s)| !s.is_empty())
        else {
            break;
        };
        let grant = candidates.remove(at);
        open = open.difference(&spares).copied().collect();
        rows.push(Suggestion {
            words: in_words(&grant),
            draft: serde_json::to_value(&grant).unwrap_or_default(),
            answers: spares.len() as u64,
        });
    }
    Suggestions { allowed, left: open.len() as u64, rows }
}

/// Narrow grants for what was allowed, the narrowest first, that would have answered nothing else.
fn candidates(asked: &[Past], frame: &StandingGrant) -> Vec<StandingGrant> {
    let mut found: Vec<(usize, StandingGrant)> = Vec::new();
    for past in asked.iter().rev().filter(|past| past.allowed) {
        let frame =
            StandingGrant { scope: scope(&past.request), after_untrusted: past.untrusted, ..frame.clone() };
        for (width, grant) in propose(&past.request, &frame).into_iter().enumerate() {
            let known = found.iter().any(|(_, other)| *other == grant);
            let beyond = || asked.iter().any(|past| !past.allowed && past.answered_by(&grant));
            if !known && !beyond() {
                found.push((width, grant));
            }
        }
        if found.len() >= CANDIDATES_MAX {
            break;
        }
    }
    found.sort_by_key(|(width, _)| *width);
    found.into_iter().map(|(_, grant)| grant).collect()
}

fn scope(request: &ActionRequest) -> StandingScope {
    match request.workspace() {
        Some(workspace_id) => StandingScope::Project { workspace_id },
        None => StandingScope::Task { task_id: request.task_id },
    }
}
