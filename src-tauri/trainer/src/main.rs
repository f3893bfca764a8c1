//! `hermit-train`: what it is asked for stands in its arguments and in words on its standard input; what it does, in
//! lines of JSON on its standard output.
//!
//! `run SPEC.json` learns, from the newest checkpoint on; `prove SPEC.json` measures; `export SPEC.json` writes the model;
//! `peer SPEC.json learn STEPS PERCENT` and `peer SPEC.json end COUNTED.json` do a round of training together.

#![allow(
    clippy::disallowed_methods,
    reason = "a program of its own: it starts itself with its number of threads"
)]

mod in_place;

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use trainer::{Done, Problem, export, peer, prove, run};
use training::{Control, RunSpec, Said};

const USAGE: &str = "hermit-train run|prove|export SPEC.json\n\
                     hermit-train peer SPEC.json learn STEPS PERCENT\n\
                     hermit-train peer SPEC.json end COUNTED.json";

/// Bytes of a run that is asked for, and of a line that is heard.
const SPEC_BYTES_MAX: u64 = 64 * 1024;
const LINE_BYTES_MAX: u64 = 64;

/// What candle's arithmetic takes its number of threads from.
const THREADS: &str = "RAYON_NUM_THREADS";

/// One line; when nobody reads it, there is nobody to work for.
fn say(said: &Said) {
    let line = serde_json::to_string(said).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Hears words for as long as there are any; the end of the input is a stop.
fn hear(tell: &Sender<Control>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(word) = std::str::from_utf8(&line).ok().and_then(Control::parse)
            && tell.send(word).is_err()
        {
            return;
        }
    }
}

fn ears() -> Receiver<Control> {
    let (tell, words) = channel();
    std::thread::spawn(move || hear(&tell));
    words
}

fn spec_of(path: &str) -> Done<RunSpec> {
    let path = Path::new(path);
    let length = std::fs::metadata(path).map_err(|error| Problem::of_file(path, error))?.len();
    if length > SPEC_BYTES_MAX {
        return Err(Problem::of_file(path, format!("it is longer than {SPEC_BYTES_MAX} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| Problem::of_file(path, error))?;
    let spec: RunSpec = serde_json::from_slice(&bytes).map_err(|error| Problem::of_file(path, error))?;
    spec.check()?;
    Ok(spec)
}

/// The program is started once more in its own place where it has another number of threads than the run says: the
/// arithmetic asks for that number once, and the bits follow from it.
fn with_threads(threads: u32) -> Done<()> {
    let wanted = threads.to_string();
    if std::env::var(THREADS).is_ok_and(|own| own == wanted) {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| Problem::new(error.to_string()))?;
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env(THREADS, wanted);
    let why = in_place::start(&mut again);
    Err(Problem::new(format!("the program cannot be started with its threads: {why}")))
}

fn work(args: &[String]) -> Done<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let [word, path, rest @ ..] = args.as_slice() else { return Err(Problem::new(USAGE)) };
    let spec = spec_of(path)?;
    with_threads(spec.threads)?;
    match (*word, rest) {
        ("run", []) => run::run(&spec, &ears(), &mut say),
        ("prove", []) => {
            let (session, step) = run::learned(&spec, &mut say)?;
            prove::prove(&session, step, &mut say).map(|_| ())
        }
        ("export", []) => {
            let (session, step) = run::learned(&spec, &mut say)?;
            export::export(&session, &prove::proven(&session, step)?, &mut say)
        }
        ("peer", ["learn", steps, percent]) => {
            let number =
                |word: &str| word.parse::<u32>().map_err(|_| Problem::new(format!("`{word}` is no number")));
            peer::learn(&spec, number(steps)?, number(percent)?, &mut say)
        }
        ("peer", ["end", counted]) => peer::end_round(&spec, Path::new(counted), &mut say),
        _ => Err(Problem::new(USAGE)),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // What a file that was made to do harm brings the arithmetic to an end with is a refusal too.
    let done = std::panic::catch_unwind(|| work(&args));
    match done.unwrap_or_else(|_| Err(Problem::new("the arithmetic gave up"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say(&Said::Refused { words: problem.to_string() });
            ExitCode::FAILURE
        }
    }
}
