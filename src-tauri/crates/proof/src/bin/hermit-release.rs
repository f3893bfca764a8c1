//! Makes a release of what was built, signed by a key in a file. `cargo xtask release` calls it.
//!
//! Exit codes: 0 made, 2 when it was called wrongly or could not.

use proof::{MadeOf, ReleaseParts, make_release, release_signer};
use seal::{Digest, Signer as _};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: hermit-release --key FILE --out DIR --log DIR --root DIR --version V --system TRIPLE
                      --commit HEX --committed-at SECONDS --builder TEXT --toolchain TEXT
                      [--paths-remapped] [--texts FILE] PROGRAM... < SOURCE

  --key FILE    an Ed25519 key as `openssl genpkey -algorithm ed25519` writes it, for its owner alone to read
  --out DIR     the release; not there yet
  --log DIR     keeps the log of releases from one to the next
  --root DIR    the source, for lock files and licences
  --texts FILE  the licence texts of what is in the programs
  PROGRAM...    what was built
  SOURCE        the archive of the source, of which the digest is named
";

/// Options that have a value.
const NAMED: [&str; 11] = [
    "--key",
    "--out",
    "--log",
    "--root",
    "--version",
    "--system",
    "--commit",
    "--committed-at",
    "--builder",
    "--toolchain",
    "--texts",
];
const REMAPPED: &str = "--paths-remapped";
/// Bytes of a key's file.
const KEY_BYTES_MAX: u64 = 64 * 1024;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    let (said, code) = match made(&words) {
        Ok(said) => (said, ExitCode::SUCCESS),
        Err(why) => (format!("hermit-release: {why}\n"), ExitCode::from(2)),
    };
    // Where even the error stream is gone, the exit code still says it.
    let _ = std::io::stderr().write_all(said.as_bytes());
    code
}

fn made(words: &[String]) -> Result<String, String> {
    let (mut named, mut programs, mut paths_remapped) = (BTreeMap::new(), Vec::new(), false);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if NAMED.contains(&word.as_str()) {
            let value = rest.next().ok_or_else(|| format!("`{word}` needs a value\n\n{USAGE}"))?;
            named.insert(word.as_str(), value.as_str());
        } else if word == REMAPPED {
            paths_remapped = true;
        } else if word.starts_with('-') {
            return Err(format!("`{word}` is no option\n\n{USAGE}"));
        } else {
            programs.push(PathBuf::from(word));
        }
    }
    let value = |name: &str| {
        let found = named.get(name).map(|value| (*value).to_owned());
        found.ok_or_else(|| format!("`{name}` is missing\n\n{USAGE}"))
    };
    let seconds = value("--committed-at")?;
    let committed_at: i64 = seconds.parse().map_err(|_| format!("`{seconds}` is no number of seconds"))?;
    let key = release_signer(&key_of(Path::new(&value("--key")?))?).map_err(|e| e.to_string())?;
    let made_of = MadeOf {
        version: value("--version")?,
        system: value("--system")?,
        commit: value("--commit")?,
        committed_at,
        source_sha256: source()?,
        builder: value("--builder")?,
        toolchain: value("--toolchain")?,
        paths_remapped,
    };
    let (root, log, out) = (value("--root")?, value("--log")?, value("--out")?);
    let texts = named.get("--texts").map(Path::new);
    let parts =
        ReleaseParts { made_of, programs: &programs, root: Path::new(&root), log: Path::new(&log), texts };
    let index = make_release(&parts, &key, Path::new(&out)).map_err(|e| e.to_string())?;
    Ok(format!("release {} of the log is in {out}; its key has the id {}\n", index + 1, key.public().keyid()))
}

/// The text of a key's file, which nobody but its owner may read.
fn key_of(path: &Path) -> Result<String, String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot use the key `{}`: {why}", path.display());
    let file = std::fs::File::open(path).map_err(|e| cannot(&e))?;
    if let Some(others) = disk::owner_only::open_to_others(&file).map_err(|e| cannot(&e))? {
        return Err(cannot(&format!("others may reach it ({}); {}", others.who, others.remedy_for(path))));
    }
    let mut text = String::new();
    file.take(KEY_BYTES_MAX).read_to_string(&mut text).map_err(|e| cannot(&e))?;
    Ok(text)
}

/// Digest of the archive of the source, from standard input.
fn source() -> Result<Digest, String> {
    let cannot = |why: &str| format!("the source cannot be read from standard input: {why}");
    match disk::digest(std::io::stdin().lock()) {
        Ok((_, 0)) => Err(cannot("there is none")),
        Ok((digest, _)) => Ok(digest),
        Err(error) => Err(cannot(&error.to_string())),
    }
}
