//! The gateway over a real socket, a real api and a real kernel.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod bounds;
mod browsers;
mod callers;
mod commands;
mod elsewhere;
mod files;
#[allow(dead_code, reason = "the reading half of it is for api's own tests")]
#[path = "../../../api/tests/all/home.rs"]
mod home;
mod hooks;
mod human_only;
mod keys;
mod lasting;
mod messages;
mod passkeys;
mod person;
mod shown;
mod widening;

use gateway::{Client, Options, Origin, Server, Token, serve};
use home::Home;
use serde_json::Value;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

struct Open {
    home: Arc<Home>,
    server: Server,
    token: Token,
}

/// An answer by hand.
struct Got {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

fn options(token: Token, pages: Option<PathBuf>, origin: Option<Origin>) -> Options {
    let drawn = AtomicU8::new(100);
    let draw: gateway::Draw = Arc::new(move || [drawn.fetch_add(1, Ordering::SeqCst); 32]);
    Options { token, draw, pages, keeper: Arc::new(keys::Held::default()), origin }
}

fn open(seed: u64) -> Open {
    open_with(Home::new(seed), None)
}

fn open_with(home: Home, pages: Option<PathBuf>) -> Open {
    open_as(home, pages, None)
}

fn open_as(home: Home, pages: Option<PathBuf>, origin: Option<Origin>) -> Open {
    open_on(TcpListener::bind("127.0.0.1:0").expect("a port"), home, pages, origin)
}

fn open_on(listener: TcpListener, home: Home, pages: Option<PathBuf>, origin: Option<Origin>) -> Open {
    let home = Arc::new(home);
    let token = Token::new([7; 32]);
    let server =
        serve(Arc::clone(&home) as _, listener, options(token.clone(), pages, origin)).expect("served");
    Open { home, server, token }
}

impl Open {
    fn client(&self) -> Client {
        Client::connect(&self.server.address().to_string(), self.token.clone()).expect("loopback")
    }

    /// A request by hand.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).max_redirects(0);
        let config = config.timeout_global(Some(std::time::Duration::from_secs(300)));
        let agent = ureq::Agent::new_with_config(config.build());
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.server.address()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut answer = match body {
            [] => agent.run(request.body(()).expect("a request")),
            body => agent.run(request.body(body).expect("a request")),
        }
        .expect("an answer");
        let headers = answer.headers().iter();
        let headers = headers.map(|(n, v)| (n.to_string(), v.to_str().expect("text").to_owned())).collect();
        let status = answer.status().as_u16();
        Got { status, headers, body: answer.body_mut().read_to_vec().expect("a body") }
    }

    /// A POST by hand; the answer's status and JSON.
    fn raw(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, Value) {
        let got = self.ask("POST", path, headers, body);
        (got.status, got.json())
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token.reveal())
    }

    fn origin(&self) -> String {
        format!("http://{}", self.server.address())
    }
}
