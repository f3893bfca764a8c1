//! Calls of hooks over HTTP: `POST /v1/hooks/{name}` takes what is signed with the secret of the hook, without token or session, and
//! gives none (invariant 14).

use crate::answer::{bytes_within, json, of, refusal, refusal_as};
use crate::guard::one;
use crate::server::{Gateway, Lane};
use crate::sessions::Place;
use api::hooks::{BYTES_MAX, Signature};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::{Code, Error};

/// Calls of all hooks together within a minute, of which nothing is looked at before: whoever has no secret costs no more.
const PER_MINUTE_MAX: u32 = 600;
/// A minute.
const MINUTE_MS: i64 = 60_000;
/// A body has this long to come.
const BODY: Duration = Duration::from_secs(10);

static ID: HeaderName = HeaderName::from_static("webhook-id");
static TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
static SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
static GITHUB_ID: HeaderName = HeaderName::from_static("x-github-delivery");
static GITHUB_SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
static GITHUB_EVENT: HeaderName = HeaderName::from_static("x-github-event");

/// How many calls came since a minute began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    came: Mutex<(i64, u32)>,
}

impl Calls {
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

/// `POST /v1/hooks/{name}`.
pub(crate) async fn call(
    State(gateway): State<Arc<Gateway>>,
    Extension(place): Extension<Place>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    // By the name that a person told for other devices only pages come in (invariant 12).
    if place == Place::Elsewhere {
        return refusal(&api::hooks::refusal());
    }
    if !gateway.calls.takes(gateway.now()) {
        return refusal_as(StatusCode::TOO_MANY_REQUESTS, &api::hooks::too_many());
    }
    let signature = signature(request.headers());
    let body = match tokio::time::timeout(BODY, bytes_within(request, BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if error.code == Code::TooLarge => {
            let noted = gateway.seated_at(Lane::Hook, move |host| api::hooks::too_large(host, &name)).await;
            return noted.map_or_else(|error| refusal(&error), |()| refusal(&error));
        }
        Ok(Err(error)) => return refusal(&error),
        Err(_) => return refusal(&Error::new(Code::Usage, "the body did not come in time")),
    };
    let keeper = Arc::clone(&gateway.keeper);
    let called = gateway.seated_at(Lane::Hook, move |host| {
        let secret = keeper.hook_secret(&name)?;
        api::hooks::call(host, &name, secret.as_ref().map(|value| value.as_slice()), (signature, body))
    });
    match called.await {
        Ok(taken) if !taken.duplicate => json(StatusCode::ACCEPTED, &taken),
        Err(error) if error.code == Code::Unavailable => refusal_as(StatusCode::TOO_MANY_REQUESTS, &error),
        came => of(came),
    }
}

/// How a call is signed; nothing where a header is missing, or there twice.
fn signature(headers: &HeaderMap) -> Option<Signature> {
    let text = |name: &HeaderName| one(headers, name).map(str::to_owned);
    if headers.contains_key(&ID) || headers.contains_key(&SIGNATURE) {
        return Some(Signature::Standard {
            id: text(&ID)?,
            timestamp: text(&TIMESTAMP)?,
            signatures: text(&SIGNATURE)?,
        });
    }
    let (id, signature) = (text(&GITHUB_ID)?, text(&GITHUB_SIGNATURE)?);
    Some(Signature::Github { id, signature, event: text(&GITHUB_EVENT) })
}
