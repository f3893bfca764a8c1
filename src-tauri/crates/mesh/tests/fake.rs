//! Chance that is seeded, and a seal that costs nothing and refuses what the real one refuses.

use mesh::sealed::{
    MESSAGE_KIND, NOTICE_KIND, NostrSealing, PRESENCE_KIND, Sealing, Unsealed, WRAP_KIND, WireEvent,
};
use mesh::{Chance, Error, NodeId};
use model::UnixMs;
use seal::Digest;

/// Chance from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Seeded(pub u64);

impl Seeded {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of so many.
    pub fn of(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count.max(1)).unwrap()).unwrap()
    }

    /// Whether something of so many per cent happens.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

impl Chance for Seeded {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// A seal of which a test can make thousands.
pub trait Make: Sealing + Sized {
    fn make(secret: [u8; 32]) -> Self;
}

impl Make for NostrSealing {
    fn make(secret: [u8; 32]) -> Self {
        Self::new(&secret).unwrap()
    }
}

/// A seal without encryption: what nobody may open is not opened, and what nobody signed is not signed.
#[derive(Debug, Clone)]
pub struct Fake {
    me: NodeId,
    groups: Vec<(NodeId, [u8; 32])>,
}

impl Make for Fake {
    fn make(secret: [u8; 32]) -> Self {
        Self { me: NodeId(Digest::of(&secret)), groups: Vec::new() }
    }
}

fn id_of(event: &WireEvent) -> Digest {
    let mut hasher = seal::Hasher::new();
    hasher.update(event.pubkey.0.as_bytes());
    hasher.update(event.created_at.to_be_bytes());
    hasher.update(event.kind.to_be_bytes());
    for tag in event.tags.iter().flatten() {
        hasher.update(tag.as_bytes());
    }
    hasher.update(event.content.as_bytes());
    hasher.finish()
}

fn signed(pubkey: NodeId, kind: u16, tags: Vec<Vec<String>>, content: String, created_at: i64) -> WireEvent {
    let sig = String::new();
    let mut event = WireEvent { id: Digest::ZERO, pubkey, created_at, kind, tags, content, sig };
    event.id = id_of(&event);
    event.sig = format!("{}{}", event.id, event.pubkey);
    event
}

fn holds(event: &WireEvent, kind: u16) -> bool {
    event.kind == kind
        && event.is_bounded()
        && event.id == id_of(event)
        && event.sig == format!("{}{}", event.id, event.pubkey)
}

fn p(node: NodeId) -> Vec<String> {
    vec!["p".to_owned(), node.to_string()]
}

impl Sealing for Fake {
    fn node(&self) -> NodeId {
        self.me
    }

    fn add_group(&mut self, secret: &[u8; 32]) -> Result<NodeId, Error> {
        let group = NodeId(Digest::of(&[secret.as_slice(), b"group"].concat()));
        self.groups.retain(|(id, _)| *id != group);
        self.groups.push((group, *secret));
        if self.groups.len() > mesh::GROUPS_KEPT {
            self.groups.remove(0);
        }
        Ok(group)
    }

    fn groups(&self) -> Vec<NodeId> {
        self.groups.iter().map(|(id, _)| *id).collect()
    }

    fn group_secret(&self, group: NodeId) -> Option<[u8; 32]> {
        self.groups.iter().find(|(id, _)| *id == group).map(|(_, secret)| *secret)
    }

    fn draw_group(&self, chance: &mut dyn Chance) -> [u8; 32] {
        let mut secret = [0; 32];
        chance.fill(&mut secret);
        secret
    }

    fn sign(&self, text: &str, now: UnixMs) -> Result<WireEvent, Error> {
        Ok(signed(self.me, NOTICE_KIND, Vec::new(), text.to_owned(), now.0 / 1000))
    }

    fn is_signed(&self, event: &WireEvent) -> bool {
        holds(event, NOTICE_KIND)
    }

    fn wrap(&self, to: NodeId, text: &str, now: UnixMs, chance: &mut dyn Chance) -> Result<WireEvent, Error> {
        assert!(mesh::sealed::fits(text), "{} bytes", text.len());
        let mut once = [0; 32];
        chance.fill(&mut once);
        let content = format!("{MESSAGE_KIND} {} {text}", self.me);
        Ok(signed(NodeId(Digest(once)), WRAP_KIND, vec![p(to)], content, now.0 / 1000))
    }

    fn open(&self, event: &WireEvent) -> Option<Unsealed> {
        let to = event.receiver()?;
        let is_ours = to == self.me || self.groups.iter().any(|(group, _)| *group == to);
        let content = event.content.strip_prefix("14 ").filter(|_| is_ours && holds(event, WRAP_KIND))?;
        let (from, text) = content.split_once(' ')?;
        Some(Unsealed { from: from.parse().ok()?, text: text.to_owned() })
    }

    fn announce(
        &self,
        group: NodeId,
        text: &str,
        now: UnixMs,
        _: &mut dyn Chance,
    ) -> Result<WireEvent, Error> {
        Ok(signed(self.me, PRESENCE_KIND, vec![p(group)], text.to_owned(), now.0 / 1000))
    }

    fn read_announced(&self, event: &WireEvent) -> Option<Unsealed> {
        let to = event.receiver()?;
        let is_ours = self.groups.iter().any(|(group, _)| *group == to) && holds(event, PRESENCE_KIND);
        is_ours.then(|| Unsealed { from: event.pubkey, text: event.content.clone() })
    }

    fn sign_open(
        &self,
        kind: u16,
        tags: Vec<Vec<String>>,
        content: &str,
        now: UnixMs,
    ) -> Result<WireEvent, Error> {
        Ok(signed(self.me, kind, tags, content.to_owned(), now.0 / 1000))
    }

    fn is_open(&self, event: &WireEvent, kind: u16) -> bool {
        holds(event, kind)
    }
}
