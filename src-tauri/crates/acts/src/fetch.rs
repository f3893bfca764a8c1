//! Asking a server.

pub use model::web::Fetch;

use crate::{Action, ActionRequest, Counts, Line, LineKind, Part, Tool, visible};
use model::action::{ActionClass, ExpectedEffect, Reversibility};
use model::limits::FETCH_REPLY_BYTES_MAX;
use model::receipt::ReplayClass;
use model::web::{Header, Method};
use model::witness::Fingerprint;
use model::{Digest, RelPath, ResourceId, WorkspaceId, lasting};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

impl Tool for Fetch {
    fn offered() -> Option<&'static str> {
        Some(include_str!("fetch.json"))
    }

    fn classes(&self) -> BTreeSet<ActionClass> {
        let sends = self.method.changes();
        let secret = (!self.secrets().is_empty()).then_some(ActionClass::CredentialedApiCall);
        let network = if sends { ActionClass::NetworkWrite } else { ActionClass::NetworkRead };
        [network].into_iter().chain(secret).collect()
    }

    /// The server, and the secrets it is given; no folder has a part in it.
    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        let host = ResourceId::Host(self.url.host().to_owned(), self.url.port());
        self.secrets().into_iter().map(ResourceId::Secret).chain([host]).collect()
    }

    fn from_call(arguments: Value) -> Result<Self, serde_json::Error> {
        let fetch: Self = serde_json::from_value(arguments)?;
        if fetch.if_match.is_some() {
            let say = "`if_match` is filled in by Hermit, from what was fetched before";
            return Err(serde::de::Error::custom(say));
        }
        Ok(fetch)
    }

    fn check(&self) -> Result<(), String> {
        Self::check(self)
    }

    fn counts(&self) -> Counts {
        Counts { network: true, targets: 1, ..Counts::default() }
    }

    /// A rule about a host lets things be fetched there; what is sent there, a person sees each time.
    fn parts(&self) -> Vec<Part> {
        if self.method.changes() { vec![Part::Other] } else { Vec::new() }
    }

    fn reversibility(&self) -> Reversibility {
        match self.method.changes() {
            true => Reversibility::Irreversible,
            false => Reversibility::NoEffect,
        }
    }

    /// What failed was not done there; all else cannot be taken back from here.
    fn has_no_effect_where_it_failed(&self) -> bool {
        true
    }

    fn replay_class(&self) -> ReplayClass {
        match self.method.changes() {
            true => ReplayClass::ExplainOnly,
            false => ReplayClass::ObserveOnly,
        }
    }

    fn title(&self) -> String {
        let send = if self.method.changes() { "send" } else { "fetch" };
        let with = match self.secrets().as_slice() {
            [] => String::new(),
            some => format!(" with `secret:{}`", visible(&some.join("`, `secret:"))),
        };
        format!("{send} {} {}{with}", self.method, visible(&self.url.to_string()))
    }

    fn one_line(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    fn lines(&self, request: &ActionRequest) -> Vec<Line> {
        lines(self, request)
    }

    fn expected(&self, _: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![expected(self)]
    }

    /// The server itself compares, at the moment of the change.
    fn precondition(&self) -> String {
        match &self.if_match {
            Some(tag) => format!("the server still has version {tag}, and compares it itself (`If-Match`)"),
            None if self.method.replaces() => {
                "no version of it was seen: the server alone decides".to_owned()
            }
            None => "the server takes it as it is".to_owned(),
        }
    }

    fn look_instead(&self, _: &dyn Fn(&RelPath) -> bool) -> Option<Action> {
        self.method.changes().then(|| Action::Fetch(read_of(self)))
    }

    fn can_be_draft(&self) -> bool {
        self.method.changes()
    }

    fn draft(&self) -> Option<String> {
        Some(sent_as_text(self))
    }
}

/// Everything that leaves this machine, in the order in which it is sent.
fn lines(fetch: &Fetch, request: &ActionRequest) -> Vec<Line> {
    let kind = if fetch.method.changes() { LineKind::Unrecoverable } else { LineKind::Effect };
    let said = |text: String| Line { kind, text };
    let url = &fetch.url;
    let verb = if fetch.method.changes() { "SEND" } else { "fetch with" };
    let mut lines = vec![said(format!("{verb} {} {}", fetch.method, visible(&url.to_string())))];
    let safe = if url.is_tls() {
        "over TLS"
    } else {
        "in the clear: whoever is on the way reads it and may change it"
    };
    lines.push(said(format!("to the host \"{}\" at port {}, {safe}", visible(url.host()), url.port())));
    if url.is_address() {
        let text =
            "the host is an ADDRESS: it may be this machine or one beside it, which the outside cannot reach";
        lines.push(Line { kind: LineKind::Unrecoverable, text: text.to_owned() });
    }
    lines.extend(fetch.headers.iter().map(|header| in_words(header, kind)));
    lines.extend(fetch.if_match.iter().map(|tag| {
        Line::effect(format!(
            "only while the server still has version \"{}\", which was seen before (`If-Match`)",
            visible(tag)
        ))
    }));
    lines.extend(request.idempotency_key().map(|key| {
        Line::effect(format!("with the key \"{}\", by which the server can tell a repetition", visible(&key)))
    }));
    body(fetch, kind, &mut lines);
    lines.push(Line::effect(format!(
        "its answer, at most {FETCH_REPLY_BYTES_MAX} bytes of it within {}, goes to the model as untrusted content; \
         redirects are not followed",
        lasting(Duration::from_millis(fetch.timeout_ms))
    )));
    lines
}

fn in_words(header: &Header, kind: LineKind) -> Line {
    let Header { name, value, secret } = header;
    match secret {
        None => Line { kind, text: format!("header \"{}\": \"{}\"", visible(name), visible(value)) },
        Some(handle) => Line {
            kind: LineKind::Unrecoverable,
            text: format!(
                "header \"{}\": \"{}\" and then the value of `secret:{}`",
                visible(name),
                visible(value),
                visible(handle)
            ),
        },
    }
}

/// Line by line, each marked, so that no line of a body can pass for one of the card.
fn body(fetch: &Fetch, kind: LineKind, lines: &mut Vec<Line>) {
    match &fetch.body {
        None => lines.push(Line::effect("without a body".to_owned())),
        Some(body) => {
            lines.push(Line {
                kind,
                text: format!("with a body of {} bytes, which is all of this:", body.len()),
            });
            lines
                .extend(body.split('\n').map(|line| Line { kind, text: format!("    | {}", visible(line)) }));
        }
    }
}

/// What it will do, foreseen: to which server, and the digest of what is sent.
fn expected(fetch: &Fetch) -> ExpectedEffect {
    let body = fetch.body.as_ref();
    ExpectedEffect {
        resource: ResourceId::Host(fetch.url.host().to_owned(), fetch.url.port()),
        effect: if fetch.method.changes() { "send" } else { "fetch" }.to_owned(),
        before_sha256: None,
        after_sha256: body.map(|body| Digest::of(body.as_bytes())),
        byte_size: body.map(|body| body.len() as u64),
    }
}

/// The same place, fetched: without what would have been sent, and without any secret, which would make it a call in
/// somebody's name.
fn read_of(fetch: &Fetch) -> Fetch {
    let mut read = fetch.clone();
    read.method = Method::Get;
    read.body = None;
    read.if_match = None;
    let about_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
    read.headers.retain(|header| header.secret.is_none() && !about_body(&header.name));
    read
}

/// A request as it would have been sent; secrets by their handles.
fn sent_as_text(fetch: &Fetch) -> String {
    let mut text = format!("{} {}\n", fetch.method, fetch.url);
    for header in &fetch.headers {
        let secret = header.secret.as_ref().map(|handle| format!("[secret:{handle}]")).unwrap_or_default();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}: {}{secret}", header.name, header.value);
    }
    match &fetch.body {
        Some(body) => format!("{text}\n{body}"),
        None => text,
    }
}
