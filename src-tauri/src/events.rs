//! What happens in the store, handed on: to the pages by their channels, to tray and notifications as what waits.

use crate::store::Store;
use crate::surfaces::Surfaces;
use crate::waiting::{Known, Waiting};
use crate::{notify, tray, window};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _};
use wire::host::Resume;
use wire::{Notice, Topic};

/// Changes that come together are looked at together.
const GATHER: Duration = Duration::from_millis(120);
/// How often a surface that is missing is looked for again.
const MISSED: Duration = Duration::from_secs(30);
/// Before a host that went away is asked for again.
const AGAIN: Duration = Duration::from_millis(500);

/// What a page hears beside notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Heard {
    /// Go to this place of the app.
    Go {
        /// A path of its router.
        to: String,
    },
    /// Things are held above the window; none are when they were taken away again.
    Over {
        /// How many.
        things: usize,
    },
    /// Things were let fall.
    Dropped {
        /// Absolute paths.
        folders: Vec<String>,
        /// Absolute paths.
        files: Vec<String>,
        /// What could not be taken.
        left_out: usize,
    },
}

/// Whether the store is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
enum Link {
    /// Not yet.
    #[default]
    Opening,
    /// What happens from now on is heard.
    Live,
    /// Its host went away.
    Lost,
}

/// The pages that hear notices, and whether there are any to hear.
#[derive(Default)]
struct Hearing {
    link: Link,
    pages: BTreeMap<String, Channel<Value>>,
}

/// The pages that listen, one of a kind for each window: a page that was loaded anew takes the place of the old one.
#[derive(Default)]
pub struct Listeners {
    notices: Mutex<Hearing>,
    heeding: Mutex<BTreeMap<String, Channel<Heard>>>,
    /// Said while no page was there yet.
    waiting: Mutex<Vec<Heard>>,
}

impl Listeners {
    /// A page hears notices from now on, and first whether there are any: what it asks behind that lacks nothing.
    pub fn listen(&self, label: &str, channel: Channel<Value>) {
        let mut hearing = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = channel.send(told(hearing.link));
        hearing.pages.insert(label.to_owned(), channel);
    }

    /// A page hears what it shall do from now on, and what was said while nobody was there.
    pub fn heed(&self, label: &str, channel: Channel<Heard>) {
        for heard in self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = channel.send(heard);
        }
        self.heeding.lock().unwrap_or_else(PoisonError::into_inner).insert(label.to_owned(), channel);
    }

    /// The window is gone, and its pages with it.
    pub fn forget(&self, label: &str) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).pages.remove(label);
        self.heeding.lock().unwrap_or_else(PoisonError::into_inner).remove(label);
    }

    /// Tells the main window's page, now or as soon as it is there.
    pub fn tell(&self, heard: &Heard) {
        let heeding = self.heeding.lock().unwrap_or_else(PoisonError::into_inner);
        let told = heeding.get(window::MAIN).is_some_and(|channel| channel.send(heard.clone()).is_ok());
        drop(heeding);
        if !told {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(heard.clone());
        }
    }

    fn notice(&self, notice: &Value) {
        let mut hearing = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        hearing.pages.retain(|_, channel| channel.send(notice.clone()).is_ok());
    }

    /// The store is heard from now on, or no longer: every page is told, and each that comes later.
    fn link(&self, link: Link) {
        let mut hearing = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        hearing.link = link;
        hearing.pages.retain(|_, channel| channel.send(told(link)).is_ok());
    }
}

/// What a page hears of the link.
fn told(link: Link) -> Value {
    json!({ "kind": "link", "link": link })
}

/// Opens the store and listens, on a thread of its own, for as long as the app runs.
pub fn begin(app: &AppHandle) {
    let app = app.clone();
    let _ = std::thread::Builder::new().name("events".to_owned()).spawn(move || listen(&app));
}

fn listen(app: &AppHandle) {
    let store = Arc::clone(&app.state::<Arc<Store>>());
    loop {
        // A store that cannot be opened is opened when a page asks again.
        if store.open().is_err() && store.session().is_err() {
            std::thread::sleep(AGAIN);
            continue;
        }
        let Ok(session) = store.session() else { return };
        let Some(notices) = session.listen() else {
            // Either its host has no place for one more, or it ended before it was heard: then its place is taken.
            session.follow();
            std::thread::sleep(AGAIN);
            continue;
        };
        app.state::<Listeners>().link(Link::Live);
        look(app);
        follow(app, &notices);
        app.state::<Listeners>().link(Link::Lost);
        // Whoever held the store is gone: this takes it over, or attaches to whoever did.
        if let Err(error) = session.call(&Resume {}) {
            tracing::warn!(%error, "the host is gone, and the store is not open yet");
            std::thread::sleep(AGAIN);
        }
    }
}

/// Hands on what is heard, until nobody tells any more.
fn follow(app: &AppHandle, notices: &Receiver<Notice>) {
    let missed = || app.state::<Surfaces>().lacks_any().then(|| Instant::now() + MISSED);
    let (mut due, mut missing): (Option<Instant>, Option<Instant>) = (None, missed());
    loop {
        let heard = match due.into_iter().chain(missing).min() {
            Some(until) => notices.recv_timeout(until.saturating_duration_since(Instant::now())),
            None => notices.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(notice) => {
                if is_about_waiting(&notice) {
                    due.get_or_insert_with(|| Instant::now() + GATHER);
                }
                if let Ok(notice) = serde_json::to_value(&notice) {
                    app.state::<Listeners>().notice(&notice);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if due.is_some_and(|due| Instant::now() >= due) {
            due = None;
            look(app);
        }
        if missing.is_some_and(|missing| Instant::now() >= missing) {
            app.state::<Surfaces>().again(app);
            missing = missed();
        }
    }
}

fn is_about_waiting(notice: &Notice) -> bool {
    let topics = [Topic::tasks, Topic::approvals, Topic::gate, Topic::store];
    matches!(notice, Notice::Event { topics: of, .. } if of.iter().any(|topic| topics.contains(topic)))
}

/// Looks what waits now, and shows it when it is something else than before.
pub fn look(app: &AppHandle) {
    let Ok(session) = app.state::<Arc<Store>>().session() else { return };
    let now = match Waiting::look(&session) {
        Ok(now) => now,
        Err(error) => return tracing::warn!(%error, "what waits could not be looked up"),
    };
    if let Some(before) = app.state::<Known>().learn(&now) {
        tray::show(app, &now);
        notify::changed(app, &before, &now);
    }
}
