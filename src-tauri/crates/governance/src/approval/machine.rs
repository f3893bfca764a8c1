//! A yes at another machine of the same person: that machine's approval key stands where a passkey would, so that everything that
//! is checked of a passkey is checked of it (mesh.md 4).

use super::decision::answer;
use crate::Refusal;
use model::approval::{Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::passkey::{MESH_ORIGIN, PASSKEY_FORMAT, PasskeyEnrolment};
use model::{PrincipalId, UnixMs};
use seal::webauthn::{self, PasskeyKey};
use seal::{Digest, PublicKey, Signer, canon};

/// By what an approval key is known that says yes at a machine: the machine's key in the mesh, and the key's name.
fn credential_id(machine: Digest, key: &PublicKey) -> Vec<u8> {
    [*machine.as_bytes(), *key.keyid().as_bytes()].concat()
}

/// The machine that an enrolment is for, by its identifier in base64url; none where no machine is named so.
pub fn machine_of(credential_id: &str) -> Option<Digest> {
    let bytes = webauthn::base64url_decode(credential_id).ok()?;
    let (machine, keyid) = bytes.split_first_chunk::<32>()?;
    (keyid.len() == 32).then_some(Digest(*machine))
}

/// The host for which the approval key of another machine says yes: the machine that asks, by its key in the mesh. So a yes to one
/// machine is none to another, whoever else the same key may say yes to.
pub fn host_of_asking(asking: Digest) -> String {
    format!("{MESH_ORIGIN}/{asking}")
}

/// The machine that asks, by the host of an enrolment; none where no machine is named so.
pub(super) fn asking_of(rp_id: &str) -> Option<Digest> {
    let asking: Digest = rp_id.strip_prefix(MESH_ORIGIN)?.strip_prefix('/')?.parse().ok()?;
    (host_of_asking(asking) == rp_id).then_some(asking)
}

/// What a person's approval key signs so that the approval key of another machine can say yes in the store `log_id`, to what the machine
/// `asking` asks.
pub fn machine_enrolment(
    (machine, key): (Digest, &PublicKey),
    (log_id, asking): (&str, Digest),
    (enrolled_by, surface): (PrincipalId, Surface),
    enrolled_at: UnixMs,
) -> PasskeyEnrolment {
    let (id, rp_id) = (credential_id(machine, key), host_of_asking(asking));
    PasskeyEnrolment {
        format: PASSKEY_FORMAT.to_owned(),
        log_id: log_id.to_owned(),
        credential_id: webauthn::base64url(&id),
        public_key: PasskeyKey::ed25519(*key).to_base64(),
        origin: MESH_ORIGIN.to_owned(),
        authenticator_data: webauthn::base64url(&webauthn::made_of(key, &id, &rp_id)),
        rp_id,
        surface,
        enrolled_by,
        enrolled_at,
    }
}

/// A yes to exactly these packet bytes of another machine, signed by the approval key of this one; as that machine takes it from a
/// passkey. `asking` is that machine, `decided_at` is by its clock, `person` is whom it asks, `counter` higher than any told before.
///
/// # Errors
/// `packet_unreadable` when the bytes are no packet; whatever the signer says.
pub fn sign_at_machine(
    packet_bytes: &[u8],
    (person, decided_at): (PrincipalId, UnixMs),
    (machine, asking, counter): (Digest, Digest, u32),
    signer: &dyn Signer,
) -> Result<Vec<u8>, Refusal> {
    let decision = answer(packet_bytes, Choice::Once, Surface::Mesh, person, decided_at, None)?;
    let payload = canon::to_canonical(&decision)?;
    let id = credential_id(machine, &signer.public());
    let host = host_of_asking(asking);
    let at = (MESH_ORIGIN, host.as_str());
    let signed = webauthn::signed_by(signer, (DECISION_PAYLOAD_TYPE, payload), (id, counter), at)?;
    Ok(signed.to_bytes()?)
}
