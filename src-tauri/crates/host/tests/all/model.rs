//! A model's server that says what a test wants, a word at a time.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// Answers each request with one answer of the list, the last one again and again.
pub struct Model {
    pub address: String,
    go: Sender<()>,
}

impl Model {
    /// A server. Each word of an answer waits for one [`Model::say`], unless `freely`.
    pub fn new(answers: Vec<Vec<String>>, freely: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("openai:http://{}/v1#words", listener.local_addr().expect("an address"));
        let (go, told) = channel::<()>();
        let told = Arc::new(Mutex::new(told));
        std::thread::spawn(move || {
            let mut answers = answers.into_iter().peekable();
            let mut last = Vec::new();
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                last = answers.next().unwrap_or(last);
                let (words, told) = (last.clone(), Arc::clone(&told));
                std::thread::spawn(move || answer(stream, &words, (!freely).then_some(&*told)));
            }
        });
        Self { address, go }
    }

    /// Lets it say that many words.
    pub fn say(&self, words: usize) {
        (0..words).for_each(|_| self.go.send(()).expect("it runs"));
    }
}

fn answer(
    mut stream: TcpStream,
    words: &[String],
    told: Option<&Mutex<std::sync::mpsc::Receiver<()>>>,
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
    reader.read_exact(&mut vec![0; length]).ok()?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    for word in words {
        if let Some(told) = told {
            told.lock().ok()?.recv().ok()?;
        }
        let chunk = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": word } }] });
        stream.write_all(format!("data: {chunk}\n\n").as_bytes()).ok()?;
        stream.flush().ok()?;
    }
    let end = serde_json::json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    stream.write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes()).ok()
}
