#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use super::*;
use reasoning::{HttpReply, ModelHttpError};
use std::sync::atomic::AtomicUsize;

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
    let size =
        size(&address, None, &Config::default(), &ModelSettings::default(), &Known::default(), &Says(says));
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
    assert_eq!(sized("openai:https://api.openai.com/v1#gpt-4o-mini", vec![]), (128_000, 16_384, From::Name));
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

/// A server that answers whatever it is asked by a function.
struct By<F>(F);

impl<F> ModelHttp for By<F>
where
    F: Fn(&str, &mut dyn FnMut(&[u8]) -> bool) -> Result<HttpReply, ModelHttpError> + Send + Sync,
{
    fn post(
        &self,
        url: &str,
        _: &Head<'_>,
        _: &[u8],
        _: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        (self.0)(url, on_chunk)
    }

    fn get(
        &self,
        url: &str,
        _: &Head<'_>,
        _: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        (self.0)(url, on_chunk)
    }
}

/// A server that is late at first, and how often it was asked.
fn late() -> (Arc<dyn ModelHttp>, Arc<AtomicUsize>) {
    let entry = serde_json::json!({ "id": "m", "max_model_len": 8_192 });
    let says = Says(vec![("/v1/models", serde_json::json!({ "data": [entry] }))]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let server = move |url: &str, on_chunk: &mut dyn FnMut(&[u8]) -> bool| {
        if counts.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err(ModelHttpError::TimedOut(PATIENCE_MS));
        }
        says.get(url, &Head::default(), PATIENCE_MS, on_chunk)
    };
    (Arc::new(By(server)), asked)
}

#[test]
fn a_server_that_did_not_answer_is_asked_again_later_and_not_by_the_same_turn() {
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let ((server, _), known) = (late(), Known { again: Duration::ZERO, ..Known::default() });
    let own = ModelSettings::default();
    let from = || size(&address, None, &Config::default(), &own, &known, &*server).from;
    assert_eq!((from(), from()), (From::Guess, From::Server));
    let ((server, asked), known) = (late(), Known::default());
    for _ in 0..3 {
        settings(&address, None, &Config::default(), &known, &server).unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "size, price and weights are of one question");
}

#[test]
fn a_process_that_ends_waits_for_no_server() {
    // Sends nothing as long as somebody waits.
    let silent = By(|_: &str, on_chunk: &mut dyn FnMut(&[u8]) -> bool| {
        let begun = Instant::now();
        while on_chunk(&[]) && begun.elapsed() < Duration::from_secs(60) {}
        Err(ModelHttpError::Stopped)
    });
    let (known, begun) = (Known::default(), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for address in ["openai:http://127.0.0.1:1/v1#m", "ollama:http://127.0.0.1:1#m"] {
                known.said(&address.parse().unwrap(), None, &silent);
            }
        });
        known.leave();
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
}
