//! The events of gateways, which stand behind the others in the registry (schedule.md 2).
//!
//! What a person decides stands in the store's own stream, and so does who is paired; what comes in and goes out stands in a
//! stream of each gateway, which `gateway.kept` names.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_gateways {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person said yes to a gateway, in this version: it is listened to from now on.
        GatewayKept ("gateway.kept", 1, Gateway, |b| b.name) {
            name: String, version: u32, service: Service, gateway: ArtifactRef, action_request_id: ActionRequestId, kept_at: UnixMs,
            messages_task_id: TaskId, principal_id: PrincipalId,
        }
        /// A gateway is paused: by a person, or by itself because its service refuses the token.
        GatewayPaused ("gateway.paused", 1, Gateway, |b| b.name) { name: String, by_itself: bool, reason: Text }
        /// A person resumed a gateway.
        GatewayResumed ("gateway.resumed", 1, Gateway, |b| b.name) { name: String, resumed_at: UnixMs }
        /// A gateway is removed.
        GatewayRemoved ("gateway.removed", 1, Gateway, |b| b.name) { name: String, reason: Text }
        /// A person allowed that whoever sends this code first is paired; once, and until then.
        PairingAllowed ("gateway.pairing_allowed", 1, Gateway, |b| b.name) {
            name: String, code_sha256: Digest, profile: SenderProfile, action_request_id: ActionRequestId, allowed_at: UnixMs,
            expires_at: UnixMs,
        }
        /// A sender sent the code, and is heard from now on.
        SenderPaired ("sender.paired", 1, Gateway, |b| b.name) {
            name: String, principal_id: PrincipalId, sender: Text, sender_name: Text, chat: Text, profile: SenderProfile,
            conversation_id: ConversationId, code_sha256: Digest, paired_at: UnixMs,
        }
        /// A sender is not heard any more.
        SenderUnpaired ("sender.unpaired", 1, Gateway, |b| b.name) { name: String, principal_id: PrincipalId, reason: Text }
        /// A message of a paired sender came in, as its envelope says, and what it was used as. Its key is the service's own id of it.
        MessageReceived ("message.received", 1, Gateway, |b| b.name) {
            name: String, principal_id: PrincipalId, seq: u64, envelope: ArtifactRef, used_as: MessageUse,
            ingress_id: Option<IngressId>, about_task_id: Option<TaskId>, button_sha256: Option<Digest>,
        }
        /// Messages were refused for this reason: so many by now, at least. It is said when their number has doubled.
        MessageRefused ("message.refused", 1, Gateway, |b| b.name) { name: String, refusal: MessageRefusal, times: u64 }
        /// A sender who sent wrong codes is not heard until then.
        SenderSilenced ("sender.silenced", 1, Gateway, |b| b.name) { name: String, sender: Text, until: UnixMs }
        /// How far the service was read. `matters`: places in this stream, before this one, that still tell something.
        GatewayRead ("gateway.read", 1, Gateway, |b| b.name) { name: String, cursor: Text, read_at: UnixMs; since matters: Vec<u64> }
        /// A message is to go out to a sender, once for each key. A button of it denies the approval that it is about.
        MessageQueued ("message.queued", 1, Gateway, |b| b.name) {
            name: String, principal_id: PrincipalId, repeat_key: String, about: MessageAbout, body: ArtifactRef,
            about_task_id: Option<TaskId>, approval_id: Option<ApprovalId>, button_sha256: Option<Digest>,
        }
        /// A task was begun that sends a message: the act in it is judged, granted and receipted.
        MessageSending ("message.sending", 1, Gateway, |b| b.name) { name: String, repeat_key: String, sent_by: TaskId, attempt: u32 }
        /// What came of that: it is sent, may be sent, is not sent, or is tried again.
        MessageSettled ("message.settled", 1, Gateway, |b| b.name) {
            name: String, repeat_key: String, state: MessageState, why: Text, settled_at: UnixMs, message_id: Option<Text>,
        }
    } };
}
