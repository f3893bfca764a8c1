//! The nouns: ids, principals, tasks, steps, attempts, events, artifacts, transition tables, limits.
