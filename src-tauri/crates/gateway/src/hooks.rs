//! Calls of hooks over HTTP: `POST /v1/hooks/{name}` takes what is signed with the secret of the hook, without token or session, and
//! gives none (invariant 14).

use crate::answer::{bytes_within, json, of, refusal, refusal_as};
use crate::connections::Visit;
use crate::guard::one;
use crate::server::{Gateway, Lane};
use crate::sessions::Place;
use api::hooks::{BYTES_MAX, Noted, Signature, Taken};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::{Code, Error};

/// Refused calls of all hooks together within a minute. Of further ones nothing is on record, and what carries no signature is
/// not read; what is signed is taken all the same.
const REFUSED_MAX: u32 = 600;
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

/// How many calls of one kind were refused since a minute began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    refused: Mutex<(i64, u32)>,
}

impl Calls {
    /// Those of the minute that it is.
    fn of(&self, now: i64) -> MutexGuard<'_, (i64, u32)> {
        let mut of = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins another minute.
        if !(0..MINUTE_MS).contains(&now.saturating_sub(of.0)) {
            *of = (now, 0);
        }
        of
    }

    /// Whether so many were refused that a further one is not worth a look, unless it is signed.
    pub(crate) fn is_flooded(&self, now: i64) -> bool {
        self.of(now).1 >= REFUSED_MAX
    }

    /// One more was refused, which came over this connection. Whether so many were before it that nothing else is told of it.
    pub(crate) fn refuses(&self, now: i64, visit: Option<&Visit>) -> bool {
        let is_flooded = self.is_flooded(now);
        let mut of = self.of(now);
        of.1 = of.1.saturating_add(1);
        drop(of);
        visit.into_iter().for_each(|one| one.refuse(true));
        is_flooded
    }
}

/// The connection that a call comes over: it may be a better one than the last.
pub(crate) fn visit_of(request: &Request) -> Option<Arc<Visit>> {
    let visit = request.extensions().get::<Arc<Visit>>().cloned();
    visit.iter().for_each(|one| one.refuse(false));
    visit
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
    let visit = visit_of(&request);
    let came = called(&gateway, name, request).await;
    // What became of one that was refused is told of no other: a flood learns of no hook whether it is there.
    if let Err(error) = &came
        && matches!(error.code, Code::Forbidden | Code::TooLarge | Code::Usage)
        && gateway.calls.refuses(gateway.now(), visit.as_deref())
    {
        return refusal_as(StatusCode::TOO_MANY_REQUESTS, &api::hooks::too_many());
    }
    match came {
        Ok(taken) if !taken.duplicate => json(StatusCode::ACCEPTED, &taken),
        Err(error) if error.code == Code::Unavailable => refusal_as(StatusCode::TOO_MANY_REQUESTS, &error),
        came => of(came),
    }
}

/// What becomes of a call.
async fn called(gateway: &Arc<Gateway>, name: String, request: Request) -> Result<Taken, Error> {
    let signature = signature(request.headers());
    let noted = if gateway.calls.is_flooded(gateway.now()) { Noted::No } else { Noted::Yes };
    if noted == Noted::No && signature.is_none() {
        return Err(api::hooks::refusal());
    }
    let body = match tokio::time::timeout(BODY, bytes_within(request, BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if error.code == Code::TooLarge && noted == Noted::Yes => {
            gateway.seated_at(Lane::Hook, move |host| api::hooks::too_large(host, &name)).await?;
            return Err(error);
        }
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(Error::new(Code::Usage, "the body did not come in time")),
    };
    let keeper = Arc::clone(&gateway.keeper);
    let call = move |host: &dyn api::Host| {
        let secret = keeper.hook_secret(&name)?;
        let secret = secret.as_ref().map(|value| value.as_slice());
        api::hooks::call(host, &name, secret, (signature, body), noted)
    };
    gateway.seated_at(Lane::Hook, call).await
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
