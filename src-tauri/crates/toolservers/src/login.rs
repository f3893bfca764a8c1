//! Logging in at a server of tools: OAuth 2.1 with PKCE as the SDK has it, over a way of ours. It is found out who gives
//! tokens, a log-in is begun and finished, a token renewed and taken back. Nothing is kept here.

use crate::courier::{Courier, Way};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::login::LoginTerms;
use model::web::{Method, WebUrl};
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, CredentialStore as _,
    InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use url::{Url, form_urlencoded};
use zeroize::{Zeroize, Zeroizing};

/// Letters of a stranger's words that are passed on.
const WORDS_MAX: usize = 400;
/// The name under which Hermit makes itself known.
const CLIENT_NAME: &str = "Hermit";
/// A message that any server knows, by which one that wants a log-in is made to say so.
const PING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;

/// What a person asks for beside what the server says.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Scopes in the place of those that the server names.
    pub scopes: Vec<String>,
    /// A client that the person has made there.
    pub client_id: Option<String>,
    /// The handle of its secret.
    pub client_secret: Option<String>,
}

/// What came of a log-in. Shown, it says nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// What calls are signed with.
    pub access: String,
    /// What it is renewed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// When it was given, in seconds since 1970.
    pub received_at: u64,
    /// For how many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// What it allows.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The client it was given to.
    pub client_id: String,
    /// The secret of a client that made itself known and was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        self.access.zeroize();
        self.refresh.zeroize();
        self.client_secret.zeroize();
    }
}

/// Why a token was not renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRenewed {
    /// It never will be: the person logs in again.
    Refused(String),
    /// Whoever gives tokens did not answer as it should; it may another time.
    Failed(String),
}

fn run<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    Ok(runtime.map_err(|e| format!("a log-in cannot be made: {e}"))?.block_on(work))
}

/// Finds out who gives tokens for a server, and what they would allow.
///
/// # Errors
/// In words, when the server does not say it, or says what cannot be followed.
pub fn discover(way: &Way, url: &WebUrl, wanted: &Wanted) -> Result<LoginTerms, String> {
    let courier = Arc::new(Courier::new(way, url));
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let headers = headers.map(|(name, value)| (name.to_owned(), Zeroizing::new(value.as_bytes().to_vec())));
    let reply = courier.ask(Method::Post, url, &headers, Some(PING.as_bytes()))?;
    let challenge = reply
        .headers
        .iter()
        .find(|(name, _)| reply.status == 401 && name == "www-authenticate")
        .map(|(_, value)| value.clone());
    let found = run(async {
        let mut manager = manager(&courier, url).await?;
        let resolved = manager.resolve_metadata_from_challenge(challenge.as_deref()).await?;
        if !resolved.source.is_discovered() {
            return Ok(None);
        }
        manager.set_metadata(resolved.metadata.clone());
        let scopes = match wanted.scopes.is_empty() {
            true => manager.select_initial_scopes(&[]).await,
            false => wanted.scopes.clone(),
        };
        manager.configure_client(OAuthClientConfig::new(CLIENT_NAME, "http://127.0.0.1/"))?;
        let address = manager.get_authorization_url(&[]).await?;
        Ok(Some((resolved.metadata, scopes, address)))
    })?;
    let Some((told, scopes, address)) = found.map_err(|e| in_words(&courier, &e))? else {
        return Err(format!(
            "`{url}` does not say who gives tokens for it: it publishes no metadata (RFC 9728, RFC 8414)"
        ));
    };
    terms_of(url, wanted, &told, (scopes, &address))
}

fn terms_of(
    url: &WebUrl,
    wanted: &Wanted,
    told: &AuthorizationMetadata,
    (scopes, address): (Vec<String>, &str),
) -> Result<LoginTerms, String> {
    let at = |text: &str| text.parse::<WebUrl>().map_err(|e| format!("`{}`: {e}", cut(text)));
    let more = |name: &str| told.additional_fields.get(name);
    let address = Url::parse(address).map_err(|e| e.to_string())?;
    let resource = address.query_pairs().find(|(name, _)| name == "resource");
    let methods = more("token_endpoint_auth_methods_supported").and_then(Value::as_array);
    let knows = |method: &str| methods.is_some_and(|all| all.iter().any(|one| one == method));
    let terms = LoginTerms {
        url: url.clone(),
        resource: resource.map_or_else(|| url.to_string(), |(_, value)| value.into_owned()),
        issuer: told.issuer.clone().unwrap_or_default(),
        authorization: at(&told.authorization_endpoint)?,
        token: at(&told.token_endpoint)?,
        registration: match wanted.client_id {
            Some(_) => None,
            None => told.registration_endpoint.as_deref().map(at).transpose()?,
        },
        revocation: more("revocation_endpoint").and_then(Value::as_str).map(at).transpose()?,
        scopes,
        client_id: wanted.client_id.clone(),
        client_secret: wanted.client_secret.clone(),
        secret_in_body: knows("client_secret_post") && !knows("client_secret_basic"),
        names_issuer: more("authorization_response_iss_parameter_supported") == Some(&Value::Bool(true)),
    };
    terms.check()?;
    Ok(terms)
}

/// A log-in that waits for the person.
pub struct Begun {
    manager: AuthorizationManager,
    courier: Arc<Courier>,
    kept: InMemoryCredentialStore,
    address: String,
    state: String,
    client_secret: Option<String>,
}

impl Begun {
    /// Where the person says yes, in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether what came back from a browser belongs to this log-in.
    pub fn is_of(&self, callback: &str) -> bool {
        pairs(callback).iter().any(|(name, value)| name == "state" && *value == self.state)
    }

    /// What came back from the browser becomes tokens.
    ///
    /// # Errors
    /// In words, when the person or whoever gives tokens said no, or said it otherwise than they have to.
    pub fn finish(self, callback: &str) -> Result<Tokens, String> {
        let all = pairs(callback);
        let told = |name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| cut(value));
        if let Some(error) = told("error") {
            let more = told("error_description").map_or(String::new(), |words| format!(": {words}"));
            return Err(match error.as_str() {
                "access_denied" => format!("the log-in was refused there{more}"),
                other => format!("the log-in failed there, with `{other}`{more}"),
            });
        }
        let Self { manager, courier, kept, client_secret, .. } = self;
        let came = run(async {
            let callback = AuthorizationCallback::from_redirect_url(callback)?;
            let (code, state) = (callback.code.as_str(), callback.csrf_token.as_str());
            let issuer = callback.issuer.as_deref();
            manager.exchange_code_for_token_with_issuer(code, state, issuer).await?;
            kept.load().await
        })?;
        let stored = came.map_err(|e| in_words(&courier, &e))?;
        tokens_of(stored, client_secret)
    }
}

fn pairs(callback: &str) -> Vec<(String, String)> {
    let query = callback.split_once('?').map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// Begins a log-in that a person has allowed: makes Hermit known where that is offered, and says where the person goes.
///
/// # Errors
/// In words, when no client is to be had there.
pub fn begin(
    way: &Way,
    terms: &LoginTerms,
    redirect: &str,
    client_secret: Option<&str>,
) -> Result<Begun, String> {
    let courier = Arc::new(Courier::new(way, &terms.url).asking(terms.servers(), &terms.resource));
    let kept = InMemoryCredentialStore::new();
    let begun = run(async {
        let mut manager = ready(&courier, terms).await?;
        manager.set_credential_store(kept.clone());
        let scopes: Vec<&str> = terms.scopes.iter().map(String::as_str).collect();
        let own = match &terms.client_id {
            Some(id) => {
                let client = OAuthClientConfig::new(id, redirect);
                match client_secret {
                    Some(secret) => client.with_client_secret(secret),
                    None => client,
                }
            }
            None => manager.register_client(CLIENT_NAME, redirect, &scopes).await?,
        };
        let given = own.client_secret.clone().filter(|_| terms.client_id.is_none());
        manager.configure_client(own)?;
        let address = manager.get_authorization_url(&scopes).await?;
        Ok((manager, address, given))
    })?;
    let (manager, address, client_secret) = begun.map_err(|e| in_words(&courier, &e))?;
    let mut address = Url::parse(&address).map_err(|e| e.to_string())?;
    let query = courier.with_resource(address.query().unwrap_or_default().as_bytes());
    address.set_query(Some(&String::from_utf8_lossy(&query)));
    let state = address.query_pairs().find(|(name, _)| name == "state");
    let state = state.map_or_else(String::new, |(_, value)| value.into_owned());
    Ok(Begun { manager, courier, kept, address: address.into(), state, client_secret })
}

/// Renews a token, with one request.
///
/// # Errors
/// [`NotRenewed`], which says whether it can be tried again.
pub fn renew(
    way: &Way,
    terms: &LoginTerms,
    tokens: &Tokens,
    client_secret: Option<&str>,
) -> Result<Tokens, NotRenewed> {
    if tokens.refresh.is_none() {
        return Err(NotRenewed::Refused("it has ended, and nothing was given to renew it with".to_owned()));
    }
    let courier = Arc::new(Courier::new(way, &terms.url).asking(terms.servers(), &terms.resource));
    let secret = client_secret.or(tokens.client_secret.as_deref());
    let came = run(async {
        let kept = InMemoryCredentialStore::new();
        kept.save(stored_of(tokens)?).await?;
        let mut manager = ready(&courier, terms).await?;
        manager.set_credential_store(kept.clone());
        let client = OAuthClientConfig::new(&tokens.client_id, "http://127.0.0.1/");
        manager.configure_client(match secret {
            Some(secret) => client.with_client_secret(secret),
            None => client,
        })?;
        manager.refresh_token().await?;
        kept.load().await
    })
    .map_err(NotRenewed::Failed)?;
    match came {
        Ok(stored) => tokens_of(stored, tokens.client_secret.clone()).map_err(NotRenewed::Failed),
        Err(error @ (AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired)) => {
            Err(NotRenewed::Refused(in_words(&courier, &error)))
        }
        // Whoever gives tokens does not know this client any more: asking again brings nothing.
        Err(error @ AuthError::TokenRefreshFailed(_)) if knows_us_no_more(&error) => {
            Err(NotRenewed::Refused(in_words(&courier, &error)))
        }
        Err(error) => Err(NotRenewed::Failed(in_words(&courier, &error))),
    }
}

fn knows_us_no_more(error: &AuthError) -> bool {
    let said = error.to_string();
    ["invalid_client", "unauthorized_client"].iter().any(|code| said.contains(code))
}

/// Asks whoever gave a token to take it back (RFC 7009), where that is offered.
///
/// # Errors
/// In words, when it was not taken back.
pub fn revoke(
    way: &Way,
    terms: &LoginTerms,
    tokens: &Tokens,
    client_secret: Option<&str>,
) -> Result<(), String> {
    let Some(url) = &terms.revocation else {
        return Err("no way to take a token back is offered there".to_owned());
    };
    let courier = Courier::new(way, &terms.url).asking(terms.servers(), &terms.resource);
    let (token, hint) = match &tokens.refresh {
        Some(refresh) => (refresh, "refresh_token"),
        None => (&tokens.access, "access_token"),
    };
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", hint);
    form.append_pair("client_id", &tokens.client_id);
    let kind = Zeroizing::new(b"application/x-www-form-urlencoded".to_vec());
    let mut headers = vec![("Content-Type".to_owned(), kind)];
    if let Some(secret) = client_secret.or(tokens.client_secret.as_deref()) {
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let both = Zeroizing::new(format!("{}:{}", encoded(&tokens.client_id), encoded(secret)));
        match terms.secret_in_body {
            true => drop(form.append_pair("client_secret", secret)),
            false => {
                let value = format!("Basic {}", STANDARD.encode(both.as_bytes()));
                headers.push(("Authorization".to_owned(), Zeroizing::new(value.into_bytes())));
            }
        }
    }
    let body = Zeroizing::new(form.finish().into_bytes());
    let reply = courier.ask(Method::Post, url, &headers, Some(&body))?;
    match reply.status {
        200..=299 => Ok(()),
        status => Err(format!("`{url}` answers with status {status}")),
    }
}

async fn manager(courier: &Arc<Courier>, url: &WebUrl) -> Result<AuthorizationManager, AuthError> {
    let client = Arc::clone(courier) as Arc<_>;
    AuthorizationManager::new_with_oauth_http_client(url.to_string(), client).await
}

/// A state machine that knows what was allowed, and asks for no metadata again.
async fn ready(courier: &Arc<Courier>, terms: &LoginTerms) -> Result<AuthorizationManager, AuthError> {
    let mut manager = manager(courier, &terms.url).await?;
    let methods: &[&str] = if terms.secret_in_body { &["client_secret_post"] } else { &[] };
    let told = json!({
        "issuer": terms.issuer, "authorization_endpoint": terms.authorization, "token_endpoint": terms.token,
        "registration_endpoint": terms.registration, "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": terms.names_issuer,
        "token_endpoint_auth_methods_supported": methods,
    });
    let told = serde_json::from_value(told).map_err(|e| AuthError::InternalError(e.to_string()))?;
    manager.set_metadata(told);
    Ok(manager)
}

fn stored_of(tokens: &Tokens) -> Result<StoredCredentials, AuthError> {
    let told = json!({
        "access_token": tokens.access, "token_type": "bearer", "refresh_token": tokens.refresh,
        "expires_in": tokens.expires_in,
    });
    let response = serde_json::from_value(told).map_err(|e| AuthError::InternalError(e.to_string()))?;
    let (scopes, at) = (tokens.scopes.clone(), Some(tokens.received_at));
    Ok(StoredCredentials::new(tokens.client_id.clone(), Some(response), scopes, at))
}

fn tokens_of(stored: Option<StoredCredentials>, client_secret: Option<String>) -> Result<Tokens, String> {
    let none = || "no token was given".to_owned();
    let stored = stored.ok_or_else(none)?;
    let told = serde_json::to_value(stored.token_response.ok_or_else(none)?).map_err(|e| e.to_string())?;
    let text = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text("token_type").unwrap_or_default();
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(format!("a token of the kind `{}` was given; only `Bearer` is known here", cut(&kind)));
    }
    let access = text("access_token").ok_or_else(none)?;
    if access.is_empty() || !access.bytes().all(|b| b.is_ascii_graphic()) {
        return Err("a token was given that cannot stand in a header".to_owned());
    }
    Ok(Tokens {
        access,
        refresh: text("refresh_token"),
        received_at: stored.token_received_at.unwrap_or_default(),
        expires_in: told.get("expires_in").and_then(Value::as_u64),
        scopes: stored.granted_scopes,
        client_id: stored.client_id,
        client_secret,
    })
}

/// What the SDK says, with what went wrong on the way. A stranger's words are cut, and what cannot be seen is shown.
fn in_words(courier: &Courier, error: &AuthError) -> String {
    let way = courier.failure().map_or(String::new(), |why| format!(": {}", cut(&why)));
    let said = match error {
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => format!(
            "metadata of another issuer is published there: `{}` where `{}` was asked",
            cut(received_issuer),
            cut(expected_issuer)
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("it is not said who answers, where `{}` has to be named", cut(expected_issuer))
        }
        AuthError::PkceUnsupported => "PKCE with S256 is not offered there, and is needed".to_owned(),
        AuthError::DiscoveryRequestFailed { url, .. } => {
            format!("`{}` cannot be read", cut(url.as_str()))
        }
        AuthError::TokenExchangeFailed(why) => format!("no token was given: {}", cut(why)),
        AuthError::TokenRefreshFailed(why) => format!("the token was not renewed: {}", cut(why)),
        AuthError::TokenRefreshRejected(why) => format!("the renewal was refused: {}", cut(why)),
        AuthError::RegistrationFailed(why) => {
            format!("Hermit could not make itself known there: {}", cut(why))
        }
        other => cut(&other.to_string()),
    };
    format!("{said}{way}")
}

fn cut(text: &str) -> String {
    let shown: String = text.chars().take(WORDS_MAX).collect();
    let shown = shown.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().count() > WORDS_MAX { format!("{shown} …") } else { shown }
}
