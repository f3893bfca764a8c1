//! Who holds a schedule, and which start of a slot counts (HV-3.5-3).

use crate::node::Node;
use crate::port::{Delivered, Fact};
use crate::sealed::{Sealing, WireEvent};
use crate::{CLOCK_DIFFERENCE_MS, Chance, Error, NodeId, Schedule, Tells};
use seal::Digest;

/// For how long a node that began, woke or was cut off listens before it begins slots on a lease that it had before, in milliseconds:
/// another may have taken the schedule meanwhile, and tells it.
const LISTENS_MS: i64 = 90_000;

impl<S: Sealing> Node<S> {
    pub(crate) fn schedule(&mut self, schedule: Schedule, chance: &mut dyn Chance) -> Result<(), Error> {
        self.tell_all(Tells::Schedule(schedule), chance)?;
        self.take_over(chance);
        Ok(())
    }

    /// This node can run a schedule, or cannot any more: the others hear of it where they know it otherwise.
    pub(crate) fn ready(
        &mut self,
        schedule: String,
        (sha256, is_ready): (Digest, bool),
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        let Some(known) = self.state.schedule(&schedule) else {
            return Err(Error::Refused("the mesh does not know this schedule"));
        };
        // What was said of an earlier statement is said anew of this one.
        let is_news =
            known.sha256 == sha256 && self.state.readiness(&schedule, self.state.me) != Some(is_ready);
        if is_news {
            self.tell_all(Tells::Ready { schedule, sha256, is_ready }, chance)?;
            self.take_over(chance);
        }
        Ok(())
    }

    /// A slot came due: it begins here where this node holds the schedule and others could hear of it. A node to which no way is open
    /// is silent to all others, and the next of them begins the slot. Where it does not begin, nothing is remembered: whoever reckons
    /// slots says each minute what is due, and as soon as this node holds it ([`Delivered::Holds`]).
    pub(crate) fn slot_due(
        &mut self,
        schedule: String,
        slot: String,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        if self.state.schedule(&schedule).is_none() {
            return Err(Error::Refused("the mesh does not know this schedule"));
        }
        if self.state.began(&schedule, &slot).is_some() {
            return Ok(());
        }
        let held = self.state.lease(&schedule).filter(|lease| lease.holder == self.state.me);
        match held.map(|lease| lease.epoch) {
            Some(epoch) if self.is_reached() && self.has_listened(&schedule) => {
                self.begin(schedule, slot, epoch, chance)
            }
            _ => Ok(()),
        }
    }

    /// Whether this node would know by now that another took a schedule while it was off, slept or was cut off.
    fn has_listened(&mut self, schedule: &str) -> bool {
        let has = self.has_digest();
        let since = self.began.max(self.reached);
        let knows_all = |node: &NodeId| {
            let seen = self.seen.get(node);
            seen.is_some_and(|seen| seen.heard >= since && seen.presence.has == has)
        };
        let ranks = self.state.schedule(schedule).into_iter().flat_map(|one| &one.ranks);
        let mut others = ranks.filter(|node| self.state.is_peer(**node));
        since.plus_ms(LISTENS_MS) <= self.now || others.all(knows_all)
    }

    fn begin(
        &mut self,
        schedule: String,
        slot: String,
        epoch: u64,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        let tells = Tells::Fired { schedule: schedule.clone(), slot: slot.clone(), epoch };
        self.tell_all(tells, chance)?;
        self.deliver(Delivered::Start { schedule, slot, epoch });
        Ok(())
    }

    /// A slot began somewhere; where this node began it too, one of both counts.
    pub(crate) fn fired_told(&mut self, event: &WireEvent, schedule: &str, slot: &str) {
        let before = self.state.began(schedule, slot);
        self.record(Fact::Noticed(event.clone()));
        let after = self.state.began(schedule, slot);
        let me = self.state.me;
        let lost = before.is_some_and(|began| began.by == me);
        let came_second = event.pubkey == me && before.is_some();
        if let Some(began) = after.filter(|began| began.by != me && (lost || came_second)) {
            let (schedule, slot) = (schedule.to_owned(), slot.to_owned());
            self.deliver(Delivered::NotCounted { schedule, slot, by: began.by });
        }
    }

    /// Takes each schedule that this node can run and whose holder is out, where each node that goes before this one is, too: it was
    /// silent for longer than the term and the largest difference of clocks, or says that it cannot run it.
    pub(crate) fn take_over(&mut self, chance: &mut dyn Chance) {
        let me = self.state.me;
        let mut takes = Vec::new();
        for schedule in self.state.schedules() {
            let id = &schedule.schedule;
            let rank = schedule.ranks.iter().position(|node| *node == me);
            let Some(rank) = rank.filter(|_| self.state.readiness(id, me) == Some(true)) else {
                continue;
            };
            let lease = self.state.lease(id);
            // Whoever said nothing of it yet is given the time to.
            let is_out = |node: NodeId| {
                node != me
                    && (self.state.readiness(id, node) == Some(false)
                        || self.is_silent(node, schedule.term_ms))
            };
            let is_free = match lease {
                Some(lease) => is_out(lease.holder),
                None => true,
            };
            if is_free && schedule.ranks.iter().take(rank).all(|node| is_out(*node)) {
                takes.push((id.clone(), lease.map_or(1, |lease| lease.epoch + 1)));
            }
        }
        for (schedule, epoch) in takes {
            self.hold(schedule, epoch, chance);
        }
    }

    /// Takes a schedule back that this node goes first for, as soon as it knows all that its holder told.
    pub(crate) fn give_back(&mut self, chance: &mut dyn Chance) {
        let me = self.state.me;
        let has = self.has_digest();
        let mut takes = Vec::new();
        for schedule in self.state.schedules().filter(|one| one.ranks.first() == Some(&me)) {
            let id = &schedule.schedule;
            let Some(lease) = self.state.lease(id).filter(|lease| lease.holder != me) else {
                continue;
            };
            let knows_all = self.seen.get(&lease.holder).is_some_and(|seen| seen.presence.has == has);
            if self.state.readiness(id, me) == Some(true)
                && knows_all
                && !self.is_silent(lease.holder, schedule.term_ms)
            {
                takes.push((id.clone(), lease.epoch + 1));
            }
        }
        for (schedule, epoch) in takes {
            self.hold(schedule, epoch, chance);
        }
    }

    fn hold(&mut self, schedule: String, epoch: u64, chance: &mut dyn Chance) {
        if self.tell_all(Tells::Lease { schedule: schedule.clone(), epoch }, chance).is_err() {
            return;
        }
        self.deliver(Delivered::Holds { schedule, epoch });
    }

    fn is_silent(&self, node: NodeId, term_ms: i64) -> bool {
        // No term is shorter than what a node that is here may be silent for.
        let term = term_ms.max(2 * self.watched_every());
        let until = self.last_heard(node).plus_ms(term).plus_ms(CLOCK_DIFFERENCE_MS);
        !self.state.is_peer(node) || until < self.now
    }
}
