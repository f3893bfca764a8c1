//! Every protocol by one table: bytes as its servers send them, and every way in which a server can misbehave.

use crate::bench::pack;
use crate::recordings::{ALL, CHAT, GEMINI, Wire};
use crate::server::{http, once, stream};
use model::artifact::TrustTier;
use model::context::{Act, ContextItem, Section};
use model::proposal::{Answer, Stop};
use reasoning::{
    Address, Delta, Error, Head, HttpReply, Input, ModelHttp, ModelHttpError, ModelServer, Prices, Reasoner,
    Scheme, Settings, ToolMode,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

impl Wire {
    fn address(&self, host: &str) -> String {
        format!("{}:http://{host}{}#m", self.api, self.base)
    }
}

/// What came of one question: the answer or why there is none, the words and the reasoning as they were heard.
struct Asked {
    reply: Result<Answer, Error>,
    said: String,
    thought: String,
}

fn asked(wire: &Wire, host: &str, egress: Arc<dyn ModelHttp>, timeout_ms: u64) -> Asked {
    let address: Address = wire.address(host).parse().unwrap();
    let prices = Prices {
        input: 1_000_000,
        output: 10_000_000,
        cached: Some(100_000),
        cache_written: Some(2_000_000),
    };
    let settings = Settings { mode: ToolMode::Tools, timeout_ms, prices, ..Settings::default() };
    let server = ModelServer::new(&address, settings, egress).unwrap();
    let pack = pack(Vec::new());
    let request = server.encode(&pack, &iteration::tools()).unwrap();
    let input = Input { request: &request, pack: &pack, observed: &[], iteration: 1, wait_ms_max: 60_000 };
    let (mut said, mut thought) = (String::new(), String::new());
    let mut hear = |piece: Delta<'_>| match piece {
        Delta::Text(text) => said.push_str(text),
        Delta::Reasoning(text) => thought.push_str(text),
        Delta::Reading { .. } => {}
    };
    let reply = server.propose(&input, &mut hear, &|| false).map(|reply| reply.answer);
    Asked { reply, said, thought }
}

/// By a real socket.
fn ask(wire: &Wire, response: Vec<u8>) -> Asked {
    let (address, handle) = once(response);
    let host = address.strip_prefix("openai:http://").unwrap().strip_suffix("/v1#m").unwrap().to_owned();
    let asked = asked(wire, &host, Arc::new(crate::post::Post), 10_000);
    let sent = handle.join().unwrap();
    assert!(sent.starts_with(format!("POST {} HTTP/1.1", wire.path).as_bytes()), "{}", wire.api);
    asked
}

#[test]
fn words_reasoning_calls_and_usage_are_read_apart_on_every_wire() {
    for wire in &ALL {
        for response in [stream(wire.whole), http("200 OK", "application/json", wire.at_once.as_bytes())] {
            let Asked { reply, said, thought } = ask(wire, response);
            let answer = reply.unwrap_or_else(|error| panic!("{}: {error}", wire.api));
            assert_eq!((said.as_str(), thought.as_str()), ("I look.", "hm, well"), "{}", wire.api);
            assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("I look.", "hm, well"));
            let calls: Vec<_> =
                answer.calls.iter().map(|call| (call.name.as_str(), &call.arguments)).collect();
            assert_eq!(calls, [("read", &json!({ "path": "a b" }))], "{}", wire.api);
            assert_eq!(answer.stop, Stop::Ended);
            let usage = answer.usage;
            assert_eq!((usage.tokens_in, usage.tokens_out), (100, 20), "{}", wire.api);
            // Ollama tells of no cache, and of what goes into one Anthropic alone.
            let (cached, written, cost) = match wire.api {
                "ollama" => (0, 0, 300),
                "anthropic" => (60, 10, 30 + 6 + 20 + 200),
                _ => (60, 0, 40 + 6 + 200),
            };
            let told = (usage.tokens_cached, usage.tokens_cache_written, usage.cost_micros);
            assert_eq!(told, (cached, written, cost), "{}", wire.api);
        }
    }
}

#[test]
fn how_an_answer_ends_is_typed_on_every_wire() {
    for wire in &ALL {
        let ends = [
            (Some(wire.cut), Stop::Cut, "I lo"),
            (wire.refused, Stop::Refused, "I won't."),
            (wire.filtered, Stop::Filtered, ""),
        ];
        for (body, stop, words) in ends {
            let Some(body) = body else { continue };
            let answer = ask(wire, stream(body)).reply.unwrap();
            assert_eq!((answer.stop, answer.text.as_str()), (stop, words), "{}", wire.api);
            assert_eq!(answer.is_cut(), stop == Stop::Cut);
        }
    }
}

#[test]
fn every_way_in_which_a_server_misbehaves_is_its_own_error_on_every_wire() {
    for wire in &ALL {
        let error = |status: &str, body: &str| http(status, "application/json", body.as_bytes());
        let half = &wire.whole[..wire.whole.len() * 2 / 3];
        let huge = wire.piece.replace("TEXT", &"x".repeat(1_100_000));
        let many = wire.piece.replace("TEXT", &"y".repeat(200_000)).repeat(6);
        let mut torn = stream("");
        let (before, behind) = wire.piece.split_once("TEXT").unwrap();
        torn.extend_from_slice(before.as_bytes());
        torn.extend_from_slice(b"\xff\xfe");
        torn.extend_from_slice(behind.as_bytes());
        let nothing = if wire.api == "ollama" { "nonsense\n" } else { "data: nonsense\n\n" };
        for (response, words, retry) in [
            (stream(half), "cut in the middle", true),
            (stream(""), "cut in the middle", true),
            (stream(nothing), "not an answer", false),
            (http("200 OK", "text/html", b"<html>hello</html>\n"), "not an answer", false),
            (error("200 OK", "{\"ok\":true}"), "not an answer", false),
            (torn, "not UTF-8", false),
            (stream(&huge), "passed 1048576 bytes", false),
            (stream(&many), "passed 1048576 bytes", false),
            (stream(wire.broken), "overloaded: try later", false),
            (error("500 Internal Server Error", "boom"), "status 500: boom; try again", true),
            (
                error("529 Overloaded", "{\"error\":{\"message\":\"busy\"}}"),
                "status 529: busy; try again",
                true,
            ),
            (
                error("401 Unauthorized", "{\"error\":{\"message\":\"bad key\"}}"),
                "bad key; check its key, and give it again with `hermit models add`",
                false,
            ),
            (error("404 Not Found", "{\"error\":\"no such model\"}"), "a model named `m`", false),
            (
                error("429 Too Many Requests", "{\"error\":{\"message\":\"slow down\"}}"),
                "slow down; wait",
                true,
            ),
            (error("400 Bad Request", wire.no_temperature), "asked again without it", true),
        ] {
            let error = ask(wire, response).reply.unwrap_err();
            assert!(error.to_string().contains(words), "{}: {words}: {error}", wire.api);
            assert_eq!(error.may_retry(), retry, "{}: {error}", wire.api);
        }
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let host = silent.local_addr().unwrap().to_string();
        let error = asked(wire, &host, Arc::new(crate::post::Post), 50).reply.unwrap_err();
        assert!(error.may_retry() && error.to_string().contains("--context 8192`"), "{}: {error}", wire.api);
        drop(silent);
        let error = asked(wire, &host, Arc::new(crate::post::Post), 1_000).reply.unwrap_err();
        assert!(error.to_string().contains("start the model's server"), "{}: {error}", wire.api);
    }
}

/// Where a request went, and its head.
type Sent = (Scheme, Vec<(String, String)>);

/// A way out that answers as it is told, and keeps what it was asked and how long it waited.
#[derive(Default)]
struct Told {
    answers: Mutex<VecDeque<(u16, Option<u64>, String)>>,
    heads: Mutex<Vec<Sent>>,
    waits: Mutex<Vec<u64>>,
}

impl ModelHttp for Told {
    fn post(
        &self,
        _: &str,
        head: &Head<'_>,
        _: &[u8],
        _: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let also = head.also.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.heads.lock().unwrap().push((head.scheme, also.collect()));
        let (status, retry_after_ms, body) = self.answers.lock().unwrap().pop_front().unwrap();
        on_chunk(body.as_bytes());
        Ok(HttpReply { status, retry_after_ms, ..HttpReply::default() })
    }

    fn wait(&self, ms: u64, goes_on: &dyn Fn() -> bool) -> bool {
        self.waits.lock().unwrap().push(ms);
        goes_on()
    }
}

#[test]
fn a_server_that_says_when_it_may_be_asked_again_is_asked_then_as_long_as_the_task_has_the_time() {
    let busy = |after| (429, after, "{\"error\":{\"message\":\"slow down\"}}".to_owned());
    for wire in &ALL {
        let told = Arc::new(Told::default());
        let whole = (200, None, wire.whole.to_owned());
        told.answers.lock().unwrap().extend([busy(Some(2_000)), busy(Some(30_000)), whole]);
        let answer = asked(wire, "127.0.0.1:1", Arc::clone(&told) as _, 1_000).reply.unwrap();
        assert_eq!(
            (answer.text.as_str(), told.waits.lock().unwrap().as_slice()),
            ("I look.", &[2_000, 30_000][..])
        );
        let heads = told.heads.lock().unwrap().clone();
        assert!(heads.len() == 3 && heads.iter().all(|(scheme, _)| *scheme == wire.scheme), "{}", wire.api);
        let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
        assert_eq!(heads[0].1.contains(&version), wire.api == "anthropic");
        // Longer than the task has, and again and again.
        for answers in [vec![busy(Some(61_000))], vec![busy(None)], vec![busy(Some(1)); 6]] {
            let (many, waits) = (answers.len(), answers.len() - 1);
            let told = Arc::new(Told::default());
            told.answers.lock().unwrap().extend(answers);
            let error = asked(wire, "127.0.0.1:1", Arc::clone(&told) as _, 1_000).reply.unwrap_err();
            assert!(error.to_string().contains("slow down; wait"), "{error}");
            assert_eq!((told.heads.lock().unwrap().len(), told.waits.lock().unwrap().len()), (many, waits));
        }
    }
    // Gemini says it in its words.
    let told = Arc::new(Told::default());
    let delay = json!({ "error": { "code": 429, "message": "quota", "details": [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s" },
    ] } });
    told.answers
        .lock()
        .unwrap()
        .extend([(429, None, delay.to_string()), (200, None, GEMINI.whole.to_owned())]);
    asked(&GEMINI, "127.0.0.1:1", Arc::clone(&told) as _, 1_000).reply.unwrap();
    assert_eq!(*told.waits.lock().unwrap(), [1_500]);
}

/// A result as the compiler packs it.
fn result(call: &Value, text: &str) -> ContextItem {
    let act = Act { call: call.to_string(), did: "read a".to_owned(), changed: false };
    let mut item = crate::bench::item(Section::Artifacts, TrustTier::Untrusted, "read a", text);
    item.act = Some(act);
    item
}

fn sent(wire: &Wire, model: &str, items: Vec<ContextItem>) -> Value {
    let address: Address = format!("{}:http://127.0.0.1:1{}#{model}", wire.api, wire.base).parse().unwrap();
    let settings = Settings { mode: ToolMode::Tools, context_tokens: 32_768, ..Settings::default() };
    let server = ModelServer::new(&address, settings, Arc::new(Told::default())).unwrap();
    let bytes = server.encode(&pack(items), &iteration::tools()).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Where a request of each protocol has the rules, a call, its result, a tool's schema and the limit of tokens.
fn places(api: &str) -> [&'static str; 5] {
    match api {
        "openai" => [
            "/messages/0/content",
            "/messages/1/tool_calls/0/function/name",
            "/messages/2/content",
            "/tools/0/function/parameters",
            "/max_tokens",
        ],
        "responses" => {
            ["/instructions", "/input/0/name", "/input/1/output", "/tools/0/parameters", "/max_output_tokens"]
        }
        "anthropic" => [
            "/system/0/text",
            "/messages/0/content/0/name",
            "/messages/1/content/0/content",
            "/tools/0/input_schema",
            "/max_tokens",
        ],
        "gemini" => [
            "/systemInstruction/parts/0/text",
            "/contents/0/parts/0/functionCall/name",
            "/contents/1/parts/0/functionResponse/response/output",
            "/tools/0/functionDeclarations/0/parametersJsonSchema",
            "/generationConfig/maxOutputTokens",
        ],
        _ => [
            "/messages/0/content",
            "/messages/1/tool_calls/0/function/name",
            "/messages/2/content",
            "/tools/0/function/parameters",
            "/options/num_predict",
        ],
    }
}

fn one_read() -> Vec<ContextItem> {
    vec![result(&json!({ "tool": "read", "arguments": { "path": "a" } }), "alpha")]
}

#[test]
fn a_request_is_written_as_the_protocol_has_it() {
    for wire in &ALL {
        let body = sent(wire, "m", one_read());
        let [rules, call, result, tool, limit] =
            places(wire.api).map(|at| body.pointer(at).cloned().unwrap_or_default());
        assert!(rules.as_str().unwrap().contains("You cannot act: you propose"), "{}: {body}", wire.api);
        assert_eq!((call, limit), (json!("read"), json!(1024)), "{}: {body}", wire.api);
        let result = result.as_str().unwrap();
        assert!(result.contains("[[data ") && result.contains("alpha"), "{}: {result}", wire.api);
        assert_eq!(tool["type"], "object", "{}: {tool}", wire.api);
        // What a call and its result are told by.
        let at = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
        match wire.api {
            "openai" => assert_eq!(at("/messages/1/tool_calls/0/id"), at("/messages/2/tool_call_id")),
            "responses" => {
                assert_eq!(at("/input/0/type"), "function_call");
                assert_eq!(at("/input/1/type"), "function_call_output");
                assert_eq!(at("/input/0/call_id"), at("/input/1/call_id"));
                assert_eq!((at("/store"), at("/input/0/id")), (json!(false), Value::Null));
            }
            "anthropic" => {
                assert_eq!(at("/messages/0/content/0/id"), at("/messages/1/content/0/tool_use_id"));
                assert_eq!(at("/messages/1/content/1/type"), "text", "words follow the result");
            }
            "gemini" => assert_eq!(at("/contents/0/parts/0/functionCall/args"), json!({ "path": "a" })),
            _ => assert_eq!(
                (at("/messages/2/tool_name"), at("/options/num_ctx")),
                (json!("read"), json!(32_768))
            ),
        }
    }
}

#[test]
fn what_a_provider_is_to_keep_is_marked_and_a_call_without_a_signature_says_so() {
    let [_, _, anthropic, gemini, _] = &ALL;
    let body = sent(anthropic, "m", one_read());
    for kept in ["/system/0/cache_control", "/messages/1/content/0/cache_control"] {
        assert_eq!(body.pointer(kept), Some(&json!({ "type": "ephemeral" })), "{body}");
    }
    assert_eq!(body.to_string().matches("cache_control").count(), 2);
    for (model, is_signed) in [("gemini-3-pro", true), ("gemini-2.5-flash", false), ("gemma-3", false)] {
        let body = sent(gemini, model, one_read()).to_string();
        assert_eq!(
            body.contains("\"thoughtSignature\":\"skip_thought_signature_validator\""),
            is_signed,
            "{model}"
        );
    }
}

#[test]
fn what_stays_the_same_from_turn_to_turn_is_the_beginning_of_the_next_request() {
    let call = |n: u32| {
        result(&json!({ "tool": "read", "arguments": { "path": format!("f{n}") } }), &format!("text {n}"))
    };
    for wire in &ALL {
        let turns = |body: &Value| {
            let all =
                ["messages", "input", "contents"].iter().find_map(|name| body.get(name)?.as_array().cloned());
            all.unwrap()
        };
        // A pack has the newest first.
        let (first, second) = (sent(wire, "m", vec![call(1)]), sent(wire, "m", vec![call(2), call(1)]));
        assert_eq!(
            (&first["tools"], &first["system"]),
            (&second["tools"], &second["system"]),
            "{}",
            wire.api
        );
        let text = |body: &Value| {
            serde_json::to_string(&turns(body))
                .unwrap()
                .replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
                .replace("\"cache_control\":{\"type\":\"ephemeral\"},", "")
        };
        let (first, second) = (text(&first), text(&second));
        let end = first.find("text 1").unwrap() + "text 1".len();
        assert_eq!(first[..end], second[..end], "{}", wire.api);
    }
}

#[test]
fn a_thought_between_marks_is_told_apart_however_it_is_cut() {
    let text = " <think>hm <\nwell</think>\n\nI <think> so";
    for wire in &ALL {
        let end = wire.cut.split_once("I lo").map(|(_, behind)| behind.split_once('\n').unwrap().1).unwrap();
        let end = end.trim_start_matches('\n');
        let letters: String = text
            .chars()
            .map(|c| wire.piece.replace("TEXT", serde_json::to_string(&c).unwrap().trim_matches('"')))
            .collect();
        let end = if wire.api == "gemini" { wire.cut.replace("I lo", "") } else { end.to_owned() };
        let Asked { reply, said, thought } = ask(wire, stream(&format!("{letters}{end}")));
        let answer = reply.unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.reasoning.as_str()),
            ("I <think> so", "hm <\nwell"),
            "{}",
            wire.api
        );
        assert_eq!((said, thought), (answer.text, answer.reasoning));
    }
}

#[test]
fn a_thought_that_no_mark_begins_is_no_word_of_the_answer() {
    for (said, text, reasoning) in [
        ("hm, well</think>\\n\\nI look.", "I look.", "hm, well"),
        // What is said of the marks stays.
        ("<think>hm</think>It ends with </think>.", "It ends with </think>.", "hm"),
        ("It is <think>hm</think> there.", "It is <think>hm</think> there.", ""),
    ] {
        let body = CHAT.piece.replace("TEXT", said) + "data: [DONE]\n\n";
        let answer = ask(&CHAT, stream(&body)).reply.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), (text, reasoning));
    }
}

#[test]
fn an_error_quotes_nothing_that_may_be_reasoned() {
    for (api, odd) in [
        ("openai", "data: {\"choices\":\"reasoning: perhaps the cellar\"}\n\n"),
        ("openai", "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"perhaps the cellar\"}}]\n\n"),
        ("ollama", "{\"thinking\":\"perhaps the cellar\"}\n"),
        ("ollama", "{\"thinking\":\"perhaps the cellar\"\n"),
        ("anthropic", "data: {\"thinking\":\"perhaps the cellar\"}\n\n"),
    ] {
        let wire = ALL.iter().find(|wire| wire.api == api).unwrap();
        let error = ask(wire, stream(odd)).reply.unwrap_err().to_string();
        assert!(error.contains("bytes that may tell what the model reasons"), "{api}: {error}");
        assert!(!error.contains("cellar"), "{api}: {error}");
    }
}

#[test]
fn reasoning_without_end_is_cut_and_loses_no_answer() {
    let long = format!("<think>{}</think>done", "x".repeat(900_000));
    let body = CHAT.piece.replace("TEXT", &long) + "data: [DONE]\n\n";
    let Asked { reply, said, thought } = ask(&CHAT, stream(&body));
    let answer = reply.unwrap();
    assert_eq!((answer.text.as_str(), said.as_str()), ("done", "done"));
    assert_eq!((answer.reasoning.len(), thought.len()), (256 * 1024, 256 * 1024));
}
