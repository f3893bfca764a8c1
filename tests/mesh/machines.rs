//! A machine of the mesh: a store with keys and SOUL.md, a folder that others may send goals to where it has a model for them, and the
//! process that serves it.

use crate::journeys::attached::Served;
use crate::journeys::stage::{Ran, Stage, until};
use crate::journeys::tool_servers::{asked, put, yes};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use testkit::{Killed, Lines};

/// The alias of the folder that a machine with a model offers.
pub const FOLDER: &str = "work";

/// A machine.
pub struct Machine {
    // Ended before its folder is taken away.
    served: Option<Served>,
    pub stage: Stage,
    pub name: &'static str,
}

impl Machine {
    /// A machine that reads at these relays, works with this model, and is served from now on.
    pub fn new(name: &'static str, relays: &[&Relay], more: &[&str]) -> Self {
        let stage = Stage::new();
        put(&stage, "SOUL.md", &format!("# {name}\nI do what its person asks.\n"));
        let file = stage.work().join("SOUL.md");
        let edited = stage.hermit(&["identity", "edit", file.to_str().expect("UTF-8")]).ends(4).json();
        yes(&stage, &asked(&edited).1);
        std::fs::remove_file(&file).expect("it is there");
        let mut machine = Self { served: None, stage, name };
        machine.sets(relays, more);
        machine.serve();
        machine
    }

    /// Says what the machine is in the mesh, while nobody serves it.
    pub fn sets(&self, relays: &[&Relay], more: &[&str]) {
        let folder = format!("{FOLDER}={}", self.stage.work().display());
        let mut words = vec!["mesh", "on", "--name", self.name];
        // Whoever offers a folder has a model to work with.
        if more.contains(&"--model") {
            words.extend(["--folder", &folder]);
        }
        for relay in relays {
            words.extend(["--relay", relay.url.as_str()]);
        }
        words.extend(more);
        self.stage.hermit(&words).ends(0);
    }

    /// Serves it.
    pub fn serve(&mut self) {
        assert!(self.served.is_none(), "{} is served", self.name);
        self.served = Some(Served::by(&self.stage));
    }

    /// Kills it, as a power cut would.
    pub fn killed(&mut self) {
        let served = self.served.take().expect("it is served");
        let sent = Command::new("kill").args(["-9", &served.pid()]).status().expect("kill");
        assert!(sent.success());
        drop(served);
    }

    /// It does nothing at all until this is done, as a machine that sleeps.
    pub fn stands_still(&self, until_then: impl FnOnce()) {
        let pid = self.served.as_ref().expect("it is served").pid();
        let send = |signal: &str| {
            assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
        };
        send("-STOP");
        until_then();
        send("-CONT");
    }

    /// Kills it, and serves it again.
    pub fn killed_and_served(&mut self) {
        self.killed();
        self.serve();
    }

    /// Ends the process that serves it, and serves it again in a time that passes faster.
    pub fn hurries(&mut self, pace: &str) {
        self.ends();
        self.stage.tells("HERMIT_PACE", pace.to_owned());
        self.serve();
    }

    /// Ends the process that serves it.
    pub fn ends(&mut self) {
        drop(self.served.take());
    }

    /// `hermit --json mesh …`, to its end.
    #[track_caller]
    pub fn mesh(&self, words: &[&str]) -> Ran {
        let all: Vec<&str> = std::iter::once("mesh").chain(words.iter().copied()).collect();
        self.stage.hermit(&all)
    }

    /// What it shows of the mesh.
    #[track_caller]
    pub fn told(&self, words: &[&str]) -> Value {
        self.mesh(words).ends(0).json()
    }

    /// `hermit --json mesh …` by its person, who types the approval passphrase.
    pub fn by_person(&self, words: &[&str]) -> Command {
        self.says("mesh", words)
    }

    /// The same of another noun.
    pub fn says(&self, noun: &str, words: &[&str]) -> Command {
        let all: Vec<&str> = ["--json", noun]
            .into_iter()
            .chain(words.iter().copied())
            .chain(["--approval-passphrase-fd", "3"])
            .collect();
        let plain = self.stage.command(&all);
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(r#"file="$1"; shift; exec "$@" 3<"$file""#)
            .arg("sh")
            .arg(self.stage.at("approval.txt"));
        command.arg(plain.get_program()).args(plain.get_args()).stdin(Stdio::null());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Its public key.
    pub fn node(&self) -> String {
        self.told(&["show"])["node"].as_str().expect("a key").to_owned()
    }

    /// What it shows of another machine.
    #[track_caller]
    pub fn sees(&self, other: &Self) -> Value {
        let found = self.told(&["nodes"]);
        let all = found["nodes"].as_array().expect("nodes");
        let one = all.iter().find(|one| one["name"] == other.name && one["is_withdrawn"] == false);
        one.unwrap_or_else(|| panic!("{} does not know {}: {found}", self.name, other.name)).clone()
    }

    /// Waits until it hears the other.
    pub fn hears(&self, other: &Self) {
        until(&format!("{} hears {}", self.name, other.name), || self.sees(other)["here_until"].is_i64());
    }

    /// Sends a goal to the folder of another machine; the message.
    #[track_caller]
    pub fn sends(&self, to: &Self, goal: &str) -> String {
        let sent = self.told(&["send", "--to", to.name, "--folder", FOLDER, goal]);
        sent["message"].as_str().unwrap_or_else(|| panic!("a message: {sent}")).to_owned()
    }

    /// A message, as this machine shows it.
    pub fn message(&self, message: &str) -> Value {
        let found = self.told(&["messages"]);
        let all = found["messages"].as_array().expect("messages");
        all.iter().find(|one| one["message"] == message).cloned().unwrap_or(Value::Null)
    }

    /// Waits for the answer to a message.
    #[track_caller]
    pub fn answered(&self, message: &str) -> String {
        let mut answer = None;
        until(&format!("{} has the answer", self.name), || {
            answer = self.message(message)["answer"].as_str().map(str::to_owned);
            answer.is_some()
        });
        answer.expect("it was there")
    }

    /// The tasks that this machine works on for others.
    pub fn tasks(&self, goal: &str) -> Vec<Value> {
        let found = self.stage.hermit(&["task", "list"]).ends(0).json();
        let rows = found["rows"].as_array().expect("rows").iter();
        rows.filter(|row| row["title"].as_str().is_some_and(|title| title.contains(goal))).cloned().collect()
    }
}

/// Pairs two machines by a code that the first one shows.
pub fn pair(shows: &Machine, types: &Machine, at: &[&str]) {
    let mut child =
        shows.by_person(&["pair"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    let code = loop {
        let line = lines.next().unwrap_or_else(|| panic!("no code: {text}"));
        text.push_str(&line);
        let told: Result<Value, _> = serde_json::from_str(&text);
        if let Some(code) = told.ok().and_then(|told| told["code"].as_str().map(str::to_owned)) {
            break code;
        }
    };
    let mut words = vec!["pair", code.as_str()];
    for place in at {
        words.extend(["--at", place]);
    }
    Stage::ran(&mut types.by_person(&words)).ends(0);
    assert!(testkit::ends(&mut child).success(), "{} is paired too", shows.name);
    shows.sees(types);
    types.sees(shows);
}

/// A relay that runs as a program of its own.
pub struct Relay {
    pub url: String,
    _child: Killed,
}

impl Relay {
    /// Another program, which is a relay at this address.
    pub fn of(child: Child, url: String) -> Self {
        Self { url, _child: Killed(child) }
    }

    /// `hermit mesh relay` at a port that is free.
    pub fn new() -> Self {
        Self::at("127.0.0.1:0")
    }

    /// At an address.
    pub fn at(address: &str) -> Self {
        Self::begun(&["--listen", address])
    }

    /// One that takes and gives nothing before whoever is there has proven a key.
    pub fn asking() -> Self {
        Self::begun(&["--auth"])
    }

    fn begun(more: &[&str]) -> Self {
        let stage = Stage::bare();
        let words = [&["--json", "mesh", "relay"][..], more].concat();
        let mut child =
            stage.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
        let mut text = String::new();
        let url = loop {
            let line = lines.next().unwrap_or_else(|| panic!("no relay: {text}"));
            text.push_str(&line);
            let told: Result<Value, _> = serde_json::from_str(&text);
            if let Some(url) = told.ok().and_then(|told| told["url"].as_str().map(str::to_owned)) {
                break url;
            }
        };
        Self::of(child, url)
    }

    /// Where it is: address and port.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("ws://")
    }
}
