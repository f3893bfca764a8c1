//! CRC-32 as zip files carry it (IEEE 802.3). It guards against accidents only; digests do the rest.

const POLYNOMIAL: u32 = 0xEDB8_8320;

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        #[allow(
            clippy::indexing_slicing,
            reason = "evaluated at compile time; out of bounds would not compile"
        )]
        {
            table[byte] = value;
        }
        byte += 1;
    }
    table
}

static TABLE: [u32; 256] = table();

/// A CRC over bytes that arrive in pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crc32(u32);

impl Crc32 {
    pub(crate) const fn new() -> Self {
        Self(u32::MAX)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let [low, ..] = (self.0 ^ u32::from(*byte)).to_le_bytes();
            self.0 = TABLE.get(usize::from(low)).copied().unwrap_or_default() ^ (self.0 >> 8);
        }
    }

    pub(crate) const fn finish(self) -> u32 {
        !self.0
    }

    pub(crate) fn of(bytes: &[u8]) -> u32 {
        let mut crc = Self::new();
        crc.update(bytes);
        crc.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_check_value_comes_out() {
        assert_eq!(Crc32::of(b"123456789"), 0xCBF4_3926);
        assert_eq!(Crc32::of(b""), 0);
    }
}
