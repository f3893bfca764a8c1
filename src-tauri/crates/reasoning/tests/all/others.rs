//! Addresses, scripts, transcripts.

use model::Digest;
use model::context::ContextPack;
use model::proposal::Answer;
use reasoning::{Address, Error, Input, Matching, Reasoner, Recorded, Recorder, Scripted, Transcript};
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};

fn pack() -> ContextPack {
    ContextPack {
        task_id: "task_019000000000700080000000000000aa".parse().unwrap(),
        attempt_id: "att_019000000000700080000000000000aa".parse().unwrap(),
        iteration: 1,
        tokens_max: 3000,
        tokens: 0,
        items: Vec::new(),
        omissions: Vec::new(),
        inputs: Vec::new(),
        input_sha256: Digest::of(b""),
        meaning: None,
    }
}

fn ask(reasoner: &dyn Reasoner, request: &[u8]) -> Result<(Answer, Vec<u8>, String), Error> {
    let pack = pack();
    let input = Input { request, pack: &pack, observed: &[], iteration: 1, wait_ms_max: 0 };
    let mut heard = String::new();
    let reply =
        reasoner.propose(&input, &mut |piece| heard.push_str(piece.text().unwrap_or_default()), &|| false)?;
    Ok((reply.answer, reply.raw, heard))
}

#[test]
fn an_address_is_read_and_printed_alike() {
    for text in [
        "openai:http://127.0.0.1:8080/v1#qwen",
        "openai:https://api.example.org/v1#gpt-5:latest",
        "openai:http://[::1]:11434/v1#library/qwen2.5-coder:1.5b",
        "playbook:tidy",
        "playbook:/home/me/my book.yaml",
        "recorded:tests/notes.jsonl",
        "scripted",
    ] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
    let trimmed: Address = "openai:http://localhost/v1/#m".parse().unwrap();
    assert_eq!(trimmed.to_string(), "openai:http://localhost/v1#m");
}

#[test]
fn a_model_alone_is_at_the_usual_server_of_its_protocol() {
    for (short, whole) in [
        ("openai:gpt-5", "openai:https://api.openai.com/v1#gpt-5"),
        ("responses:gpt-5", "responses:https://api.openai.com/v1#gpt-5"),
        ("anthropic:claude-x", "anthropic:https://api.anthropic.com/v1#claude-x"),
        ("anthropic:#claude-x", "anthropic:https://api.anthropic.com/v1#claude-x"),
        ("gemini:gemini-x", "gemini:https://generativelanguage.googleapis.com/v1beta#gemini-x"),
        ("ollama:qwen2.5:1.5b", "ollama:http://127.0.0.1:11434#qwen2.5:1.5b"),
    ] {
        let address: Address = short.parse().unwrap();
        assert_eq!(address.to_string(), whole);
        assert_eq!(whole.parse::<Address>().unwrap(), address);
        assert_eq!(address.is_remote(), !short.starts_with("ollama"));
    }
}

#[test]
fn a_wrong_address_is_told_why() {
    for (text, why) in [
        ("", "names no provider"),
        ("qwen", "names no provider"),
        ("openai:", "names no model after the `#`"),
        ("anthropic:https://h/v1", "names no model after a `#`"),
        ("anthropic:a b", "space"),
        ("gemini:models/x", "letters, digits"),
        ("openai:http://127.0.0.1:8080/v1", "names no model after a `#`"),
        ("openai:http://127.0.0.1:8080/v1#", "names no model after the `#`"),
        ("openai:127.0.0.1:8080#m", "begins neither with"),
        ("openai:ftp://h/#m", "begins neither with"),
        ("openai:http://#m", "names no host"),
        ("openai:http://::1/#m", "names no host"),
        ("openai:http://h:99999#m", "port"),
        ("openai:http://h:x/v1#m", "port"),
        ("openai:https://me:secret@h/v1#m", "keychain"),
        ("openai:http://h/v1?key=1#m", "query"),
        ("openai:http://h/v1#a b", "space"),
        ("http://127.0.0.1:8080/v1", "write `openai:http://127.0.0.1:8080/v1#MODEL`"),
        ("https://h/v1#m", "write `openai:https://h/v1#m`"),
        ("playbook:", "names nothing"),
        ("claude:qwen", "its provider is none of `openai`, `responses`, `anthropic`, `gemini`, `ollama`"),
    ] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("looks like"), "{text}: {error}");
    }
}

#[test]
fn only_loopback_stays_on_this_machine() {
    for (url, remote) in [
        ("http://127.0.0.1:8080", false),
        ("http://127.3.2.1", false),
        ("http://LOCALHOST:1", false),
        ("http://[::1]:8080", false),
        ("http://localhost.example.org", true),
        ("http://127.0.0.1.example.org", true),
        ("http://192.168.1.4:8080", true),
        ("http://0.0.0.0:8080", true),
        ("https://api.openai.com/v1", true),
    ] {
        let address: Address = format!("openai:{url}#m").parse().unwrap();
        assert_eq!(address.is_remote(), remote, "{url}");
        assert_eq!(address.leaves_this_machine(), remote, "{url}");
    }
    // A server of this machine hands on what it is asked: Ollama names such models so.
    for (model, leaves) in [
        ("gpt-oss:120b-cloud", true),
        ("gemma4:cloud", true),
        ("gemma4:CLOUD", true),
        ("qwen2.5:1.5b", false),
        ("cloud", false),
        ("cloud:latest", false),
        ("overcloud:7b", false),
    ] {
        for server in ["ollama:http://127.0.0.1:11434", "openai:http://localhost:11434/v1"] {
            let address: Address = format!("{server}#{model}").parse().unwrap();
            assert_eq!((address.is_remote(), address.leaves_this_machine()), (false, leaves), "{model}");
        }
    }
    assert!(!"playbook:tidy".parse::<Address>().unwrap().is_remote());
    let https: Address = "openai:https://h/v1#m".parse().unwrap();
    assert_eq!(https.host(), Some(("h".to_owned(), 443)));
}

#[test]
fn a_script_says_its_answers_and_then_nothing() {
    let script =
        Scripted::new(vec![Scripted::call("list", json!({"path": "."})), Scripted::text("finished")]);
    assert_eq!(ask(&script, b"").unwrap().0.calls.len(), 1);
    let (answer, _, heard) = ask(&script, b"").unwrap();
    assert_eq!((answer.text.as_str(), heard.as_str()), ("finished", "finished"));
    assert!(matches!(ask(&script, b""), Err(Error::Unavailable { .. })));
}

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn recorded() -> String {
    let paper = Paper::default();
    let script = Scripted::new(vec![Scripted::call("list", json!({"path": "."})), Scripted::text("ende")]);
    let recorder = Recorder::new(script, Box::new(paper.clone())).unwrap();
    ask(&recorder, b"first").unwrap();
    ask(&recorder, b"second").unwrap();
    let bytes = paper.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_was_recorded_is_replayed_byte_for_byte() {
    let transcript = Transcript::parse(&recorded()).unwrap();
    assert_eq!(transcript.descriptor.as_ref().unwrap().provider, model::task::Proposer::Scripted);
    let replay = Recorded::new(transcript, Matching::Strict);
    let script = Scripted::new(vec![Scripted::call("list", json!({"path": "."})), Scripted::text("ende")]);
    for request in [&b"first"[..], b"second"] {
        let (old, new) = (ask(&script, request).unwrap(), ask(&replay, request).unwrap());
        assert_eq!(old, new);
    }
    assert_eq!((replay.left(), replay.differing()), (0, vec![]));
    assert!(ask(&replay, b"third").unwrap_err().to_string().contains("asked for one more"));
}

#[test]
fn what_a_model_reasons_is_in_no_transcript() {
    let paper = Paper::default();
    let answer = Answer { reasoning: "perhaps the cellar".to_owned(), ..Scripted::text("ende") };
    let recorder = Recorder::new(Scripted::new(vec![answer]), Box::new(paper.clone())).unwrap();
    let (heard, ..) = ask(&recorder, b"first").unwrap();
    assert_eq!(heard.reasoning, "perhaps the cellar", "whoever asked has it");
    let written = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    assert!(written.contains("ende") && !written.contains("cellar"), "{written}");
    let replay = Recorded::new(Transcript::parse(&written).unwrap(), Matching::Strict);
    let (again, raw, _) = ask(&replay, b"first").unwrap();
    assert_eq!((again.text.as_str(), again.reasoning.as_str()), ("ende", ""));
    assert!(!raw.is_empty(), "the answer stands for its bytes");
}

#[test]
fn another_request_is_refused_or_noted_as_chosen() {
    let strict = Recorded::new(Transcript::parse(&recorded()).unwrap(), Matching::Strict);
    assert!(matches!(ask(&strict, b"other"), Err(Error::Transcript { .. })));
    assert_eq!(strict.left(), 2, "a refused request uses nothing up");
    let ordered = Recorded::new(Transcript::parse(&recorded()).unwrap(), Matching::Ordered);
    ask(&ordered, b"first").unwrap();
    ask(&ordered, b"other").unwrap();
    assert_eq!(ordered.differing(), [1]);
}

#[test]
fn a_transcript_holds_bytes_that_are_no_text() {
    let line = r#"{"raw_base64":"//4=","answer":{"text":"t","calls":[],"usage":{"tokens_in":0,"tokens_out":0,"cost_micros":0},"finish_reason":"stop"}}"#;
    let replay = Recorded::new(Transcript::parse(line).unwrap(), Matching::Strict);
    assert_eq!(ask(&replay, b"anything").unwrap().1, [0xff, 0xfe]);
}

#[test]
fn a_broken_transcript_names_its_line() {
    let good = recorded();
    for (text, line) in [
        (format!("{good}{{}}\n"), "line 4"),
        ("nonsense".to_owned(), "line 1"),
        (good.replace("\"raw\":", "\"row\":"), "line 2"),
        (good.replace("\"raw\":", "\"raw_base64\":"), "line 2"),
    ] {
        let error = Transcript::parse(&text).unwrap_err().to_string();
        assert!(error.contains(line), "{error}");
    }
}
