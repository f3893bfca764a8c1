//! The way back from an update, by the program that was installed, so that it works where the updated one does nothing at all.
//!
//! A store that the updated program brought to a newer format is not read by the program before. It is left as it is, and the copy from
//! before takes its place only where the person says so; what was done since stays beside it.
//!
//! The approval passphrase shows that a person is there, and not a program that runs this. It is not asked for because something new is
//! allowed: what is started is what a person installed, or said yes to before, and nothing is destroyed. So where the key is lost, a
//! person at a terminal goes back by typing the version that is started then.

use super::apply::{confirmed, free};
use super::{OWN, Record, Update, Which, copies, turn};
use crate::keys::APPROVAL_FILE;
use crate::{Error as HostError, Home};
use serde::Serialize;
use std::path::{Path, PathBuf};
use wire::{Code, Error};

/// Why an update is not started any more.
const RETURNED: &str = "you went back from it";

/// What going back would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    which: Option<Which>,
    /// Version of the update that is left; none where none is at work and only the store is put back.
    pub from: Option<String>,
    /// Version of the program that is started then.
    pub to: String,
    /// The copy of the ledger that takes the place of the store's.
    pub copy: Option<PathBuf>,
}

/// What going back did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Went {
    /// Version of the update that was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Version of the program that is started now.
    pub to: String,
    /// The copy that took the place of the store's ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<PathBuf>,
    /// Where the ledger lies that was there until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<PathBuf>,
}

/// By what a person goes back.
#[derive(Debug, Clone, Copy)]
pub enum Word<'a> {
    /// The approval passphrase.
    Approval(&'a [u8]),
    /// In a store without its approval key, what they typed at a terminal: the version that is started then.
    Version(&'a str),
}

/// What going back would do, and whether it can be done; changes nothing.
///
/// # Errors
/// [`Code::NoStore`], [`Code::Held`], [`Code::Conflict`] where no update is at work, [`Code::NewerVersion`] where the program before
/// does not read the store as it is and `restore` was not said, or does not read the copy either, [`Code::NotFound`] where there is no copy
/// to restore.
pub fn plan(home: &Home, restore: bool) -> Result<Back, Error> {
    free(home)?;
    let record = Record::read(home).map_err(HostError::to_wire)?;
    let which = record.at_work();
    let left = which.or(Some(Which::Now)).and_then(|which| record.of(which));
    let before = record.of(Which::Before).filter(|one| which == Some(Which::Now) && one.pointer().is_some());
    let (to, known) = match before {
        Some(before) => (before.version.clone(), before.reads()),
        None => (OWN.to_owned(), ledger::SCHEMA),
    };
    let format = ledger::schema_of(home.dir()).map_err(api::of_ledger)?;
    if let Some((before, copy)) = stuck(&record, which, format) {
        // The program before stays at work; only the store is put back.
        let (to, known) = (before.version.clone(), before.reads());
        return match restore {
            true => reads(&copy, &to, known).map(|()| Back { which: None, from: None, to, copy: Some(copy) }),
            false => Err(newer(format, &to, known, Some(&copy))),
        };
    }
    let copy = left.and_then(|left| left.copy.clone()).filter(|copy| copy.is_file());
    if format > known && !restore {
        return Err(newer(format, &to, known, copy.as_ref()));
    }
    if which.is_none() && !restore {
        return Err(Error::new(Code::Conflict, "no update is at work for this store")
            .hint("`hermit update show` tells how it stands"));
    }
    if restore && copy.is_none() {
        return Err(Error::new(Code::NotFound, "no copy of the store from before an update is kept").hint(
            "one is kept only where an update changed the store's format; go back without `--restore`",
        ));
    }
    if let Some(copy) = copy.as_deref().filter(|_| restore) {
        reads(copy, &to, known)?;
    }
    let from = which.and_then(|which| record.of(which)).map(|update: &Update| update.version.clone());
    Ok(Back { which, from, to, copy: copy.filter(|_| restore) })
}

/// Whether the program that is started then reads a copy: one from before an update may be in a format that yet another update left.
fn reads(copy: &Path, to: &str, known: u32) -> Result<(), Error> {
    let Some(folder) = copy.parent() else { return Ok(()) };
    let format = ledger::schema_of(folder).map_err(api::of_ledger)?;
    if format <= known {
        return Ok(());
    }
    let why =
        format!("the copy at `{}` has format {format}, and version {to} reads up to {known}", copy.display());
    Err(Error::new(Code::NewerVersion, why)
        .hint("nothing was changed; `hermit update show` lists the copies that are kept, and what for"))
}

/// The update at work, where it does not read the store that a newer one left which is not started any more, and the copy from before
/// that. The newer one did not come up, or going back from it was stopped before the store was put back.
fn stuck(record: &Record, which: Option<Which>, format: u32) -> Option<(&Update, PathBuf)> {
    let before =
        record.of(Which::Before).filter(|one| which == Some(Which::Before) && format > one.reads())?;
    let copy = record.of(Which::Now)?.copy.clone().filter(|copy| copy.is_file())?;
    Some((before, copy))
}

fn newer(format: u32, to: &str, known: u32, copy: Option<&PathBuf>) -> Error {
    let lies = match copy {
        Some(copy) => format!("the copy from before lies at `{}`", copy.display()),
        None => "no copy from before is kept".to_owned(),
    };
    let why = format!(
        "the update brought this store to format {format}, and version {to} reads up to {known}; {lies}"
    );
    Error::new(Code::NewerVersion, why).hint(
        "nothing was changed; `hermit update back --restore` puts that copy in the store's place, without what was done since, \
         which is kept beside it",
    )
}

/// Goes back as planned, once a person said so. Where the process ends in the midst of it, the program before is started, and the store is
/// the one or the other, whole.
///
/// # Errors
/// [`Code::KeyLocked`] for a wrong passphrase, [`Code::Refused`] for another version, and where the approval key is there and its
/// passphrase was not given, [`Code::Held`], [`Code::Conflict`] where it would be another way by now, and what disk and
/// database say.
pub fn back(home: &Home, plan: &Back, word: Word<'_>) -> Result<Went, Error> {
    said(home, plan, word)?;
    let _turn = turn()?;
    if self::plan(home, plan.copy.is_some())? != *plan {
        return Err(Error::new(Code::Conflict, "what is at work for this store changed meanwhile")
            .hint("nothing was changed; run it again"));
    }
    let mut record = Record::read(home).map_err(HostError::to_wire)?;
    if let Some(which) = plan.which {
        record.leave(which, RETURNED);
        record.keep(home).map_err(HostError::to_wire)?;
    }
    let aside = plan.copy.as_ref().map(|copy| restored(home, copy, plan)).transpose()?;
    Ok(Went { from: plan.from.clone(), to: plan.to.clone(), restored: plan.copy.clone(), aside })
}

/// Whether a person said so.
fn said(home: &Home, plan: &Back, word: Word<'_>) -> Result<(), Error> {
    match (word, home.has_approval_key()) {
        (Word::Approval(words), _) => confirmed(home, words).map_err(|error| match error.code {
            Code::KeyLocked => error.hint(format!(
                "nothing was changed; if the passphrase is lost for good, move `{APPROVAL_FILE}` out of the store's folder, run `hermit \
                 update back` again, which asks you to type a version instead, and move it back"
            )),
            _ => error,
        }),
        (Word::Version(typed), false) if typed == plan.to => Ok(()),
        (Word::Version(_), false) => {
            Err(Error::new(Code::Refused, format!("version {} was not typed", plan.to)).hint("nothing was changed"))
        }
        (Word::Version(_), true) => Err(Error::new(Code::Refused, "this store has its approval key")
            .hint("nothing was changed; run it again, and give the approval passphrase")),
    }
}

/// Puts the copy into the store's place; where the ledger lies that was there.
fn restored(home: &Home, copy: &Path, plan: &Back) -> Result<PathBuf, Error> {
    let of = plan.from.as_deref().unwrap_or("update");
    let folder = copies::aside(home, of).map_err(HostError::to_wire)?;
    let aside = folder.join(ledger::FILE);
    ledger::put_back(copy, home.dir(), &aside).map_err(api::of_ledger)?;
    Ok(aside)
}
