//! How a task stands for whoever waits for it, and whether long work goes on.

/// How a task stands with the process that drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// It is at work.
    AtWork,
    /// It waits for a person, another task, or has ended; the store says which.
    AtRest,
    /// Its receipts wait for locked keys.
    KeyLocked,
    /// Hermit is halted.
    Halted,
    /// Driving it broke off.
    Broke(wire::Error),
}

/// Whether long work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop, and leave everything as it was.
    Stop,
}
