//! The ways to clocks elsewhere: one file for each kind, and what they have in common.

pub(crate) mod authorities;
pub(crate) mod calendars;
pub(crate) mod transactions;

pub use calendars::calendars_of;

use crate::egress_proxy::{Allowed, NoWay};
use crate::http::{Call, NoReply, Reply};
use crate::tools::Execution;
use crate::{AnchorCame, SeenBlock, Undelivered};
use acts::Anchor;
use anchor::bitcoin::Headers;
use model::fault::Point;
use model::web::{Method, WebUrl};
use model::{RelPath, ResourceId};
use std::time::Duration;
use zeroize::Zeroizing;

/// How long one server may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer: a time stamp with its certificates has a few thousand, an answer of a calendar less.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// What clocks answered, checked.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// What it came to; the act is named by whoever keeps it.
    pub(crate) came: AnchorCame,
    /// The proof as far as there is one.
    pub(crate) proof: Option<Vec<u8>>,
}

/// What is sent to a server.
pub(crate) struct Asked<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    /// What is sent, with its media type.
    pub(crate) body: Option<(&'static str, &'a [u8])>,
    /// The media type that is wanted.
    pub(crate) wants: &'static str,
}

/// Nothing came of it yet.
pub(crate) fn blank(act: &Execution<'_>) -> AnchorCame {
    AnchorCame {
        action_request_id: act.request.action_request_id,
        at: Vec::new(),
        proof_sha256: None,
        not_after: None,
        block: None,
        is_gone: false,
        txid: None,
        says: Vec::new(),
    }
}

/// Asks a server once, where the grant names it; the whole of its answer.
pub(crate) fn ask(act: &Execution<'_>, asked: &Asked<'_>) -> Result<(String, Reply), String> {
    let url: WebUrl = asked.url.parse().map_err(|e: model::Error| e.to_string())?;
    let server = url.server();
    let words = |why: String| format!("{server}: {why}");
    if (act.cancelled)() {
        return Err(words("stopped before it was asked".to_owned()));
    }
    let host = ResourceId::Host(url.host().to_owned(), url.port());
    act.scope.covers(&host).map_err(|e| words(e.to_string()))?;
    let allowed = Allowed::new(act.scope.hosts());
    if !allowed.names(url.host(), url.port()) {
        return Err(words("the grant does not name this host".to_owned()));
    }
    let at = allowed.resolve(url.host(), url.port()).map_err(|no| match no {
        NoWay::Unknown(why) => words(why),
        NoWay::Closed { at, why } => words(format!("it is at {at}, which is {why}, and was not named so")),
    })?;
    let plain = |text: &str| Zeroizing::new(text.as_bytes().to_vec());
    let mut headers = vec![("Accept".to_owned(), plain(asked.wants))];
    headers.extend(asked.body.map(|(media, _)| ("Content-Type".to_owned(), plain(media))));
    let call = Call {
        method: asked.method,
        url: &url,
        at,
        headers: &headers,
        body: asked.body.map(|(_, bytes)| bytes),
        timeout: TIMEOUT,
        bytes_max: ANSWER_BYTES_MAX,
    };
    let mut came = None;
    let sent = crate::change::step(act.executors, Point::CallSend, &RelPath::ROOT, || {
        came = Some(act.executors.web.call(&call, act.cancelled));
        Ok(())
    });
    sent.map_err(|e| words(e.to_string()))?;
    let reply = match came {
        Some(Ok(reply)) => reply,
        Some(Err(NoReply::NotSent(why) | NoReply::Lost(why))) => return Err(words(why)),
        None => return Err(words("nothing was sent".to_owned())),
    };
    if let Some(why) = reply.left_out.clone() {
        return Err(words(why));
    }
    Ok((server, reply))
}

/// The block of a height on the best chain that is known here, and headers that hold it alone.
pub(crate) fn block_at(
    act: &Execution<'_>,
    height: u64,
) -> Result<Option<(SeenBlock, Headers)>, Undelivered> {
    let Some(seen) = act.executors.clocks.block(height)? else { return Ok(None) };
    let hex: String = seen.header.iter().map(|byte| format!("{byte:02x}")).collect();
    let headers = Headers::read(format!("height {height}\n{hex}\n").as_bytes());
    let headers =
        headers.map_err(|e| Undelivered::NotSent(format!("what is said to be block {height}: {e}")))?;
    Ok(Some((seen, headers)))
}

/// Whether the node, where one is named, is one that the grant names.
pub(crate) fn node_is_covered(act: &Execution<'_>, anchor: &Anchor) -> Result<(), Undelivered> {
    let Some(node) = &anchor.node else { return Ok(()) };
    let url: WebUrl = node.parse().map_err(|e: model::Error| Undelivered::NotSent(e.to_string()))?;
    let host = ResourceId::Host(url.host().to_owned(), url.port());
    act.scope.covers(&host).map_err(|e| Undelivered::NotSent(e.to_string()))?;
    match act.scope.hosts().contains(&url.server()) {
        true => Ok(()),
        false => Err(Undelivered::NotSent(format!("the grant does not name the host `{}`", url.server()))),
    }
}
