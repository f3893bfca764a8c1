//! Checks a proof bundle with no store at hand, or a release of Hermit, and grades other verifiers.
//!
//! Exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete, 2 when it was called wrongly or cannot read.

mod kit;
mod shown;

use proof::{
    AUTHORITY_BYTES_MAX, Given, HEADERS_BYTES_MAX, ReleaseAsked, Trust, verify_given, verify_release,
};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: hermit-verify FILE [--trust KEY]... [--since CHECKPOINT]
                     [--trust-authority FILE]... [--bitcoin-headers FILE] [--json]
       hermit-verify --release PATH --key KEY... [--not-older VERSION] [--system TRIPLE]
                     [--since FILE] [--json]
       hermit-verify kit ...    grades another verifier, or somebody's bundle; `hermit-verify kit --help`

  FILE          a hermit-proof/1 bundle: a .zip file or a directory
  --trust KEY   a key you already have from its owner: a PEM or vkey file, a vkey,
                a key id (64 hexadecimal digits), or a fingerprint (SHA256:...)
  --since FILE  a checkpoint of the log that you have from before (log/checkpoint of an
                older bundle): shows whether the log has only grown since
  --trust-authority FILE
                a certificate of a time-stamp authority that you believe: PEM or DER
  --bitcoin-headers FILE
                headers of Bitcoin's blocks, one after the other, of 80 bytes or a line of
                hexadecimal each: their work is checked, the first is taken on trust; a first
                line `height N` (or `# height N`) says its height
  --json        the whole report as JSON

  --release PATH
                a release of Hermit: its folder, or the release.json in it
  --key KEY     a key that signs releases, which you have from elsewhere: a PEM or vkey file, or a vkey
  --not-older VERSION
                the version that you have: an older release is refused
  --system TRIPLE
                the system that it has to be for, such as x86_64-unknown-linux-gnu
  --since FILE  release.tlog-proof of a release from before: the log of releases has to continue it

exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete, 2 usage or unreadable
";

struct Asked {
    path: PathBuf,
    trust: Vec<Trust>,
    since: Option<Vec<u8>>,
    authorities: Vec<Vec<u8>>,
    headers: Option<Vec<u8>>,
    json: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    if let Some((_, rest)) = words.split_first().filter(|(first, _)| *first == "kit") {
        return kit::run(rest);
    }
    if words.iter().any(|w| w == "--help" || w == "-h") {
        return say(USAGE, ExitCode::SUCCESS);
    }
    if words == ["--version"] {
        return say(&format!("hermit-verify {}\n", env!("CARGO_PKG_VERSION")), ExitCode::SUCCESS);
    }
    let checked = if words.iter().any(|w| w == "--release") { release(&words) } else { bundle(&words) };
    match checked {
        Ok((text, code)) => say(&text, ExitCode::from(code)),
        Err(why) => complain(&why),
    }
}

/// The answer to a bundle, and its exit code.
fn bundle(words: &[String]) -> Result<(String, u8), String> {
    parse(words).and_then(|asked| {
        let given = Given {
            held: asked.since.as_deref(),
            authorities: &asked.authorities,
            bitcoin_headers: asked.headers.as_deref(),
        };
        let report = verify_given(&asked.path, &asked.trust, &given).map_err(|e| e.to_string())?;
        let text = if asked.json { json(&report)? } else { shown::lines(&report.to_string()) };
        Ok((text, report.exit_code()))
    })
}

/// The answer to a release, and its exit code.
fn release(words: &[String]) -> Result<(String, u8), String> {
    let mut words = words.iter();
    let (mut path, mut keys, mut not_older, mut system) = (None, Vec::new(), None, None);
    let (mut since, mut as_json) = (None, false);
    while let Some(word) = words.next() {
        let mut next = |what: &str| words.next().ok_or_else(|| format!("`{word}` needs a {what}\n\n{USAGE}"));
        match word.as_str() {
            "--release" if path.is_none() => path = Some(PathBuf::from(next("folder")?)),
            "--key" => keys.push(next("key")?),
            "--not-older" => not_older = Some(next("version")?.as_str()),
            "--system" => system = Some(next("system")?.as_str()),
            "--since" => since = Some(read(next("file")?, CHECKPOINT_BYTES_MAX)?),
            "--json" => as_json = true,
            other => return Err(format!("`{other}` is one word too many\n\n{USAGE}")),
        }
    }
    let path = path.ok_or_else(|| format!("name the release to check\n\n{USAGE}"))?;
    let whole = |word: &String| match key_of(word)? {
        Trust::Key(key) => Ok(key),
        _ => Err(format!("`{word}` only names a key; give the key itself, as a PEM or vkey file or a vkey")),
    };
    let keys: Vec<_> = keys.into_iter().map(whole).collect::<Result<_, String>>()?;
    if keys.is_empty() {
        return Err(format!("give the key that signs releases with `--key`\n\n{USAGE}"));
    }
    let since = since.as_deref();
    let asked = ReleaseAsked { keys: &keys, not_older, system, since, ..ReleaseAsked::default() };
    let report = verify_release(&path, &asked).map_err(|e| e.to_string())?;
    let text = if as_json { json(&report)? } else { shown::lines(&report.to_string()) };
    Ok((text, report.exit_code()))
}

fn json(report: &impl serde::Serialize) -> Result<String, String> {
    let mut text = serde_json::to_string_pretty(report).map_err(|e| e.to_string())?;
    text.push('\n');
    Ok(text)
}

fn complain(why: &str) -> ExitCode {
    // Where even the error stream is gone, the exit code still says it.
    let _ = writeln!(std::io::stderr(), "hermit-verify: {}", shown::lines(why));
    ExitCode::from(2)
}

fn say(text: &str, code: ExitCode) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => code,
        Err(_) => ExitCode::from(2),
    }
}

fn parse(words: &[String]) -> Result<Asked, String> {
    let mut words = words.iter();
    let (mut path, mut trust, mut since, mut json) = (None, Vec::new(), None, false);
    let (mut authorities, mut headers) = (Vec::new(), None);
    while let Some(word) = words.next() {
        let mut next = |what: &str| words.next().ok_or_else(|| format!("`{word}` needs a {what}\n\n{USAGE}"));
        match (word.as_str(), word.strip_prefix("--trust=")) {
            (_, Some(key)) => trust.push(key_of(key)?),
            ("--trust", _) => trust.push(key_of(next("key")?)?),
            ("--since", _) => since = Some(read(next("file")?, CHECKPOINT_BYTES_MAX)?),
            ("--trust-authority", _) => authorities.push(read(next("file")?, AUTHORITY_BYTES_MAX)?),
            ("--bitcoin-headers", _) => headers = Some(read(next("file")?, HEADERS_BYTES_MAX)?),
            ("--json", _) => json = true,
            (flag, _) if flag.starts_with('-') => return Err(format!("`{flag}` is no option\n\n{USAGE}")),
            (file, _) if path.is_none() => path = Some(PathBuf::from(file)),
            (extra, _) => return Err(format!("`{extra}` is one word too many\n\n{USAGE}")),
        }
    }
    let path = path.ok_or_else(|| format!("name the bundle to check\n\n{USAGE}"))?;
    Ok(Asked { path, trust, since, authorities, headers, json })
}

/// No checkpoint is longer.
const CHECKPOINT_BYTES_MAX: u64 = 1_000_000;

/// A file of at most so many bytes.
fn read(name: &str, max: u64) -> Result<Vec<u8>, String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot read `{name}`: {why}");
    let file = std::fs::File::open(name).map_err(|e| cannot(&e))?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(|e| cannot(&e))?;
    if bytes.len() as u64 > max {
        return Err(cannot(&format!("it has more than {max} bytes")));
    }
    Ok(bytes)
}

/// A key as written, or the file that holds it.
fn key_of(word: &str) -> Result<Trust, String> {
    let path = Path::new(word);
    if path.is_file() {
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read `{word}`: {e}"))?;
        return Trust::parse(&text).map_err(|e| e.to_string());
    }
    Trust::parse(word).map_err(|e| e.to_string())
}
