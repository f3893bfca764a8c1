//! What servers of tools asked of models, by the act during which they did.

use super::TaskState;
use model::Body;
use model::body::{SamplingEnded, SamplingRequested};

/// Questions of one server during one act.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampledBy {
    /// The server.
    pub server: String,
    /// Questions that a model was asked.
    pub asked: u32,
    /// Their tokens, of questions and answers; those set aside for one whose end nobody saw are used.
    pub tokens: u64,
    /// What they cost, in micro-units.
    pub cost_micros: u64,
    /// Questions that were refused.
    pub refused: u32,
    /// Why the last one was.
    pub why: String,
    /// Questions that a model was asked and gave no answer to.
    pub unanswered: u32,
    /// Why it gave none to the last of them.
    pub why_none: String,
    /// The one that a model is asked now.
    pub open: Option<Unended>,
}

/// A question to a model whose end is not on record, and what was set aside for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unended {
    /// Its number within the act.
    pub number: u32,
    /// Tokens.
    pub tokens: u64,
    /// Micro-units.
    pub cost_micros: u64,
}

impl SampledBy {
    fn begins(&mut self, b: &SamplingRequested, cost_micros: u64) {
        self.server.clone_from(&b.server);
        self.asked = b.number;
        self.tokens = self.tokens.saturating_add(b.tokens);
        self.open = Some(Unended { number: b.number, tokens: b.tokens, cost_micros });
    }

    fn ends(&mut self, b: &SamplingEnded) {
        self.server.clone_from(&b.server);
        let why = b.error.as_ref().and_then(|why| why.shown()).cloned().unwrap_or_default();
        // A refusal ends no question but its own, which no model was asked.
        let Some(open) = self.open.take_if(|open| open.number == b.number) else {
            self.refused = self.refused.saturating_add(1);
            self.why = why;
            return;
        };
        let used = match b.tokens_in.saturating_add(b.tokens_out) {
            // Its provider did not say: what was set aside counts.
            0 if b.answer.is_some() => open.tokens,
            used => used,
        };
        self.tokens = self.tokens.saturating_sub(open.tokens).saturating_add(used);
        self.cost_micros = self.cost_micros.saturating_add(b.cost_micros);
        if b.answer.is_none() {
            self.unanswered = self.unanswered.saturating_add(1);
            self.why_none = why;
        }
    }
}

impl TaskState {
    pub(super) fn apply_sampled(&mut self, body: &Body) {
        match body {
            Body::ContextCompiled(_) => (self.tokens_reserved, self.cost_reserved) = (0, 0),
            Body::BudgetReserved(b) => {
                (self.tokens_reserved, self.cost_reserved) = (b.tokens, b.cost_micros);
            }
            Body::SamplingRequested(b) => {
                // What was set aside for it stands just before it.
                let cost_micros = self.cost_reserved;
                self.sampled.entry(b.action_request_id).or_default().begins(b, cost_micros);
            }
            Body::SamplingEnded(b) => self.sampled.entry(b.action_request_id).or_default().ends(b),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ActionRequestId;
    use serde_json::json;

    #[test]
    fn a_refusal_gives_nothing_back_of_a_question_that_is_open() {
        let act = format!("{}_{}", ActionRequestId::PREFIX, "1".repeat(32));
        let ended = |number: u32, tokens_in: u64| {
            let told = json!({
                "action_request_id": act, "server": "toy", "number": number, "answer": null, "error": null,
                "tokens_in": tokens_in, "tokens_out": 0, "cost_micros": 0,
            });
            serde_json::from_value(told).expect("it reads")
        };
        let open = Unended { number: 1, tokens: 90, cost_micros: 7 };
        let mut so_far = SampledBy { asked: 1, tokens: 90, open: Some(open), ..SampledBy::default() };
        so_far.ends(&ended(2, 0));
        assert_eq!((so_far.tokens, so_far.refused, so_far.open), (90, 1, Some(open)));
        so_far.ends(&ended(1, 40));
        assert_eq!((so_far.tokens, so_far.refused, so_far.unanswered), (40, 1, 1));
        assert_eq!(so_far.open, None);
    }
}
