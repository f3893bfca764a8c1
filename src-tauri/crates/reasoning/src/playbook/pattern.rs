//! Regular expressions, globs and paths out of filled-in templates.

use globset::{GlobBuilder, GlobMatcher};
use model::RelPath;
use regex::bytes::{Regex, RegexBuilder};
use std::cell::RefCell;

/// Memory a compiled expression may take: a parameter may hold any expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

thread_local! {
    /// The last expressions that were compiled: a rule is tried on each of many files.
    static COMPILED: RefCell<Vec<(String, Regex)>> = const { RefCell::new(Vec::new()) };
}
/// Expressions that are kept; a playbook has few.
const COMPILED_MAX: usize = 8;

/// A regular expression over bytes; it runs in linear time, whatever it is.
pub fn regex(text: &str) -> Result<Regex, String> {
    let known =
        |all: &Vec<(String, Regex)>| all.iter().find(|(known, _)| known == text).map(|(_, r)| r.clone());
    if let Some(regex) = COMPILED.with_borrow(known) {
        return Ok(regex);
    }
    let regex = compiled(text)?;
    COMPILED.with_borrow_mut(|all| {
        all.truncate(COMPILED_MAX - 1);
        all.insert(0, (text.to_owned(), regex.clone()));
    });
    Ok(regex)
}

fn compiled(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build();
    // The engine draws an arrow under the place over several lines; its last line says what is wrong.
    built.map_err(|e| {
        let words = e.to_string();
        format!(
            "`{text}` is not a regular expression: {}",
            words.lines().last().unwrap_or("it is too large").trim()
        )
    })
}

/// A glob. Without a slash it is about names, with one about paths.
pub fn glob(text: &str) -> Result<Glob, String> {
    let matcher = GlobBuilder::new(text).literal_separator(true).build();
    let matcher = matcher.map_err(|e| format!("`{text}` is not a glob: {}", e.kind()))?.compile_matcher();
    Ok(Glob { matcher, by_path: text.contains('/') })
}

/// A compiled glob.
pub struct Glob {
    matcher: GlobMatcher,
    by_path: bool,
}

impl Glob {
    /// Whether it matches a path, or its name.
    pub fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        let about = if self.by_path { path } else { name };
        self.matcher.is_match(String::from_utf8_lossy(about).as_ref())
    }
}

/// A path as a person writes it: `./`, doubled and trailing slashes do no harm, `..` and `/` in front do.
pub fn path(bytes: &[u8]) -> Result<RelPath, String> {
    if bytes.starts_with(b"/") {
        return Err(format!(
            "`{}` is not a path inside the folder; give it without the `/` in front",
            super::value::readable(bytes)
        ));
    }
    let parts: Vec<&[u8]> =
        bytes.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    RelPath::from_bytes(&parts.join(&b'/')).map_err(|e| e.to_string())
}
