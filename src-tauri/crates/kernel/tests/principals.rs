//! Who acts: each type of principal is somebody here, and what they do stands under their name.

use crate::gateways::{NAME, connected, pair};
use crate::schedules::{DAY, keep, now, of, record};
use crate::story::{completed, log};
use conforms::conforms;
use kernel::command::hooks::{Call, Called};
use model::gateway::SenderProfile;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::schedule::{Schedule, ScheduleState};
use model::{ConversationId, Digest, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{World, done, write};

/// A call of the hook that a schedule waits for, and the run that it begins.
fn called(world: &World, id: &str) -> TaskId {
    let (hook, delivery) = ("deploy".to_owned(), Digest::of(id.as_bytes()));
    let call = Call { hook, id: id.to_owned(), event: None, delivery, content: b"{}".to_vec() };
    assert_eq!(world.kernel().call_hook(&call).unwrap(), Called::Taken);
    world.kernel().look_due().unwrap();
    let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    run
}

/// The names of the principals of a type, in order.
fn names(world: &World, kind: PrincipalType) -> Vec<String> {
    let all = world.kernel().store_state().principals.into_values();
    let of_kind = all.filter(|one| one.principal_type == kind);
    let mut names: Vec<String> = of_kind.map(|one| one.display_name.shown().unwrap().clone()).collect();
    names.sort_unstable();
    names
}

#[conforms("HK-8.11-1")]
#[test]
fn each_type_of_principal_is_somebody_and_what_they_do_stands_under_their_name() {
    let (mut world, _) = connected(9_821, true, Vec::new());
    pair(&world, "mary", SenderProfile::Ask);
    let task = world.script("write it", vec![write("b.txt", "b"), done("ok")]);
    world.kernel().append_note(task, "in small letters", Channel::RunApi, "note").unwrap();
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());

    let said = "when the hook deploy is called";
    let (rule, on) = schedule::said(said, "UTC", now(&world)).unwrap();
    let mut waits = of(&world, "every day at 8", "tidy");
    (waits.when.rule, waits.on) = (rule, on);
    keep(&world, Schedule { name: "roll-out".to_owned(), said: said.to_owned(), ..waits }, "roll-out");
    assert_eq!(world.kernel().look_due().unwrap(), []);
    let run = called(&world, "msg_1");
    world.kernel().cancel(run, "enough").unwrap();
    world.drive(run);
    world.kernel().run_rested(run).unwrap();
    // There is no such conversation: what watches over schedules pauses it, and nobody else does.
    let nowhere = Some(ConversationId::fresh(&*world.clock, &*world.entropy));
    keep(&world, Schedule { conversation_id: nowhere, ..of(&world, "every day at 8", "tidy") }, "nowhere");
    world.clock.advance(DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert_eq!(record(&world).state(), ScheduleState::Paused);

    let principals = world.kernel().store_state().principals;
    let mut did: BTreeMap<PrincipalType, BTreeSet<String>> = BTreeMap::new();
    for (event, _) in log(world.kernel()) {
        assert_eq!(principals[&event.actor_id].principal_type, event.actor_type, "{}", event.event_type);
        did.entry(event.actor_type).or_default().insert(event.event_type);
    }
    let acts = [
        (PrincipalType::User, "approval.granted"),
        (PrincipalType::Supervisor, "schedule.paused"),
        (PrincipalType::Agent, "attempt.model_responded"),
        (PrincipalType::Service, "ingress.attributed"),
        (PrincipalType::Scheduler, "schedule.fired"),
        (PrincipalType::Webhook, "schedule.called"),
        (PrincipalType::PolicyEngine, "policy.evaluated"),
        (PrincipalType::Executor, "effect.dispatched"),
        (PrincipalType::System, "host.started"),
    ];
    assert_eq!(acts.map(|(kind, _)| kind).as_slice(), PrincipalType::ALL, "every type there is");
    for (kind, act) in acts {
        let others = did.iter().filter(|(other, acts)| **other != kind && acts.contains(act));
        // Messages are of whoever sent them, and nobody else does what these do.
        let alone = act == "ingress.attributed" || others.count() == 0;
        assert!(did[&kind].contains(act) && alone, "`{act}` is done by `{kind}` alone: {did:?}");
    }

    // A gateway pauses itself as a schedule does; whoever calls again is who they were, also for the next host.
    world.kernel().gateway_pauses_itself(NAME, "its service refuses the token").unwrap();
    world.reopen();
    world.clock.advance(DAY);
    called(&world, "msg_2");
    assert_eq!(names(&world, PrincipalType::Supervisor), ["Hermit supervisor"]);
    assert_eq!(names(&world, PrincipalType::Webhook), ["MARY", "gateway family", "hook deploy"]);
}
