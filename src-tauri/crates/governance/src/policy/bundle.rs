//! Layers of rules, put together into one checked set for each profile (HK-16.3).
//!
//! A bundle is a list of layers: the base, what profiles share, and the profile's own. Further layers take their
//! place behind these in [`Bundle::load`], each with its own name and digest: permission rules of a user, a
//! project (which may only forbid) and a task, standing answers of a person, and the variants of KS. Nothing
//! else of the engine knows how many layers there are.

use crate::Error;
use cedar_policy::{
    ActionConstraint, Effect, Entities, EntityUid, Policy, PolicyId, PolicySet, Schema, ValidationMode,
    Validator,
};
use model::action::ActionClass;
use model::policy::Profile;
use seal::{Digest, canon};
use serde_json::json;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The schema every layer is validated against.
pub(crate) const SCHEMA: &str = include_str!("../../policies/hermit.cedarschema");

/// Modes that a downgrade may name.
const MODES: [&str; 2] = [super::facts::READONLY, super::facts::DRAFT];

/// A named text of Cedar rules. Every rule's `@id` begins with the layer's name and a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

macro_rules! layer {
    ($name:literal) => {
        Layer { name: $name, text: include_str!(concat!("../../policies/", $name, ".cedar")) }
    };
}

/// The layers of a profile, in the order in which they are digested.
pub(crate) const fn layers(profile: Profile) -> &'static [Layer<'static>] {
    const BASE: Layer<'static> = layer!("base");
    const WALLS: Layer<'static> = layer!("walls");
    const EDIT: Layer<'static> = layer!("local_edit_allowed");
    const FETCH: Layer<'static> = layer!("network_read_allowed");
    const VCS: Layer<'static> = layer!("vcs_gated");
    match profile {
        Profile::ReadonlyAnalysis => &[BASE, WALLS, layer!("readonly_analysis")],
        Profile::LocalEditAllowed => &[BASE, WALLS, EDIT],
        Profile::NetworkReadAllowed => &[BASE, WALLS, EDIT, FETCH, layer!("network_read_only")],
        Profile::RepoMutationGated => &[BASE, EDIT, FETCH, VCS, layer!("repo_mutation_gated")],
        Profile::ExternalPublishGated => &[BASE, WALLS, EDIT, FETCH, VCS, layer!("external_publish_gated")],
        Profile::DestructiveDenied => &[BASE, WALLS, EDIT, layer!("destructive_denied")],
        Profile::Service => &[BASE, WALLS, layer!("service")],
    }
}

/// What a rule's refusal can be lifted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Softness {
    /// By nothing.
    Plain,
    /// By a person's yes to the packet.
    Ask,
    /// By the lesser form of this name.
    Downgrade(String),
}

/// A rule by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) softness: Softness,
    pub(crate) reason: String,
    pub(crate) permits: bool,
    /// Whether two different keys have to say yes where it asks (`@keys("2")`).
    pub(crate) asks_two: bool,
    /// The rule as it is written.
    pub(crate) text: String,
}

/// The checked rules of one profile.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// For each class those rules whose scope can hold it: a rule of another class is neither met nor able to
    /// fail, so leaving it out changes no answer and saves the time of asking it.
    pub(crate) sets: BTreeMap<ActionClass, PolicySet>,
    pub(crate) rules: BTreeMap<String, Rule>,
    pub(crate) sha256: Digest,
}

impl Bundle {
    /// Reads, names and strictly validates layers.
    ///
    /// Rules named in `without` are left out; what is left has a digest of its own.
    pub(crate) fn load(
        schema: &Schema,
        actions: &Entities,
        layers: &[Layer<'_>],
        without: &[String],
    ) -> Result<Self, Error> {
        let mut set = PolicySet::new();
        let mut rules = BTreeMap::new();
        for layer in layers {
            add_layer(layer, without, &mut set, &mut rules)?;
        }
        let names: Vec<&str> = layers.iter().map(|layer| layer.name).collect();
        let checked = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
        // A warning (a rule that can never apply, a confusable letter) is a mistake in a rule that guards.
        if !checked.validation_passed_without_warnings() {
            let errors = checked.validation_errors().map(ToString::to_string);
            let warnings = checked.validation_warnings().map(ToString::to_string);
            let why = errors.chain(warnings).collect::<Vec<_>>().join("; ");
            return Err(Error::Layer { layer: names.join(" + "), why });
        }
        let mut listed: Vec<_> = layers
            .iter()
            .map(|layer| json!({"layer": layer.name, "sha256": Digest::of(layer.text.as_bytes())}))
            .collect();
        listed.extend(without.iter().map(|name| json!({ "without": name })));
        let mut sets = BTreeMap::new();
        for class in ActionClass::ALL {
            let sifted = sift(&set, actions, *class);
            sets.insert(*class, sifted.map_err(|why| Error::Layer { layer: names.join(" + "), why })?);
        }
        Ok(Self { sets, rules, sha256: Digest::of(&canon::to_canonical(&listed)?) })
    }
}

fn sift(set: &PolicySet, actions: &Entities, class: ActionClass) -> Result<PolicySet, String> {
    let action = format!("Hermit::Action::\"{class}\"");
    let action = EntityUid::from_str(&action).map_err(|e| e.to_string())?;
    let holds = |scope: &EntityUid| *scope == action || actions.is_ancestor_of(scope, &action);
    let meant = set.policies().filter(|policy| match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(scope) => scope == action,
        ActionConstraint::In(scopes) => scopes.iter().any(holds),
    });
    PolicySet::from_policies(meant.cloned()).map_err(|e| e.to_string())
}

fn add_layer(
    layer: &Layer<'_>,
    without: &[String],
    set: &mut PolicySet,
    rules: &mut BTreeMap<String, Rule>,
) -> Result<(), Error> {
    let refuse = |why: String| Error::Layer { layer: layer.name.to_owned(), why };
    let parsed = PolicySet::from_str(layer.text).map_err(|e| refuse(e.to_string()))?;
    if parsed.templates().next().is_some() {
        return Err(refuse("it holds a template; write the rule out".to_owned()));
    }
    for policy in parsed.policies() {
        let (name, rule) = named(layer, policy).map_err(refuse)?;
        if without.contains(&name) {
            continue;
        }
        set.add(policy.new_id(PolicyId::new(&name))).map_err(|e| refuse(e.to_string()))?;
        rules.insert(name, rule);
    }
    Ok(())
}

fn named(layer: &Layer<'_>, policy: &Policy) -> Result<(String, Rule), String> {
    let id = policy.annotation("id").ok_or("a rule has no `@id`")?;
    let own = id.strip_prefix(layer.name).and_then(|rest| rest.strip_prefix('.'));
    if own.is_none_or(str::is_empty) {
        return Err(format!("the rule `{id}` must be named `{}.` and a word", layer.name));
    }
    let reason = policy.annotation("reason").ok_or_else(|| format!("the rule `{id}` has no `@reason`"))?;
    let softness = match (policy.annotation("decision"), policy.effect()) {
        (None, _) => Softness::Plain,
        (Some(_), Effect::Permit) => return Err(format!("`{id}` permits, so it cannot carry `@decision`")),
        (Some("ask"), Effect::Forbid) => Softness::Ask,
        (Some(other), Effect::Forbid) => match other.strip_prefix("downgrade:") {
            Some(mode) if MODES.contains(&mode) => Softness::Downgrade(mode.to_owned()),
            _ => return Err(format!("`{id}` asks for the unknown decision `{other}`")),
        },
    };
    let asks_two = match policy.annotation("keys") {
        None => false,
        Some("2") if softness == Softness::Ask => true,
        Some("2") => return Err(format!("`{id}` asks nobody, so it cannot carry `@keys`")),
        Some(other) => {
            return Err(format!("`{id}` has `@keys(\"{other}\")`; two keys say yes, or one without it"));
        }
    };
    let permits = policy.effect() == Effect::Permit;
    Ok((
        id.to_owned(),
        Rule { softness, reason: reason.to_owned(), permits, asks_two, text: policy.to_string() },
    ))
}
