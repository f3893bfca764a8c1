//! The notices of one maker: numbered, each bound to the one before it, and only those that are still to be had.

use crate::sealed::WireEvent;
use crate::state::{State, number};
use crate::{NodeId, Notice, Tells};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// Notices of a maker that are kept, also where fewer still say something that counts.
pub const NOTICES_KEPT: u64 = 256;
/// Notices of one maker that anybody keeps.
pub const NOTICES_MAX: u64 = 8_192;
/// Below how many a machine stays at first, so that what no longer counts makes room, whatever others had it reckon with.
const WINDOW_MAX: u64 = NOTICES_MAX - 64;

/// How far a node has the notices of a maker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The number of the last one.
    pub upto: u64,
    /// Its id: two notices of one number are two branches.
    pub id: Digest,
}

/// The notices of one maker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The number of the last one that is not kept.
    pub(crate) base: u64,
    /// Its id, where it is known.
    before: Option<Digest>,
    pub(crate) kept: Vec<WireEvent>,
}

impl Chain {
    pub(crate) fn last(&self) -> u64 {
        self.base + number(self.kept.len())
    }

    pub(crate) fn get(&self, number: u64) -> Option<&WireEvent> {
        let at = number.checked_sub(self.base + 1)?;
        self.kept.get(usize::try_from(at).ok()?)
    }

    /// The id of a notice that is kept, or of the last one that is not.
    pub(crate) fn id_at(&self, number: u64) -> Option<Digest> {
        if number == self.base { self.before } else { self.get(number).map(|event| event.id) }
    }

    pub(crate) fn known(&self) -> Known {
        let upto = self.last();
        Known { upto, id: self.id_at(upto).unwrap_or(Digest::ZERO) }
    }

    /// Those after a number.
    pub(crate) fn after(&self, number: u64) -> &[WireEvent] {
        let at = usize::try_from(number.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.kept.get(at..).unwrap_or_default()
    }

    /// Whether a notice stands on the same one before it as what is here.
    pub(crate) fn stands_on(&self, notice: &Notice) -> bool {
        match notice.number.checked_sub(1) {
            None => false,
            // What came before was never here: its maker says that nobody has it.
            Some(before) if before == self.base && self.base > 0 && self.before.is_none() => true,
            Some(before) => self.id_at(before) == notice.before,
        }
    }

    /// Takes the next one in, and lets go of what its maker says nobody needs.
    pub(crate) fn push(&mut self, event: WireEvent, from: u64) {
        self.kept.push(event);
        let gone = from.saturating_sub(self.base + 1).min(number(self.kept.len() - 1));
        if let Some(last) = gone.checked_sub(1).and_then(|_| self.id_at(self.base + gone)) {
            self.kept.drain(..usize::try_from(gone).unwrap_or(0));
            self.base += gone;
            self.before = Some(last);
        }
    }

    /// Lets go of what comes after a number, and gives it back.
    pub(crate) fn cut(&mut self, upto: u64) -> Vec<WireEvent> {
        if upto < self.base {
            self.base = upto;
            self.before = None;
            return std::mem::take(&mut self.kept);
        }
        let at = usize::try_from(upto - self.base).unwrap_or(usize::MAX);
        self.kept.split_off(at.min(self.kept.len()))
    }

    /// Goes on after a number whose notice was never here.
    pub(crate) fn skip(&mut self, upto: u64) -> Vec<WireEvent> {
        self.base = upto;
        self.before = None;
        std::mem::take(&mut self.kept)
    }
}

/// What a recorded notice says.
pub(crate) fn read(event: &WireEvent) -> Option<Notice> {
    serde_json::from_str(&event.content).ok()
}

/// What of the notices that a node lost the hold of is told anew. A head is not: the log tells its next one itself.
pub(crate) fn to_tell_anew(gone: &[WireEvent]) -> impl Iterator<Item = Tells> {
    gone.iter().filter_map(read).map(|notice| notice.tells).filter(|tells| !matches!(tells, Tells::Head(_)))
}

/// A claim of a maker, with the number of the notice that first made it.
pub(crate) type Claims = std::collections::BTreeMap<(u64, NodeId), u64>;

impl State {
    /// How many notices this node keeps of its own: some, and twice as many as still count.
    pub(crate) fn window(&self) -> u64 {
        let owns = self.owners.count(self.me);
        let heads = self.heads.keys().filter(|(maker, _)| *maker == self.me).count();
        let log_key = usize::from(self.told_log_key(self.me).is_some());
        // Of each schedule its statement, whether it can be run here, one lease and one last start.
        let counts = log_key + owns + heads + 4 * self.schedules.len() + self.withdrawn.len();
        (2 * number(counts)).clamp(NOTICES_KEPT, WINDOW_MAX)
    }

    /// Whether a notice of this node says something that nothing later took the place of.
    pub(crate) fn still_counts(&self, notice: &Notice) -> bool {
        match &notice.tells {
            Tells::Schedule(schedule) => self.is_stated(schedule),
            Tells::Ready { schedule, .. } => self.is_last_readiness(schedule, notice.number),
            Tells::Lease { schedule, epoch } => {
                self.lease(schedule).is_some_and(|lease| (lease.epoch, lease.holder) == (*epoch, self.me))
            }
            Tells::Fired { schedule, .. } => self.fired.get(schedule) == Some(&notice.number),
            Tells::Owner { conversation, epoch, .. } => {
                self.owners.is_told_by(conversation, self.me, notice.number)
                    && self.owner(conversation) == Some((*epoch, self.me))
            }
            Tells::Withdrawn { node, upto } => self.withdrawn.get(node) == Some(upto),
            Tells::LogKey { key } => self.told_log_key(self.me) == Some(key),
            Tells::Head(head) => {
                let last = self.head(self.me, &head.origin);
                last.is_some_and(|last| (last.size, last.root) == (head.size, head.root))
            }
            Tells::Receipts { .. } => false,
        }
    }
}
