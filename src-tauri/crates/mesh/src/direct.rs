//! Proof of a node's key on a socket between two machines: an event that is signed over what the other machine gave.
//!
//! It is of the kind with which a client proves itself to a relay (NIP-42), and is none that a relay takes: what is signed
//! names this protocol beside what was given, and the place that was dialled: whoever stands at another place and hands proofs on
//! between two machines is none of them.

use crate::sealed::{NostrSealing, WireEvent, is_event};
use crate::{Chance, NodeId, frame};
use model::UnixMs;
use seal::Digest;

/// The kind of a proof (NIP-42).
pub const PROOF_KIND: u16 = 22_242;
/// What stands where a proof to a relay names the relay, and before what was given.
const PLACE: &str = "hermit-mesh-direct/1";
/// How far the time of a proof may be from this machine's, in milliseconds.
const PROOF_FOR_MS: i64 = 10 * 60_000;

/// Something for the other machine to sign: 64 hex digits that were never given before.
pub fn challenge(chance: &mut dyn Chance) -> String {
    let mut bytes = [0; 32];
    chance.fill(&mut bytes);
    Digest(bytes).to_string()
}

/// The frame that proves this node to whoever gave a challenge on the connection to a place (`address:port`, as both sides of it see
/// it); none where it is not one of [`challenge`].
pub fn answer(sealing: &NostrSealing, challenge: &str, place: &str, now: UnixMs) -> Option<Vec<u8>> {
    let _: Digest = challenge.parse().ok()?;
    let event = sealing.sign_tags(PROOF_KIND, tags(challenge, place), now).ok()?;
    Some(frame::proof(&event))
}

/// Whose key a frame proves for the challenge that this machine gave on the connection to a place.
pub fn check(challenge: &str, place: &str, frame: &[u8], now: UnixMs) -> Option<NodeId> {
    let (word, event) = serde_json::from_slice::<(String, WireEvent)>(frame).ok()?;
    let apart = event.created_at.checked_mul(1000)?.checked_sub(now.0)?.checked_abs()?;
    let is_proof = word == "AUTH"
        && apart <= PROOF_FOR_MS
        && event.content.is_empty()
        && event.tags == tags(challenge, place)
        && is_event(&event, PROOF_KIND);
    is_proof.then_some(event.pubkey)
}

fn tags(challenge: &str, place: &str) -> Vec<Vec<String>> {
    [("relay", PLACE.to_owned()), ("challenge", format!("{PLACE} {place} {challenge}"))]
        .map(|(name, value)| vec![name.to_owned(), value])
        .to_vec()
}
