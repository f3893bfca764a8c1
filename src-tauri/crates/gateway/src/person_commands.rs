//! What a person on a page says outright, with the passphrase: that Hermit works again, what became of an act whose end nobody
//! saw, that a schedule or a gateway goes on, and what this machine is in the mesh.

use crate::answer::{Passphrase, refusal};
use crate::guard::Who;
use crate::page_approval::{answered, signed};
use crate::server::{Gateway, Lane};
use api::page_approval::Paused;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use std::sync::Arc;

/// What a boot must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Booted {
    passphrase: Passphrase,
}

/// What a settlement must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settled {
    task: String,
    result: String,
    note: String,
    passphrase: Passphrase,
}

/// What a resuming must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resumed {
    of: Paused,
    name: String,
    passphrase: Passphrase,
}

/// What a change of the mesh must bring: one of its commands that a person gives, as it would be asked by itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meshed {
    command: String,
    params: serde_json::Value,
    passphrase: Passphrase,
}

/// `POST /api/session/boot`: a person lets Hermit work again.
pub(crate) async fn boot(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (_, Booted { passphrase }) = match signed(who, &headers, "boot", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let boot = move |host: &dyn api::Host| {
        Ok(at.people.sign_outright(|| at.now(), || api::page_approval::boot(host, &passphrase.0)))
    };
    answered(gateway.seated_at(Lane::Urgent, boot).await)
}

/// `POST /api/session/settle`: a person says what became of an act whose end nobody saw.
pub(crate) async fn settle(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (_, given) = match signed::<Settled>(who, &headers, "settle", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let Settled { task, result, note, passphrase } = given;
    let found = wire::task::Settle { task, result, note, signed: None };
    let settle = move |host: &dyn api::Host| {
        Ok(at.people.sign_outright(|| at.now(), || api::page_approval::settle(host, &found, &passphrase.0)))
    };
    answered(gateway.seated_at(Lane::Urgent, settle).await)
}

/// `POST /api/session/resume`: a person lets a schedule or a gateway go on that is paused.
pub(crate) async fn resume(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (_, given) = match signed::<Resumed>(who, &headers, "resume", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let Resumed { of, name, passphrase } = given;
    let resume = move |host: &dyn api::Host| {
        let resumed = || api::page_approval::resume(host, (of, &name), &passphrase.0);
        Ok(at.people.sign_outright(|| at.now(), resumed))
    };
    answered(gateway.seated_at(Lane::Urgent, resume).await)
}

/// `POST /api/session/mesh`: a person changes what this machine is in the mesh, or whom it believes there.
pub(crate) async fn mesh(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (_, given) = match signed::<Meshed>(who, &headers, "mesh", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let Meshed { command, params, passphrase } = given;
    let change = move |host: &dyn api::Host| {
        let changed = || api::page_approval::mesh(host, &command, params, &passphrase.0);
        Ok(at.people.sign_outright(|| at.now(), changed))
    };
    answered(gateway.seated_at(Lane::Urgent, change).await)
}
