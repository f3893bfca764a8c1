//! Each adapter against a double of its service that says what was recorded, and what no service should say.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test measures how long something took")]
#![allow(missing_docs, reason = "helpers of tests are read where they are used")]

mod discord;
mod doubles;
mod every;
mod files;
mod mail;
mod matrix;
mod nostr;
mod slack;
mod telegram;
mod tls;
mod webhook;
