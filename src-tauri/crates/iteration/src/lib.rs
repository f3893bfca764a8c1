//! The loop core: parse, count, judge progress, terminate.
