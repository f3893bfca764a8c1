//! Models on this machine and keys for their servers, by the program and a server that really listens.

use crate::bench::{Bench, Ran, text};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

const KEY: &str = "sk-8rT2vQ9xZ4mK7wB1";

/// A goal that asks for an act, and one that asks for none.
const ACT: &str = "write down what is there";

const LOOK: &str = "look around";

/// What its model says first, what it writes once it has read the file, and that it is done.
const READ: &str = r#"{"tool":"read","arguments":{"path":"a.txt"}}"#;

const WRITE: &str = r#"{"tool":"write","arguments":{"path":"seen.txt","content":"one file"}}"#;

const END: &str = r#"{"tool":"done","arguments":{"summary":"nothing is to be done"}}"#;

/// What a server was asked.
#[derive(Debug)]
struct Heard {
    line: String,
    bearer: Option<String>,
    body: String,
}

/// A server of models; it tells what each request was authorized with, and answers nothing but its list to whoever does
/// not bring the key it wants.
struct Server {
    port: u16,
    heard: Receiver<Heard>,
}

impl Server {
    fn open() -> Self {
        Self::begin(None)
    }

    fn begin(wanted: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, wanted, &tell);
            }
        });
        Self { port, heard }
    }

    /// What was asked for proposals since the last look; what else is asked is how large the model is.
    fn asked(&self) -> Vec<Heard> {
        self.heard.try_iter().filter(|heard| heard.line.starts_with("POST /v1/chat/completions")).collect()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn model(&self) -> String {
        format!("openai:{}#tiny", self.url())
    }
}

fn answer(mut stream: TcpStream, wanted: Option<&str>, tell: &Sender<Heard>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length, mut bearer) = (String::new(), 0, None);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => bearer = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let is_list = first.starts_with("GET /v1/models ");
    let is_known = wanted.is_none_or(|key| bearer.as_deref() == Some(format!("Bearer {key}").as_str()));
    let said = match (body.contains("alpha"), body.contains(ACT) && !body.contains("seen.txt")) {
        (false, _) => READ,
        (true, true) => WRITE,
        (true, false) => END,
    };
    let _ = tell.send(Heard { line: first.trim().to_owned(), bearer, body });
    let (status, kind, body) = if !is_list && !is_known {
        let refused =
            json!({ "error": { "code": 401, "message": "Invalid API Key", "type": "authentication_error" } });
        ("401 Unauthorized", "application/json", refused.to_string())
    } else if is_list {
        let listed = json!({ "object": "list", "data": [{ "id": "tiny", "owned_by": "llamacpp" }] });
        ("200 OK", "application/json", listed.to_string())
    } else {
        let words = json!({ "choices": [{ "index": 0, "delta": { "content": said } }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        ("200 OK", "text/event-stream", format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n"))
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// `hermit models add` with the key on standard input.
fn add(bench: &Bench, url: &str, secret: &str) -> Ran {
    bench.told_with_keys(&["models", "add", url, "--secret", secret], &[KEY, ""], "")
}

fn found(bench: &Bench, server: &Server) -> Value {
    bench.run(&["models", "list", "--port", &server.port.to_string(), "--json"]).ends_with(0).json()
}

#[test]
fn a_model_of_this_machine_is_found_on_demand_chosen_as_the_standard_and_asked_without_a_key() {
    let (bench, server) = (Bench::new(), Server::open());
    let listed = found(&bench, &server);
    let servers = listed["servers"].as_array().unwrap();
    let ours = servers.iter().find(|one| text(&one["url"]) == server.url()).unwrap();
    assert_eq!((&ours["name"], &ours["models"][0]["id"]), (&json!("llama.cpp"), &json!("tiny")));
    assert_eq!(text(&ours["models"][0]["address"]), server.model());
    assert_eq!(listed["standard"], Value::Null);
    let asked = testkit::comes(&server.heard, "the request");
    assert_eq!((asked.line.as_str(), asked.bearer), ("GET /v1/models HTTP/1.1", None));
    let shown = bench.run(&["models", "list", "--port", &server.port.to_string()]).ends_with(0);
    assert!(shown.out.contains(&server.model()) && shown.out.contains("llama.cpp"), "{}", shown.out);
    bench.run(&["models", "use", &server.model()]).ends_with(0);
    assert_eq!(text(&found(&bench, &server)["standard"]), server.model());
    let _ = server.heard.try_iter().count();
    let folder = bench.folder();
    let run = ["run", "--goal", LOOK, "--workspace", folder.to_str().unwrap(), "--json"];
    bench.run(&run).ends_with(0);
    let asked = server.asked();
    assert_eq!(asked.len(), 2, "once before it has read the file, once behind: {asked:?}");
    for heard in asked {
        assert!(heard.line.starts_with("POST /v1/chat/completions"), "{}", heard.line);
        assert_eq!(heard.bearer, None);
    }
    bench.run(&["models", "use", "none"]).ends_with(0);
    bench.run(&run).ends_with(2);
}

#[test]
fn a_model_that_was_used_by_its_address_is_told_the_next_time_where_nothing_else_lists_it() {
    let (bench, server) = (Bench::new(), Server::open());
    let (folder, address) = (bench.folder(), server.model());
    let used = || bench.run(&["models", "list", "--json"]).ends_with(0).json()["used"].clone();
    assert_eq!(used(), json!([]));
    for _ in 0..2 {
        let run = ["run", "--goal", LOOK, "--workspace", folder.to_str().unwrap(), "--model", &address];
        bench.run(&run).ends_with(0);
    }
    assert_eq!(used(), json!([address]), "once, however often it was used");
    let shown = bench.run(&["models", "list"]).ends_with(0).out;
    assert!(shown.contains(&address) && shown.contains("used in a task of yours"), "{shown}");
    // What its server lists, or what is the default, stands there already.
    assert_eq!(found(&bench, &server)["used"], json!([]));
    bench.run(&["models", "use", &address]).ends_with(0);
    assert_eq!(used(), json!([]));
}

/// A run with a model; its document.
fn asked(bench: &Bench, model: &str) -> Ran {
    let folder = bench.folder();
    let folder = folder.to_str().unwrap();
    bench.run(&["run", "--goal", ACT, "--workspace", folder, "--model", model, "--json"])
}

/// Fails where the key stands in any file below.
fn nowhere_below(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nowhere_below(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            for shape in [KEY.to_owned(), STANDARD.encode(KEY)] {
                let found = bytes.windows(shape.len()).any(|part| part == shape.as_bytes());
                assert!(!found, "the key is in {}", path.display());
            }
        }
    }
}

#[conforms::conforms("HK-17.3-1")]
#[test]
fn the_key_for_a_server_goes_to_it_alone_with_every_call_and_is_found_nowhere_else() {
    let (bench, server, other) = (Bench::new(), Server::begin(Some(KEY)), Server::open());
    let without = asked(&bench, &server.model());
    assert!(![0, 4].contains(&without.code), "it wants a key: {}", without.out);
    assert!(server.heard.try_iter().all(|heard| heard.bearer.is_none()));
    let said = add(&bench, &server.url(), "tiny-key").ends_with(0);
    assert!(said.out.contains(&format!("127.0.0.1:{}", server.port)), "{}", said.out);
    let listed = found(&bench, &server);
    assert_eq!(listed["providers"], json!([{ "url": server.url(), "secret": "tiny-key", "kept": true }]));
    // Looking takes no key along.
    assert!(server.heard.try_iter().all(|heard| heard.bearer.is_none()));
    // What is read may hold it as well; the model that it opens does not hear it either.
    std::fs::write(bench.folder().join("a.txt"), format!("alpha, and its key is {KEY}\n")).unwrap();
    let mut tasks = Vec::new();
    for (model, bearer) in [(server.model(), Some(format!("Bearer {KEY}"))), (other.model(), None)] {
        let ran = asked(&bench, &model).ends_with(4);
        assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}", ran.out);
        let waiting = ran.json();
        bench.allow(&text(&waiting["row"]["task_id"]), &text(&waiting["waits_for"]["id"]));
        std::fs::remove_file(bench.folder().join("seen.txt")).expect("it was written");
        let heard = if bearer.is_some() { server.asked() } else { other.asked() };
        assert_eq!(heard.len(), 3, "{model}");
        for one in &heard {
            assert_eq!(one.bearer, bearer, "{model}");
            assert!(!one.body.contains(KEY), "{}", one.body);
        }
        assert!(heard[1].body.contains("alpha, and its key is"), "{}", heard[1].body);
        tasks.push(text(&waiting["row"]["task_id"]));
    }
    for task in &tasks {
        kept_without(&bench, task);
    }
    nowhere_below(&bench.home());
    let secrets = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(secrets["secrets"][0]["hosts"], json!([format!("127.0.0.1:{}", server.port)]));
    bench.run(&["models", "rm", &server.url()]).ends_with(0);
    assert_eq!(found(&bench, &server)["providers"], json!([]));
    bench.run(&["models", "rm", &server.url()]).ends_with(1);
}

/// A finished task whose packs, events, receipts and proof do not hold the key.
fn kept_without(bench: &Bench, task: &str) {
    let shown = bench.run(&["task", "show", task, "--json"]).ends_with(0);
    assert_eq!(shown.json()["row"]["status"], "completed", "{}", shown.out);
    let pack = bench.run(&["context", task, "--iteration", "2", "--json"]).ends_with(0);
    assert!(pack.json()["shown"]["request"]["bytes"].is_string(), "{}", pack.out);
    let bytes = STANDARD.decode(text(&pack.json()["shown"]["request"]["bytes"])).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "what was sent is kept without it");
    let receipts = bench.run(&["receipts", "list", "--task", task, "--json"]).ends_with(0).json();
    for row in receipts["rows"].as_array().unwrap() {
        let shown = bench.run(&["receipts", "show", &text(&row["receipt_id"]), "--json"]).ends_with(0);
        assert!(!shown.out.contains(KEY), "{}", shown.out);
    }
    assert!(
        receipts["rows"].as_array().unwrap().iter().any(|row| row["result"] == "succeeded"),
        "{receipts}"
    );
    let proof = bench.path(&format!("proof-{task}"));
    let out = proof.to_str().unwrap();
    bench.run(&["proof", "export", task, "-o", out, "--artifacts", "all"]).ends_with(0);
    nowhere_below(&proof);
    for words in [&["task", "events", task][..], &["receipts", "list"], &["models", "list"]] {
        let said = bench.run(words);
        assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{words:?}");
    }
}

#[test]
fn no_key_goes_over_plain_http_to_another_machine_and_no_stranger_becomes_the_standard() {
    let bench = Bench::new();
    let plain = add(&bench, "http://models.example.org/v1", "away").ends_with(2);
    assert!(plain.err.contains("https"), "{}", plain.err);
    let refused = bench.run(&["models", "use", "openai:https://models.example.org/v1#big"]).ends_with(2);
    assert!(refused.err.contains("hermit models add"), "{}", refused.err);
    add(&bench, "https://models.example.org/v1", "away").ends_with(0);
    let absent = bench.run(&["models", "use", "box:absent"]).ends_with(0);
    assert!(absent.out.contains("its weights are not here"), "{}", absent.out);
    bench.run(&["models", "use", "openai:https://models.example.org/v1#big"]).ends_with(0);
    bench.run(&["models", "use", "playbook:tidy"]).ends_with(2);
    let settings = std::fs::read_to_string(bench.home().join("config.json")).unwrap();
    assert!(settings.contains("models.example.org") && !settings.contains(KEY), "{settings}");
}

/// A server of models whose list wants this key, or that is no such server.
fn listing(key: &'static str) -> testkit::Server {
    testkit::Server::begin(move |heard| {
        let json = || vec![("Content-Type", "application/json".to_owned())];
        if heard.line == "GET /elsewhere/models" {
            return testkit::Answers::With(200, vec![], "<html>hello</html>".to_owned());
        }
        if heard.header("authorization") != Some(&format!("Bearer {key}")) {
            let refused = json!({ "error": { "message": "Incorrect API key provided" } });
            return testkit::Answers::With(401, json(), refused.to_string());
        }
        let list = json!({ "data": [{ "id": "large", "context_length": 65_536 }, { "id": "tiny", "context_length": 8192 }] });
        testkit::Answers::With(200, json(), list.to_string())
    })
}

#[test]
fn a_server_is_tested_with_its_key_alone_and_what_is_wrong_is_said_in_words() {
    let (bench, server, other) = (Bench::new(), listing(KEY), listing("another key"));
    let tested = |words: &[&str], code: i32| {
        let words = [&["models", "test"], words, &["--json"]].concat();
        bench.run(&words).ends_with(code)
    };
    let url = server.url("/v1");
    let wants = text(&tested(&[&url], 1).json()["trouble"]);
    assert!(wants.contains("wants a key") && wants.contains("hermit models add"), "{wants}");
    assert!(server.heard().iter().all(|heard| heard.header("authorization").is_none()));
    add(&bench, &url, "ours").ends_with(0);
    let found = tested(&[&url], 0).json();
    assert_eq!(found["trouble"], Value::Null);
    let ids: Vec<String> = found["models"].as_array().unwrap().iter().map(|one| text(&one["id"])).collect();
    assert_eq!(ids, ["large", "tiny"]);
    assert_eq!(found["models"][0]["address"], json!(format!("openai:{url}#large")));
    let asked = &found["models"][0]["asked"];
    assert_eq!((&asked["context"], text(&asked["from"])), (&json!(65_536), "its server says so".to_owned()));
    let heard = server.heard();
    assert!(heard.iter().all(|heard| heard.line == "GET /v1/models"), "a test only looks: {heard:?}");
    let shown = bench.run(&["models", "test", &format!("openai:{url}#large")]).ends_with(0);
    assert!(
        shown.out.contains(&format!("openai:{url}#tiny")) && shown.out.contains("context 65536"),
        "{}",
        shown.out
    );
    assert!(!shown.out.contains(KEY) && !shown.err.contains(KEY));
    // A key that is refused; one that may not go there; nobody; something else; somebody else's machine.
    add(&bench, &other.url("/v1"), "theirs").ends_with(0);
    let refused = text(&tested(&[&other.url("/v1")], 1).json()["trouble"]);
    assert!(
        refused.contains("refuses the key `secret:theirs`") && refused.contains("Incorrect API key"),
        "{refused}"
    );
    let before = server.heard().len();
    let kept = text(&tested(&[&url, "--secret", "theirs"], 1).json()["trouble"]);
    assert!(kept.contains("may not go to"), "{kept}");
    assert_eq!(server.heard().len(), before, "nothing is sent");
    let page = text(&tested(&[&server.url("/elsewhere")], 1).json()["trouble"]);
    assert!(page.contains("no list of models") && page.contains("/v1"), "{page}");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = text(&tested(&[&format!("http://{closed}/v1")], 1).json()["trouble"]);
    assert!(nobody.contains("nothing answers"), "{nobody}");
    for away in ["http://192.0.2.1:8080/v1", "https://models.example.org/v1"] {
        let refused = bench.run(&["models", "test", away]).ends_with(2);
        assert!(refused.err.contains("hermit models add"), "{}", refused.err);
    }
}

/// A server that says these calls one after another, and what it was asked for each.
pub fn scripted(calls: Vec<Value>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("openai:http://{}/v1#big", listener.local_addr().unwrap());
    let (tell, heard) = channel();
    std::thread::spawn(move || {
        let mut calls = calls.into_iter();
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            let _ = reader.read_line(&mut first);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let (status, said) = if !first.starts_with("POST /v1/chat/completions") {
                ("404 Not Found", "{}".to_owned())
            } else {
                let _ = tell.send(String::from_utf8_lossy(&body).into_owned());
                let call =
                    calls.next().unwrap_or(json!({ "tool": "done", "arguments": { "summary": "end" } }));
                let message = json!({ "content": call.to_string() });
                (
                    "200 OK",
                    json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string(),
                )
            };
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", said.len());
            let _ = stream.write_all(format!("{head}{said}").as_bytes());
        }
    });
    (address, heard)
}

#[test]
fn a_run_that_stops_says_what_failed_and_what_to_do_next() {
    let bench = Bench::new();
    let call = json!({ "tool": "command", "arguments": { "argv": ["git", "push"] } });
    let (model, heard) = scripted(vec![call; 6]);
    let folder = bench.folder();
    let run =
        ["run", "--goal", "push", "--workspace", folder.to_str().unwrap(), "--model", &model, "--no-input"];
    let ran = bench.run(&run).ends_with(1);
    assert!(
        ran.out.contains("Stopped: policy denied 4 proposals in a row, the last `run git push`"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("profile") && !ran.out.contains("repeated_tool_failure"), "{}", ran.out);
    assert!(!ran.out.contains("UNVERIFIED"), "these are Hermit's words: {}", ran.out);
    assert!(heard.try_iter().nth(1).unwrap().contains("not allowed by policy"), "the model is told why");
    let rows = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert!(text(&rows["rows"][0]["because"]).starts_with("Stopped: policy denied"), "{rows}");
}
