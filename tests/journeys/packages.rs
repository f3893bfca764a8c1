//! The package that a server is started from: told by its words, found as it is installed, or not pinned, on card and record.

use super::stage::Stage;
use super::tool_servers::{asked, card, furnished, put, work, yes};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// A store whose folder holds a program of the name `npx` that starts the toy server, whatever it is told to fetch.
fn fetching() -> Stage {
    let stage = furnished();
    put(&stage, "npx", "#!/bin/sh\nexec /usr/bin/python3 server.py\n");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(stage.work().join("npx"), open).expect("it may be started");
    stage
}

/// The card of a server that is started so, denied unless `allowed`.
fn registered(stage: &Stage, name: &str, package: &str, allowed: bool) -> String {
    let add = ["tools", "add", name, "--workspace", &work(stage), "--", "./npx", "-y", package];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    let shown = card(stage, &approval);
    if allowed {
        yes(stage, &approval);
    } else {
        stage.hermit(&["approvals", "deny", &approval]).ends(0);
    }
    shown
}

#[test]
fn a_package_and_its_version_stand_on_the_card_and_another_version_is_not_called() {
    let stage = fetching();
    let told = registered(&stage, "told", "@scope/toy@1.2.3", false);
    let line = "it is the npm package \\\"@scope/toy\\\", version 1.2.3 as its words say";
    assert!(told.contains(line) && !told.contains("another version may run"), "{told}");
    let open = registered(&stage, "open", "@scope/toy@latest", false);
    let line = "it is the npm package \\\"@scope/toy@latest\\\", version not pinned";
    assert!(open.contains(line) && open.contains("another version may run each time"), "{open}");

    // The one that is installed is the one that runs, until it is another.
    let described = |version: &str| json!({ "name": "@scope/toy", "version": version }).to_string();
    std::fs::create_dir_all(stage.work().join("node_modules/@scope/toy")).expect("a folder");
    put(&stage, "node_modules/@scope/toy/package.json", &described("4.5.6"));
    let here = registered(&stage, "toy", "@scope/toy", true);
    assert!(here.contains("version 4.5.6 as it is installed here"), "{here}");
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    assert_eq!(
        shown["package"], "the npm package \"@scope/toy\", version 4.5.6 as it is installed here",
        "{shown}"
    );
    put(&stage, "node_modules/@scope/toy/package.json", &described("4.5.7"));
    let call = ["tools", "try", "toy", "count", "{}", "--workspace", &work(&stage)];
    let (task, approval) = asked(&stage.hermit(&call).ends(4).json());
    let (_, screen) = stage.approve(&approval);
    let receipt: Value = stage.receipt(&task);
    assert_eq!(receipt["result"], "failed", "{receipt}: {screen}");
    assert!(receipt.to_string().contains("is not the one that was registered"), "{receipt}");
    let add = ["tools", "add", "toy", "--again", "--workspace", &work(&stage)];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    let again = card(&stage, &approval);
    assert!(again.contains("STARTED OTHERWISE") && again.contains("version 4.5.7"), "{again}");
    stage.is_sound();
}

#[test]
fn a_program_that_is_another_or_cannot_be_read_is_not_started_until_it_is_the_pinned_one_again() {
    let stage = furnished();
    let work = work(&stage);
    let add = ["tools", "add", "toy", "--workspace", &work, "--", "/usr/bin/python3", "./server.py"];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    yes(&stage, &approval);
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    assert_eq!(
        (&shown["pins"][1]["name"], shown["pins"][1]["sha256"].as_str().map(str::len)),
        (&json!("./server.py"), Some(64)),
        "{shown}"
    );
    let at = stage.work().join("server.py");
    let bytes = std::fs::read_to_string(&at).expect("it is there");
    let may = |mode: u32| {
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode)).expect("its bits");
    };
    let calls = || -> Value {
        let call = ["tools", "try", "toy", "count", "{}", "--workspace", &work];
        let (task, approval) = asked(&stage.hermit(&call).ends(4).json());
        stage.approve(&approval);
        stage.receipt(&task)
    };
    let is_blocked = |receipt: &Value, why: &str| {
        assert_eq!(receipt["result"], "failed", "{why}: {receipt}");
        for words in ["is not the one that was registered", "hermit tools add toy --again"] {
            assert!(receipt.to_string().contains(words), "{why}: `{words}` is not in {receipt}");
        }
    };
    assert_eq!(calls()["result"], "succeeded");
    put(&stage, "server.py", &format!("{bytes}# another\n"));
    is_blocked(&calls(), "it is another");
    put(&stage, "server.py", &bytes);
    assert_eq!(calls()["result"], "succeeded", "the pinned one again");
    may(0o000);
    is_blocked(&calls(), "it cannot be read");
    may(0o644);
    assert_eq!(calls()["result"], "succeeded", "it can be read again");
    stage.is_sound();
}
