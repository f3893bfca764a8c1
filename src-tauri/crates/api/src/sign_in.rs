//! A passkey signs a page in, where its session is gone: what it has to sign, and whose it is. It stands in no table; a transport calls it
//! for a request that comes from a page of this host at that origin. All bytes are base64url without padding.

use crate::{Host, Wire as _, failed, of_kernel, usage};
use governance::approval::{rp_id_of, sign_in_payload};
use model::Digest;
use model::passkey::SIGN_IN_PAYLOAD_TYPE;
use seal::webauthn::{Assertion, Signed, base64url, base64url_decode};
use wire::{Code, Error};

/// How a ticket is made: until when it is good, bytes at random, and the beginning of a mac over both and the origin.
const TIME: usize = 8;
const RANDOM: usize = 8;
const DOMAIN: &[u8] = b"hermit sign-in ticket/1";

/// What a browser is asked to sign a page in with. Which passkeys there are is told to nobody who has shown none.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SignInOptions {
    /// What the authenticator signs.
    pub challenge: String,
    /// The host that the passkey is for.
    pub rp_id: String,
    /// What comes back with the answer, so that nothing is kept for whoever asks.
    pub ticket: String,
}

/// What a browser answers when a passkey has signed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// What came with what was to be signed.
    pub ticket: String,
    /// Which passkey.
    pub credential_id: String,
    /// What the browser says.
    pub client_data_json: String,
    /// What the authenticator says.
    pub authenticator_data: String,
    /// Over both.
    pub signature: String,
}

/// A ticket for this origin that is good until then, out of bytes that were drawn for it. Whoever has no key makes none.
pub fn ticket(key: &[u8; 32], origin: &str, ends_at: i64, drawn: &[u8; 32]) -> [u8; 32] {
    let ends_at = ends_at.to_be_bytes();
    let random = drawn.iter().take(RANDOM);
    let head: Vec<u8> = ends_at.iter().chain(random).copied().collect();
    let mac = seal::webhook::mac(key, &[DOMAIN, &head, origin.as_bytes()]);
    let mut ticket = [0; 32];
    ticket.iter_mut().zip(head.iter().chain(&mac)).for_each(|(to, from)| *to = *from);
    ticket
}

/// The ticket that came back, where it is of this key and origin and still good, and until when.
///
/// # Errors
/// [`Code::Conflict`] for any other; nobody is signed in then.
pub fn given(key: &[u8; 32], origin: &str, now: i64, came: &SignIn) -> Result<([u8; 32], i64), Error> {
    let read = || -> Option<([u8; 32], i64)> {
        let ticket: [u8; 32] = base64url_decode(&came.ticket).ok()?.try_into().ok()?;
        let (head, mac) = ticket.split_at_checked(TIME + RANDOM)?;
        let ends_at = i64::from_be_bytes(head.get(..TIME)?.try_into().ok()?);
        let is_ours = seal::webhook::begins_mac(key, &[DOMAIN, head, origin.as_bytes()], mac);
        (is_ours && ends_at > now).then_some((ticket, ends_at))
    };
    read().ok_or_else(used)
}

/// What is told of a ticket that is none of this host's, or was used, or took too long.
pub fn used() -> Error {
    Error::new(Code::Conflict, "nothing was asked of a passkey here, or it took too long")
        .hint("try again; nobody was signed in")
}

/// What to ask a browser for at this origin, with a ticket of it.
///
/// # Errors
/// [`wire::Code::Refused`] for an origin at which there are no passkeys.
pub fn options(host: &dyn Host, origin: &str, ticket: &[u8; 32]) -> Result<SignInOptions, Error> {
    let rp_id = rp_id_of(origin).map_err(|refusal| of_kernel(kernel::Error::from(refusal)))?;
    let payload = sign_in_payload(host.reader()?.log_id(), origin, ticket);
    let challenge = base64url(Digest::of(&payload).as_bytes());
    Ok(SignInOptions { challenge, rp_id: rp_id.to_owned(), ticket: base64url(ticket) })
}

/// The passkey that signed, by its identifier, when all holds for what was drawn.
///
/// # Errors
/// [`wire::Code::Refused`] when anything about it does not hold; nobody is signed in then.
pub fn sign_in(host: &dyn Host, origin: &str, drawn: &[u8; 32], came: &SignIn) -> Result<String, Error> {
    let kernel = host.kernel()?;
    let payload = sign_in_payload(host.reader()?.log_id(), origin, drawn);
    let signed = Signed {
        payload_type: SIGN_IN_PAYLOAD_TYPE.to_owned(),
        payload: payload.clone(),
        webauthn: Assertion {
            credential_id: bytes(&came.credential_id)?,
            authenticator_data: bytes(&came.authenticator_data)?,
            client_data_json: bytes(&came.client_data_json)?,
            signature: bytes(&came.signature)?,
        },
    };
    let signed = signed.to_bytes().map_err(failed)?;
    Ok(kernel.sign_in_by_passkey(&signed, &payload, origin).wire()?.to_string())
}

/// Whether it is a passkey of this host at all that is said to have signed: nobody guesses at another.
pub fn is_known(host: &dyn Host, came: &SignIn) -> bool {
    let kernel = host.kernel().ok();
    let id = bytes(&came.credential_id).ok().map(|id| base64url(&id));
    kernel.zip(id).is_some_and(|(kernel, id)| kernel.knows_passkey(&id))
}

/// Whether a passkey, by its identifier, may still say yes: what it signed in lasts no longer.
pub fn holds(host: &dyn Host, passkey: &str) -> bool {
    let kernel = host.kernel().ok();
    kernel.zip(passkey.parse::<Digest>().ok()).is_some_and(|(kernel, passkey)| kernel.passkey_holds(passkey))
}

fn bytes(text: &str) -> Result<Vec<u8>, Error> {
    base64url_decode(text).map_err(|e| usage(e.to_string()))
}
