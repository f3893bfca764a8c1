//! Bytes without their white space, and the way back to where each stood.

use std::borrow::Cow;

/// Bytes without white space.
pub(crate) fn squeezed(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.iter().any(u8::is_ascii_whitespace) {
        return Cow::Owned(bytes.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect());
    }
    Cow::Borrowed(bytes)
}

/// Squeezed bytes with what was left out.
pub(crate) struct Squeezed<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Before which squeezed byte something is missing, and how much is missing up to there.
    gaps: Vec<(usize, usize)>,
}

impl<'a> Squeezed<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let squeezed = squeezed(bytes);
        if squeezed.len() == bytes.len() {
            return Self { bytes: squeezed, gaps: Vec::new() };
        }
        let (mut gaps, mut kept, mut missing, mut open) = (Vec::new(), 0_usize, 0_usize, false);
        for byte in bytes {
            if byte.is_ascii_whitespace() {
                missing += 1;
                open = true;
                continue;
            }
            if open {
                gaps.push((kept, missing));
                open = false;
            }
            kept += 1;
        }
        Self { bytes: squeezed, gaps }
    }

    /// Where a squeezed byte stands in the whole.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let before = self.gaps.partition_point(|(from, _)| *from <= at);
        let missing = before.checked_sub(1).and_then(|last| self.gaps.get(last)).map_or(0, |(_, n)| *n);
        at + missing
    }
}
