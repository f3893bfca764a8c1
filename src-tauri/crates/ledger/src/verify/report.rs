//! What verification says.

use crate::Error;
use crate::checkpoint::CheckpointKind;
use crate::severed::Severed;
use model::TaskId;
use seal::Digest;
use std::fmt;

/// The four verdicts (proof.md 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything fits, and a trusted key signed for it.
    Valid,
    /// Something does not fit; this is the first place.
    Invalid {
        /// Where.
        place: Place,
        /// What is wrong there.
        why: String,
    },
    /// Everything that is there fits, but something is missing: rows a checkpoint or the pin signed for, or all; or
    /// rows that did not fit were severed, which stays so for ever.
    Incomplete,
    /// Everything fits, but nothing that somebody trusts says that this is all, or ours.
    Unverifiable,
}

/// Where something does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The file as SQLite reads it.
    File,
    /// A table, index or trigger.
    Object(String),
    /// A row of `epochs`.
    Epoch(u64),
    /// An event: its place in the log, its task, its place there.
    Event {
        /// From 1.
        log_seq: u64,
        /// Whose.
        task: TaskId,
        /// From 1.
        task_seq: u64,
    },
    /// An entry of the gate, from 1.
    Entry(u64),
    /// A stored node of the gate tree.
    GateNode {
        /// 8, 16 and so on.
        level: u8,
        /// From 0.
        index: u64,
    },
    /// A checkpoint, numbered from 1.
    Checkpoint {
        /// Its row.
        number: u64,
        /// Which tree.
        kind: CheckpointKind,
    },
    /// A disclosure.
    Disclosure(Digest),
    /// A small artifact.
    Blob(Digest),
    /// Uses of a grant.
    GrantUse(model::GrantId),
    /// The checkpoint pinned outside the store.
    Pin,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => write!(f, "the file"),
            Self::Object(name) => write!(f, "the schema's `{name}`"),
            Self::Epoch(epoch) => write!(f, "epoch {epoch}"),
            Self::Event { log_seq, task, task_seq } => {
                write!(f, "event {task_seq} of task `{task}` (number {log_seq} of the log)")
            }
            Self::Entry(seq) => write!(f, "entry {seq} of the gate"),
            Self::GateNode { level, index } => write!(f, "node {index} of level {level} of the gate tree"),
            Self::Checkpoint { number, kind } => write!(f, "checkpoint {number} ({kind})"),
            Self::Disclosure(digest) => write!(f, "disclosure `{digest}`"),
            Self::Blob(digest) => write!(f, "artifact `{digest}`"),
            Self::GrantUse(grant) => write!(f, "the uses of grant `{grant}`"),
            Self::Pin => write!(f, "the pinned checkpoint"),
        }
    }
}

/// How far verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being read: `events`, `entries`, `checkpoints`, `disclosures`, `artifacts`.
    pub stage: &'static str,
    /// Rows done.
    pub done: u64,
    /// Rows there are.
    pub of: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not `valid`, or what it rests on, in a sentence.
    pub reason: String,
    /// Events that fit.
    pub events: u64,
    /// Tasks they belong to.
    pub tasks: u64,
    /// Entries of the gate that fit.
    pub entries: u64,
    /// Checkpoints that fit.
    pub checkpoints: u64,
    /// Of those, the ones signed by a key that was given.
    pub trusted_checkpoints: u64,
    /// Disclosures that fit.
    pub disclosures: u64,
    /// Small artifacts that fit.
    pub blobs: u64,
    /// Events that no trusted checkpoint covers yet: chained, but their end is not signed.
    pub unsigned_events: u64,
    /// Whether the pin was compared.
    pub pinned: bool,
    /// What was severed by a person, because it did not fit; it is read and not believed.
    pub severed: Vec<Severed>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            verdict: Verdict::Incomplete,
            reason: String::new(),
            events: 0,
            tasks: 0,
            entries: 0,
            checkpoints: 0,
            trusted_checkpoints: 0,
            disclosures: 0,
            blobs: 0,
            unsigned_events: 0,
            pinned: false,
            severed: Vec::new(),
        }
    }
}

impl Report {
    pub(super) fn invalid(&mut self, place: Place, why: String) {
        self.reason = format!("{place}: {why}");
        self.verdict = Verdict::Invalid { place, why };
    }

    pub(super) fn incomplete(&mut self, why: String) {
        self.verdict = Verdict::Incomplete;
        self.reason = why;
    }

    /// The verdict when everything fits.
    pub(super) fn conclude(&mut self) {
        if self.events == 0 {
            return self.incomplete("there are no events; an empty log proves nothing".to_owned());
        }
        let unverifiable = match (self.checkpoints, self.trusted_checkpoints) {
            (0, _) => Some(
                "it is consistent, but no checkpoint was ever signed, so its end may be cut off unseen"
                    .to_owned(),
            ),
            (_, 0) => {
                Some("it is consistent, but none of its checkpoints is signed by a key you trust".to_owned())
            }
            (all, trusted) if trusted < all => Some(format!(
                "it is consistent, but {} of its {all} checkpoints are signed by no key you trust",
                all - trusted
            )),
            _ => None,
        };
        (self.verdict, self.reason) = match unverifiable {
            Some(why) => (Verdict::Unverifiable, why),
            None => {
                let reason = format!(
                    "{} of {} events lie under a signed checkpoint",
                    self.events - self.unsigned_events,
                    self.events
                );
                (Verdict::Valid, reason)
            }
        };
        if !self.severed.is_empty() {
            let told: Vec<String> = self.severed.iter().map(told).collect();
            self.reason = format!("{}; {}", told.join("; "), self.reason);
            // What nobody trusts stays that; what is trusted lacks what was severed.
            if self.verdict == Verdict::Valid {
                self.verdict = Verdict::Incomplete;
            }
        }
    }
}

/// What was severed, in words.
fn told(one: &Severed) -> String {
    let Severed { task, from_seq, rows, .. } = one;
    let lost = match one.lost() {
        0 => String::new(),
        lost => format!(", and {lost} are lost"),
    };
    format!(
        "task `{task}` was severed at event {from_seq} by a person: {rows} events from there on are kept and not vouched for{lost}"
    )
}

/// Why verification ends before its end.
pub(super) enum Stop {
    /// The first place that does not fit.
    At(Place, String),
    /// Something signed for is not there.
    Missing(String),
    /// It could not be read, or was cancelled.
    Error(Error),
}

impl Stop {
    /// The same for whoever asked something else than whether it verifies.
    pub(super) fn into_error(self) -> Error {
        let corrupt = |why| Error::Corrupt { path: crate::FILE.to_owned(), why };
        match self {
            Self::Error(error) => error,
            Self::At(place, why) => corrupt(format!("{place}: {why}")),
            Self::Missing(why) => corrupt(why),
        }
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Error(match Error::sql("verifying", &error) {
            Error::Io { why, .. } if is_shape(&error) => Error::Corrupt { path: crate::FILE.to_owned(), why },
            other => other,
        })
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A column of another type than the schema says: the file was changed underneath SQLite.
const fn is_shape(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::InvalidColumnType(..) | E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..)
    )
}
