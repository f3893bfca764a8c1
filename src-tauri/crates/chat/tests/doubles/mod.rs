//! A service on this machine that says what a test recorded, and remembers what it was asked.

use chat::{Account, Adapter, Outgoing, Service};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zeroize::Zeroizing;

/// What a double was asked.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in small letters.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What a double answers.
pub struct Said {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body that never come.
    pub missing: usize,
}

pub fn said(status: u16, body: &str) -> Said {
    Said { status, headers: Vec::new(), body: body.as_bytes().to_vec(), missing: 0 }
}

pub fn json(value: &serde_json::Value) -> Said {
    said(200, &value.to_string())
}

/// A service: where it is, and what it was asked so far.
#[derive(Clone)]
pub struct Double {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Double {
    /// A service that answers like this.
    pub fn new(answer: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let double = Self { port: listener.local_addr().unwrap().port(), asked: Arc::default() };
        let (asked, answer) = (Arc::clone(&double.asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                std::thread::spawn(move || serve(&stream, &asked, answer.as_ref()));
            }
        });
        double
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What was asked last of paths that hold this.
    pub fn last(&self, path: &str) -> Asked {
        self.asked().into_iter().rfind(|asked| asked.path.contains(path)).unwrap_or_default()
    }

    pub fn count(&self, path: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path.contains(path)).count()
    }
}

/// Reads one request; nothing where the other side says nothing.
pub fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut asked = Asked { method: words.next()?, path: words.next()?, ..Asked::default() };
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        asked.headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = asked.headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    asked.body = vec![0; length];
    lines.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

fn serve(mut stream: &TcpStream, asked: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked) -> Said) {
    let Some(request) = read(stream) else { return };
    asked.lock().unwrap().push(request.clone());
    let said = answer(&request);
    if said.status == 0 {
        return;
    }
    let mut head = format!(
        "HTTP/1.1 {} Recorded\r\nConnection: close\r\nContent-Length: {}\r\n",
        said.status,
        said.body.len() + said.missing
    );
    for (name, value) in &said.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(&said.body);
}

/// An adapter of a service at an address.
pub fn adapter(service: Service, address: &str, token: &str, settings: &[(&str, &str)]) -> Box<dyn Adapter> {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let account =
        Account { service, address: address.to_owned(), user: "bot@example.org".to_owned(), settings };
    chat::open(&account, Zeroizing::new(token.to_owned())).unwrap()
}

/// A message of words alone.
pub fn words(chat: &str, text: &str) -> Outgoing {
    Outgoing {
        chat: chat.to_owned(),
        text: text.to_owned(),
        reply_to: None,
        buttons: Vec::new(),
        edit_of: None,
        file: None,
        repeat_key: format!("key of {text}"),
    }
}

/// What a double of a socket does next.
pub enum Push {
    Json(serde_json::Value),
    /// What is no JSON.
    Text(String),
    /// Closes with a code.
    Close(u16),
    /// Hangs up without a word.
    HangUp,
}

/// A socket of a service.
#[derive(Clone)]
pub struct SocketDouble {
    pub port: u16,
    heard: Arc<Mutex<Vec<serde_json::Value>>>,
}

impl SocketDouble {
    /// A socket that says this to each connection in turn (from 0): at the beginning, and to each message.
    pub fn new(
        says: impl Fn(usize, Option<&serde_json::Value>) -> Vec<Push> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let double = Self { port: listener.local_addr().unwrap().port(), heard: Arc::default() };
        let (heard, says) = (Arc::clone(&double.heard), Arc::new(says));
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let (heard, says) = (Arc::clone(&heard), Arc::clone(&says));
                std::thread::spawn(move || {
                    let Ok(mut socket) = tungstenite::accept(stream) else { return };
                    let mut next = Some(says(number, None));
                    while next.take().is_none_or(|next| push(&mut socket, next)) {
                        let Ok(message) = socket.read() else { return };
                        let Ok(text) = message.to_text() else { continue };
                        let Ok(said) = serde_json::from_str(text) else { return };
                        heard.lock().unwrap().push(said);
                        let said = heard.lock().unwrap().last().cloned();
                        next = Some(says(number, said.as_ref()));
                    }
                });
            }
        });
        double
    }

    pub fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/", self.port)
    }

    pub fn heard(&self) -> Vec<serde_json::Value> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits until this many messages were heard.
    pub fn hear(&self, number: usize) -> Vec<serde_json::Value> {
        for _ in 0..200 {
            if self.heard().len() >= number {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.heard()
    }
}

/// Whether the connection goes on.
fn push(socket: &mut tungstenite::WebSocket<TcpStream>, next: Vec<Push>) -> bool {
    for one in next {
        let text = match one {
            Push::Json(value) => value.to_string(),
            Push::Text(text) => text,
            Push::HangUp => return false,
            Push::Close(code) => {
                let frame = tungstenite::protocol::CloseFrame { code: code.into(), reason: "".into() };
                let _ = socket.close(Some(frame));
                let _ = socket.flush();
                // The other side answers before it goes.
                let _ = socket.read();
                return false;
            }
        };
        if socket.send(tungstenite::Message::text(text)).is_err() {
            return false;
        }
    }
    true
}

/// Enough on a busy machine, and over as soon as something came.
pub const WAIT: Duration = Duration::from_secs(8);
pub const SHORT: Duration = Duration::from_millis(400);
pub const LONG: Duration = Duration::from_secs(10);
