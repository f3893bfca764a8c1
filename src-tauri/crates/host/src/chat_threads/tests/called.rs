//! A service that is not asked for messages, and brings them in calls.

use super::*;

impl Story {
    /// What a program says in calls of its own, those that were not answered first; whether it got through.
    pub(super) fn is_called(&mut self) -> bool {
        let host = self.host.as_mut().expect("a host is there");
        let place = host.read.as_ref().map_or(0, |read| read.parse().unwrap());
        let now = self.world.clock.now();
        let Some(calls) = self.peer.calls_from(place, now.0) else { return false };
        for (place, call) in (place + 1..).zip(calls) {
            let heard = api::Chats::said(&*host.listener.chats, "bot", &call, now).unwrap();
            let key = (heard.chat.clone(), heard.message_id.clone());
            let take = || host.kernel.wrap(NAME, heard).and_then(|it| host.kernel.receive_message(NAME, &it));
            if !catch_unwind(AssertUnwindSafe(take)).is_ok_and(|came| came.is_ok()) {
                return false;
            }
            self.given.insert(key);
            host.read = Some(place.to_string());
        }
        true
    }
}
