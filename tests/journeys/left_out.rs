//! A server that offers tools which no call could be held against: they are left out with words, before anybody registers it.

use super::tool_servers::{asked, card, furnished, put, register, work};
use serde_json::Value;

#[test]
fn a_tool_whose_schema_is_none_is_left_out_on_card_and_list_and_the_others_are_registered() {
    let stage = furnished();
    put(&stage, "mode.txt", "bad_schema");
    let shown = register(&stage, &[]);
    let why = "left out, and not used: its tool `echo`: its input schema is not valid: ";
    assert!(shown.contains(why), "{shown}");
    assert!(shown.contains("let tasks use 2 tools"), "{shown}");
    let told = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    let names: Vec<&Value> =
        told["words"].as_array().expect("tools").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["count", "touch"], "{told}");
    let left_out = told["left_out"][0].as_str().expect("words");
    assert!(left_out.starts_with("its tool `echo`: its input schema is not valid: "), "{left_out}");
    let said = super::stage::Stage::ran(&mut stage.command(&["tools", "show", "toy"])).ends(0).out;
    assert!(said.contains(why), "{said}");

    // The others are called as ever, and nothing counts as changed.
    let call = ["tools", "try", "toy", "count", "{}", "--workspace", &work(&stage)];
    let (task, approval) = asked(&stage.hermit(&call).ends(4).json());
    assert!(card(&stage, &approval).contains("count"));
    super::tool_servers::yes(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert_eq!(stage.hermit(&["tools", "list"]).ends(0).json()["servers"][0]["state"], "ready");
    stage.is_sound();
}

#[test]
fn a_server_none_of_whose_tools_can_be_called_is_not_registered() {
    let stage = furnished();
    put(&stage, "mode.txt", "bad_schemas");
    let add = ["tools", "add", "toy", "--workspace", &work(&stage), "--", "/usr/bin/python3", "server.py"];
    let (_, said, _) = stage.hermit(&add).ends(2).complaint();
    assert!(
        said.contains(
            "was not registered: none of its tools can be called; its tool `list`: its input schema"
        ),
        "{said}"
    );
    assert_eq!(stage.hermit(&["tools", "list"]).ends(0).json()["servers"], serde_json::json!([]));
    assert!(stage.waiting().is_empty(), "nobody is asked");
    stage.is_sound();
}
