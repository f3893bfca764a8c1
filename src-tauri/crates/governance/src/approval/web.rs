//! The part of a card that shows what would be asked of a server: method, address, every header, the whole body.

use super::card::{Line, LineKind, effect};
use super::visible::visible;
use acts::{Action, ActionRequest};
use model::limits::FETCH_REPLY_BYTES_MAX;
use model::web::{Fetch, Header};

/// Everything that leaves this machine, in the order in which it is sent.
pub(super) fn lines(request: &ActionRequest) -> Vec<Line> {
    let Action::Fetch(fetch) = &request.action else { return Vec::new() };
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
        effect(format!(
            "only while the server still has version \"{}\", which was seen before (`If-Match`)",
            visible(tag)
        ))
    }));
    lines.extend(request.idempotency_key().map(|key| {
        effect(format!("with the key \"{}\", by which the server can tell a repetition", visible(&key)))
    }));
    body(fetch, kind, &mut lines);
    lines.push(effect(format!(
        "its answer, at most {FETCH_REPLY_BYTES_MAX} bytes of it within {} ms, goes to the model as untrusted content; \
         redirects are not followed",
        fetch.timeout_ms
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
        None => lines.push(effect("without a body".to_owned())),
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
