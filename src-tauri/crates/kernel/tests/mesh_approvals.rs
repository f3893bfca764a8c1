//! A yes at another machine of the same person (mesh.md 4): from the card of one store to the answer of another and back, what is
//! refused on the way, and what ends it.

use crate::story::{completed, count, in_store, log, state};
use kernel::command::mesh::approvals::{MeshQuestion, enrolment};
use kernel::command::mesh::{MeshDone, MeshTerms};
use kernel::command::submit::Reasoning;
use kernel::{Error, Kernel};
use mesh::{Card, Command, Delivered, Fact, NodeId, Part, Peer, SignedDecision};
use model::approval::{ApprovalStatus, Surface};
use model::body::KeyPurpose;
use model::passkey::MESH_ORIGIN;
use model::policy::Profile;
use model::{ApprovalId, Body, Digest, TaskId};
use seal::{SeedSigner, Signer};
use std::collections::BTreeMap;
use testkit::{Person, World, done, write};

fn node(seed: u8) -> NodeId {
    NodeId(Digest([seed; 32]))
}

fn terms() -> MeshTerms {
    let reasoning = Reasoning::Scripted { name: "goals".to_owned() };
    MeshTerms { folders: BTreeMap::new(), reasoning, profile: Profile::RepoMutationGated }
}

/// Another machine: its key in the mesh and its approval key.
struct Machine {
    node: NodeId,
    key: SeedSigner,
}

impl Machine {
    fn new(seed: u8) -> Self {
        Self { node: node(seed), key: SeedSigner::from_seed([seed; 32]) }
    }

    fn peer(&self, name: &str) -> Peer {
        let log_key = SeedSigner::from_seed([9; 32]).public();
        let approval_key = Some(self.key.public());
        Peer { node: self.node, name: name.to_owned(), relays: Vec::new(), log_key, approval_key }
    }

    /// What its person answers to a card.
    fn answers(&self, world: &World, asked: &Asked, allow: bool, counter: u32) -> SignedDecision {
        let Asked { from, card, packet } = asked;
        let (from, card, came_at) = (*from, card.clone(), card.asked_at);
        let question = MeshQuestion { asked: self.node, from, card, came_at, counter };
        let now = world.kernel().ports().clock.now();
        question.answer(packet, allow, now, &self.key).unwrap()
    }
}

/// A card as it goes out.
struct Asked {
    from: NodeId,
    card: Card,
    packet: Vec<u8>,
}

fn record(kernel: &Kernel, facts: &[Fact]) {
    kernel.record_mesh(facts, &[], None).unwrap();
}

/// A store in the mesh that knows these machines.
fn owner(seed: u64, machines: &[(&Machine, &str)]) -> World {
    let world = World::new(seed);
    world.kernel().join_mesh(node(1), "desk").unwrap();
    let facts: Vec<Fact> = machines.iter().map(|(one, name)| Fact::Paired(one.peer(name))).collect();
    record(world.kernel(), &facts);
    world
}

/// Lets a machine say yes, as a person signed it; the node is told.
fn allow(world: &World, machine: &Machine) -> Result<(), Error> {
    let kernel = world.kernel();
    let now = kernel.ports().clock.now();
    let draft =
        enrolment(&kernel.store_state(), kernel.reader().log_id(), machine.node, (Surface::Test, now))?;
    let envelope = governance::approval::sign_passkey(&draft, world.person.signer()).unwrap();
    for command in kernel.mesh_approver(machine.node, true, Some(&envelope))? {
        let Command::Register { node, key } = command else { panic!("{command:?}") };
        record(kernel, &[Fact::Registered { node, key }]);
    }
    Ok(())
}

fn script(world: &World, goal: &str, names: &[&str]) -> (TaskId, ApprovalId) {
    let mut answers: Vec<_> = names.iter().map(|name| write(name, goal)).collect();
    answers.push(done("ok"));
    let task = world.script(goal, answers);
    (task, world.drive_to_approval(task))
}

/// What is asked of others by now, each put on record as the node does.
fn asks(world: &World) -> Vec<(Asked, Vec<NodeId>)> {
    let kernel = world.kernel();
    let mut asked = Vec::new();
    for command in kernel.mesh_news(&terms()).unwrap() {
        if let Command::Ask { card, packet, of } = command {
            record(kernel, &[Fact::Asked { card: card.clone(), of: of.clone() }]);
            asked.push((Asked { from: node(1), card, packet }, of));
        }
    }
    asked
}

/// The one question that is asked now.
fn ask(world: &World, approval: ApprovalId) -> Asked {
    let mut asked = asks(world);
    let (asked, rest) = (asked.pop().unwrap(), asked);
    assert_eq!((asked.0.card.approval.as_str(), rest.len()), (approval.to_string().as_str(), 0));
    asked.0
}

fn settled(world: &World) -> Vec<String> {
    let news = world.kernel().mesh_news(&terms()).unwrap().into_iter();
    news.filter_map(|command| match command {
        Command::Settle { approval } => Some(approval),
        _ => None,
    })
    .collect()
}

fn decided(world: &World, approval: ApprovalId, signed: SignedDecision) -> MeshDone {
    let (approval, allow) = (approval.to_string(), signed.decision.allow);
    let decided = Delivered::Decided { approval, allow, decisions: vec![signed] };
    world.kernel().deliver_mesh(&decided, &terms()).unwrap()
}

fn status(world: &World, task: TaskId, approval: ApprovalId) -> ApprovalStatus {
    state(world, task).approvals[&approval].approval.status
}

/// How often a decision of another machine was refused, as the store says.
fn refusals(kernel: &Kernel) -> usize {
    let facts = log(kernel).into_iter().filter_map(|(_, body)| match body {
        Body::MeshStepped(b) => Some(b.facts),
        _ => None,
    });
    let texts = facts.flatten().filter_map(|text| text.shown().cloned());
    texts.filter(|text| text.contains("\"discounted\"") && text.contains("\"why\":\"refused\"")).count()
}

fn told(world: &World, task: TaskId) -> Vec<String> {
    let receipts = state(world, task).receipts;
    let told = receipts.iter().map(|one| world.kernel().receipt(one.receipt_id).unwrap().1.result_summary);
    told.filter_map(|words| words.shown().cloned()).collect()
}

#[test]
fn a_card_is_asked_once_answered_at_another_machine_and_the_act_is_done() {
    let laptop = Machine::new(0x51);
    let mut world = owner(3701, &[(&laptop, "laptop")]);
    let (task, approval) = script(&world, "notes", &["a.md"]);
    assert_eq!(asks(&world).len(), 0, "nobody may answer yet");
    allow(&world, &laptop).unwrap();
    assert!(matches!(allow(&world, &laptop), Err(Error::Conflict(_))), "it may already");
    let enrolled = world.kernel().store_state();
    let record_of = enrolled.passkeys.get(laptop.key.public().keyid()).unwrap();
    assert_eq!((record_of.origin.as_str(), record_of.name.as_deref()), (MESH_ORIGIN, Some("laptop")));
    let asked = ask(&world, approval);
    assert_eq!(asks(&world).len(), 0, "it is asked once");
    assert_eq!(settled(&world).len(), 0, "it waits still");

    // The other machine has a store of its own, with its own approval key.
    let mut other = World::bare(3702);
    other.person = Person::new(0x51);
    other.take_up().unwrap();
    other.register_keys().unwrap();
    let there = other.kernel();
    there.join_mesh(laptop.node, "laptop").unwrap();
    let at = there.ports().clock.now();
    let (from, card, packet) = (asked.from, asked.card, asked.packet);
    let desk = Peer { node: from, approval_key: None, ..laptop.peer("desk") };
    let data = testkit::base64(&packet);
    let part = Part { whole: card.packet, index: 0, count: 1, data };
    let facts =
        [Fact::Paired(desk), Fact::Part { from, part }, Fact::Question { from, card: card.clone(), at }];
    let question = Delivered::Question { from, card, packet: packet.clone() };
    there.record_mesh(&facts, &[question], None).unwrap();
    let mut open = there.mesh_questions();
    let (question, bytes) = open.pop().unwrap();
    assert_eq!((&bytes, open.len()), (&packet, 0), "exactly the packet that was asked about");
    let now = there.ports().clock.now();
    let signed = |key: &dyn Signer| {
        let signed = question.answer(&bytes, true, now, key).unwrap();
        seal::canon::to_canonical(&signed).unwrap()
    };
    let name = approval.to_string();
    let by_another = there.mesh_decide(&name, true, &signed(&SeedSigner::from_seed([3; 32])));
    assert!(matches!(by_another, Err(Error::Refused(r)) if r.code == "decision_signature"));
    let yes = signed(other.person.signer());
    let as_a_no = there.mesh_decide(&name, false, &yes);
    assert!(matches!(as_a_no, Err(Error::Refused(r)) if r.code == "decision_other"));
    let mut said = there.mesh_decide(&name, true, &yes).unwrap();
    let Some(Command::Decide(yes)) = said.pop() else { panic!("{said:?}") };

    world.clock.advance(60_000);
    world.reopen();
    let came = decided(&world, approval, yes.clone());
    assert_eq!(came.drive, [task]);
    assert_eq!(status(&world, task, approval), ApprovalStatus::Granted);
    let told = told(&world, task);
    assert!(told.contains(&"Approved by a person, at another machine (laptop)".to_owned()), "{told:?}");
    assert_eq!(settled(&world), [name], "it needs no answer any more");
    // The same decision once more changes nothing.
    assert_eq!(decided(&world, approval, yes).drive.len(), 0);
    assert_eq!(world.drive(task), completed());
    assert_eq!(world.files().len(), 1);
    assert_eq!(refusals(world.kernel()), 0);
}

#[test]
fn a_no_needs_no_more_than_the_machine_and_says_where_it_was() {
    let laptop = Machine::new(0x51);
    let world = owner(3703, &[(&laptop, "laptop")]);
    allow(&world, &laptop).unwrap();
    let (task, approval) = script(&world, "notes", &["a.md"]);
    let asked = ask(&world, approval);
    let no = laptop.answers(&world, &asked, false, 7);
    assert_eq!(no.approval, None);
    assert_eq!(decided(&world, approval, no).drive, [task]);
    assert_eq!(status(&world, task, approval), ApprovalStatus::Denied);
    let told = told(&world, task);
    assert!(told.contains(&"Denied by a person, at another machine (laptop)".to_owned()), "{told:?}");
    assert_eq!(world.files().len(), 0);
}

#[test]
fn what_is_about_something_else_or_counts_back_or_comes_of_nobody_leaves_the_question_as_it_is() {
    let (laptop, phone) = (Machine::new(0x51), Machine::new(0x52));
    let world = owner(3704, &[(&laptop, "laptop"), (&phone, "phone")]);
    allow(&world, &laptop).unwrap();
    let (task, first) = script(&world, "notes", &["a.md", "b.md", "c.md"]);
    let asked = ask(&world, first);
    let waits = |approval: ApprovalId, signed: SignedDecision, refused: usize| {
        let before = refusals(world.kernel());
        let came = decided(&world, approval, signed);
        assert_eq!((came.drive.len(), refusals(world.kernel()) - before), (0, refused));
        assert_eq!(status(&world, task, approval), ApprovalStatus::Pending);
    };
    // A machine that nobody enrolled, also with the word of one that is.
    waits(first, phone.answers(&world, &asked, true, 20), 0);
    let yes = laptop.answers(&world, &asked, true, 20);
    waits(first, SignedDecision { key: phone.key.public(), ..yes.clone() }, 0);
    waits(first, SignedDecision { approval: None, ..yes.clone() }, 1);
    waits(
        first,
        SignedDecision { approval: phone.answers(&world, &asked, true, 21).approval, ..yes.clone() },
        1,
    );
    // Nor is a yes to another machine one to this, whatever stands around it.
    let elsewhere = Asked { from: node(2), card: asked.card.clone(), packet: asked.packet.clone() };
    let to_another = laptop.answers(&world, &elsewhere, true, 20).approval;
    waits(first, SignedDecision { approval: to_another, ..yes.clone() }, 1);
    assert_eq!(decided(&world, first, yes.clone()).drive, [task]);
    let second = world.drive_to_approval(task);
    // What was said to the first question says nothing to the second, as it was and said anew.
    waits(second, yes, 1);
    waits(second, laptop.answers(&world, &asked, true, 21), 1);
    assert_eq!(in_store(&world, "passkey.refused"), 1, "it had not counted on");
    let asked = ask(&world, second);
    // The copy of a key that has counted no further.
    waits(second, laptop.answers(&world, &asked, true, 20), 1);
    assert_eq!(in_store(&world, "passkey.refused"), 2);
    let mut other = asked.packet.clone();
    other.push(b' ');
    let (from, came_at) = (asked.from, asked.card.asked_at);
    let question = MeshQuestion { asked: laptop.node, from, card: asked.card.clone(), came_at, counter: 22 };
    let other = question.answer(&other, true, came_at, &laptop.key);
    assert!(matches!(other, Err(Error::Input(_))), "another packet is not answered in its place");
    assert_eq!(decided(&world, second, laptop.answers(&world, &asked, true, 22)).drive, [task]);
    world.drive_to_approval(task);
    assert_eq!(world.files().len(), 2);
}

#[test]
fn a_machine_that_is_withdrawn_or_whose_key_is_taken_away_says_nothing_any_more() {
    let (laptop, phone) = (Machine::new(0x51), Machine::new(0x52));
    let world = owner(3705, &[(&laptop, "laptop"), (&phone, "phone")]);
    let kernel = world.kernel();
    allow(&world, &laptop).unwrap();
    allow(&world, &phone).unwrap();
    let (task, first) = script(&world, "notes", &["a.md", "b.md"]);
    let (asked, of) = asks(&world).pop().unwrap();
    assert_eq!(of, [laptop.node, phone.node]);
    // What a person takes away, they may give again; the key counts on where it was.
    let taken = kernel.mesh_approver(laptop.node, false, None).unwrap();
    assert!(matches!(taken.as_slice(), [Command::Unregister { node }] if *node == laptop.node));
    record(kernel, &[Fact::Unregistered { node: laptop.node }]);
    decided(&world, first, laptop.answers(&world, &asked, true, 5));
    assert_eq!((status(&world, task, first), refusals(kernel)), (ApprovalStatus::Pending, 1));
    decided(&world, first, laptop.answers(&world, &asked, false, 6));
    assert_eq!((status(&world, task, first), refusals(kernel)), (ApprovalStatus::Pending, 2));
    allow(&world, &laptop).unwrap();
    assert_eq!(decided(&world, first, laptop.answers(&world, &asked, true, 7)).drive, [task]);
    kernel.mesh_approver(laptop.node, false, None).unwrap();
    allow(&world, &laptop).unwrap();
    assert_eq!(kernel.store_state().passkeys.get(laptop.key.public().keyid()).unwrap().counter, 7);
    let second = world.drive_to_approval(task);
    let (asked, _) = asks(&world).pop().unwrap();
    let withdrawn = Fact::Withdrawn { node: laptop.node, by: phone.node, upto: 0 };
    record(kernel, &[withdrawn]);
    decided(&world, second, laptop.answers(&world, &asked, true, 8));
    assert_eq!((status(&world, task, second), refusals(kernel)), (ApprovalStatus::Pending, 3));
    assert!(kernel.store_state().passkeys.get(laptop.key.public().keyid()).unwrap().revoked_at.is_some());
    assert!(matches!(allow(&world, &laptop), Err(Error::NotFound { .. })), "it is no machine any more");
    // One that was not withdrawn answers still.
    assert_eq!(decided(&world, second, phone.answers(&world, &asked, true, 8)).drive, [task]);
    assert_eq!(world.drive(task), completed());
    // Paired again with another approval key, what a person let the former one ends.
    let again = Machine { node: phone.node, ..Machine::new(0x53) };
    record(kernel, &[Fact::Paired(again.peer("phone"))]);
    let news = kernel.mesh_news(&terms()).unwrap();
    assert!(news.iter().any(|one| matches!(one, Command::Unregister { node } if *node == phone.node)));
    assert!(kernel.store_state().passkeys.get(phone.key.public().keyid()).unwrap().revoked_at.is_some());
}

#[test]
fn only_the_approval_key_of_this_store_lets_the_key_say_yes_that_the_machine_showed() {
    let (laptop, phone) = (Machine::new(0x51), Machine::new(0x52));
    let world = owner(3706, &[(&laptop, "laptop"), (&phone, "phone")]);
    let kernel = world.kernel();
    let now = kernel.ports().clock.now();
    let draft = |machine: &Machine| {
        enrolment(&kernel.store_state(), kernel.reader().log_id(), machine.node, (Surface::Test, now))
            .unwrap()
    };
    let code = |envelope: Option<&[u8]>| match kernel.mesh_approver(laptop.node, true, envelope) {
        Err(Error::Refused(refusal)) => refusal.code,
        other => panic!("expected a refusal, got {other:?}"),
    };
    let sign = |machine: &Machine, key: &dyn Signer| {
        governance::approval::sign_passkey(&draft(machine), key).unwrap()
    };
    let person = world.person.signer();
    assert_eq!(code(None), "signature_needed");
    assert_eq!(code(Some(&sign(&laptop, &laptop.key))), "passkey_enrolment");
    assert_eq!(code(Some(&sign(&phone, person))), "passkey_other");
    let mut other = draft(&laptop);
    other.surface = Surface::Mcp;
    let other = governance::approval::sign_passkey(&other, person).unwrap();
    assert_eq!(code(Some(&other)), "surface");
    assert_eq!(in_store(&world, "passkey.enrolled"), 0);
    // Under another approval key everything ends that the former one let.
    allow(&world, &laptop).unwrap();
    let (_, approval) = script(&world, "notes", &["a.md"]);
    let asked = ask(&world, approval);
    let next = SeedSigner::from_seed([0x21; 32]);
    let rotation =
        kernel::command::rotate_keys::Rotation { purpose: KeyPurpose::Approval, old: person, new: &next };
    kernel.rotate_keys(&[rotation], None).unwrap();
    assert_eq!(decided(&world, approval, laptop.answers(&world, &asked, true, 9)).drive.len(), 0);
    let news = kernel.mesh_news(&terms()).unwrap();
    assert!(news.iter().any(|one| matches!(one, Command::Unregister { node } if *node == laptop.node)));
}

#[test]
fn of_two_yeses_one_comes_from_another_machine_or_both_do_from_two() {
    let (laptop, phone) = (Machine::new(0x51), Machine::new(0x52));
    let world = owner(3706, &[(&laptop, "laptop"), (&phone, "phone")]);
    std::fs::write(world.store.path().join("policy.rules"), "dual FileEdit(**)\n").unwrap();
    allow(&world, &laptop).unwrap();
    let (task, first) = script(&world, "notes", &["a.md", "b.md"]);
    let asked = ask(&world, first);
    assert_eq!(asked.card.need, 1, "the other yes comes from here");
    let yes = laptop.answers(&world, &asked, true, 5);
    decided(&world, first, yes.clone());
    assert_eq!(status(&world, task, first), ApprovalStatus::Pending);
    assert_eq!(world.drive_to_approval(task), first);
    // The same decision once more, as after a death in between, is no second one.
    decided(&world, first, yes);
    assert_eq!(count(world.kernel(), task, "approval.signed"), 1);
    assert_eq!((in_store(&world, "passkey.refused"), refusals(world.kernel())), (0, 0));
    world.person.allow(world.kernel(), task, first).unwrap();
    assert_eq!(status(&world, task, first), ApprovalStatus::Granted);
    let told = told(&world, task);
    let words = "Approved by a person, in a test; and before with another key, at another machine";
    assert!(told.contains(&words.to_owned()), "{told:?}");

    // Two machines may answer: each yes is handed on as it comes, and the last with both.
    allow(&world, &phone).unwrap();
    let second = world.drive_to_approval(task);
    assert_eq!(world.files().len(), 1);
    let asked = ask(&world, second);
    assert_eq!(asked.card.need, 2);
    let (one, other) = (laptop.answers(&world, &asked, true, 6), phone.answers(&world, &asked, true, 7));
    decided(&world, second, one.clone());
    assert_eq!(status(&world, task, second), ApprovalStatus::Pending);
    let approval = second.to_string();
    let both = Delivered::Decided { approval, allow: true, decisions: vec![one, other] };
    assert_eq!(world.kernel().deliver_mesh(&both, &terms()).unwrap().drive, [task, task]);
    assert_eq!(status(&world, task, second), ApprovalStatus::Granted);
    assert_eq!(world.drive(task), completed());
    assert_eq!(world.files().len(), 2);
}
