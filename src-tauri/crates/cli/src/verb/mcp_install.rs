//! `hermit mcp install`: Hermit in the configuration of another program. The exact change is shown, and made after a yes.

use super::Came;
use crate::args::{McpInstall, McpUninstall};
use crate::context::Context;
use crate::other_programs::SYSTEM;
use crate::output::{Tone, table};
use crate::terminal::{Echo, Typed};
use crate::text::plain;
use mcp::clients::{self, Client};
use mcp::edit;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::path::{Path, PathBuf};
use wire::{Code, Error, exit};

/// More than any configuration.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A change of a file, as it is shown and as it is told.
#[derive(Serialize)]
struct Change {
    program: &'static str,
    file: PathBuf,
    /// The difference, line by line.
    difference: Vec<String>,
    made: bool,
    #[serde(skip)]
    text: String,
}

/// `hermit mcp install`.
pub fn install(context: &Context, args: &McpInstall) -> Came {
    let Some(name) = &args.program else { return list(context) };
    let client = known(name)?;
    let command = own_program()?;
    let mut words = vec!["mcp".to_owned()];
    if let Some(folder) = &args.workspace {
        let folder = std::fs::canonicalize(folder)
            .map_err(|e| Error::new(Code::NotFound, format!("cannot work in `{}`: {e}", folder.display())))?;
        words.extend(["--workspace".to_owned(), folder.to_string_lossy().into_owned()]);
    }
    if let Some(profile) = &args.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    let entry = client.entry(&command, &words);
    change(context, &Program::of(client)?, args.print, |text| {
        edit::install(client.format, text, client.holder, &entry).map_err(|why| {
            Error::new(Code::Failed, why).hint(format!("add this to `{}` yourself: {entry}", client.holder))
        })
    })
}

/// `hermit mcp uninstall`.
pub fn uninstall(context: &Context, args: &McpUninstall) -> Came {
    let client = known(&args.program)?;
    change(context, &Program::of(client)?, args.print, |text| {
        edit::uninstall(client.format, text, client.holder).map_err(|why| Error::new(Code::Failed, why))
    })
}

fn known(name: &str) -> Result<&'static Client, Error> {
    clients::find(name).ok_or_else(|| {
        let names: Vec<&str> = clients::ALL.iter().map(|client| client.name).collect();
        Error::new(Code::NotFound, format!("the program `{name}` is not known here")).hint(format!(
            "there are {}; any other is given the command `hermit mcp` as a tool server on standard input and output",
            names.join(", ")
        ))
    })
}

fn failed(why: &str) -> Error {
    Error::new(Code::Failed, why)
}

/// The folder below which a person's programs keep their settings.
///
/// # Errors
/// When nothing says where it is.
pub fn home() -> Result<PathBuf, Error> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    home.ok_or_else(|| failed("no home folder is known").hint("set HOME"))
}

/// This program, as another one is told to start it.
///
/// # Errors
/// When it does not know where it lies.
pub fn own_program() -> Result<String, Error> {
    let own = std::env::current_exe()
        .map_err(|e| failed(&format!("this program does not know where it lies: {e}")))?;
    Ok(own.to_string_lossy().into_owned())
}

fn file_of(client: &Client) -> Result<PathBuf, Error> {
    Ok(home()?.join(client.file(SYSTEM)))
}

fn list(context: &Context) -> Came {
    #[derive(Serialize)]
    struct Known {
        program: &'static str,
        title: &'static str,
        file: PathBuf,
        is_there: bool,
    }
    let known = |client: &'static Client| -> Result<Known, Error> {
        let file = file_of(client)?;
        let is_there = file.is_file();
        Ok(Known { program: client.name, title: client.title, file, is_there })
    };
    let all = clients::ALL.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    context.out.answer(&all, |out, all| {
        let row = |one: &Known| {
            let there = if one.is_there { "" } else { "not there yet" };
            vec![
                one.program.to_owned(),
                one.title.to_owned(),
                one.file.display().to_string(),
                there.to_owned(),
            ]
        };
        table(out, &["NAME", "PROGRAM", "FILE", ""], &all.iter().map(row).collect::<Vec<_>>());
    })?;
    Ok(exit::DONE)
}

/// What stands in the file; nothing, when it is not there.
fn read(file: &Path) -> Result<String, Error> {
    let unread = |why: String| failed(&format!("cannot read `{}`: {why}", file.display()));
    match std::fs::metadata(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(e) => return Err(unread(e.to_string())),
        Ok(found) if found.len() > BYTES_MAX => return Err(unread(format!("it has {} bytes", found.len()))),
        Ok(_) => {}
    }
    std::fs::read_to_string(file).map_err(|e| unread(e.to_string()))
}

/// Whose configuration is changed.
pub struct Program {
    pub name: &'static str,
    pub title: &'static str,
    pub file: PathBuf,
    /// The command that makes the change.
    pub command: &'static str,
}

impl Program {
    fn of(client: &'static Client) -> Result<Self, Error> {
        let (name, title, command) = (client.name, client.title, "hermit mcp install");
        Ok(Self { name, title, file: file_of(client)?, command })
    }
}

/// Shows a change of a program's configuration, and makes it after a person's yes.
///
/// # Errors
/// When the file cannot be read, changed or written, and without a person.
pub fn change(
    context: &Context,
    program: &Program,
    print: bool,
    edited: impl FnOnce(&str) -> Result<String, Error>,
) -> Came {
    let named = program.file.clone();
    // Where a link stands, what it leads to is changed, and the link stays.
    let file = std::fs::canonicalize(&named).unwrap_or(named);
    let before = read(&file)?;
    let text = edited(&before)?;
    let difference = difference(&before, &text);
    let mut change = Change { program: program.name, file, difference, made: false, text };
    if change.difference.is_empty() {
        return told(context, &change, "Nothing is to be changed.");
    }
    if print {
        let words = format!("Nothing was changed: this is what `{}` would do.", program.command);
        return told(context, &change, &words);
    }
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(
            Code::Usage,
            "only a person at a terminal changes another program's configuration",
        )
        .hint("run it at a terminal, or look at the change with `--print`"));
    };
    show(context, &change);
    let _silent = terminal.silence()?;
    match terminal.ask("Change it? Type `yes`: ", Echo::Shown)? {
        Typed::Line(line) if line.trim() == "yes" => {}
        _ => {
            context.out.line("Nothing was changed.");
            return Ok(exit::REFUSED);
        }
    }
    if read(&change.file)? != before {
        return Err(failed("the file has changed meanwhile, and was left alone").hint("run it again"));
    }
    write(&change)?;
    change.made = true;
    context.out.line(format!(
        "Done. Start {} anew; what its agent wants to change then waits for you here.",
        program.title
    ));
    Ok(exit::DONE)
}

fn write(change: &Change) -> Result<(), Error> {
    let unwritten = |e: std::io::Error| failed(&format!("cannot write `{}`: {e}", change.file.display()));
    if let Some(folder) = change.file.parent() {
        std::fs::create_dir_all(folder).map_err(unwritten)?;
    }
    let mode = std::fs::metadata(&change.file).map(|found| found.permissions()).ok();
    disk::replace(&change.file, change.text.as_bytes()).map_err(unwritten)?;
    match mode {
        Some(mode) => std::fs::set_permissions(&change.file, mode).map_err(unwritten),
        None => Ok(()),
    }
}

fn difference(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Insert => "+",
            ChangeTag::Delete => "-",
            ChangeTag::Equal => " ",
        };
        format!("{sign}{}", change.value().trim_end_matches('\n'))
    };
    let groups = diff.grouped_ops(2);
    groups.iter().flatten().flat_map(|op| diff.iter_changes(op).map(line).collect::<Vec<_>>()).collect()
}

fn show(context: &Context, change: &Change) {
    context.out.line(format!("{}:", change.file.display()));
    for line in &change.difference {
        let tone = if line.starts_with(['+', '-']) { Tone::Bold } else { Tone::Faint };
        context.out.say(tone, plain(line));
    }
}

fn told(context: &Context, change: &Change, words: &str) -> Came {
    context.out.answer(change, |out, change| {
        show(context, change);
        out.line(words);
    })?;
    Ok(exit::DONE)
}
