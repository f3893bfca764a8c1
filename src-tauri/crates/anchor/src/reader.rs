//! Bytes of strangers, read from front to back.

use crate::Error;

/// What is left to read of something that is called `what`.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    pub(crate) what: &'static str,
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { what, left: bytes }
    }

    pub(crate) const fn left(&self) -> &'a [u8] {
        self.left
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, left) = self.left.split_at_checked(count).ok_or_else(|| self.bad("it ends too early"))?;
        self.left = left;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, left) =
            self.left.split_first_chunk::<N>().ok_or_else(|| self.bad("it ends too early"))?;
        self.left = left;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.left.is_empty() { Ok(()) } else { Err(self.bad("bytes follow its end")) }
    }

    /// Bitcoin's compact size, in its shortest form and at most `max`.
    pub(crate) fn compact(&mut self, max: usize) -> Result<usize, Error> {
        let (value, least) = match self.byte()? {
            0xfd => (u64::from(u16::from_le_bytes(self.array()?)), 0xfd),
            0xfe => (u64::from(u32::from_le_bytes(self.array()?)), 0x1_0000),
            0xff => (u64::from_le_bytes(self.array()?), 0x1_0000_0000),
            small => (u64::from(small), 0),
        };
        if value < least {
            return Err(self.bad("a count is not in its shortest form"));
        }
        usize::try_from(value)
            .ok()
            .filter(|value| *value <= max)
            .ok_or_else(|| self.bad("a count is too large"))
    }

    pub(crate) fn bad(&self, reason: &str) -> Error {
        Error::malformed(self.what, reason)
    }
}
