//! One call over HTTP: bounded in time and bytes, to the host it names, with no redirect followed.

use crate::{Account, Attachment, CA_FILE, Fault, clean, setting};
pub(crate) use socket::{host_of, is_loopback};
use std::cell::Cell;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use ureq::http::{HeaderValue, Request};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};
use url::Url;
use words::time::lasting;
use zeroize::Zeroizing;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a call is given, however little time is left.
const SHORTEST: Duration = Duration::from_secs(1);
/// How long a service may ask to be left alone.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(86_400);

/// The media type of a page.
const PAGE: &str = "text/html";

/// The way to a service.
pub(crate) struct Way {
    /// Where its paths begin, without a last `/`.
    base: Url,
    authorities: Vec<Certificate<'static>>,
    /// What no error says.
    secrets: Vec<Zeroizing<String>>,
    /// When whoever waits stops waiting, whatever a call is given.
    deadline: Cell<Option<Instant>>,
}

/// A call.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: Zeroizing<String>,
    pub(crate) headers: Vec<(&'static str, Zeroizing<String>)>,
    /// Media type and bytes.
    pub(crate) body: Option<(String, Vec<u8>)>,
    pub(crate) within: Duration,
    pub(crate) bytes_max: u64,
    /// Whether it would do something twice if it were made twice.
    pub(crate) changes: bool,
}

impl<'a> Ask<'a> {
    /// A call that reads.
    pub(crate) fn get(url: String, within: Duration) -> Self {
        Self {
            method: "GET",
            url: Zeroizing::new(url),
            headers: Vec::new(),
            body: None,
            within,
            bytes_max: crate::ANSWER_BYTES_MAX,
            changes: false,
        }
    }

    /// A call that carries JSON.
    pub(crate) fn json(method: &'a str, url: String, body: &serde_json::Value, changes: bool) -> Self {
        let body = Some(("application/json".to_owned(), body.to_string().into_bytes()));
        Self { method, body, changes, ..Self::get(url, crate::CALL) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, Zeroizing::new(value.to_owned())));
        self
    }
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// Whether it says that it is a page.
    pub(crate) is_page: bool,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The answer as JSON; nothing where it is none.
    pub(crate) fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// An address that a token may be sent to: with TLS, or on this machine.
pub(crate) fn place(address: &str) -> Result<Url, String> {
    let url =
        Url::parse(address.trim_end_matches('/')).map_err(|e| format!("`{address}` is no address: {e}"))?;
    let (secure, plain) = (matches!(url.scheme(), "https" | "wss"), matches!(url.scheme(), "http" | "ws"));
    if !secure && !plain || url.host().is_none() {
        return Err(format!("`{address}` is no address of a service; it begins with `https://`"));
    }
    if plain && !is_loopback(&url) {
        return Err(format!("`{address}` is not on this machine, so it has to begin with `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address holds a name or a password; a token has its own place".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`{address}` has more than a host and a path"));
    }
    Ok(url)
}

/// A token that can stand in a header.
pub(crate) fn fits_a_header(token: &str) -> Result<(), String> {
    let fits = !token.is_empty() && token.len() <= 4096 && token.bytes().all(|b| b.is_ascii_graphic());
    if fits { Ok(()) } else { Err("the token is empty, or holds what no token holds".to_owned()) }
}

/// PEM text of the authorities that the owner set.
pub(crate) fn authorities_pem(account: &Account) -> Result<Option<Vec<u8>>, String> {
    let Some(path) = setting(account, CA_FILE) else { return Ok(None) };
    std::fs::read(path).map(Some).map_err(|e| format!("the authorities in `{path}`: {e}"))
}

/// The authorities of a PEM text; none stand for those that come with Hermit.
pub(crate) fn authorities(pem: Option<&[u8]>) -> Result<Vec<Certificate<'static>>, String> {
    let Some(pem) = pem else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|e| format!("the authorities: {e}"))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        Err("there is no authority in the file of authorities".to_owned())
    } else {
        Ok(found)
    }
}

impl Way {
    /// The way to an account's address, or to the service's own.
    pub(crate) fn open(
        account: &Account,
        own: &str,
        secrets: Vec<Zeroizing<String>>,
    ) -> Result<Self, String> {
        let address = if account.address.is_empty() { own } else { &account.address };
        let authorities = authorities(authorities_pem(account)?.as_deref())?;
        Ok(Self { base: place(address)?, authorities, secrets, deadline: Cell::new(None) })
    }

    /// Sets when calls end at the latest, or that they last as long as they may.
    pub(crate) fn until(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// Where paths begin.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// An address below the base.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// The authorities that servers are checked against, where they are not those that come with Hermit.
    pub(crate) fn authorities(&self) -> &[Certificate<'static>] {
        &self.authorities
    }

    /// An address that the service itself named, where it is one of its own: below one of these domains with TLS, or on this
    /// machine where the service is there.
    pub(crate) fn own(&self, url: &str, domains: &[&str]) -> Result<Url, Fault> {
        let url = Url::parse(url).map_err(|_| Fault::refused("the service named no address"))?;
        let host = url.host_str().unwrap_or_default();
        let below = |domain: &&str| {
            host.strip_suffix(*domain).is_some_and(|above| above.is_empty() || above.ends_with('.'))
        };
        let is_own = match is_loopback(&self.base) {
            true => is_loopback(&url),
            false => matches!(url.scheme(), "https" | "wss") && domains.iter().any(below),
        };
        if is_own {
            Ok(url)
        } else {
            Err(Fault::refused("the service leads to an address that is not its own"))
        }
    }

    /// What a service says, fit for an error.
    pub(crate) fn said(&self, raw: &str) -> String {
        let secrets: Vec<&str> = self.secrets.iter().map(|secret| secret.as_str()).collect();
        clean::said(raw, &secrets)
    }

    fn agent(&self, within: Duration, url: &Url, connected: &Arc<AtomicBool>) -> ureq::Agent {
        // A proxy has no business between a program and a server on the same machine.
        let proxy = if is_loopback(url) { None } else { ureq::Proxy::try_from_env() };
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could carry the token to somebody else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(within))
            .user_agent(concat!("hermit/", env!("CARGO_PKG_VERSION")));
        if !self.authorities.is_empty() {
            let roots = RootCerts::from(self.authorities.clone());
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let connector = Marking(DefaultConnector::default(), Arc::clone(connected));
        ureq::Agent::with_parts(config.build(), connector, DefaultResolver::default())
    }

    /// Makes a call; whatever its status.
    pub(crate) fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Fault> {
        let url = Url::parse(&ask.url).map_err(|_| Fault::refused("the service named no address"))?;
        let connected = Arc::new(AtomicBool::new(false));
        let left =
            self.deadline.get().map(|until| until.saturating_duration_since(Instant::now()).max(SHORTEST));
        let within = left.map_or(ask.within, |left| left.min(ask.within));
        let agent = self.agent(within, &url, &connected);
        let lost = |why: String| match ask.changes && connected.load(Ordering::SeqCst) {
            true => Fault::Unknown { why },
            false => Fault::away(why),
        };
        let request = head(ask).map_err(Fault::refused)?;
        let sent = match &ask.body {
            Some((kind, bytes)) => {
                let request = request.header("Content-Type", kind.as_str());
                request.body(bytes.as_slice()).map_err(ureq::Error::Http).and_then(|r| agent.run(r))
            }
            None => request.body(()).map_err(ureq::Error::Http).and_then(|r| agent.run(r)),
        };
        let mut reply = sent.map_err(|error| lost(in_words(&error, &url, within)))?;
        let retry_after = retry_after(reply.headers());
        let status = reply.status().as_u16();
        let kind = reply.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_page = kind.is_some_and(|kind| clean::media_type(kind) == PAGE);
        let mut body = Vec::new();
        let mut stream = reply.body_mut().as_reader().take(ask.bytes_max.saturating_add(1));
        stream.read_to_end(&mut body).map_err(|_| lost("the answer broke off".to_owned()))?;
        if body.len() as u64 > ask.bytes_max {
            let why = format!("the answer has more than {} bytes", ask.bytes_max);
            return Err(if ask.changes { Fault::Unknown { why } } else { Fault::Refused { why } });
        }
        Ok(Answer { status, retry_after, is_page, body })
    }

    /// The bytes of a file that was asked for. A service that wants to be logged in to gives a page instead, and says nothing.
    pub(crate) fn file(&self, answer: Answer, asked: &Attachment) -> Result<Vec<u8>, Fault> {
        if !(200..300).contains(&answer.status) {
            return Err(self.fault(&answer, "", false));
        }
        match answer.is_page && asked.media_type != PAGE {
            true => Err(Fault::refused("the service gives a page instead of the file")),
            false => Ok(answer.body),
        }
    }

    /// What a status means that is the same with every service; `said` is what the service says of it.
    pub(crate) fn fault(&self, answer: &Answer, said: &str, changes: bool) -> Fault {
        let said = self.said(said);
        let status = answer.status;
        let why = if said.is_empty() { format!("the service answered {status}") } else { said };
        match status {
            401 => Fault::Token { why },
            429 | 503 => Fault::Away { why, retry_after: answer.retry_after },
            300..=399 => Fault::refused("the service leads to another address, which is not followed"),
            500.. if changes => Fault::Unknown { why },
            500.. => Fault::away(why),
            _ => Fault::Refused { why },
        }
    }
}

fn head(ask: &Ask<'_>) -> Result<ureq::http::request::Builder, String> {
    let mut request = Request::builder().method(ask.method).uri(ask.url.as_str());
    for (name, value) in &ask.headers {
        let mut value =
            HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` cannot be sent"))?;
        value.set_sensitive(true);
        request = request.header(*name, value);
    }
    Ok(request.header("Accept-Encoding", "identity"))
}

/// Remembers that a connection stands, TLS and all: before that, no byte of a call can have left.
#[derive(Debug)]
struct Marking(DefaultConnector, Arc<AtomicBool>);

impl Connector<()> for Marking {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let transport = self.0.connect(details, chained)?;
        self.1.store(true, Ordering::SeqCst);
        Ok(transport)
    }
}

/// After how long a service says that it may be asked again, in seconds.
fn retry_after(headers: &ureq::http::HeaderMap) -> Option<Duration> {
    seconds(headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?)
}

/// A time that a service may ask for.
pub(crate) fn seconds(told: f64) -> Option<Duration> {
    (told.is_finite() && told >= 0.0)
        .then(|| Duration::try_from_secs_f64(told).unwrap_or(RETRY_AFTER_MAX).min(RETRY_AFTER_MAX))
}

/// A failure without the address, which may hold a token.
fn in_words(error: &ureq::Error, url: &Url, within: Duration) -> String {
    use ureq::Error as E;
    let (host, port) = host_of(url);
    match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            format!("`{host}:{port}` could not be reached within {}", lasting(CONNECT.min(within)))
        }
        E::Timeout(_) => format!("`{host}:{port}` did not answer within {}", lasting(within)),
        E::HostNotFound => format!("there is no host `{host}`"),
        E::Io(io) => format!("`{host}:{port}`: {}", io.kind()),
        E::Rustls(tls) => format!("`{host}:{port}`: {tls}"),
        E::Protocol(_) => format!("`{host}:{port}` does not answer in HTTP"),
        E::ConnectProxyFailed(_) | E::InvalidProxyUrl => {
            format!("the proxy does not lead to `{host}:{port}`")
        }
        _ => format!("the exchange with `{host}:{port}` failed"),
    }
}

/// Text in a path or a query.
pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_a_service_was_waited_for_is_told_as_everywhere() {
        let url = Url::parse("https://chat.example/send").unwrap();
        let connect = ureq::Error::Timeout(ureq::Timeout::Connect);
        let told = |within: u64| in_words(&connect, &url, Duration::from_secs(within));
        assert_eq!(told(1), "`chat.example:443` could not be reached within 1 second");
        assert_eq!(
            told(90),
            "`chat.example:443` could not be reached within 10 seconds",
            "no longer than that"
        );
        let whole = ureq::Error::Timeout(ureq::Timeout::Global);
        let late = in_words(&whole, &url, Duration::from_secs(90));
        assert_eq!(late, "`chat.example:443` did not answer within 1 minute 30 seconds");
    }
}
