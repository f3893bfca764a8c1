//! One example: what was asked, what was answered, and which receipts say that it was done.

use crate::Error;
use seal::{Digest, Hasher};
use serde::{Deserialize, Serialize};

/// Examples in a dataset.
pub const EXAMPLES_MAX: usize = 100_000;

/// Bytes of the content of one example.
pub const EXAMPLE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a dataset as lines.
pub const DATASET_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Turns of the prompt of one example.
pub const TURNS_MAX: usize = 64;

/// Receipts of one example.
pub const RECEIPTS_MAX: usize = 256;

/// Bytes of a receipt's id, and of a project's name.
const NAME_BYTES_MAX: usize = 512;

/// Who said a turn of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The rules that stand above.
    System,
    /// Whoever asks.
    User,
    /// The model, earlier.
    Assistant,
    /// What a tool answered.
    Tool,
}

impl Role {
    /// The role as a chat template spells it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One turn of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
}

/// Whether an example is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// It is.
    Train,
    /// It is measured with, and never learned from.
    HeldOut,
}

/// One example of finished work (HV-3.8-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Digest of prompt and answer.
    pub id: Digest,
    /// What the model was shown.
    pub prompt: Vec<Turn>,
    /// What it answered, and what is learned.
    pub answer: String,
    /// Ids of the receipts of what was done.
    pub receipts: Vec<String>,
    /// The project that the work belongs to.
    pub project: String,
    /// When it was answered, in milliseconds since 1970.
    pub at: i64,
    /// Whether it is learned from.
    pub split: Split,
}

impl Example {
    /// An example with its id; it is to be learned from until a dataset is assembled.
    #[must_use]
    pub fn new(prompt: Vec<Turn>, answer: String, receipts: Vec<String>, project: String, at: i64) -> Self {
        let id = content_id(&prompt, &answer);
        Self { id, prompt, answer, receipts, project, at, split: Split::Train }
    }

    /// Bytes of what is shown and answered.
    #[must_use]
    pub fn content_bytes(&self) -> usize {
        self.prompt.iter().map(|turn| turn.content.len()).fold(self.answer.len(), usize::saturating_add)
    }

    /// Whether it is one that may stand in a dataset.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = if self.prompt.is_empty() {
            Some("an example shows nothing to the model".to_owned())
        } else if self.answer.trim().is_empty() {
            Some("an example has no answer".to_owned())
        } else if self.prompt.len() > TURNS_MAX {
            Some(format!("an example has more than {TURNS_MAX} turns"))
        } else if self.content_bytes() > EXAMPLE_BYTES_MAX {
            Some(format!("an example is longer than {EXAMPLE_BYTES_MAX} bytes"))
        } else if self.receipts.is_empty() {
            Some("an example has no receipt".to_owned())
        } else if self.receipts.len() > RECEIPTS_MAX {
            Some(format!("an example has more than {RECEIPTS_MAX} receipts"))
        } else if self.receipts.iter().chain([&self.project]).any(|name| !is_name(name)) {
            Some(format!(
                "a receipt or a project of an example has no name, or one above {NAME_BYTES_MAX} bytes"
            ))
        } else if self.id != content_id(&self.prompt, &self.answer) {
            Some(format!("the example {} has other content than its id says", self.id))
        } else {
            None
        };
        wrong.map_or(Ok(()), |words| Err(Error::Dataset(words)))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX
}

/// The id of an example: the digest of what is shown and answered, each with its length before it.
#[must_use]
pub fn content_id(prompt: &[Turn], answer: &str) -> Digest {
    let mut hasher = Hasher::new();
    hasher.update(b"hermit/example/1\n");
    let mut take = |word: &str, text: &str| {
        hasher.update(word);
        hasher.update(b"\n");
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    };
    for turn in prompt {
        take(turn.role.word(), &turn.content);
    }
    take("answer", answer);
    hasher.finish()
}
