//! A server of tools that is reached by an address: each message is one request over the lent way out, to the one address
//! that its host's name led to when the conversation began. No redirect is followed and nothing is sent twice.

use super::{Ended, Heard, Offers, START, ToolCall, ToolReply, ToolSession, Unspoken, offered};
use crate::egress_proxy::{Allowed, NoWay};
use crate::http::value_of;
use crate::{Call, Error, Executors, NoReply, Reply, Secrets, Web};
use model::limits::CALL_REPLY_BYTES_MAX;
use model::login::server_of_login;
use model::tool_server::{ServerLaunch, ToolManifest};
use model::web::{Header, Method, WebUrl};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How long the end of a conversation may take to be told.
const FAREWELL: Duration = Duration::from_secs(2);
/// Headers that the protocol has for itself.
const OF_THE_PROTOCOL: [&str; 3] = ["accept", "content-type", "last-event-id"];

/// Where a server is asked, and how one signs in there.
pub struct Endpoint {
    server: String,
    web: Arc<dyn Web>,
    secrets: Arc<dyn Secrets>,
    url: WebUrl,
    at: SocketAddr,
    headers: Vec<Header>,
    /// Requests since this was last asked.
    sent: AtomicU64,
}

/// The status of a server that does not know who asks.
const UNAUTHORISED: u16 = 401;

/// The token of a log-in.
type Token = Zeroizing<Vec<u8>>;
/// The head of a message, with the values of secrets in it.
type Head = Vec<(String, Zeroizing<Vec<u8>>)>;

/// Hears each piece of an answer as it comes.
type OnPiece<'a> = &'a mut dyn FnMut(&[u8]);

impl Endpoint {
    /// The address of a launch, its host looked up once.
    pub(super) fn of(executors: &Executors, (server, launch): (&str, &ServerLaunch)) -> Result<Self, Error> {
        let (url, headers) = address_of(launch).map_err(Error::Request)?;
        let at = dialled(&url, &launch.hosts).map_err(Error::Request)?;
        let (web, secrets) = (Arc::clone(&executors.web), Arc::clone(&executors.secrets));
        Ok(Self { server: server.to_owned(), web, secrets, url, at, headers, sent: AtomicU64::new(0) })
    }

    /// The server's name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Where it is asked.
    pub const fn url(&self) -> &WebUrl {
        &self.url
    }

    /// Sends one message and waits for what is answered, at most [`CALL_REPLY_BYTES_MAX`] bytes of it.
    ///
    /// # Errors
    /// [`NoReply`], which says whether anything may have arrived.
    pub fn post(
        &self,
        more: &[(&str, &str)],
        body: &[u8],
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Reply, NoReply> {
        self.send(Method::Post, more, Some(body), within, (ended, &mut |_| {}))
    }

    /// The same, and each piece of what is answered is told as it comes.
    ///
    /// # Errors
    /// As [`Endpoint::post`].
    pub fn post_heard(
        &self,
        more: &[(&str, &str)],
        body: &[u8],
        within: Duration,
        ended: Ended<'_>,
        on_piece: &mut dyn FnMut(&[u8]),
    ) -> Result<Reply, NoReply> {
        self.send(Method::Post, more, Some(body), within, (ended, on_piece))
    }

    /// Tells the server that a conversation is over. Nobody waits long for that.
    pub fn leave(&self, more: &[(&str, &str)]) {
        let _ = self.send(Method::Delete, more, None, FAREWELL, (&mut || None, &mut |_| {}));
    }

    /// Sends one message; once more where the server refuses the token of a log-in, which it does before it does anything,
    /// and there is another by now.
    fn send(
        &self,
        method: Method,
        more: &[(&str, &str)],
        body: Option<&[u8]>,
        within: Duration,
        (ended, on_piece): (Ended<'_>, OnPiece<'_>),
    ) -> Result<Reply, NoReply> {
        let begun = Instant::now();
        let (token, headers) = self.head(more, None)?;
        let call = |headers| Call {
            method,
            url: &self.url,
            at: self.at,
            headers,
            body,
            timeout: within.saturating_sub(begun.elapsed()),
            bytes_max: CALL_REPLY_BYTES_MAX as u64,
        };
        let reply = self.exchange(&call(&headers), ended, on_piece)?;
        let Some(token) = token.filter(|_| reply.status == UNAUTHORISED) else { return Ok(reply) };
        let (_, headers) = self.head(more, Some(&token))?;
        self.exchange(&call(&headers), ended, on_piece)
    }

    /// The head of a message, and the token in it where one is signed in with the token of a log-in.
    fn head(&self, more: &[(&str, &str)], refused: Option<&[u8]>) -> Result<(Option<Token>, Head), NoReply> {
        let (mut token, mut head) = (None, Head::new());
        for header in &self.headers {
            let value = match header.secret.as_deref().filter(|handle| server_of_login(handle).is_some()) {
                None => value_of(&*self.secrets, &self.url, header).map_err(|e| e.to_string()),
                Some(handle) if !self.secrets.terms(handle).hosts.contains(&self.url.server()) => {
                    Err(format!("you are not logged in at `{0}`; type `hermit tools login {0}`", self.server))
                }
                Some(handle) => self.secrets.login(handle, refused).map(|fresh| {
                    let whole = Zeroizing::new([header.value.as_bytes(), &fresh[..]].concat());
                    token = Some(fresh);
                    whole
                }),
            };
            head.push((header.name.clone(), value.map_err(NoReply::NotSent)?));
        }
        let plain =
            |(name, value): &(&str, &str)| ((*name).to_owned(), Zeroizing::new(value.as_bytes().to_vec()));
        head.extend(more.iter().map(plain));
        Ok((token, head))
    }

    fn exchange(&self, call: &Call<'_>, ended: Ended<'_>, on_piece: OnPiece<'_>) -> Result<Reply, NoReply> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let (why, ended) = (RefCell::new(None), RefCell::new(ended));
        let cancelled = || {
            let told = (ended.borrow_mut())();
            let is_over = told.is_some();
            *why.borrow_mut() = told;
            is_over
        };
        let came = self.web.stream(call, &cancelled, on_piece);
        match (came, why.into_inner()) {
            (Err(NoReply::Lost(_)), Some(why)) => Err(NoReply::Lost(why)),
            (Err(NoReply::NotSent(why)), _) => Err(NoReply::NotSent(format!(
                "`{}` was not reached: {why}; is the server running, and is this its address?",
                self.url
            ))),
            (came, _) => came,
        }
    }
}

/// Where a server is: its host is looked up once, and what it leads to is dialled only where that is public or was named
/// itself.
///
/// # Errors
/// In words, when it is not known or must not be dialled.
pub fn dialled(url: &WebUrl, named: &[String]) -> Result<SocketAddr, String> {
    Allowed::new(named).resolve(url.host(), url.port()).map_err(|no| match no {
        NoWay::Unknown(why) => why,
        NoWay::Closed { at, why } => format!(
            "`{}` is at {at}, which is {why}; such an address is asked only when it is named itself",
            url.host()
        ),
    })
}

/// What is asked of a launch that names an address: the address, and the headers by which one signs in.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn address_of(launch: &ServerLaunch) -> Result<(WebUrl, Vec<Header>), String> {
    let text = launch.url.as_deref().unwrap_or_default();
    let url: WebUrl = text.parse().map_err(|e: model::Error| e.to_string())?;
    if !launch.argv.is_empty() || !launch.reads.is_empty() || !launch.variables.is_empty() {
        let say = "a server that is reached by an address has no program, no variables and reads no folders";
        return Err(say.to_owned());
    }
    if launch.hosts != [url.server()] {
        return Err(format!("a server at `{url}` reaches `{}` and no other host", url.server()));
    }
    if !url.is_tls() && !url.is_address() {
        return Err(format!(
            "`{url}` is not encrypted; write `https://`, or name an address of this machine"
        ));
    }
    let mut headers = Vec::new();
    for (name, handle) in &launch.secrets {
        let is_bearer = name.eq_ignore_ascii_case("authorization");
        let value = if is_bearer { "Bearer ".to_owned() } else { String::new() };
        let header = Header { name: name.clone(), value, secret: Some(handle.clone()) };
        header.check()?;
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("mcp-") || OF_THE_PROTOCOL.contains(&lower.as_str()) {
            return Err(format!("the header `{name}` is written by Hermit itself; leave it out"));
        }
        headers.push(header);
    }
    Ok((url, headers))
}

/// A server that is reached by an address, and the conversation with it.
pub(super) struct Reached {
    endpoint: Arc<Endpoint>,
    /// None before it was greeted.
    session: Option<Box<dyn ToolSession>>,
    offers: Offers,
}

impl Reached {
    pub(super) fn begin(
        executors: &Executors,
        of: (&str, &ServerLaunch),
        offers: Offers,
    ) -> Result<Self, Error> {
        Ok(Self { endpoint: Arc::new(Endpoint::of(executors, of)?), session: None, offers })
    }

    /// What it says it offers now.
    pub(super) fn manifest(
        &mut self,
        executors: &Executors,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ToolManifest, String> {
        let Self { endpoint, session, offers } = self;
        let greet = |ended: Ended<'_>| executors.servers.reach(Arc::clone(endpoint), *offers, START, ended);
        offered(session, &mut || stopped(cancelled), greet)
    }

    /// Calls a tool once: its answer, or its refusal in its own words.
    pub(super) fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        match &mut self.session {
            Some(session) => session.call(call, heard, &mut || stopped(cancelled)),
            None => Err(Unspoken::NotCalled("it was not greeted".to_owned())),
        }
    }

    /// Whether it told that it offers something else now.
    pub(super) fn has_changed(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_changed())
    }

    /// What it was told that it may ask for.
    pub(super) const fn offers(&self) -> Offers {
        self.offers
    }

    /// How often it was asked since this was last told, and where.
    pub(super) fn connections(&self) -> Vec<String> {
        let sent = self.endpoint.sent.swap(0, Ordering::SeqCst);
        let Endpoint { url, at, .. } = &*self.endpoint;
        if sent == 0 { Vec::new() } else { vec![format!("{sent} requests to {} at {at}", url.server())] }
    }
}

fn stopped(cancelled: &dyn Fn() -> bool) -> Option<String> {
    cancelled().then(|| "it was cancelled".to_owned())
}
