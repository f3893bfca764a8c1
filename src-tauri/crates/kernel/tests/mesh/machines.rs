//! Machines of one person: a store and a node each, which do what the host does with them, and what is carried between them.

use crate::story::log;
use kernel::command::mesh::{MeshGoal, MeshSent, MeshTerms};
use kernel::command::submit::Reasoning;
use kernel::mesh_registry::{MeshMessage, MeshRegistry};
use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{Capabilities, Command, Delivered, GroupSecret, Happened, Node, NodeId, Peer, State, Way};
use model::ingress::Channel;
use model::policy::Profile;
use model::{Body, Digest, TaskId, UnixMs};
use seal::Signer as _;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::{TestKeys, World};

pub const MODEL: &str = "a model";
const URL: &str = "wss://relay.example";

/// Chance from a seed (SplitMix64).
struct Seeded(u64);

impl mesh::Chance for Seeded {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let bytes = (z ^ (z >> 31)).to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// A machine: a store, a node, and what waits on the way from it.
pub struct Machine {
    pub world: World,
    pub node: Node<NostrSealing>,
    secret: u8,
    dice: Seeded,
    out: Vec<Vec<u8>>,
    /// Everything that was delivered, as often as it was.
    pub brought: Vec<Delivered>,
}

fn group() -> GroupSecret {
    let (without, through) = (BTreeSet::new(), BTreeSet::new());
    GroupSecret { epoch: 1, secret: Digest::of(b"a group"), without, through }
}

pub fn sealing(secret: u8) -> NostrSealing {
    NostrSealing::new(&[secret; 32]).unwrap()
}

pub fn relay() -> Way {
    Way::Relay(URL.to_owned())
}

impl Machine {
    pub fn new(seed: u64, secret: u8) -> Self {
        let mut world = World::bare(seed);
        world.keys = Arc::new(TestKeys::new(secret));
        world.take_up().unwrap();
        world.register_keys().unwrap();
        let me = sealing(secret).node();
        world.kernel().join_mesh(me, &format!("machine {secret}")).unwrap();
        let node = Node::new(sealing(secret), State::new(me), world.kernel().ports().clock.now());
        let dice = Seeded(seed);
        let mut machine = Self { world, node, secret, dice, out: Vec::new(), brought: Vec::new() };
        machine.comes_up();
        machine
    }

    pub fn id(&self) -> NodeId {
        self.node.state().me()
    }

    fn peer(&self) -> Peer {
        Peer {
            node: self.id(),
            name: format!("machine {}", self.secret),
            relays: vec![URL.to_owned()],
            log_key: self.world.keys.log_signer().public(),
            approval_key: None,
        }
    }

    pub fn terms(&self) -> MeshTerms {
        let folder = self.world.folder.path().canonicalize().unwrap();
        MeshTerms {
            folders: BTreeMap::from([("garden".to_owned(), folder)]),
            reasoning: Reasoning::Scripted { name: MODEL.to_owned() },
            profile: Profile::LocalEditAllowed,
        }
    }

    pub fn registry(&self) -> Arc<MeshRegistry> {
        self.world.kernel().mesh_registry()
    }

    pub fn message(&self, id: Digest) -> MeshMessage {
        self.registry().message(&id).unwrap().clone()
    }

    fn now(&self) -> UnixMs {
        self.world.kernel().ports().clock.now()
    }

    /// One step of the node: on record, then written.
    pub fn step(&mut self, what: Happened) {
        let now = self.now();
        let step = self.node.handle(what, now, &mut self.dice).unwrap();
        self.world.kernel().record_mesh(&step.facts, &step.deliver, None).unwrap();
        self.out.extend(step.write.into_iter().map(|(_, bytes)| bytes));
    }

    fn comes_up(&mut self) {
        let relays = vec![URL.to_owned()];
        self.step(Happened::Said(Command::Tell { can: Capabilities::default(), load: 0, relays }));
        self.step(Happened::Up(relay()));
    }

    /// Says to the node what came of a delivery, and settles that in the same commit.
    pub fn say(&mut self, commands: Vec<Command>, settles: Option<u64>) {
        let (mut facts, mut deliver) = (Vec::new(), Vec::new());
        for command in commands {
            let now = self.now();
            let step = self.node.handle(Happened::Said(command), now, &mut self.dice).unwrap();
            facts.extend(step.facts);
            deliver.extend(step.deliver);
            self.out.extend(step.write.into_iter().map(|(_, bytes)| bytes));
        }
        self.world.kernel().record_mesh(&facts, &deliver, settles).unwrap();
    }

    /// Does what was delivered and does not wait, and says what is news by then; answers with the tasks that are to be driven.
    pub fn does(&mut self) -> Vec<TaskId> {
        let (terms, mut drive, mut after) = (self.terms(), Vec::new(), 0);
        while let Some((number, deliver)) = self.world.kernel().mesh_delivery_after(after) {
            let (mut say, mut waits) = (Vec::new(), false);
            after = number;
            for one in deliver {
                let done = self.world.kernel().deliver_mesh(&one, &terms).unwrap();
                say.extend(done.say);
                drive.extend(done.drive);
                waits |= done.waits;
                self.brought.push(one);
            }
            if !waits {
                self.say(say, Some(number));
            }
        }
        let news = self.world.kernel().mesh_news(&terms).unwrap();
        self.say(news, None);
        drive
    }

    /// The program died: the next one goes on from what is on record.
    pub fn begins_again(&mut self) {
        self.world.faults.clear();
        self.world.reopen();
        let mut sealing = sealing(self.secret);
        sealing.add_group(group().secret.as_bytes()).unwrap();
        let state = self.registry().state().unwrap().clone();
        self.node = Node::new(sealing, state, self.now());
        self.out.clear();
        self.comes_up();
    }

    pub fn goal(&self, to: &Self, conversation: Option<&str>, text: &str) -> MeshGoal {
        let conversation = conversation.map(str::to_owned);
        let (folder, key) = (Some("garden".to_owned()), format!("key of {text}"));
        MeshGoal { to: to.id(), folder, conversation, text: text.to_owned(), key }
    }

    pub fn sends(&mut self, goal: &MeshGoal) -> MeshSent {
        let sent = self.world.kernel().mesh_goal(goal).unwrap();
        self.say(sent.say.clone(), None);
        sent
    }

    /// The tasks that other machines began here.
    pub fn tasks(&self) -> Vec<TaskId> {
        let bodies = log(self.world.kernel()).into_iter();
        let begun = bodies.filter_map(|(_, body)| match body {
            Body::TaskCreated(b) if b.task.source_channel == Channel::Mesh => Some(b.task.task_id),
            _ => None,
        });
        begun.collect()
    }

    pub fn answers(&self) -> usize {
        self.brought.iter().filter(|one| matches!(one, Delivered::Answer { .. })).count()
    }

    /// The record alone makes what the node believes, and what is shown.
    pub fn is_what_its_record_says(&mut self) {
        let before: Vec<MeshMessage> = self.registry().messages().cloned().collect();
        assert_eq!(self.registry().state(), Some(self.node.state()));
        self.world.reopen();
        assert_eq!(self.registry().state(), Some(self.node.state()));
        assert_eq!(self.registry().messages().cloned().collect::<Vec<_>>(), before);
    }
}

/// Carries what two machines write until both are silent.
pub fn carry(one: &mut Machine, other: &mut Machine) {
    for _ in 0..20 {
        one.step(Happened::Tick);
        other.step(Happened::Tick);
        let (to_other, to_one) = (std::mem::take(&mut one.out), std::mem::take(&mut other.out));
        if to_other.is_empty() && to_one.is_empty() {
            return;
        }
        to_other.into_iter().for_each(|bytes| other.step(Happened::Received { way: relay(), bytes }));
        to_one.into_iter().for_each(|bytes| one.step(Happened::Received { way: relay(), bytes }));
    }
    panic!("they never fall silent");
}

/// Two machines that are paired, and know the keys of each other's logs.
pub fn two(seed: u64) -> (Machine, Machine) {
    let (mut one, mut other) = (Machine::new(seed, 0x21), Machine::new(seed + 1, 0x32));
    let (first, second) = (one.peer(), other.peer());
    one.say(vec![Command::Pair { peer: second, group: Some(group()) }], None);
    other.say(vec![Command::Pair { peer: first, group: Some(group()) }], None);
    assert_eq!((one.does(), other.does()), (Vec::new(), Vec::new()));
    carry(&mut one, &mut other);
    (one, other)
}
