//! What is captured of the surroundings in which an attempt works.

use crate::bench::Bench;
use base64::Engine as _;
use serde_json::{Value, json};

/// The one environment that an attempt of a run captured.
fn captured(bench: &Bench, run: &str) -> Value {
    let of = json!({ "task": run, "kind": "environment.snapshot" });
    let found = api::call(&**bench.local(), "artifacts.list", of).expect("listed");
    let rows = found["rows"].as_array().expect("rows");
    let [row] = &rows[..] else { panic!("one snapshot: {found}") };
    let asked = json!({ "artifact": row["artifact_id"] });
    let content = api::call(&**bench.local(), "artifacts.content", asked).expect("read");
    let bytes = content["bytes"].as_str().expect("bytes");
    let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).expect("base64");
    serde_json::from_slice(&bytes).expect("facts")
}

#[conforms::conforms("HK-17.2-1")]
#[test]
fn an_attempt_has_on_record_where_it_works_by_which_rules_and_at_which_commit() {
    let bench = Bench::new();
    let git = bench.path("work").join(".git");
    let commit = "1f".repeat(20);
    std::fs::create_dir_all(git.join("refs/heads")).expect("a folder");
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    std::fs::write(git.join("refs/heads/main"), format!("{commit}\n")).expect("a file");
    // In a repository this playbook looks, and changes nothing.
    let (run, _) = bench.start("tidy");
    bench.reaches(&run, &["completed"]);
    let facts = captured(&bench, &run);
    for name in ["os", "arch", "kernel", "shell", "sandbox_level", "sandbox_why", "hermit_version", "network"]
    {
        assert!(facts[name].is_string(), "`{name}`: {facts}");
    }
    assert_eq!(facts["os"], std::env::consts::OS);
    let network = match facts["sandbox_level"].as_str() {
        Some("namespaces_landlock" | "namespaces") => "held, but for the hosts that a grant names",
        Some("landlock" | "seatbelt" | "app_container") => "held",
        _ => "open",
    };
    assert_eq!(facts["network"], network, "as the walls hold it: {facts}");
    let work = bench.path("work").canonicalize().expect("it is there");
    assert_eq!(facts["cwd"], json!(work), "{facts}");
    let repository = json!({ "branch": "refs/heads/main", "commit": commit });
    assert_eq!(facts["repository"], repository, "{facts}");
    // Of the variables those that a list names, and no other.
    let names = ["LANG", "LC_ALL", "TERM", "SHELL", "TZ", "PATH", "NO_COLOR", "CI"];
    let variables = facts["environment"].as_object().expect("variables");
    assert!(variables.keys().all(|name| names.contains(&name.as_str())), "{variables:?}");
    let path = std::env::var("PATH").expect("tests have one");
    assert_eq!(variables["PATH"], path, "as it is, and not by name alone");
    assert_eq!(facts["hermit_version"], kernel::VERSION, "the tools are of this version");
}

#[test]
fn where_nothing_is_checked_out_that_is_said_and_stops_nothing() {
    let bench = Bench::new();
    let (run, _) = bench.asking();
    let facts = captured(&bench, &run);
    assert!(facts["repository"]["not_known"].is_string(), "{facts}");
}
