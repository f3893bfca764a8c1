//! Installs a release that was checked, once a person said yes, and asks its program whether it comes up.
//!
//! In this order: the program is installed beside the one at work, the ledger is copied, and the record names both. Until then the
//! program at work is started; from then on the next start asks the new one, and takes the one before where it does not come up.
//! So whenever this process ends, one of the two is started.

use super::app::{AppPlace, UpdatedApp};
use super::check::Checked;
use super::pinned::Pinned;
use super::record::Update;
use super::{Record, Which, app, copies, pages, turn};
use crate::keys::APPROVAL_FILE;
use crate::launch::Copied;
use crate::places::{EXECUTOR, PROGRAM};
use crate::programs::{Mark, Marks, Pointer, digest_of, install, program_at};
use crate::{Error as HostError, Home, SystemClock};
use keychain::ApprovalKey;
use model::fault::{Faults, Point};
use model::{Clock as _, Digest};
use proof::ReleaseFound;
use std::io;
use std::path::Path;
use wire::{Code, Error};

/// Whether a person could update this store now.
///
/// # Errors
/// [`Code::NoStore`], [`Code::Held`] while another process has it, [`Code::Conflict`] where an adopted program is at work or nobody can
/// say yes.
pub fn ready(home: &Home) -> Result<(), Error> {
    free(home)?;
    if !home.has_approval_key() {
        let path = home.path(APPROVAL_FILE);
        let why =
            format!("`{}` is not there, and without the approval key nobody can say yes", path.display());
        return Err(Error::new(Code::Conflict, why).hint(
            "put it back from where you keep it, since a new one does not fit; in a store that never had keys, make them with \
             `hermit keys init`",
        ));
    }
    let adopted = Pointer::read(home).map_err(HostError::to_wire)?;
    match adopted.is_some_and(|pointer| pointer.failed.is_none()) {
        true => Err(Error::new(Code::Conflict, "a program that you adopted is at work for this store")
            .hint("go back from it with `hermit successor back`, then update")),
        false => Ok(()),
    }
}

/// Whether nobody has the store open.
pub(super) fn free(home: &Home) -> Result<(), Error> {
    if !home.has_store() {
        return Err(api::no_store(&home.dir().display().to_string()));
    }
    if let Some(holder) = ledger::holder(home.dir()).map_err(api::of_ledger)? {
        let why = format!("process {} has this store open, and no other program can try it now", holder.pid);
        return Err(
            Error::new(Code::Held, why).hint("end that first; `hermit service remove` ends a service")
        );
    }
    Ok(())
}

/// Whether a person is here: they open the approval key.
pub(super) fn confirmed(home: &Home, approval: &[u8]) -> Result<(), Error> {
    let opened = ApprovalKey::open(&home.path(APPROVAL_FILE), approval);
    opened.map(drop).map_err(|e| HostError::from(e).to_wire())
}

/// Updates to a release that was found valid, and starts its program for the first time; how that came out stands in the answer.
///
/// # Errors
/// As [`ready`], [`Code::KeyLocked`] for a wrong passphrase, [`Code::Refused`] where the release was changed since or has no program for
/// this system, and what the disk says. The program at work stays at work then.
pub fn apply(home: &Home, checked: &Checked, approval: &[u8]) -> Result<Update, Error> {
    let Some(found) = checked.report.release.as_ref().filter(|_| checked.is_valid()) else {
        return Err(Error::new(Code::Refused, "this release was not found valid"));
    };
    confirmed(home, approval)?;
    let _turn = turn()?;
    ready(home)?;
    let faults = crate::faults::from_environment().map_err(HostError::to_wire)?;
    let mut record = Record::read(home).map_err(HostError::to_wire)?;
    // Nobody has the store open, and nobody else makes a copy: what nothing goes back to goes.
    swept(home, &record);
    copies::has_room(home, &record)?;
    let format_before = ledger::schema_of(home.dir()).map_err(api::of_ledger)?;
    let Installed { sha256, bytes, pages, app } = step(&*faults, || installed(home, checked, found))?;
    let copy = step(&*faults, || copies::copy(home, &found.made_of.version).map_err(HostError::to_wire))?;
    record.put(Update {
        version: found.made_of.version.clone(),
        commit: found.made_of.commit.clone(),
        key: found.key,
        sha256,
        bytes,
        pages,
        app,
        at: SystemClock.now().0,
        format_before,
        format: None,
        copy: Some(copy),
        healthy: false,
        failed: None,
    });
    let pinned = Pinned { key: checked.key, head: found.head.clone() };
    pinned.keep().map_err(HostError::to_wire)?;
    step(&*faults, || record.keep(home).map_err(HostError::to_wire))?;
    if crate::launch::updated(home, Copied::Just).is_none() {
        tracing::info!(version = %found.made_of.version, "the updated program is not at work");
    }
    let record = Record::read(home).map_err(HostError::to_wire)?;
    if record.of(Which::Now).is_some_and(|update| update.healthy) {
        swept(home, &record);
    }
    let lost = || Error::new(Code::Failed, "what was put on record of this update is gone");
    record.of(Which::Now).cloned().ok_or_else(lost)
}

/// Sweeps copies; what cannot be removed is no reason to keep an old program.
fn swept(home: &Home, record: &Record) {
    match copies::sweep(home, record) {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "copies of the ledger that nothing goes back to were removed"),
        Err(error) => {
            tracing::warn!(%error, "copies of the ledger that nothing goes back to cannot be removed")
        }
    }
}

/// A boundary at which tests stop the world.
fn step<T>(faults: &dyn Faults, act: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let failed = |e: io::Error| Error::new(Code::Failed, format!("the update was stopped: {e}"));
    faults.before(Point::UpdateApply).map_err(failed)?;
    let came = act()?;
    faults.after(Point::UpdateApply).map_err(failed)?;
    Ok(came)
}

/// What was put beside the program at work: `hermit`, and what came with it.
struct Installed {
    sha256: Digest,
    bytes: u64,
    pages: Option<Digest>,
    app: Option<UpdatedApp>,
}

/// Puts the programs of a release beside the one at work, where nothing starts them yet.
fn installed(home: &Home, checked: &Checked, found: &ReleaseFound) -> Result<Installed, Error> {
    let refused =
        |why: String| Error::new(Code::Refused, why).hint("nothing was installed; get the release again");
    let signed = |name: &str| found.programs.get(&format!("programs/{name}")).copied();
    let at = |name: &str| checked.folder.join("programs").join(name);
    let program =
        signed(PROGRAM).ok_or_else(|| refused(format!("this release has no program `{PROGRAM}`")))?;
    let (sha256, bytes) = digest_of(&at(PROGRAM)).map_err(|e| unread(&at(PROGRAM), &e))?;
    let changed =
        |name: &str| refused(format!("`programs/{name}` was changed since the release was checked"));
    if sha256 != program {
        return Err(changed(PROGRAM));
    }
    let executor = signed(EXECUTOR);
    let from = executor.map(|_| at(EXECUTOR));
    let kept = install(home, &at(PROGRAM), (sha256, bytes), from.as_deref())
        .map_err(|why| Error::new(Code::Failed, format!("the program cannot be installed: {why}")))?;
    if kept != executor {
        return Err(changed(EXECUTOR));
    }
    let (program, with_pages) = (program_at(home, sha256), signed(pages::PAGES));
    pages::install(&at(pages::PAGES), with_pages, &program)
        .map_err(|why| refused(format!("`programs/{}` cannot be installed: {why}", pages::PAGES)))?;
    let app = with_app(checked, found, &program)?;
    // Nothing in the store's folder could say that a person said yes to them.
    for sha256 in [Some(sha256), app.as_ref().map(|app| app.sha256)].into_iter().flatten() {
        let mark = Mark { sha256, executor, compared: None, asked_by: None };
        Marks::own().keep(home.dir(), &mark).map_err(|e| {
            Error::new(Code::Failed, format!("that you said yes to this program cannot be kept: {e}"))
        })?;
    }
    Ok(Installed { sha256, bytes, pages: with_pages, app })
}

/// Puts the app of a release beside its program, where it has one for this machine.
fn with_app(checked: &Checked, found: &ReleaseFound, program: &Path) -> Result<Option<UpdatedApp>, Error> {
    let place = AppPlace::read().map_err(HostError::to_wire)?;
    let name = app::named(&found.programs, place.as_ref());
    let from = name.and_then(|name| Some((checked.folder.join(name), *found.programs.get(name)?)));
    let from = from.as_ref().map(|(path, signed)| (path.as_path(), *signed));
    app::install(from, program).map_err(|why| {
        let name = name.unwrap_or_default();
        Error::new(Code::Refused, format!("`{name}` cannot be installed: {why}"))
            .hint("nothing was installed; get the release again")
    })
}

fn unread(path: &Path, error: &io::Error) -> Error {
    HostError::io("read", path, error).to_wire()
}
