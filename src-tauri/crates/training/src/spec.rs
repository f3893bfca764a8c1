//! What a run is asked for, and whether it can be done.

use crate::Error;
use seal::Digest;
use serde::{Deserialize, Serialize};

/// Licences of a base that let others of it be made, used and given on (HV-7-3).
pub const LICENCES: [&str; 6] = ["Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "Unlicense"];

/// The highest rank of an adapter.
pub const RANK_MAX: u32 = 256;

/// The most steps of a run.
pub const STEPS_MAX: u32 = 1_000_000;

/// The most examples of a step.
pub const BATCH_MAX: u32 = 256;

/// The most tokens of an example.
pub const SEQUENCE_MAX: u32 = 8_192;

/// The most seconds of a run: a week.
pub const SECONDS_MAX: u64 = 7 * 24 * 3600;

/// The most threads of a run.
pub const THREADS_MAX: u32 = 256;

/// Bytes below which no model fits.
const MEMORY_MIN: u64 = 16 * 1024 * 1024;

/// Bytes of a path.
const PATH_BYTES_MAX: usize = 4_096;

/// The model that an adapter is made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its GGUF file.
    pub path: String,
    /// The digest of that file.
    pub sha256: Digest,
    /// Its licence, by its SPDX identifier.
    pub licence: String,
}

/// The file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetFile {
    /// Its file of JSON lines.
    pub path: String,
    /// The digest of that file.
    pub sha256: Digest,
}

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Seconds, pauses left out.
    pub seconds: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

/// How weights are stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quant {
    /// As they are.
    F32,
    /// 16 bits each.
    F16,
    /// 8 bits each, with a scale for 32.
    #[serde(rename = "Q8_0")]
    Q8_0,
    /// 4 bits each, with a scale and a least for 32.
    #[serde(rename = "Q4_1")]
    Q4_1,
}

impl Quant {
    /// As GGUF files are named after it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Q8_0 => "Q8_0",
            Self::Q4_1 => "Q4_1",
        }
    }
}

/// What a run is asked for (HV-3.8-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The model.
    pub base: Base,
    /// The examples.
    pub dataset: DatasetFile,
    /// The folder of checkpoints and of what comes of them.
    pub folder: String,
    /// Rank of the adapter.
    pub rank: u32,
    /// Its weight, divided by the rank.
    pub alpha: f32,
    /// Whether the layers between the attentions get one as well.
    #[serde(default)]
    pub feed_forward: bool,
    /// How far a step goes.
    pub learning_rate: f64,
    /// Steps.
    pub steps: u32,
    /// Examples of a step.
    pub batch: u32,
    /// Tokens of an example; a longer prompt loses its beginning.
    pub sequence_length: u32,
    /// What chance is made from.
    pub seed: u64,
    /// What it may use.
    pub budget: Budget,
    /// Steps between checkpoints.
    pub checkpoint_every: u32,
    /// Threads.
    pub threads: u32,
    /// How the weights of the exported model are stored.
    pub quant: Quant,
    /// Tokens that an answer may have when it is measured.
    pub answer_tokens: u32,
}

impl RunSpec {
    /// A run with the settings that a small model and a few hundred examples begin with.
    #[must_use]
    pub fn small(base: Base, dataset: DatasetFile, folder: String) -> Self {
        Self {
            base,
            dataset,
            folder,
            rank: 8,
            alpha: 16.0,
            feed_forward: false,
            learning_rate: 5e-4,
            steps: 200,
            batch: 4,
            sequence_length: 512,
            seed: 1,
            budget: Budget { seconds: 3_600, memory_bytes: 4 * 1024 * 1024 * 1024 },
            checkpoint_every: 20,
            threads: 1,
            quant: Quant::Q8_0,
            answer_tokens: 128,
        }
    }

    /// Whether it can be done.
    ///
    /// # Errors
    /// What stands against it, in words.
    pub fn check(&self) -> Result<(), Error> {
        let no = |words: String| Err(Error::Run(words));
        // A licence is the same in whatever case its name is written, and most models write it in small letters.
        if !LICENCES.iter().any(|known| known.eq_ignore_ascii_case(&self.base.licence)) {
            return no(format!(
                "the licence `{}` of the model is not one under which changed models are known to be allowed: {}",
                self.base.licence.chars().take(64).collect::<String>(),
                LICENCES.join(", ")
            ));
        }
        for (what, path) in [
            ("the model", &self.base.path),
            ("the dataset", &self.dataset.path),
            ("the folder", &self.folder),
        ] {
            if path.is_empty() || path.len() > PATH_BYTES_MAX || path.contains('\0') {
                return no(format!("{what} has no path"));
            }
        }
        let counts = [
            ("the rank", self.rank, RANK_MAX),
            ("the number of steps", self.steps, STEPS_MAX),
            ("the number of examples of a step", self.batch, BATCH_MAX),
            ("the number of tokens of an example", self.sequence_length, SEQUENCE_MAX),
            ("the number of steps between checkpoints", self.checkpoint_every, STEPS_MAX),
            ("the number of threads", self.threads, THREADS_MAX),
            ("the number of tokens of an answer", self.answer_tokens, self.sequence_length.saturating_sub(1)),
        ];
        for (what, number, most) in counts {
            if number == 0 || number > most {
                return no(format!("{what} is between 1 and {most}, not {number}"));
            }
        }
        if !(self.alpha.is_finite() && self.alpha > 0.0 && self.alpha <= 1_024.0) {
            return no("alpha is above 0 and at most 1024".to_owned());
        }
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            return no("the learning rate is above 0 and at most 1".to_owned());
        }
        if self.budget.seconds == 0 || self.budget.seconds > SECONDS_MAX {
            return no(format!("the budget is between 1 and {SECONDS_MAX} seconds"));
        }
        if self.budget.memory_bytes < MEMORY_MIN {
            return no(format!("the budget is at least {MEMORY_MIN} bytes of memory"));
        }
        Ok(())
    }

    /// The digest of what peers have in common that learn together: the model and the form of the adapter with what it
    /// begins as, whatever each of them learns from.
    #[must_use]
    pub fn together(&self) -> Digest {
        let words = format!(
            "hermit/together/1\n{}\n{} {} {} {}\n",
            self.base.sha256,
            self.rank,
            self.alpha.to_bits(),
            u8::from(self.feed_forward),
            self.seed
        );
        Digest::of(words.as_bytes())
    }

    /// The digest of what a checkpoint belongs to: all that decides its bits, and neither paths, nor budget, nor number
    /// of steps, so that a run may go on elsewhere, longer, or for more steps.
    #[must_use]
    pub fn lineage(&self) -> Digest {
        let words = format!(
            "hermit/run/1\n{}\n{}\n{} {} {} {} {} {} {} {}\n",
            self.base.sha256,
            self.dataset.sha256,
            self.rank,
            self.alpha.to_bits(),
            u8::from(self.feed_forward),
            self.learning_rate.to_bits(),
            self.batch,
            self.sequence_length,
            self.seed,
            self.threads
        );
        Digest::of(words.as_bytes())
    }
}
