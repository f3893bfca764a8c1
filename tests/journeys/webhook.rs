//! A gateway to a program of the person's own, through the built programs: what it says is on record before it is answered, what it
//! is told is signed, and hosts that are killed in between lose nothing and do nothing twice.

use super::attached::Served;
use super::stage::{Stage, until};
use conforms::conforms;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// The bytes 0 to 31.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What was posted: the head in small letters, and the body.
type Posted = Arc<Mutex<Vec<(String, String)>>>;

/// A program that takes whatever is posted to it; where it is.
fn program() -> (u16, Posted) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let posted = Posted::default();
    let kept = Arc::clone(&posted);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let came = post_of(stream);
            kept.lock().expect("no poison").extend(came);
        }
    });
    (port, posted)
}

fn post_of(mut stream: TcpStream) -> Option<(String, String)> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let mut body = vec![0; header(&head, "content-length").parse().ok()?];
    lines.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n").ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map_or("", str::trim)
}

/// Says something to the gateway, signed with this secret.
fn says(host: &Served, (gateway, id, secret): (&str, &str, &str), body: &Value) -> (u16, Value) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs().to_string();
    let signature = seal::webhook::sign(secret.as_bytes(), id, &now, body.to_string().as_bytes());
    let lines = format!("webhook-id: {id}\r\nwebhook-timestamp: {now}\r\nwebhook-signature: {signature}\r\n");
    host.ask_with(&lines, ("POST", &format!("/v1/messages/{gateway}")), body)
}

/// The host is gone at once, and another one serves the store.
fn killed(stage: &Stage, host: Served) -> Served {
    let sent = Command::new("kill").args(["-9", &host.pid()]).status().expect("kill");
    assert!(sent.success());
    drop(host);
    Served::by(stage)
}

/// A store with a gateway to this program that a person connected, and the code of a pairing that they allowed.
fn connected(stage: &Stage, port: u16) -> String {
    let mut set = stage.command(&["secret", "set", "gateway-family", "--host", &format!("127.0.0.1:{port}")]);
    let mut set = set.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    set.stdin.take().expect("a pipe").write_all(SECRET.as_bytes()).expect("it is read");
    assert!(testkit::ends(&mut set).success());
    let (work, at) = (stage.work(), format!("http://127.0.0.1:{port}/hermit"));
    let work = work.to_str().expect("UTF-8");
    let add = [
        "gateway",
        "add",
        "webhook",
        "--name",
        "family",
        "--address",
        at.as_str(),
        "--playbook",
        "inventory",
    ];
    stage.hermit(&[&add[..], &["--workspace", work]].concat()).ends(4);
    let (code, screen) = stage.approve(&stage.is_asked());
    assert_eq!(code, 0, "{screen}");
    let pairing = stage.hermit(&["gateway", "pair", "family", "--may", "goals"]).ends(4).json();
    let (code, screen) = stage.approve(&stage.is_asked());
    assert_eq!(code, 0, "{screen}");
    pairing["code"].as_str().expect("a code").to_owned()
}

fn messages(stage: &Stage) -> Vec<Value> {
    let told = stage.hermit(&["gateway", "messages", "family"]).ends(0).json();
    told["messages"].as_array().expect("messages").clone()
}

#[conforms(part = "HV-3.1-1")]
#[test]
fn a_gateway_keeps_nothing_that_a_killed_host_could_lose_and_says_and_hears_everything_once() {
    let stage = Stage::new();
    let (port, posted) = program();
    let code = connected(&stage, port);
    let host = Served::by(&stage);
    let kim = |text: &str| json!({ "sender": "kim", "name": "Kim", "text": text });
    let right = |id: &'static str| ("family", id, SECRET);

    // Nobody is heard who has not signed, or was not paired; what is not signed is told nothing.
    let unsigned = says(&host, ("family", "m0", "whsec_AAAA"), &kim("hello"));
    assert_eq!((unsigned.0, &unsigned), (403, &says(&host, ("nobody", "m0", SECRET), &kim("hello"))));
    // However many such calls come, what is signed is heard, and told why it is not.
    let floods = |_| host.ask_with("", ("POST", "/v1/messages/family"), &kim("hello")).0;
    assert_eq!((0..610).map(floods).last(), Some(429));
    let stranger = says(&host, right("m0"), &kim("hello"));
    assert_eq!(stranger.0, 403);
    assert!(stranger.1["message"].as_str().is_some_and(|why| why.contains("not_paired")), "{stranger:?}");
    assert_eq!(says(&host, right("m0"), &json!({ "sender": "kim" })).0, 400);

    // An answer says that it is on record, whatever happens to the host in the next moment.
    assert_eq!(says(&host, right("m1"), &kim(&code)), (202, json!({ "duplicate": false })));
    let host = killed(&stage, host);
    assert_eq!(says(&host, right("m1"), &kim(&code)), (200, json!({ "duplicate": true })));
    let senders = stage.hermit(&["gateway", "senders", "family"]).ends(0).json();
    assert_eq!(
        (&senders["senders"][0]["sender"], senders["senders"].as_array().map(Vec::len)),
        (&json!("kim"), Some(1))
    );

    // What goes out waits for a yes, is signed under a key of its own, and goes once, whoever holds the store by then.
    let (code, screen) = stage.approve(&stage.is_asked());
    assert_eq!(code, 0, "{screen}");
    until("the greeting is posted", || posted.lock().expect("no poison").len() == 1);
    let (head, body) = posted.lock().expect("no poison")[0].clone();
    let (id, at) = (header(&head, "webhook-id"), header(&head, "webhook-timestamp"));
    let signature = seal::webhook::sign(SECRET.as_bytes(), id, at, body.as_bytes());
    assert_eq!(header(&head, "webhook-signature"), signature.to_ascii_lowercase());
    let told: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((&told["chat"], told["id"].as_str()), (&json!("kim"), Some(header(&head, "webhook-id"))));
    until("it is on record as sent", || messages(&stage).iter().any(|one| one["state"] == "sent"));

    // A goal begins one task, and its sender's words come from a chat and nowhere else.
    assert_eq!(says(&host, right("m2"), &kim("what is here?")).0, 202);
    let host = killed(&stage, host);
    assert_eq!(says(&host, right("m2"), &kim("what is here?")), (200, json!({ "duplicate": true })));
    let heard = |use_of: &str| messages(&stage).iter().filter(|one| one["used_as"] == use_of).count();
    assert_eq!((heard("pairing"), heard("words")), (1, 1));
    let rests = |one: &Value| one["task_status"] == "blocked" || one["task_status"] == "completed";
    until("its task asks a person, or is over", || {
        messages(&stage).iter().any(|one| one["used_as"] == "words" && rests(one))
    });
    assert_eq!(posted.lock().expect("no poison").len(), 1, "the greeting once, and nothing without a yes");
}
