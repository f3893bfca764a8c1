//! The body of one message, without its framing, and its end.

use std::io::{self, Read, Write};

/// Bytes of the longest line between chunks.
const LINE_BYTES_MAX: usize = 8 * 1024;
/// Lines behind the last chunk.
const TRAILERS_MAX: usize = 64;

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
    Chunk(u64),
    Nothing,
}

/// Reads a body and nothing behind it; what is between chunks is left out, and so is what trails them.
pub(super) struct Body<R> {
    source: R,
    left: Left,
}

impl<R: Read> Body<R> {
    pub(super) const fn new(source: R, framing: Framing) -> Self {
        let left = match framing {
            Framing::Length(bytes) => Left::Bytes(bytes),
            Framing::Chunked => Left::Chunk(0),
        };
        Self { source, left }
    }

    fn some(&mut self, buffer: &mut [u8], most: u64) -> io::Result<usize> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        match self.source.read(buffer.get_mut(..most).unwrap_or_default())? {
            0 if most > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }

    /// The next line between chunks, without its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while !line.ends_with(b"\r\n") {
            if line.len() >= LINE_BYTES_MAX || self.source.read(&mut byte)? == 0 {
                return Err(broken());
            }
            line.extend_from_slice(&byte);
        }
        line.truncate(line.len().saturating_sub(2));
        Ok(line)
    }

    /// Bytes of the next chunk; after the last, what trails it is read away.
    fn chunk(&mut self) -> io::Result<u64> {
        let line = self.line()?;
        let text = std::str::from_utf8(&line).map_err(|_| broken())?;
        let digits = text.split(';').next().unwrap_or_default().trim_end_matches([' ', '\t']);
        if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(broken());
        }
        let size = u64::from_str_radix(digits, 16).map_err(|_| broken())?;
        if size == 0 {
            for _ in 0..TRAILERS_MAX {
                if self.line()?.is_empty() {
                    return Ok(0);
                }
            }
            return Err(broken());
        }
        Ok(size)
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a chunk of the body does not say how long it is")
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Left::Chunk(0) = self.left {
            self.left = match self.chunk()? {
                0 => Left::Nothing,
                size => Left::Chunk(size),
            };
        }
        match self.left {
            Left::Bytes(0) | Left::Nothing => Ok(0),
            Left::Bytes(left) => {
                let n = self.some(buffer, left)?;
                self.left = Left::Bytes(left.saturating_sub(n as u64));
                Ok(n)
            }
            Left::Chunk(left) => {
                let n = self.some(buffer, left)?;
                let left = left.saturating_sub(n as u64);
                self.left = Left::Chunk(left);
                if left == 0 && !self.line()?.is_empty() {
                    return Err(broken());
                }
                Ok(n)
            }
        }
    }
}

/// Writes a body with its framing.
pub(super) struct Framed<W> {
    sink: W,
    chunked: bool,
}

impl<W: Write> Framed<W> {
    pub(super) const fn new(sink: W, framing: Option<Framing>) -> Self {
        Self { sink, chunked: matches!(framing, Some(Framing::Chunked)) }
    }

    pub(super) fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        match (bytes, self.chunked) {
            ([], _) => Ok(()),
            (bytes, false) => self.sink.write_all(bytes),
            (bytes, true) => {
                self.sink.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
                self.sink.write_all(bytes)?;
                self.sink.write_all(b"\r\n")
            }
        }
    }

    /// The end of a body that came whole.
    pub(super) fn end(mut self) -> io::Result<()> {
        if self.chunked {
            self.sink.write_all(b"0\r\n\r\n")?;
        }
        self.sink.flush()
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
    fn a_body_ends_where_it_says_and_is_framed_anew() {
        let chunked = b"5\r\nhello\r\n1a;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nX-A: b\r\n\r\n";
        for step in [1, 2, 7, 100] {
            let more = [&chunked[..], b"GET / HTTP/1.1\r\n\r\n"].concat();
            let whole = body(&more, Framing::Chunked, step).unwrap();
            assert_eq!(whole, b"helloabcdefghijklmnopqrstuvwxyz", "{step}");
            assert_eq!(body(&more, Framing::Length(3), step).unwrap(), b"5\r\n", "{step}");
            assert_eq!(body(&more, Framing::Length(0), step).unwrap(), b"", "{step}");
            let mut again = Vec::new();
            let mut framed = Framed::new(&mut again, Some(Framing::Chunked));
            whole.chunks(step).for_each(|piece| framed.piece(piece).unwrap());
            framed.end().unwrap();
            assert_eq!(body(&again, Framing::Chunked, 3).unwrap(), whole);
        }
    }

    #[test]
    fn what_does_not_say_how_long_it_is_goes_no_further() {
        for broken in [
            "",
            "5",
            "5\r\nhel",
            "5\r\nhelloX\r\n0\r\n\r\n",
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "+1\r\n",
            "5\nhello",
            "ffffffffffffffff\r\n",
            "0\r\n",
        ] {
            assert!(body(broken.as_bytes(), Framing::Chunked, 3).is_err(), "{broken}");
        }
        assert!(body(b"ab", Framing::Length(3), 1).is_err());
    }
}
