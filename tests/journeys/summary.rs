//! A goal and a model: a real one when it is here, and always the transcript of a real run.
//!
//! The transcript in `data` was made by `hermit run` with Qwen2.5-Coder-1.5B-Instruct Q4_K_M behind llama.cpp's
//! server, over exactly [`NOTES`], with HERMIT_RECORD set. To make it anew: `HERMIT_MODEL_URL=openai:… \
//! HERMIT_RECORD=FILE cargo test -p hermit-tests journeys::summary`.

use super::programs::root;
use super::stage::Stage;
use super::tree;
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Chat, Killed, Large};

const GOAL: &str = "Summarise what changed in these notes and write SUMMARY.md";

pub const NOTES: [(&str, &str); 2] = [
    (
        "2026-11-02-kickoff.md",
        "# Kickoff, 2 November\n\n- Project Larch starts with a budget of 40,000 euros.\n- Release is planned for 15 \
         January.\n- Ana leads design, Boris leads the backend.\n",
    ),
    (
        "2026-11-16-review.md",
        "# Review, 16 November\n\n- The budget of Project Larch was raised from 40,000 to 55,000 euros.\n- The release \
         moves from 15 January to 1 February, because the audit takes longer.\n- Boris hands the backend over to Chen. \
         Ana stays.\n",
    ),
];

/// How long a model may take for all that it is asked.
const LIMIT: Duration = Duration::from_secs(3_600);

/// Gives the goal to a model, answers what it asks at a terminal, and checks what came of it; the summary's text.
fn summarise(model: &str) -> String {
    let stage = Stage::new();
    for (name, text) in NOTES {
        std::fs::write(stage.work().join(name), text).expect("a note");
    }
    let before = tree::of(&stage.work());
    let record = std::env::var("HERMIT_RECORD").ok().filter(|_| model.starts_with("openai:"));
    let recording: Vec<(&str, &str)> = record.iter().map(|path| ("HERMIT_RECORD", path.as_str())).collect();
    let work = stage.work();
    let words =
        ["--json", "run", "--goal", GOAL, "--workspace", work.to_str().expect("UTF-8"), "--model", model];
    let mut run = stage.command(&words);
    let asked = Stage::ran_within(run.envs(recording.iter().copied()), LIMIT).ends(4).json();
    let task = asked["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(tree::of(&stage.work()), before, "nothing is written before a yes");

    let waits = asked["waits_for"]["id"].as_str().expect("an approval");
    let card = stage.hermit(&["approvals", "show", waits]).ends(0).json().to_string();
    assert!(card.contains("SUMMARY.md"), "{card}");
    let (code, screen) = stage.allow(waits, &recording).without_hurry().end();
    assert_eq!(code, 0, "{screen}");
    proven(&stage, &task, &before);
    std::fs::read_to_string(stage.work().join("SUMMARY.md")).expect("a summary")
}

/// Only the summary is new; every write has its yes and its receipt; the proof holds; the undo takes it away again.
fn proven(stage: &Stage, task: &str, before: &tree::Tree) {
    let mut after = tree::of(&stage.work());
    assert!(after.remove(Path::new("SUMMARY.md")).is_some());
    assert_eq!(&after, before, "the notes are as they were");
    stage.is_sound();
    stage.prove(task);
    let shown = stage.hermit(&["task", "show", task]).ends(0).json();
    assert_eq!(shown["row"]["status"], "completed", "{shown}");
    let receipt = stage.receipt(task)["receipt_id"].as_str().expect("an id").to_owned();
    let asked = stage.hermit(&["rollback", &receipt]).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(&tree::of(&stage.work()), before);
    // And the undo is undone: an undo is an act like any other.
    let undo = stage.receipt(asked["row"]["task_id"].as_str().expect("a task"));
    let asked = stage.hermit(&["rollback", undo["receipt_id"].as_str().expect("an id")]).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
}

#[test]
fn the_recorded_model_writes_its_summary_through_the_whole_path() {
    let transcript = root().join("tests/journeys/data/summary.transcript.jsonl");
    let text = summarise(&format!("recorded:{}", transcript.display()));
    println!("summary: the recorded model ran");
    for word in ["55,000", "1 February", "Chen"] {
        assert!(text.contains(word), "`{word}` is not in the summary:\n{text}");
    }
}

/// What Qwen2.5-Coder-1.5B did when any name was let through: it read a file that it had made up, and wrote without having
/// read.
#[test]
fn a_small_model_that_makes_up_names_is_held_to_those_that_are_there() {
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let (made_up, text) = ("notes.md", "55,000 euros, from 1 February.");
    let wishes = vec![
        call("read", json!({ "path": made_up })),
        call("write", json!({ "path": "SUMMARY.md", "content": text })),
        call("read", json!({ "path": NOTES[1].0 })),
        call("read", json!({ "path": NOTES[0].0 })),
        call("list", json!({ "path": "." })),
        call("done", json!({ "summary": "It is written." })),
    ];
    let chat = Chat::wishing(Large::SMALL, wishes);
    assert_eq!(summarise(&chat.address()), text);
    let requests = chat.requests();
    assert_eq!(requests.len(), 5, "it listed, read both, wrote, and was done");
    assert!(requests.iter().all(|request| !request.to_string().contains(made_up)), "{requests:?}");
}

#[test]
fn a_real_model_writes_its_summary_when_one_is_here() {
    let Some((address, server)) = real(CONTEXT) else {
        return conforms::skip(
            "no real model is here (set HERMIT_MODEL_URL, or put one into Hermit's parts)",
        );
    };
    let began = Instant::now();
    let text = summarise(&address);
    drop(server);
    println!("summary: a real model ran ({address}, {:?}) and wrote:\n{text}", began.elapsed());
    // What a small model says differs from run to run; that it read the notes does not.
    assert!(text.contains("Larch") || text.contains("55,000") || text.contains("February"), "{text}");
}

/// Tokens that the model is served with: few, as on a small machine.
const CONTEXT: u32 = 4_096;

/// A server that ends with the test.
pub struct Server(Killed);

impl Server {
    fn is_up(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|ended| ended.is_none())
    }
}

/// The model that was named, or that lies in the parts: its address, and its server.
pub fn real(context: u32) -> Option<(String, Option<Server>)> {
    if let Ok(address) = std::env::var("HERMIT_MODEL_URL") {
        return Some((address, None));
    }
    let parts = parts()?;
    let model = ["models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"];
    let model = model.iter().map(|name| parts.join(name)).find(|path| path.is_file())?;
    let (port, server) = served(&model, context, false)?;
    Some((format!("openai:http://127.0.0.1:{port}/v1#qwen"), Some(server)))
}

/// llama.cpp's server of a model, once it answers: its port.
pub fn served(model: &Path, context: u32, is_embedding: bool) -> Option<(u16, Server)> {
    let parts = parts()?;
    if !model.is_file() {
        return None;
    }
    let python =
        ["venv/bin/python3", "venv/bin/python"].iter().map(|p| parts.join(p)).find(|p| p.exists())?;
    let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let mut serve = Command::new(python);
    serve
        .args(["-c", SERVE])
        .arg(model)
        .args([port.to_string(), context.to_string(), u8::from(is_embedding).to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut server = Server(Killed(serve.stderr(Stdio::null()).spawn().ok()?));
    let begun = Instant::now();
    while !is_healthy(port) {
        assert!(begun.elapsed() < Duration::from_secs(600), "the model's server does not get healthy");
        if !server.is_up() {
            println!("summary: the model's server ended before it answered");
            return None;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Some((port, server))
}

/// Where `cargo xtask parts` puts models.
pub fn parts() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(parts) = variable("HERMIT_PARTS_DIR") {
        return Some(parts);
    }
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("hermit/parts"))
}

fn is_healthy(port: u16) -> bool {
    use std::io::{Read as _, Write as _};
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = [0; 12];
    stream.set_read_timeout(Some(Duration::from_secs(20))).is_ok()
        && stream.write_all(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && answer.ends_with(b"200")
}

/// Serves a model on one thread; something else may be at work on this machine.
const SERVE: &str = r#"
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.cpuparams.n_threads = int(sys.argv[3]), 1, 1
p.use_jinja, p.offline, p.embedding = True, True, sys.argv[4] == "1"
server = xllamacpp.Server(p)
while True:
    time.sleep(3600)
"#;
