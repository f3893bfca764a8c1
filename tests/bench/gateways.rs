//! Messages that come in through a gateway: how many a second pass envelope, binding and ledger, beside steps of the ledger alone
//! (schedule.md 2).

use crate::board::{Board, at, timed};
use crate::{Asked, grown, steps};
use kernel::command::inbound::{Heard, Received};
use model::TaskId;
use model::gateway::{Gateway, MessageUse, SenderProfile, Service};
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::ScheduleProposer;
use model::secret::SecretTerms;
use model::task::{Budget, ModelApi};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::World;
use zeroize::Zeroizing;

const NAME: &str = "family";
const MODEL: &str = "small";
const HOST: &str = "chat.example:443";
const ROUNDS: usize = 40;
const EACH: u32 = 10;
/// Who writes more about a task that is at work, who begins tasks, and who is not paired.
const AT_WORK: &str = "kim";
const BEGINS: &str = "lee";
const STRANGER: &str = "eve";

/// A store with a gateway, and how many messages came so far.
struct Connected {
    world: World,
    came: u32,
}

impl Connected {
    fn new() -> Self {
        let mut world = World::bare(4_242);
        world.take_up().expect("the store opens");
        world.register_keys().expect("keys");
        world.reasoners.script(MODEL, Vec::new());
        let token = Zeroizing::new(b"a token that nobody else has".to_vec());
        world.redactor.put(redact::Redactor::new([("bot".to_owned(), token)]).expect("a value"));
        let hosts = vec![HOST.to_owned()];
        world.kernel().register_secret("bot", &SecretTerms::at(&hosts), "bench").expect("a secret");
        let root = world.folder.path().canonicalize().expect("a folder");
        let gateway = Gateway {
            name: NAME.to_owned(),
            service: Service::Telegram,
            address: String::new(),
            user: String::new(),
            settings: BTreeMap::new(),
            secret: "bot".to_owned(),
            hosts,
            workspace_id: world.kernel().workspace(&root).expect("the folder is known"),
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
        let by = (Channel::App, "connect".to_owned());
        let task = world.kernel().propose_gateway(gateway, by).expect("proposed").task_id;
        let connected = Self { world, came: 0 };
        connected.allows(task);
        connected
    }

    fn allows(&self, task: TaskId) {
        let approval = self.world.drive_to_approval(task);
        self.world.person.allow(self.world.kernel(), task, approval).expect("allowed");
        self.world.drive(task);
    }

    fn heard(&mut self, sender: &str, text: &str) -> Heard {
        self.came += 1;
        Heard {
            message_id: self.came.to_string(),
            chat: format!("chat of {sender}"),
            is_group: false,
            sender: sender.to_owned(),
            sender_name: sender.to_owned(),
            sent_at: self.world.kernel().ports().clock.now(),
            text: text.to_owned(),
            reply_to: None,
            button: None,
            attachments: Vec::new(),
        }
    }

    fn envelope(&self, heard: Heard) -> Vec<u8> {
        self.world.kernel().wrap(NAME, heard).expect("signed")
    }

    /// Somebody's words, from what an adapter heard to what became of them.
    fn says(&mut self, sender: &str, text: &str) -> (Duration, Received) {
        let heard = self.heard(sender, text);
        timed(|| {
            let envelope = self.envelope(heard);
            self.world.kernel().receive_message(NAME, &envelope).expect("heard")
        })
    }

    fn pair(&mut self, sender: &str) {
        let by = (Channel::App, format!("pair {sender}"));
        let pairing = self.world.kernel().propose_pairing(NAME, SenderProfile::Goals, by).expect("a code");
        self.allows(pairing.submitted.task_id);
        let (_, came) = self.says(sender, &pairing.code);
        assert_eq!(came, Received::Used(MessageUse::Pairing, Vec::new()));
    }

    /// How long words take that begin a task, which ends at once.
    fn begins(&mut self) -> Duration {
        let (took, came) = self.says(BEGINS, "look through the notes of the house and tell what is new");
        let Received::Used(MessageUse::Words, tasks) = came else { panic!("words: {came:?}") };
        for task in tasks {
            self.world.kernel().cancel(task, "enough").expect("cancelled");
            self.world.drive(task);
        }
        took
    }
}

/// What one of several takes.
fn each(mut one: impl FnMut() -> Duration) -> Duration {
    (0..EACH).map(|_| one()).sum::<Duration>() / EACH
}

pub fn run(_: &Asked, board: &Board) {
    let mut connected = Connected::new();
    connected.pair(AT_WORK);
    connected.pair(BEGINS);
    connected.says(AT_WORK, "look after the cellar");
    let folder = tempfile::tempdir().expect("a folder");
    let (ledger, task) = (grown::writer(folder.path(), true), grown::task());
    let (mut steps, mut envelopes, mut words, mut goals, mut strangers) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // In short turns, so that a slow moment of the disk meets all of them.
    for _ in 0..ROUNDS {
        steps.push(each(|| timed(|| steps::one(&ledger, task)).0));
        envelopes.push(each(|| {
            let heard = connected.heard(AT_WORK, "the lower shelf, too");
            timed(|| connected.envelope(heard)).0
        }));
        words.push(each(|| connected.says(AT_WORK, "the lower shelf, too").0));
        goals.push(each(|| connected.begins()));
        strangers.push(each(|| connected.says(STRANGER, "buy this").0));
    }
    let step = at(&mut steps, 0.5);
    board.figure("steps of the ledger alone, views folded in", &format!("{:.0} a second", 1.0 / step));
    let told = [
        ("envelopes made and signed", at(&mut envelopes, 0.5)),
        ("words for a task at work", at(&mut words, 0.5)),
        ("words that begin a task", at(&mut goals, 0.5)),
        ("words of a stranger, refused", at(&mut strangers, 0.5)),
    ];
    for (what, one) in told {
        board.figure(what, &format!("{:.0} a second, {:.2} of the steps", 1.0 / one, step / one));
    }
}
