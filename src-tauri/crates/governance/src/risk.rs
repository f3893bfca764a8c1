//! How much is at stake (HK-16.2): from what an action is and touches, never from what its proposer calls it.

use crate::policy::{Facts, count};
use model::action::{Action, ActionClass, ActionRequest, Reversibility, Staged};
use model::policy::RiskBand;

/// Deletions and overwrites from which on a change set is wide.
pub const WIDE_LOSSES: i64 = 20;
/// Places from which on a change set is wide, whatever it does there.
pub const WIDE_TARGETS: i64 = 200;

/// A band and what led to it, the gravest reason first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Risk {
    pub(crate) band: RiskBand,
    reasons: Vec<(RiskBand, String)>,
}

impl Risk {
    fn at_least(&mut self, band: RiskBand, reason: impl Into<String>) {
        self.band = self.band.max(band);
        self.reasons.push((band, reason.into()));
    }

    /// Every reason, the gravest first.
    pub(crate) fn summary(&self) -> String {
        let mut reasons = self.reasons.clone();
        reasons.sort_by_key(|(band, _)| std::cmp::Reverse(*band));
        let said: Vec<String> = reasons.into_iter().map(|(_, reason)| reason).collect();
        said.join("; ")
    }
}

/// A band as a person reads it.
pub const fn in_words(band: RiskBand) -> &'static str {
    match band {
        RiskBand::Low => "low risk",
        RiskBand::Moderate => "moderate risk",
        RiskBand::High => "high risk",
        RiskBand::Critical => "critical risk",
    }
}

/// The band of a request: the highest that any of its sides asks for.
pub(crate) fn assess(request: &ActionRequest, classes: &[ActionClass], facts: &Facts) -> Risk {
    let mut risk = Risk { band: RiskBand::Low, reasons: Vec::new() };
    for class in classes {
        let (band, reason) = match (class, &request.staged) {
            (ActionClass::ExecuteCommand, Some(staged)) => ran_already(staged),
            _ => by_class(*class),
        };
        risk.at_least(band, reason);
    }
    add_places(&mut risk, facts);
    add_command(&mut risk, request, facts);
    if matches!(&request.action, Action::Fetch(fetch) if fetch.url.is_address()) {
        risk.at_least(
            RiskBand::High,
            "asks a machine by its address, which may be this one or its neighbour",
        );
    }
    add_reversibility(&mut risk, request);
    let changes = classes.iter().any(|class| class.is_important());
    if facts.untrusted_in_context && changes {
        let raised = match risk.band {
            RiskBand::Low => RiskBand::Moderate,
            RiskBand::Moderate | RiskBand::High => RiskBand::High,
            RiskBand::Critical => RiskBand::Critical,
        };
        risk.at_least(raised, "the proposer had read untrusted content");
    }
    risk
}

/// A command that has run in a copy does no more than its changes, which are judged by themselves.
fn ran_already(staged: &Staged) -> (RiskBand, &'static str) {
    if staged.items.is_empty() {
        (RiskBand::Low, "ran in a copy without the network and changed nothing")
    } else {
        (RiskBand::Moderate, "ran in a copy without the network; what it changed there can be undone")
    }
}

const fn by_class(class: ActionClass) -> (RiskBand, &'static str) {
    match class {
        ActionClass::ReadLocal => (RiskBand::Low, "only looks"),
        ActionClass::WriteLocal => (RiskBand::Low, "writes files"),
        ActionClass::DeleteLocal => (RiskBand::Moderate, "deletes files, whose bytes are kept"),
        ActionClass::ExecuteCommand => {
            (RiskBand::High, "runs a program, whose effects are only partly undone")
        }
        ActionClass::NetworkRead => (RiskBand::Moderate, "tells another machine what it asks for"),
        ActionClass::NetworkWrite => (RiskBand::Critical, "can send data off this machine"),
        ActionClass::CredentialedApiCall => (RiskBand::Critical, "acts elsewhere with your credential"),
        ActionClass::VcsMutation => (RiskBand::High, "changes version control"),
        ActionClass::Publication => (RiskBand::Critical, "publishes"),
        ActionClass::Payment => (RiskBand::Critical, "spends money"),
        ActionClass::DurableMemoryWrite => (RiskBand::Moderate, "will be believed in later tasks"),
        ActionClass::PolicyOverride => (RiskBand::Critical, "overrides policy"),
        ActionClass::Rollback => (RiskBand::Moderate, "undoes an earlier act"),
        ActionClass::ApprovalResolution => (RiskBand::Critical, "answers an approval"),
    }
}

/// Sensitivity of the places, and how many they are.
fn add_places(risk: &mut Risk, facts: &Facts) {
    let places = |number: i64| count(usize::try_from(number).unwrap_or(usize::MAX), "place");
    if facts.overwrites > 0 {
        risk.at_least(RiskBand::Moderate, "replaces files, whose bytes are kept");
    }
    let losses = facts.deletes.saturating_add(facts.overwrites);
    if losses >= WIDE_LOSSES || facts.targets >= WIDE_TARGETS {
        risk.at_least(
            RiskBand::High,
            format!("wide: {}, {losses} of them lost or replaced", places(facts.targets)),
        );
    }
    if facts.secret_paths > 0 {
        let reason = format!("{} that look like keys, passwords or tokens", places(facts.secret_paths));
        risk.at_least(RiskBand::High, reason);
    }
    if facts.acting_paths > 0 && (facts.creates + facts.overwrites + facts.deletes) > 0 {
        let reason = format!("{} that act later as code or settings", places(facts.acting_paths));
        risk.at_least(RiskBand::High, reason);
    }
    if facts.elevated > 0 {
        risk.at_least(RiskBand::Critical, "makes a file that runs as somebody else");
    }
    if facts.links_out > 0 {
        risk.at_least(RiskBand::High, "makes a link that leads out of the folder");
    }
    if facts.executables > 0 {
        risk.at_least(RiskBand::Moderate, "makes a file that can be run");
    }
    if facts.hidden_paths > 0 && (facts.creates + facts.overwrites + facts.deletes) > 0 {
        risk.at_least(RiskBand::Moderate, format!("{} that are hidden", places(facts.hidden_paths)));
    }
}

fn add_command(risk: &mut Risk, request: &ActionRequest, facts: &Facts) {
    if matches!(request.action, Action::Command { .. }) && !facts.confined() {
        risk.at_least(RiskBand::Critical, "no walls would stand around the program");
    }
}

/// What Hermit knows of the way back, and what the proposer admits; the worse one counts.
fn add_reversibility(risk: &mut Risk, request: &ActionRequest) {
    let known = match &request.staged {
        Some(_) => Reversibility::Reversible,
        None => reversibility(&request.action),
    };
    match request.reversibility_hint {
        Reversibility::NoEffect | Reversibility::Reversible => {}
        Reversibility::Partial if known == Reversibility::Partial => {}
        Reversibility::Partial => risk.at_least(RiskBand::High, "the proposer says it is only partly undone"),
        Reversibility::Irreversible if known == Reversibility::Irreversible => {
            risk.at_least(RiskBand::High, "what is sent cannot be taken back");
        }
        Reversibility::Irreversible => {
            risk.at_least(RiskBand::Critical, "the proposer says it cannot be undone");
        }
    }
}

/// How far an action can be taken back with what Hermit keeps.
pub const fn reversibility(action: &Action) -> Reversibility {
    match action {
        Action::Observe { .. } => Reversibility::NoEffect,
        Action::Change { .. } | Action::Vcs { .. } | Action::Remember { .. } | Action::Rollback { .. } => {
            Reversibility::Reversible
        }
        Action::Fetch(fetch) if !fetch.method.changes() => Reversibility::NoEffect,
        Action::Fetch(_) | Action::Command { network: true, .. } => Reversibility::Irreversible,
        Action::Command { network: false, .. } => Reversibility::Partial,
    }
}
