//! Hermit, over the same wire and api as everything else.
