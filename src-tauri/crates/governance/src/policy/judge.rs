//! Four results on a two-valued engine (governance.md 1).

use super::bundle::{Bundle, Softness};
use super::facts::{Case, FULL, Facts};
use cedar_policy::{Authorizer, Decision, Entities, EntityId, EntityTypeName, EntityUid, Request, Schema};
use model::Digest;
use model::action::ActionClass;
use model::policy::{RiskBand, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// Stands among the determining rules when no rule permitted.
pub(crate) const NO_RULE: &str = "default_deny";
/// Stands among the determining rules when judging itself failed.
pub(crate) const FAILED: &str = "evaluation_error";

/// Stands among the determining rules when a request is not what it says it is.
pub(crate) const DISHONEST: &str = "request_mismatch";

/// What is asked of the rules, beside the facts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) classes: &'a [ActionClass],
    pub(crate) steps_allowed: &'a [ActionClass],
    pub(crate) proposer: &'a str,
    pub(crate) request: &'a str,
    pub(crate) packet: Option<Digest>,
    pub(crate) approved: Option<Digest>,
    /// Stands in for a packet that is not made yet.
    pub(crate) request_sha256: Digest,
    pub(crate) risk: RiskBand,
}

/// The one result, and what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) rules: BTreeSet<String>,
    pub(crate) downgrade: Option<String>,
    /// In words, one for each rule, or what failed.
    pub(crate) reasons: BTreeSet<String>,
    /// Whether a rule asks that was met and wants two different keys to say yes, whatever the verdict came to.
    pub(crate) asks_two: bool,
}

/// All classes of a request under one assumption.
#[derive(Debug, Default)]
struct Pass {
    errors: BTreeSet<String>,
    plain: BTreeSet<String>,
    asks: BTreeSet<String>,
    downgrades: BTreeMap<String, BTreeSet<String>>,
    permits: BTreeSet<String>,
    unpermitted: Vec<ActionClass>,
}

impl Pass {
    fn allows(&self) -> bool {
        self.errors.is_empty()
            && self.plain.is_empty()
            && self.asks.is_empty()
            && self.downgrades.is_empty()
            && self.unpermitted.is_empty()
            && !self.permits.is_empty()
    }
}

/// One assumption: which yes there is, and in which mode the request would run.
#[derive(Clone, Copy)]
pub(crate) struct Assume<'a> {
    pub(crate) mode: &'a str,
    pub(crate) packet: Option<Digest>,
    pub(crate) approved: Option<Digest>,
}

/// The schema's kinds of entities, read once.
#[derive(Debug, Clone)]
pub(crate) struct Kinds {
    principal: EntityTypeName,
    action: EntityTypeName,
    request: EntityTypeName,
}

impl Kinds {
    pub(crate) fn new() -> Result<Self, String> {
        let kind = |name: &str| EntityTypeName::from_str(name).map_err(|e| e.to_string());
        let (principal, action) = (kind("Hermit::Principal")?, kind("Hermit::Action")?);
        Ok(Self { principal, action, request: kind("Hermit::ActionRequest")? })
    }
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

/// The rules of one profile and what they are asked with.
pub(crate) struct Judge<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) entities: &'a Entities,
    pub(crate) kinds: &'a Kinds,
    pub(crate) bundle: &'a Bundle,
}

impl Judge<'_> {
    /// The method of governance.md 1, to the letter: errors deny; allow allows; a deny by default or by any plain
    /// rule denies; a deny only through ask or downgrade is asked again with the hypothetical yes, then with the
    /// hypothetical mode, and is a deny when neither lifts it.
    pub(crate) fn judge(&self, facts: &Facts, asked: &Asked<'_>) -> Judgement {
        let actual = Assume { mode: FULL, packet: asked.packet, approved: asked.approved };
        let pass = self.pass(facts, asked, actual);
        let asks_two =
            pass.asks.iter().any(|name| self.bundle.rules.get(name).is_some_and(|rule| rule.asks_two));
        Judgement { asks_two, ..self.of_pass(facts, asked, (pass, actual)) }
    }

    fn of_pass(&self, facts: &Facts, asked: &Asked<'_>, (pass, actual): (Pass, Assume<'_>)) -> Judgement {
        if !pass.errors.is_empty() {
            return failed(pass.errors);
        }
        if pass.allows() {
            return self.because(Verdict::Allow, pass.permits, None);
        }
        if !pass.plain.is_empty() || !pass.unpermitted.is_empty() {
            return self.denied(pass);
        }
        if !pass.asks.is_empty() {
            let packet = Some(asked.packet.unwrap_or(asked.request_sha256));
            let again = self.pass(facts, asked, Assume { mode: FULL, packet, approved: packet });
            if !again.errors.is_empty() {
                return failed(again.errors);
            }
            if again.allows() {
                return self.because(Verdict::RequireApproval, pass.asks, None);
            }
        }
        for (mode, rules) in &pass.downgrades {
            let again = self.pass(facts, asked, Assume { mode, ..actual });
            if !again.errors.is_empty() {
                return failed(again.errors);
            }
            if again.allows() {
                return self.because(Verdict::Downgrade, rules.clone(), Some(mode.clone()));
            }
        }
        let soft = pass.downgrades.into_values().flatten().chain(pass.asks);
        self.because(Verdict::Deny, soft.collect(), None)
    }

    fn denied(&self, pass: Pass) -> Judgement {
        let mut judgement = self.because(Verdict::Deny, pass.plain, None);
        for class in pass.unpermitted {
            judgement.rules.insert(NO_RULE.to_owned());
            judgement.reasons.insert(format!("no rule of the profile permits it to {}", class.in_words()));
        }
        judgement
    }

    fn because(&self, verdict: Verdict, rules: BTreeSet<String>, downgrade: Option<String>) -> Judgement {
        let reason = |name: &String| self.bundle.rules.get(name).map(|rule| rule.reason.clone());
        let reasons = rules.iter().filter_map(reason).collect();
        Judgement { verdict, rules, downgrade, reasons, asks_two: false }
    }

    /// One Cedar request for each class. Rules that match single targets (`FileEdit(*.md)`) will need one for
    /// each class and target; they join here, and nothing above changes.
    fn pass(&self, facts: &Facts, asked: &Asked<'_>, assume: Assume<'_>) -> Pass {
        let mut pass = Pass::default();
        for class in asked.classes {
            let case = Case {
                class: *class,
                mode: assume.mode,
                packet: assume.packet,
                approved: assume.approved,
                step_allows: asked.steps_allowed.is_empty() || asked.steps_allowed.contains(class),
                risk: asked.risk,
            };
            if let Err(why) = self.ask(facts, asked, &case, &mut pass) {
                pass.errors.insert(why);
            }
        }
        if asked.classes.is_empty() {
            pass.errors.insert("the request has no class".to_owned());
        }
        pass
    }

    fn ask(&self, facts: &Facts, asked: &Asked<'_>, case: &Case<'_>, pass: &mut Pass) -> Result<(), String> {
        let request = Request::new(
            uid(&self.kinds.principal, asked.proposer),
            uid(&self.kinds.action, case.class.as_str()),
            uid(&self.kinds.request, asked.request),
            facts.context(case)?,
            Some(self.schema),
        );
        let request = request.map_err(|e| e.to_string())?;
        let rules = self.bundle.sets.get(&case.class).ok_or("the class has no rules")?;
        let response = Authorizer::new().is_authorized(&request, rules, self.entities);
        // Cedar leaves out a rule that fails, also one that forbids, so a failing rule may hide a deny.
        pass.errors.extend(response.diagnostics().errors().map(ToString::to_string));
        let reasons: Vec<String> = response.diagnostics().reason().map(ToString::to_string).collect();
        if response.decision() == Decision::Allow {
            pass.permits.extend(reasons);
            return Ok(());
        }
        if reasons.is_empty() {
            pass.unpermitted.push(case.class);
        }
        for name in reasons {
            match self.bundle.rules.get(&name).map(|rule| &rule.softness) {
                Some(Softness::Ask) => pass.asks.insert(name),
                Some(Softness::Downgrade(mode)) => {
                    pass.downgrades.entry(mode.clone()).or_default().insert(name)
                }
                Some(Softness::Plain) | None => pass.plain.insert(name),
            };
        }
        Ok(())
    }
}

/// A deny because judging itself failed.
pub(crate) fn failed(errors: BTreeSet<String>) -> Judgement {
    let reasons = errors.into_iter().map(|why| format!("policy could not be evaluated: {why}")).collect();
    Judgement { reasons, ..denied_by(FAILED) }
}

/// A deny because the request is not what it says it is.
pub(crate) fn dishonest(why: String) -> Judgement {
    Judgement { reasons: BTreeSet::from([why]), ..denied_by(DISHONEST) }
}

fn denied_by(rule: &str) -> Judgement {
    Judgement {
        verdict: Verdict::Deny,
        rules: BTreeSet::from([rule.to_owned()]),
        downgrade: None,
        reasons: BTreeSet::new(),
        asks_two: false,
    }
}
