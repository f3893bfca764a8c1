//! Targets: how small a hash has to be, and how they follow one another.

/// Blocks between two targets.
pub(super) const PERIOD: u64 = 2016;
/// What these blocks are to take, in seconds.
const PERIOD_S: u64 = 14 * 24 * 60 * 60;
/// The easiest target of Bitcoin's own chain.
pub(super) const EASIEST: u32 = 0x1d00_ffff;

/// A number of 256 bits, from the highest byte to the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target([u8; 32]);

impl Target {
    /// From the compact form; none when it is negative, zero or too large.
    pub(crate) fn of(bits: u32) -> Option<Self> {
        let [exponent, high, middle, low] = bits.to_be_bytes();
        if high >= 0x80 {
            return None;
        }
        let mut number = [0; 32];
        let exponent = usize::from(exponent);
        for (place, byte) in [high, middle, low].into_iter().enumerate() {
            // Byte `place` of three counts from `exponent` bytes above the end. What falls below it is cut off.
            let Some(below) = exponent.checked_sub(place + 1) else { continue };
            match 31_usize.checked_sub(below).and_then(|at| number.get_mut(at)) {
                Some(at) => *at = byte,
                None if byte != 0 => return None,
                None => {}
            }
        }
        (number != [0; 32]).then_some(Self(number))
    }

    /// Into the compact form, which keeps the highest three bytes.
    fn compact(self) -> u32 {
        let zeros = self.0.iter().take_while(|byte| **byte == 0).count();
        let mut exponent = 32 - zeros;
        let digit = |place: usize| self.0.get(zeros + place).copied().unwrap_or(0);
        let mut three = [digit(0), digit(1), digit(2)];
        if three[0] >= 0x80 {
            three = [0, three[0], three[1]];
            exponent += 1;
        }
        u32::from_be_bytes([u8::try_from(exponent).unwrap_or(u8::MAX), three[0], three[1], three[2]])
    }

    /// Whether a hash, in the order of bytes that hashing gives, is as small as this.
    pub(crate) fn is_met_by(&self, hash: &[u8; 32]) -> bool {
        self.0.iter().cmp(hash.iter().rev()).is_ge()
    }

    /// How many hashes it takes on average to meet it.
    pub(crate) fn work(&self) -> f64 {
        let target = self.0.iter().fold(0.0, |number, byte| number * 256.0 + f64::from(*byte));
        2_f64.powi(256) / (target + 1.0)
    }

    /// This times `by`, divided by `parts`; all bits set when it would not fit.
    fn scaled(self, by: u64, parts: u64) -> Self {
        let mut carry = 0_u64;
        let mut product = self.0;
        for byte in product.iter_mut().rev() {
            let sum = u64::from(*byte) * by + carry;
            *byte = sum.to_le_bytes()[0];
            carry = sum >> 8;
        }
        let mut rest = carry;
        if rest >= parts {
            return Self([u8::MAX; 32]);
        }
        for byte in &mut product {
            let sum = (rest << 8) + u64::from(*byte);
            *byte = u8::try_from(sum / parts).unwrap_or(u8::MAX);
            rest = sum % parts;
        }
        Self(product)
    }
}

/// The target of the next period of Bitcoin's own chain: `bits` is that of the period that ends, `took_s` how long passed between
/// the times of its first and its last block.
pub(super) fn next_bits(bits: u32, took_s: i64) -> u32 {
    let took = u64::try_from(took_s).unwrap_or(0).clamp(PERIOD_S / 4, PERIOD_S * 4);
    let (Some(now), Some(easiest)) = (Target::of(bits), Target::of(EASIEST)) else { return EASIEST };
    now.scaled(took, PERIOD_S).min(easiest).compact()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on stops")]
    use super::*;

    /// Blocks of the main chain: the target before, the times of the first and last block of its period, and the target after.
    #[test]
    fn targets_follow_one_another_as_in_the_main_chain() {
        for (bits, first, last, next) in [
            (0x1d00_ffff, 1_261_130_161, 1_262_152_739, 0x1d00_d86a),
            (0x1d00_ffff, 1_231_006_505, 1_233_061_996, 0x1d00_ffff),
            (0x1c05_a3f4, 1_279_008_237, 1_279_297_671, 0x1c01_68fd),
            (0x1c38_7f6f, 1_263_163_443, 1_269_211_443, 0x1d00_e1fd),
        ] {
            assert_eq!(next_bits(bits, last - first), next, "{bits:x}");
        }
    }

    #[test]
    fn a_compact_target_is_a_number_or_none() {
        for none in
            [0, 0x0012_3456, 0x1d80_0000, 0xff12_3456, 0x2300_0001, 0x2101_0000 + 0x0100_0000, 0x0500_0000]
        {
            assert_eq!(Target::of(none), None, "{none:x}");
        }
        for whole in [0x1d00_ffff, 0x207f_ffff, 0x1703_4219, 0x0312_3456, 0x2200_00ff] {
            assert_eq!(
                Target::of(whole).unwrap().compact(),
                if whole == 0x2200_00ff { 0x2100_ff00 } else { whole }
            );
        }
        assert_eq!(Target::of(0x0212_3456).unwrap().compact(), 0x0212_3400);
    }

    #[test]
    fn work_is_what_it_takes_on_average() {
        assert!((Target::of(0x207f_ffff).unwrap().work() - 2.0).abs() < 0.001);
        assert!((Target::of(EASIEST).unwrap().work() / 4_295_032_833.0 - 1.0).abs() < 1e-9);
    }
}
