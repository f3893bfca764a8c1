//! `hermit keys`.

use super::Came;
use crate::args::{KeysInit, KeysVerb, Store};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::terminal::{Echo, Terminal, Typed};
use host::{NewKeys, Session, VaultChoice};
use std::io::Read as _;
use wire::keys::List;
use wire::{Code, Error, exit};
use zeroize::Zeroizing;

/// A passphrase, wiped when dropped.
pub type Passphrase = Zeroizing<Vec<u8>>;

/// More than any passphrase.
const PASSPHRASE_BYTES_MAX: u64 = 64 * 1024;

/// `hermit keys`.
pub fn keys(context: &Context, verb: KeysVerb) -> Came {
    match verb {
        KeysVerb::Init(args) => {
            let session = make(context, &args)?;
            let listed = session.call(&List::default());
            session.close();
            context.out.answer(&listed?, |out, listed| {
                show(out, listed);
                out.line("write the key ids down somewhere else: with them anybody can check your proofs");
                if !listed.keys.iter().any(|key| key.purpose == "approval") {
                    out.say(Tone::Warn, "there is no approval key yet; run this again at a terminal before you approve anything");
                }
            })?;
        }
        KeysVerb::List { all } => {
            let listed = context.reading()?.call(&List { all })?;
            context.out.answer(&listed, show)?;
        }
        KeysVerb::Rotate(args) => return super::keyring::rotate(context, &args),
        KeysVerb::Revoke(args) => return super::keyring::revoke(context, &args),
        KeysVerb::ExportPublic { output } => {
            return super::keyring::export_public(context, output.as_deref());
        }
        KeysVerb::Trust(args) => return super::keyring::trust(context, &args),
    }
    Ok(exit::DONE)
}

pub fn show(out: &Output, listed: &wire::keys::Keys) {
    if listed.keys.is_empty() {
        return out.line("no keys; make them with `hermit keys init`");
    }
    let rows = listed.keys.iter().map(|key| {
        let stands = match key.status.as_str() {
            "in_force" => "in force",
            "followed" => "followed by another",
            other => other,
        };
        let (purpose, keyid, ssh) = (key.purpose.clone(), key.keyid.clone(), key.ssh_fingerprint.clone());
        vec![purpose, stands.to_owned(), age(key.since), keyid, ssh]
    });
    table(out, &["purpose", "stands", "since", "key id", "ssh fingerprint"], &rows.collect::<Vec<_>>());
    for key in listed.keys.iter().filter(|key| key.revoked_at.is_some()) {
        let why = key.revoked_because.as_ref().map(ToString::to_string).unwrap_or_default();
        out.say(
            Tone::Warn,
            format!("revoked: {} key {}, because {}", key.purpose, key.keyid, crate::text::plain(&why)),
        );
    }
}

/// A day, and how long ago it was.
fn age(since: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = (i64::try_from(now).unwrap_or(0) - since / 1000).max(0) / 86_400;
    let day = crate::text::time(since).split(' ').next().unwrap_or_default().to_owned();
    match days {
        0 => format!("{day} (today)"),
        1 => format!("{day} (1 day)"),
        days => format!("{day} ({days} days)"),
    }
}

/// Makes store and keys; the session that owns them.
pub fn make(context: &Context, args: &KeysInit) -> Result<Session, Error> {
    let terminal = context.terminal.as_ref();
    let vault_passphrase = match (args.store, args.passphrase_fd) {
        (Store::Keychain, _) => None,
        (Store::File, Some(fd)) => Some(from_descriptor(fd)?),
        (Store::File, None) => {
            let terminal = terminal.ok_or_else(|| {
                Error::new(Code::Usage, "a passphrase is needed for the vault's file, and nobody is here to ask")
                    .hint("give it with `--passphrase-fd N`, as in `hermit keys init --store file --passphrase-fd 3 3<file`")
            })?;
            terminal.print("The vault holds the keys that sign receipts and proofs.\r\n");
            Some(ask_twice(terminal, "Vault passphrase")?)
        }
    };
    let approval_passphrase = match (args.approval_passphrase_fd, terminal) {
        (Some(fd), _) => Some(from_descriptor(fd)?),
        (None, Some(terminal)) => {
            terminal.print(
                "The approval passphrase is asked for when you allow something; choose another one.\r\n",
            );
            Some(ask_twice(terminal, "Approval passphrase")?)
        }
        (None, None) => None,
    };
    let session = context.writing(Signs::No)?;
    let local = session.local().ok_or_else(|| {
        Error::new(Code::Held, "keys are made by the process that owns the store, and another one does")
            .hint("end it first")
    })?;
    let vault = match args.store {
        Store::Keychain => VaultChoice::Keychain,
        Store::File => VaultChoice::File,
    };
    let new = NewKeys {
        vault,
        vault_passphrase: vault_passphrase.as_ref().map(|words| words.as_slice()),
        approval_passphrase: approval_passphrase.as_ref().map(|words| words.as_slice()),
    };
    let made = local.make_keys(&new).map_err(host::Error::to_wire);
    if let Err(error) = made {
        session.close();
        return Err(error);
    }
    Ok(session)
}

/// A passphrase typed twice the same.
pub fn ask_twice(terminal: &Terminal, what: &str) -> Result<Passphrase, Error> {
    let gone = || Error::new(Code::Cancelled, "no passphrase was given; nothing was made");
    loop {
        let Typed::Line(first) = terminal.ask(&format!("{what}: "), Echo::Hidden)? else {
            return Err(gone());
        };
        if first.is_empty() {
            return Err(gone());
        }
        let Typed::Line(second) = terminal.ask(&format!("{what} once more: "), Echo::Hidden)? else {
            return Err(gone());
        };
        if first == second {
            return Ok(Zeroizing::new(first.as_bytes().to_vec()));
        }
        terminal.print("They differ; once more.\r\n");
    }
}

/// The first line of what an open file descriptor gives.
pub fn from_descriptor(fd: i32) -> Result<Passphrase, Error> {
    let failed = |e: std::io::Error| {
        Error::new(Code::Usage, format!("cannot read a passphrase from file descriptor {fd}: {e}"))
            .hint("open it in the same command, as in `3<file`")
    };
    // Opening through the system's list of descriptors needs no unsafe code; the descriptor itself stays open.
    let file = std::fs::File::open(format!("/dev/fd/{fd}")).map_err(failed)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(PASSPHRASE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    Ok(Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec()))
}
