//! What an authenticator says when it makes a passkey. Nobody is asked who made the authenticator: a statement of it goes
//! by unread, and proves nothing here.

use super::cbor::Item;
use super::{
    CREDENTIAL_ID_MAX, EDDSA, ES256, Fault, HAS_CREDENTIAL, HAS_EXTENSIONS, PasskeyKey, Said, authenticator,
    client_data, demand,
};
use crate::PublicKey;

/// Most bytes of an attestation object; those with certificates are a few thousand long.
const OBJECT_MAX: usize = 64 * 1024;

/// A passkey as its authenticator made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Its identifier at the authenticator.
    pub credential_id: Vec<u8>,
    /// Its key.
    pub key: PasskeyKey,
    /// What the authenticator said of the person and of itself.
    pub said: Said,
    /// All that it said, as it was.
    pub authenticator_data: Vec<u8>,
}

/// The passkey that was made for this challenge at this origin.
///
/// # Errors
/// A [`Fault`] whose code names the first check that failed.
pub fn attested(
    client_data_json: &[u8],
    attestation_object: &[u8],
    challenge: &[u8; 32],
    (origin, rp_id): (&str, &str),
) -> Result<Credential, Fault> {
    client_data(client_data_json, "webauthn.create", challenge, origin)?;
    demand(
        attestation_object.len() <= OBJECT_MAX,
        "passkey_unreadable",
        "the attestation object is too long",
    )?;
    let (object, rest) = Item::read(attestation_object)?;
    demand(rest.is_empty(), "passkey_unreadable", "something follows the attestation object")?;
    let has = |name: &'static str| object.member(&Item::Text(name));
    let (Some(Item::Text(_)), Some(Item::Map(_)), Some(Item::Bytes(said))) =
        (has("fmt"), has("attStmt"), has("authData"))
    else {
        return Err(Fault::unreadable("the attestation object lacks one of its three members"));
    };
    credential_of(said, rp_id)
}

/// The passkey that an authenticator told of when it made it.
///
/// # Errors
/// As [`attested`].
pub fn credential_of(authenticator_data: &[u8], rp_id: &str) -> Result<Credential, Fault> {
    let (said, flags, rest) = authenticator(authenticator_data, rp_id)?;
    demand(flags & HAS_CREDENTIAL != 0, "passkey_unreadable", "the authenticator tells of no passkey")?;
    let short = || Fault::unreadable("what the authenticator says of the passkey ends too early");
    let (_model, rest) = rest.split_at_checked(16).ok_or_else(short)?;
    let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(short)?;
    let length = usize::from(u16::from_be_bytes(*length));
    let fits = (1..=CREDENTIAL_ID_MAX).contains(&length);
    demand(fits, "passkey_unreadable", "the passkey's identifier has no length that one may have")?;
    let (credential_id, rest) = rest.split_at_checked(length).ok_or_else(short)?;
    let (key, rest) = Item::read(rest)?;
    let key = cose(&key)?;
    let rest = if flags & HAS_EXTENSIONS == 0 {
        rest
    } else {
        let (extensions, rest) = Item::read(rest)?;
        let is_map = matches!(extensions, Item::Map(_));
        demand(is_map, "passkey_unreadable", "the authenticator's extensions are no map")?;
        rest
    };
    demand(rest.is_empty(), "passkey_unreadable", "something follows what the authenticator says")?;
    let authenticator_data = authenticator_data.to_vec();
    Ok(Credential { credential_id: credential_id.to_vec(), key, said, authenticator_data })
}

/// A key as COSE spells it (RFC 9053): its kind, its algorithm, its curve and its point, and nothing else.
fn cose(key: &Item<'_>) -> Result<PasskeyKey, Fault> {
    let other =
        || Fault::new("passkey_algorithm", "the passkey is of a kind that is not asked for: ES256 or EdDSA");
    let Item::Map(members) = key else { return Err(other()) };
    let number = |name: i64| match key.member(&Item::Integer(name)) {
        Some(Item::Integer(number)) => Some(*number),
        _ => None,
    };
    let coordinate = |name: i64| match key.member(&Item::Integer(name)) {
        Some(Item::Bytes(bytes)) => <[u8; 32]>::try_from(*bytes).ok(),
        _ => None,
    };
    let no_point = |_| Fault::unreadable("the passkey's point is not on its curve");
    match (number(1), number(3), number(-1), members.len()) {
        (Some(2), Some(ES256), Some(1), 5) => {
            let (Some(x), Some(y)) = (coordinate(-2), coordinate(-3)) else { return Err(other()) };
            let mut point = [4; 65];
            for (place, byte) in point.iter_mut().skip(1).zip(x.into_iter().chain(y)) {
                *place = byte;
            }
            PasskeyKey::p256(point).map_err(no_point)
        }
        (Some(1), Some(EDDSA), Some(6), 4) => {
            let Some(x) = coordinate(-2) else { return Err(other()) };
            PublicKey::from_bytes(x).map(PasskeyKey::ed25519).map_err(no_point)
        }
        _ => Err(other()),
    }
}
