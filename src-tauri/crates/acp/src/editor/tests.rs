//! An editor that is this test.

use super::*;
use std::io::{BufReader, Read};
use std::os::unix::net::UnixStream;

/// Says back what it is told; `wait` waits to be cancelled, `fail` fails.
struct Echo;

impl Works for Echo {
    fn folder(&self, folder: &Path) -> Result<PathBuf, String> {
        if folder.is_dir() {
            Ok(folder.to_owned())
        } else {
            Err(format!("`{}` is no folder", folder.display()))
        }
    }

    fn work(
        &self,
        prompt: &Prompt<'_>,
        tell: &mut dyn FnMut(Told<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Stop, String> {
        tell(Told::Says(&format!("{}:{}", prompt.task.unwrap_or("none"), prompt.text)));
        tell(Told::Task("task_1"));
        match prompt.text {
            "wait" => {
                while !cancelled() {
                    std::thread::yield_now();
                }
                Ok(Stop::Cancelled)
            }
            "fail" => Err("it failed".to_owned()),
            _ => Ok(Stop::Ended),
        }
    }
}

struct Editor {
    to: UnixStream,
    from: BufReader<UnixStream>,
}

impl Editor {
    fn new() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(std::time::Duration::from_secs(300))).unwrap();
        let reads = BufReader::new(theirs.try_clone().unwrap());
        std::thread::spawn(move || serve(Arc::new(Echo), "1", reads, theirs));
        Self { from: BufReader::new(ours.try_clone().unwrap()), to: ours }
    }

    fn says(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    fn hears(&mut self) -> Value {
        let Some(Line::Whole(line)) = next_line(&mut self.from).unwrap() else { panic!() };
        serde_json::from_slice(&line).unwrap()
    }

    fn asks(&mut self, id: u64, method: &str, params: Value) {
        self.says(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
    }

    fn session(&mut self) -> String {
        let folder = std::env::temp_dir().display().to_string();
        self.asks(1, "session/new", json!({ "cwd": folder, "mcpServers": [] }));
        self.hears()["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, id: u64, session: &str, text: &str) {
        self.asks(
            id,
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
        );
    }
}

#[test]
fn a_prompt_is_worked_told_and_answered_and_the_next_one_goes_on_with_its_task() {
    let mut editor = Editor::new();
    editor.asks(0, "initialize", json!({ "protocolVersion": 1 }));
    assert_eq!(editor.hears()["result"]["protocolVersion"], 1);
    let session = editor.session();
    for (text, before) in [("a", "none"), ("b", "task_1")] {
        editor.prompt(2, &session, text);
        let told = editor.hears();
        assert_eq!(told["params"]["sessionId"], session.as_str());
        assert_eq!(told["params"]["update"]["content"]["text"], format!("{before}:{text}"));
        assert_eq!(editor.hears()["result"]["stopReason"], "end_turn");
    }
    editor.prompt(3, &session, "fail");
    editor.hears();
    assert_eq!(editor.hears()["error"]["message"], "it failed");
}

#[test]
fn a_session_works_one_prompt_at_a_time_and_it_can_be_cancelled() {
    let mut editor = Editor::new();
    let session = editor.session();
    editor.prompt(2, &session, "wait");
    editor.hears();
    editor.prompt(3, &session, "more");
    let refused = editor.hears();
    assert_eq!(refused["id"], 3);
    assert!(refused["error"]["message"].as_str().unwrap().contains("at work"), "{refused}");
    // What is told of a session that is not there is nothing, and an answer that nobody asked for too.
    editor.says("{\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"other\"}}");
    editor.says("{\"id\":9,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"allow\"}}}");
    editor.says(&json!({ "method": "session/cancel", "params": { "sessionId": session } }).to_string());
    let ended = editor.hears();
    assert_eq!((&ended["id"], &ended["result"]["stopReason"]), (&json!(2), &json!("cancelled")));
}

#[test]
fn bad_input_is_answered_in_words_and_ends_nothing() {
    let mut editor = Editor::new();
    let session = editor.session();
    for (line, code, word) in [
        ("{", -32700, "no JSON"),
        ("[1]", -32600, "one object"),
        ("{\"id\":5,\"method\":\"fs/format\"}", -32601, "no method"),
        ("{\"id\":5,\"method\":\"session/new\",\"params\":{\"cwd\":\"x\"}}", -32602, "whole path"),
        (
            "{\"id\":5,\"method\":\"session/new\",\"params\":{\"cwd\":\"/nowhere/at/all\"}}",
            -32602,
            "no folder",
        ),
        (
            "{\"id\":5,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"x\",\"prompt\":[{\"text\":\"a\"}]}}",
            -32002,
            "no such session",
        ),
        (
            "{\"id\":5,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"x\",\"prompt\":[]}}",
            -32602,
            "says nothing",
        ),
        ("{\"id\":5,\"method\":\"session/prompt\",\"params\":[]}", -32602, "a list"),
    ] {
        editor.says(line);
        let told = editor.hears();
        assert_eq!(told["error"]["code"], code, "{line}: {told}");
        assert!(told["error"]["message"].as_str().unwrap().contains(word), "{told}");
    }
    editor.prompt(6, &session, "still there");
    assert_eq!(editor.hears()["params"]["update"]["content"]["text"], "none:still there");
    editor.hears();
    drop(editor.to.shutdown(std::net::Shutdown::Write));
    assert_eq!(editor.from.read(&mut [0]).unwrap(), 0, "it ends with its editor");
}
