//! The events of a person who is elsewhere, which stand behind the others in the registry (schedule.md 4): a passkey signs a page in,
//! and a browser is told by its push service that somebody is waited for. All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_elsewhere {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A passkey signed a page in at the origin it belongs to, and had counted so far.
        PasskeySignedIn ("passkey.signed_in", 1, Key, |b| b.passkey) {
            passkey: Digest, origin: String, counter: u32, backed_up: bool, signed_in_at: UnixMs,
        }
        /// A passkey was to sign a page in and had not counted on from `counter`, so that there may be a copy of it: nobody came in.
        PasskeySignInRefused ("passkey.sign_in_refused", 1, Key, |b| b.passkey) { passkey: Digest, counter: u32 }
        /// A person lets a browser be told by its push service. `subscription`: SHA-256 of the address there. `page`: SHA-256 of the
        /// session that asked. `passkey`: what had signed that page in. `outcomes`: also that a task is done or has failed.
        PushSubscribed ("push.subscribed", 1, Principal, |b| b.subscribed_by) {
            subscription: Digest, service: String, origin: String, name: Text, page: Digest, passkey: Option<Digest>, outcomes: bool,
            subscribed_by: PrincipalId, subscribed_at: UnixMs,
        }
        /// A browser is told no more.
        PushEnded ("push.ended", 1, Principal, |b| b.subscribed_by) {
            subscription: Digest, subscribed_by: PrincipalId, reason: Text, ended_at: UnixMs,
        }
    } };
}
