//! Finding values and taking them out.

use crate::shapes::{self, Look};
use crate::whitespace::{Squeezed, squeezed};
use crate::{Error, VALUE_BYTES_MAX, VALUE_BYTES_MIN, encodings};
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use zeroize::Zeroizing;

/// Places that are kept of one block: more there are only in values that repeat themselves.
const PLACES_MAX: usize = 8;

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

/// One encoding of a value that is searched for.
struct Known {
    text: Zeroizing<Vec<u8>>,
    /// Bytes in a row that count as found.
    least: usize,
    owner: usize,
}

/// Knows values and shapes.
///
/// Of each encoding, blocks are searched for that follow each other without a gap and are at most half as long as the
/// part that counts: whatever holds such a part holds one of the blocks whole. From there the match is followed both ways.
#[derive(Default)]
pub struct Redactor {
    finder: Option<AhoCorasick>,
    known: Vec<Known>,
    /// For each block: the encodings it stands in, and where.
    places: Vec<Vec<(usize, usize)>>,
    handles: Vec<String>,
    /// Bytes of the longest form.
    pub(crate) longest: usize,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.handles.len())
    }
}

/// Where what is found ends on both sides: as long as the bytes are those of the encoding.
fn follow(bytes: &[u8], hit: Range<usize>, text: &[u8], at: usize) -> (usize, usize) {
    let (before, behind) = (bytes.get(..hit.start), bytes.get(hit.end..));
    let (text_before, text_behind) = (text.get(..at), text.get(at + hit.len()..));
    let back = before.unwrap_or_default().iter().rev().zip(text_before.unwrap_or_default().iter().rev());
    let on = behind.unwrap_or_default().iter().zip(text_behind.unwrap_or_default());
    let from = hit.start - back.take_while(|(a, b)| a == b).count();
    (from, hit.end + on.take_while(|(a, b)| a == b).count())
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
        let (mut known, mut handles) = (Vec::new(), Vec::new());
        for (handle, value) in secrets {
            check(&handle, &value)?;
            let all = encodings::forms(&value).into_iter();
            known.extend(all.map(|form| Known { text: form.text, least: form.least, owner: handles.len() }));
            handles.push(handle);
        }
        let mut blocks: BTreeMap<&[u8], Vec<(usize, usize)>> = BTreeMap::new();
        for (index, form) in known.iter().enumerate() {
            let size = if form.least == form.text.len() { form.least } else { form.least.div_ceil(2) };
            for (number, block) in form.text.chunks_exact(size.max(1)).enumerate() {
                let places = blocks.entry(block).or_default();
                if places.len() < PLACES_MAX {
                    places.push((index, number * size));
                }
            }
        }
        let finder = match blocks.is_empty() {
            true => None,
            false => Some(AhoCorasick::new(blocks.keys()).map_err(|e| Error::Search(e.to_string()))?),
        };
        let places = blocks.into_values().collect();
        let longest = known.iter().map(|form| form.text.len()).max().unwrap_or(0);
        Ok(Self { finder, known, places, handles, longest })
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
        let mut spans: Vec<Span> = Vec::new();
        // Up to where each encoding was followed already.
        let mut done: BTreeMap<usize, usize> = BTreeMap::new();
        for hit in finder.find_overlapping_iter(&*squeezed.bytes) {
            for (index, at) in self.places.get(hit.pattern().as_usize()).into_iter().flatten() {
                let Some(known) = self.known.get(*index) else { continue };
                if done.get(index).is_some_and(|to| hit.end() <= *to) {
                    continue;
                }
                let (from, to) = follow(&squeezed.bytes, hit.range(), &known.text, *at);
                if to - from < known.least {
                    continue;
                }
                done.insert(*index, to);
                spans.push(Span {
                    from: squeezed.origin(from),
                    to: squeezed.origin(to - 1) + 1,
                    longest: to - from,
                    owner: known.owner,
                });
            }
        }
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
        self.replaced(bytes, false)
    }

    /// As [`Redactor::bytes`]; with `lines`, as many lines as before, each with a placeholder where it lost something.
    pub(crate) fn replaced<'a>(&self, bytes: &'a [u8], lines: bool) -> Clean<Cow<'a, [u8]>> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return Clean { rest: Cow::Borrowed(bytes), found: Found::new() };
        }
        let (mut rest, mut at, mut found) = (Vec::with_capacity(bytes.len()), 0, Found::new());
        for span in &spans {
            let handle = self.handle(span);
            rest.extend_from_slice(bytes.get(at..span.from).unwrap_or_default());
            let gone = bytes.get(span.from..span.to).unwrap_or_default();
            let breaks = if lines { gone.iter().filter(|byte| **byte == b'\n').count() } else { 0 };
            for _ in 0..breaks {
                rest.extend_from_slice(placeholder(handle).as_bytes());
                rest.push(b'\n');
            }
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
        self.shaped(text, Look::Everything)
    }

    /// Text without values and without what is a key by its shape alone; what is one only by the name it is assigned to
    /// stays.
    pub fn keys<'a>(&self, text: &'a str) -> Clean<Cow<'a, str>> {
        self.shaped(text, Look::Keys)
    }

    fn shaped<'a>(&self, text: &'a str, look: Look) -> Clean<Cow<'a, str>> {
        let mut clean = self.values(text);
        if let Some((rest, found)) = shapes::take_out(&clean.rest, look) {
            clean.rest = Cow::Owned(rest);
            clean.found.extend(found);
        }
        clean
    }
}
