//! The official MCP inspector, as it comes from npm, against `hermit mcp`: each command is a process of its own, and an
//! approval outlives them.

use super::foreign_agents::fetched;
use super::stage::Stage;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const INSPECTOR: &str = "0.15.0";

#[test]
fn the_official_inspector_lists_calls_and_reads_what_hermit_offers() {
    let package = format!("@modelcontextprotocol/inspector@{INSPECTOR}");
    let how: [&[&str]; 1] = [&["npm", "install", "--no-fund", "--no-audit", "--prefix", ".", &package]];
    let Some(inspector) = fetched(&format!("inspector-{INSPECTOR}"), "node_modules/.bin/mcp-inspector", &how)
    else {
        return;
    };
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "first\n").expect("a file");
    let work = stage.work().display().to_string();
    let inspect = |words: &[&str]| -> Value {
        let mut command = Command::new(&inspector);
        command.arg("--cli").arg(super::hermit()).args(["mcp", "--workspace", &work, "--method"]).args(words);
        command.env("HERMIT_HOME", stage.home()).env("HERMIT_PASSPHRASE_FILE", stage.at("vault.txt"));
        let ran = Stage::ran(command.stdin(Stdio::null())).ends(0);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("no JSON: {e}: {}", ran.out))
    };
    let tools = inspect(&["tools/list"])["tools"].as_array().expect("tools").clone();
    assert!(
        ["read", "write", "hermit_receipts"]
            .iter()
            .all(|name| tools.iter().any(|tool| tool["name"] == *name))
    );
    let read = inspect(&["tools/call", "--tool-name", "read", "--tool-arg", "path=a.txt"]);
    assert!(read.to_string().contains("first"), "{read}");
    let write =
        ["tools/call", "--tool-name", "write", "--tool-arg", "path=made.txt", "--tool-arg", "content=made"];
    assert_eq!(inspect(&write)["structuredContent"]["status"], "awaiting_approval");
    assert!(!stage.work().join("made.txt").exists());
    let waiting = stage.waiting();
    let (code, screen) = stage.approve(waiting[0]["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    let done = inspect(&write);
    assert_eq!(done["structuredContent"]["status"], "done", "{done}");
    assert_eq!(std::fs::read_to_string(stage.work().join("made.txt")).expect("a file"), "made");
    let receipts = inspect(&["resources/list"])["resources"].as_array().expect("receipts").clone();
    let uri = receipts.first().and_then(|one| one["uri"].as_str()).expect("its receipt").to_owned();
    assert!(uri.starts_with("hermit://receipt/"), "{uri}");
    let receipt = inspect(&["resources/read", "--uri", &uri]);
    assert!(receipt.to_string().contains("succeeded"), "{receipt}");
    assert_eq!(
        inspect(&["resources/templates/list"])["resourceTemplates"][0]["uriTemplate"],
        json!("hermit://receipt/{id}")
    );
    assert_eq!(stage.hermit(&["task", "list"]).ends(0).json()["rows"].as_array().map(Vec::len), Some(1));
    stage.is_sound();
}
