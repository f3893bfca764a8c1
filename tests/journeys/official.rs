//! The official servers of the Model Context Protocol, as they come from npm and PyPI, used by tasks of a scripted model: what
//! each may do was said by a person, their packages and versions stand on their cards, and each call has a receipt.

use super::foreign;
use super::programs::root;
use super::stage::Stage;
use super::tool_servers::{alive, asked, card, put, work, yes};
use serde_json::{Value, json};
use std::process::Command;
use testkit::{Chat, Large};

/// As `cargo xtask` pins it.
const OF_PYPI: &str = "2026.10.19";

/// The program of an official server of npm, which `npm test` fetches; none where it is not here.
fn of_npm(name: &str) -> Option<String> {
    let at = root().join(format!("tests/servers/node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    if !at.is_file() || !std::path::Path::new("/usr/bin/node").is_file() {
        conforms::lacks("the official servers of npm, which `npm test` fetches,");
        return None;
    }
    Some(at.to_str().expect("UTF-8").to_owned())
}

/// The programs of the official servers of PyPI, which are among python's stock tools, and the places that they read; none
/// where they are not here.
fn of_pypi() -> Option<([String; 2], Vec<String>)> {
    let python = foreign::python("mcp_server_git, mcp_server_time")?;
    let asks = "import sys; print(sys.prefix); print(sys.base_prefix)";
    let told = Command::new(python).args(["-c", asks]).output().expect("python");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let own = told.lines().next().expect("where it is").to_owned();
    // What lies among the system's programs is seen by every server.
    let places = told.lines().filter(|place| !place.starts_with("/usr")).map(str::to_owned).collect();
    Some((["git", "time"].map(|name| format!("{own}/bin/mcp-server-{name}")), places))
}

/// Registers a server with a yes to a card that says all of this.
fn registers(stage: &Stage, name: &str, options: &[&str], program: &[&str], says: &[&str]) {
    let work = work(stage);
    let words = [&["tools", "add", name, "--workspace", &work][..], options, &["--"], program].concat();
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(stage, &approval);
    for word in says {
        assert!(shown.contains(word), "`{word}` is not on the card of {name}: {shown}");
    }
    yes(stage, &approval);
}

/// A task whose model makes these calls and is done: its id, and all that the model was told at the end.
fn task_calls(stage: &Stage, calls: &[(&str, Value)], code: i32) -> (Value, String) {
    let call = |(tool, arguments): &(&str, Value)| json!({ "tool": tool, "arguments": arguments });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, calls.iter().map(call).chain([done]).collect());
    let (work, model) = (work(stage), chat.address());
    let run = ["run", "--goal", "use the servers", "--workspace", &work, "--model", &model];
    let answer = stage.hermit(&run).ends(code).json();
    let told = chat.requests().last().map(Value::to_string).unwrap_or_default();
    (answer, told)
}

fn id(answer: &Value) -> String {
    answer["row"]["task_id"].as_str().expect("a task").to_owned()
}

/// Classes and results of all receipts of a task, in order.
fn receipts(stage: &Stage, task: &str) -> Vec<(String, String)> {
    let rows = stage.hermit(&["receipts", "list", "--task", task]).ends(0).json();
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = rows["rows"].as_array().expect("rows").iter();
    let mut all: Vec<(String, String)> =
        rows.map(|row| (word(row, "action_class"), word(row, "result"))).collect();
    all.sort();
    all
}

/// Registers the three, each with what some of its tools may do.
fn register_three(stage: &Stage, [files, everything, memory]: [&str; 3]) {
    put(stage, "notes.txt", "one\n");
    let reads = root().join("tests/servers/node_modules").to_str().expect("UTF-8").to_owned();
    let kept = format!("MEMORY_FILE_PATH={}/memory.jsonl", work(stage));
    let is = |name: &str| {
        format!(
            "it is the npm package \\\"@modelcontextprotocol/{name}\\\", version 2026.8.31 as it is installed here"
        )
    };
    let node = "/usr/bin/node";
    let options = ["--read", &reads, "--class", "read_text_file=read_local"];
    registers(stage, "files", &options, &[node, files, "."], &[&is("server-filesystem")]);
    let options = ["--read", &reads, "--class", "echo=read_local", "--class", "get-sum=read_local"];
    registers(
        stage,
        "every",
        &options,
        &[node, everything],
        &[&is("server-everything"), "it has no network"],
    );
    let classes = ["--class", "create_entities=write_local", "--class", "read_graph=read_local"];
    let options = [&["--read", &reads, "--env", &kept][..], &classes].concat();
    let variable = "its variable MEMORY_FILE_PATH is";
    registers(
        stage,
        "memory",
        &options,
        &[node, memory],
        &[&is("server-memory"), variable, "WITHOUT asking"],
    );
    let shown = stage.hermit(&["tools", "show", "memory"]).ends(0).json();
    assert!(shown["variables"]["MEMORY_FILE_PATH"].as_str().is_some_and(|at| at.ends_with("memory.jsonl")));
    assert!(shown["package"].as_str().is_some_and(|said| said.contains("version 2026.8.31")), "{shown}");
}

#[test]
fn the_official_servers_of_npm_are_used_by_tasks_as_a_person_classified_them() {
    let (Some(files), Some(everything), Some(memory)) =
        (of_npm("server-filesystem"), of_npm("server-everything"), of_npm("server-memory"))
    else {
        return;
    };
    let stage = Stage::new();
    register_three(&stage, [&files, &everything, &memory]);
    // What was said to look is called unasked; all in one task.
    let (answer, told) = task_calls(
        &stage,
        &[
            ("files__read_text_file", json!({ "path": "notes.txt" })),
            ("every__echo", json!({ "message": "hello there" })),
            ("every__get-sum", json!({ "a": 20, "b": 22 })),
        ],
        0,
    );
    assert!(told.contains("hello there") && told.contains("42"), "{told}");
    let task = id(&answer);
    assert_eq!(receipts(&stage, &task), vec![("read_local".to_owned(), "succeeded".to_owned()); 3]);
    assert_eq!(stage.count(&task, "approval.requested"), 0);
    stage.prove(&task);

    // What changes a file is a card that shows the file; nobody said anything of a third tool, so it is asked about.
    let entity =
        json!({ "entities": [{ "name": "Anna", "entityType": "person", "observations": ["likes tea"] }] });
    let (answer, _) = task_calls(&stage, &[("memory__create_entities", entity)], 4);
    let (task, approval) = asked(&answer);
    let shown = card(&stage, &approval);
    assert!(shown.contains("create \\\"memory.jsonl\\\"") && shown.contains("likes tea"), "{shown}");
    yes(&stage, &approval);
    let kept = std::fs::read_to_string(stage.work().join("memory.jsonl")).expect("it is kept");
    assert!(kept.contains("likes tea"), "{kept}");
    assert_eq!(stage.receipt(&task)["action_class"], "write_local");
    let (_, told) = task_calls(&stage, &[("memory__read_graph", json!({}))], 0);
    assert!(told.contains("likes tea"), "{told}");
    let (answer, _) = task_calls(&stage, &[("memory__search_nodes", json!({ "query": "tea" }))], 4);
    let (_, approval) = asked(&answer);
    assert!(card(&stage, &approval).contains("NOBODY has said what it may do"));
    yes(&stage, &approval);
    assert_eq!(alive(&stage), 0, "no process is left");
    stage.is_sound();
}

#[test]
fn the_official_servers_of_pypi_are_used_by_a_task_and_a_secret_is_no_plain_variable() {
    let Some(([git, time], places)) = of_pypi() else { return };
    let reads: Vec<&str> = places.iter().flat_map(|place| ["--read", place]).collect();
    let stage = Stage::new();
    put(&stage, "notes.txt", "one\n");
    let commands: [&[&str]; 3] =
        [&["init", "-q", "-b", "main"], &["add", "notes.txt"], &["commit", "-q", "-m", "the first notes"]];
    for words in commands {
        let who = ["-c", "user.name=Anna", "-c", "user.email=anna@example.org"];
        let ran = Command::new("git").args(who).args(words).current_dir(stage.work()).status();
        assert!(ran.is_ok_and(|status| status.success()), "git {words:?}");
    }
    put(&stage, "notes.txt", "one\ntwo\n");
    let work = work(&stage);
    let is = |name: &str| {
        format!("it is the PyPI package \\\"{name}\\\", version {OF_PYPI} as it is installed here")
    };
    let classes = ["--class", "git_log=read_local", "--class", "git_diff_unstaged=read_local"];
    let options = [&reads[..], &classes].concat();
    registers(&stage, "git", &options, &[&git, "--repository", &work], &[&is("mcp-server-git")]);
    let zone = ["--env", "TZ=Asia/Tokyo", "--class", "convert_time=read_local"];
    let options = [&reads[..], &zone].concat();
    let zone = "its variable TZ is \\\"Asia/Tokyo\\\"";
    registers(&stage, "time", &options, &[&time], &[&is("mcp-server-time"), zone]);
    let at = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    let (answer, told) = task_calls(
        &stage,
        &[
            ("git__git_log", json!({ "repo_path": work })),
            ("git__git_diff_unstaged", json!({ "repo_path": work })),
            ("time__convert_time", at),
        ],
        0,
    );
    assert!(told.contains("the first notes") && told.contains("+two") && told.contains("21:00"), "{told}");
    let task = id(&answer);
    assert_eq!(receipts(&stage, &task), vec![("read_local".to_owned(), "succeeded".to_owned()); 3]);
    stage.prove(&task);
    assert_eq!(alive(&stage), 0, "no process is left");

    // What may be a secret is refused with the way to a handle, and is told to nobody.
    for (variable, value) in [("API_KEY", "hunter2"), ("WHERE", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")] {
        let set = format!("{variable}={value}");
        let add = ["tools", "add", "more", "--env", &set, "--workspace", &work, "--", &time];
        let (_, said, _) = stage.hermit(&add).ends(2).complaint();
        assert!(said.contains("hermit secret set") && !said.contains(value), "{said}");
    }
    let add = ["tools", "add", "more", "--env", "LD_PRELOAD=x.so", "--workspace", &work, "--", &time];
    let (_, said, _) = stage.hermit(&add).ends(2).complaint();
    assert!(said.contains("changes which programs are loaded"), "{said}");
    stage.is_sound();
}
