//! `hermit keys` beyond making them: rotation, revocation, the public halves, and whom one trusts.

use super::Came;
use super::keys::{Passphrase, ask_twice, from_descriptor};
use crate::args::{KeysRevoke, KeysRotate, KeysTrust};
use crate::context::{Context, Signs};
use crate::output::{Tone, table};
use crate::terminal::{Echo, Typed};
use crate::text::{plain, time};
use host::{Local, Session};
use model::body::KeyPurpose;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use wire::host::Status;
use wire::keys::{Keys, List};
use wire::{Code, Error, exit};
use words::store::KeyStatus;
use zeroize::Zeroizing;

/// `hermit keys rotate`.
pub fn rotate(context: &Context, args: &KeysRotate) -> Came {
    context.reading()?;
    let what = if args.approval { "the approval key" } else { "the three keys of the vault" };
    confirmed(
        context,
        args.yes,
        &format!("New keys take the place of {what}. What was signed stays verifiable."),
    )?;
    let session = if args.approval { context.writing(Signs::No)? } else { context.writing(Signs::Yes)? };
    let rotated = owner(&session).and_then(|local| {
        if !args.approval {
            return local.rotate_keys().map_err(host::Error::to_wire);
        }
        let old = approval_passphrase(context, args.approval_passphrase_fd)?;
        let new = match (args.new_passphrase_fd, &context.terminal) {
            (Some(fd), _) => from_descriptor(fd)?,
            (None, Some(terminal)) => ask_twice(terminal, "New approval passphrase", None)?,
            (None, None) => return Err(nobody("the new approval passphrase", "--new-passphrase-fd N")),
        };
        local.rotate_approval(&old, &new).map_err(host::Error::to_wire)
    });
    let listed = session.call(&List::default());
    session.close();
    let rotated = rotated?;
    context.out.answer(&listed?, |out, listed| {
        for (purpose, old, new) in &rotated.keys {
            out.say(Tone::Good, format!("{purpose}: {new}"));
            out.line(format!("  followed {old}, signed by both"));
        }
        super::keys::show(out, listed);
        out.line("whoever trusts an old key is led to the new one by every proof you make from now on");
        if args.approval {
            out.line("the old approval passphrase opens nothing any more");
        } else {
            out.line("the old key is for revoking, should somebody else have it: `hermit keys revoke KEYID --reason …`");
        }
    })?;
    Ok(exit::DONE)
}

/// `hermit keys revoke`.
pub fn revoke(context: &Context, args: &KeysRevoke) -> Came {
    let all = context.reading()?.call(&List { all: true })?;
    let wanted: Vec<_> = all.keys.iter().filter(|k| k.keyid.starts_with(args.keyid.trim())).collect();
    let [key] = wanted.as_slice() else {
        let why = if wanted.is_empty() { "this store never had" } else { "several keys begin with" };
        return Err(Error::new(Code::NotFound, format!("{why} `{}`", args.keyid))
            .hint("see `hermit keys list --all`, and give the whole key id"));
    };
    let keyid = key.keyid.parse().map_err(|_| Error::new(Code::Failed, "the key id cannot be read"))?;
    let is_approval = key.purpose == KeyPurpose::Approval;
    if key.status == KeyStatus::InForce {
        let rotate = if is_approval { "hermit keys rotate --approval" } else { "hermit keys rotate" };
        return Err(Error::new(Code::Conflict, format!("this is the {} key in force", key.purpose))
            .hint(format!("put another in its place first, with `{rotate}`")));
    }
    confirmed(
        context,
        args.yes,
        &format!("The {} key {} will be called revoked, for good.", key.purpose, key.keyid),
    )?;
    let words =
        if is_approval { Some(approval_passphrase(context, args.approval_passphrase_fd)?) } else { None };
    let session = context.writing(if is_approval { Signs::No } else { Signs::Yes })?;
    let done = owner(&session).and_then(|local| {
        let words = words.as_ref().map(|words| words.as_slice());
        local.revoke_key(keyid, &args.reason, words).map_err(host::Error::to_wire)
    });
    let listed = session.call(&List { all: true });
    session.close();
    done?;
    context.out.answer(&listed?, |out, listed| {
        super::keys::show(out, listed);
        out.line(
            "every proof you make from now on says so; tell those who trusted it which key to trust instead",
        );
    })?;
    Ok(exit::DONE)
}

/// `hermit keys export-public`.
pub fn export_public(context: &Context, output: Option<&Path>) -> Came {
    let listed = context.reading()?.call(&List::default())?;
    if listed.keys.is_empty() {
        return Err(
            Error::new(Code::NotFound, "this store has no keys").hint("make them with `hermit keys init`")
        );
    }
    let Some(folder) = output else {
        context.out.answer(&listed, |out, listed| out.line(public_text(listed).trim_end()))?;
        return Ok(exit::DONE);
    };
    let failed = |e: std::io::Error| {
        Error::new(Code::Failed, format!("`{}` cannot be written: {e}", folder.display()))
            .hint("name a new folder")
    };
    std::fs::create_dir(folder).map_err(failed)?;
    let mut files = Vec::new();
    for key in &listed.keys {
        files.push((format!("{}.pub.pem", key.purpose), key.pem.clone()));
        if let Some(vkey) = &key.vkey {
            files.push(("log.vkey".to_owned(), format!("{vkey}\n")));
        }
    }
    files.push(("all.txt".to_owned(), public_text(&listed)));
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    context.out.answer(&listed, |out, _| {
        files.iter().for_each(|(name, _)| out.line(folder.join(name).display().to_string()));
        out.line("give them to whoever checks your proofs, by a way that an attacker does not control");
    })?;
    Ok(exit::DONE)
}

/// All public halves in one text that `hermit keys trust` reads.
fn public_text(listed: &Keys) -> String {
    let mut text = String::new();
    for key in &listed.keys {
        text.push_str(&format!(
            "# {} key {}\n# {}\n{}",
            key.purpose, key.keyid, key.ssh_fingerprint, key.pem
        ));
    }
    text
}

/// `hermit keys trust`.
pub fn trust(context: &Context, args: &KeysTrust) -> Came {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    if let Some(name) = &args.remove {
        let gone = host::trust::remove(&context.home, name).map_err(host::Error::to_wire)?;
        if gone == 0 {
            return Err(Error::new(Code::NotFound, format!("you trust nobody called `{name}`"))
                .hint("see whom you trust with `hermit keys trust`"));
        }
    } else if let Some(key) = &args.key {
        let Some(name) = &args.name else {
            return Err(Error::new(Code::Usage, "whose key is it?").hint("say so with `--name NAME`"));
        };
        let keys = keys_in(key)?;
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        host::trust::add(&context.home, name, &keys, now).map_err(host::Error::to_wire)?;
    }
    let known = host::trust::read(&context.home).map_err(host::Error::to_wire)?;
    let shown: Vec<_> = known
        .iter()
        .map(|t| json!({ "name": t.name, "key": spelled(&t.key), "added_at": t.added_at_ms }))
        .collect();
    context.out.answer(&json!({ "keys": shown }), |out, _| {
        if known.is_empty() {
            return out.line("you trust nobody's key yet; a proof is then at best `unverifiable`");
        }
        let rows: Vec<Vec<String>> =
            known.iter().map(|t| vec![plain(&t.name), time(t.added_at_ms), spelled(&t.key)]).collect();
        table(out, &["whose", "since", "key"], &rows);
    })?;
    Ok(exit::DONE)
}

/// A key as one line: what a PEM block holds, or the spelling itself.
fn spelled(key: &str) -> String {
    host::trust::line(key)
}

/// The keys in a file, or the one that was given.
fn keys_in(given: &str) -> Result<Vec<String>, Error> {
    let text = match std::fs::read_to_string(given) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || given.contains('\n') => {
            given.to_owned()
        }
        Err(error) => return Err(Error::new(Code::Usage, format!("cannot read the key `{given}`: {error}"))),
    };
    if !text.contains("-----BEGIN") {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        return Ok(lines.map(str::to_owned).collect());
    }
    let blocks = text.split("-----BEGIN").skip(1);
    Ok(blocks
        .map(|block| format!("-----BEGIN{}", block.split('#').next().unwrap_or_default()).trim().to_owned())
        .collect())
}

/// Asks for a plain yes, where somebody is there to ask.
pub fn confirmed(context: &Context, yes: bool, what: &str) -> Result<(), Error> {
    if yes {
        return Ok(());
    }
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(Code::Usage, "nobody is here to ask").hint("say it with `--yes`"));
    };
    terminal.print(&format!("{what}\r\n"));
    match terminal.ask("Type `yes` to go on: ", Echo::Shown)? {
        Typed::Line(line) if line.trim() == "yes" => Ok(()),
        _ => Err(Error::new(Code::Cancelled, "nothing was changed")),
    }
}

pub fn approval_passphrase(context: &Context, fd: Option<i32>) -> Result<Passphrase, Error> {
    match (fd, &context.terminal) {
        (Some(fd), _) => from_descriptor(fd),
        (None, Some(terminal)) => match terminal.ask("Approval passphrase: ", Echo::Hidden)? {
            Typed::Line(words) if !words.is_empty() => Ok(Zeroizing::new(words.as_bytes().to_vec())),
            _ => Err(Error::new(Code::Cancelled, "no passphrase was given; nothing was changed")),
        },
        (None, None) => Err(nobody("the approval passphrase", "--approval-passphrase-fd N")),
    }
}

/// What is needed, where no terminal is there to ask for it.
pub fn nobody(what: &str, option: &str) -> Error {
    Error::new(Code::Usage, format!("{what} is needed, and nobody is here to ask"))
        .hint(format!("work at a terminal, or give it with `{option}`"))
}

pub fn owner(session: &Session) -> Result<Arc<Local>, Error> {
    session.local().ok_or_else(|| {
        Error::new(
            Code::Held,
            format!("{} has this store open, and this cannot be done while it runs", holder(session)),
        )
        .hint("stop it first")
    })
}

/// The process that has the store open, by its number where it says so.
pub fn holder(session: &Session) -> String {
    let held_by = session.call(&Status {}).ok().and_then(|status| status.held_by);
    held_by.map_or_else(|| "another process".to_owned(), |holder| format!("process {}", holder.pid))
}
