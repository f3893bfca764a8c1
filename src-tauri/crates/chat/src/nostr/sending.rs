//! What is sent over Nostr: a message once, however often it is tried, and only to whom it reaches.

use super::relay::Sent;
use super::{Nostr, wrap};
use crate::{Fault, Outgoing, clean, http};
use ::nostr::event::{Event, Kind, UnsignedEvent};
use ::nostr::key::PublicKey;
use serde_json::json;
use url::Url;

/// Relays of a receiver that are looked at.
const INBOXES_MAX: usize = 10;

impl Nostr {
    /// Sends a message by the relays that are connected; its id.
    pub(super) fn sent(&mut self, to: PublicKey, out: &Outgoing) -> Result<String, Fault> {
        if let Some(why) = self.out_of_reach(to) {
            return Err(Fault::refused(why));
        }
        let rumour = self.kept_rumour(to, out)?;
        let id = rumour.compute_id().to_hex();
        let sealed = wrap::wrapped(&self.keys, to, rumour);
        let sealed = sealed.ok_or_else(|| Fault::refused("the message cannot be sealed"))?;
        self.publish(&sealed).map(|()| id)
    }

    /// Why a receiver does not read what these relays keep, as far as the receiver says where they read.
    fn out_of_reach(&mut self, to: PublicKey) -> Option<String> {
        let filter = json!({ "kinds": [Kind::InboxRelays.as_u16()], "authors": [to.to_hex()], "limit": 1 });
        let mut newest: Option<Event> = None;
        for one in &mut self.relays {
            for event in one.relay.ask(&self.keys, &filter).unwrap_or_default() {
                let event = wrap::signed(&event, Kind::InboxRelays).filter(|event| event.pubkey == to);
                let is_newer =
                    |event: &Event| newest.as_ref().is_none_or(|newest| newest.created_at < event.created_at);
                if let Some(event) = event.filter(is_newer) {
                    newest = Some(event);
                }
            }
        }
        let listed: Vec<Url> = newest
            .iter()
            .flat_map(|event| event.tags.iter())
            .filter(|tag| tag.kind() == "relay")
            .take(INBOXES_MAX)
            .filter_map(|tag| http::place(tag.content()?).ok())
            .filter(|url| matches!(url.scheme(), "wss" | "ws"))
            .collect();
        let is_ours = |url: &Url| self.relays.iter().any(|one| one.relay.url() == url);
        (!listed.is_empty() && !listed.iter().any(is_ours)).then(|| {
            let names: Vec<String> = listed.iter().map(|url| clean::said(url.as_str(), &[])).collect();
            format!(
                "the receiver reads at {}, and at none of this gateway's relays; add one of those to it",
                names.join(", ")
            )
        })
    }

    /// The rumour of a message: the one that was made when it was sent before, as the copy at the relays says, or a new one that
    /// stands there from now on.
    fn kept_rumour(&mut self, to: PublicKey, out: &Outgoing) -> Result<UnsignedEvent, Fault> {
        let unsealed = || Fault::refused("the message cannot be sealed");
        let rumour = wrap::rumour(&self.keys, to, &out.text, out.reply_to.as_deref());
        let own = wrap::copy_keys(&self.keys, &out.repeat_key).ok_or_else(unsealed)?;
        let me = self.keys.public_key();
        let filter = json!({
            "kinds": [Kind::GiftWrap.as_u16()], "authors": [own.public_key().to_hex()], "#p": [me.to_hex()], "limit": 1,
        });
        for one in &mut self.relays {
            for event in one.relay.ask(&self.keys, &filter).unwrap_or_default() {
                let wrap = wrap::signed(&event, Kind::GiftWrap);
                let wrap = wrap.filter(|wrap| wrap.pubkey == own.public_key());
                let before = wrap.and_then(|wrap| wrap::open(&self.keys, &wrap));
                if let Some(before) = before.filter(|before| wrap::is_same(&before.rumour, &rumour)) {
                    return Ok(before.rumour);
                }
            }
        }
        let copy = wrap::copy(&self.keys, &own, rumour.clone(), &out.repeat_key).ok_or_else(unsealed)?;
        match self.publish(&copy) {
            Ok(()) => Ok(rumour),
            // It is nobody's message yet: a repeat finds it, or makes it anew.
            Err(Fault::Unknown { why }) => Err(Fault::away(why)),
            Err(fault) => Err(fault),
        }
    }

    /// Has every relay keep an event; one that does is enough.
    fn publish(&mut self, event: &Event) -> Result<(), Fault> {
        let (mut is_taken, mut is_lost, mut declined) = (false, false, None);
        for one in &mut self.relays {
            match one.relay.publish(&self.keys, event) {
                Sent::Taken => is_taken = true,
                Sent::Lost => is_lost = true,
                Sent::Declined(why) => declined = Some(why),
                Sent::Not => {}
            }
        }
        match declined {
            _ if is_taken => Ok(()),
            _ if is_lost => Err(Fault::unknown("no relay says whether it keeps the message")),
            Some(why) if why.starts_with("rate-limited") || why.starts_with("error") => {
                Err(Fault::away(format!("a relay says `{why}`")))
            }
            Some(why) => Err(Fault::refused(format!("a relay declines the message: `{why}`"))),
            None => Err(self.away()),
        }
    }
}
