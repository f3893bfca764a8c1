//! A page is told words on their way of the conversation that it shows, and of no other.

use crate::browsers::SESSION;
use crate::person::Page;
use crate::{Open, open};
use conforms::conforms;
use kernel::command::submit::{Reasoning, Submission};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use wire::Notice;

/// For everything that is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation, and a task in it.
fn talk(open: &Open, title: &str) -> (String, String) {
    let kernel = open.home.world.kernel();
    let conversation = kernel.open_conversation(title, None).expect("a conversation");
    let work = open.home.world.submission(title, Reasoning::Scripted { name: title.to_owned() });
    let work = Submission { conversation_id: Some(conversation), ..work };
    let task = kernel.submit(&work).expect("submitted").task_id;
    (conversation.to_string(), task.to_string())
}

/// The stream of notices of a page.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn of(open: &Open, page: &Page<'_>) -> Self {
        let address = open.server.address();
        let mut stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let own = &page.session;
        write!(stream, "GET /api/notices HTTP/1.1\r\nhost: {address}\r\n{SESSION}: {own}\r\n\r\n")
            .expect("asked");
        Self(BufReader::new(stream))
    }

    /// What comes next: its kind, and what it says.
    fn next(&mut self) -> (String, Value) {
        let mut kind = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("in time") > 0, "the stream ended");
            if let Some(event) = line.strip_prefix("event: ") {
                event.trim().clone_into(&mut kind);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (kind, serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}

/// A piece of an answer, and of what is reasoned.
fn words(task: &str, text: &str) -> [Notice; 2] {
    let (task_id, text) = (task.to_owned(), text.to_owned());
    [
        Notice::Delta { task_id: task_id.clone(), asking: 1, from: 0, text: text.clone() },
        Notice::Reasoning { task_id, asking: 1, from: 0, text },
    ]
}

#[conforms(part = "RA-GS-2")]
#[test]
fn a_page_hears_words_on_their_way_of_the_conversation_that_it_shows_and_only_signs_of_the_others() {
    let open = open(170);
    let ((first, one), (second, other)) = (talk(&open, "one"), talk(&open, "other"));
    let page = Page::of(&open);
    let mut stream = Stream::of(&open, &page);
    let (kind, hello) = stream.next();
    assert_eq!(kind, "hello");
    let listener = hello["listener"].as_u64().expect("its number");
    let shows = |page: &Page<'_>, conversation: &Value| {
        page.post("/api/session/shows", &json!({ "listener": listener, "conversation": conversation })).0
    };
    let says = |task: &str, text: &str| words(task, text).iter().for_each(|one| open.home.tell(one));
    let sign = |task: &str| Notice::Event {
        task_id: task.to_owned(),
        task_seq: 1,
        event_type: "task.status_changed".to_owned(),
        topics: vec![wire::Topic::tasks],
    };
    // A page that shows none is told that something happened and what tools print, which nobody tells again, and no words of a model.
    says(&one, "unheard");
    says(&other, "unheard");
    open.home.tell(&sign(&one));
    let (act, text) = ("act_1".to_owned(), "printed".to_owned());
    open.home.tell(&Notice::Output { task_id: other.clone(), act, stream: "stdout".to_owned(), text });
    for (wanted, task) in [("event", &one), ("output", &other)] {
        let (kind, told) = stream.next();
        assert_eq!((kind.as_str(), &told["task_id"]), (wanted, &json!(task)));
    }
    for (conversation, at_work, background) in [(&first, &one, &other), (&second, &other, &one)] {
        assert_eq!(shows(&page, &json!(conversation)), 200);
        says(background, "unheard");
        open.home.tell(&sign(background));
        says(at_work, "heard");
        let (kind, told) = stream.next();
        assert_eq!((kind.as_str(), &told["task_id"]), ("event", &json!(background)));
        for wanted in ["delta", "reasoning"] {
            let (kind, told) = stream.next();
            let found = (kind.as_str(), &told["task_id"], &told["text"]);
            assert_eq!(found, (wanted, &json!(at_work), &json!("heard")));
        }
    }
    // What was shown before is another conversation's by now, and no other page says what this one shows.
    assert_eq!(shows(&Page::of(&open), &json!(first)), 404);
    says(&one, "unheard");
    assert_eq!(shows(&page, &Value::Null), 200);
    says(&other, "unheard");
    open.home.tell(&sign(&other));
    assert_eq!(stream.next().0, "event");
    let unnamed = page.post("/api/session/shows", &json!({ "conversation": first }));
    assert_eq!((unnamed.0, &unnamed.1["code"]), (400, &json!("usage")), "{}", unnamed.1);
    // A program hears everything.
    let heard = open.client().listen().expect("listening");
    let [piece, ..] = words(&one, "heard");
    open.home.tell(&piece);
    assert_eq!(heard.recv_timeout(PATIENCE).expect("a notice"), piece);
}
