//! Schedules that the mesh holds (HV-3.5-3): two machines with a kernel and a node each, which hear each other over one relay. Each of
//! their times begins once, whoever dies when; where two begin one, both logs say which run counts.

use crate::schedules::{MINUTE, begun, keep, now, of, record, slots};
use conforms::conforms;
use kernel::Error;
use kernel::command::mesh::MeshTerms;
use kernel::command::submit::Reasoning;
use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{Capabilities, Chance, Command, Delivered, GroupSecret, Happened, Node, NodeId, Peer, State, Way};
use model::ingress::Channel;
use model::mesh::MeshAlert;
use model::policy::Profile;
use model::schedule::{Rule, Schedule, Trigger};
use model::{TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use testkit::World;

const TERM_MS: i64 = 2 * MINUTE;
const RELAY: &str = "wss://relay.example";
/// After so many minutes of silence a holder's term and the largest difference of clocks are over.
const OVER: usize = 8;

/// Chance from a count.
struct Counted(u64);

impl Chance for Counted {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            self.0 += 1;
            let drawn = Digest::of(&self.0.to_be_bytes());
            chunk.copy_from_slice(&drawn.as_bytes()[..chunk.len()]);
        }
    }
}

struct Machine {
    world: World,
    node: Node<NostrSealing>,
    secret: [u8; 32],
    chance: Counted,
    is_off: bool,
    /// What it wrote, and nobody heard yet.
    wrote: Vec<Vec<u8>>,
}

fn terms() -> MeshTerms {
    let reasoning = Reasoning::Scripted { name: "nobody".to_owned() };
    MeshTerms { folders: BTreeMap::new(), reasoning, profile: Profile::ReadonlyAnalysis }
}

fn sealing(secret: &[u8; 32]) -> NostrSealing {
    let mut sealing = NostrSealing::new(secret).unwrap();
    sealing.add_group(Digest::of(b"the group of a test").as_bytes()).unwrap();
    sealing
}

fn relay() -> Way {
    Way::Relay(RELAY.to_owned())
}

impl Machine {
    /// A machine with a schedule that its person approved.
    fn new(seed: u64, secret: u8, change: &dyn Fn(&mut Schedule)) -> Self {
        let world = World::new(seed);
        let mut schedule = of(&world, "*/20 * * * *", "tidy");
        change(&mut schedule);
        keep(&world, schedule, "keep");
        let secret = [secret; 32];
        let id = sealing(&secret).node();
        world.kernel().join_mesh(id, &format!("machine {}", secret[0])).unwrap();
        let node = Node::new(sealing(&secret), State::new(id), now(&world));
        let chance = Counted(u64::from(secret[0]) << 32);
        let mut machine = Self { world, node, secret, chance, is_off: false, wrote: Vec::new() };
        machine.tells();
        machine
    }

    fn id(&self) -> NodeId {
        sealing(&self.secret).node()
    }

    fn tells(&mut self) {
        self.does(Happened::Up(relay()));
        let tell = Command::Tell { can: Capabilities::default(), load: 0, relays: vec![RELAY.to_owned()] };
        self.does(Happened::Said(tell));
    }

    /// Something happened to the node: it is recorded before it is written.
    fn does(&mut self, what: Happened) {
        let step = self.node.handle(what, now(&self.world), &mut self.chance).unwrap();
        self.world.kernel().record_mesh(&step.facts, &step.deliver, None).unwrap();
        let events = step.write.into_iter().map(|(_, bytes)| bytes);
        self.wrote.extend(events.filter(|bytes| bytes.starts_with(b"[\"EVENT\"")));
    }

    fn says(&mut self, commands: Vec<Command>) {
        commands.into_iter().for_each(|command| self.does(Happened::Said(command)));
    }

    /// Does what came, and says what there is to say.
    fn works(&mut self) {
        for _ in 0..3 {
            while let Some((number, all)) = self.world.kernel().next_mesh_delivery() {
                for one in &all {
                    let done = self.world.kernel().deliver_mesh(one, &terms()).unwrap();
                    self.says(done.say);
                    for task in done.drive {
                        self.world.drive(task);
                    }
                }
                self.world.kernel().record_mesh(&[], &[], Some(number)).unwrap();
            }
            let news = self.world.kernel().mesh_news(&terms()).unwrap();
            if news.is_empty() {
                break;
            }
            self.says(news);
        }
        // Those who look after schedules of this machine alone find nothing to begin.
        for task in self.world.kernel().fire_due().unwrap() {
            self.world.drive(task);
        }
    }

    /// Off, it does nothing, and what it wrote last reaches nobody.
    fn dies(&mut self) {
        self.is_off = true;
        self.wrote.clear();
    }

    fn starts(&mut self) {
        self.is_off = false;
        self.world.reopen();
        let state = self.world.kernel().mesh_registry().state().unwrap().clone();
        self.node = Node::new(sealing(&self.secret), state, now(&self.world));
        self.tells();
    }

    fn holder(&self) -> Option<NodeId> {
        self.world.kernel().mesh_registry().holder_of("morning").and_then(|held| held.holder)
    }

    /// The times that fired here, each with whose run counts as the mesh knows it.
    fn fired(&self) -> BTreeMap<i64, NodeId> {
        let registry = self.world.kernel().mesh_registry();
        let state = registry.state().unwrap();
        let runs = record(&self.world).slots.runs;
        let counts = |at: i64| state.began("morning", &at.to_string()).unwrap().by;
        runs.iter().map(|run| (run.slot_at.0, counts(run.slot_at.0))).collect()
    }
}

/// Both hear each other until neither has anything to say.
fn talk(machines: &mut [Machine; 2]) {
    for _ in 0..12 {
        let wrote = [std::mem::take(&mut machines[0].wrote), std::mem::take(&mut machines[1].wrote)];
        if wrote.iter().all(Vec::is_empty) {
            return;
        }
        let [first, second] = wrote;
        for (machine, heard) in machines.iter_mut().zip([second, first]) {
            if machine.is_off || heard.is_empty() {
                continue;
            }
            for bytes in heard {
                machine.does(Happened::Received { way: relay(), bytes });
            }
            machine.works();
        }
    }
}

fn minutes(machines: &mut [Machine; 2], count: usize) {
    for _ in 0..count {
        for machine in machines.iter_mut() {
            machine.world.clock.advance(MINUTE);
            if !machine.is_off {
                machine.does(Happened::Tick);
                machine.works();
            }
        }
        talk(machines);
    }
}

/// Until a minute before the next time of the schedule, which is answered.
fn until_slot(machines: &mut [Machine; 2]) -> i64 {
    loop {
        let (rule, now) = (record(&machines[0].world).when.rule, now(&machines[0].world));
        let at = schedule::next(&rule, now).unwrap().unwrap().at.0;
        if at - now.0 <= MINUTE {
            return at;
        }
        minutes(machines, 1);
    }
}

/// Until both know that a machine holds the schedule.
fn until_held_by(machines: &mut [Machine; 2], holder: NodeId) {
    for _ in 0..12 {
        if machines.iter().all(|machine| machine.holder() == Some(holder)) {
            return;
        }
        minutes(machines, 1);
    }
    panic!("it was not taken");
}

fn paired(change: &dyn Fn(&mut Schedule)) -> [Machine; 2] {
    let mut machines = [Machine::new(8_101, 1, &|_| {}), Machine::new(8_102, 2, change)];
    let ids = [machines[0].id(), machines[1].id()];
    for (at, machine) in machines.iter_mut().enumerate() {
        let group = Some(GroupSecret {
            epoch: 1,
            secret: Digest::of(b"the group of a test"),
            without: BTreeSet::new(),
            through: BTreeSet::new(),
        });
        let peer = Peer {
            node: ids[1 - at],
            name: format!("machine {}", 2 - at),
            relays: vec![RELAY.to_owned()],
            log_key: SeedSigner::from_seed([9; 32]).public(),
            approval_key: None,
        };
        machine.says(vec![Command::Pair { peer, group }]);
    }
    machines
}

/// Two machines; the first goes first, and both know that it holds the schedule.
fn held(change: &dyn Fn(&mut Schedule)) -> [Machine; 2] {
    let mut machines = paired(change);
    let ranks = [machines[0].id(), machines[1].id()];
    let say = machines[0].world.kernel().hold_schedule("morning", &ranks, TERM_MS).unwrap();
    machines[0].says(say);
    minutes(&mut machines, 2);
    until_held_by(&mut machines, ranks[0]);
    machines
}

fn told(machine: &Machine, at: i64) -> String {
    slots(&machine.world).remove(&at).unwrap_or_default()
}

#[test]
fn a_time_begins_at_the_machine_that_holds_it_and_is_settled_at_the_other() {
    let mut machines = held(&|_| {});
    let first = until_slot(&mut machines);
    minutes(&mut machines, 2);
    let second = until_slot(&mut machines);
    assert_eq!(second, first + 20 * MINUTE);
    minutes(&mut machines, 2);
    let ids = [machines[0].id(), machines[1].id()];
    let runs = BTreeMap::from([(first, ids[0]), (second, ids[0])]);
    assert_eq!((machines[0].fired(), begun(&machines[0].world).len()), (runs, 2));
    assert_eq!(begun(&machines[1].world), Vec::<TaskId>::new());
    for at in [first, second] {
        assert_eq!(told(&machines[0], at), "fires");
        assert_eq!(told(&machines[1], at), "elsewhere");
    }
    assert_eq!(record(&machines[1].world).slots.passed_over, 2);
}

#[conforms(part = "HV-3.5-3")]
#[test]
fn when_the_holder_dies_the_next_runs_what_it_missed_and_gives_it_back() {
    let mut machines = held(&|_| {});
    let ids = [machines[0].id(), machines[1].id()];
    let missed = until_slot(&mut machines);
    machines[0].dies();
    minutes(&mut machines, 5);
    assert_eq!(begun(&machines[1].world), Vec::<TaskId>::new(), "the holder may only be slow");
    minutes(&mut machines, OVER - 5);
    minutes(&mut machines, 1);
    assert_eq!(machines[1].fired(), BTreeMap::from([(missed, ids[1])]));
    // Back, the first hears what began meanwhile before it begins anything, and takes the schedule again.
    machines[0].starts();
    talk(&mut machines);
    minutes(&mut machines, 2);
    until_held_by(&mut machines, ids[0]);
    assert_eq!(begun(&machines[0].world), Vec::<TaskId>::new());
    assert_eq!(told(&machines[0], missed), "elsewhere");
    let next = until_slot(&mut machines);
    minutes(&mut machines, 2);
    assert_eq!(machines[0].fired(), BTreeMap::from([(next, ids[0])]));
    assert_eq!(told(&machines[1], next), "elsewhere");
    assert_eq!(begun(&machines[1].world).len(), 1);
}

#[test]
fn where_two_begin_one_time_both_logs_say_which_run_counts() {
    let mut machines = held(&|_| {});
    let ids = [machines[0].id(), machines[1].id()];
    let at = until_slot(&mut machines);
    // It begins, and dies before anybody hears of it.
    machines[0].world.clock.advance(MINUTE);
    machines[0].does(Happened::Tick);
    machines[0].works();
    assert_eq!(machines[0].fired(), BTreeMap::from([(at, ids[0])]));
    machines[0].dies();
    minutes(&mut machines, OVER + 2);
    assert_eq!(machines[1].fired(), BTreeMap::from([(at, ids[1])]), "it took over, and knows of no other");
    machines[0].starts();
    talk(&mut machines);
    minutes(&mut machines, 3);
    for machine in &machines {
        assert_eq!(machine.fired(), BTreeMap::from([(at, ids[0])]), "the earlier epoch counts");
        assert_eq!(begun(&machine.world).len(), 1, "what ran, ran");
    }
    let registries = [machines[0].world.kernel().mesh_registry(), machines[1].world.kernel().mesh_registry()];
    let rule = record(&machines[1].world).when.rule;
    let instead = |of: usize| registries[of].counts_instead("morning", &rule, UnixMs(at));
    assert_eq!((instead(0), instead(1)), (None, Some(ids[0])));
    let alerts = |of: usize| registries[of].alerts().filter(|one| one.kind == MeshAlert::NotCounted).count();
    assert_eq!((alerts(0), alerts(1)), (0, 1));
}

#[test]
fn a_host_that_dies_between_the_word_of_the_mesh_and_the_task_makes_the_task_once() {
    let mut machines = held(&|_| {});
    let at = until_slot(&mut machines);
    let one = &mut machines[0];
    one.world.clock.advance(MINUTE);
    one.does(Happened::Tick);
    let news = one.world.kernel().mesh_news(&terms()).unwrap();
    let due = |command: &Command| matches!(command, Command::Due { .. });
    assert_eq!(news.iter().filter(|command| due(command)).count(), 1);
    one.says(news);
    assert_eq!(begun(&one.world), Vec::<TaskId>::new());
    one.dies();
    one.starts();
    let (_, waiting) = one.world.kernel().next_mesh_delivery().unwrap();
    let [start @ Delivered::Start { .. }] = waiting.as_slice() else { panic!("{waiting:?}") };
    // It is said again as often as the host dies before it is settled.
    for _ in 0..2 {
        one.world.kernel().deliver_mesh(start, &terms()).unwrap();
    }
    one.works();
    one.works();
    assert_eq!((one.fired().len(), begun(&one.world).len()), (1, 1));
    assert_eq!(told(one, at), "fires");
}

#[test]
fn a_machine_whose_person_approved_another_schedule_never_runs_it() {
    let mut machines = paired(&|schedule| schedule.quiet = true);
    let ranks = [machines[1].id(), machines[0].id()];
    // It goes first, and cannot run it: the next does.
    let say = machines[0].world.kernel().hold_schedule("morning", &ranks, TERM_MS).unwrap();
    machines[0].says(say);
    minutes(&mut machines, 3);
    let held = machines[0].world.kernel().mesh_registry().holder_of("morning").unwrap();
    assert_eq!((held.holder, held.unready, held.nodes), (Some(ranks[1]), vec![ranks[0]], ranks.to_vec()));
    let other = machines[1].world.kernel().mesh_registry();
    assert!(!other.holds("morning"), "what its person approved is its own");
    drop(other);
    // One that is paused gives it away, or keeps it while nobody else can.
    machines[0].world.kernel().pause_schedule("morning", "", Channel::App).unwrap();
    minutes(&mut machines, 2);
    let held = machines[1].world.kernel().mesh_registry().holder_of("morning").unwrap();
    assert_eq!(held.unready.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(ranks));
    let at = until_slot(&mut machines);
    minutes(&mut machines, 2);
    assert_eq!(begun(&machines[0].world), Vec::<TaskId>::new());
    assert_eq!(told(&machines[1], at), "fires", "by its own clock alone");
}

#[test]
fn what_was_held_begins_by_one_clock_alone_only_where_a_person_says_so() {
    let mut machines = held(&|_| {});
    // Taken out at the first, it runs there alone; the other asks its person.
    let say = machines[0].world.kernel().hold_schedule("morning", &[], TERM_MS).unwrap();
    machines[0].says(say);
    let at = until_slot(&mut machines);
    minutes(&mut machines, 2);
    assert_eq!(told(&machines[0], at), "fires");
    assert_eq!(begun(&machines[1].world), Vec::<TaskId>::new());
    let other = record(&machines[1].world);
    assert!(other.asks() && other.why.as_deref().unwrap().contains("run elsewhere: at `machine 1`"));
    machines[1].world.kernel().resume_schedule("morning", Channel::App).unwrap();
    let at = until_slot(&mut machines);
    minutes(&mut machines, 2);
    assert_eq!((told(&machines[0], at), told(&machines[1], at)), ("fires".to_owned(), "fires".to_owned()));

    // A machine that leaves the mesh may run it no more either, for the others take it over.
    let machines = held(&|_| {});
    let leaver = &machines[0].world;
    leaver.kernel().leave_mesh().unwrap();
    leaver.clock.advance(20 * MINUTE);
    assert_eq!(leaver.kernel().fire_due().unwrap(), []);
    assert!(record(leaver).asks());
    leaver.kernel().resume_schedule("morning", Channel::App).unwrap();
    leaver.clock.advance(20 * MINUTE);
    assert_eq!(leaver.kernel().fire_due().unwrap().len(), 1);
    assert!(matches!(leaver.kernel().hold_schedule("morning", &[], TERM_MS), Err(Error::Conflict(_))));
}

#[test]
fn a_folder_is_looked_at_once_a_minute_and_one_that_went_is_told_then() {
    let machines = held(&|_| {});
    let world = &machines[0].world;
    let says = || {
        let news = world.kernel().mesh_news(&terms()).unwrap();
        news.into_iter().find_map(|one| match one {
            Command::Ready { is_ready, .. } => Some(is_ready),
            _ => None,
        })
    };
    let at = world.folder.path().to_owned();
    let away = at.with_extension("away");
    assert_eq!(says(), None, "it is there, as was told");
    std::fs::rename(&at, &away).unwrap();
    assert_eq!(says(), None, "it was looked at just now");
    world.clock.advance(MINUTE);
    assert_eq!(says(), Some(false));
    std::fs::rename(&away, &at).unwrap();
    assert_eq!(says(), Some(false), "as it was just now");
    world.kernel().look_at_folders_again();
    assert_eq!(says(), None);
}

#[test]
fn what_the_mesh_cannot_hold_is_refused_with_words() {
    let machines = paired(&|schedule| {
        schedule.on = Some(Trigger::Hook { name: "deploy".to_owned() });
        schedule.when.rule = Rule::Event;
    });
    let ids = [machines[0].id(), machines[1].id()];
    let refused = |of: usize, ranks: &[NodeId], term: i64| {
        let held = machines[of].world.kernel().hold_schedule("morning", ranks, term);
        held.unwrap_err().to_string()
    };
    let stranger = NodeId(Digest::of(b"a stranger"));
    assert!(refused(1, &ids, TERM_MS).contains("schedules of a time"));
    assert!(refused(0, &[ids[0], stranger], TERM_MS).contains("not paired"));
    assert!(refused(0, &[ids[1]], TERM_MS).contains("this machine"));
    assert!(refused(0, &[ids[0], ids[0]], TERM_MS).contains("once"));
    assert!(refused(0, &ids, MINUTE).contains("2 minutes"));
    assert!(refused(0, &[], TERM_MS).contains("does not hold"));
    let missing = machines[0].world.kernel().hold_schedule("evening", &ids, TERM_MS);
    assert!(matches!(missing, Err(Error::NotFound { .. })));
}
