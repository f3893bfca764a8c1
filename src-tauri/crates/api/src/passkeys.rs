//! Passkeys on a page of this host: enrolled with the approval passphrase in the same request, asked, and answered by.
//!
//! It stands in no table and no `/v1` path leads to it, as [`crate::page_approval`]: a transport calls it for a request that
//! it knows to come from a browser's session. Of a security key, which a process of the person's own asks, the table takes what
//! was signed. What the kernel is handed is what the approval key or the passkey signed, and it
//! believes nothing else. All bytes are base64url without padding.

use crate::page_approval::{answered, as_shown};
use crate::{Host, Wire as _, failed, fold, not_found, of_kernel, usage};
use governance::Refusal;
use governance::approval::{answer, rp_id_of};
use kernel::StoreState;
use kernel::command::approve::Answered;
use kernel::passkey_registry::PasskeyRecord;
use model::approval::{Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::body::KeyPurpose;
use model::passkey::{PASSKEY_FORMAT, PasskeyEnrolment, SECURITY_KEY_ORIGIN};
use model::principal::PrincipalType;
use model::{ApprovalId, TaskId};
use seal::webauthn::{Assertion, EDDSA, ES256, PasskeyKey, Signed, attested, base64url, base64url_decode};
use seal::{Digest, canon};
use wire::approvals::Decided;
use wire::passkeys::Passkey;
use wire::{Code, Error};

/// How long a person may take to enrol a passkey.
const ENROL_MS_MAX: i64 = 5 * 60 * 1000;
/// Fewer digits of an identifier name too much by accident.
const DIGITS_MIN: usize = 4;

/// What a browser is asked to make a passkey with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct EnrolOptions {
    /// What the authenticator answers.
    pub challenge: String,
    /// The host that the passkey is for.
    pub rp_id: String,
    /// Who asks.
    pub rp_name: String,
    /// Whose it is.
    pub user_id: String,
    /// What the browser calls them.
    pub user_name: String,
    /// COSE numbers of what is accepted, the preferred first.
    pub algorithms: Vec<i64>,
    /// Identifiers of passkeys that are enrolled here already.
    pub exclude: Vec<String>,
    /// Until when the challenge can be answered.
    pub expires_at: i64,
}

/// What a browser answers when it has made one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attested {
    /// What the browser says.
    pub client_data_json: String,
    /// What the authenticator says.
    pub attestation_object: String,
    /// How it is reached.
    pub transports: Vec<String>,
}

/// What a browser is asked to sign a yes with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Asked {
    /// The canonical JSON of the decision.
    pub decision: String,
    /// Its SHA-256.
    pub challenge: String,
    /// Identifiers of passkeys that may sign it.
    pub credentials: Vec<String>,
    /// The host that they are for.
    pub rp_id: String,
}

/// What a browser answers when a passkey has signed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asserted {
    /// Which passkey.
    pub credential_id: String,
    /// What the browser says.
    pub client_data_json: String,
    /// What the authenticator says.
    pub authenticator_data: String,
    /// Over both.
    pub signature: String,
    /// The decision that was asked about, as it was.
    pub decision: String,
}

/// What to ask a browser for at this origin. The challenge is the transport's: random, and good once.
///
/// # Errors
/// [`Code::Refused`] for an origin at which there are no passkeys; [`Code::KeyLocked`] without an approval key.
pub fn options(host: &dyn Host, origin: &str, challenge: [u8; 32]) -> Result<EnrolOptions, Error> {
    let rp_id = rp_id_of(origin).map_err(refused)?;
    let state = fold::store_state(&host.reader()?)?;
    let there = state.passkeys.in_force(approval_key(&state)?).filter(|one| one.rp_id == rp_id);
    let exclude = there.map(|one| one.credential_id.clone()).collect();
    let person = state.principal(PrincipalType::User).wire()?.to_string();
    Ok(EnrolOptions {
        challenge: base64url(&challenge),
        rp_id: rp_id.to_owned(),
        rp_name: "Hermit".to_owned(),
        user_id: base64url(person.as_bytes()),
        user_name: "approvals in Hermit".to_owned(),
        algorithms: vec![ES256, EDDSA],
        exclude,
        expires_at: host.now().0.saturating_add(ENROL_MS_MAX),
    })
}

/// Lets the passkey that a browser made for this challenge say yes, signed by the approval key, which the passphrase opens for
/// this one signature.
///
/// # Errors
/// As [`options`]; [`Code::Refused`] when what came is not about this challenge at this origin, or of nobody who was verified;
/// [`Code::KeyLocked`] for a wrong passphrase, [`Code::Conflict`] for a passkey that is known.
pub fn enrol(
    host: &dyn Host,
    origin: &str,
    challenge: &[u8; 32],
    name: &str,
    came: &Attested,
    passphrase: &[u8],
) -> Result<Passkey, Error> {
    let kernel = host.kernel()?;
    let rp_id = rp_id_of(origin).map_err(refused)?;
    let (said, object) = (bytes(&came.client_data_json)?, bytes(&came.attestation_object)?);
    let credential = attested(&said, &object, challenge, (origin, rp_id)).map_err(|f| refused(f.into()))?;
    let reader = host.reader()?;
    let draft = PasskeyEnrolment {
        format: PASSKEY_FORMAT.to_owned(),
        log_id: reader.log_id().to_owned(),
        credential_id: base64url(&credential.credential_id),
        public_key: credential.key.to_base64(),
        rp_id: rp_id.to_owned(),
        origin: origin.to_owned(),
        authenticator_data: base64url(&credential.authenticator_data),
        surface: Surface::Browser,
        enrolled_by: fold::store_state(&reader)?.principal(PrincipalType::User).wire()?,
        enrolled_at: host.now(),
    };
    let envelope = host.sign_passkey(&draft, passphrase)?;
    let id = kernel.enrol_passkey(&envelope, name, &came.transports).wire()?;
    one(host, id)
}

/// What to ask a browser for, so that a passkey of this origin says yes to exactly what was shown.
///
/// # Errors
/// As [`crate::page_approval::allow`]; [`Code::NotFound`] when no passkey is enrolled at this origin.
pub fn ask(host: &dyn Host, origin: &str, approval: &str, packet_sha256: &str) -> Result<Asked, Error> {
    let rp_id = rp_id_of(origin).map_err(refused)?;
    let row = as_shown(host, approval, packet_sha256)?;
    let state = fold::store_state(&host.reader()?)?;
    let credentials = here(&state, origin)?.map(|one| one.credential_id.clone()).collect::<Vec<_>>();
    if credentials.is_empty() {
        return Err(none_here(origin));
    }
    let packet = host.artifacts()?.read(&row.packet_sha256).wire()?;
    let person = state.principal(PrincipalType::User).wire()?;
    let decision =
        answer(&packet, Choice::Once, Surface::Browser, person, host.now(), None).map_err(refused)?;
    let decision = canon::to_canonical(&decision).map_err(failed)?;
    Ok(Asked {
        challenge: base64url(Digest::of(&decision).as_bytes()),
        decision: base64url(&decision),
        credentials,
        rp_id: rp_id.to_owned(),
    })
}

/// A yes that a passkey of this origin signed, to exactly what was shown.
///
/// # Errors
/// As [`ask`]; [`Code::Refused`] when anything about the signature does not hold.
pub fn allow(
    host: &dyn Host,
    origin: &str,
    approval: &str,
    packet_sha256: &str,
    came: &Asserted,
) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let row = as_shown(host, approval, packet_sha256)?;
    let state = fold::store_state(&host.reader()?)?;
    if !here(&state, origin)?.any(|one| one.credential_id == came.credential_id) {
        return Err(none_here(origin));
    }
    let signed = Signed {
        payload_type: DECISION_PAYLOAD_TYPE.to_owned(),
        payload: bytes(&came.decision)?,
        webauthn: Assertion {
            credential_id: bytes(&came.credential_id)?,
            authenticator_data: bytes(&came.authenticator_data)?,
            client_data_json: bytes(&came.client_data_json)?,
            signature: bytes(&came.signature)?,
        },
    };
    let signed = signed.to_bytes().map_err(failed)?;
    let came = kernel.decide_approval_by_passkey(row.task_id, row.approval_id, &signed).wire()?;
    answered(host, &row, came)
}

/// Lets the passkey on a security key say yes, as the approval key signed at a terminal or before the app's window.
///
/// # Errors
/// [`Code::Refused`] for a passkey of another place, and when anything about the envelope does not hold; [`Code::Conflict`]
/// for one that is known.
pub(crate) fn enrol_security_key(host: &dyn Host, envelope: &[u8], name: &str) -> Result<Passkey, Error> {
    let kernel = host.kernel()?;
    let reader = host.reader()?;
    let (_, key) = fold::store_state(&reader)?.keys.get(&KeyPurpose::Approval).copied().ok_or_else(no_key)?;
    let passkey = governance::approval::passkey(envelope, reader.log_id(), &key).map_err(refused)?;
    if passkey.enrolment.origin != SECURITY_KEY_ORIGIN {
        let why = "a passkey of a page is enrolled on that page";
        return Err(refused(Refusal::new("passkey_origin", why)));
    }
    let id = kernel.enrol_passkey(envelope, name, &["usb".to_owned()]).wire()?;
    one(host, id)
}

/// A yes that a security key signed; none where these bytes are no such thing but a decision in an envelope.
///
/// # Errors
/// [`Code::Refused`] when anything about the signature does not hold, and for a passkey of a page: what it signs comes
/// through the ticket of its card.
pub(crate) fn decided_by_security_key(
    host: &dyn Host,
    (task, approval): (TaskId, ApprovalId),
    bytes: &[u8],
) -> Result<Option<Answered>, Error> {
    let Ok(signed) = Signed::parse(bytes) else { return Ok(None) };
    let id = base64url(&signed.webauthn.credential_id);
    let state = fold::store_state(&host.reader()?)?;
    let is_of_a_page = |one: &&PasskeyRecord| one.credential_id == id && one.origin != SECURITY_KEY_ORIGIN;
    if state.passkeys.all().iter().any(is_of_a_page) {
        let why = "a passkey of a page says yes on that page, and the key of another machine at that machine";
        return Err(refused(Refusal::new("passkey_origin", why)));
    }
    host.kernel()?.decide_approval_by_passkey(task, approval, bytes).wire().map(Some)
}

/// Every passkey that was ever enrolled, the oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn list(host: &dyn Host) -> Result<Vec<Passkey>, Error> {
    let state = fold::store_state(&host.reader()?)?;
    Ok(state.passkeys.all().into_iter().map(|record| row(&state, record)).collect())
}

/// Revokes a passkey, by its identifier, the beginning of it, or its name. Taking away needs no signature.
///
/// # Errors
/// [`Code::NotFound`], [`Code::Usage`] when several are meant, [`Code::Conflict`] when it is revoked already.
pub fn revoke(host: &dyn Host, passkey: &str) -> Result<Passkey, Error> {
    revoke_because(host, passkey, "revoked on a page")
}

/// [`revoke`], with why.
pub(crate) fn revoke_because(host: &dyn Host, named: &str, reason: &str) -> Result<Passkey, Error> {
    let kernel = host.kernel()?;
    let id = meant(&fold::store_state(&host.reader()?)?, named)?;
    kernel.revoke_passkey(id, reason).wire()?;
    one(host, id)
}

/// The one that is meant: of several of a name the one that is not revoked.
fn meant(state: &StoreState, named: &str) -> Result<Digest, Error> {
    let named = named.trim();
    let begins = |one: &PasskeyRecord| {
        named.len() >= DIGITS_MIN && one.passkey.to_string().starts_with(&named.to_ascii_lowercase())
    };
    let mut fits: Vec<&PasskeyRecord> = state.passkeys.all();
    fits.retain(|one| begins(one) || one.name.as_deref() == Some(named));
    if fits.len() > 1 {
        fits.retain(|one| one.revoked_at.is_none());
    }
    match fits.as_slice() {
        [one] => Ok(one.passkey),
        [] => Err(not_found("passkey", named)),
        several => {
            Err(usage(format!("`{named}` means {} passkeys; give more of an identifier", several.len())))
        }
    }
}

fn one(host: &dyn Host, id: Digest) -> Result<Passkey, Error> {
    let state = fold::store_state(&host.reader()?)?;
    let record = state.passkeys.get(id).ok_or_else(|| not_found("passkey", &id.to_string()))?;
    Ok(row(&state, record))
}

fn row(state: &StoreState, record: &PasskeyRecord) -> Passkey {
    let key = PasskeyKey::from_base64(&record.public_key);
    let approval_key = state.keys.get(&KeyPurpose::Approval).map(|(keyid, _)| *keyid);
    Passkey {
        passkey_id: record.passkey.to_string(),
        name: record.name.clone(),
        rp_id: record.rp_id.clone(),
        origin: record.origin.clone(),
        algorithm: key.map(|key| key.algorithm().to_owned()).unwrap_or_default(),
        created_at: record.enrolled_at.0,
        last_used_at: record.last_used_at.map(|at| at.0),
        revoked_at: record.revoked_at.map(|at| at.0),
        in_force: record.revoked_at.is_none() && approval_key == Some(record.keyid),
        backed_up: record.is_backed_up,
        transports: record.transports.clone(),
    }
}

/// Passkeys that may say yes at this origin.
fn here<'a>(
    state: &'a StoreState,
    origin: &'a str,
) -> Result<impl Iterator<Item = &'a PasskeyRecord>, Error> {
    Ok(state.passkeys.in_force(approval_key(state)?).filter(move |one| one.origin == origin))
}

fn none_here(origin: &str) -> Error {
    Error::new(Code::NotFound, format!("no such passkey is enrolled for {origin}"))
        .hint("add it in the settings of this page, or give the approval passphrase")
}

fn approval_key(state: &StoreState) -> Result<Digest, Error> {
    state.keys.get(&KeyPurpose::Approval).map(|(keyid, _)| *keyid).ok_or_else(no_key)
}

fn no_key() -> Error {
    Error::new(Code::KeyLocked, "this store has no approval key")
        .hint("make it at a terminal: `hermit keys init`")
}

fn bytes(text: &str) -> Result<Vec<u8>, Error> {
    base64url_decode(text).map_err(|e| usage(e.to_string()))
}

fn refused(refusal: Refusal) -> Error {
    of_kernel(kernel::Error::from(refusal))
}
