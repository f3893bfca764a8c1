//! A store with keys, a folder to work in, a host that serves it, and clients.

use api::Host as _;
use base64::Engine as _;
use host::{ApprovalSession, Home, Local, NewKeys, Unlock, VaultChoice};
use model::approval::Surface;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zeroize::Zeroizing;

pub const VAULT: &[u8] = b"a vault of words";
const APPROVAL: &[u8] = b"a yes of words";
/// How long anything expected may take on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Bench {
    pub dir: TempDir,
    local: Option<Arc<Local>>,
}

/// An event as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub id: Option<String>,
    pub kind: String,
    pub data: Value,
}

impl Heard {
    pub fn seq(&self) -> u64 {
        self.data["seq"].as_u64().expect("a number")
    }
}

/// A stream under way; dropping it cuts the connection.
pub struct Stream(Box<dyn std::io::BufRead + Send>);

impl Iterator for Stream {
    type Item = Heard;

    fn next(&mut self) -> Option<Heard> {
        let (mut id, mut kind, mut data) = (None, String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("event", value)) => value.clone_into(&mut kind),
                Some(("data", value)) => value.clone_into(&mut data),
                _ if line.trim_end().is_empty() && !data.is_empty() => {
                    let data = serde_json::from_str(&data).expect("JSON");
                    return Some(Heard { id, kind, data });
                }
                _ => {}
            }
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        let dir = TempDir::new().expect("a folder");
        std::fs::create_dir(dir.path().join("work")).expect("a folder");
        let mut bench = Self { dir, local: None };
        testkit::cheap_keys(&bench.path("store"), VAULT, APPROVAL);
        bench.open();
        let new = NewKeys {
            vault: VaultChoice::File,
            vault_passphrase: Some(VAULT),
            approval_passphrase: Some(APPROVAL),
        };
        bench.local().make_keys(&new).expect("keys");
        bench
    }

    pub fn home(&self) -> Home {
        Home::find(Some(&self.dir.path().join("store"))).expect("a place")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Takes the store and serves it; the host before must have gone.
    pub fn open(&mut self) {
        let unlock = Unlock::Words(Zeroizing::new(VAULT.to_vec()));
        let local = Arc::new(Local::owning(self.home(), &unlock).expect("nobody holds it"));
        local.serve(None).expect("served");
        self.local = Some(local);
    }

    /// Ends the host as a request to terminate does.
    pub fn close(&mut self) {
        let local = self.local.take().expect("a host");
        local.wind_down();
        local.close();
        // The lock falls with the last who holds the store.
        let until = Instant::now() + PATIENCE;
        let mut local = Some(local);
        while let Err(held) = Arc::try_unwrap(local.take().expect("kept")) {
            assert!(Instant::now() < until, "somebody keeps the store");
            local = Some(held);
            std::thread::yield_now();
        }
    }

    pub fn local(&self) -> &Arc<Local> {
        self.local.as_ref().expect("a host")
    }

    pub fn files(&self, count: usize) {
        for n in 0..count {
            std::fs::write(self.path("work").join(format!("{n:03}.txt")), format!("number {n}\n"))
                .expect("a file");
        }
    }

    pub fn token(&self) -> String {
        std::fs::read_to_string(self.path("store").join(gateway::TOKEN_FILE)).expect("a token")
    }

    /// A request; its status and its JSON.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let (status, mut answer) = self.request(method, path, headers, body);
        let bytes = answer.body_mut().read_to_vec().expect("a body");
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, ureq::http::Response<ureq::Body>) {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_idle_connections(0)
            // Also a stream: what keeps it alive would put a limit for one read off for ever.
            .timeout_global(Some(PATIENCE * 2))
            .build();
        let agent = ureq::Agent::new_with_config(config);
        let address = self.local().address().expect("served");
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("http://{address}{path}"));
        // A page has no token of the host's.
        let own = ["authorization", "x-hermit-session", "sec-fetch-site"];
        if !headers.iter().any(|(name, _)| own.contains(name)) {
            request = request.header("authorization", format!("Bearer {}", self.token()));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = match body {
            "" => agent.run(request.body(()).expect("a request")),
            body => agent.run(request.body(body.to_owned()).expect("a request")),
        };
        let answer = answer.expect("an answer");
        (answer.status().as_u16(), answer)
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, &[], "");
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", path, &[], &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Starts a run of a playbook in the folder; its name and its session's.
    pub fn start(&self, playbook: &str) -> (String, String) {
        let started = self.post(
            "/v1/runs",
            &json!({ "message": "", "workspace": self.path("work"), "provider": "playbook", "model": playbook }),
        );
        let word = |name: &str| started[name].as_str().expect("a text").to_owned();
        (word("run_id"), word("session_id"))
    }

    /// Waits until a run has one of these statuses.
    pub fn reaches(&self, run: &str, statuses: &[&str]) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.get(&format!("/v1/runs/{run}"));
            if statuses.contains(&status["status"].as_str().expect("a word")) {
                return status;
            }
            assert!(Instant::now() < until, "it stays {status}");
            std::thread::yield_now();
        }
    }

    /// A run that waits for a person, and the approval.
    pub fn asking(&self) -> (String, String) {
        self.files(3);
        let (run, _) = self.start("tidy");
        let status = self.reaches(&run, &["awaiting_approval"]);
        // Nothing more is written until somebody answers.
        let id = run.parse().expect("a name");
        assert_eq!(api::Host::stands(&**self.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
        (run, status["pending_approval_id"].as_str().expect("an approval").to_owned())
    }

    /// A person's yes: signed here, with a key that no host has.
    pub fn allow(&self, approval: &str) {
        let shown =
            api::call(&**self.local(), "approvals.show", json!({ "approval": approval })).expect("shown");
        let text = |name: &str| shown[name].as_str().expect("a text").to_owned();
        let packet = base64::engine::general_purpose::STANDARD.decode(text("packet")).expect("base64");
        let mut seat = ApprovalSession::new(self.home(), Surface::Terminal);
        seat.unlock(APPROVAL).expect("the passphrase");
        let envelope = seat.sign(&packet, true, &text("person_id"), None).expect("signed");
        let envelope = base64::engine::general_purpose::STANDARD.encode(envelope);
        let decided =
            self.post("/api/approvals.decide", &json!({ "approval": approval, "envelope": envelope }));
        assert_eq!(decided["accepted"], true, "{decided}");
    }

    /// Follows a run from where the headers and the query say.
    pub fn stream(&self, run: &str, query: &str, headers: &[(&str, &str)]) -> Stream {
        let (status, stream) = self.try_stream(run, query, headers);
        assert_eq!(status, 200);
        stream
    }

    /// The same, with whatever status it has.
    pub fn try_stream(&self, run: &str, query: &str, headers: &[(&str, &str)]) -> (u16, Stream) {
        let mut all = vec![("accept", "text/event-stream")];
        all.extend_from_slice(headers);
        let (status, answer) = self.request("GET", &format!("/v1/runs/{run}/events{query}"), &all, "");
        (status, Stream(Box::new(BufReader::new(answer.into_body().into_reader()))))
    }

    /// What a page hears.
    pub fn notices(&self, headers: &[(&str, &str)]) -> Stream {
        let (status, answer) = self.request("GET", "/api/notices", headers, "");
        assert_eq!(status, 200);
        Stream(Box::new(BufReader::new(answer.into_body().into_reader())))
    }

    /// Everything the stream of a run holds now.
    pub fn events(&self, run: &str) -> Vec<Value> {
        let page = self.get(&format!("/v1/runs/{run}/events?limit=500"));
        assert_eq!(page["more"], false);
        page["events"].as_array().expect("events").clone()
    }

    pub fn control(&self, run: &str, verb: &str, body: &Value) -> Value {
        self.post(&format!("/v1/runs/{run}/{verb}"), body)
    }

    pub fn stats(&self) -> Value {
        let stats = api::call(&**self.local(), "ledger.stats", json!({})).expect("counted");
        json!([stats["events"], stats["entries"], stats["tasks"]])
    }

    pub fn reader(&self) -> ledger::Reader {
        self.local().reader().expect("a store")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self.local.is_some() && !std::thread::panicking() {
            self.close();
        }
    }
}
