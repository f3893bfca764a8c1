//! What tokens of a model cost.

use model::proposal::Usage;

/// Prices of a million tokens, in micro-units; 0 when none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read out of the provider's cache; as read when it is not known.
    pub cached: Option<u64>,
    /// Written into the provider's cache; as read when it is not known.
    pub cache_written: Option<u64>,
}

impl Prices {
    /// What a million tokens cost at most that are read, in whatever way.
    pub fn most_read(&self) -> u64 {
        self.input.max(self.cached.unwrap_or(0)).max(self.cache_written.unwrap_or(0))
    }

    /// What a call cost, rounded up.
    pub fn of(&self, usage: &Usage) -> u64 {
        let kept = usage.tokens_cached.saturating_add(usage.tokens_cache_written);
        let parts = [
            (usage.tokens_in.saturating_sub(kept), self.input),
            (usage.tokens_cached.min(usage.tokens_in), self.cached.unwrap_or(self.input)),
            (usage.tokens_cache_written.min(usage.tokens_in), self.cache_written.unwrap_or(self.input)),
            (usage.tokens_out, self.output),
        ];
        let price = |(tokens, micros): (u64, u64)| tokens.saturating_mul(micros).div_ceil(1_000_000);
        parts.into_iter().map(price).fold(0, u64::saturating_add)
    }
}
