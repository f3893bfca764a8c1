//! Models on this machine and keys for their servers, by the program and a server that really listens.

use crate::bench::{Bench, Ran, program, text};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

const KEY: &str = "sk-8rT2vQ9xZ4mK7wB1";

/// What its model says: that nothing is to be done.
const END: &str = r#"{"tool":"done","arguments":{"summary":"nothing is to be done"}}"#;

/// A server of models; it tells what each request was authorized with.
struct Server {
    port: u16,
    heard: Receiver<(String, Option<String>)>,
}

impl Server {
    fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &tell);
            }
        });
        Self { port, heard }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn model(&self) -> String {
        format!("openai:{}#tiny", self.url())
    }
}

fn answer(mut stream: TcpStream, tell: &Sender<(String, Option<String>)>) -> std::io::Result<()> {
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
    reader.read_exact(&mut vec![0; length])?;
    let is_list = first.starts_with("GET /v1/models ");
    let _ = tell.send((first.trim().to_owned(), bearer));
    let (kind, body) = if is_list {
        let listed = json!({ "object": "list", "data": [{ "id": "tiny", "owned_by": "llamacpp" }] });
        ("application/json", listed.to_string())
    } else {
        let words = json!({ "choices": [{ "index": 0, "delta": { "content": END } }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        ("text/event-stream", format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n"))
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// `hermit models add` with the key on standard input.
fn add(bench: &Bench, url: &str, secret: &str) -> Ran {
    std::fs::write(bench.path("key"), format!("{KEY}\n")).unwrap();
    let mut command = Command::new(program());
    command.args(["models", "add", url, "--secret", secret]);
    command.env("HERMIT_HOME", bench.home()).env("HERMIT_PASSPHRASE_FILE", bench.path("vault"));
    command.stdin(Stdio::from(std::fs::File::open(bench.path("key")).unwrap()));
    let output = command.output().unwrap();
    std::fs::remove_file(bench.path("key")).unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn found(bench: &Bench, server: &Server) -> Value {
    bench.run(&["models", "list", "--port", &server.port.to_string(), "--json"]).ends_with(0).json()
}

#[test]
fn a_model_of_this_machine_is_found_on_demand_chosen_as_the_standard_and_asked_without_a_key() {
    let (bench, server) = (Bench::new(), Server::begin());
    let listed = found(&bench, &server);
    let servers = listed["servers"].as_array().unwrap();
    let ours = servers.iter().find(|one| text(&one["url"]) == server.url()).unwrap();
    assert_eq!((&ours["name"], &ours["models"][0]["id"]), (&json!("llama.cpp"), &json!("tiny")));
    assert_eq!(text(&ours["models"][0]["address"]), server.model());
    assert_eq!(listed["standard"], Value::Null);
    assert_eq!(server.heard.recv().unwrap(), ("GET /v1/models HTTP/1.1".to_owned(), None));
    let shown = bench.run(&["models", "list", "--port", &server.port.to_string()]).ends_with(0);
    assert!(shown.out.contains(&server.model()) && shown.out.contains("llama.cpp"), "{}", shown.out);
    let _ = server.heard.recv();

    bench.run(&["models", "use", &server.model()]).ends_with(0);
    assert_eq!(text(&found(&bench, &server)["standard"]), server.model());
    let _ = server.heard.recv();
    let folder = bench.folder();
    let run = ["run", "--goal", "look around", "--workspace", folder.to_str().unwrap(), "--json"];
    bench.run(&run).ends_with(0);
    let (asked, bearer) = server.heard.recv().unwrap();
    assert!(asked.starts_with("POST /v1/chat/completions"), "{asked}");
    assert_eq!(bearer, None);
    bench.run(&["models", "use", "none"]).ends_with(0);
    bench.run(&run).ends_with(2);
}

#[conforms::conforms("HK-17.3-1")]
#[test]
fn the_key_for_a_server_goes_to_it_alone_with_every_call_and_is_found_nowhere_else() {
    let (bench, server, other) = (Bench::new(), Server::begin(), Server::begin());
    let said = add(&bench, &server.url(), "tiny-key").ends_with(0);
    assert!(said.out.contains(&format!("127.0.0.1:{}", server.port)), "{}", said.out);
    let listed = found(&bench, &server);
    assert_eq!(listed["providers"], json!([{ "url": server.url(), "secret": "tiny-key", "kept": true }]));
    // Looking takes no key along.
    assert_eq!(server.heard.recv().unwrap().1, None);
    let folder = bench.folder();
    for (model, bearer) in [(server.model(), Some(format!("Bearer {KEY}"))), (other.model(), None)] {
        let run =
            ["run", "--goal", "look around", "--workspace", folder.to_str().unwrap(), "--model", &model];
        let ran = bench.run(&run).ends_with(0);
        assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}", ran.out);
        let heard = if bearer.is_some() { &server.heard } else { &other.heard };
        assert_eq!(heard.recv().unwrap().1, bearer, "{model}");
    }
    let secrets = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(secrets["secrets"][0]["hosts"], json!([format!("127.0.0.1:{}", server.port)]));
    bench.run(&["models", "rm", &server.url()]).ends_with(0);
    assert_eq!(found(&bench, &server)["providers"], json!([]));
    bench.run(&["models", "rm", &server.url()]).ends_with(1);
}

#[test]
fn no_key_goes_over_plain_http_to_another_machine_and_no_stranger_becomes_the_standard() {
    let bench = Bench::new();
    let plain = add(&bench, "http://models.example.org/v1", "away").ends_with(2);
    assert!(plain.err.contains("https"), "{}", plain.err);
    let refused = bench.run(&["models", "use", "openai:https://models.example.org/v1#big"]).ends_with(2);
    assert!(refused.err.contains("hermit models add"), "{}", refused.err);
    add(&bench, "https://models.example.org/v1", "away").ends_with(0);
    bench.run(&["models", "use", "openai:https://models.example.org/v1#big"]).ends_with(0);
    bench.run(&["models", "use", "playbook:tidy"]).ends_with(2);
    let settings = std::fs::read_to_string(bench.home().join("config.json")).unwrap();
    assert!(settings.contains("models.example.org") && !settings.contains(KEY), "{settings}");
}
