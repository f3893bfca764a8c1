//! `hermit start`: from nothing to a proven, undoable result.

use super::Came;
use super::keys::make;
use super::proof::{export, show_verdict, verify};
use super::run::{effects, give, stay_with};
use crate::args::{KeysInit, ProofExport, ProofVerify, StartArgs};
use crate::context::{Context, Signs, absolute};
use crate::follow;
use crate::output::Tone;
use crate::terminal::{Echo, Terminal, Typed};
use host::Session;
use model::body::KeyPurpose;
use model::task::TaskStatus;
use std::path::{Path, PathBuf};
use wire::task::{List, Reasoner, Resume, Show, Submit};
use wire::{Code, Error, exit};

/// The first task in lists, by which it is found again.
const TITLE: &str = "First steps: tidy a folder";

/// Files of the sample folder, and what is in them.
const SAMPLE: [(&str, &str); 6] = [
    ("invoice-2026-03.pdf", "%PDF-1.4\n% a sample, not a real invoice\n"),
    ("holiday.jpg", "a sample, not a real picture"),
    ("song.mp3", "a sample, not real music"),
    ("notes.txt", "remember the milk\n"),
    ("budget.csv", "month,amount\n2026-03,120\n"),
    ("backup.zip", "a sample, not a real archive"),
];

/// `hermit start`.
pub fn start(context: &Context, args: &StartArgs) -> Came {
    let out = &context.out;
    out.say(
        Tone::Bold,
        "Agents do real work on this computer. Hermit asks you before anything important, and proves what happened.",
    );
    out.line(format!("1. Hermit keeps its records in {}", context.home.dir().display()));
    let session = match keyed(context, args) {
        Ok(session) => session,
        Err(error) if context.terminal.is_none() && error.code != Code::Held => {
            out.note(format!("{error}"));
            return unattended(context);
        }
        Err(error) => return Err(error),
    };
    let came = first_task(context, args, &session);
    session.close();
    match came {
        // Nobody is here to answer, so there is nothing left to do for this process.
        Ok(exit::WAITING) if context.terminal.is_none() => unattended(context),
        other => other,
    }
}

/// What a person does next, when none is here now.
fn unattended(context: &Context) -> Came {
    let out = &context.out;
    out.line("Nobody is at a terminal, so nothing was approved. Next, at a terminal of your own:");
    if !context.home.has_keys() {
        out.line("  hermit keys init");
    }
    out.line("  hermit approvals list");
    out.line("  hermit approvals approve apr_…");
    Ok(exit::DONE)
}

/// A session over a store with keys, made if there are none.
fn keyed(context: &Context, args: &StartArgs) -> Result<Session, Error> {
    if context.home.has_keys() {
        return context.writing(Signs::Yes);
    }
    if args.store.is_none() && context.terminal.is_none() {
        return Err(Error::new(Code::Usage, "there are no keys yet, and nobody says where to keep them")
            .hint("add `--store keychain`, or `--store file --passphrase-fd N`"));
    }
    let store = args.store;
    let (passphrase_fd, approval_passphrase_fd) = (args.passphrase_fd, args.approval_passphrase_fd);
    make(context, &KeysInit { store, passphrase_fd, approval_passphrase_fd })
}

fn first_task(context: &Context, args: &StartArgs, session: &Session) -> Came {
    let out = &context.out;
    let (code, rest) = match begun(args, session)? {
        Some(task) => {
            out.line("2. Your first task was not finished; here it is again.");
            if session.call(&Show { task: task.clone() })?.row.status == TaskStatus::Paused {
                session.call(&Resume { task: task.clone() })?;
            }
            stay_with(context, session, &task, session.listen())?
        }
        None => {
            let workspace = match (&args.workspace, &context.terminal) {
                (Some(path), _) => path.clone(),
                (None, Some(terminal)) => ask_folder(context, terminal)?,
                (None, None) => sample(context)?,
            };
            out.line(format!("2. A first task: the playbook `tidy` in {}", workspace.display()));
            give(context, session, &tidy(&absolute(&workspace)?))?
        }
    };
    if !follow::is_over(&rest.task) {
        out.line("3. Next: `hermit start` again continues here.");
        return Ok(code);
    }
    if code != exit::DONE {
        return Ok(code);
    }
    let task = rest.task.row.task_id;
    if effects(session, &task)?.is_empty() {
        out.line("3. There was nothing to tidy, so there is no receipt.");
        return Ok(code);
    }
    proven(context, session, &task)
}

fn tidy(workspace: &str) -> Submit {
    Submit {
        workspace: workspace.to_owned(),
        reasoner: Reasoner::Playbook {
            name: "tidy".to_owned(),
            text: None,
            parameters: std::collections::BTreeMap::new(),
        },
        title: Some(TITLE.to_owned()),
        channel: Some("cli".to_owned()),
        ..Submit::default()
    }
}

/// The first task, when it was begun before and waits; of the folder that is named, if one is.
fn begun(args: &StartArgs, session: &Session) -> Result<Option<String>, Error> {
    let folder = args.workspace.as_deref().map(absolute).transpose()?;
    let status = ["ready", "running", "blocked", "paused"].map(str::to_owned).to_vec();
    let list = List { status, ..List::default() };
    for row in session.call(&list)?.rows.iter().filter(|row| row.title.shown() == Some(TITLE)) {
        let task = session.call(&Show { task: row.task_id.clone() })?;
        let place = task.workspace.as_ref().and_then(|text| text.shown()).unwrap_or_default();
        let same = folder.as_deref().is_none_or(|folder| folder == place);
        if same && Path::new(place).is_dir() {
            return Ok(Some(row.task_id.clone()));
        }
    }
    Ok(None)
}

fn proven(context: &Context, session: &Session, task: &str) -> Came {
    let out = &context.out;
    let short = crate::text::short(task);
    let output = std::env::temp_dir().join(format!("hermit-proof-{short}.zip"));
    let made = export(
        session,
        &ProofExport {
            subject: task.to_owned(),
            output: Some(output.clone()),
            receipt: None,
            events: None,
            artifacts: Vec::new(),
            redact: Vec::new(),
            since: None,
            preview: false,
        },
    )?;
    out.line("3. A proof that anybody can check without Hermit:");
    out.whole(Tone::Plain, &format!("   {}", crate::text::plain(&made.path)));
    let keys = session.call(&wire::keys::List::default())?.keys;
    let trust = keys.into_iter().filter(|key| key.purpose == KeyPurpose::Log).map(|key| key.keyid).collect();
    let report = verify(
        session,
        &ProofVerify {
            proof: output,
            trust,
            since: None,
            trust_authority: Vec::new(),
            bitcoin_headers: None,
        },
    )?;
    show_verdict(out, &report);
    out.line("   What it proves, and what it leaves open:");
    // As a shell takes it, with a space in it as well.
    let path = crate::text::plain(&made.path);
    let path = if path.contains(' ') { format!("\"{path}\"") } else { path };
    out.whole(Tone::Plain, &format!("   hermit proof verify {path}"));
    out.line("4. Next: a goal of your own with a model of your choice, at a terminal or in the browser:");
    out.whole(Tone::Plain, "   hermit models list");
    out.whole(Tone::Plain, "   hermit models use ADDRESS");
    out.whole(Tone::Plain, "   hermit run --workspace FOLDER --goal \"what you want done\"");
    out.whole(Tone::Plain, "   hermit serve");
    Ok(report.verdict.exit_code())
}

fn ask_folder(context: &Context, terminal: &Terminal) -> Result<PathBuf, Error> {
    let question = "A folder to tidy (you will see every move first), or Enter for a sample: ";
    loop {
        match terminal.ask(question, Echo::Shown)? {
            Typed::Line(path) if path.trim().is_empty() => return sample(context),
            Typed::Line(path) => {
                let folder = meant(path.trim());
                if folder.is_dir() {
                    return Ok(folder);
                }
                let path = crate::text::plain(&folder.display().to_string());
                let why = if folder.exists() {
                    format!("`{path}` is no folder; name the one that it lies in.")
                } else {
                    format!("There is no folder `{path}`.")
                };
                terminal.print(&format!("{why}\r\n"));
            }
            Typed::Nothing => {
                return Err(Error::new(Code::Cancelled, "no folder was named; nothing was done"));
            }
        }
    }
}

/// A path as it was meant: one that was dropped on a terminal comes as a shell would read it, in quotes or with a backslash before
/// each space. What is there as it was written is taken so.
fn meant(text: &str) -> PathBuf {
    let written = home_relative(text);
    if written.exists() {
        return written;
    }
    let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let inner = quoted.map_or_else(|| unescaped(text), str::to_owned);
    let read = home_relative(&inner);
    if read.exists() || quoted.is_some() { read } else { written }
}

/// The text without the backslashes of a shell: each stands for the character behind it.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.push(if letter == '\\' { letters.next().unwrap_or(letter) } else { letter });
    }
    out
}

/// A path as people type it: `~/` is the home folder.
fn home_relative(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    }
}

/// A folder with a few files to tidy, and word of it.
fn sample(context: &Context) -> Result<PathBuf, Error> {
    let failed = |e: std::io::Error| Error::new(Code::Failed, format!("cannot make the sample folder: {e}"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let folder =
        std::env::temp_dir().join(format!("hermit-sample-{}-{}", std::process::id(), now.as_millis()));
    std::fs::create_dir(&folder).map_err(failed)?;
    for (name, text) in SAMPLE {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    context.out.line(format!("   A sample folder: {}", folder.display()));
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_dropped_on_a_terminal_is_the_one_that_was_meant() {
        let inside = tempfile::tempdir().unwrap();
        let folder = inside.path().join("My files 📁");
        std::fs::create_dir(&folder).unwrap();
        let text = folder.to_str().unwrap();
        assert_eq!(meant(text), folder);
        assert_eq!(meant(&format!("'{text}'")), folder);
        assert_eq!(meant(&format!("\"{text}\"")), folder);
        if std::path::MAIN_SEPARATOR == '/' {
            assert_eq!(meant(&text.replace(' ', "\\ ")), folder);
        }
        let none = inside.path().join("none");
        assert_eq!(meant(none.to_str().unwrap()), none, "what is not there is told as it was written");
    }
}
