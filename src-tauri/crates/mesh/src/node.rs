//! A node: what happened goes in, what is to be done comes out.

use crate::auth::AskedWho;
use crate::frame::{self, Frame};
use crate::ids::Ids;
use crate::moves::{Moves, are_relays};
use crate::peers::Seen;
use crate::port::{Command, Delivered, Fact, Input, Step, Telling, Way};
use crate::public::{self, Publicity};
use crate::sealed::{MOVED_SECS, PRESENCE_KIND, Sealing, WRAP_KIND, WireEvent};
use crate::state::State;
use crate::waits::ToldWaits;
use crate::{Capabilities, Chance, Error, Letter, NodeId, carry};
use model::UnixMs;
use seal::{Digest, canon};
use std::collections::{BTreeMap, BTreeSet};

/// Ids of events that came and are not looked at again.
const SEEN_MAX: usize = 16_384;
/// Events whose acceptance is awaited.
const WRITTEN_MAX: usize = 16_384;
/// For how much longer than it should a machine does nothing before it counts as one that slept, in milliseconds.
const ASLEEP_MS: i64 = 30_000;
/// For how long no way is open at most where nobody takes this node for silent by that, in milliseconds.
const MOMENT_MS: i64 = 60_000;
/// By how many seconds a filter reaches further back than the times of wraps are moved.
const REACH_SECS: i64 = 86_400;

/// A node of the mesh. All that has to outlive it is in its [`State`], which its facts make.
#[derive(Debug)]
pub struct Node<S> {
    pub(crate) sealing: S,
    pub(crate) state: State,
    pub(crate) step: Step,
    pub(crate) now: UnixMs,
    pub(crate) began: UnixMs,
    /// When a way opened while none was: of what was said before, this node heard nothing.
    pub(crate) reached: UnixMs,
    /// When the last way shut.
    shut: Option<UnixMs>,
    ways: BTreeSet<Way>,
    pub(crate) seen: BTreeMap<NodeId, Seen>,
    came: Ids,
    pub(crate) written: BTreeMap<Digest, (NodeId, u64)>,
    pub(crate) retries: BTreeMap<(NodeId, u64), (UnixMs, u32)>,
    pub(crate) owed: BTreeSet<NodeId>,
    pub(crate) unwritten: bool,
    pub(crate) early: BTreeMap<NodeId, BTreeMap<u64, Letter>>,
    pub(crate) early_notices: BTreeMap<(NodeId, u64), WireEvent>,
    pub(crate) forks: BTreeMap<NodeId, u32>,
    /// Since when this node knows that it told something that it does not know.
    pub(crate) forked_at: UnixMs,
    pub(crate) told_from: BTreeMap<NodeId, UnixMs>,
    /// When each other was answered last, and what it had then.
    pub(crate) answered: BTreeMap<NodeId, UnixMs>,
    wakes_at: Option<UnixMs>,
    /// Since when this node knows that a withdrawn machine may read the group.
    pub(crate) overheard: Option<UnixMs>,
    /// When others gave it the secret of a group.
    pub(crate) given_groups: Vec<UnixMs>,
    /// [`State::has_digest`], which is asked for with each presence and changes with notices only.
    has: Option<Digest>,
    /// Whether there are other notices here than the last presence told.
    pub(crate) news: bool,
    pub(crate) mended: BTreeMap<NodeId, UnixMs>,
    /// When each other was told last what is here of some makers.
    pub(crate) named: BTreeMap<NodeId, UnixMs>,
    pub(crate) handed: BTreeMap<NodeId, (UnixMs, u64)>,
    /// When each other was asked for a proof last.
    pub(crate) asked_proof: BTreeMap<NodeId, UnixMs>,
    /// When each other was last shown that a log of this node grew.
    pub(crate) proved: BTreeMap<(NodeId, String), UnixMs>,
    pub(crate) moves: Moves,
    /// Conversations of this node in which something was said in this step.
    pub(crate) spoken: BTreeSet<String>,
    /// When it was told that conversations are spoken in.
    pub(crate) used: Vec<UnixMs>,
    unreadable: BTreeMap<Way, u64>,
    /// What came of each other within the hour that machines say who learn together: since when, and how many bytes.
    pub(crate) parcels: BTreeMap<NodeId, (UnixMs, usize)>,
    /// What relays asked of who is there, while their connections stand.
    pub(crate) asked: BTreeMap<Way, AskedWho>,
    pub(crate) publicity: Publicity,
    pub(crate) own: Option<(Capabilities, u8, Vec<String>)>,
    pub(crate) told_at: Option<UnixMs>,
    pub(crate) told_waits: ToldWaits,
}

impl<S: Sealing> Node<S> {
    /// A node that starts, with what its recorded facts made and the secrets of its groups in `sealing`.
    pub fn new(sealing: S, state: State, now: UnixMs) -> Self {
        Self {
            sealing,
            state,
            step: Step::default(),
            now,
            began: now,
            reached: now,
            shut: None,
            ways: BTreeSet::new(),
            seen: BTreeMap::new(),
            came: Ids::new(),
            written: BTreeMap::new(),
            retries: BTreeMap::new(),
            owed: BTreeSet::new(),
            unwritten: false,
            early: BTreeMap::new(),
            early_notices: BTreeMap::new(),
            forks: BTreeMap::new(),
            forked_at: now,
            told_from: BTreeMap::new(),
            answered: BTreeMap::new(),
            wakes_at: None,
            overheard: None,
            given_groups: Vec::new(),
            has: None,
            news: false,
            mended: BTreeMap::new(),
            named: BTreeMap::new(),
            handed: BTreeMap::new(),
            asked_proof: BTreeMap::new(),
            proved: BTreeMap::new(),
            moves: Moves::default(),
            spoken: BTreeSet::new(),
            used: Vec::new(),
            unreadable: BTreeMap::new(),
            parcels: BTreeMap::new(),
            asked: BTreeMap::new(),
            publicity: Publicity::default(),
            own: None,
            told_at: None,
            told_waits: ToldWaits::default(),
        }
    }

    /// What it believes.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Takes in what happened.
    ///
    /// # Errors
    /// When a command may not be done; nothing happened then. What strangers send is never an error.
    pub fn handle(&mut self, input: Input, now: UnixMs, chance: &mut dyn Chance) -> Result<Step, Error> {
        self.step = Step::default();
        self.now = now;
        // A machine that slept heard nobody, which makes nobody silent.
        if self.wakes_at.is_some_and(|at| at.plus_ms(ASLEEP_MS) < now) {
            self.began = now;
        }
        match input {
            Input::Received { way, bytes } => self.received(&way, &bytes, chance),
            Input::Tick => self.tick(chance),
            Input::Up(way) => {
                self.up(way);
                self.write_letters(chance);
            }
            Input::Down(way) => {
                self.asked.remove(&way);
                if self.ways.remove(&way) && self.ways.is_empty() {
                    self.shut = Some(now);
                }
            }
            Input::Said(command) => {
                self.said(command, chance)?;
                self.write_letters(chance);
            }
            Input::Imported(file) => {
                let events =
                    carry::unpack(&file).map_err(|_| Error::Refused("this is no file of the mesh"))?;
                for event in events {
                    self.event(&Way::Carried, &event, chance);
                }
                self.write_letters(chance);
            }
        }
        self.tell_used(chance);
        self.wakes_at = self.wake_at();
        self.step.wake_at = self.wakes_at;
        Ok(std::mem::take(&mut self.step))
    }

    /// Everything that waits for a machine, or for any, and every notice: a file to carry.
    ///
    /// # Errors
    /// When something cannot be sealed.
    pub fn export(
        &self,
        only: Option<NodeId>,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Result<carry::Packed, Error> {
        let mut events = Vec::new();
        let none = crate::state::Lane::default();
        let peers = self.state.peers().map(|peer| peer.node);
        for to in peers.filter(|to| only.is_none_or(|only| only == *to)) {
            let lane = self.state.lanes.get(&to).unwrap_or(&none);
            let messages: BTreeSet<u64> = lane.messages().map(|(number, _)| number).collect();
            for (number, waiting) in &lane.waiting {
                let letter = self.letter(to, *number, waiting);
                let text = text(&letter)?;
                events.push((self.sealing.wrap(to, &text, now, chance)?, messages.contains(number)));
            }
            if !self.state.taken.contains_key(&to) {
                continue;
            }
            let (upto, chain) = self.state.opened(to);
            let opened = self.loose(to, crate::Says::Opened(crate::Opened { upto, chain }));
            events.push((self.sealing.wrap(to, &text(&opened)?, now, chance)?, false));
        }
        if let Some((_, group)) = self.state.group {
            for notice in self.state.notices.values().flat_map(|chain| &chain.kept) {
                events.push((self.sealing.wrap(group, &text(notice)?, now, chance)?, false));
            }
        }
        Ok(carry::pack(events.iter().map(|(event, is_message)| (event, *is_message))))
    }

    /// Records a fact: from here on it is believed.
    pub(crate) fn record(&mut self, fact: Fact) {
        let is_news = matches!(fact, Fact::Noticed(_) | Fact::Forked { .. } | Fact::Missed { .. });
        self.news |= is_news;
        if is_news || matches!(fact, Fact::Withdrawn { .. }) {
            self.has = None;
        }
        self.state.apply(&fact);
        self.step.facts.push(fact);
    }

    /// The digest of the notices that are here.
    pub(crate) fn has_digest(&mut self) -> Digest {
        let state = &self.state;
        *self.has.get_or_insert_with(|| state.has_digest())
    }

    pub(crate) fn deliver(&mut self, delivered: Delivered) {
        self.step.deliver.push(delivered);
    }

    fn received(&mut self, way: &Way, bytes: &[u8], chance: &mut dyn Chance) {
        match frame::read(bytes) {
            Some(Frame::Event(event)) => {
                self.event(way, &event, chance);
                if matches!(way, Way::Direct(_)) {
                    self.step.write.push((way.clone(), frame::came(event.id)));
                }
            }
            Some(Frame::Ok { id, accepted, why }) => {
                if !(self.told_who(way, id, accepted) && accepted) {
                    self.told(way, id, accepted, why);
                } else {
                    self.write_letters(chance);
                }
            }
            Some(Frame::Asks(challenge)) => self.asked_who(way, challenge),
            Some(Frame::Said(why)) => self.step.tell.push(Telling::Refused { way: way.clone(), why }),
            Some(Frame::Nothing) => {}
            None => self.unread(way),
        }
    }

    pub(crate) fn unread(&mut self, way: &Way) {
        *self.unreadable.entry(way.clone()).or_default() += 1;
    }

    /// What a relay says of an event. It is believed of its own relay only, and of nothing but that it has it.
    fn told(&mut self, way: &Way, id: Digest, accepted: bool, why: String) {
        if !accepted {
            self.step.tell.push(Telling::Refused { way: way.clone(), why });
            return;
        }
        let Some((to, number)) = self.written.get(&id).copied() else {
            return;
        };
        let lane = self.state.lanes.get(&to);
        if lane.and_then(|lane| lane.waiting.get(&number)).is_some_and(|letter| !letter.accepted) {
            self.record(Fact::Accepted { to, number, way: way.clone() });
        }
    }

    fn event(&mut self, way: &Way, event: &WireEvent, chance: &mut dyn Chance) {
        if !event.is_bounded() || self.came.contains(&event.id) {
            return;
        }
        if public::is_named(event) {
            if event.pubkey != self.state.me {
                self.take_public(way, event);
            }
            return;
        }
        let unsealed = match event.kind {
            WRAP_KIND => self.sealing.open(event),
            PRESENCE_KIND if event.pubkey == self.state.me => return,
            PRESENCE_KIND => self.sealing.read_announced(event),
            _ => None,
        };
        // Before anything is parsed further: a paired key, or nothing (mesh.md 4).
        let from_me = unsealed.as_ref().is_some_and(|unsealed| unsealed.from == self.state.me);
        let Some(unsealed) = unsealed.filter(|unsealed| self.state.is_peer(unsealed.from)) else {
            if !from_me {
                self.unread(way);
            }
            return;
        };
        // Only what is signed has an id that is its own, so that nobody takes the place of another's.
        if !self.came.add(event.id, SEEN_MAX) {
            return;
        }
        let group = event.receiver().filter(|receiver| *receiver != self.state.me);
        match (event.kind, group) {
            (PRESENCE_KIND, Some(group)) => self.presence(unsealed.from, group, &unsealed.text, chance),
            (WRAP_KIND, None) => self.take_letter(unsealed.from, &unsealed.text, chance),
            (WRAP_KIND, Some(_)) => self.take_notice(&unsealed.text),
            _ => self.unread(way),
        }
    }

    fn up(&mut self, way: Way) {
        self.asked.remove(&way);
        if self.ways.is_empty() {
            // A moment is only left out: where a relay hangs up again and again, a node would listen for ever, and begin nothing.
            let gone =
                self.shut.map(|at| self.now.0.saturating_sub(at.0)).filter(|ms| (0..=MOMENT_MS).contains(ms));
            self.reached = gone.map_or(self.now, |ms| self.reached.plus_ms(ms).min(self.now));
        }
        self.ways.insert(way.clone());
        self.begin_at(&way);
    }

    pub(crate) fn is_up(&self, way: &Way) -> bool {
        self.ways.contains(way)
    }

    /// Begins where nothing was said that counts.
    pub(crate) fn begin_at(&mut self, way: &Way) {
        if self.reads_at(way) {
            let frame = self.subscription();
            self.step.write.push((way.clone(), frame));
        }
        (self.told_at, self.publicity.told_at) = (None, None);
        // What was written before may be lost; what waits is written anew.
        self.retries.clear();
    }

    /// Whether others could hear of something: a way is open.
    pub(crate) fn is_reached(&self) -> bool {
        !self.ways.is_empty()
    }

    /// At its own relays, and from nodes directly. At the relays of others a node only writes.
    pub(crate) fn reads_at(&self, way: &Way) -> bool {
        match (way, &self.own) {
            (Way::Relay(url), Some((_, _, relays))) => relays.contains(url),
            (Way::Relay(_), None) | (Way::Carried, _) => false,
            (Way::Direct(_), _) => true,
        }
    }

    /// Relays at which this node reads, as far as they are connected.
    pub(crate) fn own_relays_up(&self) -> impl Iterator<Item = &Way> {
        self.ways.iter().filter(move |way| matches!(way, Way::Relay(_)) && self.reads_at(way))
    }

    pub(crate) fn subscribe(&mut self) {
        let frame = self.subscription();
        let ways: Vec<Way> = self.ways.iter().filter(|way| self.reads_at(way)).cloned().collect();
        self.step.write.extend(ways.into_iter().map(|way| (way, frame.clone())));
    }

    /// Every relay that the host is to keep a connection with: where this node reads, and where its peers do.
    pub fn relays(&self) -> BTreeSet<String> {
        let own = self.own.iter().flat_map(|(_, _, relays)| relays);
        own.chain(self.state.peers().flat_map(|peer| self.relays_of(peer.node))).cloned().collect()
    }

    fn subscription(&mut self) -> Vec<u8> {
        // Older groups too: whoever missed the newest still speaks to one, and is given it then.
        let receivers: Vec<NodeId> =
            std::iter::once(self.state.me).chain(self.sealing.groups().into_iter().rev()).collect();
        let public = self.ask_of();
        frame::subscribe_to(&receivers, self.now.0 / 1000 - i64::from(MOVED_SECS) - REACH_SECS, &public)
    }

    fn tick(&mut self, chance: &mut dyn Chance) {
        if self.tells_at() <= self.now {
            self.announce(chance);
        }
        self.tell_everybody();
        self.ask_of_new();
        self.take_over(chance);
        self.keep_group_closed(chance);
        self.tell_untold(chance);
        self.expire();
        self.record_moves();
        self.write_letters(chance);
        let unreadable = std::mem::take(&mut self.unreadable);
        let tell = unreadable.into_iter().map(|(way, count)| Telling::Unreadable { way, count });
        self.step.tell.extend(tell);
    }

    /// Writes an event for the group by every way that is open: to whichever relays its members read.
    pub(crate) fn write_to_all(&mut self, event: &WireEvent) {
        let bytes = frame::event(event);
        self.step.write.extend(self.ways.iter().map(|way| (way.clone(), bytes.clone())));
    }

    /// Writes an event by the ways on which one node reads, and by no other.
    pub(crate) fn write_to(&mut self, to: NodeId, number: u64, event: &WireEvent) {
        if !self.state.peers.contains_key(&to) {
            return;
        }
        let relays = self.relays_of(to).iter().map(|url| Way::Relay(url.clone()));
        let ways = std::iter::once(Way::Direct(to)).chain(relays).filter(|way| self.ways.contains(way));
        let (bytes, ways) = (frame::event(event), ways.collect::<Vec<_>>());
        self.step.write.extend(ways.into_iter().map(|way| (way, bytes.clone())));
        if number > 0 {
            self.written.insert(event.id, (to, number));
            if self.written.len() > WRITTEN_MAX {
                self.written.pop_first();
            }
        }
    }

    pub(crate) fn has_way_to(&self, to: NodeId) -> bool {
        let relays = self.relays_of(to);
        self.ways.contains(&Way::Direct(to))
            || relays.iter().any(|url| self.ways.contains(&Way::Relay(url.clone())))
    }

    fn wake_at(&self) -> Option<UnixMs> {
        let tells = self.own.is_some() && self.state.group.is_some();
        let told = tells.then(|| self.tells_at());
        // Where there is no way, nothing is written however late it is: a way that opens writes it.
        let mut way: Option<(NodeId, bool)> = None;
        let goes = self.retries.iter().filter(|((to, _), _)| {
            // Those to one node stand together.
            let known = way.filter(|(of, _)| of == to).map(|(_, is_open)| is_open);
            let is_open = known.unwrap_or_else(|| self.has_way_to(*to));
            way = Some((*to, is_open));
            is_open
        });
        let letters = goes.map(|(_, (at, _))| (*at).max(self.now)).min();
        let owed = (self.unwritten || !self.owed.is_empty()).then_some(self.now);
        let untold = (!self.state.untold.is_empty()).then(|| self.tells_untold_at().max(self.now));
        let public = self.tells_everybody_at();
        [told, letters, owed, untold, public].into_iter().flatten().min()
    }

    fn said(&mut self, command: Command, chance: &mut dyn Chance) -> Result<(), Error> {
        match command {
            Command::Pair { peer, group } => self.pair(peer, group.as_ref(), chance),
            Command::Withdraw(node) => self.withdraw(node, chance),
            Command::Tell { can, load, relays } => {
                if !can.is_fit() || !are_relays(&relays) {
                    return Err(Error::Refused("a machine tells names, no paths, and at most eight relays"));
                }
                let moves = self.own.as_ref().is_none_or(|(_, _, before)| *before != relays);
                self.own = Some((can, load, relays));
                if moves {
                    self.tell_who_asked();
                    self.subscribe();
                }
                self.announce(chance);
                Ok(())
            }
            Command::Public { is_on, head } => {
                self.publicise(is_on, head);
                Ok(())
            }
            Command::Own { .. } | Command::HandOver { .. } | Command::Take { .. } | Command::Route { .. } => {
                self.said_of_conversation(command, chance)
            }
            Command::Reply { to, answer } => self.queue(to, crate::Says::Answer(answer)),
            Command::Waits { to, conversation, message, waits } => {
                self.waits(to, (conversation, message, waits))
            }
            Command::Ask { card, packet, of } => self.ask(card, &packet, of),
            Command::Decide(decision) => self.decide(decision),
            Command::Settle { approval } => self.settled(&approval),
            Command::Register { node, key } => self.register(node, key),
            Command::Unregister { node } => self.unregister(node),
            Command::Schedule(schedule) => self.schedule(schedule, chance),
            Command::Ready { schedule, sha256, is_ready } => self.ready(schedule, (sha256, is_ready), chance),
            Command::Due { schedule, slot } => self.slot_due(schedule, slot, chance),
            Command::Head(head) => self.tell_all(crate::Tells::Head(head), chance),
            Command::LogKey { key } => self.tell_log_key(key, chance),
            Command::Cosign { node, cosigned } => self.queue(node, crate::Says::Cosigned(cosigned)),
            Command::Prove { to, head } => self.prove(to, head, chance),
            Command::Receipts(lines) => self.tell_all(crate::Tells::Receipts { lines }, chance),
            Command::Training { to, content } => self.send_parcel(to, &content),
        }
    }
}

/// The canonical text of what is sealed.
pub(crate) fn text<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    let bytes = canon::to_canonical(value)?;
    String::from_utf8(bytes).map_err(|_| Error::Refused("it has no text"))
}
