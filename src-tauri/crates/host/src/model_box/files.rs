//! Weights in a folder of their own, by digest, and the names that a person knows them by.

use super::header::{self, Header};
use crate::{Error, Home};
use reasoning::model_box;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use wire::Code;

/// The folder in that of the store.
const FOLDER: &str = "models";
/// What can be fetched by name.
const CATALOGUE: &str = include_str!("catalogue.tsv");
/// Tokens that prompt and answer have together unless a person sets more: memory is taken for all of them.
const CONTEXT: u32 = 8_192;

/// A model that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Bytes of its weights.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: String,
    /// Where they are.
    pub address: String,
    /// Its licence.
    pub license: String,
    /// What it is good for.
    pub about: String,
}

/// All that can be fetched by name.
pub fn catalogue() -> Vec<Entry> {
    let entry = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, bytes, sha256, license, address, about] = cells.as_slice() else { return None };
        Some(Entry {
            name: (*name).to_owned(),
            bytes: bytes.parse().ok()?,
            sha256: (*sha256).to_owned(),
            license: (*license).to_owned(),
            address: (*address).to_owned(),
            about: (*about).to_owned(),
        })
    };
    CATALOGUE.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
}

/// A model whose weights are here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// SHA-256 of its weights.
    pub sha256: String,
    /// Bytes of them.
    pub bytes: u64,
    /// Its licence, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it is good for, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// The folder of weights.
#[derive(Debug, Clone)]
pub(crate) struct Files(PathBuf);

impl Files {
    pub(crate) fn of(home: &Home) -> Self {
        Self(home.path(FOLDER))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Where weights are, once they are whole.
    pub(crate) fn weights(&self, sha256: &str) -> PathBuf {
        self.0.join(format!("{sha256}.gguf"))
    }

    fn card(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// What a name means, whatever is left of its weights.
    pub(super) fn card_of(&self, name: &str) -> Option<Kept> {
        if !model_box::is_name(name) {
            return None;
        }
        let kept: Kept = serde_json::from_slice(&std::fs::read(self.card(name)).ok()?).ok()?;
        (kept.name == name && model_box::named(&model_box::pinned(name, &kept.sha256)).is_ok())
            .then_some(kept)
    }

    /// Why weights cannot be those that a name means, as far as it is seen without reading them.
    fn trouble(&self, kept: &Kept) -> Option<String> {
        match std::fs::symlink_metadata(self.weights(&kept.sha256)) {
            Err(error) => Some(format!("they cannot be read ({error})")),
            Ok(there) if !there.is_file() => Some("a link or a folder is in their place".to_owned()),
            Ok(there) if there.len() != kept.bytes => {
                Some(format!("they have {} bytes, and {} are right", there.len(), kept.bytes))
            }
            Ok(_) => None,
        }
    }

    /// The model that a name means, where it means weights of this digest.
    ///
    /// # Errors
    /// [`Error::Said`], with the command that gets it.
    pub(super) fn meant(&self, name: &str, digest: Option<&str>) -> Result<Kept, Error> {
        let kept = self.card_of(name).filter(|kept| digest.is_none_or(|digest| digest == kept.sha256));
        let kept = kept.ok_or_else(|| not_here(name))?;
        match self.trouble(&kept) {
            None => Ok(kept),
            Some(why) => {
                let message = format!("the weights of `{name}` are of no use: {why}");
                Err(Error::Said(wire::Error::new(Code::NotFound, message).hint(again(name))))
            }
        }
    }

    /// Whether a name may be given to weights.
    ///
    /// # Errors
    /// [`Error::Said`] when it is the name of others: tasks keep to them.
    pub(super) fn may_name(&self, name: &str, sha256: &str) -> Result<(), Error> {
        let Some(kept) = self.card_of(name).filter(|kept| kept.sha256 != sha256) else { return Ok(()) };
        let message = format!("`{name}` is the name of other weights, with SHA-256 {}", kept.sha256);
        let hint = format!("choose another name, or take them away first: `hermit models rm {name}`");
        Err(Error::Said(wire::Error::new(Code::Usage, message).hint(hint)))
    }

    /// All models whose weights are here, by name.
    pub(crate) fn all(&self) -> Vec<Kept> {
        let mut all = self.cards();
        all.retain(|kept| self.trouble(kept).is_none());
        all
    }

    /// All names, whatever is left of their weights.
    fn cards(&self) -> Vec<Kept> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            entry.file_name().to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned)
        });
        let mut all: Vec<Kept> = names.filter_map(|name| self.card_of(&name)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// What its weights say of themselves.
    pub(super) fn says(&self, kept: &Kept) -> Header {
        header::read(&self.weights(&kept.sha256)).unwrap_or_default()
    }

    /// About how many million weights a model has: as its maker says, or, where nobody does, one for each byte; at least as many as its
    /// bytes hold at 32 bits each.
    pub(crate) fn million_weights(&self, kept: &Kept) -> f64 {
        let megabytes = f64::from(u32::try_from(kept.bytes / 1_000_000).unwrap_or(u32::MAX));
        let said = self.says(kept).billions.map(|billions| billions * 1000.0);
        said.unwrap_or(megabytes).max(megabytes / 4.0)
    }

    /// Tokens that a model has room for unless a person sets something else.
    pub(super) fn context(&self, kept: &Kept) -> u32 {
        self.says(kept).context.unwrap_or(CONTEXT).min(CONTEXT)
    }

    /// Takes a name for weights that are whole.
    pub(super) fn name(&self, kept: &Kept) -> Result<(), Error> {
        let path = self.card(&kept.name);
        let text = serde_json::to_vec_pretty(kept)
            .map_err(|e| Error::io("write", &path, &std::io::Error::other(e)))?;
        disk::replace(&path, &text).map_err(|e| Error::io("write", &path, &e))
    }

    /// Forgets a name, and the weights where no other name has them, damaged ones too; the bytes that are free again.
    ///
    /// # Errors
    /// [`Error::Said`] when there is no such name.
    pub(super) fn forget(&self, name: &str) -> Result<u64, Error> {
        let kept = self.card_of(name).ok_or_else(|| not_here(name))?;
        let others = self.cards().into_iter().any(|other| other.sha256 == kept.sha256 && other.name != name);
        // The weights first: what cannot be removed now has a name by which it is removed later.
        let freed = if others { 0 } else { removed(&self.weights(&kept.sha256))? };
        removed(&self.card(name))?;
        Ok(freed)
    }

    /// The model that a name means now, with the digest of its weights.
    ///
    /// # Errors
    /// [`Error::Said`], with the command that gets it.
    pub(crate) fn pin(&self, name: &str, digest: Option<&str>) -> Result<String, Error> {
        self.meant(name, digest).map(|kept| model_box::pinned(name, &kept.sha256))
    }
}

/// Removes a file, where there is one; the bytes that it had.
pub(super) fn removed(path: &Path) -> Result<u64, Error> {
    let failed = |e: std::io::Error| Error::io("remove", path, &e);
    let bytes = match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        found => found.map_err(failed)?.len(),
    };
    std::fs::remove_file(path).map_err(failed)?;
    Ok(bytes)
}

/// How damaged weights are made whole.
pub(super) fn again(name: &str) -> String {
    match catalogue().iter().any(|entry| entry.name == name) {
        true => format!("get them again with `hermit models get {name}`"),
        false => format!("get them again with `hermit models get {name} --from FILE`"),
    }
}

fn not_here(name: &str) -> Error {
    let hint = match catalogue().iter().any(|entry| entry.name == name) {
        true => format!("get it with `hermit models get {name}`"),
        false => "`hermit models list` shows what is here; `hermit models get` what can be had".to_owned(),
    };
    let message = format!("there are no weights of `{name}` on this machine");
    Error::Said(wire::Error::new(Code::NotFound, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_catalogue_is_whole() {
        let lines = CATALOGUE.lines().filter(|line| !line.starts_with('#')).count();
        let all = catalogue();
        assert!(lines > 0 && all.len() == lines);
        for entry in all {
            assert!(
                model_box::named(&model_box::pinned(&entry.name, &entry.sha256)).is_ok(),
                "{}",
                entry.name
            );
            assert!(entry.address.starts_with("https://") && entry.bytes > 1_000_000, "{}", entry.name);
            assert!(!entry.license.is_empty() && !entry.about.is_empty(), "{}", entry.name);
        }
    }
}
