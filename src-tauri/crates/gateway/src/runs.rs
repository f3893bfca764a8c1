//! The run API, version 1 (run-api.md): paths, headers and streams over [`api::runs`].

#![allow(
    clippy::disallowed_methods,
    reason = "how long a client stays silent is asked of this machine's clock"
)]

use crate::answer::{BODY_BYTES_MAX, json, of, params, refusal, refusal_as};
use crate::guard::Who;
use crate::server::{Gateway, STREAMS_MAX};
use crate::sse;
use api::runs::{Follow, Part, Position};
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Where an `EventSource` says how far it came.
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What makes a repeated request harmless.
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Events of a page when no number is named.
const PAGE_EVENTS: u32 = 200;
/// Frames that wait for a slow client: its own stream waits with them, and nobody else does.
const BEHIND_MAX: usize = 32;
/// How long a client may leave its stream unread before it is cut off and its place is another's. Nothing is lost by
/// that: it comes again with the last event it has.
const STALLED: Duration = Duration::from_secs(10);
/// How long a stream sleeps before it looks whether the gateway stops or its client has gone.
const LOOK: Duration = Duration::from_millis(250);
/// Everything there is, for the capabilities.
const COMMANDS: [&str; 14] = [
    "POST /v1/runs",
    "GET /v1/runs/{run_id}",
    "GET /v1/runs/{run_id}/events",
    "POST /v1/runs/{run_id}/cancel",
    "POST /v1/runs/{run_id}/approval",
    "POST /v1/runs/{run_id}/clarifications/{clarify_id}/respond",
    "POST /v1/runs/{run_id}/messages",
    "POST /v1/sessions/{session_id}/goal",
    "GET /v1/sessions/{session_id}/runs",
    "GET /v1/tools",
    "POST /v1/tools",
    "GET /v1/tools/{name}",
    "DELETE /v1/tools/{name}",
    "GET /v1/capabilities",
];

type Served = State<Arc<Gateway>>;

/// The paths of the contract.
pub(crate) fn routes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/v1/runs", post(start))
        .route("/v1/runs/{run_id}", get(status))
        .route("/v1/runs/{run_id}/events", get(events))
        .route("/v1/runs/{run_id}/cancel", post(cancel))
        .route("/v1/runs/{run_id}/approval", post(approval))
        .route("/v1/runs/{run_id}/clarifications/{clarify_id}/respond", post(respond))
        .route("/v1/runs/{run_id}/messages", post(message))
        .route("/v1/sessions/{session_id}/goal", post(goal))
        .route("/v1/sessions/{session_id}/runs", get(session_runs))
        .route("/v1/tools", get(tools).post(propose_tools))
        .route("/v1/tools/{name}", get(shown_tools).delete(remove_tools))
        .route("/v1/capabilities", get(capabilities))
}

fn key(headers: &HeaderMap) -> Option<String> {
    let given = crate::guard::one(headers, &IDEMPOTENCY_KEY)?.trim();
    // A key of this API never meets one of another surface.
    (!given.is_empty()).then(|| format!("run_api:{given}"))
}

async fn start(State(gateway): Served, Extension(who): Extension<Who>, request: Request) -> Response {
    let key = key(request.headers());
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::start(host, given, key)).await),
        Err(error) => refusal(&error),
    }
}

async fn status(State(gateway): Served, Extension(who): Extension<Who>, Path(run): Path<String>) -> Response {
    of(gateway.seated(who, move |host| api::runs::status(host, &run)).await)
}

async fn cancel(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(run): Path<String>,
    request: Request,
) -> Response {
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::cancel(host, &run, given)).await),
        Err(error) => refusal(&error),
    }
}

async fn approval(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(run): Path<String>,
    request: Request,
) -> Response {
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::approval(host, &run, given)).await),
        Err(error) => refusal(&error),
    }
}

async fn respond(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path((run, question)): Path<(String, String)>,
    request: Request,
) -> Response {
    match params(request).await {
        Ok(given) => {
            of(gateway.seated(who, move |host| api::runs::respond(host, &run, &question, given)).await)
        }
        Err(error) => refusal(&error),
    }
}

async fn message(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(run): Path<String>,
    request: Request,
) -> Response {
    let key = key(request.headers());
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::message(host, &run, given, key)).await),
        Err(error) => refusal(&error),
    }
}

async fn goal(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(session): Path<String>,
    request: Request,
) -> Response {
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::goal(host, &session, given)).await),
        Err(error) => refusal(&error),
    }
}

async fn session_runs(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(session): Path<String>,
) -> Response {
    of(gateway.seated(who, move |host| api::runs::session_runs(host, &session)).await)
}

async fn tools(State(gateway): Served, Extension(who): Extension<Who>) -> Response {
    of(gateway.seated(who, api::runs::registered_tools).await)
}

async fn propose_tools(State(gateway): Served, Extension(who): Extension<Who>, request: Request) -> Response {
    let key = key(request.headers());
    match params(request).await {
        Ok(given) => of(gateway.seated(who, move |host| api::runs::propose_tools(host, given, key)).await),
        Err(error) => refusal(&error),
    }
}

async fn shown_tools(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
) -> Response {
    of(gateway.seated(who, move |host| api::runs::shown_tools(host, &name)).await)
}

async fn remove_tools(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
) -> Response {
    of(gateway.seated(who, move |host| api::runs::remove_tools(host, &name)).await)
}

async fn capabilities(State(gateway): Served) -> Response {
    let told = api::runs::capabilities(&*gateway.host, &COMMANDS, BODY_BYTES_MAX, STREAMS_MAX);
    json(StatusCode::OK, &told)
}

/// The pairs of a query, the last of a name.
pub(crate) fn pairs(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

/// Where the client says it stands. What it resumes with goes before what stands in an address it may have kept.
fn position(headers: &HeaderMap, query: &BTreeMap<String, String>) -> Position {
    if let Some(id) = crate::guard::one(headers, &LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        return Position::EventId(id.to_owned());
    }
    if let Some(cursor) = query.get("cursor").filter(|cursor| !cursor.is_empty()) {
        return of_cursor(cursor);
    }
    match query.get("after_seq").map(|text| (text, text.parse::<u64>())) {
        None => Position::Start,
        Some((_, Ok(seq))) => Position::AfterSeq(seq),
        // No number is a position that cannot be read: everything is told again, and that it is.
        Some((text, Err(_))) => Position::Cursor(text.clone()),
    }
}

/// What a cursor is: one of ours, the name of an event, or its number.
fn of_cursor(cursor: &str) -> Position {
    match cursor.parse::<u64>() {
        Ok(seq) => Position::AfterSeq(seq),
        Err(_) if cursor.contains(':') => Position::EventId(cursor.to_owned()),
        Err(_) => Position::Cursor(cursor.to_owned()),
    }
}

async fn events(
    State(gateway): Served,
    Extension(who): Extension<Who>,
    Path(run): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = pairs(query.as_deref().unwrap_or_default());
    let position = position(&headers, &query);
    let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if accept.into_iter().any(|accept| accept.contains("text/event-stream")) {
        return stream(gateway, (who, who.session(&headers)), run, position).await;
    }
    let limit = query.get("limit").and_then(|text| text.parse().ok()).unwrap_or(PAGE_EVENTS);
    let page: Result<Value, wire::Error> =
        gateway.seated(who, move |host| api::runs::page(host, &run, &position, limit)).await;
    of(page)
}

/// Replays, then goes on live, until the run has ended, the client has gone or may not come in any more, or the gateway stops.
async fn stream(
    gateway: Arc<Gateway>,
    (who, session): (Who, Option<String>),
    run: String,
    position: Position,
) -> Response {
    let place = match gateway.place(session) {
        Ok(place) => place,
        Err(error) => return refusal_as(StatusCode::TOO_MANY_REQUESTS, &error),
    };
    let begun = gateway.seated(who, move |host| {
        let follow = Follow::begin(host, &run, position)?;
        Ok(if follow.is_over()? { None } else { Some(follow) })
    });
    let mut follow = match begun.await {
        Ok(Some(follow)) => follow,
        // Nothing can follow what the client has: an `EventSource` would ask for it for ever.
        Ok(None) => return StatusCode::NO_CONTENT.into_response(),
        Err(error) => return refusal(&error),
    };
    let (send, receive) = mpsc::channel::<Bytes>(BEHIND_MAX);
    let here = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        // A client that does not read holds up this thread and no other, for a while: the journal keeps what follows.
        let tell = |frame: Bytes| here.block_on(send.send_timeout(frame, STALLED)).is_ok();
        let mut silent = Instant::now();
        while place.is_open() && !send.is_closed() {
            let Ok(Some(parts)) = follow.next(LOOK) else { return };
            if parts.is_empty() && silent.elapsed() < sse::ALIVE {
                continue;
            }
            silent = Instant::now();
            if parts.is_empty() && !tell(sse::alive()) {
                return;
            }
            for part in parts {
                let (frame, is_last) = frame(part);
                if !tell(frame) || is_last {
                    return;
                }
            }
        }
    });
    sse::answer(receive)
}

fn frame(part: Part) -> (Bytes, bool) {
    match part {
        Part::Resumed(how) => (sse::frame(None, "resumed", &how), false),
        Part::Event { id, family, envelope, terminal } => {
            (sse::frame(Some(&id), &family, &envelope), terminal)
        }
    }
}
