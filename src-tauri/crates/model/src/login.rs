//! Log-ins at servers of tools (tools.md 2): OAuth 2.1 with PKCE. What a person allows is kept; tokens are secrets of the
//! keychain and never stand here.

use crate::limits;
use crate::web::WebUrl;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the handles of tokens begin with. No other secret has such a handle.
const HANDLE: &str = "login.";
/// How long a person's yes to a log-in may be used to begin one.
pub const LOGIN_OPEN: Duration = Duration::from_secs(10 * 60);

/// The handle under which the tokens of a server are kept.
pub fn login_handle(server: &str) -> String {
    format!("{HANDLE}{server}")
}

/// The server whose tokens are kept under a handle, where they are tokens.
pub fn server_of_login(handle: &str) -> Option<&str> {
    handle.strip_prefix(HANDLE)
}

/// A log-in as a person allows it: where, with whom, for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginTerms {
    /// The server of tools.
    pub url: WebUrl,
    /// What the token is for, as the server names it (RFC 8707).
    pub resource: String,
    /// Who gives the token, as its own metadata names it (RFC 8414).
    pub issuer: String,
    /// Where the person says yes, in a browser.
    pub authorization: WebUrl,
    /// Where the token is given and renewed.
    pub token: WebUrl,
    /// Where Hermit makes itself known as a client, where that is offered and no client was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<WebUrl>,
    /// Where a token is taken back, where that is offered (RFC 7009).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation: Option<WebUrl>,
    /// What the token is asked to allow; none where the authorization server decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The client that the person has made there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The handle of its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// Whether the client's name and secret travel in the body, where the authorization server takes them nowhere else.
    #[serde(default)]
    pub secret_in_body: bool,
    /// Whether what comes back from the browser has to name who sent it (RFC 9207).
    #[serde(default)]
    pub names_issuer: bool,
}

impl LoginTerms {
    /// Whether they can be meant.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let own = [Some(&self.authorization), Some(&self.token), self.registration.as_ref()];
        for url in own.into_iter().flatten().chain(self.revocation.as_ref()) {
            reachable(&self.url, url)?;
        }
        let issuer: WebUrl = self.issuer.parse().map_err(|e: crate::Error| e.to_string())?;
        reachable(&self.url, &issuer)?;
        if self.scopes.len() > limits::LOGIN_SCOPES_MAX {
            return Err(format!("it asks for more than {} scopes", limits::LOGIN_SCOPES_MAX));
        }
        self.scopes.iter().try_for_each(|scope| check_scope(scope))?;
        let texts = [Some(&self.resource), Some(&self.issuer), self.client_id.as_ref()];
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.is_empty() || text.len() > limits::LOGIN_TEXT_BYTES_MAX)
        {
            return Err(format!("a name in it is empty or more than {} bytes", limits::LOGIN_TEXT_BYTES_MAX));
        }
        match (&self.client_id, &self.registration) {
            (None, None) => Err(format!(
                "`{}` lets no program make itself known; make a client there and name it with `--client-id ID`",
                self.authorization.server()
            )),
            (None, Some(_)) if self.client_secret.is_some() => {
                Err("a secret of a client needs the client: name it with `--client-id ID`".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Every server that hears of it, `name:port`: where one says yes, and where tokens are given.
    pub fn servers(&self) -> Vec<String> {
        let mut all = vec![self.authorization.server(), self.token.server()];
        all.extend(self.registration.iter().chain(&self.revocation).map(WebUrl::server));
        all.sort();
        all.dedup();
        all
    }
}

/// Whether the metadata of a server at `of` may lead to an address: encrypted, or both on this machine.
///
/// # Errors
/// Where it may not, in words.
pub fn reachable(of: &WebUrl, url: &WebUrl) -> Result<(), String> {
    let here = |url: &WebUrl| {
        let host = url.host();
        host == "localhost" || host == "::1" || url.is_address() && host.starts_with("127.")
    };
    match (url.is_tls(), here(url)) {
        (_, true) if !here(of) => {
            Err(format!("`{url}` is on this machine, and `{of}` is not; nothing is sent there"))
        }
        (false, false) => Err(format!("`{url}` is not encrypted; nothing is sent there")),
        _ => Ok(()),
    }
}

/// Whether a text can be a scope (RFC 6749, 3.3).
///
/// # Errors
/// Where it cannot, in words.
pub fn check_scope(scope: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    match !scope.is_empty() && scope.len() <= limits::LOGIN_SCOPE_BYTES_MAX && scope.bytes().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "a scope is up to {} letters without blanks, quotes and backslashes",
            limits::LOGIN_SCOPE_BYTES_MAX
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        text.parse().expect("an address")
    }

    fn terms() -> LoginTerms {
        LoginTerms {
            url: url("https://far.example/mcp"),
            resource: "https://far.example/mcp".to_owned(),
            issuer: "https://id.example".to_owned(),
            authorization: url("https://id.example/authorize"),
            token: url("https://id.example/token"),
            registration: Some(url("https://id.example/register")),
            revocation: None,
            scopes: vec!["read".to_owned()],
            client_id: None,
            client_secret: None,
            secret_in_body: false,
            names_issuer: false,
        }
    }

    #[test]
    fn a_log_in_leads_to_encrypted_places_and_is_bounded() {
        assert_eq!(terms().check(), Ok(()));
        let wrong = |change: fn(&mut LoginTerms)| {
            let mut terms = terms();
            change(&mut terms);
            terms.check().unwrap_err()
        };
        assert!(wrong(|t| t.token = url("http://id.example/token")).contains("not encrypted"));
        assert!(wrong(|t| t.token = url("http://127.0.0.1:80/token")).contains("on this machine"));
        assert!(wrong(|t| t.issuer = "https://localhost".to_owned()).contains("on this machine"));
        assert!(wrong(|t| t.scopes = vec!["a b".to_owned()]).contains("blanks"));
        assert!(
            wrong(|t| t.scopes = vec!["a".to_owned(); limits::LOGIN_SCOPES_MAX + 1]).contains("more than")
        );
        assert!(wrong(|t| t.registration = None).contains("--client-id"));
        assert!(wrong(|t| t.client_secret = Some("x".to_owned())).contains("--client-id"));
        let mut here = terms();
        here.url = url("http://127.0.0.1:9/mcp");
        here.token = url("http://127.0.0.1:8/token");
        assert_eq!(here.check(), Ok(()));
    }

    #[test]
    fn a_handle_names_its_server() {
        assert_eq!(server_of_login(&login_handle("forge")), Some("forge"));
        assert_eq!(server_of_login("forge"), None);
    }
}
