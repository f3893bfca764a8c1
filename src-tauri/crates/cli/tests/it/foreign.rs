//! Programs that other people wrote, and processes that read what is not theirs, at the built `hermit serve`.
//!
//! The client is ours, in the shape of one that is in use: it sends what that one sends, and reads of every answer what
//! that one reads.

use crate::bench::{APPROVAL, Bench, VAULT, program, text};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Killed, Lines};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Whoever has no rights of his own.
const NOBODY: &str = "65534";

/// A host that serves a store; it is killed where it is dropped.
pub struct Served {
    process: Killed,
    address: String,
    link: String,
    pub token: String,
}

impl Served {
    fn begin(bench: &Bench, mut command: Command) -> Self {
        command.arg("serve").env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HERMIT_HOME", bench.home()).env("HERMIT_PASSPHRASE_FILE", bench.path("vault"));
        // Which fault is on, where `cargo xtask mutants` asks this test: it is one of the program that serves.
        command.envs(std::env::var_os("HERMIT_MUTANT").map(|on| ("HERMIT_MUTANT", on)));
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = Lines::of(process.stdout.take().unwrap());
        // Killed also where it does not say what is waited for.
        let (address, link, token) = (String::new(), String::new(), String::new());
        let mut served = Self { process: Killed(process), address, link, token };
        let line = lines.find(|line| line.contains("/#token=")).expect("a link");
        let url = line.trim().strip_prefix("http://").unwrap();
        let (address, link) = url.split_once("/#token=").unwrap();
        (served.address, served.link) = (address.to_owned(), link.to_owned());
        served.token = std::fs::read_to_string(bench.home().join("gateway.token")).unwrap();
        served
    }

    pub fn new(bench: &Bench) -> Self {
        Self::begin(bench, Command::new(program()))
    }

    /// A request by hand; its status and the JSON of the answer.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let sent =
            format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn by_program(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.token);
        let headers =
            [("Accept", "application/json"), ("User-Agent", "a-runner-client"), ("Authorization", &*bearer)];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, path, &headers, &body)
    }

    /// The session that a page gets for the link.
    fn page_session(&self) -> String {
        self.session_of(&self.link)
    }

    /// The session of a page whose link a person reads at a terminal.
    fn session_at_terminal(&self, bench: &Bench) -> String {
        let (code, shown) = bench.terminal(&["open"]).end();
        assert_eq!(code, 0, "{shown}");
        let link = shown.split_once("/#token=").and_then(|(_, rest)| rest.split_whitespace().next());
        self.session_of(link.expect("a link"))
    }

    fn session_of(&self, link: &str) -> String {
        let (origin, token) = (format!("http://{}", self.address), json!({ "token": link }));
        text(&self.ask("POST", "/api/session", &[("Origin", &origin)], &token.to_string()).1["session"])
    }

    fn by_page(&self, session: &str, path: &str, body: &Value) -> (u16, Value) {
        let origin = format!("http://{}", self.address);
        let headers = [("Origin", origin.as_str()), ("x-hermit-session", session)];
        self.ask("POST", path, &headers, &body.to_string())
    }

    /// What the client makes of an answer that is no error.
    pub fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.by_program(method, path, body);
        assert_eq!(status, 200, "{method} {path} {body}: {answer}");
        answer
    }

    fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        testkit::ends(&mut self.process);
    }
}

/// What the foreign adapter reads of a control: whether, and the words for a no.
fn controlled(answer: &Value) -> (bool, Option<String>) {
    let accepted = answer.get("ok").is_none_or(|ok| ok.as_bool().unwrap_or_default());
    (accepted, (!accepted).then(|| text(&answer["message"])))
}

pub fn reaches(served: &Served, run: &str, wanted: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let status = served.must("GET", &format!("/v1/runs/{run}"), &Value::Null);
        if status["status"] == wanted {
            return status;
        }
        assert!(Instant::now() < until, "it never came to `{wanted}`: {status}");
        std::thread::yield_now();
    }
}

const SESSION: &str = "20261122_101500_ab12cd";

/// A start as the foreign client sends it.
fn start(bench: &Bench, differing: Value) -> Value {
    let mut asked = json!({
        "session_id": SESSION, "message": "tidy up", "attachments": [], "workspace": bench.folder(),
        "profile": "default", "provider": "playbook", "model": "tidy", "toolsets": ["web", "terminal"],
        "source": "webui", "metadata": { "route": "/api/chat/start" },
    });
    for (name, value) in differing.as_object().unwrap() {
        asked[name] = value.clone();
    }
    asked
}

#[test]
fn a_client_that_others_wrote_starts_follows_steers_and_understands_a_no() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    std::fs::write(bench.path("notes.md"), "# notes\n").unwrap();
    let fence = json!({
        "session_id": SESSION, "profile": "default", "profile_home": "/home/x/.hermes", "generation": "7", "version": "n1",
        "route": { "workspace": bench.folder(), "model": "tidy", "provider": "playbook", "normalized_model": false },
    });
    let file = json!([{ "name": "notes.md", "path": bench.path("notes.md"), "mime": "text/markdown", "size": 8, "is_image": false }]);
    let asked = start(&bench, json!({ "attachments": file, "owner_fence": fence }));
    let started = served.must("POST", "/v1/runs", &asked);
    let run = text(&started["run_id"]);
    assert_eq!((&started["session_id"], &started["stream_id"]), (&json!(SESSION), &json!(run)));
    assert_eq!(
        (&started["profile"], &started["model"]),
        (&json!("local_edit_allowed"), &json!("playbook:tidy"))
    );
    let mut echoed = started["owner_fence"].clone();
    assert_eq!(echoed.as_object_mut().unwrap().remove("accepted"), Some(json!(true)));
    assert_eq!(echoed, fence, "compared, and told back");
    let status = reaches(&served, &run, "awaiting_approval");
    assert_eq!((&status["session_id"], &status["terminal_state"]), (&json!(SESSION), &Value::Null));

    // It follows by whatever it has: nothing, our cursor, the name of an event, or its number.
    let page = |cursor: &str| served.must("GET", &format!("/v1/runs/{run}/events{cursor}"), &Value::Null);
    let all = page("");
    let events = all["events"].as_array().unwrap();
    assert!(events.len() > 2 && events.iter().all(|event| event["session_id"] == SESSION), "{all}");
    let third = &events[2];
    for cursor in [text(&third["event_id"]).replace(':', "%3A"), third["seq"].to_string()] {
        let rest = page(&format!("?cursor={cursor}"));
        assert_eq!(rest["events"][0]["seq"], events[3]["seq"], "{cursor}: {rest}");
    }
    assert_eq!(page(&format!("?cursor={}", text(&all["cursor"])))["events"], json!([]));

    // What it may not is a no that it understands; what it may is done.
    let approval = json!(text(&status["pending_approval_id"]));
    let answer = |choice: &str| {
        let path = format!("/v1/runs/{run}/approval");
        controlled(&served.must("POST", &path, &json!({ "choice": choice, "approval_id": approval })))
    };
    for choice in ["once", "session", "always", "allow", "yes"] {
        let (accepted, why) = answer(choice);
        assert!(!accepted && why.is_some_and(|why| why.contains("only a person")), "{choice}");
    }
    let steered = json!({ "message": "leave the pictures", "mode": "steer" });
    assert!(controlled(&served.must("POST", &format!("/v1/runs/{run}/messages"), &steered)).0);
    let goal = |action: &str| {
        let asked = json!({ "action": action, "text": "" });
        controlled(&served.must("POST", &format!("/v1/sessions/{SESSION}/goal"), &asked))
    };
    assert!(goal("status").0);
    assert!(controlled(&served.must("POST", &format!("/v1/runs/{run}/cancel"), &json!({}))).0);
    let ended = reaches(&served, &run, "cancelled");
    assert_eq!(ended["terminal_state"], "cancelled", "a word");
    assert_eq!(ended["terminal_event"]["terminal"], true);
    let (accepted, why) = controlled(&served.must("POST", &format!("/v1/runs/{run}/cancel"), &json!({})));
    assert!(!accepted && why.is_some());
    served.end();

    // A host that was begun anew finds its session by the client's name for it.
    let served = Served::new(&bench);
    let runs = served.must("GET", &format!("/v1/sessions/{SESSION}/runs"), &Value::Null);
    assert_eq!((&runs["session_id"], &runs["runs"][0]["run_id"]), (&json!(SESSION), &json!(run)));
    let second = served.must("POST", "/v1/runs", &start(&bench, json!({ "source": "process_wakeup" })));
    let runs = served.must("GET", &format!("/v1/sessions/{SESSION}/runs"), &Value::Null);
    assert_eq!((&second["session_id"], runs["runs"].as_array().unwrap().len()), (&json!(SESSION), 2));
    served.end();
}

#[test]
fn what_a_foreign_client_cannot_have_is_said_in_words_and_nothing_is_started() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    let refused = |differing: Value| {
        let (status, answer) = served.by_program("POST", "/v1/runs", &start(&bench, differing));
        (status, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let stats = || served.must("POST", "/api/ledger.stats", &json!({}));
    let before = stats();
    let long = "x".repeat(200);
    let fence = json!({ "session_id": "another" });
    for (differing, status, words) in [
        (json!({ "workspace": null }), 400, "workspace"),
        (json!({ "provider": "anthropic", "model": "claude" }), 400, "model"),
        (json!({ "provider": null, "model": null }), 400, "model"),
        (json!({ "source": "system" }), 400, "Hermit itself"),
        (json!({ "source": "Scheduler" }), 400, "Hermit itself"),
        (json!({ "session_id": long }), 400, "session_id"),
        (json!({ "toolsets": [long] }), 400, "toolsets"),
        (json!({ "attachments": [{ "name": "x" }] }), 400, "attach"),
        (json!({ "owner_fence": fence }), 409, "owner_fence.session_id"),
        (json!({ "unheard_of": 1 }), 422, "unheard_of"),
    ] {
        let (came, said) = refused(differing.clone());
        assert_eq!(came, status, "{differing}: {said}");
        assert!(said.to_lowercase().contains(&words.to_lowercase()), "{differing}: {said}");
    }
    assert_eq!(stats(), before, "nothing was recorded");
    // A key names one request.
    let bearer = format!("Bearer {}", served.token);
    let with_key = |body: &Value| {
        let headers = [("Authorization", &*bearer), ("Idempotency-Key", "one")];
        served.ask("POST", "/v1/runs", &headers, &body.to_string())
    };
    let (status, first) = with_key(&start(&bench, json!({ "session_id": "" })));
    assert_eq!(status, 200, "{first}");
    assert_eq!(with_key(&start(&bench, json!({ "session_id": "" }))).1["run_id"], first["run_id"]);
    for differing in
        [json!({ "session_id": "", "message": "else" }), json!({ "session_id": "", "model": "inventory" })]
    {
        let (status, answer) = with_key(&start(&bench, differing));
        assert_eq!((status, &answer["code"]), (409, &json!("conflict")), "{answer}");
    }
    let run = text(&first["run_id"]);
    let path = format!("/v1/runs/{run}/messages");
    let say = |words: &str| {
        let body = json!({ "message": words, "mode": "steer" }).to_string();
        let headers = [("Authorization", &*bearer), ("Idempotency-Key", "two")];
        served.ask("POST", &path, &headers, &body)
    };
    assert!(controlled(&say("this").1).0 && controlled(&say("this").1).0);
    assert!(!controlled(&say("that").1).0, "the key of other words");
    served.end();
    // A provider of its own stands for whoever the person set up here.
    bench.run(&["models", "use", "openai:http://127.0.0.1:9/v1#house"]).ends_with(0);
    let served = Served::new(&bench);
    let started = served.must(
        "POST",
        "/v1/runs",
        &start(&bench, json!({ "provider": "anthropic", "model": "claude" })),
    );
    assert_eq!(started["model"], "openai:http://127.0.0.1:9/v1#house", "and it is said");
    served.end();
}

/// Whether the bytes stand in what a process has in memory.
fn remembers(pid: u32, needle: &[u8]) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    maps.lines().filter(|line| line.contains(" rw")).any(|line| {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let mut bytes = vec![0; usize::try_from(number(to) - number(from)).unwrap()];
        // What cannot be read is no memory of the program's own.
        memory.read_exact_at(&mut bytes, number(from)).is_ok()
            && bytes.windows(needle.len()).any(|window| window == needle)
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A program as whoever has no rights, where this test has them all.
fn as_nobody(words: &[&str]) -> Command {
    if !is_root() {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        return command;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).args(words);
    command
}

fn may_read_memory(pid: u32) -> bool {
    let script = format!("exec 3</proc/{pid}/mem");
    as_nobody(&["sh", "-c", &script]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_host_with_keys_is_closed_to_other_programs_of_its_person_and_forgets_the_passphrase() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    if is_root() {
        let all = bench.path("");
        assert!(
            Command::new("chown")
                .arg("-R")
                .arg(format!("{NOBODY}:{NOBODY}"))
                .arg(&all)
                .status()
                .unwrap()
                .success()
        );
    }
    let served = Served::begin(&bench, as_nobody(&[program().to_str().unwrap()]));
    let pid = served.process.id();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{core}");
    assert!(!may_read_memory(pid), "another program of the same person reads it");
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if matches!(scope.trim(), "" | "0") {
        let mut other = as_nobody(&["sleep", "60"]).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while !may_read_memory(other.id()) {
            assert!(Instant::now() < until, "the memory of a program that is not closed is open");
        }
        other.kill().unwrap();
        other.wait().unwrap();
    }

    // A yes in a browser, with the passphrase as a page sends it and as plain text.
    let session = served.page_session();
    let page = |path: &str, body: &Value| served.by_page(&session, path, body);
    let card = page("/api/session/card", &json!({ "approval": approval })).1;
    let yes = |passphrase: Value| json!({ "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"], "passphrase": passphrase });
    let wrong = "a passphrase that was never right, 4711";
    let until = Instant::now() + PATIENCE;
    let told = loop {
        let (status, told) = page("/api/session/allow", &yes(json!(wrong)));
        assert_eq!(status, 409, "{told}");
        // Too early is no try.
        if told["code"] == "key_locked" {
            break told;
        }
        assert!(Instant::now() < until, "{told}");
    };
    assert!(!told.to_string().contains(bench.path("").to_str().unwrap()), "no place of this machine: {told}");
    let (status, decided) = page("/api/session/allow", &yes(json!(APPROVAL.as_bytes())));
    assert_eq!((status, &decided["accepted"]), (200, &json!(true)), "{decided}");
    if is_root() {
        assert!(remembers(pid, session.as_bytes()), "what is kept is found");
        for forgotten in [wrong, APPROVAL] {
            assert!(!remembers(pid, forgotten.as_bytes()), "`{forgotten}` is still there");
        }
    }
    served.end();
}

#[test]
fn a_page_is_not_told_where_the_store_lies_whatever_is_wrong_with_its_keys() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    let session = served.session_at_terminal(&bench);
    let vault = bench.home().join("vault.key");
    let whole = std::fs::read(&vault).unwrap();
    let mode = |bits: u32| std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(bits)).unwrap();
    let wrong: [(&str, &dyn Fn()); 4] = [
        ("a wrong passphrase", &|| {}),
        ("others may read it", &|| mode(0o644)),
        ("damaged", &|| std::fs::write(&vault, &whole[..whole.len() / 2]).unwrap()),
        ("gone", &|| std::fs::remove_file(&vault).unwrap()),
    ];
    for (what, happens) in wrong {
        mode(0o600);
        std::fs::write(&vault, &whole).unwrap();
        happens();
        let given = if what == "a wrong passphrase" { "not that of the vault" } else { VAULT };
        let (status, told) =
            served.by_page(&session, "/api/session/keys/unlock", &json!({ "passphrase": given }));
        assert!(status >= 400 && told["message"].is_string(), "{what}: {status} {told}");
        assert!(told.to_string().contains("vault.key"), "{what}: the file is named: {told}");
        assert!(
            !told.to_string().contains(bench.path("").to_str().unwrap()),
            "{what}: not its place: {told}"
        );
    }
    served.end();
}
