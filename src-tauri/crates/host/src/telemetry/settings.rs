//! Where telemetry goes, as `config.json` says it. Nothing is sent until a person names a collector.

use serde::{Deserialize, Serialize};
use ureq::http::Uri;

/// Letters of an address.
const ADDRESS_MAX: usize = 1_024;

/// Telemetry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The address of a collector that takes OTLP over HTTP in JSON, such as `http://127.0.0.1:4318`; off when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp: Option<String>,
}

impl TelemetrySettings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What no setting can be, in words.
    ///
    /// # Errors
    /// For an address that is none, that holds a name or a password, or that leads over a network without HTTPS.
    pub fn check(&self) -> Result<(), String> {
        let Some(address) = &self.otlp else { return Ok(()) };
        let wrong = |why: &str| Err(format!("`otlp` is no address of a collector: {why}"));
        if address.len() > ADDRESS_MAX || address.bytes().any(|byte| byte <= b' ' || byte == b'#') {
            return wrong("it cannot be read");
        }
        let Ok(uri) = address.parse::<Uri>() else { return wrong("it cannot be read") };
        let Some(authority) = uri.authority() else { return wrong("it names no host") };
        if authority.as_str().contains('@') || uri.query().is_some() {
            // It is not said again: a password may stand in it.
            return wrong("it holds a name, a password or a query");
        }
        match uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if is_here(&uri) => Ok(()),
            Some("http") => wrong("beyond this machine it is reached by HTTPS only"),
            _ => wrong("it begins with `http://` or `https://`"),
        }
    }
}

/// Whether an address leads to this machine.
fn is_here(uri: &Uri) -> bool {
    matches!(uri.host(), Some("127.0.0.1" | "[::1]" | "::1" | "localhost"))
}

/// Whether an address leads to this machine, by the same names.
pub(super) fn leads_here(address: &str) -> bool {
    address.parse::<Uri>().is_ok_and(|uri| is_here(&uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_reached_by_https_or_on_this_machine_and_its_address_holds_no_secret() {
        let check = |address: &str| TelemetrySettings { otlp: Some(address.to_owned()) }.check();
        for address in [
            "http://127.0.0.1:4318",
            "http://localhost:4318/",
            "http://[::1]:4318",
            "https://otel.example/in",
        ] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
        let long = format!("https://otel.example/{}", "a".repeat(ADDRESS_MAX));
        for address in [
            "",
            "otel.example",
            "http://otel.example:4318",
            "http://10.0.0.2:4318",
            "http://127.0.0.1.evil.example/",
            concat!("https://name:", "password@otel.example/"),
            "https://otel.example/?key=secret",
            "https://otel.example/#a",
            "https://otel.example/ a",
            "file:///etc/passwd",
            long.as_str(),
        ] {
            let why = check(address).unwrap_err();
            assert!(!why.contains("password@") && !why.contains("secret"), "{why}");
        }
        assert!(TelemetrySettings::default().check().is_ok());
    }
}
