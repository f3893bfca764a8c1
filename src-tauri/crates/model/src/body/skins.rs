//! The events of skins, which stand behind the others in the registry (schedule.md 3). All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_skins {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person trusted a skin: exactly the bytes of this file.
        SkinTrusted ("skin.trusted", 1, Skin, |b| b.skin_sha256) {
            name: String, version: u32, skin_sha256: Digest, keyid: Digest, skin: ArtifactRef, action_request_id: ActionRequestId,
            trusted_at: UnixMs,
        }
        /// A skin is not trusted any more: conversations that have it go on without it.
        SkinUntrusted ("skin.untrusted", 1, Skin, |b| b.skin_sha256) { name: String, skin_sha256: Digest, reason: Text }
        /// A conversation has this skin from the next context on; or none.
        SkinChosen ("conversation.skin_chosen", 1, Conversation, |b| b.conversation_id) {
            conversation_id: ConversationId, name: Option<String>, skin_sha256: Option<Digest>, chosen_at: UnixMs,
        }
    } };
}
