//! Checkpoints: adapter, optimiser and step in one file of safetensors, written beside and renamed. Which examples
//! come next follows from the seed and the step, so no other chance has to be kept.

use crate::adamw::Learned;
use crate::adapter::Numbers;
use crate::{Done, Problem};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use seal::{Digest, Hasher};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use training::Said;

/// Checkpoints that are kept.
const KEPT: usize = 3;

/// The one word of a file's head: more would be written in any order.
const HEAD: &str = "hermit";

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// What it belongs to.
    of: Digest,
    /// Steps, or the round.
    step: u32,
    /// Digest of all numbers, by name.
    numbers: Digest,
}

/// Groups of numbers by name, as a file has them.
pub type Groups = Vec<(&'static str, Numbers)>;

/// The bytes of a file of numbers.
///
/// # Errors
/// They cannot be written so.
pub fn to_bytes(of: Digest, step: u32, groups: &Groups) -> Done<Vec<u8>> {
    let mut raw: Vec<(String, Vec<u8>)> = Vec::new();
    for (group, numbers) in groups {
        for (name, numbers) in numbers {
            raw.push((format!("{group}:{name}"), numbers.iter().flat_map(|one| one.to_le_bytes()).collect()));
        }
    }
    raw.sort();
    let head =
        Head { of, step, numbers: digest(raw.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))) };
    let head = serde_json::to_string(&head).map_err(|error| Problem::new(error.to_string()))?;
    let mut views = Vec::new();
    for (name, bytes) in &raw {
        let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
        views.push((name.as_str(), view.map_err(|error| Problem::new(error.to_string()))?));
    }
    serialize(views, Some(HashMap::from([(HEAD.to_owned(), head)])))
        .map_err(|error| Problem::new(error.to_string()))
}

/// Reads a file of numbers, those of each group by name.
///
/// # Errors
/// It is cut, changed, or belongs to something else; in words.
pub fn from_bytes(bytes: &[u8], of: Digest, groups: &[&'static str]) -> Done<(u32, Vec<Numbers>)> {
    let no = |words: String| Problem::new(format!("it is no whole checkpoint: {words}"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| no(error.to_string()))?;
    let read = SafeTensors::deserialize(bytes).map_err(|error| no(error.to_string()))?;
    let head = metadata.metadata().as_ref().and_then(|words| words.get(HEAD));
    let head = head.ok_or_else(|| no("it does not say what it is".to_owned()))?;
    let head: Head = serde_json::from_str(head).map_err(|error| no(error.to_string()))?;
    let mut tensors = read.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    if digest(tensors.iter().map(|(name, view)| (name.as_str(), view.data()))) != head.numbers {
        return Err(no("its numbers are not those that were written".to_owned()));
    }
    if head.of != of {
        return Err(Problem::new("it belongs to another run"));
    }
    let mut found = vec![Numbers::new(); groups.len()];
    for (name, view) in tensors {
        let (group, name) = name.split_once(':').ok_or_else(|| no("a name is none".to_owned()))?;
        let at =
            groups.iter().position(|one| *one == group).ok_or_else(|| no("a name is none".to_owned()))?;
        let numbers =
            view.data().chunks_exact(4).map(|one| f32::from_le_bytes([one[0], one[1], one[2], one[3]]));
        found[at].insert(name.to_owned(), numbers.collect());
    }
    Ok((head.step, found))
}

fn digest<'a>(all: impl Iterator<Item = (&'a str, &'a [u8])>) -> Digest {
    let mut hasher = Hasher::new();
    for (name, bytes) in all {
        hasher.update((name.len() as u64).to_be_bytes());
        hasher.update(name);
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    }
    hasher.finish()
}

const GROUPS: [&str; 3] = ["numbers", "first", "second"];

/// Whether two sets of numbers have the same names and lengths.
#[must_use]
pub fn is_like(one: &Numbers, other: &Numbers) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|((name, own), (other_name, other))| name == other_name && own.len() == other.len())
}

fn learned(bytes: &[u8], of: Digest, like: &Numbers) -> Done<Learned> {
    let (step, mut groups) = from_bytes(bytes, of, &GROUPS)?;
    if groups.iter().any(|numbers| !is_like(numbers, like)) {
        return Err(Problem::new("it is of another adapter"));
    }
    let mut next = || groups.pop().unwrap_or_default();
    let (second, first, numbers) = (next(), next(), next());
    let learned = Learned { step, numbers, first, second };
    if learned.is_finite() { Ok(learned) } else { Err(Problem::new("it has places that are no numbers")) }
}

/// Checkpoints in a folder, the newest first.
fn all(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let named = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("checkpoint-") && name.ends_with(".safetensors")
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(named).collect();
    found.sort();
    found.reverse();
    found
}

/// Writes a checkpoint and lets go of old ones.
///
/// # Errors
/// What the disk says.
pub fn write(folder: &Path, of: Digest, learned: &Learned) -> Done<(PathBuf, Digest)> {
    let parts = [&learned.numbers, &learned.first, &learned.second];
    let groups: Groups = GROUPS.into_iter().zip(parts.into_iter().cloned()).collect();
    let bytes = to_bytes(of, learned.step, &groups)?;
    let path = folder.join(format!("checkpoint-{:08}.safetensors", learned.step));
    disk::replace(&path, &bytes).map_err(|error| Problem::of_file(&path, error))?;
    for old in all(folder).into_iter().filter(|old| *old != path).skip(KEPT - 1) {
        // What cannot be removed takes room and does no harm.
        let _ = fs::remove_file(old);
    }
    Ok((path, Digest::of(&bytes)))
}

/// The newest checkpoint of a run that is whole. One that is not is told of, and the one before is taken.
pub fn newest(
    folder: &Path,
    of: Digest,
    like: &Numbers,
    say: &mut dyn FnMut(&Said),
) -> Option<(PathBuf, Learned)> {
    for path in all(folder) {
        let read = fs::read(&path).map_err(|error| Problem::of_file(&path, error));
        match read.and_then(|bytes| learned(&bytes, of, like)) {
            Ok(learned) => return Some((path, learned)),
            Err(problem) => {
                say(&Said::Skipped { what: path.to_string_lossy().into_owned(), words: problem.to_string() });
            }
        }
    }
    None
}
