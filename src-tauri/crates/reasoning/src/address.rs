//! The address of a model, as people write it in settings and on the command line.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// Where reasoning comes from.
///
/// Written `openai:URL#MODEL`, `playbook:NAME`, `recorded:FILE` or `scripted`; parse and print are inverse.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// An OpenAI-compatible server: base URL without a slash at its end, and the model's name there.
    OpenAi {
        /// Such as `http://127.0.0.1:8080/v1`.
        url: String,
        /// Such as `qwen2.5-coder:1.5b`.
        model: String,
    },
    /// A shipped playbook by name, or a file of one.
    Playbook(String),
    /// A transcript's file.
    Recorded(String),
    /// Answers of a test.
    Scripted,
}

impl Address {
    /// Host and port that are reached, when any is; port 80 or 443 when none is written.
    pub fn host(&self) -> Option<(String, u16)> {
        match self {
            Self::OpenAi { url, .. } => authority(url).ok(),
            Self::Playbook(_) | Self::Recorded(_) | Self::Scripted => None,
        }
    }

    /// Whether context sent there leaves this machine: any host but loopback does.
    pub fn is_remote(&self) -> bool {
        self.host().is_some_and(|(host, _)| !is_loopback(&host))
    }
}

/// Whether a host name can only mean this machine.
fn is_loopback(host: &str) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Host and port of an `http` or `https` URL, or what is wrong with it.
fn authority(url: &str) -> Result<(String, u16), &'static str> {
    let (rest, default) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
        (Some(rest), _) => (rest, 80),
        (_, Some(rest)) => (rest, 443),
        (None, None) => return Err("its URL begins neither with `http://` nor with `https://`"),
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("its URL holds a user or password; put the key into the keychain instead");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| "its port is not a number up to 65535")?)
        }
        _ => (authority, default),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || (host.contains(':') && !bracketed) {
        return Err("its URL names no host");
    }
    Ok((host.to_owned(), port))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenAi { url, model } => write!(f, "openai:{url}#{model}"),
            Self::Playbook(name) => write!(f, "playbook:{name}"),
            Self::Recorded(file) => write!(f, "recorded:{file}"),
            Self::Scripted => f.write_str("scripted"),
        }
    }
}

impl FromStr for Address {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Address { text: text.to_owned(), why: why.to_owned() };
        if text == "scripted" {
            return Ok(Self::Scripted);
        }
        let (provider, rest) =
            text.split_once(':').ok_or_else(|| wrong("it names no provider before a `:`"))?;
        if text.chars().any(|c| c.is_control() || (c.is_whitespace() && provider == "openai")) {
            return Err(wrong("it holds a space or a control character"));
        }
        match provider {
            "openai" => {
                let (url, model) =
                    rest.split_once('#').ok_or_else(|| wrong("it names no model after a `#`"))?;
                if model.is_empty() {
                    return Err(wrong("it names no model after the `#`"));
                }
                if url.contains('?') {
                    return Err(wrong("its URL holds a query; give the base URL, which often ends in `/v1`"));
                }
                authority(url).map_err(wrong)?;
                Ok(Self::OpenAi { url: url.trim_end_matches('/').to_owned(), model: model.to_owned() })
            }
            "playbook" | "recorded" if rest.is_empty() => Err(wrong("it names nothing after the `:`")),
            "playbook" => Ok(Self::Playbook(rest.to_owned())),
            "recorded" => Ok(Self::Recorded(rest.to_owned())),
            _ => Err(wrong("its provider is none of `openai`, `playbook`, `recorded`, `scripted`")),
        }
    }
}
