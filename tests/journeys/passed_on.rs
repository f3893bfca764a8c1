//! Tools of a server that a person passes on: an agent of another program sees and calls them by the path of a task, and those
//! alone; what is taken back, or changes, is gone for it as well.

use super::agents::{Agent, status, to_the_end, words};
use super::stage::Stage;
use super::tool_servers::{asked, card, classify, furnished, put, register, work, yes};
use conforms::conforms;
use serde_json::{Value, json};

fn listed(agent: &mut Agent) -> Vec<String> {
    let tools = agent.ask("tools/list", &json!({}));
    let tools = tools["tools"].as_array().expect("tools").iter();
    tools
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| name.contains("__"))
        .map(str::to_owned)
        .collect()
}

fn echo(text: &str) -> Value {
    json!({ "text": text })
}

/// A person passes the tools of the toy server on.
fn pass_on(stage: &Stage) -> String {
    let asked_for = ["tools", "pass-on", "toy", "--workspace", &work(stage)];
    let (_, approval) = asked(&stage.hermit(&asked_for).ends(4).json());
    let shown = card(stage, &approval);
    yes(stage, &approval);
    shown
}

#[conforms(part = "HV-3.3-4")]
#[test]
fn an_agent_outside_calls_what_a_person_passes_on_with_a_receipt_and_nothing_else() {
    let stage = furnished();
    register(&stage, &[]);
    let mut agent = Agent::start(&stage, &[]);
    // Nothing is passed on, and nothing can be while nobody has said what any tool may do.
    assert!(listed(&mut agent).is_empty());
    let refused = to_the_end(&mut agent, "toy__echo", &echo("hi"));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(words(&refused).contains("hermit tools pass-on toy"), "{refused}");
    let early = stage.hermit(&["tools", "pass-on", "toy", "--workspace", &work(&stage)]).ends(2);
    assert!(early.err.contains("classify those that are to be passed on"), "{}", early.err);
    classify(&stage, "echo", "read_local", &[]);
    assert!(listed(&mut agent).is_empty(), "it is classified, and not passed on");
    let shown = pass_on(&stage);
    assert!(shown.contains("every agent that is a client of Hermit") && shown.contains("echo"), "{shown}");
    // The same connection sees it, and what nobody has classified is not there.
    assert_eq!(listed(&mut agent), ["toy__echo"]);
    let called = to_the_end(&mut agent, "toy__echo", &echo("through hermit"));
    assert_eq!((status(&called), &called["isError"]), ("done", &json!(false)), "{called}");
    assert!(words(&called).contains("through hermit"), "{called}");
    let receipt = called["structuredContent"]["receipt_id"].as_str().expect("a receipt").to_owned();
    stage.hermit(&["receipts", "show", &receipt]).ends(0);
    let link = called["content"].as_array().expect("content").iter();
    assert!(link.into_iter().any(|block| block["uri"].as_str().is_some_and(|uri| uri.ends_with(&receipt))));
    let other = to_the_end(&mut agent, "toy__touch", &json!({ "path": "a" }));
    assert_eq!(other["isError"], true, "nobody has said what it may do: {other}");
    assert!(words(&other).contains("hermit tools classify toy"), "{other}");
    // Taken back, it is gone at once.
    stage.hermit(&["tools", "pass-on", "toy", "--off"]).ends(0);
    let refused = to_the_end(&mut agent, "toy__echo", &echo("again"));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(words(&refused).contains("hermit tools pass-on toy"), "{refused}");
    assert!(listed(&mut agent).is_empty());
    let twice = stage.hermit(&["tools", "pass-on", "toy", "--off"]).ends(2);
    assert!(twice.err.contains("not passed on"), "{}", twice.err);
    agent.close();
    stage.is_sound();
}

#[test]
fn a_tool_whose_server_says_something_else_of_it_is_gone_for_an_agent_outside_as_well() {
    let stage = furnished();
    put(&stage, "mode.txt", "pulls_and_tells");
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    pass_on(&stage);
    let mut agent = Agent::start(&stage, &[]);
    assert_eq!(listed(&mut agent), ["toy__echo"]);
    let called = to_the_end(&mut agent, "toy__echo", &echo("first"));
    assert_eq!(status(&called), "done", "{called}");
    // It said during that call that its words are others now.
    assert!(listed(&mut agent).is_empty());
    let refused = to_the_end(&mut agent, "toy__echo", &echo("second"));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(words(&refused).contains("hermit tools add toy --again"), "{refused}");
    agent.close();
    stage.is_sound();
}
