//! Messages of a program of the person's own over HTTP: `POST /v1/messages/{gateway}` takes what is signed with the secret of the
//! gateway, without token or session, and gives none (invariant 14). It is on record before it is answered.

use crate::answer::{bytes_within, json, of, refusal, refusal_as};
use crate::guard::one;
use crate::server::{Gateway, Lane};
use crate::sessions::Place;
use api::messages::{BYTES_MAX, Call};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::{Code, Error};

/// Calls for all gateways together within a minute, of which nothing is looked at before.
const PER_MINUTE_MAX: u32 = 600;
/// A minute.
const MINUTE_MS: i64 = 60_000;
/// A body has this long to come.
const BODY: Duration = Duration::from_secs(10);

static ID: HeaderName = HeaderName::from_static("webhook-id");
static TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
static SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How many calls came since a minute began, and whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    came: Mutex<(i64, u32)>,
    /// One message is heard after another: each has the next number of its sender.
    turn: Mutex<()>,
}

impl Messages {
    /// Whether one more is looked at.
    fn takes(&self, now: i64) -> bool {
        let mut of = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins another minute.
        if !(0..MINUTE_MS).contains(&now.saturating_sub(of.0)) {
            *of = (now, 0);
        }
        of.1 = of.1.saturating_add(1);
        of.1 <= PER_MINUTE_MAX
    }
}

/// `POST /v1/messages/{gateway}`.
pub(crate) async fn take(
    State(gateway): State<Arc<Gateway>>,
    Extension(place): Extension<Place>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    // By the name that a person told for other devices only pages come in (invariant 12).
    if place == Place::Elsewhere {
        return refusal(&api::messages::refusal());
    }
    if !gateway.messages.takes(gateway.now()) {
        return refusal_as(StatusCode::TOO_MANY_REQUESTS, &api::messages::too_many());
    }
    let signed = signed(request.headers());
    let body = match tokio::time::timeout(BODY, bytes_within(request, BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => return refusal(&error),
        Err(_) => return refusal(&Error::new(Code::Usage, "the body did not come in time")),
    };
    let call = signed.map(|(id, timestamp, signatures)| Call { id, timestamp, signatures, body });
    let inside = Arc::clone(&gateway);
    let taken = gateway.seated_at(Lane::Hook, move |host| {
        let _turn = inside.messages.turn.lock().unwrap_or_else(PoisonError::into_inner);
        api::messages::take(host, &name, call.as_ref())
    });
    match taken.await {
        Ok(taken) if !taken.duplicate => json(StatusCode::ACCEPTED, &taken),
        came => of(came),
    }
}

/// How a call is signed; nothing where a header is missing, or there twice.
fn signed(headers: &HeaderMap) -> Option<(String, String, String)> {
    let text = |name: &HeaderName| one(headers, name).map(str::to_owned);
    Some((text(&ID)?, text(&TIMESTAMP)?, text(&SIGNATURE)?))
}
