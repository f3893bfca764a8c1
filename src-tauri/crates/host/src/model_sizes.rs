//! How much a model takes and gives: what a person set, else what its server says, else what is known of its name, else a
//! guess that harms little.

use crate::config::{Config, ModelSettings};
use crate::prices::{Price, dollars, price, priced};
use model::task::ModelApi;
use reasoning::{Address, Head, ModelHttp, Settings, ToolMode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
/// How long a server that did not answer is not asked again: one turn asks several times.
const SILENT: Duration = Duration::from_secs(20);
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
pub(crate) struct Known {
    said: Mutex<BTreeMap<String, Said>>,
    refused: Mutex<BTreeMap<String, Vec<String>>>,
    /// When a server last did not answer.
    silent: Mutex<BTreeMap<String, Instant>>,
    /// How long it is not asked again.
    again: Duration,
    /// Whether this process ends: nobody is waited for.
    leaves: AtomicBool,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            said: Mutex::default(),
            refused: Mutex::default(),
            silent: Mutex::default(),
            again: SILENT,
            leaves: AtomicBool::new(false),
        }
    }
}

impl Known {
    /// What a server says, asked until it has answered once; not again at once where it did not.
    pub(crate) fn said(&self, address: &Address, secret: Option<&str>, egress: &dyn ModelHttp) -> Said {
        let key = address.to_string();
        if let Some(known) = lock(&self.said).get(&key) {
            return *known;
        }
        if lock(&self.silent).get(&key).is_some_and(|since| since.elapsed() < self.again) {
            return Said::default();
        }
        let Some(said) = ask(address, secret, egress, &|| !self.leaves.load(Ordering::SeqCst)) else {
            lock(&self.silent).insert(key, Instant::now());
            return Said::default();
        };
        lock(&self.said).insert(key, said);
        said
    }

    /// The process ends: a server that is being asked is not waited for.
    pub(crate) fn leave(&self) {
        self.leaves.store(true, Ordering::SeqCst);
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
fn said(
    url: &str,
    head: &Head<'_>,
    body: Option<&Value>,
    egress: &dyn ModelHttp,
    goes_on: &dyn Fn() -> bool,
) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut take = |chunk: &[u8]| {
        bytes.extend_from_slice(chunk);
        bytes.len() <= SAID_BYTES_MAX && goes_on()
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
fn ask(
    address: &Address,
    secret: Option<&str>,
    egress: &dyn ModelHttp,
    goes_on: &dyn Fn() -> bool,
) -> Option<Said> {
    let Address::Server { api, url, model } = address else { return None };
    let head = reasoning::server::head(*api, secret);
    let root = url.strip_suffix("/v1").unwrap_or(url);
    let get = |url: String| said(&url, &head, None, egress, goes_on);
    let wish = serde_json::json!({ "model": model });
    let show = || said(&format!("{root}/api/show"), &head, Some(&wish), egress, goes_on);
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
pub(crate) mod tests;
