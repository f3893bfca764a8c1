//! The way back from an update, by the program that was installed, so that it works where the updated one does nothing at all.
//!
//! A store that the updated program brought to a newer format is not read by the program before. It is left as it is, and the copy from
//! before takes its place only where the person says so; what was done since stays beside it.

use super::apply::{confirmed, free};
use super::{OWN, Record, Update, Which, fresh_copy, turn};
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

/// What going back would do, and whether it can be done; changes nothing.
///
/// # Errors
/// [`Code::NoStore`], [`Code::Held`], [`Code::Conflict`] where no update is at work, [`Code::NewerVersion`] where the program before
/// does not read the store as it is and `restore` was not said, [`Code::NotFound`] where there is no copy to restore.
pub fn plan(home: &Home, restore: bool) -> Result<Back, Error> {
    free(home)?;
    let record = Record::read(home).map_err(HostError::to_wire)?;
    let which = record.at_work();
    let left = which.or(Some(Which::Now)).and_then(|which| record.of(which));
    let before = record.of(Which::Before).filter(|one| which == Some(Which::Now) && one.pointer().is_some());
    let (to, known) = match before {
        Some(before) => (before.version.clone(), known_to(before)),
        None => (OWN.to_owned(), ledger::SCHEMA),
    };
    let format = ledger::schema_of(home.dir()).map_err(api::of_ledger)?;
    if let Some((before, copy)) = stuck(&record, which, format) {
        // The program before stays at work; only the store is put back.
        let (to, known) = (before.version.clone(), known_to(before));
        return match restore {
            true => Ok(Back { which: None, from: None, to, copy: Some(copy) }),
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
    let from = which.and_then(|which| record.of(which)).map(|update: &Update| update.version.clone());
    Ok(Back { which, from, to, copy: copy.filter(|_| restore) })
}

/// The newest format that the program of an update is known to read.
fn known_to(update: &Update) -> u32 {
    update.format.unwrap_or(update.format_before)
}

/// The update at work, where it does not read the store that a newer one left which is not started any more, and the copy from before
/// that. The newer one did not come up, or going back from it was stopped before the store was put back.
fn stuck(record: &Record, which: Option<Which>, format: u32) -> Option<(&Update, PathBuf)> {
    let before =
        record.of(Which::Before).filter(|one| which == Some(Which::Before) && format > known_to(one))?;
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
/// [`Code::KeyLocked`] for a wrong passphrase, [`Code::Held`], [`Code::Conflict`] where it would be another way by now, and what disk and
/// database say.
pub fn back(home: &Home, plan: &Back, approval: &[u8]) -> Result<Went, Error> {
    confirmed(home, approval)?;
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

/// Puts the copy into the store's place; where the ledger lies that was there.
fn restored(home: &Home, copy: &Path, plan: &Back) -> Result<PathBuf, Error> {
    let of = plan.from.as_deref().unwrap_or("update");
    let folder = fresh_copy(home, &format!("after-{of}")).map_err(HostError::to_wire)?;
    let made = disk::owner_only::new_folder(&folder);
    made.map_err(|e| HostError::io("make", &folder, &e).to_wire())?;
    let aside = folder.join(ledger::FILE);
    ledger::put_back(copy, home.dir(), &aside).map_err(api::of_ledger)?;
    Ok(aside)
}
