//! What two different keys have to allow, by the keys of two machines: one yes alone does nothing, whoever dies after it, and a yes of
//! a machine that was withdrawn counts no more.

use super::machines::{Machine, Relay, pair};
use super::work::{allows, status, writes};
use crate::journeys::stage::{Stage, agreed, until};
use serde_json::{Value, json};
use testkit::Chat;

const RULE: &str = "dual FileEdit(**)\n";
const GOAL: &str = "Write a letter";
const FILE: &str = "letter.txt";
const TEXT: &str = "Dear harbour\n";
/// The exit code of a program whose person, or whose next one, is waited for.
const WAITING: i32 = 4;
/// The exit code of what is refused.
const REFUSED: i32 = 3;

/// A machine whose person wants two keys for each file that is written, and others whose approval keys may answer for it.
struct Machines<const N: usize> {
    _relay: Relay,
    _chat: Chat,
    server: Machine,
    others: [Machine; N],
}

impl<const N: usize> Machines<N> {
    fn new(names: [&'static str; N]) -> Self {
        let relay = Relay::new();
        let chat = writes(FILE, TEXT);
        let model = chat.address();
        let server = Machine::new("server", &[&relay], &["--model", &model]);
        std::fs::write(server.stage.home().join("policy.rules"), RULE).expect("a file");
        let others = names.map(|name| Machine::new(name, &[&relay], &[]));
        for other in &others {
            pair(&server, other, &[]);
            Stage::ran(&mut server.by_person(&["approver", other.name])).ends(0);
        }
        for other in &others {
            other.hears(&server);
        }
        Self { _relay: relay, _chat: chat, server, others }
    }
}

/// A goal of another machine, as far as it goes without a person.
struct Goal {
    message: String,
    task: String,
    approval: String,
}

impl Goal {
    fn sent(from: &Machine, server: &Machine) -> Self {
        let message = from.sends(server, "Write a letter to the harbour");
        until("it waits for a yes", || status(server, GOAL) == ["blocked"]);
        let task = server.tasks(GOAL)[0]["task_id"].as_str().expect("a task").to_owned();
        Self { message, task, approval: server.stage.is_asked() }
    }

    /// What the card says of the two keys.
    fn two_keys(&self, server: &Machine) -> Value {
        let shown = server.stage.hermit(&["approvals", "show", &self.approval]).ends(0).json();
        shown["two_keys"].clone()
    }

    /// Its person says yes where it is asked; the exit code and what was shown.
    fn allowed_here(&self, server: &Machine) -> (i32, String) {
        server.stage.approve(&self.approval)
    }

    /// Nothing is allowed, and nothing is done; this many yeses were said.
    #[track_caller]
    fn waits(&self, server: &Machine, yeses: usize) {
        assert_eq!(status(server, GOAL), ["blocked"]);
        assert!(!server.stage.work().join(FILE).exists(), "nothing is done");
        let of = |event: &str| server.stage.count(&self.task, event);
        assert_eq!((of("approval.signed"), of("approval.granted"), of("grant.issued")), (yeses, 0, 0));
    }

    /// It is done, once, by the yeses of these two; the receipt names both, and strangers can check them.
    fn is_done(&self, server: &mut Machine, first: &str, second: &str) {
        let written = std::fs::read_to_string(server.stage.work().join(FILE)).expect("written");
        assert_eq!(written, TEXT);
        assert_eq!(status(server, GOAL), ["completed"], "one task, once");
        server.ends();
        let stage = &server.stage;
        let of = |event: &str| stage.count(&self.task, event);
        assert_eq!((of("approval.granted"), of("grant.issued"), of("effect.dispatched")), (1, 1, 1));
        let events = stage.events(&self.task);
        let body = |event: &str| {
            let last = events.iter().rfind(|one| one["event_type"] == event).expect("it is on record");
            last["body"].clone()
        };
        let (signed, granted) = (body("approval.signed"), body("approval.granted"));
        assert_eq!((&signed["keyid"], &granted["keyid"]), (&json!(first), &json!(second)));
        let decisions = [&signed["envelope"]["sha256"], &granted["envelope"]["sha256"]];
        assert!(decisions.iter().all(|one| one.is_string()), "{signed} {granted}");
        assert_eq!(&granted["first"]["sha256"], decisions[0]);
        let listed = stage.hermit(&["receipts", "list", "--task", &self.task]).ends(0).json();
        let rows = listed["rows"].as_array().expect("rows");
        let acts: Vec<&Value> = rows.iter().filter(|row| row["class"] == "tool_execution").collect();
        assert_eq!(acts.len(), 1, "one act, one receipt: {listed}");
        let act = acts[0]["receipt_id"].as_str().expect("an identifier").to_owned();
        let shown = stage.hermit(&["receipts", "show", &act]).ends(0).json();
        let authorized = &shown["receipt"]["authorized"];
        let named = [&authorized["first_decision_sha256"], &authorized["approval_decision_sha256"]["value"]];
        assert_eq!(named, decisions, "{authorized}");
        let before = "; and before with another key, ";
        let said = |row: &&Value| row["class"] == "approval_resolution" && row.to_string().contains(before);
        assert_eq!(rows.iter().filter(said).count(), 1, "the receipt of the answer says it: {listed}");
        stage.is_sound();
        let (key, whole, alone) = (stage.key("log"), stage.prove(&self.task), stage.at("act.zip"));
        stage.hermit(&["proof", "export", &act, "-o", alone.to_str().expect("UTF-8")]).ends(0);
        for bundle in [whole, alone] {
            let told = agreed(&bundle, &key);
            assert_eq!(told["verdict"], "valid", "{told}");
            let words = "signed by the approval key of another machine, which the approval key lets say yes, for exactly";
            assert!(told["proven"].to_string().contains(words), "{told}");
        }
    }
}

/// The approval key of a machine.
fn key(machine: &Machine) -> String {
    machine.stage.key("approval")
}

#[conforms::conforms(part = "HK-8.9-2", part = "HK-16.6-1")]
#[test]
fn one_yes_does_nothing_nor_does_a_second_of_its_key_and_that_of_another_machine_completes_it_once() {
    let Machines { _relay, _chat, mut server, others: [laptop] } = Machines::new(["laptop"]);
    let goal = Goal::sent(&laptop, &server);
    assert_eq!(goal.two_keys(&server)["given"], 0);
    goal.waits(&server, 0);
    let (code, shown) = goal.allowed_here(&server);
    assert_eq!(code, WAITING, "{shown}");
    assert!(shown.contains("your yes is on record"), "{shown}");
    let two = goal.two_keys(&server);
    assert_eq!((&two["given"], &two["able"]), (&json!(1), &json!(2)), "{two}");
    let says = two["says"].as_str().expect("words");
    assert!(says.starts_with("1 of 2: allowed with the approval key"), "{says}");
    assert!(says.ends_with("another key has to allow it, too"), "{says}");
    goal.waits(&server, 1);
    // The same person with the same key is one key.
    let (code, shown) = goal.allowed_here(&server);
    assert_eq!(code, REFUSED, "{shown}");
    assert!(shown.contains("this key has said yes already"), "{shown}");
    goal.waits(&server, 1);
    let mut card = String::new();
    until("the laptop is asked", || {
        card = laptop.told(&["questions"])["questions"][0]["lines"].to_string();
        card.contains(FILE)
    });
    assert!(card.contains("two different keys have to allow it"), "{card}");
    allows(&laptop);
    let answer = laptop.answered(&goal.message);
    assert!(answer.contains("I wrote letter.txt"), "{answer}");
    let (here, there) = (key(&server), key(&laptop));
    goal.is_done(&mut server, &here, &there);
}

#[test]
fn a_first_yes_outlasts_the_death_of_every_machine_and_the_second_completes_it_once() {
    let Machines { _relay, _chat, mut server, others: [mut laptop] } = Machines::new(["laptop"]);
    let goal = Goal::sent(&laptop, &server);
    allows(&laptop);
    until("its yes is on record", || goal.two_keys(&server)["given"] == 1);
    server.killed_and_served();
    laptop.killed_and_served();
    let says = goal.two_keys(&server)["says"].to_string();
    assert!(says.contains("1 of 2") && says.contains("(laptop)"), "{says}");
    goal.waits(&server, 1);
    let (code, shown) = goal.allowed_here(&server);
    assert_eq!(code, 0, "{shown}");
    let answer = laptop.answered(&goal.message);
    assert!(answer.contains("I wrote letter.txt"), "{answer}");
    assert_eq!(server.stage.count(&goal.task, "approval.signed"), 1, "it was said once");
    let (here, there) = (key(&server), key(&laptop));
    goal.is_done(&mut server, &there, &here);
    laptop.ends();
    laptop.stage.is_sound();
}

#[test]
fn the_yes_of_a_machine_that_is_withdrawn_before_the_second_counts_no_more() {
    let Machines { _relay, _chat, mut server, others: [laptop, phone] } = Machines::new(["laptop", "phone"]);
    let goal = Goal::sent(&phone, &server);
    allows(&laptop);
    until("its yes is on record", || goal.two_keys(&server)["given"] == 1);
    Stage::ran(&mut server.by_person(&["withdraw", "laptop", "--yes"])).ends(0);
    until("its yes counts no more", || goal.two_keys(&server)["given"] == 0);
    goal.waits(&server, 1);
    // What would have been the second is the first now.
    let (code, shown) = goal.allowed_here(&server);
    assert_eq!(code, WAITING, "{shown}");
    goal.waits(&server, 2);
    allows(&phone);
    let answer = phone.answered(&goal.message);
    assert!(answer.contains("I wrote letter.txt"), "{answer}");
    let (here, there) = (key(&server), key(&phone));
    goal.is_done(&mut server, &here, &there);
}
