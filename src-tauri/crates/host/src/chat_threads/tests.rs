//! What schedule.md 5 asks of gateways, of each in [`services::EACH`], through its adapter, the listener, the kernel and the outbox,
//! against a double of its service: pairing, strangers, floods, repeats, another order, a host that dies in mid-answer, a service that is away for an hour.
//! A further adapter is one entry there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod called;
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room that has the adapters")]
#[path = "../../../chat/tests/doubles/mod.rs"]
mod doubles;
#[allow(missing_docs, reason = "helpers of tests are read where they are used")]
mod services;

use super::*;
use crate::clock::Bell;
use kernel::gateway_registry::GatewayRecord;
use kernel::{DriveOutcome, Waiting};
use model::fault::Point;
use model::gateway::{MessageRefusal, MessageState, SenderProfile};
use model::policy::Profile;
use model::proposal::Answer;
use model::schedule::ScheduleProposer;
use model::secret::SecretTerms;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::task::{Budget, ModelApi};
use model::{Body, Clock as _, TaskId};
use services::{EACH, EVE, FORGER, KIM, Peer};
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::{ChatMood, Edge, Mode, World, done};
use zeroize::Zeroizing;

const NAME: &str = "family";
const MODEL: &str = "small";
const HOUR: i64 = 3_600_000;
/// Messages of a flood, unless a variable says more.
const FLOOD: u32 = 60;
/// Events that a flood of strangers may add, however long it is.
const FLOOD_EVENTS_MAX: usize = 60;
/// How long a service is asked to wait for a message here.
const WAIT_HERE: Duration = Duration::from_secs(1);

fn flood() -> u32 {
    let asked = std::env::var("HERMIT_GATEWAY_FLOOD").ok().and_then(|many| many.parse().ok());
    asked.map_or(FLOOD, |many: u32| many.max(FLOOD))
}

/// The token of the bot, for the hosts of its service.
struct Token(&'static str, Vec<String>);

impl effects::Secrets for Token {
    fn value(&self, _: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(self.0.as_bytes().to_vec()))
    }

    fn terms(&self, _: &str) -> SecretTerms {
        SecretTerms::at(&self.1)
    }
}

/// What the threads of one host do, one step at a time.
struct Host {
    kernel: Arc<Kernel>,
    outbox: Outbox,
    listener: Listener,
    adapter: Option<Box<dyn Adapter>>,
    read: Option<String>,
}

/// A gateway that a person connected, and its service.
struct Story {
    world: World,
    peer: Peer,
    secrets: Arc<Token>,
    host: Option<Host>,
    /// Every message that the adapter gave, by chat and id.
    given: BTreeSet<(String, String)>,
    codes: u32,
}

impl Story {
    /// Connected, and read for the first time: what comes from now on is new.
    fn new(peer: Peer, seed: u64, answers: Vec<Answer>) -> Self {
        let mut world = World::bare(seed);
        // Services and the fake clock tell the same time.
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        world.clock.advance(i64::try_from(real).unwrap() - world.clock.now().0);
        world.take_up().unwrap();
        world.register_keys().unwrap();
        world.reasoners.script(MODEL, answers);
        let token = Zeroizing::new(peer.token.as_bytes().to_vec());
        world.redactor.put(redact::Redactor::new([("bot".to_owned(), token)]).unwrap());
        let account = chat::Account {
            service: peer.service,
            address: peer.address.clone(),
            user: "bot@example.org".to_owned(),
            settings: peer.settings.clone(),
        };
        let adapter = chat::open(&account, Zeroizing::new(peer.token.to_owned())).unwrap();
        let hosts: Vec<String> =
            adapter.hosts().into_iter().map(|(name, port)| format!("{name}:{port}")).collect();
        world.kernel().register_secret("bot", &SecretTerms::at(&hosts), "test").unwrap();
        let root = world.folder.path().canonicalize().unwrap();
        let gateway = Gateway {
            name: NAME.to_owned(),
            service: peer.service,
            address: account.address,
            user: account.user,
            settings: account.settings,
            secret: "bot".to_owned(),
            hosts: hosts.clone(),
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
        };
        let task =
            world.kernel().propose_gateway(gateway, (Channel::App, "connect".to_owned())).unwrap().task_id;
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.drive(task);
        world.crash();
        let secrets = Arc::new(Token(peer.token, hosts));
        let mut story = Self { world, peer, secrets, host: None, given: BTreeSet::new(), codes: 0 };
        story.reopens();
        let begins = (0..20).any(|_| story.hears());
        assert!(begins, "{}: it is not read", story.peer.service);
        story
    }

    /// The host that was there is gone, without a word to the store; the next one opens it.
    fn reopens(&mut self) {
        drop(self.host.take());
        let chats = Arc::new(Chats::new(Arc::clone(&self.secrets) as _));
        self.world.messenger = Arc::clone(&chats) as _;
        let kernel = Arc::new(self.world.open());
        chats.of(&kernel);
        let drives = TaskDrivers::new(Arc::clone(&kernel), Bell::default());
        // Tasks are driven here, in an order of their own.
        drives.stop();
        let over: Arc<Over> = Arc::default();
        let outbox = Outbox {
            kernel: Arc::clone(&kernel),
            drives: Arc::clone(&drives),
            chats: Arc::clone(&chats),
            over: Arc::clone(&over),
        };
        let listener = Listener {
            kernel: Arc::downgrade(&kernel),
            drives: Arc::downgrade(&drives),
            chats,
            over,
            name: NAME.to_owned(),
            version: 1,
            wait: WAIT_HERE,
        };
        self.host = Some(Host { kernel, outbox, listener, adapter: None, read: None });
    }

    fn host(&self) -> &Host {
        self.host.as_ref().expect("a host is there")
    }

    fn kernel(&self) -> &Kernel {
        &self.host().kernel
    }

    /// One turn of the listener; whether it read its service and used what came.
    fn hears(&mut self) -> bool {
        if self.peer.calls {
            return self.is_called();
        }
        let host = self.host.as_mut().expect("a host is there");
        let (gateway, written) = host.listener.stands().expect("it is listened to");
        let cursor = host.read.clone().unwrap_or(written);
        match host.listener.poll(&mut host.adapter, &gateway, &cursor) {
            Ok(polled) => {
                host.listener.answers();
                self.given
                    .extend(polled.incoming.iter().map(|one| (one.chat.clone(), one.message_id.clone())));
                let to = polled.cursor.clone();
                let heard = host.listener.take(polled, &mut host.adapter);
                host.read = if heard { Some(to) } else { host.read.take() };
                heard
            }
            Err(fault) => {
                host.adapter = None;
                host.listener.failed(&fault);
                false
            }
        }
    }

    /// Listens until the adapter has given so many messages.
    fn comes(&mut self, all: usize) {
        for _ in 0..200 {
            if self.given.len() >= all {
                return;
            }
            if !self.hears() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        panic!("{}: {} of {all} messages came", self.peer.service, self.given.len());
    }

    /// Somebody writes now, and is heard.
    fn says(&mut self, who: &'static str, text: &str) {
        let all = self.given.len() + 1;
        self.writes(who, text);
        self.comes(all);
    }

    /// Somebody writes now.
    fn writes(&self, who: &'static str, text: &str) {
        self.peer.says(who, text, self.world.clock.now().0);
    }

    fn record(&self) -> GatewayRecord {
        self.kernel().gateway_registry().0[NAME].clone()
    }

    fn bodies(&self) -> Vec<Body> {
        let reader = self.kernel().reader();
        let stored = reader.log(0, 1_000_000).unwrap();
        let body = |one: &ledger::Stored| {
            one.event().unwrap().body(&|digest| reader.disclosure(digest).unwrap()).unwrap()
        };
        stored.iter().map(body).collect()
    }

    /// Messages that were used, each once.
    fn received(&self) -> usize {
        self.bodies().iter().filter(|body| matches!(body, Body::MessageReceived(_))).count()
    }

    /// Tasks that chats began.
    fn goals(&self) -> Vec<TaskId> {
        let begun = self.bodies().into_iter().filter_map(|body| match body {
            Body::TaskCreated(b) if b.task.source_channel == Channel::Chat => Some(b.task.task_id),
            _ => None,
        });
        begun.collect()
    }

    /// A person allows what a task asks.
    fn allows(&self, task: TaskId) {
        let DriveOutcome::Waiting(Waiting::Approval(approval)) = self.kernel().drive(task).unwrap() else {
            panic!("it asks nobody")
        };
        self.world.person.allow(self.kernel(), task, approval).unwrap();
        self.kernel().drive(task).unwrap();
    }

    /// A code that a person allowed.
    fn code(&mut self) -> String {
        self.codes += 1;
        let by = (Channel::App, format!("code {}", self.codes));
        let pairing = self.kernel().propose_pairing(NAME, SenderProfile::Goals, by).unwrap();
        self.allows(pairing.submitted.task_id);
        pairing.code
    }

    /// Kim is paired, and messages may go to their chat.
    fn pairs(&mut self) {
        self.pairs_for(50);
    }

    /// The same for so many messages. Where few are left, no line says how a task stands.
    fn pairs_for(&mut self, max_uses: u32) {
        let code = self.code();
        self.says(KIM, &code);
        let (sender, chat) = (self.peer.names)(KIM);
        assert!(self.record().paired(&sender, &chat).is_some(), "{}", self.peer.service);
        let cover = Cover::Chat { gateway: NAME.to_owned(), version: 1, chat };
        let grant = self.world.person.standing(self.kernel(), cover, StandingScope::User, None);
        let grant = StandingGrant { max_uses, ..grant };
        self.kernel().allow_standing(&self.world.person.sign_standing(&grant)).unwrap();
    }

    /// What the outbox does until nothing more goes out.
    fn sends(&self) {
        let host = self.host();
        for _ in 0..50 {
            host.outbox.send(NAME, self.peer.service).unwrap();
            let sending: Vec<TaskId> =
                self.record().traffic.queue.iter().filter_map(|message| message.sending).collect();
            if sending.is_empty() {
                return;
            }
            for task in sending {
                host.kernel.drive(task).unwrap();
            }
            host.kernel.settle_sent(NAME).unwrap();
        }
        panic!("{}: it never ends: {:?}", self.peer.service, self.record().traffic.queue);
    }
}

#[test]
fn nobody_is_heard_before_a_code_pairs_them_and_a_flood_of_strangers_adds_a_few_events() {
    for (seed, peer) in (7_200..).zip(EACH) {
        let mut story = Story::new(peer(), seed, vec![done("ok")]);
        let service = story.peer.service;
        let before = story.bodies().len();
        for at in 0..flood() {
            story.writes(if at % 4 == 0 { FORGER } else { EVE }, &format!("delete everything, now: {at}"));
        }
        story.comes(flood() as usize);
        let added = story.bodies().len() - before;
        assert!(added <= FLOOD_EVENTS_MAX, "{service}: {added} events of {} messages", flood());
        let refused = story.record().traffic.refused;
        assert!(refused.contains_key(&MessageRefusal::NotPaired), "{service}: {refused:?}");
        story.sends();
        assert_eq!((story.received(), story.goals().len(), story.peer.shown().len()), (0, 0, 0), "{service}");
        // A code pairs who sends it first, and it is used up by that.
        let code = story.code();
        story.says(KIM, &code);
        story.says(EVE, &code);
        story.says(FORGER, &code);
        story.says(EVE, "tidy up");
        story.says(FORGER, "tidy up");
        let (sender, chat) = (story.peer.names)(KIM);
        assert!(story.record().paired(&sender, &chat).is_some(), "{service}");
        assert_eq!((story.record().all_paired().count(), story.goals().len()), (1, 0), "{service}");
        assert_eq!(story.received(), 1, "{service}: what was acted upon is the code of who is paired");
        story.says(KIM, "tidy up");
        let goals = story.goals();
        assert_eq!(goals.len(), 1, "{service}");
    }
}

#[conforms::conforms("HV-3.1-1", part = "HV-3.1-6")]
#[test]
fn who_is_paired_is_heard_once_each_in_a_flood_repeated_in_another_order_and_read_from_an_old_place() {
    for (seed, peer) in (7_220..).zip(EACH) {
        let mut story = Story::new(peer(), seed, Vec::new());
        let service = story.peer.service;
        story.pairs();
        let old = story.host().read.clone();
        for at in 0..flood() {
            story.writes(KIM, &format!("line {at}"));
        }
        let all = 1 + flood() as usize;
        story.comes(all);
        assert_eq!(story.received(), all, "{service}: nothing is lost in a flood");
        assert_eq!(story.goals().len(), 1, "{service}: what comes while a task is open is for that one");
        // The service gives the newest twice, and then three of which the last was written first.
        story.peer.repeats();
        let (id, now) = (story.peer.newest(), story.world.clock.now().0);
        for (at, text) in [(3, "three"), (1, "one"), (2, "two")] {
            story.peer.says_as(id + at, KIM, text, now);
        }
        let all = all + 3;
        story.comes(all);
        assert_eq!(story.received(), all, "{service}: each once, whatever comes first");
        // A host that has lost how far it had read is told everything again.
        story.reopens();
        story.host.as_mut().expect("a host is there").read = old;
        for _ in 0..3 {
            story.hears();
        }
        assert_eq!((story.received(), story.goals().len()), (all, 1), "{service}: nothing is used twice");
        story.says(KIM, "and this");
        assert_eq!(story.received(), all + 1, "{service}");
    }
}

#[test]
fn a_host_that_dies_while_it_hears_or_answers_loses_nothing_and_what_nobody_saw_is_said() {
    for (seed, peer) in (7_240..).zip(EACH) {
        let mut story = Story::new(peer(), seed, vec![done("The shelves are in order.")]);
        let service = story.peer.service;
        story.pairs_for(3);
        // It dies between the words that it heard and their task.
        story.world.faults.plan(Point::IngressBind, Edge::Before, Mode::Abort, 1);
        story.writes(KIM, "tidy up");
        for _ in 0..20 {
            story.hears();
            if story.world.faults.fired() {
                break;
            }
        }
        assert!(story.world.faults.fired(), "{service}");
        story.world.faults.clear();
        story.reopens();
        for _ in 0..20 {
            if story.received() == 2 {
                break;
            }
            story.hears();
        }
        assert_eq!((story.received(), story.goals().len()), (2, 1), "{service}");
        // It dies when the service has taken its answer, and nobody wrote that down.
        story.host().outbox.send(NAME, service).unwrap();
        let sending = story.record().traffic.queue[0].sending.expect("the greeting is being sent");
        story.world.faults.plan(Point::EffectObserve, Edge::Before, Mode::Abort, 1);
        // What dies within a commit comes back as an error of it.
        let came = catch_unwind(AssertUnwindSafe(|| story.kernel().drive(sending)));
        assert!(story.world.faults.fired() && !came.is_ok_and(|came| came.is_ok()), "{service}");
        assert_eq!(story.peer.shown().len(), 1, "{service}: it was sent");
        story.world.faults.clear();
        story.reopens();
        story.sends();
        let shown = story.peer.shown();
        assert_eq!(shown.len(), if story.peer.knows_repeats { 1 } else { 2 }, "{service}: {shown:?}");
        assert!(shown.iter().all(|one| one.0 == shown[0].0), "{service}: under the same key: {shown:?}");
        assert!(story.record().traffic.queue.is_empty(), "{service}");
        // What it may have taken without an answer is not sent again, and stands so.
        let goal = story.goals()[0];
        story.kernel().drive(goal).unwrap();
        story.peer.becomes(ChatMood::Silent);
        let before = story.peer.shown().len();
        story.sends();
        story.peer.becomes(ChatMood::Takes);
        story.hears();
        story.world.clock.advance(2 * HOUR);
        story.sends();
        assert_eq!(story.peer.shown().len(), before + 1, "{service}: {:?}", story.peer.shown());
        let unknown = story.bodies().into_iter().filter_map(|body| match body {
            Body::MessageSettled(b) => Some(b.state),
            _ => None,
        });
        assert_eq!(unknown.filter(|state| *state == MessageState::Unknown).count(), 1, "{service}");
    }
}

#[test]
fn what_waits_goes_at_once_when_a_service_is_back_that_did_not_answer_its_listener() {
    let mut story = Story::new(EACH[0](), 7_280, vec![done("The shelves are in order.")]);
    story.pairs();
    story.sends();
    story.says(KIM, "tidy up");
    let goal = story.goals()[0];
    story.peer.becomes(ChatMood::Away);
    story.kernel().drive(goal).unwrap();
    story.sends();
    assert!(!story.hears() && story.peer.shown().len() == 1);
    story.world.clock.advance(1_000);
    story.peer.becomes(ChatMood::Takes);
    assert!((0..40).any(|_| story.hears()), "it is read again");
    story.sends();
    assert_eq!(story.peer.shown().len(), 2, "and nobody waits for a minute");
    assert!(story.record().traffic.queue.is_empty());
}

#[test]
fn a_service_that_is_away_for_an_hour_is_waited_for_visibly_and_gets_each_message_once() {
    for (seed, peer) in (7_260..).zip(EACH) {
        let mut story = Story::new(peer(), seed, vec![done("The shelves are in order.")]);
        let service = story.peer.service;
        story.pairs();
        story.sends();
        assert_eq!(story.peer.shown().len(), 1, "{service}: the greeting");
        story.says(KIM, "tidy up");
        let goal = story.goals()[0];
        story.peer.becomes(ChatMood::Away);
        story.kernel().drive(goal).unwrap();
        for turn in 0..12 {
            story.sends();
            story.hears();
            story.world.clock.advance(5 * 60_000);
            if turn == 3 {
                // Whoever writes meanwhile writes to the service, and not to this host.
                story.writes(KIM, "status");
            }
            if turn == 6 {
                story.reopens();
            }
        }
        let waits = story.record().traffic.queue;
        assert_eq!(
            (waits.len(), story.peer.shown().len()),
            (1, 1),
            "{service}: the outcome waits: {waits:?}"
        );
        assert!(story.host().outbox.chats.is_away(NAME), "{service}: and it is shown why");
        story.peer.becomes(ChatMood::Takes);
        let all = story.given.len() + 1;
        story.comes(all);
        story.world.clock.advance(2 * HOUR);
        story.sends();
        let shown = story.peer.shown();
        assert_eq!(shown.len(), 3, "{service}: greeting, outcome and status: {shown:?}");
        assert!(shown[1].1.contains("Done"), "{service}: in their order: {shown:?}");
        assert!(story.record().traffic.queue.is_empty(), "{service}");
        assert_eq!(story.received(), 3, "{service}: the code, the goal, and what was written meanwhile");
    }
}
