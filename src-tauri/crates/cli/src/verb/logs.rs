//! `hermit logs`: where the log stands, its last lines, and what is written to it from now on.

use super::Came;
use crate::args::LogsArgs;
use crate::context::Context;
use crate::output::Tone;
use crate::text::plain;
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::{Code, Error, exit};

/// The end of a log in which its last lines are looked for, in bytes; also what is read of it at a time.
const TAIL_BYTES_MAX: u64 = 1024 * 1024;
/// A longer line is shown in parts.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// `hermit logs`.
pub fn logs(context: &Context, args: &LogsArgs) -> Came {
    let mut log = Log::open(host::log_file(&context.home))?;
    let lines = log.last(args.lines.into(), args.follow)?;
    let path = log.path.display().to_string();
    if !args.follow {
        context.out.answer(&json!({ "path": path, "lines": lines }), |out, _| {
            out.whole(Tone::Faint, &plain(&path));
            lines.iter().for_each(|line| out.whole(Tone::Plain, &plain(line)));
        })?;
        return Ok(exit::DONE);
    }
    context.out.stream(&json!({ "path": path }))?;
    context.out.whole(Tone::Faint, &plain(&path));
    let show = |lines: Vec<String>| {
        lines.into_iter().try_for_each(|line| {
            context.out.whole(Tone::Plain, &plain(&line));
            context.out.stream(&json!({ "line": line }))
        })
    };
    show(lines)?;
    loop {
        // Until Ctrl-C, or until nobody reads any more: then printing ends this process.
        show(log.more()?)?;
        std::thread::sleep(LOOK);
    }
}

/// A log that is read from its end on.
struct Log {
    path: PathBuf,
    file: File,
    /// How far it was read, in bytes.
    at: u64,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
}

impl Log {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let file = File::open(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Error::new(Code::NotFound, format!("there is no log yet at {}", path.display())).hint(
                    "Hermit writes it when it works with this store, unless `HERMIT_LOG` or `log_level` in config.json says `off`",
                )
            }
            _ => unreadable(&path, &error),
        })?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(Error::new(Code::Failed, format!("{} is no file", path.display())));
        }
        Ok(Self { path, file, at: 0, rest: Vec::new() })
    }

    /// The last lines, as far as they stand in the last [`TAIL_BYTES_MAX`]; one that is not whole yet only when nothing
    /// `follows` that could end it.
    fn last(&mut self, lines: usize, follows: bool) -> Result<Vec<String>, Error> {
        let length = self.file.metadata().map_err(|error| unreadable(&self.path, &error))?.len();
        self.at = length.saturating_sub(TAIL_BYTES_MAX);
        let is_cut = self.at > 0;
        let mut found = self.read()?;
        if is_cut && !found.is_empty() {
            found.remove(0);
        }
        if !follows && !self.rest.is_empty() {
            found.push(text(&std::mem::take(&mut self.rest)));
        }
        Ok(found.split_off(found.len().saturating_sub(lines)))
    }

    /// What was written since, line by line; of a log that was begun anew all of it.
    fn more(&mut self) -> Result<Vec<String>, Error> {
        match std::fs::metadata(&self.path) {
            Ok(found) if found.len() < self.at => {
                // What was still written to the old one is read before the new one.
                let mut lines = self.read()?;
                match File::open(&self.path) {
                    Ok(file) => (self.file, self.at) = (file, 0),
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(lines),
                    Err(error) => return Err(unreadable(&self.path, &error)),
                }
                lines.append(&mut self.read()?);
                Ok(lines)
            }
            // Between the old one and the new one there is none for a moment.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            _ => self.read(),
        }
    }

    fn read(&mut self) -> Result<Vec<String>, Error> {
        let failed = |error: &std::io::Error| unreadable(&self.path, error);
        self.file.seek(SeekFrom::Start(self.at)).map_err(|error| failed(&error))?;
        let mut bytes = Vec::new();
        (&self.file).take(TAIL_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        self.at += bytes.len() as u64;
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            for piece in part.chunks(LINE_BYTES_MAX) {
                self.rest.extend_from_slice(piece);
                if piece.ends_with(b"\n") || self.rest.len() >= LINE_BYTES_MAX {
                    lines.push(text(&std::mem::take(&mut self.rest)));
                }
            }
        }
        Ok(lines)
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(Code::Failed, format!("the log {} cannot be read: {error}", path.display()))
}
