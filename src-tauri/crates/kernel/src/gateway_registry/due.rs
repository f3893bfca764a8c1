//! When a message that waits is tried again: after a while that is twice as long each time, and at once where its service did not
//! answer and is back.

use super::QueuedMessage;
use model::UnixMs;

/// How long a message waits after it was not sent for the first time, in milliseconds; twice as long each further time.
const RETRY_MS: i64 = 60_000;
/// And at most.
const RETRY_MS_MAX: i64 = 3_600_000;
/// Tries after which a message waits for its time, whatever is back: a service that comes and goes uses up no more of them.
const HASTY_TRIES: u32 = 8;

/// How long a message waits that was not sent so often.
pub(super) fn retry_ms(attempts: u32) -> i64 {
    let doubled = 1_i64.checked_shl(attempts.saturating_sub(1)).unwrap_or(i64::MAX);
    RETRY_MS.saturating_mul(doubled.max(1)).min(RETRY_MS_MAX)
}

impl QueuedMessage {
    /// Whether it may go now. `back`: when its service answered again that had not answered.
    pub(crate) fn is_due(&self, now: UnixMs, back: Option<UnixMs>) -> bool {
        let tried_at = self.not_before.0.saturating_sub(retry_ms(self.attempts));
        let is_anew = self.attempts <= HASTY_TRIES && back.is_some_and(|back| tried_at < back.0);
        self.not_before <= now || is_anew
    }
}
