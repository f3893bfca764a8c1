//! A passkey signs a page in, where its session is gone: what it has to sign, and whose it is. It stands in no table; a transport calls it
//! for a request that comes from a page of this host at that origin. All bytes are base64url without padding.

use crate::{Host, Wire as _, failed, of_kernel, usage};
use governance::approval::{rp_id_of, sign_in_payload};
use model::Digest;
use model::passkey::SIGN_IN_PAYLOAD_TYPE;
use seal::webauthn::{Assertion, Signed, base64url, base64url_decode};
use wire::Error;

/// What a browser is asked to sign a page in with. Which passkeys there are is told to nobody who has shown none.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SignInOptions {
    /// What the authenticator signs.
    pub challenge: String,
    /// The host that the passkey is for.
    pub rp_id: String,
}

/// What a browser answers when a passkey has signed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// What was to be signed.
    pub challenge: String,
    /// Which passkey.
    pub credential_id: String,
    /// What the browser says.
    pub client_data_json: String,
    /// What the authenticator says.
    pub authenticator_data: String,
    /// Over both.
    pub signature: String,
}

/// What to ask a browser for at this origin. `drawn` is the transport's: random, and good once.
///
/// # Errors
/// [`wire::Code::Refused`] for an origin at which there are no passkeys.
pub fn options(host: &dyn Host, origin: &str, drawn: &[u8; 32]) -> Result<SignInOptions, Error> {
    let rp_id = rp_id_of(origin).map_err(|refusal| of_kernel(kernel::Error::from(refusal)))?;
    let payload = sign_in_payload(host.reader()?.log_id(), origin, drawn);
    Ok(SignInOptions { challenge: base64url(Digest::of(&payload).as_bytes()), rp_id: rp_id.to_owned() })
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
