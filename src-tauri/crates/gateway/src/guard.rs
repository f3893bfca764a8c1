//! Who may come in: checked before anything of a request is read.
//!
//! A page carries its session in a header and keeps it in its own storage, which belongs to this scheme, name and port
//! alone. No cookie is set: cookies know no ports, so every server on this machine would be sent it.

use crate::sessions::{Given, Place, Sessions};
use crate::{Draw, Origin, Token};
use api::Asker;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method};
use std::net::{Ipv4Addr, SocketAddr};
use wire::{Caller, Code, Error};

/// What browsers say about where a request comes from.
static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What carries a page's session. No other origin can send it without asking first, and is told no.
pub(crate) static SESSION: HeaderName = HeaderName::from_static("x-hermit-session");

/// Who was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// A program with the host's token.
    Program,
    /// A browser with a session, which ends then unless it is used.
    Browser {
        /// Milliseconds since 1970.
        ends_at: i64,
        /// To whom the link was given that opened it.
        given: Given,
        /// Under which name it came.
        place: Place,
    },
}

impl Who {
    pub(crate) const fn caller(self) -> Caller {
        match self {
            Self::Program => Caller::Program,
            Self::Browser { .. } => Caller::Page,
        }
    }

    /// The same, with whether a person is there.
    pub(crate) fn asker(self) -> Asker {
        match self {
            Self::Program => Caller::Program.into(),
            Self::Browser { .. } => Asker::page(self.is_at_terminal()),
        }
    }

    /// Whether it is a page whose link a person read at a terminal.
    pub(crate) const fn is_at_terminal(self) -> bool {
        matches!(self, Self::Browser { given: Given::AtTerminal, .. })
    }

    /// Whether a passkey signed it in, which a page of a terminal's link had added.
    pub(crate) const fn is_by_passkey(self) -> bool {
        matches!(self, Self::Browser { given: Given::ByPasskey, .. })
    }

    /// The session of a page; none of a program.
    pub(crate) fn session(self, headers: &HeaderMap) -> Option<String> {
        match self {
            Self::Program => None,
            Self::Browser { .. } => one(headers, &SESSION).map(str::to_owned),
        }
    }

    /// Refuses whoever is no page of a terminal's link; `does` says what only such a page does.
    pub(crate) fn at_terminal(self, does: &str) -> Result<(), Error> {
        if self.is_at_terminal() {
            return Ok(());
        }
        let message = format!("only a page that was opened from a terminal {does}");
        Err(Error::new(Code::Forbidden, message)
            .hint("run `hermit open` in a terminal and open the link it prints"))
    }

    /// Refuses whoever is neither such a page nor one that a passkey signed in: no program has one of these.
    pub(crate) fn by_person(self, does: &str) -> Result<(), Error> {
        if self.is_by_passkey() { Ok(()) } else { self.at_terminal(does) }
    }
}

/// The names this gateway goes by, its token, its sessions.
pub(crate) struct Guard {
    names: [String; 2],
    /// The origin that a person named besides.
    pub(crate) outer: Option<Origin>,
    token: Token,
    pub(crate) sessions: Sessions,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, outer: Option<Origin>, token: Token, draw: Draw) -> Self {
        let port = address.port();
        // A page that bound its own name to 127.0.0.1 sends that name here, and it is none of these.
        let names = [address.to_string(), format!("localhost:{port}")];
        Self { names, outer, token, sessions: Sessions::new(draw) }
    }

    /// Whether the request was meant for this gateway and no foreign page makes it. This comes first: a foreign page
    /// learns nothing about tokens. Answers under which name it came.
    pub(crate) fn is_meant(&self, headers: &HeaderMap) -> Result<Place, Error> {
        let place = match one(headers, &HOST) {
            Some(host) if self.is_own(host) => Place::Here,
            Some(host) if self.outer.as_ref().is_some_and(|outer| outer.is_host(host)) => Place::Elsewhere,
            _ => {
                return Err(forbidden("this name is not the gateway's; use the address it announced")
                    .hint("a name of yours that leads here is told to it with `hermit serve --origin`"));
            }
        };
        if headers.contains_key(ORIGIN) && !self.is_own_origin(place, headers) {
            return Err(forbidden("pages of another origin may not come in"));
        }
        Ok(place)
    }

    /// Lets a request in, or says why not.
    pub(crate) fn admit(&self, method: &Method, headers: &HeaderMap, now: i64) -> Result<Who, Error> {
        let place = self.is_meant(headers)?;
        if !self.is_same_origin(headers) {
            return Err(forbidden("pages of another origin may not come in"));
        }
        let missing = || {
            Error::new(Code::Unauthorised, "the token is missing or wrong").hint(
                "send `Authorization: Bearer TOKEN` with the token of the host that runs now; in a browser open the \
                 link that `hermit serve` prints",
            )
        };
        // Programs are on this machine. What a proxy on the way asks a person for is the proxy's.
        if place == Place::Here && headers.contains_key(AUTHORIZATION) {
            let given = one(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
            return given.filter(|given| self.token.is(given)).map(|_| Who::Program).ok_or_else(missing);
        }
        let session = one(headers, &SESSION).ok_or_else(missing)?;
        let (ends_at, given) = self.sessions.used(session, place, now).ok_or_else(missing)?;
        // What changes something says where it comes from, or a form of another page could have sent it.
        if !matches!(*method, Method::GET | Method::HEAD) && !self.is_own_origin(place, headers) {
            return Err(forbidden("a browser's request that changes something carries its origin"));
        }
        Ok(Who::Browser { ends_at, given, place })
    }

    /// Whether a browser says that the request comes from elsewhere. A page on another port of this machine is the
    /// same site to a cookie; it is not to us.
    pub(crate) fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        !headers.contains_key(&FETCH_SITE)
            || one(headers, &FETCH_SITE).is_some_and(|site| matches!(site, "same-origin" | "none"))
    }

    fn is_own_origin(&self, place: Place, headers: &HeaderMap) -> bool {
        let Some(origin) = one(headers, &ORIGIN) else { return false };
        match place {
            Place::Here => origin.strip_prefix("http://").is_some_and(|name| self.is_own(name)),
            Place::Elsewhere => self.outer.as_ref().is_some_and(|outer| outer.is(origin)),
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The origin of a page that was let in, for what belongs to its name: an address of numbers has none.
pub(crate) fn page_origin(headers: &HeaderMap) -> Result<String, Error> {
    let origin = one(headers, &ORIGIN).unwrap_or_default().to_ascii_lowercase();
    let name = origin.split_once("://").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
    if name.is_empty() || name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok() {
        return Err(Error::new(Code::Conflict, "passkeys do not work at this address")
            .hint("open the page at `localhost`; Settings makes a link for it"));
    }
    Ok(origin)
}

/// The value of a header that is there exactly once.
pub(crate) fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn forbidden(message: &str) -> Error {
    Error::new(Code::Forbidden, message)
}
