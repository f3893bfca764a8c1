//! The way that the requests of a log-in take: over the way out that is lent, to encrypted places or on this machine, to
//! whoever was allowed, once, within bounds. The SDK says what is asked; it opens no connection of its own.

use effects::{Call, NoReply, Reply, Web, dialled};
use model::lasting;
use model::login::reachable;
use model::web::{Method, WebUrl};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::form_urlencoded;
use zeroize::Zeroizing;

/// How long one request of a log-in may take.
const ONE: Duration = Duration::from_secs(20);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Requests of one log-in. Whoever publishes metadata leads from one place to the next.
const REQUESTS_MAX: usize = 32;

/// Whether nobody waits any more.
pub type Stopped = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a log-in is made over.
#[derive(Clone)]
pub struct Way {
    /// The way out.
    pub web: Arc<dyn Web>,
    /// Asked again and again.
    pub stopped: Stopped,
    /// How long all of it may take.
    pub within: Duration,
}

/// Carries requests for one server of tools.
pub(crate) struct Courier {
    way: Way,
    /// The server.
    of: WebUrl,
    /// Who may be asked, `name:port`; before a person has allowed anything, whoever the server names.
    only: Option<Vec<String>>,
    /// What a token is for, word for word as the server names it; the SDK writes it as a parsed address.
    resource: Option<String>,
    by: Instant,
    asked: Mutex<usize>,
    /// What went wrong last, in words; the SDK does not always say it.
    failed: Mutex<Option<String>>,
}

impl Courier {
    pub(crate) fn new(way: &Way, of: &WebUrl) -> Self {
        Self {
            way: way.clone(),
            of: of.clone(),
            only: None,
            resource: None,
            by: Instant::now() + way.within,
            asked: Mutex::new(0),
            failed: Mutex::new(None),
        }
    }

    /// One that asks nobody else, and names this as what a token is for.
    pub(crate) fn asking(self, only: Vec<String>, resource: &str) -> Self {
        Self { only: Some(only), resource: Some(resource.to_owned()), ..self }
    }

    /// What went wrong last.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks once.
    pub(crate) fn ask(
        &self,
        method: Method,
        url: &WebUrl,
        headers: &[(String, Zeroizing<Vec<u8>>)],
        body: Option<&[u8]>,
    ) -> Result<Reply, String> {
        let came = self.asked_once(method, url, headers, body);
        if let Err(why) = &came {
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        }
        came
    }

    fn asked_once(
        &self,
        method: Method,
        url: &WebUrl,
        headers: &[(String, Zeroizing<Vec<u8>>)],
        body: Option<&[u8]>,
    ) -> Result<Reply, String> {
        reachable(&self.of, url)?;
        if self.only.as_ref().is_some_and(|only| !only.contains(&url.server())) {
            return Err(format!("`{url}` is at a host that was not allowed"));
        }
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            *asked += 1;
            if *asked > REQUESTS_MAX {
                return Err(format!("it led to more than {REQUESTS_MAX} places"));
            }
        }
        let timeout = ONE.min(self.by.saturating_duration_since(Instant::now()));
        if timeout.is_zero() {
            return Err(format!("it took longer than {}", lasting(self.way.within)));
        }
        // An address itself is dialled where it is the server's own; any other, and a name that leads to one, is not.
        let is_own = url.is_address() && url.host() == self.of.host();
        let named = if is_own { vec![url.server()] } else { Vec::new() };
        let at = dialled(url, &named)?;
        let call = Call { method, url, at, headers, body, timeout, bytes_max: ANSWER_BYTES_MAX };
        let reply = self.way.web.call(&call, &*self.way.stopped).map_err(|no| match no {
            NoReply::NotSent(why) | NoReply::Lost(why) => format!("`{url}` does not answer: {why}"),
        })?;
        match &reply.left_out {
            Some(_) if reply.body.len() as u64 >= ANSWER_BYTES_MAX => {
                Err(format!("`{url}` answers with more than {ANSWER_BYTES_MAX} bytes"))
            }
            Some(why) => Err(format!("`{url}` does not answer: {why}")),
            None => Ok(reply),
        }
    }

    /// A form with the resource word for word.
    pub(crate) fn with_resource(&self, form: &[u8]) -> Vec<u8> {
        let Some(resource) = &self.resource else { return form.to_vec() };
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(form) {
            out.append_pair(&name, if name == "resource" { resource } else { &value });
        }
        out.finish().into_bytes()
    }

    fn carry(&self, request: &http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, String> {
        let url: WebUrl = request.uri().to_string().parse().map_err(|e: model::Error| e.to_string())?;
        let is_post = request.method() == http::Method::POST;
        let is_form = request
            .headers()
            .get(http::header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
        let body = Zeroizing::new(match is_form {
            true => self.with_resource(request.body()),
            false => request.body().clone(),
        });
        let headers: Vec<_> = request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), Zeroizing::new(value.as_bytes().to_vec())))
            .collect();
        let method = if is_post { Method::Post } else { Method::Get };
        let reply = self.ask(method, &url, &headers, is_post.then_some(&body[..]))?;
        if is_post && (300..400).contains(&reply.status) {
            return Err(format!(
                "`{url}` leads to another address (status {}), which is not followed",
                reply.status
            ));
        }
        let mut answer = http::Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            answer = answer.header(name, value);
        }
        answer.body(reply.body).map_err(|e| format!("`{url}` answers with no HTTP: {e}"))
    }
}

impl OAuthHttpClient for Courier {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        // It waits in place: each log-in has a thread of its own.
        Box::pin(async move {
            self.carry(&request.request).map_err(|why| {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                why.into()
            })
        })
    }
}
