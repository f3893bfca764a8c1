//! The signed form: a DSSE envelope by the approval key, with its own payload type (proof.md 3).

use super::covers::sound;
use crate::Refusal;
use crate::refusal::demand;
use model::standing::{STANDING_PAYLOAD_TYPE, StandingGrant};
use seal::dsse::{self, Envelope};
use seal::{PublicKey, Signer, canon};

/// The grant in an envelope, as its canonical bytes. The signer is K_approval, held by a native surface.
///
/// # Errors
/// Whatever the signer says, such as that the key is locked.
pub fn sign(grant: &StandingGrant, signer: &dyn Signer) -> Result<Vec<u8>, crate::Error> {
    let payload = canon::to_canonical(grant)?;
    Ok(dsse::sign(STANDING_PAYLOAD_TYPE, &payload, signer)?.to_bytes()?)
}

/// The grant inside an envelope, when it is a person's: the key, the payload's type, the store, the surface, and that
/// it can be given at all. Time and uses are judged when it is used.
///
/// # Errors
/// A [`Refusal`] whose code names the first check that failed.
pub fn verify(envelope: &[u8], log_id: &str, key: &PublicKey) -> Result<StandingGrant, Refusal> {
    let unreadable = |why: String| Refusal::new("standing_unreadable", why);
    let envelope = Envelope::parse(envelope).map_err(|e| unreadable(e.to_string()))?;
    demand(envelope.payload_type == STANDING_PAYLOAD_TYPE, "standing_type", || {
        "this envelope does not hold a standing grant".to_owned()
    })?;
    let payload =
        dsse::verify(&envelope, key).map_err(|e| Refusal::new("standing_signature", e.to_string()))?;
    let grant: StandingGrant = canon::from_canonical(&payload).map_err(|e| unreadable(e.to_string()))?;
    demand(canon::to_canonical(&grant)? == payload, "standing_unreadable", || {
        "this standing grant holds more than one has".to_owned()
    })?;
    demand(grant.log_id == log_id, "standing_elsewhere", || {
        "this standing grant was given for another store".to_owned()
    })?;
    demand(grant.surface.may_grant(), "surface", || {
        format!("`{}` may deny but not approve; answer in the app or on a terminal", grant.surface)
    })?;
    sound(&grant)?;
    Ok(grant)
}
