//! Content-addressed bytes on disk; seal, read, collect garbage by reachability.
