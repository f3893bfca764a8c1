//! The reference monitor: seven states, audit entries, verdicts, evidence bundle, replay check.
