//! A network in memory: a relay that keeps what it is given, and machines that meet as guests.

use crate::mesh_thread::reach::Reach;
use crate::mesh_thread::ways::Ways;
use serde_json::{Value, json};
use socket::{At, Came};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
struct Place {
    open: BTreeSet<String>,
    comes: VecDeque<Came>,
    listens: Option<SocketAddr>,
    lets_in: bool,
    guests: BTreeMap<u64, (u32, u64)>,
    written: usize,
    is_mute: bool,
}

#[derive(Default)]
struct Inner {
    places: BTreeMap<u32, Place>,
    kept: BTreeMap<String, Vec<Value>>,
    next: u64,
}

/// The network.
#[derive(Clone, Default)]
pub struct Net(Arc<Mutex<Inner>>);

/// One machine's ways into it.
pub struct Double {
    net: Net,
    me: u32,
}

impl Net {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The ways of a machine, which has none open.
    pub fn join(&self, me: u32) -> Double {
        self.inner().places.insert(me, Place::default());
        Double { net: self.clone(), me }
    }

    /// A machine is gone.
    pub fn leave(&self, me: u32) {
        self.inner().places.remove(&me);
    }

    /// What came to a machine next.
    pub fn comes(&self, me: u32) -> Option<Came> {
        self.inner().places.get_mut(&me)?.comes.pop_front()
    }

    /// How many frames a machine wrote.
    pub fn written(&self, me: u32) -> usize {
        self.inner().places.get(&me).map_or(0, |place| place.written)
    }

    /// Whatever a machine writes from now on is lost, as when it dies between its commit and writing.
    pub fn mute(&self, me: u32) {
        self.inner().places.get_mut(&me).expect("it is there").is_mute = true;
    }
}

impl Inner {
    fn give(&mut self, to: u32, url: &str, frame: &Value) {
        let bytes = serde_json::to_vec(frame).expect("it has JSON");
        if let Some(place) = self.places.get_mut(&to)
            && place.open.contains(url)
        {
            place.comes.push_back(Came::Bytes(At::Relay(url.to_owned()), bytes));
        }
    }

    fn relay(&mut self, from: u32, url: &str, frame: &[Value]) {
        match frame {
            [Value::String(word), event] if word == "EVENT" => {
                self.give(from, url, &json!(["OK", event["id"], true, ""]));
                let is_kept = !(20_000..30_000).contains(&event["kind"].as_u64().expect("a kind"));
                if is_kept {
                    self.kept.entry(url.to_owned()).or_default().push(event.clone());
                }
                let others: Vec<u32> = self.places.keys().copied().filter(|to| *to != from).collect();
                for to in others {
                    self.give(to, url, &json!(["EVENT", "any", event]));
                }
            }
            [Value::String(word), Value::String(name), _] if word == "REQ" => {
                for event in self.kept.get(url).cloned().unwrap_or_default() {
                    self.give(from, url, &json!(["EVENT", name, event]));
                }
                self.give(from, url, &json!(["EOSE", name]));
            }
            _ => {}
        }
    }
}

impl Ways for Double {
    fn keep(&self, reach: &Reach) {
        let mut inner = self.net.inner();
        let Some(place) = inner.places.get_mut(&self.me) else { return };
        let shut: Vec<String> = place.open.difference(&reach.relays).cloned().collect();
        let opened: Vec<String> = reach.relays.difference(&place.open).cloned().collect();
        for url in shut {
            place.open.remove(&url);
            place.comes.push_back(Came::Shut(At::Relay(url), "it was ended here".to_owned()));
        }
        for url in opened {
            place.open.insert(url.clone());
            place.comes.push_back(Came::Open(At::Relay(url)));
        }
    }

    fn listen(&self, at: Option<SocketAddr>) -> Result<(), String> {
        if let Some(place) = self.net.inner().places.get_mut(&self.me) {
            place.listens = at;
        }
        Ok(())
    }

    fn accept_guests(&self, are_welcome: bool) {
        if let Some(place) = self.net.inner().places.get_mut(&self.me) {
            place.lets_in = are_welcome;
        }
    }

    fn admit(&self, _: &BTreeSet<String>) {}

    fn dial_guest(&self, at: &str) -> Result<u64, String> {
        let mut inner = self.net.inner();
        let is_there =
            |place: &Place| place.lets_in && place.listens.is_some_and(|here| here.to_string() == at);
        let there = inner.places.iter().find(|(_, place)| is_there(place)).map(|(there, _)| *there);
        let there = there.ok_or("nobody answers")?;
        inner.next += 2;
        let (here, other) = (inner.next, inner.next + 1);
        inner.places.get_mut(&self.me).ok_or("it is gone")?.guests.insert(here, (there, other));
        inner.places.get_mut(&there).ok_or("it is gone")?.guests.insert(other, (self.me, here));
        Ok(here)
    }

    fn hang_up_guest(&self, guest: u64) {
        if let Some(place) = self.net.inner().places.get_mut(&self.me) {
            place.guests.remove(&guest);
        }
    }

    fn write(&self, at: &At, bytes: Vec<u8>) -> bool {
        let At::Relay(url) = at else { return false };
        let mut inner = self.net.inner();
        let Some(place) = inner.places.get_mut(&self.me) else { return false };
        if place.is_mute || !place.open.contains(url) {
            return false;
        }
        place.written += 1;
        let frame: Vec<Value> = serde_json::from_slice(&bytes).expect("a frame");
        inner.relay(self.me, url, &frame);
        true
    }

    fn write_guest(&self, guest: u64, bytes: Vec<u8>) -> bool {
        let mut inner = self.net.inner();
        let Some((there, other)) =
            inner.places.get(&self.me).and_then(|place| place.guests.get(&guest)).copied()
        else {
            return false;
        };
        let Some(place) = inner.places.get_mut(&there) else { return false };
        place.comes.push_back(Came::Guest(other, bytes));
        true
    }

    fn stands(&self) -> Vec<(At, bool, Option<String>)> {
        let inner = self.net.inner();
        let open = inner.places.get(&self.me).map(|place| place.open.clone()).unwrap_or_default();
        open.into_iter().map(|url| (At::Relay(url), true, None)).collect()
    }
}
