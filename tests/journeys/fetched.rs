//! A request to a server: seen before it leaves, sent once to the host that was shown, and told by its receipt.

use super::server;
use super::stage::{Stage, say_yes};
use super::tool_servers::{asked, card};
use super::tree;
use conforms::conforms;
use serde_json::{Value, json};

use testkit::pty::Pty;
use testkit::{Answers, Server};

pub(super) const VALUE: &str = "kR7-u2Vq/9fXw+Lm4zPt0aBc8dEh";

fn fetch(arguments: Value) -> Value {
    json!({ "tool": "fetch", "arguments": arguments })
}

/// A store whose model says these in turn and is done after them; how `hermit run` ended, and its answer.
fn runs(stage: &Stage, profile: &str, says: &[Value], code: i32) -> Value {
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let model = server::script(&[says, &[done]].concat());
    let work = stage.work();
    let words = ["run", "--goal", "order a kettle", "--workspace", work.to_str().expect("UTF-8")];
    let words = [&words[..], &["--model", &model, "--profile", profile]].concat();
    stage.hermit(&words).ends(code).json()
}

fn id(value: &Value) -> String {
    value.as_str().expect("an identifier").to_owned()
}

/// Everything that the receipt of a task's only effect says.
fn receipt(stage: &Stage, task: &str) -> String {
    let row = stage.receipt(task);
    stage.hermit(&["receipts", "show", &id(&row["receipt_id"])]).ends(0).json().to_string()
}

#[conforms(part = "HK-7-1", "HK-18.2-1")]
#[test]
fn what_is_sent_was_on_the_card_and_its_receipt_tells_what_went_and_what_came() {
    let stage = Stage::new();
    let server = Server::agreeing();
    let order = json!({ "method": "POST", "url": server.url("/orders?n=1"), "body": "one\nkettle" });
    let ran = runs(&stage, "external_publish_gated", &[fetch(order)], 4);
    let (task, approval) = asked(&ran);
    let shown = card(&stage, &approval);
    for word in [&format!("SEND POST {}", server.url("/orders?n=1")), "127.0.0.1", "| kettle", "ADDRESS"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(server.heard().is_empty(), "nothing leaves before the yes");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let [heard] = <[_; 1]>::try_from(server.heard()).expect("sent once");
    assert_eq!((heard.line.as_str(), heard.body.as_str()), ("POST /orders?n=1", "one\nkettle"));
    let said = receipt(&stage, &task);
    let key = heard.header("idempotency-key").expect("a key").trim_matches('"').to_owned();
    let (sent, came) = (model::Digest::of(b"one\nkettle"), model::Digest::of(b"well received"));
    for word in [&sent.to_string(), &came.to_string(), "status 200", &key, "network_write"] {
        assert!(said.contains(word), "`{word}` is not in the receipt: {said}");
    }
    stage.is_sound();
    stage.prove_receipts(&task);
}

#[test]
fn a_look_at_a_page_has_a_receipt_of_its_own_too() {
    let stage = Stage::new();
    let server = Server::agreeing();
    let look = json!({ "method": "GET", "url": server.url("/page?q=kettles") });
    let ran = runs(&stage, "network_read_allowed", &[fetch(look)], 4);
    let (task, approval) = asked(&ran);
    assert!(card(&stage, &approval).contains("/page?q=kettles"));
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(server.heard().len(), 1);
    let said = receipt(&stage, &task);
    let came = model::Digest::of(b"well received").to_string();
    for word in [came.as_str(), "network_read", "no_effect"] {
        assert!(said.contains(word), "`{word}` is not in the receipt: {said}");
    }
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn nothing_goes_to_a_host_that_was_not_named() {
    let stage = Stage::new();
    let other = Server::agreeing();
    let away = other.url("/elsewhere");
    let to = away.clone();
    let server = Server::begin(move |_| Answers::With(307, vec![("Location", to.clone())], String::new()));
    let order = json!({ "method": "POST", "url": server.url("/orders"), "body": "x" });
    // Under a profile without the network nobody is even asked.
    let ran = runs(&stage, "local_edit_allowed", &[fetch(order.clone())], 0);
    assert_eq!(stage.count(&id(&ran["row"]["task_id"]), "approval.requested"), 0);
    assert!(server.heard().is_empty());
    // Allowed for one host, and led to another: nobody follows.
    let (task, approval) = asked(&runs(&stage, "external_publish_gated", &[fetch(order)], 4));
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!((server.heard().len(), other.heard().len()), (1, 0));
    assert!(receipt(&stage, &task).contains("nobody followed"));
    // The same place by a name that was not checked.
    let hidden = away.replace("127.0.0.1", "127.1");
    let (task, approval) =
        asked(&runs(&stage, "network_read_allowed", &[fetch(json!({ "method": "GET", "url": hidden }))], 4));
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert!(other.heard().is_empty());
    assert!(receipt(&stage, &task).contains("nothing was sent"));
    stage.is_sound();
}

/// Keeps a secret under a name, piped in as from another program.
pub(super) fn keep(stage: &Stage, name: &str, host: &str) {
    keep_with(stage, &[name, "--host", host]);
}

fn keep_with(stage: &Stage, words: &[&str]) {
    std::fs::write(stage.at("value.txt"), VALUE).expect("a file");
    let mut set = stage.command(&["secret", "set"]);
    set.args(words).stdin(std::fs::File::open(stage.at("value.txt")).expect("the file"));
    Stage::ran(&mut set).ends(0);
    std::fs::remove_file(stage.at("value.txt")).expect("it was there");
}

#[conforms("HK-17.3-1", "HK-17.3-3")]
#[test]
fn a_secret_goes_to_its_own_host_by_its_handle_and_is_nowhere_in_the_store() {
    let stage = Stage::new();
    // It sends back whatever it was sent, as a careless server does.
    let server = Server::begin(|heard| Answers::With(200, Vec::new(), format!("{heard:?}")));
    let other = Server::agreeing();
    keep(&stage, "shop", &server.host());
    let call = |server: &Server| {
        let headers = json!([{ "name": "Authorization", "value": "Bearer ", "secret": "shop" }]);
        fetch(json!({ "method": "POST", "url": server.url("/orders"), "headers": headers, "body": "x" }))
    };
    let ran = runs(&stage, "external_publish_gated", &[call(&other), call(&server)], 4);
    let (task, approval) = asked(&ran);
    let shown = card(&stage, &approval);
    assert!(shown.contains("secret:shop") && shown.contains(&server.url("/orders")), "{shown}");
    assert!(!shown.contains(&other.host()), "about the other host nobody is asked: {shown}");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let [heard] = <[_; 1]>::try_from(server.heard()).expect("sent once");
    assert_eq!(heard.header("authorization"), Some(format!("Bearer {VALUE}").as_str()));
    assert!(other.heard().is_empty());
    assert!(receipt(&stage, &task).contains("credentialed_api_call"));
    let proof = stage.prove(&task);
    assert!(!screen.contains(VALUE));
    stage.is_sound();
    // The store, the folder worked in, and the proof.
    for (name, thing) in tree::of(proof.parent().expect("a folder")) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        let found = bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!found, "the value is in {}", name.display());
    }
}

#[conforms("HK-17.3-1")]
#[test]
fn a_command_proves_who_it_is_over_tls_with_a_secret_that_it_never_sees() {
    let stage = Stage::new();
    let (port, heard, certificate) = server::in_tls();
    let host = format!("127.0.0.1:{port}");
    keep(&stage, "shop", &host);
    std::fs::write(stage.at("authority.pem"), certificate).expect("a file");
    let script = format!(
        "curl -sS -H \"Authorization: Bearer $HERMIT_SECRET_SHOP\" https://{host}/orders | tee said.txt"
    );
    let order = json!({ "tool": "command", "arguments":
        { "argv": ["sh", "-c", script], "network": true, "hosts": [host], "secrets": ["shop"] } });
    let (task, approval) = asked(&runs(&stage, "external_publish_gated", &[order], 4));
    let shown = card(&stage, &approval);
    assert!(shown.contains("secret:shop") && shown.contains(&host), "{shown}");
    // Whom this machine trusts, as an administrator would say it; and walls with a network of their own, which a root
    // without its powers could not put up.
    let [home, vault, authority] = [stage.home(), stage.at("vault.txt"), stage.at("authority.pem")]
        .map(|path| path.display().to_string());
    let environment =
        [("HERMIT_HOME", &*home), ("HERMIT_PASSPHRASE_FILE", &*vault), ("SSL_CERT_FILE", &*authority)];
    let mut pty = Pty::spawn(super::hermit(), &["approvals", "approve", &approval], &environment);
    say_yes(&mut pty, "critical");
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    let told = receipt(&stage, &task);
    let sent = heard.try_recv().unwrap_or_else(|_| panic!("nobody was asked: {told}"));
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}\r\n")), "{sent}");
    let said = std::fs::read_to_string(stage.work().join("said.txt")).expect("what came back");
    assert!(!said.contains(VALUE), "{said}");
    assert!(told.contains("was cut off there"), "{told}");
    assert!(told.contains(&format!("network: {host} at 127.0.0.1: allowed")), "{told}");
    let proof = stage.prove(&task);
    stage.is_sound();
    for (name, thing) in tree::of(proof.parent().expect("a folder")) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        let found = bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!found, "the value is in {}", name.display());
    }
}

#[test]
fn a_value_stands_in_an_address_or_a_body_only_where_its_owner_said_so() {
    for (places, in_url, in_body) in
        [(&[][..], false, false), (&["--in", "url", "--in", "body"][..], true, true)]
    {
        let stage = Stage::new();
        let server = Server::agreeing();
        let host = server.host();
        keep_with(&stage, &[&["shop", "--host", &host], places].concat());
        let script = format!(
            "curl -sS http://{host}/in?key=$HERMIT_SECRET_SHOP; \
             curl -sS -d key=$HERMIT_SECRET_SHOP http://{host}/of; true"
        );
        let order = json!({ "tool": "command", "arguments":
            { "argv": ["sh", "-c", script], "network": true, "hosts": [host], "secrets": ["shop"] } });
        let (_, approval) = asked(&runs(&stage, "external_publish_gated", &[order], 4));
        let home = stage.home().display().to_string();
        let vault = stage.at("vault.txt").display().to_string();
        let environment = [("HERMIT_HOME", &*home), ("HERMIT_PASSPHRASE_FILE", &*vault)];
        let mut pty = Pty::spawn(super::hermit(), &["approvals", "approve", &approval], &environment);
        say_yes(&mut pty, "critical");
        let (code, screen) = pty.end();
        assert_eq!(code, 0, "{screen}");
        let heard = server.heard();
        let of = |path: &str| heard.iter().find(|heard| heard.line.contains(path));
        // In an address where it may not stand, not even its stand-in leaves.
        let escaped = VALUE.replace('/', "%2F").replace('+', "%2B");
        let sent = of("/in").map(|heard| heard.line.contains(&escaped));
        assert_eq!(sent, in_url.then_some(true), "{places:?}");
        let posted = of("/of").expect("a request without it in the address goes through");
        assert_eq!(posted.body.contains(VALUE), in_body, "{places:?}: {}", posted.body);
        let listed = stage.hermit(&["secret", "list"]).ends(0).json();
        assert_eq!(listed["secrets"][0]["also_in"], if in_url { json!(["url", "body"]) } else { json!([]) });
        stage.is_sound();
    }
}

#[conforms("HK-11.4-1", "HK-11.4-2", "HK-18.2-1")]
#[test]
fn what_may_not_be_sent_is_kept_as_a_draft_and_everybody_is_told_by_which_rule() {
    let stage = Stage::new();
    let server = Server::agreeing();
    let order = json!({ "method": "POST", "url": server.url("/orders"), "body": "one kettle, please" });
    let ran = runs(&stage, "readonly_analysis", &[fetch(order)], 0);
    let task = id(&ran["row"]["task_id"]);
    assert!(server.heard().is_empty());
    assert_eq!(stage.count(&task, "approval.requested"), 0, "nobody is asked");
    const RULE: &str = "readonly_analysis.draft_instead";
    // The task shows both, the act that was asked and the one that was done.
    let plain = Stage::ran(&mut stage.command(&["task", "show", &task])).ends(0).out;
    for word in ["downgraded", "POST", "kept as a draft", "instead of what was asked, by", RULE] {
        assert!(plain.contains(word), "`{word}` is not in {plain}");
    }
    let said = receipt(&stage, &task);
    for word in ["asked: ", "POST", "done instead: kept as a draft", RULE, "`draft`", "no_effect"] {
        assert!(said.contains(word), "`{word}` is not in the receipt: {said}");
    }
    let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
    let [asked, instead] =
        <[Value; 2]>::try_from(shown["actions"].as_array().expect("acts").clone()).expect("two");
    assert_eq!((&asked["verdict"], &asked["state"]), (&json!("downgrade"), &json!("downgraded")));
    assert_eq!(instead["instead_of"], asked["action_request_id"]);
    let explain = |act: &Value| {
        Stage::ran(&mut stage.command(&["policy", "explain", &id(&act["action_request_id"])])).ends(0).out
    };
    for word in ["allowed only as a draft", RULE] {
        assert!(explain(&asked).contains(word), "`{word}` is not in {}", explain(&asked));
    }
    for word in ["allowed without asking", "instead  of", "POST", RULE] {
        assert!(explain(&instead).contains(word), "`{word}` is not in {}", explain(&instead));
    }
    stage.is_sound();
    stage.prove(&task);
}
