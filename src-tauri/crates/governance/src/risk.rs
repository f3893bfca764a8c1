//! How much is at stake (HK-16.2): from what an action is and touches, never from what its proposer calls it.

use crate::policy::Facts;
use acts::{Action, ActionRequest, Register, count};
use model::action::{ActionClass, Reversibility, Staged};
use model::policy::RiskBand;
use model::receipt::SandboxLevel;

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
            // It runs programs of Hermit's own, and nothing is left of them.
            (ActionClass::ExecuteCommand, _) if matches!(request.action, Action::TryChange(_)) => (
                RiskBand::Moderate,
                "runs copies of Hermit in a sandbox without the network, which change nothing",
            ),
            (ActionClass::DeleteLocal, _) if facts.counts.lost == 0 => nothing_lost(facts),
            // Critical is what leads anywhere; this leads to one chat, and says what the kernel itself composed.
            (ActionClass::NetworkWrite, _) if matches!(request.action, Action::Message(_)) => {
                (RiskBand::High, "sends words off this machine, to a chat whose sender you paired")
            }
            // It leads to clocks that a person set, and is 32 bytes that say nothing.
            (ActionClass::NetworkWrite, _) if matches!(&request.action, Action::Anchor(asked) if !asked.costs()) => {
                (RiskBand::High, "sends 32 bytes off this machine, to a clock that you set")
            }
            (ActionClass::NetworkWrite, _) if matches!(request.action, Action::Anchor(_)) => {
                (RiskBand::Critical, "spends bitcoin, and publishes 32 bytes for ever")
            }
            (ActionClass::CapabilityChange, _)
                if matches!(request.action, Action::Register(Register::Adopt { .. })) =>
            {
                (RiskBand::Critical, "puts another Hermit in the place of this one")
            }
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
        risk.at_least(RiskBand::Moderate, "it is based on files or names that may contain instructions");
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

/// What is only moved is all still there, and so is all when an empty folder goes.
const fn nothing_lost(facts: &Facts) -> (RiskBand, &'static str) {
    match facts.counts.moves {
        0 => (RiskBand::Low, "removes folders with nothing in them"),
        _ => (RiskBand::Low, "moves files; nothing is lost"),
    }
}

const fn by_class(class: ActionClass) -> (RiskBand, &'static str) {
    match class {
        ActionClass::ReadLocal => (RiskBand::Low, "only looks"),
        ActionClass::WriteLocal => (RiskBand::Low, "writes files"),
        ActionClass::DeleteLocal => (RiskBand::Moderate, "deletes files; a copy of each is kept"),
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
        ActionClass::ExternalEffect => {
            (RiskBand::Critical, "does what nobody has classified, with a tool or an agent of somebody else")
        }
        ActionClass::CapabilityChange => (RiskBand::High, "changes what Hermit itself may do"),
        ActionClass::PolicyOverride => (RiskBand::Critical, "overrides policy"),
        ActionClass::Rollback => (RiskBand::Moderate, "undoes an earlier act"),
        ActionClass::ApprovalResolution => (RiskBand::Critical, "answers an approval"),
    }
}

/// Sensitivity of the places, and how many they are.
fn add_places(risk: &mut Risk, facts: &Facts) {
    let places = |number: i64| count(usize::try_from(number).unwrap_or(usize::MAX), "place");
    if facts.counts.overwrites > 0 {
        risk.at_least(RiskBand::Moderate, "replaces files; a copy of each is kept");
    }
    if facts.counts.lost >= WIDE_LOSSES || facts.counts.targets >= WIDE_TARGETS {
        let lost = match facts.counts.lost {
            0 => "nothing is lost".to_owned(),
            lost => format!("{lost} of them deleted or replaced, and a copy of each is kept"),
        };
        risk.at_least(RiskBand::Moderate, format!("wide: {}, {lost}", places(facts.counts.targets)));
    }
    if facts.counts.secret_paths > 0 {
        let reason =
            format!("{} that look like keys, passwords or tokens", places(facts.counts.secret_paths));
        risk.at_least(RiskBand::High, reason);
    }
    if facts.counts.acting_paths > 0
        && (facts.counts.creates + facts.counts.overwrites + facts.counts.deletes) > 0
    {
        let reason = format!("{} that act later as code or settings", places(facts.counts.acting_paths));
        risk.at_least(RiskBand::High, reason);
    }
    if facts.counts.elevated > 0 {
        risk.at_least(RiskBand::Critical, "makes a file that runs as somebody else");
    }
    if facts.counts.links_out > 0 {
        risk.at_least(RiskBand::High, "makes a link that leads out of the folder");
    }
    if facts.counts.executables > 0 {
        risk.at_least(RiskBand::Moderate, "makes a file that can be run");
    }
    if facts.counts.hidden_paths > 0
        && (facts.counts.creates + facts.counts.overwrites + facts.counts.deletes) > 0
    {
        risk.at_least(RiskBand::Moderate, format!("{} that are hidden", places(facts.counts.hidden_paths)));
    }
}

fn add_command(risk: &mut Risk, request: &ActionRequest, facts: &Facts) {
    if !matches!(request.action, Action::Command(_)) || facts.isolated() {
        return;
    }
    risk.at_least(
        RiskBand::Critical,
        match facts.sandbox {
            Some(SandboxLevel::SeatbeltOpen) => {
                "the sandbox did not refuse everything that was tried against it"
            }
            Some(SandboxLevel::RestrictedToken) => "its sandbox leaves the network open",
            _ if facts.confined() => {
                "without bubblewrap it could change permissions and times of files outside the folder"
            }
            _ => "no sandbox would hold the program",
        },
    );
}

/// What Hermit knows of the way back, and what the proposer admits; the worse one counts.
fn add_reversibility(risk: &mut Risk, request: &ActionRequest) {
    let known = request.known_way_back();
    match request.reversibility_hint {
        Reversibility::NoEffect | Reversibility::Reversible => {}
        Reversibility::Partial if known == Reversibility::Partial => {}
        // What cannot be taken back at all is not made graver by a milder word.
        Reversibility::Partial if known == Reversibility::Irreversible => {}
        Reversibility::Partial => {
            risk.at_least(RiskBand::High, "the model says it can only be undone in part")
        }
        Reversibility::Irreversible if known == Reversibility::Irreversible => {
            risk.at_least(RiskBand::High, "what is sent cannot be taken back");
        }
        Reversibility::Irreversible => {
            risk.at_least(RiskBand::Critical, "the model says it cannot be undone");
        }
    }
}
