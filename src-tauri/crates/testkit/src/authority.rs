//! A server on loopback that gives tokens (OAuth 2.1), as wrong as its mode says, and the guard of a server that wants them.
//! It is strict where clients are careless: a code is for one client, one address and one verifier, a token is renewed once
//! with what it was renewed with, and everybody loses everything when that is shown twice.

use crate::server::{Answers, Heard, Server};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a code was given for.
struct Code {
    client: String,
    redirect: String,
    challenge: String,
    scope: String,
}

#[derive(Default)]
struct State {
    mode: &'static str,
    count: usize,
    clients: BTreeSet<String>,
    codes: BTreeMap<String, Code>,
    access: BTreeSet<String>,
    refresh: BTreeSet<String>,
    spent: BTreeSet<String>,
    renewals: usize,
    /// Scopes that every token has to have.
    needs: Option<String>,
    scopes: BTreeMap<String, String>,
}

impl State {
    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}-0123456789abcdef-{}", self.count)
    }
}

/// A server that gives tokens; it ends with the process.
#[derive(Clone)]
pub struct Authority {
    server: Server,
    state: Arc<Mutex<State>>,
}

impl Authority {
    /// Begins to serve.
    pub fn begin() -> Self {
        let state = Arc::new(Mutex::new(State { mode: "good", ..State::default() }));
        let seen = Arc::clone(&state);
        let server = Server::begin(move |heard| answered(heard, &mut locked(&seen)));
        Self { server, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Behaves so from now on.
    pub fn is(&self, mode: &'static str) {
        self.state().mode = mode;
    }

    /// Its name.
    pub fn issuer(&self) -> String {
        self.server.url("")
    }

    /// `127.0.0.1:port`.
    pub fn host(&self) -> String {
        self.server.host()
    }

    /// Everything it was sent so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.server.heard()
    }

    /// How often a token was renewed.
    pub fn renewals(&self) -> usize {
        self.state().renewals
    }

    /// Every token that is valid now ends; what it is renewed with stays.
    pub fn ends_tokens(&self) {
        self.state().access.clear();
    }

    /// Everything that was given ends, and nothing is renewed with it.
    pub fn forgets(&self) {
        let mut state = self.state();
        state.access.clear();
        state.refresh.clear();
    }

    /// From now on calls need this scope.
    pub fn wants(&self, scope: &str) {
        self.state().needs = Some(scope.to_owned());
    }

    /// Every token that was given, of both kinds.
    pub fn tokens(&self) -> Vec<String> {
        self.state().scopes.keys().cloned().collect()
    }

    /// What a server that wants tokens of this one answers: its metadata, its refusal, or what it does otherwise.
    pub fn guards(&self, heard: &Heard, then: impl FnOnce() -> Answers) -> Answers {
        let at = format!("http://{}", heard.header("host").unwrap_or_default());
        if heard.line.starts_with("GET /.well-known/oauth-protected-resource") {
            return said(
                200,
                json!({ "resource": format!("{at}/mcp"), "authorization_servers": [self.issuer()],
                "scopes_supported": ["notes:read"] }),
            );
        }
        let state = self.state();
        let token =
            heard.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let metadata = format!("resource_metadata=\"{at}/.well-known/oauth-protected-resource/mcp\"");
        if !state.access.contains(token) {
            let error = if token.is_empty() { "" } else { ", error=\"invalid_token\"" };
            let challenge = format!("Bearer {metadata}, scope=\"notes:read\"{error}");
            return Answers::With(401, vec![("WWW-Authenticate", challenge)], String::new());
        }
        let has = state.scopes.get(token).cloned().unwrap_or_default();
        if let Some(needs) =
            state.needs.as_ref().filter(|needs| !has.split(' ').any(|one| one == needs.as_str()))
        {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needs}\", {metadata}");
            return Answers::With(403, vec![("WWW-Authenticate", challenge)], String::new());
        }
        drop(state);
        then()
    }

    /// What a person does in their browser: opens the address, says yes, is led back. What the page says in the end.
    pub fn browse(&self, address: &str) -> String {
        let (head, _) = got(address);
        let location = head.lines().find_map(|line| line.strip_prefix("Location: "));
        let (_, page) = got(location.unwrap_or_else(|| panic!("nobody is led back: {head}")));
        page
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gets an address of this machine: head and body.
pub fn got(address: &str) -> (String, String) {
    let rest = address.strip_prefix("http://").expect("an address of this machine");
    let at = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    stream.set_read_timeout(Some(Duration::from_secs(300))).expect("a limit");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it is sent");
    let mut all = String::new();
    stream.read_to_string(&mut all).expect("it answers");
    let (head, body) = all.split_once("\r\n\r\n").expect("an answer");
    (head.to_owned(), body.to_owned())
}

fn said(status: u16, body: Value) -> Answers {
    Answers::With(status, vec![("Content-Type", "application/json".to_owned())], body.to_string())
}

fn refused(error: &str) -> Answers {
    said(400, json!({ "error": error, "error_description": "as told" }))
}

fn answered(heard: &Heard, state: &mut State) -> Answers {
    let at = format!("http://{}", heard.header("host").unwrap_or_default());
    let (line, query) = heard.line.split_once('?').unwrap_or((&heard.line, ""));
    match line {
        "GET /.well-known/oauth-authorization-server" => metadata(&at, state),
        "POST /register" => {
            let asked: Value = serde_json::from_str(&heard.body).unwrap_or_default();
            let client = state.fresh("client");
            state.clients.insert(client.clone());
            said(201, json!({ "client_id": client, "redirect_uris": asked["redirect_uris"] }))
        }
        "GET /authorize" => authorized(&at, &fields(query), state),
        "POST /token" => given(&fields(&heard.body), state),
        "POST /revoke" => {
            let token = fields(&heard.body).remove("token").unwrap_or_default();
            state.refresh.remove(&token);
            state.access.clear();
            said(200, json!({}))
        }
        _ => Answers::With(404, Vec::new(), String::new()),
    }
}

fn metadata(at: &str, state: &State) -> Answers {
    let mut told = json!({
        "issuer": at, "authorization_endpoint": format!("{at}/authorize"), "token_endpoint": format!("{at}/token"),
        "registration_endpoint": format!("{at}/register"), "revocation_endpoint": format!("{at}/revoke"),
        "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
        "authorization_response_iss_parameter_supported": true,
    });
    match state.mode {
        "another issuer" => told["issuer"] = json!("https://elsewhere.example"),
        "in the clear" => told["token_endpoint"] = json!("http://tokens.example/token"),
        "no clients" => drop(told.as_object_mut().and_then(|told| told.remove("registration_endpoint"))),
        "no proof" => told["code_challenge_methods_supported"] = json!(["plain"]),
        "in circles" => {
            let around = format!("{at}/.well-known/oauth-authorization-server");
            return Answers::With(302, vec![("Location", around)], String::new());
        }
        "floods" => return Answers::With(200, Vec::new(), " ".repeat(10 << 20)),
        "silent" => return Answers::Never,
        _ => {}
    }
    said(200, told)
}

fn authorized(at: &str, asked: &BTreeMap<String, String>, state: &mut State) -> Answers {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let (redirect, back) = (of("redirect_uri"), of("state"));
    let is_whole = of("code_challenge_method") == "S256" && !of("resource").is_empty() && !back.is_empty();
    if !is_whole || !redirect.starts_with("http://127.0.0.1:") {
        return Answers::With(400, Vec::new(), "this is no request of OAuth 2.1".to_owned());
    }
    let code = state.fresh("code");
    let (client, challenge, scope) = (of("client_id"), of("code_challenge"), of("scope"));
    state.codes.insert(code.clone(), Code { client, redirect: redirect.clone(), challenge, scope });
    let issuer = if state.mode == "another sender" { "http://elsewhere.example" } else { at };
    let to = match state.mode {
        "says no" => format!("{redirect}?error=access_denied&state={back}&iss={issuer}"),
        _ => format!("{redirect}?code={code}&state={back}&iss={issuer}"),
    };
    Answers::With(302, vec![("Location", to)], String::new())
}

fn given(asked: &BTreeMap<String, String>, state: &mut State) -> Answers {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    match state.mode {
        "down" => return Answers::With(503, Vec::new(), String::new()),
        "hangs up" => return Answers::HangsUp,
        "moved" => {
            return Answers::With(
                307,
                vec![("Location", "http://127.0.0.1:1/token".to_owned())],
                String::new(),
            );
        }
        "for another" => return refused("invalid_grant"),
        "forgot the client" => return refused("invalid_client"),
        _ => {}
    }
    if of("resource").is_empty() {
        return refused("invalid_target");
    }
    let scope = match of("grant_type").as_str() {
        "authorization_code" => {
            let Some(code) = state.codes.remove(&of("code")) else { return refused("invalid_grant") };
            let proof = URL_SAFE_NO_PAD.encode(seal::Digest::of(of("code_verifier").as_bytes()).as_bytes());
            let fits = (
                code.client == of("client_id"),
                code.redirect == of("redirect_uri"),
                code.challenge == proof,
            );
            if fits != (true, true, true) {
                return refused("invalid_grant");
            }
            code.scope
        }
        "refresh_token" => {
            let token = of("refresh_token");
            if state.spent.contains(&token) {
                // Shown twice: somebody has stolen it.
                state.refresh.clear();
                state.access.clear();
            }
            if !state.refresh.remove(&token) {
                return refused("invalid_grant");
            }
            let scope = state.scopes.get(&token).cloned().unwrap_or_default();
            state.spent.insert(token);
            state.renewals += 1;
            scope
        }
        _ => return refused("unsupported_grant_type"),
    };
    let (access, refresh) = (state.fresh("access"), state.fresh("refresh"));
    state.access.insert(access.clone());
    state.refresh.insert(refresh.clone());
    for token in [&access, &refresh] {
        state.scopes.insert(token.clone(), scope.clone());
    }
    let mut token = json!({ "access_token": access, "token_type": "Bearer", "refresh_token": refresh,
        "expires_in": 3600, "scope": scope });
    match state.mode {
        "soon over" => token["expires_in"] = json!(0),
        "short" => token["access_token"] = json!("abc"),
        "without an end" => drop(token.as_object_mut().and_then(|token| token.remove("expires_in"))),
        "of another kind" => token["token_type"] = json!("DPoP"),
        _ => {}
    }
    said(200, token)
}

/// The fields of a form.
fn fields(form: &str) -> BTreeMap<String, String> {
    let field = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (plain(name), plain(value))
    };
    form.split('&').map(field).collect()
}

fn plain(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex: String = bytes.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&hex, 16).unwrap_or_default()
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&out).into_owned()
}
