//! How much a model takes and gives: what a person set, else what its server says, else what is known of its name, else a
//! guess that harms little.

use crate::config::{Config, ModelSettings};
use crate::prices::{Price, dollars, price, priced};
use model::task::ModelApi;
use reasoning::{Address, Head, ModelHttp, Settings, ToolMode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Known by name.
const TABLE: &str = include_str!("known.tsv");
/// Most of a context that is used unless a person sets more: every turn is paid for by what it reads.
const CONTEXT_USED: u32 = 128_000;
/// Most of an answer that is asked for unless a person sets more.
const OUTPUT_USED: u32 = 32_000;
/// Tokens below which nothing could be asked.
pub(crate) const CONTEXT_MIN: u32 = 1_024;
/// Tokens of models of which nothing is known.
const REMOTE: Size = Size { context: 32_768, output: 8_192, from: From::Guess };
const LOCAL: Size = Size { context: 16_384, output: 4_096, from: From::Guess };
/// Thousand million weights up to which a model is small.
const SMALL_BILLIONS: f64 = 4.0;
/// How long a server may think about its own size: one that is busy answers late, and a guess in its place would be wrong.
const PATIENCE_MS: u64 = 30_000;
/// Bytes of what it says of itself.
const SAID_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Where a size is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Set,
    Server,
    Name,
    Guess,
}

impl From {
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Server => "its server says so",
            Self::Name => "by its name",
            Self::Guess => "not known, assumed",
        }
    }
}

/// Tokens of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Prompt and answer together.
    pub(crate) context: u32,
    /// One answer.
    pub(crate) output: u32,
    pub(crate) from: From,
}

impl Size {
    fn of(context: u32, output: Option<u32>, from: From) -> Self {
        let context = context.min(CONTEXT_USED);
        // A quarter, where nobody says how long an answer may be.
        let output = output.unwrap_or(context / 4).min(OUTPUT_USED).min(context / 2);
        Self { context, output, from }
    }
}

/// What a server says of a model.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Said {
    size: Option<Size>,
    pub(crate) price: Option<Price>,
    /// Thousand million weights.
    billions: Option<f64>,
}

/// What servers have said of their models while this process runs, and what they have refused.
#[derive(Default)]
pub(crate) struct Known {
    said: Mutex<BTreeMap<String, Said>>,
    refused: Mutex<BTreeMap<String, Vec<String>>>,
}

impl Known {
    /// What a server says, asked until it has answered once.
    pub(crate) fn said(&self, address: &Address, secret: Option<&str>, egress: &dyn ModelHttp) -> Said {
        let key = address.to_string();
        if let Some(known) = lock(&self.said).get(&key) {
            return *known;
        }
        let Some(said) = ask(address, secret, egress) else { return Said::default() };
        lock(&self.said).insert(key, said);
        said
    }

    /// A parameter that a server has refused.
    pub(crate) fn refuse(&self, address: &str, parameter: &str) {
        lock(&self.refused).entry(address.to_owned()).or_default().push(parameter.to_owned());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a model is asked.
///
/// # Errors
/// In words, when what is set for it is no setting.
pub(crate) fn settings(
    address: &Address,
    secret: Option<String>,
    config: &Config,
    known: &Known,
    egress: &Arc<dyn ModelHttp>,
) -> Result<Settings, String> {
    let text = address.to_string();
    let own = config.model(&text).cloned().unwrap_or_default();
    let size = size(address, secret.as_deref(), config, &own, known, &**egress);
    let price = price(address, secret.as_deref(), &own, known, &**egress)?;
    let standard = Settings::default();
    // A model elsewhere is left its own temperature: many know no other.
    let (usual, seed) =
        if address.is_remote() { (None, None) } else { (standard.temperature_milli, standard.seed) };
    let mut without = own.without.clone();
    without.extend(lock(&known.refused).get(&text).into_iter().flatten().cloned());
    let billions = || known.said(address, secret.as_deref(), &**egress).billions;
    let is_small =
        || billions().or_else(|| billions_of(model_of(address))).is_some_and(|most| most <= SMALL_BILLIONS);
    let small = own.all_tools.map_or_else(is_small, |all| !all);
    Ok(Settings {
        mode: own.mode.unwrap_or(ToolMode::Auto),
        small,
        offer: if own.all_tools == Some(true) { all_tools() } else { Vec::new() },
        without,
        secret,
        context_tokens: size.context,
        answer_tokens: size.output,
        temperature_milli: own.temperature_milli()?.unwrap_or(usual),
        seed,
        prices: price.map(Price::whole).unwrap_or_default(),
        sees: own.sees.unwrap_or(false),
        ..standard
    })
}

fn all_tools() -> Vec<String> {
    iteration::tools().into_iter().map(|tool| tool.name).collect()
}

/// How much a model takes and gives.
pub(crate) fn size(
    address: &Address,
    secret: Option<&str>,
    config: &Config,
    own: &ModelSettings,
    known: &Known,
    egress: &dyn ModelHttp,
) -> Size {
    let context = own.context.or(config.context_tokens);
    if let (Some(context), Some(output)) = (context, own.output) {
        return Size { context, output, from: From::Set };
    }
    let found = known
        .said(address, secret, egress)
        .size
        .or_else(|| by_name(address).map(|(size, _)| size))
        .unwrap_or(if address.is_remote() { REMOTE } else { LOCAL });
    match (context, own.output) {
        (None, None) => found,
        (Some(context), _) => Size {
            context,
            output: if context < found.context { context / 4 } else { found.output },
            from: From::Set,
        },
        (None, Some(output)) => Size { output, from: From::Set, ..found },
    }
}

fn model_of(address: &Address) -> &str {
    match address {
        Address::Server { model, .. } => model,
        Address::Playbook(_) | Address::Recorded(_) | Address::Scripted => "",
    }
}

/// What is known of a model by its name, on servers elsewhere: one on this machine has the context that it was started
/// with, whatever the model could do. Its price is its maker's, and another server's is not known.
pub(crate) fn by_name(address: &Address) -> Option<(Size, Option<Price>)> {
    if !address.is_remote() {
        return None;
    }
    let name = model_of(address).rsplit('/').next()?.to_ascii_lowercase();
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect());
    let fits = rows.filter(|cells: &Vec<&str>| cells.first().is_some_and(|begins| name.starts_with(begins)));
    let cells = fits.max_by_key(|cells| cells.first().map_or(0, |begins| begins.len()))?;
    let tokens = |n: usize| cells.get(n)?.parse::<u32>().ok();
    let price = || {
        let (host, _) = address.host()?;
        let at_its_maker = cells.get(3)?.eq_ignore_ascii_case(&host);
        let micros = |n: usize| dollars(cells.get(n)?).ok();
        at_its_maker.then_some(Price {
            cached: micros(6),
            cache_written: micros(7),
            ..Price::of(micros(4)?, micros(5)?, From::Name)
        })
    };
    Some((Size::of(tokens(1)?, tokens(2), From::Name), price()))
}

/// Thousand million weights as a name says them: `qwen2.5-coder-1.5b`, `SmolLM2-135M`.
fn billions_of(name: &str) -> Option<f64> {
    let name = name.to_ascii_lowercase();
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let billions = parts.filter_map(|part| {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let number: f64 = number.parse().ok()?;
        match unit {
            "b" => Some(number),
            "m" => Some(number / 1000.0),
            _ => None,
        }
    });
    billions.fold(None, |most, one| Some(most.map_or(one, |most: f64| most.max(one))))
}

/// A number at the first of these places that has one.
fn number(value: &Value, paths: &[&str]) -> Option<u32> {
    let found = paths.iter().find_map(|path| value.pointer(path).and_then(Value::as_u64));
    found.and_then(|n| u32::try_from(n).ok())
}

/// What a server says at an address, to whoever asks or posts this; nothing known where it refuses.
fn said(url: &str, head: &Head<'_>, body: Option<&Value>, egress: &dyn ModelHttp) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut take = |chunk: &[u8]| {
        bytes.extend_from_slice(chunk);
        bytes.len() <= SAID_BYTES_MAX
    };
    let reply = match body {
        None => egress.get(url, head, PATIENCE_MS, &mut take),
        Some(body) => egress.post(url, head, body.to_string().as_bytes(), PATIENCE_MS, &mut take),
    };
    let reply = reply.ok()?;
    if bytes.is_empty() {
        bytes = reply.body;
    }
    let said = if reply.status == 200 { serde_json::from_slice(&bytes).ok() } else { None };
    Some(said.unwrap_or_default())
}

/// Names of what a model takes and gives, in lists of models.
const CONTEXTS: [&str; 6] = [
    "/context_length",
    "/max_model_len",
    "/context_window",
    "/max_context_length",
    "/meta/n_ctx",
    "/max_input_tokens",
];
const OUTPUTS: [&str; 4] =
    ["/max_output_tokens", "/max_tokens", "/max_completion_tokens", "/top_provider/max_completion_tokens"];

/// Asks a server what its model takes: llama.cpp at `/props`, Ollama at `/api/show`, Gemini at the model, others in their
/// list of models. Nothing when it does not answer.
fn ask(address: &Address, secret: Option<&str>, egress: &dyn ModelHttp) -> Option<Said> {
    let Address::Server { api, url, model } = address else { return None };
    let head = reasoning::server::head(*api, secret);
    let root = url.strip_suffix("/v1").unwrap_or(url);
    let get = |url: String| said(&url, &head, None, egress);
    let show =
        || said(&format!("{root}/api/show"), &head, Some(&serde_json::json!({ "model": model })), egress);
    match api {
        ModelApi::Gemini => {
            let told = get(format!("{url}/models/{model}"))?;
            let size = sized(number(&told, &["/inputTokenLimit"]), number(&told, &["/outputTokenLimit"]));
            return Some(Said { size, ..Said::default() });
        }
        ModelApi::Ollama => return Some(of_ollama(&show()?)),
        ModelApi::Openai | ModelApi::Responses | ModelApi::Anthropic => {}
    }
    let listed = get(format!("{url}/models"))?;
    let all = listed.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named = all.iter().find(|one| one.get("id").and_then(Value::as_str) == Some(model));
    // A server of one model answers to any name.
    let entry = named.or(if let [only] = all { Some(only) } else { None });
    let weights = entry.and_then(|one| one.pointer("/meta/n_params")).and_then(Value::as_u64);
    let mut said = Said {
        size: entry.and_then(|one| sized(number(one, &CONTEXTS), number(one, &OUTPUTS))),
        price: entry.and_then(priced),
        billions: weights.map(|weights| weights as f64 / 1e9),
    };
    if said.size.is_some() || address.is_remote() {
        return Some(said);
    }
    match entry.and_then(|one| one.get("owned_by")).and_then(Value::as_str).unwrap_or_default() {
        "llamacpp" | "" => {
            let props = get(format!("{root}/props"))?;
            said.size = sized(number(&props, &["/default_generation_settings/n_ctx", "/n_ctx"]), None);
        }
        "library" | "ollama" => return Some(Said { price: said.price, ..of_ollama(&show()?) }),
        _ => {}
    }
    Some(said)
}

/// What a server says of a size, where it is one.
fn sized(context: Option<u32>, output: Option<u32>) -> Option<Size> {
    context.filter(|context| *context >= CONTEXT_MIN).map(|context| Size::of(context, output, From::Server))
}

fn of_ollama(shown: &Value) -> Said {
    let weights = shown.pointer("/details/parameter_size").and_then(Value::as_str);
    Said { size: sized(ollama(shown), None), price: None, billions: weights.and_then(billions_of) }
}

/// What Ollama runs a model with: what its file sets, else 4,096 whatever the model could do.
fn ollama(shown: &Value) -> Option<u32> {
    let parameters = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse::<u32>().ok())?
    });
    let info = shown.get("model_info").and_then(Value::as_object)?;
    let able = info.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64()?;
    Some(set.unwrap_or(OLLAMA_STANDARD).min(u32::try_from(able).unwrap_or(u32::MAX)))
}

/// Tokens that Ollama gives a model unless it is told otherwise.
const OLLAMA_STANDARD: u32 = 4_096;

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use reasoning::{HttpReply, ModelHttpError};

    /// Answers by path, with nothing else.
    pub(crate) struct Says(pub(crate) Vec<(&'static str, Value)>);

    impl ModelHttp for Says {
        fn post(
            &self,
            url: &str,
            _: &Head<'_>,
            _: &[u8],
            timeout_ms: u64,
            on_chunk: &mut dyn FnMut(&[u8]) -> bool,
        ) -> Result<HttpReply, ModelHttpError> {
            self.get(url, &Head::default(), timeout_ms, on_chunk)
        }

        fn get(
            &self,
            url: &str,
            _: &Head<'_>,
            _: u64,
            on_chunk: &mut dyn FnMut(&[u8]) -> bool,
        ) -> Result<HttpReply, ModelHttpError> {
            let found = self.0.iter().find(|(path, _)| url.ends_with(path));
            let Some((_, value)) = found else {
                return Ok(HttpReply { status: 404, ..HttpReply::default() });
            };
            on_chunk(value.to_string().as_bytes());
            Ok(HttpReply { status: 200, ..HttpReply::default() })
        }
    }

    fn sized(address: &str, says: Vec<(&'static str, Value)>) -> (u32, u32, From) {
        let address: Address = address.parse().unwrap();
        let size = size(
            &address,
            None,
            &Config::default(),
            &ModelSettings::default(),
            &Known::default(),
            &Says(says),
        );
        (size.context, size.output, size.from)
    }

    #[test]
    fn a_size_is_what_the_server_says_else_what_the_name_says_else_assumed() {
        let list = |entry: Value| vec![("/v1/models", serde_json::json!({ "data": [entry] }))];
        let local = "openai:http://127.0.0.1:1/v1#m";
        let says = |entry| sized(local, list(entry));
        assert_eq!(
            says(serde_json::json!({ "id": "m", "owned_by": "vllm", "max_model_len": 32_768 })),
            (32_768, 8_192, From::Server)
        );
        let mut llama = list(serde_json::json!({ "id": "m", "owned_by": "llamacpp" }));
        llama.push(("/props", serde_json::json!({ "default_generation_settings": { "n_ctx": 4096 } })));
        assert_eq!(sized(local, llama), (4096, 1024, From::Server));
        let mut ollama = list(serde_json::json!({ "id": "m", "owned_by": "library" }));
        let info = serde_json::json!({ "model_info": { "q.context_length": 131_072 }, "parameters": "stop x\nnum_ctx 16384" });
        ollama.push(("/api/show", info));
        assert_eq!(sized(local, ollama), (16_384, 4_096, From::Server));
        let router = serde_json::json!(
            { "id": "a/b", "context_length": 200_000, "top_provider": { "max_completion_tokens": 8_000 } }
        );
        assert_eq!(sized("openai:https://r.example/v1#a/b", list(router)), (128_000, 8_000, From::Server));
        assert_eq!(
            sized("openai:https://api.openai.com/v1#gpt-4o-mini", vec![]),
            (128_000, 16_384, From::Name)
        );
        assert_eq!(sized("openai:https://x.example/v1#new", vec![]), (32_768, 8_192, From::Guess));
        assert_eq!(sized(local, vec![]), (16_384, 4_096, From::Guess));
    }

    #[test]
    fn every_line_of_the_table_is_whole() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert!(matches!(cells.len(), 3 | 6..=8), "{line}");
            assert!(cells[1..3].iter().all(|tokens| tokens.parse::<u32>().is_ok()), "{line}");
            assert!(cells.iter().skip(4).all(|price| dollars(price).is_ok()), "{line}");
        }
    }

    #[test]
    fn a_small_model_is_known_by_what_its_server_says_else_by_its_name() {
        let small = |name: &str, says: Vec<(&'static str, Value)>| {
            let address: Address = format!("openai:http://127.0.0.1:1/v1#{name}").parse().unwrap();
            let egress: Arc<dyn ModelHttp> = Arc::new(Says(says));
            settings(&address, None, &Config::default(), &Known::default(), &egress).unwrap().small
        };
        for name in
            ["qwen2.5-coder-1.5b-instruct-q4_k_m", "SmolLM2-135M-Instruct", "gemma-3-4b-it", "llama3.2:1b"]
        {
            assert!(small(name, vec![]), "{name}");
        }
        for name in ["qwen2.5-coder-32b", "gpt-5-mini", "llama-3.1-8b", "mixtral-8x7b-32b", "tiny", "words"] {
            assert!(!small(name, vec![]), "{name}");
        }
        // One model is served, whatever it is called.
        let llama = |weights: u64| {
            let entry = serde_json::json!(
                { "id": "/m.gguf", "owned_by": "llamacpp", "meta": { "n_ctx": 4096, "n_params": weights } }
            );
            vec![("/v1/models", serde_json::json!({ "data": [entry] }))]
        };
        assert!(small("words", llama(1_777_088_000)));
        assert!(!small("called-1b", llama(7_615_616_512)));
        let mut ollama = vec![(
            "/v1/models",
            serde_json::json!({ "data": [{ "id": "own", "owned_by": "library" }, { "id": "other" }] }),
        )];
        ollama.push(("/api/show", serde_json::json!({ "details": { "parameter_size": "1.5B" } })));
        assert!(small("own", ollama));
    }

    #[test]
    fn a_server_that_did_not_answer_is_asked_again() {
        struct Late(Mutex<bool>, Says);
        impl ModelHttp for Late {
            fn post(
                &self,
                _: &str,
                _: &Head<'_>,
                _: &[u8],
                _: u64,
                _: &mut dyn FnMut(&[u8]) -> bool,
            ) -> Result<HttpReply, ModelHttpError> {
                Err(ModelHttpError::Stopped)
            }

            fn get(
                &self,
                url: &str,
                head: &Head<'_>,
                timeout_ms: u64,
                on_chunk: &mut dyn FnMut(&[u8]) -> bool,
            ) -> Result<HttpReply, ModelHttpError> {
                if std::mem::take(&mut *self.0.lock().unwrap()) {
                    return Err(ModelHttpError::TimedOut(timeout_ms));
                }
                self.1.get(url, head, timeout_ms, on_chunk)
            }
        }
        let entry = serde_json::json!({ "id": "m", "max_model_len": 8_192 });
        let says = Says(vec![("/v1/models", serde_json::json!({ "data": [entry] }))]);
        let (late, known) = (Late(Mutex::new(true), says), Known::default());
        let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
        let own = ModelSettings::default();
        let from = || size(&address, None, &Config::default(), &own, &known, &late).from;
        assert_eq!((from(), from()), (From::Guess, From::Server));
    }
}
