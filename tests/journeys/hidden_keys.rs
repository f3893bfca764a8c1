//! What looks like a key in the folder is kept from a server of tools, or the server is not started.

use super::tool_servers::{alive, calls, classify, furnished, put, register, work};
use serde_json::json;

/// A bound on what can be hidden is no bound on what is kept from a server: it gets nothing then.
#[test]
fn a_server_is_not_started_where_more_keys_lie_than_can_be_hidden_from_it() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    classify(&stage, "touch", "write_local", &["--path-pointer", "/path"]);
    for n in 0..300 {
        put(&stage, &format!("k{n}.pem"), "a key");
    }
    for (tool, arguments) in [("echo", json!({ "text": "hello" })), ("touch", json!({ "path": "made.txt" }))]
    {
        let done = calls(&stage, &format!("toy__{tool}"), &arguments, 0);
        let task = done["row"]["task_id"].as_str().expect("a task");
        let told = format!("{:?}", stage.events(task));
        let receipts = stage.hermit(&["receipts", "list", "--task", task]).ends(0).json().to_string();
        let all = told + &receipts;
        assert!(all.contains("more than 256 places look like keys"), "{tool}: {all}");
    }
    let work = work(&stage);
    let words = ["tools", "add", "more", "--workspace", &work, "--", "/usr/bin/python3", "server.py"];
    let (_, said, _) = stage.hermit(&words).ends(2).complaint();
    assert!(said.contains("more than 256 places look like keys"), "{said}");
    assert_eq!(alive(&stage), 0);
    stage.is_sound();
}
