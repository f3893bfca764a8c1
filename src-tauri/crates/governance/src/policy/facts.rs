//! What the rules may know about a request, computed from its typed body.

use acts::{Action, ActionRequest, Counts};
use cedar_policy::{Context, RestrictedExpression};
use model::Digest;
use model::action::ActionClass;
use model::policy::RiskBand;
use model::receipt::SandboxLevel;
use serde_json::{Value, json};

/// The request as it stands.
pub(crate) const FULL: &str = "full";
/// The lesser form in which it is only looked at.
pub const READONLY: &str = "readonly";
/// The lesser form in which it is kept as a text, and nothing of it is done.
pub const DRAFT: &str = "draft";
/// The lesser form that a person chose themselves: a part of what was asked.
pub const PART: &str = "part";

/// What the rules may know: counts of what the act does, and where it would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) counts: Counts,
    /// It has run in its staged view, and there is nothing to commit.
    pub(crate) without_effect: bool,
    pub(crate) untrusted_in_context: bool,
    pub(crate) sandbox: Option<SandboxLevel>,
    pub(crate) allow_unconfined: bool,
    /// Names of permission rules that match.
    pub(crate) matched: Vec<String>,
}

impl Facts {
    /// What an action does by itself.
    pub(crate) fn of(action: &Action) -> Self {
        Self { counts: action.as_tool().counts(), ..Self::default() }
    }

    /// What a command has been seen to do in its staged view.
    pub(crate) fn add_staged(&mut self, request: &ActionRequest) {
        let staged = request.staged.iter().flat_map(|staged| &staged.items);
        staged.for_each(|item| self.counts.add_change(item));
        // What a command can read is looked at as surely as what a look names.
        let seen = request.reach.as_ref().map_or(0, |reach| reach.secrets.len());
        self.counts.secret_paths += i64::try_from(seen).unwrap_or(i64::MAX);
        self.without_effect = has_had_no_effect(request);
    }

    /// Whether walls would stand around a command.
    pub(crate) const fn confined(&self) -> bool {
        match self.sandbox {
            Some(level) => level.confines(),
            None => false,
        }
    }

    /// Whether a command would reach nothing but what it is shown.
    pub(crate) const fn isolated(&self) -> bool {
        match self.sandbox {
            Some(level) => level.isolates(),
            None => false,
        }
    }

    /// What rules may know of one Cedar request, by name.
    pub(crate) fn known(&self, case: &Case<'_>) -> Vec<(&'static str, Value)> {
        let sandbox = self.sandbox.unwrap_or(SandboxLevel::NotApplicable).as_str();
        let mut known = vec![
            ("mode", json!(case.mode)),
            ("targets", json!(self.counts.targets)),
            ("creates", json!(self.counts.creates)),
            ("overwrites", json!(self.counts.overwrites)),
            ("deletes", json!(self.counts.deletes)),
            ("moves", json!(self.counts.moves)),
            ("secret_paths", json!(self.counts.secret_paths)),
            ("acting_paths", json!(self.counts.acting_paths)),
            ("sandbox", json!(sandbox)),
            ("confined", json!(self.confined())),
            ("allow_unconfined", json!(self.allow_unconfined)),
            ("network", json!(self.counts.network)),
            ("without_effect", json!(self.without_effect)),
            ("untrusted_in_context", json!(self.untrusted_in_context)),
            ("step_allows", json!(case.step_allows)),
            ("risk", json!(rank(case.risk))),
            ("matched", json!(self.matched)),
        ];
        if let Some(packet) = case.packet {
            known.push(("packet_hash", json!(packet.to_string())));
        }
        if let Some(approved) = case.approved {
            known.push(("approval", json!({ "packet_hash": approved.to_string() })));
        }
        known
    }

    /// The typed context of one Cedar request.
    pub(crate) fn context(&self, case: &Case<'_>) -> Result<Context, String> {
        let mut pairs = Vec::new();
        for (name, value) in self.known(case) {
            pairs.push((name.to_owned(), typed(&value)?));
        }
        Context::from_pairs(pairs).map_err(|e| e.to_string())
    }
}

/// Whether a command, or a tool of a server, has run in a staged view behind walls, changed nothing, reached nobody, and could read nothing that
/// a person would have been asked about.
fn has_had_no_effect(request: &ActionRequest) -> bool {
    let is_alone = match &request.action {
        Action::Command(acts::Command { network, hosts, secrets, .. }) => {
            !network && hosts.is_empty() && secrets.is_empty()
        }
        Action::Call(call) => call.changes_files(),
        _ => false,
    };
    let Some(staged) = &request.staged else { return false };
    is_alone
        && staged.items.is_empty()
        && staged.look_first.is_none()
        && request.reach.as_ref().is_none_or(|reach| reach.secrets.is_empty() && reach.unsure.is_none())
        && staged.sandbox_level.isolates()
}

/// A fact as Cedar takes it.
fn typed(value: &Value) -> Result<RestrictedExpression, String> {
    match value {
        Value::String(text) => Ok(RestrictedExpression::new_string(text.clone())),
        Value::Bool(truth) => Ok(RestrictedExpression::new_bool(*truth)),
        Value::Number(number) => {
            let number = number.as_i64().ok_or("a fact is no 64-bit number")?;
            Ok(RestrictedExpression::new_long(number))
        }
        Value::Array(all) => {
            Ok(RestrictedExpression::new_set(all.iter().map(typed).collect::<Result<Vec<_>, _>>()?))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), typed(value)?)));
            let fields = fields.collect::<Result<Vec<_>, String>>()?;
            RestrictedExpression::new_record(fields).map_err(|e| e.to_string())
        }
        Value::Null => Err("a fact is not there".to_owned()),
    }
}

/// What differs between the Cedar requests of one question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) class: ActionClass,
    pub(crate) mode: &'a str,
    pub(crate) packet: Option<Digest>,
    pub(crate) approved: Option<Digest>,
    pub(crate) step_allows: bool,
    pub(crate) risk: RiskBand,
}

const fn rank(band: RiskBand) -> i64 {
    match band {
        RiskBand::Low => 0,
        RiskBand::Moderate => 1,
        RiskBand::High => 2,
        RiskBand::Critical => 3,
    }
}
