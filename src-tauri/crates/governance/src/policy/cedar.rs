//! What Cedar is asked, written out, so that another engine can be asked the same.

use super::facts::{Case, FULL};
use super::{PolicyEngine, Question, SCHEMA};
use crate::risk;
use cedar_policy::{Authorizer, Decision, EntityUid, Request};
use serde_json::Value;
use std::str::FromStr;

/// One Cedar request of a question, and what the engine here answers to it.
#[derive(Debug, Clone, PartialEq)]
pub struct CedarAsk {
    /// The rules of the profile, all of them.
    pub rules: String,
    /// The schema they are validated against.
    pub schema: &'static str,
    /// Who asks, as Cedar writes it.
    pub principal: String,
    /// The class.
    pub action: String,
    /// The request.
    pub resource: String,
    /// What rules may know.
    pub context: Value,
    /// Whether it is allowed.
    pub allowed: bool,
    /// How many rules decided.
    pub reasons: usize,
    /// How many rules failed.
    pub errors: usize,
}

impl PolicyEngine {
    /// The Cedar requests of a question as it stands, one for each class.
    ///
    /// # Errors
    /// In words, when it cannot be put to Cedar; then it is denied.
    pub fn asked_of_cedar(&self, question: &Question<'_>) -> Result<Vec<CedarAsk>, String> {
        let request = question.request;
        let classes = request.classes();
        let facts = self.facts(question);
        let risk = risk::assess(request, &classes, &facts).band;
        let rules: Vec<String> = self.rules(question.profile).into_iter().map(|rule| rule.text).collect();
        let rules = rules.join("\n\n");
        let mut found = Vec::new();
        for class in &classes {
            let case = Case {
                class: *class,
                mode: FULL,
                packet: question.packet,
                approved: question.approved_packet,
                step_allows: question.steps_allowed.is_empty() || question.steps_allowed.contains(class),
                risk,
            };
            let uid = |kind: &str, id: &str| format!("Hermit::{kind}::\"{id}\"");
            let principal = uid("Principal", &request.proposed_by.to_string());
            let action = uid("Action", class.as_str());
            let resource = uid("ActionRequest", &request.action_request_id.to_string());
            let read = |text: &str| EntityUid::from_str(text).map_err(|e| e.to_string());
            let (who, what, which) = (read(&principal)?, read(&action)?, read(&resource)?);
            let asked = Request::new(who, what, which, facts.context(&case)?, Some(&self.schema));
            let bundle = self.bundles.get(&question.profile).ok_or("the profile has no rules")?;
            let set = bundle.sets.get(class).ok_or("the class has no rules")?;
            let asked = asked.map_err(|e| e.to_string())?;
            let answer = Authorizer::new().is_authorized(&asked, set, &self.entities);
            found.push(CedarAsk {
                rules: rules.clone(),
                schema: SCHEMA,
                principal,
                action,
                resource,
                context: facts
                    .known(&case)
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
                allowed: answer.decision() == Decision::Allow,
                reasons: answer.diagnostics().reason().count(),
                errors: answer.diagnostics().errors().count(),
            });
        }
        Ok(found)
    }
}
