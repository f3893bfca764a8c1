//! Who holds a schedule, and which start of a slot counts (HV-3.5-3).

use crate::node::Node;
use crate::port::{Delivered, Fact};
use crate::sealed::{Sealing, WireEvent};
use crate::{CLOCK_DIFFERENCE_MS, Chance, Error, NodeId, Schedule, Tells};

/// Slots of one schedule that came due and that another is to begin.
const DUE_MAX: usize = 10_000;

impl<S: Sealing> Node<S> {
    pub(crate) fn schedule(&mut self, schedule: Schedule, chance: &mut dyn Chance) -> Result<(), Error> {
        self.tell_all(Tells::Schedule(schedule), chance)?;
        self.take_over(chance);
        Ok(())
    }

    /// A slot came due: it begins here where this node holds the schedule, and is remembered where another does.
    pub(crate) fn slot_due(
        &mut self,
        schedule: String,
        slot: String,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        if !self.state.schedules.contains_key(&schedule) {
            return Err(Error::Refused("the mesh does not know this schedule"));
        }
        if self.state.began(&schedule, &slot).is_some() {
            return Ok(());
        }
        match self.state.lease(&schedule).filter(|lease| lease.holder == self.state.me) {
            Some(lease) => self.begin(schedule, slot, lease.epoch, chance),
            None => {
                let due = self.due.entry(schedule).or_default();
                if due.len() < DUE_MAX {
                    due.insert(slot);
                }
                Ok(())
            }
        }
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

    /// A slot began somewhere: it is due no more, and where this node began it too, one of both counts.
    pub(crate) fn fired_told(&mut self, event: &WireEvent, schedule: &str, slot: &str) {
        let before = self.state.began(schedule, slot);
        self.record(Fact::Noticed(event.clone()));
        let after = self.state.began(schedule, slot);
        if let Some(due) = self.due.get_mut(schedule) {
            due.remove(slot);
        }
        let me = self.state.me;
        let lost = before.is_some_and(|began| began.by == me);
        let came_second = event.pubkey == me && before.is_some();
        if let Some(began) = after.filter(|began| began.by != me && (lost || came_second)) {
            self.deliver(Delivered::NotCounted { slot: slot.to_owned(), by: began.by });
        }
    }

    /// Takes each schedule whose holder was silent for longer than its term and the largest difference of clocks, where no node
    /// that goes before this one is here.
    pub(crate) fn take_over(&mut self, chance: &mut dyn Chance) {
        let me = self.state.me;
        let mut takes = Vec::new();
        for (id, schedule) in &self.state.schedules {
            let Some(rank) = schedule.ranks.iter().position(|node| *node == me) else {
                continue;
            };
            let lease = self.state.lease(id);
            let silent = |node: NodeId| node != me && self.is_silent(node, schedule.term_ms);
            let is_free = match lease {
                Some(lease) => silent(lease.holder),
                None => true,
            };
            if is_free && schedule.ranks.iter().take(rank).all(|node| silent(*node)) {
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
        let has = self.state.has_digest();
        let mut takes = Vec::new();
        for (id, schedule) in &self.state.schedules {
            let Some(lease) = self.state.lease(id).filter(|lease| lease.holder != me) else {
                continue;
            };
            let knows_all = self.seen.get(&lease.holder).is_some_and(|seen| seen.presence.has == has);
            if schedule.ranks.first() == Some(&me)
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
        self.deliver(Delivered::Holds { schedule: schedule.clone(), epoch });
        for slot in self.due.remove(&schedule).unwrap_or_default() {
            if self.state.began(&schedule, &slot).is_none() {
                // It fits, as it did when it came due.
                let _ = self.begin(schedule.clone(), slot, epoch, chance);
            }
        }
    }

    fn is_silent(&self, node: NodeId, term_ms: i64) -> bool {
        // No term is shorter than what a node that is here may be silent for.
        let term = term_ms.max(2 * self.watched_every());
        let until = self.last_heard(node).plus_ms(term).plus_ms(CLOCK_DIFFERENCE_MS);
        !self.state.is_peer(node) || until < self.now
    }
}
