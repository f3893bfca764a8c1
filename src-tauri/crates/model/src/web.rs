//! One request over HTTP or HTTPS, as it is proposed, judged, shown and sent (governance.md 5).

use crate::{Error, limits};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

crate::names! {
    /// What is asked of a server.
    pub enum Method ("method") {
        /// Give it.
        Get = "GET",
        /// Say what giving it would say.
        Head = "HEAD",
        /// Take this.
        Post = "POST",
        /// Put this there.
        Put = "PUT",
        /// Change it like this.
        Patch = "PATCH",
        /// Take it away.
        Delete = "DELETE",
    }
}

impl Method {
    /// Whether it may change something there; the others are safe by the words of RFC 9110, 9.2.1.
    pub const fn changes(self) -> bool {
        match self {
            Self::Get | Self::Head => false,
            Self::Post | Self::Put | Self::Patch | Self::Delete => true,
        }
    }

    /// Whether something can be sent with it.
    pub const fn carries(self) -> bool {
        match self {
            Self::Post | Self::Put | Self::Patch => true,
            Self::Get | Self::Head | Self::Delete => false,
        }
    }

    /// Whether it is about the very thing that the address names, so that a version of that can be demanded.
    pub const fn replaces(self) -> bool {
        match self {
            Self::Put | Self::Patch | Self::Delete => true,
            Self::Get | Self::Head | Self::Post => false,
        }
    }
}

/// An address: `http` or `https`, a host in small letters, a port unless it is the usual one, a path and a query.
/// No user, no password, no fragment; whatever has no place in an address is percent-encoded already.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebUrl {
    tls: bool,
    host: String,
    port: u16,
    path: String,
}

impl WebUrl {
    /// Whether it is `https`.
    pub const fn is_tls(&self) -> bool {
        self.tls
    }

    /// The host's name or address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// `name:port`, as grants and secrets name a host.
    pub fn server(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Whether the host is an address, or `localhost`: no name that everybody could look up.
    pub fn is_address(&self) -> bool {
        let numeric = |c: char| c.is_ascii_digit() || c == '.';
        self.host == "localhost" || self.host.contains(':') || self.host.chars().all(numeric)
    }

    fn usual_port(tls: bool) -> u16 {
        if tls { 443 } else { 80 }
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls { "https://" } else { "http://" })?;
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?
        } else {
            f.write_str(&self.host)?
        }
        if self.port != Self::usual_port(self.tls) {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(&self.path)
    }
}

impl FromStr for WebUrl {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|why| Error::Malformed { what: "address", why: why.to_owned() })
    }
}

fn parse(text: &str) -> Result<WebUrl, &'static str> {
    if text.len() > limits::FETCH_URL_BYTES_MAX {
        return Err("it is too long");
    }
    let (tls, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Err("it begins with `https://` or `http://`"),
    };
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    if authority.contains('@') {
        return Err("no user and no password stand in it; name a secret in a header instead");
    }
    if path.contains('#') {
        return Err("a `#` and what follows never reaches a server; leave it out");
    }
    let fits = |b: u8| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
    };
    if !path.bytes().all(fits) {
        return Err("what has no place in an address is percent-encoded");
    }
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => WebUrl::usual_port(tls),
        None => return Err("behind the host stands a port or nothing"),
        Some(digits) => match digits.parse() {
            Ok(port) if port > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => port,
            _ => return Err("its port is no number from 1 to 65535"),
        },
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    let named =
        !authority.starts_with('[') && host.bytes().all(letter) && !host.split('.').any(str::is_empty);
    let numbered = authority.starts_with('[')
        && host.contains(':')
        && host.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'));
    if host.is_empty() || host.len() > 253 || !(named || numbered) {
        return Err("its host is no name and no address; a name is written in ASCII, `xn--` where need be");
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(WebUrl { tls, host, port, path: format!("{slash}{path}") })
}

impl Serialize for WebUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WebUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <String as Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A line of the head. The value of a secret never stands here, only its handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// What it says; with a secret, what stands before the secret's value, such as `Bearer ` with its blank.
    #[serde(default)]
    pub value: String,
    /// Handle of the secret whose value follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// One request to one server. A redirect is an answer like any other: where it leads is asked for anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// What is asked.
    pub method: Method,
    /// Of whom, and what about.
    pub url: WebUrl,
    /// Lines of the head, as far as they are not Hermit's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
    /// What is sent, whole, for a person reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How long it may take.
    #[serde(default = "longest_ms")]
    pub timeout_ms: u64,
    /// The version that must still be there, as this attempt has seen it: sent as `If-Match`, so that the server
    /// refuses when it has changed since. The kernel fills it in; nobody proposes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_match: Option<String>,
}

const fn longest_ms() -> u64 {
    limits::FETCH_MS_MAX
}

/// Lines that say how and to whom bytes travel, or that Hermit writes itself.
const OUR_OWN: [&str; 18] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "idempotency-key",
    "if-match",
    "if-unmodified-since",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-forwarded-for",
];

/// Words in the name of a line that carries a credential.
const CREDENTIALS: [&str; 8] =
    ["authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "apikey"];

impl Fetch {
    /// Handles of the secrets it uses, sorted, without repeats.
    pub fn secrets(&self) -> Vec<String> {
        let found: std::collections::BTreeSet<&String> =
            self.headers.iter().filter_map(|header| header.secret.as_ref()).collect();
        found.into_iter().cloned().collect()
    }

    /// Whether it can be sent as it stands.
    ///
    /// # Errors
    /// Why not, in words for whoever proposed it.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=limits::FETCH_MS_MAX).contains(&self.timeout_ms) {
            return Err(format!("`timeout_ms` goes from 1 to {}", limits::FETCH_MS_MAX));
        }
        match &self.body {
            Some(_) if !self.method.carries() => return Err(format!("a {} has no body", self.method)),
            Some(body) if body.len() > limits::FETCH_BODY_BYTES_MAX => {
                let most = limits::FETCH_BODY_BYTES_MAX;
                return Err(format!("a body has at most {most} bytes, for a person reads all of it"));
            }
            _ => {}
        }
        if self.headers.len() > limits::FETCH_HEADERS_MAX {
            return Err(format!("at most {} headers are sent", limits::FETCH_HEADERS_MAX));
        }
        let mut names = std::collections::BTreeSet::new();
        for header in &self.headers {
            header.check()?;
            if !names.insert(header.name.to_ascii_lowercase()) {
                return Err(format!("the header `{}` stands there twice", header.name));
            }
        }
        let tag = |text: &String| text.len() > limits::FETCH_VALUE_BYTES_MAX || !text.bytes().all(is_plain);
        if self.if_match.as_ref().is_some_and(tag) || (self.if_match.is_some() && !self.method.replaces()) {
            return Err("a version is demanded of what is replaced, in plain characters".to_owned());
        }
        Ok(())
    }
}

/// What may stand in a value: nothing that could end a line, and nothing that two readers read differently.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

impl Header {
    /// Whether it can be sent as it stands.
    ///
    /// # Errors
    /// Why not, in words for whoever proposed it.
    pub fn check(&self) -> Result<(), String> {
        let Self { name, value, secret } = self;
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || name.len() > 100 || !name.bytes().all(token) {
            return Err(format!("`{name}` is no name of a header"));
        }
        if OUR_OWN.contains(&lower.as_str()) || lower.starts_with("proxy-") || lower.starts_with("sec-") {
            return Err(format!("the header `{name}` is written by Hermit itself; leave it out"));
        }
        let tidy = secret.is_some() || value.trim() == value;
        if value.len() > limits::FETCH_VALUE_BYTES_MAX || !value.bytes().all(is_plain) || !tidy {
            return Err(format!(
                "the value of `{name}` holds plain characters, on one line, without blanks around"
            ));
        }
        if secret.as_ref().is_some_and(|handle| handle.trim().is_empty()) {
            return Err(format!("the secret of `{name}` has no handle"));
        }
        if secret.is_none() && CREDENTIALS.iter().any(|word| lower.contains(word)) {
            return Err(format!(
                "`{name}` carries a credential: name a handle in its `secret`, and never write the value itself"
            ));
        }
        Ok(())
    }
}
