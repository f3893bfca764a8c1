//! What a command behind the walls reaches of the person and of the store: nothing.

use super::server;
use super::stage::Stage;
use conforms::conforms;
use serde_json::json;

/// Tries everything that would let a command answer for a person, and writes down what it reached.
fn script(stage: &Stage, address: &str) -> String {
    let store = stage.home();
    let (store, vault) = (store.display(), stage.at("vault.txt"));
    let (vault, own) = (vault.display(), std::process::id());
    let tries = [
        ("the store", format!("cat {store}/ledger.db")),
        ("the store's folder", format!("ls {store}")),
        ("the approval key", format!("cat {store}/approval.key")),
        ("the host's token", format!("cat {store}/gateway.token")),
        ("the host's lock", format!("cat {store}/ledger.lock")),
        ("a passphrase", format!("cat {vault}")),
        ("the loopback", format!("bash -c 'exec 3<>/dev/tcp/{}'", address.replace(':', "/"))),
        ("the terminal", "sh -c 'echo allow > /dev/tty'".to_owned()),
        ("what is typed", "sh -c 'exec 3< /dev/tty'".to_owned()),
        ("a process outside", format!("kill -0 {own}")),
        ("the host's environment", "sh -c 'env | grep HERMIT_'".to_owned()),
        ("the memory of others", format!("cat /proc/{own}/environ")),
    ];
    let tried: Vec<String> = tries
        .iter()
        .map(|(what, how)| format!("if {how} >/dev/null 2>&1; then echo \"REACHED {what}\"; fi"))
        .collect();
    format!("{{ {}; echo tried everything; }} > found.txt", tried.join("; "))
}

#[conforms(part = "HK-6.2-2")]
#[test]
fn a_command_reaches_neither_the_store_nor_a_key_nor_the_loopback_nor_the_persons_terminal() {
    let stage = Stage::new();
    // A door of this machine that the host itself goes through.
    let model = server::script(&[json!({ "tool": "done", "arguments": { "summary": "never asked" } })]);
    let address = model.split("://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
    assert!(std::net::TcpStream::connect(address).is_ok(), "from outside it is reached");
    let asks = server::script(&[
        json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", script(&stage, address)] } }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = stage.work();
    let words =
        ["run", "--goal", "look around", "--workspace", work.to_str().expect("UTF-8"), "--model", &asks];
    let mut pty = stage.terminal(&words, &[]);
    pty.expect("Approve?").send("later\r");
    let (code, screen) = pty.end();
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("+tried everything"), "the card shows what it found: {screen}");
    assert!(!screen.contains("+REACHED"), "{screen}");
    assert!(!work.join("found.txt").exists());
}
