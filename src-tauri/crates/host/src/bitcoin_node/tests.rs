//! Which addresses are spoken to, what is shown there, and what becomes of each kind of answer.

use super::*;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::mpsc;

/// A node that gives every caller this answer; what it was sent.
fn node_that_says(status: u16, body: String) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = vec![0; 64 * 1024];
            let mut heard = String::new();
            // Every question ends with the brace of its JSON.
            while !(heard.contains("\r\n\r\n") && heard.ends_with('}')) {
                match stream.read(&mut bytes) {
                    Ok(n) if n > 0 => heard.push_str(&String::from_utf8_lossy(&bytes[..n])),
                    _ => break,
                }
            }
            let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            if send.send(heard).is_err() {
                return;
            }
        }
    });
    (url, receive)
}

/// A folder with a cookie file.
fn cookie_of(words: &str) -> (tempfile::TempDir, Login) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".cookie");
    std::fs::write(&path, words).unwrap();
    (folder, Login::Cookie(path))
}

fn asked(status: u16, body: &str) -> Result<Chain, NodeError> {
    let (url, _heard) = node_that_says(status, body.to_owned());
    let (_folder, login) = cookie_of("__cookie__:word\n");
    BitcoinNode::new(&url, login, &Config::default()).unwrap().chain()
}

#[test]
fn only_this_machine_is_spoken_to_in_the_clear_and_no_password_stands_in_an_address() {
    let login = || Login::Cookie(PathBuf::from("nowhere"));
    let new = |url: &str| BitcoinNode::new(url, login(), &Config::default());
    for (url, server) in [
        ("http://127.0.0.1:18443", "127.0.0.1:18443"),
        ("http://[::1]:8332/", "[::1]:8332"),
        ("http://localhost:8332", "localhost:8332"),
        ("https://node.example:8332", "node.example:8332"),
    ] {
        assert_eq!(new(url).unwrap().server(), server);
    }
    for url in [
        "http://node.example:8332",
        "http://10.0.0.7:8332",
        "http://127.0.0.1",
        concat!("http://me:", "word@127.0.0.1:8332"),
        concat!("http://me:", "word@10.0.0.7:8332"),
        "https://node.example:8332/?a=b",
        "ftp://127.0.0.1:8332",
        "127.0.0.1:8332",
        "",
    ] {
        assert!(
            matches!(new(url).err(), Some(NodeError::Address(said)) if !said.contains("me:word")),
            "{url}"
        );
    }
}

#[test]
fn a_node_is_shown_the_words_of_its_cookie_and_nothing_without_them() {
    let chain =
        r#"{"jsonrpc":"2.0","id":1,"result":{"chain":"regtest","blocks":7,"initialblockdownload":true}}"#;
    let (url, heard) = node_that_says(200, chain.to_owned());
    let (_folder, login) = cookie_of("__cookie__:word\n");
    let told = BitcoinNode::new(&url, login, &Config::default()).unwrap().chain();
    assert_eq!(told, Ok(Chain { name: "regtest".to_owned(), height: 7, is_catching_up: true }));
    let sent = heard.recv_timeout(PATIENCE).unwrap();
    let shown = format!("Basic {}", STANDARD.encode("__cookie__:word"));
    let line = sent.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization:")).unwrap();
    assert!(line.ends_with(&shown) && sent.contains(r#""method":"getblockchaininfo""#), "{sent}");
    for (words, why) in [("no password", "name:password"), (&"x:".repeat(1_000), "too long")] {
        let (_folder, login) = cookie_of(words);
        let refused = BitcoinNode::new(&url, login, &Config::default()).unwrap().chain();
        assert!(matches!(&refused, Err(NodeError::Login(said)) if said.contains(why)), "{refused:?}");
    }
    let (_folder, login) = cookie_of("__cookie__:word");
    let elsewhere = BitcoinNode::new("https://node.example:8332", login, &Config::default()).unwrap().chain();
    assert!(
        matches!(&elsewhere, Err(NodeError::Login(said)) if said.contains("on this machine only")),
        "{elsewhere:?}"
    );
    let none = Login::Secret {
        handle: "node".to_owned(),
        secrets: SecretSlot::default(),
        book: SecretBook::default(),
    };
    let locked = BitcoinNode::new(&url, none, &Config::default()).unwrap().chain();
    assert!(matches!(&locked, Err(NodeError::Login(said)) if said.contains("locked")), "{locked:?}");
    assert!(heard.try_recv().is_err(), "nothing was asked without a password");
}

#[test]
fn what_a_node_refuses_is_told_from_what_it_cannot_have_meant() {
    for status in [401, 403] {
        assert!(matches!(asked(status, ""), Err(NodeError::Login(_))), "{status}");
    }
    let no = r#"{"result":null,"error":{"code":-28,"message":"Loading\u001b[2J block index"},"id":1}"#;
    for status in [200, 500] {
        let message = "Loading[2J block index".to_owned();
        assert_eq!(asked(status, no), Err(NodeError::Refused { code: -28, message }));
    }
    let strange = r#"{"result":{"chain":"elsewhere","blocks":1},"error":null}"#;
    for body in ["", "[]", "<html>", "{}", r#"{"result":{}}"#, strange] {
        assert!(matches!(asked(200, body), Err(NodeError::Answer(_))), "{body}");
    }
    let endless = format!(r#"{{"result":"{}"}}"#, "x".repeat(usize::try_from(ANSWER_BYTES_MAX).unwrap()));
    assert!(matches!(asked(200, &endless), Err(NodeError::Answer(said)) if said.contains("longer")));
}

#[test]
fn a_node_that_is_away_was_asked_nothing() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_folder, login) = cookie_of("__cookie__:word");
    let node = BitcoinNode::new(&format!("http://{nobody}"), login, &Config::default()).unwrap();
    let away = node.send("00").unwrap_err();
    assert!(matches!(away, NodeError::Away(_)), "{away:?}");
    assert!(matches!(away.undelivered(), Undelivered::NotSent(_)));
    assert!(matches!(NodeError::Lost(String::new()).undelivered(), Undelivered::Unknown(_)));
}
