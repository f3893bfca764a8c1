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
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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

/// A person says something outright with the passphrase that came with it; `act` does it where few wrong ones came before.
async fn said<G, A>(
    (gateway, who, headers): (Arc<Gateway>, Who, HeaderMap),
    (about, request): (&str, Request),
    act: impl FnOnce(&dyn api::Host, G) -> Result<A, wire::Error> + Send + 'static,
) -> Response
where
    G: DeserializeOwned + Send + 'static,
    A: Serialize + Send + 'static,
{
    let given = match signed::<G>(who, &headers, about, request).await {
        Ok((_, given)) => given,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let says = move |host: &dyn api::Host| Ok(at.people.sign_outright(|| at.now(), || act(host, given)));
    answered(gateway.seated_at(Lane::Urgent, says).await)
}

/// `POST /api/session/boot`: a person lets Hermit work again.
pub(crate) async fn boot(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let act = |host: &dyn api::Host, given: Booted| api::page_approval::boot(host, &given.passphrase.0);
    said((gateway, who, headers), ("boot", request), act).await
}

/// `POST /api/session/settle`: a person says what became of an act whose end nobody saw.
pub(crate) async fn settle(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let act = |host: &dyn api::Host, given: Settled| {
        let Settled { task, result, note, passphrase } = given;
        let found = wire::task::Settle { task, result, note, signed: None };
        api::page_approval::settle(host, &found, &passphrase.0)
    };
    said((gateway, who, headers), ("settle", request), act).await
}

/// `POST /api/session/resume`: a person lets a schedule or a gateway go on that is paused.
pub(crate) async fn resume(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let act = |host: &dyn api::Host, given: Resumed| {
        api::page_approval::resume(host, (given.of, &given.name), &given.passphrase.0)
    };
    said((gateway, who, headers), ("resume", request), act).await
}

/// `POST /api/session/mesh`: a person changes what this machine is in the mesh, or whom it believes there.
pub(crate) async fn mesh(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let act = |host: &dyn api::Host, given: Meshed| {
        api::page_approval::mesh(host, &given.command, given.params, &given.passphrase.0)
    };
    said((gateway, who, headers), ("mesh", request), act).await
}
