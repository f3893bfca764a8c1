//! Servers of tools: what Hermit adds to a call of one that is alive, and to the first call of one that has to be started;
//! and how long a list of 500 tools takes.

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use crate::rules::support::World;
use acts::Action;
use effects::{Sandbox, ServerSessions};
use host::{Home, Local, Unlock};
use model::action::ActionClass;
use model::receipt::ResultCode;
use model::tool_server::{ServerLaunch, ServerRegistration, ToolManifest, ToolTerms};
use model::{AttemptId, Digest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use testkit::{Killed, ManyTools};
use toolservers::McpClient;

const TIMES: usize = 30;
const SERVERS: usize = 20;
/// The toy server of the journeys.
const SERVER: &str = include_str!("../journeys/data/tool_server.py");
const PYTHON: &str = "/usr/bin/python3";

/// The same server without Hermit.
struct Bare {
    _child: Killed,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Bare {
    fn start(folder: &Path) -> Self {
        let mut run = Command::new(PYTHON);
        run.arg("server.py").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = run.spawn().expect("it starts");
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut bare = Self { _child: Killed(child), stdin, stdout, id: 0 };
        bare.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
        bare.ask("tools/list", &json!({}));
        bare
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        self.id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        writeln!(self.stdin, "{message}").expect("it hears");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it answers");
        assert!(line.contains("result"), "{line}");
        line
    }

    fn call(&mut self) {
        self.ask("tools/call", &json!({ "name": "echo", "arguments": { "text": "hello" } }));
    }
}

pub fn run(_: &Asked, board: &Board) {
    calls(board);
    lists(board);
}

fn calls(board: &Board) {
    let Some(exec) = program("hermit-exec") else {
        return board.figure("call of a tool of a server", "`hermit-exec` is not built");
    };
    let walls = Sandbox::probe(&exec);
    let what = format!("{} ({})", walls.level(), walls.why());
    let world = World::with(walls);
    world.put("server.py", SERVER);
    world.put("mode.txt", "good");
    let executors = world.executors.with_servers(Arc::new(McpClient), ServerSessions::default());
    let world = World { executors, ..world };
    let launch = ServerLaunch {
        argv: vec![PYTHON.to_owned(), "server.py".to_owned()],
        url: None,
        secrets: BTreeMap::new(),
        variables: BTreeMap::new(),
        package: None,
        hosts: Vec::new(),
        reads: Vec::new(),
        pins: Vec::new(),
    };
    let (launch, manifest) = match world.executors.look_at_server("bench", &launch) {
        Ok(found) => found,
        Err(why) => return board.figure("call of a tool of a server", &why),
    };
    let call = called(&world, launch, manifest);
    let took = |attempt: Option<AttemptId>| {
        let mut request = world.request(Action::Call(call.clone()));
        request.attempt_id = attempt.unwrap_or(request.attempt_id);
        let attempt = request.attempt_id;
        let (took, outcome) = timed(|| world.perform(&request));
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        (took, attempt)
    };
    let mut bare = Bare::start(&world.root);
    let mut own: Vec<_> = (0..TIMES).map(|_| timed(|| bare.call()).0).collect();
    drop(bare);
    let (_, attempt) = took(None);
    let mut warm: Vec<_> = (0..TIMES).map(|_| took(Some(attempt)).0).collect();
    let (own, warm) = (at(&mut own, 0.5), at(&mut warm, 0.5));
    let detail = format!("{} beside {} of the server; {what}", ms(warm), ms(own));
    board.at_most("added to a call of a warm server, ms", (warm - own) * 1_000.0, 5.0, &detail);
    world.executors.end_servers(attempt);
    let whole = |_| timed(|| Bare::start(&world.root).call()).0;
    let mut raw: Vec<_> = (0..TIMES).map(whole).collect();
    let mut cold: Vec<_> = (0..TIMES)
        .map(|_| {
            let (took, attempt) = took(None);
            world.executors.end_servers(attempt);
            took
        })
        .collect();
    let (raw, cold) = (at(&mut raw, 0.5), at(&mut cold, 0.5));
    let detail = format!("{} beside {} without Hermit", ms(cold), ms(raw));
    board.at_most("added to a cold start and its first call, ms", (cold - raw) * 1_000.0, 60.0, &detail);
}

fn called(world: &World, launch: ServerLaunch, manifest: ToolManifest) -> acts::Call {
    let manifest_sha256 = manifest.pin().expect("a pin");
    let tool_sha256 = manifest.tool("echo").expect("echo").pin().expect("a pin");
    let registration = ServerRegistration { server: "toy".to_owned(), launch: launch.clone(), manifest };
    let registration_sha256: Digest =
        world.shelf.put(&seal::canon::to_canonical(&registration).expect("canonical"));
    acts::Call {
        part: None,
        server: "toy".to_owned(),
        name: "echo".to_owned(),
        arguments: r#"{"text":"hello"}"#.to_owned(),
        launch,
        registration_sha256,
        manifest_sha256,
        tool_sha256,
        terms: Some(ToolTerms::of(ActionClass::ReadLocal)),
        sampling: None,
        paths: Vec::new(),
        hosts: Vec::new(),
        amounts: Vec::new(),
    }
}

fn lists(board: &Board) {
    let mut world = testkit::World::new(41);
    world.servers = Arc::new(ManyTools);
    world.reopen();
    world.register_many(SERVERS);
    world.crash();
    let store = world.store.path();
    let size = format!("{} tools of {SERVERS} servers", SERVERS * ManyTools::EACH);
    match program("hermit") {
        Some(hermit) => {
            let list = || {
                let mut run = Command::new(&hermit);
                run.arg("--home").arg(store).args(["tools", "list"]).stdout(Stdio::null());
                run.stderr(Stdio::null()).status()
            };
            let fastest = (0..10).map(|_| timed(list).0).min().unwrap_or_default();
            let detail = if list().is_ok_and(|s| s.success()) { size.as_str() } else { "(it fails)" };
            board.at_most("hermit tools list, ms", fastest.as_secs_f64() * 1_000.0, 50.0, detail);
        }
        None => board.figure("hermit tools list", "`hermit` is not built"),
    }
    let home = Home::find(Some(store)).expect("a folder");
    let local = Local::owning(home, &Unlock::Environment).expect("the store opens");
    let mut times: Vec<_> = (0..10)
        .map(|_| {
            let (took, listed) = timed(|| api::runs::registered_tools(&local).expect("they are listed"));
            assert!(listed.tools.len() >= SERVERS * ManyTools::EACH);
            took
        })
        .collect();
    board.at_most("GET /v1/tools, its answer, ms", at(&mut times, 0.5) * 1_000.0, 50.0, &size);
}
