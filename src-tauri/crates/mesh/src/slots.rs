//! What a node knows of schedules: how each was stated, who can run it, who holds it, and which slots began (HV-3.5-3).
//!
//! All of it is a function of the set of notices that were taken in, whatever order they came in, and so is what is let go of: of
//! each maker the newest claims and starts. Nobody asks a clock for it, so two nodes that let go at different times still agree.

use crate::chain::Claims;
use crate::state::{Began, Lease, State, foremost};
use crate::{NodeId, Schedule};
use seal::Digest;
use std::collections::BTreeMap;

/// Starts of one schedule that are kept of each machine: the newest. Of older ones nobody hears any more who has not heard of them.
pub const STARTS_KEPT: usize = 1_024;
/// Claims to one conversation or schedule that are kept of each machine: those of the latest epochs.
pub const CLAIMS_KEPT: usize = 64;

/// How a schedule was stated by each maker last, with the number of that notice.
pub(crate) type Stated = BTreeMap<NodeId, (Schedule, u64)>;
/// Starts of one maker by their slots: the epoch of each, and the number of the notice.
pub(crate) type Starts = BTreeMap<(usize, String), (u64, u64)>;

/// What a machine said of whether it can run a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ready {
    sha256: Digest,
    is_ready: bool,
    number: u64,
    /// Whether it ever could: from then on its person knows that the mesh holds the schedule.
    was_ready: bool,
}

/// Slots of one schedule in order: their keys are numbers that grow.
fn slot_key(slot: &str) -> (usize, String) {
    (slot.len(), slot.to_owned())
}

/// Which of two statements of a schedule counts: the later version, and of the same one always the same.
fn order(of: &Schedule) -> (u64, Digest, &[NodeId], i64) {
    (of.version, of.sha256, of.ranks.as_slice(), of.term_ms)
}

/// Adds a claim, and lets go of the oldest of its maker where there are many.
pub(crate) fn add_claim(claims: &mut Claims, (epoch, maker): (u64, NodeId), number: u64) {
    claims.entry((epoch, maker)).or_insert(number);
    let of_maker = claims.keys().filter(|(_, by)| *by == maker);
    if of_maker.count() > CLAIMS_KEPT
        && let Some(oldest) = claims.keys().copied().find(|(_, by)| *by == maker)
    {
        claims.remove(&oldest);
    }
}

impl State {
    /// A schedule as it was stated last: by a machine that was not withdrawn, where one of those stated it.
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        let stated = self.schedules.get(name)?;
        let newest = |also_withdrawn: bool| {
            let all = stated.iter().filter(|(by, _)| also_withdrawn || !self.withdrawn.contains_key(*by));
            all.map(|(_, (schedule, _))| schedule).max_by(|one, other| order(one).cmp(&order(other)))
        };
        newest(false).or_else(|| newest(true))
    }

    /// Every schedule that was ever stated, as it was last.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        self.schedules.keys().filter_map(|name| self.schedule(name))
    }

    /// Whether a machine can run a schedule as it is stated now, by its own word; none where it said nothing of that.
    pub fn readiness(&self, schedule: &str, node: NodeId) -> Option<bool> {
        let known = self.schedule(schedule)?;
        let said = self.ready.get(schedule)?.get(&node)?;
        (said.sha256 == known.sha256).then_some(said.is_ready)
    }

    /// Whether this node could ever run a schedule of the mesh.
    pub fn was_ready(&self, schedule: &str) -> bool {
        let said = self.ready.get(schedule).and_then(|said| said.get(&self.me));
        said.is_some_and(|said| said.was_ready)
    }

    /// Whether a schedule begins here on the mesh's word alone: it names this machine beside others, and its person approved it.
    pub fn is_held(&self, schedule: &str) -> bool {
        let names_others =
            |one: &Schedule| one.ranks.contains(&self.me) && one.ranks.iter().any(|node| *node != self.me);
        self.schedule(schedule).is_some_and(names_others) && self.was_ready(schedule)
    }

    /// Who holds a schedule: the latest claim of a machine that may.
    pub fn lease(&self, schedule: &str) -> Option<Lease> {
        let known = self.schedule(schedule)?;
        let may_hold = |node: &NodeId| known.ranks.contains(node) && !self.withdrawn.contains_key(node);
        let claims = self.leases.get(schedule)?.keys().filter(|(_, node)| may_hold(node));
        foremost(claims).map(|(epoch, holder)| Lease { epoch, holder })
    }

    /// Whose start of a slot counts.
    pub fn began(&self, schedule: &str, slot: &str) -> Option<Began> {
        let known = self.schedule(schedule)?;
        let (makers, slot) = (self.slots.get(schedule)?, slot_key(slot));
        let of_named = makers.iter().filter(|(by, _)| known.ranks.contains(by));
        let starts = of_named
            .filter_map(|(by, starts)| starts.get(&slot).map(|(epoch, _)| Began { epoch: *epoch, by: *by }));
        starts.min()
    }

    /// Slots of a schedule that began, as far as they are kept, each with whose start counts.
    pub fn begun(&self, schedule: &str) -> BTreeMap<&str, Began> {
        let mut begun: BTreeMap<&str, Began> = BTreeMap::new();
        let Some(known) = self.schedule(schedule) else { return begun };
        let makers = self.slots.get(schedule).into_iter().flatten();
        for (by, starts) in makers.filter(|(by, _)| known.ranks.contains(by)) {
            for ((_, slot), (epoch, _)) in starts {
                let began = Began { epoch: *epoch, by: *by };
                let first = begun.entry(slot.as_str()).or_insert(began);
                *first = began.min(*first);
            }
        }
        begun
    }

    pub(crate) fn claim_stated(&mut self, maker: NodeId, number: u64, schedule: Schedule) {
        let stated = self.schedules.entry(schedule.schedule.clone()).or_default();
        if stated.get(&maker).is_none_or(|(known, _)| order(known) < order(&schedule)) {
            stated.insert(maker, (schedule, number));
        }
    }

    pub(crate) fn claim_ready(
        &mut self,
        maker: NodeId,
        number: u64,
        (schedule, ready): (String, (Digest, bool)),
    ) {
        let said = self.ready.entry(schedule).or_default();
        let (sha256, is_ready) = ready;
        let known = said.get(&maker).copied();
        let was_ready = is_ready || known.is_some_and(|known| known.was_ready);
        let newest = match known.filter(|known| known.number > number) {
            Some(known) => Ready { was_ready, ..known },
            None => Ready { sha256, is_ready, number, was_ready },
        };
        said.insert(maker, newest);
    }

    pub(crate) fn claim_start(
        &mut self,
        maker: NodeId,
        number: u64,
        (schedule, slot, epoch): (String, &str, u64),
    ) {
        if maker == self.me {
            self.fired.insert(schedule.clone(), number);
        }
        let starts = self.slots.entry(schedule).or_default().entry(maker).or_default();
        let start = starts.entry(slot_key(slot)).or_insert((epoch, number));
        if epoch < start.0 {
            *start = (epoch, number);
        }
        while starts.len() > STARTS_KEPT {
            starts.pop_first();
        }
    }

    /// Lets go of what a maker told of schedules after one of its notices.
    pub(crate) fn cut_schedules(&mut self, maker: NodeId, upto: u64) {
        for stated in self.schedules.values_mut() {
            stated.retain(|by, (_, at)| *by != maker || *at <= upto);
        }
        for said in self.ready.values_mut() {
            said.retain(|by, ready| *by != maker || ready.number <= upto);
        }
        for claims in self.leases.values_mut() {
            claims.retain(|(_, by), at| *by != maker || *at <= upto);
        }
        for starts in self.slots.values_mut().filter_map(|makers| makers.get_mut(&maker)) {
            starts.retain(|_, (_, at)| *at <= upto);
        }
    }

    /// Whether a statement of this node is the last one that it made of the schedule.
    pub(crate) fn is_stated(&self, schedule: &Schedule) -> bool {
        let stated = self.schedules.get(&schedule.schedule).and_then(|stated| stated.get(&self.me));
        stated.is_some_and(|(own, _)| own == schedule)
    }

    /// Whether the notice of this number is the last one in which this node said whether it can run a schedule.
    pub(crate) fn is_last_readiness(&self, schedule: &str, number: u64) -> bool {
        let said = self.ready.get(schedule).and_then(|said| said.get(&self.me));
        said.is_some_and(|said| said.number == number)
    }
}
