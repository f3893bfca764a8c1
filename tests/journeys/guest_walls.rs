//! What a guest reaches from inside its walls: its model with a key that it does not have, and Hermit's own tools; and
//! where policy lets no guest run at all.

use super::fetched::{VALUE, keep};
use super::guests::{PATIENCE, WORKS, begin, furnished, printed, receipts};
use super::server;
use super::stage::{Stage, say_yes};
use super::tool_servers::card;
use super::tree;
use serde_json::{Value, json};
use testkit::pty::Pty;

/// Everything that a guest can find out about what it is lent.
const LOOKS: &str = "{ env; cat /proc/*/environ /proc/*/cmdline; find / -xdev -type f -size -200k -path '*hermit*' -exec cat {} +; \
                     ls -laR /run /tmp; cat \"$HOME\"/* \"$HOME\"/.*; } > seen.txt 2>/dev/null";

#[test]
fn what_a_guest_signs_in_with_is_swapped_on_the_way_and_in_nothing_that_it_can_read() {
    let (port, heard, certificate) = server::in_tls();
    let host = format!("127.0.0.1:{port}");
    let other = testkit::Server::agreeing();
    let script = format!(
        "{LOOKS}\ncurl -sS -H \"Authorization: Bearer $MODEL_KEY\" https://{host}/v1 > said.txt\n\
         curl -sS -o /dev/null -w '%{{http_code}}' {} > other.txt; true",
        other.url("/")
    );
    let (stage, agent) = furnished(&script);
    std::fs::write(stage.work().join(".env"), "TOKEN=of-the-folder\n").expect("a file");
    std::fs::write(stage.at("authority.pem"), certificate).expect("a file");
    let missing = stage.hermit(&[
        "run",
        "--agent",
        &agent,
        "go",
        "--workspace",
        stage.work().to_str().expect("UTF-8"),
        "--agent-host",
        &host,
        "--agent-key",
        "MODEL_KEY=model",
    ]);
    missing.ends(1).complains(&["secret:model", "hermit secret set model"]);
    keep(&stage, "model", &host);
    let more = ["--agent-host", &host, "--agent-key", "MODEL_KEY=model"];
    let (task, first) = begin(&stage, &agent, "go", &more);
    let shown = card(&stage, &first);
    for word in ["secret:model", "MODEL_KEY", &host, "SEND"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    // Whom this machine trusts, as an administrator would say it; and walls with a network of their own, which a root
    // without its powers could not put up.
    let [home, vault, authority] = [stage.home(), stage.at("vault.txt"), stage.at("authority.pem")]
        .map(|path| path.display().to_string());
    let environment =
        [("HERMIT_HOME", &*home), ("HERMIT_PASSPHRASE_FILE", &*vault), ("SSL_CERT_FILE", &*authority)];
    let mut pty = Pty::spawn(super::hermit(), &["approvals", "approve", &first], &environment);
    say_yes(&mut pty, "critical");
    pty.expect("made this on its copy").expect("Approve?").send("y\r");
    pty.expect("Approval passphrase").send(&format!("{}\r", super::stage::APPROVAL));
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    let sent = heard.try_recv().unwrap_or_else(|_| panic!("nobody was asked: {screen}"));
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}\r\n")), "{sent}");
    let read = |name: &str| std::fs::read(stage.work().join(name)).expect("it wrote it");
    let seen = read("seen.txt");
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds(&seen, "MODEL_KEY="), "it has looked");
    for hidden in [VALUE, super::stage::VAULT, "of-the-folder"] {
        assert!(!holds(&seen, hidden), "it could read `{hidden}`");
    }
    assert!(!holds(&read("said.txt"), VALUE), "an answer that shows it is cut off");
    assert_eq!(String::from_utf8_lossy(&read("other.txt")), "403", "it reaches no other host");
    assert!(other.heard().is_empty());
    let turn =
        receipts(&stage, &task).into_iter().find(|receipt| receipt["action_class"] == "external_effect");
    let turn = turn.expect("its turn")["receipt_id"].as_str().expect("an id").to_owned();
    recorded(&stage, &turn, &host);
    let proof = stage.prove(&task);
    stage.is_sound();
    for (name, thing) in tree::of(proof.parent().expect("a folder")) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        assert!(!holds(&bytes, VALUE), "the value is in {}", name.display());
    }
}

/// The receipt of a turn says whom it reached, and leads to what it sent there, with a stand-in in the place of the value.
fn recorded(stage: &Stage, turn: &str, host: &str) {
    let told = stage.hermit(&["receipts", "show", turn]).ends(0).out;
    assert!(told.contains(&format!("network: {host} at 127.0.0.1: allowed")), "{told}");
    assert!(told.contains("what it sent where it signs in is kept: 1 request"), "{told}");
    let shown = Stage::ran(&mut stage.command(&["receipts", "show", turn])).ends(0).out;
    let kept = shown.lines().find(|line| line.contains("guest sent")).unwrap_or_else(|| panic!("{shown}"));
    let kept = kept.rsplit(' ').next().expect("a command").trim_end_matches(')');
    for words in [
        &format!("network: {host} at 127.0.0.1: allowed"),
        "none of Hermit's: the agent agent worked by itself",
    ] {
        assert!(shown.contains(words), "`{words}` is not in {shown}");
    }
    let kept = stage.hermit(&["artifacts", "show", kept, "-o", "-"]).ends(0).out;
    for words in [&format!("=== request 1 to {host}"), "GET /v1 HTTP/1.1", "Authorization: Bearer "] {
        assert!(kept.contains(words), "`{words}` is not in {kept}");
    }
    assert!(!kept.contains(VALUE), "its stand-in is there, and not the value");
}

#[test]
fn what_a_guest_sent_and_printed_is_on_record_also_where_its_turn_is_ended_early() {
    for (is_cancelled, rest, word) in [
        (true, "exec sleep 600", "it was cancelled"),
        (false, "head -c 700000000 /dev/zero > large; exec sleep 600", "it left more than 536870912 bytes"),
    ] {
        let (port, heard, certificate) = server::in_tls();
        let host = format!("127.0.0.1:{port}");
        let sends = format!("curl -sS -H \"Authorization: Bearer $MODEL_KEY\" https://{host}/v1");
        let (stage, agent) = furnished(&format!("echo I am at work; {sends}; {rest}"));
        std::fs::write(stage.at("authority.pem"), certificate).expect("a file");
        keep(&stage, "model", &host);
        let more = ["--agent-host", &host, "--agent-key", "MODEL_KEY=model"];
        let (task, first) = begin(&stage, &agent, "go", &more);
        let authority = stage.at("authority.pem").display().to_string();
        let pty = stage.allow(&first, &[("SSL_CERT_FILE", &*authority)]);
        heard.recv_timeout(PATIENCE).expect("its model is asked");
        if is_cancelled {
            stage.hermit(&["task", "cancel", &task]).ends(0);
        }
        let (_, screen) = pty.end();
        let all = receipts(&stage, &task);
        assert_eq!(all.len(), 1, "{screen}");
        let turn = all[0]["receipt_id"].as_str().expect("an id").to_owned();
        recorded(&stage, &turn, &host);
        let shown = stage.hermit(&["receipts", "show", &turn]).ends(0).out;
        assert!(shown.contains(word), "`{word}` is not in {shown}");
        assert!(printed(&stage, "I am at work").contains("I am at work"), "its terminal is kept");
        assert!(!stage.work().join("large").exists(), "nothing is in the folder");
        stage.is_sound();
    }
}

/// A client of the protocol inside the walls: it looks, asks for a write in the folder itself, and does not wait for it.
const ASKS: &str = r#"exec /usr/bin/python3 - <<'END'
import json, os, subprocess
to = subprocess.Popen(os.environ["HERMIT_MCP"].split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(message):
    to.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); to.stdin.flush()
def ask(number, method, params):
    say({"id": number, "method": method, "params": params})
    while True:
        answer = json.loads(to.stdout.readline())
        if answer.get("id") == number: return answer
ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "walled", "version": "1"}})
say({"method": "notifications/initialized"})
names = [tool["name"] for tool in ask(2, "tools/list", {})["result"]["tools"]]
read = ask(3, "tools/call", {"name": "read", "arguments": {"path": "a.txt"}})
wrote = ask(4, "tools/call", {"name": "write", "arguments": {"path": "asked.txt", "content": "asked\n"}})
granted = [name for name in names if "approve" in name or "grant" in name or "secret" in name]
open("seen.json", "w").write(json.dumps([read, wrote, granted]))
END"#;

#[test]
fn a_guest_asks_hermit_for_what_its_copy_does_not_give_and_its_receipt_says_for_what() {
    let (stage, agent) = furnished(ASKS);
    let (task, first) = begin(&stage, &agent, "ask", &[]);
    let mut pty = stage.allow(&first, &[]);
    pty.expect("made this on its copy").expect("Approve?").send("y\r");
    pty.expect("Approval passphrase").send(&format!("{}\r", super::stage::APPROVAL));
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    let seen = std::fs::read_to_string(stage.work().join("seen.json")).expect("it wrote it");
    let seen: Value = serde_json::from_str(&seen).expect("JSON");
    assert!(seen[0].to_string().contains("first"), "it reads the folder: {seen}");
    assert!(seen[1].to_string().contains("awaiting_approval"), "its write waits for a person: {seen}");
    assert_eq!(seen[2], json!([]), "nothing there grants");
    assert!(!stage.work().join("asked.txt").exists());
    let turn =
        receipts(&stage, &task).into_iter().find(|receipt| receipt["action_class"] == "external_effect");
    let turn = turn.expect("its turn")["receipt_id"].as_str().expect("an id").to_owned();
    let told = stage.hermit(&["receipts", "show", &turn]).ends(0).out;
    assert!(told.contains("it asked Hermit itself for read (1), write (1), as the task task_"), "{told}");
    // What it asked for is a card of its own, under its own name, and waits although the guest has ended.
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let (code, screen) = stage.approve(waiting[0]["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(stage.work().join("asked.txt")).expect("it is there"), "asked\n");
    stage.is_sound();
}

#[test]
fn where_nothing_may_change_policy_lets_no_guest_run_and_nobody_is_asked() {
    let (stage, agent) = furnished(WORKS);
    let work = stage.work();
    let before = tree::of(&work);
    let words = [
        "run",
        "--agent",
        &agent,
        "go",
        "--workspace",
        work.to_str().expect("UTF-8"),
        "--profile",
        "readonly_analysis",
    ];
    let told = stage.hermit(&words);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.out.contains("not allowed by policy"), "{told:?}");
    let task = told.json()["row"]["task_id"].as_str().expect("a task").to_owned();
    assert!(stage.waiting().is_empty(), "nobody is asked");
    assert_eq!(stage.count(&task, "effect.dispatched"), 0, "it never ran");
    assert!(tree::of(&work) == before);
    stage.is_sound();
}
