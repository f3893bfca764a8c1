//! Requests to servers: asked about, sent once to the address that was checked, and never a second time unseen.

use crate::story::{completed, count, die, events, object, packs, place, shows, state, types};
use acts::ApprovalPacket;
use conforms::conforms;
use effects::Secrets;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::artifact::{ArtifactKind, TrustTier};
use model::fault::Point;
use model::policy::Profile;
use model::proposal::Answer;
use model::receipt::{Receipt, ResultCode};
use model::secret::SecretTerms;
use model::{ApprovalId, Body, TaskId};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{Answers, Edge, Server, World, done, fetch, say};
use zeroize::Zeroizing;

const VALUE: &str = "kR7-u2Vq/9fXw+Lm4zPt0aBc8dEh";

fn give(world: &World, goal: &str, profile: Profile, answers: Vec<Answer>) -> TaskId {
    world.reasoners.script(goal, answers);
    let mut submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    submission.profile = profile;
    world.kernel().submit(&submission).unwrap().task_id
}

fn send(world: &World, server: &Server) -> TaskId {
    let post = fetch("POST", &server.url("/orders?n=1"), Some("one\nkettle"));
    give(world, "order", Profile::ExternalPublishGated, vec![post, done("ordered")])
}

fn packet(world: &World, task: TaskId, approval: ApprovalId) -> ApprovalPacket {
    let state = state(world, task);
    object(world.kernel(), &state, state.approvals[&approval].approval.approval_packet_ref)
}

fn allow(world: &World, task: TaskId) -> ApprovalPacket {
    let approval = world.drive_to_approval(task);
    let packet = packet(world, task, approval);
    world.person.allow(world.kernel(), task, approval).unwrap();
    packet
}

/// The receipts of a task's acts, in order.
fn receipts(world: &World, task: TaskId) -> Vec<Receipt> {
    let issued = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ReceiptIssued(b) if b.action_request_id.is_some() => Some(b.receipt_id),
        _ => None,
    });
    issued.map(|id| world.kernel().receipt(id).unwrap().1).collect()
}

#[test]
fn what_is_fetched_is_asked_about_and_comes_as_untrusted_content() {
    let world = World::new(1101);
    let server = Server::agreeing();
    let task = give(
        &world,
        "look it up",
        Profile::NetworkReadAllowed,
        vec![fetch("GET", &server.url("/page?q=1"), None), done("looked up")],
    );
    let packet = allow(&world, task);
    assert!(server.heard().is_empty(), "nothing before the yes");
    assert_eq!(packet.impacted_resources, [format!("host:{}", server.host())]);
    assert_eq!(world.drive(task), completed());
    let heard = server.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!((heard[0].line.as_str(), heard[0].header("idempotency-key")), ("GET /page?q=1", None));
    let state = state(&world, task);
    let answer = state.artifacts.values().find(|a| a.kind == ArtifactKind::WebSnapshot).unwrap();
    assert_eq!(answer.trust_tier, TrustTier::Untrusted);
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "well received"));
    let [receipt] = <[_; 1]>::try_from(receipts(&world, task)).unwrap();
    assert_eq!((receipt.action_class.as_str(), receipt.rollback.method.as_str()), ("network_read", "none"));
    let said: Vec<&String> = receipt.observed.iter().filter_map(|s| s.shown()).collect();
    let came = model::Digest::of(b"well received").to_string();
    assert!(said.iter().any(|line| line.contains(&came)), "{said:?}");
}

#[test]
fn a_profile_without_the_network_sends_nothing_and_asks_nobody() {
    let world = World::new(1102);
    let server = Server::agreeing();
    for (at, profile) in Profile::ALL.iter().enumerate() {
        let post = fetch("DELETE", &server.url("/all"), None);
        let goal = format!("clear {at}");
        let task = give(&world, &goal, *profile, vec![post, done("no")]);
        match (world.drive(task), profile) {
            (DriveOutcome::Waiting(Waiting::Approval(_)), Profile::ExternalPublishGated) => {}
            // Asked about a look there instead.
            (DriveOutcome::Waiting(Waiting::Approval(_)), Profile::NetworkReadAllowed) => {}
            (DriveOutcome::Ended { .. }, other) if *other != Profile::ExternalPublishGated => {}
            (standing, _) => panic!("{profile}: {standing:?}"),
        }
    }
    assert!(server.heard().is_empty());
}

#[conforms(part = "HK-7-1", part = "HK-6.2-3", "HK-16.8-3")]
#[test]
fn what_is_sent_is_what_was_shown_with_a_key_of_its_own_a_witness_a_decision_and_a_receipt() {
    let world = World::new(1103);
    let server = Server::agreeing();
    let task = send(&world, &server);
    let packet = allow(&world, task);
    let card = governance::approval::card(&packet);
    let shown: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    let key = packet.action_request.idempotency_key().unwrap();
    for words in [
        &format!("SEND POST {}", server.url("/orders?n=1")),
        "    | one",
        "    | kettle",
        "with a body of 10 bytes, which is all of this:",
        &format!("with the key \"{key}\""),
        "the host is an ADDRESS",
    ] {
        assert!(shown.iter().any(|line| line.contains(words)), "`{words}` is not in {shown:#?}");
    }
    assert!(packet.state_witness.is_some(), "what must hold there is part of what is approved");
    assert_eq!(world.drive(task), completed());
    let [heard] = <[_; 1]>::try_from(server.heard()).unwrap();
    assert_eq!((heard.line.as_str(), heard.body.as_str()), ("POST /orders?n=1", "one\nkettle"));
    assert_eq!(heard.header("idempotency-key"), Some(format!("\"{key}\"").as_str()));
    let order = types(world.kernel(), task);
    let dispatched = place(&order, "effect.dispatched");
    for first in ["decision.recorded", "witness.validated", "grant.issued"] {
        assert!(place(&order, first) < dispatched, "{first}");
    }
    let [receipt] = <[_; 1]>::try_from(receipts(&world, task)).unwrap();
    assert_eq!(receipt.result_code, ResultCode::Succeeded);
    let said: Vec<String> = receipt.observed.iter().map(|s| s.shown().unwrap().clone()).collect();
    let all = said.join("\n");
    let digest = model::Digest::of(b"well received");
    for words in ["10 bytes of body sent", "status 200, 13 bytes", &digest.to_string(), &key] {
        assert!(all.contains(words), "`{words}` is not in {all}");
    }
    assert_eq!(receipt.rollback.method, "none", "and nobody promises a way back");
}

#[test]
fn a_redirect_is_an_answer_and_nobody_follows() {
    let world = World::new(1104);
    let other = Server::agreeing();
    let to = other.url("/elsewhere");
    let server = Server::begin(move |_| Answers::With(307, vec![("Location", to.clone())], String::new()));
    let task = send(&world, &server);
    allow(&world, task);
    assert_eq!(world.drive(task), completed());
    assert!(other.heard().is_empty());
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "/elsewhere"), "the proposer may ask for it");
}

#[test]
fn an_address_by_another_name_is_not_dialled() {
    let world = World::new(1105);
    let server = Server::agreeing();
    let port = server.host().rsplit_once(':').unwrap().1.to_owned();
    let hidden = fetch("GET", &format!("http://127.1:{port}/"), None);
    let task = give(&world, "peek", Profile::NetworkReadAllowed, vec![hidden, done("no")]);
    allow(&world, task);
    assert_eq!(world.drive(task), completed());
    assert!(server.heard().is_empty());
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "which is loopback"));
}

/// The host that its one secret may go to, and how often its value was taken.
struct Vault(String, Arc<AtomicU32>);

impl Secrets for Vault {
    fn value(&self, _: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(Zeroizing::new(VALUE.as_bytes().to_vec()))
    }

    fn terms(&self, _: &str) -> SecretTerms {
        SecretTerms::at(std::slice::from_ref(&self.0))
    }
}

#[conforms("HK-17.3-1", "HK-17.3-3")]
#[test]
fn a_secret_stands_on_the_wire_of_its_own_host_and_nowhere_else() {
    let mut world = World::new(1106);
    let server = Server::begin(|heard| Answers::With(200, Vec::new(), format!("{heard:?}")));
    let other = Server::agreeing();
    let value = Zeroizing::new(VALUE.as_bytes().to_vec());
    world.redactor.put(redact::Redactor::new([("api".to_owned(), value)]).unwrap());
    let taken = Arc::new(AtomicU32::new(0));
    world.secrets = Arc::new(Vault(server.host(), Arc::clone(&taken)));
    world.reopen();
    world.kernel().register_secret("api", &SecretTerms::at(&[server.host()]), "test").unwrap();
    let ask = |server: &Server| {
        let headers = json!([{ "name": "Authorization", "value": "Bearer ", "secret": "api" }]);
        say("fetch", json!({ "method": "POST", "url": server.url("/"), "headers": headers, "body": "x" }))
    };
    let profile = Profile::ExternalPublishGated;
    let task = give(&world, "call", profile, vec![ask(&other), ask(&server), done("called")]);
    let packet = allow(&world, task);
    assert!(
        packet.impacted_resources.contains(&"secret:api".to_owned()),
        "the other host was not even asked about"
    );
    assert_eq!(taken.load(Ordering::SeqCst), 0, "proposed, judged, shown and allowed by its handle alone");
    assert_eq!(world.drive(task), completed());
    assert_eq!(taken.load(Ordering::SeqCst), 1, "its value is taken where the act is done");
    assert!(other.heard().is_empty());
    let [heard] = <[_; 1]>::try_from(server.heard()).unwrap();
    assert_eq!(heard.header("authorization"), Some(format!("Bearer {VALUE}").as_str()));
    for artifact in state(&world, task).artifacts.values() {
        let bytes = world.kernel().artifacts().read(&artifact.content_hash).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(VALUE), "{}", artifact.kind);
    }
}

#[test]
fn a_credential_in_plain_words_is_no_request() {
    let world = World::new(1107);
    let server = Server::agreeing();
    let plain = json!([{ "name": "Authorization", "value": "Bearer abcdefgh" }]);
    let bad = say("fetch", json!({ "method": "GET", "url": server.url("/"), "headers": plain }));
    let task = give(&world, "leak", Profile::ExternalPublishGated, vec![bad, done("no")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "action.requested"), 0);
    assert!(server.heard().is_empty());
}

#[conforms("HK-16.8-1")]
#[test]
fn what_was_seen_there_must_still_be_there_and_the_server_compares_it() {
    let world = World::new(1108);
    let version = Arc::new(AtomicU32::new(1));
    let now = Arc::clone(&version);
    let server = Server::begin(move |heard| {
        let tag = format!("\"v{}\"", now.load(Ordering::SeqCst));
        match heard.header("if-match") {
            Some(wanted) if wanted != tag => Answers::With(412, Vec::new(), String::new()),
            _ => Answers::With(200, vec![("ETag", tag)], "text".to_owned()),
        }
    });
    let put = || fetch("PUT", &server.url("/note"), Some("new text"));
    let get = || fetch("GET", &server.url("/note"), None);
    let answers = vec![get(), put(), get(), put(), done("put")];
    let task = give(&world, "put it", Profile::ExternalPublishGated, answers);
    allow(&world, task);
    let packet = allow(&world, task);
    let witness = packet.state_witness.unwrap();
    assert!(witness.preconditions[0].contains("\"v1\""), "{:?}", witness.preconditions);
    version.store(2, Ordering::SeqCst);
    allow(&world, task);
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "has changed there since"));
    allow(&world, task);
    assert_eq!(world.drive(task), completed());
    let tags: Vec<_> = server.heard().iter().map(|h| h.header("if-match").map(str::to_owned)).collect();
    assert_eq!(tags, [None, Some("\"v1\"".to_owned()), None, Some("\"v2\"".to_owned())]);
    let codes: Vec<_> = receipts(&world, task).iter().map(|r| r.result_code).collect();
    let (done, failed) = (ResultCode::Succeeded, ResultCode::Failed);
    assert_eq!(codes, [done, failed, done, done], "two looks, and what was sent after each");
}

#[test]
fn a_server_that_breaks_leaves_an_unknown_outcome_for_a_person_and_only_where_something_could_change() {
    let broken: [(&str, fn() -> Answers); 2] = [
        ("500", || Answers::With(500, Vec::new(), "out of memory".to_owned())),
        ("gone", || Answers::HangsUp),
    ];
    for (seed, (name, answer)) in (1109..).zip(broken) {
        let world = World::new(seed);
        let server = Server::begin(move |_| answer());
        let task = send(&world, &server);
        allow(&world, task);
        assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome), "{name}");
        assert_eq!(
            world.drive(task),
            DriveOutcome::Waiting(Waiting::UnknownOutcome),
            "{name}: and nobody tries again"
        );
        world.kernel().resolve_outcome(task, ResultCode::Failed, "I asked them: there is no order").unwrap();
        assert_eq!(world.drive(task), completed());
        assert_eq!(server.heard().len(), 1, "{name}");
        let look = fetch("GET", &server.url("/"), None);
        let task = give(&world, "look", Profile::NetworkReadAllowed, vec![look, done("no")]);
        allow(&world, task);
        assert_eq!(world.drive(task), completed(), "{name}: a look changes nothing");
    }
}

/// Where a host may die around a request, and what is known afterwards.
const DEATHS: [(Point, Edge, usize, Option<ResultCode>); 6] = [
    (Point::EffectDispatch, Edge::After, 0, Some(ResultCode::Failed)),
    (Point::CallSend, Edge::Before, 0, Some(ResultCode::Failed)),
    (Point::CallSend, Edge::After, 0, None),
    (Point::CallAnswer, Edge::Before, 1, None),
    (Point::CallAnswer, Edge::After, 1, Some(ResultCode::Succeeded)),
    (Point::EffectObserve, Edge::Before, 1, Some(ResultCode::Succeeded)),
];

#[conforms("HK-19.3-1", "HK-19.3-2", "HK-19.4-1", "HK-19.5-2")]
#[test]
fn a_host_that_dies_around_a_request_never_sends_it_twice_and_never_guesses() {
    for (seed, (point, edge, sent, known)) in (1120..).zip(DEATHS) {
        let mut world = World::new(seed);
        let server = Server::agreeing();
        let task = send(&world, &server);
        allow(&world, task);
        die(&mut world, task, point, edge);
        let standing = world.drive(task);
        assert_eq!(server.heard().len(), sent, "{point} {edge:?}");
        match known {
            None => {
                assert_eq!(standing, DriveOutcome::Waiting(Waiting::UnknownOutcome), "{point} {edge:?}");
                world.kernel().resolve_outcome(task, ResultCode::Partial, "looked at").unwrap();
                world.drive(task);
            }
            Some(code) => {
                assert_eq!(standing, completed(), "{point} {edge:?}");
                let codes: Vec<_> = receipts(&world, task).iter().map(|r| r.result_code).collect();
                assert_eq!(codes, [code], "{point} {edge:?}");
            }
        }
        assert_eq!(server.heard().len(), sent, "{point} {edge:?}: nor afterwards");
        assert!(world.oracle.performed().values().all(|times| *times <= 1), "{point} {edge:?}");
    }
}
