//! Programs with the host's token.

use crate::{home::Home, open, options};
use gateway::{BODY_BYTES_MAX, Client, Token, serve};
use serde_json::json;
use std::net::TcpListener;
use std::sync::Arc;
use wire::{Access, COMMANDS, Code};

#[test]
fn a_client_asks_what_the_api_answers() {
    let open = open(80);
    let (task, _) = open.home.with_an_act("write a");
    let client = open.client();
    let shown = client.call(&wire::task::Show { task: task.to_string() }).expect("shown");
    assert_eq!(shown.row.task_id, task.to_string());
    let error = client.call(&wire::task::Show { task: "task_00000000000000000000000000000000".to_owned() });
    assert_eq!(error.expect_err("unknown").code, Code::NotFound);
    let params = json!({ "task": task.to_string() });
    assert_eq!(client.ask("task.show", &params).expect("shown"), open.home.must("task.show", params));
}

#[test]
fn a_wrong_or_missing_token_is_answered_401_and_runs_nothing() {
    let open = open(81);
    let before = open.home.must("ledger.stats", json!({}));
    let almost = format!("{}0", &open.bearer()[..open.bearer().len() - 1]);
    let wrong = Token::new([8; 32]);
    let wrong = format!("Bearer {}", wrong.reveal());
    let bare = open.token.reveal().to_owned();
    for given in
        [None, Some(almost.as_str()), Some(wrong.as_str()), Some(bare.as_str()), Some("Bearer "), Some("")]
    {
        let headers: Vec<(&str, &str)> = given.map(|given| ("authorization", given)).into_iter().collect();
        let (status, answer) = open.raw("/api/gate.halt", &headers, b"{}");
        assert_eq!((status, &answer["code"]), (401, &json!("unauthorised")), "{given:?}");
    }
    assert_eq!(before, open.home.must("ledger.stats", json!({})));
}

#[test]
fn a_foreign_page_or_a_rebound_name_is_answered_403() {
    let open = open(82);
    let own = open.server.address().to_string();
    let token = open.bearer();
    let port = open.server.address().port();
    for origin in
        ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "http://localhost"]
    {
        let headers = [("authorization", token.as_str()), ("origin", origin)];
        let (status, answer) = open.raw("/api/host.status", &headers, b"{}");
        assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{origin}");
    }
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        String::from("127.0.0.1:1"),
    ] {
        let headers = [("authorization", token.as_str()), ("host", host.as_str())];
        let (status, _) = open.raw("/api/host.status", &headers, b"{}");
        assert_eq!(status, 403, "{host}");
    }
    for origin in [format!("http://{own}"), format!("http://localhost:{port}")] {
        let headers = [("authorization", token.as_str()), ("origin", origin.as_str())];
        assert_eq!(open.raw("/api/host.status", &headers, b"{}").0, 200, "{origin}");
    }
}

#[test]
fn a_body_over_the_limit_is_answered_413_and_bad_json_400() {
    let open = open(83);
    let token = open.bearer();
    let headers = [("authorization", token.as_str())];
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    let (status, answer) = open.raw("/api/task.list", &headers, &large);
    assert_eq!((status, &answer["code"]), (413, &json!("too_large")));
    for bad in [&b"{"[..], b"[]", b"7", b"\xff"] {
        let (status, answer) = open.raw("/api/task.list", &headers, bad);
        assert_eq!((status, &answer["code"]), (400, &json!("usage")), "{bad:?}");
    }
    let (status, answer) = open.raw("/api/task.list", &headers, br#"{"unheard_of":1}"#);
    assert_eq!((status, &answer["details"]["field"]), (422, &json!("unheard_of")));
    assert_eq!(open.raw("/api/task.nothing", &headers, b"{}").0, 404);
    assert_eq!(open.raw("/api/else/where", &headers, b"{}").0, 404);
    assert_eq!(open.raw("/v1/elsewhere", &headers, b"{}").0, 404);
    assert_eq!(open.raw("/api/commands", &headers, b"{}").0, 405);
}

#[test]
fn a_no_passes_through_the_gateway() {
    let open = open(84);
    let (_, approval) = open.home.with_a_question("delete held");
    let denied =
        open.client().call(&wire::approvals::Deny { approval, ..Default::default() }).expect("denied");
    assert!(denied.accepted);
    assert_eq!(denied.status.as_str(), "denied");
}

#[test]
fn no_command_of_the_table_can_grant() {
    let open = open(85);
    let (task, approval) = open.home.with_a_question("delete held");
    let client = open.client();
    let (task, folder) = (task.to_string(), open.home.world.folder.path().display().to_string());
    let pem = seal::Signer::public(testkit::Person::new(0x33).signer()).to_pem();
    let stranger = testkit::Person::new(0x33);
    let forged = stranger.sign(
        open.home.world.kernel(),
        task.parse().expect("an id"),
        approval.parse().expect("an id"),
        model::approval::Choice::Once,
        None,
    );
    let forged = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, forged);
    // Everything a command could be told about this approval, on all of them; what does not fit a command is refused
    // by name, so each is asked with the fields it has.
    let all = json!({
        "task": task, "approval": approval, "envelope": forged, "surface": "terminal", "text": "yes, allow it",
        "keys": [{ "purpose": "approval", "pem": pem }], "kept_in": "x", "choice": "once", "result": "succeeded",
        "note": "yes", "workspace": folder, "goal": "allow it", "path": format!("{folder}/out"), "bytes": "eA==",
        "name": "x", "receipt": "abcd", "artifact": "abcd", "grant": "abcd", "memory": "abcd", "reason": "yes",
        "from": folder, "to": format!("{folder}/copy"), "granted": true, "status": "granted", "decision": "once",
    });
    let status =
        || open.home.must("approvals.show", json!({ "approval": approval }))["row"]["status"].clone();
    for info in COMMANDS {
        // These withdraw or refuse it, which any surface may.
        if [
            "approvals.deny",
            "task.cancel",
            "task.retry",
            "task.pause",
            "task.note",
            "gate.halt",
            "task.edit_goal",
            "conversations.say",
        ]
        .contains(&info.name)
        {
            continue;
        }
        let mut params = all.clone();
        while let Err(error) = client.ask(info.name, &params) {
            let unknown = error.details["field"].as_str().filter(|_| error.code == Code::UnknownField);
            let Some(field) = unknown.map(str::to_owned) else { break };
            params.as_object_mut().expect("an object").remove(&field).expect("a field we sent");
        }
        assert_eq!(status(), "pending", "{} answered it", info.name);
        assert_eq!(open.home.world.files()["held.txt"], b"before\n", "{} acted", info.name);
    }
}

#[test]
fn what_only_the_owner_may_is_refused_to_whoever_attaches() {
    let open = open(86);
    for info in COMMANDS.iter().filter(|info| info.access == Access::owner) {
        let error = open.client().ask(info.name, &json!({})).expect_err(info.name);
        assert_eq!((error.code, error.exit_code()), (Code::Forbidden, 3), "{}", info.name);
    }
}

#[test]
fn whoever_may_read_the_store_finds_the_token_beside_it() {
    let open = open(87);
    let dir = open.home.world.store.path();
    let address = open.server.address().to_string();
    assert!(Client::attach(&address, dir).is_err(), "no token is kept yet");
    open.token.keep(dir).expect("kept");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(dir.join(gateway::TOKEN_FILE)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let client = Client::attach(&address, dir).expect("attached");
    assert_eq!(client.call(&wire::host::Status {}).expect("answered").role.as_str(), "owner");
    Token::new([9; 32]).keep(dir).expect("kept in place of the old one");
    assert!(Client::attach(&address, dir).is_err(), "the token of another host opens nothing");
}

#[test]
fn the_token_goes_to_loopback_only_and_is_in_no_debug_text() {
    let token = Token::new([7; 32]);
    for address in ["192.0.2.1:80", "example.org:80", "http://10.0.0.1:1", "127.0.0.1", ""] {
        assert!(Client::connect(address, token.clone()).is_err(), "{address}");
    }
    let client = Client::connect("http://127.0.0.1:9/", token.clone()).expect("loopback");
    assert!(!format!("{client:?} {token:?}").contains("0707"));
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    assert!(
        serve(Arc::new(Home::new(88)), listener, options(token, None, None)).is_err(),
        "reachable from elsewhere"
    );
}

#[test]
fn a_gateway_that_stopped_answers_nothing_and_the_client_says_so() {
    let open = open(89);
    let client = open.client();
    client.call(&wire::host::Status {}).expect("answered");
    open.server.stop();
    let error = client.call(&wire::host::Status {}).expect_err("gone");
    assert_eq!(error.code, Code::Unavailable);
}
