//! Notices as server-sent events. They say where to look again; the store says what is there.

use crate::answer::{refusal, refusal_as};
use crate::guard::Who;
use crate::server::Gateway;
use crate::shown::Listening;
use crate::sse;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use wire::{Code, Error};

/// Notices that wait for a slow listener; beyond them its stream ends, and it asks again.
const BEHIND_MAX: usize = 256;
/// How long a stream takes to see that the gateway stops, or that its page was ended.
const LOOK: Duration = Duration::from_millis(100);

/// `GET /api/notices`.
pub(crate) async fn stream(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
) -> Response {
    let place = match gateway.place(who.session(&headers)) {
        Ok(place) => place,
        Err(error) => return refusal_as(StatusCode::TOO_MANY_REQUESTS, &error),
    };
    let Some(notices) = gateway.host.listen() else {
        return refusal(&Error::new(Code::NoHost, "nothing happens in a process that only reads"));
    };
    let store_id = match gateway.seated(who, |host| Ok(host.reader()?.log_id().to_owned())).await {
        Ok(store_id) => store_id,
        Err(error) => return refusal(&error),
    };
    let (send, receive) = mpsc::channel::<Bytes>(BEHIND_MAX);
    let mut page = who.session(&headers).map(|session| Listening::begin(&gateway, session));
    let greeting = match &page {
        Some(page) => serde_json::json!({ "store_id": store_id, "listener": page.number() }),
        None => serde_json::json!({ "store_id": store_id }),
    };
    let hello = sse::frame(None, "hello", &greeting);
    // The channel is empty, so it takes this one.
    let _ = send.try_send(hello);
    tokio::task::spawn_blocking(move || {
        let mut told = Instant::now();
        while place.is_open() {
            let frame = match notices.recv_timeout(LOOK) {
                Ok(notice) if page.as_mut().is_none_or(|page| page.hears(&notice)) => frame(&notice),
                Err(RecvTimeoutError::Disconnected) => return,
                // What this page does not hear is silence to it.
                Ok(_) | Err(RecvTimeoutError::Timeout) if told.elapsed() < sse::ALIVE => {
                    if send.is_closed() {
                        return;
                    }
                    continue;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => sse::alive(),
            };
            told = Instant::now();
            // A page that was ended meanwhile is told nothing more.
            if !place.is_open() || send.try_send(frame).is_err() {
                return;
            }
        }
    });
    sse::answer(receive)
}

/// `event:` is the kind, `data:` the notice.
fn frame(notice: &wire::Notice) -> Bytes {
    let kind = match notice {
        wire::Notice::Event { .. } => "event",
        wire::Notice::Delta { .. } => "delta",
        wire::Notice::Reasoning { .. } => "reasoning",
        wire::Notice::Progress { .. } => "progress",
        wire::Notice::Output { .. } => "output",
        wire::Notice::Keys { .. } => "keys",
    };
    sse::frame(None, kind, notice)
}
