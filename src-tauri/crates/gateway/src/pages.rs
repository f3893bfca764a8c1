//! The built UI as static files, under a policy that lets nothing run but these files.

use crate::server::Gateway;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use mcp::at_a_seat;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What a page may do: load these files, ask this host, and nothing else.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// The page that everything begins with.
const INDEX: &str = "index.html";
/// The only worker that pages of this host have.
const WORKER: &str = "/sw.js";
/// How a browser says that it asks for a worker.
static ASKS_WORKER: HeaderName = HeaderName::from_static("service-worker");
/// What any other worker becomes when the browser looks for it anew, which it does at each load of a page: another program that had
/// this port before may have left one, which would answer for this host. It takes itself away and has its pages loaded again.
const LEFT_BEHIND: &str = "self.addEventListener(\"install\", () => self.skipWaiting());\n\
    self.addEventListener(\"activate\", (event) => event.waitUntil(self.registration.unregister()\n\
    .then(() => self.clients.matchAll({ type: \"window\" }))\n\
    .then((pages) => Promise.all(pages.map((page) => page.navigate(page.url))))));\n";
/// Files of a built UI: a few hundred with every language and glyph.
const FILES_MAX: usize = 4_000;
/// Bytes of all of them, which are kept in memory.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Folders within folders.
const DEPTH_MAX: usize = 8;

/// What is shown when no UI was built.
const NONE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hermit</title>\
    <h1>Hermit is at work</h1><p>This host has no built user interface beside it.</p>\
    <p>In a checkout of Hermit run <code>npm run ui:build</code>, then load this page again. \
    A folder that was built elsewhere is named with <code>HERMIT_UI_DIR</code> when the host starts.</p>\
    <p>Everything works without it: <code>hermit --help</code>, or programs over \
    <code>/api</code> and <code>/v1</code>.</p></html>";

struct Built {
    stamp: Option<SystemTime>,
    files: BTreeMap<String, (Bytes, &'static str)>,
}

/// The files of one folder, read when they are first wanted and again when its index was made anew.
pub(crate) struct Pages {
    dir: Option<PathBuf>,
    built: Mutex<Option<Arc<Built>>>,
}

impl Pages {
    pub(crate) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir, built: Mutex::default() }
    }

    fn built(&self) -> Option<Arc<Built>> {
        let dir = self.dir.as_ref()?;
        let stamp = std::fs::metadata(dir.join(INDEX)).and_then(|found| found.modified()).ok();
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = built.as_ref().filter(|built| built.stamp == stamp) {
            return Some(Arc::clone(built));
        }
        let mut files = BTreeMap::new();
        gather(dir, "", 0, &mut 0, &mut files);
        let read = Arc::new(Built { stamp, files });
        *built = Some(Arc::clone(&read));
        Some(read)
    }

    /// The file at a path; a path that names no file is a place inside the app, which begins with its index.
    fn find(&self, path: &str) -> Option<(Bytes, &'static str, bool)> {
        let built = self.built()?;
        let path = path.trim_start_matches('/');
        let last = path.rsplit('/').next().unwrap_or_default();
        let name = if last.contains('.') { path } else { INDEX };
        let (bytes, media) = built.files.get(name)?;
        // Vite puts a digest into the names of what lies there.
        Some((bytes.clone(), media, name.starts_with("assets/")))
    }

    fn are_built(&self) -> bool {
        self.built().is_some_and(|built| built.files.contains_key(INDEX))
    }
}

/// Regular files only, by their path below the folder: what is served was read here, so no path leads elsewhere.
fn gather(
    dir: &Path,
    below: &str,
    depth: usize,
    bytes: &mut u64,
    files: &mut BTreeMap<String, (Bytes, &'static str)>,
) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        if kind.is_dir() && depth < DEPTH_MAX {
            gather(&entry.path(), &name, depth + 1, bytes, files);
        }
        let length = entry.metadata().map_or(0, |found| found.len());
        if !kind.is_file() || files.len() >= FILES_MAX || bytes.saturating_add(length) > BYTES_MAX {
            continue;
        }
        let Ok(read) = std::fs::read(entry.path()) else { continue };
        *bytes = bytes.saturating_add(length);
        let media = media_type(&name);
        files.insert(name, (Bytes::from(read), media));
    }
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Everything that is neither `/api` nor `/v1`.
pub(crate) async fn page(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let first = request.uri().path().split('/').nth(1).unwrap_or_default();
    if matches!(first, "api" | "v1") {
        // No page stands in for what the api does not have, and who asks has to be let in all the same.
        let who = gateway.guard.admit(request.method(), request.headers(), gateway.now());
        return who.map_or_else(|error| crate::answer::refusal(&error), |_| crate::answer::nowhere());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = crate::answer::method();
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    let path = request.uri().path().to_owned();
    let at = Arc::clone(&gateway);
    let found = at_a_seat(&gateway.of_pages, move || (at.pages.find(&path), at.pages.are_built()));
    let (answer, lasting) = match found.await {
        Ok((Some((bytes, media, lasting)), _)) => (file(StatusCode::OK, bytes, media), lasting),
        Ok((None, false)) => (
            file(StatusCode::NOT_FOUND, Bytes::from_static(NONE.as_bytes()), "text/html; charset=utf-8"),
            false,
        ),
        _ => (crate::answer::nowhere(), false),
    };
    let mut answer = guarded(answer);
    if lasting {
        let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
        answer.headers_mut().insert(CACHE_CONTROL, forever);
    }
    answer
}

/// Whether a browser looks for a worker that no page of this host has, wherever it was said to be.
pub(crate) fn is_left_behind(request: &Request) -> bool {
    request.method() == Method::GET
        && request.uri().path() != WORKER
        && request.headers().contains_key(&ASKS_WORKER)
}

/// What it becomes.
pub(crate) fn left_behind() -> Response {
    let worker = Bytes::from_static(LEFT_BEHIND.as_bytes());
    guarded(file(StatusCode::OK, worker, "text/javascript; charset=utf-8"))
}

/// With what a page may do.
fn guarded(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn file(status: StatusCode, bytes: Bytes, media: &'static str) -> Response {
    let mut answer = Response::new(Body::from(bytes));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    answer
}
