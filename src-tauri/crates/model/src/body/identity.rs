//! The events of who an instance is, which stand behind the others in the registry (mesh.md 2). All of them are in the store's own
//! stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_identity {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person said yes to SOUL.md in this version: its exact bytes are the artifact.
        SoulWritten ("identity.soul_written", 1, Identity, |b| b.instance_id) {
            instance_id: String, version: u32, soul: ArtifactRef, previous: Option<Digest>, action_request_id: ActionRequestId,
            written_at: UnixMs,
        }
        /// The instance has a key, and it and the log's key vouch for each other.
        InstanceKeyRegistered ("identity.key_registered", 1, Identity, |b| b.statement.instance_id) {
            statement: InstanceKey, signature_by_log: String, signature_by_instance: String,
        }
        /// The instance signed a link of its own chain: an attestation, a hand-over or a revocation. `link_sha256`: of the link's
        /// canonical bytes. The signed link is the artifact.
        IdentityLinked ("identity.linked", 1, Identity, |b| b.instance_id) {
            instance_id: String, number: u64, link_sha256: Digest, link: ArtifactRef, linked_at: UnixMs,
        }
        /// Relays took the attestation that an act published; `event_id` as Nostr names it.
        IdentityPublished ("identity.published", 1, Identity, |b| b.instance_id) {
            instance_id: String, link_sha256: Digest, event_id: String, relays: Vec<String>, action_request_id: ActionRequestId,
            published_at: UnixMs,
        }
    } };
}
