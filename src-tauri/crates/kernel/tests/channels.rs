//! The ways in: by whichever something comes, it is a task or input of one before anything runs, wherever a host dies. No way
//! begins work by itself.

use crate::gateways::{NAME, connected, from, hear, pair, task_of};
use crate::schedules::{DAY, MINUTE, keep, now, of};
use crate::story::{completed, count, place, state, types};
use crate::triggers::looks;
use kernel::Error;
use kernel::command::background::{BackgroundWork, Initiator};
use kernel::command::enclose::Encloses;
use kernel::command::hooks::Call;
use kernel::command::inbound::Received;
use kernel::command::mesh::MeshTerms;
use kernel::command::submit::{Reasoning, Submission};
use mesh::{Delivered, Fact, Input, NodeId, Peer};
use model::envelope::{Envelope, EnvelopeKind, EnvelopePayload, EnvelopeSender};
use model::fault::Point;
use model::gateway::SenderProfile;
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::schedule::{Schedule, ScheduleProposer};
use model::task::{ModelApi, Task, TaskStatus};
use model::{Body, ConversationId, Digest, TaskId};
use seal::{SeedSigner, Signer as _};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{Edge, Mode, World, done};

/// The model of every task here.
const MODEL: &str = "small";

/// What comes in once; whoever lets it come again, as a client does that heard no answer, asks for nothing more.
type Comes = Box<dyn Fn(&World) -> Result<Vec<TaskId>, Error>>;

/// One way in.
struct Way {
    name: &'static str,
    channel: Channel,
    comes: fn(&World, Channel, &str) -> Comes,
    /// More words to a task that is open, where the way has any.
    goes_on: Option<fn(&World, Channel, TaskId)>,
    /// Where hosts die while it comes.
    dies_at: &'static [(Point, Edge)],
}

const EVERYWHERE: &[(Point, Edge)] = &[
    (Point::IngressReceive, Edge::After),
    (Point::IngressBind, Edge::Before),
    (Point::IngressBind, Edge::After),
];

/// A client that hands a goal in has one door, whatever it is.
const fn client(name: &'static str, channel: Channel) -> Way {
    let dies_at = &[(Point::IngressBind, Edge::Before)];
    Way { name, channel, comes: handed_in, goes_on: Some(noted), dies_at }
}

const WAYS: [Way; 9] = [
    Way { dies_at: EVERYWHERE, ..client("the command line", Channel::Cli) },
    client("a page or the app", Channel::App),
    client("the run API", Channel::RunApi),
    client("an agent over MCP", Channel::Mcp),
    client("an editor", Channel::Acp),
    Way {
        name: "a background service",
        channel: Channel::System,
        comes: of_a_service,
        goes_on: None,
        dies_at: EVERYWHERE,
    },
    Way {
        name: "a paired sender",
        channel: Channel::Chat,
        comes: heard,
        goes_on: Some(said_more),
        dies_at: EVERYWHERE,
    },
    Way {
        name: "another machine",
        channel: Channel::Mesh,
        comes: from_afar,
        goes_on: Some(more_from_afar),
        dies_at: EVERYWHERE,
    },
    Way { name: "a hook", channel: Channel::Scheduler, comes: called, goes_on: None, dies_at: EVERYWHERE },
];

const SCHEDULE: Way = Way {
    name: "a schedule",
    channel: Channel::Scheduler,
    comes: comes_due,
    goes_on: None,
    dies_at: EVERYWHERE,
};

fn small() -> Reasoning {
    Reasoning::Scripted { name: MODEL.to_owned() }
}

fn handed_in(world: &World, channel: Channel, key: &str) -> Comes {
    let submission = world.submission(&format!("tidy up for {key}"), small());
    let submission = Submission { channel, idempotency_key: key.to_owned(), ..submission };
    Box::new(move |world| Ok(vec![world.kernel().submit(&submission)?.task_id]))
}

fn noted(world: &World, channel: Channel, task: TaskId) {
    world.kernel().append_note(task, "and this", channel, &format!("note of {channel}")).unwrap();
}

fn of_a_service(world: &World, _: Channel, key: &str) -> Comes {
    let work = BackgroundWork {
        goal: format!("tidy up for {key}"),
        title: String::new(),
        workspace_id: world.kernel().workspace(&world.folder.path().canonicalize().unwrap()).unwrap(),
        reasoning: small(),
        profile: Profile::Service,
        conversation_id: None,
        budget: None,
        deadline_at: None,
        encloses: Encloses::default(),
        scheduled_by: None,
        depends_on: Vec::new(),
        idempotency_key: key.to_owned(),
    };
    Box::new(move |world| {
        Ok(vec![world.kernel().submit_background(Initiator::Service, work.clone())?.task_id])
    })
}

fn heard(world: &World, _: Channel, key: &str) -> Comes {
    let heard = from(world, "mary", key, "tidy up");
    Box::new(move |world| {
        let envelope = world.kernel().wrap(NAME, heard.clone())?;
        match world.kernel().receive_message(NAME, &envelope)? {
            Received::Used(_, tasks) => Ok(tasks),
            Received::Refused(why) => panic!("it was refused: {why}"),
        }
    })
}

fn said_more(world: &World, _: Channel, task: TaskId) {
    assert_eq!(task_of(hear(world, from(world, "mary", "more", "and this"))), task);
}

/// A message of a machine that is paired, for a conversation that is here.
fn of_another(world: &World, conversation: ConversationId, text: &str) -> Input {
    let (origin, signer) = (NodeId(Digest::of(b"another machine")), SeedSigner::from_seed([9; 32]));
    let kernel = world.kernel();
    kernel.join_mesh(NodeId(Digest::of(b"this machine")), "this machine").unwrap();
    let (name, log_key) = ("another machine".to_owned(), signer.public());
    let peer = Peer { node: origin, name, relays: Vec::new(), log_key, approval_key: None };
    kernel.record_mesh(&[Fact::Paired(peer)], &[], None).unwrap();
    let payload = EnvelopePayload {
        version: 1,
        kind: EnvelopeKind::Words,
        seq: 1,
        sent_at: now(world),
        sender: EnvelopeSender {
            gateway: "mesh".to_owned(),
            chat: String::new(),
            is_group: false,
            sender: origin.to_string(),
            name: "another machine".to_owned(),
            message_id: text.to_owned(),
        },
        body: text.to_owned(),
        attachments: Vec::new(),
        in_reply_to: None,
    };
    let envelope = Envelope::sign(Some(conversation), "another log".to_owned(), payload, &signer).unwrap();
    let envelope = String::from_utf8(envelope.to_bytes().unwrap()).unwrap();
    Input { conversation: conversation.to_string(), origin, envelope, hops: 1 }
}

/// Puts the message on record, as the node does, and does what is on record.
fn brought(world: &World, input: &Input) -> Result<Vec<TaskId>, Error> {
    let kernel = world.kernel();
    if kernel.mesh_registry().message(&input.id()).is_none() {
        kernel.record_mesh(&[], &[Delivered::Input { input: input.clone(), epoch: 1 }], None)?;
    }
    let folders = BTreeMap::from([("home".to_owned(), world.folder.path().canonicalize().unwrap())]);
    let terms = MeshTerms { folders, reasoning: small(), profile: Profile::LocalEditAllowed };
    let mut drive = Vec::new();
    while let Some((number, deliver)) = kernel.next_mesh_delivery() {
        for one in &deliver {
            drive.extend(kernel.deliver_mesh(one, &terms)?.drive);
        }
        kernel.record_mesh(&[], &[], Some(number))?;
    }
    Ok(drive)
}

fn from_afar(world: &World, _: Channel, key: &str) -> Comes {
    let conversation = ConversationId::fresh(&*world.clock, &*world.entropy);
    let input = of_another(world, conversation, &format!("tidy up for {key}"));
    Box::new(move |world| brought(world, &input))
}

fn more_from_afar(world: &World, _: Channel, task: TaskId) {
    let conversation = state(world, task).task.conversation_id;
    assert_eq!(brought(world, &of_another(world, conversation, "and this")).unwrap(), [task]);
}

fn called(_: &World, _: Channel, key: &str) -> Comes {
    let (hook, delivery) = ("deploy".to_owned(), Digest::of(key.as_bytes()));
    let call = Call { hook, id: key.to_owned(), event: None, delivery, content: b"{}".to_vec() };
    Box::new(move |world| {
        world.kernel().call_hook(&call)?;
        world.kernel().want_look("roll-out", now(world));
        world.kernel().look_due()?;
        world.kernel().fire_due()
    })
}

fn comes_due(world: &World, _: Channel, _: &str) -> Comes {
    world.clock.advance(DAY);
    Box::new(|world| world.kernel().fire_due())
}

/// Keeps a schedule whose runs a model does.
fn kept(world: &World, name: &str, said: &str) {
    let (rule, on) = schedule::said(said, "UTC", now(world)).unwrap();
    let mut schedule = of(world, "every day at 8", "tidy");
    (schedule.when.rule, schedule.on) = (rule, on);
    let proposer = ScheduleProposer::Model {
        api: ModelApi::Openai,
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        model: MODEL.to_owned(),
        secret: None,
    };
    keep(world, Schedule { name: name.to_owned(), said: said.to_owned(), proposer, ..schedule }, name);
}

/// What was written since it was read last. Work of every kind stands in the stream of a task, behind what made that task.
#[derive(Default)]
struct Reading {
    read: u64,
    made: BTreeSet<TaskId>,
}

impl Reading {
    /// The tasks that were made since, and how many events of work there are.
    fn since(&mut self, world: &World) -> (Vec<Task>, usize) {
        let (mut tasks, mut work) = (Vec::new(), 0);
        for stored in world.kernel().reader().log(self.read, 100_000).unwrap() {
            self.read = stored.log_seq;
            let event = stored.event().unwrap();
            match event.body(&|_| None).unwrap() {
                Body::TaskCreated(b) => {
                    assert_eq!(event.task_seq, 1, "nothing comes before it in its stream");
                    self.made.insert(b.task.task_id);
                    tasks.push(b.task);
                }
                Body::AttemptCreated(_)
                | Body::ContextCompiled(_)
                | Body::ModelRequested(_)
                | Body::ModelResponded(_)
                | Body::ActionRequested(_)
                | Body::GrantIssued(_)
                | Body::EffectDispatched(_)
                | Body::ReceiptIssued(_) => {
                    assert!(self.made.contains(&event.task_id), "`{}` without a task", event.event_type);
                    work += 1;
                }
                _ => {}
            }
        }
        (tasks, work)
    }
}

/// Lets something come by a way, once as it should and once for each place where a host dies.
fn through(world: &mut World, way: &Way, reading: &mut Reading, asked: &AtomicU32) {
    let dies = std::iter::once(None).chain(way.dies_at.iter().map(Some));
    for (nth, dies) in dies.enumerate() {
        let key = format!("{} {nth}", way.name);
        let comes = (way.comes)(world, way.channel, &key);
        reading.since(world);
        let before = asked.load(Ordering::SeqCst);
        if let Some((point, edge)) = dies {
            world.faults.plan(*point, *edge, Mode::Abort, 1);
            // What dies within a commit comes back as an error of it.
            let came = catch_unwind(AssertUnwindSafe(|| comes(world)));
            assert!(world.faults.fired(), "{key}: `{point}` was not passed");
            assert!(
                !came.is_ok_and(|came| came.is_ok_and(|made| !made.is_empty())),
                "{key}: nobody heard of it"
            );
            world.faults.clear();
            world.reopen();
            world.clock.advance(MINUTE);
        }
        let begun = comes(world).unwrap();
        let (made, work) = reading.since(world);
        let [task] = &made[..] else { panic!("{key}: one task, and not {made:?}") };
        let id = task.task_id;
        assert_eq!((begun, task.source_channel), (vec![id], way.channel), "{key}");
        assert_eq!((work, asked.load(Ordering::SeqCst)), (0, before), "{key}: what comes in runs nothing");
        let now = state(world, id);
        assert!(now.task.status == TaskStatus::Ready && now.attempts.is_empty(), "{key}");
        if let Some(goes_on) = way.goes_on.filter(|_| dies.is_none()) {
            goes_on(world, way.channel, id);
            let (made, work) = reading.since(world);
            assert!(made.is_empty() && work == 0, "{key}: more words go on with the task, and run nothing");
            assert_eq!(count(world.kernel(), id, "task.input_added"), 1, "{key}");
        }
        assert_eq!(world.drive(id), completed(), "{key}");
        let (made, work) = reading.since(world);
        assert!(made.is_empty() && work > 0 && asked.load(Ordering::SeqCst) > before, "{key}");
        let types = types(world.kernel(), id);
        assert!(place(&types, "task.created") < place(&types, "attempt.created"), "{key}");
        world.kernel().run_rested(id).unwrap();
    }
}

#[conforms::conforms(
    "HK-8.1-2",
    "HK-8.1-3",
    "HK-10.1-1",
    "HK-25.1-1",
    "HK-27-1",
    part = "HV-3.1-6",
    "HK-2-1",
    "HK-3-1"
)]
#[test]
fn by_every_way_in_there_is_one_task_before_anything_runs_wherever_a_host_dies() {
    let (mut world, _) = connected(9_801, true, Vec::new());
    let asked = Arc::new(AtomicU32::new(0));
    let heard = Arc::clone(&asked);
    let model = reasoning::Scripted::with(move |_| {
        heard.fetch_add(1, Ordering::SeqCst);
        Ok(done("done"))
    });
    world.reasoners.put(MODEL, Arc::new(model));
    pair(&world, "mary", SenderProfile::Goals);
    kept(&world, "roll-out", "when the hook deploy is called");
    assert_eq!(world.kernel().look_due().unwrap(), []);
    let mut reading = Reading::default();
    reading.since(&world);
    for way in &WAYS {
        through(&mut world, way, &mut reading, &asked);
    }
    kept(&world, "morning", "every day at 8");
    through(&mut world, &SCHEDULE, &mut reading, &asked);
    let ways: BTreeSet<Channel> = WAYS.iter().map(|way| way.channel).chain([SCHEDULE.channel]).collect();
    let others = Channel::ALL.iter().filter(|channel| !ways.contains(*channel));
    // Words that a program hands on as those of a webhook come by its own door, and are believed less for it.
    assert_eq!(others.collect::<Vec<_>>(), [&Channel::Webhook]);
    assert!(matches!(
        world.kernel().drive(TaskId::fresh(&*world.clock, &*world.entropy)),
        Err(Error::NotFound { .. })
    ));
}

#[conforms::conforms("HK-8.1-5")]
#[test]
fn a_task_says_what_it_waited_for_who_asked_for_it_and_by_what_it_came() {
    let (world, _) = connected(9_802, true, Vec::new());
    world.reasoners.put(MODEL, Arc::new(reasoning::Scripted::with(|_| Ok(done("done")))));
    kept(&world, "morning", "every day at 8");
    kept(&world, "evening", "when morning is done");
    assert_eq!(looks(&world), []);
    world.clock.advance(DAY);
    let [first] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    assert_eq!(world.drive(first), completed());
    world.kernel().run_rested(first).unwrap();
    let [after] = looks(&world)[..] else { panic!("one run") };
    let told = |task: TaskId| serde_json::to_value(state(&world, task).task).unwrap();
    let person = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    let folder = world.kernel().workspace(&world.folder.path().canonicalize().unwrap()).unwrap();
    let run = told(after);
    for (field, is) in [
        ("depends_on", json!([first])),
        ("labels", json!(["schedule:evening"])),
        ("requested_by", json!(person)),
        ("source_channel", json!("scheduler")),
        ("parallelism_mode", json!("serial")),
        ("workspace_hint", json!(folder)),
    ] {
        assert_eq!(run[field], is, "{field}: {run}");
    }
    assert_ne!(run["owner_principal_id"], json!(person), "the scheduler answers for it");
    assert!(told(first).get("depends_on").is_none(), "it waited for its time alone");

    let deadline_at = Some(now(&world).plus_ms(DAY));
    let own = Submission { deadline_at, ..world.submission("its own", small()) };
    let own = world.kernel().submit(&own).unwrap().task_id;
    let part = Submission { parent_task_id: Some(own), ..world.submission("a part of it", small()) };
    let part = told(world.kernel().submit(&part).unwrap().task_id);
    assert_eq!((&part["parent_task_id"], &told(own)["deadline_at"]), (&json!(own), &json!(deadline_at)));
    for field in ["depends_on", "labels", "requested_by"] {
        assert!(told(own).get(field).is_none(), "a person's own task has no `{field}`");
    }
    pair(&world, "mary", SenderProfile::Goals);
    let said = told(task_of(hear(&world, from(&world, "mary", "1", "tidy up"))));
    assert_eq!((&said["labels"], &said["source_channel"]), (&json!(["gateway:family"]), &json!("chat")));
}
