//! How wide and high a picture is, as its header says: read, and nothing of it decoded.

/// Width and height in pixels; none where the header does not say them.
pub fn size_of(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = match super::media_type_of(bytes)? {
        "image/png" => png(bytes),
        "image/jpeg" => jpeg(bytes),
        "image/gif" => gif(bytes),
        _ => webp(bytes),
    };
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

fn at<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from.checked_add(N)?)?.try_into().ok()
}

fn short_be(bytes: &[u8], from: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(at(bytes, from)?)))
}

fn short_le(bytes: &[u8], from: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(at(bytes, from)?)))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(12..16)? == b"IHDR")
        .then_some((u32::from_be_bytes(at(bytes, 16)?), u32::from_be_bytes(at(bytes, 20)?)))
}

/// Segment by segment to the frame's own, which stands before its data.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut from = 2;
    loop {
        let [0xff, marker] = at(bytes, from)? else { return None };
        match marker {
            // A byte that fills, and markers without a length.
            0xff => from = from.checked_add(1)?,
            0x01 | 0xd0..=0xd7 => from = from.checked_add(2)?,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((
                    short_be(bytes, from.checked_add(7)?)?,
                    short_be(bytes, from.checked_add(5)?)?,
                ));
            }
            // Its data, or its end, before any frame.
            0xd8..=0xda => return None,
            _ => {
                let length = usize::try_from(short_be(bytes, from.checked_add(2)?)?).ok()?;
                from = from.checked_add(2)?.checked_add(length.max(2))?;
            }
        }
    }
}

/// The screen, and every frame that reaches further: each is drawn whole.
fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let (mut width, mut height) = (short_le(bytes, 6)?, short_le(bytes, 8)?);
    let mut from = 13 + table(*bytes.get(10)?);
    // What is cut behind its first frames is drawn as far as it is there.
    while let Some(block) = bytes.get(from) {
        let behind = match block {
            0x2c => {
                let Some([left, top, wide, high]) = frame(bytes, from) else { break };
                (width, height) =
                    (width.max(left.saturating_add(wide)), height.max(top.saturating_add(high)));
                let Some(flags) = bytes.get(from.saturating_add(9)) else { break };
                from.saturating_add(11).saturating_add(table(*flags))
            }
            0x21 => from.saturating_add(2),
            _ => break,
        };
        let Some(next) = behind_blocks(bytes, behind) else { break };
        from = next;
    }
    Some((width, height))
}

fn frame(bytes: &[u8], from: usize) -> Option<[u32; 4]> {
    let value = |offset: usize| short_le(bytes, from.checked_add(offset)?);
    Some([value(1)?, value(3)?, value(5)?, value(7)?])
}

/// Bytes of a table of colours, by the flags before it.
const fn table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Where what follows a row of blocks begins, each of which tells its length.
fn behind_blocks(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(from)?);
        from = from.checked_add(1)?.checked_add(length)?;
        if length == 0 {
            return Some(from);
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let triple = |from: usize| {
        let [a, b, c] = at(bytes, from)?;
        u32::from_le_bytes([a, b, c, 0]).checked_add(1)
    };
    match bytes.get(12..16)? {
        b"VP8X" => Some((triple(24)?, triple(27)?)),
        b"VP8 " if bytes.get(23..26)? == [0x9d, 0x01, 0x2a] => {
            Some((short_le(bytes, 26)? & 0x3fff, short_le(bytes, 28)? & 0x3fff))
        }
        b"VP8L" if *bytes.get(20)? == 0x2f => {
            let bits = u32::from_le_bytes(at(bytes, 21)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::size_of;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &size].concat()
    }

    fn webp(chunk: &[u8; 4], payload: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP".as_slice(), chunk, &[0; 4], payload].concat()
    }

    #[test]
    fn each_form_says_how_wide_and_high_it_is() {
        let exif = [b"\xff\xe1\0\x06abcd".as_slice(), b"\xff\xff\xe2\0\x02"].concat();
        let frame = b"\xff\xc2\0\x11\x08\x01\x00\x02\x80\x03";
        let gif =
            b"GIF89a\x10\0\x20\0\x80\0\0abcdef\x21\xf9\x01x\0\x2c\x01\0\x02\0\x00\x01\x40\0\0\x02\x01x\0\x3b";
        for (name, bytes, size) in [
            ("png", png(640, 480), Some((640, 480))),
            ("a png without a size", png(0, 480), None),
            ("a cut png", png(640, 480)[..20].to_vec(), None),
            ("jpeg", [b"\xff\xd8".as_slice(), &exif, frame].concat(), Some((640, 256))),
            ("a jpeg without a frame", [b"\xff\xd8".as_slice(), &exif, b"\xff\xda"].concat(), None),
            ("a jpeg whose segment has no end", b"\xff\xd8\xff\xe1\xff\xffab".to_vec(), None),
            ("gif", gif.to_vec(), Some((257, 66))),
            ("a gif that is cut", gif[..30].to_vec(), Some((16, 32))),
            ("webp, extended", webp(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0"), Some((640, 480))),
            ("webp, lossy", webp(b"VP8 ", b"abc\x9d\x01\x2a\x80\x02\xe0\x41"), Some((640, 480))),
            ("webp, lossless", webp(b"VP8L", b"\x2f\x7f\xc2\x77\0"), Some((640, 480))),
            ("another webp", webp(b"ALPH", b"abcdefghijkl"), None),
            ("no picture", b"<svg width='9'>".to_vec(), None),
        ] {
            assert_eq!(size_of(&bytes), size, "{name}");
        }
    }

    #[test]
    fn no_header_of_a_stranger_is_read_beyond_its_end() {
        let all = [
            png(1, 1),
            webp(b"VP8L", b"\x2f\x7f\xc2\x77\0"),
            b"\xff\xd8\xff\xe1\0\0\xff\xe1\0\0\xff\xc0".to_vec(),
            b"GIF87a\xff\xff\xff\xff\xff\0\0".to_vec(),
        ];
        for bytes in all {
            for end in 0..=bytes.len() {
                let _size = size_of(&bytes[..end]);
            }
        }
    }
}
