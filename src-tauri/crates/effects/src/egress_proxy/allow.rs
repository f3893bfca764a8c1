//! The hosts that a grant names.

use super::address;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// Hosts as `name:port`; `*:0` is any public one, and `*.name:port` all below a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowed(Vec<(String, u16)>);

/// Why a host cannot be dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoWay {
    /// Nobody knows where it is.
    Unknown(String),
    /// Where it is, nothing may be dialled.
    Closed {
        /// Its address.
        at: IpAddr,
        /// What that is.
        why: &'static str,
    },
}

/// A host as it is compared: no capitals, no brackets, no dot at the end.
pub(super) fn plain(name: &str) -> String {
    let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// `name:port`, the name possibly in brackets.
pub(super) fn split(host: &str) -> Option<(String, u16)> {
    let (name, port) = host.rsplit_once(':')?;
    let name = plain(name);
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '*');
    let fits = !name.is_empty() && name.len() <= 253 && name.chars().all(letters);
    Some((name, port.parse().ok()?)).filter(|_| fits)
}

impl Allowed {
    pub(crate) fn new(hosts: &[String]) -> Self {
        Self(hosts.iter().filter_map(|host| split(host)).collect())
    }

    /// Whether a host may be asked for at all, before anybody looks up where it is.
    pub(crate) fn names(&self, name: &str, port: u16) -> bool {
        self.0.iter().any(|(known, at)| match (known.as_str(), *at) {
            ("*", 0) => true,
            (known, at) if at != port => known == "*" && at == port,
            ("*", _) => true,
            (known, _) => match known.strip_prefix("*.") {
                Some(below) => {
                    name.strip_suffix(below).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
                }
                None => known == name,
            },
        })
    }

    /// Looks a host up, once; the first of its addresses that may be dialled.
    pub(crate) fn resolve(&self, name: &str, port: u16) -> Result<SocketAddr, NoWay> {
        let found = (name, port).to_socket_addrs();
        let all: Vec<SocketAddr> =
            found.map_err(|e| NoWay::Unknown(format!("`{name}` is not known: {e}")))?.collect();
        match all.iter().find(|at| self.refuses(name, **at).is_none()) {
            Some(at) => Ok(*at),
            None => Err(all.first().map_or_else(
                || NoWay::Unknown(format!("`{name}` has no address")),
                |at| NoWay::Closed { at: at.ip(), why: self.refuses(name, *at).unwrap_or("not public") },
            )),
        }
    }

    /// Why an address must not be dialled, although its host is named: it is not public, and nobody named the address
    /// itself. A name that anybody may point anywhere is no permission to go there.
    pub(super) fn refuses(&self, name: &str, at: SocketAddr) -> Option<&'static str> {
        let why = address::refused(at.ip())?;
        let named = |known: &str| {
            known.parse::<IpAddr>() == Ok(at.ip())
                || (known == "localhost" && name == "localhost" && at.ip().is_loopback())
        };
        let is_named = self.0.iter().any(|(known, port)| *port == at.port() && named(known));
        (!is_named).then_some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(hosts: &[&str]) -> Allowed {
        Allowed::new(&hosts.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_host_is_named_by_name_and_port_and_by_nothing_like_it() {
        let some = allowed(&["api.example.org:443", "*.cdn.example.org:80"]);
        assert!(some.names("api.example.org", 443));
        assert!(some.names("a.cdn.example.org", 80));
        for (name, port) in [
            ("api.example.org", 80),
            ("evil-api.example.org", 443),
            ("api.example.org.evil.net", 443),
            ("cdn.example.org", 80),
            ("evilcdn.example.org", 80),
            (".cdn.example.org", 80),
        ] {
            assert!(!some.names(name, port), "{name}:{port}");
        }
        assert!(allowed(&["*:0"]).names("anything.net", 8443));
        assert!(!allowed(&["*:443"]).names("anything.net", 80));
        assert!(!allowed(&[]).names("anything.net", 80));
        assert_eq!(split("[::1]:80"), Some(("::1".to_owned(), 80)));
        assert_eq!(split("EXAMPLE.org.:443"), Some(("example.org".to_owned(), 443)));
        for wrong in ["example.org", ":80", "a b:80", "a/b:80", "a@b:80"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_address_that_is_not_public_is_dialled_only_when_it_was_named_itself() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(
            allowed(&["db.example.org:80"]).refuses("db.example.org", at("127.0.0.1:80")),
            Some("loopback")
        );
        assert!(allowed(&["*:0"]).refuses("x", at("169.254.169.254:80")).is_some());
        assert_eq!(allowed(&["127.0.0.1:80"]).refuses("127.0.0.1", at("127.0.0.1:80")), None);
        assert!(allowed(&["127.0.0.1:80"]).refuses("127.0.0.1", at("127.0.0.1:81")).is_some());
        assert_eq!(allowed(&["localhost:80"]).refuses("localhost", at("127.0.0.1:80")), None);
        assert!(allowed(&["localhost:80"]).refuses("other", at("127.0.0.1:80")).is_some());
        assert_eq!(allowed(&["*:0"]).refuses("x", at("8.8.8.8:53")), None);
    }
}
