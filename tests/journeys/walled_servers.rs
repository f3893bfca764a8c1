//! What a server of tools reaches from behind its walls: the hosts that a person named, by the proxy, with a stand-in for its
//! secret; and without a host nothing at all.

use super::fetched::{VALUE, keep};
use super::server;
use super::stage::Stage;
use super::tool_servers::{alive, asked, calls, card, put, work, yes};
use super::tree;
use serde_json::{Value, json};

/// A server whose one tool tells what it finds of what it is lent, and what it reaches.
const SERVER: &str = include_str!("data/walled_server.py");

const PROGRAM: [&str; 3] = ["--", "/usr/bin/python3", "server.py"];

/// A store with that server in its folder, which looks for the value of the secret and is not told it.
fn furnished() -> Stage {
    let stage = Stage::new();
    let backwards: String = VALUE.chars().rev().collect();
    put(&stage, "server.py", &SERVER.replace("@SOUGHT@", &backwards));
    put(&stage, "notes.txt", "a line of the folder\n");
    stage
}

/// Registers the server under a name: what its card said.
fn registers(stage: &Stage, name: &str, options: &[&str]) -> String {
    let work = work(stage);
    let words = [&["tools", "add", name, "--workspace", &work][..], options, &PROGRAM].concat();
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(stage, &approval);
    yes(stage, &approval);
    shown
}

/// Calls the tool once with a person's yes: what it told, and what its receipt says was observed.
fn reaches(
    stage: &Stage,
    name: &str,
    (named, other): (&str, &str),
    more: &[(&str, &str)],
) -> (Value, Vec<String>) {
    let (work, arguments) = (work(stage), json!({ "named": named, "other": other }).to_string());
    let words = ["tools", "try", name, "reach", &arguments, "--workspace", &work];
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    let (code, screen) = stage.allow(&approval, more).end();
    assert_eq!(code, 0, "{screen}");
    told_in(stage, &task)
}

/// What the tool told in the only call of a task, and what its receipt says was observed.
fn told_in(stage: &Stage, task: &str) -> (Value, Vec<String>) {
    let receipt = stage.receipt(task)["receipt_id"].as_str().expect("an id").to_owned();
    let receipt = stage.hermit(&["receipts", "show", &receipt]).ends(0).json()["receipt"].clone();
    assert_eq!(receipt["result_code"], "succeeded", "{receipt}");
    let observed = receipt["observed"].as_array().expect("words").iter();
    let observed = observed.filter_map(|line| line.as_str().map(str::to_owned)).collect();
    let output = receipt["output_refs"][0]["artifact_id"].as_str().expect("its answer").to_owned();
    let answer = stage.hermit(&["artifacts", "show", &output, "-o", "-"]).ends(0).json();
    let text = answer["answer"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (serde_json::from_str(text).expect("JSON"), observed)
}

/// Whether one of these places ends so.
fn ends_so(places: &Value, end: &str) -> bool {
    places.as_array().expect("places").iter().filter_map(Value::as_str).any(|place| place.ends_with(end))
}

/// What it told of its walls, whatever it may reach: it looked everywhere, and found neither the value nor a way past.
fn is_walled(told: &Value) {
    assert!(ends_so(&told["marker_in"], "/notes.txt"), "it has looked, and sees the folder: {told}");
    assert_eq!(told["value_in"], json!([]), "it found the value of the secret");
    for dialled in told["past_the_proxy"].as_array().expect("two") {
        assert!(dialled.as_str().is_some_and(|said| said.starts_with("failed: ")), "past the proxy: {told}");
    }
}

/// That it saw the folder itself, and could write nothing there.
fn only_reads(told: &Value) {
    let wrote = told["writes"].as_str().unwrap_or_default();
    assert!(wrote.contains("Read-only"), "the folder itself is only read: {told}");
}

#[test]
fn a_server_signs_in_at_its_named_host_by_a_stand_in_that_is_swapped_on_the_way_and_reaches_nothing_else() {
    let (port, heard, certificate) = server::in_tls();
    let (host, other) = (format!("127.0.0.1:{port}"), testkit::Server::agreeing());
    let stage = furnished();
    let work = work(&stage);
    let signs = ["--host", &host, "--secret", "WIKI_TOKEN=wiki"];
    let add = [&["tools", "add", "far", "--workspace", &work][..], &signs, &PROGRAM].concat();
    stage.hermit(&add).ends(2).complains(&["secret:wiki", "hermit secret set wiki"]);
    keep(&stage, "wiki", "elsewhere.example");
    stage.hermit(&add).ends(2).complains(&["secret:wiki", "none of the hosts"]);
    keep(&stage, "wiki", &host);
    let shown = registers(&stage, "far", &signs);
    for word in ["secret:wiki", "WIKI_TOKEN", &*host, "can change nothing there"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }

    // Whom this machine trusts, as an administrator would say it.
    let authority = stage.at("authority.pem");
    std::fs::write(&authority, certificate).expect("a file");
    let trusts = [("SSL_CERT_FILE", authority.to_str().expect("UTF-8"))];
    let (told, observed) = reaches(&stage, "far", (&host, &other.host()), &trusts);
    let token: String = told["token"].as_str().expect("a text").chars().rev().collect();
    assert!(token.starts_with("hermit-wiki-") && token.len() == VALUE.len(), "a stand-in: {token}");
    assert!(ends_so(&told["token_in"], "variable WIKI_TOKEN"), "{told}");
    is_walled(&told);
    only_reads(&told);

    // To the host that was named the value itself went, once, and did not come back.
    let sent = heard.try_recv().unwrap_or_else(|_| panic!("nobody was asked: {told}"));
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}\r\n")), "{sent}");
    assert!(!sent.contains(&token), "the stand-in left: {sent}");
    assert!(heard.try_recv().is_err(), "it was asked once");
    assert_eq!(told["named"]["shows"], false, "an answer that shows it is cut off: {told}");
    // Another host hears nothing, with the stand-in or without.
    assert_eq!(told["proxy"], "http://127.0.0.1:3128", "{told}");
    assert_eq!((&told["other"]["status"], &told["signed_elsewhere"]["status"]), (&json!(403), &json!(403)));
    assert!(other.heard().is_empty(), "{:?}", other.heard());
    let went = observed.join("\n");
    for words in [
        format!("network: {host} at 127.0.0.1: allowed"),
        format!("network: {}: refused", other.host()),
        "sandbox: namespaces".to_owned(),
    ] {
        assert!(went.contains(&words), "`{words}` is not in the receipt: {went}");
    }

    assert_eq!(alive(&stage), 0, "a process of the server is still there");
    stage.is_sound();
    for (name, thing) in tree::of(stage.home().parent().expect("a folder")) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        let found = bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!found, "the value is in {}", name.display());
    }
}

#[test]
fn a_server_without_a_named_host_has_no_network_and_no_proxy() {
    let (named, other) = (testkit::Server::agreeing(), testkit::Server::agreeing());
    let stage = furnished();
    keep(&stage, "wiki", &named.host());
    let work = work(&stage);
    // Without a host there is nowhere that a value could go.
    let signs = ["tools", "add", "shut", "--workspace", &work, "--secret", "WIKI_TOKEN=wiki"];
    let refused = stage.hermit(&[&signs[..], &PROGRAM].concat()).ends(2);
    assert!(refused.err.contains("--host"), "{refused:?}");
    let shown = registers(&stage, "shut", &[]);
    assert!(shown.contains("it has no network"), "{shown}");
    let (told, observed) = reaches(&stage, "shut", (&named.host(), &other.host()), &[]);
    assert_eq!((&told["proxy"], &told["token"]), (&Value::Null, &json!("")), "{told}");
    for asked in ["named", "other", "signed_elsewhere"] {
        assert!(told[asked]["failed"].is_string(), "{asked}: {told}");
    }
    is_walled(&told);
    only_reads(&told);
    assert!(named.heard().is_empty() && other.heard().is_empty(), "somebody was reached");
    assert!(!observed.iter().any(|line| line.starts_with("network: ")), "{observed:?}");
    stage.is_sound();
}

#[test]
fn a_server_whose_tool_changes_files_works_in_a_copy_without_network_and_secret() {
    let (named, other) = (testkit::Server::agreeing(), testkit::Server::agreeing());
    let stage = furnished();
    keep(&stage, "wiki", &named.host());
    let signs = ["--host", &named.host(), "--secret", "WIKI_TOKEN=wiki", "--class", "reach=write_local"];
    registers(&stage, "far", &signs);
    let arguments = json!({ "named": named.host(), "other": other.host() });
    let (task, approval) = asked(&calls(&stage, "far__reach", &arguments, 4));
    let shown = card(&stage, &approval);
    for words in ["ALREADY RUN, in a copy of the folder, without the network", "create \\\"made.txt\\\""] {
        assert!(shown.contains(words), "`{words}` is not on the card: {shown}");
    }
    let made = stage.work().join("made.txt");
    assert!(!made.exists(), "it is in the folder before the yes");
    yes(&stage, &approval);
    assert!(made.exists(), "what was shown is carried over");
    let (told, observed) = told_in(&stage, &task);
    assert_eq!((&told["proxy"], &told["token"]), (&Value::Null, &json!("")), "{told}");
    assert_eq!(told["writes"], "written", "into its copy: {told}");
    is_walled(&told);
    assert!(named.heard().is_empty() && other.heard().is_empty(), "somebody was reached");
    assert!(observed.iter().any(|line| line == "the network was held"), "{observed:?}");
    stage.is_sound();
}
