//! Gateways by the program: what is missing is named, a token is typed unseen and kept as a secret, and a code is told once.

use crate::bench::{APPROVAL, Bench, holding, text};
use testkit::pty::Pty;

const TOKEN: &str = "123456:ABC-def_ghi-jklmnopqrstuvwxyz012345";

/// Nobody answers there: whatever is done here needs no service.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Says yes to what changes what Hermit may do.
fn allow(terminal: &mut Pty) {
    terminal.expect("Approve?").send("y\r");
    terminal.expect("High risk. Type `high`").send("high\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
}

/// A store with a gateway that a person allowed; what they saw.
fn connected(bench: &Bench) -> String {
    let folder = bench.folder();
    let mut terminal = bench.terminal(&[
        "gateway",
        "add",
        "telegram",
        "--address",
        NOWHERE,
        "--playbook",
        "inventory",
        "--workspace",
        folder.to_str().unwrap(),
    ]);
    terminal.expect("Name of this gateway (Enter: telegram): ").send("family\r");
    terminal.expect("@BotFather").expect("The bot's token (not shown): ").send(&format!("{TOKEN}\r"));
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    shown
}

#[test]
fn a_token_typed_at_a_terminal_is_a_secret_and_the_gateway_is_told_paused_resumed_and_removed() {
    let bench = Bench::new();
    let shown = connected(&bench);
    assert!(!shown.contains(TOKEN), "{shown}");
    assert!(shown.contains("hermit gateway pair family"), "{shown}");
    assert_eq!(holding(&bench.home(), TOKEN.as_bytes()), Vec::<std::path::PathBuf>::new());
    let secrets = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(secrets["secrets"][0]["handle"], "gateway-family");
    assert_eq!(secrets["secrets"][0]["hosts"][0], "127.0.0.1:9", "to its service and nowhere else");
    let one = bench.run(&["gateway", "show", "family", "--json"]).ends_with(0).json();
    assert_eq!((text(&one["service"]), text(&one["state"])), ("telegram".to_owned(), "active".to_owned()));
    assert_eq!(one["hosts"][0], "127.0.0.1:9");
    let told = bench.run(&["gateway", "show", "family"]).ends_with(0);
    for words in
        ["speaks with 127.0.0.1:9, with `secret:gateway-family`", "0 senders paired", "nothing waits"]
    {
        assert!(told.out.contains(words), "{words}: {}", told.out);
    }
    let listed = bench.run(&["gateway", "list"]).ends_with(0);
    assert!(listed.out.contains("nobody is paired with family yet"), "{}", listed.out);
    bench.run(&["gateway", "pause", "family", "--reason", "on holiday"]).ends_with(0);
    let told = bench.run(&["gateway", "show", "family"]).ends_with(0);
    assert!(told.out.contains("on holiday") && told.out.contains("hermit gateway resume"), "{}", told.out);
    bench.run(&["gateway", "resume", "family"]).ends_with(0);
    bench.run(&["gateway", "remove", "family"]).ends_with(0);
    let listed = bench.run(&["gateway", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["gateways"].as_array().unwrap().len(), 0);
}

#[test]
fn a_token_that_is_kept_for_a_gateway_which_is_not_added_is_told_with_what_forgets_it() {
    let bench = Bench::new();
    let folder = bench.folder();
    let mut terminal = bench.terminal(&[
        "gateway",
        "add",
        "telegram",
        "--name",
        "family",
        "--address",
        NOWHERE,
        "--playbook",
        "inventory",
        "--profile",
        "no_such_profile",
        "--workspace",
        folder.to_str().unwrap(),
    ]);
    terminal.expect("The bot's token (not shown): ").send(&format!("{TOKEN}\r"));
    terminal.expect("forgets");
    assert_ne!(terminal.end().0, 0);
    let kept = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert!(kept.to_string().contains("gateway-family"), "{kept}");
    assert_eq!(
        bench.run(&["gateway", "list", "--json"]).ends_with(0).json()["gateways"],
        serde_json::json!([])
    );
}

#[test]
fn a_code_is_told_once_to_whoever_asked_for_it_and_is_kept_nowhere() {
    let bench = Bench::new();
    connected(&bench);
    let waits = bench.run(&["gateway", "pair", "family", "--json"]).ends_with(4).json();
    let code = text(&waits["code"]);
    assert_eq!((code.len(), text(&waits["profile"])), (8, "ask".to_owned()), "{waits}");
    assert_eq!(holding(&bench.home(), code.as_bytes()), Vec::<std::path::PathBuf>::new());
    let task = text(&waits["task_id"]);
    for words in [&["task", "show", &task, "--json"][..], &["task", "events", &task], &["approvals", "list"]]
    {
        assert!(!bench.run(words).out.contains(&code), "{words:?}");
    }

    let mut terminal = bench.terminal(&["gateway", "pair", "family", "--may", "goals"]);
    allow(&mut terminal);
    terminal.expect("Send this to your bot in Telegram").expect("within 10 minutes, is paired");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("They may give goals") && shown.contains("Nobody can approve anything"),
        "{shown}"
    );

    // A person who says no has no code to give away.
    let mut terminal = bench.terminal(&["gateway", "pair", "family"]);
    terminal.expect("Approve?").send("n\r").expect("Reason").send("\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 3, "{shown}");
    assert!(!shown.contains("Send this to"), "{shown}");

    let senders = bench.run(&["gateway", "senders", "family"]).ends_with(0);
    assert!(senders.out.contains("nobody is paired"), "{}", senders.out);
    let messages = bench.run(&["gateway", "messages", "family"]).ends_with(0);
    assert!(messages.out.contains("no messages"), "{}", messages.out);
    bench.run(&["gateway", "unpair", "family", "1001"]).ends_with(1);
}

#[test]
fn relays_and_a_program_of_ones_own_are_asked_for_by_what_each_needs() {
    let bench = Bench::new();
    let folder = bench.folder();
    let work = ["--playbook", "inventory", "--workspace", folder.to_str().unwrap()];
    let key = "1111111111111111111111111111111111111111111111111111111111111111";
    let mut terminal = bench.terminal(&[&["gateway", "add", "nostr"][..], &work].concat());
    terminal.expect("Name of this gateway (Enter: nostr): ").send("\r");
    terminal.expect("such as wss://relay.example.org: ").send("ws://127.0.0.1:9 ws://127.0.0.1:10\r");
    terminal.expect("such as yes (Enter: none): ").send("\r");
    terminal.expect("The secret key (nsec) (not shown): ").send(&format!("{key}\r"));
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(key), "{shown}");
    assert_eq!(holding(&bench.home(), key.as_bytes()), Vec::<std::path::PathBuf>::new());
    let one = bench.run(&["gateway", "show", "nostr", "--json"]).ends_with(0).json();
    assert_eq!(
        (text(&one["service"]), text(&one["hosts"][1])),
        ("nostr".to_owned(), "127.0.0.1:9".to_owned())
    );

    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let add = ["gateway", "add", "webhook", "--name", "program", "--address", "http://127.0.0.1:9/hermit"];
    let mut terminal = bench.terminal(&[&add[..], &work].concat());
    terminal.expect("(whsec_) (not shown): ").send(&format!("{secret}\r"));
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let told = bench.run(&["gateway", "show", "program"]).ends_with(0);
    assert!(told.out.contains("/v1/messages/program"), "{}", told.out);
    assert!(!told.out.contains("whsec_"), "{}", told.out);
    let nobody = bench.run(&["gateway", "add", "nostr", "--name", "other"]).ends_with(2);
    assert!(nobody.err.contains("--address"), "{}", nobody.err);
}
