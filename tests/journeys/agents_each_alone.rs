//! The agent of another program on the wire of 2026-07-28, where no conversation is begun: each request says who asks, and a call
//! that waits is made again with the state that it was given.

use super::agents::{Agent, a_file, task};
use super::attached::Served;
use super::stage::{Stage, verified};
use base64::Engine as _;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const WIRE: &str = "2026-07-28";

/// A call as this wire has it.
fn call(can: &Value, more: &Value) -> Value {
    let mut params = json!({ "name": "write", "arguments": a_file(), "_meta": {
        "io.modelcontextprotocol/protocolVersion": WIRE,
        "io.modelcontextprotocol/clientInfo": { "name": "new-agent", "version": "3" },
        "io.modelcontextprotocol/clientCapabilities": can,
    } });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    params
}

fn asks(agent: &mut Agent, method: &str, params: &Value) -> Value {
    let id = agent.begin(method, params);
    agent.answer(id).0
}

/// The proof of the act is handed over, and verifies.
fn hands_over_its_proof(stage: &Stage, agent: &mut Agent, done: &Value) {
    let uri = done["_meta"]["hermit/proof"].as_str().expect("where its proof is").to_owned();
    let shown = asks(agent, "resources/read", &call(&json!({}), &json!({ "uri": uri })));
    let blob =
        shown["result"]["contents"][0]["blob"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned();
    let bytes = base64::engine::general_purpose::STANDARD.decode(blob).expect("Base64");
    let proof = stage.at("handed.zip");
    std::fs::write(&proof, bytes).expect("a file");
    verified(&proof, &["--trust", &stage.key("log")]).ends(0);
    let left = std::fs::read_dir(stage.home().join("proofs")).expect("a folder").count();
    assert_eq!(left, 0, "nothing is left lying");
}

/// The session ends and the next one begins: a state of the one before goes on with nothing.
fn ends_its_session(agent: &mut Agent, going: &Value) {
    let nothing = json!({});
    let done = json!({ "name": "done", "arguments": { "summary": "over" } });
    asks(agent, "tools/call", &call(&nothing, &done));
    let read = json!({ "name": "read", "arguments": { "path": "made.txt" } });
    let next = asks(agent, "tools/call", &call(&nothing, &read));
    assert_eq!(next["result"]["structuredContent"]["status"], "done", "{next}");
    let late = asks(agent, "tools/call", &call(&nothing, going));
    assert_eq!(late["error"]["code"], -32_602, "{late}");
}

#[test]
fn on_the_wire_without_conversations_an_approval_outlives_every_process_and_its_receipt_comes_with_it() {
    let stage = Stage::new();
    let mut agent = Agent::connected(&stage, &[]);
    let nothing = json!({});
    let told = asks(&mut agent, "server/discover", &call(&nothing, &nothing));
    assert!(told["result"]["supportedVersions"].to_string().contains(WIRE), "{told}");

    // Its task is begun by a look; what waits for a person is answered soon.
    let look = json!({ "name": "list", "arguments": {} });
    let looked = asks(&mut agent, "tools/call", &call(&nothing, &look));
    assert_eq!(looked["result"]["structuredContent"]["status"], "done", "{looked}");
    let began = Instant::now();
    let waits = asks(&mut agent, "tools/call", &call(&nothing, &nothing));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let result = &waits["result"];
    assert_eq!(result["resultType"], "input_required", "{waits}");
    assert_eq!(result["_meta"]["hermit/call"]["status"], "awaiting_approval", "{waits}");
    assert!(result["inputRequests"].is_null(), "a client that cannot ask is not made to: {waits}");
    let state = result["requestState"].as_str().expect("a state").to_owned();
    let approval = stage.is_asked();

    // A client that can ask its person tells them; their yes there allows nothing, and nobody is asked twice.
    let can = json!({ "elicitation": {} });
    let waits = asks(&mut agent, "tools/call", &call(&can, &json!({ "requestState": state })));
    let asked = &waits["result"]["inputRequests"]["hermit"];
    assert_eq!(asked["method"], "elicitation/create", "{waits}");
    assert!(asked["params"]["message"].to_string().contains("allow"), "{waits}");
    let state = waits["result"]["requestState"].as_str().expect("a state").to_owned();
    let yes = json!({ "hermit": { "action": "accept", "content": {} } });
    let more = json!({ "requestState": state, "inputResponses": yes });
    let waits = asks(&mut agent, "tools/call", &call(&can, &more));
    assert_eq!(waits["result"]["resultType"], "input_required", "{waits}");
    assert!(!stage.work().join("made.txt").exists());
    assert_eq!(stage.waiting().len(), 1);

    // A state that was spoilt is none, and changes nothing.
    let spoilt = format!("{}x", state.trim_end_matches('x'));
    let refused = asks(&mut agent, "tools/call", &call(&can, &json!({ "requestState": spoilt })));
    assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    agent.kill();

    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let mut agent = Agent::connected(&stage, &[]);
    let mut going = json!({ "requestState": state });
    let done = goes_on(&mut agent, &mut going);
    assert_eq!(
        (&done["structuredContent"]["status"], &done["isError"]),
        (&json!("done"), &json!(false)),
        "{done}"
    );
    let task = task(&stage);
    let receipt = stage.receipt(&task);
    assert_eq!(done["_meta"]["hermit/receipt"]["row"]["receipt_id"], receipt["receipt_id"], "{done}");
    assert_eq!((stage.count(&task, "approval.requested"), stage.count(&task, "attempt.created")), (1, 1));
    // The same again with its state is the same, and does nothing anew.
    let again = asks(&mut agent, "tools/call", &call(&nothing, &going));
    assert_eq!(again["result"]["structuredContent"]["receipt_id"], receipt["receipt_id"], "{again}");
    assert_eq!(stage.waiting().len(), 0);

    hands_over_its_proof(&stage, &mut agent, &done);
    ends_its_session(&mut agent, &going);
    agent.close();
    assert_eq!(stage.hermit(&["task", "show", &task]).ends(0).json()["reasoner"], "session:new-agent 3");
    stage.is_sound();
}

/// Asks again with the state that came last, until the call is over; what it came to.
fn goes_on(agent: &mut Agent, going: &mut Value) -> Value {
    let by = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = asks(agent, "tools/call", &call(&json!({}), going));
        if answer["result"]["resultType"] != "input_required" {
            return answer["result"].clone();
        }
        *going = json!({ "requestState": answer["result"]["requestState"] });
        assert!(Instant::now() < by, "{answer}");
    }
}

#[test]
fn over_http_no_session_is_begun_and_who_gives_up_at_the_client_stops_the_call() {
    let stage = Stage::new();
    let served = Served::by(&stage);
    let path = format!("/mcp?workspace={}", stage.work().to_str().expect("UTF-8"));
    let can = json!({ "elicitation": {} });
    let token = std::fs::read_to_string(stage.home().join("gateway.token")).expect("a token");
    let sends_as = |name: &str, params: &Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let lines = format!(
            "Authorization: Bearer {}\r\nMCP-Protocol-Version: {WIRE}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n",
            token.trim()
        );
        served.ask_with(&lines, ("POST", &path), &body)
    };
    let sends = |params: &Value| sends_as("write", params);
    let (status, waits) = sends(&call(&can, &json!({})));
    assert_eq!((status, &waits["result"]["resultType"]), (200, &json!("input_required")), "{waits}");
    assert_eq!(waits["result"]["inputRequests"]["hermit"]["method"], "elicitation/create", "{waits}");
    stage.is_asked();
    let no = json!({ "hermit": { "action": "decline" } });
    let more = json!({ "requestState": waits["result"]["requestState"], "inputResponses": no });
    let (status, given_up) = sends(&call(&can, &more));
    assert_eq!((status, &given_up["result"]["resultType"]), (200, &json!("complete")), "{given_up}");
    assert!(!stage.work().join("made.txt").exists());
    // What is said above the body has to be what stands in it.
    let (status, refused) = sends_as("read", &call(&can, &json!({})));
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32_020)), "{refused}");
    drop(served);
    stage.is_sound();
}
