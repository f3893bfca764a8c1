//! The protocol of the model in the box: JSON lines over its standard streams. This file is a part of two programs, of
//! Hermit and of the sidecar in `src-tauri/sidecar`, and so it needs nothing but serde.

use serde::{Deserialize, Serialize};

/// The number of this protocol; it goes up with every change that the other side has to know.
pub const PROTOCOL: u32 = 1;
/// Bytes of one line to the sidecar: a request, with its context, tools and schema.
pub const ASKED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one line of the sidecar: a piece of an answer, or a whole call of a tool.
pub const SAID_BYTES_MAX: usize = 1024 * 1024;

/// What the sidecar is asked. `R` is a request as the OpenAI-compatible chat API has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask<R> {
    /// First, and once: the weights it is to answer with.
    Load {
        /// The protocol that the host speaks; 0 of one that did not say it.
        #[serde(default)]
        protocol: u32,
        /// A GGUF file.
        path: String,
        /// Tokens that prompt and answer together may have.
        context: u32,
        /// Threads it may use.
        threads: u32,
    },
    /// An answer to a request.
    Generate {
        /// By which what comes of it is known.
        id: u64,
        /// Messages, tools, schema, limits.
        request: R,
    },
    /// No more of an answer is wanted. One that has ended is left.
    Cancel {
        /// Which.
        id: u64,
    },
}

/// What the sidecar says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The weights are there.
    Loaded {
        /// The protocol that the sidecar speaks; 0 of one that does not say it.
        #[serde(default)]
        protocol: u32,
        /// Tokens that prompt and answer together may have.
        context: u32,
        /// Weights.
        parameters: u64,
        /// How long it took.
        ms: u64,
    },
    /// How far a prompt has been read. Told at least each second while one is.
    Reading {
        /// Of which answer.
        id: u64,
        /// Tokens read, those that were known from before among them.
        done: u32,
        /// Tokens to read.
        of: u32,
    },
    /// Words of an answer.
    Piece {
        /// Of which answer.
        id: u64,
        /// The words.
        text: String,
    },
    /// Reasoning, which is no part of the answer.
    Thought {
        /// Of which answer.
        id: u64,
        /// The words.
        text: String,
    },
    /// A call of a tool, whole.
    Call {
        /// Of which answer.
        id: u64,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        arguments: String,
    },
    /// An answer is over.
    End {
        /// Which.
        id: u64,
        /// Why.
        because: Because,
        /// What it took.
        took: Took,
    },
    /// An answer, or what came before any, failed.
    Failed {
        /// Which answer; none when it is about the weights or a line.
        id: Option<u64>,
        /// What the caller can do about it.
        kind: Failure,
        /// In words.
        why: String,
    },
}

/// Why an answer is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// The model ended it.
    Ended,
    /// It has as many tokens as were asked for, or as the context has room for.
    Length,
    /// It was called off.
    Cancelled,
}

/// What an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Took {
    /// Tokens of the prompt.
    pub tokens_in: u32,
    /// Those of them that were known from the answer before.
    pub tokens_cached: u32,
    /// Tokens of the answer.
    pub tokens_out: u32,
    /// How long the prompt was read.
    pub prompt_ms: u64,
    /// How long the answer was written.
    pub answer_ms: u64,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The file holds no weights that can be loaded.
    Weights,
    /// There is not enough memory.
    Memory,
    /// The prompt has more tokens than the context has room for.
    TooLong,
    /// The request, or its schema, cannot be used.
    Request,
    /// The engine did not go on.
    Engine,
}
