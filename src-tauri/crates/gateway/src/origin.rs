//! The one name besides this machine's own under which a person reaches the gateway, by way of a proxy of theirs.

use crate::Error;
use url::{Host, Url};

/// An origin that a person named: `https`, a name, and a port where it is not the usual one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// As browsers send it.
    origin: String,
    /// The same without its scheme, as `Host` says it.
    host: String,
}

impl Origin {
    /// An origin as a person writes it; names in other scripts and the usual port become what browsers send.
    ///
    /// # Errors
    /// [`Error::Origin`] for what is no origin, has no TLS, or has no name of its own.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let said = |why: &'static str| Error::Origin { origin: text.to_owned(), why };
        let url =
            Url::parse(text.trim()).map_err(|_| said("write it as `https://name` or `https://name:port`"))?;
        let name = match url.host() {
            Some(Host::Domain(name)) => name,
            Some(_) => return Err(said("a passkey belongs to a name, and not to an address of numbers")),
            None => return Err(said("it has no name")),
        };
        let is_label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if !name.split('.').all(is_label) {
            return Err(said("name one host, without `*` and without a dot at its end"));
        }
        match url.scheme() {
            "https" => {}
            "http" if name == "localhost" => {}
            _ => return Err(said("only `https` keeps it from being read on the way")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(said("it has no user and no password"));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(said("it ends with its name or its port, without a path"));
        }
        let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        Ok(Self { origin: format!("{}://{host}", url.scheme()), host })
    }

    /// As browsers send it.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.host.eq_ignore_ascii_case(host)
    }

    pub(crate) fn is(&self, origin: &str) -> bool {
        self.origin.eq_ignore_ascii_case(origin)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_origin_is_what_browsers_send_or_refused_with_words() {
        for (written, origin) in [
            ("https://desk.example", "https://desk.example"),
            ("https://DESK.example:443/", "https://desk.example"),
            (" https://desk.example:8443 ", "https://desk.example:8443"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://localhost", "https://localhost"),
        ] {
            let parsed = Origin::parse(written).expect("an origin");
            assert_eq!(parsed.as_str(), origin);
            assert!(parsed.is(origin) && !parsed.is("https://other.example"));
        }
        for written in [
            "",
            "desk.example",
            "desk.example:8443",
            "http://desk.example",
            "https://",
            "https://*.example",
            "https://*",
            "https://desk.example.",
            "https://192.0.2.1",
            "https://[::1]",
            "https://desk.example/hermit",
            "https://desk.example/?a",
            "https://desk.example/#a",
            "https://me@desk.example",
            "wss://desk.example",
            "https://desk..example",
            "http://localhost.example",
            "file:///etc/passwd",
            "null",
        ] {
            assert!(matches!(Origin::parse(written), Err(Error::Origin { .. })), "{written}");
        }
    }
}
