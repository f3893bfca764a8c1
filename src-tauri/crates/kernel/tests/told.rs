//! What a model is told of what it asked for: the result of every tool, whole, in the bytes of the next request, in every
//! form in which a server is asked.

use crate::receipts::Walled;
use crate::story::{completed, events, state};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::ingress::Channel;
use model::policy::Profile;
use model::proposal::{Answer, Stop};
use model::task::{ModelApi, TaskStatus};
use model::{ArtifactId, Body, TaskId};
use reasoning::{Address, Head, HttpReply, ModelHttp, ModelHttpError, ModelServer, Settings, ToolMode};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use testkit::{Server, Spoken, World};

/// In the place of a tool: the arguments are a list of calls, which are one answer.
pub const SEVERAL: &str = "several calls";

/// In the place of a tool: the arguments are words, and the whole answer.
pub const WORDS: &str = "words";

/// A model's server that says the calls of a script, in the form in which it is asked, and keeps what it was sent.
pub struct Wire {
    script: Mutex<VecDeque<(&'static str, Value)>>,
    sent: Mutex<Vec<String>>,
    /// What is said in place of the first answers: status and body.
    refusals: Mutex<VecDeque<(u16, Value)>>,
    finish: &'static str,
    api: ModelApi,
    /// Is called before each answer, while nobody holds the task.
    before: Mutex<Box<dyn FnMut() + Send>>,
}

impl Wire {
    pub fn new(script: Vec<(&'static str, Value)>) -> Arc<Self> {
        Self::speaking(ModelApi::Openai, script)
    }

    pub fn speaking(api: ModelApi, script: Vec<(&'static str, Value)>) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new(script.into()),
            sent: Mutex::default(),
            refusals: Mutex::default(),
            finish: "stop",
            api,
            before: Mutex::new(Box::new(|| ())),
        })
    }

    /// This is done before each answer, while nobody holds the task.
    pub fn before_each(&self, then: impl FnMut() + Send + 'static) {
        *self.before.lock().unwrap() = Box::new(then);
    }

    /// The next answer is this instead: status and body.
    pub fn refuse(&self, status: u16, body: Value) {
        self.refusals.lock().unwrap().push_back((status, body));
    }

    /// The next answer is this, and then the script goes on.
    pub fn says_next(&self, tool: &'static str, arguments: Value) {
        self.script.lock().unwrap().push_front((tool, arguments));
    }

    pub fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }
}

impl ModelHttp for Wire {
    fn post(
        &self,
        _: &str,
        _: &Head<'_>,
        body: &[u8],
        _: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let text = String::from_utf8(body.to_vec()).unwrap();
        let asked: Value = serde_json::from_str(&text).unwrap();
        self.sent.lock().unwrap().push(text);
        (self.before.lock().unwrap())();
        if let Some((status, body)) = self.refusals.lock().unwrap().pop_front() {
            on_chunk(body.to_string().as_bytes());
            return Ok(HttpReply { status, ..HttpReply::default() });
        }
        let Some((tool, arguments)) = self.script.lock().unwrap().pop_front() else {
            return Err(ModelHttpError::Unreachable("the script is at its end".to_owned()));
        };
        if self.api != ModelApi::Openai {
            let spoken = Spoken::call(tool, &arguments, asked.get("tools").is_some());
            on_chunk(spoken.stream(self.api).as_bytes());
            return Ok(HttpReply { status: 200, ..HttpReply::default() });
        }
        let message = if tool == WORDS {
            json!({ "content": arguments })
        } else if let (true, Some(calls)) = (tool == SEVERAL, arguments.as_array()) {
            let call = |call: &Value| json!({ "function": { "name": call["tool"], "arguments": call["arguments"].to_string() } });
            json!({ "tool_calls": calls.iter().map(call).collect::<Vec<_>>() })
        } else if asked.get("tools").is_some() {
            json!({ "tool_calls": [{ "function": { "name": tool, "arguments": arguments.to_string() } }] })
        } else {
            json!({ "content": json!({ "tool": tool, "arguments": arguments }).to_string() })
        };
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 77 });
        let whole =
            json!({ "choices": [{ "message": message, "finish_reason": self.finish }], "usage": usage });
        on_chunk(whole.to_string().as_bytes());
        Ok(HttpReply { status: 200, ..HttpReply::default() })
    }
}

/// Every form in which a server is asked.
fn forms() -> Vec<(ModelApi, ToolMode, &'static [&'static str])> {
    let tools = ModelApi::ALL.iter().map(|api| (*api, ToolMode::Tools, [].as_slice()));
    let schema = [ModelApi::Openai, ModelApi::Gemini].map(|api| (api, ToolMode::JsonSchema, [].as_slice()));
    let prompt = (ModelApi::Openai, ToolMode::JsonSchema, ["response_format", "tools"].as_slice());
    tools.chain(schema).chain([prompt]).collect()
}

pub fn settings(mode: ToolMode, without: &[&str]) -> Settings {
    let without: BTreeSet<String> = without.iter().map(|name| (*name).to_owned()).collect();
    Settings { mode, without, context_tokens: 128_000, answer_tokens: 8_000, ..Settings::default() }
}

pub fn give(world: &World, wire: &Arc<Wire>, goal: &str, settings: Settings) -> TaskId {
    give_with(world, wire, (goal, Vec::new()), settings)
}

/// The same with files.
pub fn give_with(
    world: &World,
    wire: &Arc<Wire>,
    (goal, files): (&str, Vec<ArtifactId>),
    settings: Settings,
) -> TaskId {
    let address: Address = format!("{}:http://127.0.0.1:1/v1#m", wire.api).parse().unwrap();
    let model = ModelServer::new(&address, settings, Arc::clone(wire) as _).unwrap();
    world.reasoners.put(goal, Arc::new(model));
    let mut submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    submission.profile = Profile::NetworkReadAllowed;
    submission.budget.iterations_max = 40;
    submission.encloses.files = files;
    world.kernel().submit(&submission).unwrap().task_id
}

/// Drives to the end, allowing and answering whatever is asked, but for what is to be denied.
fn through(world: &World, kernel: &Kernel, task: TaskId, denied: usize) -> DriveOutcome {
    let mut asked = 0;
    loop {
        match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                asked += 1;
                if asked == denied {
                    world.person.deny(kernel, task, id, "leave that one alone").unwrap();
                } else {
                    world.person.allow(kernel, task, id).unwrap();
                }
            }
            DriveOutcome::Waiting(Waiting::Answer(id)) => {
                kernel.answer(task, id, "the blue one", Channel::Cli).unwrap();
            }
            other => return other,
        }
    }
}

/// A tool, what it is given, and words of its result.
type Told = (&'static str, Value, Vec<String>);

/// Looks and changes: what is asked for, and what the next request says of it.
fn looks_and_changes() -> Vec<Told> {
    let digest = model::Digest::of(b"alpha-1\nbeta-2\n").to_string();
    vec![
        ("list", json!({ "path": "." }), vec!["notes/".into(), "old.txt (3 bytes)".into()]),
        ("read", json!({ "path": "notes/a.txt" }), vec!["alpha-1\nbeta-2".into()]),
        (
            "read",
            json!({ "path": "notes/a.txt", "from": 2, "to": 9 }),
            vec!["lines 2 to 2 of 2".into(), "     2  beta-2".into()],
        ),
        ("search", json!({ "pattern": "alpha" }), vec!["notes/a.txt:1: alpha-1".into()]),
        ("hash", json!({ "path": "notes" }), vec![format!("{digest}  notes/a.txt")]),
        (
            "edit",
            json!({ "path": "notes/a.txt", "edits": [{ "old": "beta-2", "new": "gamma-3" }] }),
            vec!["write notes/a.txt: done".into()],
        ),
        (
            "edit",
            json!({ "path": "notes/a.txt", "edits": [{ "old": "beta-2", "new": "x" }] }),
            vec!["`old` does not stand in `notes/a.txt`".into()],
        ),
        ("write", json!({ "path": "b.txt", "content": "b" }), vec!["write b.txt: done".into()]),
        ("write", json!({ "path": "b.txt", "content": "c" }), vec!["write b.txt: done".into()]),
        ("move", json!({ "from": "b.txt", "to": "c.txt" }), vec!["move b.txt to c.txt: done".into()]),
        (
            "delete",
            json!({ "path": "old.txt" }),
            vec!["a person denied this".into(), "the person says: leave that one alone".into()],
        ),
        (
            "change",
            json!({ "items": [
                { "op": "write", "path": "d.txt", "content": "d" }, { "op": "delete", "path": "c.txt" },
            ] }),
            vec!["write d.txt: done".into(), "delete c.txt: done".into()],
        ),
    ]
}

/// What is asked for of servers of tools, where there are none.
fn of_servers() -> Vec<Told> {
    vec![
        (
            "find_tools",
            json!({ "query": "send mail" }),
            vec!["found no tool for `send mail`: no server of tools can be used".into()],
        ),
        (
            "use_skill",
            json!({ "name": "deploy" }),
            vec!["there is no skill `deploy` that a person trusts, nor any other".into()],
        ),
        (
            "read_resource",
            json!({ "server": "notes", "uri": "note://7" }),
            vec!["there is no server `notes` that can be used".into()],
        ),
    ]
}

/// Everything else that a model may ask for.
fn all_the_rest(server: &Server) -> Vec<Told> {
    let evidence = json!(["notes/a.txt"]);
    vec![
        (
            "command",
            json!({ "argv": ["say", "hello"] }),
            vec!["run say hello".into(), "exit status: 0".into(), "\nhello".into()],
        ),
        (
            "try_change",
            json!({ "patch": "{}", "about": "it asks less" }),
            vec!["no change of Hermit can be tried in this process".into()],
        ),
        (
            "fetch",
            json!({ "method": "GET", "url": server.url("/page") }),
            vec!["status 200".into(), "well received".into()],
        ),
        (
            "commit",
            json!({ "paths": ["d.txt"], "message": "m" }),
            vec!["commit: there is no repository of its own in this folder".into()],
        ),
        ("note", json!({ "plan": "look, then leap" }), vec!["look, then leap".into()]),
        (
            "branch",
            json!({ "name": "topic" }),
            vec!["branch: there is no repository of its own in this folder".into()],
        ),
        (
            "believe",
            json!({ "claim": "alpha comes first", "confidence": 700, "evidence": evidence }),
            vec!["Held true not shown: untrusted: it may not steer planning".into()],
        ),
        (
            "retract",
            json!({ "belief": "omega comes last", "reason": "r" }),
            vec!["no belief of this task claims `omega comes last`".into()],
        ),
        (
            "tag",
            json!({ "name": "v1" }),
            vec!["tag: there is no repository of its own in this folder".into()],
        ),
        (
            "remember",
            json!({ "claim": "c", "scope": "*", "reason": "r", "evidence": evidence }),
            vec!["remember".into(), "succeeded".into()],
        ),
        (
            "delete_ref",
            json!({ "name": "refs/tags/v1" }),
            vec!["delete_ref: there is no repository of its own in this folder".into()],
        ),
        ("ask", json!({ "question": "which?" }), vec!["the blue one".into()]),
        (
            "move_ref",
            json!({ "name": "refs/heads/x", "to": "refs/heads/y" }),
            vec!["move_ref: there is no repository of its own in this folder".into()],
        ),
        (
            "delegate",
            json!({ "tasks": [{ "goal": "look elsewhere", "tokens": 10 }] }),
            vec!["10 tokens are too few for a part".into()],
        ),
        ("done", json!({ "summary": "all seen" }), vec![]),
    ]
}

#[test]
fn the_result_of_every_tool_stands_in_the_next_request_in_every_form() {
    for (n, (api, mode, without)) in (0..).zip(forms()) {
        let mut world = World::new(1900 + n);
        world.file("notes/a.txt", "alpha-1\nbeta-2\n");
        world.file("old.txt", "old");
        let ports = Ports { executors: Arc::new(Walled(world.ports().executors)), ..world.ports() };
        let server = Server::agreeing();
        let story: Vec<Told> =
            looks_and_changes().into_iter().chain(of_servers()).chain(all_the_rest(&server)).collect();
        let offered: BTreeSet<String> = iteration::tools().into_iter().map(|tool| tool.name).collect();
        let told: BTreeSet<String> = story.iter().map(|(tool, ..)| (*tool).to_owned()).collect();
        assert_eq!(offered, told, "every tool is in the story");
        let script = story.iter().map(|(tool, given, _)| (*tool, given.clone()));
        let wire = Wire::speaking(api, script.collect());
        let task = give(&world, &wire, "see everything", settings(mode, without));
        world.crash();
        let kernel = Kernel::open(world.store.path(), ports).unwrap();
        // The fifth question is about the deletion.
        assert_eq!(through(&world, &kernel, task, 5), completed(), "{mode:?}");
        let sent = wire.sent();
        assert_eq!(sent.len(), story.len());
        for (next, (tool, _, words)) in (1..).zip(&story) {
            for said in words {
                let inside = serde_json::to_string(said).unwrap();
                let inside = inside.trim_matches('"');
                assert!(
                    sent[next].contains(inside),
                    "{api} {mode:?} {tool}: `{inside}` is not in {}",
                    sent[next]
                );
            }
        }
        if mode == ToolMode::Tools && api == ModelApi::Openai {
            let last: Value = serde_json::from_str(sent.last().unwrap()).unwrap();
            let messages = last["messages"].as_array().unwrap();
            for (at, message) in messages.iter().enumerate().filter(|(_, m)| m["tool_calls"].is_array()) {
                assert_eq!(message["tool_calls"][0]["id"], messages[at + 1]["tool_call_id"], "{message}");
            }
            assert!(
                messages.iter().any(|m| m["tool_calls"][0]["function"]["name"] == "fetch"),
                "{messages:?}"
            );
        }
    }
}

#[test]
fn what_is_cut_says_that_it_is_and_how_to_see_the_rest() {
    for (n, (api, mode, without)) in (0..).zip(forms()) {
        let world = World::new(1910 + n);
        let lines: String = (1..20_000).map(|line| format!("this is line {line}\n")).collect();
        world.file("long.txt", &lines);
        let script = vec![
            ("read", json!({ "path": "long.txt" })),
            ("read", json!({ "path": "long.txt", "from": 12_345, "to": 12_346 })),
            (
                "edit",
                json!({ "path": "long.txt", "edits": [{ "old": "line 12345\n", "new": "line twelve\n" }] }),
            ),
            ("done", json!({ "summary": "seen" })),
        ];
        let wire = Wire::speaking(api, script);
        let small = Settings { context_tokens: 16_000, answer_tokens: 2_000, ..settings(mode, without) };
        let task = give(&world, &wire, "read it", small);
        assert_eq!(through(&world, world.kernel(), task, 0), completed());
        let sent = wire.sent();
        assert!(
            sent[1].contains("left out here; to see them, read it again with `from` and `to`"),
            "{mode:?}"
        );
        assert!(!sent[1].contains("this is line 12345"));
        assert!(sent[2].contains(" 12345  this is line 12345"), "a line of a long file is had for a line");
        assert!(sent.iter().all(|one| one.len() < 100_000), "{:?}", sent.iter().map(String::len).max());
        let text = std::fs::read_to_string(world.path("long.txt")).unwrap();
        assert!(text.contains("this is line twelve\nthis is line 12346\n") && text.len() == lines.len() + 1);
    }
}

#[test]
fn what_a_server_does_not_take_is_left_out_from_then_on_and_the_work_goes_on() {
    let world = World::new(1920);
    let wire = Wire::new(vec![("list", json!({})), ("done", json!({ "summary": "seen" }))]);
    let no = |param: &str, message: &str| {
        (400, json!({ "error": { "message": message, "param": param, "code": "unsupported_parameter" } }))
    };
    wire.refusals.lock().unwrap().extend([
        no("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        no("temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
        (422, json!({ "detail": "seed: extra fields not permitted" })),
        (400, json!({ "error": "this model does not support tools" })),
        (400, json!({ "error": "response_format is not supported" })),
    ]);
    let task = give(&world, &wire, "look", settings(ToolMode::Tools, &[]));
    assert_eq!(through(&world, world.kernel(), task, 0), completed());
    let sent: Vec<Value> = wire.sent().iter().map(|one| serde_json::from_str(one).unwrap()).collect();
    let holds: Vec<Vec<&str>> = sent
        .iter()
        .map(|one| {
            let all =
                ["max_tokens", "max_completion_tokens", "temperature", "seed", "tools", "response_format"];
            all.into_iter().filter(|name| one.get(name).is_some()).collect()
        })
        .collect();
    assert_eq!(
        holds,
        [
            vec!["max_tokens", "temperature", "seed", "tools"],
            vec!["max_completion_tokens", "temperature", "seed", "tools"],
            vec!["max_completion_tokens", "seed", "tools"],
            vec!["max_completion_tokens", "tools"],
            vec!["max_completion_tokens", "response_format"],
            vec!["max_completion_tokens"],
            vec!["max_completion_tokens"],
        ]
    );
}

#[test]
fn an_answer_that_is_refused_or_held_back_ends_the_task_with_words_and_is_not_asked_for_again() {
    for (n, (stop, words)) in (0..).zip([
        (Stop::Refused, "the model refused to answer: \u{201c}I won't.\u{201d}"),
        (Stop::Filtered, "filter held back the model's answer: \u{201c}I won't.\u{201d}"),
    ]) {
        let world = World::new(1940 + n);
        let answer = Answer { text: "I won't.".to_owned(), stop, ..Answer::default() };
        let asked = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&asked);
        let model = reasoning::Scripted::with(move |_| {
            *counted.lock().unwrap() += 1;
            Ok(answer.clone())
        });
        world.reasoners.put("look", Arc::new(model));
        let submission = world.submission("look", Reasoning::Scripted { name: "look".to_owned() });
        let task = world.kernel().submit(&submission).unwrap().task_id;
        through(&world, world.kernel(), task, 0);
        assert_eq!(state(&world, task).task.status, TaskStatus::Failed);
        let ends = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
            Body::RunTerminated(body) => body.summary.shown().cloned(),
            _ => None,
        });
        let ends: Vec<String> = ends.collect();
        assert!(ends.len() == 1 && ends[0].contains(words), "{ends:?}");
        assert_eq!(*asked.lock().unwrap(), 1);
    }
}

#[test]
fn an_answer_that_its_limit_cuts_is_no_malformed_one_and_the_model_is_told_how_long_it_may_be() {
    let world = World::new(1930);
    let story = vec![("write", json!({ "path": "long.txt", "content": "begins" })); 9];
    let wire = Arc::new(Wire {
        script: Mutex::new(story.into()),
        sent: Mutex::default(),
        refusals: Mutex::default(),
        finish: "length",
        api: ModelApi::Openai,
        before: Mutex::new(Box::new(|| ())),
    });
    let task = give(&world, &wire, "write a long text", settings(ToolMode::Tools, &[]));
    let end = through(&world, world.kernel(), task, 0);
    assert!(!matches!(&end, DriveOutcome::Waiting(_)), "{end:?}");
    let sent = wire.sent();
    assert!(sent.len() > 1 && sent[1].contains("the answer was cut at 77 tokens"), "{}", sent[1]);
    assert!(!world.path("long.txt").exists(), "nothing of a cut answer is done");
    assert!(!state(&world, task).attempts.values().any(|a| a.loop_state.malformed_in_a_row > 0));
}
