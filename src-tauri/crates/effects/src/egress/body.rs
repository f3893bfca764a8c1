//! The body of one request, byte for byte as it is sent, and its end.

use std::io::{self, Read};

/// Bytes of the longest line between chunks.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// How a body says where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After a chunk of none and what trails it.
    Chunked,
}

enum Left {
    Bytes(u64),
    Size,
    /// Of a chunk, with the line break behind it.
    Chunk(u64),
    Trailer,
    Nothing,
}

/// Reads a body and nothing behind it.
pub(super) struct Body<R> {
    source: R,
    left: Left,
    /// A line that was read and not handed on yet.
    line: Vec<u8>,
}

impl<R: Read> Body<R> {
    pub(super) const fn new(source: R, framing: Framing) -> Self {
        let left = match framing {
            Framing::Length(bytes) => Left::Bytes(bytes),
            Framing::Chunked => Left::Size,
        };
        Self { source, left, line: Vec::new() }
    }

    fn some(&mut self, buffer: &mut [u8], most: u64) -> io::Result<usize> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        match self.source.read(buffer.get_mut(..most).unwrap_or_default())? {
            0 if most > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }

    /// The next line between chunks, and what comes after it.
    fn line(&mut self) -> io::Result<()> {
        let broken =
            || io::Error::new(io::ErrorKind::InvalidData, "a chunk of the body does not say how long it is");
        let mut byte = [0];
        while !self.line.ends_with(b"\r\n") {
            if self.line.len() >= LINE_BYTES_MAX || self.source.read(&mut byte)? == 0 {
                return Err(broken());
            }
            self.line.extend_from_slice(&byte);
        }
        let text = std::str::from_utf8(&self.line).map_err(|_| broken())?.trim_end_matches("\r\n");
        self.left = match self.left {
            Left::Size => {
                let digits = text.split(';').next().unwrap_or_default().trim_end();
                if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(broken());
                }
                match u64::from_str_radix(digits, 16).map_err(|_| broken())? {
                    0 => Left::Trailer,
                    size => Left::Chunk(size.saturating_add(2)),
                }
            }
            _ if text.is_empty() => Left::Nothing,
            _ => Left::Trailer,
        };
        Ok(())
    }
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() && matches!(self.left, Left::Size | Left::Trailer) {
            self.line()?;
        }
        if !self.line.is_empty() {
            let n = self.line.len().min(buffer.len());
            let handed: Vec<u8> = self.line.drain(..n).collect();
            buffer.get_mut(..n).unwrap_or_default().copy_from_slice(&handed);
            return Ok(n);
        }
        match self.left {
            Left::Bytes(0) | Left::Nothing | Left::Size | Left::Trailer => Ok(0),
            Left::Bytes(left) => {
                let n = self.some(buffer, left)?;
                self.left = Left::Bytes(left.saturating_sub(n as u64));
                Ok(n)
            }
            Left::Chunk(left) => {
                let n = self.some(buffer, left)?;
                let left = left.saturating_sub(n as u64);
                self.left = if left == 0 { Left::Size } else { Left::Chunk(left) };
                Ok(n)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives no more than so many bytes at once.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(buffer.len());
            self.0.read(&mut buffer[..n])
        }
    }

    fn body(bytes: &[u8], framing: Framing, step: usize) -> io::Result<Vec<u8>> {
        let mut read = Vec::new();
        Body::new(Slow(bytes, step), framing).read_to_end(&mut read).map(|_| read)
    }

    #[test]
    fn a_body_ends_where_it_says_and_what_follows_stays() {
        let chunked = b"5\r\nhello\r\n1a;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nX-A: b\r\n\r\n";
        for step in [1, 2, 7, 100] {
            let more = [&chunked[..], b"GET / HTTP/1.1\r\n\r\n"].concat();
            assert_eq!(body(&more, Framing::Chunked, step).unwrap(), chunked, "{step}");
            assert_eq!(body(&more, Framing::Length(3), step).unwrap(), b"5\r\n", "{step}");
            assert_eq!(body(&more, Framing::Length(0), step).unwrap(), b"", "{step}");
        }
    }

    #[test]
    fn what_does_not_say_how_long_it_is_goes_no_further() {
        for broken in
            ["", "5", "5\r\nhel", "\r\n", "x\r\n", "-1\r\n", "5\nhello", "ffffffffffffffff\r\n", "0\r\n"]
        {
            assert!(body(broken.as_bytes(), Framing::Chunked, 3).is_err(), "{broken}");
        }
        assert!(body(b"ab", Framing::Length(3), 1).is_err());
    }
}
