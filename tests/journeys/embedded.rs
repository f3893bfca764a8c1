//! Memory found by its meaning through the built program: a model at a server of this machine is named, tasks are told what
//! shares no word with their goal, and a server that hangs or answers nonsense leaves what words find.

use super::server;
use super::stage::{Stage, until};
use super::tool_servers::{asked, work, yes};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::{Answers, Embedding, Server};

const SAME: &[&[&str]] = &[&["prices", "money", "amounts"], &["decimals", "floating", "point"]];

const CLAIMS: [&str; 2] = ["prices have no floating point", "the harbour opens on Sunday"];

/// How the server answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Vectors,
    Nothing,
    Nonsense,
    Large,
}

/// A server of vectors as OpenAI's API gives them.
fn serve(mode: Arc<Mutex<Mode>>) -> Server {
    let model = Embedding::of(SAME);
    Server::begin(move |heard| {
        let body: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        let texts = body["input"].as_array().cloned().unwrap_or_default();
        let one = |(at, text): (usize, &Value)| json!({ "object": "embedding", "index": at, "embedding": model.vector(text.as_str().unwrap_or(""), 0) });
        let data: Vec<Value> = texts.iter().enumerate().map(one).collect();
        match *mode.lock().expect("nobody panicked") {
            Mode::Vectors => Answers::With(200, Vec::new(), json!({ "data": data }).to_string()),
            Mode::Nothing => Answers::Never,
            Mode::Nonsense => Answers::With(200, Vec::new(), json!({ "data": [] }).to_string()),
            Mode::Large => Answers::With(200, Vec::new(), " ".repeat(100 * 1024 * 1024)),
        }
    })
}

/// How often models were told of the two claims.
fn uses(stage: &Stage) -> (u64, u64) {
    let rows = stage.hermit(&["memory", "list"]).ends(0).json()["rows"].clone();
    let of = |claim: &str| {
        let row = rows.as_array().expect("rows").iter().find(|row| row["claim"] == claim).expect("the claim");
        row["uses"].as_u64().expect("a count")
    };
    (of(CLAIMS[0]), of(CLAIMS[1]))
}

fn run(stage: &Stage, work: &str, goal: &str) -> Duration {
    let model = server::script(&[json!({ "tool": "done", "arguments": { "summary": "done" } })]);
    let began = Instant::now();
    stage.hermit(&["run", "--goal", goal, "--workspace", work, "--model", &model]).ends(0);
    began.elapsed()
}

/// Whether a task with this goal is told of the first claim. A machine that is busy with something else may take longer for
/// it than a context waits.
fn is_told(stage: &Stage, work: &str, goal: &str) -> bool {
    let before = uses(stage);
    (0..5).any(|again| {
        run(stage, work, &format!("{goal}, try {again}"));
        uses(stage).0 > before.0
    })
}

#[test]
fn a_task_is_told_what_means_its_goal_and_a_server_that_fails_leaves_what_words_find() {
    let stage = Stage::new();
    let work = work(&stage);
    for claim in CLAIMS {
        let words = ["memory", "add", claim, "--workspace", &work];
        yes(&stage, &asked(&stage.hermit(&words).ends(4).json()).1);
    }
    // Another machine is refused, and so is what makes no vectors.
    for (address, says) in [
        ("openai:https://models.example.com/v1#mini", "another machine"),
        ("anthropic:http://127.0.0.1:9/v1#mini", "vectors are asked for"),
        ("box:tiny", "in the box"),
    ] {
        let said = stage.hermit(&["models", "embeddings", address]).ends(2).complaint().1;
        assert!(said.contains(says), "{address}: {said}");
    }
    run(&stage, &work, "store money without decimals");
    assert_eq!(uses(&stage), (0, 0), "it shares no word with either");
    let mode = Arc::new(Mutex::new(Mode::Vectors));
    let vectors = serve(Arc::clone(&mode));
    let address = format!("openai:{}#mini", vectors.url("/v1"));
    let named = stage.hermit(&["models", "embeddings", &address]).ends(0).json();
    assert_eq!((&named["model"], &named["memories"]), (&json!(address), &json!(2)), "{named}");
    assert!(is_told(&stage, &work, "store money without any decimals"), "it means the same");
    assert_eq!(uses(&stage).1, 0);
    for (wrong, says) in [
        (Mode::Nothing, "did not answer within"),
        (Mode::Nonsense, "no vectors of these texts"),
        (Mode::Large, "longer than"),
    ] {
        *mode.lock().expect("nobody panicked") = wrong;
        let before = uses(&stage);
        let took = run(&stage, &work, &format!("amounts and decimals of the harbour when it {says}"));
        assert!(took < Duration::from_secs(60), "it waits for nobody: {took:?}");
        assert_eq!(uses(&stage), (before.0, before.1 + 1), "{says}: what words find, and nothing else");
        let stands = stage.hermit(&["models", "embeddings", &address]).ends(1).json();
        assert!(stands["trouble"].as_str().is_some_and(|why| why.contains(says)), "{stands}");
        assert_eq!(stands["with_vectors"], 2);
    }
    *mode.lock().expect("nobody panicked") = Mode::Vectors;
    assert!(is_told(&stage, &work, "amounts and decimals"));
    let stands = stage.hermit(&["models", "embeddings", &address]).ends(0).json();
    assert_eq!(stands["trouble"], Value::Null);
    let off = stage.hermit(&["models", "embeddings", "off"]).ends(0).json();
    assert_eq!(off, json!({ "model": null, "memories": 2, "with_vectors": 0, "trouble": null }));
    stage.is_sound();
}

#[test]
fn a_host_killed_while_vectors_are_made_has_lost_no_memory_and_the_next_makes_them() {
    let stage = Stage::new();
    let work = work(&stage);
    for claim in CLAIMS {
        let words = ["memory", "add", claim, "--workspace", &work];
        yes(&stage, &asked(&stage.hermit(&words).ends(4).json()).1);
    }
    let mode = Arc::new(Mutex::new(Mode::Nothing));
    let vectors = serve(Arc::clone(&mode));
    let address = format!("openai:{}#mini", vectors.url("/v1"));
    for round in 1..=3 {
        let mut words = stage.command(&["--json", "models", "embeddings", &address]);
        let mut child = words.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        until("the model is asked", || vectors.heard().len() >= round);
        child.kill().expect("killed");
        assert_eq!(child.wait().expect("a child").code(), None, "it was at work");
    }
    let rows = stage.hermit(&["memory", "list"]).ends(0).json()["rows"].clone();
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
    *mode.lock().expect("nobody panicked") = Mode::Vectors;
    stage.hermit(&["models", "embeddings", &address]).ends(0);
    assert!(is_told(&stage, &work, "store money without any decimals"), "it means the same");
    let stands = stage.hermit(&["models", "embeddings", &address]).ends(0).json();
    assert_eq!((&stands["with_vectors"], &stands["trouble"]), (&json!(2), &Value::Null), "{stands}");
    stage.is_sound();
}
