//! The events of passkeys, which stand behind the others in the registry (schedule.md 4). All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_passkeys {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person's approval key lets a passkey say yes from now on; what the key signed is the artifact.
        PasskeyEnrolled ("passkey.enrolled", 1, Key, |b| b.passkey) {
            passkey: Digest, enrolment: ArtifactRef, keyid: Digest, credential_id: String, public_key: String, rp_id: String,
            origin: String, counter: u32, backed_up: bool, transports: Vec<String>, name: Text, enrolled_by: PrincipalId,
            enrolled_at: UnixMs,
        }
        /// A passkey said yes, and had counted so far; committed with the yes.
        PasskeyUsed ("passkey.used", 1, Key, |b| b.passkey) {
            passkey: Digest, approval_id: ApprovalId, counter: u32, backed_up: bool, used_at: UnixMs,
        }
        /// A passkey signed and had not counted on from `counter`, so that there may be a copy of it: nothing was decided.
        PasskeyRefused ("passkey.refused", 1, Key, |b| b.passkey) { passkey: Digest, approval_id: ApprovalId, counter: u32 }
        /// A passkey says yes no more.
        PasskeyRevoked ("passkey.revoked", 1, Key, |b| b.passkey) { passkey: Digest, revoked_at: UnixMs, reason: Text }
    } };
}
