//! The serving end: the listener, its threads, and who may come in by which door.

use crate::answer::{method, refusal};
use crate::guard::Guard;
use crate::pages::{Pages, page};
use crate::person::Seats;
use crate::{Draw, Error, Token, commands, lasting, notices, person, runs};
use api::Host;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use serde::Serialize;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use wire::Code;

/// Commands that run at once; more wait their turn.
const COMMANDS_MAX: usize = 16;
/// Streams open at once.
pub(crate) const STREAMS_MAX: usize = 16;
/// What is under way when a host stops has this long to end.
const ENDING: Duration = Duration::from_secs(10);

/// What a gateway is made with.
pub struct Options {
    /// What opens it for programs.
    pub token: Token,
    /// Draws 32 random bytes for links and sessions.
    pub draw: Draw,
    /// The folder of the built UI.
    pub pages: Option<PathBuf>,
}

pub(crate) struct Gateway {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) guard: Guard,
    pub(crate) pages: Pages,
    pub(crate) people: Seats,
    address: SocketAddr,
    seats: Semaphore,
    streams: AtomicUsize,
    /// Streams end by themselves, or stopping would wait for them.
    stopping: AtomicBool,
}

/// A link for a browser, which works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// What opens the session.
    pub token: String,
    /// Where, with the token behind `#`, which browsers send to nobody.
    pub url: String,
    /// When it lapses, milliseconds since 1970.
    pub expires_at: i64,
}

/// A stream's place; it is given back however the stream ends.
pub(crate) struct Place(Arc<Gateway>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Place {
    pub(crate) fn is_open(&self) -> bool {
        !self.0.stopping.load(Ordering::SeqCst)
    }
}

impl Gateway {
    pub(crate) fn now(&self) -> i64 {
        self.host.now().0
    }

    pub(crate) fn link(&self) -> Link {
        let (token, expires_at) = self.guard.sessions.link(self.now());
        let url = format!("http://{}/#token={}", self.address, token.reveal());
        Link { token: token.reveal().to_owned(), url, expires_at }
    }

    /// A place for one more stream, unless there are enough.
    pub(crate) fn place(self: &Arc<Self>) -> Result<Place, wire::Error> {
        if self.streams.fetch_add(1, Ordering::SeqCst) >= STREAMS_MAX {
            self.streams.fetch_sub(1, Ordering::SeqCst);
            let error =
                wire::Error::new(Code::Unavailable, format!("{STREAMS_MAX} streams are open already"));
            return Err(error.hint("close one, or ask again now and then"));
        }
        Ok(Place(Arc::clone(self)))
    }

    /// Runs what may block, when a seat is free.
    pub(crate) async fn seated<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Host) -> Result<T, wire::Error> + Send + 'static,
    ) -> Result<T, wire::Error> {
        let host = Arc::clone(&self.host);
        let stopping = |_| wire::Error::new(Code::Unavailable, "the gateway is stopping");
        let _seat = self.seats.acquire().await.map_err(stopping)?;
        tokio::task::spawn_blocking(move || work(&*host)).await.unwrap_or_else(|_| {
            Err(wire::Error::new(Code::Failed, "the command broke off; the store says what was recorded"))
        })
    }
}

/// A gateway at work. It stops when this is dropped.
pub struct Server {
    gateway: Arc<Gateway>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.gateway.address
    }

    /// A new link for a browser.
    pub fn link(&self) -> Link {
        self.gateway.link()
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
pub fn serve(host: Arc<dyn Host>, listener: TcpListener, options: Options) -> Result<Server, Error> {
    let said = |act: &'static str| move |e: std::io::Error| Error::Io { act, why: e.to_string() };
    let address = listener.local_addr().map_err(said("tell its address"))?;
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address.to_string()));
    }
    listener.set_nonblocking(true).map_err(said("listen"))?;
    let gateway = Arc::new(Gateway {
        host,
        people: Seats::new(Arc::clone(&options.draw)),
        guard: Guard::new(address, options.token, options.draw),
        pages: Pages::new(options.pages),
        address,
        seats: Semaphore::new(COMMANDS_MAX),
        streams: AtomicUsize::new(0),
        stopping: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(COMMANDS_MAX + 2 * STREAMS_MAX)
        .thread_name("gateway")
        .enable_io()
        .enable_time()
        .build()
        .map_err(said("start its threads"))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let served = Arc::clone(&gateway);
    let thread = std::thread::Builder::new().name("gateway".to_owned()).spawn(move || {
        runtime.block_on(run(served, listener, stopped));
        runtime.shutdown_timeout(Duration::from_secs(1));
    });
    Ok(Server { gateway, stop: Some(stop), thread: Some(thread.map_err(said("start its threads"))?) })
}

/// Serves until told to stop; then what is under way has a while to end. A client that holds its connection open
/// does not hold the host.
async fn run(gateway: Arc<Gateway>, listener: TcpListener, stopped: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let told = Arc::clone(&gateway);
    let (ending, mut ended) = tokio::sync::watch::channel(false);
    let until = async move {
        // An answer to a dropped sender is a wish to stop as well.
        drop(stopped.await);
        told.stopping.store(true, Ordering::SeqCst);
        let _ = ending.send(true);
    };
    let served = axum::serve(listener, routes(gateway)).with_graceful_shutdown(until);
    let patience = async move {
        if ended.wait_for(|ending| *ending).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(ENDING).await;
    };
    tokio::select! {
        _ = served.into_future() => {}
        () = patience => {}
    }
}

fn routes(gateway: Arc<Gateway>) -> Router {
    let open = Router::new().route("/api/session", post(commands::open_session));
    let closed = Router::new()
        .route("/api/session", get(commands::session).delete(commands::end_session))
        .route("/api/session/link", post(commands::link))
        .route("/api/session/card", post(person::card))
        .route("/api/session/allow", post(person::allow))
        .route("/api/session/offers", post(lasting::offers))
        .route("/api/session/objection", post(lasting::objection))
        .route("/api/session/overrule", post(lasting::overrule))
        .route("/api/commands", get(commands::table))
        .route("/api/notices", get(notices::stream))
        .route("/api/{name}", post(commands::command))
        .merge(runs::routes())
        .layer(middleware::from_fn_with_state(Arc::clone(&gateway), admitted));
    open.merge(closed)
        .fallback(page)
        .method_not_allowed_fallback(|| async { method() })
        .layer(middleware::from_fn_with_state(Arc::clone(&gateway), meant))
        .with_state(gateway)
}

/// Only whoever has a token or a session; says who it is.
async fn admitted(State(gateway): State<Arc<Gateway>>, mut request: Request, next: Next) -> Response {
    match gateway.guard.admit(request.method(), request.headers(), gateway.now()) {
        Ok(who) => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(error) => refusal(&error),
    }
}

/// Only what was meant for this gateway, be it a file that needs no token.
async fn meant(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    let exchanges = request.uri().path() == "/api/session" && request.method() == Method::POST;
    let mut answer = match gateway.guard.is_meant(request.headers()) {
        // Whoever opens a session has nothing yet to show but that no other page sends it here.
        Ok(()) if exchanges && !gateway.guard.is_same_origin(request.headers()) => {
            refusal(&wire::Error::new(Code::Forbidden, "pages of another origin may not come in"))
        }
        Ok(()) => next.run(request).await,
        Err(error) => refusal(&error),
    };
    let headers = answer.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
