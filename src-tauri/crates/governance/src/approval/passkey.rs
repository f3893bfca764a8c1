//! A yes by a passkey: how a person's approval key lets one say yes, and everything that is checked before its word counts
//! (schedule.md 4, proof.md 3).

use super::decision::checked;
use super::machine::asking_of;
use crate::Refusal;
use crate::refusal::demand;
use model::UnixMs;
use model::approval::{Approval, ApprovalDecision, Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::passkey::{
    MESH_ORIGIN, PASSKEY_FORMAT, PASSKEY_PAYLOAD_TYPE, PasskeyEnrolment, SECURITY_KEY_ORIGIN, SIGN_IN_FORMAT,
    SIGN_IN_PAYLOAD_TYPE,
};
use seal::dsse::{self, Envelope};
use seal::webauthn::{self, Credential, Enrolled, Said, Signed};
use seal::{PublicKey, Signer, canon};

/// Most characters of an origin.
const ORIGIN_MAX: usize = 300;

/// The code of a refusal that may mean a copy of the passkey.
pub const COUNTER: &str = "passkey_counter";

/// A passkey that a person's approval key lets say yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// What the approval key signed.
    pub enrolment: PasskeyEnrolment,
    /// The passkey as its authenticator made it.
    pub credential: Credential,
}

impl From<webauthn::Fault> for Refusal {
    fn from(fault: webauthn::Fault) -> Self {
        Self::new(fault.code, fault.reason)
    }
}

/// The host that a passkey of this origin is for. It is HTTPS with a name; this machine by its name `localhost`; or that of
/// security keys, host and origin in one. Of another machine the host names who asks it.
///
/// # Errors
/// `passkey_origin` for every other origin: at an address in numbers and over plain HTTP no browser makes a passkey.
pub fn rp_id_of(origin: &str) -> Result<&str, Refusal> {
    if origin == SECURITY_KEY_ORIGIN {
        return Ok(origin);
    }
    let refused = || {
        let why = format!(
            "a passkey cannot be used at `{origin}`; open Hermit at http://localhost or by HTTPS at a name"
        );
        Refusal::new("passkey_origin", why)
    };
    let (scheme, place) = origin.split_once("://").ok_or_else(refused)?;
    let (host, port) = place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port));
    let is_label = |label: &str| {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        !label.is_empty() && label.bytes().all(plain)
    };
    // What ends in a number is an address.
    let is_name = host.split('.').all(is_label)
        && host.rsplit('.').next().is_some_and(|last| !last.bytes().all(|byte| byte.is_ascii_digit()));
    let is_local = host == "localhost" || host.ends_with(".localhost");
    let is_safe = scheme == "https" || (scheme == "http" && is_local);
    if origin.len() <= ORIGIN_MAX && is_safe && is_port && is_name { Ok(host) } else { Err(refused()) }
}

/// The enrolment in a DSSE envelope, as its canonical bytes. The signer is K_approval, held by a native surface.
///
/// # Errors
/// Whatever the signer says, such as that the key is locked.
pub fn sign_passkey(enrolment: &PasskeyEnrolment, signer: &dyn Signer) -> Result<Vec<u8>, crate::Error> {
    let payload = canon::to_canonical(enrolment)?;
    Ok(dsse::sign(PASSKEY_PAYLOAD_TYPE, &payload, signer)?.to_bytes()?)
}

/// The passkey inside an envelope, when a person's approval key lets it say yes: the key, the payload's type, the store, the
/// surface, and that what it says of the passkey is what the authenticator said.
///
/// # Errors
/// A [`Refusal`] whose code names the first check that failed.
pub fn passkey(envelope: &[u8], log_id: &str, key: &PublicKey) -> Result<Passkey, Refusal> {
    let unreadable = |why: String| Refusal::new("passkey_unreadable", why);
    let envelope = Envelope::parse(envelope).map_err(|e| unreadable(e.to_string()))?;
    demand(envelope.payload_type == PASSKEY_PAYLOAD_TYPE, "passkey_unreadable", || {
        "this envelope does not hold the enrolment of a passkey".to_owned()
    })?;
    let payload =
        dsse::verify(&envelope, key).map_err(|e| Refusal::new("passkey_enrolment", e.to_string()))?;
    let enrolment: PasskeyEnrolment =
        canon::from_canonical(&payload).map_err(|e| unreadable(e.to_string()))?;
    demand(canon::to_canonical(&enrolment)? == payload, "passkey_unreadable", || {
        "this enrolment holds more than one has".to_owned()
    })?;
    demand(enrolment.format == PASSKEY_FORMAT, "passkey_unreadable", || {
        format!("this enrolment is of another version: `{}`", enrolment.format)
    })?;
    demand(enrolment.log_id == log_id, "passkey_elsewhere", || {
        "this passkey was enrolled for another store".to_owned()
    })?;
    demand(enrolment.surface.may_grant(), "surface", || {
        format!("`{}` may deny but not approve; enrol it on a page of Hermit", enrolment.surface)
    })?;
    let is_for_its_host = match enrolment.origin.as_str() {
        MESH_ORIGIN => asking_of(&enrolment.rp_id).is_some(),
        origin => rp_id_of(origin)? == enrolment.rp_id,
    };
    demand(is_for_its_host, "passkey_origin", || {
        "this passkey is for another host than its origin".to_owned()
    })?;
    let said =
        webauthn::base64url_decode(&enrolment.authenticator_data).map_err(|e| unreadable(e.to_string()))?;
    let credential = webauthn::credential_of(&said, &enrolment.rp_id)?;
    let is_told = credential.key.to_base64() == enrolment.public_key
        && webauthn::base64url(&credential.credential_id) == enrolment.credential_id;
    demand(is_told, "passkey_unreadable", || {
        "this enrolment says otherwise of the passkey than its authenticator".to_owned()
    })?;
    Ok(Passkey { enrolment, credential })
}

/// What the authenticator said when it signed: as this passkey, where it belongs, and counted on. `so_that`: what has come of it where
/// it has not.
fn counted_on(
    signed: &Signed,
    (passkey, last_counter): (&Passkey, u32),
    so_that: &str,
) -> Result<Said, Refusal> {
    let Passkey { enrolment, credential } = passkey;
    let said = signed.verify(&Enrolled {
        credential_id: &credential.credential_id,
        key: &credential.key,
        rp_id: &enrolment.rp_id,
        origin: &enrolment.origin,
    })?;
    demand(webauthn::follows(last_counter, said.counter), COUNTER, || {
        format!(
            "the passkey has not counted on since it was last used, so there may be a copy of it; {so_that}. \
             Revoke it with `hermit passkey revoke`, and enrol a new one"
        )
    })?;
    Ok(said)
}

/// The decision that a passkey signed, once everything about it holds: the passkey and its last count, the person who was
/// there and verified, the origin, and all that [`super::verify`] checks of a decision. It is a yes for this once.
///
/// # Errors
/// A [`Refusal`] whose code names the first check that failed; nothing is decided then.
pub fn verify_by_passkey(
    signed: &[u8],
    (approval, packet_bytes): (&Approval, &[u8]),
    (passkey, last_counter): (&Passkey, u32),
    now: UnixMs,
) -> Result<(ApprovalDecision, Said), Refusal> {
    let signed = Signed::parse(signed).map_err(|e| Refusal::new("decision_unreadable", e.to_string()))?;
    demand(signed.payload_type == DECISION_PAYLOAD_TYPE, "decision_type", || {
        "the passkey did not sign an approval decision".to_owned()
    })?;
    let said = counted_on(&signed, (passkey, last_counter), "nothing was decided")?;
    let enrolment = &passkey.enrolment;
    let decision = checked(&signed.payload, approval, packet_bytes, now)?;
    demand(decision.choice == Choice::Once, "choice", || {
        "a passkey approves once; for more use the approval key".to_owned()
    })?;
    // What the key of another machine says was said there, and nothing else was.
    demand((enrolment.origin == MESH_ORIGIN) == (decision.surface == Surface::Mesh), "surface", || {
        format!("this passkey does not approve {}", decision.surface.place())
    })?;
    demand(enrolment.enrolled_at <= decision.decided_at, "decision_time", || {
        "this decision was taken before the passkey was enrolled; check the clock".to_owned()
    })?;
    demand(decision.decided_by == enrolment.enrolled_by, "passkey_person", || {
        "this passkey is somebody else's".to_owned()
    })?;
    Ok((decision, said))
}

/// What a passkey signs to sign a page in: which store, where, and bytes that were drawn for this once.
#[must_use]
pub fn sign_in_payload(log_id: &str, origin: &str, challenge: &[u8; 32]) -> Vec<u8> {
    let challenge = webauthn::base64url(challenge);
    format!("{SIGN_IN_FORMAT}\n{log_id}\n{origin}\n{challenge}\n").into_bytes()
}

/// What the authenticator said when it signed a page in: exactly this payload, at the origin of the passkey, by a person who was
/// there and verified, counted on. It decides nothing.
///
/// # Errors
/// A [`Refusal`] whose code names the first check that failed.
pub fn verify_sign_in(
    signed: &[u8],
    payload: &[u8],
    (passkey, last_counter): (&Passkey, u32),
) -> Result<Said, Refusal> {
    let signed = Signed::parse(signed).map_err(|e| Refusal::new("sign_in_unreadable", e.to_string()))?;
    demand(
        signed.payload_type == SIGN_IN_PAYLOAD_TYPE && signed.payload == payload,
        "sign_in_other",
        || "the passkey signed something else than to sign this page in".to_owned(),
    )?;
    counted_on(&signed, (passkey, last_counter), "nobody was signed in")
}
