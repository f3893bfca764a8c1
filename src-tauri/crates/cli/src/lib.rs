//! `hermit`, over the same wire and api as everything else; `--json` prints wire's types.
//!
//! **What this room is for.** A person at a terminal, a script, a server without a display: every operation of Hermit
//! as a verb, with help that teaches, exit codes that say what became of it, and the one thing only a person can do:
//! read a card and sign yes or no on the controlling terminal.
//!
//! **What it must never do.** Take a yes from anything but keys pressed on the controlling terminal after the card
//! was shown. Show text of a model or a file name to a terminal unescaped. Guess what a person meant when two things
//! fit. Load policies, keys or a store in order to print help.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Exit codes are those of [`wire::exit`], and nothing else.
//! 2. With `--json` standard output holds wire's types and nothing else.
//! 3. Enter alone never approves; keys pressed before the card was armed are thrown away; without a terminal nothing
//!    is approved at all.
//! 4. A command of class `read` opens the store for reading.
//! 5. An error is a message and, where there is one, a hint; never a backtrace, a Rust name or an empty word.
//!
//! **Where to start reading.** `args` for what there is, then `verb`, then `approve` and `follow`.
#![allow(
    clippy::result_large_err,
    reason = "the wire's error is what people read; it is made once in a run, never in a loop"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the command line is where time, environment and terminal enter"
)]

mod answer;
mod approve;
mod args;
mod card;
mod card_screen;
mod complete;
mod context;
mod follow;
mod handed_in;
mod live;
mod local_time;
mod other_programs;
mod output;
mod printed;
mod progress;
mod question;
mod report;
mod screen;
mod security_key;
mod standing_offer;
mod terminal;
mod terminal_modes;
mod text;
mod verb;
mod waiting;

use clap::Parser as _;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// Runs the command line this process was started with.
pub fn main() -> ExitCode {
    if complete::answered() {
        return ExitCode::from(wire::exit::DONE);
    }
    if let Some(code) = host::clone_if_asked() {
        return code;
    }
    if let Some(code) = health() {
        return code;
    }
    let parsed = match args::Args::try_parse() {
        // With `--json` the version is a document as every answer is: that of `hermit source`.
        Err(error) if error.kind() == ErrorKind::DisplayVersion && wants_json() => {
            args::Args::try_parse_from(["hermit", "--json", "source"])
        }
        parsed => parsed,
    };
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { wire::exit::USAGE } else { wire::exit::DONE };
            // A closed pipe is no reason to complain.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    if let Some(code) = chosen_program(&args) {
        return code;
    }
    let context = match context::Context::new(&args) {
        Ok(context) => context,
        Err(error) => {
            let output = output::Output::new(args.json);
            output.error(&error);
            return ExitCode::from(error.exit_code());
        }
    };
    match verb::run(&context, args.verb) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            context.out.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whether the words that this process was started with ask for JSON.
fn wants_json() -> bool {
    std::env::args_os().skip(1).any(|word| word == "--json")
}

/// The answer of this program to whoever asks whether it is healthy with a store: a line of JSON, and nothing else.
fn health() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != host::launch::HEALTH) {
        return None;
    }
    let asked = words.next().ok_or_else(|| "no store is named".to_owned());
    let out = output::Output::new(false);
    let said = asked.and_then(|dir| host::launch::health(std::path::Path::new(&dir), &|line| out.line(line)));
    let said = said.and_then(|health| serde_json::to_string(&health).map_err(|e| e.to_string()));
    Some(match said {
        Ok(line) => {
            out.line(line);
            ExitCode::from(wire::exit::DONE)
        }
        Err(why) => {
            output::Output::new(true).error(&wire::Error::new(wire::Code::Failed, why));
            ExitCode::from(wire::exit::OTHER)
        }
    })
}

/// The program that a person adopted or updated to, in the place of this one; none where this one is it. Going back is always this
/// one's.
fn chosen_program(args: &args::Args) -> Option<ExitCode> {
    use args::{SuccessorVerb, UpdateVerb, Verb};
    // What the system starts is the installed program, which outlives every one that is adopted.
    let is_own = matches!(
        &args.verb,
        Verb::Successor(SuccessorVerb::Back(_))
            | Verb::Service(_)
            | Verb::Update(UpdateVerb::Back(_) | UpdateVerb::Show)
    );
    if is_own {
        return None;
    }
    let home = host::Home::find(args.home.as_deref()).ok()?;
    let program = host::launch::chosen(&home)?;
    // What does not start is on record, and this program goes on.
    host::launch::instead(&home, &program, std::env::args_os().skip(1)).ok().map(ExitCode::from)
}
