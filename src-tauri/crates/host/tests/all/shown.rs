//! A page hears the words of the conversation that it shows, and takes up another one from where it is kept.

use crate::bench::{Bench, Heard, PATIENCE, Stream};
use crate::contract::run_of;
use crate::model::Model;
use conforms::conforms;
use host::{Need, Session, Unlock};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use wire::Notice;

/// A page with a session of its own.
struct Page<'b> {
    bench: &'b Bench,
    session: String,
    origin: String,
}

impl<'b> Page<'b> {
    fn of(bench: &'b Bench) -> Self {
        let link = bench.local().link().expect("served");
        let (origin, token) = link.split_once("/#token=").expect("a link");
        let headers = [("origin", origin), ("sec-fetch-site", "same-origin")];
        let token = json!({ "token": token }).to_string();
        let (status, opened) = bench.ask("POST", "/api/session", &headers, &token);
        assert_eq!(status, 200, "{opened}");
        let session = opened["session"].as_str().expect("a session").to_owned();
        Self { bench, session, origin: origin.to_owned() }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let headers = [
            ("x-hermit-session", self.session.as_str()),
            ("origin", self.origin.as_str()),
            ("content-type", "application/json"),
        ];
        let (status, answer) = self.bench.ask("POST", path, &headers, &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn hears(&self) -> Stream {
        self.bench.notices(&[("x-hermit-session", self.session.as_str())])
    }
}

/// A run in a conversation of its own, whose model says nine words, each when it may.
fn speaks(bench: &Bench, name: &str) -> (String, String, Model) {
    std::fs::create_dir(bench.path(name)).expect("a folder");
    let model = Model::new(vec![(0..9).map(|n| format!("{name}{n} ")).collect()], false);
    let asked = json!({
        "message": "talk", "workspace": bench.path(name), "model": model.address, "session_id": name,
    });
    let run = run_of(&bench.post("/v1/runs", &asked));
    let shown = bench.post("/api/task.show", &json!({ "task": run }));
    (run, shown["conversation_id"].as_str().expect("a conversation").to_owned(), model)
}

/// Waits until the journal of a run holds these words.
fn is_kept(bench: &Bench, run: &str, text: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let events = bench.events(run);
        let pieces = events.iter().filter_map(|event| event["payload"]["delta"].as_str());
        if pieces.collect::<String>().contains(text) {
            return;
        }
        assert!(Instant::now() < until, "`{text}` is not kept");
        std::thread::yield_now();
    }
}

/// The words of a run that were heard.
fn said(heard: &[Heard], run: &str) -> String {
    let kinds = ["delta", "reasoning"];
    let words = heard.iter().filter(|one| kinds.contains(&one.kind.as_str()) && one.data["task_id"] == run);
    words.filter_map(|one| one.data["text"].as_str()).collect()
}

/// What is heard until this holds of it.
fn until(stream: &mut Stream, holds: impl Fn(&[Heard]) -> bool) -> Vec<Heard> {
    let mut heard = Vec::new();
    while !holds(&heard) {
        heard.push(stream.next().expect("it is heard in time"));
    }
    heard
}

#[conforms("RA-GS-2")]
#[test]
fn a_page_hears_the_words_of_what_it_shows_and_takes_up_what_went_on_behind_from_where_it_is_kept() {
    let bench = Bench::new();
    let ((one, first, near), (two, second, far)) = (speaks(&bench, "near"), speaks(&bench, "far"));
    assert_ne!(first, second, "each has its conversation");
    let page = Page::of(&bench);
    let mut stream = page.hears();
    let listener = stream.next().expect("a greeting").data["listener"].clone();
    let shows = |conversation: &str| {
        page.post("/api/session/shows", &json!({ "listener": listener, "conversation": conversation }));
    };
    // One stream, with the words of what is shown.
    shows(&first);
    far.say(3);
    is_kept(&bench, &two, "far2 ");
    near.say(3);
    let heard = until(&mut stream, |heard| said(heard, &one).contains("near2 "));
    assert_eq!((said(&heard, &one).as_str(), said(&heard, &two).as_str()), ("near0 near1 near2 ", ""));
    // What went on behind is told as it is kept, and goes on there as it comes.
    shows(&second);
    let shown = page.post("/api/task.show", &json!({ "task": two }));
    assert_eq!(shown["writing"], "far0 far1 far2 ");
    near.say(3);
    is_kept(&bench, &one, "near5 ");
    far.say(3);
    let heard = until(&mut stream, |heard| said(heard, &two).contains("far5 "));
    assert_eq!(said(&heard, &one), "");
    let piece = heard.iter().find(|piece| piece.kind == "delta").expect("a piece");
    let from = usize::try_from(piece.data["from"].as_u64().expect("a place")).expect("a place");
    let before = shown["writing"].as_str().expect("words").get(..from).expect("no gap");
    assert_eq!(format!("{before}{}", said(&heard, &two)), "far0 far1 far2 far3 far4 far5 ");
    // What is not shown is told by its signs, to its end.
    near.say(3);
    bench.reaches(&one, &["completed"]);
    far.say(3);
    let ends = |one: &Heard, run: &str| {
        one.data["task_id"] == run && one.data["event_type"] == "task.status_changed"
    };
    let heard = until(&mut stream, |heard| {
        said(heard, &two).contains("far8 ") && heard.iter().any(|piece| ends(piece, &one))
    });
    assert_eq!(said(&heard, &one), "");
}

#[conforms(part = "RA-GS-2")]
#[test]
fn the_window_of_an_app_over_another_process_hears_the_words_of_every_conversation() {
    let bench = Bench::new();
    let ((one, first, near), (two, _, far)) = (speaks(&bench, "near"), speaks(&bench, "far"));
    let page = Page::of(&bench);
    let mut stream = page.hears();
    let listener = stream.next().expect("a greeting").data["listener"].clone();
    page.post("/api/session/shows", &json!({ "listener": listener, "conversation": first }));
    // As the app opens the store while another process has it.
    let session = Session::open(&bench.home(), Need::Write, &Unlock::Environment).expect("attached");
    assert!(session.is_attached());
    let notices = session.listen().expect("it listens");
    far.say(3);
    near.say(3);
    let wanted = [(&one, "near0 near1 near2 "), (&two, "far0 far1 far2 ")];
    let wanted = BTreeMap::from(wanted.map(|(run, words)| (run.clone(), words.to_owned())));
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    while words != wanted {
        let notice = notices.recv_timeout(PATIENCE);
        let notice = notice.unwrap_or_else(|e| panic!("{e}: only {words:?} was heard"));
        if let Notice::Delta { task_id, text, .. } = notice {
            words.entry(task_id).or_default().push_str(&text);
        }
    }
    // The page beside it hears what it shows, and no more.
    let heard = until(&mut stream, |heard| said(heard, &one).contains("near2 "));
    assert_eq!(said(&heard, &two), "");
    drop(session);
    near.say(6);
    far.say(6);
    bench.reaches(&one, &["completed"]);
    bench.reaches(&two, &["completed"]);
}
