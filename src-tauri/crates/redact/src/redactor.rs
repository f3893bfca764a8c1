//! Finding values and taking them out.

use crate::squeeze::{Squeezed, squeezed};
use crate::{Error, VALUE_BYTES_MAX, VALUE_BYTES_MIN, forms, shapes};
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use zeroize::Zeroizing;

/// What was taken out: how often, by `secret:HANDLE` or the name of a shape.
pub type Found = BTreeMap<String, u32>;

/// Something without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean<T> {
    /// What is left.
    pub rest: T,
    /// What was taken out.
    pub found: Found,
}

impl<T> Clean<T> {
    /// One line that says what is missing, or none when nothing is.
    pub fn summary(&self) -> Option<String> {
        summary(&self.found)
    }
}

/// As [`Clean::summary`].
pub(crate) fn summary(found: &Found) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let kinds: Vec<String> = found.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    Some(format!("taken out because they are secrets or look like them: {}", kinds.join(", ")))
}

/// What stands where a value was.
pub fn placeholder(handle: &str) -> String {
    format!("[secret:{handle}]")
}

/// A place of a value: from, to, whose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) to: usize,
    longest: usize,
    owner: usize,
}

/// Knows values and shapes.
#[derive(Default)]
pub struct Redactor {
    finder: Option<AhoCorasick>,
    owners: Vec<usize>,
    handles: Vec<String>,
    /// Bytes of the longest form.
    pub(crate) longest: usize,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.handles.len())
    }
}

/// Refuses a value that cannot be searched for.
pub(crate) fn check(handle: &str, value: &[u8]) -> Result<(), Error> {
    let (handle, found) = (handle.to_owned(), squeezed(value).len());
    if found < VALUE_BYTES_MIN {
        return Err(Error::TooShort { handle, found });
    }
    if value.len() > VALUE_BYTES_MAX {
        return Err(Error::TooLong { handle, found: value.len() });
    }
    Ok(())
}

impl Redactor {
    /// A redactor of these values, by their handles, and of all shapes.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::TooLong`], [`Error::Search`].
    pub fn new(secrets: impl IntoIterator<Item = (String, Zeroizing<Vec<u8>>)>) -> Result<Self, Error> {
        let mut all: Vec<Zeroizing<Vec<u8>>> = Vec::new();
        let (mut owners, mut handles) = (Vec::new(), Vec::new());
        for (handle, value) in secrets {
            check(&handle, &value)?;
            for form in forms::forms(&value) {
                owners.push(handles.len());
                all.push(form.into());
            }
            handles.push(handle);
        }
        let longest = all.iter().map(|form| form.len()).max().unwrap_or(0);
        let finder = if all.is_empty() {
            None
        } else {
            let patterns = all.iter().map(|form| form.as_slice());
            Some(AhoCorasick::new(patterns).map_err(|e| Error::Search(e.to_string()))?)
        };
        Ok(Self { finder, owners, handles, longest })
    }

    /// Whether this value could be searched for.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::TooLong`].
    pub fn check(handle: &str, value: &[u8]) -> Result<(), Error> {
        check(handle, value)
    }

    /// The handles whose values it knows.
    pub fn handles(&self) -> &[String] {
        &self.handles
    }

    /// Whether it knows no value.
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    pub(crate) fn spans(&self, bytes: &[u8]) -> Vec<Span> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let squeezed = Squeezed::of(bytes);
        let mut spans: Vec<Span> = finder
            .find_overlapping_iter(&*squeezed.bytes)
            .filter(|found| !found.is_empty())
            .map(|found| Span {
                from: squeezed.origin(found.start()),
                to: squeezed.origin(found.end() - 1) + 1,
                longest: found.len(),
                owner: self.owners.get(found.pattern().as_usize()).copied().unwrap_or_default(),
            })
            .collect();
        spans.sort_by_key(|span| (span.from, span.to));
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                // A value within another one, or two that overlap: what is left of neither may stay.
                Some(last) if span.from < last.to => {
                    last.to = last.to.max(span.to);
                    if span.longest > last.longest {
                        (last.longest, last.owner) = (span.longest, span.owner);
                    }
                }
                _ => merged.push(span),
            }
        }
        merged
    }

    pub(crate) fn handle(&self, span: &Span) -> &str {
        self.handles.get(span.owner).map_or("", String::as_str)
    }

    /// The handles whose values stand in these bytes.
    pub fn holds(&self, bytes: &[u8]) -> BTreeSet<String> {
        self.spans(bytes).iter().map(|span| self.handle(span).to_owned()).collect()
    }

    /// Bytes without values; shapes stay.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Clean<Cow<'a, [u8]>> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return Clean { rest: Cow::Borrowed(bytes), found: Found::new() };
        }
        let (mut rest, mut at, mut found) = (Vec::with_capacity(bytes.len()), 0, Found::new());
        for span in &spans {
            let handle = self.handle(span);
            rest.extend_from_slice(bytes.get(at..span.from).unwrap_or_default());
            rest.extend_from_slice(placeholder(handle).as_bytes());
            *found.entry(format!("secret:{handle}")).or_default() += 1;
            at = span.to;
        }
        rest.extend_from_slice(bytes.get(at..).unwrap_or_default());
        Clean { rest: Cow::Owned(rest), found }
    }

    /// Text without values; shapes stay.
    pub fn values<'a>(&self, text: &'a str) -> Clean<Cow<'a, str>> {
        let clean = self.bytes(text.as_bytes());
        let rest = match clean.rest {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        };
        Clean { rest, found: clean.found }
    }

    /// Text without values and without what looks like a key.
    pub fn text<'a>(&self, text: &'a str) -> Clean<Cow<'a, str>> {
        let mut clean = self.values(text);
        if let Some((rest, found)) = shapes::take_out(&clean.rest) {
            clean.rest = Cow::Owned(rest);
            clean.found.extend(found);
        }
        clean
    }
}
