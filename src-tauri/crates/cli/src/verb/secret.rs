//! `hermit secret`.

use super::Came;
use super::keyring::holder;
use crate::args::{SecretSet, SecretVerb};
use crate::context::{Context, Signs};
use crate::output::table;
use crate::terminal::{Echo, Typed};
use host::Session;
use model::secret::SecretTerms;
use std::io::{IsTerminal as _, Read as _};
use wire::secrets::{List, Secret};
use wire::{Code, Error, exit};
use words::store::VaultKind;
use zeroize::Zeroizing;

/// More than any value.
const VALUE_BYTES_MAX: u64 = 64 * 1024;

/// `hermit secret`.
pub fn secret(context: &Context, verb: SecretVerb) -> Came {
    match verb {
        SecretVerb::Set(args) => set(context, &args),
        SecretVerb::List => list(context),
        SecretVerb::Rm { name } => {
            let session = context.writing(Signs::Yes)?;
            let removed = local(&session).and_then(|local| {
                local.remove_secret(&name).map_err(host::Error::to_wire)?;
                session.call(&List {})
            });
            session.close();
            context.out.answer(&removed?, |out, _| out.line(format!("`secret:{name}` is forgotten")))?;
            Ok(exit::DONE)
        }
    }
}

fn set(context: &Context, args: &SecretSet) -> Came {
    let terms = SecretTerms {
        hosts: args.host.iter().map(|host| with_port(host)).collect(),
        also_in: args.also_in.iter().map(|place| (*place).into()).collect(),
    };
    let value = value(context, &args.name)?;
    let session = context.writing(Signs::Yes)?;
    let kept = local(&session).and_then(|local| {
        local.set_secret(&args.name, &value, &terms).map_err(host::Error::to_wire)?;
        session.call(&List {})
    });
    session.close();
    context.out.answer(&kept?, |out, kept| {
        let Some(secret) = kept.secrets.iter().find(|secret| secret.handle == args.name) else { return };
        let place = match secret.kept_in {
            VaultKind::Keychain => "the system's keychain",
            VaultKind::File => "the vault's file",
            VaultKind::Memory => "this process",
        };
        out.line(format!("`secret:{}` is kept in {place}", secret.handle));
        match secret.hosts.as_slice() {
            [] => out.line("it goes to no host a command reaches; name some with `--host`"),
            hosts => out.line(format!("it may go to {}, in {}", hosts.join(", "), places(secret))),
        }
    })?;
    Ok(exit::DONE)
}

fn list(context: &Context) -> Came {
    let listed = context.reading()?.call(&List {})?;
    context.out.answer(&listed, |out, listed| {
        if listed.secrets.is_empty() {
            return out.line("no secrets; keep one with `hermit secret set NAME`");
        }
        let rows = listed.secrets.iter().map(|secret| {
            let (hosts, places) = match secret.hosts.as_slice() {
                [] => ("no host".to_owned(), String::new()),
                hosts => (hosts.join(", "), places(secret)),
            };
            let since = crate::text::time(secret.since);
            vec![format!("secret:{}", secret.handle), hosts, places, secret.kept_in.to_string(), since]
        });
        table(out, &["handle", "may go to", "in", "kept in", "set"], &rows.collect::<Vec<_>>());
    })?;
    Ok(exit::DONE)
}

/// Where in a request a value may stand, in words.
fn places(secret: &Secret) -> String {
    let words = secret.also_in.iter().map(|place| if place == "url" { "the address" } else { "the body" });
    std::iter::once("headers").chain(words).collect::<Vec<_>>().join(", ")
}

/// The store in this process: values are handed to no other.
///
/// # Errors
/// When another process owns it.
pub(super) fn local(session: &Session) -> Result<std::sync::Arc<host::Local>, Error> {
    session.local().ok_or_else(|| {
        Error::new(
            Code::Held,
            format!("{} has this store open, and secrets cannot be set while it runs", holder(session)),
        )
        .hint("stop it first (end `hermit serve` with Ctrl-C, or quit the app) and run this again; a secret is never sent from one process to another")
    })
}

/// A host without a port is reached as browsers reach it.
pub(super) fn with_port(host: &str) -> String {
    let host = host.trim().to_ascii_lowercase();
    if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        return host;
    }
    format!("{host}:443")
}

/// What was typed unseen, or all of standard input.
///
/// # Errors
/// When nothing was given, or more than any secret.
pub(super) fn value(context: &Context, name: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let none = || Error::new(Code::Usage, "no value was given; nothing was kept");
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let terminal = context.terminal.as_ref().ok_or_else(|| {
            none().hint(format!("give it on standard input, as in `hermit secret set {name} < FILE`"))
        })?;
        return match terminal.ask(&format!("Value of secret:{name} (not shown): "), Echo::Hidden)? {
            Typed::Line(line) if !line.is_empty() => Ok(Zeroizing::new(line.as_bytes().to_vec())),
            _ => Err(none()),
        };
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let read = stdin.lock().take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|e| Error::new(Code::Usage, format!("standard input cannot be read: {e}")))?;
    if bytes.len() as u64 > VALUE_BYTES_MAX {
        return Err(Error::new(Code::Usage, "that is more than any secret; nothing was kept"));
    }
    let value = host::secrets::value_of(&bytes);
    if value.is_empty() { Err(none()) } else { Ok(value) }
}
