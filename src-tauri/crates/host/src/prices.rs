//! What a model costs: what a person set, else what its server says, else what its maker asks for one of that name.

use crate::config::ModelSettings;
use crate::model_sizes::{From, Known, by_name};
use reasoning::{Address, ModelHttp};
use serde_json::Value;

/// Most dollars that a million tokens may cost.
const DOLLARS_MAX: u64 = 10_000;

/// Prices of a model, in millionths of a US dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    /// Read.
    pub(crate) input: u64,
    /// Written.
    pub(crate) output: u64,
    /// Read out of the provider's cache, where that is known.
    pub(crate) cached: Option<u64>,
    /// Written into the provider's cache, where that is known.
    pub(crate) cache_written: Option<u64>,
    pub(crate) from: From,
}

impl Price {
    pub(crate) const fn of(input: u64, output: u64, from: From) -> Self {
        Self { input, output, cached: None, cache_written: None, from }
    }

    /// As a reasoner counts with it.
    pub(crate) const fn whole(self) -> reasoning::Prices {
        let Self { input, output, cached, cache_written, from: _ } = self;
        reasoning::Prices { input, output, cached, cache_written }
    }
}

/// A price, in millionths of a US dollar.
///
/// # Errors
/// In words, for what is no sum of money up to 10,000 dollars.
pub(crate) fn dollars(text: &str) -> Result<u64, String> {
    api::dollars(text)
        .map_err(|_| format!("`{text}` is no price; write US dollars for a million tokens, such as 2.50"))
}

/// What a model costs; nothing is known of many.
///
/// # Errors
/// As [`dollars`], for what is set.
pub(crate) fn price(
    address: &Address,
    secret: Option<&str>,
    own: &ModelSettings,
    known: &Known,
    egress: &dyn ModelHttp,
) -> Result<Option<Price>, String> {
    let set = |text: &Option<String>| text.as_deref().map(dollars).transpose();
    let (input, output) = (set(&own.price_in)?, set(&own.price_out)?);
    let found = || known.said(address, secret, egress).price.or_else(|| by_name(address)?.1);
    Ok(match (input, output) {
        (None, None) => found(),
        (Some(input), Some(output)) => Some(Price::of(input, output, From::Set)),
        (Some(input), None) => Some(Price::of(input, found().map_or(0, |found| found.output), From::Set)),
        (None, Some(output)) => {
            let found = found().unwrap_or(Price::of(0, 0, From::Set));
            Some(Price { output, from: From::Set, ..found })
        }
    })
}

/// What a list of models says that one costs, as OpenRouter writes it: US dollars for one token.
pub(crate) fn priced(entry: &Value) -> Option<Price> {
    let micros = |name: &str| {
        let said = entry.get("pricing")?.get(name)?;
        let dollars = said.as_f64().or_else(|| said.as_str()?.parse().ok())? * 1e6;
        (0.0..=DOLLARS_MAX as f64).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
    };
    Some(Price {
        cached: micros("input_cache_read"),
        cache_written: micros("input_cache_write"),
        ..Price::of(micros("prompt")?, micros("completion")?, From::Server)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::model_sizes::tests::Says;

    #[test]
    fn a_price_is_what_is_set_else_what_the_server_says_else_what_its_maker_asks() {
        let own = |input: Option<&str>, output: Option<&str>| ModelSettings {
            price_in: input.map(str::to_owned),
            price_out: output.map(str::to_owned),
            ..ModelSettings::default()
        };
        let priced = |address: &str, own: &ModelSettings, says| {
            let address: Address = address.parse().unwrap();
            let price = price(&address, None, own, &Known::default(), &Says(says));
            price.map(|price| price.map(|price| (price.input, price.output, price.from)))
        };
        let (maker, none) = ("openai:https://api.openai.com/v1#gpt-4o-mini-2024-07-18", own(None, None));
        assert_eq!(priced(maker, &none, vec![]), Ok(Some((150_000, 600_000, From::Name))));
        assert_eq!(priced("openai:https://other.example/v1#gpt-4o-mini", &none, vec![]), Ok(None));
        assert_eq!(priced("openai:http://127.0.0.1:1/v1#gpt-4o-mini", &none, vec![]), Ok(None));
        let says = || {
            let entry = serde_json::json!({ "id": "a/b", "pricing": { "prompt": "0.00000125", "completion": "0.00001" } });
            vec![("/v1/models", serde_json::json!({ "data": [entry] }))]
        };
        let router = "openai:https://r.example/v1#a/b";
        assert_eq!(priced(router, &none, says()), Ok(Some((1_250_000, 10_000_000, From::Server))));
        assert_eq!(
            priced(router, &own(Some("0.5"), None), says()),
            Ok(Some((500_000, 10_000_000, From::Set)))
        );
        assert_eq!(priced(router, &own(Some("2"), Some("0")), says()), Ok(Some((2_000_000, 0, From::Set))));
        for wrong in ["", "-1", "1e3", "2,50", "10001", "0.1234567", "."] {
            assert!(priced(router, &own(Some(wrong), None), says()).is_err(), "{wrong}");
        }
    }
}
