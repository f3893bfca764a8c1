//! The test of a server of models: which models it offers, asked with the key that a person gave for it; or what is wrong.
//!
//! Which servers may be asked is the rule of [`crate::models`]: those of this machine, and elsewhere the ones that a person
//! gave a key for. One list is read, by GET, within bounds of time and size; redirects are not followed.

use crate::models::{BYTES_MAX, Look, MODELS_MAX, called, is_name, ours};
use crate::{Config, Error, Local, Outbound};
use model::lasting;
use model::task::ModelApi;
use reasoning::{Address, Head, HttpReply, ModelHttp, ModelHttpError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::Code;
use wire::models::{Model, Server, Test};

/// How long a test takes at most, with everything that is asked in it: a person waits before a form.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of what a server says of a refusal.
const WORDS_MAX: usize = 200;

/// A way out that ends at one moment, whatever is asked, and gets the same address once.
struct Bounded {
    egress: Arc<dyn ModelHttp>,
    until: Instant,
    heard: Mutex<BTreeMap<String, (u16, Vec<u8>)>>,
}

impl Bounded {
    fn new(egress: Arc<dyn ModelHttp>, patience: Duration) -> Self {
        Self { egress, until: Instant::now() + patience, heard: Mutex::default() }
    }

    /// Milliseconds that are left, and no more than `most`.
    fn left(&self, most: u64) -> Result<u64, ModelHttpError> {
        let left = self.until.saturating_duration_since(Instant::now()).as_millis();
        let left = u64::try_from(left).unwrap_or(u64::MAX).min(most);
        if left == 0 { Err(ModelHttpError::TimedOut(0)) } else { Ok(left) }
    }
}

impl ModelHttp for Bounded {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        self.egress.post(url, head, body, self.left(timeout_ms)?, on_chunk)
    }

    fn get(
        &self,
        url: &str,
        head: &Head<'_>,
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let known = self.heard.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        let (status, bytes) = match known {
            Some(known) => known,
            None => {
                let mut bytes = Vec::new();
                let mut take = |chunk: &[u8]| {
                    bytes.extend_from_slice(chunk);
                    bytes.len() as u64 <= BYTES_MAX
                };
                let reply = self.egress.get(url, head, self.left(timeout_ms)?, &mut take)?;
                if bytes.is_empty() {
                    bytes = reply.body;
                }
                let heard = (reply.status, bytes);
                let mut all = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(url.to_owned(), heard.clone());
                heard
            }
        };
        if !on_chunk(&bytes) {
            return Err(ModelHttpError::Stopped);
        }
        Ok(HttpReply { status, ..HttpReply::default() })
    }
}

/// Where a server lists its models.
fn list_of(api: ModelApi, url: &str) -> String {
    match api {
        ModelApi::Ollama => format!("{url}/api/tags"),
        ModelApi::Openai | ModelApi::Responses | ModelApi::Anthropic | ModelApi::Gemini => {
            format!("{url}/models")
        }
    }
}

/// What a server lists: its program's name where the list tells it, and names of models; nothing where it is no such list.
fn listed(api: ModelApi, bytes: &[u8]) -> Option<(Option<&'static str>, Vec<String>)> {
    let list: Value = serde_json::from_slice(bytes).ok()?;
    let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let (all, key) = match api {
        ModelApi::Openai | ModelApi::Responses | ModelApi::Anthropic => (list.get("data")?, "id"),
        ModelApi::Gemini | ModelApi::Ollama => (list.get("models")?, "name"),
    };
    let all = all.as_array()?;
    let owner = all.first().and_then(|one| text(one, "owned_by"));
    let name = match api {
        ModelApi::Ollama => Some("Ollama"),
        _ => owner.as_deref().and_then(called),
    };
    let ids = all.iter().filter_map(|one| text(one, key));
    let ids = ids
        .map(|id| id.strip_prefix("models/").filter(|_| api == ModelApi::Gemini).unwrap_or(&id).to_owned());
    Some((name, ids.filter(|id| is_name(id)).take(MODELS_MAX).collect()))
}

/// What a server answers to a test: as [`listed`], or what is wrong with what to do about it.
fn asked(
    api: ModelApi,
    url: &str,
    secret: Option<&str>,
    egress: &dyn ModelHttp,
) -> Result<(Option<&'static str>, Vec<String>), String> {
    let (list, mut bytes) = (list_of(api, url), Vec::new());
    let patience = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
    let reply = egress.get(&list, &reasoning::server::head(api, secret), patience, &mut |chunk| {
        bytes.extend_from_slice(chunk);
        true
    });
    let not_one = format!(
        "what answers at `{list}` is no list of models: check the address, which often ends in `/v1`, and the protocol"
    );
    let status = match reply {
        Ok(reply) => reply.status,
        Err(ModelHttpError::Unreachable(why)) => {
            return Err(format!(
                "nothing answers at `{url}`: {why}; start the server, or correct the address"
            ));
        }
        Err(ModelHttpError::TimedOut(_)) => {
            return Err(format!(
                "it did not answer within {}: it may be busy, or no model server; try again, or look at its log",
                lasting(PATIENCE)
            ));
        }
        Err(ModelHttpError::Stopped) => {
            return Err(format!(
                "what it sent is longer than a list of models, {BYTES_MAX} bytes; check the address"
            ));
        }
        Err(ModelHttpError::Cut(why)) => {
            return Err(format!(
                "the connection was cut: {why}; check the address, and whether it wants `https`"
            ));
        }
        Err(ModelHttpError::Denied(why)) => return Err(why),
    };
    match status {
        200 => match listed(api, &bytes) {
            Some((_, models)) if models.is_empty() => Err("it has no model loaded".to_owned()),
            found => found.ok_or(not_one),
        },
        401 | 403 => Err(match secret {
            Some(handle) => format!(
                "it refuses the key `secret:{handle}`{}; check it, and give it again with `hermit models add`",
                reason(&bytes)
            ),
            None => {
                "it wants a key before it lists its models; give it one with `hermit models add`".to_owned()
            }
        }),
        301..=308 => Err(format!(
            "it redirects (status {status}), which is not followed; give the address it redirects to"
        )),
        404 | 405 => Err(not_one),
        429 => Err("it was asked too often; wait a while, then test it again".to_owned()),
        _ => Err(format!("it answers with status {status}{}; look at its log", reason(&bytes))),
    }
}

/// What a server says of its refusal, in brackets; nothing where that is no text.
fn reason(bytes: &[u8]) -> String {
    let said: Option<Value> = serde_json::from_slice(bytes).ok();
    let words = said.as_ref().and_then(|said| {
        let inner = said.get("error").unwrap_or(said);
        inner.get("message").unwrap_or(inner).as_str()
    });
    let Some(words) = words.map(str::trim).filter(|words| !words.is_empty()) else { return String::new() };
    let line = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS_MAX);
    format!(" (it says: {})", line.collect::<String>())
}

/// Protocol and base URL of a server as a person names it: a provider alone, `PROTOCOL:URL` with or without `#MODEL`, or a URL.
pub fn server_named(named: &str) -> (String, String) {
    let base = |url: &str| url.split('#').next().unwrap_or(url).to_owned();
    let (api, rest) = named.split_once(':').unwrap_or((named, ""));
    match api.parse::<ModelApi>() {
        Ok(api) if rest.contains("://") => (api.to_string(), base(rest)),
        Ok(api) => (api.to_string(), reasoning::address::usual(api).to_owned()),
        Err(_) => (ModelApi::standard().to_string(), base(named)),
    }
}

impl Local {
    /// Asks a server which models it offers: one of this machine, or one that a person gave a key for.
    ///
    /// # Errors
    /// [`Code::Usage`] for what is no such server or protocol. A server that does not answer as one is no error: the answer
    /// says what is wrong.
    pub(crate) fn test_server(&self, wish: &Test) -> Result<Server, wire::Error> {
        let config = Config::load(self.home()).map_err(Error::to_wire)?;
        let api = wish.api.as_deref().unwrap_or(ModelApi::standard().as_str());
        let api: ModelApi = api.parse().map_err(|_| {
            let all: Vec<&str> = ModelApi::ALL.iter().map(|api| api.as_str()).collect();
            wire::Error::new(
                Code::Usage,
                format!("`{api}` is no protocol of model servers; there are {}", all.join(", ")),
            )
        })?;
        let address = ours(&format!("{api}:{}#model", wish.url.trim()), &config)?;
        let Ok(Address::Server { url, .. }) = address.parse::<Address>() else {
            return Err(wire::Error::new(Code::Usage, format!("`{}` names no server", wish.url)));
        };
        let secret = wish.secret.clone().or_else(|| config.secret_for(&url));
        let egress: Arc<dyn ModelHttp> =
            Arc::new(Outbound::new(&config, self.keys().secrets(), self.secrets().clone()));
        Ok(tested(api, url, secret, &config, Arc::new(Bounded::new(egress, PATIENCE))))
    }
}

fn tested(
    api: ModelApi,
    url: String,
    secret: Option<String>,
    config: &Config,
    egress: Arc<dyn ModelHttp>,
) -> Server {
    let own = || url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or(&url).to_owned();
    let (name, ids) = match asked(api, &url, secret.as_deref(), &*egress) {
        Ok(found) => found,
        Err(why) => return Server { name: own(), url, models: Vec::new(), trouble: Some(why) },
    };
    let name = name.map_or_else(own, str::to_owned);
    let look = Look::through(config, secret, egress);
    let models = ids.into_iter().enumerate().map(|(n, id)| {
        let address = Address::Server { api, url: url.clone(), model: id.clone() }.to_string();
        let asked = if n < crate::models::ASKED_MAX { look.asked(&address) } else { None };
        Model { id, address, asked }
    });
    let models = models.collect();
    Server { name, url, models, trouble: None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::model_http::SecretSlot;
    use crate::secrets::SecretBook;
    use serde_json::json;
    use std::io::Write as _;
    use std::net::TcpListener;

    fn trouble(url: &str, patience: Duration) -> String {
        let config = Config::default();
        let egress = Arc::new(Outbound::new(&config, SecretSlot::default(), SecretBook::default()));
        let egress = Arc::new(Bounded::new(egress, patience));
        let server = tested(ModelApi::Openai, url.to_owned(), None, &config, egress);
        assert!(server.models.is_empty(), "{server:?}");
        server.trouble.expect("it says what is wrong")
    }

    #[test]
    fn a_server_that_never_answers_and_one_that_never_ends_cost_no_more_than_the_bounds() {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", silent.local_addr().expect("an address"));
        assert!(trouble(&url, Duration::from_millis(200)).contains("did not answer within"));
        let endless = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", endless.local_addr().expect("an address"));
        let sender = std::thread::spawn(move || {
            let (mut stream, _) = endless.accept().expect("somebody asks");
            stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a limit");
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").expect("a head");
            let mut sent = 0_u64;
            while stream.write_all(&[b' '; 64 * 1024]).is_ok() {
                sent += 64 * 1024;
            }
            sent
        });
        assert!(trouble(&url, PATIENCE).contains("longer than a list of models"));
        let sent = sender.join().expect("it hears that nobody reads");
        assert!((BYTES_MAX..64 * BYTES_MAX).contains(&sent), "{sent} bytes were taken");
    }

    #[test]
    fn each_protocol_lists_its_models_in_its_own_way_and_nothing_else_is_a_list() {
        let openai = json!({ "data": [{ "id": "a", "owned_by": "llamacpp" }, { "id": "b c" }] });
        let gemini = json!({ "models": [{ "name": "models/gemini-x" }] });
        let ollama = json!({ "models": [{ "name": "qwen:7b" }] });
        let names = |api, list: &Value| {
            listed(api, list.to_string().as_bytes()).map(|(name, ids)| (name, ids.join(" ")))
        };
        assert_eq!(names(ModelApi::Openai, &openai), Some((Some("llama.cpp"), "a".to_owned())));
        assert_eq!(names(ModelApi::Gemini, &gemini), Some((None, "gemini-x".to_owned())));
        assert_eq!(names(ModelApi::Ollama, &ollama), Some((Some("Ollama"), "qwen:7b".to_owned())));
        assert_eq!(names(ModelApi::Openai, &ollama), None);
        assert_eq!(listed(ModelApi::Openai, b"<html>hello</html>"), None);
        assert_eq!(list_of(ModelApi::Ollama, "http://127.0.0.1:11434"), "http://127.0.0.1:11434/api/tags");
    }

    #[test]
    fn a_server_is_named_by_its_provider_its_protocol_or_its_address() {
        let of = |named: &str| server_named(named);
        let both = |api: &str, url: &str| (api.to_owned(), url.to_owned());
        assert_eq!(of("anthropic"), both("anthropic", "https://api.anthropic.com/v1"));
        assert_eq!(of("ollama:http://127.0.0.1:1#m"), both("ollama", "http://127.0.0.1:1"));
        assert_eq!(of("http://127.0.0.1:8080/v1"), both("openai", "http://127.0.0.1:8080/v1"));
        assert_eq!(of("gemini:some-model").0, "gemini");
    }
}
