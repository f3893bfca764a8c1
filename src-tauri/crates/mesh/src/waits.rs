//! That a message waits for the person of the machine that works on it, told to the machine that took it in.
//!
//! The letters that say so may be lost, and a machine that does not know them passes over them: they are written again as long as it is
//! so, more and more seldom. What came of the message is its answer, and ends it.

use crate::node::Node;
use crate::port::Delivered;
use crate::sealed::Sealing;
use crate::{Chance, Error, NodeId, Says};
use model::UnixMs;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// After how long it is told again at first, in milliseconds; doubled each time.
const AGAIN_MS: i64 = 60_000;
/// At most after how long, in milliseconds.
const AGAIN_MS_MAX: i64 = 60 * 60_000;
/// How often it is told that a message waits no more.
const OVER_TIMES: u32 = 5;
/// Messages of which it is told, or was heard, at the same time. What is told no more makes room for what waits.
const KEPT_MAX: usize = 1_024;
/// Bytes of the name of a conversation.
const NAME_BYTES_MAX: usize = 256;
/// What is taken in of one machine within an hour: each is on record.
const AN_HOUR: u32 = 240;
const HOUR_MS: i64 = 60 * 60_000;

/// Whether a message waits for the person of the machine that works on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// The conversation.
    pub conversation: String,
    /// [`crate::Input::id`] of the message.
    pub message: Digest,
    /// Whether it waits.
    pub waits: bool,
    /// Since when, by the clock of the machine that works on it: what was written later counts.
    pub at: UnixMs,
}

/// What is told, and when again.
#[derive(Debug)]
struct Told {
    says: Waits,
    again: UnixMs,
    times: u32,
}

/// What this node told and heard of it since it began.
#[derive(Debug, Default)]
pub(crate) struct ToldWaits {
    told: BTreeMap<(NodeId, Digest), Told>,
    heard: BTreeMap<(NodeId, Digest), UnixMs>,
    /// What came of each other within the hour: since when, and how often.
    came: BTreeMap<NodeId, (UnixMs, u32)>,
}

impl ToldWaits {
    /// The message is answered.
    pub(crate) fn forget(&mut self, to: NodeId, message: Digest) {
        self.told.remove(&(to, message));
    }
}

impl<S: Sealing> Node<S> {
    /// Tells the machine that took a message in whether it waits here, where that is another word than it was told. What was told before
    /// this node began anew nobody knows here: then it is told what is so by now.
    pub(crate) fn waits(
        &mut self,
        to: NodeId,
        (conversation, message, waits): (String, Digest, bool),
    ) -> Result<(), Error> {
        if !self.state.is_peer(to) {
            return Err(Error::NotPaired(to));
        }
        let key = (to, message);
        let before = self.told_waits.told.get(&key).map(|told| (told.says.waits, told.says.at));
        if before.is_some_and(|(told, _)| told == waits) {
            return Ok(());
        }
        if before.is_none() && !self.has_room_to_tell(waits) {
            return Ok(());
        }
        let at = before.map_or(self.now, |(_, at)| self.now.max(at.plus_ms(1)));
        let says = Waits { conversation, message, waits, at };
        self.told_waits.told.insert(key, Told { says, again: self.now, times: 0 });
        Ok(())
    }

    /// Writes what is due of it, to whom there is a way.
    pub(crate) fn tell_waits(&mut self, chance: &mut dyn Chance) {
        let now = self.now;
        let is_due = |told: &Told| told.again <= now && (told.says.waits || told.times < OVER_TIMES);
        let due = self.told_waits.told.iter().filter(|(_, told)| is_due(told)).map(|(key, _)| *key);
        for (to, message) in due.collect::<Vec<_>>() {
            if !self.has_way_to(to) {
                continue;
            }
            let Some(told) = self.told_waits.told.get_mut(&(to, message)) else { continue };
            let wait = AGAIN_MS.saturating_mul(1_i64 << told.times.min(20)).min(AGAIN_MS_MAX);
            (told.again, told.times) = (now.plus_ms(wait), told.times.saturating_add(1));
            let says = Says::Waits(told.says.clone());
            self.write_loose(to, says, chance);
        }
    }

    /// Whether there is room for one more. One that waits takes the place of what is told no more; one that waits no more takes nobody's,
    /// or each of too many would be told again and again.
    fn has_room_to_tell(&mut self, waits: bool) -> bool {
        if self.told_waits.told.len() < KEPT_MAX {
            return true;
        }
        if !waits {
            return false;
        }
        let is_over = |to: NodeId, told: &Told| {
            !self.state.is_peer(to) || (!told.says.waits && told.times >= OVER_TIMES)
        };
        let over = self.told_waits.told.iter().filter(|((to, _), told)| is_over(*to, told));
        let Some(oldest) = over.min_by_key(|(_, told)| told.again).map(|(key, _)| *key) else { return false };
        self.told_waits.told.remove(&oldest);
        true
    }

    /// Another machine says whether a message waits there.
    pub(crate) fn take_waits(&mut self, from: NodeId, waits: Waits) {
        let key = (from, waits.message);
        let is_known = self.told_waits.heard.get(&key).is_some_and(|at| *at >= waits.at);
        if is_known || waits.conversation.len() > NAME_BYTES_MAX || !self.has_room_for_waits(from) {
            return;
        }
        if self.told_waits.heard.len() >= KEPT_MAX {
            self.told_waits.heard.clear();
        }
        self.told_waits.heard.insert(key, waits.at);
        self.deliver(Delivered::Waits { from, waits });
    }

    fn has_room_for_waits(&mut self, from: NodeId) -> bool {
        let now = self.now;
        let (since, times) = self.told_waits.came.entry(from).or_insert((now, 0));
        if since.plus_ms(HOUR_MS) <= now {
            (*since, *times) = (now, 0);
        }
        *times = times.saturating_add(1);
        *times <= AN_HOUR
    }
}
