//! A model behind every protocol, by the program: its key is sent as that provider wants it, its calls are done, and what it
//! reasons goes nowhere.

use crate::bench::{Bench, text};
use model::task::ModelApi;
use serde_json::json;
use testkit::{Answers, Heard, Server, Spoken};

const KEY: &str = "sk-8rT2vQ9xZ4mK7wB1";
const THOUGHT: &str = "first I had better look";

/// Where models are asked, the rest of the path, and the line of the head that holds the key.
const fn wire(api: ModelApi) -> (&'static str, &'static str, &'static str) {
    match api {
        ModelApi::Openai => ("/v1", "/v1/chat/completions", "authorization"),
        ModelApi::Responses => ("/v1", "/v1/responses", "authorization"),
        ModelApi::Anthropic => ("/v1", "/v1/messages", "x-api-key"),
        ModelApi::Gemini => ("/v1beta", "/v1beta/models/m:streamGenerateContent?alt=sse", "x-goog-api-key"),
        ModelApi::Ollama => ("", "/api/chat", "authorization"),
    }
}

fn is_asking(api: ModelApi, heard: &Heard) -> bool {
    heard.line == format!("POST {}", wire(api).1)
}

/// A server that wants a key, has a model look at a file, and is then done.
fn serve(api: ModelApi) -> Server {
    Server::begin(move |heard| {
        let with = |status, body: String| {
            Answers::With(status, vec![("Content-Type", "text/plain".to_owned())], body)
        };
        if !is_asking(api, heard) {
            return with(404, "{}".to_owned());
        }
        let line = wire(api).2;
        let wanted = if line == "authorization" { format!("Bearer {KEY}") } else { KEY.to_owned() };
        if heard.header(line) != Some(&wanted) {
            return with(401, json!({ "error": { "message": "invalid key" } }).to_string());
        }
        let (tool, arguments) = if heard.body.contains("alpha") {
            ("done", json!({ "summary": "all seen" }))
        } else {
            ("read", json!({ "path": "a.txt" }))
        };
        let native = heard.body.contains("\"tools\"");
        let spoken = Spoken { thought: THOUGHT.to_owned(), ..Spoken::call(tool, &arguments, native) };
        with(200, spoken.stream(api))
    })
}

fn add(bench: &Bench, url: &str) {
    bench.told_with_keys(&["models", "add", url, "--secret", "its-key"], &[KEY, ""], "").ends_with(0);
}

#[test]
fn a_model_behind_every_protocol_gets_its_key_as_it_wants_it_and_does_the_work() {
    for api in ModelApi::ALL.iter().copied() {
        let (bench, server) = (Bench::new(), serve(api));
        let url = server.url(wire(api).0);
        let model = format!("{api}:{url}#m");
        std::fs::write(bench.folder().join("a.txt"), "alpha\n").unwrap();
        let folder = bench.folder();
        let run = [
            "run",
            "--goal",
            "look around",
            "--workspace",
            folder.to_str().unwrap(),
            "--model",
            &model,
            "--json",
        ];
        let without = bench.run(&run);
        assert!(
            without.code != 0 && without.err.contains("check its key"),
            "{api}: {} {}",
            without.out,
            without.err
        );
        add(&bench, &url);
        let ran = bench.run(&run).ends_with(0).json();
        assert_eq!(ran["row"]["status"], "completed", "{api}: {ran}");
        let heard: Vec<Heard> = server.heard().into_iter().filter(|heard| is_asking(api, heard)).collect();
        let [refused, first, second] = heard.as_slice() else { panic!("{api}: {heard:?}") };
        assert!(refused.header(wire(api).2).is_none() && second.body.contains("alpha"), "{api}");
        assert_eq!(first.header("anthropic-version").is_some(), api == ModelApi::Anthropic);
        assert!(
            heard.iter().all(|one| !one.body.contains(THOUGHT)),
            "{api}: what it reasons is sent to nobody"
        );
        let task = text(&ran["row"]["task_id"]);
        let shown = bench.run(&["task", "show", &task]).ends_with(0);
        assert!(!shown.out.contains(THOUGHT) && shown.out.contains("all seen"), "{api}: {}", shown.out);
    }
}

#[test]
fn a_provider_alone_names_its_own_server_and_its_key() {
    let bench = Bench::new();
    let said = bench.told_with_keys(&["models", "add", "anthropic"], &[KEY, ""], "").ends_with(0).out;
    assert!(said.contains("`secret:anthropic` is sent to api.anthropic.com:443"), "{said}");
    bench.run(&["models", "use", "anthropic:claude-sonnet-4"]).ends_with(0);
    let refused = bench.run(&["models", "use", "gemini:gemini-2.5-pro"]).ends_with(2);
    assert!(refused.err.contains("`hermit models add gemini`"), "{}", refused.err);
    let nameless = bench.run(&["models", "add", "https://models.example.org/v1"]).ends_with(2);
    assert!(nameless.err.contains("--secret"), "{}", nameless.err);
    bench.run(&["models", "rm", "anthropic"]).ends_with(0);
}
