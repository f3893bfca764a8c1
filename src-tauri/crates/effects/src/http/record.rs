//! What came of a request to a server: written down when it is known, read again after a crash, told the same way.

use super::Reply;
use crate::reads::read::encode;
use crate::{Error, Executors, Outcome, Output};
use acts::{Action, ActionRequest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::artifact::ArtifactKind;
use model::receipt::{ResultCode, SandboxLevel};
use model::web::Fetch;
use model::{Digest, UnixMs};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    /// Not one byte has left.
    NotSent(String),
    /// There is an answer.
    Answered(Reply),
    /// It may have arrived, and nobody answered.
    Lost(String),
}

/// How it went, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) at: Option<String>,
    pub(super) came: Came,
}

/// A record as it is on disk.
#[derive(Serialize, Deserialize)]
struct Stored {
    at: Option<String>,
    not_sent: Option<String>,
    lost: Option<String>,
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    left_out: Option<String>,
}

/// Headers of an answer that are told; the others are for clients that keep cookies and caches.
const TOLD: [&str; 14] = [
    "allow",
    "cache-control",
    "content-language",
    "content-range",
    "content-type",
    "date",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "server",
    "vary",
    "www-authenticate",
];

impl Record {
    pub(super) fn not_sent(why: &str) -> Self {
        Self { at: None, came: Came::NotSent(why.to_owned()) }
    }

    pub(super) fn lost(why: &str) -> Self {
        Self { at: None, came: Came::Lost(why.to_owned()) }
    }

    /// The same with something more to say.
    pub(super) fn with_note(mut self, note: &str) -> Self {
        match &mut self.came {
            Came::NotSent(why) | Came::Lost(why) => *why = format!("{why}; {note}"),
            Came::Answered(reply) => {
                let said = reply.left_out.take().map(|said| format!("{said}; ")).unwrap_or_default();
                reply.left_out = Some(format!("{said}{note}"));
            }
        }
        self
    }

    /// Without values of secrets: a server may send back what it was sent.
    pub(super) fn clean(mut self, redactor: &redact::Redactor) -> Self {
        if let Came::Answered(reply) = &mut self.came {
            reply.headers.retain(|(name, _)| TOLD.contains(&name.as_str()));
            for (_, value) in &mut reply.headers {
                *value = redactor.values(value).rest.into_owned();
            }
            reply.body = redactor.bytes(&reply.body).rest.into_owned();
        }
        self
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut stored = Stored {
            at: self.at.clone(),
            not_sent: None,
            lost: None,
            status: 0,
            headers: Vec::new(),
            body: String::new(),
            left_out: None,
        };
        match &self.came {
            Came::NotSent(why) => stored.not_sent = Some(why.clone()),
            Came::Lost(why) => stored.lost = Some(why.clone()),
            Came::Answered(reply) => {
                stored.status = reply.status;
                stored.headers.clone_from(&reply.headers);
                stored.body = STANDARD.encode(&reply.body);
                stored.left_out.clone_from(&reply.left_out);
            }
        }
        serde_json::to_vec(&stored).map_err(|e| Error::Request(e.to_string()))
    }

    /// What was written down; what cannot be read may have been anything.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let read = serde_json::from_slice::<Stored>(bytes).map_err(|e| e.to_string());
        let read =
            read.and_then(|stored| Ok((STANDARD.decode(&stored.body).map_err(|e| e.to_string())?, stored)));
        let (body, stored) = match read {
            Ok(read) => read,
            Err(why) => return Self::lost(&format!("what came back cannot be read: {why}")),
        };
        let Stored { at, not_sent, lost, status, headers, left_out, .. } = stored;
        let came = match (not_sent, lost) {
            (Some(why), _) => Came::NotSent(why),
            (_, Some(why)) => Came::Lost(why),
            _ => Came::Answered(Reply { status, headers, body, left_out }),
        };
        Self { at, came }
    }
}

/// Whether it happened, by what came back. `unknown_outcome` where nobody can tell whether something was changed there.
fn verdict(fetch: &Fetch, came: &Came) -> (ResultCode, Option<String>) {
    let changes = fetch.method.changes();
    match came {
        Came::NotSent(why) => (ResultCode::Failed, Some(why.clone())),
        Came::Lost(why) if changes => {
            (ResultCode::UnknownOutcome, Some(format!("{why}; whether it was done there is not known")))
        }
        Came::Lost(why) => (ResultCode::Failed, Some(format!("{why}; nothing was to be changed there"))),
        Came::Answered(reply) => match reply.status {
            200..=399 => (ResultCode::Succeeded, None),
            412 if fetch.if_match.is_some() => {
                let why = "it has changed there since it was fetched, so nothing was done; fetch it again";
                (ResultCode::Failed, Some(why.to_owned()))
            }
            // It broke in the middle of something, or somebody before it did.
            status @ (500 | 502 | 504 | 506..=599) if changes => {
                let why = format!("the server answered {status}; whether it was done there is not known");
                (ResultCode::UnknownOutcome, Some(why))
            }
            status => (ResultCode::Failed, Some(format!("the server answered {status}"))),
        },
    }
}

/// A record as an outcome.
pub(super) fn outcome(
    executors: &Executors,
    request: &ActionRequest,
    started: UnixMs,
    record: &Record,
) -> Outcome {
    let (result_code, error) = match &request.action {
        Action::Fetch(fetch) => verdict(fetch, &record.came),
        _ => (ResultCode::Failed, Some("it is no request to a server".to_owned())),
    };
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs: answer(request, record).into_iter().collect(),
        ran: executors.ran("hermit.fetch", request, started),
        sandbox_level: SandboxLevel::NotApplicable,
        observed: observed(request, record),
        error,
        kept: Vec::new(),
    }
}

/// What was sent, by its digest, so that a receipt shows it without saying it.
fn sent(fetch: &Fetch) -> String {
    match &fetch.body {
        None => "sent without a body".to_owned(),
        Some(body) => format!("{} bytes of body sent, sha256 {}", body.len(), Digest::of(body.as_bytes())),
    }
}

/// In words, for result and receipt: whom, where, how much, and the digest of what came back.
fn observed(request: &ActionRequest, record: &Record) -> Vec<String> {
    let Action::Fetch(fetch) = &request.action else { return Vec::new() };
    let at = record.at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
    let server = fetch.url.server();
    let mut words = match &record.came {
        Came::NotSent(_) => return vec![format!("network: nothing was sent to {server}")],
        Came::Lost(_) => vec![format!("network: {server}{at}: sent, and there is no answer")],
        Came::Answered(reply) => vec![
            format!("network: {server}{at}: {}", sent(fetch)),
            format!(
                "answered with status {}, {} bytes, sha256 {}",
                reply.status,
                reply.body.len(),
                Digest::of(&reply.body)
            ),
        ],
    };
    words.extend(request.idempotency_key().map(|key| format!("sent with the idempotency key {key}")));
    if let Came::Answered(reply) = &record.came {
        words.extend(reply.left_out.clone());
        let leads =
            reply.headers.iter().find(|(name, _)| (300..400).contains(&reply.status) && name == "location");
        words.extend(leads.map(|(_, to)| format!("it leads to {to}, and nobody followed")));
    }
    words
}

/// What came back, as an artifact: status, head and body, the body as text where it is text.
fn answer(request: &ActionRequest, record: &Record) -> Option<Output> {
    let (Action::Fetch(fetch), Came::Answered(reply)) = (&request.action, &record.came) else { return None };
    let (field, encoding, text) = encode(reply.body.clone(), reply.left_out.is_some());
    let headers: serde_json::Map<String, serde_json::Value> =
        reply.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut value = json!({
        "op": "fetch",
        "method": fetch.method,
        "url": fetch.url,
        "status": reply.status,
        "headers": headers,
        "byte_size": reply.body.len(),
        "sha256": Digest::of(&reply.body),
        "encoding": encoding,
        "left_out": reply.left_out,
        "observed": observed(request, record),
    });
    value.as_object_mut()?.insert(field.to_owned(), json!(text));
    let bytes = seal::canon::canonical_value(&value).ok()?;
    let about = format!("what `{}` answered", fetch.url.server());
    Some(Output { kind: ArtifactKind::WebSnapshot, media_type: "application/json".to_owned(), bytes, about })
}
