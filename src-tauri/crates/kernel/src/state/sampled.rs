//! What servers of tools asked of models, by the act during which they did.

use super::TaskState;
use model::Body;

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
    /// Tokens set aside for the one that a model is asked now.
    open: u64,
}

impl TaskState {
    pub(super) fn apply_sampled(&mut self, body: &Body) {
        match body {
            Body::SamplingRequested(b) => {
                let so_far = self.sampled.entry(b.action_request_id).or_default();
                so_far.server.clone_from(&b.server);
                so_far.asked = b.number;
                so_far.tokens = so_far.tokens.saturating_add(b.tokens);
                so_far.open = b.tokens;
            }
            Body::SamplingEnded(b) => {
                let so_far = self.sampled.entry(b.action_request_id).or_default();
                so_far.server.clone_from(&b.server);
                let used = match b.tokens_in.saturating_add(b.tokens_out) {
                    // Its provider did not say: what was set aside counts.
                    0 if b.answer.is_some() => so_far.open,
                    used => used,
                };
                so_far.tokens = so_far.tokens.saturating_sub(so_far.open).saturating_add(used);
                so_far.cost_micros = so_far.cost_micros.saturating_add(b.cost_micros);
                if so_far.open == 0 {
                    so_far.refused = so_far.refused.saturating_add(1);
                }
                so_far.open = 0;
                if let Some(why) = b.error.as_ref().and_then(|why| why.shown()) {
                    so_far.why.clone_from(why);
                }
            }
            _ => {}
        }
    }
}
