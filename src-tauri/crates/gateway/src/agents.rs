//! `/mcp`: Hermit as a tool server over Streamable HTTP, for agents of other programs. Each message is one request, each
//! answer one message; there is no stream beside it, and nothing of a conversation is kept but in the store. Requests of the
//! wire without conversations (2026-07-28) are in `each_alone`.

mod each_alone;

use each_alone::WIRE;

use crate::answer::{json as answered, params, refusal, refusal_as};
use crate::guard::{Who, one};
use crate::server::{Gateway, Lane};
use crate::{Draw, Token};
use api::Host;
use axum::Extension;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use mcp::{Conversation, Hermit, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use wire::{Caller, Code, Error};

/// What names a conversation.
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which version of the protocol a client speaks.
pub(crate) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Versions that know this transport and have sessions.
const SPOKEN: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// Conversations at once; the one that has been silent for longest makes room.
const CONVERSATIONS_MAX: usize = 32;

/// Conversations by their names.
pub(crate) struct Conversations {
    draw: Draw,
    open: Mutex<BTreeMap<String, (Arc<Conversation>, i64)>>,
}

impl Conversations {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { draw, open: Mutex::default() }
    }

    fn keep(&self, name: String, conversation: Arc<Conversation>, now: i64) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(name, (conversation, now));
        make_room(&mut open);
    }

    /// The conversation of that name, which is begun where there is none.
    fn find_or_begin(&self, name: &str, now: i64, begin: impl FnOnce() -> Conversation) -> Arc<Conversation> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (conversation, at) = open.entry(name.to_owned()).or_insert_with(|| (Arc::new(begin()), now));
        *at = now;
        let conversation = Arc::clone(conversation);
        make_room(&mut open);
        conversation
    }

    fn find(&self, name: &str, now: i64) -> Option<Arc<Conversation>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (conversation, at) = open.get_mut(name)?;
        *at = now;
        Some(Arc::clone(conversation))
    }

    fn end(&self, name: &str) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }
}

/// The one that has been silent for longest goes.
fn make_room(open: &mut BTreeMap<String, (Arc<Conversation>, i64)>) {
    while open.len() > CONVERSATIONS_MAX {
        let oldest = open.iter().min_by_key(|(_, (_, at))| *at).map(|(name, _)| name.clone());
        match oldest {
            Some(oldest) => open.remove(&oldest),
            None => return,
        };
    }
}

/// The store of this gateway, as a program has it.
pub(crate) struct Asked(pub(crate) Arc<Gateway>);

impl Hermit for Asked {
    fn ask(&self, name: &str, params: Value) -> Result<Value, Box<Error>> {
        api::call_for(&*self.0.host, Caller::Program, name, params, &[]).map_err(Box::new)
    }
}

/// `POST /mcp?workspace=FOLDER&profile=NAME`: one message. The first, `initialize`, opens a conversation and names it.
pub(crate) async fn message(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    request: Request,
) -> Response {
    if let Err(error) = may_come(who) {
        return refusal(&error);
    }
    let message = match params(request).await {
        Ok(message @ Value::Object(_)) => message,
        Ok(_) => return refusal(&Error::new(Code::Usage, "a message of the protocol is a JSON object")),
        Err(error) => return refusal(&error),
    };
    if let Err(why) = is_message(&message) {
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32_600, "message": why } });
        return answered(StatusCode::BAD_REQUEST, &error);
    }
    if each_alone::is(&headers, &message) {
        return each_alone::answer(&gateway, query.as_deref().unwrap_or_default(), &headers, message).await;
    }
    if let Err(error) = known_version(&headers) {
        return refusal(&error);
    }
    let begins = message.get("method").and_then(Value::as_str) == Some("initialize");
    let (name, conversation) = match (begins, session(&headers)) {
        (true, _) => match options(&gateway, query.as_deref().unwrap_or_default()).await {
            Ok(options) => begun(&gateway, options),
            Err(error) => return refusal(&error),
        },
        (false, None) => {
            return refusal(&Error::new(Code::Usage, "this belongs to no conversation").hint(
                "begin with `initialize`, and send the `Mcp-Session-Id` of its answer with all that follows",
            ));
        }
        (false, Some(name)) => match gateway.agents.find(name, gateway.now()) {
            Some(conversation) => (name.to_owned(), conversation),
            None => return lapsed(),
        },
    };
    let wants_answer = message.get("method").is_some() && message.get("id").is_some_and(|id| !id.is_null());
    match (conversation.say(message).await, wants_answer) {
        (Some(answer), _) => {
            let mut answer = answered(StatusCode::OK, &answer);
            if let (true, Ok(value)) = (begins, HeaderValue::from_str(&name)) {
                gateway.agents.keep(name, conversation, gateway.now());
                answer.headers_mut().insert(SESSION_ID.clone(), value);
            }
            answer
        }
        (None, false) => StatusCode::ACCEPTED.into_response(),
        (None, true) => {
            gateway.agents.end(&name);
            lapsed()
        }
    }
}

/// `DELETE /mcp`: a client is done.
pub(crate) async fn end(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
) -> Response {
    if let Err(error) = may_come(who).and_then(|()| known_version(&headers)) {
        return refusal(&error);
    }
    match session(&headers).is_some_and(|name| gateway.agents.end(name)) {
        true => StatusCode::NO_CONTENT.into_response(),
        false => lapsed(),
    }
}

/// The name of a conversation that a client was given; requests that stand alone have none.
fn session(headers: &HeaderMap) -> Option<&str> {
    one(headers, &SESSION_ID).filter(|name| !name.starts_with('['))
}

/// Whether it is a message of the protocol that can be answered under its own identifier.
fn is_message(message: &Value) -> Result<(), &'static str> {
    let is_fit = |member: &str, fits: fn(&Value) -> bool| message.get(member).is_none_or(fits);
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err("`jsonrpc` is \"2.0\"");
    }
    if !is_fit("method", Value::is_string) {
        return Err("`method` is a text");
    }
    if !is_fit("id", |id| id.is_string() || id.is_i64() || id.is_u64() || id.is_null()) {
        return Err("`id` is a text or a whole number");
    }
    match is_fit("params", Value::is_object) {
        true => Ok(()),
        false => Err("`params` is an object"),
    }
}

/// Only programs with the host's token speak here.
fn may_come(who: Who) -> Result<(), Error> {
    match who {
        Who::Program => Ok(()),
        Who::Browser { .. } => Err(Error::new(
            Code::Forbidden,
            "a page is no agent; only a program with the host's token speaks here",
        )),
    }
}

/// A conversation is held in a version that is known.
fn known_version(headers: &HeaderMap) -> Result<(), Error> {
    match headers.contains_key(&VERSION).then(|| one(headers, &VERSION)) {
        None => Ok(()),
        Some(version) if version.is_some_and(|version| SPOKEN.contains(&version)) => Ok(()),
        Some(_) => Err(Error::new(Code::Usage, "that version of the protocol is not spoken over HTTP here")
            .hint(format!("`MCP-Protocol-Version` is one of {}, {WIRE}", SPOKEN.join(", ")))),
    }
}

/// What an agent that comes with this query works with.
pub(crate) async fn options(gateway: &Arc<Gateway>, query: &str) -> Result<Options, Error> {
    let mut asked = crate::runs::pairs(query);
    let workspace = asked
        .remove("workspace")
        .filter(|folder| std::path::Path::new(folder).is_absolute())
        .ok_or_else(|| {
            Error::new(Code::Usage, "an agent needs a folder to work in")
                .hint("name it, absolute, in the address: `/mcp?workspace=/home/you/project`")
        })?;
    // It may lie on a disk that does not answer, which holds up nobody else.
    let look = move |host: &dyn Host| -> Result<_, Error> {
        let folder = host.workspace(std::path::Path::new(&workspace))?;
        Ok((folder, host.kernel()?.dir().join("proofs")))
    };
    let (folder, proofs) = gateway.seated_at(Lane::Usual, look).await?;
    Ok(Options {
        workspace: folder.to_string_lossy().into_owned(),
        is_named: true,
        profile: asked.remove("profile"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        proofs,
    })
}

/// A new conversation and its name, which nobody guesses.
fn begun(gateway: &Arc<Gateway>, options: Options) -> (String, Arc<Conversation>) {
    let name = Token::new((gateway.agents.draw)()).reveal().to_owned();
    (name, Arc::new(Conversation::begin(Arc::new(Asked(Arc::clone(gateway))), options)))
}

fn lapsed() -> Response {
    let error = Error::new(Code::NotFound, "there is no such conversation any more")
        .hint("begin a new one with `initialize`; the same call again goes on where it was");
    refusal_as(StatusCode::NOT_FOUND, &error)
}
