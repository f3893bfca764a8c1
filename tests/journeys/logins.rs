//! Log-ins at servers of tools by the built programs: said to be needed, allowed by a person on a card, made in their browser,
//! renewed by one at a time, over in words, made anew while a task runs, and taken back. Tokens are seen nowhere.

use super::attached::Served;
use super::fetched::VALUE;
use super::remote_tools::answered;
use super::stage::{Stage, say_yes};
use super::tool_servers::{asked, card, work, yes};
use super::tree;
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use testkit::{Authority, Chat, Large, Lines, Server, TO_THE_END, finished, got};

/// A server of tools that wants a log-in, and who gives tokens for it.
struct World {
    authority: Authority,
    tools: Server,
}

impl World {
    fn begin() -> Self {
        let authority = Authority::begin();
        let guard = authority.clone();
        let tools = Server::begin(move |heard| guard.guards(heard, || answered(heard, "good")));
        Self { authority, tools }
    }

    fn url(&self) -> String {
        self.tools.url("/mcp")
    }

    fn calls(&self) -> usize {
        self.tools.heard().iter().filter(|heard| heard.body.contains("tools/call")).count()
    }

    /// Nothing that lies beside the keys or in the folder holds a token.
    fn is_kept_secret(&self, stage: &Stage, more: &str) {
        let tokens = self.authority.tokens();
        assert!(tokens.len() > 1, "tokens were given");
        for (name, thing) in tree::of(stage.at("store").parent().expect("a folder")) {
            let tree::Thing::File(_, bytes) = thing else { continue };
            for token in &tokens {
                let found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
                assert!(!found, "`{token}` is in {}", name.display());
            }
        }
        for token in &tokens {
            assert!(!more.contains(token), "`{token}` is in: {more}");
        }
    }
}

/// `hermit tools login`, while it waits for the browser: the process, its words to come, and where the person goes.
fn waiting(stage: &Stage, words: &[&str]) -> (Child, Lines, Value) {
    let all = [&["--json", "tools", "login", "far"][..], words].concat();
    let mut child =
        stage.command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
    let line = lines.next().expect("it says where the person goes");
    (child, lines, serde_json::from_str(&line).expect("JSON"))
}

/// A person logs in: allows it on its card, and says yes in their browser. What the card told.
fn logs_in(stage: &Stage, world: &World, more: &[&str]) -> String {
    let work = work(stage);
    let words = [&["tools", "login", "far", "--workspace", &work][..], more].concat();
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let told = card(stage, &approval);
    yes(stage, &approval);
    let (child, mut lines, at) = waiting(stage, &["--workspace", &work]);
    assert_eq!(at["state"], "waiting", "{at}");
    let page = world.authority.browse(at["address"].as_str().expect("an address"));
    assert!(page.contains("You are logged in."), "{page}");
    let line = lines.next().expect("it speaks");
    let output = finished(child, TO_THE_END);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let at: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(at["state"], "logged_in", "{at}");
    told
}

fn add(stage: &Stage, world: &World) {
    let (work, url) = (work(stage), world.url());
    let words = ["tools", "add", "far", "--url", &url, "--workspace", &work];
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    assert!(card(stage, &approval).contains("token of your log-in"));
    yes(stage, &approval);
}

/// A task whose model calls the tool so often and is done: the task, and everything that the model was told.
fn calls(stage: &Stage) -> (String, Chat) {
    let call = json!({ "tool": "far__echo", "arguments": { "text": "hello" } });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![call, done]);
    let (work, model) = (work(stage), chat.address());
    let words = ["run", "--goal", "say it", "--workspace", &work, "--model", &model];
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    stage.approve(&approval);
    (task, chat)
}

#[test]
fn a_person_logs_in_at_a_server_and_its_token_goes_there_alone_and_is_seen_nowhere() {
    let (stage, world) = (Stage::new(), World::begin());
    let (work, url) = (work(&stage), world.url());
    let words = ["tools", "add", "far", "--url", &url, "--workspace", &work];
    let (_, said, _) = stage.hermit(&words).ends(2).complaint();
    assert!(said.contains(&format!("hermit tools login far --url {url}")), "{said}");

    // Tokens that are over at once: each message is signed with one that was renewed with the one before.
    world.authority.is("soon over");
    let told = logs_in(&stage, &world, &["--url", &url]);
    for words in [&*world.authority.host(), "notes:read", "login.far", "never sees your password"] {
        assert!(told.contains(words), "`{words}` is not on the card: {told}");
    }
    let before = world.authority.renewals();
    add(&stage, &world);
    let (task, chat) = calls(&stage);
    assert_eq!((&stage.receipt(&task)["result"], world.calls()), (&json!("succeeded"), 1));
    assert!(world.authority.renewals() > before + 2, "it was renewed, and never with the same twice");

    // Nobody but the server has been shown a token in a header, and whoever gives them nothing but what it gave.
    let signed = |heard: &testkit::Heard| heard.header("authorization").is_some();
    assert!(!world.authority.heard().iter().any(signed));
    let listed = stage.hermit(&["tools", "logins"]).ends(0);
    assert_eq!(listed.json()["logins"][0]["state"], "logged_in", "{}", listed.out);
    let kept = stage.hermit(&["secret", "list"]).ends(0).out;
    assert!(kept.contains("login.far"), "{kept}");
    let proof = stage.prove(&task);
    world.is_kept_secret(&stage, &chat.requests().last().expect("a request").to_string());
    assert!(proof.exists());

    // What a person takes back is taken back there as well, and the server is not called without them.
    let left = stage.hermit(&["tools", "logout", "far"]).ends(0).json();
    assert_eq!(left["not_revoked"], Value::Null, "{left}");
    assert!(world.authority.heard().iter().any(|heard| heard.line == "POST /revoke"));
    let (task, _) = calls(&stage);
    let receipt = stage.receipt(&task).to_string();
    assert!(receipt.contains("hermit tools login far") && world.calls() == 1, "{receipt}");
    // A server that is forgotten takes its log-in with it.
    logs_in(&stage, &world, &[]);
    stage.hermit(&["tools", "rm", "far"]).ends(0);
    let listed = stage.hermit(&["tools", "logins"]).ends(0);
    assert_eq!(listed.json()["logins"][0]["state"], "logged_out", "{}", listed.out);
    assert!(!stage.hermit(&["secret", "list"]).ends(0).out.contains("login.far"));
    stage.is_sound();
}

#[test]
fn a_log_in_that_is_over_is_told_in_words_and_a_new_one_reaches_the_task_that_runs() {
    let (stage, world) = (Stage::new(), World::begin());
    let (work, url) = (work(&stage), world.url());
    logs_in(&stage, &world, &["--url", &url]);
    add(&stage, &world);
    let served = Served::by(&stage);
    let call = json!({ "tool": "far__echo", "arguments": { "text": "hello" } });
    let again = json!({ "tool": "far__echo", "arguments": { "text": "again" } });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![call, again, done]);
    let body = json!({ "message": "say it", "workspace": work, "profile": "local_edit_allowed", "model": chat.address() });
    let (status, told) = served.ask(&stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    let first = stage.is_asked();
    // The person is asked for the first call; before they answer, whoever gives tokens forgets all.
    world.authority.forgets();
    let mut terminal = stage.allow(&first, &[]);
    // The terminal stays with the task, and asks for what comes next.
    terminal.expect("\"again\"");
    assert_eq!(world.calls(), 0, "refused before anything was done");
    logs_in(&stage, &world, &[]);
    say_yes(&mut terminal, "critical");
    let (code, screen) = terminal.end();
    assert_eq!((code, world.calls()), (0, 1), "the second call was made: {screen}");
    let told: Vec<String> = chat.requests().iter().map(Value::to_string).collect();
    assert!(told.iter().any(|text| text.contains("hermit tools login far")), "{told:?}");
    drop(served);
    world.is_kept_secret(&stage, &told.concat());
    stage.is_sound();
}

#[test]
fn a_server_that_wants_more_says_what_and_a_person_allows_it() {
    let (stage, world) = (Stage::new(), World::begin());
    logs_in(&stage, &world, &["--url", &world.url()]);
    add(&stage, &world);
    world.authority.wants("notes:write");
    let (task, _) = calls(&stage);
    let receipt = stage.receipt(&task).to_string();
    assert!(receipt.contains("notes:write") && receipt.contains("--scope"), "{receipt}");
    assert_eq!(world.calls(), 0);
    let told = logs_in(&stage, &world, &["--scope", "notes:write"]);
    assert!(told.contains("notes:write, notes:read"), "{told}");
    let (task, _) = calls(&stage);
    assert_eq!((&stage.receipt(&task)["result"], world.calls()), (&json!("succeeded"), 1));
    stage.is_sound();
}

#[test]
fn a_log_in_that_comes_to_nothing_leaves_words_and_what_there_was() {
    let (stage, world) = (Stage::new(), World::begin());
    let (work, url) = (work(&stage), world.url());
    let login = ["tools", "login", "far", "--url", &url, "--workspace", &work];
    // Whoever gives tokens misbehaves before anything is asked.
    for (mode, words) in [
        ("another issuer", "another issuer"),
        ("in the clear", "not encrypted"),
        ("no clients", "--client-id"),
    ] {
        world.authority.is(mode);
        let (code, said, _) = stage.hermit(&login).ends(1).complaint();
        assert!(code == "failed" && said.contains(words), "{mode}: {said}");
    }
    world.authority.is("good");
    // Nobody has allowed it yet.
    let (_, approval) = asked(&stage.hermit(&login).ends(4).json());
    yes(&stage, &approval);
    let (child, _, at) = waiting(&stage, &["--workspace", &work]);
    let address = at["address"].as_str().expect("an address");
    let (head, _) = got(address);
    let back = head.lines().find_map(|line| line.strip_prefix("Location: ")).expect("it leads back");
    // A page that guesses is turned away, and the person is waited for all the same.
    let (head, _) = got(&back.replace("state=", "state=x"));
    assert!(head.contains(" 400 "), "{head}");
    world.authority.is("for another");
    let (_, page) = got(back);
    assert!(page.contains("You are not logged in") && page.contains("invalid_grant"), "{page}");
    let output = finished(child, TO_THE_END);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("invalid_grant"), "{told}");
    let listed = stage.hermit(&["tools", "logins"]).ends(0).json();
    assert_eq!(
        (&listed["logins"][0]["since"], &listed["logins"][0]["issuer"]),
        (&Value::Null, &json!(world.authority.issuer()))
    );
    // A secret of that name is nobody's to set, to take away or to use otherwise.
    let mut set = stage.command(&["secret", "set", "login.far", "--host", "127.0.0.1:1"]);
    std::fs::write(stage.at("value.txt"), VALUE).expect("a file");
    let ran = Stage::ran(set.stdin(std::fs::File::open(stage.at("value.txt")).expect("the file")));
    assert!(ran.code != 0 && ran.err.contains("hermit tools login"), "{}", ran.err);
    stage.is_sound();
}
