//! What can go wrong between a question and an answer, by what the caller can do.

/// What went wrong, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The reasoner could not be reached or did not finish; asking again may help.
    #[error("the model is not available: {why}; {advice}")]
    Unavailable {
        /// What was seen.
        why: String,
        /// What a person can do.
        advice: String,
    },
    /// The host does not let this call leave; nothing was sent.
    #[error("the model call is not allowed: {why}; change the model or the policy profile")]
    NotAllowed {
        /// What stood in the way.
        why: String,
    },
    /// The server answered with an HTTP error; asking again with the same bytes will not help, but for 429 and 5xx.
    #[error("the model's server refused with status {status}: {why}; {advice}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        why: String,
        /// What a person can do.
        advice: String,
        /// After how long the server says that it may be asked again.
        retry_after_ms: Option<u64>,
    },
    /// The server does not know a parameter of the request; it is left out from now on, and asking again helps.
    #[error("the model's server does not take `{name}`: {why}; it is asked again without it")]
    Parameter {
        /// Which.
        name: String,
        /// What the server said, shortened.
        why: String,
    },
    /// What came back is not an answer of the protocol.
    #[error("the model's server sent something that is not an answer: {why}; {advice}")]
    Garbage {
        /// What was seen.
        why: String,
        /// What a person can do.
        advice: String,
    },
    /// The answer passed [`model::limits::MODEL_ANSWER_BYTES_MAX`]; it was stopped there.
    #[error(
        "the model's answer passed {bytes_max} bytes and was stopped; ask for less at once, or for several files one by one"
    )]
    TooLong {
        /// The limit.
        bytes_max: usize,
    },
    /// The caller stopped it.
    #[error("the model call was cancelled")]
    Cancelled,
    /// A playbook's text, or a parameter given to it, is not of the language in `PLAYBOOKS.md`.
    #[error("playbook{}: {why}", at(*.line))]
    Playbook {
        /// Line of the text from 1; 0 when it is about a parameter.
        line: u32,
        /// Which key, what was found, what is allowed.
        why: String,
    },
    /// A transcript has no answer for this request.
    #[error("the transcript does not fit: {why}; record it again, or replay with matching `ordered`")]
    Transcript {
        /// What did not fit.
        why: String,
    },
    /// The text is not the address of a model.
    #[error(
        "`{text}` is not a model address: {why}; it looks like `openai:http://127.0.0.1:8080/v1#qwen`, `anthropic:MODEL` or `playbook:tidy`"
    )]
    Address {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

fn at(line: u32) -> String {
    if line == 0 { String::new() } else { format!(" line {line}") }
}

impl Error {
    /// Whether a person can put it right outside the task, so that the same task can go on: a server that is down or
    /// the wrong one, a key that is missing. A task that meets such an error waits and loses nothing.
    pub const fn can_be_mended(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::Refused { .. }
            | Self::Parameter { .. }
            | Self::Garbage { .. } => true,
            Self::NotAllowed { .. }
            | Self::TooLong { .. }
            | Self::Cancelled
            | Self::Playbook { .. }
            | Self::Transcript { .. }
            | Self::Address { .. } => false,
        }
    }

    /// Whether asking again, unchanged, can help.
    pub const fn may_retry(&self) -> bool {
        match self {
            Self::Unavailable { .. } | Self::Parameter { .. } => true,
            Self::Refused { status, .. } => matches!(*status, 408 | 425 | 429 | 500..=599),
            Self::NotAllowed { .. }
            | Self::Garbage { .. }
            | Self::TooLong { .. }
            | Self::Cancelled
            | Self::Playbook { .. }
            | Self::Transcript { .. }
            | Self::Address { .. } => false,
        }
    }
}
