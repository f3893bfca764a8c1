//! The serving end.

use crate::guard::Guard;
use crate::{Error, Token, stream};
use api::Host;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::sync::{Semaphore, oneshot};
use wire::{Access, Code};

/// Bytes of a request's body: a file given by its bytes fits, and no more than a few at once fill memory.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a body that is too large which are still read before the connection is cut.
const DRAINED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Commands that run at once; more wait their turn.
const COMMANDS_MAX: usize = 16;

pub(crate) struct Gateway {
    pub(crate) host: Arc<dyn Host>,
    guard: Guard,
    seats: Semaphore,
    pub(crate) streams: AtomicUsize,
    /// Streams end by themselves, or stopping would wait for them.
    pub(crate) stopping: AtomicBool,
}

/// A gateway at work. It stops when this is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets what is under way end, takes nothing new, and waits for that.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Nobody listens any more when it has ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Serves a host on a listener that is bound to loopback, on threads of its own.
///
/// # Errors
/// [`Error::NotLoopback`], [`Error::Io`].
pub fn serve(host: Arc<dyn Host>, listener: TcpListener, token: Token) -> Result<Server, Error> {
    let said = |act: &'static str| move |e: std::io::Error| Error::Io { act, why: e.to_string() };
    let address = listener.local_addr().map_err(said("tell its address"))?;
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address.to_string()));
    }
    listener.set_nonblocking(true).map_err(said("listen"))?;
    let gateway = Arc::new(Gateway {
        host,
        guard: Guard::new(address, token),
        seats: Semaphore::new(COMMANDS_MAX),
        streams: AtomicUsize::new(0),
        stopping: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(COMMANDS_MAX + stream::STREAMS_MAX)
        .thread_name("gateway")
        .enable_io()
        .enable_time()
        .build()
        .map_err(said("start its threads"))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = std::thread::Builder::new().name("gateway".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            // An answer to a dropped sender is a wish to stop as well.
            let told = Arc::clone(&gateway);
            let until = async move {
                drop(stopped.await);
                told.stopping.store(true, Ordering::SeqCst);
            };
            let _ = axum::serve(listener, routes(gateway)).with_graceful_shutdown(until).await;
        });
    });
    Ok(Server { address, stop: Some(stop), thread: Some(thread.map_err(said("start its threads"))?) })
}

fn routes(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/v1/command/{name}", post(command))
        .route("/v1/commands", get(commands))
        .route("/v1/events", get(stream::events))
        .fallback(|| async {
            refusal(&wire::Error::new(Code::UnknownCommand, "there is nothing at this path"))
        })
        .method_not_allowed_fallback(|| async { method() })
        .layer(middleware::from_fn_with_state(Arc::clone(&gateway), admitted))
        .with_state(gateway)
}

async fn admitted(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    let mut answer = match gateway.guard.admit(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => refusal(&error),
    };
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

async fn command(
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
    let host = Arc::clone(&gateway.host);
    let Ok(_seat) = gateway.seats.acquire().await else {
        return refusal(&wire::Error::new(Code::Unavailable, "the gateway is stopping"));
    };
    match tokio::task::spawn_blocking(move || api::call(&*host, &name, params)).await {
        Ok(Ok(answer)) => json_answer(StatusCode::OK, &answer),
        Ok(Err(error)) => refusal(&error),
        Err(_) => refusal(&wire::Error::new(
            Code::Failed,
            "the command broke off; the store says what was recorded",
        )),
    }
}

/// What no machine surface may ask.
fn refused_here(name: &str) -> Option<wire::Error> {
    let info = wire::find(name)?;
    (info.access == Access::owner).then(|| {
        wire::Error::new(Code::Forbidden, format!("`{name}` runs only in the process that holds the store"))
            .hint("stop that process and run the command by itself")
    })
}

async fn params(request: Request) -> Result<Value, wire::Error> {
    let too_large = || {
        wire::Error::new(Code::TooLarge, format!("the body is larger than {BODY_BYTES_MAX} bytes"))
            .hint("name a file by its path instead of sending its bytes")
    };
    let mut frames = request.into_body().into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|e| wire::Error::new(Code::Usage, format!("the body broke off: {e}")))?;
        length = length.saturating_add(frame.len());
        if length <= BODY_BYTES_MAX {
            bytes.extend_from_slice(&frame);
        } else {
            // Thrown away, but read for a while: a client that is still sending would not see the answer.
            bytes = Vec::new();
            if length > DRAINED_BYTES_MAX {
                break;
            }
        }
    }
    if length > BODY_BYTES_MAX {
        return Err(too_large());
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    match serde_json::from_slice(&bytes) {
        Ok(value @ (Value::Object(_) | Value::Null)) => Ok(value),
        Ok(_) => Err(wire::Error::new(Code::Usage, "parameters are a JSON object")),
        Err(e) => Err(wire::Error::new(Code::Usage, format!("the body is no JSON: {e}"))),
    }
}

/// The table, so that nobody has to guess.
async fn commands() -> Response {
    let rows = wire::COMMANDS.iter().filter(|info| info.access != Access::owner).map(|info| {
        let topics: Vec<&str> = info.topics.iter().map(|topic| topic.as_str()).collect();
        json!({ "name": info.name, "about": info.about, "reads": info.access != Access::write, "topics": topics })
    });
    json_answer(StatusCode::OK, &json!({ "commands": rows.collect::<Vec<Value>>() }))
}

fn method() -> Response {
    let mut answer = refusal(&wire::Error::new(Code::Usage, "this path takes another method"));
    *answer.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    answer
}

/// An error with the status of its code.
pub(crate) fn refusal(error: &wire::Error) -> Response {
    let status = StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let value = serde_json::to_value(error).unwrap_or(Value::Null);
    let mut answer = json_answer(status, &value);
    if error.code == Code::Unauthorised {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

fn json_answer(status: StatusCode, value: &Value) -> Response {
    let mut answer = Response::new(Body::from(value.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
