//! A person's security key, asked by the process that they sit before: enrolled with the approval passphrase, and a yes with its
//! PIN and a touch. What it signed is handed in like every decision; the kernel believes the signature alone.
//!
//! Hermit stands where a browser would. So it writes the client data, and its origin is one at which no page can be.

use crate::{ApprovalSession, Error, OsEntropy, Session, SystemClock};
use api::Host as _;
use model::approval::{Choice, DECISION_PAYLOAD_TYPE};
use model::passkey::{PASSKEY_FORMAT, PasskeyEnrolment, SECURITY_KEY_ORIGIN};
use model::{Clock as _, Entropy as _, PrincipalId};
use seal::webauthn::{Assertion, Signed, base64url, base64url_decode, client_data_json, credential_of};
use seal::{Digest, canon};
use securitykey::{Making, SecurityKey, Wanted};
use wire::{Code, Error as Said};

pub use securitykey::{Found, Moment, Pin, Watch};

/// Security keys that are plugged in.
///
/// # Errors
/// [`Code::Unavailable`] where they cannot be looked for.
pub fn plugged_in() -> Result<Vec<Found>, Said> {
    securitykey::plugged_in().map_err(said)
}

/// What was typed, where a key could have it as its PIN.
///
/// # Errors
/// [`Code::Usage`] when none could.
pub fn pin(typed: &str) -> Result<Pin, Said> {
    Pin::new(typed).map_err(said)
}

/// How many wrong PINs a key takes before it is blocked; asked before a person types one.
///
/// # Errors
/// [`Code::Refused`] for a key without a PIN, and for one that is blocked; [`Code::Unavailable`] when it does not answer.
pub fn tries_left(found: &Found) -> Result<u32, Said> {
    let mut device = found.open().map_err(said)?;
    SecurityKey::open(device.as_mut()).and_then(|mut key| key.tries_left()).map_err(said)
}

/// Identifiers of the passkeys on security keys that may say yes in this store.
///
/// # Errors
/// When the store cannot be read, or has no approval key.
pub fn enrolled(session: &Session) -> Result<Vec<Vec<u8>>, Said> {
    Ok(known(session)?.0)
}

/// Those, and whose they would be: the person, as an identifier and by name.
fn known(session: &Session) -> Result<(Vec<Vec<u8>>, Vec<u8>, String), Said> {
    let reading = session.reading()?;
    let options = api::passkeys::options(&*reading, SECURITY_KEY_ORIGIN, [0; 32])?;
    let read = |text: &String| base64url_decode(text).map_err(api::failed);
    let ids = options.exclude.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok((ids, read(&options.user_id)?, options.user_name))
}

/// A passkey that was made on a key: what the approval key is to sign.
///
/// # Errors
/// What the key says; [`Code::Refused`] when it makes a passkey of another kind, or did not verify who touched it.
pub fn made(
    session: &Session,
    seat: &ApprovalSession,
    (found, pin): (&Found, &Pin),
    watch: Watch<'_>,
) -> Result<PasskeyEnrolment, Said> {
    let (exclude, user_id, user_name) = known(session)?;
    // Nobody attests to it, so nothing has to be kept of what is asked.
    let mut challenge = [0; 32];
    OsEntropy.fill(&mut challenge);
    let client_data = client_data_json("webauthn.create", &challenge, SECURITY_KEY_ORIGIN);
    let making = Making {
        rp_id: SECURITY_KEY_ORIGIN,
        user: (&user_id, &user_name),
        client_data_hash: *Digest::of(&client_data).as_bytes(),
        exclude: &exclude,
    };
    let mut device = found.open().map_err(said)?;
    let mut key = SecurityKey::open(device.as_mut()).map_err(said)?;
    let authenticator_data = key.make(&making, pin, watch).map_err(said)?;
    let credential = credential_of(&authenticator_data, SECURITY_KEY_ORIGIN)
        .map_err(|fault| Said::new(Code::Refused, fault.reason))?;
    let person = String::from_utf8(user_id).map_err(api::failed)?;
    Ok(PasskeyEnrolment {
        format: PASSKEY_FORMAT.to_owned(),
        log_id: session.reading()?.reader()?.log_id().to_owned(),
        credential_id: base64url(&credential.credential_id),
        public_key: credential.key.to_base64(),
        rp_id: SECURITY_KEY_ORIGIN.to_owned(),
        origin: SECURITY_KEY_ORIGIN.to_owned(),
        authenticator_data: base64url(&authenticator_data),
        surface: seat.surface(),
        enrolled_by: person.parse::<PrincipalId>().map_err(api::failed)?,
        enrolled_at: SystemClock.now(),
    })
}

/// A yes to exactly these packet bytes, signed by a security key that is enrolled; as it is handed in.
///
/// # Errors
/// What the key says; [`Code::NotFound`] when none is enrolled, or another one is plugged in.
pub fn yes(
    session: &Session,
    seat: &ApprovalSession,
    (packet, person): (&[u8], &str),
    (found, pin): (&Found, &Pin),
    watch: Watch<'_>,
) -> Result<Vec<u8>, Said> {
    let allow = enrolled(session)?;
    if allow.is_empty() {
        return Err(none_enrolled());
    }
    let person: PrincipalId = person.parse().map_err(api::failed)?;
    let answer =
        governance::approval::answer(packet, Choice::Once, seat.surface(), person, SystemClock.now(), None);
    let decision = answer.map_err(|refusal| Error::Signing(refusal.reason).to_wire())?;
    let payload = canon::to_canonical(&decision).map_err(api::failed)?;
    let client_data = client_data_json("webauthn.get", Digest::of(&payload).as_bytes(), SECURITY_KEY_ORIGIN);
    let wanted = Wanted {
        rp_id: SECURITY_KEY_ORIGIN,
        client_data_hash: *Digest::of(&client_data).as_bytes(),
        allow: &allow,
    };
    let mut device = found.open().map_err(said)?;
    let mut key = SecurityKey::open(device.as_mut()).map_err(said)?;
    let came = key.sign(&wanted, pin, watch).map_err(said)?;
    let webauthn = Assertion {
        credential_id: came.credential_id,
        authenticator_data: came.authenticator_data,
        client_data_json: client_data,
        signature: came.signature,
    };
    let signed = Signed { payload_type: DECISION_PAYLOAD_TYPE.to_owned(), payload, webauthn };
    signed.to_bytes().map_err(api::failed)
}

/// No security key may say yes here.
pub fn none_enrolled() -> Said {
    Said::new(Code::NotFound, "no security key is enrolled in this store")
        .hint("enrol one at a terminal: `hermit passkey add --security-key NAME`")
}

/// What a key did not do, as every surface says it.
fn said(error: securitykey::Error) -> Said {
    use securitykey::Error as E;
    let message = error.to_string();
    match error {
        E::PinWrong { .. } => {
            Said::new(Code::KeyLocked, message).hint("type the PIN of the security key again")
        }
        E::PinShape => Said::new(Code::Usage, message),
        E::NotHere => Said::new(Code::NotFound, message)
            .hint("plug in the one that is enrolled, or use your passphrase"),
        E::Known => Said::new(Code::Conflict, message),
        E::Gone | E::Busy | E::Closed(_) | E::Unsupported | E::TimedOut | E::Cancelled => {
            Said::new(Code::Unavailable, message)
                .hint("nothing was decided; try again, or use your passphrase")
        }
        _ => Said::new(Code::Refused, message).hint("nothing was decided; use your passphrase"),
    }
}
