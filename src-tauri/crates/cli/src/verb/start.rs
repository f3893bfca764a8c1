//! `hermit start`: from nothing to a proven, undoable result.

use super::Came;
use super::keys::make;
use super::proof::{export, show_exported, show_report, verify};
use super::run::{effects, give};
use crate::args::{KeysInit, ProofExport, ProofVerify, StartArgs, Store};
use crate::context::{Context, Signs, absolute};
use crate::follow;
use crate::output::Tone;
use crate::terminal::{Echo, Terminal, Typed};
use host::Session;
use std::path::{Path, PathBuf};
use wire::keys::List;
use wire::task::{Reasoner, Submit};
use wire::{Code, Error, exit};

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
        "Hermit lets agents work on this computer, and asks you before anything of consequence.",
    );
    out.line(format!("1. The store: {}", context.home.dir().display()));
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
    out.line("Nobody is at a terminal, so nothing was allowed. Next, at a terminal of your own:");
    if !context.home.has_keys() {
        out.line("  hermit keys init --store keychain     (or --store file)");
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
    let store = match (args.store, &context.terminal) {
        (Some(store), _) => store,
        (None, Some(terminal)) => ask_store(terminal)?,
        (None, None) => {
            return Err(Error::new(
                Code::Usage,
                "there are no keys yet, and nobody says where they shall sleep",
            )
            .hint("add `--store keychain`, or `--store file --passphrase-fd N`"));
        }
    };
    let (passphrase_fd, approval_passphrase_fd) = (args.passphrase_fd, args.approval_passphrase_fd);
    make(context, &KeysInit { store, passphrase_fd, approval_passphrase_fd })
}

fn ask_store(terminal: &Terminal) -> Result<Store, Error> {
    terminal
        .print("Where shall the keys sleep? In the system's keychain, or in a file under a passphrase.\r\n");
    loop {
        match terminal.ask("Type `keychain` or `file`: ", Echo::Shown)? {
            Typed::Line(word) if word.trim() == "keychain" => return Ok(Store::Keychain),
            Typed::Line(word) if word.trim() == "file" => return Ok(Store::File),
            Typed::Line(_) => {}
            Typed::Nothing => return Err(Error::new(Code::Cancelled, "nothing was made")),
        }
    }
}

fn first_task(context: &Context, args: &StartArgs, session: &Session) -> Came {
    let out = &context.out;
    let workspace = match (&args.workspace, &context.terminal) {
        (Some(path), _) => path.clone(),
        (None, Some(terminal)) => ask_folder(context, terminal)?,
        (None, None) => sample(context)?,
    };
    out.line(format!("2. A first task: the playbook `tidy` in {}", workspace.display()));
    let submit = Submit {
        workspace: absolute(&workspace)?,
        reasoner: Reasoner::Playbook {
            name: "tidy".to_owned(),
            text: None,
            parameters: std::collections::BTreeMap::new(),
        },
        channel: Some("cli".to_owned()),
        ..Submit::default()
    };
    let (code, rest) = give(context, session, &submit)?;
    if !follow::is_over(&rest.task) || code != exit::DONE {
        return Ok(code);
    }
    let task = rest.task.row.task_id;
    let done = effects(session, &task)?;
    out.line(format!("3. Receipts: {}", done.len()));
    if let Some(receipt) = done.iter().find(|r| r.reversibility != "irreversible" && follow::changes(r)) {
        out.line(format!("   take it back any time: hermit rollback {}", receipt.receipt_id));
    }
    proven(context, session, &task)
}

fn proven(context: &Context, session: &Session, task: &str) -> Came {
    let out = &context.out;
    let short: String = task.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
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
    out.line("4. A proof that anybody can check without Hermit:");
    show_exported(out, &made);
    let keys = session.call(&List::default())?.keys;
    let trust = keys.into_iter().filter(|key| key.purpose == "log").map(|key| key.keyid).collect();
    let report = verify(session, &ProofVerify { proof: output, trust, since: None })?;
    show_report(out, &report);
    Ok(report.verdict.exit_code())
}

fn ask_folder(context: &Context, terminal: &Terminal) -> Result<PathBuf, Error> {
    let question = "A folder to tidy (you will see every move first), or Enter for a sample: ";
    match terminal.ask(question, Echo::Shown)? {
        Typed::Line(path) if path.trim().is_empty() => sample(context),
        Typed::Line(path) => Ok(home_relative(path.trim())),
        Typed::Nothing => Err(Error::new(Code::Cancelled, "no folder was named; nothing was done")),
    }
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
    context.out.line(format!("   made a sample in a temporary folder: {}", folder.display()));
    Ok(folder)
}
