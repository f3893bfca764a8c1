//! The serving end: the listener, its threads, and who may come in by which door.

use crate::agents::{self, Conversations};
use crate::answer::{method, refusal};
use crate::connections::{Connections, Visit, beside};
use crate::files::Files;
use crate::guard::{Guard, Who, page_origin};
use crate::pages::{Pages, is_left_behind, left_behind, page};
use crate::passkeys::Challenges;
use crate::seats::Seats;
use crate::sessions::{self, Given};
use crate::shown::{self, Shown};
use crate::sign_in::SignIns;
use crate::{
    Draw, Error, Keeper, Origin, Token, commands, devices, files, hooks, messages, notices, page_approval,
    page_keys, passkeys, person_commands, pushes, runs, sign_in, sse, standing_grants,
};
use api::Host;
use axum::Extension;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use mcp::at_a_seat;
use serde::Serialize;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use wire::Code;

/// Commands that run at once; more wait their turn.
const COMMANDS_MAX: usize = 16;
/// Seats that only what a person waits for takes, so that no other commands hold it up.
const URGENT_MAX: usize = 4;
/// Seats of calls of hooks: whoever calls has shown no token, and holds nobody up who has.
const HOOKS_MAX: usize = 2;
/// Seats of files of pages.
const PAGES_MAX: usize = 4;
/// A client has this long to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
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
    /// Whoever holds the keys of this host.
    pub keeper: Arc<dyn Keeper>,
    /// The origin under which a person reaches it from elsewhere, by way of a proxy of theirs.
    pub origin: Option<Origin>,
}

pub(crate) struct Gateway {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) guard: Guard,
    pub(crate) pages: Pages,
    pub(crate) people: Seats,
    pub(crate) keeper: Arc<dyn Keeper>,
    /// Wrong passphrases of the vault are counted by themselves: the right one lets nobody approve.
    pub(crate) vault: Seats,
    /// What a passkey that is added has to sign.
    pub(crate) challenges: Challenges,
    /// What a passkey that signs a page in has to sign.
    pub(crate) sign_ins: SignIns,
    pub(crate) files: Files,
    pub(crate) shown: Shown,
    pub(crate) agents: Conversations,
    pub(crate) calls: hooks::Calls,
    pub(crate) messages: messages::Messages,
    address: SocketAddr,
    /// Whether `localhost` at this port leads here, whichever way a browser takes.
    is_localhost: bool,
    connections: Connections,
    seats: Arc<Semaphore>,
    urgent: Arc<Semaphore>,
    hooks: Arc<Semaphore>,
    /// Seats of files of pages, which nobody has to show anything for.
    pub(crate) of_pages: Arc<Semaphore>,
    pub(crate) streams: AtomicUsize,
    /// Streams end by themselves, or stopping would wait for them.
    pub(crate) stopping: AtomicBool,
}

/// Which share of the workers a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Usual,
    Urgent,
    Hook,
    Message,
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

impl Gateway {
    pub(crate) fn now(&self) -> i64 {
        self.host.now().0
    }

    pub(crate) fn link(&self, given: Given) -> Link {
        self.link_at(&format!("http://{}", self.address), given, sessions::Place::Here)
    }

    /// This machine's own name, to which passkeys can belong; none where somebody else listens at it.
    fn by_name(&self) -> Result<String, wire::Error> {
        if !self.is_localhost {
            return Err(wire::Error::new(
                Code::Conflict,
                "another program listens at `localhost` with this port",
            )
            .hint("end it, or run `hermit serve --port` with another one"));
        }
        Ok(format!("http://localhost:{}", self.address.port()))
    }

    /// A link for this machine's own name.
    pub(crate) fn link_by_name(&self, given: Given) -> Result<Link, wire::Error> {
        Ok(self.link_at(&self.by_name()?, given, sessions::Place::Here))
    }

    /// The origin of a page that was let in, for its passkeys. Where somebody else listens at that name, a page of theirs has the
    /// same origin, and could have a passkey sign what a program was asked here.
    pub(crate) fn passkey_origin(&self, headers: &HeaderMap) -> Result<String, wire::Error> {
        let origin = page_origin(headers)?;
        if origin == format!("http://localhost:{}", self.address.port()) {
            self.by_name()
        } else {
            Ok(origin)
        }
    }

    /// A link for a device elsewhere, which reaches this machine by the origin that a person named.
    pub(crate) fn link_elsewhere(&self, given: Given) -> Result<Link, wire::Error> {
        let origin = self.guard.outer.as_ref().ok_or_else(|| {
            wire::Error::new(Code::Conflict, "no address for other devices was named")
                .hint("run `hermit serve --origin https://NAME`, where that name leads to this machine")
        })?;
        Ok(self.link_at(origin.as_str(), given, sessions::Place::Elsewhere))
    }

    fn link_at(&self, origin: &str, given: Given, place: sessions::Place) -> Link {
        let (token, expires_at) = self.guard.sessions.link(given, place, self.now());
        let url = format!("{origin}/#token={}", token.reveal());
        Link { token: token.reveal().to_owned(), url, expires_at }
    }

    /// A place for one more stream, unless there are enough. `session`: that of the page that listens.
    pub(crate) fn place(self: &Arc<Self>, session: Option<String>) -> Result<sse::Place, wire::Error> {
        if self.streams.fetch_add(1, Ordering::SeqCst) >= STREAMS_MAX {
            self.streams.fetch_sub(1, Ordering::SeqCst);
            let error =
                wire::Error::new(Code::Unavailable, format!("{STREAMS_MAX} streams are open already"));
            return Err(error.hint("close one, or ask again now and then"));
        }
        Ok(sse::Place::new(Arc::clone(self), session))
    }

    /// Runs what may block for whoever asks, when a seat is free.
    pub(crate) async fn seated<T: Send + 'static>(
        &self,
        who: Who,
        work: impl FnOnce(&dyn Host) -> Result<T, wire::Error> + Send + 'static,
    ) -> Result<T, wire::Error> {
        self.seated_at(Lane::Usual, move |host| work(&api::Through::new(host, who.caller()))).await
    }

    /// As [`Self::seated`], at a seat of one kind, with the host as it is: whoever works here says for whom.
    pub(crate) async fn seated_at<T: Send + 'static>(
        &self,
        seat: Lane,
        work: impl FnOnce(&dyn Host) -> Result<T, wire::Error> + Send + 'static,
    ) -> Result<T, wire::Error> {
        let host = Arc::clone(&self.host);
        let seats = match seat {
            Lane::Usual => &self.seats,
            Lane::Urgent => &self.urgent,
            Lane::Hook => &self.hooks,
            Lane::Message => &self.messages.seats,
        };
        at_a_seat(seats, move || work(&*host)).await.unwrap_or_else(|_| {
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
        self.gateway.link(Given::ToProgram)
    }

    /// The same, to be shown at a terminal and nowhere else: whoever opens it is the person there, and may make and open
    /// keys.
    pub fn link_at_terminal(&self) -> Link {
        self.gateway.link(Given::AtTerminal)
    }

    /// The same for a device elsewhere, at the origin that was named.
    ///
    /// # Errors
    /// [`Code::Conflict`] when none was.
    pub fn link_elsewhere(&self) -> Result<Link, wire::Error> {
        self.gateway.link_elsewhere(Given::AtTerminal)
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
    let (beside, is_localhost) = beside(address);
    for listener in std::iter::once(&listener).chain(&beside) {
        listener.set_nonblocking(true).map_err(said("listen"))?;
    }
    let gateway = Arc::new(Gateway {
        host,
        people: Seats::new(Arc::clone(&options.draw)),
        keeper: options.keeper,
        vault: Seats::new(Arc::clone(&options.draw)),
        challenges: Challenges::new(Arc::clone(&options.draw)),
        sign_ins: SignIns::new(Arc::clone(&options.draw)),
        files: Files::new(Arc::clone(&options.draw)),
        shown: Shown::default(),
        agents: Conversations::new(Arc::clone(&options.draw)),
        guard: Guard::new(address, options.origin, options.token, options.draw),
        pages: Pages::new(options.pages),
        calls: hooks::Calls::default(),
        messages: messages::Messages::default(),
        address,
        is_localhost,
        connections: Connections::new(),
        seats: Arc::new(Semaphore::new(COMMANDS_MAX)),
        urgent: Arc::new(Semaphore::new(URGENT_MAX)),
        hooks: Arc::new(Semaphore::new(HOOKS_MAX)),
        of_pages: Arc::new(Semaphore::new(PAGES_MAX)),
        streams: AtomicUsize::new(0),
        stopping: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(2 * COMMANDS_MAX + URGENT_MAX + HOOKS_MAX + PAGES_MAX + 2 * STREAMS_MAX)
        .thread_name("gateway")
        .enable_io()
        .enable_time()
        .build()
        .map_err(said("start its threads"))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let served = Arc::clone(&gateway);
    let thread = std::thread::Builder::new().name("gateway".to_owned()).spawn(move || {
        runtime.block_on(run(served, listener, beside, stopped));
        runtime.shutdown_timeout(Duration::from_secs(1));
    });
    Ok(Server { gateway, stop: Some(stop), thread: Some(thread.map_err(said("start its threads"))?) })
}

/// The next connection at either address.
async fn accepted(
    first: &tokio::net::TcpListener,
    second: Option<&tokio::net::TcpListener>,
) -> std::io::Result<tokio::net::TcpStream> {
    let came = match second {
        Some(second) => tokio::select! { came = first.accept() => came, came = second.accept() => came },
        None => first.accept().await,
    };
    came.map(|(stream, _)| stream)
}

/// Serves until told to stop; then what is under way has a while to end. A client that holds its connection open
/// does not hold the host.
async fn run(
    gateway: Arc<Gateway>,
    listener: TcpListener,
    beside: Option<TcpListener>,
    stopped: oneshot::Receiver<()>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let beside = beside.and_then(|listener| tokio::net::TcpListener::from_std(listener).ok());
    let (ending, ended) = watch::channel(false);
    let router = routes(Arc::clone(&gateway));
    let mut visits = JoinSet::new();
    let mut stopped = std::pin::pin!(stopped);
    loop {
        tokio::select! {
            // An answer to a dropped sender is a wish to stop as well.
            _ = &mut stopped => break,
            Some(_) = visits.join_next() => {}
            came = accepted(&listener, beside.as_ref()) => match came {
                Ok(stream) => {
                    if let Some((visit, place)) = gateway.connections.enter() {
                        let (gateway, ended) = (Arc::clone(&gateway), ended.clone());
                        let router = router.clone().layer(Extension(Arc::clone(&visit)));
                        visits.spawn(async move {
                            visited(stream, router, &visit, ended).await;
                            gateway.connections.leave(&visit);
                            drop(place);
                        });
                    }
                }
                // The system has no more to give now; what ends gives some back.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
        }
    }
    drop((listener, beside));
    gateway.stopping.store(true, Ordering::SeqCst);
    let _ = ending.send(true);
    let _ = tokio::time::timeout(ENDING, async { while visits.join_next().await.is_some() {} }).await;
}

/// One connection, until its end: the client's, the gateway's, or because its place is another's.
async fn visited(
    stream: tokio::net::TcpStream,
    router: Router,
    visit: &Visit,
    mut ended: watch::Receiver<bool>,
) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES_MAX);
    let service = TowerToHyperService::new(router);
    let mut served = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    let mut is_ending = false;
    loop {
        tokio::select! {
            // What a client does wrong is its own.
            _ = served.as_mut() => return,
            () = visit.ended() => return,
            _ = ended.wait_for(|ending| *ending), if !is_ending => {
                is_ending = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

fn routes(gateway: Arc<Gateway>) -> Router {
    let open = Router::new()
        .route("/api/session", post(commands::open_session))
        .route("/api/session/passkey/sign_in_options", post(sign_in::options))
        .route("/api/session/passkey/sign_in", post(sign_in::sign_in))
        .route("/v1/hooks/{name}", post(hooks::call))
        .route("/v1/messages/{gateway}", post(messages::take));
    let closed = Router::new()
        .route("/api/session", get(commands::session).delete(commands::end_session))
        .route("/api/session/link", post(commands::link))
        .route("/api/session/card", post(page_approval::card))
        .route("/api/session/allow", post(page_approval::allow))
        .route("/api/session/passkey/options", post(passkeys::options))
        .route("/api/session/passkey/enrol", post(passkeys::enrol))
        .route("/api/session/passkey/ask", post(passkeys::ask))
        .route("/api/session/devices", post(devices::list))
        .route("/api/session/devices/link", post(devices::link))
        .route("/api/session/devices/end", post(devices::end))
        .route("/api/session/push", post(pushes::list))
        .route("/api/session/push/key", post(pushes::key))
        .route("/api/session/push/subscribe", post(pushes::subscribe))
        .route("/api/session/push/end", post(pushes::end))
        .route("/api/session/offers", post(standing_grants::offers))
        .route("/api/session/prepare_override", post(standing_grants::prepare_override))
        .route("/api/session/allow_override", post(standing_grants::allow_override))
        .route("/api/session/boot", post(person_commands::boot))
        .route("/api/session/settle", post(person_commands::settle))
        .route("/api/session/resume", post(person_commands::resume))
        .route("/api/session/mesh", post(person_commands::mesh))
        .route("/api/session/keys", post(page_keys::state))
        .route("/api/session/keys/make", post(page_keys::make))
        .route("/api/session/keys/unlock", post(page_keys::unlock))
        .route("/api/session/keys/passphrase", post(page_keys::change_passphrase))
        .route("/api/session/keys/lock", post(page_keys::lock))
        .route("/api/session/shows", post(shown::shows))
        .route("/api/session/upload", post(files::upload))
        .route("/api/session/download", post(files::download))
        .route("/api/commands", get(commands::table))
        .route("/api/notices", get(notices::stream))
        .route("/api/{name}", post(commands::command))
        .route("/mcp", post(agents::message).delete(agents::end))
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
    let came = gateway.guard.admit(request.method(), request.headers(), gateway.now());
    let is_by_passkey = came.as_ref().is_ok_and(|who| who.is_by_passkey());
    // What a passkey signed in ends with it.
    if is_by_passkey && !sign_in::stands(&gateway, request.headers()).await {
        return refusal(&sign_in::ended());
    }
    match came {
        Ok(who) => {
            if let Some(visit) = request.extensions().get::<Arc<Visit>>() {
                visit.know();
            }
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(error) => refusal(&error),
    }
}

/// Only what was meant for this gateway, be it a file that needs no token.
async fn meant(State(gateway): State<Arc<Gateway>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_signed = path.starts_with("/v1/hooks/") || path.starts_with("/v1/messages/");
    let is_open = path == "/api/session" || path.starts_with("/api/session/passkey/sign_in");
    let shows_nothing = (is_open || is_signed) && request.method() == Method::POST;
    let mut answer = match gateway.guard.is_meant(request.headers()) {
        // Whoever opens a session, calls a hook or brings a message has no token to show, but that no other page sends it here.
        Ok(_) if shows_nothing && !gateway.guard.is_same_origin(request.headers()) => {
            refusal(&wire::Error::new(Code::Forbidden, "pages of another origin may not come in"))
        }
        Ok(_) if is_left_behind(&request) => left_behind(),
        Ok(place) => {
            request.extensions_mut().insert(place);
            next.run(request).await
        }
        Err(error) => refusal(&error),
    };
    let headers = answer.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
