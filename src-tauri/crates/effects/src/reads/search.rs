//! Lines that match a regular expression.
//!
//! Lines are shown one by one, so secrets are taken out with the whole file at hand, and before it is asked whether a line
//! matches: whoever asks often enough would else learn what is not shown.

use super::walk::{Secrets, Unread, unread_json, walk};
use crate::workspace::entry::Kind;
use crate::{Error, SEARCH_LINE_BYTES_MAX, SEARCH_MATCHES_MAX, Workspace};
use globset::{GlobBuilder, GlobMatcher};
use model::RelPath;
use model::limits::LIST_ENTRIES_MAX;
use redact::{Found, KeyLines, Redactor, Stream};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// Bytes at the start of a file in which a NUL makes it binary.
const BINARY_LOOK: u64 = 8 * 1024;
/// Bytes of one line that are searched; a longer line is searched in its beginning, and said.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

struct Search {
    redactor: Arc<Redactor>,
    pattern: Regex,
    matches: Vec<Value>,
    binary: Vec<String>,
    long_lines: Vec<String>,
    unread: Vec<Unread>,
    redacted: Found,
    cut: bool,
}

pub(crate) fn search(
    (workspace, redactor): (&Workspace, Arc<Redactor>),
    path: &RelPath,
    pattern: &str,
    glob: Option<&str>,
    names_secret: bool,
) -> Result<Value, Error> {
    let regex = RegexBuilder::new(pattern).size_limit(4 << 20).dfa_size_limit(8 << 20).build();
    let pattern = regex.map_err(|e| Error::Request(format!("`{pattern}` is no regular expression: {e}")))?;
    let glob = glob.map(matcher).transpose()?;
    let mut search = Search {
        redactor,
        pattern,
        matches: vec![],
        binary: vec![],
        long_lines: vec![],
        unread: vec![],
        redacted: Found::new(),
        cut: false,
    };
    let mut files = vec![path.clone()];
    if workspace.stat(path)?.kind == Kind::Folder {
        let mut found = walk(workspace, path, true, LIST_ENTRIES_MAX)?;
        if !names_secret {
            found.without_secrets(Secrets::Unread);
        }
        search.cut = found.cut;
        search.unread = found.unread;
        files = found.entries.into_iter().filter(|e| e.stat.kind == Kind::File).map(|e| e.path).collect();
    }
    for file in files.iter().filter(|file| glob.as_ref().is_none_or(|g| fits(g, file))) {
        if search.matches.len() >= SEARCH_MATCHES_MAX {
            search.cut = true;
            break;
        }
        if let Err(error) = search.file(workspace, file) {
            search.unread.push(Unread { path: file.clone(), reason: error.to_string() });
        }
    }
    Ok(search.answer(path))
}

fn matcher(glob: &str) -> Result<GlobMatcher, Error> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    Ok(built.map_err(|e| Error::Request(format!("`{glob}` is no glob: {e}")))?.compile_matcher())
}

/// A glob without `/` is about file names, one with `/` about whole paths.
fn fits(glob: &GlobMatcher, path: &RelPath) -> bool {
    let bytes = if glob.glob().glob().contains('/') { path.as_bytes() } else { path.file_name() };
    match crate::workspace::names::os_name(bytes) {
        Ok(name) => glob.is_match(std::path::Path::new(&name)),
        Err(_) => false,
    }
}

impl Search {
    fn file(&mut self, workspace: &Workspace, path: &RelPath) -> Result<(), Error> {
        let fail = |e| Error::io("reading", path, e);
        let (file, _) = workspace.parent(path)?.open_file(path.file_name(), path)?;
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        let head = reader.fill_buf().map_err(fail)?;
        if head.iter().take(BINARY_LOOK as usize).any(|b| *b == 0) {
            self.binary.push(path.to_string());
            return Ok(());
        }
        let mut reader = BufReader::with_capacity(64 * 1024, Masked::new(reader, &self.redactor));
        let mut key = KeyLines::default();
        let mut line = Vec::new();
        let mut number = 0u64;
        loop {
            line.clear();
            let n = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(fail)?;
            if n == 0 {
                return Ok(());
            }
            number += 1;
            if line.last() != Some(&b'\n') && n as u64 == LINE_BYTES_MAX {
                self.long_lines.push(format!("{path}:{number}"));
                skip_line(&mut reader).map_err(fail)?;
            }
            if !self.line(path, number, key.line(&line)) {
                return Ok(());
            }
        }
    }

    /// False when no more is wanted.
    fn line(&mut self, path: &RelPath, number: u64, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.pattern.is_match(line) {
            return true;
        }
        let text = String::from_utf8_lossy(line);
        let clean = self.redactor.text(&text);
        if !clean.found.is_empty() && !self.pattern.is_match(clean.rest.as_bytes()) {
            return true;
        }
        if self.matches.len() >= SEARCH_MATCHES_MAX {
            self.cut = true;
            return false;
        }
        for (kind, times) in clean.found {
            *self.redacted.entry(kind).or_default() += times;
        }
        let shown =
            clean.rest.get(..clean.rest.floor_char_boundary(SEARCH_LINE_BYTES_MAX)).unwrap_or_default();
        let mut found = json!({"path": path.to_string(), "line": number, "text": shown});
        if let (true, Some(object)) = (clean.rest.len() > SEARCH_LINE_BYTES_MAX, found.as_object_mut()) {
            object.insert("line_cut".to_owned(), Value::Bool(true));
        }
        self.matches.push(found);
        true
    }

    fn answer(self, path: &RelPath) -> Value {
        let mut answer = json!({
            "op": "search",
            "path": path.to_string(),
            "matches": self.matches,
            "cut": self.cut,
            "binary": self.binary,
            "long_lines": self.long_lines,
            "unreadable": unread_json(&self.unread),
        });
        if let (false, Some(object)) = (self.redacted.is_empty(), answer.as_object_mut()) {
            object.insert("redacted".to_owned(), json!(self.redacted));
        }
        answer
    }
}

/// A file without values of secrets, line for line.
struct Masked<R> {
    file: R,
    stream: Stream,
    ready: Vec<u8>,
    given: usize,
    over: bool,
}

impl<R: Read> Masked<R> {
    fn new(file: R, redactor: &Arc<Redactor>) -> Self {
        let stream = Stream::by_line(Arc::clone(redactor));
        Self { file, stream, ready: Vec::new(), given: 0, over: false }
    }
}

impl<R: Read> Read for Masked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut piece = [0; 16 * 1024];
        while self.given == self.ready.len() && !self.over {
            let n = self.file.read(&mut piece)?;
            self.over = n == 0;
            self.ready = match n {
                0 => self.stream.end(),
                n => self.stream.push(piece.get(..n).unwrap_or_default()),
            };
            self.given = 0;
        }
        let rest = self.ready.get(self.given..).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer.get_mut(..n).unwrap_or_default().copy_from_slice(rest.get(..n).unwrap_or_default());
        self.given += n;
        Ok(n)
    }
}

fn skip_line(reader: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let (used, ended) = match reader.fill_buf()? {
            [] => return Ok(()),
            bytes => match bytes.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        reader.consume(used);
        if ended {
            return Ok(());
        }
    }
}
