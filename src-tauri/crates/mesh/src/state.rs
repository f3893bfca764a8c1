//! What a node believes: folded from its recorded facts, and from nothing else.

use crate::chain::{Chain, Claims, Known, read, to_tell_anew};
use crate::heads::SeenHead;
use crate::ids::Ids;
pub use crate::lane::{Lane, Waiting};
use crate::owned::Owners;
use crate::peers::PRESENCE_MACHINES;
use crate::port::{Fact, Never};
use crate::sealed::WireEvent;
use crate::slots::{Ready, Starts, Stated, add_claim};
use crate::{Card, Input, NodeId, Notice, Part, Peer, Says, SignedDecision, Tells};
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Messages that were given to their conversations and are known to have been, the newest. The kernel knows all of them: here it is
/// what comes by two ways at about one time.
pub const GIVEN_MAX: usize = 16_384;

/// A question of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub card: Card,
    /// Who is asked.
    pub of: Vec<NodeId>,
    /// What came and counts.
    pub decisions: BTreeMap<NodeId, SignedDecision>,
}

/// Who began a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Began {
    /// The epoch of the lease.
    pub epoch: u64,
    /// The node.
    pub by: NodeId,
}

/// Who holds a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Since which epoch.
    pub epoch: u64,
    /// The node.
    pub holder: NodeId,
}

/// What a node believes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(crate) me: NodeId,
    pub(crate) peers: BTreeMap<NodeId, Peer>,
    pub(crate) withdrawn: BTreeMap<NodeId, u64>,
    pub(crate) group: Option<(u64, NodeId)>,
    pub(crate) without: BTreeSet<NodeId>,
    pub(crate) through: BTreeSet<NodeId>,
    pub(crate) lanes: BTreeMap<NodeId, Lane>,
    pub(crate) taken: BTreeMap<NodeId, (u64, Digest)>,
    pub(crate) notices: BTreeMap<NodeId, Chain>,
    pub(crate) untold: Vec<Tells>,
    pub(crate) owners: Owners,
    pub(crate) passing: BTreeMap<String, (NodeId, u64)>,
    pub(crate) held: BTreeMap<Digest, Input>,
    pub(crate) given: Ids,
    pub(crate) schedules: BTreeMap<String, Stated>,
    pub(crate) ready: BTreeMap<String, BTreeMap<NodeId, Ready>>,
    pub(crate) leases: BTreeMap<String, Claims>,
    pub(crate) slots: BTreeMap<String, BTreeMap<NodeId, Starts>>,
    pub(crate) fired: BTreeMap<String, u64>,
    pub(crate) approvers: BTreeMap<PublicKey, NodeId>,
    pub(crate) asked: BTreeMap<String, Question>,
    pub(crate) closed: VecDeque<String>,
    pub(crate) questions: BTreeMap<(NodeId, String), (Card, UnixMs)>,
    pub(crate) answers: u32,
    pub(crate) parts: BTreeMap<(NodeId, Digest), BTreeMap<u32, Part>>,
    pub(crate) heads: BTreeMap<(NodeId, String), SeenHead>,
    /// The key of each maker's log as it told it last, and in which notice.
    pub(crate) log_keys: BTreeMap<NodeId, (PublicKey, u64)>,
    pub(crate) told_receipts: u64,
}

impl State {
    /// Of a node that nothing happened to.
    pub const fn new(me: NodeId) -> Self {
        Self {
            me,
            peers: BTreeMap::new(),
            withdrawn: BTreeMap::new(),
            group: None,
            without: BTreeSet::new(),
            through: BTreeSet::new(),
            lanes: BTreeMap::new(),
            taken: BTreeMap::new(),
            notices: BTreeMap::new(),
            untold: Vec::new(),
            owners: Owners::new(me),
            passing: BTreeMap::new(),
            held: BTreeMap::new(),
            given: Ids::new(),
            schedules: BTreeMap::new(),
            ready: BTreeMap::new(),
            leases: BTreeMap::new(),
            slots: BTreeMap::new(),
            fired: BTreeMap::new(),
            approvers: BTreeMap::new(),
            asked: BTreeMap::new(),
            closed: VecDeque::new(),
            questions: BTreeMap::new(),
            answers: 0,
            parts: BTreeMap::new(),
            heads: BTreeMap::new(),
            log_keys: BTreeMap::new(),
            told_receipts: 0,
        }
    }

    /// Of a node whose facts these are, in the order in which they were recorded.
    pub fn fold<'f>(me: NodeId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let mut state = Self::new(me);
        for fact in facts {
            state.apply(fact);
        }
        state
    }

    /// Whether a node may be listened to.
    pub fn is_peer(&self, node: NodeId) -> bool {
        self.peers.contains_key(&node) && !self.withdrawn.contains_key(&node)
    }

    /// The machines that are paired and not withdrawn.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values().filter(|peer| !self.withdrawn.contains_key(&peer.node))
    }

    /// Who owns a conversation, and since which epoch. What a machine claimed that was withdrawn since counts no more.
    pub fn owner(&self, conversation: &str) -> Option<(u64, NodeId)> {
        let claims =
            self.owners.claims(conversation)?.keys().filter(|(_, node)| !self.withdrawn.contains_key(node));
        foremost(claims)
    }

    /// Whether this node may write to a conversation now.
    pub fn may_write(&self, conversation: &str) -> bool {
        !self.passing.contains_key(conversation)
            && self.owner(conversation).is_some_and(|(_, owner)| owner == self.me)
    }

    /// Whether what a node wrote to a conversation under an epoch counts; what does not is kept aside. Of each machine the claims of
    /// [`crate::CLAIMS_KEPT`] epochs are known.
    pub fn counts(&self, conversation: &str, epoch: u64, by: NodeId) -> bool {
        let Some(claims) = self.owners.claims(conversation) else {
            return false;
        };
        let of_epoch = claims.keys().filter(|(at, _)| *at == epoch);
        foremost(of_epoch.clone().filter(|(_, node)| !self.withdrawn.contains_key(node)))
            .or_else(|| foremost(of_epoch))
            .is_some_and(|(_, node)| node == by)
    }

    /// How many times a group is as large as one in which everything is as frequent as it gets, and 1 for a smaller one.
    pub fn largeness(&self) -> i64 {
        let peers = i64::try_from(self.peers.len()).unwrap_or(i64::MAX);
        (peers.saturating_add(PRESENCE_MACHINES - 1) / PRESENCE_MACHINES).max(1)
    }

    /// Letters that were not opened yet.
    pub fn waiting(&self) -> usize {
        self.lanes.values().map(|lane| lane.waiting.len()).sum()
    }

    /// The last notice of a maker that is taken in.
    pub(crate) fn last_notice(&self, maker: NodeId) -> u64 {
        match self.withdrawn.get(&maker) {
            Some(upto) => *upto,
            None if maker == self.me || self.peers.contains_key(&maker) => u64::MAX,
            None => 0,
        }
    }

    /// The largest number of a receipt that this node told.
    pub const fn told_receipts(&self) -> u64 {
        self.told_receipts
    }

    /// The letters to each node that were not opened yet, for a person to see.
    pub const fn lanes(&self) -> &BTreeMap<NodeId, Lane> {
        &self.lanes
    }

    /// The number of the last letter of a node that was opened here.
    pub fn taken(&self, from: NodeId) -> u64 {
        self.opened(from).0
    }

    /// The number of the last letter of a node that was opened here, and what all come to with it.
    pub(crate) fn opened(&self, from: NodeId) -> (u64, Digest) {
        self.taken.get(&from).copied().unwrap_or((0, Digest::ZERO))
    }

    /// How far the notices of each maker are here.
    pub fn has(&self) -> BTreeMap<NodeId, Known> {
        let known = self.notices.iter().map(|(node, chain)| (*node, chain.known()));
        known.filter(|(_, known)| known.upto > 0).collect()
    }

    /// The number of the last notice of a maker that is here.
    pub(crate) fn noticed(&self, maker: NodeId) -> u64 {
        self.notices.get(&maker).map_or(0, Chain::last)
    }

    /// The notices of a maker that are kept here, in order.
    pub fn notices(&self, maker: NodeId) -> &[WireEvent] {
        self.notices.get(&maker).map(|chain| chain.kept.as_slice()).unwrap_or_default()
    }

    /// The digest of [`Self::has`].
    pub fn has_digest(&self) -> Digest {
        let mut hasher = seal::Hasher::new();
        for (node, known) in self.has() {
            hasher.update(node.0.as_bytes());
            hasher.update(known.upto.to_be_bytes());
            // Of a withdrawn machine nobody sorts two branches out any more.
            if !self.withdrawn.contains_key(&node) {
                hasher.update(known.id.as_bytes());
            }
        }
        hasher.finish()
    }

    /// Takes a fact in.
    pub fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::Paired(peer) => self.pair(peer),
            Fact::Moved { node, relays } => {
                if let Some(peer) = self.peers.get_mut(node) {
                    peer.relays.clone_from(relays);
                }
            }
            Fact::Withdrawn { node, upto, .. } => self.withdraw(*node, *upto),
            Fact::Group { epoch, group, without, through } => {
                self.group = Some((*epoch, *group));
                self.without.clone_from(without);
                self.through.clone_from(through);
            }
            Fact::Noticed(event) => self.notice(event),
            Fact::Forked { maker, upto } => {
                self.lack_heads(*maker);
                self.cut(*maker, *upto);
            }
            Fact::Missed { maker, upto } => {
                self.lack_heads(*maker);
                let gone = self.notices.entry(*maker).or_default().skip(*upto);
                self.lost_hold(*maker, &gone);
            }
            Fact::Proved { maker, origin, holds } => self.head_proved(*maker, origin, *holds),
            Fact::Untold(tells) => self.untold.push(tells.clone()),
            Fact::Queued { .. }
            | Fact::Accepted { .. }
            | Fact::Opened { .. }
            | Fact::Never { .. }
            | Fact::Renumbered { .. }
            | Fact::Skipped { .. }
            | Fact::Took { .. } => self.apply_letter(fact),
            Fact::Held(_) | Fact::Released { .. } | Fact::Given { .. } | Fact::Passing { .. } => {
                self.apply_conversation(fact);
            }
            Fact::Registered { .. }
            | Fact::Unregistered { .. }
            | Fact::Asked { .. }
            | Fact::Part { .. }
            | Fact::Whole { .. }
            | Fact::Question { .. }
            | Fact::Answered { .. }
            | Fact::Decided { .. }
            | Fact::Discounted { .. }
            | Fact::Settled { .. } => self.apply_approval(fact),
        }
    }

    /// Of two withdrawals of one machine, the one counts that leaves less of it.
    fn withdraw(&mut self, node: NodeId, upto: u64) {
        let last = self.withdrawn.entry(node).or_insert(upto);
        *last = upto.min(*last);
        let upto = *last;
        self.lanes.remove(&node);
        self.approvers.retain(|_, of| *of != node);
        self.parts.retain(|(from, _), _| *from != node);
        self.questions.retain(|(from, _), _| *from != node);
        for question in self.asked.values_mut() {
            question.decisions.remove(&node);
        }
        self.cut(node, upto);
    }

    /// Lets go of what a maker told after one of its notices, and of what it claimed there first.
    fn cut(&mut self, maker: NodeId, upto: u64) {
        let Some(chain) = self.notices.get_mut(&maker).filter(|chain| chain.last() > upto) else {
            return;
        };
        let gone = chain.cut(upto);
        let kept = chain.kept.clone();
        let mut forgotten = self.owners.cut(maker, upto);
        self.cut_schedules(maker, upto);
        self.log_keys.retain(|by, (_, at)| *by != maker || *at <= upto);
        let mut last = None;
        for notice in kept.iter().filter_map(read) {
            last = Some(notice.at);
            self.claim(maker, notice);
        }
        forgotten.extend(last.into_iter().flat_map(|at| self.owners.lapse(maker, at)));
        self.forget_passing(&forgotten);
        self.lost_hold(maker, &gone);
    }

    /// What this node told and lost the hold of is to be told anew.
    fn lost_hold(&mut self, maker: NodeId, gone: &[WireEvent]) {
        if maker == self.me {
            self.untold.extend(to_tell_anew(gone));
        }
    }

    fn apply_letter(&mut self, fact: &Fact) {
        match fact {
            Fact::Queued { to, number, says, at, before } => {
                if let Says::Decision(signed) = says {
                    self.answers = self.answers.max(signed.decision.counter);
                }
                let lane = self.lanes.entry(*to).or_default();
                (lane.last, lane.chain) = (number.saturating_sub(1), *before);
                lane.push(says.clone(), *at);
            }
            Fact::Renumbered { to, after, chain } => {
                let lane = self.lanes.entry(*to).or_default();
                let waiting = std::mem::take(&mut lane.waiting);
                (lane.last, lane.chain) = (*after, *chain);
                for letter in waiting.into_values() {
                    lane.push(letter.says, letter.at);
                }
            }
            Fact::Accepted { to, number, .. } => {
                let lane = self.lanes.get_mut(to);
                if let Some(letter) = lane.and_then(|lane| lane.waiting.get_mut(number)) {
                    letter.accepted = true;
                }
            }
            Fact::Opened { to, upto, chain } => {
                let lane = self.lanes.entry(*to).or_default();
                lane.waiting = lane.waiting.split_off(&upto.saturating_add(1));
                if lane.last < *upto {
                    // The record of the last one was erased.
                    (lane.last, lane.chain) = (*upto, *chain);
                }
            }
            Fact::Never { to, number, why } => {
                let lane = self.lanes.get_mut(to).filter(|_| *why != Never::Withdrawn);
                if let Some(letter) = lane.and_then(|lane| lane.waiting.get_mut(number)) {
                    letter.says = Says::Gone;
                }
            }
            Fact::Took { from, number: upto, chain } | Fact::Skipped { from, upto, chain } => {
                self.taken.insert(*from, (*upto, *chain));
            }
            _ => {}
        }
    }

    fn apply_conversation(&mut self, fact: &Fact) {
        match fact {
            Fact::Held(input) => {
                self.held.insert(input.id(), input.clone());
            }
            Fact::Released { input } => {
                self.held.remove(input);
            }
            Fact::Given { input } => {
                self.held.remove(input);
                self.given.add(*input, GIVEN_MAX);
            }
            Fact::Passing { conversation, to, epoch } => {
                self.passing.insert(conversation.clone(), (*to, *epoch));
            }
            _ => {}
        }
    }

    /// A notice of which the node found, before it recorded it, that its maker signed it and that it is the next.
    fn notice(&mut self, event: &WireEvent) {
        let maker = event.pubkey;
        let Some(notice) = read(event) else {
            return;
        };
        self.notices.entry(maker).or_default().push(event.clone(), notice.from);
        if maker == self.me {
            self.untold.retain(|tells| *tells != notice.tells);
        } else if let Tells::Head(head) = &notice.tells {
            self.forsake_head(maker, head);
        }
        let at = notice.at;
        self.claim(maker, notice);
        let forgotten = self.owners.lapse(maker, at);
        self.forget_passing(&forgotten);
    }

    /// To whom conversations were handed over that nobody remembers any more.
    fn forget_passing(&mut self, conversations: &[String]) {
        for conversation in conversations {
            self.passing.remove(conversation);
        }
    }

    /// What follows from a notice, where it does not follow from an earlier one.
    fn claim(&mut self, maker: NodeId, notice: Notice) {
        let number = notice.number;
        match notice.tells {
            Tells::Schedule(schedule) => self.claim_stated(maker, number, schedule),
            Tells::Ready { schedule, sha256, is_ready } => {
                self.claim_ready(maker, number, (schedule, (sha256, is_ready)));
            }
            Tells::Lease { schedule, epoch } => {
                add_claim(self.leases.entry(schedule).or_default(), (epoch, maker), number);
            }
            Tells::Fired { schedule, slot, epoch } => {
                self.claim_start(maker, number, (schedule, &slot, epoch));
            }
            Tells::Owner { conversation, epoch, used_at, .. } => {
                // Its own claim that is only told anew takes nothing back that it handed over.
                if self.passing.get(&conversation).is_some_and(|(_, at)| *at <= epoch) {
                    self.passing.remove(&conversation);
                }
                self.owners.claim(maker, (conversation, epoch), (number, used_at));
            }
            Tells::Head(head) => self.claim_head(maker, &head, notice.at),
            Tells::Receipts { lines } if maker == self.me => {
                let last = lines.iter().map(|line| line.number).max();
                self.told_receipts = self.told_receipts.max(last.unwrap_or(0));
            }
            Tells::LogKey { key } => {
                // A chain that was cut is claimed anew from its oldest notice on: the newest key stands.
                if self.log_keys.get(&maker).is_none_or(|(_, at)| *at < number) {
                    self.log_keys.insert(maker, (key, number));
                }
            }
            Tells::Withdrawn { .. } | Tells::Receipts { .. } => {}
        }
    }
}

/// Whether one claim goes before another: the later epoch, and of the same epoch the lower key.
pub(crate) fn wins(one: (u64, NodeId), other: (u64, NodeId)) -> bool {
    one.0 > other.0 || (one.0 == other.0 && one.1 < other.1)
}

/// The claim that goes before all others.
pub(crate) fn foremost<'c>(claims: impl Iterator<Item = &'c (u64, NodeId)>) -> Option<(u64, NodeId)> {
    claims.copied().reduce(|one, other| if wins(one, other) { one } else { other })
}

/// A length as a number of letters or notices.
pub(crate) fn number(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
