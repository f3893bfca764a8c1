//! Servers that a model should be behind, on loopback, each with its own fault.

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use testkit::{Chat, Large};

/// How a server answers.
#[derive(Clone, Copy, Debug)]
pub enum Manner {
    /// A page of HTML with status 200.
    Page,
    /// A stream whose content is no action.
    Prose,
    /// Status 500.
    Broken,
    /// Takes the request and never says anything.
    Silent,
    /// One `done`, a few bytes at a time.
    Dripping,
    /// Cuts the connection in the middle of a stream.
    Cut,
}

/// Begins to answer; the address as `--model` takes it. It ends with the test.
pub fn begin(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, manner));
        }
    });
    format!("openai:http://127.0.0.1:{port}/v1#nobody")
}

/// A model that gives these answers in turn, and the last of them from then on.
pub fn script(answers: &[serde_json::Value]) -> String {
    Chat::saying(Large::STRONG, answers.to_vec()).address()
}

/// A server in TLS that sends back the heads it is sent, and tells the test; its port, and its certificate as PEM.
pub fn in_tls() -> (u16, mpsc::Receiver<String>, String) {
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().expect("TLS");
    let config =
        config.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key).expect("a pair");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (send, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let inside = ServerConnection::new(Arc::clone(&config)).expect("TLS");
            let mut stream = StreamOwned::new(inside, stream);
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            while !bytes.ends_with(b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
                    _ => break,
                }
            }
            let said = String::from_utf8_lossy(&bytes).into_owned();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{said}", said.len());
            stream.conn.send_close_notify();
            let _ = stream.flush();
            if send.send(said).is_err() {
                return;
            }
        }
    });
    (port, heard, own.cert.pem())
}

/// An address where nobody listens.
pub fn nobody() -> String {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    format!("openai:http://127.0.0.1:{port}/v1#nobody")
}

fn answer(mut stream: TcpStream, manner: Manner) {
    read_request(&mut stream);
    let chunk = |content: &str| {
        let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": content } }] });
        format!("data: {delta}\n\n")
    };
    let head = |status: &str, kind: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n")
    };
    let events = head("200 OK", "text/event-stream");
    // Whoever has hung up needs no answer.
    let mut say = |text: &str| stream.write_all(text.as_bytes()).is_ok();
    match manner {
        Manner::Page => {
            _ = say(&(head("200 OK", "text/html") + "<html><body>Welcome to nginx!</body></html>"))
        }
        Manner::Broken => _ = say(&(head("500 Internal Server Error", "text/plain") + "out of memory")),
        Manner::Prose => {
            _ = say(&(events + &chunk("I would rather ") + &chunk("not.{{{") + "data: [DONE]\n\n"))
        }
        Manner::Cut => _ = say(&(events + &chunk("{\"tool\": \"do"))),
        Manner::Silent => std::thread::sleep(Duration::from_secs(600)),
        Manner::Dripping => {
            say(&events);
            let whole = "{\"tool\": \"done\", \"arguments\": {\"summary\": \"slow and sure\"}}";
            for piece in whole.as_bytes().chunks(4) {
                std::thread::sleep(Duration::from_millis(100));
                say(&chunk(std::str::from_utf8(piece).expect("ASCII")));
            }
            say("data: [DONE]\n\n");
        }
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let Ok(read) = stream.read(&mut buffer) else { return String::new() };
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|l| l.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return body.to_owned();
            }
        }
        if read == 0 {
            return text.into_owned();
        }
    }
}
