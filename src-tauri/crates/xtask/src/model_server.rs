//! Serves a model over the OpenAI-compatible API of llama.cpp, on loopback, until it is stopped.

use crate::Problem;
use crate::parts::{MODELS, embedding, folder, python};
use crate::shell::{hand_over, say};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The whole server: llama.cpp's own, started from its binding. It prints its URL and then waits.
const SERVE: &str = r#"
import os, pathlib, signal, sys, time, xllamacpp
model, port, threads, embedding = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "embeddings"
params = xllamacpp.CommonParams()
params.model.path = model
# Without a name of its own the API would tell its clients the path.
params.model_alias = {pathlib.Path(model).stem}
params.hostnames = ["127.0.0.1"]
params.port = port
# All that the model knows of: a client asks the server how much that is.
params.n_ctx = 0
params.n_parallel = 1
params.cpuparams.n_threads = threads
params.use_jinja = True
params.offline = True
params.embedding = embedding
server = xllamacpp.Server(params)
print(f"{server.listening_address}/v1", flush=True)
for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, lambda *_: os._exit(0))
while True:
    time.sleep(3600)
"#;

struct Wish {
    model: Option<PathBuf>,
    port: u16,
    threads: u16,
    /// Whether it makes vectors of texts, and no answers.
    embeddings: bool,
}

/// Starts the server; the first line it prints is the URL to give to a client. Ends with SIGINT or SIGTERM.
pub fn serve(words: &[String]) -> Result<ExitCode, Problem> {
    let wish = wish(words)?;
    let folder = folder()?;
    let model = match wish.model {
        Some(model) => model,
        None if wish.embeddings => embedding(&folder),
        None => fetched(&folder)?,
    };
    if wish.embeddings && !model.is_file() {
        return Err(
            "no embedding model is here yet; run `cargo xtask parts minilm`, or name one with --model PATH"
                .to_owned(),
        );
    }
    if !model.is_file() {
        return Err(format!("`{}` is no file", model.display()));
    }
    let python = python(&folder)?;
    say(&format!("loading {} ...", model.display()));
    let mut server = Command::new(python);
    server.args(["-c", SERVE]).arg(&model).arg(wish.port.to_string()).arg(wish.threads.to_string());
    server.arg(if wish.embeddings { "embeddings" } else { "answers" });
    hand_over(&mut server)
}

fn fetched(folder: &std::path::Path) -> Result<PathBuf, Problem> {
    let here = MODELS.iter().map(|model| folder.join(model.file)).find(|path| path.exists());
    here.ok_or_else(|| {
        "no model is here yet; run `cargo xtask parts`, or name one with --model PATH".to_owned()
    })
}

fn wish(words: &[String]) -> Result<Wish, Problem> {
    let mut wish = Wish { model: None, port: 8080, threads: 2, embeddings: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--embeddings" {
            wish.embeddings = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        let number =
            || value.parse::<u16>().map_err(|_| format!("`{value}` is not a number that `{word}` can be"));
        match word.as_str() {
            "--model" => wish.model = Some(PathBuf::from(value)),
            "--port" => wish.port = number()?,
            "--threads" => wish.threads = number()?.max(1),
            other => {
                return Err(format!(
                    "`{other}` means nothing here; there are --model, --port, --threads and --embeddings"
                ));
            }
        }
    }
    Ok(wish)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn wishes_are_read_and_mistakes_are_named() {
        let read = wish(&words("--port 9000 --embeddings --model m.gguf")).unwrap_or_else(|e| panic!("{e}"));
        assert!(read.embeddings);
        assert_eq!((read.port, read.model), (9000, Some(PathBuf::from("m.gguf"))));
        for (text, says) in
            [("--port", "needs a value"), ("--port x", "not a number"), ("--colour red", "means nothing")]
        {
            assert!(wish(&words(text)).err().is_some_and(|e| e.contains(says)), "{text}");
        }
    }
}
