//! Many nodes, few relays, a clock of their own, and all that goes wrong between them.

use super::relay::{Manner, Relay};
use crate::fake::{Make, Seeded};
use mesh::sealed::{PRESENCE_KIND, WRAP_KIND};
use mesh::{
    Capabilities, Command, Delivered, Fact, GroupSecret, Happened, Node, NodeId, Peer, State, Step, Way,
};
use model::UnixMs;
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// When a simulation begins.
pub const BEGAN: i64 = 1_800_000_000_000;
/// For how long a node is away at most, in milliseconds.
const AWAY_MS: usize = 30 * 60_000;

pub struct Machine<S> {
    pub node: Option<Node<S>>,
    pub id: NodeId,
    /// Many machines record the same: it is kept once.
    pub facts: Vec<Rc<Fact>>,
    pub delivered: Vec<Delivered>,
    pub relays: Vec<usize>,
    pub side: usize,
    pub signer: SeedSigner,
    secret: [u8; 32],
    groups: Vec<(NodeId, [u8; 32])>,
    skew: i64,
    /// When it is woken next; and when it wants to be, which may be later by then.
    wakes: Option<i64>,
    wakes_at: i64,
}

/// What it costs.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    pub written: u64,
    pub bytes: u64,
    pub read: u64,
    /// Of what was read: presences.
    pub presences: u64,
    /// Of what was read: letters and notices.
    pub wraps: u64,
    /// Steps of nodes.
    pub steps: u64,
}

enum Event {
    Bytes { to: usize, relay: usize, bytes: Rc<[u8]> },
    Wake { node: usize },
    Back { node: usize },
}

pub struct World<S> {
    pub rng: Seeded,
    pub now: i64,
    pub machines: Vec<Machine<S>>,
    pub relays: Vec<Relay>,
    pub cost: Cost,
    /// How many of a thousand steps are cut short by a crash, in a mesh of up to ten nodes; fewer in proportion in a larger one, in
    /// which each takes more steps.
    pub crashes: u64,
    ways: Vec<Way>,
    /// What was recorded by any machine that others record as well: pairings and notices.
    recorded: BTreeMap<(NodeId, Digest), Rc<Fact>>,
    events: BTreeMap<(i64, u64), Event>,
    order: u64,
    pub due: BTreeSet<(String, String)>,
    pub ranks: BTreeMap<String, Vec<usize>>,
    /// Who cannot run schedules now: a person paused them there.
    pub paused: BTreeSet<usize>,
}

/// The kind of an event that a relay sends, where it is one: it stands behind the id and the key, and the time.
fn kind_of(bytes: &[u8]) -> Option<u16> {
    let head = bytes.get(..bytes.len().min(320))?;
    let word = b"\"kind\":";
    let at = head.windows(word.len()).position(|part| part == word)? + word.len();
    let digits = head.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(Some(0_u16), |kind, digit| kind?.checked_mul(10)?.checked_add(u16::from(digit - b'0')))
}

pub fn url(relay: usize) -> String {
    format!("wss://relay-{relay}.example")
}

impl<S: Make> World<S> {
    /// Nodes that are paired with each other, each at two relays, of which at least one keeps to the rules.
    pub fn new(count: usize, seed: u64) -> Self {
        let manners = [Manner::Honest, Manner::Honest, Manner::Forgets, Manner::Hostile];
        let mut world = Self {
            rng: Seeded(seed),
            now: BEGAN,
            machines: Vec::new(),
            relays: manners.into_iter().map(Relay::new).collect(),
            ways: (0..manners.len()).map(|relay| Way::Relay(url(relay))).collect(),
            recorded: BTreeMap::new(),
            cost: Cost::default(),
            crashes: 0,
            events: BTreeMap::new(),
            order: 0,
            due: BTreeSet::new(),
            ranks: BTreeMap::new(),
            paused: BTreeSet::new(),
        };
        for index in 0..count {
            let secret = *Digest::of(format!("{seed} {index}").as_bytes()).as_bytes();
            let id = S::make(secret).node();
            let relays = vec![index % 2, 2 + world.rng.of(2)];
            let skew = i64::try_from(world.rng.of(240_000)).unwrap() - 120_000;
            world.machines.push(Machine {
                node: None,
                id,
                facts: Vec::new(),
                delivered: Vec::new(),
                relays,
                side: 0,
                signer: SeedSigner::from_seed(secret),
                secret,
                groups: Vec::new(),
                skew,
                wakes: None,
                wakes_at: 0,
            });
        }
        world.pair_all();
        world
    }

    fn pair_all(&mut self) {
        let group = GroupSecret {
            epoch: 1,
            secret: Digest::of(b"the group of a simulation"),
            without: BTreeSet::new(),
            through: BTreeSet::new(),
        };
        let peers: Vec<Peer> = self
            .machines
            .iter()
            .enumerate()
            .map(|(at, machine)| {
                let relays = machine.relays.iter().map(|relay| url(*relay)).collect();
                let (name, log_key) = (format!("machine {at}"), machine.signer.public());
                Peer { node: machine.id, name, relays, log_key, approval_key: None }
            })
            .collect();
        for index in 0..self.machines.len() {
            self.start(index);
            let me = self.machines[index].id;
            for peer in peers.iter().filter(|peer| peer.node != me) {
                let group = Some(group.clone());
                self.say(index, Command::Pair { peer: peer.clone(), group });
            }
        }
        self.crashes = 0;
    }

    pub fn relays_of_way(&self, index: usize) -> Vec<String> {
        self.machines[index].relays.iter().map(|relay| url(*relay)).collect()
    }

    /// A node begins, with what its facts made.
    pub fn start(&mut self, index: usize) {
        let now = self.clock(index);
        let sealing = self.sealing(index);
        let machine = &mut self.machines[index];
        let state = State::fold(machine.id, machine.facts.iter().map(|fact| &**fact));
        machine.node = Some(Node::new(sealing, state, now));
        let relays = self.relays_of_way(index);
        self.say(index, Command::Tell { can: Capabilities::default(), load: 5, relays });
        for relay in 0..self.relays.len() {
            if self.relays[relay].side == self.machines[index].side {
                self.happen(index, Happened::Up(self.ways[relay].clone()));
            }
        }
        self.news(index);
        self.wake(index, 1_000);
    }

    /// A node is to be woken after a while, unless it is before that.
    fn wake(&mut self, index: usize, after: i64) {
        let at = self.now + after;
        self.machines[index].wakes_at = at;
        if self.machines[index].wakes.is_none_or(|first| at < first) {
            self.machines[index].wakes = Some(at);
            self.at(after, Event::Wake { node: index });
        }
    }

    /// It is woken, where it still wants to be.
    fn woken(&mut self, index: usize) {
        // One that asked to be woken earlier in the meantime was.
        if self.machines[index].wakes != Some(self.now) {
            return;
        }
        self.machines[index].wakes = None;
        let late = self.machines[index].wakes_at - self.now;
        if late > 0 {
            self.wake(index, late);
        } else {
            self.happen(index, Happened::Tick);
            self.news(index);
        }
    }

    /// A node dies: what it did not record is gone.
    pub fn kill(&mut self, index: usize) {
        self.machines[index].node = None;
        self.machines[index].wakes = None;
        for relay in &mut self.relays {
            relay.leave(index);
        }
        let away = 1_000 + i64::try_from(self.rng.of(AWAY_MS)).unwrap();
        self.at(away, Event::Back { node: index });
    }

    /// Cuts the mesh in two, or heals it.
    pub fn cut(&mut self, is_cut: bool) {
        let before: Vec<usize> = self.relays.iter().map(|relay| relay.side).collect();
        for index in 0..self.relays.len() {
            self.relays[index].side = if is_cut { index % 2 } else { 0 };
        }
        for index in 0..self.machines.len() {
            let was = self.machines[index].side;
            self.machines[index].side = if is_cut { self.rng.of(2) } else { 0 };
            for (relay, before) in before.iter().enumerate() {
                let is_open = self.relays[relay].side == self.machines[index].side;
                let was_open = *before == was;
                let way = self.ways[relay].clone();
                if is_open && !was_open {
                    self.happen(index, Happened::Up(way));
                } else if was_open && !is_open {
                    self.relays[relay].leave(index);
                    self.happen(index, Happened::Down(way));
                }
            }
        }
    }

    pub fn clock(&self, index: usize) -> UnixMs {
        UnixMs(self.now + self.machines[index].skew)
    }

    fn at(&mut self, after: i64, event: Event) {
        self.order += 1;
        self.events.insert((self.now + after.max(0), self.order), event);
    }

    pub fn say(&mut self, index: usize, command: Command) {
        self.try_say(index, command).unwrap_or_else(|e| panic!("machine {index}: {e}"));
    }

    /// Says something to a node that is here.
    pub fn try_say(&mut self, index: usize, command: Command) -> Result<(), mesh::Error> {
        let now = self.clock(index);
        let Some(node) = self.machines[index].node.as_mut() else { return Ok(()) };
        self.cost.steps += 1;
        let step = node.handle(Happened::Said(command), now, &mut self.rng)?;
        // What a person says is recorded: a crash in it would only take back that they said it.
        self.commit(index, step, false);
        Ok(())
    }

    pub fn happen(&mut self, index: usize, what: Happened) {
        let now = self.clock(index);
        let Some(node) = self.machines[index].node.as_mut() else { return };
        self.cost.steps += 1;
        let step = node.handle(what, now, &mut self.rng).unwrap();
        let times = u64::try_from(self.machines.len()).unwrap().div_ceil(10);
        let crashes = self.rng.next() % (1_000 * times) < self.crashes;
        if crashes && self.rng.percent(50) {
            // It dies before the commit: nothing of the step happened.
            self.kill(index);
            return;
        }
        self.commit(index, step, crashes);
    }

    /// Does what a step says: keeps, records and delivers, then writes, unless the node dies in between.
    fn commit(&mut self, index: usize, step: Step, dies: bool) {
        for fact in step.facts {
            let fact = self.shared(fact);
            self.machines[index].facts.push(fact);
        }
        let machine = &mut self.machines[index];
        machine.groups.extend(step.keep.iter().map(|keep| (keep.group, keep.secret)));
        machine.delivered.extend(step.deliver);
        if dies {
            self.kill(index);
            return;
        }
        for (way, bytes) in step.write {
            self.cost.written += 1;
            self.cost.bytes += bytes.len() as u64;
            let Some(relay) = self.ways.iter().position(|known| *known == way) else { continue };
            if self.relays[relay].side == self.machines[index].side {
                let sent = self.relays[relay].written(index, &bytes, &mut self.rng);
                for (to, after, bytes) in sent {
                    self.at(after, Event::Bytes { to, relay, bytes });
                }
            }
        }
        if let Some(wake) = step.wake_at {
            let after = (wake.0 - self.clock(index).0).max(200);
            self.wake(index, after);
        }
    }

    /// A fact, as it is kept for whoever else records it.
    fn shared(&mut self, fact: Fact) -> Rc<Fact> {
        let key = match &fact {
            Fact::Paired(peer) => (peer.node, Digest::ZERO),
            Fact::Noticed(event) => (event.pubkey, event.id),
            _ => return Rc::new(fact),
        };
        match self.recorded.get(&key) {
            Some(known) if **known == fact => Rc::clone(known),
            _ => {
                let fact = Rc::new(fact);
                self.recorded.insert(key, Rc::clone(&fact));
                fact
            }
        }
    }

    /// A node writes what its program would not, sealed with its own key.
    pub fn writes(&mut self, index: usize, to: NodeId, text: &str) {
        let sealing = self.sealing(index);
        if let Ok(event) = sealing.wrap(to, text, self.clock(index), &mut self.rng) {
            let bytes = mesh::frame::event(&event);
            let write = self.ways.iter().map(|way| (way.clone(), bytes.clone())).collect();
            self.commit(index, Step { write, ..Step::default() }, false);
        }
    }

    /// The newest group of a node, and every one that it was ever given.
    pub fn groups(&self, index: usize) -> (Option<NodeId>, BTreeSet<NodeId>) {
        let groups = &self.machines[index].groups;
        (groups.last().map(|(group, _)| *group), groups.iter().map(|(group, _)| *group).collect())
    }

    /// The keys of a node.
    pub fn sealing(&self, index: usize) -> S {
        let mut sealing = S::make(self.machines[index].secret);
        for (_, secret) in &self.machines[index].groups {
            sealing.add_group(secret).unwrap();
        }
        sealing
    }

    /// Lets so much time pass.
    pub fn run(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some(entry) = self.events.first_entry() {
            let at = entry.key().0;
            if at > until {
                break;
            }
            let event = entry.remove();
            self.now = at;
            match event {
                Event::Bytes { to, relay, bytes } => {
                    if self.relays[relay].side == self.machines[to].side && self.machines[to].node.is_some() {
                        self.cost.read += 1;
                        let kind = kind_of(&bytes);
                        self.cost.presences += u64::from(kind == Some(PRESENCE_KIND));
                        self.cost.wraps += u64::from(kind == Some(WRAP_KIND));
                        let way = self.ways[relay].clone();
                        self.happen(to, Happened::Received { way, bytes: bytes.to_vec() });
                    }
                }
                Event::Wake { node } => self.woken(node),
                Event::Back { node } if self.machines[node].node.is_none() => self.start(node),
                Event::Back { .. } => {}
            }
        }
        self.now = until;
    }

    /// A slot comes due, by the reckoning of each node that is here and may hold it.
    pub fn come_due(&mut self, schedule: &str, slot: &str) {
        self.due.insert((schedule.to_owned(), slot.to_owned()));
        for index in self.ranks[schedule].clone() {
            self.news(index);
        }
    }

    /// What the kernel of a node has to say, each minute: whether it can run the schedules that name it, and what is due of them.
    fn news(&mut self, index: usize) {
        let Some(node) = self.machines[index].node.as_ref() else { return };
        let (me, state) = (self.machines[index].id, node.state());
        let of_it = |schedule: &str| self.ranks.get(schedule).is_some_and(|ranks| ranks.contains(&index));
        // A node that was away when the schedule was made hears of it later.
        let named = state.schedules().filter(|one| of_it(&one.schedule));
        let is_ready = !self.paused.contains(&index);
        let unsaid = named.filter(|one| state.readiness(&one.schedule, me) != Some(is_ready));
        let ready =
            unsaid.map(|one| Command::Ready { schedule: one.schedule.clone(), sha256: one.sha256, is_ready });
        let holds = |schedule: &str| state.lease(schedule).is_some_and(|lease| lease.holder == me);
        let due = self.due.iter().filter(|(schedule, slot)| {
            is_ready && of_it(schedule) && holds(schedule) && state.began(schedule, slot).is_none()
        });
        let due = due.map(|(schedule, slot)| Command::Due { schedule: schedule.clone(), slot: slot.clone() });
        for command in ready.chain(due).collect::<Vec<_>>() {
            self.try_say(index, command).unwrap_or_else(|e| panic!("machine {index}: {e}"));
        }
    }

    pub fn state(&self, index: usize) -> &State {
        self.machines[index].node.as_ref().unwrap().state()
    }

    pub fn sign(&self, index: usize, decision: mesh::Decision) -> mesh::SignedDecision {
        let signer = &self.machines[index].signer;
        let signature = signer.sign(&decision.signed_bytes().unwrap()).unwrap();
        mesh::SignedDecision { decision, key: signer.public(), signature, approval: None }
    }
}
