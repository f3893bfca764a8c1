//! `hermit keys passphrase`: a new one takes the place of the vault's, or of the one that says yes.

use super::Came;
use super::keyring::{holder, nobody};
use super::keys::{Passphrase, ask_twice, from_descriptor};
use crate::args::KeysPassphrase;
use crate::context::{Context, Signs};
use crate::output::Tone;
use crate::terminal::{Echo, Typed};
use host::PassphraseOf;
use host::control_socket::{Order, order};
use serde_json::json;
use wire::{Code, Error, exit};
use zeroize::Zeroizing;

/// `hermit keys passphrase`.
pub fn change(context: &Context, args: &KeysPassphrase) -> Came {
    let (of, what) = match args.approval {
        true => (PassphraseOf::Approval, "approval passphrase"),
        false => (PassphraseOf::Vault, "vault passphrase"),
    };
    is_there(context, of)?;
    let old = match (args.passphrase_fd, &context.terminal) {
        (Some(fd), _) => from_descriptor(fd)?,
        (None, Some(terminal)) => {
            match terminal.ask(&format!("{} as it is: ", crate::text::capital(what)), Echo::Hidden)? {
                Typed::Line(words) if !words.is_empty() => Zeroizing::new(words.as_bytes().to_vec()),
                _ => return Err(Error::new(Code::Cancelled, "no passphrase was given; nothing was changed")),
            }
        }
        (None, None) => return Err(nobody(&format!("the {what}"), "--passphrase-fd N")),
    };
    let new = match (args.new_passphrase_fd, &context.terminal) {
        (Some(fd), _) => from_descriptor(fd)?,
        (None, Some(terminal)) => ask_twice(terminal, &format!("New {what}"), None)?,
        (None, None) => return Err(nobody(&format!("the new {what}"), "--new-passphrase-fd N")),
    };
    changed(context, of, &old, &new)?;
    let told = json!({ "changed": if args.approval { "approval" } else { "vault" } });
    context.out.answer(&told, |out, _| {
        out.say(Tone::Good, format!("The new {what} is in force; the keys are the same."));
        out.line("Copies of the key's file that you keep elsewhere open with the old one.");
        if of == PassphraseOf::Vault {
            out.line("Write it into the file that opens the vault without you, if there is one (`HERMIT_PASSPHRASE_FILE`, a service).");
        }
    })?;
    Ok(exit::DONE)
}

/// Whether there is such a passphrase.
fn is_there(context: &Context, of: PassphraseOf) -> Result<(), Error> {
    let missing = |what: &str| {
        Err(Error::new(Code::NotFound, format!("this store has no {what}"))
            .hint("make what is missing with `hermit keys init`"))
    };
    match of {
        _ if !context.home.has_keys() => missing("keys"),
        PassphraseOf::Approval if !context.home.has_approval_key() => missing("approval key"),
        PassphraseOf::Vault if !context.home.needs_passphrase() => Err(Error::new(
            Code::Usage,
            "the keys of this store are in the system's keychain, which has no passphrase of Hermit's",
        )
        .hint("change it where the system does; `--approval` changes the passphrase that says yes")),
        _ => Ok(()),
    }
}

/// By the process that has the store open: it goes on with what it has opened.
fn changed(context: &Context, of: PassphraseOf, old: &Passphrase, new: &Passphrase) -> Result<(), Error> {
    let session = context.writing(Signs::No)?;
    let came = match session.local() {
        Some(local) => local.change_passphrase(of, old, new).map_err(host::Error::to_wire),
        None if context.terminal.is_some() => order(session.home(), &Order::ChangePassphrase(of, old, new)),
        None => Err(Error::new(
            Code::Held,
            format!(
                "{} has this store open, and changes a passphrase only for a person at a terminal",
                holder(&session)
            ),
        )
        .hint("run this in a terminal, or stop that process first")),
    };
    session.close();
    came
}
