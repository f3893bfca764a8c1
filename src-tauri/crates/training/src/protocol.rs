//! What is said to the program that trains, and what it says: a word a line to it, a line of JSON from it.

use crate::measure::{Baseline, Measures};
use crate::spec::Quant;
use seal::Digest;
use serde::{Deserialize, Serialize};

/// A word to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Do no further step for now.
    Pause,
    /// Go on.
    Resume,
    /// Write a checkpoint and end.
    Stop,
}

impl Control {
    /// The word of a line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        match line.trim() {
            "pause" => Some(Self::Pause),
            "resume" => Some(Self::Resume),
            "stop" => Some(Self::Stop),
            _ => None,
        }
    }

    /// The word as a line has it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
        }
    }
}

/// Where a run was done, as the program says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RanOn {
    /// The device of its arithmetic, such as `cpu`.
    pub device: String,
    /// Threads of that arithmetic.
    pub threads: u32,
    /// The kind of the machine: architecture, system, and its processor where the system tells.
    pub machine: String,
}

impl RanOn {
    /// The same in one line.
    #[must_use]
    pub fn in_words(&self) -> String {
        let threads =
            if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        format!("{}, {threads}, {}", self.device, self.machine)
    }
}

/// A line of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "said", deny_unknown_fields)]
pub enum Said {
    /// Where it is done.
    RunsOn {
        /// The device and the machine.
        on: RanOn,
    },
    /// A step was done.
    Progress {
        /// Steps so far.
        step: u32,
        /// Mean loss of a token of an answer.
        loss: f32,
        /// Examples of a second.
        examples_per_s: f32,
        /// The most bytes of memory so far.
        memory: u64,
    },
    /// It waits to go on.
    Paused {
        /// Steps so far.
        step: u32,
    },
    /// It goes on, after a pause, or behind a checkpoint that it found.
    Resumed {
        /// Steps so far.
        step: u32,
    },
    /// Something cannot be used and is left out: a checkpoint, for the one before it, or an example.
    Skipped {
        /// Its file, or its id.
        what: String,
        /// What is wrong with it.
        words: String,
    },
    /// A checkpoint is on the disk.
    Checkpoint {
        /// Steps so far.
        step: u32,
        /// Its file.
        file: String,
        /// Its digest.
        sha256: Digest,
    },
    /// Base and adapter were measured on what is held out.
    Measured {
        /// The base.
        before: Measures,
        /// With the adapter.
        after: Measures,
        /// The most frequent answer.
        baseline: Baseline,
        /// Whether the adapter may be offered.
        offered: bool,
        /// Why, or why not.
        words: String,
        /// Where the run was done, as whoever keeps it on record was told; none where nobody said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ran_on: Vec<RanOn>,
    },
    /// A model was written.
    Exported {
        /// Its file.
        file: String,
        /// Its digest.
        sha256: Digest,
        /// How its weights are stored.
        quant: Quant,
        /// The file of its card.
        card: String,
    },
    /// What a peer has to send in a round is on the disk, to be signed.
    Round {
        /// The round.
        round: u32,
        /// The file.
        file: String,
        /// Its bytes.
        bytes: u64,
        /// The bytes that its whole adapter has.
        whole: u64,
    },
    /// It is not done.
    Refused {
        /// Why.
        words: String,
    },
    /// It is over.
    Ended {
        /// Steps so far.
        step: u32,
        /// Why it ended before all steps were done, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
}

impl Said {
    /// Reads a line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}
