//! That this machine is here, told to everybody who reads a public topic (HV-3.7-1). Off until its person turns it on.
//!
//! It is a signed event under the node's key with numbers and the newest signed head of its log: what has a name (tools, models,
//! folders, relays, the machine) is for its own group. It goes to relays that its person set, expires by itself, and is taken back when it is turned off. Of others that of
//! paired machines is read, so that their person sees which of them everybody sees.

use crate::node::{Node, text};
use crate::port::Way;
use crate::sealed::{PRESENCE_KIND, Sealing, WireEvent};
use crate::{NodeId, PROTOCOL, frame};
use model::UnixMs;
use seal::canon;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The topic: the `t` tag.
pub const TOPIC: &str = "hermit-presence";
/// The `d` tag.
pub const PUBLIC_TAG: &str = "hermit-public-presence/1";
/// How often it is told, in milliseconds.
pub const PUBLIC_EVERY_MS: i64 = 5 * 60_000;
/// For how long it counts, in milliseconds.
pub const PUBLIC_MS: i64 = 3 * PUBLIC_EVERY_MS;
/// For how long relays keep that it was taken back, in milliseconds.
const GONE_MS: i64 = 60_000;
/// Bytes of the signed note of a head.
const HEAD_BYTES_MAX: usize = 2_048;
/// Bytes of one that is read.
const BYTES_MAX: usize = 2 * HEAD_BYTES_MAX;
/// Machines of which it is asked for.
const ASKED_OF_MAX: usize = 64;

/// What everybody may know of a machine that is public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicPresence {
    /// The protocol that it speaks.
    pub protocol: u32,
    /// When it was told.
    pub at: UnixMs,
    /// Until when it counts.
    pub until: UnixMs,
    /// How many servers of tools it has.
    pub tools: u32,
    /// How many models it has.
    pub models: u32,
    /// How busy it is, in per cent.
    pub load: u8,
    /// The newest signed head of its log (HV-3.6-1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

/// What this node tells everybody, and what it read of others.
#[derive(Debug, Default)]
pub(crate) struct Publicity {
    is_on: bool,
    /// Whether relays may have it.
    is_told: bool,
    pub(crate) told_at: Option<UnixMs>,
    head: Option<String>,
    /// Of how many machines relays were asked for it.
    asked_of: usize,
    seen: BTreeMap<NodeId, PublicPresence>,
}

/// Whether an event is one of these by its name.
pub(crate) fn is_named(event: &WireEvent) -> bool {
    event.kind == PRESENCE_KIND
        && event
            .tags
            .iter()
            .any(|tag| matches!(tag.as_slice(), [name, tag] if name == "d" && tag == PUBLIC_TAG))
}

fn number(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}

impl<S: Sealing> Node<S> {
    /// Which paired machines everybody sees.
    pub fn public(&self) -> impl Iterator<Item = NodeId> {
        let counts = |one: &PublicPresence| one.until.plus_ms(crate::CLOCK_DIFFERENCE_MS) > self.now;
        let seen = self.publicity.seen.iter();
        seen.filter(move |(node, one)| self.state.is_peer(**node) && counts(one)).map(|(node, _)| *node)
    }

    /// The machines of which it is asked for, from now on.
    pub(crate) fn ask_of(&mut self) -> Vec<NodeId> {
        let asked: Vec<NodeId> = self.state.peers().map(|peer| peer.node).take(ASKED_OF_MAX).collect();
        self.publicity.asked_of = asked.len();
        asked
    }

    /// Asks for it of machines that were paired since.
    pub(crate) fn ask_of_new(&mut self) {
        if self.own.is_some() && self.state.peers().take(ASKED_OF_MAX).count() != self.publicity.asked_of {
            self.subscribe();
        }
    }

    /// Everybody may see from now on that this machine is here, or nobody but its group.
    pub(crate) fn publicise(&mut self, is_on: bool, head: Option<String>) {
        self.publicity.is_on = is_on;
        self.publicity.head = head.filter(|note| note.len() <= HEAD_BYTES_MAX);
        if is_on {
            self.tell_everybody();
            return;
        }
        self.publicity.told_at = None;
        if std::mem::take(&mut self.publicity.is_told) {
            let gone = PublicPresence {
                protocol: PROTOCOL,
                at: self.now,
                until: self.now,
                tools: 0,
                models: 0,
                load: 0,
                head: None,
            };
            self.write_publicly(&gone, self.now.plus_ms(GONE_MS));
        }
    }

    /// When it is told next; none where it is not, or no relay of this node's is connected.
    pub(crate) fn tells_everybody_at(&self) -> Option<UnixMs> {
        let tells = self.publicity.is_on && self.own.is_some() && self.own_relays_up().next().is_some();
        let at = self.publicity.told_at.map_or(self.now, |at| at.plus_ms(PUBLIC_EVERY_MS));
        tells.then(|| at.max(self.now))
    }

    pub(crate) fn tell_everybody(&mut self) {
        if self.tells_everybody_at().is_none_or(|at| at > self.now) {
            return;
        }
        let Some((can, load, _)) = &self.own else { return };
        let presence = PublicPresence {
            protocol: PROTOCOL,
            at: self.now,
            until: self.now.plus_ms(PUBLIC_MS),
            tools: number(can.tools.len()),
            models: number(can.models.len()),
            load: (*load).min(100),
            head: self.publicity.head.clone(),
        };
        (self.publicity.told_at, self.publicity.is_told) = (Some(self.now), true);
        self.write_publicly(&presence, presence.until);
    }

    fn write_publicly(&mut self, presence: &PublicPresence, expires: UnixMs) {
        let tag = |name: &str, value: String| vec![name.to_owned(), value];
        let tags = vec![
            tag("d", PUBLIC_TAG.to_owned()),
            tag("t", TOPIC.to_owned()),
            tag("expiration", (expires.0 / 1000).to_string()),
        ];
        let event =
            text(presence).and_then(|text| self.sealing.sign_open(PRESENCE_KIND, tags, &text, self.now));
        let Ok(event) = event else { return };
        let (bytes, ways) = (frame::event(&event), self.own_relays_up().cloned().collect::<Vec<Way>>());
        self.step.write.extend(ways.into_iter().map(|way| (way, bytes.clone())));
    }

    /// What a paired machine tells everybody. Nothing of any other is read.
    pub(crate) fn take_public(&mut self, way: &Way, event: &WireEvent) {
        let is_its = self.state.is_peer(event.pubkey)
            && event.content.len() <= BYTES_MAX
            && self.sealing.is_open(event, PRESENCE_KIND);
        let said = canon::from_canonical::<PublicPresence>(event.content.as_bytes()).ok();
        let Some(said) = said.filter(|_| is_its) else {
            self.unread(way);
            return;
        };
        let fits = said.at <= self.now.plus_ms(crate::CLOCK_DIFFERENCE_MS)
            && said.until.0.saturating_sub(said.at.0) <= PUBLIC_MS
            && said.load <= 100;
        let is_newer = self.publicity.seen.get(&event.pubkey).is_none_or(|known| known.at < said.at);
        if fits && is_newer {
            self.publicity.seen.insert(event.pubkey, said);
        }
    }
}
