//! Models on this machine, and the servers elsewhere that a person gave a key for.

mod found;

use crate::config::{ModelSettings, Provider};
use crate::logs::OrLogged as _;
use crate::model_box::{self, WithBox};
use crate::model_http::{Outbound, SecretSlot};
use crate::model_sizes::{self, Known};
use crate::prices;
use crate::secrets::SecretBook;
use crate::{Config, Error, Home, Local};
use model::secret::SecretTerms;
use model::task::ModelApi;
use reasoning::{Address, ModelHttp, ToolMode};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::Code;
use wire::models::{Asked, Found, Price, Server};
use words::UnknownName;
use words::task::ToolOffer;

pub(crate) use found::{BYTES_MAX, MODELS_MAX, called, is_name, look};

/// The base URL of a provider that is named alone; what is no provider is a URL already.
pub fn provider_url(named: &str) -> &str {
    match named.parse() {
        Ok(api) => reasoning::address::usual(api),
        Err(_) => named,
    }
}

/// How a model of a provider or of a server is named.
pub fn model_form(named: &str) -> String {
    match named.parse::<ModelApi>() {
        Ok(api) => format!("{api}:MODEL"),
        Err(_) => {
            let url = named.trim_end_matches('/');
            let all = [ModelApi::Responses, ModelApi::Anthropic, ModelApi::Gemini, ModelApi::Ollama];
            let others: Vec<&str> = all.map(ModelApi::as_str).to_vec();
            format!(
                "openai:{url}#MODEL, or in place of `openai` the protocol that it speaks: {}",
                others.join(", ")
            )
        }
    }
}

/// The base URL of a server as it is kept, and the `name:port` a key for it may go to.
fn server(url: &str) -> Result<(String, String), wire::Error> {
    let address: Address = format!("openai:{}#model", url.trim())
        .parse()
        .map_err(|e: reasoning::Error| wire::Error::new(Code::Usage, e.to_string()))?;
    let Some((name, port)) = address.host() else {
        return Err(wire::Error::new(Code::Usage, format!("`{url}` names no server")));
    };
    if address.is_remote() && !url.trim().starts_with("https://") {
        return Err(wire::Error::new(Code::Usage, "a key goes to another machine over `https` only")
            .hint("write the address with `https://`"));
    }
    let Address::Server { url, .. } = address else {
        return Err(wire::Error::new(Code::Usage, format!("`{url}` names no server")));
    };
    Ok((url, format!("{}:{port}", name.to_ascii_lowercase())))
}

/// The address of a model on this machine, or of a server that a person gave a key for.
pub(crate) fn ours(text: &str, config: &Config) -> Result<String, wire::Error> {
    let parsed: Address = text.parse().map_err(|e: reasoning::Error| {
        wire::Error::new(Code::Usage, e.to_string()).hint("write it as `openai:URL#MODEL`")
    })?;
    let Address::Server { url, .. } = &parsed else {
        return Err(wire::Error::new(Code::Usage, "this is about models at an address")
            .hint("write it as `openai:URL#MODEL`"));
    };
    if parsed.is_remote() && config.secret_for(url).is_none() {
        let own = ModelApi::ALL.iter().find(|api| reasoning::address::usual(**api) == url);
        return Err(wire::Error::new(Code::Usage, format!("no key was given for `{url}`")).hint(format!(
            "give it one: `hermit models add {}`",
            own.map_or_else(|| format!("{url} --secret NAME"), |api| api.to_string())
        )));
    }
    Ok(parsed.to_string())
}

/// Models of which a list tells how they are asked: each takes a few requests.
pub(crate) const ASKED_MAX: usize = 8;
/// Tokens that may be set.
const TOKENS: std::ops::RangeInclusive<u32> = model_sizes::CONTEXT_MIN..=10_000_000;

/// Takes over what is wished.
fn wished(settings: &mut ModelSettings, wish: &wire::models::Set) -> Result<(), String> {
    let tokens = |name: &str, wished: Option<u32>, set: &mut Option<u32>| match wished {
        None => Ok(()),
        Some(0) => {
            *set = None;
            Ok(())
        }
        Some(number) if name == "output" && number > 0 && number <= *TOKENS.end() => {
            *set = Some(number);
            Ok(())
        }
        Some(number) if TOKENS.contains(&number) => {
            *set = Some(number);
            Ok(())
        }
        Some(number) => {
            Err(format!("`{name}` is from {} to {} tokens, and not {number}", TOKENS.start(), TOKENS.end()))
        }
    };
    tokens("context", wish.context, &mut settings.context)?;
    tokens("output", wish.output, &mut settings.output)?;
    if let Some(text) = &wish.temperature {
        settings.temperature = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        settings.temperature_milli()?;
        settings.without.remove("temperature");
    }
    if let Some(mode) = &wish.mode {
        let mode: ToolMode = mode.parse().map_err(|e: UnknownName| e.to_string())?;
        settings.mode = Some(mode).filter(|mode| *mode != ToolMode::Auto);
        settings.without.retain(|name| name != "tools" && name != "response_format");
    }
    if let Some(tools) = &wish.tools {
        settings.all_tools = match tools.as_str() {
            "auto" => None,
            named => Some(
                named.parse::<ToolOffer>().map_err(|e: UnknownName| format!("{e}, or auto"))?
                    == ToolOffer::All,
            ),
        };
    }
    if let Some(sees) = wish.sees {
        if sees && settings.address.starts_with(reasoning::model_box::URL) {
            return Err("a model in the box sees no pictures; choose one at a server".to_owned());
        }
        settings.sees = Some(sees).filter(|sees| *sees);
        settings.without.remove("pictures");
    }
    for (wished, set) in
        [(&wish.price_in, &mut settings.price_in), (&wish.price_out, &mut settings.price_out)]
    {
        let Some(text) = wished.as_deref().map(str::trim) else { continue };
        if !text.is_empty() {
            prices::dollars(text)?;
        }
        *set = Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    Ok(())
}

/// A look at how models are asked; it takes no key along, unless one is named.
pub(crate) struct Look<'c> {
    config: &'c Config,
    secret: Option<String>,
    known: Known,
    egress: Arc<dyn ModelHttp>,
}

impl<'c> Look<'c> {
    fn new(config: &'c Config, home: &Home) -> Self {
        let out = Outbound::new(config, SecretSlot::default(), SecretBook::default());
        Self::through(config, None, Arc::new(WithBox::to_look(out, home)))
    }

    /// A look by this way out, with this key.
    pub(crate) fn through(config: &'c Config, secret: Option<String>, egress: Arc<dyn ModelHttp>) -> Self {
        Self { config, secret, known: Known::default(), egress }
    }

    /// The price in force.
    fn price(&self, address: &str) -> Result<Option<prices::Price>, String> {
        let parsed: Address = address.parse().map_err(|e: reasoning::Error| e.to_string())?;
        let own = self.config.model(address).cloned().unwrap_or_default();
        prices::price(&parsed, self.secret.as_deref(), &own, &self.known, &*self.egress)
    }

    pub(crate) fn asked(&self, address: &str) -> Option<Asked> {
        let parsed: Address = address.parse().ok()?;
        let settings =
            model_sizes::settings(&parsed, self.secret.clone(), self.config, &self.known, &self.egress)
                .ok()?;
        let own = self.config.model(address).cloned().unwrap_or_default();
        let secret = self.secret.as_deref();
        let size = model_sizes::size(&parsed, secret, self.config, &own, &self.known, &*self.egress);
        let price = self.price(address).ok()?;
        let dollars = |micros: u64| (micros as f64 / 1e6).to_string();
        Some(Asked {
            address: address.to_owned(),
            context: size.context,
            output: size.output,
            from: size.from.in_words().to_owned(),
            temperature: settings
                .temperature_milli
                .map_or_else(|| "own".to_owned(), |milli| (f64::from(milli) / 1000.0).to_string()),
            mode: settings.mode,
            tools: if settings.offers_all() { ToolOffer::All } else { ToolOffer::Few },
            price: price.map(|price| Price {
                input: dollars(price.input),
                output: dollars(price.output),
                from: price.from.in_words().to_owned(),
            }),
            without: settings.without.into_iter().collect(),
            sees: settings.sees,
        })
    }
}

impl Local {
    /// Models on this machine, and what is set up.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub(crate) fn find_models(&self, further: &[u16]) -> Result<Found, wire::Error> {
        let config = Config::load(self.home()).map_err(Error::to_wire)?;
        let known = self.known_secrets();
        let (found, looked) = look(further);
        let mut servers: Vec<Server> = model_box::served(self.home()).into_iter().chain(found).collect();
        let provider = |p: &Provider| wire::models::Provider {
            url: p.url.clone(),
            secret: p.secret.clone(),
            kept: known.contains(&p.secret),
        };
        let providers = config.providers.iter().map(provider).collect();
        let look = Look::new(&config, self.home());
        for model in servers.iter_mut().flat_map(|server| &mut server.models).take(ASKED_MAX) {
            model.asked = look.asked(&model.address);
        }
        let set = config.models.iter().map(|one| one.address.as_str()).chain(config.default_model.as_deref());
        let set: BTreeSet<&str> = set.collect();
        let set = set.into_iter().filter_map(|address| look.asked(address)).collect();
        let standard = config.default_model.clone();
        // Which were used, the log says: `api` reads it.
        Ok(Found { servers, looked, standard, providers, set, used: Vec::new() })
    }

    /// Sets how a model is asked: one of this machine, or of a server that a person gave a key for.
    ///
    /// # Errors
    /// [`Code::Usage`], with what there is.
    pub(crate) fn set_up(&self, wish: &wire::models::Set) -> Result<Asked, wire::Error> {
        let set = Config::change(self.home(), |config| {
            let address = ours(&wish.address, config).map_err(Error::Said)?;
            let mut settings = config.model(&address).cloned().unwrap_or_default();
            settings.address.clone_from(&address);
            wished(&mut settings, wish).map_err(|why| Error::Said(wire::Error::new(Code::Usage, why)))?;
            config.set_model(settings);
            Ok((address, config.clone()))
        });
        let (address, config) = set.map_err(Error::to_wire)?;
        let asked = Look::new(&config, self.home()).asked(&address);
        asked.ok_or_else(|| wire::Error::new(Code::Usage, format!("`{address}` is no model at an address")))
    }

    /// What a million tokens of a model cost at most to read and to write; none where no price is known.
    ///
    /// # Errors
    /// [`Code::Usage`], as [`Self::set_up`].
    pub(crate) fn price_in_force(&self, address: &str) -> Result<Option<(u64, u64)>, wire::Error> {
        let config = Config::load(self.home()).map_err(Error::to_wire)?;
        let address = ours(address, &config)?;
        let price = Look::new(&config, self.home()).price(&address);
        let price = price.map_err(|why| wire::Error::new(Code::Usage, why))?;
        Ok(price.map(|price| (price.whole().most_read(), price.output)))
    }

    /// Handles that the log knows, also in a process that only reads; none where there is no store.
    fn known_secrets(&self) -> Vec<String> {
        let listed =
            api::call(self, "secrets.list", serde_json::json!({})).or_logged("secrets cannot be listed");
        let listed: Option<wire::secrets::Secrets> = listed.and_then(|all| serde_json::from_value(all).ok());
        listed.map(|all| all.secrets.into_iter().map(|one| one.handle).collect()).unwrap_or_default()
    }

    /// Who proposes when a task names nobody. On another machine only a server that a person gave a key for: whoever
    /// may only ask cannot turn later tasks to a server of their own.
    ///
    /// # Errors
    /// [`Code::Usage`] for what is no model of this machine or of such a server.
    pub(crate) fn choose_standard(&self, address: Option<&str>) -> Result<(), wire::Error> {
        address.map_or(Ok(()), |address| crate::trainer::may_be_standard(self, address))?;
        let set = Config::change(self.home(), |config| {
            if let Some(text) = address {
                ours(text, config).map_err(Error::Said)?;
            }
            config.default_model = address.map(str::to_owned);
            config.default_secret = None;
            Ok(())
        });
        set.map_err(Error::to_wire)
    }

    /// Keeps the key for a server of models in the vault, under a handle that may go to that server alone; every call to
    /// a model there takes it from now on.
    ///
    /// # Errors
    /// [`Error::Said`] for an address that is none, or is plain HTTP to another machine, and as
    /// [`Self::set_secret`].
    pub fn keep_provider(&self, url: &str, handle: &str, value: &[u8]) -> Result<(), Error> {
        let (url, host) = server(url).map_err(Error::Said)?;
        self.set_secret(handle, value, &SecretTerms::at(&[host]))?;
        Config::change(self.home(), |config| {
            config.providers.retain(|provider| provider.url != url);
            config.providers.push(Provider { url, secret: handle.to_owned() });
            Ok(())
        })
    }

    /// Takes a server off the list; its key stays a secret until that is removed.
    ///
    /// # Errors
    /// [`Error::Said`] when there is no such server.
    pub fn drop_provider(&self, url: &str) -> Result<(), Error> {
        let (url, _) = server(url).map_err(Error::Said)?;
        Config::change(self.home(), |config| {
            let before = config.providers.len();
            config.providers.retain(|provider| provider.url != url);
            if config.providers.len() == before {
                let none = wire::Error::new(Code::NotFound, format!("no key was given for `{url}`"));
                return Err(Error::Said(none.hint("`hermit models list` shows the servers that have one")));
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_key_goes_to_one_server_and_never_over_plain_http_to_another_machine() {
        let (url, host) = server("https://api.example.com/v1/").expect("a server");
        assert_eq!((url.as_str(), host.as_str()), ("https://api.example.com/v1", "api.example.com:443"));
        assert_eq!(server("http://127.0.0.1:8080/v1").expect("this machine").1, "127.0.0.1:8080");
        for wrong in ["http://api.example.com/v1", "api.example.com", "https://u:p@api.example.com/v1", ""] {
            assert!(server(wrong).is_err(), "{wrong}");
        }
    }
}
