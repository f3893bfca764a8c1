//! A dataset: what is kept of the candidates, what is held out, and what it can prove of its receipts.

use crate::Error;
use crate::example::{DATASET_BYTES_MAX, EXAMPLES_MAX, Example, Split};
use crate::near::Kept;
use seal::Digest;
use seal::merkle::{leaf_hash, root};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is said of a dataset of nothing.
const NO_EXAMPLE: &str = "it has no example; complete a task with a model first, and look again";

/// How examples are held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitRule {
    /// How many of a hundred are held out at least.
    pub held_out_percent: u8,
    /// Whether whole projects are; where there is one project only, a person may say that time alone has to do.
    pub whole_projects: bool,
}

impl Default for SplitRule {
    fn default() -> Self {
        Self { held_out_percent: 20, whole_projects: true }
    }
}

/// Why a candidate is not in the dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Why {
    /// It is none that may stand there.
    Refused {
        /// What is wrong with it.
        words: String,
    },
    /// An earlier one shows and answers the same.
    Duplicate,
    /// An earlier one is nearly the same.
    NearDuplicate {
        /// That one.
        of: Digest,
    },
    /// It is not of a project that is held out, and as late as what is.
    Late,
}

/// A candidate that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its id.
    pub id: Digest,
    /// Its receipts.
    pub receipts: Vec<String>,
    /// The reason.
    #[serde(flatten)]
    pub why: Why,
}

/// Examples that were kept, the earliest first, and what was left out and why (HV-3.8-2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dataset {
    /// What is learned from and measured with.
    pub examples: Vec<Example>,
    /// What is not.
    pub left_out: Vec<LeftOut>,
}

/// Makes a dataset of candidates: duplicates and near-duplicates out, the newest projects held out.
///
/// # Errors
/// There is nothing to learn from or to measure with, or more than a dataset may hold; in words.
pub fn assemble(candidates: Vec<Example>, rule: SplitRule) -> Result<Dataset, Error> {
    if !(1..=90).contains(&rule.held_out_percent) {
        return Err(Error::Dataset("between 1 and 90 of a hundred examples are held out".to_owned()));
    }
    let mut made = Dataset::default();
    let mut candidates = candidates;
    candidates
        .sort_by(|a, b| (a.at, a.id, &a.project, &a.receipts).cmp(&(b.at, b.id, &b.project, &b.receipts)));
    let (mut ids, mut kept) = (BTreeSet::new(), Kept::default());
    for example in candidates {
        let why = match example.check() {
            Err(error) => Some(Why::Refused { words: error.to_string() }),
            Ok(()) if !ids.insert(example.id) => Some(Why::Duplicate),
            Ok(()) => kept.keep(&example).map(|of| Why::NearDuplicate { of }),
        };
        match why {
            Some(why) => made.leave_out(example, why),
            None => made.examples.push(example),
        }
    }
    if made.examples.len() > EXAMPLES_MAX {
        return Err(Error::Dataset(format!("it has more than {EXAMPLES_MAX} examples")));
    }
    made.hold_out(rule)?;
    check(&made.examples)?;
    Ok(made)
}

impl Dataset {
    fn leave_out(&mut self, example: Example, why: Why) {
        self.left_out.push(LeftOut { id: example.id, receipts: example.receipts, why });
    }

    /// Examples of one split.
    pub fn of(&self, split: Split) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(move |example| example.split == split)
    }

    fn hold_out(&mut self, rule: SplitRule) -> Result<(), Error> {
        if self.examples.is_empty() {
            return Err(Error::Dataset(NO_EXAMPLE.to_owned()));
        }
        let wanted = (self.examples.len() * usize::from(rule.held_out_percent)).div_ceil(100);
        let held = if rule.whole_projects { self.newest_projects(wanted)? } else { BTreeSet::new() };
        let first = if rule.whole_projects {
            self.examples.iter().filter(|one| held.contains(&one.project)).map(|one| one.at).min()
        } else {
            self.examples.iter().rev().take(wanted).map(|one| one.at).min()
        };
        let first = first.ok_or_else(|| Error::Dataset("nothing can be held out".to_owned()))?;
        for mut example in std::mem::take(&mut self.examples) {
            let is_held =
                if rule.whole_projects { held.contains(&example.project) } else { example.at >= first };
            if is_held {
                example.split = Split::HeldOut;
                self.examples.push(example);
            } else if example.at >= first {
                self.leave_out(example, Why::Late);
            } else {
                example.split = Split::Train;
                self.examples.push(example);
            }
        }
        Ok(())
    }

    /// Projects that began last, so many that they have the wanted number of examples.
    fn newest_projects(&self, wanted: usize) -> Result<BTreeSet<String>, Error> {
        let mut projects: BTreeMap<&str, (i64, usize)> = BTreeMap::new();
        for example in &self.examples {
            projects.entry(example.project.as_str()).or_insert((example.at, 0)).1 += 1;
        }
        if projects.len() < 2 {
            let words = "all examples are of one project, so nothing can be held out that is of another; divide \
                         them by time alone (`--by-time`), or add work in another project";
            return Err(Error::Dataset(words.to_owned()));
        }
        let mut newest: Vec<(&str, (i64, usize))> = projects.into_iter().collect();
        newest.sort_by(|a, b| (b.1.0, b.0).cmp(&(a.1.0, a.0)));
        newest.pop();
        let (mut held, mut number) = (BTreeSet::new(), 0_usize);
        for (project, (_, examples)) in newest {
            if number < wanted {
                held.insert(project.to_owned());
                number += examples;
            }
        }
        Ok(held)
    }
}

/// Whether examples are a dataset: each may stand there, none twice, something is learned from, and what is held out
/// is later than all of it. Where projects overlap the split is by time alone, which [`is_by_time_alone`] tells.
///
/// # Errors
/// What is wrong, in words.
pub fn check(examples: &[Example]) -> Result<(), Error> {
    let no = |words: &str| Err(Error::Dataset(words.to_owned()));
    if examples.is_empty() {
        return no(NO_EXAMPLE);
    }
    if examples.len() > EXAMPLES_MAX {
        return Err(Error::Dataset(format!("it has more than {EXAMPLES_MAX} examples")));
    }
    let mut ids = BTreeSet::new();
    for example in examples {
        example.check()?;
        if !ids.insert(example.id) {
            return no("an example is there twice");
        }
    }
    let times = |split| examples.iter().filter(move |one| one.split == split).map(|one| one.at);
    match (times(Split::Train).max(), times(Split::HeldOut).min()) {
        (None, _) => no("it has no example to learn from"),
        (_, None) => no("it has no example that is held out"),
        (Some(learned), Some(held)) if learned >= held => {
            no("an example that is learned from is as late as one that is held out")
        }
        _ => Ok(()),
    }
}

/// Whether a project has examples on both sides, so that what is held out is new in time alone.
#[must_use]
pub fn is_by_time_alone(examples: &[Example]) -> bool {
    let projects = |split| -> BTreeSet<&str> {
        examples.iter().filter(|one| one.split == split).map(|one| one.project.as_str()).collect()
    };
    !projects(Split::Train).is_disjoint(&projects(Split::HeldOut))
}

/// Writes examples as JSON lines; the digest of these bytes is the digest of the dataset.
///
/// # Errors
/// They are more than a dataset may hold.
pub fn write_lines(examples: &[Example]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for example in examples {
        serde_json::to_writer(&mut bytes, example).map_err(|error| Error::Dataset(error.to_string()))?;
        bytes.push(b'\n');
        if bytes.len() > DATASET_BYTES_MAX {
            return Err(Error::Dataset(format!("it is longer than {DATASET_BYTES_MAX} bytes")));
        }
    }
    Ok(bytes)
}

/// Reads a dataset from JSON lines and checks it.
///
/// # Errors
/// A line is no example, or they are no dataset; in words.
pub fn read_lines(bytes: &[u8]) -> Result<Vec<Example>, Error> {
    if bytes.len() > DATASET_BYTES_MAX {
        return Err(Error::Dataset(format!("it is longer than {DATASET_BYTES_MAX} bytes")));
    }
    let mut examples = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        if examples.len() >= EXAMPLES_MAX {
            return Err(Error::Dataset(format!("it has more than {EXAMPLES_MAX} examples")));
        }
        let example = serde_json::from_slice(line)
            .map_err(|error| Error::Dataset(format!("line {} is no example: {error}", at + 1)))?;
        examples.push(example);
    }
    check(&examples)?;
    Ok(examples)
}

/// Ids of the receipts of what is learned from, each once, in order.
#[must_use]
pub fn receipts(examples: &[Example]) -> Vec<String> {
    let learned = examples.iter().filter(|example| example.split == Split::Train);
    let ids: BTreeSet<&String> = learned.flat_map(|example| &example.receipts).collect();
    ids.into_iter().cloned().collect()
}

/// Root of the Merkle tree over the receipts of what is learned from: what an adapter says it was trained on, and shows
/// to nobody.
#[must_use]
pub fn receipts_root(examples: &[Example]) -> Digest {
    root(&receipts(examples).iter().map(|id| leaf_hash(id.as_bytes())).collect::<Vec<_>>())
}

/// Takes out what rests on any of these receipts: what stays, and the ids of what went.
#[must_use]
pub fn recall(examples: Vec<Example>, receipts: &BTreeSet<String>) -> (Vec<Example>, Vec<Digest>) {
    let (gone, kept): (Vec<Example>, Vec<Example>) =
        examples.into_iter().partition(|example| example.receipts.iter().any(|id| receipts.contains(id)));
    (kept, gone.into_iter().map(|example| example.id).collect())
}
