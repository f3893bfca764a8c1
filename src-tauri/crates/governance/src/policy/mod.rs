//! Policy: six profiles, four results, one engine (HK-16.3, HK-16.5, governance.md 1).

mod bundle;
mod cedar;
mod facts;
mod judge;
mod permissions;
mod trial;
mod words;

use crate::standing::{self, InForce};
use crate::{Error, risk};
use acts::{Action, ActionRequest, ApprovalPacket, Register, resources_of};
use bundle::Bundle;
pub(crate) use bundle::SCHEMA;
use cedar_policy::{Entities, Schema};
use judge::{Asked, Judge, Judgement, Kinds};
use model::action::ActionClass;
use model::policy::{PolicyResult, Profile, RiskBand, Verdict};
use model::receipt::SandboxLevel;
use model::{PolicyResultId, UnixMs, WorkspaceId};
use seal::{Digest, canon};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
pub(crate) use bundle::Layer;
pub use cedar::CedarAsk;
pub(crate) use facts::Facts;
pub use facts::{DRAFT, PART, READONLY};
pub use permissions::{Permissions, RuleScope};
pub use trial::{RuleEffect, RuleText, Trial, hypothetical};

/// What policy is asked about one request.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The request.
    pub request: &'a ActionRequest,
    /// Digest of its canonical bytes, as stored.
    pub request_sha256: Digest,
    /// The task's profile.
    pub profile: Profile,
    /// The walls a command would get on this machine.
    pub sandbox: SandboxLevel,
    /// Whether whoever runs Hermit has allowed commands without walls; heard only by `repo_mutation_gated`.
    pub allow_unconfined: bool,
    /// Digest of the packet that a person said yes to, once somebody has.
    pub approved_packet: Option<Digest>,
    /// Digest of the packet as it would be now; a yes to another packet does not count.
    pub packet: Option<Digest>,
    /// Whether the proposer's context held anything untrusted.
    pub untrusted_in_context: bool,
    /// Classes that the step's contract allows; empty allows what the profile allows.
    pub steps_allowed: &'a [ActionClass],
    /// Standing grants of a person, verified, that may answer where a person would be asked; the first that covers
    /// the request does.
    pub standing: &'a [InForce<'a>],
    /// Identifier of the result.
    pub policy_result_id: PolicyResultId,
    /// The time of the result; no rule sees it.
    pub now: UnixMs,
}

/// Checked rules for every profile. Shared by threads; holds no state that answers could change.
#[derive(Debug)]
pub struct PolicyEngine {
    schema: Schema,
    schema_sha256: Digest,
    entities: Entities,
    kinds: Kinds,
    bundles: BTreeMap<Profile, Bundle>,
    permissions: Vec<Permissions>,
}

impl PolicyEngine {
    /// The profiles that come with Hermit, strictly validated against the schema.
    ///
    /// # Errors
    /// [`Error::Schema`] or [`Error::Layer`]; then no engine exists and nothing can be allowed.
    pub fn shipped() -> Result<Self, Error> {
        Self::load(SCHEMA, &[], &[])
    }

    /// As [`PolicyEngine::shipped`], with one further layer of Cedar rules behind every profile's own. Every rule's
    /// `@id` begins with `name` and a dot.
    ///
    /// # Errors
    /// As [`PolicyEngine::shipped`].
    pub fn shipped_with(name: &'static str, text: &'static str) -> Result<Self, Error> {
        Self::load(SCHEMA, &[bundle::Layer { name, text }], &[])
    }

    /// The shipped profiles with permission rules behind them, one layer for each scope.
    ///
    /// # Errors
    /// As [`PolicyEngine::shipped`].
    pub fn with_permissions(permissions: Vec<Permissions>) -> Result<Self, Error> {
        let texts: Vec<String> = permissions.iter().map(Permissions::cedar).collect();
        let layer = |(one, text): (&Permissions, &'_ String)| (one.scope().as_str(), text.clone());
        let named: Vec<(&'static str, String)> = permissions.iter().zip(&texts).map(layer).collect();
        let layers: Vec<bundle::Layer<'_>> =
            named.iter().map(|(name, text)| bundle::Layer { name, text }).collect();
        let engine = Self::load(SCHEMA, &layers, &[])?;
        Ok(Self { permissions, ..engine })
    }

    /// The shipped layers of every profile, and further ones behind them; rules named in `without` are left out.
    pub(crate) fn load(
        schema_text: &str,
        further: &[bundle::Layer<'_>],
        without: &[String],
    ) -> Result<Self, Error> {
        let unreadable = |why: String| Error::Schema { why };
        let (schema, warnings) =
            Schema::from_cedarschema_str(schema_text).map_err(|e| unreadable(e.to_string()))?;
        let warnings: Vec<String> = warnings.map(|warning| warning.to_string()).collect();
        if !warnings.is_empty() {
            return Err(unreadable(warnings.join("; ")));
        }
        let entities = schema.action_entities().map_err(|e| unreadable(e.to_string()))?;
        let mut bundles = BTreeMap::new();
        for profile in Profile::ALL {
            let layers = [bundle::layers(*profile), further].concat();
            bundles.insert(*profile, Bundle::load(&schema, &entities, &layers, without)?);
        }
        let kinds = Kinds::new().map_err(unreadable)?;
        Ok(Self {
            schema,
            schema_sha256: Digest::of(schema_text.as_bytes()),
            entities,
            kinds,
            bundles,
            permissions: Vec::new(),
        })
    }

    /// Digest of a profile's rules: its version (HK-16.5-2).
    pub fn policy_set_sha256(&self, profile: Profile) -> Digest {
        self.bundles.get(&profile).map_or(Digest::ZERO, |bundle| bundle.sha256)
    }

    /// Digest of the schema that the rules were validated against.
    pub const fn schema_sha256(&self) -> Digest {
        self.schema_sha256
    }

    /// What the rules hear of a question.
    fn facts(&self, question: &Question<'_>) -> Facts {
        let request = question.request;
        let mut facts = Facts::of(&request.action);
        facts.add_staged(request);
        facts.untrusted_in_context = question.untrusted_in_context;
        facts.sandbox = Some(question.sandbox);
        facts.allow_unconfined = question.allow_unconfined;
        facts.matched = self.permissions.iter().flat_map(|p| p.matched(request)).collect();
        facts
    }

    /// What policy says: exactly one of allow, require_approval, deny, downgrade (HK-16.5-1).
    ///
    /// Never fails: whatever goes wrong is a deny that says so. A request whose class, targets or digest are not
    /// those of its own typed action is denied.
    pub fn evaluate(&self, question: &Question<'_>) -> PolicyResult {
        let request = question.request;
        let classes = request.classes();
        let facts = self.facts(question);
        let risk = risk::assess(request, &classes, &facts);
        let mut judgement = match honest(question, &classes) {
            Ok(()) => self.judge(question, &classes, &facts, risk.band),
            Err(why) => judge::dishonest(why),
        };
        judgement.asks_two |= drops_dual(request);
        let standing = answered_by(question, &judgement, risk.band);
        let judgement = match standing {
            Some(standing) => allowed_by(judgement, standing),
            None => judgement,
        };
        let judgement = self.permitted(question, judgement, risk.band);
        let overriding = overridden(question, &judgement);
        let judgement = match overriding {
            Some(overriding) => asked_after_all(judgement, overriding),
            None => judgement,
        };
        let Judgement { verdict, rules, downgrade, mut reasons, asks_two } = judgement;
        let need = (asks_two && verdict == Verdict::RequireApproval).then_some(KEYS_OF_TWO);
        reasons.extend(need.map(|_| "two different keys have to allow it".to_owned()));
        let mut affected: Vec<String> = request.target_resources.iter().map(ToString::to_string).collect();
        affected.sort();
        affected.dedup();
        PolicyResult {
            policy_result_id: question.policy_result_id,
            action_request_id: request.action_request_id,
            action_request_sha256: question.request_sha256,
            verdict,
            risk_band: if overriding.is_some() { RiskBand::Critical } else { risk.band },
            policy_profile: question.profile,
            policy_set_sha256: self.policy_set_sha256(question.profile),
            schema_sha256: self.schema_sha256,
            determining_rules: rules.into_iter().collect(),
            affected_resources: affected,
            action_summary: request.action.as_tool().title(),
            risk_summary: match overriding {
                Some(_) => format!("overrides policy; {}", risk.summary()),
                None => risk.summary(),
            },
            reasoning_summary: words::reasoning(verdict, &reasons),
            witness_required: classes.iter().any(|class| class.needs_witness()),
            decision_required: overriding.is_some() || classes.iter().any(|class| class.needs_decision()),
            action_classes: classes,
            downgrade,
            evaluated_at: question.now,
            standing: standing.or(overriding).map(InForce::named),
            need,
        }
    }

    /// An `allow` of the person's own rules answers a question of the profile: never one that a rule asks, one about
    /// untrusted reading or secrets, nor critical risk.
    fn permitted(&self, question: &Question<'_>, mut judgement: Judgement, risk: RiskBand) -> Judgement {
        let asks = |rule: &String| {
            let layer = rule.split('.').next().unwrap_or_default();
            layer == "base" || RuleScope::ALL.iter().any(|scope| scope.as_str() == layer)
        };
        if judgement.verdict != Verdict::RequireApproval
            || judgement.asks_two
            || risk == RiskBand::Critical
            || judgement.rules.iter().any(asks)
        {
            return judgement;
        }
        let Some(rules) = permissions::allowed_by(&self.permissions, question.request) else {
            return judgement;
        };
        judgement.verdict = Verdict::Allow;
        judgement.reasons = BTreeSet::from([format!("your rules allow this: {}", rules.join(", "))]);
        judgement.rules.extend(rules);
        judgement
    }

    fn judge(
        &self,
        question: &Question<'_>,
        classes: &[ActionClass],
        facts: &Facts,
        risk: RiskBand,
    ) -> Judgement {
        let Some(bundle) = self.bundles.get(&question.profile) else {
            return judge::failed(BTreeSet::from([format!("no rules for `{}`", question.profile)]));
        };
        let proposer = question.request.proposed_by.to_string();
        let request = question.request.action_request_id.to_string();
        let asked = Asked {
            classes,
            steps_allowed: question.steps_allowed,
            proposer: &proposer,
            request: &request,
            packet: question.packet,
            approved: question.approved_packet,
            request_sha256: question.request_sha256,
            risk,
        };
        Judge { schema: &self.schema, entities: &self.entities, kinds: &self.kinds, bundle }
            .judge(facts, &asked)
    }
}

/// Keys that have to say yes where a rule wants more than one.
const KEYS_OF_TWO: u32 = 2;

/// Questions that only a person answers each time: what is looked at seems to be a secret, or Hermit itself would change.
const ASKED_EACH_TIME: [&str; 2] = ["base.secret_paths", "base.capability"];

/// Why no standing grant answers for the like of what is asked, in words, where that is known from the packet alone.
pub fn asked_each_time(packet: &ApprovalPacket) -> Option<&'static str> {
    let by = |rule: &str| packet.policy_result.determining_rules.iter().any(|one| one == rule);
    let [secret_paths, capability] = ASKED_EACH_TIME;
    match packet.risk_band {
        _ if packet.policy_result.needs_two() => Some("two different keys have to allow this each time"),
        RiskBand::Critical => Some("you are asked about critical actions each time"),
        _ if by(capability) => Some("you are asked each time about what changes what Hermit may do"),
        _ if by(secret_paths) => Some("you are asked each time about what looks like a secret"),
        _ if standing::covers_of(&packet.action_request).is_some() => None,
        _ => Some("no rule covers similar actions, so you are asked each time"),
    }
}

/// The standing grant that answers for the person who would be asked.
fn answered_by<'q>(
    question: &Question<'q>,
    judgement: &Judgement,
    risk: RiskBand,
) -> Option<&'q InForce<'q>> {
    let each_time = |rule: &String| ASKED_EACH_TIME.contains(&rule.as_str());
    // What lasts is one key's word, and stands for no two.
    if judgement.verdict != Verdict::RequireApproval
        || judgement.asks_two
        || judgement.rules.iter().any(each_time)
    {
        return None;
    }
    let Question { standing, request, untrusted_in_context, now, .. } = question;
    standing::find(standing, false, request, risk, *untrusted_in_context, *now)
}

/// What nobody overrides: a failed or dishonest question, what is never proposed, and walls that are not there.
const NEVER_OVERRIDDEN: [&str; 5] = [
    judge::FAILED,
    judge::DISHONEST,
    "base.never_proposed",
    "walls.confined",
    "repo_mutation_gated.needs_walls",
];

/// The override of a person, by which a denied act is asked about after all (HK-16.9).
fn overridden<'q>(question: &Question<'q>, judgement: &Judgement) -> Option<&'q InForce<'q>> {
    let never = |rule: &String| NEVER_OVERRIDDEN.contains(&rule.as_str());
    if judgement.verdict != Verdict::Deny || judgement.rules.iter().any(never) {
        return None;
    }
    let Question { standing, request, untrusted_in_context, now, .. } = question;
    standing::find(standing, true, request, RiskBand::Critical, *untrusted_in_context, *now)
}

fn asked_after_all(mut judgement: Judgement, overriding: &InForce<'_>) -> Judgement {
    let denied: Vec<String> = judgement.reasons.iter().cloned().collect();
    let reason = overriding.grant.override_reason.clone().unwrap_or_default();
    judgement.verdict = Verdict::RequireApproval;
    judgement.rules.insert(format!("override:{}", overriding.grant.grant_id));
    judgement.reasons = BTreeSet::from([format!(
        "policy denies this ({}), and a person has overridden that for exactly this action because: {reason}",
        denied.join("; ")
    )]);
    judgement
}

/// Allowed, by the rules that would have asked and the grant that answers them.
fn allowed_by(mut judgement: Judgement, standing: &InForce<'_>) -> Judgement {
    let grant = standing.grant;
    judgement.verdict = Verdict::Allow;
    judgement.rules.insert(format!("standing:{}", grant.grant_id));
    judgement.reasons = BTreeSet::from([format!(
        "a standing grant of a person answers for them: {}",
        standing::in_words(grant)
    )]);
    judgement
}

/// Whether a rule would go by which two keys have to allow something: two have to allow that as well.
fn drops_dual(request: &ActionRequest) -> bool {
    match &request.action {
        Action::Register(Register::Rules { rules, was }) => acts::drops_dual(was, rules),
        _ => false,
    }
}

/// Whether a request says of itself what its action says.
fn honest(question: &Question<'_>, classes: &[ActionClass]) -> Result<(), String> {
    let request = question.request;
    if classes.first() != Some(&request.action_class) {
        return Err(format!("the request calls itself `{}`, which it is not", request.action_class));
    }
    if !targets_are_its_own(request) {
        return Err("the request does not name exactly what its action touches".to_owned());
    }
    let bytes = canon::to_canonical(request).map_err(|e| e.to_string())?;
    if Digest::of(&bytes) != question.request_sha256 {
        return Err("the request is not the one that was stored".to_owned());
    }
    Ok(())
}

/// Whether the declared targets are those of the action, in one workspace.
pub(crate) fn targets_are_its_own(request: &ActionRequest) -> bool {
    let tool = request.action.as_tool();
    // Only what may be staged has been, and only words of a command lead anywhere.
    let (staged, reach) = (request.staged.as_ref(), request.reach.as_ref());
    if (staged.is_some() && !tool.may_be_staged()) || (reach.is_some() && tool.argv().is_empty()) {
        return false;
    }
    let nowhere = WorkspaceId::new(uuid::Uuid::nil());
    let meant = resources_of(request.workspace().unwrap_or(nowhere), &request.action, staged, reach);
    tool.check().is_ok() && meant == request.target_resources
}

/// Whether a verdict lets an act go on, by itself or after a person's yes.
pub(crate) const fn may_lead_to_a_grant(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Allow | Verdict::RequireApproval => true,
        Verdict::Deny | Verdict::Downgrade => false,
    }
}

/// What the rules say to classes and facts that no action has, for the tables of the tests.
#[cfg(test)]
pub(crate) fn probe(
    engine: &PolicyEngine,
    profile: Profile,
    classes: &[ActionClass],
    facts: &Facts,
) -> Judgement {
    let asked = Asked {
        classes,
        steps_allowed: &[],
        proposer: "prn_0",
        request: "act_0",
        packet: None,
        approved: None,
        request_sha256: Digest::ZERO,
        risk: model::policy::RiskBand::Low,
    };
    let bundle = &engine.bundles[&profile];
    Judge { schema: &engine.schema, entities: &engine.entities, kinds: &engine.kinds, bundle }
        .judge(facts, &asked)
}
