//! Files of pages: bytes that come in, and bytes that go out. A page names no place of this machine, so what it sends is
//! kept here under a name of its own for a while, and what a command makes for it is handed back and then gone.

use crate::answer::{json, params, refusal, refusal_as};
use crate::guard::{SESSION, Who, one};
use crate::runs::pairs;
use crate::server::{Gateway, Lane};
use crate::sse::Place;
use crate::{Draw, Token};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::StreamExt as _;
use serde_json::{Value, json as value};
use std::convert::Infallible;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use wire::{Code, Error, Use};

/// Bytes of a file that a page sends.
const UPLOAD_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Files of all pages that are kept at once; a further one replaces the oldest.
const UPLOADS_MAX: usize = 8;
/// How long such a file waits to be used.
const UPLOAD_MS_MAX: i64 = 10 * 60 * 1000;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 200;
/// How a command's parameters name such a file.
const PREFIX: &str = "upload:";
/// Bytes that are read ahead of a browser.
const PART_BYTES: usize = 256 * 1024;
/// Parts that wait for a slow browser.
const BEHIND_MAX: usize = 4;
/// How long a browser may take none of them before the file breaks off.
const STALLED: Duration = Duration::from_secs(60);
/// Bytes of an answer that goes along with a file.
const TOLD_BYTES_MAX: usize = 16 * 1024;
/// The command's answer, as JSON whose bytes beyond ASCII are escaped.
static ANSWER: HeaderName = HeaderName::from_static("x-hermit-answer");

struct Upload {
    token: Token,
    session: String,
    place: PathBuf,
    ends_at: i64,
    /// Goes with this.
    _dir: TempDir,
}

/// What pages have sent. Times are milliseconds since 1970.
pub(crate) struct Files {
    draw: Draw,
    kept: Mutex<Vec<Upload>>,
}

impl Files {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { draw, kept: Mutex::default() }
    }

    fn keep(&self, session: &str, dir: TempDir, place: PathBuf, now: i64) -> Token {
        let token = Token::new((self.draw)());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|upload| upload.ends_at > now);
        if kept.len() >= UPLOADS_MAX {
            kept.remove(0);
        }
        kept.push(Upload {
            token: token.clone(),
            session: session.to_owned(),
            place,
            ends_at: now.saturating_add(UPLOAD_MS_MAX),
            _dir: dir,
        });
        token
    }

    /// Puts the places of files that this page has sent where its parameters name them; these places.
    pub(crate) fn lend(&self, session: &str, command: &str, params: &mut Value, now: i64) -> Vec<String> {
        let mut lent = Vec::new();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut place = |named: &mut Value| {
            let token = named.as_str().and_then(|text| text.strip_prefix(PREFIX));
            let found = token.and_then(|token| {
                kept.iter().find(|one| one.token.is(token) && one.session == session && one.ends_at > now)
            });
            if let Some(place) = found.and_then(|found| found.place.to_str()) {
                lent.push(place.to_owned());
                *named = Value::from(place);
            }
        };
        for (field, _) in wire::places(command).filter(|(_, what)| *what == Use::Reads) {
            match params.get_mut(field) {
                Some(Value::Array(rows)) => rows.iter_mut().for_each(&mut place),
                Some(one) => place(one),
                None => {}
            }
        }
        lent
    }

    /// What a page has sent goes with its session.
    pub(crate) fn end(&self, session: &str) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).retain(|upload| upload.session != session);
    }
}

fn said(act: &str) -> impl Fn(std::io::Error) -> Error {
    move |e| Error::new(Code::Failed, format!("the file cannot be {act}: {e}"))
}

/// A name without a path in it.
fn plain_name(given: &str) -> Result<&str, Error> {
    let bad = given.is_empty()
        || given.len() > NAME_BYTES_MAX
        || matches!(given, "." | "..")
        || given.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'));
    if bad {
        return Err(Error::new(
            Code::Usage,
            format!("`name` is the name of a file, of {NAME_BYTES_MAX} bytes at most"),
        ));
    }
    Ok(given)
}

/// The session of a page; programs name files by their path.
fn page(who: Who, headers: &HeaderMap) -> Result<&str, Error> {
    let session = one(headers, &SESSION).filter(|_| who != Who::Program);
    session
        .ok_or_else(|| Error::new(Code::Forbidden, "this is for pages; a program names a file by its path"))
}

/// `POST /api/session/upload?name=NAME`: the bytes of one file.
pub(crate) async fn upload(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let session = match page(who, &headers) {
        Ok(session) => session.to_owned(),
        Err(error) => return refusal(&error),
    };
    let query = pairs(query.as_deref().unwrap_or_default());
    let name = query.get("name").map(String::as_str).unwrap_or_default();
    match take(name, request).await {
        Ok((dir, place, byte_size)) => {
            let token = gateway.files.keep(&session, dir, place, gateway.now());
            let upload = format!("{PREFIX}{}", token.reveal());
            json(StatusCode::OK, &value!({ "upload": upload, "byte_size": byte_size }))
        }
        Err(error) => refusal(&error),
    }
}

async fn take(name: &str, request: Request) -> Result<(TempDir, PathBuf, u64), Error> {
    let name = plain_name(name)?;
    let dir = tempfile::Builder::new().prefix("hermit-").tempdir().map_err(said("kept"))?;
    let place = dir.path().join(name);
    let mut file = File::create_new(&place).map_err(said("kept"))?;
    let mut frames = request.into_body().into_data_stream();
    let mut length = 0_u64;
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|e| Error::new(Code::Usage, format!("the body broke off: {e}")))?;
        length = length.saturating_add(frame.len() as u64);
        if length > UPLOAD_BYTES_MAX {
            return Err(Error::new(
                Code::TooLarge,
                format!("the file is larger than {UPLOAD_BYTES_MAX} bytes"),
            )
            .hint("give it to Hermit at a terminal: `hermit artifacts ingest`"));
        }
        file.write_all(&frame).map_err(said("kept"))?;
    }
    Ok((dir, place, length))
}

/// `POST /api/session/download`: what a command makes, as one file.
pub(crate) async fn download(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let asked = async {
        page(who, &headers)?;
        let given = params(request).await?;
        crate::page_approval::only(&given, &["command", "params", "name"])?;
        let (command, name) =
            (crate::page_approval::field(&given, "command")?, crate::page_approval::field(&given, "name")?);
        plain_name(&name)?;
        Ok((command, name, given.get("params").cloned().unwrap_or_else(|| value!({}))))
    };
    let (command, name, params) = match asked.await {
        Ok(asked) => asked,
        Err(error) => return refusal(&error),
    };
    let called = disposition(&name);
    let place = match gateway.place(who.session(&headers)) {
        Ok(place) => place,
        Err(error) => return refusal_as(StatusCode::TOO_MANY_REQUESTS, &error),
    };
    match gateway.seated_at(Lane::Usual, move |host| make(host, who, &command, &name, params)).await {
        Ok(made) => sent(made, called, place),
        Err(error) => refusal(&error),
    }
}

struct Made {
    file: File,
    length: u64,
    answer: Value,
    dir: TempDir,
}

/// Runs the command into a folder of its own. What is a folder becomes one file.
fn make(host: &dyn api::Host, who: Who, command: &str, name: &str, mut params: Value) -> Result<Made, Error> {
    let field = wire::places(command).find(|(_, what)| *what == Use::Makes).map(|(field, _)| field);
    let no_file = || {
        Error::new(Code::Usage, format!("`{command}` makes no file")).hint(
            "there are `proof.export`, `gate.export`, `changes.export`, `store.backup`, `identity.export` and `mesh.export`",
        )
    };
    let fields = params.as_object_mut().ok_or_else(no_file)?;
    let dir = tempfile::Builder::new().prefix("hermit-").tempdir().map_err(said("made"))?;
    let mut place = dir.path().join(name);
    let lent = place.to_str().map(str::to_owned).ok_or_else(no_file)?;
    fields.insert(field.ok_or_else(no_file)?.to_owned(), Value::from(lent.as_str()));
    let answer = api::call_for(host, who.caller(), command, params, &[lent])?;
    if place.is_dir() {
        let packed = dir.path().join("packed.zip");
        pack(&place, &packed)?;
        place = packed;
    }
    let file = File::open(&place).map_err(said("read"))?;
    let length = file.metadata().map_err(said("read"))?.len();
    Ok(Made { file, length, answer, dir })
}

/// A folder as a zip. What Hermit makes has files and folders and nothing else.
fn pack(folder: &Path, to: &Path) -> Result<(), Error> {
    let failed =
        |e: zip::result::ZipError| Error::new(Code::Failed, format!("the files cannot be packed: {e}"));
    let mut packed = zip::ZipWriter::new(File::create_new(to).map_err(said("made"))?);
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .unix_permissions(0o600)
        .large_file(true);
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).map_err(said("read"))? {
            let entry = entry.map_err(said("read"))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(said("read"))?);
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                packed.start_file(name, options).map_err(failed)?;
                std::io::copy(&mut File::open(&path).map_err(said("read"))?, &mut packed)
                    .map_err(said("read"))?;
            }
        }
    }
    packed.finish().map_err(failed)?;
    Ok(())
}

/// The file, then nothing of it any more. It has a place among the streams until then: a browser that does not read holds a thread.
fn sent(made: Made, called: Option<HeaderValue>, place: Place) -> Response {
    let Made { mut file, length, answer, dir } = made;
    let (send, receive) = mpsc::channel::<Bytes>(BEHIND_MAX);
    let here = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let mut part = vec![0; PART_BYTES];
        while let Ok(read @ 1..) = file.read(&mut part) {
            let bytes = Bytes::copy_from_slice(part.get(..read).unwrap_or_default());
            if here.block_on(send.send_timeout(bytes, STALLED)).is_err() {
                break;
            }
        }
        drop((dir, place));
    });
    let parts = futures_util::stream::unfold(receive, |mut receive| async move {
        receive.recv().await.map(|part| (Ok::<Bytes, Infallible>(part), receive))
    });
    let mut response = Response::new(Body::from_stream(parts));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_DISPOSITION, called.unwrap_or(HeaderValue::from_static("attachment")));
    let told = ascii(&answer.to_string());
    if let Some(told) = Some(told).filter(|told| told.len() <= TOLD_BYTES_MAX)
        && let Ok(told) = HeaderValue::from_str(&told)
    {
        headers.insert(ANSWER.clone(), told);
    }
    response
}

/// To be saved under this name and never shown, as RFC 6266 and RFC 8187 write it.
fn disposition(name: &str) -> Option<HeaderValue> {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let name: String = name.bytes().map(byte).collect();
    HeaderValue::from_str(&format!("attachment; filename*=UTF-8''{name}")).ok()
}

/// JSON without a byte beyond ASCII.
fn ascii(text: &str) -> String {
    let mut units = [0; 2];
    let escaped = |c: char| match c {
        c if c.is_ascii() => c.to_string(),
        c => c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(escaped).collect()
}
