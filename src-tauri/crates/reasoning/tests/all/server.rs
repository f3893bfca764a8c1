//! A server of a few lines on loopback, and every way in which one can fail.

use crate::bench::pack;
use crate::post::Post;
use reasoning::{Address, Error, Input, ModelServer, Reasoner, Reply, Settings, ToolMode};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Answers one request with these bytes and closes the connection.
pub fn once(response: Vec<u8>) -> (String, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("openai:http://{}/v1#m", listener.local_addr().unwrap());
    let handle = std::thread::spawn(move || {
        let mut stream = accepted(&listener);
        let mut seen = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let n = stream.read(&mut piece).unwrap();
            if n == 0 {
                // Who asked has gone before all of it was said.
                break;
            }
            seen.extend_from_slice(&piece[..n]);
            let text = String::from_utf8_lossy(&seen).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.unwrap_or(0) {
                break;
            }
        }
        let _ = stream.write_all(&response);
        seen
    });
    (address, handle)
}

/// Who comes first, in a minute.
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let looked = (0..30_000).find_map(|_| match listener.accept() {
        Ok((stream, _)) => Some(stream),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            std::thread::sleep(Duration::from_millis(2));
            None
        }
        Err(error) => panic!("{error}"),
    });
    let stream = looked.expect("somebody connects");
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    stream
}

pub fn stream(body: &str) -> Vec<u8> {
    http("200 OK", "text/event-stream", body.as_bytes())
}

pub fn http(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn ask_at(address: &str, settings: Settings, cancelled: &dyn Fn() -> bool) -> (Result<Reply, Error>, String) {
    let address: Address = address.parse().unwrap();
    let server = ModelServer::new(&address, settings, Arc::new(Post)).unwrap();
    let pack = pack(Vec::new());
    let request = server.encode(&pack, &iteration::tools()).unwrap();
    let input = Input { request: &request, pack: &pack, observed: &[], iteration: 1, wait_ms_max: 0 };
    let mut heard = String::new();
    let reply =
        server.propose(&input, &mut |piece| heard.push_str(piece.text().unwrap_or_default()), cancelled);
    (reply, heard)
}

fn ask(response: Vec<u8>, mode: ToolMode) -> (Result<Reply, Error>, String) {
    let (address, handle) = once(response);
    let answer = ask_at(&address, Settings { mode, timeout_ms: 10_000, ..Settings::default() }, &|| false);
    handle.join().unwrap();
    answer
}

const WHOLE: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"tool\\\": \\\"list\\\", \"}}]}\n\n\
    : a comment\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"\\\"arguments\\\": {\\\"path\\\": \\\".\\\"}}\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7}}\n\n\
    data: [DONE]\n\n";

#[conforms::conforms("RX-8-1")]
#[test]
fn a_streamed_action_becomes_one_call_and_the_loop_core_reads_it() {
    let (reply, heard) = ask(stream(WHOLE), ToolMode::JsonSchema);
    let reply = reply.unwrap();
    assert_eq!(heard, "{\"tool\": \"list\", \"arguments\": {\"path\": \".\"}}");
    assert_eq!(reply.raw, WHOLE.as_bytes());
    assert_eq!((reply.answer.usage.tokens_in, reply.answer.usage.tokens_out), (11, 7));
    assert_eq!(reply.answer.calls.len(), 1);
    assert_eq!(iteration::parse(&reply.answer).unwrap().len(), 1);
}

#[test]
fn an_action_behind_a_thought_that_no_mark_begins_is_a_call() {
    let said = r#"hm, well</think>\n{\"tool\": \"list\", \"arguments\": {\"path\": \".\"}}"#;
    let body =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\ndata: [DONE]\n\n");
    let answer = ask(stream(&body), ToolMode::JsonSchema).0.unwrap().answer;
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("", "hm, well"));
    assert_eq!(iteration::parse(&answer).unwrap().len(), 1);
}

#[test]
fn native_calls_are_put_together_from_their_pieces() {
    let body = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read\",\"arguments\":\"\"}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"path\\\":\"}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"name\":\"list\",\"arguments\":{\"path\":\"b\"}}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\" \\\"a\\\"}\"}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let answer = ask(stream(body), ToolMode::Tools).0.unwrap().answer;
    let calls: Vec<(String, String)> =
        answer.calls.iter().map(|c| (c.name.clone(), c.arguments.to_string())).collect();
    assert_eq!(
        calls,
        [("read".into(), "{\"path\":\"a\"}".into()), ("list".into(), "{\"path\":\"b\"}".into())]
    );
}

#[test]
fn a_server_that_does_not_stream_is_understood_too() {
    let body = br#"{"choices":[{"message":{"role":"assistant","content":"all done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let (reply, heard) = ask(http("200 OK", "application/json", body), ToolMode::Tools);
    assert_eq!((reply.unwrap().answer.text.as_str(), heard.as_str()), ("all done", "all done"));
}

#[test]
fn each_failure_is_its_own_error_with_advice() {
    let cut = WHOLE.split("data: {\"choices\":[{\"delta\":{},\"fin").next().unwrap();
    let huge =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(1_100_000));
    let mut not_utf8 = stream("data: {\"choices\":[{\"delta\":{\"content\":\"");
    not_utf8.extend_from_slice(b"\xff\xfe\"}}]}\n\ndata: [DONE]\n\n");
    let error = |status: &str, body: &str| http(status, "application/json", body.as_bytes());
    for (response, words, retry) in [
        (stream(cut), "cut in the middle", true),
        (stream(&cut[..cut.len() - 30]), "cut in the middle", true),
        (stream(""), "cut in the middle", true),
        (stream("data: nonsense\n\n"), "not an answer", false),
        (http("200 OK", "text/html", b"<html>hello</html>"), "not an answer", false),
        (http("200 OK", "application/json", b"{\"ok\":true}"), "not an answer", false),
        (http("200 OK", "application/json", b"\xff\xff"), "not UTF-8", false),
        (not_utf8, "not UTF-8", false),
        (stream(&huge), "passed 1048576 bytes", false),
        (stream("data: {\"error\":{\"message\":\"out of memory\"}}\n\n"), "out of memory", false),
        (error("500 Internal Server Error", "boom"), "status 500: boom; try again", true),
        (
            error("503 Service Unavailable", "{\"error\":{\"message\":\"Loading model\"}}"),
            "wait until the model is loaded",
            true,
        ),
        (
            error("401 Unauthorized", "{\"error\":{\"message\":\"bad key\"}}"),
            "bad key; check its key, and give it again with `hermit models add`",
            false,
        ),
        (error("404 Not Found", ""), "gave no reason; check the base URL", false),
        (
            error("400 Bad Request", "{\"error\":\"the request exceeds the available context size\"}"),
            "more context",
            false,
        ),
        (
            error("400 Bad Request", "{\"error\":{\"message\":\"response_format is not supported\"}}"),
            "asked again without it",
            true,
        ),
        (error("429 Too Many Requests", "{\"detail\":\"slow down\"}"), "slow down; wait", true),
    ] {
        let error = ask(response, ToolMode::JsonSchema).0.unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert_eq!(error.may_retry(), retry, "{error}");
    }
}

#[test]
fn a_server_that_is_down_or_slow_is_unavailable() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error =
        ask_at(&format!("openai:http://{closed}/v1#m"), Settings::default(), &|| false).0.unwrap_err();
    assert!(error.may_retry() && error.to_string().contains("start the model's server"), "{error}");
    // It accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("openai:http://{}/v1#m", silent.local_addr().unwrap());
    let error =
        ask_at(&address, Settings { timeout_ms: 50, ..Settings::default() }, &|| false).0.unwrap_err();
    assert!(error.may_retry() && error.to_string().contains("--context 8192`"), "{error}");
}

#[test]
fn it_can_be_cancelled_before_and_between_chunks() {
    let (address, handle) = once(stream(WHOLE));
    let asked = AtomicBool::new(false);
    // The first question comes before anything is sent, the next ones with the stream.
    let later = || asked.swap(true, Ordering::SeqCst);
    let (reply, heard) = ask_at(&address, Settings::default(), &later);
    assert_eq!((reply.unwrap_err(), heard.as_str()), (Error::Cancelled, ""));
    handle.join().unwrap();
    let (reply, _) = ask_at("openai:http://127.0.0.1:1/v1#m", Settings::default(), &|| true);
    assert_eq!(reply.unwrap_err(), Error::Cancelled);
}

#[test]
fn exactly_the_encoded_bytes_are_sent() {
    let (address, handle) = once(stream(WHOLE));
    let parsed: Address = address.parse().unwrap();
    let server = ModelServer::new(&parsed, Settings::default(), Arc::new(Post)).unwrap();
    let pack = pack(Vec::new());
    let request = server.encode(&pack, &iteration::tools()).unwrap();
    assert_eq!(request, server.encode(&pack, &iteration::tools()).unwrap());
    let input = Input { request: &request, pack: &pack, observed: &[], iteration: 1, wait_ms_max: 0 };
    server.propose(&input, &mut |_| (), &|| false).unwrap();
    let seen = handle.join().unwrap();
    assert!(seen.starts_with(b"POST /v1/chat/completions HTTP/1.1"));
    assert!(seen.ends_with(&request));
}

/// Answers as the host does for the model in the box.
struct Refuses(reasoning::HttpReply);

impl reasoning::ModelHttp for Refuses {
    fn post(
        &self,
        _: &str,
        _: &reasoning::Head<'_>,
        _: &[u8],
        _: u64,
        _: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<reasoning::HttpReply, reasoning::ModelHttpError> {
        Ok(self.0.clone())
    }
}

/// What went wrong, and what was learned from it.
fn refused_in_the_box(reply: reasoning::HttpReply) -> (Error, Vec<String>) {
    let address: Address = "box:tiny".parse().unwrap();
    let learned = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = Arc::clone(&learned);
    let server = ModelServer::new(&address, Settings::default(), Arc::new(Refuses(reply))).unwrap();
    let server = server.learning(Box::new(move |name| told.lock().unwrap().push(name.to_owned())));
    let pack = pack(Vec::new());
    let request = server.encode(&pack, &iteration::tools()).unwrap();
    let input = Input { request: &request, pack: &pack, observed: &[], iteration: 1, wait_ms_max: 0 };
    let error = server.propose(&input, &mut |_| {}, &|| false).unwrap_err();
    let learned = learned.lock().unwrap().clone();
    (error, learned)
}

#[test]
fn the_model_in_the_box_keeps_its_grammar_whatever_it_refuses() {
    use reasoning::model_box::{protocol::Failure, refused};
    let (error, learned) =
        refused_in_the_box(refused(Failure::Request, "response_format: the grammar cannot be used"));
    assert!(matches!(error, Error::Refused { status: 400, .. }), "{error:?}");
    assert_eq!(learned, Vec::<String>::new());
}

#[test]
fn a_prompt_that_is_too_long_for_the_model_in_the_box_is_told_with_what_it_has_room_for() {
    let advice = |more| {
        let (error, _) = refused_in_the_box(reasoning::model_box::too_long("too long", 32_768, more));
        match error {
            Error::Refused { status: 413, advice, .. } => advice,
            other => panic!("{other:?}"),
        }
    };
    assert!(advice(true).contains("--context 65536"), "{}", advice(true));
    assert!(advice(false).contains("no more than 32768 tokens"), "{}", advice(false));
}
