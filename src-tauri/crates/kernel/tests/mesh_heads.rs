//! Two machines of one person: each signs for the log of the other that it only grew, finds it when that log was put back, and has the
//! receipts of both (mesh.md 4).

use crate::story::completed;
use kernel::command::mesh::MeshTerms;
use kernel::command::submit::Reasoning;
use kernel::mesh_registry::MeshRegistry;
use ledger::CheckpointKind;
use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{
    Capabilities, Chance, Command, Cosigned, Delivered, GroupSecret, Happened, Node, NodeId, Peer, Prove,
    State, Way,
};
use model::Clock as _;
use model::body::CheckpointCosigned;
use model::mesh::MeshAlert;
use model::policy::Profile;
use seal::cosignature::{WitnessKey, add_lines};
use seal::merkle::verify_consistency;
use seal::note::{Checkpoint, Note};
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::{TestKeys, World, done, write};

const MINUTE: i64 = 60_000;
const RELAY: &str = "wss://relay.example";
const GROUP: &[u8] = b"the group of two machines";

struct Drawn(u64);

impl Chance for Drawn {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&Digest::of(&self.0.to_be_bytes()).0[..chunk.len()]);
        }
    }
}

/// A kernel, and the pure node that its host would run.
struct Machine {
    world: World,
    id: NodeId,
    secret: [u8; 32],
    node: Option<Node<NostrSealing>>,
    chance: Drawn,
}

type Written = Vec<Vec<u8>>;

impl Machine {
    fn new(seed: u8) -> Self {
        let mut world = World::bare(9_500 + u64::from(seed));
        world.keys = Arc::new(TestKeys::new(seed << 4));
        world.take_up().unwrap();
        world.register_keys().unwrap();
        let secret = [seed; 32];
        let id = NostrSealing::new(&secret).unwrap().node();
        world.kernel().join_mesh(id, &format!("machine {seed}")).unwrap();
        let mut machine = Self { world, id, secret, node: None, chance: Drawn(u64::from(seed) << 32) };
        machine.start();
        machine
    }

    fn peer(&self) -> Peer {
        Peer {
            node: self.id,
            name: "the other machine".to_owned(),
            relays: vec![RELAY.to_owned()],
            log_key: self.world.keys.log_signer().public(),
            approval_key: None,
        }
    }

    fn registry(&self) -> Arc<MeshRegistry> {
        self.world.kernel().mesh_registry()
    }

    /// The node again, with what is on record.
    fn start(&mut self) {
        let mut sealing = NostrSealing::new(&self.secret).unwrap();
        sealing.add_group(Digest::of(GROUP).as_bytes()).unwrap();
        let state = self.registry().state().cloned().unwrap_or_else(|| State::new(self.id));
        self.node = Some(Node::new(sealing, state, self.world.clock.now()));
        self.does(Happened::Up(Way::Relay(RELAY.to_owned())));
    }

    fn does(&mut self, what: Happened) -> Written {
        let now = self.world.clock.now();
        let step = self.node.as_mut().unwrap().handle(what, now, &mut self.chance).unwrap();
        self.world.kernel().record_mesh(&step.facts, &step.deliver, None).unwrap();
        step.write.into_iter().map(|(_, bytes)| bytes).collect()
    }

    /// Does what the host does after each commit: what came, and what is to be told.
    fn works(&mut self) -> Written {
        let mut written = Vec::new();
        for _ in 0..200 {
            let Some((number, delivered)) = self.world.kernel().next_mesh_delivery() else {
                let news = self.world.kernel().mesh_news(&terms()).unwrap();
                if news.is_empty() {
                    return written;
                }
                for command in news {
                    written.extend(self.does(Happened::Said(command)));
                }
                continue;
            };
            let (mut facts, mut deliver) = (Vec::new(), Vec::new());
            for one in &delivered {
                for say in self.world.kernel().deliver_mesh(one, &terms()).unwrap().say {
                    let now = self.world.clock.now();
                    let node = self.node.as_mut().unwrap();
                    let step = node.handle(Happened::Said(say), now, &mut self.chance).unwrap();
                    facts.extend(step.facts);
                    deliver.extend(step.deliver);
                    written.extend(step.write.into_iter().map(|(_, bytes)| bytes));
                }
            }
            self.world.kernel().record_mesh(&facts, &deliver, Some(number)).unwrap();
        }
        panic!("it says the same again and again");
    }

    fn tells(&mut self) -> Written {
        let (can, relays) = (Capabilities::default(), vec![RELAY.to_owned()]);
        let mut written = self.does(Happened::Said(Command::Tell { can, load: 0, relays }));
        written.extend(self.works());
        written
    }

    /// A task, at whose end the log is signed.
    fn task(&self, goal: &str) {
        let file = format!("{}.txt", goal.replace(' ', "-"));
        let task = self.world.script(goal, vec![write(&file, goal), done(goal)]);
        assert_eq!(self.world.drive_allowing(task).0, completed());
    }

    fn head(&self) -> ledger::Checkpoint {
        let newest = self.world.kernel().reader().last_checkpoint(CheckpointKind::Global, None);
        newest.unwrap().unwrap()
    }

    fn cosigned(&self) -> Vec<CheckpointCosigned> {
        self.world.kernel().cosignatures().unwrap()
    }

    fn found(&self, kind: MeshAlert) -> Vec<Option<NodeId>> {
        self.registry().alerts().filter(|one| one.kind == kind).map(|one| one.node).collect()
    }
}

fn terms() -> MeshTerms {
    let reasoning = Reasoning::Scripted { name: "nobody".to_owned() };
    MeshTerms { folders: BTreeMap::new(), reasoning, profile: Profile::ReadonlyAnalysis }
}

/// Two that are paired, each with a log that was signed.
fn two() -> (Machine, Machine) {
    let (mut one, mut other) = (Machine::new(1), Machine::new(2));
    one.task("a first task");
    other.task("a first task");
    let (peers, secret) = ([other.peer(), one.peer()], Digest::of(GROUP));
    for (machine, peer) in [&mut one, &mut other].into_iter().zip(peers) {
        let (without, through) = (BTreeSet::new(), BTreeSet::new());
        let group = Some(GroupSecret { epoch: 1, secret, without, through });
        machine.does(Happened::Said(Command::Pair { peer, group }));
    }
    (one, other)
}

/// Both say that they are here, and what follows from it until both are silent.
fn talk(one: &mut Machine, other: &mut Machine) {
    let mut said = [one.tells(), other.tells()];
    for _ in 0..60 {
        let [from_one, from_other] = std::mem::take(&mut said);
        if from_one.is_empty() && from_other.is_empty() {
            return;
        }
        for (at, machine, heard) in [(0, &mut *one, from_other), (1, &mut *other, from_one)] {
            for bytes in heard {
                let way = Way::Relay(RELAY.to_owned());
                said[at].extend(machine.does(Happened::Received { way, bytes }));
            }
            said[at].extend(machine.does(Happened::Tick));
            said[at].extend(machine.works());
        }
    }
}

fn later(one: &mut Machine, other: &mut Machine, ms: i64) {
    one.world.clock.advance(ms);
    other.world.clock.advance(ms);
    talk(one, other);
}

#[conforms::conforms(part = "HV-3.6-1")]
#[test]
fn heads_are_cosigned_both_ways_and_proofs_carry_it_as_the_line_of_a_witness() {
    let (mut one, mut other) = two();
    talk(&mut one, &mut other);
    for (signed, by) in [(&one, &other), (&other, &one)] {
        let (head, key) = (signed.head(), by.world.kernel().mesh_cosign_key().unwrap());
        let kept = signed.cosigned();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!((kept[0].size, kept[0].root, &kept[0].witness), (head.size, head.root, &key));
        assert_eq!(signed.registry().cosign_key(by.id), Some(key.as_str()));
        // Whoever holds that key finds it under the head, and nobody else's.
        let both = Note::parse(&add_lines(&head.note, &[kept[0].line.clone()]).unwrap()).unwrap();
        assert!(key.parse::<WitnessKey>().unwrap().cosigned(&both).unwrap().is_some());
        let own = signed.world.kernel().mesh_cosign_key().unwrap();
        assert_eq!(own.parse::<WitnessKey>().unwrap().cosigned(&both).unwrap(), None);
    }
    // At most one a minute where tasks end; nothing where nothing was signed.
    one.task("a second task");
    talk(&mut one, &mut other);
    assert_eq!(one.cosigned().len(), 1, "too early");
    later(&mut one, &mut other, MINUTE);
    later(&mut one, &mut other, 30 * MINUTE);
    let sizes = |machine: &Machine| machine.cosigned().iter().map(|kept| kept.size).collect::<Vec<_>>();
    assert_eq!((sizes(&one).len(), sizes(&other).len()), (2, 1));
    assert_eq!(sizes(&one)[1], one.head().size);
    // Where no task ended, after ten.
    let system = one.world.kernel().store_state().system_task().unwrap();
    one.world.clock.advance(MINUTE);
    one.world.kernel().checkpoint(&[system]).unwrap();
    talk(&mut one, &mut other);
    assert_eq!(sizes(&one).len(), 3, "the last one was told long ago");
    one.world.kernel().checkpoint(&[system]).unwrap();
    later(&mut one, &mut other, 5 * MINUTE);
    assert_eq!(sizes(&one).len(), 3, "too early");
    later(&mut one, &mut other, 5 * MINUTE);
    assert_eq!(sizes(&one).len(), 4);
    assert_eq!((one.found(MeshAlert::RolledBack), other.found(MeshAlert::RolledBack)), (vec![], vec![]));
}

#[test]
fn nobody_signs_as_another_and_nothing_is_signed_that_its_own_log_did_not_sign() {
    let (mut one, mut other) = two();
    talk(&mut one, &mut other);
    let (kept, head) = (one.cosigned().remove(0), one.head());
    let thief = SeedSigner::from_seed([99; 32]);
    let text = Note::parse(&head.note).unwrap().text;
    let says = |name: &str, signer: &SeedSigner, size: u64| {
        let key = WitnessKey::new(name, signer.public()).unwrap();
        let line = key.cosign(&text, 1_790_000_000, signer).unwrap().to_string();
        Cosigned { origin: head.origin.clone(), size, line, key: key.to_string() }
    };
    let as_other = format!("hermit.local/node/{}", other.id);
    let mut bent = says(&as_other, &thief, head.size);
    bent.line = says(&as_other, &SeedSigner::from_seed([98; 32]), head.size).line;
    let two_lines = Cosigned { line: format!("{0}\n{0}", kept.line), ..bent.clone() };
    let tries = [
        says(&format!("hermit.local/node/{}", one.id), &thief, head.size),
        says("witness.example", &thief, head.size),
        says(&as_other, &thief, head.size - 1),
        Cosigned { origin: "hermit.local/another".to_owned(), ..says(&as_other, &thief, head.size) },
        Cosigned { key: "no key".to_owned(), ..bent.clone() },
        bent,
        two_lines,
        // With a key that is new it holds, and one signature of each machine is enough.
        says(&as_other, &thief, head.size),
    ];
    for cosigned in tries {
        let delivered = Delivered::Cosigned { from: other.id, cosigned };
        assert!(one.world.kernel().deliver_mesh(&delivered, &terms()).unwrap().say.is_empty());
    }
    assert_eq!(one.cosigned(), [kept]);
    // A head that another key signed than that of its log, and one that another took the place of.
    let forged = Checkpoint::from_text(&text).unwrap().sign(&thief).unwrap().to_string();
    let note = String::from_utf8(head.note).unwrap();
    let signs = |machine: &Machine, note: &str| {
        let delivered = Delivered::Head { from: one.id, note: note.to_owned() };
        machine.world.kernel().deliver_mesh(&delivered, &terms()).unwrap().say.len()
    };
    assert_eq!((signs(&other, &note), signs(&other, &forged), signs(&other, "nothing")), (1, 0, 0));
    other.world.keys.lock(true);
    assert_eq!((signs(&other, &note), other.world.kernel().mesh_cosign_key()), (0, None), "it is locked");
    other.world.keys.lock(false);
    one.task("a second task");
    later(&mut one, &mut other, 2 * MINUTE);
    let delivered = Delivered::Head { from: one.id, note };
    assert!(other.world.kernel().deliver_mesh(&delivered, &terms()).unwrap().say.is_empty());
}

#[test]
fn who_missed_heads_is_shown_that_the_log_grew_and_nothing_that_it_never_had() {
    let (mut one, mut other) = two();
    talk(&mut one, &mut other);
    let first = one.head();
    one.task("a second task");
    later(&mut one, &mut other, 2 * MINUTE);
    let newest = one.head();
    assert!(newest.size > first.size);
    let shows = |origin: &str, old_size: u64, size: u64| {
        let prove = Prove { origin: origin.to_owned(), old_size, size };
        let delivered = Delivered::Prove { from: other.id, prove };
        one.world.kernel().deliver_mesh(&delivered, &terms()).unwrap().say
    };
    let said = shows(&newest.origin, first.size, newest.size);
    let [Command::Prove { to, head }] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!((*to, head.size, head.root), (other.id, newest.size, newest.root));
    verify_consistency(first.size, newest.size, &first.root, &newest.root, &head.proof).unwrap();
    let origin = newest.origin.as_str();
    let none = [
        ("hermit.local/another", first.size, newest.size),
        (origin, newest.size, newest.size),
        (origin, first.size, newest.size + 1),
    ];
    for (origin, old_size, size) in none {
        assert!(shows(origin, old_size, size).is_empty());
    }
}

#[test]
fn a_store_that_was_put_back_to_an_older_copy_is_found_by_the_other_machine_and_by_itself() {
    let (mut one, mut other) = two();
    talk(&mut one, &mut other);
    other.world.crash();
    let file = other.world.store.path().join(ledger::FILE);
    let copy = other.world.store.path().join("copy");
    std::fs::copy(&file, &copy).unwrap();
    other.world.take_up().unwrap();
    other.start();
    other.task("a task that will be forgotten");
    later(&mut one, &mut other, 2 * MINUTE);
    assert_eq!(other.cosigned().len(), 2);
    let (seen, before) = (other.head(), one.found(MeshAlert::RolledBack));
    assert_eq!(before, []);
    // The disk of the second is put back.
    other.world.crash();
    std::fs::copy(&copy, &file).unwrap();
    other.world.take_up().unwrap();
    other.start();
    assert!(other.head().size < seen.size && other.cosigned().len() == 1);
    for _ in 0..6 {
        later(&mut one, &mut other, MINUTE);
    }
    assert_eq!(one.found(MeshAlert::RolledBack), [Some(other.id)]);
    assert_eq!(other.found(MeshAlert::RolledBack), [Some(other.id)], "its own person is told too");
    let says: Vec<String> = one.registry().alerts().map(|one| one.says.clone()).collect();
    let sizes = [seen.size, other.head().size].map(|size| size.to_string());
    assert!(says.iter().any(|says| sizes.iter().all(|size| says.contains(size))), "{says:?}");
    // However far it grows, the other signs nothing for it; and that is said once.
    for goal in ["one more", "and one", "and another"] {
        other.task(goal);
        later(&mut one, &mut other, 11 * MINUTE);
    }
    assert!(other.head().size > seen.size);
    assert_eq!(other.cosigned().len(), 1);
    assert_eq!(one.found(MeshAlert::RolledBack).len() + other.found(MeshAlert::RolledBack).len(), 2);
    // What is on record says it to the next host as well.
    one.world.reopen();
    assert_eq!(one.found(MeshAlert::RolledBack), [Some(other.id)]);
}

#[test]
fn that_a_log_grew_is_told_without_reading_what_was_signed_before_the_head_that_was_told_last() {
    let (mut one, mut other) = two();
    talk(&mut one, &mut other);
    let told = one.head().size;
    assert!(told > 1);
    // Whoever read one of those notes could tell nothing.
    let raw = rusqlite::Connection::open(one.world.store.path().join(ledger::FILE)).unwrap();
    raw.execute_batch("DROP TRIGGER checkpoints_keep").unwrap();
    let lost = "UPDATE checkpoints SET note = x'00' WHERE leaf_index < ?1";
    assert_eq!(raw.execute(lost, [i64::try_from(told).unwrap()]).unwrap() as u64, told);
    drop(raw);
    assert!(one.world.kernel().reader().global_leaves(told).is_err());
    one.task("a second task");
    later(&mut one, &mut other, 2 * MINUTE);
    assert_eq!(one.cosigned().len(), 2, "the other one saw that it grew");
    assert_eq!((one.found(MeshAlert::RolledBack), other.found(MeshAlert::RolledBack)), (vec![], vec![]));
}

#[test]
fn the_receipts_of_both_are_one_list_of_digests() {
    let (mut one, mut other) = two();
    let issued = |machine: &Machine| {
        let rows = machine.world.kernel().query().unwrap().receipts_after(0, 500).unwrap();
        rows.iter().map(|row| (row.seq, row.statement_sha256, row.issued_at)).collect::<Vec<_>>()
    };
    let told = |machine: &Machine, of: &Machine| {
        let registry = machine.registry();
        let lines = registry.receipts().filter(|one| one.node == of.id).map(|one| &one.line);
        lines.map(|line| (line.number, line.sha256, line.at)).collect::<Vec<_>>()
    };
    talk(&mut one, &mut other);
    assert!(!issued(&one).is_empty());
    for (machine, of) in [(&one, &other), (&other, &one)] {
        assert_eq!(told(machine, of), issued(of));
    }
    let before = issued(&one).len();
    one.task("a second task");
    talk(&mut one, &mut other);
    assert!(issued(&one).len() > before);
    assert_eq!(told(&other, &one), issued(&one), "each once, in order");
    other.world.reopen();
    assert_eq!(told(&other, &one), issued(&one));
    let places: Vec<u64> = other.registry().receipts().map(|one| one.place).collect();
    assert_eq!(places, (1..=u64::try_from(places.len()).unwrap()).collect::<Vec<_>>());
    // Words of a task are told to nobody.
    let facts = crate::story::log(one.world.kernel());
    let stepped = facts.iter().filter(|(event, _)| event.event_type == "mesh.stepped");
    let texts: Vec<String> = stepped.map(|(_, body)| format!("{body:?}")).collect();
    assert!(!texts.is_empty() && !texts.iter().any(|text| text.contains("a second task")));
}
