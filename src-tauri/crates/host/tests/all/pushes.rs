//! A device of a person is told by its push service that somebody waits for them, in words for that device alone.

use crate::bench::{Bench, PATIENCE};
use api::pushes::{Page, Subscription, end, end_of_page, key, list, name_of, subscribe};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use testkit::{Answers, Heard, Server, Subscribed, is_signed};

const ORIGIN: &str = "https://desk.example";
/// Long enough for what must not come.
const QUIET: Duration = Duration::from_millis(700);

/// A push service that answers so, in turn; the last for ever.
fn service(answers: &[u16]) -> Server {
    let left = Mutex::new(answers.to_vec());
    Server::begin(move |_| {
        let mut left = left.lock().expect("a turn");
        let status = if left.len() > 1 { left.remove(0) } else { left[0] };
        Answers::With(status, vec![], String::new())
    })
}

fn given(service: &Server, browser: &Subscribed) -> Subscription {
    Subscription { endpoint: service.url("/push/one"), p256dh: browser.p256dh(), auth: browser.auth() }
}

/// A person turns it on at a page of this session.
fn turned_on(bench: &Bench, service: &Server, browser: &Subscribed, session: &str, outcomes: bool) -> String {
    let page = Page { session, origin: ORIGIN, passkey: None };
    let given = given(service, browser);
    subscribe(&**bench.local(), page, "My phone", outcomes, &given).expect("told from now on");
    name_of(&given.endpoint).to_string()
}

fn comes(service: &Server, count: usize) -> Vec<Heard> {
    let until = Instant::now() + PATIENCE;
    while service.heard().len() < count {
        assert!(Instant::now() < until, "only {} of {count} came", service.heard().len());
        std::thread::sleep(Duration::from_millis(20));
    }
    service.heard()
}

fn denied(bench: &Bench, (run, approval): &(String, String)) {
    bench.control(run, "approval", &json!({ "approval_id": approval, "choice": "deny" }));
    bench.reaches(run, &["failed"]);
}

fn count(bench: &Bench, event: &str) -> usize {
    let stored = bench.reader().log(0, 100_000).expect("a log");
    stored.iter().filter(|one| one.event().expect("an event").event_type == event).count()
}

#[test]
fn a_device_is_told_once_a_minute_of_a_task_in_words_that_its_service_cannot_read() {
    let bench = Bench::new();
    let (service, browser) = (service(&[201]), Subscribed::new(7));
    denied(&bench, &bench.asking());
    assert!(service.heard().is_empty(), "nobody has turned it on");
    turned_on(&bench, &service, &browser, "s", true);
    let (run, approval) = bench.asking();
    let heard = comes(&service, 1).remove(0);
    assert_eq!(heard.line, "POST /push/one");
    let plain = browser.read(&heard.bytes).expect("it is for this browser");
    let plain: Value = serde_json::from_slice(&plain).expect("JSON");
    assert_eq!(plain, json!({ "kind": "approval", "path": format!("/?at={approval}") }));
    assert_eq!(Subscribed::new(8).read(&heard.bytes), None, "and for no other");
    let whole = format!("{:?}{}", heard.headers, heard.body);
    assert!(!whole.contains(&approval) && !whole.contains(&run), "the service learns of no task: {whole}");
    let (claims, signer) = is_signed(heard.header("authorization").expect("a sender")).expect("it holds");
    assert_eq!(signer, key(&**bench.local()).expect("the key"));
    assert_eq!(claims["aud"], service.url(""));
    assert!(!claims.to_string().contains("desk.example"), "nor of an address: {claims}");
    let now = api::Host::now(&**bench.local()).0 / 1000;
    let left = claims["exp"].as_i64().expect("a time") - now;
    assert!((1..=24 * 3600).contains(&left), "{claims}");
    for (name, value) in [("content-encoding", "aes128gcm"), ("ttl", "14400"), ("urgency", "high")] {
        assert_eq!(heard.header(name), Some(value));
    }
    assert_eq!(heard.header("topic").map(str::len), Some(32));
    // That it is done is told as well, and not within the minute.
    bench.allow(&approval);
    bench.reaches(&run, &["completed"]);
    std::thread::sleep(QUIET);
    assert_eq!(service.heard().len(), 1);
}

#[test]
fn a_service_is_tried_again_and_one_that_knows_a_device_no_more_ends_it() {
    let bench = Bench::new();
    let (service, browser) = (service(&[503, 410]), Subscribed::new(9));
    turned_on(&bench, &service, &browser, "s", false);
    let waits = bench.asking();
    comes(&service, 2);
    let until = Instant::now() + PATIENCE;
    while !list(&**bench.local()).expect("a list").is_empty() {
        assert!(Instant::now() < until, "it is told no more");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((count(&bench, "push.subscribed"), count(&bench, "push.ended")), (1, 1));
    denied(&bench, &waits);
    bench.asking();
    std::thread::sleep(QUIET);
    assert_eq!(service.heard().len(), 2);
}

#[test]
fn a_device_that_is_turned_off_or_whose_page_is_ended_is_told_nothing() {
    let bench = Bench::new();
    let (service, browser) = (service(&[201]), Subscribed::new(11));
    let local = &**bench.local();
    let first = turned_on(&bench, &service, &browser, "s", false);
    let handles = || local.secrets().handles().into_iter().filter(|one| one.starts_with("push.")).count();
    assert_eq!(handles(), 2, "the key, and where it is reached");
    end(local, &first, "turned off").expect("it was on");
    assert!(end(local, &first, "turned off").is_err());
    assert_eq!(handles(), 1);
    turned_on(&bench, &service, &browser, "s", false);
    end_of_page(local, "another page", "ended").expect("nothing of it");
    assert_eq!(list(local).expect("a list").len(), 1);
    end_of_page(local, "s", "ended").expect("it ends with its page");
    bench.asking();
    std::thread::sleep(QUIET);
    assert!(service.heard().is_empty());
    // Nothing of it is anywhere but in the vault.
    let stored = bench.reader().log(0, 100_000).expect("a log");
    for one in &stored {
        let text = format!("{:?}", one.event().expect("an event").payload);
        assert!(!text.contains("/push/one") && !text.contains(&browser.auth()), "{text}");
    }
    let page = Page { session: "s", origin: ORIGIN, passkey: None };
    let elsewhere =
        Subscription { endpoint: "https://evil.example/a".to_owned(), ..given(&service, &browser) };
    assert_eq!(
        subscribe(local, page, "x", false, &elsewhere).expect_err("no service").code,
        wire::Code::Usage
    );
    let no_key = Subscription { auth: "AA".to_owned(), ..given(&service, &browser) };
    assert_eq!(subscribe(local, page, "x", false, &no_key).expect_err("no key").code, wire::Code::Usage);
    assert_eq!(handles(), 1);
}
