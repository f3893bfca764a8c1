//! Which program is Hermit here: the one that was installed, one that a person adopted (successor.md 5), or one of a release that a
//! person updated to (systems.md 5). The installed one starts the other, once that has opened the store, verified its log and
//! answered; it goes on itself where that does not come, so that a store is never without a program that opens it.
//! An adopted program goes before an updated one: it was adopted for this store, and is returned from first.
//!
//! A store's folder says only which program it would be. Whether a person adopted that here is kept outside of it (`programs/mark.rs`),
//! so that a folder that came from elsewhere starts nothing.
//!
//! A program that is asked whether it is healthy is told the store's folder, and says so in one line on standard output
//! ([`Health`]), after a line for each step that it takes where those are read (`launch/asking.rs`). It changes nothing of what
//! anybody did.

mod app;
mod asking;

pub use app::{app_came_up, app_health, app_instead, app_was_told};
pub use asking::asked;

use crate::programs::{Mark, Marks, Pointer, compared, own_digest, stamp, stamp_of};
use crate::updates::{Record, Update, Which};
use crate::{Error, Home, Local, Unlock, program_group};
use asking::Step;
use model::Digest;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says to a program that another one started it, and what for: it starts no other.
const STARTED_BY: &str = "HERMIT_STARTED_BY";
/// How a vault is opened that a program does not need which is only asked: what may be a pipe is read once.
const PASSPHRASE_FILE: &str = "HERMIT_PASSPHRASE_FILE";
/// What a program is asked with first; the store's folder follows.
pub const HEALTH: &str = "successor-health";
/// What [`STARTED_BY`] says to a program that is only asked.
const ASKED: &str = "health";
/// What it says to a program that is started in the place of the installed one.
const STARTED: &str = "installed";

/// Whether this program is only asked whether it is healthy.
pub(crate) fn is_asked() -> bool {
    std::env::var_os(STARTED_BY).is_some_and(|by| by == ASKED)
}

/// What a program says that is healthy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Its own digest.
    pub healthy: Digest,
    /// Events of the log that it has verified.
    pub events: u64,
}

/// A program that is started in the place of the installed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// One that a person adopted.
    Adopted(PathBuf),
    /// One of a release that a person updated to.
    Updated(PathBuf),
}

impl Chosen {
    fn program(&self) -> &Path {
        let (Self::Adopted(program) | Self::Updated(program)) = self;
        program
    }
}

/// The program that is Hermit here, once it is healthy; none where the one that was installed is, or where another process has the
/// store open, which is then asked as always.
pub fn chosen(home: &Home) -> Option<Chosen> {
    if std::env::var_os(STARTED_BY).is_some() || !home.has_store() {
        return None;
    }
    adopted(home).map(Chosen::Adopted).or_else(|| updated(home, Copied::Before).map(Chosen::Updated))
}

fn adopted(home: &Home) -> Option<PathBuf> {
    let mut pointer = match Pointer::read(home) {
        Ok(pointer) => pointer.filter(|pointer| pointer.failed.is_none())?,
        Err(error) => {
            tracing::warn!(%error, "which program was adopted cannot be read; this one goes on");
            return None;
        }
    };
    match stands(home, &mut pointer) {
        Found::Unknown => None,
        Found::Healthy => Some(pointer.program(home)),
        Found::Judged => (kept(&pointer, home) && pointer.failed.is_none()).then(|| pointer.program(home)),
    }
}

/// When the ledger was copied that a program may change which is asked for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    /// A moment ago.
    Just,
    /// When a person updated; work may have gone on since.
    Before,
}

/// The program of the newest update that is healthy, back to the one before it; what does not come up is put on record.
pub(crate) fn updated(home: &Home, copied: Copied) -> Option<PathBuf> {
    let mut record = match Record::read(home) {
        Ok(record) => record,
        Err(error) => {
            tracing::warn!(%error, "which release was updated to cannot be read; this program goes on");
            return None;
        }
    };
    // Held until it is known how the program stands, so that nobody else copies, sweeps or updates meanwhile.
    let mut turn = None;
    for which in [Which::Now, Which::Before] {
        let Some(mut pointer) = record.of(which).and_then(Update::pointer) else { continue };
        if !pointer.healthy && copied == Copied::Before {
            if is_held(home) {
                return None;
            }
            if turn.is_none() {
                turn = Some(own_turn(home, &record)?);
            }
            if let Err(error) = record.copy_again(which, home) {
                tracing::warn!(%error, "the store cannot be copied for the updated program; this one goes on");
                return None;
            }
        }
        match stands(home, &mut pointer) {
            Found::Unknown => return None,
            Found::Healthy => return Some(pointer.program(home)),
            Found::Judged => {}
        }
        // One that came up before was asked again: what is on record may be another by now, and is not written over. Where somebody else
        // has the turn, what came of it is not kept, and the next start asks it once more.
        if turn.is_none() && copied == Copied::Before {
            turn = own_turn(home, &record);
            if turn.is_none() {
                let goes_on = pointer.failed.is_none() && is_on_record(home, &record);
                return goes_on.then(|| pointer.program(home));
            }
        }
        record.learn(which, &pointer, home);
        if let Err(error) = record.keep(home) {
            tracing::warn!(%error, "how the updated program stands cannot be kept; this one goes on");
            return None;
        }
        match &pointer.failed {
            None => return Some(pointer.program(home)),
            Some(why) => {
                tracing::warn!(%why, "the updated program did not come up; the one before it goes on")
            }
        }
    }
    None
}

/// The turn to put on record how a program stands; none where another process has it, or changed what is on record since it was read.
fn own_turn(home: &Home, read: &Record) -> Option<File> {
    match crate::updates::turn() {
        Ok(turn) => is_on_record(home, read).then_some(turn),
        Err(error) => {
            tracing::info!(%error, "the updated program cannot be asked now; this one goes on");
            None
        }
    }
}

/// Whether what was read is still what is on record.
fn is_on_record(home: &Home, read: &Record) -> bool {
    Record::read(home).is_ok_and(|record| record == *read)
}

/// What is known of a program beside this one.
enum Found {
    /// It is this one, nobody here said yes to it, or it cannot be asked now: this one goes on.
    Unknown,
    /// It was healthy, and nothing of it has changed.
    Healthy,
    /// It was looked at: whether it is healthy, or why not, stands in the pointer.
    Judged,
}

fn stands(home: &Home, pointer: &mut Pointer) -> Found {
    let program = pointer.program(home);
    let (at_rest, asked_by) = (stamp_of(&program), own_stamp());
    // This is it.
    if asked_by.is_some() && asked_by == stamp(&program) {
        return Found::Unknown;
    }
    let marks = Marks::own();
    let Some(mark) = marks.read(home.dir(), pointer.sha256) else {
        tracing::warn!(sha256 = %pointer.sha256, "nobody adopted this program here; this one goes on");
        return Found::Unknown;
    };
    if pointer.healthy && at_rest.is_some() && (&at_rest, &asked_by) == (&mark.compared, &mark.asked_by) {
        return Found::Healthy;
    }
    match looked_at(home, pointer, &mark, asked_by.as_deref()) {
        None => return Found::Unknown,
        Some(Ok(())) => {
            pointer.healthy = true;
            let mark = Mark { compared: at_rest, asked_by, ..mark };
            if let Err(error) = marks.keep(home.dir(), &mark) {
                tracing::warn!(%error, "that it is healthy cannot be kept; the next start asks it again");
            }
        }
        Some(Err(why)) => pointer.failed = Some(why),
    }
    Found::Judged
}

/// Whether an adopted program is what was adopted here, and healthy; none where that is not known now, and this one goes on.
fn looked_at(
    home: &Home,
    pointer: &Pointer,
    mark: &Mark,
    asked_by: Option<&str>,
) -> Option<Result<(), String>> {
    if own_digest() == Ok(pointer.sha256) {
        return None;
    }
    let program = pointer.program(home);
    if let Err(why) = compared(&program, mark, pointer.bytes) {
        return Some(Err(why));
    }
    // The installed program it said so to is still the one that is installed.
    if pointer.healthy && asked_by == mark.asked_by.as_deref() {
        return Some(Ok(()));
    }
    if is_held(home) {
        return None;
    }
    match asked(home, &program, pointer.sha256, asking::silence(home)) {
        // Another process took the store meanwhile.
        Err(_) if is_held(home) => None,
        came => Some(came.map(drop)),
    }
}

/// Whether another process has the store open.
fn is_held(home: &Home) -> bool {
    ledger::holder(home.dir()).ok().flatten().is_some()
}

/// Whether how it stands could be kept.
fn kept(pointer: &Pointer, home: &Home) -> bool {
    let kept = pointer.keep(home);
    if let Err(error) = &kept {
        tracing::warn!(%error, "how the adopted program stands cannot be kept; this one goes on");
    }
    kept.is_ok()
}

/// The file of this program, as its disk has it.
fn own_stamp() -> Option<String> {
    stamp(&std::env::current_exe().ok()?)
}

/// Starts it in the place of this one, with the same words; comes back only where it cannot be started, with why.
pub fn instead(home: &Home, chosen: &Chosen, words: impl Iterator<Item = OsString>) -> Result<u8, String> {
    let mut command = Command::new(chosen.program());
    command.args(words).env(STARTED_BY, STARTED);
    // Each file of them is looked at: not where a person says which are shown.
    if std::env::var_os("HERMIT_UI_DIR").is_none_or(|named| named.is_empty()) {
        let installed = crate::session::built_pages();
        let pages = match chosen {
            // By itself it would show what lies beside it, whoever put that there: it is told a place in any case.
            Chosen::Updated(program) => {
                crate::updates::pages_of(home, program).or(installed).or_else(no_pages)
            }
            Chosen::Adopted(_) => installed,
        };
        if let Some(pages) = pages {
            command.env("HERMIT_UI_DIR", pages);
        }
    }
    let came = started(command);
    if let Err(why) = &came {
        let kept = match chosen {
            Chosen::Adopted(_) => did_not_start(home, why),
            Chosen::Updated(_) => Record::did_not_start(home, why),
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "that the program did not start cannot be kept");
        }
    }
    came
}

/// A place below a file, where nobody can put pages.
fn no_pages() -> Option<PathBuf> {
    std::env::current_exe().ok().map(|program| program.join("ui"))
}

fn did_not_start(home: &Home, why: &str) -> Result<(), Error> {
    let Some(pointer) = Pointer::read(home)? else { return Ok(()) };
    Pointer { healthy: false, failed: Some(why.to_owned()), ..pointer }.keep(home)
}

fn started(command: Command) -> Result<u8, String> {
    program_group::gives_place(command).map_err(|e| format!("it cannot be started: {e}"))
}

/// The answer of this program to whoever asks whether it is healthy with a store: it opens it, verifies its log, and answers a
/// command that changes nothing. Where its steps are read, each is said as a line.
///
/// # Errors
/// In words, why it is not.
pub fn health(dir: &Path, say: &dyn Fn(&str)) -> Result<Health, String> {
    let home = Home::find(Some(dir)).map_err(|e| e.to_string())?;
    if !home.has_store() {
        return Err("there is no store".to_owned());
    }
    asking::tell(Step::Opening, say);
    let local = Local::owning(home, &Unlock::Environment).map_err(|e| e.to_string())?;
    asking::tell(Step::Opened, say);
    let came = checked(&local, say);
    local.close();
    came
}

fn checked(local: &Local, say: &dyn Fn(&str)) -> Result<Health, String> {
    let ask = |name: &str| api::call(local, name, serde_json::json!({})).map_err(|e| e.message);
    let report: wire::ledger::Report =
        serde_json::from_value(ask("ledger.verify")?).map_err(|e| e.to_string())?;
    if report.verdict == wire::Verdict::Invalid {
        return Err(report.reason);
    }
    asking::tell(Step::Verified, say);
    ask("host.status")?;
    Ok(Health { healthy: own_digest()?, events: report.events })
}
