//! The form of server-sent events, written and read.

use crate::server::Gateway;
use crate::sign_in;
use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde::Serialize;
use std::convert::Infallible;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// How often a silent stream says that it is there, so that a gone listener is noticed.
pub(crate) const ALIVE: Duration = Duration::from_secs(10);
/// Bytes of one line: the largest event, with room for its escapes.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A stream's place; it is given back however the stream ends.
pub(crate) struct Place {
    gateway: Arc<Gateway>,
    /// The session of the page that listens; none of a program.
    session: Option<String>,
}

impl Place {
    /// A place that is counted already.
    pub(crate) const fn new(gateway: Arc<Gateway>, session: Option<String>) -> Self {
        Self { gateway, session }
    }

    /// Whether the stream goes on: the gateway does, and whoever listens may still come in.
    pub(crate) fn is_open(&self) -> bool {
        let goes_on = |session: &String| sign_in::goes_on(&self.gateway, session);
        !self.gateway.stopping.load(Ordering::SeqCst) && self.session.as_ref().is_none_or(goes_on)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.gateway.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One event. JSON holds no bare line break, so its data is one line.
pub(crate) fn frame<T: Serialize>(id: Option<&str>, event: &str, data: &T) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}event: {event}\ndata: {data}\n\n"))
}

/// A comment, which no listener hears.
pub(crate) const fn alive() -> Bytes {
    Bytes::from_static(b": alive\n\n")
}

/// A stream of frames, until their sender is gone.
pub(crate) fn answer(receive: Receiver<Bytes>) -> Response {
    let stream = futures_util::stream::unfold(receive, |mut receive| async move {
        receive.recv().await.map(|frame| (Ok::<Bytes, Infallible>(frame), receive))
    });
    let mut answer = Response::new(Body::from_stream(stream));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}

/// The next event that a stream holds: its kind and its data. None at its end, or when it breaks off.
pub(crate) fn next(stream: &mut impl BufRead) -> Option<(String, String)> {
    let (mut kind, mut data) = (String::from("message"), String::new());
    loop {
        let mut line = String::new();
        let read = std::io::Read::take(&mut *stream, LINE_BYTES_MAX).read_line(&mut line).ok()?;
        if read == 0 || !line.ends_with('\n') {
            return None;
        }
        let line = line.trim_end_matches(['\r', '\n']);
        match line.split_once(':') {
            None if line.is_empty() && !data.is_empty() => return Some((kind, data)),
            Some(("event", value)) => value.strip_prefix(' ').unwrap_or(value).clone_into(&mut kind),
            Some(("data", value)) => data.push_str(value.strip_prefix(' ').unwrap_or(value)),
            _ => {}
        }
    }
}
