//! Gateways over the wire: shown as they stand, paired with a code that is told once, and what came in and went out.

use crate::home::Home;
use kernel::command::inbound::{Heard, Received};
use model::gateway::{Gateway, MessageRefusal, MessageUse, Service};
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::ScheduleProposer;
use model::secret::SecretTerms;
use model::task::{Budget, ModelApi};
use model::{Clock as _, TaskId};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use wire::Code;

/// A gateway that a person connected.
fn connected(home: &Home) {
    let kernel = home.world.kernel();
    let root = home.world.folder.path().canonicalize().unwrap();
    let hosts = vec!["chat.example:443".to_owned()];
    let token = zeroize::Zeroizing::new(b"nobody else has this token of the bot".to_vec());
    home.world.redactor.put(redact::Redactor::new([("bot".to_owned(), token)]).unwrap());
    kernel.register_secret("bot", &SecretTerms::at(&hosts), "test").unwrap();
    let (base_url, model) = ("http://127.0.0.1:9/v1".to_owned(), "small".to_owned());
    let gateway = Gateway {
        name: "family".to_owned(),
        service: Service::Matrix,
        address: "https://chat.example".to_owned(),
        user: String::new(),
        settings: BTreeMap::new(),
        secret: "bot".to_owned(),
        hosts,
        workspace_id: kernel.workspace(&root).unwrap(),
        folder: root.display().to_string(),
        proposer: ScheduleProposer::Model { api: ModelApi::Openai, base_url, model, secret: None },
        profile: Profile::LocalEditAllowed,
        budget: Budget::default(),
    };
    let task = kernel.propose_gateway(gateway, (Channel::App, "gateway".to_owned())).unwrap().task_id;
    allowed(home, task);
}

fn allowed(home: &Home, task: TaskId) {
    let approval = home.world.drive_to_approval(task);
    home.world.person.allow(home.world.kernel(), task, approval).unwrap();
    home.world.drive(task);
}

fn said(home: &Home, id: &str, text: &str) -> Received {
    let kernel = home.world.kernel();
    let heard = Heard {
        message_id: id.to_owned(),
        chat: "room".to_owned(),
        is_group: false,
        sender: "mary".to_owned(),
        sender_name: "Mary".to_owned(),
        sent_at: home.world.clock.now(),
        text: text.to_owned(),
        reply_to: None,
        button: None,
        attachments: Vec::new(),
    };
    kernel.receive_message("family", &kernel.wrap("family", heard).unwrap()).unwrap()
}

#[test]
fn a_gateway_that_paused_itself_is_counted_among_what_waits_until_a_person_has_said() {
    let home = Home::new(79);
    connected(&home);
    let waits = |home: &Home| home.must("host.status", json!({}))["waiting"]["paused_gateways"].clone();
    assert_eq!(waits(&home), 0);
    home.world.kernel().gateway_pauses_itself("family", "the service refuses the token").unwrap();
    assert_eq!(waits(&home), 1);
    let shown = home.must("gateways.show", json!({ "name": "family" }));
    assert_eq!((&shown["by_itself"], &shown["why"]), (&json!(true), &json!("the service refuses the token")));
    home.must("gateways.resume", json!({ "name": "family" }));
    assert_eq!(waits(&home), 0);
    home.must("gateways.pause", json!({ "name": "family" }));
    assert_eq!(waits(&home), 0, "who pauses it by hand is not asked");
    home.must("gateways.resume", json!({ "name": "family" }));
    home.world.kernel().gateway_pauses_itself("family", "the service refuses the token").unwrap();
    assert_eq!(waits(&home.into_reader()), 1, "whoever only reads counts it too");
}

#[test]
fn a_gateway_is_told_of_as_it_stands_with_its_senders_and_messages() {
    let home = Home::new(78);
    assert_eq!(home.must("gateways.list", json!({}))["gateways"], json!([]));
    assert_eq!(home.ask("gateways.show", json!({ "name": "family" })).unwrap_err().code, Code::NotFound);
    connected(&home);
    let shown = home.must("gateways.show", json!({ "name": "family" }));
    assert_eq!(
        (&shown["service"], &shown["state"], &shown["senders"]),
        (&json!("matrix"), &json!("active"), &json!(0))
    );
    assert_eq!(shown["hosts"], json!(["chat.example:443"]));
    assert_eq!(home.must("gateways.list", json!({}))["gateways"][0], shown);
    let pairing = home.must("gateways.pair", json!({ "name": "family", "profile": "goals" }));
    let code = pairing["code"].as_str().unwrap().to_owned();
    assert_eq!((code.len(), &pairing["minutes"]), (8, &json!(10)));
    assert_eq!(
        said(&home, "1", &code),
        Received::Refused(MessageRefusal::WrongCode),
        "nobody allowed it yet"
    );
    allowed(&home, pairing["task_id"].as_str().unwrap().parse().unwrap());
    assert_eq!(said(&home, "2", &code), Received::Used(MessageUse::Pairing, Vec::new()));
    assert_eq!(said(&home, "3", "status"), Received::Used(MessageUse::Status, Vec::new()));
    home.world.reasoners.script("small", Vec::new());
    let Received::Used(MessageUse::Words, tasks) = said(&home, "4", "what is new?") else { panic!("a goal") };
    let row = home.must("task.show", json!({ "task": tasks[0].to_string() }))["row"].clone();
    assert_eq!(row["from_chat"]["service"], "matrix", "{row}");
    assert_eq!(row["from_chat"]["gateway"], "family", "{row}");
    let listed = home.must("task.list", json!({}))["rows"].clone();
    let from_chat = listed.as_array().unwrap().iter().filter(|one| !one["from_chat"].is_null());
    assert_eq!(from_chat.count(), 1, "and no other was begun in a chat: {listed}");
    let senders = home.must("gateways.senders", json!({ "name": "family" }))["senders"].clone();
    assert_eq!((&senders[0]["sender"], &senders[0]["profile"]), (&json!("mary"), &json!("goals")));
    let messages = home.must("gateways.messages", json!({ "name": "family" }))["messages"].clone();
    let rows = messages.as_array().unwrap();
    let used = |used_as: &str| rows.iter().filter(|one| one["used_as"] == used_as).count();
    assert_eq!((used("pairing"), used("status")), (1, 1), "{messages}");
    let out: Vec<_> = rows.iter().filter(|one| one["is_outgoing"] == true).collect();
    assert_eq!(out.len(), 2, "greeting and answer wait: {messages}");
    assert!(out.iter().all(|one| one["state"] == "queued" && one["sender"] == "mary"));
    let first = home.must("gateways.messages", json!({ "name": "family", "limit": 2 }));
    let rest = home.must("gateways.messages", json!({ "name": "family", "before": first["before"] }));
    let both = first["messages"].as_array().unwrap().len() + rest["messages"].as_array().unwrap().len();
    assert_eq!(both, rows.len());
    let left = home.must("gateways.unpair", json!({ "name": "family", "sender": "mary" }));
    assert!(left["senders"][0]["unpaired"].is_string());
    assert_eq!(home.must("gateways.pause", json!({ "name": "family" }))["state"], "paused");
    assert_eq!(home.must("gateways.resume", json!({ "name": "family" }))["state"], "active");
    assert_eq!(home.must("gateways.remove", json!({ "name": "family" }))["state"], "removed");
    assert_eq!(home.must("gateways.list", json!({}))["gateways"], json!([]));
    // A process without adapters connects none.
    let folder = home.world.folder.path().display().to_string();
    let asked = json!({ "name": "x", "service": "mail", "secret": "bot", "workspace": folder });
    assert_eq!(home.ask("gateways.add", asked).unwrap_err().code, Code::Failed);
    let asked = json!({ "name": "x", "service": "pigeon", "secret": "bot", "workspace": folder });
    assert_eq!(home.ask("gateways.add", asked).unwrap_err().code, Code::Usage);
}

#[test]
fn what_each_service_needs_is_told_without_a_store_and_for_all_of_them() {
    let home = Home::new(79);
    let told = home.must("gateways.services", json!({}))["services"].clone();
    let names: Vec<&str> =
        told.as_array().unwrap().iter().map(|one| one["service"].as_str().unwrap()).collect();
    assert_eq!(names, Service::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>());
    let mail = told.as_array().unwrap().iter().find(|one| one["service"] == "mail").unwrap();
    assert_eq!(
        (&mail["fields"][1]["at"], &mail["fields"][1]["protocol"]),
        (&json!("address"), &json!("imaps"))
    );
    assert_eq!(told[0]["hosts"], json!(["api.telegram.org:443"]));
}

#[test]
fn a_message_for_a_gateway_that_takes_no_calls_is_refused_whoever_brings_it() {
    let home = Home::new(80);
    connected(&home);
    let call = api::messages::Call {
        id: "m1".to_owned(),
        timestamp: "0".to_owned(),
        signatures: "v1,AAAA".to_owned(),
        body: b"{}".to_vec(),
    };
    // This process has no adapters, and the gateway is one of Matrix.
    for (gateway, call) in [("family", Some(&call)), ("family", None), ("nobody", Some(&call))] {
        let refused = api::messages::take(&home, gateway, call, &Mutex::default()).unwrap_err();
        assert_eq!(refused, api::messages::refusal(), "{gateway}");
    }
}
