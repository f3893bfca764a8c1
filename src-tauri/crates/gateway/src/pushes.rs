//! Notifications by a push service, as a person turns them on for the browser they sit at, and off for any.

use crate::answer::{of, refusal};
use crate::guard::Who;
use crate::page_approval::{field, only, opened};
use crate::server::{Gateway, Lane};
use api::pushes::{Page, Subscription, page_of};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json as value};
use std::sync::Arc;
use wire::{Code, Error};

/// What turns it on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct On {
    name: String,
    outcomes: bool,
    subscription: Subscription,
}

/// Only a page that was opened with a link from a terminal, or that a passkey signed in.
fn by_person(who: Who) -> Result<(), Error> {
    who.by_person("sees and changes which devices are notified")
}

/// The origin of a page whose browser can be reached: one at a name.
fn origin_of(gateway: &Gateway, headers: &HeaderMap) -> Result<String, Error> {
    gateway.passkey_origin(headers).map_err(|_| {
        Error::new(Code::Conflict, "a device is not notified at this address")
            .hint("open the page at its name; Settings makes a link for it")
    })
}

/// The devices that are notified, with the page of each where it is open.
fn all(gateway: &Gateway, host: &dyn api::Host, session: &str) -> Result<Value, Error> {
    let pages = gateway.guard.sessions.list(session, gateway.now());
    let devices = api::pushes::list(host)?.into_iter().map(|told| {
        let page = pages.iter().find(|page| page_of(page.token.reveal()) == told.page);
        let mut row = serde_json::to_value(&told).map_err(api::failed)?;
        if let Some(row) = row.as_object_mut() {
            row.insert("own".to_owned(), Value::Bool(page.is_some_and(|page| page.own)));
            row.insert("page".to_owned(), value!(page.map(|page| page.number)));
        }
        Ok(row)
    });
    Ok(value!({ "devices": devices.collect::<Result<Vec<Value>, Error>>()? }))
}

/// The session of a page of a person, and what it sent.
async fn asked<T>(
    who: Who,
    headers: &HeaderMap,
    request: Request,
    read: impl FnOnce(&Value) -> Result<T, Error>,
) -> Result<(String, T), Error> {
    by_person(who)?;
    opened(who, headers, request, read).await
}

/// `POST /api/session/push`: the devices that are notified.
pub(crate) async fn list(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let session = match asked(who, &headers, request, |given| only(given, &[])).await {
        Ok((session, ())) => session,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    of(gateway.seated_at(Lane::Usual, move |host| all(&at, host, &session)).await)
}

/// `POST /api/session/push/key`: what the browser takes messages from.
pub(crate) async fn key(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = asked(who, &headers, request, |given| only(given, &[])).await;
    if let Err(error) = given.and_then(|_| origin_of(&gateway, &headers)) {
        return refusal(&error);
    }
    let key = |host: &dyn api::Host| Ok(value!({ "key": api::pushes::key(host)? }));
    of(gateway.seated_at(Lane::Urgent, key).await)
}

/// `POST /api/session/push/subscribe`: the browser of this page is notified from now on.
pub(crate) async fn subscribe(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = |given: &Value| -> Result<On, Error> {
        serde_json::from_value(given.clone()).map_err(|e| api::misfit("push", &e.to_string()))
    };
    let given = asked(who, &headers, request, read).await;
    let given = given.and_then(|(session, on)| Ok((session, on, origin_of(&gateway, &headers)?)));
    let (session, on, origin) = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let subscribe = move |host: &dyn api::Host| {
        let passkey = at.guard.sessions.passkey_of(&session, at.now());
        let page = Page { session: &session, origin: &origin, passkey: passkey.as_deref() };
        api::pushes::subscribe(host, page, &on.name, on.outcomes, &on.subscription)?;
        all(&at, host, &session)
    };
    of(gateway.seated_at(Lane::Urgent, subscribe).await)
}

/// `POST /api/session/push/end`: a device is notified no more.
pub(crate) async fn end(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = |given: &Value| {
        only(given, &["subscription"])?;
        field(given, "subscription")
    };
    let (session, subscription) = match asked(who, &headers, request, read).await {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let end = move |host: &dyn api::Host| {
        api::pushes::end(host, &subscription, "turned off on a page")?;
        all(&at, host, &session)
    };
    of(gateway.seated_at(Lane::Urgent, end).await)
}
