//! A real homeserver (Synapse) and a real mail server (Dovecot) of this machine, where `cargo xtask parts matrix` and `cargo xtask
//! parts mail` have put them: somebody is paired, gives a goal, and has its answer once, also where their service was away when it
//! was to be sent; who is not paired is neither heard nor answered.

use super::attached::Served;
use super::programs::root;
use super::stage::Stage;
use super::summary::parts;
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Chat, Large, Lines};

/// What the model says of each goal.
const ANSWER: &str = "There are seven shelves in the cellar.";
const GATEWAY: &str = "chat";
/// How long anything may take: a service that was away is asked again after minutes.
const PATIENCE: Duration = Duration::from_secs(400);
/// How long a host needs at most to read a service for the first time.
const BEGINS: Duration = Duration::from_secs(8);

/// A service with people at it.
trait ChatServer {
    /// How a person names it to `hermit gateway add`, and the token that they type.
    fn words(&self) -> (Vec<String>, String);
    /// Somebody writes to the bot.
    fn says(&mut self, who: &str, text: &str);
    /// What the bot has written to somebody.
    fn reads(&self, who: &str) -> Vec<String>;
    fn goes_away(&mut self);
    fn comes_back(&mut self);
}

/// A server that runs, and what it said when it began. It ends when nobody holds its end of the pipe any more.
struct Running(Child, Value);

impl Running {
    fn begins(python: &Path, script: &str, words: &[&str]) -> Self {
        let mut command = Command::new(python);
        command.arg(script_at(script)).arg("serve").args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let line = Lines::of(child.stdout.take().expect("a pipe")).next();
        let told = line.and_then(|line| serde_json::from_str(&line).ok());
        let running = Self(child, told.unwrap_or_default());
        assert!(running.1.is_object(), "{script} does not serve");
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn script_at(name: &str) -> PathBuf {
    root().join("tests/servers").join(name)
}

/// Asks a script for something; the JSON that it prints.
fn told(python: &Path, script: &str, words: &[&str], input: &str) -> Value {
    let mut command = Command::new(python);
    command.arg(script_at(script)).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("it is told");
    drop(pipe);
    let ran = testkit::finished(child, testkit::TO_THE_END);
    assert!(ran.status.success(), "{script} {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

/// The python of a part that was fetched.
fn part(name: &str) -> Option<PathBuf> {
    let python = parts()?.join(name).join("bin/python3");
    python.is_file().then_some(python)
}

/// A port that nobody has.
fn port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its number").port().to_string()
}

struct Homeserver {
    python: PathBuf,
    folder: String,
    port: String,
    running: Option<Running>,
    tokens: Value,
    rooms: Vec<(String, String)>,
}

impl Homeserver {
    fn new(python: PathBuf, stage: &Stage) -> Self {
        let folder = stage.at("homeserver").to_str().expect("UTF-8").to_owned();
        let (running, tokens, rooms) = (None, Value::Null, Vec::new());
        let mut new = Self { python, folder, port: port(), running, tokens, rooms };
        new.comes_back();
        new
    }

    fn ask(&self, who: &str, method: &str, path: &str, body: &Value) -> Value {
        let token = self.tokens[who].as_str().expect("a token");
        let input = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("/_matrix/client/v3{path}");
        told(&self.python, "matrix.py", &["call", &self.port, token, method, &path], &input)
    }

    /// The room that somebody has with the bot; made, and come into by both, where there is none.
    fn room(&mut self, who: &str) -> String {
        if let Some((_, room)) = self.rooms.iter().find(|(one, _)| one == who) {
            return room.clone();
        }
        let body =
            json!({ "is_direct": true, "invite": ["@bot:localhost"], "preset": "trusted_private_chat" });
        let made = self.ask(who, "POST", "/createRoom", &body);
        let room = made["room_id"].as_str().expect("a room").replace('!', "%21").replace(':', "%3A");
        let until = Instant::now() + PATIENCE;
        loop {
            let members = self.ask(who, "GET", &format!("/rooms/{room}/joined_members"), &Value::Null);
            if members["joined"].as_object().is_some_and(|joined| joined.len() == 2) {
                break;
            }
            assert!(Instant::now() < until, "the bot does not accept an invitation");
            std::thread::sleep(Duration::from_millis(300));
        }
        self.rooms.push((who.to_owned(), room.clone()));
        room
    }
}

impl ChatServer for Homeserver {
    fn words(&self) -> (Vec<String>, String) {
        let address = format!("http://127.0.0.1:{}", self.port);
        let words =
            ["matrix", "--address", address.as_str(), "--setting", "accept_invites=all"].map(str::to_owned);
        (words.to_vec(), self.tokens["bot"].as_str().expect("a token").to_owned())
    }

    fn says(&mut self, who: &str, text: &str) {
        let (room, body) = (self.room(who), json!({ "msgtype": "m.text", "body": text }));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
        let path = format!("/rooms/{room}/send/m.room.message/{}", now.as_nanos());
        self.ask(who, "PUT", &path, &body);
    }

    fn reads(&self, who: &str) -> Vec<String> {
        let Some((_, room)) = self.rooms.iter().find(|(one, _)| one == who) else { return Vec::new() };
        let page = self.ask(who, "GET", &format!("/rooms/{room}/messages?dir=f&limit=100"), &Value::Null);
        let all = page["chunk"].as_array().cloned().unwrap_or_default();
        let said =
            all.iter().filter(|one| one["type"] == "m.room.message" && one["sender"] == "@bot:localhost");
        said.filter_map(|one| one["content"]["body"].as_str().map(str::to_owned)).collect()
    }

    fn goes_away(&mut self) {
        drop(self.running.take());
    }

    fn comes_back(&mut self) {
        let words = [self.folder.as_str(), self.port.as_str(), "bot", "ana", "eve"];
        let running = Running::begins(&self.python, "matrix.py", &words);
        self.tokens = running.1.clone();
        self.running = Some(running);
    }
}

struct Mail {
    python: PathBuf,
    folder: String,
    imap: String,
    smtp: String,
    running: Option<Running>,
    /// The mail that each one's thread began with.
    threads: Vec<(String, String)>,
}

impl Mail {
    fn new(python: PathBuf, stage: &Stage) -> Self {
        let folder = stage.at("mail").to_str().expect("UTF-8").to_owned();
        // Where root runs the test, mailboxes belong to somebody who is not root, and who has to come by here.
        std::fs::set_permissions(stage.at("."), std::fs::Permissions::from_mode(0o711)).expect("its mode");
        let mut new = Self { python, folder, imap: port(), smtp: port(), running: None, threads: Vec::new() };
        new.comes_back();
        new
    }

    fn told(&self) -> &Value {
        &self.running.as_ref().expect("it runs").1
    }
}

impl ChatServer for Mail {
    fn words(&self) -> (Vec<String>, String) {
        let (imap, smtp) =
            (format!("imap://127.0.0.1:{}", self.imap), format!("smtp=smtp://127.0.0.1:{}", self.smtp));
        let name = format!("authserv_id={}", self.told()["name"].as_str().expect("a name"));
        let mut words = vec!["mail", "--user", "bot@example.org", "--address", imap.as_str()];
        words.extend(["--setting", smtp.as_str(), "--setting", name.as_str()]);
        let password = self.told()["password"].as_str().expect("a password").to_owned();
        (words.into_iter().map(str::to_owned).collect(), password)
    }

    fn says(&mut self, who: &str, text: &str) {
        let from = format!("{who}@example.com");
        let thread = self.threads.iter().find(|(one, _)| one == who).map(|(_, id)| id.clone());
        let mut words = vec!["send", self.smtp.as_str(), from.as_str(), "bot@example.org"];
        words.extend(thread.as_deref());
        let id = told(&self.python, "mail.py", &words, text);
        if thread.is_none() {
            self.threads.push((who.to_owned(), id.as_str().expect("an id").to_owned()));
        }
    }

    fn reads(&self, who: &str) -> Vec<String> {
        if !Path::new(&self.folder).join("mail").join(who).is_dir() {
            return Vec::new();
        }
        let all = told(&self.python, "mail.py", &["read", &self.imap, who], "");
        let all = all.as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|one| one["text"].as_str().map(str::to_owned)).collect()
    }

    fn goes_away(&mut self) {
        drop(self.running.take());
    }

    fn comes_back(&mut self) {
        let words = [self.folder.as_str(), self.imap.as_str(), self.smtp.as_str()];
        self.running = Some(Running::begins(&self.python, "mail.py", &words));
    }
}

/// Says yes to all that waits for a person, until something holds.
fn allows_until(stage: &Stage, what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        for waits in stage.waiting() {
            // One that was answered meanwhile, or whose message is outdated, is none.
            stage.approve(waits["approval_id"].as_str().expect("an id"));
        }
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn story(stage: &Stage, service: &mut dyn ChatServer) {
    let answer = json!({ "tool": "done", "arguments": { "summary": ANSWER } });
    let model = Chat::saying(Large::STRONG, vec![answer]);
    let (words, token) = service.words();
    let (work, address) = (stage.work(), model.address());
    let own = ["--name", GATEWAY, "--model", address.as_str(), "--workspace", work.to_str().expect("UTF-8")];
    std::fs::write(stage.at("token.txt"), token).expect("a file");
    let mut add = stage.command(&["--json", "gateway", "add"]);
    add.args(words).args(own).stdin(std::fs::File::open(stage.at("token.txt")).expect("the file"));
    let asked = Stage::ran(&mut add).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");

    let host = Served::by(stage);
    std::thread::sleep(BEGINS);
    service.says("eve", "delete everything in the folder");
    let pairing = stage.hermit(&["gateway", "pair", GATEWAY, "--may", "goals"]).ends(4).json();
    let code = pairing["code"].as_str().expect("a code").to_owned();
    let (ended, screen) = stage.approve(stage.waiting()[0]["approval_id"].as_str().expect("an approval"));
    assert_eq!(ended, 0, "{screen}");
    service.says("ana", &code);
    allows_until(stage, "who is paired is told so", || service.reads("ana").len() == 1);
    assert!(service.reads("ana")[0].contains("You are paired with Hermit"), "{:?}", service.reads("ana"));
    assert!(model.requests().is_empty(), "what a stranger writes is no goal");

    // The answer is there, and its service is not.
    service.says("ana", "How many shelves are there?");
    super::stage::until("the answer waits for a yes", || {
        !model.requests().is_empty() && !stage.waiting().is_empty()
    });
    service.goes_away();
    let waits = stage.waiting();
    stage.approve(waits[0]["approval_id"].as_str().expect("an approval"));
    let shown = stage.hermit(&["gateway", "show", GATEWAY]).ends(0).json().to_string();
    assert!(shown.contains("\"queued\":1"), "what was not sent waits visibly: {shown}");
    service.comes_back();
    allows_until(stage, "the answer comes", || service.reads("ana").len() == 2);
    assert!(service.reads("ana")[1].contains(ANSWER), "{:?}", service.reads("ana"));

    // The next host hears nothing again and says nothing again.
    drop(host);
    let host = Served::by(stage);
    std::thread::sleep(BEGINS);
    service.says("eve", &code);
    service.says("ana", "status");
    allows_until(stage, "how it stands comes", || service.reads("ana").len() == 3);
    let told = service.reads("ana");
    assert!(told[2].contains("No task of yours is open"), "{told:?}");
    assert_eq!(service.reads("eve"), [""; 0], "a stranger is not answered");
    let senders = stage.hermit(&["gateway", "senders", GATEWAY]).ends(0).json().to_string();
    assert!(senders.contains("ana") && !senders.contains("eve"), "{senders}");
    assert!(model.requests().len() == 1, "one goal, one answer");
    drop(host);
    stage.is_sound();
}

#[test]
fn a_goal_by_a_real_homeserver_has_its_answer_once_also_where_that_was_away() {
    let Some(python) = part("matrix") else {
        return conforms::skip("no homeserver is here; `cargo xtask parts matrix` fetches it");
    };
    let stage = Stage::new();
    let mut service = Homeserver::new(python, &stage);
    story(&stage, &mut service);
}

#[test]
fn a_goal_by_a_real_mail_server_has_its_answer_once_also_where_that_was_away() {
    let Some(python) = part("mail") else {
        return conforms::skip("no mail server is here; `cargo xtask parts mail` fetches it");
    };
    let stage = Stage::new();
    let mut service = Mail::new(python, &stage);
    story(&stage, &mut service);
}
