//! Programs and pages that speak with a host by hand, as those that other people wrote do.

use crate::bench::{APPROVAL, Bench, alone, program, text};
use crate::without_terminal;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Killed, Lines};

/// How long anything expected may take on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// A host that serves a store; it is killed where it is dropped.
pub struct Served {
    pub process: Killed,
    address: String,
    link: String,
    pub token: String,
}

impl Served {
    pub fn begin(bench: &Bench, mut command: Command) -> Self {
        alone(command.arg("serve"))
            .env("HERMIT_HOME", bench.home())
            .env("HERMIT_PASSPHRASE_FILE", bench.path("vault"));
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
        Self::begin(bench, without_terminal(program()))
    }

    /// A request by hand; its status and the JSON of the answer.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
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

    pub fn by_program(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.token);
        let headers =
            [("Accept", "application/json"), ("User-Agent", "a-runner-client"), ("Authorization", &*bearer)];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, path, &headers, &body)
    }

    /// The session that a page gets for the link.
    pub fn page_session(&self) -> String {
        self.session_of(&self.link)
    }

    pub fn session_of(&self, link: &str) -> String {
        let (origin, token) = (format!("http://{}", self.address), json!({ "token": link }));
        text(&self.ask("POST", "/api/session", &[("Origin", &origin)], &token.to_string()).1["session"])
    }

    pub fn by_page(&self, session: &str, path: &str, body: &Value) -> (u16, Value) {
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

    /// Says yes to an approval as a person does who reads its card in a browser.
    pub fn allows(&self, approval: &str) {
        let session = self.page_session();
        let (status, card) = self.by_page(&session, "/api/session/card", &json!({ "approval": approval }));
        assert_eq!(status, 200, "{card}");
        let yes = json!({ "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"],
            "passphrase": APPROVAL.as_bytes() });
        let until = Instant::now() + PATIENCE;
        loop {
            let (status, told) = self.by_page(&session, "/api/session/allow", &yes);
            if status == 200 {
                assert_eq!(told["accepted"], true, "{told}");
                return;
            }
            // Before anybody can have read the card, it is too early.
            assert!(
                status == 409 && told["code"] != "key_locked" && Instant::now() < until,
                "{status} {told}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a task whose approval was given waits for something else, or has ended.
    pub fn goes_on(&self, task: &str, approval: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = self.must("POST", "/api/task.show", &json!({ "task": task }));
            let is_at_work = match text(&shown["row"]["run_status"]).as_str() {
                "queued" | "running" => true,
                "awaiting_approval" => shown["waits_for"].is_null() || shown["waits_for"]["id"] == approval,
                _ => false,
            };
            if !is_at_work {
                return;
            }
            assert!(Instant::now() < until, "it does not come to an end: {shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
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
