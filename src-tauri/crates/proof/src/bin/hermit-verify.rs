//! Checks a proof bundle with no store at hand.
//!
//! Exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete, 2 when it was called wrongly or cannot read.

use proof::{Trust, verify_since};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: hermit-verify FILE [--trust KEY]... [--since CHECKPOINT] [--json]

  FILE          a hermit-proof/1 bundle: a .zip file or a directory
  --trust KEY   a key you already have from its owner: a PEM or vkey file, a vkey,
                a key id (64 hexadecimal digits), or a fingerprint (SHA256:...)
  --since FILE  a checkpoint of the log that you have from before (log/checkpoint of an
                older bundle): shows whether the log has only grown since
  --json        the whole report as JSON

exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete, 2 usage or unreadable
";

struct Asked {
    path: PathBuf,
    trust: Vec<Trust>,
    since: Option<Vec<u8>>,
    json: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    if words.iter().any(|w| w == "--help" || w == "-h") {
        return say(USAGE, ExitCode::SUCCESS);
    }
    if words == ["--version"] {
        return say(&format!("hermit-verify {}\n", env!("CARGO_PKG_VERSION")), ExitCode::SUCCESS);
    }
    let checked = parse(&words).and_then(|asked| {
        let report =
            verify_since(&asked.path, &asked.trust, asked.since.as_deref()).map_err(|e| e.to_string())?;
        let text = if asked.json {
            let mut text = serde_json::to_string_pretty(&report).map_err(|e| e.to_string())?;
            text.push('\n');
            text
        } else {
            report.to_string()
        };
        Ok((text, report.exit_code()))
    });
    match checked {
        Ok((text, code)) => say(&text, ExitCode::from(code)),
        Err(why) => {
            // Where even the error stream is gone, the exit code still says it.
            let _ = writeln!(std::io::stderr(), "hermit-verify: {why}");
            ExitCode::from(2)
        }
    }
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
    while let Some(word) = words.next() {
        match (word.as_str(), word.strip_prefix("--trust=")) {
            (_, Some(key)) => trust.push(key_of(key)?),
            ("--trust", _) => {
                let key = words.next().ok_or_else(|| format!("`--trust` needs a key\n\n{USAGE}"))?;
                trust.push(key_of(key)?);
            }
            ("--since", _) => {
                let file = words.next().ok_or_else(|| format!("`--since` needs a file\n\n{USAGE}"))?;
                since = Some(std::fs::read(file).map_err(|e| format!("cannot read `{file}`: {e}"))?);
            }
            ("--json", _) => json = true,
            (flag, _) if flag.starts_with('-') => return Err(format!("`{flag}` is no option\n\n{USAGE}")),
            (file, _) if path.is_none() => path = Some(PathBuf::from(file)),
            (extra, _) => return Err(format!("`{extra}` is one word too many\n\n{USAGE}")),
        }
    }
    let path = path.ok_or_else(|| format!("name the bundle to check\n\n{USAGE}"))?;
    Ok(Asked { path, trust, since, json })
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
