//! The log: a file in the store's folder, for whoever looks for a fault. Events are truth; this is not.
//!
//! Rooms log identifiers, codes and errors, never goals, contents, keys or passphrases.

use crate::{Config, Home};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// Beyond this many bytes the log is begun anew; the one before it is kept as `hermit.log.1`.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Begins to log into `logs/hermit.log`. A process without a log works as well, so failures are let go.
/// Every line passes the redactor.
pub fn begin(home: &Home, config: &Config, redactor: redact::Shared) {
    let level = std::env::var("HERMIT_LOG")
        .ok()
        .or_else(|| config.log_level.clone())
        .unwrap_or_else(|| "info".to_owned());
    if level == "off" {
        return;
    }
    let path = log_file(home);
    if path.parent().is_none_or(|folder| ledger::owner_only::folder(folder).is_err()) {
        return;
    }
    let Ok(file) = Cut::open(path) else { return };
    let filter =
        EnvFilter::try_new(format!("{level},ureq=warn,ureq_proto=warn,rustls=warn,hyper=warn,rmcp=warn"))
            .unwrap_or_else(|_| EnvFilter::new("info"));
    // Somebody who embeds this room may have begun a log of their own; theirs stands.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(Clean { file, redactor }))
        .try_init();
}

/// Where the log of a store stands.
pub fn log_file(home: &Home) -> PathBuf {
    home.path("logs").join(FILE)
}

/// Its name in its folder.
const FILE: &str = "hermit.log";

/// The file, begun anew whenever it has grown too long.
struct Cut {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Cut {
    fn open(path: PathBuf) -> std::io::Result<Self> {
        if std::fs::metadata(&path).is_ok_and(|m| m.len() > BYTES_MAX) {
            std::fs::rename(&path, path.with_extension("log.1"))?;
        }
        let file = ledger::owner_only::open(File::options().create(true).append(true), &path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes })
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        if self.bytes > BYTES_MAX {
            // Another process may have done it already; then this one goes on in its file.
            *self = Self::open(self.path.clone())?;
        }
        self.bytes = self.bytes.saturating_add(line.len() as u64);
        self.file.write_all(line)
    }
}

/// A line at a time, without the values of secrets: nobody logs them, and a room that slips does not leak.
struct Clean {
    file: Cut,
    redactor: redact::Shared,
}

impl Write for Clean {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.file.write(&self.redactor.now().bytes(line).rest)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.file.flush()
    }
}

/// What came of it; or nothing, and the error stands in the log. For what a person can do without for a while.
pub(crate) trait OrLogged<T> {
    /// `what` says in the log what could not be done.
    fn or_logged(self, what: &'static str) -> Option<T>;
}

impl<T, E: std::fmt::Display> OrLogged<T> for Result<T, E> {
    fn or_logged(self, what: &'static str) -> Option<T> {
        self.inspect_err(|error| tracing::warn!(%error, "{what}")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grows_while_it_is_written_is_cut_and_two_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let mut log = Cut::open(path.clone()).unwrap();
        let line = vec![b'x'; 1024 * 1024];
        for _ in 0..30 {
            log.write(&line).unwrap();
        }
        let length = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
        assert!(length(FILE) <= BYTES_MAX + line.len() as u64);
        assert!(length("hermit.log.1") <= BYTES_MAX + line.len() as u64);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
