//! What strangers, and programs that mean ill, can hold of the host: little, and not for long.

use crate::{Open, open};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

fn connect(open: &Open) -> TcpStream {
    let stream = TcpStream::connect(open.server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
    stream
}

/// What the host says until it closes.
fn rest(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    // One that is cut off says nothing more.
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_stranger_sends_no_more_than_a_link_is_long() {
    let open = open(310);
    for (length, status) in [(1024, 401), (1025, 413), (16 * 1024 * 1024, 413)] {
        let body = format!("{{\"token\":\"{}\"}}", "0".repeat(length - 12));
        assert_eq!(body.len(), length);
        let mut stream = connect(&open);
        let head = format!(
            "POST /api/session HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n",
            open.server.address()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        // The host answers before all of a large one was sent, and does not wait for the rest.
        let part = body.as_bytes().get(..length.min(4096)).expect("a part");
        stream.write_all(part).expect("sent");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("an answer");
        assert_eq!(String::from_utf8_lossy(&first), format!("HTTP/1.1 {status}"), "{length}");
    }
}

#[test]
fn half_heads_hold_no_place_that_somebody_else_needs() {
    let open = open(311);
    let mut held: Vec<TcpStream> = (0..400).map(|_| connect(&open)).collect();
    for stream in &mut held {
        // Those whose place was taken meanwhile are closed.
        let _ = stream.write_all(b"POST /api/session HTTP/1.1\r\nHost: 127");
    }
    assert!(open.client().ask("host.status", &json!({})).is_ok(), "the owner comes in");
    let first = held.remove(0);
    assert_eq!(rest(first), "", "the oldest was let go");
    assert!(open.client().ask("host.status", &json!({})).is_ok());
}

#[test]
fn a_head_that_does_not_come_ends_its_connection() {
    let open = open(312);
    let mut stream = connect(&open);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: 127").expect("sent");
    let said = rest(stream);
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
}

#[test]
fn a_client_that_says_at_length_who_it_is_is_not_remembered_by_all_of_it() {
    let open = open(314);
    let bearer = open.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "server/discover"),
    ];
    let path = format!("/mcp?workspace={}", open.home.world.folder.path().display());
    for (bytes, status) in [(10, 200), (15 * 1024, 200), (17 * 1024, 400), (8 * 1024 * 1024, 400)] {
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "x".repeat(bytes), "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } });
        let (came, told) = open.raw(&path, &headers, asked.to_string().as_bytes());
        assert_eq!(came, status, "{bytes}: {told}");
        assert_eq!(told["error"]["code"] == -32_602, status == 400, "{bytes}: {told}");
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "std makes no pipe that has a name")]
#[test]
fn what_is_no_file_is_not_waited_for_and_a_yes_waits_for_nobody() {
    let open = open(313);
    let (_, approval) = open.home.with_a_question("delete held");
    let pipe = open.home.world.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let client = open.client();
    for place in [pipe.as_path(), "/dev/zero".as_ref(), "/dev/tty".as_ref(), "/".as_ref()] {
        for name in ["artifacts.ingest", "proof.verify", "gate.verify"] {
            let came = client.ask(name, &json!({ "path": place }));
            // A folder may be a proof; it is looked at and found to be none.
            let is_answered = came.as_ref().is_err_and(|error| error.code != wire::Code::Unavailable)
                || came.is_ok_and(|report| report["verdict"] != "valid");
            assert!(is_answered, "{name} {}", place.display());
        }
    }
    // Every usual seat is taken by whoever waits for tasks; the card is shown and denied all the same.
    let waiting: Vec<_> = (0..40)
        .map(|_| {
            let client = open.client();
            std::thread::spawn(move || client.ask("models.find", &json!({})))
        })
        .collect();
    let shown = client.ask("approvals.show", &json!({ "approval": approval })).expect("shown");
    assert_eq!(shown["row"]["status"], "pending");
    client.ask("approvals.deny", &json!({ "approval": approval })).expect("denied");
    waiting.into_iter().for_each(|one| drop(one.join()));
}
