//! Gateways: connected and paired by cards; messages come in as signed envelopes, each once and in order, from nobody who was not
//! paired; what goes out is an act with a grant and a receipt, and a chat allows nothing (schedule.md 2).

use crate::story::{completed, count, log, state};
use kernel::command::inbound::{Heard, Received};
use kernel::gateway_registry::{GatewayRecord, GatewayRegistry, PairedSender};
use model::artifact::TrustTier;
use model::envelope::{ENVELOPE_BYTES_MAX, Envelope};
use model::fault::Point;
use model::gateway::{Gateway, MessageRefusal, MessageUse, SenderProfile, Service};
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::schedule::ScheduleProposer;
use model::secret::SecretTerms;
use model::standing::{Cover, StandingScope};
use model::task::{Budget, ModelApi, Origin, TaskStatus};
use model::{Body, TaskId, UnixMs};
use redact::Redactor;
use seal::SeedSigner;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{ChatService, Edge, Mode, World, done};

pub const NAME: &str = "family";
const MODEL: &str = "small";
pub const HOST: &str = "chat.example:443";
pub const TOKEN: &str = "nobody else has this token of the bot";
pub const HOUR: i64 = 3_600_000;

/// A world whose gateway is connected, and the chat service behind it.
pub fn connected(seed: u64, knows_repeats: bool, answers: Vec<Answer>) -> (World, Arc<ChatService>) {
    let service = Arc::new(ChatService::new(knows_repeats));
    let mut world = World::bare(seed);
    world.messenger = Arc::clone(&service) as _;
    world.take_up().unwrap();
    world.register_keys().unwrap();
    world.reasoners.script(MODEL, answers);
    let token = zeroize::Zeroizing::new(TOKEN.as_bytes().to_vec());
    world.redactor.put(Redactor::new([("bot".to_owned(), token)]).unwrap());
    world.kernel().register_secret("bot", &SecretTerms::at(&[HOST.to_owned()]), "test").unwrap();
    let task = world.kernel().propose_gateway(gateway(&world), by()).unwrap().task_id;
    let approval = world.drive_to_approval(task);
    assert!(world.kernel().gateway_registry().standing(NAME).is_none(), "a card is no yes");
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    (world, service)
}

fn by() -> (Channel, String) {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    (Channel::App, format!("gateway {}", ASKED.fetch_add(1, Ordering::SeqCst)))
}

fn gateway(world: &World) -> Gateway {
    let root = world.folder.path().canonicalize().unwrap();
    Gateway {
        name: NAME.to_owned(),
        service: Service::Telegram,
        address: String::new(),
        user: String::new(),
        settings: BTreeMap::new(),
        secret: "bot".to_owned(),
        hosts: vec![HOST.to_owned()],
        workspace_id: world.kernel().workspace(&root).unwrap(),
        folder: root.display().to_string(),
        proposer: ScheduleProposer::Model {
            api: ModelApi::Openai,
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            model: MODEL.to_owned(),
            secret: None,
        },
        profile: Profile::LocalEditAllowed,
        budget: Budget::default(),
    }
}

pub fn record(world: &World) -> GatewayRecord {
    world.kernel().gateway_registry().0[NAME].clone()
}

/// A message of somebody, in a chat of their own, now.
pub fn from(world: &World, sender: &str, id: &str, text: &str) -> Heard {
    Heard {
        message_id: id.to_owned(),
        chat: format!("chat of {sender}"),
        is_group: false,
        sender: sender.to_owned(),
        sender_name: sender.to_uppercase(),
        sent_at: world.kernel().ports().clock.now(),
        text: text.to_owned(),
        reply_to: None,
        button: None,
        attachments: Vec::new(),
    }
}

pub fn hear(world: &World, heard: Heard) -> Received {
    let envelope = world.kernel().wrap(NAME, heard).unwrap();
    world.kernel().receive_message(NAME, &envelope).unwrap()
}

pub fn said(world: &World, sender: &str, id: &str, text: &str) -> Received {
    hear(world, from(world, sender, id, text))
}

pub fn refused(why: MessageRefusal) -> Received {
    Received::Refused(why)
}

/// The task of words that were used.
pub fn task_of(received: Received) -> TaskId {
    match received {
        Received::Used(MessageUse::Words, tasks) => tasks[0],
        other => panic!("expected words that are used, got {other:?}"),
    }
}

/// A code that a person allowed.
fn code(world: &World, profile: SenderProfile) -> String {
    let pairing = world.kernel().propose_pairing(NAME, profile, by()).unwrap();
    let task = pairing.submitted.task_id;
    let approval = world.drive_to_approval(task);
    assert_eq!(said(world, "nobody", "early", &pairing.code), refused(MessageRefusal::WrongCode));
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    pairing.code
}

pub fn pair(world: &World, sender: &str, profile: SenderProfile) -> PairedSender {
    let code = code(world, profile);
    let typed = format!("{} {}", &code[..4].to_lowercase(), &code[4..]);
    assert_eq!(said(world, sender, "pair", &typed), Received::Used(MessageUse::Pairing, Vec::new()));
    let record = record(world);
    record.paired(sender, &format!("chat of {sender}")).cloned().expect("they are paired")
}

/// Lets further messages to a sender's chat go out, as a person does at the first of them.
pub fn allow_messages(world: &World, sender: &str) {
    let cover = Cover::Chat { gateway: NAME.to_owned(), version: 1, chat: format!("chat of {sender}") };
    let grant = world.person.standing(world.kernel(), cover, StandingScope::User, None);
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).expect("it is a person's");
}

/// What the host does until nothing more goes out: news, sending, and what came of it.
pub fn deliver(world: &World) {
    for _ in 0..20 {
        world.kernel().queue_news(NAME, Some("https://home.example")).unwrap();
        let sending = world.kernel().send_due(NAME, None).unwrap();
        sending.iter().for_each(|task| drop(world.drive(*task)));
        world.kernel().settle_sent(NAME).unwrap();
        if sending.is_empty() {
            return;
        }
    }
    panic!("it never ends: {:?}", record(world).traffic.queue);
}

pub fn texts(service: &ChatService) -> Vec<String> {
    service.shown().into_iter().map(|message| message.text).collect()
}

fn in_gateway(world: &World, event: &str) -> usize {
    count(world.kernel(), record(world).messages_task_id, event)
}

#[test]
fn who_has_no_name_is_named_on_the_card_by_their_address() {
    let (world, service) = connected(7_160, true, Vec::new());
    let (mary, code) = ("mary@example.org", code(&world, SenderProfile::Goals));
    let nameless = Heard { sender_name: " ".to_owned(), ..from(&world, mary, "pair", &code) };
    assert_eq!(hear(&world, nameless), Received::Used(MessageUse::Pairing, Vec::new()));
    allow_messages(&world, mary);
    deliver(&world);
    assert_eq!(service.shown()[0].to, mary);
}

#[test]
fn a_sender_is_nobody_until_a_person_paired_them_and_then_gives_goals_that_are_data() {
    let (world, service) = connected(7_101, true, vec![done("The boiler was serviced in May.")]);
    let before = log(world.kernel()).len();
    assert_eq!(said(&world, "mary", "1", "what about the boiler?"), refused(MessageRefusal::NotPaired));
    assert_eq!(log(world.kernel()).len(), before + 1, "it is counted, and its words are kept nowhere");
    let mary = pair(&world, "mary", SenderProfile::Goals);
    assert_eq!(
        said(&world, "mallory", "2", &code(&world, SenderProfile::Ask)[..7]),
        refused(MessageRefusal::NotPaired)
    );
    let group = Heard { is_group: true, ..from(&world, "mary", "g", "what about the boiler?") };
    assert_eq!(hear(&world, group), refused(MessageRefusal::NotPaired), "others came into her chat");
    let task = task_of(said(&world, "mary", "3", "what about the boiler?"));
    let begun = state(&world, task).task;
    assert_eq!((begun.conversation_id, begun.origin()), (mary.conversation_id, Origin::Program));
    assert_eq!((begun.source_channel, begun.policy_profile_ref), (Channel::Chat, Profile::LocalEditAllowed));
    assert_eq!(state(&world, task).contract_tier(), TrustTier::Observed, "their words are fenced");
    let attributed = log(world.kernel()).into_iter().filter_map(|(_, body)| match body {
        Body::IngressAttributed(b) => Some(b.principal_id),
        _ => None,
    });
    assert_eq!(attributed.last(), Some(mary.principal_id), "each sender has a principal");
    let principal = &world.kernel().store_state().principals[&mary.principal_id];
    assert_eq!(principal.principal_type, PrincipalType::Webhook);
    assert_eq!(world.drive(task), completed());
    allow_messages(&world, "mary");
    deliver(&world);
    let told = texts(&service);
    assert!(told[0].starts_with("You are paired with Hermit."), "{told:?}");
    assert!(told[1].starts_with("Done: ") && told[1].contains("UNVERIFIED"), "{told:?}");
    assert_eq!(told.len(), 2);
    // Who is paired is named as this service names them: another one takes another name.
    let other = Gateway { service: Service::Discord, ..gateway(&world) };
    assert!(matches!(world.kernel().propose_gateway(other, by()), Err(kernel::Error::Input(_))));
    // Whoever is not paired any more is nobody again.
    world.kernel().unpair(NAME, "mary", "moved away", Channel::App).unwrap();
    assert_eq!(said(&world, "mary", "4", "and now?"), refused(MessageRefusal::NotPaired));
}

#[test]
fn a_code_is_good_once_for_ten_minutes_and_five_wrong_ones_silence_their_sender() {
    let (world, _) = connected(7_102, true, Vec::new());
    let first = code(&world, SenderProfile::Ask);
    let group = Heard { is_group: true, ..from(&world, "mary", "g", &first) };
    assert_eq!(hear(&world, group), refused(MessageRefusal::NotPaired), "others would read it");
    assert!(matches!(said(&world, "mary", "1", &first), Received::Used(MessageUse::Pairing, _)));
    assert_eq!(said(&world, "eve", "1", &first), refused(MessageRefusal::WrongCode), "it is used up");
    let second = code(&world, SenderProfile::Ask);
    world.clock.advance(11 * 60_000);
    assert_eq!(said(&world, "eve", "2", &second), refused(MessageRefusal::WrongCode), "its time is up");
    for at in 3..6 {
        assert_eq!(said(&world, "eve", &at.to_string(), "ABCD2345"), refused(MessageRefusal::WrongCode));
    }
    let third = code(&world, SenderProfile::Ask);
    assert_eq!(said(&world, "eve", "9", &third), refused(MessageRefusal::Silenced));
    assert!(matches!(said(&world, "tom", "1", &third), Received::Used(MessageUse::Pairing, _)));
    world.clock.advance(HOUR);
    let fourth = code(&world, SenderProfile::Ask);
    assert!(matches!(said(&world, "eve", "10", &fourth), Received::Used(MessageUse::Pairing, _)));
    let paired = || record(&world).paired("tom", "chat of tom").cloned().expect("they are paired");
    let before = paired();
    let anew = code(&world, SenderProfile::Goals);
    assert_eq!(said(&world, "tom", "2", &anew), Received::Used(MessageUse::Pairing, Vec::new()));
    let after = paired();
    assert_eq!((before.profile, after.profile), (SenderProfile::Ask, SenderProfile::Goals));
    assert_eq!(before.conversation_id, after.conversation_id);
    // The code is kept nowhere but as a digest, and in the message that used it.
    let kept = log(world.kernel())
        .iter()
        .any(|(event, _)| String::from_utf8_lossy(&event.to_bytes().unwrap()).contains(&second));
    assert!(!kept);
}

#[conforms::conforms("HV-3.1-3")]
#[test]
fn an_envelope_that_is_unsigned_foreign_stale_repeated_out_of_order_or_too_large_binds_nothing() {
    let (mut world, _) = connected(7_103, true, vec![done("ok"), done("ok")]);
    pair(&world, "mary", SenderProfile::Goals);
    let (kernel, heard) = (world.kernel(), from(&world, "mary", "1", "tidy up"));
    let good = kernel.wrap(NAME, heard.clone()).unwrap();
    let envelope = Envelope::from_bytes(&good).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&good).unwrap();
    let members: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["conversation_id", "node_id", "payload", "signature"]);
    let ingress = || log(kernel).iter().filter(|(event, _)| event.event_type == "ingress.received").count();
    let before = ingress();
    let try_with = |change: &dyn Fn(&mut Envelope)| {
        let mut other = envelope.clone();
        change(&mut other);
        kernel.receive_message(NAME, &other.to_bytes().unwrap()).unwrap()
    };
    let stranger = SeedSigner::from_seed([8; 32]);
    let by = |signer: &SeedSigner, node: &str, envelope: &mut Envelope| {
        let (conversation, payload) = (envelope.conversation_id, envelope.payload.clone());
        *envelope = Envelope::sign(conversation, node.to_owned(), payload, signer).unwrap();
    };
    let node = envelope.node_id.clone();
    let own = world.keys.log_signer();
    assert_eq!(try_with(&|e| e.payload.body.push('!')), refused(MessageRefusal::Unsigned));
    assert_eq!(try_with(&|e| by(&stranger, &node, e)), refused(MessageRefusal::Unsigned));
    assert_eq!(try_with(&|e| by(&stranger, "another node", e)), refused(MessageRefusal::Elsewhere));
    let other_talk = |e: &mut Envelope| {
        e.conversation_id = None;
        by(&own, &node, e);
    };
    assert_eq!(try_with(&other_talk), refused(MessageRefusal::Elsewhere));
    let old = |e: &mut Envelope| {
        e.payload.sent_at = UnixMs(e.payload.sent_at.0 - 25 * HOUR);
        by(&own, &node, e);
    };
    assert_eq!(try_with(&old), refused(MessageRefusal::Stale));
    let ahead = |e: &mut Envelope| {
        e.payload.seq += 1;
        by(&own, &node, e);
    };
    assert_eq!(try_with(&ahead), refused(MessageRefusal::OutOfOrder));
    let large = vec![b' '; ENVELOPE_BYTES_MAX + 1];
    assert_eq!(kernel.receive_message(NAME, &large).unwrap(), refused(MessageRefusal::TooLarge));
    let long = Heard { text: "x".repeat(65 * 1024), ..heard.clone() };
    assert_eq!(hear(&world, long), refused(MessageRefusal::TooLarge));
    let never = Heard { sent_at: UnixMs(i64::MAX), ..heard.clone() };
    assert_eq!(hear(&world, never), refused(MessageRefusal::Stale), "it keeps nobody from being heard");
    let spaced = [good.as_slice(), b"\n"].concat();
    assert_eq!(kernel.receive_message(NAME, &spaced).unwrap(), refused(MessageRefusal::Unreadable));
    assert_eq!(ingress(), before, "nothing was bound");
    let task = task_of(kernel.receive_message(NAME, &good).unwrap());
    assert_eq!(kernel.receive_message(NAME, &good).unwrap(), refused(MessageRefusal::Repeated));
    // The service tells it again after a restart, in an envelope of its own.
    world.reopen();
    assert_eq!(hear(&world, heard), refused(MessageRefusal::Repeated));
    assert_eq!(world.kernel().task(task).unwrap().task.status, TaskStatus::Ready);
    let why: Vec<MessageRefusal> = record(&world).traffic.refused.keys().copied().collect();
    for one in [
        MessageRefusal::Unsigned,
        MessageRefusal::Elsewhere,
        MessageRefusal::Stale,
        MessageRefusal::OutOfOrder,
        MessageRefusal::TooLarge,
        MessageRefusal::Unreadable,
        MessageRefusal::Repeated,
    ] {
        assert!(why.contains(&one), "{one} is not on record: {why:?}");
    }
}

#[test]
fn a_flood_of_strangers_adds_a_few_events() {
    let (world, _) = connected(7_104, true, Vec::new());
    let many =
        std::env::var("HERMIT_GATEWAY_FLOOD").ok().and_then(|many| many.parse().ok()).unwrap_or(300_u32);
    let before = log(world.kernel()).len();
    for at in 0..many {
        assert_eq!(said(&world, "flood", &at.to_string(), "buy this"), refused(MessageRefusal::NotPaired));
        world.kernel().gateway_read(NAME, &format!("cursor {at}"), false).unwrap();
    }
    let added = log(world.kernel()).len() - before;
    assert!(added <= 40, "{added} events of {many} messages");
    let (read, refused) = (in_gateway(&world, "gateway.read"), in_gateway(&world, "message.refused"));
    assert!(read >= 1 && refused >= 1);
}

#[test]
fn what_a_gateway_did_for_long_is_read_from_its_newest_list_and_tells_the_same() {
    let (mut world, _) = connected(7_141, true, Vec::new());
    pair(&world, "mary", SenderProfile::Goals);
    assert_eq!(said(&world, "mary", "1", "status"), Received::Used(MessageUse::Status, Vec::new()));
    assert_eq!(said(&world, "tom", "2", "hello"), refused(MessageRefusal::NotPaired));
    let many =
        std::env::var("HERMIT_GATEWAY_READS").ok().and_then(|many| many.parse().ok()).unwrap_or(700_u32);
    for at in 0..many {
        world.kernel().gateway_read(NAME, &format!("cursor {at}"), true).unwrap();
    }
    // What two messages wait for, who was refused and who is at which number lies far behind.
    let before = record(&world);
    assert_eq!((before.traffic.queue.len(), before.senders[0].seq > 0), (2, true));
    assert_eq!(before.traffic.cursor, format!("cursor {}", many - 1));
    let mut registry = GatewayRegistry::clone(&world.kernel().gateway_registry());
    let read = registry.read_traffic(world.kernel().reader()).unwrap();
    assert!(read < 600 && in_gateway(&world, "gateway.read") >= 700, "{read} events were read");
    assert_eq!(registry.0[NAME], before);
    world.reopen();
    assert_eq!(record(&world), before);
    assert_eq!(said(&world, "mary", "3", "status"), Received::Used(MessageUse::Status, Vec::new()));
    assert_eq!(said(&world, "mary", "1", "status"), refused(MessageRefusal::Repeated));
}

#[conforms::conforms(part = "HV-3.1-1")]
#[test]
fn a_host_that_dies_at_any_point_of_hearing_a_message_loses_none_and_uses_none_twice() {
    for (at, point) in [Point::IngressReceive, Point::IngressBind].into_iter().enumerate() {
        for (then, nth) in [(Edge::Before, 1), (Edge::After, 1), (Edge::Before, 2), (Edge::After, 2)] {
            let seed = 7_110 + u64::try_from(at).unwrap() * 10 + u64::from(nth);
            let (mut world, service) = connected(seed, true, vec![done("ok")]);
            pair(&world, "mary", SenderProfile::Goals);
            allow_messages(&world, "mary");
            let heard = from(&world, "mary", "1", "tidy up");
            world.faults.plan(point, then, Mode::Abort, nth);
            let died = catch_unwind(AssertUnwindSafe(|| hear(&world, heard.clone())));
            let has_died = world.faults.fired();
            assert_eq!(died.is_err(), has_died);
            world.faults.clear();
            world.reopen();
            // The cursor was not moved, so the service tells it again.
            let again = hear(&world, heard.clone());
            let tasks = log(world.kernel());
            let of_chat = tasks.iter().filter_map(|(_, body)| match body {
                Body::TaskCreated(b) if b.task.source_channel == Channel::Chat => Some(b.task.task_id),
                _ => None,
            });
            let of_chat: Vec<TaskId> = of_chat.collect();
            assert_eq!(of_chat.len(), 1, "{point} {then:?} {nth}: {again:?}");
            assert_eq!(in_gateway(&world, "message.received"), 2, "pairing and words, each once");
            assert_eq!(hear(&world, heard), refused(MessageRefusal::Repeated));
            assert_eq!(world.drive(of_chat[0]), completed());
            deliver(&world);
            assert_eq!(service.shown().len(), 2, "greeting and outcome, each once");
        }
    }
}
