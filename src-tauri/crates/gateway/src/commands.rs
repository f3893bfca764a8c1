//! Commands of the wire's table, and the sessions of browsers.

use crate::answer::{json, of, params, refusal};
use crate::guard::Who;
use crate::server::Gateway;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json as value};
use std::sync::Arc;
use wire::{Access, Code, Error};

/// `POST /api/{command}`.
pub(crate) async fn command(
    State(gateway): State<Arc<Gateway>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    if let Some(refused) = refused_here(&name) {
        return refusal(&refused);
    }
    let params = match params(request).await {
        Ok(params) => params,
        Err(error) => return refusal(&error),
    };
    of(gateway.seated(move |host| api::call(host, &name, params)).await)
}

/// What no machine surface may ask.
fn refused_here(name: &str) -> Option<Error> {
    let info = wire::find(name)?;
    (info.access == Access::owner).then(|| {
        Error::new(Code::Forbidden, format!("`{name}` runs only in the process that holds the store"))
            .hint("stop that process and run the command by itself")
    })
}

/// `GET /api/commands`: the table, so that nobody has to guess.
pub(crate) async fn table() -> Response {
    let rows = wire::COMMANDS.iter().filter(|info| info.access != Access::owner).map(|info| {
        let topics: Vec<&str> = info.topics.iter().map(|topic| topic.as_str()).collect();
        value!({ "name": info.name, "about": info.about, "reads": info.access != Access::write, "topics": topics })
    });
    json(StatusCode::OK, &value!({ "commands": rows.collect::<Vec<Value>>() }))
}

/// `POST /api/session`: a link's token becomes a session.
pub(crate) async fn open_session(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let given = match params(request).await {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let token = given.get("token").and_then(Value::as_str).unwrap_or_default();
    let Some((session, ends_at)) = gateway.guard.sessions.open(token, gateway.now()) else {
        return refusal(
            &Error::new(Code::Unauthorised, "this link was used before, or has lapsed")
                .hint("run `hermit serve` again for a new one; it works once and for ten minutes"),
        );
    };
    let answer = json(StatusCode::OK, &value!({ "kind": "browser", "expires_at": ends_at }));
    with_cookie(answer, &gateway.guard.cookie(Some(&session)))
}

/// `GET /api/session`: who is asking.
pub(crate) async fn session(Extension(who): Extension<Who>) -> Response {
    let told = match who {
        Who::Program => value!({ "kind": "program", "expires_at": null }),
        Who::Browser { ends_at } => value!({ "kind": "browser", "expires_at": ends_at }),
    };
    json(StatusCode::OK, &told)
}

/// `DELETE /api/session`.
pub(crate) async fn end_session(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    if let Some(session) = gateway.guard.session(&headers) {
        gateway.guard.sessions.end(session, gateway.now());
    }
    with_cookie(StatusCode::NO_CONTENT.into_response(), &gateway.guard.cookie(None))
}

/// `POST /api/session/link`: a new link, for a program to hand to a person. A session does not breed sessions.
pub(crate) async fn link(State(gateway): State<Arc<Gateway>>, Extension(who): Extension<Who>) -> Response {
    if who != Who::Program {
        return refusal(&Error::new(Code::Forbidden, "only a program with the host's token may make a link"));
    }
    json(StatusCode::OK, &gateway.link())
}

fn with_cookie(mut answer: Response, cookie: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(SET_COOKIE, value);
    }
    answer
}
