//! Servers of models on this machine: a look at the ports where they usually listen, for a moment, without a key. What answers there is a
//! stranger: its words are bounded, and name models, nothing else.

use model::task::ModelApi;
use reasoning::Address;
use serde::Deserialize;
use std::io::Read as _;
use std::time::Duration;
use wire::models::{Model, Server};

/// Where servers usually listen, and what they are called until they say it themselves.
const USUAL: [(u16, &str); 6] = [
    (11434, "Ollama"),
    (8080, "llama.cpp"),
    (1234, "LM Studio"),
    (8000, "vLLM"),
    (1337, "Jan"),
    (4891, "GPT4All"),
];
/// A server on the same machine that has not answered by then is busy with something else.
const PATIENCE: Duration = Duration::from_millis(1_200);
pub(crate) const BYTES_MAX: u64 = 1024 * 1024;
pub(crate) const MODELS_MAX: usize = 100;
/// Characters of a model's name.
const NAME_CHARS_MAX: usize = 160;

/// What a server lists, as far as it is read.
#[derive(Deserialize)]
struct Listed {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    owned_by: Option<String>,
}

/// Looks on this machine, at all ports at once.
pub(crate) fn look(further: &[u16]) -> (Vec<Server>, Vec<u16>) {
    let mut ports: Vec<u16> = USUAL.iter().map(|(port, _)| *port).collect();
    for port in further {
        if !ports.contains(port) {
            ports.push(*port);
        }
    }
    let servers = std::thread::scope(|scope| {
        let asked: Vec<_> = ports.iter().map(|port| scope.spawn(move || ask(*port))).collect();
        asked.into_iter().filter_map(|one| one.join().ok().flatten()).collect()
    });
    (servers, ports)
}

/// What listens at a port of this machine, when it speaks HTTP at all.
fn ask(port: u16) -> Option<Server> {
    let url = format!("http://127.0.0.1:{port}/v1");
    let usual = USUAL.iter().find(|(known, _)| *known == port).map(|(_, name)| *name);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(PATIENCE))
        .proxy(None)
        .build()
        .into();
    let mut reply = agent.get(format!("{url}/models")).header("Accept", "application/json").call().ok()?;
    let status = reply.status().as_u16();
    let mut bytes = Vec::new();
    reply.body_mut().as_reader().take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let named = |name: Option<&str>| name.or(usual).unwrap_or("A server").to_owned();
    let silent = |why: &str| Server {
        name: named(None),
        url: url.clone(),
        models: Vec::new(),
        trouble: Some(why.to_owned()),
    };
    if matches!(status, 401 | 403) {
        return Some(silent("it wants a key before it lists its models"));
    }
    if status == 503 && is_loading(&bytes) {
        return Some(silent("it is still loading its model; try again in a moment"));
    }
    // Something else may listen where servers of models usually do; then it is none of ours.
    let listed: Listed = serde_json::from_slice(&bytes).ok().filter(|_| status == 200)?;
    if listed.data.is_empty() {
        return Some(silent("it has no model loaded"));
    }
    let owner = listed.data.first().and_then(|entry| entry.owned_by.as_deref());
    let name = named(owner.and_then(called));
    let models = listed.data.into_iter().filter(|entry| is_name(&entry.id)).take(MODELS_MAX);
    let address =
        |model: String| Address::Server { api: ModelApi::Openai, url: url.clone(), model }.to_string();
    let models =
        models.map(|entry| Model { address: address(entry.id.clone()), id: entry.id, asked: None }).collect();
    Some(Server { name, url, models, trouble: None })
}

/// Whether an answer says that a model is being loaded, as llama.cpp says it until it can list one.
fn is_loading(bytes: &[u8]) -> bool {
    let Ok(said) = serde_json::from_slice::<serde_json::Value>(bytes) else { return false };
    let message = said.pointer("/error/message").and_then(serde_json::Value::as_str);
    message.is_some_and(|message| message.to_lowercase().contains("loading model"))
}

/// The program behind a server, by what it says of its models' owner.
pub(crate) fn called(owner: &str) -> Option<&'static str> {
    match owner {
        "llamacpp" => Some("llama.cpp"),
        "library" | "ollama" => Some("Ollama"),
        "organization_owner" | "organization-owner" => Some("LM Studio"),
        "vllm" => Some("vLLM"),
        _ => None,
    }
}

/// A name that can stand in an address and be seen whole.
pub(crate) fn is_name(id: &str) -> bool {
    !id.is_empty()
        && id.chars().count() <= NAME_CHARS_MAX
        && id.chars().all(|c| c.is_ascii_graphic() && c != '#')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::io::Write as _;
    use std::net::TcpListener;

    /// A server that says this to whoever asks, once.
    fn says(status: &str, body: &str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let reply =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let mut asked = [0; 2048];
            let _ = stream.read(&mut asked).expect("a request");
            stream.write_all(reply.as_bytes()).expect("it is heard");
        });
        port
    }

    #[test]
    fn a_server_is_told_by_what_it_lists() {
        let port = says(
            "200 OK",
            r#"{"data":[{"id":"qwen2.5-coder","owned_by":"llamacpp"},{"id":"a b"},{"id":"x#y"}]}"#,
        );
        let server = ask(port).expect("it is there");
        assert_eq!((server.name.as_str(), server.trouble), ("llama.cpp", None));
        assert_eq!(server.models.len(), 1, "names that hide something are left out");
        assert_eq!(server.models[0].address, format!("openai:http://127.0.0.1:{port}/v1#qwen2.5-coder"));
        assert!(server.models[0].address.parse::<Address>().is_ok());
    }

    #[test]
    fn what_wants_a_key_is_told_and_what_is_no_server_of_models_is_not() {
        let locked = ask(says("401 Unauthorized", "{}")).expect("it is there");
        assert!(locked.trouble.expect("it says why").contains("key"));
        let empty = ask(says("200 OK", r#"{"data":[]}"#)).expect("it is there");
        assert!(empty.trouble.expect("it says why").contains("no model"));
        assert!(ask(says("200 OK", "<html>hello</html>")).is_none());
        assert!(ask(says("302 Found", "")).is_none());
        let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = nobody.local_addr().expect("an address").port();
        drop(nobody);
        assert!(ask(port).is_none());
    }

    #[test]
    fn a_server_that_still_loads_its_model_is_told_and_another_that_is_busy_is_not() {
        let loading = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
        let found = ask(says("503 Service Unavailable", loading)).unwrap();
        assert!(found.models.is_empty());
        assert_eq!(found.trouble.as_deref(), Some("it is still loading its model; try again in a moment"));
        assert!(ask(says("503 Service Unavailable", r#"{"error":{"message":"Too busy"}}"#)).is_none());
        assert!(ask(says("503 Service Unavailable", "Loading model")).is_none());
    }
}
