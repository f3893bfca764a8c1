//! A relay of Nostr, which keeps what is sealed and shows Kim what was written to them.

use super::sockets::{NOWHERE, socket};
use super::{EVE, KIM, Line, Peer, Room, Written, empty, lock};
use ::nostr::event::{Event, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use ::nostr::key::Keys;
use ::nostr::nips::nip19::ToBech32 as _;
use ::nostr::nips::nip59::{GiftWrapBuilder, UnwrappedGift};
use ::nostr::types::Timestamp;
use model::gateway::Service;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Keys that stand nowhere else.
const OURS: &str = "1111111111111111111111111111111111111111111111111111111111111111";

fn keys(of: &str) -> Keys {
    let digit = match of {
        KIM => "2",
        EVE => "3",
        _ => "4",
    };
    Keys::parse(&digit.repeat(64)).unwrap()
}

fn names(who: &str) -> (String, String) {
    let npub = keys(who).public_key().to_bech32().unwrap();
    (npub.clone(), npub)
}

/// What relays keep: wraps of what was written, made once each, and copies that the bot keeps of what it sent.
#[derive(Default)]
struct Kept {
    wraps: BTreeMap<i64, Value>,
    copies: Vec<Value>,
}

impl Kept {
    /// The wrap of a message, the same each time.
    fn wrap(&mut self, one: &Written) -> Value {
        let made = || {
            let ours = Keys::parse(OURS).unwrap().public_key();
            let at = Timestamp::from_secs(u64::try_from(one.at / 1000).unwrap());
            let tags = [Tag::public_key(ours), Tag::custom("number", [one.id.to_string()])];
            let rumour = UnsignedEvent::new(
                keys(one.who).public_key(),
                at,
                Kind::PrivateDirectMessage,
                tags,
                one.text.as_str(),
            );
            json!(GiftWrapBuilder::new(ours, rumour).finalize(&keys(one.who)).unwrap())
        };
        self.wraps.entry(one.id).or_insert_with(made).clone()
    }

    /// What is kept and asked for, the newest first.
    fn meant(&mut self, room: &Room, filter: &Value) -> Vec<Value> {
        let of = |name: &str| filter.get(name).and_then(Value::as_array);
        if of("kinds").is_none_or(|kinds| !kinds.contains(&json!(Kind::GiftWrap.as_u16()))) {
            return Vec::new();
        }
        if let Some(authors) = of("authors") {
            return self.copies.iter().filter(|copy| authors.contains(&copy["pubkey"])).cloned().collect();
        }
        let mut meant: Vec<Value> = room.written.iter().map(|one| self.wrap(one)).collect();
        let at = |event: &Value| event["created_at"].as_u64().unwrap_or_default();
        let within = |name: &str| filter.get(name).and_then(Value::as_u64);
        meant.retain(|event| within("since").is_none_or(|since| at(event) >= since));
        meant.retain(|event| within("until").is_none_or(|until| at(event) <= until));
        meant.sort_by_key(|event| std::cmp::Reverse(at(event)));
        meant
    }
}

/// Takes an event. One for a person is shown to them; a relay that falls silent says nothing of those.
fn takes(room: &mut Room, kept: &mut Kept, event: &Value) -> Vec<Value> {
    let taken = vec![json!(["OK", event["id"], true, ""])];
    let wrap: Event = serde_json::from_value(event.clone()).unwrap();
    match UnwrappedGift::from_gift_wrap(&keys(KIM), &wrap) {
        Err(_) => {
            kept.copies.push(event.clone());
            taken
        }
        Ok(mut opened) => {
            // Programs show a message once, by its id.
            let key = opened.rumor.id().to_hex();
            room.takes(Some(key), opened.rumor.content, true).map_or_else(Vec::new, |_| taken)
        }
    }
}

fn says(room: &mut Room, kept: &mut Kept, place: &mut usize, heard: Option<&Value>) -> Vec<Value> {
    let Some(heard) = heard else {
        let new: Vec<Written> = room.written.iter().skip(*place).cloned().collect();
        *place = (*place).max(if *place == NOWHERE { NOWHERE } else { room.written.len() });
        return new.iter().map(|one| json!(["EVENT", "inbox", kept.wrap(one)])).collect();
    };
    match heard[0].as_str() {
        Some("REQ") => {
            if heard[1] == "inbox" {
                *place = room.written.len();
            }
            let meant = kept.meant(room, &heard[2]);
            let events = meant.into_iter().map(|event| json!(["EVENT", heard[1], event]));
            events.chain([json!(["EOSE", heard[1]])]).collect()
        }
        Some("EVENT") => takes(room, kept, &heard[1]),
        _ => Vec::new(),
    }
}

pub fn nostr() -> Peer {
    let room = empty();
    let (of, kept) = (Arc::clone(&room), Mutex::new(Kept::default()));
    let port = socket(move |place, heard| {
        let mut room = lock(&of);
        says(&mut room, &mut kept.lock().unwrap(), place, heard)
    });
    let line = Line::to(port);
    Peer {
        service: Service::Nostr,
        address: line.url("ws"),
        settings: BTreeMap::new(),
        token: OURS,
        names,
        knows_repeats: true,
        calls: false,
        room,
        lines: vec![line],
    }
}
