//! `hermit erase`: shows what would go, asks, and lets the person sign it.

use super::Came;
use super::keyring::{approval_passphrase, owner};
use crate::args::EraseArgs;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Typed};
use crate::text::{plain, size};
use planned::erasure_of;
use std::collections::BTreeMap;
use wire::erasure::{Plan, Planned};
use wire::{Code, Error, exit};

/// Lines shown of each list before the rest is counted.
const SHOWN_MAX: usize = 20;

/// `hermit erase`.
pub fn erase(context: &Context, args: &EraseArgs) -> Came {
    let plan = Plan { value: args.value.clone(), artifact: args.artifact.clone(), task: args.task.clone() };
    let planned = context.reading()?.call(&plan)?;
    if args.preview {
        context.out.answer(&planned, show)?;
        return Ok(exit::DONE);
    }
    if !context.out.is_json() {
        show(&context.out, &planned);
    }
    agreed(context, args, &planned)?;
    let words = approval_passphrase(context, args.approval_passphrase_fd)?;
    let session = context.writing(Signs::No)?;
    let erasure = erasure_of(&planned)?;
    let done = owner(&session).and_then(|local| {
        if erasure.is_empty() {
            return local.sweep(&erasure.tasks).map_err(host::Error::to_wire);
        }
        local.erase(&erasure, &words).map_err(host::Error::to_wire)
    });
    session.close();
    done?;
    context.out.answer(&planned, |out, planned| {
        out.say(Tone::Good, format!("erased: {}", amount(planned)));
        out.line("every hash, signature and proof holds as before; `hermit ledger verify` shows it");
    })?;
    Ok(exit::DONE)
}

mod planned {
    //! The plan as the host takes it.

    use host::Erasure;
    use std::fmt::Display;
    use std::str::FromStr;
    use wire::erasure::Planned;
    use wire::{Code, Error};

    fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, Error> {
        text.parse().map_err(|e: T::Err| Error::new(Code::Failed, e.to_string()))
    }

    pub fn erasure_of(planned: &Planned) -> Result<Erasure, Error> {
        let mut erasure = Erasure::default();
        for value in &planned.values {
            erasure.values.push(read(&value.digest)?);
        }
        for content in &planned.contents {
            erasure.contents.push((read(&content.artifact_id)?, read(&content.sha256)?));
        }
        for written in &planned.written {
            erasure.written.push(read(&written.sha256)?);
        }
        for task in &planned.tasks {
            erasure.tasks.push(read(task)?);
        }
        erasure.values.sort_unstable();
        erasure.contents.sort_unstable();
        erasure.written.sort_unstable();
        erasure.tasks.sort_unstable();
        Ok(erasure)
    }
}

/// Asks for the word, where somebody is there to ask.
fn agreed(context: &Context, args: &EraseArgs, planned: &Planned) -> Result<(), Error> {
    if args.yes {
        return Ok(());
    }
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(Code::Usage, "only a person erases, and nobody is here to ask")
            .hint("look with `--preview`; say it with `--yes` and `--approval-passphrase-fd N`"));
    };
    terminal.arm();
    terminal.print(&format!("This cannot be undone: {}.\r\n", amount(planned)));
    match terminal.ask("Type `erase` to go on: ", Echo::Shown)? {
        Typed::Line(line) if line.trim() == "erase" => Ok(()),
        _ => Err(Error::new(Code::Cancelled, "nothing was erased")),
    }
}

/// How much goes, in a few words.
fn amount(planned: &Planned) -> String {
    let (values, contents) = (planned.values.len(), planned.contents.len());
    let written = match planned.written.len() {
        0 => String::new(),
        n => format!(", {n} texts that were to be written"),
    };
    format!("{values} values, the content of {contents} artifacts{written}")
}

/// How many of each class go.
fn classes<'a>(out: &Output, names: impl Iterator<Item = &'a str>) {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counted.entry(name).or_default() += 1);
    let line = counted.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ");
    out.line(format!("  {}", plain(&line)));
}

fn show(out: &Output, planned: &Planned) {
    if planned.values.is_empty() && planned.contents.is_empty() && planned.written.is_empty() {
        return out.line("there is nothing left to erase; going on rewrites the files once more");
    }
    out.say(Tone::Bold, "classes that go");
    classes(out, planned.values.iter().map(|value| value.event_type.as_str()));
    classes(out, planned.contents.iter().map(|content| content.kind.as_str()));
    if !planned.written.is_empty() {
        out.line(format!("  {} texts that were to be written", planned.written.len()));
    }
    out.say(Tone::Bold, "values that will be gone");
    for value in planned.values.iter().take(SHOWN_MAX) {
        let text: String = plain(&value.text.to_string()).chars().take(60).collect();
        out.line(format!("  {text}"));
        out.say(Tone::Faint, format!("    {} {}", value.event_type, plain(&value.pointer)));
    }
    more(out, planned.values.len());
    if !planned.contents.is_empty() {
        out.say(Tone::Bold, "content that will be gone");
        for content in planned.contents.iter().take(SHOWN_MAX) {
            out.line(format!("  {}  {}, {}", content.artifact_id, content.kind, size(content.byte_size)));
        }
        more(out, planned.contents.len());
    }
    if !planned.kept.is_empty() {
        out.say(Tone::Bold, "content that stays, because other tasks have the same bytes");
        for held in planned.kept.iter().take(SHOWN_MAX) {
            out.line(format!("  sha256 {}, of {}", held.sha256, held.task_id));
        }
        more(out, planned.kept.len());
    }
    planned.warnings.iter().for_each(|warning| out.say(Tone::Warn, format!("- {}", plain(warning))));
}

fn more(out: &Output, all: usize) {
    if all > SHOWN_MAX {
        out.line(format!("  and {} more; `--json --preview` lists them all", all - SHOWN_MAX));
    }
}
