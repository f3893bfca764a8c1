//! What both sides of a pairing have once each heard the other: keys that nobody else has, and what is sealed with them.

use super::Introduction;
use crate::code::DOMAIN;
use crate::sealed::{Sealing, WireEvent};
use crate::{Chance, Error, NodeId, RELAYS_MAX};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hkdf::Hkdf;
use model::UnixMs;
use nostr::nips::nip44::v2::{self, ConversationKey};
use seal::{Digest, canon};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

/// The longest reason of a refusal, in bytes.
const WHY_BYTES_MAX: usize = 300;

/// An introduction with the proof that the node key is the speaker's.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Introduced {
    about: Introduction,
    /// A signature by the node key over what both sent in this run.
    proof: WireEvent,
}

/// Why a machine does not pair.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    why: String,
}

/// The keys of a run: one for what each side says.
pub(super) struct Keys {
    pub(super) run: Digest,
    transcript: Digest,
    of_joiner: Zeroizing<[u8; 32]>,
    of_inviter: Zeroizing<[u8; 32]>,
}

impl Keys {
    pub(super) fn derive(
        channel: &str,
        run: Digest,
        joiner: &str,
        inviter: &str,
        shared: &[u8],
    ) -> Option<Self> {
        let text = format!("{DOMAIN}\nrun\n{channel}\n{joiner}\n{inviter}");
        let transcript = Digest::of(text.as_bytes());
        let expand = |info: &str| {
            let mut key = Zeroizing::new([0; 32]);
            let hkdf = Hkdf::<Sha256>::new(Some(transcript.as_bytes()), shared);
            hkdf.expand(info.as_bytes(), &mut *key).ok()?;
            Some(key)
        };
        Some(Self { run, transcript, of_joiner: expand("joiner")?, of_inviter: expand("inviter")? })
    }

    fn proof(&self, side: &str) -> String {
        format!("{DOMAIN}\nproof\n{side}\n{}", self.transcript)
    }

    fn of(&self, side: &str) -> &[u8; 32] {
        if side == "joiner" { &self.of_joiner } else { &self.of_inviter }
    }

    fn lock(&self, side: &str, bytes: &[u8], chance: &mut dyn Chance) -> Result<String, Error> {
        let mut nonce = [0; 32];
        chance.fill(&mut nonce);
        let sealed = v2::encrypt_to_bytes_with_nonce(&ConversationKey::new(*self.of(side)), bytes, nonce);
        sealed.map(|bytes| STANDARD.encode(bytes)).map_err(|_| Error::Sealing("it cannot be encrypted"))
    }

    fn unlock(&self, side: &str, text: &str) -> Option<Vec<u8>> {
        v2::decrypt_to_bytes(&ConversationKey::new(*self.of(side)), &STANDARD.decode(text).ok()?).ok()
    }

    /// What a side says of itself.
    pub(super) fn seal(
        &self,
        side: &str,
        about: Introduction,
        sealing: &dyn Sealing,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Result<String, Error> {
        let proof = sealing.sign(&self.proof(side), now)?;
        self.lock(side, &canon::to_canonical(&Introduced { about, proof })?, chance)
    }

    /// What the other side said of itself; none where the key is another.
    pub(super) fn open(
        &self,
        side: &str,
        text: &str,
        sealing: &dyn Sealing,
    ) -> Option<(NodeId, Introduction)> {
        let Introduced { about, proof } = canon::from_canonical(&self.unlock(side, text)?).ok()?;
        let is_fit = about.relays.len() <= RELAYS_MAX
            && about.name.len() <= 128
            && !about.name.chars().any(model::visible::is_hidden)
            && proof.content == self.proof(side)
            && proof.pubkey != sealing.node()
            && sealing.is_signed(&proof);
        is_fit.then_some((proof.pubkey, about))
    }

    /// Why a side does not pair; the reason is cut where it is longer than is read.
    pub(super) fn refuse(&self, side: &str, why: &str, chance: &mut dyn Chance) -> Result<String, Error> {
        let mut end = why.len().min(WHY_BYTES_MAX);
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        let why = why.get(..end).unwrap_or_default().to_owned();
        self.lock(side, &canon::to_canonical(&Refusal { why })?, chance)
    }

    /// Why the other side does not pair.
    pub(super) fn refused(&self, side: &str, text: &str) -> Option<String> {
        let Refusal { why } = canon::from_canonical(&self.unlock(side, text)?).ok()?;
        let is_fit = why.len() <= WHY_BYTES_MAX
            && !why.chars().any(|c| c.is_control() || model::visible::is_hidden(c));
        is_fit.then_some(why)
    }
}
