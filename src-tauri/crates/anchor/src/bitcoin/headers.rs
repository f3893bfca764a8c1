//! A file of headers: each has the work that it names and stands on the one before it.

use super::{HEADER_BYTES, Header, target};
use crate::Error;

const FILE: &str = "file of Bitcoin block headers";
/// Headers that are read of one file: twice what Bitcoin had in 2026.
pub const HEADERS_MAX: usize = 2_000_000;
/// The hash of the first block of Bitcoin's own chain, in the order of bytes that hashing gives.
const GENESIS: [u8; 32] = [
    0x6f, 0xe2, 0x8c, 0x0a, 0xb6, 0xf1, 0xb3, 0x72, 0xc1, 0xa6, 0xa2, 0x46, 0xae, 0x63, 0xf7, 0x4f, 0x93,
    0x1e, 0x83, 0x65, 0xe1, 0x5a, 0x08, 0x9c, 0x68, 0xd6, 0x19, 0, 0, 0, 0, 0,
];

/// Headers, one on top of the other. The first is the start, and taken on trust unless it is Bitcoin's own first block.
#[derive(Debug, Clone)]
pub struct Headers {
    first_height: Option<u64>,
    headers: Vec<Header>,
}

/// Where a header stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The header.
    pub header: &'a Header,
    /// Its height, where the file tells.
    pub height: Option<u64>,
    /// Headers on top of it, itself among them.
    pub depth: u64,
}

impl Headers {
    /// Reads headers of 80 bytes one after the other, or a line of hex for each. Before lines of hex, a line `height N` may say
    /// the height of the first; a first header with nothing before it has height 0.
    ///
    /// # Errors
    /// There is none, one is malformed or has not the work that it names, one does not stand on the one before it, or a chain
    /// that begins with Bitcoin's own first block changes its targets otherwise than Bitcoin does.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let (named, headers) = if is_text(bytes) { of_lines(bytes)? } else { (None, of_bytes(bytes)?) };
        let first = headers.first().ok_or_else(|| Error::malformed(FILE, "it holds no header"))?;
        let first_height = if first.previous == [0; 32] { Some(0) } else { named };
        if named.is_some() && named != first_height {
            return Err(Error::malformed(
                FILE,
                "its first header has nothing before it and is not at the height it says",
            ));
        }
        for (number, pair) in headers.windows(2).enumerate() {
            if let [below, above] = pair
                && above.previous != below.hash
            {
                return Err(Error::wrong(
                    FILE,
                    format!("header {} does not stand on the one before it", number + 2),
                ));
            }
        }
        let read = Self { first_height, headers };
        if read.begins_with_genesis() {
            read.targets()?
        }
        Ok(read)
    }

    /// Whether the first is the first block of Bitcoin's own chain.
    #[must_use]
    pub fn begins_with_genesis(&self) -> bool {
        self.headers.first().is_some_and(|first| first.hash == GENESIS)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::try_from(self.headers.len()).unwrap_or(u64::MAX)
    }

    /// The place of the header at this height, where the file tells heights and reaches so far.
    #[must_use]
    pub fn at(&self, height: u64) -> Option<Place<'_>> {
        let index = usize::try_from(height.checked_sub(self.first_height?)?).ok()?;
        (index < self.headers.len()).then(|| self.place(index)).flatten()
    }

    /// The place of the header with this hash.
    #[must_use]
    pub fn of_hash(&self, hash: &[u8; 32]) -> Option<Place<'_>> {
        self.place(self.headers.iter().position(|header| header.hash == *hash)?)
    }

    /// The place of the first header with this Merkle root.
    #[must_use]
    pub fn of_merkle_root(&self, root: &[u8; 32]) -> Option<Place<'_>> {
        self.place(self.headers.iter().position(|header| header.merkle_root == *root)?)
    }

    /// How many hashes it takes on average to make the headers from this depth up to the last.
    #[must_use]
    pub fn work_on(&self, depth: u64) -> f64 {
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        self.headers.iter().rev().take(depth).map(Header::work).sum()
    }

    fn place(&self, index: usize) -> Option<Place<'_>> {
        let above = u64::try_from(index).ok()?;
        Some(Place {
            header: self.headers.get(index)?,
            height: self.first_height.map(|first| first.saturating_add(above)),
            depth: self.count().saturating_sub(above),
        })
    }

    /// Whether each target follows from those before it by the rule of Bitcoin's own chain.
    fn targets(&self) -> Result<(), Error> {
        let mut wanted = target::EASIEST;
        let mut began = 0_u32;
        let mut before: Option<&Header> = None;
        for (height, header) in (0_u64..).zip(&self.headers) {
            if height.is_multiple_of(target::PERIOD) {
                if let Some(last) = before {
                    wanted = target::next_bits(last.bits, i64::from(last.time) - i64::from(began));
                }
                began = header.time;
            }
            if header.bits != wanted {
                return Err(Error::wrong(
                    FILE,
                    format!("the block at height {height} names another target than Bitcoin had"),
                ));
            }
            before = Some(header);
        }
        Ok(())
    }
}

/// Whether the bytes are lines: a header that is only digits in its first 80 bytes has no work.
fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"height ")
        || bytes.get(..HEADER_BYTES).is_some_and(|head| head.iter().all(u8::is_ascii_hexdigit))
}

fn of_bytes(bytes: &[u8]) -> Result<Vec<Header>, Error> {
    let (headers, rest) = bytes.as_chunks::<HEADER_BYTES>();
    if !rest.is_empty() || headers.len() > HEADERS_MAX {
        return Err(Error::malformed(FILE, "its length is not that of up to 2,000,000 headers of 80 bytes"));
    }
    headers.iter().map(|header| Header::read(header)).collect()
}

fn of_lines(bytes: &[u8]) -> Result<(Option<u64>, Vec<Header>), Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::malformed(FILE, "it is not text"))?;
    let mut lines = text.lines().peekable();
    let mut named = None;
    if let Some(height) = lines.peek().and_then(|line| line.strip_prefix("height ")) {
        let height = height.parse().map_err(|_| Error::malformed(FILE, "its first line names no height"))?;
        named = Some(height);
        lines.next();
    }
    let mut headers = Vec::new();
    for line in lines {
        if headers.len() >= HEADERS_MAX {
            return Err(Error::malformed(FILE, "it has more than 2,000,000 lines"));
        }
        let mut header = [0; HEADER_BYTES];
        hex::decode_to_slice(line.trim_end(), &mut header).map_err(|_| {
            Error::malformed(FILE, format!("header {} is not 160 hex digits", headers.len() + 1))
        })?;
        headers.push(Header::read(&header)?);
    }
    Ok((named, headers))
}
