//! A relay of a simulation: one that keeps to the rules, or one that does not.

use crate::fake::Seeded;
use mesh::NodeId;
use mesh::frame::{self, Frame};
use mesh::sealed::PRESENCE_KIND;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How a relay behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It keeps what it takes.
    Honest,
    /// It says that it has everything, and forgets a third of it.
    Forgets,
    /// It sends twice, late, out of order, and bent, and floods with what nobody can read.
    Hostile,
}

pub struct Relay {
    pub manner: Manner,
    pub side: usize,
    kept: BTreeMap<NodeId, Vec<Rc<[u8]>>>,
    presences: BTreeMap<(NodeId, NodeId), Rc<[u8]>>,
    subscribed: BTreeMap<NodeId, BTreeSet<usize>>,
    known: BTreeSet<seal::Digest>,
}

/// What a relay sends: to whom, after how many milliseconds, what.
pub type Sent = (usize, i64, Rc<[u8]>);

fn delivered(event: &[u8]) -> Rc<[u8]> {
    // `["EVENT",{…}]` becomes `["EVENT","hermit-mesh",{…}]`.
    let rest = event.strip_prefix(b"[\"EVENT\",".as_slice()).unwrap();
    [b"[\"EVENT\",\"hermit-mesh\",".as_slice(), rest].concat().into()
}

impl Relay {
    pub fn new(manner: Manner) -> Self {
        let (kept, presences) = (BTreeMap::new(), BTreeMap::new());
        Self { manner, side: 0, kept, presences, subscribed: BTreeMap::new(), known: BTreeSet::new() }
    }

    pub fn leave(&mut self, node: usize) {
        for subscribers in self.subscribed.values_mut() {
            subscribers.remove(&node);
        }
    }

    pub fn written(&mut self, by: usize, bytes: &[u8], rng: &mut Seeded) -> Vec<Sent> {
        if bytes.starts_with(b"[\"REQ\"") {
            return self.subscribe(by, bytes, rng);
        }
        let Some(Frame::Event(event)) = frame::read(bytes) else { return Vec::new() };
        let Some(to) = event.receiver() else { return Vec::new() };
        let ok = serde_json::to_vec(&("OK", event.id, true, "")).unwrap();
        let mut sent: Vec<Sent> = vec![(by, 40, ok.into())];
        if (self.manner == Manner::Forgets && rng.percent(33)) || !self.known.insert(event.id) {
            return sent;
        }
        let bytes = delivered(bytes);
        if event.kind == PRESENCE_KIND {
            self.presences.insert((to, event.pubkey), bytes.clone());
        } else {
            self.kept.entry(to).or_default().push(bytes.clone());
        }
        let subscribers: Vec<usize> = self.subscribed.get(&to).into_iter().flatten().copied().collect();
        for node in subscribers.into_iter().filter(|node| *node != by) {
            self.send(node, &bytes, rng, &mut sent);
        }
        sent
    }

    fn subscribe(&mut self, by: usize, bytes: &[u8], rng: &mut Seeded) -> Vec<Sent> {
        let request: Vec<Value> = serde_json::from_slice(bytes).unwrap();
        let receivers: Vec<NodeId> = serde_json::from_value(request[2]["#p"].clone()).unwrap();
        self.leave(by);
        let mut sent = Vec::new();
        for to in receivers {
            self.subscribed.entry(to).or_default().insert(by);
            let presences = self.presences.iter().filter(|((of, _), _)| *of == to).map(|(_, bytes)| bytes);
            let old: Vec<_> = self.kept.get(&to).into_iter().flatten().chain(presences).cloned().collect();
            for bytes in old {
                self.send(by, &bytes, rng, &mut sent);
            }
        }
        sent
    }

    fn send(&self, to: usize, bytes: &Rc<[u8]>, rng: &mut Seeded, sent: &mut Vec<Sent>) {
        if self.manner != Manner::Hostile {
            sent.push((to, 50 + i64::try_from(rng.of(200)).unwrap(), bytes.clone()));
            return;
        }
        let later = |rng: &mut Seeded| 50 + i64::try_from(rng.of(90_000)).unwrap();
        match rng.of(10) {
            0..=2 => {}
            3 => {
                let mut bent = bytes.to_vec();
                let at = 30 + rng.of(bent.len() - 30);
                bent[at] ^= 1;
                sent.push((to, later(rng), bent.into()));
                sent.push((to, 60, b"[\"EVENT\",\"x\",{\"id\":0}]".to_vec().into()));
                sent.push((to, 60, vec![b'['; 2_000].into()));
            }
            4..=6 => {
                for _ in 0..3 {
                    sent.push((to, later(rng), bytes.clone()));
                }
            }
            _ => sent.push((to, later(rng), bytes.clone())),
        }
    }
}
