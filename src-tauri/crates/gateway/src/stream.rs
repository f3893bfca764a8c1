//! Notices as server-sent events. They say where to look again; the store says what is there.

use crate::server::{Gateway, refusal};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tokio::sync::mpsc;
use wire::{Code, Error};

/// Streams open at once.
pub(crate) const STREAMS_MAX: usize = 16;
/// Notices that wait for a slow listener; beyond them its stream ends, and it asks again.
const BEHIND_MAX: usize = 256;
/// How often a silent stream says that it is there, so that a gone listener is noticed.
const ALIVE: Duration = Duration::from_secs(10);
/// How long a stream takes to see that the gateway stops.
const LOOK: Duration = Duration::from_millis(100);

/// Gives the place back however the stream ends.
struct Place(Arc<Gateway>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) async fn events(State(gateway): State<Arc<Gateway>>) -> Response {
    if gateway.streams.fetch_add(1, Ordering::SeqCst) >= STREAMS_MAX {
        gateway.streams.fetch_sub(1, Ordering::SeqCst);
        let error = Error::new(Code::Unavailable, format!("{STREAMS_MAX} streams are open already"));
        let mut answer = refusal(&error.hint("close one, or ask for the lists again now and then"));
        *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        return answer;
    }
    let place = Place(Arc::clone(&gateway));
    let Some(notices) = gateway.host.listen() else {
        return refusal(&Error::new(Code::NoHost, "nothing happens in a process that only reads"));
    };
    let (send, receive) = mpsc::channel::<Bytes>(BEHIND_MAX);
    tokio::task::spawn_blocking(move || {
        let mut silent = Duration::ZERO;
        while !place.0.stopping.load(Ordering::SeqCst) {
            let frame = match notices.recv_timeout(LOOK) {
                Ok(notice) => frame(&notice),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if silent < ALIVE => {
                    silent += LOOK;
                    if send.is_closed() {
                        return;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => Bytes::from_static(b": alive\n\n"),
            };
            silent = Duration::ZERO;
            if send.try_send(frame).is_err() {
                return;
            }
        }
    });
    let stream = futures_util::stream::unfold(receive, |mut receive| async move {
        receive.recv().await.map(|frame| (Ok::<Bytes, Infallible>(frame), receive))
    });
    let mut answer = Response::new(Body::from_stream(stream));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}

/// `event:` is the kind, `data:` the notice; JSON holds no bare line break.
fn frame(notice: &wire::Notice) -> Bytes {
    let kind = match notice {
        wire::Notice::Event { .. } => "event",
        wire::Notice::Delta { .. } => "delta",
        wire::Notice::Progress { .. } => "progress",
    };
    let data = serde_json::to_string(notice).unwrap_or_default();
    Bytes::from(format!("event: {kind}\ndata: {data}\n\n"))
}
