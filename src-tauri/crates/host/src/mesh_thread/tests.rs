//! Two machines in one process over a network in memory: paired by a code, a goal that is sent, and each of them killed on the way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

#[allow(missing_docs, reason = "a double that is read where it is used")]
mod net;

use super::terms::Terms;
use super::*;
use crate::clock::Bell;
use kernel::command::mesh::{MeshGoal, MeshTerms};
use kernel::command::submit::Reasoning;
use kernel::mesh_registry::MeshMessage;
use keychain::{MemoryVault, Vault};
use mesh::Delivered;
use model::TaskId;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use net::{Double, Net};
use projections::query::TaskFilter;
use projections::{Ask, Query};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Edge, Mode, TestKeys, World, done};
use words::mesh::{DeliveryState, MeshPairingState};

const RELAY: &str = "wss://relay.example";
const MODEL: &str = "small";
const ANSWER: &str = "the notes are in order";
/// Turns in which everything that was said has come.
const TURNS: usize = 40;
/// How far the clock goes in each, in milliseconds.
const TURN_MS: i64 = 300;

/// Terms of a test.
struct Scripted;

impl Terms for Scripted {
    fn terms(&self, settings: &MeshSettings) -> Result<MeshTerms, String> {
        let reasoning = Reasoning::Scripted { name: MODEL.to_owned() };
        Ok(MeshTerms { folders: settings.folders.clone(), reasoning, profile: Profile::LocalEditAllowed })
    }

    fn models(&self, _: &MeshSettings) -> BTreeSet<String> {
        BTreeSet::from([MODEL.to_owned()])
    }
}

/// A machine that a test kills and starts again.
struct Machine {
    world: World,
    vault: Arc<MemoryVault>,
    net: Net,
    number: u32,
    settings: MeshSettings,
    host: Option<(Arc<Kernel>, Engine<Double>)>,
}

impl Machine {
    /// One whose person wrote who it is, and turned the mesh on.
    fn new(net: &Net, number: u32, relays: &[&str]) -> Self {
        let mut world = World::bare(u64::from(number) + 9_300);
        world.keys = Arc::new(TestKeys::new(0x40 + 0x10 * u8::try_from(number).unwrap()));
        world.take_up().unwrap();
        world.register_keys().unwrap();
        world.reasoners.script(MODEL, (0..40).map(|_| done(ANSWER)).collect());
        let text = format!("# Machine {number}\nI keep notes.\n");
        let task = world.kernel().propose_soul(&text, 0, (Channel::App, "soul".to_owned())).unwrap().task_id;
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.drive(task);
        let name = format!("machine {number}");
        let node = node_of(&node_key(world.kernel(), None).unwrap()).unwrap();
        world.kernel().join_mesh(node, &name).unwrap();
        let folder = world.folder.path().canonicalize().unwrap();
        world.crash();
        let settings = MeshSettings {
            on: true,
            name: Some(name),
            relays: relays.iter().map(|url| (*url).to_owned()).collect(),
            folders: BTreeMap::from([("notes".to_owned(), folder)]),
            ..MeshSettings::default()
        };
        let vault = Arc::new(MemoryVault::new());
        let mut machine = Self { world, vault, net: net.clone(), number, settings, host: None };
        machine.starts();
        machine
    }

    /// The next host opens the store.
    fn starts(&mut self) {
        assert!(self.host.is_none(), "it was killed before");
        let kernel = Arc::new(self.world.open());
        let drives = TaskDrivers::new(Arc::clone(&kernel), Bell::default());
        // Tasks are driven here.
        drives.stop();
        let vault = Arc::clone(&self.vault);
        let ports = kernel.ports();
        let proof = Arc::new(NodeProof::new(Arc::clone(&ports.clock), Arc::clone(&ports.entropy)));
        let engine = Engine::new(Parts {
            kernel: Arc::clone(&kernel),
            drives,
            keys: MeshKeys::new(Box::new(move || Some(Arc::clone(&vault) as Arc<dyn Vault>))),
            ways: self.net.join(self.number),
            proof,
            settings: self.settings.clone(),
            terms: Box::new(Scripted),
            letterbox: None,
            woken: Arc::new(AtomicBool::new(true)),
        });
        self.host = Some((kernel, engine));
        self.turns();
    }

    /// It is gone, without a word to anybody.
    fn dies(&mut self) {
        self.host = None;
        self.net.leave(self.number);
        self.world.faults.clear();
    }

    fn kernel(&self) -> &Kernel {
        &self.host.as_ref().expect("it is on").0
    }

    fn engine(&mut self) -> &mut Engine<Double> {
        &mut self.host.as_mut().expect("it is on").1
    }

    fn id(&self) -> NodeId {
        self.kernel().mesh_registry().node().expect("it joined")
    }

    /// Time passes, and it does what is due and hears what came.
    fn turns(&mut self) {
        self.world.clock.advance(TURN_MS);
        let (net, number) = (self.net.clone(), self.number);
        let Some((_, engine)) = &mut self.host else { return };
        // A commit wakes it, as notices do in a host.
        engine.parts.woken.store(true, Ordering::SeqCst);
        engine.go_on();
        while let Some(came) = net.comes(number) {
            engine.hears(came);
        }
        engine.go_on();
    }

    /// What a person sees of a message.
    fn message(&self, text: &str) -> Option<MeshMessage> {
        let registry = self.kernel().mesh_registry();
        registry.messages().find(|one| one.text.as_deref() == Some(text)).cloned()
    }

    /// Tasks that messages began here.
    fn tasks(&self) -> Vec<TaskId> {
        let registry = self.kernel().mesh_registry();
        registry.messages().filter(|one| !one.is_outgoing).filter_map(|one| one.task_id).collect()
    }

    /// How many tasks were begun by other machines, as the store tells it.
    fn begun(&self) -> usize {
        let filter = TaskFilter { channel: Some(Channel::Mesh), ..TaskFilter::default() };
        let query = Query::over(self.kernel().reader().clone()).unwrap();
        query.tasks(&filter, Ask::ALL).unwrap().rows.len()
    }

    fn sends(&mut self, to: NodeId, text: &str) -> Result<(), Fault> {
        let goal = MeshGoal {
            to,
            folder: Some("notes".to_owned()),
            conversation: None,
            text: text.to_owned(),
            key: text.to_owned(),
        };
        let sent = self.kernel().mesh_goal(&goal)?;
        self.engine().say(sent.say, None, true)
    }

    /// Works on what came, and tells how it ended.
    fn works(&mut self) {
        for task in self.tasks() {
            self.kernel().drive(task).unwrap();
        }
    }
}

/// Both go on for a while.
fn go_on(machines: [&mut Machine; 2]) {
    let [one, other] = machines;
    for _ in 0..TURNS {
        one.turns();
        other.turns();
    }
}

/// Two that a code paired at a relay.
fn paired(net: &Net) -> (Machine, Machine) {
    let (mut one, mut other) = (Machine::new(net, 1, &[RELAY]), Machine::new(net, 2, &[RELAY]));
    let code = one.engine().invite().unwrap();
    assert_eq!(code.at, [RELAY]);
    let begun = other.engine().join(&code.code.to_lowercase(), &[]).unwrap();
    assert_eq!(begun.state, MeshPairingState::Waiting);
    go_on([&mut one, &mut other]);
    (one, other)
}

fn state(machine: &mut Machine) -> MeshPairingState {
    machine.engine().pairing().state
}

#[test]
fn a_code_pairs_two_machines_and_a_goal_of_one_is_worked_on_at_the_other() {
    let net = Net::default();
    let (mut one, mut other) = paired(&net);
    assert_eq!((state(&mut one), state(&mut other)), (MeshPairingState::Paired, MeshPairingState::Paired));
    let (id, of_other) = (one.id(), other.id());
    assert_eq!(other.engine().pairing().name.as_deref(), Some("machine 1"));
    let group = |machine: &mut Machine| machine.engine().node.as_ref().unwrap().own_group().unwrap().secret;
    assert_eq!(group(&mut one), group(&mut other), "both are in the group of the one that showed the code");
    // What it can do is told, and no path.
    let here = one.engine().shown().here;
    let told = here.get(&of_other).expect("it is here");
    assert_eq!(told.can.folders, BTreeSet::from(["notes".to_owned()]));
    assert!(told.can.models.contains(MODEL));
    one.sends(of_other, "put the notes in order").unwrap();
    go_on([&mut one, &mut other]);
    let came = other.message("put the notes in order").expect("it came");
    assert_eq!((came.is_outgoing, came.node, other.tasks().len()), (false, id, 1));
    let sent = one.message("put the notes in order").unwrap();
    assert_eq!(sent.state, DeliveryState::Opened, "the other machine said so");
    other.works();
    go_on([&mut one, &mut other]);
    let answered = one.message("put the notes in order").unwrap();
    assert!(answered.answer.is_some_and(|answer| answer.contains(ANSWER)));
    // A third that knows the relay and no code is nobody.
    let mut third = Machine::new(&net, 3, &[RELAY]);
    assert!(third.sends(of_other, "let me in").is_err());
    assert!(third.engine().join("ABCD-EFGHJK", &[]).is_ok(), "nobody answers to it");
    go_on([&mut third, &mut other]);
    assert_eq!((state(&mut third), other.tasks().len()), (MeshPairingState::Waiting, 1));
}

#[test]
fn a_slip_costs_one_try_three_end_a_pairing_and_ten_minutes_do() {
    let net = Net::default();
    let (mut one, mut other) = (Machine::new(&net, 1, &[RELAY]), Machine::new(&net, 2, &[RELAY]));
    let code = one.engine().invite().unwrap().code;
    // Where both meet is right, and the secret is not.
    let wrong = if code.ends_with('A') { 'B' } else { 'A' };
    let mut typed = code.clone();
    typed.pop();
    typed.push(wrong);
    for (left, shows) in
        [(2, MeshPairingState::Waiting), (1, MeshPairingState::Waiting), (0, MeshPairingState::WrongCode)]
    {
        other.engine().join(&typed, &[]).unwrap();
        go_on([&mut one, &mut other]);
        assert_eq!((state(&mut one), state(&mut other)), (shows, MeshPairingState::WrongCode), "{left}");
        let told = [one.engine().pairing().tries_left, other.engine().pairing().tries_left];
        assert_eq!(told, [Some(left), Some(left)]);
    }
    other.engine().join(&code, &[]).unwrap();
    go_on([&mut one, &mut other]);
    assert_eq!(state(&mut other), MeshPairingState::Waiting, "it counts no more, typed right or not");
    other.world.clock.advance(31_000);
    other.turns();
    assert!(other.engine().pairing().says.is_some_and(|says| says.contains("Nobody")));
    assert!(one.kernel().mesh_registry().state().unwrap().peers().next().is_none());
    let late = one.engine().invite().unwrap().code;
    assert_eq!(state(&mut one), MeshPairingState::Waiting);
    one.world.clock.advance(11 * 60_000);
    one.turns();
    assert_eq!((state(&mut one), one.engine().pairing().code), (MeshPairingState::Expired, None));
    other.engine().join(&late, &[]).unwrap();
    go_on([&mut one, &mut other]);
    assert_eq!(state(&mut other), MeshPairingState::Waiting);
}

#[test]
fn a_pairing_that_is_refused_says_at_both_who_refused_it_and_why_until_the_next_one() {
    let net = Net::default();
    let (mut one, mut other) = paired(&net);
    let of_other = other.id();
    one.engine().say(vec![Command::Withdraw(of_other)], None, true).unwrap();
    let code = one.engine().invite().unwrap().code;
    other.engine().join(&code, &[]).unwrap();
    go_on([&mut one, &mut other]);
    let (here, there) = (one.engine().pairing(), other.engine().pairing());
    assert_eq!((here.state, there.state), (MeshPairingState::Refused, MeshPairingState::Refused));
    let (here, there) = (here.says.unwrap(), there.says.unwrap());
    assert!(here.contains("This machine refused machine 2") && here.contains("withdrawn"), "{here}");
    assert!(there.contains("machine that shows the code refused") && there.contains("withdrawn"), "{there}");
    one.world.clock.advance(3_600_000);
    one.turns();
    assert_eq!(one.engine().pairing().says, Some(here), "an hour later, too");
    one.engine().invite().unwrap();
    assert_eq!((state(&mut one), one.engine().pairing().says), (MeshPairingState::Waiting, None));
}

#[test]
fn whichever_machine_is_killed_at_whichever_boundary_a_goal_is_done_once_and_answered() {
    let net = Net::default();
    let (mut one, mut other) = paired(&net);
    let to = other.id();
    let mut goals = 0;
    let mut is_done = |one: &mut Machine, other: &mut Machine, text: &str, why: &str| {
        goals += 1;
        go_on([&mut *one, &mut *other]);
        assert_eq!((other.tasks().len(), other.begun()), (goals, goals), "{why}: one task for each goal");
        other.works();
        go_on([&mut *one, &mut *other]);
        let message = one.message(text).unwrap_or_else(|| panic!("{why}: it was sent"));
        assert!(message.answer.is_some_and(|answer| answer.contains(ANSWER)), "{why}");
    };
    for edge in [Edge::Before, Edge::After] {
        for nth in 1..=3 {
            let (text, why) = (format!("goal {edge:?} {nth}"), format!("receiver, {edge:?} commit {nth}"));
            other.world.faults.plan(Point::MeshRecord, edge, Mode::Abort, nth);
            one.sends(to, &text).unwrap();
            let run = || {
                for _ in 0..10 {
                    one.turns();
                    other.turns();
                }
            };
            // A death within a commit comes back as an error of it: either way nothing of this process is heard of again.
            let _ = catch_unwind(AssertUnwindSafe(run));
            assert!(other.world.faults.fired(), "{why}");
            other.dies();
            other.starts();
            is_done(&mut one, &mut other, &text, &why);
        }
    }
    // Dead between its commit and writing: what waits is on record.
    net.mute(1);
    one.sends(to, "goal of a mute one").unwrap();
    one.dies();
    one.starts();
    is_done(&mut one, &mut other, "goal of a mute one", "sender, between commit and writing");
    // Done, and not settled: it is done again, which begins nothing.
    one.sends(to, "goal that is not settled").unwrap();
    one.turns();
    let engine = other.engine();
    while let Some(came) = net.comes(2) {
        engine.hears(came);
    }
    let terms = Scripted.terms(&other.settings).unwrap();
    loop {
        let (number, all) = other.kernel().next_mesh_delivery().expect("it came and is not done");
        for delivered in &all {
            other.kernel().deliver_mesh(delivered, &terms).unwrap();
        }
        if all.iter().any(|one| matches!(one, Delivered::Input { .. })) {
            break;
        }
        other.kernel().record_mesh(&[], &[], Some(number)).unwrap();
    }
    other.dies();
    other.starts();
    is_done(&mut one, &mut other, "goal that is not settled", "receiver, between doing and settling");
}

#[test]
fn what_is_not_on_record_is_not_written() {
    let net = Net::default();
    let (mut one, mut other) = paired(&net);
    let (to, before) = (other.id(), net.written(1));
    one.world.faults.plan(Point::MeshRecord, Edge::Before, Mode::Full, 1);
    assert!(one.sends(to, "nobody hears this").is_err());
    assert_eq!(net.written(1), before, "nothing was written");
    assert!(one.engine().node.is_none(), "its memory was ahead of the record");
    one.world.faults.clear();
    one.world.clock.advance(10_000);
    go_on([&mut one, &mut other]);
    assert!(one.message("nobody hears this").is_none() && other.tasks().is_empty());
    one.sends(to, "this one counts").unwrap();
    go_on([&mut one, &mut other]);
    assert_eq!(other.tasks().len(), 1);
    // Of several words none is said where one may not be.
    let stranger = NodeId(seal::Digest::of(b"a stranger"));
    let own = Command::Own { conversation: "conv".to_owned() };
    let said = one.engine().say(vec![own, Command::Withdraw(stranger)], None, true);
    assert!(matches!(said, Err(Fault::Node(_))));
    assert_eq!(one.kernel().mesh_registry().state().unwrap().owner("conv"), None);
    assert_eq!(one.engine().node.as_ref().unwrap().state().owner("conv"), None);
}

#[test]
fn machines_meet_as_guests_and_a_stick_carries_what_waits() {
    let net = Net::default();
    let (mut one, mut other) = (Machine::new(&net, 1, &[]), Machine::new(&net, 2, &[]));
    assert!(one.engine().invite().is_err(), "there is no place to meet");
    assert!(!one.engine().shown().is_reached, "no way is open where no relay is named");
    let settings = MeshSettings { listen: Some("192.168.1.5:7447".parse().unwrap()), ..one.settings.clone() };
    one.settings = settings.clone();
    one.engine().take(settings).unwrap();
    let place = vec!["192.168.1.5:7447".to_owned()];
    assert!(other.engine().join("ABCD-EFGHJK", &place).is_err(), "nobody shows a code");
    let code = one.engine().invite().unwrap();
    assert_eq!(code.at, place);
    other.engine().join(&code.code, &place).unwrap();
    go_on([&mut one, &mut other]);
    assert_eq!((state(&mut one), state(&mut other)), (MeshPairingState::Paired, MeshPairingState::Paired));
    let to = other.id();
    one.sends(to, "carried").unwrap();
    go_on([&mut one, &mut other]);
    assert!(other.tasks().is_empty(), "there is no network");
    for new in [1, 0] {
        let packed = one.engine().export(Some(to)).unwrap();
        assert_eq!((packed.messages, packed.left_out), (1, 0), "it waits until that is heard of");
        assert_eq!(other.engine().import(packed.file).unwrap(), new);
        go_on([&mut one, &mut other]);
    }
    assert_eq!(other.tasks().len(), 1, "carried twice, it came once");
    other.works();
    go_on([&mut one, &mut other]);
    let back = other.engine().export(None).unwrap();
    assert_eq!(back.messages, 1, "the answer");
    assert_eq!(one.engine().import(back.file).unwrap(), 1);
    let message = one.message("carried").unwrap();
    assert!(message.answer.is_some() && message.state == DeliveryState::Opened, "{message:?}");
    assert!(one.engine().export(Some(one_that_nobody_knows())).is_err());
    assert!(one.engine().import(b"another file".to_vec()).is_err());
}

fn one_that_nobody_knows() -> NodeId {
    NodeId(seal::Digest::of(b"nobody"))
}

#[test]
fn a_locked_keychain_and_a_panic_stop_the_node_and_not_the_machine() {
    let net = Net::default();
    let (mut one, mut other) = paired(&net);
    assert!(one.engine().shown().is_reached, "a relay is open");
    one.world.keys.lock(true);
    one.world.clock.advance(61_000);
    one.turns();
    let ways = one.engine().shown().ways;
    assert!(
        ways.iter().any(|way| !way.is_open && way.says.as_deref().is_some_and(|why| why.contains("locked")))
    );
    assert!(ways.iter().all(|way| !way.is_open), "nothing is open");
    assert!(!one.engine().shown().is_reached);
    let told = one.engine().say(Vec::new(), None, true).expect_err("it stands still").to_string();
    assert!(told.contains("locked"), "{told}");
    one.world.keys.lock(false);
    guarded(one.engine(), |_| panic!("a fault"));
    go_on([&mut one, &mut other]);
    let to = other.id();
    one.sends(to, "after that").unwrap();
    go_on([&mut one, &mut other]);
    assert_eq!(other.tasks().len(), 1);
    assert!(one.engine().shown().is_reached, "it runs again");
}
