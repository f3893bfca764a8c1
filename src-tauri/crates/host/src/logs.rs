//! The log: a file in the store's folder, for whoever looks for a fault. Events are truth; this is not.
//!
//! Rooms log identifiers, codes and errors, never goals, contents, keys or passphrases.

use crate::{Config, Home};
use std::io::Write;
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
    let folder = home.path("logs");
    let path = folder.join("hermit.log");
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    if std::fs::metadata(&path).is_ok_and(|m| m.len() > BYTES_MAX) {
        let _ = std::fs::rename(&path, folder.join("hermit.log.1"));
    }
    let Ok(file) = std::fs::File::options().create(true).append(true).open(&path) else { return };
    let filter = EnvFilter::try_new(format!("{level},ureq=warn,ureq_proto=warn,rustls=warn,hyper=warn"))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    // Somebody who embeds this room may have begun a log of their own; theirs stands.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(Clean { file, redactor }))
        .try_init();
}

/// A line at a time, without the values of secrets: nobody logs them, and a room that slips does not leak.
struct Clean {
    file: std::fs::File,
    redactor: redact::Shared,
}

impl Write for Clean {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.file.write_all(&self.redactor.now().bytes(line).rest)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
