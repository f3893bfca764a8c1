//! A double of each service: it keeps what people write to the bot and what the bot says, and can be cut off. One entry of
//! [`EACH`] for each adapter.

mod mail;
mod nostr;
mod sockets;
mod webhook;

use super::doubles::{Asked, Double, Said, json, said};
use api::messages::Call;
use mail::mail;
use model::gateway::Service;
use nostr::nostr;
use serde_json::{Map, Value, json};
use sockets::{discord, slack};
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use testkit::ChatMood;
use webhook::webhook;

/// Who is paired, a stranger, and one who writes under the name of who is paired where a service lets them.
pub const KIM: &str = "kim";
pub const EVE: &str = "eve";
pub const FORGER: &str = "forger";

/// The bot of Matrix.
const ME: &str = "@hermit:example.org";

/// A double of each service.
pub const EACH: [fn() -> Peer; 7] = [telegram, matrix, mail, slack, discord, nostr, webhook];

/// A message to the bot, in the order in which the service delivers them.
#[derive(Clone)]
struct Written {
    /// What the service knows it by.
    id: i64,
    who: &'static str,
    text: String,
    at: i64,
}

/// What a service knows, whatever it speaks.
pub struct Room {
    written: Vec<Written>,
    /// What the bot said, as people see it, with the key of each where the service is told one.
    shown: Vec<(Option<String>, String)>,
    mood: ChatMood,
}

pub type Shared = Arc<Mutex<Room>>;

fn lock(room: &Shared) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty() -> Shared {
    Arc::new(Mutex::new(Room { written: Vec::new(), shown: Vec::new(), mood: ChatMood::Takes }))
}

impl Room {
    /// Takes a message of the bot; its number, or nothing where no answer is to come. `knows`: whether one with a key that came
    /// before is not shown again.
    fn takes(&mut self, key: Option<String>, text: String, knows: bool) -> Option<usize> {
        let before = self.shown.iter().position(|(one, _)| knows && key.is_some() && *one == key);
        let number = before.unwrap_or_else(|| {
            self.shown.push((key, text));
            self.shown.len() - 1
        });
        (self.mood != ChatMood::Silent).then_some(number)
    }
}

/// What is said of a message that was taken; nothing where no answer is to come.
fn taken(number: Option<usize>, answer: impl FnOnce(usize) -> Value) -> Said {
    number.map_or_else(|| said(0, ""), |number| json(&answer(number)))
}

/// A service, and how a gateway is connected to it.
pub struct Peer {
    pub service: Service,
    pub address: String,
    pub settings: BTreeMap<String, String>,
    pub token: &'static str,
    /// How the service names somebody, and the chat that they have with the bot.
    pub names: fn(&str) -> (String, String),
    /// Whether a message that is sent again is not shown again.
    pub knows_repeats: bool,
    /// Whether it calls the gateway with what is written, and is not asked for it.
    pub calls: bool,
    room: Shared,
    lines: Vec<Line>,
}

impl Peer {
    /// Somebody writes to the bot.
    pub fn says(&self, who: &'static str, text: &str, at: i64) {
        let next = lock(&self.room).written.iter().map(|one| one.id).max().unwrap_or(0) + 1;
        self.says_as(next, who, text, at);
    }

    /// The same under an id, whatever came before it.
    pub fn says_as(&self, id: i64, who: &'static str, text: &str, at: i64) {
        lock(&self.room).written.push(Written { id, who, text: text.to_owned(), at });
    }

    /// The newest message is delivered once more.
    pub fn repeats(&self) {
        let mut room = lock(&self.room);
        let newest = room.written.last().cloned();
        room.written.extend(newest);
    }

    /// The id of the newest message.
    pub fn newest(&self) -> i64 {
        lock(&self.room).written.last().map_or(0, |one| one.id)
    }

    /// What was written from this place on, each as the call that brings it now; none while it is away.
    pub fn calls_from(&self, place: usize, now: i64) -> Option<Vec<Call>> {
        let room = lock(&self.room);
        let new = room.written.iter().skip(place).map(|one| webhook::call(one, self.token, now));
        (room.mood != ChatMood::Away).then(|| new.collect())
    }

    /// What the bot said, as people see it.
    pub fn shown(&self) -> Vec<(Option<String>, String)> {
        lock(&self.room).shown.clone()
    }

    /// What it does with messages of the bot from now on; one that is away is reached by nobody.
    pub fn becomes(&self, mood: ChatMood) {
        let before = std::mem::replace(&mut lock(&self.room).mood, mood);
        for line in &self.lines {
            match (before == ChatMood::Away, mood == ChatMood::Away) {
                (false, true) => line.cut(),
                (true, false) => line.mend(),
                _ => {}
            }
        }
    }
}

/// The way to a service. While it is cut, nobody listens at its end.
struct Line {
    port: u16,
    to: u16,
    is_up: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Line {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap().port();
        let line = Self { port: here, to: port, is_up: Arc::default(), thread: Mutex::default() };
        line.listens(listener);
        line
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    fn listens(&self, listener: TcpListener) {
        listener.set_nonblocking(true).unwrap();
        self.is_up.store(true, Ordering::SeqCst);
        let (is_up, to) = (Arc::clone(&self.is_up), self.to);
        let run = move || {
            let mut streams: Vec<TcpStream> = Vec::new();
            while is_up.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((here, _)) => {
                        streams.retain(|one| one.peer_addr().is_ok());
                        streams.extend(joined(here, to).into_iter().flatten());
                    }
                    Err(_) => std::thread::sleep(Duration::from_millis(2)),
                }
            }
            for stream in streams {
                drop(stream.shutdown(Shutdown::Both));
            }
        };
        *self.thread.lock().unwrap() = Some(std::thread::spawn(run));
    }

    fn cut(&self) {
        self.is_up.store(false, Ordering::SeqCst);
        let thread = self.thread.lock().unwrap().take();
        thread.into_iter().for_each(|thread| thread.join().unwrap());
    }

    fn mend(&self) {
        // Whoever was given the port for a connection meanwhile gives it back.
        let bound = (0..200).find_map(|_| {
            let listener = TcpListener::bind(("127.0.0.1", self.port)).ok();
            if listener.is_none() {
                std::thread::sleep(Duration::from_millis(50));
            }
            listener
        });
        self.listens(bound.expect("the port is free again"));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.is_up.store(false, Ordering::SeqCst);
    }
}

/// Both ends of a connection, each told what the other says.
fn joined(here: TcpStream, to: u16) -> Option<[TcpStream; 2]> {
    here.set_nonblocking(false).ok()?;
    let there = TcpStream::connect(("127.0.0.1", to)).ok()?;
    for (from, into) in [(&here, &there), (&there, &here)] {
        let (mut from, mut into) = (from.try_clone().ok()?, into.try_clone().ok()?);
        std::thread::spawn(move || {
            drop(std::io::copy(&mut from, &mut into));
            drop(into.shutdown(Shutdown::Write));
        });
    }
    Some([here, there])
}

/// A server that talks like this with each who comes; its port.
fn server(talk: impl Fn(TcpStream) -> Option<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let talk = Arc::new(talk);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let talk = Arc::clone(&talk);
            std::thread::spawn(move || talk(stream));
        }
    });
    port
}

fn telegram_names(who: &str) -> (String, String) {
    let number = match who {
        KIM => "77",
        EVE => "66",
        _ => "55",
    };
    (number.to_owned(), number.to_owned())
}

fn telegram() -> Peer {
    let room = empty();
    let of = Arc::clone(&room);
    let double = Double::new(move |asked: &Asked| {
        let (mut room, body) = (lock(&of), asked.json());
        if asked.path.ends_with("/sendMessage") {
            let text = body["text"].as_str().unwrap_or_default().to_owned();
            let answer = |number: usize| json!({ "ok": true, "result": { "message_id": 9_000 + number } });
            return taken(room.takes(None, text, false), answer);
        }
        let offset = body["offset"].as_i64().unwrap_or(0);
        let update = |(number, one): (i64, &Written)| {
            let chat: i64 = telegram_names(one.who).1.parse().unwrap_or(0);
            json!({ "update_id": number, "message": {
                "message_id": one.id, "date": one.at / 1000, "text": one.text,
                "chat": { "id": chat, "type": "private" },
                "from": { "id": chat, "is_bot": false, "first_name": "Kim" },
            } })
        };
        let left = (1..).zip(&room.written).filter(|(number, _)| *number >= offset);
        let updates: Vec<Value> = left.take(100).map(update).collect();
        json(&json!({ "ok": true, "result": updates }))
    });
    let line = Line::to(double.port);
    Peer {
        service: Service::Telegram,
        address: line.url("http"),
        settings: BTreeMap::new(),
        token: "123456:SECRETtoken",
        names: telegram_names,
        knows_repeats: false,
        calls: false,
        room,
        lines: vec![line],
    }
}

fn matrix_names(who: &str) -> (String, String) {
    (format!("@{who}:example.org"), format!("!{who}:example.org"))
}

fn matrix() -> Peer {
    let room = empty();
    let of = Arc::clone(&room);
    let double = Double::new(move |asked: &Asked| {
        let (mut room, path) = (lock(&of), asked.path.as_str());
        if path.contains("whoami") {
            return json(&json!({ "user_id": ME }));
        }
        if path.contains("joined_members") {
            return json(&json!({ "joined": { ME: {}, "@somebody:example.org": {} } }));
        }
        if path.contains("/send/m.room.message/") {
            let key = path.rsplit('/').next().map(str::to_owned);
            let text = asked.json()["body"].as_str().unwrap_or_default().to_owned();
            let answer = |number: usize| json!({ "event_id": format!("$sent{number}") });
            return taken(room.takes(key, text, true), answer);
        }
        if !path.contains("/sync") {
            return said(404, "{\"errcode\":\"M_UNRECOGNIZED\",\"error\":\"?\"}");
        }
        let next = room.written.len();
        let since: usize = path.split("since=s").nth(1).and_then(|since| since.parse().ok()).unwrap_or(next);
        let mut join = Map::new();
        for one in room.written.iter().skip(since) {
            let (sender, chat) = matrix_names(one.who);
            let timeline = join.entry(chat).or_insert_with(|| json!({ "timeline": { "events": [] } }));
            let event = json!({
                "type": "m.room.message", "event_id": format!("$m{}", one.id), "sender": sender,
                "origin_server_ts": one.at, "content": { "msgtype": "m.text", "body": one.text },
            });
            if let Some(Value::Array(events)) = timeline.pointer_mut("/timeline/events") {
                events.push(event);
            }
        }
        json(&json!({ "next_batch": format!("s{next}"), "rooms": { "join": join } }))
    });
    let line = Line::to(double.port);
    Peer {
        service: Service::Matrix,
        address: line.url("http"),
        settings: BTreeMap::new(),
        token: "syt_SECRETtoken",
        names: matrix_names,
        knows_repeats: true,
        calls: false,
        room,
        lines: vec![line],
    }
}
