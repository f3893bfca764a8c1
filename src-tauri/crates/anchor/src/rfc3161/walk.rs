//! DER of strangers, one element after the other, with the bytes of each as they are: what is signed is never written anew.

use crate::Error;
use der::{Decode as _, Reader as _, SliceReader, Tag, TagNumber, asn1::AnyRef, asn1::ObjectIdentifier};

/// The elements inside one element, front to back.
pub(super) struct Walk<'a> {
    what: &'static str,
    reader: SliceReader<'a>,
}

/// One element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    /// What kind of element.
    pub(super) tag: Tag,
    /// What is in it.
    pub(super) value: &'a [u8],
    /// All its bytes.
    pub(super) raw: &'a [u8],
}

/// The tag `[number]` around other elements.
pub(super) const fn context(number: u32) -> Tag {
    Tag::ContextSpecific { constructed: true, number: TagNumber(number) }
}

/// The tag `[number]` in place of a simple element's own.
pub(super) const fn context_simple(number: u32) -> Tag {
    Tag::ContextSpecific { constructed: false, number: TagNumber(number) }
}

impl<'a> Walk<'a> {
    pub(super) fn new(what: &'static str, bytes: &'a [u8]) -> Result<Self, Error> {
        let reader = SliceReader::new(bytes).map_err(|_| Error::malformed(what, "it is too long"))?;
        Ok(Self { what, reader })
    }

    /// The one element that these bytes are, of this tag, opened.
    pub(super) fn whole(what: &'static str, bytes: &'a [u8], tag: Tag) -> Result<Self, Error> {
        let mut outer = Self::new(what, bytes)?;
        let inner = outer.open(tag)?;
        outer.end()?;
        Ok(inner)
    }

    pub(super) fn next(&mut self) -> Result<Item<'a>, Error> {
        let bad = |_| Error::malformed(self.what, "it is not DER, or ends too early");
        let raw = self.reader.tlv_bytes().map_err(bad)?;
        let any = AnyRef::from_der(raw).map_err(bad)?;
        Ok(Item { tag: der::Tagged::tag(&any), value: any.value(), raw })
    }

    /// The next element, if there is one with this tag.
    pub(super) fn optional(&mut self, tag: Tag) -> Result<Option<Item<'a>>, Error> {
        if self.is_empty() || Tag::peek(&self.reader).ok() != Some(tag) {
            return Ok(None);
        }
        self.next().map(Some)
    }

    /// The next element, which has this tag.
    pub(super) fn expect(&mut self, tag: Tag) -> Result<Item<'a>, Error> {
        let what = self.what;
        self.optional(tag)?
            .ok_or_else(|| Error::malformed(what, format!("it has no {tag} where one belongs")))
    }

    /// The elements inside the next one, which has this tag.
    pub(super) fn open(&mut self, tag: Tag) -> Result<Self, Error> {
        let item = self.expect(tag)?;
        Self::new(self.what, item.value)
    }

    pub(super) fn oid(&mut self) -> Result<ObjectIdentifier, Error> {
        let item = self.expect(Tag::ObjectIdentifier)?;
        ObjectIdentifier::from_bytes(item.value).map_err(|_| self.bad("an object identifier is malformed"))
    }

    /// An algorithm: its identifier, and its parameters where they are more than NULL.
    pub(super) fn algorithm(&mut self) -> Result<Algorithm<'a>, Error> {
        let mut inner = self.open(Tag::Sequence)?;
        let oid = inner.oid()?;
        let parameters = if inner.is_empty() { None } else { Some(inner.next()?) };
        inner.end()?;
        Ok(Algorithm {
            oid,
            parameters: parameters.filter(|item| item.tag != Tag::Null).map(|item| item.raw),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reader.is_finished()
    }

    pub(super) fn end(&self) -> Result<(), Error> {
        if self.is_empty() { Ok(()) } else { Err(self.bad("elements follow its end")) }
    }

    pub(super) fn bad(&self, reason: &str) -> Error {
        Error::malformed(self.what, reason)
    }
}

/// An algorithm and what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Algorithm<'a> {
    pub(super) oid: ObjectIdentifier,
    pub(super) parameters: Option<&'a [u8]>,
}

/// A whole number that is not negative and in its shortest form; none when it is larger than 64 bits.
pub(super) fn number(what: &'static str, value: &[u8]) -> Result<Option<u64>, Error> {
    let digits = match value {
        [] => return Err(Error::malformed(what, "a number has no bytes")),
        [0, second, ..] if *second < 0x80 => {
            return Err(Error::malformed(what, "a number is not in its shortest form"));
        }
        [0, digits @ ..] => digits,
        [first, ..] if *first >= 0x80 => return Err(Error::malformed(what, "a number is negative")),
        digits => digits,
    };
    let fits = digits.len() <= 8;
    Ok(fits.then(|| digits.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))))
}
