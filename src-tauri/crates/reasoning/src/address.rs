//! The address of a model, as people write it in settings and on the command line.

use crate::{Error, model_box};
use model::task::ModelApi;
use std::fmt;
use std::str::FromStr;

/// Where reasoning comes from.
///
/// Written `openai:URL#MODEL` and so on for each protocol, `playbook:NAME`, `recorded:FILE` or `scripted`; parse and
/// print are inverse. Where a protocol has a usual server, `anthropic:MODEL` names one there. A model in the box is
/// `box:NAME`: it is asked as a server is, and reached through no network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A server of models: its protocol, base URL without a slash at its end, and the model's name there.
    Server {
        /// Which protocol it speaks.
        api: ModelApi,
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
            Self::Server { url, .. } => authority(url).ok(),
            Self::Playbook(_) | Self::Recorded(_) | Self::Scripted => None,
        }
    }

    /// The model in the box that it names: its name, and the digest of its weights where that is said.
    pub fn in_box(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::Server { url, model, .. } if url == model_box::URL => model_box::named(model).ok(),
            _ => None,
        }
    }

    /// Whether its server is another machine: any host but loopback is.
    pub fn is_remote(&self) -> bool {
        self.host().is_some_and(|(host, _)| !is_loopback(&host))
    }

    /// Whether context sent there leaves this machine: its server is another one, or hands on to one, as Ollama does with the models that
    /// its maker runs. These are known by their tag alone: `cloud`, or one that ends in `-cloud`.
    pub fn leaves_this_machine(&self) -> bool {
        let is_cloud = |tag: &str| tag == "cloud" || tag.ends_with("-cloud");
        let is_handed_on = match self {
            Self::Server { model, .. } => {
                model.rsplit_once(':').is_some_and(|(_, tag)| is_cloud(&tag.to_ascii_lowercase()))
            }
            Self::Playbook(_) | Self::Recorded(_) | Self::Scripted => false,
        };
        self.is_remote() || is_handed_on
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

/// The server that a protocol is usually spoken by, where there is one: its maker's, or the one on this machine.
pub const fn usual(api: ModelApi) -> &'static str {
    match api {
        ModelApi::Openai | ModelApi::Responses => "https://api.openai.com/v1",
        ModelApi::Anthropic => "https://api.anthropic.com/v1",
        ModelApi::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        ModelApi::Ollama => "http://127.0.0.1:11434",
    }
}

/// `URL#MODEL`, or the name of a model at the usual server.
fn server(api: ModelApi, rest: &str) -> Result<Address, String> {
    let (url, model) = match rest.split_once('#') {
        Some(("", model)) => (usual(api), model),
        Some(both) => both,
        None if rest.contains("://") => return Err("it names no model after a `#`".to_owned()),
        None => (usual(api), rest),
    };
    if model.is_empty() {
        return Err("it names no model after the `#`".to_owned());
    }
    if url.contains('?') {
        return Err("its URL holds a query; give the base URL, which often ends in `/v1`".to_owned());
    }
    // A model's name stands in Gemini's path.
    if api == ModelApi::Gemini && !model.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
        return Err("the name of such a model has letters, digits, `-`, `_` and `.`".to_owned());
    }
    authority(url)?;
    Ok(Address::Server { api, url: url.trim_end_matches('/').to_owned(), model: model.to_owned() })
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { url, model, .. } if url == model_box::URL => write!(f, "{url}{model}"),
            Self::Server { api, url, model } => write!(f, "{api}:{url}#{model}"),
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
        if text.chars().any(|c| c.is_control() || (c.is_whitespace() && provider.parse::<ModelApi>().is_ok()))
        {
            return Err(wrong("it holds a space or a control character"));
        }
        if let Ok(api) = provider.parse::<ModelApi>() {
            return server(api, rest).map_err(|why| wrong(&why));
        }
        match provider {
            "playbook" | "recorded" if rest.is_empty() => Err(wrong("it names nothing after the `:`")),
            "playbook" => Ok(Self::Playbook(rest.to_owned())),
            "box" => {
                model_box::named(rest).map_err(wrong)?;
                let (api, url) = (ModelApi::standard(), model_box::URL.to_owned());
                Ok(Self::Server { api, url, model: rest.to_owned() })
            }
            "recorded" => Ok(Self::Recorded(rest.to_owned())),
            // The address of a server alone: what it speaks and which of its models are what is missing.
            "http" | "https" => {
                let model = if text.contains('#') { "" } else { "#MODEL" };
                Err(wrong(&format!("it names no provider before the URL; write `openai:{text}{model}`")))
            }
            _ => Err(wrong(&format!(
                "its provider is none of {}, `box`, `playbook`, `recorded`, `scripted`",
                ModelApi::ALL.iter().map(|api| format!("`{api}`")).collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}
