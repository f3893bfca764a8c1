//! Two machines of one person, and what they say to each other carried by hand: a goal from another machine becomes one task and is
//! answered once, whatever dies in between; what nobody signed begins nothing.

mod machines;

use crate::story::{completed, log, state};
use kernel::command::erase::Erasure;
use kernel::command::mesh::{MeshDone, MeshGoal};
use kernel::command::person::{Matter, Signed};
use kernel::command::submit::Reasoning;
use machines::{MODEL, Machine, carry, relay, sealing, two};
use mesh::sealed::Sealing as _;
use mesh::{Command, Delivered, Fact, Happened, Input, State};
use model::artifact::TrustTier;
use model::envelope::{Envelope, EnvelopePayload};
use model::fault::Point;
use model::ingress::Channel;
use model::mesh::{DeliveryState, NeverReason};
use model::task::{Origin, TaskStatus};
use model::{Body, ConversationId, Digest};
use redact::Redactor;
use seal::{SeedSigner, Signer as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use testkit::{Edge, Mode, done};

#[conforms::conforms(part = "HV-3.1-2", part = "HV-3.7-2")]
#[test]
fn a_goal_from_another_machine_becomes_one_task_and_its_answer_goes_back_once() {
    let (mut laptop, mut server) = two(8_500);
    server.world.reasoners.script(MODEL, vec![done("the hedge is cut")]);
    let goal = laptop.goal(&server, None, "cut the hedge");
    let sent = laptop.sends(&goal);
    let waits = laptop.message(sent.id);
    assert_eq!((waits.state, waits.text.as_deref()), (DeliveryState::Queued, Some("cut the hedge")));
    assert!(waits.is_outgoing && waits.node == server.id());
    // The same key is the same goal: nothing is sent again.
    let again = laptop.world.kernel().mesh_goal(&goal).unwrap();
    assert_eq!((again.id, again.conversation.as_str(), again.say.len()), (sent.id, &*sent.conversation, 0));

    carry(&mut laptop, &mut server);
    let tasks = server.does();
    let [task] = tasks[..] else { panic!("{tasks:?}") };
    let begun = state(&server.world, task).task;
    assert_eq!((begun.source_channel, begun.origin), (Channel::Mesh, None), "words of a person");
    assert_eq!(begun.conversation_id, sent.conversation.parse::<ConversationId>().unwrap());
    assert_eq!(begun.goal.shown().map(String::as_str), Some("cut the hedge"));
    let tier = log(server.world.kernel()).into_iter().filter_map(|(_, body)| match body {
        Body::IngressAttributed(b) => Some(b.trust_tier),
        _ => None,
    });
    assert_eq!(tier.last(), Some(TrustTier::UserAsserted));
    carry(&mut laptop, &mut server);
    laptop.does();
    let opened = laptop.message(sent.id);
    assert_eq!((opened.state, opened.answer), (DeliveryState::Opened, None));
    // Delivered again, it is the task that it was; more words of its conversation are words to that task, and are answered at once.
    let input = server.brought.iter().find(|one| matches!(one, Delivered::Input { .. })).cloned().unwrap();
    let twice = server.world.kernel().deliver_mesh(&input, &server.terms()).unwrap();
    assert_eq!((twice.drive.as_slice(), twice.say.len()), ([task].as_slice(), 0));
    let more = laptop.goal(&server, Some(&sent.conversation), "and the lawn");
    let more = laptop.sends(&more);
    carry(&mut laptop, &mut server);
    assert_eq!(server.does(), [task]);
    carry(&mut laptop, &mut server);
    laptop.does();
    assert!(laptop.message(more.id).answer.unwrap().contains("added"));
    assert_eq!(server.tasks(), [task]);

    assert_eq!(server.world.drive(task), completed());
    for _ in 0..3 {
        server.does();
        carry(&mut laptop, &mut server);
        laptop.does();
    }
    let told = laptop.message(sent.id);
    assert!(told.answer.as_ref().unwrap().contains("the hedge is cut"), "{told:?}");
    assert_eq!((told.state, told.never, laptop.answers()), (DeliveryState::Opened, None, 2));
    let here = server.message(sent.id);
    assert_eq!((here.task_id, here.answer, here.is_outgoing), (Some(task), told.answer, false));
    // Answered, it is done: nothing of it comes again.
    let after = server.world.kernel().deliver_mesh(&input, &server.terms()).unwrap();
    assert!(after.drive.is_empty() && after.say.is_empty());
    for machine in [&mut laptop, &mut server] {
        assert!(machine.registry().alerts().next().is_none());
        machine.is_what_its_record_says();
    }
}

#[test]
fn a_message_is_taken_in_without_a_copy_of_all_that_is_known_of_the_mesh() {
    let (mut laptop, mut server) = two(8_640);
    server.world.reasoners.script(MODEL, vec![done("the hedge is cut")]);
    let goal = laptop.goal(&server, None, "cut the hedge");
    laptop.sends(&goal);
    carry(&mut laptop, &mut server);
    // Whatever is folded while somebody holds it is folded into a copy, which lies elsewhere.
    let before = Arc::as_ptr(&server.registry());
    assert_eq!(server.does().len(), 1);
    assert_eq!(Arc::as_ptr(&server.registry()), before);
}

#[conforms::conforms(part = "HV-3.1-4")]
#[test]
fn a_machine_that_dies_at_any_point_of_taking_a_goal_in_begins_one_task_and_answers_once() {
    let mut most = 0;
    // Before the first commit, and behind each that follows.
    for nth in 0.. {
        let (edge, at) = if nth == 0 { (Edge::Before, 1) } else { (Edge::After, nth) };
        let (mut laptop, mut server) = two(8_520 + u64::from(nth) * 2);
        server.world.reasoners.script(MODEL, vec![done("the hedge is cut")]);
        let goal = laptop.goal(&server, None, "cut the hedge");
        let sent = laptop.sends(&goal);
        server.world.faults.plan(Point::MeshRecord, edge, Mode::Abort, at);
        let run = |laptop: &mut Machine, server: &mut Machine| {
            carry(laptop, server);
            server.does().into_iter().for_each(|task| drop(server.world.drive(task)));
            server.does();
            carry(laptop, server);
            laptop.does();
        };
        drop(catch_unwind(AssertUnwindSafe(|| run(&mut laptop, &mut server))));
        if !server.world.faults.fired() {
            most = nth;
            break;
        }
        server.begins_again();
        // The host takes up what can go on.
        let open = server.world.kernel().resumable().unwrap();
        open.into_iter().for_each(|task| drop(server.world.drive(task)));
        // What was on its way is lost; the way opens anew.
        laptop.step(Happened::Up(relay()));
        run(&mut laptop, &mut server);
        run(&mut laptop, &mut server);
        let tasks = server.tasks();
        assert_eq!(tasks.len(), 1, "{nth}");
        assert_eq!(state(&server.world, tasks[0]).task.status, TaskStatus::Completed, "{nth}");
        assert!(laptop.message(sent.id).answer.unwrap().contains("the hedge is cut"), "{nth}");
        assert_eq!(laptop.answers(), 1, "{nth}");
        server.is_what_its_record_says();
    }
    assert!(most > 5, "taken in, begun, taken, settled, answered: {most}");
}

/// A message for the server as the laptop would send it, with its envelope changed.
fn forged(
    laptop: &Machine,
    goal: &MeshGoal,
    change: impl FnOnce(Envelope, &SeedSigner) -> Envelope,
) -> Input {
    let sent = laptop.world.kernel().mesh_goal(goal).unwrap();
    let Some(Command::Route { conversation, envelope }) = sent.say.last().cloned() else {
        panic!("{sent:?}");
    };
    let envelope = Envelope::from_bytes(envelope.as_bytes()).unwrap();
    let signer = laptop.world.keys.log_signer();
    let envelope = change(envelope, signer.as_ref());
    let envelope = String::from_utf8(envelope.to_bytes().unwrap()).unwrap();
    Input { conversation, origin: laptop.id(), envelope, hops: 1 }
}

fn signed_anew(
    envelope: Envelope,
    signer: &SeedSigner,
    change: impl FnOnce(&mut EnvelopePayload),
) -> Envelope {
    let Envelope { conversation_id, node_id, mut payload, .. } = envelope;
    change(&mut payload);
    Envelope::sign(conversation_id, node_id, payload, signer).unwrap()
}

/// The oldest delivery that is a message; what came before it is settled.
fn next_input(kernel: &kernel::Kernel) -> (u64, Vec<Delivered>) {
    loop {
        let (number, deliver) = kernel.next_mesh_delivery().unwrap();
        if deliver.iter().any(|one| matches!(one, Delivered::Input { .. })) {
            return (number, deliver);
        }
        kernel.record_mesh(&[], &[], Some(number)).unwrap();
    }
}

/// What comes of a message. One that no known key signed waits first, since the notice of a new key may be on its way.
fn came_of(server: &Machine, delivered: &Delivered, is_unsigned: bool) -> MeshDone {
    let (kernel, terms) = (server.world.kernel(), server.terms());
    let done = kernel.deliver_mesh(delivered, &terms).unwrap();
    assert_eq!(done.waits, is_unsigned);
    if !is_unsigned {
        return done;
    }
    assert!(done.say.is_empty() && done.drive.is_empty());
    server.world.clock.advance(11 * 60_000);
    kernel.deliver_mesh(delivered, &terms).unwrap()
}

#[conforms::conforms(part = "HV-3.1-3")]
#[test]
fn what_is_unsigned_or_foreign_or_for_a_folder_that_is_not_there_begins_nothing_and_says_why() {
    let (laptop, server) = two(8_560);
    let goal = |text: &str| laptop.goal(&server, None, text);
    let nobody = SeedSigner::from_seed([9; 32]);
    let elsewhere = ConversationId::fresh(&*laptop.world.clock, &*laptop.world.entropy);
    let other = sealing(0x55).node();
    let stranger =
        forged(&laptop, &goal("9"), |e, key| signed_anew(e, key, |p| p.sender.sender = other.to_string()));
    let all = [
        (
            forged(&laptop, &goal("1"), |e, _| Envelope { payload: altered(e.payload.clone()), ..e }),
            "signature",
        ),
        (forged(&laptop, &goal("2"), |e, _| signed_anew(e, &nobody, |_| {})), "signature"),
        (
            forged(&laptop, &goal("3"), |e, key| {
                signed_anew(e, key, |p| p.sender.sender = other.to_string())
            }),
            "another machine",
        ),
        (
            forged(&laptop, &goal("4"), |e, key| {
                signed_anew(Envelope { conversation_id: Some(elsewhere), ..e }, key, |_| {})
            }),
            "another conversation",
        ),
        (forged(&laptop, &goal("5"), |e, key| signed_anew(e, key, |p| p.version = 2)), "form"),
        (
            forged(&laptop, &goal("6"), |e, key| signed_anew(e, key, |p| p.sender.gateway = "chat".into())),
            "form",
        ),
        (
            forged(&laptop, &goal("7"), |e, key| signed_anew(e, key, |p| p.sender.chat = "attic".into())),
            "no folder `attic`; it has `garden`",
        ),
        (
            Input { envelope: "{}".to_owned(), ..forged(&laptop, &goal("8"), |e, _| e) },
            "cannot read the message",
        ),
        (Input { origin: other, ..stranger }, ""),
    ];
    let kernel = server.world.kernel();
    for (input, why) in &all {
        let delivered = Delivered::Input { input: input.clone(), epoch: 1 };
        kernel.record_mesh(&[], std::slice::from_ref(&delivered), None).unwrap();
        let (number, deliver) = next_input(kernel);
        assert_eq!(deliver, [delivered.clone()]);
        let done = came_of(&server, &delivered, *why == "signature");
        assert!(done.drive.is_empty() && !done.waits);
        match done.say.as_slice() {
            // Nobody is answered who is not paired.
            [] => assert_eq!((input.origin, *why), (other, "")),
            [Command::Reply { to, answer }] => {
                assert!(*to == laptop.id() && answer.refused && answer.answers == input.id(), "{answer:?}");
                assert!(answer.body.contains(why) && !why.is_empty(), "{why}: {}", answer.body);
                let folder = server.world.folder.path().to_string_lossy().into_owned();
                assert!(!answer.body.contains(&folder), "no path is told: {}", answer.body);
            }
            more => panic!("{more:?}"),
        }
        kernel.record_mesh(&[], &[], Some(number)).unwrap();
        let shown = server.registry().message(&input.id()).cloned().unwrap();
        let is_signed = why.starts_with("no folder");
        assert_eq!(shown.text.is_some(), is_signed, "words that nobody signed are nobody's: {shown:?}");
    }
    assert!(server.tasks().is_empty() && server.registry().unsettled().is_none());
}

#[test]
fn a_goal_that_is_faster_than_the_notice_of_a_new_key_waits_for_it_also_after_a_restart() {
    let (mut laptop, mut server) = two(8_562);
    server.world.reasoners.script(MODEL, vec![done("the hedge is cut")]);
    let key = SeedSigner::from_seed([9; 32]);
    let goal = laptop.goal(&server, None, "cut the hedge");
    let input = forged(&laptop, &goal, |e, _| signed_anew(e, &key, |_| {}));
    let id = input.id();
    let delivered = Delivered::Input { input, epoch: 1 };
    server.world.kernel().record_mesh(&[], &[delivered], None).unwrap();
    assert!(server.does().is_empty() && server.registry().unsettled().is_some());
    server.begins_again();
    assert!(server.does().is_empty() && server.registry().unsettled().is_some());
    assert_eq!(server.message(id).text, None, "nobody bears it yet");
    laptop.say(vec![Command::LogKey { key: key.public() }], None);
    carry(&mut laptop, &mut server);
    let tasks = server.does();
    let [task] = tasks[..] else { panic!("{tasks:?}") };
    assert!(server.registry().unsettled().is_none());
    let shown = server.message(id);
    assert_eq!((shown.task_id, shown.text.as_deref()), (Some(task), Some("cut the hedge")));
    assert_eq!(server.world.drive(task), completed());
    server.is_what_its_record_says();
}

#[test]
fn who_sends_a_goal_that_cannot_be_used_is_told_and_sees_that_it_came_to_nothing() {
    let (mut laptop, mut server) = two(8_565);
    let goal = MeshGoal { folder: Some("attic".to_owned()), ..laptop.goal(&server, None, "sweep it") };
    let sent = laptop.sends(&goal);
    carry(&mut laptop, &mut server);
    assert!(server.does().is_empty());
    carry(&mut laptop, &mut server);
    laptop.does();
    let told = laptop.message(sent.id);
    assert_eq!((told.state, told.never), (DeliveryState::Never, Some(NeverReason::Refused)));
    assert!(told.answer.unwrap().contains("no folder `attic`"));
    assert_eq!(server.message(sent.id).never, Some(NeverReason::Refused));
    // A machine that was withdrawn begins nothing with what it said before.
    let late = forged(&laptop, &laptop.goal(&server, None, "too late"), |e, _| e);
    server.say(vec![Command::Withdraw(laptop.id())], None);
    let late = Delivered::Input { input: late, epoch: 1 };
    server.world.kernel().record_mesh(&[], &[late], None).unwrap();
    assert!(server.does().is_empty() && server.tasks().is_empty());
}

fn altered(payload: EnvelopePayload) -> EnvelopePayload {
    EnvelopePayload { body: "burn it all down".to_owned(), ..payload }
}

#[test]
fn a_conversation_that_another_machine_has_takes_nothing_new_here() {
    let (mut laptop, mut server) = two(8_570);
    server.world.reasoners.script(MODEL, vec![done("one"), done("two")]);
    let goal = laptop.goal(&server, None, "count the pots");
    let sent = laptop.sends(&goal);
    carry(&mut laptop, &mut server);
    let task = server.does()[0];
    let conversation: ConversationId = sent.conversation.parse().unwrap();
    let here = |server: &Machine, key: &str| {
        let reasoning = Reasoning::Scripted { name: MODEL.to_owned() };
        let mut work = server.world.submission("count the pans", reasoning);
        (work.conversation_id, work.idempotency_key) = (Some(conversation), key.to_owned());
        server.world.kernel().submit(&work)
    };
    // While it is here, a person says things here as well.
    let made = here(&server, "first").unwrap();
    let over =
        Command::HandOver { conversation: sent.conversation.clone(), to: laptop.id(), head: Digest::ZERO };
    server.say(vec![over], None);
    let refused = |server: &Machine, key: &str| {
        let error = here(server, key).unwrap_err().to_string();
        assert!(error.contains("`machine 33`") && error.contains("another machine of yours"), "{error}");
    };
    refused(&server, "second");
    assert_eq!(here(&server, "first").unwrap().task_id, made.task_id, "what began before is what it was");
    carry(&mut laptop, &mut server);
    server.does();
    laptop.does();
    refused(&server, "third");
    assert!(server.registry().alerts().next().is_none(), "its person handed it over");
    assert_eq!(server.world.drive(task), completed(), "what is at work goes on");
    let goal = laptop.goal(&server, Some(&sent.conversation), "and the spades");
    let error = laptop.world.kernel().mesh_goal(&goal).unwrap_err().to_string();
    assert!(error.contains("on this machine"), "{error}");
    // Taken by force, it is shown to whoever had it.
    server.say(vec![Command::Take { conversation: sent.conversation.clone() }], None);
    carry(&mut laptop, &mut server);
    laptop.does();
    assert_eq!(laptop.registry().alerts().count(), 1);
    assert!(here(&server, "fourth").is_ok());
}

#[test]
fn a_message_that_holds_a_secret_of_the_other_machine_is_kept_nowhere_there() {
    let (mut laptop, mut server) = two(8_580);
    let value = "hunter2-and-then-some-more";
    let known = zeroize::Zeroizing::new(value.as_bytes().to_vec());
    server.world.redactor.put(Redactor::new([("bank".to_owned(), known)]).unwrap());
    let goal = laptop.goal(&server, None, &format!("pay with {value}"));
    let sent = laptop.sends(&goal);
    carry(&mut laptop, &mut server);
    assert!(server.does().is_empty() && server.tasks().is_empty());
    carry(&mut laptop, &mut server);
    laptop.does();
    let told = laptop.message(sent.id);
    assert_eq!(told.never, Some(NeverReason::Refused));
    assert!(told.answer.unwrap().contains("secret"));
    server.world.crash();
    let kept = std::fs::read(server.world.store.path().join("ledger.db")).unwrap();
    assert!(!kept.windows(value.len()).any(|window| window == value.as_bytes()));
    // What this machine keeps secret never leaves it.
    let own = zeroize::Zeroizing::new(b"a secret of the laptop".to_vec());
    laptop.world.redactor.put(Redactor::new([("own".to_owned(), own)]).unwrap());
    let goal = MeshGoal { text: "say a secret of the laptop".to_owned(), key: "own".to_owned(), ..goal };
    let refused = laptop.world.kernel().mesh_goal(&goal);
    assert!(matches!(refused, Err(kernel::Error::Secret(_))), "{refused:?}");
}

#[test]
fn a_message_that_a_person_erases_is_gone_and_the_machines_go_on() {
    let (mut laptop, mut server) = two(8_590);
    server.world.reasoners.script(MODEL, vec![done("one hedge"), done("two hedges")]);
    let round = |laptop: &mut Machine, server: &mut Machine, text: &str| {
        let goal = laptop.goal(server, None, text);
        let sent = laptop.sends(&goal);
        carry(laptop, server);
        server.does().into_iter().for_each(|task| assert_eq!(server.world.drive(task), completed()));
        server.does();
        carry(laptop, server);
        laptop.does();
        carry(laptop, server);
        laptop.message(sent.id)
    };
    let first = round(&mut laptop, &mut server, "count the hedges");
    assert!(first.answer.unwrap().contains("one hedge"));
    // Whatever of the record repeats the goal or the answer.
    let kernel = server.world.kernel();
    let mut values = Vec::new();
    for (event, body) in log(kernel) {
        let Body::MeshStepped(b) = body else { continue };
        for (name, texts) in [("facts", &b.facts), ("deliver", &b.deliver)] {
            for (at, text) in texts.iter().enumerate() {
                let text = text.shown().unwrap();
                if text.contains("count the hedges") || text.contains("one hedge") {
                    let leaf = event.payload[name][at]["$sd"].as_str().unwrap();
                    values.push(leaf.parse::<Digest>().unwrap());
                }
            }
        }
    }
    assert_eq!(values.len(), 2, "what came, and what was answered");
    values.sort();
    let erasure = Erasure { values, ..Erasure::default() };
    let sha256 = erasure.sha256().unwrap();
    let (log_id, now) = (kernel.reader().log_id(), kernel.ports().clock.now());
    let signed = Signed::of(log_id, Matter::Erase, sha256, now, server.world.person.signer()).unwrap();
    kernel.erase(&erasure, &signed).unwrap();
    assert!(server.registry().message(&first.id).is_none(), "it is shown no more");
    assert_eq!(server.registry().erasures(), 1, "the host makes its node anew");
    server.begins_again();
    let second = round(&mut laptop, &mut server, "count them again");
    assert!(second.answer.unwrap().contains("two hedges"));
    for machine in [&laptop, &server] {
        assert!(machine.registry().alerts().next().is_none(), "nobody takes it for an earlier state");
    }
}

#[test]
fn a_step_that_is_large_is_one_commit_of_several_events() {
    let (_, server) = two(8_600);
    let kernel = server.world.kernel();
    let long = |at: u32| Fact::Settled { approval: format!("{at}-{}", "x".repeat(1_000)) };
    let facts: Vec<Fact> = (0..200).map(long).collect();
    let last = |kernel: &kernel::Kernel| kernel.reader().log_head().unwrap();
    let before = last(kernel);
    kernel.record_mesh(&facts, &[], None).unwrap();
    let made: Vec<_> = log(kernel).split_off(usize::try_from(before).unwrap());
    let mut told = 0;
    for (_, body) in &made {
        let Body::MeshStepped(b) = body else { panic!("{body:?}") };
        let bytes: usize = b.facts.iter().map(|text| text.shown().unwrap().len()).sum();
        assert!(bytes <= 64 * 1024, "{bytes}");
        told += b.facts.len();
    }
    assert_eq!((made.len(), told), (4, 200));
    let now = last(kernel);
    kernel.record_mesh(&[], &[], None).unwrap();
    kernel.record_mesh(&[], &[], Some(4_711)).unwrap();
    assert_eq!(last(kernel), now, "nothing to record is no commit");
}

#[test]
fn a_machine_joins_once_leaves_and_begins_anew_with_another_key() {
    let (mut laptop, server) = two(8_610);
    let kernel = laptop.world.kernel();
    let count = |kernel: &kernel::Kernel| {
        log(kernel).iter().filter(|(event, _)| event.event_type.starts_with("mesh.joined")).count()
    };
    kernel.join_mesh(laptop.id(), "machine 33").unwrap();
    assert_eq!(count(kernel), 1, "said again, it changes nothing");
    kernel.join_mesh(laptop.id(), "the one in the hall").unwrap();
    assert_eq!(kernel.mesh_registry().name(), Some("the one in the hall"));
    assert!(kernel.mesh_registry().state().unwrap().is_peer(server.id()), "a new name is no new node");
    for name in ["", "two\nlines", &"x".repeat(200)] {
        assert!(matches!(kernel.join_mesh(laptop.id(), name), Err(kernel::Error::Input(_))));
    }
    let goal = laptop.goal(&server, None, "water the beans");
    let sent = laptop.sends(&goal);
    let kernel = laptop.world.kernel();
    kernel.leave_mesh().unwrap();
    assert_eq!((kernel.mesh_registry().node(), kernel.mesh_registry().state()), (None, None));
    assert_eq!(laptop.message(sent.id).never, Some(NeverReason::Expired), "what waited is let go of");
    assert!(kernel.mesh_goal(&goal).is_err() && kernel.record_mesh(&[], &[], None).is_err());
    assert!(kernel.mesh_news(&laptop.terms()).unwrap().is_empty());
    // With the key that it had, it contradicts nothing that it told.
    kernel.join_mesh(laptop.id(), "machine 33").unwrap();
    let told = laptop.node.state().has()[&laptop.id()];
    assert_eq!(kernel.mesh_registry().state().unwrap().has()[&laptop.id()], told);
    let other = sealing(0x44).node();
    kernel.join_mesh(other, "machine 33").unwrap();
    assert_eq!(kernel.mesh_registry().state(), Some(&State::new(other)));
    let task = laptop.world.script("look", vec![done("ok")]);
    assert_eq!(laptop.world.drive(task), completed(), "work goes on without any of it");
    assert_eq!(state(&laptop.world, task).task.origin.unwrap_or(Origin::Person), Origin::Person);
}
