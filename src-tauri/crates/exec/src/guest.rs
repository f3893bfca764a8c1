//! A guest that is spoken to by the Agent Client Protocol: this program, started once more inside the sandbox, is the one
//! that speaks to it. It has nothing there that the guest has not.

use crate::Error;
use acp::guest::Turn;
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where it hears that its turn is called off, inside.
const CORD: &str = "/run/hermit/cord";

/// The turn that the arguments speak of, when the first is `--acp`.
///
/// # Errors
/// [`Error::Argument`] when one is missing.
pub fn asked(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Turn>, Error> {
    if arguments.next().is_none_or(|word| word != "--acp") {
        return Ok(None);
    }
    let wrong = |word: &str| Error::Argument(word.to_owned());
    let mut prompt = arguments.next().ok_or_else(|| wrong("--acp"))?;
    let goes_on = prompt == "--goes-on";
    if goes_on {
        prompt = arguments.next().ok_or_else(|| wrong("--goes-on"))?;
    }
    if arguments.next().is_none_or(|word| word != "--") {
        return Err(wrong("--"));
    }
    let program = arguments.next().ok_or_else(|| wrong("--"))?;
    let root = std::env::current_dir().map_err(|e| Error::wall("the folder of a guest", e))?;
    let tools = std::env::var("HERMIT_MCP").ok();
    let tools = tools.as_deref().and_then(|line| line.split_once(' '));
    Ok(Some(Turn {
        prompt: prompt.to_string_lossy().into_owned(),
        goes_on,
        program,
        words: arguments.collect(),
        root,
        home: std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from),
        tools: tools.map(|(program, word)| (program.to_owned(), vec![word.to_owned()])),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }))
}

/// Works the turn; what it came to stands on standard error, where it is no success.
pub fn work(turn: &Turn) -> ExitCode {
    match acp::guest::work(turn, &mut std::io::stdout().lock(), UnixStream::connect(CORD).ok()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
