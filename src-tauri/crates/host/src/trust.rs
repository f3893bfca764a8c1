//! `trust.json`: keys of other people that this store's owner has said to trust, each under a name. It stands beside
//! the ledger and is nobody's evidence: only `hermit proof verify` reads it, and only a person at this machine writes.

use crate::{Error, Home};
use proof::Trust;
use serde::{Deserialize, Serialize};

const FILE: &str = "trust.json";
const FORMAT: &str = "hermit-trust/1";

/// One key that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// Whose it is.
    pub name: String,
    /// As it was given: a PEM block, a verifier key, a key id, an SSH fingerprint.
    pub key: String,
    /// When it was said, in milliseconds since 1970.
    pub added_at_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    keys: Vec<Trusted>,
}

/// The keys that are trusted here; none when nobody said so.
///
/// # Errors
/// [`Error::Config`] when the file is there and cannot be used.
pub fn read(home: &Home) -> Result<Vec<Trusted>, Error> {
    let path = home.path(FILE);
    let bytes = match std::fs::read(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| Error::io("read", &path, &e))?,
    };
    let wrong = |why: String| Error::Config { path: path.display().to_string(), why };
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    if stored.format != FORMAT {
        return Err(wrong(format!("its format is `{}`, not `{FORMAT}`", stored.format)));
    }
    for trusted in &stored.keys {
        Trust::parse(&trusted.key).map_err(|e| wrong(e.to_string()))?;
    }
    Ok(stored.keys)
}

/// Adds keys under a name. One that is trusted already keeps its place and gets the new name.
///
/// # Errors
/// [`Error::Config`] for what is no key; [`Error::Io`].
pub fn add(home: &Home, name: &str, keys: &[String], now_ms: i64) -> Result<Vec<Trusted>, Error> {
    let mut all = read(home)?;
    for key in keys {
        let parsed = Trust::parse(key)
            .map_err(|e| Error::Config { path: "the key".to_owned(), why: e.to_string() })?;
        all.retain(|known| Trust::parse(&known.key).is_ok_and(|other| other != parsed));
        all.push(Trusted { name: name.to_owned(), key: key.trim().to_owned(), added_at_ms: now_ms });
    }
    write(home, all)
}

/// Takes away everything under a name; how many keys that were.
///
/// # Errors
/// As [`add`].
pub fn remove(home: &Home, name: &str) -> Result<usize, Error> {
    let mut all = read(home)?;
    let before = all.len();
    all.retain(|known| known.name != name);
    let gone = before - all.len();
    if gone > 0 {
        write(home, all)?;
    }
    Ok(gone)
}

fn write(home: &Home, keys: Vec<Trusted>) -> Result<Vec<Trusted>, Error> {
    home.make()?;
    let path = home.path(FILE);
    let stored = Stored { format: FORMAT.to_owned(), keys };
    let mut bytes = serde_json::to_vec_pretty(&stored)
        .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })?;
    bytes.push(b'\n');
    disk::replace(&path, &bytes).map_err(|e| Error::io("write", &path, &e))?;
    Ok(stored.keys)
}

/// A trusted key as one line: the key id of a whole key, or the spelling itself.
pub fn line(key: &str) -> String {
    match Trust::parse(key) {
        Ok(parsed) => parsed.to_string(),
        Err(_) => key.to_owned(),
    }
}
