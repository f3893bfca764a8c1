//! Training: examples a second and memory of the program that trains, beside candle's plain loop with the same model, adapter,
//! examples, batch and threads (successor.md 6).

use crate::Asked;
use crate::board::{Board, at, timed};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs of each, in turns.
const ROUNDS: usize = 3;
/// The plain loop is the limit: no slower than it, and no larger.
const AS_PLAIN: f64 = 1.0;
/// How far two first losses may lie from each other: the same arithmetic in another order.
const LOSS_FAR: f64 = 1e-3;
/// What candle's arithmetic takes its number of threads from.
const THREADS: &str = "RAYON_NUM_THREADS";
/// Names a real model, as the tests of the trainer do.
const BASE: &str = "HERMIT_TRAINER_BASE";

pub fn run(asked: &Asked, board: &Board) {
    let (trainer, plain) = match built() {
        Ok(programs) => programs,
        Err(missing) => {
            return board.figure("training", &format!("`{missing}` is not built: `cargo xtask trainer`"));
        }
    };
    let programs = (trainer.as_path(), plain.as_path());
    beside(asked, board, programs, "a random model of 6 million weights", None);
    match std::env::var_os(BASE).filter(|base| !base.is_empty()) {
        Some(base) => beside(asked, board, programs, "a real model", Some(base.as_os_str())),
        None => board.figure("a real model", &format!("{BASE} names none")),
    }
}

/// The program that trains and candle's plain loop, where `cargo xtask trainer` leaves them; the name of the first one that is missing.
fn built() -> Result<(PathBuf, PathBuf), &'static str> {
    let set = |name: &str| std::env::var_os(name).filter(|set| !set.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.unwrap_or_default().join("hermit");
    let trainer = set("HERMIT_TRAINER").unwrap_or_else(|| cache.join("trainer/hermit-train"));
    if !trainer.is_file() {
        return Err("hermit-train");
    }
    let beside = trainer.with_file_name("examples").join("plain");
    let built = cache.join("target/trainer/release/examples/plain");
    let plain = [beside, built].into_iter().find(|plain| plain.is_file());
    plain.map(|plain| (trainer, plain)).ok_or("plain, the example of the trainer")
}

/// What a run came to.
struct Came {
    /// Each step but the first, which finds nothing in memory yet.
    steps: Vec<Duration>,
    /// Mean loss of the first step, before anything was learned.
    first_loss: f64,
    /// The most bytes of memory.
    memory: f64,
    /// From its start to its end.
    whole: Duration,
    /// Examples of a step.
    batch: f64,
}

/// Both with one model, in turns, so that a slow moment of the machine meets both.
fn beside(asked: &Asked, board: &Board, (trainer, plain): (&Path, &Path), model: &str, base: Option<&OsStr>) {
    let folder = tempfile::tempdir().expect("a folder");
    let laid = Command::new(plain).arg("lay").arg(folder.path()).args(base).output().expect("it starts");
    if !laid.status.success() {
        return board.figure(model, &format!("no run: {}", String::from_utf8_lossy(&laid.stderr).trim()));
    }
    let (mut ours, mut plains, steps) = (Vec::new(), Vec::new(), asked.train_steps.max(2));
    for round in 0..ROUNDS {
        for (program, name, came) in [(trainer, "ours", &mut ours), (plain, "plain", &mut plains)] {
            match learned(program, &spec(folder.path(), &format!("{name}-{round}"), steps)) {
                Ok(one) => came.push(one),
                Err(why) => return board.figure(&format!("{model}: {name}"), &format!("no run: {why}")),
            }
        }
    }
    told(board, model, &ours, &plains);
}

/// The run that was laid out, in a folder of its own.
fn spec(folder: &Path, name: &str, steps: u64) -> PathBuf {
    let laid = std::fs::read(folder.join("run.json")).expect("it was laid out");
    let mut spec: Value = serde_json::from_slice(&laid).expect("JSON");
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    spec["folder"] = json!(folder.join(name));
    spec["steps"] = json!(steps);
    // One checkpoint, at the end, which is no part of a step.
    spec["checkpoint_every"] = json!(steps);
    spec["threads"] = json!(threads);
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, spec.to_string()).expect("written");
    path
}

/// Runs a program to its end; what it said.
fn said(command: &mut Command) -> Result<Vec<Value>, String> {
    // The end of its input would be a stop.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let input = child.stdin.take();
    let output = child.stdout.take().expect("it is piped");
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let said: Vec<Value> = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    drop(input);
    let ended = child.wait().map_err(|e| e.to_string())?;
    let last = said.last().map(Value::to_string).unwrap_or_default();
    if ended.success() { Ok(said) } else { Err(format!("{ended} {last}")) }
}

/// Lets a program learn.
fn learned(program: &Path, spec: &Path) -> Result<Came, String> {
    let asked: Value = serde_json::from_slice(&std::fs::read(spec).expect("written")).expect("JSON");
    let mut command = Command::new(program);
    command.arg("run").arg(spec).env(THREADS, asked["threads"].to_string());
    let (whole, said) = timed(|| said(&mut command));
    let number = |one: &Value, name: &str| one[name].as_f64().unwrap_or_default();
    let batch = number(&asked, "batch");
    let mut came = Came { steps: Vec::new(), first_loss: f64::NAN, memory: 0.0, whole, batch };
    for step in said?.iter().filter(|one| one["said"] == "progress") {
        let seconds = batch / number(step, "examples_per_s").max(1e-6);
        came.memory = came.memory.max(number(step, "memory"));
        if came.first_loss.is_nan() {
            came.first_loss = number(step, "loss");
        } else {
            came.steps.push(Duration::from_secs_f64(seconds));
        }
    }
    if came.steps.is_empty() { Err("it did no second step".to_owned()) } else { Ok(came) }
}

/// Seconds in the middle of these times of all runs.
fn middle(all: &[Came], of: fn(&Came) -> &[Duration]) -> f64 {
    let mut times: Vec<Duration> = all.iter().flat_map(|one| of(one).iter().copied()).collect();
    at(&mut times, 0.5)
}

fn told(board: &Board, model: &str, ours: &[Came], plains: &[Came]) {
    let [loss, of_plain] = [ours, plains].map(|all| all.first().map_or(f64::NAN, |one| one.first_loss));
    if (loss - of_plain).abs() > LOSS_FAR * loss.abs() {
        let words = format!("they do not do the same: the first loss is {loss}, and {of_plain} plain");
        return board.figure(model, &words);
    }
    let batch = ours.first().map_or(0.0, |one| one.batch);
    let steps = |all: &[Came]| middle(all, |one| one.steps.as_slice());
    let (step, plain) = (steps(ours), steps(plains));
    board.at_least(
        &format!("{model}: examples/s / plain candle"),
        plain / step,
        AS_PLAIN,
        &format!("{:.2} of {:.2}", batch / step, batch / plain),
    );
    let memory = |all: &[Came]| all.iter().map(|one| one.memory).fold(0.0, f64::max) / 1e6;
    let (used, plain) = (memory(ours), memory(plains));
    board.at_most(
        &format!("{model}: memory at most / plain candle"),
        used / plain,
        AS_PLAIN,
        &format!("{used:.0} of {plain:.0} MB"),
    );
    let wholes = |all: &[Came]| middle(all, |one| std::slice::from_ref(&one.whole));
    let (whole, plain) = (wholes(ours), wholes(plains));
    board.figure(
        &format!("{model}: start, steps and one checkpoint"),
        &format!("{whole:.2} s, {:.2} of plain candle, which writes none ({plain:.2} s)", whole / plain),
    );
}
