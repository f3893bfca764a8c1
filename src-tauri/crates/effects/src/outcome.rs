//! What goes in and comes out of the executors.

use model::artifact::ArtifactKind;
use model::receipt::{Change, Ran, ResultCode, SandboxLevel};
use model::{Digest, RelPath, ResourceId};
use std::cell::RefCell;
use std::fmt;

/// Bytes by digest: the artifact store, seen from here.
pub trait Contents: Send + Sync {
    /// The bytes of a digest.
    ///
    /// # Errors
    /// Why they cannot be had, in words.
    fn read(&self, digest: &Digest) -> Result<Vec<u8>, String>;

    /// Keeps bytes durably before it returns.
    ///
    /// # Errors
    /// Why they cannot be kept, in words.
    fn keep(&self, bytes: &[u8]) -> Result<Digest, String>;
}

/// Something an act produced, for the artifact store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What kind of artifact it is.
    pub kind: ArtifactKind,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it is about, in words for a person.
    pub about: String,
}

/// Earlier bytes that a command replaced or removed, durably in [`Contents`] already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where they were.
    pub resource: ResourceId,
    /// Their digest.
    pub sha256: Digest,
    /// Their length.
    pub byte_size: u64,
}

/// Bytes that an item will overwrite or delete: path, digest, bytes.
pub type BeforeImage = (RelPath, Digest, Vec<u8>);

/// How an act went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In one word.
    pub result_code: ResultCode,
    /// Item by item. `before_image` is left empty: the kernel names the artifact whose digest is in `before`,
    /// for a command those in `kept`.
    pub changes: Vec<Change>,
    /// What was produced.
    pub outputs: Vec<Output>,
    /// What ran.
    pub ran: Ran,
    /// The walls around it.
    pub sandbox_level: SandboxLevel,
    /// What was seen, in words; what cannot be undone is here too.
    pub observed: Vec<String>,
    /// Why it is not a success.
    pub error: Option<String>,
    /// Earlier bytes kept while a command ran.
    pub kept: Vec<Kept>,
}

/// What a surface may show while an act runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// So many items are done.
    Items {
        /// Done.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A command printed.
    Stdout(&'a [u8]),
    /// A command complained.
    Stderr(&'a [u8]),
    /// It is at work still; told now and then, so that one that says nothing else is known to be alive.
    AtWork,
    /// A new act could go on from here.
    Checkpoint {
        /// What is done up to here, in words.
        note: &'a str,
        /// What it would need.
        bytes: &'a [u8],
    },
    /// A tool of a server tells how far it is.
    Told(&'a str),
    /// A server asks the person something while its tool is at work; told again and again until it is answered.
    Asks(&'a Asking),
    /// A server asks a model something while its tool is at work; it is over when this returns. A model is not waited for
    /// any longer than the tool is.
    Samples(&'a Sampling, Over<'a>),
}

/// Whether nobody waits for a tool any more, and why; asked again and again while a model answers.
#[derive(Clone, Copy)]
pub struct Over<'a>(&'a dyn Fn() -> Option<String>);

impl<'a> Over<'a> {
    /// As this says.
    pub const fn new(why: &'a dyn Fn() -> Option<String>) -> Self {
        Self(why)
    }

    /// Why nobody waits any more, if it is so.
    pub fn why(&self) -> Option<String> {
        (self.0)()
    }
}

impl fmt::Debug for Over<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Over")
    }
}

impl PartialEq for Over<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0, other.0)
    }
}

impl Eq for Over<'_> {}

/// A question of a server to a model, and what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Sampling {
    /// What the server wants the model told first.
    pub system: Option<String>,
    /// What was said, in order: whether by the model, and the words.
    pub turns: Vec<(bool, String)>,
    /// Tokens of the answer that it wants at most.
    pub answer_tokens: u32,
    /// Why it cannot be asked as it was put, in words.
    pub malformed: Option<String>,
    came: RefCell<Sampled>,
}

/// What a server hears where a model, or whoever asks it, failed: the reason is on record and nobody else's.
pub const NO_ANSWER: &str = "the model gave no answer";

/// What became of a question of a server to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sampled {
    /// An answer.
    Answered {
        /// Its words.
        text: String,
        /// Of which model.
        model: String,
        /// Whether it was cut for its length.
        cut: bool,
    },
    /// A model was asked and gave none.
    NoAnswer,
    /// No model is asked, for this reason, which the server may hear.
    Refused(String),
    /// The call is ended, for this reason.
    Stop(String),
}

impl Sampling {
    /// A question that nobody has answered yet.
    pub fn new(system: Option<String>, turns: Vec<(bool, String)>, answer_tokens: u32) -> Self {
        let nobody = Sampled::Refused("there is nobody here who asks a model".to_owned());
        Self { system, turns, answer_tokens, malformed: None, came: RefCell::new(nobody) }
    }

    /// A question that cannot be asked as it was put, for this reason.
    pub fn malformed(why: String) -> Self {
        Self { malformed: Some(why), ..Self::new(None, Vec::new(), 0) }
    }

    /// What became of it.
    pub fn came(&self) -> Sampled {
        self.came.borrow().clone()
    }

    /// This became of it.
    pub fn comes_to(&self, came: Sampled) {
        self.came.replace(came);
    }
}

/// A question of a server to the person, and how it stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Asking {
    /// What is asked, within bounds, nothing in it hidden.
    pub question: String,
    /// Answers to choose among; without any the person writes one.
    pub choices: Vec<String>,
    standing: RefCell<Standing>,
}

/// How a question of a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has been asked yet.
    New,
    /// The person is asked, under this name.
    Waits(String),
    /// What the person said.
    Answered(String),
    /// Nobody answers it, for this reason.
    Closed(String),
    /// Whoever asked waits no longer; under this name.
    GivenUp(String),
}

impl Asking {
    /// A question that nobody has been asked yet.
    pub const fn new(question: String, choices: Vec<String>) -> Self {
        Self { question, choices, standing: RefCell::new(Standing::New) }
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    /// It stands so from now on.
    pub fn stands(&self, standing: Standing) {
        self.standing.replace(standing);
    }
}
