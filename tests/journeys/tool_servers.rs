//! A person registers a server of tools and uses it: each call classified, behind walls, and with a receipt.

use super::attached::Served;
use super::server;
use super::stage::Stage;
use super::tree;
use conforms::conforms;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

/// The toy server, which is as wrong as `mode.txt` in the folder says.
const SERVER: &str = include_str!("data/tool_server.py");

/// A store with the toy server in its folder.
pub fn furnished() -> Stage {
    let stage = Stage::new();
    put(&stage, "server.py", SERVER);
    put(&stage, "mode.txt", "good");
    stage
}

pub fn put(stage: &Stage, name: &str, text: &str) {
    std::fs::write(stage.work().join(name), text).expect("a file");
}

pub fn work(stage: &Stage) -> String {
    stage.work().to_str().expect("UTF-8").to_owned()
}

/// What `hermit tools …` asks a person: its task and its approval.
pub fn asked(answer: &Value) -> (String, String) {
    assert_eq!(answer["waits_for"]["kind"], "approval", "{answer}");
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&answer["row"]["task_id"]), id(&answer["waits_for"]["id"]))
}

pub fn card(stage: &Stage, approval: &str) -> String {
    stage.hermit(&["approvals", "show", approval]).ends(0).json().to_string()
}

pub fn yes(stage: &Stage, approval: &str) {
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 0, "{screen}");
}

/// Registers the toy server with a person's yes.
pub fn register(stage: &Stage, more: &[&str]) -> String {
    let work = work(stage);
    let mut words = vec!["tools", "add", "toy", "--workspace", &work];
    words.extend(more);
    if more.is_empty() {
        words.extend(["--", "/usr/bin/python3", "server.py"]);
    }
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(stage, &approval);
    yes(stage, &approval);
    shown
}

pub fn classify(stage: &Stage, tool: &str, class: &str, more: &[&str]) {
    let work = work(stage);
    let mut words = vec!["tools", "classify", "toy", tool, "--class", class, "--workspace", &work];
    words.extend(more);
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    yes(stage, &approval);
}

/// A task whose model calls a tool and is done after it.
pub fn calls(stage: &Stage, tool: &str, arguments: &Value, code: i32) -> Value {
    let model = server::script(&[
        json!({ "tool": tool, "arguments": arguments }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = work(stage);
    stage.hermit(&["run", "--goal", "say it", "--workspace", &work, "--model", &model]).ends(code).json()
}

pub fn state(stage: &Stage) -> String {
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    listed["servers"][0]["state"].as_str().unwrap_or("none").to_owned()
}

/// How often each link of the way of an act stands in a task: what the registry makes of a call, policy, grant, execution.
fn links(stage: &Stage, task: &str) -> [usize; 4] {
    ["action.requested", "policy.evaluated", "grant.issued", "effect.dispatched"]
        .map(|event_type| stage.count(task, event_type))
}

#[conforms("HK-22-5")]
#[test]
fn a_server_is_registered_by_a_person_and_each_call_is_asked_about_and_receipted() {
    let stage = furnished();
    let shown = register(&stage, &[]);
    for word in
        ["Gives back what it is given.", "additionalProperties", "read-only", "sha256", "no network", "touch"]
    {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert_eq!(state(&stage), "ready");
    // What the server says of a tool proposes to the person, who has said nothing yet.
    let listed = Stage::ran(&mut stage.command(&["tools", "show", "toy"])).ends(0).out;
    let proposed = "the server says that it is read-only; where you believe that: `hermit tools classify toy echo --class read_local`";
    assert!(listed.contains(proposed) && listed.contains("echo: you are asked each time"), "{listed}");
    let before = tree::of(&stage.work());
    let (task, approval) = asked(&calls(&stage, "toy__echo", &json!({ "text": "hello", "share": 0.25 }), 4));
    let shown = card(&stage, &approval);
    for word in ["NOBODY has said", "hello", "0.25", "server.py", "untrusted"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert_eq!(links(&stage, &task), [1, 1, 0, 0], "the registry makes a request of it and nothing more");
    yes(&stage, &approval);
    assert_eq!(links(&stage, &task), [1, 1, 1, 1]);
    let receipt = stage.receipt(&task);
    assert_eq!(
        (&receipt["result"], &receipt["action_class"]),
        (&json!("succeeded"), &json!("external_effect"))
    );
    let (task, approval) = asked(&calls(&stage, "toy__touch", &json!({ "path": "made.txt" }), 4));
    yes(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "failed", "a server changes nothing in the folder");
    assert_eq!(tree::of(&stage.work()), before);
    // A tool of Hermit's own goes the same way, and of one that is in no registry no request is made.
    let (task_of_ours, approval) =
        asked(&calls(&stage, "write", &json!({ "path": "own.txt", "content": "own" }), 4));
    assert_eq!(links(&stage, &task_of_ours), [1, 1, 0, 0]);
    yes(&stage, &approval);
    assert_eq!(links(&stage, &task_of_ours), [1, 1, 1, 1]);
    let unknown = calls(&stage, "toy__nothing", &json!({}), 0);
    assert_eq!(links(&stage, unknown["row"]["task_id"].as_str().expect("an id")), [0, 0, 0, 0]);
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json().to_string();
    assert!(shown.contains("echo") && shown.contains("touch"), "{shown}");
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn a_server_is_added_while_a_host_runs_unless_a_secret_goes_with_it() {
    let stage = furnished();
    let served = Served::by(&stage);
    register(&stage, &[]);
    assert_eq!(state(&stage), "ready");
    let work = work(&stage);
    let words = ["tools", "add", "other", "--workspace", &work, "--host", "a.example", "--secret", "KEY=key"];
    let refused = stage.hermit(&[&words[..], &["--", "/usr/bin/python3", "server.py"]].concat());
    let told = &refused.ends(3).err;
    assert!(told.contains("forbidden") && told.contains("hermit serve"), "{told}");
    assert_eq!(stage.hermit(&["tools", "list"]).ends(0).json()["servers"].as_array().map(Vec::len), Some(1));
    drop(served);
    stage.is_sound();
}

/// The tools of a server in the one list, by the names they are called by.
fn listed(stage: &Stage, served: &Served, server: &str) -> BTreeMap<String, Value> {
    let (status, told) = served.ask(stage, "GET", "/v1/tools", &json!({}));
    assert_eq!(status, 200, "{told}");
    let all = told["tools"].as_array().expect("tools").clone();
    for (name, kind) in [("read", "built_in"), ("playbook:tidy", "playbook")] {
        let own = all.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}: {told}"));
        assert_eq!((&own["kind"], &own["callable"]), (&json!(kind), &json!(true)), "{own}");
        assert_eq!(
            (own["sha256"].as_str().map(str::len), &own["input_schema"]["type"]),
            (Some(64), &json!("object"))
        );
    }
    let of_it = all.into_iter().filter(|tool| tool["server"] == server);
    of_it.map(|tool| (tool["name"].as_str().expect("a name").to_owned(), tool)).collect()
}

fn refused(answer: (u16, Value), status: u16, word: &str) {
    let (got, told) = answer;
    assert_eq!(got, status, "{told}");
    let (message, hint) =
        (told["message"].as_str().unwrap_or_default(), told["hint"].as_str().unwrap_or_default());
    assert!(format!("{message} {hint}").contains(word), "`{word}` is not said: {told}");
}

/// A run that a program starts in the host, whose model calls the tool; its task when it has come to rest.
pub fn runs_there(stage: &Stage, served: &Served, tool: &str) -> String {
    let script = [
        json!({ "tool": tool, "arguments": { "text": "hello" } }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ];
    let body = json!({
        "message": "say it", "workspace": work(stage), "profile": "local_edit_allowed", "model": server::script(&script),
    });
    let (status, told) = served.ask(stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    rests(stage, served, &told, "completed")
}

/// Waits until a run stands so; its task.
fn rests(stage: &Stage, served: &Served, told: &Value, wanted: &str) -> String {
    let run = told["run_id"].as_str().expect("a run").to_owned();
    let by = Instant::now() + Duration::from_secs(60);
    loop {
        let (_, stands) = served.ask(stage, "GET", &format!("/v1/runs/{run}"), &json!({}));
        if stands["status"] == wanted {
            return run;
        }
        let is_over = matches!(stands["status"].as_str(), Some("failed" | "completed" | "awaiting_approval"));
        assert!(!is_over && Instant::now() < by, "it is not {wanted}: {stands}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What cannot be meant is refused with words, and nobody is asked.
fn nothing_is_asked_about_what_cannot_be_meant(stage: &Stage, served: &Served, manifest: &Value) {
    let ask = |method: &str, path: &str, body: &Value| served.ask(stage, method, path, body);
    let with = |name: &str, value: Value| {
        let mut changed = manifest.clone();
        changed[name] = value;
        changed
    };
    let stranger = served.ask_with("", ("POST", "/v1/tools"), manifest);
    refused(stranger, 401, "token");
    refused(ask("POST", "/v1/tools", &with("approved", json!(true))), 422, "approved");
    refused(ask("POST", "/v1/tools", &with("command", json!([]))), 400, "a program");
    refused(ask("POST", "/v1/tools", &with("server", json!("To y"))), 400, "cannot be the name");
    refused(ask("POST", "/v1/tools", &with("classes", json!({ "echo": "harmless" }))), 400, "read_local");
    refused(ask("POST", "/v1/tools", &with("classes", json!({ "eco": "read_local" }))), 400, "echo");
    refused(ask("POST", "/v1/tools", &with("command", json!(["x".repeat(40_000)]))), 400, "bytes");
    refused(ask("DELETE", "/v1/tools/toy", &json!({})), 404, "toy");
    refused(ask("DELETE", "/v1/tools/read", &json!({})), 400, "part of Hermit");
    assert_eq!(stage.waiting().len(), 0, "somebody was asked");
}

#[conforms("HV-3.3-1", "HV-3.3-2")]
#[test]
fn a_program_registers_tools_over_http_and_takes_them_away_while_the_same_host_works() {
    let stage = furnished();
    let served = Served::by(&stage);
    let ask = |method: &str, path: &str, body: &Value| served.ask(&stage, method, path, body);
    let manifest = json!({
        "server": "toy", "command": ["/usr/bin/python3", "server.py"], "workspace": work(&stage),
        "classes": { "echo": "read_local" },
    });
    nothing_is_asked_about_what_cannot_be_meant(&stage, &served, &manifest);
    // It is proposed, and there is nothing to call before a person has said yes to the very card of `hermit tools add`.
    let (status, told) = ask("POST", "/v1/tools", &manifest);
    assert_eq!(status, 200, "{told}");
    let run = rests(&stage, &served, &told, "awaiting_approval");
    assert!(listed(&stage, &served, "toy").is_empty(), "registered without a person");
    let none = runs_there(&stage, &served, "toy__echo");
    assert_eq!(stage.count(&none, "effect.dispatched"), 0, "called without a person");
    let approval = stage.waiting()[0]["approval_id"].as_str().expect("an approval").to_owned();
    let granted = json!({ "approval_id": approval, "choice": "once" });
    let (_, told) = ask("POST", &format!("/v1/runs/{run}/approval"), &granted);
    assert_eq!((&told["accepted"], &told["status"]), (&json!(false), &json!("unsupported")), "{told}");
    let shown = card(&stage, &approval);
    for word in
        ["Gives back what it is given.", "WITHOUT asking you", "read_local", "server.py", "no network"]
    {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    yes(&stage, &approval);
    assert_eq!(stage.receipt(&run)["action_class"], "capability_change");

    // The same host lists it and calls it.
    let tools = listed(&stage, &served, "toy");
    let (echo, touch) = (&tools["toy__echo"], &tools["toy__touch"]);
    assert_eq!((&echo["callable"], &echo["class"]), (&json!(true), &json!("read_local")), "{echo}");
    assert_eq!((&touch["callable"], &touch["class"]), (&json!(true), &Value::Null), "{touch}");
    assert_eq!((&echo["version"], echo["sha256"].as_str().map(str::len)), (&touch["version"], Some(64)));
    assert_eq!(echo["input_schema"]["required"], json!(["text"]), "{echo}");
    let called = runs_there(&stage, &served, "toy__echo");
    let receipt = stage.receipt(&called);
    assert_eq!((&receipt["result"], &receipt["action_class"]), (&json!("succeeded"), &json!("read_local")));
    refused(ask("POST", "/v1/tools", &manifest), 409, "again");
    refused(ask("DELETE", "/v1/tools/toy__echo", &json!({})), 400, "/v1/tools/toy");

    // What changed is said to be so, and is looked at anew by the same road.
    put(&stage, "mode.txt", "pulled");
    runs_there(&stage, &served, "toy__echo");
    let echo = listed(&stage, &served, "toy").remove("toy__echo").expect("echo");
    assert_eq!(echo["callable"], false, "{echo}");
    assert!(echo["why_not"].as_str().is_some_and(|why| why.contains("again")), "{echo}");

    // Taken away, it is neither listed nor called; and it comes back by a person's yes alone.
    let (status, told) = ask("DELETE", "/v1/tools/toy", &json!({}));
    assert_eq!((status, told["tools"].as_array().map(Vec::len)), (200, Some(3)), "{told}");
    assert!(listed(&stage, &served, "toy").is_empty());
    let none = runs_there(&stage, &served, "toy__echo");
    assert_eq!(stage.count(&none, "effect.dispatched"), 0, "called though it was taken away");
    put(&stage, "mode.txt", "good");
    let (_, told) = ask("POST", "/v1/tools", &manifest);
    rests(&stage, &served, &told, "awaiting_approval");
    assert!(listed(&stage, &served, "toy").is_empty(), "back without a person");
    assert_eq!(stage.hermit(&["serve"]).ends(0).json()["pid"].to_string(), served.pid(), "another host");
    drop(served);
    stage.is_sound();
}

#[test]
fn what_a_person_said_of_a_tool_holds_until_its_server_says_something_else() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    let receipt = stage.receipt(&task);
    assert_eq!((&receipt["result"], &receipt["action_class"]), (&json!("succeeded"), &json!("read_local")));

    // A person calls it by hand, and has its answer at once.
    let work = work(&stage);
    let words = ["tools", "try", "toy", "echo", r#"{"text":"by hand"}"#, "--workspace", &work];
    let tried = stage.hermit(&words).ends(0).json().to_string();
    assert!(tried.contains("It answered: by hand"), "{tried}");

    put(&stage, "mode.txt", "pulled");
    let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(stage.receipt(&task)["result"], "failed", "what changed is not called");
    assert_eq!(state(&stage), "changed");

    let shown = register(&stage, &["--again"]);
    assert!(shown.contains("CHANGED") && shown.contains("Also read ~/.ssh."), "{shown}");
    assert_eq!(state(&stage), "ready");
    // What was said was said of other words.
    asked(&calls(&stage, "toy__echo", &json!({ "text": "hello" }), 4));

    stage.hermit(&["tools", "rm", "toy"]).ends(0);
    assert_eq!(state(&stage), "none");
    stage.is_sound();
}

#[test]
fn a_server_that_misbehaves_is_contained_with_words() {
    let stage = furnished();
    let work = work(&stage);
    put(&stage, "mode.txt", "many");
    let words = ["tools", "add", "toy", "--workspace", &work, "--", "/usr/bin/python3", "server.py"];
    let (code, said, _) = stage.hermit(&words).ends(2).complaint();
    assert!(code == "usage" && said.contains("more than 256 tools"), "{said}");
    put(&stage, "mode.txt", "good");
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    for (mode, word) in [
        ("wrong", "its answer is not what the tool says its results are"),
        ("huge", "it sent more than"),
        ("floods", "it sent more than"),
        ("dies", "it ended before it answered"),
    ] {
        put(&stage, "mode.txt", mode);
        let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
        let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
        let receipt = stage.receipt(&task);
        assert_eq!(receipt["result"], "failed", "{mode}: {receipt}");
        assert!(receipt.to_string().contains(word), "{mode}: {receipt}");
        assert_eq!(receipt.to_string().contains("only looks"), mode != "wrong", "{mode}: {receipt}");
    }
    // What nobody said only looks may have done anything: a person settles it.
    put(&stage, "mode.txt", "dies");
    let (task, approval) = asked(&calls(&stage, "toy__touch", &json!({ "path": "x.txt" }), 4));
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 4, "{screen}");
    assert_eq!(stage.receipt(&task)["result"], "unknown_outcome");
    assert_eq!(alive(&stage), 0, "a process of a server is still there");
    stage.is_sound();
}

#[test]
fn a_server_that_answers_out_of_order_or_wants_a_model_in_a_loop_gets_nothing_by_it() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    for (mode, word) in [("disorder", "hello"), ("tells", "hello"), ("samples", "it said")] {
        put(&stage, "mode.txt", mode);
        let call = json!({ "tool": "toy__echo", "arguments": { "text": "hello" } });
        let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
        let chat = Chat::saying(Large::STRONG, vec![call, done]);
        let (work, model) = (work(&stage), chat.address());
        stage.hermit(&["run", "--goal", "say it", "--workspace", &work, "--model", &model]).ends(0);
        let asked = chat.requests();
        assert_eq!(asked.len(), 2, "{mode}: a model was asked for the server");
        let told = asked.last().expect("a request").to_string();
        assert!(told.contains(word) && !told.contains("another answer"), "{mode}: {told}");
        assert!(mode != "samples" || told.contains("-32601"), "it is refused in words: {told}");
    }
    assert_eq!(alive(&stage), 0);
    stage.is_sound();
}

#[test]
fn a_call_that_hangs_is_ended_when_a_person_cancels_its_task() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", "waits");
    let served = Served::by(&stage);
    let call = json!({ "tool": "toy__echo", "arguments": { "text": "hello" } });
    let body = json!({
        "message": "say it", "workspace": work(&stage), "profile": "local_edit_allowed", "model": server::script(&[call]),
    });
    let (status, told) = served.ask(&stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    let run = told["run_id"].as_str().expect("a run").to_owned();
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let by = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < by, "not in time: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the tool is called", &|| stage.count(&run, "effect.dispatched") == 1 && alive(&stage) > 0);
    stage.hermit(&["task", "cancel", &run]);
    until("the server is gone", &|| alive(&stage) == 0);
    let told = || stage.events(&run).iter().map(Value::to_string).collect::<String>();
    until("it is said", &|| told().contains("it was cancelled"));
    drop(served);
    stage.is_sound();
}

/// Processes that have the folder in their words.
pub fn alive(stage: &Stage) -> usize {
    let work = work(stage);
    let words = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    let all = std::fs::read_dir("/proc").expect("processes").flatten().filter_map(words);
    all.filter(|words| String::from_utf8_lossy(words).contains(&work)).count()
}

fn count() -> Value {
    json!({ "tool": "toy__count", "arguments": {} })
}

/// A task whose model counts twice, looks at the folder, counts a third time and is done; everything it was told.
fn counting(stage: &Stage) -> String {
    let look = json!({ "tool": "list", "arguments": { "path": "." } });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![count(), count(), look, count(), done]);
    let (work, model) = (work(stage), chat.address());
    stage.hermit(&["run", "--goal", "count", "--workspace", &work, "--model", &model]).ends(0);
    chat.requests().last().expect("a request").to_string()
}

#[test]
fn a_server_lives_as_long_as_the_attempt_that_calls_it() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "count", "read_local", &[]);
    // What it remembers of one call is there for the next, in one attempt and not in two.
    for _ in 0..2 {
        let told = counting(&stage);
        for word in ["call 1", "call 2", "call 3"] {
            assert!(told.contains(word), "`{word}` was not told: {told}");
        }
        assert_eq!(alive(&stage), 0, "a server outlived its attempt");
    }
    // One that ends by itself is started anew, and the model is told that it remembers nothing.
    put(&stage, "mode.txt", "forgets");
    let told = counting(&stage);
    assert!(told.contains("call 1") && !told.contains("call 2"), "{told}");
    assert_eq!(told.matches("server process: new").count(), 3, "{told}");
    stage.is_sound();
}

#[test]
fn no_process_of_a_server_is_left_when_its_host_is_killed() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "count", "read_local", &[]);
    let (asked, called) = mpsc::channel();
    let turn = AtomicUsize::new(0);
    let chat = Chat::begin(Large::STRONG, move |_| {
        if turn.fetch_add(1, Ordering::SeqCst) == 1 {
            let (never, wait) = mpsc::channel::<()>();
            asked.send(never).expect("a listener");
            let _ = wait.recv();
        }
        count()
    });
    let (work, model) = (work(&stage), chat.address());
    let words = ["--json", "run", "--goal", "count", "--workspace", &work, "--model", &model];
    let mut host = stage.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a host");
    let waits = testkit::comes(&called, "the second question");
    assert!(alive(&stage) > 1, "the server waits for its next call");
    let pid = rustix::process::Pid::from_child(&host);
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    host.wait().expect("its end");
    drop(waits);
    let by = Instant::now() + Duration::from_secs(30);
    while alive(&stage) > 0 {
        assert!(Instant::now() < by, "a server outlived its host");
        std::thread::sleep(Duration::from_millis(20));
    }
}
