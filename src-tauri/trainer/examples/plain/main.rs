//! Candle's plain training loop, for the bench (`training`) to measure ours beside it: no checkpoints, no words, no budget.
//!
//! `plain lay FOLDER [BASE.gguf]` lays out a dataset and a run, and a random model where none is named; `plain run SPEC.json`
//! does the run, and says lines of JSON as `hermit-train` does.

#![allow(clippy::disallowed_methods, reason = "a measurement asks the clock")]

#[path = "../../tests/llama.rs"]
mod llama;
mod plain_loop;

use llama::{Measures, written};
use plain_loop::{Plain, learn};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use trainer::gguf::{Loaded, digest_of};
use trainer::session::Session;
use trainer::{Done, Problem, memory};
use training::{Base, DatasetFile, Example, Role, RunSpec, Said, SplitRule, Turn, assemble, write_lines};

const USAGE: &str = "plain lay FOLDER [BASE.gguf]\nplain run SPEC.json";

/// Large enough that a step is arithmetic, small enough for a minute.
const SMALL: Measures =
    Measures { name: "Small", width: 256, wide: 768, heads: 8, key_heads: 4, layers: 8, context: 512 };

/// Tokens of an example: prompts are longer, so each example has all of them.
const TOKENS: u32 = 256;
const EXAMPLES: i64 = 48;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["lay", folder] => lay(Path::new(folder), None),
        ["lay", folder, base] => lay(Path::new(folder), Some(base)),
        ["run", spec] => run(Path::new(spec)),
        _ => Err(Problem::new(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// One act of a project, behind a prompt that is longer than what is read of it.
fn example(project: &str, at: i64) -> Example {
    let before: String =
        (0..80).map(|line| format!("Line {line} of what was read before act {at}. ")).collect();
    let prompt = vec![
        Turn { role: Role::System, content: "One act.".to_owned() },
        Turn { role: Role::User, content: format!("{before}Write note {at} of {project}.") },
    ];
    let answer = format!("{{\"tool\":\"write\",\"arguments\":{{\"path\":\"{project}/note-{at}.md\"}}}}");
    Example::new(prompt, answer, vec![format!("rcp_{project}_{at}")], project.to_owned(), at)
}

fn lay(folder: &Path, base: Option<&str>) -> Done<()> {
    let failed = |error: std::io::Error| Problem::of_file(folder, error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let base = match base {
        Some(base) => PathBuf::from(base),
        None => {
            let path = folder.join("small.gguf");
            written(&path, SMALL, |_| {});
            path
        }
    };
    let all = (0..EXAMPLES).map(|at| example("old", at)).chain((100..112).map(|at| example("new", at)));
    let lines = write_lines(&assemble(all.collect(), SplitRule::default())?.examples)?;
    let data = folder.join("dataset.jsonl");
    std::fs::write(&data, &lines).map_err(failed)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let base = Base { path: text(&base), sha256: digest_of(&base)?, licence: "Apache-2.0".to_owned() };
    let data = DatasetFile { path: text(&data), sha256: seal::Digest::of(&lines) };
    let spec = RunSpec {
        sequence_length: TOKENS,
        answer_tokens: TOKENS / 2,
        ..RunSpec::small(base, data, text(&folder.join("run")))
    };
    let spec = serde_json::to_vec_pretty(&spec).map_err(|error| Problem::new(error.to_string()))?;
    std::fs::write(folder.join("run.json"), spec).map_err(failed)
}

/// The same lessons in the same order, with the adapter that ours begins with.
fn run(path: &Path) -> Done<()> {
    let bytes = std::fs::read(path).map_err(|error| Problem::of_file(path, error))?;
    let spec: RunSpec = serde_json::from_slice(&bytes).map_err(|error| Problem::of_file(path, error))?;
    let session = Session::open(&spec, &mut |_| {})?;
    let orders: Vec<Vec<usize>> = (0..spec.steps).map(|step| session.lessons_of(step)).collect();
    let numbers = session.adapter.numbers()?;
    let Session { base, lessons, .. } = session;
    let Loaded { content, form, weights, .. } = base;
    // They are read once more, as candle's own: nobody shall count them twice.
    drop(weights);
    let plain = Plain::open(&spec, &content, form, &numbers)?;
    let mut begun = Instant::now();
    learn(&plain, &lessons, &orders, spec.learning_rate, |step, loss| {
        let seconds = begun.elapsed().as_secs_f32().max(f32::EPSILON);
        say(&Said::Progress {
            step: u32::try_from(step).unwrap_or(u32::MAX),
            loss,
            examples_per_s: spec.batch as f32 / seconds,
            memory: memory::peak(),
        });
        begun = Instant::now();
    })?;
    say(&Said::Ended { step: spec.steps, words: None });
    Ok(())
}

fn say(said: &Said) {
    println!("{}", serde_json::to_string(said).unwrap_or_default());
}
