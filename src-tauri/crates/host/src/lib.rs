//! The one place that composes a kernel with real adapters, takes the lock, or attaches to whoever holds it.
