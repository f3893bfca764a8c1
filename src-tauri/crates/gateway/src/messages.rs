//! Messages of a program of the person's own over HTTP: `POST /v1/messages/{gateway}` takes what is signed with the secret of the
//! gateway, without token or session, and gives none (invariant 14). It is on record before it is answered.

use crate::answer::{bytes_within, json, of, refusal, refusal_as};
use crate::guard::one;
use crate::hooks::{Calls, visit_of};
use crate::server::{Gateway, Lane};
use crate::sessions::Place;
use api::Host;
use api::messages::{BYTES_MAX, Call, Taken};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use wire::{Code, Error};

/// A body has this long to come.
const BODY: Duration = Duration::from_secs(10);
/// Seats of messages: hooks have their own, and neither holds up the other.
const SEATS_MAX: usize = 2;

static ID: HeaderName = HeaderName::from_static("webhook-id");
static TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
static SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How many calls were refused, of all gateways together, and whose turn it is.
#[derive(Debug)]
pub(crate) struct Messages {
    calls: Calls,
    pub(crate) seats: Arc<Semaphore>,
    /// One message is heard after another.
    turn: Mutex<()>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { calls: Calls::default(), seats: Arc::new(Semaphore::new(SEATS_MAX)), turn: Mutex::default() }
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
    let visit = visit_of(&request);
    let came = taken(&gateway, name, request).await;
    // As of hooks. Whoever has signed is told why, however many others were refused.
    if let Err(error) = &came
        && (*error == api::messages::refusal() || *error == late() || error.code == Code::TooLarge)
        && gateway.messages.calls.refuses(gateway.now(), visit.as_deref())
    {
        return refusal_as(StatusCode::TOO_MANY_REQUESTS, &api::messages::too_many());
    }
    match came {
        Ok(taken) if !taken.duplicate => json(StatusCode::ACCEPTED, &taken),
        came => of(came),
    }
}

/// What becomes of a call.
async fn taken(gateway: &Arc<Gateway>, name: String, request: Request) -> Result<Taken, Error> {
    let signed = signed(request.headers());
    if signed.is_none() && gateway.messages.calls.is_flooded(gateway.now()) {
        return Err(api::messages::refusal());
    }
    let body = tokio::time::timeout(BODY, bytes_within(request, BYTES_MAX)).await.map_err(|_| late())??;
    let call = signed.map(|(id, timestamp, signatures)| Call { id, timestamp, signatures, body });
    let inside = Arc::clone(gateway);
    let take = move |host: &dyn Host| api::messages::take(host, &name, call.as_ref(), &inside.messages.turn);
    gateway.seated_at(Lane::Message, take).await
}

fn late() -> Error {
    Error::new(Code::Usage, "the body did not come in time")
}

/// How a call is signed; nothing where a header is missing, or there twice.
fn signed(headers: &HeaderMap) -> Option<(String, String, String)> {
    let text = |name: &HeaderName| one(headers, name).map(str::to_owned);
    Some((text(&ID)?, text(&TIMESTAMP)?, text(&SIGNATURE)?))
}
