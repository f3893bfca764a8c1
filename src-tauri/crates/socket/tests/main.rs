//! Connections with those who keep to what is agreed, and with those who do not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test measures how long something took")]
#![allow(missing_docs, reason = "helpers of tests are read where they are used")]

mod direct;
mod guests;
mod hostile;
mod relays;
mod sides;
