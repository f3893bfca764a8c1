//! Many nodes, few relays, a clock of their own, and all that goes wrong between them.

use super::relay::{Manner, Relay};
use crate::fake::{Make, Seeded};
use mesh::{
    Capabilities, Command, Delivered, Fact, GroupSecret, Happened, Node, NodeId, Peer, State, Step, Way,
};
use model::UnixMs;
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// When a simulation begins.
const BEGAN: i64 = 1_800_000_000_000;
/// For how long a node is away at most, in milliseconds.
const AWAY_MS: usize = 30 * 60_000;

pub struct Machine<S> {
    pub node: Option<Node<S>>,
    pub id: NodeId,
    pub facts: Vec<Fact>,
    pub delivered: Vec<Delivered>,
    pub relays: Vec<usize>,
    pub side: usize,
    pub signer: SeedSigner,
    secret: [u8; 32],
    groups: Vec<(NodeId, [u8; 32])>,
    skew: i64,
    /// From when on it is to be woken, so that what was asked for before is let go.
    wakes: u64,
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
}

enum Event {
    Bytes { to: usize, way: Way, bytes: Rc<[u8]> },
    Wake { node: usize, wakes: u64 },
    Back { node: usize },
}

pub struct World<S> {
    pub rng: Seeded,
    pub now: i64,
    pub machines: Vec<Machine<S>>,
    pub relays: Vec<Relay>,
    pub cost: Cost,
    /// How many of a thousand steps are cut short by a crash.
    pub crashes: u64,
    events: BTreeMap<(i64, u64), Event>,
    order: u64,
    pub due: BTreeSet<(String, String)>,
    pub ranks: BTreeMap<String, Vec<usize>>,
    /// Who cannot run schedules now: a person paused them there.
    pub paused: BTreeSet<usize>,
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
                wakes: 0,
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
        let state = State::fold(machine.id, &machine.facts);
        machine.node = Some(Node::new(sealing, state, now));
        let relays = self.relays_of_way(index);
        self.say(index, Command::Tell { can: Capabilities::default(), load: 5, relays });
        for relay in 0..self.relays.len() {
            if self.relays[relay].side == self.machines[index].side {
                self.happen(index, Happened::Up(Way::Relay(url(relay))));
            }
        }
        self.news(index);
        self.at(1_000, Event::Wake { node: index, wakes: self.machines[index].wakes });
    }

    /// A node dies: what it did not record is gone.
    pub fn kill(&mut self, index: usize) {
        self.machines[index].node = None;
        self.machines[index].wakes += 1;
        for relay in &mut self.relays {
            relay.leave(index);
        }
        let away = 1_000 + i64::try_from(self.rng.of(AWAY_MS)).unwrap();
        self.at(away, Event::Back { node: index });
    }

    /// Cuts the mesh in two, or heals it.
    pub fn cut(&mut self, is_cut: bool) {
        for index in 0..self.relays.len() {
            self.relays[index].side = if is_cut { index % 2 } else { 0 };
        }
        for index in 0..self.machines.len() {
            self.machines[index].side = if is_cut { self.rng.of(2) } else { 0 };
            for relay in 0..self.relays.len() {
                let way = Way::Relay(url(relay));
                if self.relays[relay].side == self.machines[index].side {
                    self.happen(index, Happened::Up(way));
                } else {
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
        let step = node.handle(Happened::Said(command), now, &mut self.rng)?;
        // What a person says is recorded: a crash in it would only take back that they said it.
        self.commit(index, step, false);
        Ok(())
    }

    pub fn happen(&mut self, index: usize, what: Happened) {
        let now = self.clock(index);
        let Some(node) = self.machines[index].node.as_mut() else { return };
        let step = node.handle(what, now, &mut self.rng).unwrap();
        let crashes = self.rng.next() % 1_000 < self.crashes;
        if crashes && self.rng.percent(50) {
            // It dies before the commit: nothing of the step happened.
            self.kill(index);
            return;
        }
        self.commit(index, step, crashes);
    }

    /// Does what a step says: keeps, records and delivers, then writes, unless the node dies in between.
    fn commit(&mut self, index: usize, step: Step, dies: bool) {
        let machine = &mut self.machines[index];
        machine.groups.extend(step.keep.iter().map(|keep| (keep.group, keep.secret)));
        machine.facts.extend(step.facts);
        machine.delivered.extend(step.deliver);
        if dies {
            self.kill(index);
            return;
        }
        for (way, bytes) in step.write {
            self.cost.written += 1;
            self.cost.bytes += bytes.len() as u64;
            let Way::Relay(at) = &way else { continue };
            let relay = (0..self.relays.len()).find(|relay| url(*relay) == *at).unwrap();
            if self.relays[relay].side == self.machines[index].side {
                let sent = self.relays[relay].written(index, &bytes, &mut self.rng);
                for (to, after, bytes) in sent {
                    self.at(after, Event::Bytes { to, way: way.clone(), bytes });
                }
            }
        }
        if let Some(wake) = step.wake_at {
            self.machines[index].wakes += 1;
            let after = (wake.0 - self.clock(index).0).max(200);
            self.at(after, Event::Wake { node: index, wakes: self.machines[index].wakes });
        }
    }

    /// A node writes what its program would not, sealed with its own key.
    pub fn writes(&mut self, index: usize, to: NodeId, text: &str) {
        let sealing = self.sealing(index);
        if let Ok(event) = sealing.wrap(to, text, self.clock(index), &mut self.rng) {
            let bytes = mesh::frame::event(&event);
            let ways = (0..self.relays.len()).map(|relay| (Way::Relay(url(relay)), bytes.clone()));
            let write = ways.collect();
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
                Event::Bytes { to, way, bytes } => {
                    let Way::Relay(at) = &way else { continue };
                    let relay = (0..self.relays.len()).find(|relay| url(*relay) == *at).unwrap();
                    if self.relays[relay].side == self.machines[to].side && self.machines[to].node.is_some() {
                        self.cost.read += 1;
                        let holds =
                            |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
                        self.cost.presences += u64::from(holds("\"kind\":30078"));
                        self.cost.wraps += u64::from(holds("\"kind\":1059"));
                        self.happen(to, Happened::Received { way, bytes: bytes.to_vec() });
                    }
                }
                Event::Wake { node, wakes } if self.machines[node].wakes == wakes => {
                    self.happen(node, Happened::Tick);
                    self.news(node);
                }
                Event::Wake { .. } => {}
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
