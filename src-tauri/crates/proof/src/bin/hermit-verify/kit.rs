//! Grades somebody's verifier by a kit of vectors, and somebody's bundle by this verifier.

mod bundle;
mod child;
mod score;
mod vectors;

use crate::{complain, key_of, say, shown};
use child::Bounds;
use proof::Trust;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: hermit-verify kit grade KIT [OPTIONS] -- COMMAND...
       hermit-verify kit grade-bundle FILE [--trust KEY]... [--json] [-- COMMAND...]

  grade         runs COMMAND once for each vector of the folder KIT and prints a scoreboard
  grade-bundle  what this verifier says of the bundle FILE, which parts it has, and whether COMMAND says the same

  COMMAND       the verifier and its words, started without a shell; `{bundle}` stands for the
                file to check, `{key}` for the file with the key that the receiver trusts;
                `grade` gives it copies, each alone in a folder, outside of KIT
  --invalid-codes N,...
                exit codes by which it says `not valid` (1 unless given); 0 says `valid`, and any
                other code, a signal, silence or a flood is no answer
  --only PREFIX only vectors whose name begins so; may be given more than once
  --seconds N   how long it may take over one vector (10 unless given)
  --bytes N     how much it may write over one vector (1000000 unless given)
  --jobs N      how many vectors at a time (1 unless given)
  --trust KEY   as above, for grade-bundle
  --json        the whole scoreboard as JSON; the same for the same kit and program

exit codes: 0 full marks, 5 not, 2 usage or unreadable
";

/// The longest that one vector may take, and the most that a verifier may write and run at once, whatever is asked for.
const SECONDS_MAX: u64 = 3_600;
const BYTES_MAX: u64 = 64 * 1024 * 1024;
const JOBS_MAX: u64 = 64;

/// What was asked of a kit.
struct Asked {
    path: PathBuf,
    command: Vec<String>,
    refusals: Vec<i32>,
    only: Vec<String>,
    bounds: Bounds,
    jobs: usize,
    trust: Vec<Trust>,
    json: bool,
}

/// Text for a person, and whether all is as it should be.
type Answer = Result<(String, bool), String>;

pub fn run(words: &[String]) -> ExitCode {
    let (own, _) = split(words);
    if own.is_empty() || own.iter().any(|word| word == "--help" || word == "-h") {
        return say(USAGE, ExitCode::SUCCESS);
    }
    let answer = match own.split_first() {
        Some((word, _)) if word == "grade" => parse(words).and_then(|asked| grade(&asked)),
        Some((word, _)) if word == "grade-bundle" => parse(words).and_then(|asked| bundle::grade(&asked)),
        _ => Err(format!("`kit` grades, and no more\n\n{USAGE}")),
    };
    match answer {
        Ok((text, true)) => say(&text, ExitCode::SUCCESS),
        Ok((text, false)) => say(&text, ExitCode::from(5)),
        Err(why) => complain(&why),
    }
}

fn grade(asked: &Asked) -> Answer {
    if asked.command.is_empty() {
        return Err(format!("name the verifier to grade behind `--`\n\n{USAGE}"));
    }
    let kit = vectors::read(&asked.path)?;
    // The right answers lie where the verifier would be started.
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    if let (Ok(here), Ok(folder)) = (here, asked.path.canonicalize())
        && here.starts_with(&folder)
    {
        return Err("the kit tells the right answers: grade from outside its folder".to_owned());
    }
    let board = score::grade(&kit, asked)?;
    let text = if asked.json { board.json()? } else { shown::lines(&board.to_string()) };
    Ok((text, board.is_full()))
}

/// Our own words, and those of the command behind `--`.
fn split(words: &[String]) -> (&[String], &[String]) {
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (own, command) = words.split_at(at);
    (own, command.split_first().map_or(&[], |(_, rest)| rest))
}

fn parse(words: &[String]) -> Result<Asked, String> {
    let (own, command) = split(words);
    let mut own = own.iter().skip(1);
    let mut path = None;
    let mut asked = Asked {
        path: PathBuf::new(),
        command: command.to_vec(),
        refusals: vec![1],
        only: Vec::new(),
        bounds: Bounds { time: Duration::from_secs(10), bytes: 1_000_000 },
        jobs: 1,
        trust: Vec::new(),
        json: false,
    };
    while let Some(word) = own.next() {
        let mut next = || own.next().ok_or_else(|| format!("`{word}` needs a word behind it\n\n{USAGE}"));
        match word.as_str() {
            "--json" => asked.json = true,
            "--only" => asked.only.push(next()?.clone()),
            "--trust" => asked.trust.push(key_of(next()?)?),
            "--invalid-codes" => asked.refusals = codes(next()?)?,
            "--seconds" => asked.bounds.time = Duration::from_secs(number(next()?, SECONDS_MAX)?),
            "--bytes" => asked.bounds.bytes = number(next()?, BYTES_MAX)?,
            "--jobs" => asked.jobs = usize::try_from(number(next()?, JOBS_MAX)?).unwrap_or(1),
            flag if flag.starts_with('-') => return Err(format!("`{flag}` is no option\n\n{USAGE}")),
            file if path.is_none() => path = Some(PathBuf::from(file)),
            extra => return Err(format!("`{extra}` is one word too many\n\n{USAGE}")),
        }
    }
    asked.path = path.ok_or_else(|| format!("name the kit or the bundle\n\n{USAGE}"))?;
    Ok(asked)
}

fn number(word: &str, max: u64) -> Result<u64, String> {
    let found = word.parse::<u64>().ok().filter(|number| (1..=max).contains(number));
    found.ok_or_else(|| format!("`{word}` is no number from 1 to {max}"))
}

/// Exit codes with commas between them; 0 says `valid` and can say nothing else.
fn codes(word: &str) -> Result<Vec<i32>, String> {
    let code = |code: &str| code.parse::<i32>().ok().filter(|code| (1..=255).contains(code));
    let all: Option<Vec<i32>> = word.split(',').map(code).collect();
    all.ok_or_else(|| format!("`{word}` is no list of exit codes from 1 to 255, such as 5,6,7"))
}
