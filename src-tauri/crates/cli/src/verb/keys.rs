//! `hermit keys`.

use super::Came;
use super::keyring::holder;
use crate::args::{KeysInit, KeysVerb, Store, UnlockArgs};
use crate::context::{Context, Signs};
use crate::handed_in;
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Terminal, Typed};
use host::control_socket::{Order, order};
use host::{NewKeys, Session, VaultChoice};
use model::body::KeyPurpose;
use std::io::Read as _;
use wire::keys::List;
use wire::{Code, Error, exit};
use words::store::KeyStatus;
use zeroize::Zeroizing;

/// A passphrase, wiped when dropped.
pub type Passphrase = Zeroizing<Vec<u8>>;

/// Passphrases may be mistyped this often.
const TRIES: u32 = 3;
/// More than any passphrase.
const PASSPHRASE_BYTES_MAX: usize = 64 * 1024;

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
                if !listed.keys.iter().any(|key| key.purpose == KeyPurpose::Approval) {
                    out.say(Tone::Warn, "there is no approval key yet; run this again at a terminal before you approve anything");
                }
            })?;
        }
        KeysVerb::List { all } => {
            let listed = context.reading()?.call(&List { all })?;
            context.out.answer(&listed, show)?;
        }
        KeysVerb::Rotate(args) => return super::keyring::rotate(context, &args),
        KeysVerb::Passphrase(args) => return super::passphrase::change(context, &args),
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
    for key in &listed.keys {
        let status = match key.status {
            KeyStatus::InForce => "in force",
            KeyStatus::Followed => "followed by another",
            KeyStatus::Revoked => "revoked",
        };
        // The approval key is open for one yes at a time.
        let open = match key.open {
            Some(true) => ", open",
            Some(false) if key.status == KeyStatus::InForce && key.purpose != KeyPurpose::Approval => {
                ", locked"
            }
            _ => "",
        };
        out.line(format!("{:<8}  {status} since {}{open}", key.purpose, age(key.since)));
        out.line(format!("  key id  {}", key.keyid));
        out.line(format!("  ssh     {}", key.ssh_fingerprint));
    }
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
    let session = context.writing(Signs::No)?;
    match typed(context, args, &session).and_then(|typed| hand_over(context, &session, &typed)) {
        Ok(()) => Ok(session),
        Err(error) => {
            session.close();
            Err(error)
        }
    }
}

/// What keys are made with, as it was typed or handed in.
struct Entered {
    vault: VaultChoice,
    vault_passphrase: Option<Passphrase>,
    approval_passphrase: Option<Passphrase>,
}

fn hand_over(context: &Context, session: &Session, entered: &Entered) -> Result<(), Error> {
    let new = NewKeys {
        vault: entered.vault,
        vault_passphrase: entered.vault_passphrase.as_ref().map(|words| words.as_slice()),
        approval_passphrase: entered.approval_passphrase.as_ref().map(|words| words.as_slice()),
    };
    match session.local() {
        Some(local) => local.make_keys(&new).map_err(host::Error::to_wire),
        // The host that runs makes them, for a person at a terminal.
        None if context.terminal.is_some() => order(session.home(), &Order::MakeKeys(&new)),
        None => Err(Error::new(
            Code::Held,
            format!(
                "{} has this store open, and makes keys only for a person at a terminal",
                holder(session)
            ),
        )
        .hint("run this in a terminal, or stop that process first")),
    }
}

/// `hermit unlock`.
pub fn unlock(context: &Context, args: &UnlockArgs) -> Came {
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(Code::Forbidden, "keys are opened by a person at a terminal")
            .hint("an unattended host opens them with `HERMIT_PASSPHRASE_FILE`"));
    };
    if !context.home.has_keys() {
        return Err(
            Error::new(Code::NotFound, "this store has no keys").hint("make them with `hermit keys init`")
        );
    }
    let time = args.time;
    for left in (0..TRIES).rev() {
        let words = match context.home.needs_passphrase() {
            true => Some(ask_once(terminal, "Vault passphrase")?),
            false => None,
        };
        match order(&context.home, &Order::Unlock(words.as_ref().map(|words| words.as_slice()), time)) {
            Err(error) if error.code == Code::KeyLocked && words.is_some() && left > 0 => {
                terminal.print(&format!("{}\r\n", crate::text::plain(&error.message)));
            }
            Err(error) => return Err(error),
            Ok(()) => break,
        }
    }
    let minutes = time.as_secs() / 60;
    let told = if minutes >= 120 { format!("{} hours", minutes / 60) } else { format!("{minutes} minutes") };
    context
        .out
        .line(format!("The keys of the running host are open for {told}; `hermit lock` locks them before."));
    Ok(exit::DONE)
}

/// `hermit lock`.
pub fn lock(context: &Context) -> Came {
    order(&context.home, &Order::Lock)?;
    context.out.line("The keys of the running host are locked; `hermit unlock` opens them again.");
    Ok(exit::DONE)
}

/// Asks for what is needed, and for nothing else: a store that has all its keys is asked for none.
fn typed(context: &Context, args: &KeysInit, session: &Session) -> Result<Entered, Error> {
    let listed = session.call(&List::default())?;
    let named = |purpose: KeyPurpose| listed.keys.iter().any(|key| key.purpose == purpose);
    let vault = vault_for(context, args)?;
    let mut entered = Entered { vault, vault_passphrase: None, approval_passphrase: None };
    if named(KeyPurpose::Approval) {
        return Ok(entered);
    }
    if named(KeyPurpose::Log) && args.approval_passphrase_fd.is_some() {
        return Err(Error::new(Code::Refused, "this store has keys: its approval key is made at a terminal")
            .hint("run `hermit keys init` at a terminal, without `--approval-passphrase-fd`"));
    }
    let terminal = context.terminal.as_ref();
    if let (Some(terminal), None, None) = (terminal, args.passphrase_fd, args.approval_passphrase_fd) {
        terminal.print(&rules(vault));
    }
    if vault == VaultChoice::File {
        entered.vault_passphrase = Some(match (args.passphrase_fd, terminal) {
            (Some(fd), _) => from_descriptor(fd)?,
            (None, Some(terminal)) if context.home.has_keys() => ask_once(terminal, "Vault passphrase")?,
            (None, Some(terminal)) => ask_twice(terminal, "Vault passphrase", None)?,
            (None, None) => {
                return Err(Error::new(
                    Code::Usage,
                    "a passphrase is needed for the vault's file, and nobody is here to ask",
                )
                .hint(
                    "give it with `--passphrase-fd N`, as in `hermit keys init --store file --passphrase-fd 0 <file`",
                ));
            }
        });
    }
    entered.approval_passphrase = match (args.approval_passphrase_fd, terminal) {
        (Some(fd), _) => Some(from_descriptor(fd)?),
        (None, Some(terminal)) if context.home.has_approval_key() => {
            Some(ask_once(terminal, "Approval passphrase")?)
        }
        (None, Some(terminal)) => {
            Some(ask_twice(terminal, "Approval passphrase", entered.vault_passphrase.as_ref())?)
        }
        (None, None) => None,
    };
    Ok(entered)
}

/// What a person should know before they choose.
fn rules(vault: VaultChoice) -> String {
    let min = host::PASSPHRASE_CHARS_MIN;
    match vault {
        VaultChoice::File => format!(
            "You choose two passphrases, of {min} characters or more each, and different ones:\r\n\
             the vault's opens the keys that sign receipts and proofs; the approval passphrase says yes.\r\n"
        ),
        VaultChoice::Keychain => format!(
            "The keys that sign receipts and proofs go into the system's keychain.\r\n\
             You choose a passphrase of {min} characters or more that says yes.\r\n"
        ),
    }
}

/// Where the keys are or shall be: where this store's are, as was said, or what works on this machine.
fn vault_for(context: &Context, args: &KeysInit) -> Result<VaultChoice, Error> {
    match (args.store, context.home.has_keys()) {
        (Some(Store::Keychain), _) => Ok(VaultChoice::Keychain),
        (Some(Store::File), _) => Ok(VaultChoice::File),
        (None, true) if context.home.needs_passphrase() => Ok(VaultChoice::File),
        (None, true) => Ok(VaultChoice::Keychain),
        (None, false) if args.passphrase_fd.is_some() => Ok(VaultChoice::File),
        (None, false) => Ok(match host::try_keychain() {
            Ok(()) => VaultChoice::Keychain,
            // `hermit doctor` tells why.
            Err(_) => {
                context.out.say(
                    Tone::Faint,
                    "No keychain works here, so the keys go into a file that a passphrase opens.",
                );
                VaultChoice::File
            }
        }),
    }
}

/// A passphrase that was chosen before.
fn ask_once(terminal: &Terminal, what: &str) -> Result<Passphrase, Error> {
    match terminal.ask(&format!("{what}: "), Echo::Hidden)? {
        Typed::Line(words) if !words.is_empty() => Ok(Zeroizing::new(words.as_bytes().to_vec())),
        _ => Err(Error::new(Code::Cancelled, "no passphrase was given; nothing was made")),
    }
}

/// A new passphrase, typed twice the same, that is long enough and not the one of the vault.
pub fn ask_twice(terminal: &Terminal, what: &str, vault: Option<&Passphrase>) -> Result<Passphrase, Error> {
    loop {
        let first = ask_once(terminal, what)?;
        let min = host::PASSPHRASE_CHARS_MIN;
        if String::from_utf8_lossy(&first).chars().count() < min {
            terminal.print(&format!("It needs at least {min} characters.\r\n"));
            continue;
        }
        if vault.is_some_and(|vault| *vault == first) {
            terminal.print("It has to be different from the vault's.\r\n");
            continue;
        }
        if ask_once(terminal, &format!("{what} once more"))? == first {
            return Ok(first);
        }
        terminal.print("They differ; once more.\r\n");
    }
}

/// The next line of what an open file descriptor gives: the first one, but where the standard input was read before.
pub fn from_descriptor(fd: i32) -> Result<Passphrase, Error> {
    let failed = |e: std::io::Error| {
        Error::new(Code::Usage, format!("cannot read a passphrase from file descriptor {fd}: {e}")).hint(
            "open it in the same command, as in `3<file`, or give 0 and the standard input, as in `<file`",
        )
    };
    let mut file = handed_in::opened(fd).map_err(failed)?;
    let (mut line, mut byte) = (Passphrase::new(Vec::new()), Zeroizing::new([0_u8]));
    // Each byte by itself: what is behind the line is another passphrase.
    while line.len() < PASSPHRASE_BYTES_MAX {
        match file.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if *byte == *b"\n" => break,
            Ok(_) => line.extend(*byte),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(failed(e)),
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}
