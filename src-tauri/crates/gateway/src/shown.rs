//! Which conversation each page shows. A model's words on their way are told to a page of that one alone: of the others it hears what was recorded,
//! and asks the host for the rest when it turns to one.

use crate::answer::of;
use crate::guard::Who;
use crate::page_approval::{field, only, opened};
use crate::server::Gateway;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::{Code, Error, Notice};

/// Bytes of the name of a conversation.
const NAME_BYTES_MAX: usize = 128;
/// Tasks whose conversation a stream remembers.
const TASKS_MAX: usize = 256;

/// A page that listens.
struct Page {
    session: String,
    shows: Option<String>,
}

#[derive(Default)]
struct Known {
    pages: BTreeMap<u64, Page>,
    begun: u64,
}

/// The pages that listen, each by the number of its stream.
#[derive(Default)]
pub(crate) struct Shown {
    known: Mutex<Known>,
}

impl Shown {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, session: String) -> u64 {
        let mut known = self.known();
        known.begun = known.begun.saturating_add(1);
        let number = known.begun;
        known.pages.insert(number, Page { session, shows: None });
        number
    }

    /// The page turns to a conversation, or to none.
    fn turn(&self, session: &str, number: u64, to: Option<String>) -> Result<(), Error> {
        let mut known = self.known();
        let page = known.pages.get_mut(&number).filter(|page| page.session == session);
        let page =
            page.ok_or_else(|| Error::new(Code::NotFound, "no stream of this page has that number"))?;
        page.shows = to;
        Ok(())
    }
}

/// The stream of a page, for as long as it stands.
pub(crate) struct Listening {
    gateway: Arc<Gateway>,
    number: u64,
    conversations: HashMap<String, String>,
}

impl Listening {
    pub(crate) fn begin(gateway: &Arc<Gateway>, session: String) -> Self {
        let number = gateway.shown.begin(session);
        Self { gateway: Arc::clone(gateway), number, conversations: HashMap::new() }
    }

    /// By which the page says what it shows.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether the page is told of this: of a model's words on their way only those of the conversation that it shows. What a tool prints is
    /// heard of each task, since nobody tells it again to whoever turns to one later.
    pub(crate) fn hears(&mut self, notice: &Notice) -> bool {
        let (Notice::Delta { task_id, .. } | Notice::Reasoning { task_id, .. }) = notice else {
            return true;
        };
        let shows = self.gateway.shown.known().pages.get(&self.number).and_then(|page| page.shows.clone());
        shows.is_some_and(|shows| self.conversation(task_id).is_some_and(|of| of == shows))
    }

    /// The conversation of a task; none where it cannot be told, and then its words are told to nobody.
    fn conversation(&mut self, task: &str) -> Option<String> {
        if let Some(known) = self.conversations.get(task) {
            return Some(known.clone());
        }
        let found = api::conversation_of(&*self.gateway.host, task).ok().flatten()?;
        if self.conversations.len() >= TASKS_MAX {
            self.conversations.clear();
        }
        self.conversations.insert(task.to_owned(), found.clone());
        Some(found)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.gateway.shown.known().pages.remove(&self.number);
    }
}

/// `POST /api/session/shows`: a page shows another conversation, or none.
pub(crate) async fn shows(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = |given: &Value| {
        only(given, &["listener", "conversation"])?;
        let listener = given.get("listener").and_then(Value::as_u64);
        let listener =
            listener.ok_or_else(|| Error::new(Code::Usage, "`listener` is missing, or no number"))?;
        let conversation = match given.get("conversation") {
            None | Some(Value::Null) => None,
            Some(_) => Some(field(given, "conversation")?),
        };
        if conversation.as_ref().is_some_and(|name| name.len() > NAME_BYTES_MAX) {
            return Err(Error::new(Code::Usage, "`conversation` is no identifier of a conversation"));
        }
        Ok((listener, conversation))
    };
    let given = opened(who, &headers, request, read).await;
    of(given.and_then(|(session, (listener, to))| gateway.shown.turn(&session, listener, to)))
}
