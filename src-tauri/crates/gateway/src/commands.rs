//! Commands of the wire's table, and the sessions of browsers.

use crate::answer::{LINK_BYTES_MAX, json, of, params, params_within, refusal};
use crate::guard::{SESSION, Who, one};
use crate::server::{Gateway, Lane};
use crate::sessions::{Given, Place};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::time::Duration;
use wire::{Access, Code, Error};

/// What a person waits for with an answer in hand, or needs to stop something: it never waits for other commands.
const URGENT: [&str; 10] = [
    "approvals.list",
    "approvals.show",
    "approvals.packet",
    "changes.show",
    "approvals.decide",
    "approvals.deny",
    "gate.halt",
    "gate.boot",
    "grants.revoke",
    "passkeys.revoke",
];
/// How long a stranger may take to send the token of a link.
pub(crate) const LINK_TIME: Duration = Duration::from_secs(10);

/// `POST /api/{command}`.
pub(crate) async fn command(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let mut params = match params(request).await {
        Ok(params) => params,
        Err(error) => return refusal(&error),
    };
    let lent = match one(&headers, &SESSION).filter(|_| who != Who::Program) {
        Some(session) => gateway.files.lend(session, &name, &mut params, gateway.now()),
        None => Vec::new(),
    };
    let seat = if URGENT.contains(&name.as_str()) { Lane::Urgent } else { Lane::Usual };
    of(gateway.seated_at(seat, move |host| api::call_for(host, who.asker(), &name, params, &lent)).await)
}

/// `GET /api/commands`: the table, so that nobody has to guess.
pub(crate) async fn table() -> Response {
    let rows = wire::COMMANDS.iter().filter(|info| info.access != Access::owner).map(|info| {
        let topics: Vec<&str> = info.topics.iter().map(|topic| topic.as_str()).collect();
        value!({ "name": info.name, "about": info.about, "reads": !info.changes(), "topics": topics })
    });
    json(StatusCode::OK, &value!({ "commands": rows.collect::<Vec<Value>>() }))
}

/// `POST /api/session`: a link's token becomes a session.
pub(crate) async fn open_session(
    State(gateway): State<Arc<Gateway>>,
    Extension(place): Extension<Place>,
    request: Request,
) -> Response {
    let Ok(given) = tokio::time::timeout(LINK_TIME, params_within(request, LINK_BYTES_MAX)).await else {
        return refusal(&Error::new(Code::Usage, "the body did not come in time"));
    };
    let given = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let token = given.get("token").and_then(Value::as_str).unwrap_or_default();
    let Some((session, ends_at)) = gateway.guard.sessions.open(token, place, gateway.now()) else {
        return refusal(
            &Error::new(Code::Unauthorised, "this link was used before, or has expired")
                .hint("run `hermit open` for a new one, or `hermit open --phone` for a phone; each works once, at the address it names"),
        );
    };
    json(StatusCode::OK, &value!({ "kind": "browser", "session": session.reveal(), "expires_at": ends_at }))
}

/// `GET /api/session`: who is asking.
pub(crate) async fn session(Extension(who): Extension<Who>) -> Response {
    let told = match who {
        Who::Program => value!({ "kind": "program", "expires_at": null }),
        Who::Browser { ends_at, .. } => value!({ "kind": "browser", "expires_at": ends_at }),
    };
    json(StatusCode::OK, &told)
}

/// `DELETE /api/session`.
pub(crate) async fn end_session(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    if let Some(session) = one(&headers, &SESSION).map(str::to_owned) {
        gateway.guard.sessions.end(&session, gateway.now());
        gateway.files.end(&session);
        // Where there is no store to tell of it, no device was notified.
        let end = move |host: &dyn api::Host| api::pushes::end_of_page(host, &session, "its page was ended");
        let _ = gateway.seated_at(Lane::Urgent, end).await;
    }
    StatusCode::NO_CONTENT.into_response()
}

/// `POST /api/session/link`: a new link, for a program to hand to a person. A session does not breed sessions.
pub(crate) async fn link(State(gateway): State<Arc<Gateway>>, Extension(who): Extension<Who>) -> Response {
    if who != Who::Program {
        return refusal(&Error::new(Code::Forbidden, "only a program with the host's token may make a link"));
    }
    json(StatusCode::OK, &gateway.link(Given::ToProgram))
}
