//! One request to one server: the host is one the grant names, its name is resolved once, the address checked, and that
//! very address dialled. What is about to be sent is written down before, what came back before anybody is told, so that
//! after a crash it is known whether anything left this machine; nothing is ever sent a second time.

mod record;

use crate::change::scope::Scope;
use crate::egress_proxy::{Allowed, NoWay, Secrets};
use crate::{Error, Executors, Outcome};
use acts::{Action, ActionRequest};
use model::fault::Point;
use model::limits::FETCH_REPLY_BYTES_MAX;
use model::web::{Fetch, Header, Method, WebUrl};
use model::{RelPath, ResourceId, UnixMs};
use record::{Came, Record};
use std::net::SocketAddr;
use std::time::Duration;
use zeroize::Zeroizing;

/// One request, ready to be sent to an address that was checked.
pub struct Call<'a> {
    /// What is asked.
    pub method: Method,
    /// Of whom, and what about.
    pub url: &'a WebUrl,
    /// Where to: this address and no other, whatever the host's name leads to by now.
    pub at: SocketAddr,
    /// The whole head but for what the transport needs, values of secrets among it.
    pub headers: &'a [(String, Zeroizing<Vec<u8>>)],
    /// What is sent.
    pub body: Option<&'a [u8]>,
    /// How long all of it may take.
    pub timeout: Duration,
    /// Bytes of the answer's body that are read at most.
    pub bytes_max: u64,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The head, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, as far as it was read.
    pub body: Vec<u8>,
    /// Why it is not all of it, when it is not.
    pub left_out: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoReply {
    /// Not one byte of the request has left.
    NotSent(String),
    /// It may have arrived.
    Lost(String),
}

/// The way out, lent by whoever composes the house. Sends once: no redirect is followed, nothing is tried again.
pub trait Web: Send + Sync {
    /// Sends a request and waits for its answer; `cancelled` is asked while it waits.
    ///
    /// # Errors
    /// [`NoReply`], which says whether anything may have arrived.
    fn call(&self, call: &Call<'_>, cancelled: &dyn Fn() -> bool) -> Result<Reply, NoReply>;

    /// The same, and each piece of the body of the answer is told as it comes; the answer holds all of it nevertheless.
    ///
    /// # Errors
    /// As [`Web::call`].
    fn stream(
        &self,
        call: &Call<'_>,
        cancelled: &dyn Fn() -> bool,
        on_piece: &mut dyn FnMut(&[u8]),
    ) -> Result<Reply, NoReply> {
        let reply = self.call(call, cancelled)?;
        on_piece(&reply.body);
        Ok(reply)
    }
}

/// No way out.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWeb;

impl Web for NoWeb {
    fn call(&self, _: &Call<'_>, _: &dyn Fn() -> bool) -> Result<Reply, NoReply> {
        Err(NoReply::NotSent("there is no way to the network here".to_owned()))
    }
}

/// What is written down before anything is sent.
const CALL: &str = "call.json";
/// What is written down of the answer.
const ANSWER: &str = "answer.json";

/// Sends the request and says what came of it; every failure is in the outcome.
pub(crate) fn fetch(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    started: UnixMs,
    cancelled: &dyn Fn() -> bool,
) -> Outcome {
    let Action::Fetch(fetch) = &request.action else {
        return record::outcome(
            executors,
            request,
            started,
            &Record::not_sent("it is no request to a server"),
        );
    };
    let record = match prepare(executors, scope, request, fetch) {
        Err(error) => Record::not_sent(&error.to_string()),
        Ok((at, headers)) => exchange(executors, request, fetch, (at, &headers), cancelled),
    };
    record::outcome(executors, request, started, &record)
}

/// The head of a request, with the values of secrets in it.
type Head = Vec<(String, Zeroizing<Vec<u8>>)>;

/// Everything that can say no before a byte leaves: the grant, the address, the secrets.
fn prepare(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    fetch: &Fetch,
) -> Result<(SocketAddr, Head), Error> {
    fetch.check().map_err(Error::Request)?;
    let url = &fetch.url;
    scope.covers(&ResourceId::Host(url.host().to_owned(), url.port()))?;
    let allowed = Allowed::new(scope.hosts());
    if !allowed.names(url.host(), url.port()) {
        return Err(Error::OutOfScope(format!("the grant does not name the host `{}`", url.server())));
    }
    let mut head = Head::new();
    for header in &fetch.headers {
        head.push((header.name.clone(), value(&*executors.secrets, scope, url, header)?));
    }
    let plain = |text: String| Zeroizing::new(text.into_bytes());
    head.extend(fetch.if_match.iter().map(|tag| ("If-Match".to_owned(), plain(tag.clone()))));
    // A structured header's string: in quotes (draft-ietf-httpapi-idempotency-key-header).
    head.extend(
        request.idempotency_key().map(|key| ("Idempotency-Key".to_owned(), plain(format!("\"{key}\"")))),
    );
    let at = allowed.resolve(url.host(), url.port()).map_err(|no| match no {
        NoWay::Unknown(why) => Error::Request(why),
        NoWay::Closed { at, why } => Error::OutOfScope(format!(
            "`{}` is at {at}, which is {why}; such an address is asked only when it is named itself",
            url.host()
        )),
    })?;
    Ok((at, head))
}

/// The value of a header; that of a secret only for a host that the secret may go to, and only with a grant for it.
fn value(
    secrets: &dyn Secrets,
    scope: &Scope<'_>,
    url: &WebUrl,
    header: &Header,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    if let Some(handle) = header.secret.as_ref().filter(|handle| !scope.secrets().contains(handle)) {
        return Err(Error::OutOfScope(format!("the grant does not name `secret:{handle}`")));
    }
    value_of(secrets, url, header)
}

/// The value of a header; that of a secret only for a host that the secret may go to.
pub(crate) fn value_of(
    secrets: &dyn Secrets,
    url: &WebUrl,
    header: &Header,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut value = Zeroizing::new(header.value.clone().into_bytes());
    let Some(handle) = &header.secret else { return Ok(value) };
    let server = url.server();
    if !secrets.terms(handle).hosts.contains(&server) {
        return Err(Error::Request(format!(
            "`secret:{handle}` may not go to `{server}`; a person says where it may go with `hermit secret set`"
        )));
    }
    let secret = secrets.value(handle).map_err(Error::Request)?;
    let secret = secret.trim_ascii();
    if !secret.iter().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Err(Error::Request(format!("`secret:{handle}` cannot stand in a header")));
    }
    value.extend_from_slice(secret);
    Ok(value)
}

fn exchange(
    executors: &Executors,
    request: &ActionRequest,
    fetch: &Fetch,
    (at, headers): (SocketAddr, &Head),
    cancelled: &dyn Fn() -> bool,
) -> Record {
    let id = request.action_request_id;
    let begun = crate::change::step(executors, Point::CallSend, &RelPath::ROOT, || {
        if executors.spool.written(id, CALL)?.is_some() {
            // Whatever became of it then, this is not the time to do it again.
            return Err(Error::Request(
                "this very request was sent before, and is not sent again".to_owned(),
            ));
        }
        executors.spool.write_down(id, CALL, fetch.url.to_string().as_bytes())
    });
    if let Err(error) = begun {
        return Record::not_sent(&error.to_string());
    }
    let call = Call {
        method: fetch.method,
        url: &fetch.url,
        at,
        headers,
        body: fetch.body.as_deref().map(str::as_bytes),
        timeout: Duration::from_millis(fetch.timeout_ms),
        bytes_max: FETCH_REPLY_BYTES_MAX,
    };
    let came = match executors.web.call(&call, cancelled) {
        Ok(reply) => Came::Answered(reply),
        Err(NoReply::NotSent(why)) => Came::NotSent(why),
        Err(NoReply::Lost(why)) => Came::Lost(why),
    };
    let record = Record { at: Some(at.ip().to_string()), came }.clean(&executors.redactor.now());
    let kept = crate::change::step(executors, Point::CallAnswer, &RelPath::ROOT, || {
        executors.spool.write_down(id, ANSWER, &record.to_bytes()?)
    });
    match kept {
        Ok(()) => record,
        // It is known now and may not be known later, so it is told now.
        Err(error) => record.with_note(&format!("the answer could not be written down: {error}")),
    }
}

/// After a crash: what was written down, and nothing else. `None` where that says too little for a request that may have
/// changed something.
pub(crate) fn settle(executors: &Executors, request: &ActionRequest, started: UnixMs) -> Outcome {
    let id = request.action_request_id;
    let written = |name| executors.spool.written(id, name);
    let record = match (written(CALL), written(ANSWER)) {
        (Ok(None), _) => Record::not_sent("interrupted before anything was sent"),
        (Ok(Some(_)), Ok(Some(bytes))) => Record::of_bytes(&bytes),
        (Ok(Some(_)), Ok(None)) => Record::lost("interrupted while it was under way"),
        (Err(error), _) | (_, Err(error)) => Record::lost(&format!("what was sent cannot be told: {error}")),
    };
    record::outcome(executors, request, started, &record)
}
