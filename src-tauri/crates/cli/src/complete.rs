//! Completion in a shell: at TAB the shell starts this program again, which answers with what stands in the store.
//!
//! Nothing is written, no key is opened, no host is asked or started, and nothing is said on standard error: what
//! cannot be read is not offered.

mod bash;
mod values;

use crate::args::Args;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Zsh};
use clap_complete::{ArgValueCompleter, Shell};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use values::{Kind, Values};

/// The variable with which a shell's script starts this program; its value names the shell.
const VARIABLE: &str = "HERMIT_COMPLETE";
/// The variable with which bash and zsh say which word is completed.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// What an argument names, by the end of its command's path and by its own name; an empty path is every command.
#[rustfmt::skip]
const ARGUMENTS: &[(&str, &str, &[Kind])] = &[
    ("task pause", "task", &[Kind::OpenTask]),
    ("task resume", "task", &[Kind::OpenTask]),
    ("task cancel", "task", &[Kind::OpenTask]),
    ("task answer", "task", &[Kind::OpenTask]),
    ("task answer", "question", &[Kind::Question]),
    ("", "task", &[Kind::Task]),
    ("ledger checkpoint", "tasks", &[Kind::Task]),
    ("approvals show", "approval", &[Kind::Approval]),
    ("", "approval", &[Kind::OpenApproval]),
    ("", "receipt", &[Kind::Receipt]),
    ("", "artifact", &[Kind::Artifact]),
    ("", "grant", &[Kind::Grant]),
    ("", "memory", &[Kind::Memory]),
    ("", "conversation", &[Kind::Conversation]),
    ("conversation bind", "message", &[Kind::Message]),
    ("conversation bind", "about", &[Kind::About]),
    ("", "profile", &[Kind::Profile]),
    ("", "playbook", &[Kind::Playbook, Kind::File]),
    ("playbooks", "name", &[Kind::Playbook]),
    ("playbooks off", "playbook", &[Kind::Playbook]),
    ("playbooks try", "playbook", &[Kind::Draft]),
    ("playbooks adopt", "playbook", &[Kind::Draft]),
    ("run", "model", &[Kind::Model]),
    ("models use", "address", &[Kind::Model]),
    ("models set", "address", &[Kind::Model]),
    ("models rm", "url", &[Kind::Boxed, Kind::Server]),
    ("models test", "server", &[Kind::Server]),
    ("train run", "base", &[Kind::Boxed]),
    ("train together", "base", &[Kind::Boxed]),
    ("train recall", "source", &[Kind::Task, Kind::Receipt, Kind::Artifact, Kind::File]),
    ("models test", "secret", &[Kind::Secret]),
    ("models add", "secret", &[Kind::Secret]),
    ("skills show", "skill", &[Kind::Skill]),
    ("skills trust", "skill", &[Kind::Skill]),
    ("skills untrust", "skill", &[Kind::Skill]),
    ("anchor clocks set", "bitcoin_cookie", &[Kind::File]),
    ("anchor clocks set", "headers_file", &[Kind::File]),
    ("anchor clocks set", "bitcoin_secret", &[Kind::Secret]),
    ("skin use", "skin", &[Kind::Skin, Kind::File]),
    ("skin show", "skin", &[Kind::Skin]),
    ("skin untrust", "skin", &[Kind::Skin]),
    ("skin check", "file", &[Kind::File]),
    ("skin sign", "file", &[Kind::File]),
    ("successor adopt", "review", &[Kind::File]),
    ("identity edit", "file", &[Kind::File]),
    ("identity verify", "file", &[Kind::File]),
    ("successor try", "policies", &[Kind::File]),
    ("successor try", "diffs", &[Kind::File]),
    ("successor try", "patches", &[Kind::File]),
    ("successor try", "models", &[Kind::Model]),
    ("successor try", "on", &[Kind::Task]),
    ("mesh on", "model", &[Kind::Model]),
    ("mesh import", "file", &[Kind::File]),
    ("gateway add", "secret", &[Kind::Secret]),
    ("gateway add", "model", &[Kind::Model]),
    ("", "gateway", &[Kind::Gateway]),
    ("secret set", "name", &[Kind::Secret]),
    ("secret rm", "name", &[Kind::Secret]),
    ("keys revoke", "keyid", &[Kind::Key]),
    ("passkey revoke", "passkey", &[Kind::Passkey]),
    ("rollback", "what", &[Kind::Undoable, Kind::Task]),
    ("proof export", "subject", &[Kind::Task, Kind::Receipt]),
    ("explain", "subject", &[Kind::Receipt, Kind::Artifact, Kind::File]),
    ("recall", "source", &[Kind::Artifact, Kind::Memory, Kind::File]),
    ("policy explain", "about", &[Kind::Approval, Kind::Receipt]),
];

/// Answers a shell that asks; whether one did.
pub fn answered() -> bool {
    let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) else { return false };
    // A shell shows what a panic says in the middle of the line that is being typed.
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    if let Some(shell) = named.to_str().and_then(shell)
        && !words.is_empty()
    {
        let here = std::env::current_dir().ok();
        let mut answer = Vec::new();
        let mut command = command(&words);
        if shell.write_complete(&mut command, words, here.as_deref(), &mut answer).is_ok() {
            let _ = std::io::stdout().write_all(&answer);
        }
    }
    true
}

/// The script by which a shell asks this program.
///
/// # Errors
/// When it cannot be written.
pub fn script(of: Shell, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let Some(shell) = shell(&of.to_string()) else { return Ok(()) };
    let called = std::env::args_os().next().unwrap_or_else(|| "hermit".into());
    let called = match Path::new(&called).components().count() {
        // Found in PATH, as it will be later.
        0 | 1 => called,
        _ => std::path::absolute(&called)?.into_os_string(),
    };
    shell.write_registration(VARIABLE, "hermit", "hermit", &called.to_string_lossy(), out)
}

fn shell(name: &str) -> Option<&'static dyn EnvCompleter> {
    let all: [&'static dyn EnvCompleter; 5] = [&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh];
    all.into_iter().find(|shell| shell.is(name))
}

/// The command line with what each argument can be.
fn command(words: &[OsString]) -> Command {
    let at = std::env::var(INDEX).ok().and_then(|at| at.parse::<usize>().ok());
    let word = at.map_or_else(|| words.last(), |at| words.get(at));
    // Flags follow a dash; before that they would only stand between the values.
    let bare = word.is_none_or(|word| word.is_empty());
    let values = Arc::new(Values::new(home(words)));
    prepared(Args::command(), "", &values, bare)
}

fn prepared(command: Command, path: &str, values: &Arc<Values>, bare: bool) -> Command {
    let command = command.mut_args(|arg| {
        let flag = arg.get_long().is_some();
        let arg = match kinds(path, arg.get_id().as_str()) {
            Some(kinds) => valued(arg, kinds, values),
            None => arg,
        };
        if flag && bare { arg.hide(true) } else { arg }
    });
    let command = command.disable_help_flag(bare).disable_version_flag(bare);
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(&name, |inner| prepared(inner, path.trim_start(), values, bare))
    })
}

fn kinds(path: &str, name: &str) -> Option<&'static [Kind]> {
    ARGUMENTS.iter().find(|(at, of, _)| *of == name && (at.is_empty() || *at == path)).map(|found| found.2)
}

fn valued(arg: Arg, kinds: &'static [Kind], values: &Arc<Values>) -> Arg {
    let values = Arc::clone(values);
    arg.add(ArgValueCompleter::new(move |word: &OsStr| values.beginning(kinds, word)))
}

/// The folder of the store that the line names, as far as it does; a shell hands on `~` as it was typed.
fn home(words: &[OsString]) -> Option<std::path::PathBuf> {
    let mut words = words.iter().map(|word| word.to_string_lossy());
    let mut named = None;
    while let Some(word) = words.next() {
        if word == "--home" {
            named = words.next().map(|word| word.into_owned());
        } else if let Some(value) = word.strip_prefix("--home=") {
            named = Some(value.to_owned());
        }
    }
    let named = named.filter(|named| !named.is_empty())?;
    match (named.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(own)) => Some(Path::new(&own).join(rest)),
        _ => Some(named.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_about_an_argument_that_there_is() {
        fn walk(command: &Command, path: &str, met: &mut Vec<(String, String)>) {
            let names = command.get_arguments().map(|arg| (path.to_owned(), arg.get_id().to_string()));
            met.extend(names);
            for inner in command.get_subcommands() {
                walk(inner, format!("{path} {}", inner.get_name()).trim_start(), met);
            }
        }
        let mut met = Vec::new();
        walk(&Args::command(), "", &mut met);
        for (at, of, _) in ARGUMENTS {
            assert!(
                met.iter().any(|(path, name)| name == of && (at.is_empty() || path == at)),
                "`{at}` has no argument `{of}`"
            );
        }
    }

    #[test]
    fn the_store_that_a_line_names_is_the_one_that_is_read() {
        let of = |line: &str| home(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("hermit --home /a task show"), Some("/a".into()));
        assert_eq!(of("hermit task show --home=/b "), Some("/b".into()));
        assert_eq!(of("hermit task show --home"), None);
        assert_eq!(of("hermit task show"), None);
    }
}
