//! Hands: file and command executors, sandbox, undo, observation.
