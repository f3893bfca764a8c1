//! The program that trains: it makes a low-rank adapter of a small model from a dataset, measures whether it is better
//! than its base, writes the model with it, and does its part of training together (HV-3.8, HV-7-3).
//!
//! It reads the files that a run names and writes below the folder of the run. It opens no port. What is decided without
//! weights stands in the room `training`; what is here is arithmetic on 32-bit numbers in a fixed order, so that the same
//! run on the same machine gives the same bits, also after it was killed.

#![allow(
    clippy::disallowed_methods,
    reason = "a program of its own: it has a clock, and starts itself with its threads"
)]

pub mod adamw;
pub mod adapter;
pub mod checkpoint;
pub mod device;
pub mod export;
pub mod gguf;
pub mod memory;
pub mod model;
pub mod peer;
pub mod prove;
pub mod run;
pub mod session;
pub mod tokens;

use std::fmt;

/// Why it is not done, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(pub String);

/// What is done, or why not.
pub type Done<T> = Result<T, Problem>;

impl Problem {
    /// A problem in words.
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// What reading or writing a file ended with.
    pub fn of_file(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Self(format!("`{}`: {error}", path.display()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

impl From<candle_core::Error> for Problem {
    fn from(error: candle_core::Error) -> Self {
        Self(format!("the arithmetic ended with: {error}"))
    }
}

impl From<training::Error> for Problem {
    fn from(error: training::Error) -> Self {
        Self(error.to_string())
    }
}
