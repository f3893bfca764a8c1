//! The code of a pairing: what is shown, and what a person may type.

use crate::Chance;
use model::gateway::CODE_ALPHABET;
use rand_core::{TryCryptoRng, TryRng};
use seal::Digest;
use std::convert::Infallible;
use zeroize::Zeroizing;

/// Letters of a code that say where both meet.
pub const MEETING_LETTERS: usize = 4;
/// Letters of a code that are secret.
pub const SECRET_LETTERS: usize = 6;
/// The domain of all that a pairing derives.
pub(crate) const DOMAIN: &str = "hermit-mesh-pairing/1";

/// Chance as the library wants it.
pub(crate) struct Drawn<'c>(pub(crate) &'c mut dyn Chance);

impl TryRng for Drawn<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Drawn<'_> {}

/// A new code, as it is shown: `ABCD-EFGHJK`.
pub fn draw_code(chance: &mut dyn Chance) -> String {
    let mut random = [0; MEETING_LETTERS + SECRET_LETTERS];
    chance.fill(&mut random);
    let mut code = model::gateway::code_of(&random);
    code.insert(MEETING_LETTERS, '-');
    code
}

/// What a person typed, as its two halves; none where it is no code.
pub(crate) fn halves(code: &str) -> Option<(String, Zeroizing<String>)> {
    if code.len() > 64 {
        return None;
    }
    let letters: String = code.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let letters = Zeroizing::new(letters.to_ascii_uppercase());
    let is_code = letters.len() == MEETING_LETTERS + SECRET_LETTERS
        && letters.bytes().all(|letter| CODE_ALPHABET.contains(&letter));
    let (meeting, secret) = letters.split_at_checked(MEETING_LETTERS).filter(|_| is_code)?;
    let channel = Digest::of(format!("{DOMAIN}\nchannel\n{meeting}").as_bytes()).to_string();
    Some((channel, Zeroizing::new(secret.to_owned())))
}
