//! Rules on trial: the shipped ones with a change, which judge and are in force nowhere (governance.md 1).

use super::bundle::{Bundle, Layer, Rule, Softness};
use super::{PolicyEngine, SCHEMA};
use crate::Error;
use acts::{Action, ActionRequest};
use model::policy::Profile;
use model::{ActionRequestId, AttemptId, PrincipalId, StepId, TaskId, UnixMs, WorkspaceId};
use std::collections::BTreeSet;
pub use words::policy::RuleEffect;

/// What is changed against the shipped rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trial<'a> {
    /// Further Cedar rules behind every profile's own; each `@id` begins with `trial.`.
    pub rules: Option<&'a str>,
    /// Names of shipped rules that are left out.
    pub without: &'a [String],
}

/// A rule for a person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// `layer.word`.
    pub name: String,
    /// What it does when it is met.
    pub effect: RuleEffect,
    /// Why it is there.
    pub reason: String,
    /// Cedar.
    pub text: String,
}

impl PolicyEngine {
    /// An engine with rules on trial. It answers as if they were in force and changes nothing that is.
    ///
    /// # Errors
    /// [`Error::Layer`] when the rules are refused, or a rule to be left out is none.
    pub fn on_trial(trial: &Trial<'_>) -> Result<Self, Error> {
        const NAME: &str = "trial";
        if !trial.without.is_empty() {
            all_known(&Self::shipped()?, NAME, trial.without)?;
        }
        let further: Vec<Layer<'_>> = trial.rules.iter().map(|text| Layer { name: NAME, text }).collect();
        Self::load(SCHEMA, &further, trial.without)
    }

    /// The rules of a profile, by name.
    pub fn rules(&self, profile: Profile) -> Vec<RuleText> {
        let rules = |bundle: &Bundle| bundle.rules.iter().map(readable).collect();
        self.bundles.get(&profile).map(rules).unwrap_or_default()
    }
}

/// Whether every rule that is to be left out is one.
fn all_known(engine: &PolicyEngine, layer: &str, without: &[String]) -> Result<(), Error> {
    let known: BTreeSet<&String> = engine.bundles.values().flat_map(|b| b.rules.keys()).collect();
    let Some(unknown) = without.iter().find(|name| !known.contains(name)) else { return Ok(()) };
    let names: Vec<&str> = known.into_iter().map(String::as_str).collect();
    let why = format!("there is no rule `{unknown}` to leave out; there are {}", names.join(", "));
    Err(Error::Layer { layer: layer.to_owned(), why })
}

fn readable((name, rule): (&String, &Rule)) -> RuleText {
    let effect = match (&rule.softness, rule.permits) {
        (_, true) => RuleEffect::Permit,
        (Softness::Plain, false) => RuleEffect::Forbid,
        (Softness::Ask, false) => RuleEffect::Ask,
        (Softness::Downgrade(_), false) => RuleEffect::Downgrade,
    };
    RuleText { name: name.clone(), effect, reason: rule.reason.clone(), text: rule.text.trim().to_owned() }
}

/// A request that nobody made, for asking what policy would say to it. Its identifiers are nobody's.
pub fn hypothetical(action: Action) -> ActionRequest {
    let nobody = uuid::Uuid::nil();
    let classes = action.classes();
    ActionRequest {
        action_request_id: ActionRequestId::new(nobody),
        task_id: TaskId::new(nobody),
        step_id: StepId::new(nobody),
        attempt_id: AttemptId::new(nobody),
        action_class: classes.first().copied().unwrap_or(model::action::ActionClass::ReadLocal),
        target_resources: action.resources(WorkspaceId::new(nobody)),
        reversibility_hint: action.as_tool().reversibility(),
        action,
        expected_effects: Vec::new(),
        reason: String::new(),
        proposed_by: PrincipalId::new(nobody),
        proposed_at: UnixMs(0),
        evidence_refs: Vec::new(),
        staged: None,
        not_staged: None,
        reach: None,
        instead_of: None,
        guest: None,
    }
}
