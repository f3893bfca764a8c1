//! `hermit-exec [--read PATH]... [--write PATH]... [FLAGS] -- PROGRAM [ARGUMENT]...`
//! `hermit-exec --acp [--goes-on] PROMPT -- PROGRAM [ARGUMENT]...`
//! `hermit-exec --layer FOLDER UPPER WORK -- PROGRAM [ARGUMENT]...`
//! `hermit-exec (--container SID | --restricted SID | --own) --host N --memory N --processes N --cpu N -- PROGRAM [ARGUMENT]...`
//! `hermit-exec --git FOLDER [PROGRAM]`
//! `hermit-exec --console PROCESS`
//!
//! Started by Hermit alone; see the library for what it does and in which order.
#![allow(clippy::disallowed_methods, reason = "this program becomes the command")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("hermit-exec: {error}");
            ExitCode::from(exec::WALLS_FAILED)
        }
    }
}

#[cfg(target_os = "linux")]
fn run() -> Result<ExitCode, exec::Error> {
    use exec::started_mark::Mark;
    use std::os::unix::process::CommandExt;

    if let Some(code) = exec::bridge::asked(std::env::args_os().skip(1))? {
        return Ok(code);
    }
    if let Some(turn) = exec::guest::asked(std::env::args_os().skip(1))? {
        return Ok(exec::guest::work(&turn));
    }
    if let Some((layer, words)) = exec::overlay::Layer::parse(std::env::args_os().skip(1))? {
        return under(&layer, &words);
    }
    let (walls, words) = exec::walls::Walls::parse(std::env::args_os().skip(1))?;
    let mark = walls.started.then(Mark::take).transpose()?;
    if !walls.check && !words.is_empty() {
        // Without a namespace around it, the command ends with whoever waits for it.
        let end = Some(rustix::process::Signal::KILL);
        rustix::process::set_parent_process_death_signal(end).map_err(|e| exec::Error::Mark(e.into()))?;
    }
    if walls.proxy {
        exec::bridge::begin()?;
    }
    let standing = walls.raise()?;
    if walls.check {
        println!("{standing}");
        return Ok(ExitCode::SUCCESS);
    }
    let Some((program, arguments)) = words.split_first() else {
        return Err(exec::Error::Argument("--".to_owned()));
    };
    if let Some(mark) = &mark {
        mark.started()?;
    }
    let error = match walls.tells {
        true => match exec::told_end::run(program, arguments) {
            Ok(code) => return Ok(code),
            Err(error) => error,
        },
        false => std::process::Command::new(program).args(arguments).exec(),
    };
    let why = format!("`{}` could not be started: {error}", program.to_string_lossy());
    if let Some(mark) = &mark {
        mark.failed(&why)?;
    }
    eprintln!("hermit-exec: {why}");
    Ok(ExitCode::from(match error.kind() {
        std::io::ErrorKind::NotFound => exec::NOT_FOUND,
        _ => exec::NOT_STARTED,
    }))
}

/// Puts the layer up and becomes what works under it.
#[cfg(target_os = "linux")]
fn under(layer: &exec::overlay::Layer, words: &[std::ffi::OsString]) -> Result<ExitCode, exec::Error> {
    use std::os::unix::process::CommandExt;

    let end = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(end).map_err(|e| exec::Error::Mark(e.into()))?;
    layer.raise()?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(exec::Error::Argument("--".to_owned()));
    };
    let error = std::process::Command::new(program).args(arguments).exec();
    eprintln!("hermit-exec: `{}` could not be started: {error}", program.to_string_lossy());
    Ok(ExitCode::from(exec::WALLS_FAILED))
}

/// The command's own number is all 32 bits of it, of which [`ExitCode`] holds eight.
#[cfg(windows)]
fn run() -> Result<ExitCode, exec::Error> {
    if let Some((folder, named)) = exec::versioned::asked(std::env::args_os().skip(1))? {
        let git = named.or_else(|| exec::confined::found(exec::versioned::GIT.as_ref()));
        return Ok(ExitCode::from(exec::versioned::begin(&folder, git.as_deref())));
    }
    if let Some(process) = exec::confined::asked_of_console(std::env::args_os().skip(1))? {
        return Ok(if win32::is_at_console(process) { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let confined = exec::confined::Confined::parse(std::env::args_os().skip(1))?;
    std::process::exit(exec::confined::run(&confined)?.cast_signed())
}

#[cfg(not(any(target_os = "linux", windows)))]
fn run() -> Result<ExitCode, exec::Error> {
    exec::walls::Walls::parse(std::env::args_os().skip(1))?.0.raise()?;
    Ok(ExitCode::SUCCESS)
}
