//! A model's server that says what a test wants, a word at a time.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// Begins a word that is reasoned and not said.
pub const THINKS: char = '~';

/// The answer that calls a tool.
pub fn call(tool: &str, arguments: &Value) -> Vec<String> {
    vec![format!("```json\n{}\n```", json!({ "tool": tool, "arguments": arguments }))]
}

/// Answers each request with one answer of the list, the last one again and again.
pub struct Model {
    pub address: String,
    go: Sender<()>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Model {
    /// A server. Each word of an answer waits for one [`Model::say`], unless `freely`.
    pub fn new(answers: Vec<Vec<String>>, freely: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("openai:http://{}/v1#words", listener.local_addr().expect("an address"));
        let (go, told) = channel::<()>();
        let told = Arc::new(Mutex::new(told));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut answers = answers.into_iter().peekable();
            let mut last = Vec::new();
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                // How large the model is, is asked first; this server does not tell.
                let mut first = [0; 4];
                if stream.peek(&mut first).is_ok_and(|n| first.get(..n) == Some(b"GET ")) {
                    refuse(stream);
                    continue;
                }
                last = answers.next().unwrap_or(last);
                let (words, told, heard) = (last.clone(), Arc::clone(&told), Arc::clone(&all));
                std::thread::spawn(move || answer(stream, &words, (!freely).then_some(&*told), &heard));
            }
        });
        Self { address, go, heard }
    }

    /// What it was sent, request by request.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no poison").clone()
    }

    /// Lets it say that many words.
    pub fn say(&self, words: usize) {
        (0..words).for_each(|_| self.go.send(()).expect("it runs"));
    }
}

fn refuse(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        line.clear();
    }
    let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

fn answer(
    mut stream: TcpStream,
    words: &[String],
    told: Option<&Mutex<std::sync::mpsc::Receiver<()>>>,
    heard: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    heard.lock().ok()?.push(String::from_utf8(body).ok()?);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    for word in words {
        if let Some(told) = told {
            told.lock().ok()?.recv().ok()?;
        }
        // What begins with this mark is reasoned and not said.
        let delta = match word.strip_prefix(THINKS) {
            Some(thought) => serde_json::json!({ "reasoning_content": thought }),
            None => serde_json::json!({ "content": word }),
        };
        let chunk = serde_json::json!({ "choices": [{ "index": 0, "delta": delta }] });
        stream.write_all(format!("data: {chunk}\n\n").as_bytes()).ok()?;
        stream.flush().ok()?;
    }
    let end = serde_json::json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    stream.write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes()).ok()
}
