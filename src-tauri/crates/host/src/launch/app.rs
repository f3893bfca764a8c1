//! Which desktop app is Hermit's window here: the one that was installed, or that of a release which a person updated to for this store.
//! As with `hermit` the installed one starts the other in its own place, and goes on itself where that does not come up.
//!
//! An app is asked before each start until it has come up once: it says its digest, and opens nothing for that, since the program of its
//! release has opened the store already. It has come up once its windows could be made. One that was started several times and never got
//! there is left by itself.

use super::{Copied, Health, STARTED, STARTED_BY, asked, own_turn, started, updated};
use crate::logs::OrLogged as _;
use crate::programs::{Mark, Marks, Pointer, compared, digest_of, own_digest, stamp_of};
use crate::updates::{AppPlace, Record, Update, UpdatedApp, Which, app_at, is_same_file};
use crate::{Error, Home};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long an app may say nothing that is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(120);
/// Starts after which an app is left that never came up.
const STARTS_MAX: u32 = 3;

/// The answer of an app that is asked whether it is there.
///
/// # Errors
/// In words, when its own file cannot be read.
pub fn app_health() -> Result<Health, String> {
    let healthy = match own_image() {
        Some(image) => digest_of(&image).map_err(|e| format!("`{}`: {e}", image.display()))?.0,
        None => own_digest()?,
    };
    Ok(Health { healthy, events: 0 })
}

/// Starts the app that is Hermit's window here in the place of this one, with the same words, and answers how that one ended; none where
/// this one goes on.
pub fn app_instead(home: &Home, words: impl Iterator<Item = OsString>) -> Option<u8> {
    if std::env::var_os(STARTED_BY).is_some() {
        return None;
    }
    let own = own_file()?;
    let place = AppPlace::read().or_logged("where the installed app lies cannot be read").flatten();
    let mut command = match is_kept(home, &own) {
        // A system that begins programs by their path, as at a log-in, may name one that was updated to: the installed app knows which it is.
        true => {
            let is_other = |program: &PathBuf| {
                program.is_file() && !is_kept(home, program) && !is_same_file(program, &own)
            };
            let installed = place.map(|place| place.program).filter(is_other)?;
            Command::new(installed)
        }
        false => {
            let here = AppPlace { is_image: own_image().is_some(), program: own };
            here.keep().or_logged("where this app lies cannot be kept");
            let mut command = Command::new(chosen(home)?);
            command.env(STARTED_BY, STARTED);
            command
        }
    };
    let program = PathBuf::from(command.get_program());
    command.args(words);
    match started(command) {
        Ok(code) => Some(code),
        Err(why) => {
            did_not_start(home, &program, &why).or_logged("that the app did not start cannot be kept");
            None
        }
    }
}

/// Takes note that this app came up, where another one started it.
pub fn app_came_up(home: &Home) {
    if std::env::var_os(STARTED_BY).is_none_or(|by| by != STARTED) {
        return;
    }
    let Some(own) = own_file() else { return };
    noted(home, &own, |app| {
        let is_news = !app.healthy || app.failed.is_some();
        app.healthy = true;
        app.failed = None;
        is_news
    })
    .or_logged("that this app came up cannot be kept");
}

/// Takes note that an app gave its words to this one, which runs already. One that was started for that never comes up, and it is no
/// fault of it.
pub fn app_was_told(home: &Home) {
    uncounted(home).or_logged("that a start of an app counts no longer cannot be kept");
}

fn uncounted(home: &Home) -> Result<(), Error> {
    let _turn = crate::updates::turn().map_err(Error::Said)?;
    let mut record = Record::read(home)?;
    let started = record.at_work().and_then(|which| record.app_mut(which));
    match started.is_some_and(UpdatedApp::gave_its_words) {
        true => record.keep(home),
        false => Ok(()),
    }
}

/// The file by which this app is known: the image that it runs from, or its program.
fn own_file() -> Option<PathBuf> {
    own_image().or_else(|| std::env::current_exe().or_logged("the running program is not known"))
}

/// The image that this program runs from. Whatever else runs from one tells its own to all that it starts.
fn own_image() -> Option<PathBuf> {
    let (image, mounted) = (std::env::var_os("APPIMAGE")?, std::env::var_os("APPDIR")?);
    let program = std::env::current_exe().or_logged("the running program is not known")?;
    image_of(&program, PathBuf::from(image), Path::new(&mounted))
}

/// The image, where it is mounted at a folder in which the program lies. That may be named by way of links, as no running program is.
fn image_of(program: &Path, image: PathBuf, mounted: &Path) -> Option<PathBuf> {
    let is_its = |mounted: &PathBuf| mounted.parent().is_some() && program.starts_with(mounted);
    let found = mounted.canonicalize().or_logged("where this app is mounted cannot be told").filter(is_its);
    found.filter(|_| image.is_absolute()).map(|_| image)
}

/// Whether a file lies where programs are kept that this store was updated to.
fn is_kept(home: &Home, file: &Path) -> bool {
    home.path("programs").canonicalize().is_ok_and(|folder| file.starts_with(folder))
}

/// The app that is started in the place of the installed one, once it has answered.
fn chosen(home: &Home) -> Option<PathBuf> {
    if !home.has_store() {
        return None;
    }
    let adopted = Pointer::read(home).or_logged("which program was adopted cannot be read")?;
    // It was built without an app, and this one shows its store.
    if adopted.is_some_and(|pointer| pointer.failed.is_none()) {
        return None;
    }
    let mut record = read(home)?;
    if !record.of(record.at_work()?)?.healthy {
        // Nobody has asked the program of the update yet.
        updated(home, Copied::Before)?;
        record = read(home)?;
    }
    let format = ledger::schema_of(home.dir()).or_logged("the store's format cannot be told")?;
    let at_work = record.at_work()?;
    let before = (at_work == Which::Now).then_some(Which::Before);
    for which in [Some(at_work), before].into_iter().flatten() {
        let fits =
            |update: &&Update| update.healthy && update.pointer().is_some() && update.reads() >= format;
        let Some((update, app)) =
            record.of(which).filter(fits).and_then(|update| Some((update, update.app.as_ref()?)))
        else {
            continue;
        };
        if app.failed.is_some() {
            continue;
        }
        let program = app_at(home, update.sha256);
        match stands(home, app, &program)? {
            Stood::CameUp => return Some(program),
            Stood::Asked(came) => match begun(home, &mut record, which, came) {
                Some(true) => return Some(program),
                Some(false) => {}
                None => return None,
            },
        }
    }
    None
}

fn read(home: &Home) -> Option<Record> {
    Record::read(home).or_logged("which release was updated to cannot be read; this app goes on")
}

/// How an app stands that a person said yes to.
enum Stood {
    /// It came up before, and nothing of it has changed.
    CameUp,
    /// It was looked at, and asked where it has not come up yet.
    Asked(Result<(), String>),
}

/// None where nobody here said yes to it.
fn stands(home: &Home, app: &UpdatedApp, program: &Path) -> Option<Stood> {
    let (marks, at_rest) = (Marks::own(), stamp_of(program));
    let Some(mark) = marks.read(home.dir(), app.sha256) else {
        tracing::warn!(sha256 = %app.sha256, "nobody updated to this app here; this one goes on");
        return None;
    };
    if app.healthy && at_rest.is_some() && at_rest == mark.compared {
        return Some(Stood::CameUp);
    }
    let came =
        compared(program, &mark, app.bytes).and_then(|()| match (app.healthy, app.starts < STARTS_MAX) {
            (true, _) => Ok(()),
            (false, true) => asked(home, program, app.sha256, SILENCE).map(drop),
            (false, false) => Err(format!("it was started {STARTS_MAX} times and did not come up")),
        });
    if came.is_ok() {
        let mark = Mark { compared: at_rest, ..mark };
        marks
            .keep(home.dir(), &mark)
            .or_logged("how the app was found cannot be kept; its file is read again");
    }
    Some(Stood::Asked(came))
}

/// Takes note of what came of asking an app: whether it is started now; none where that cannot be kept.
fn begun(home: &Home, record: &mut Record, which: Which, came: Result<(), String>) -> Option<bool> {
    let _turn = own_turn(home, record)?;
    let app = record.app_mut(which)?;
    let is_started = came.is_ok();
    match came {
        Ok(()) if app.healthy => return Some(true),
        Ok(()) => app.starts = app.starts.saturating_add(1),
        Err(why) => {
            tracing::warn!(%why, "the app of the update did not come up; the one before it goes on");
            app.failed = Some(why);
        }
    }
    record.keep(home).or_logged("how the app of the update stands cannot be kept; this one goes on")?;
    Some(is_started)
}

fn did_not_start(home: &Home, program: &Path, why: &str) -> Result<(), Error> {
    noted(home, program, |app| {
        app.failed = Some(why.to_owned());
        true
    })
}

/// Takes note of something about the app of this file, where that is one which was updated to. `note` answers whether it changed anything.
fn noted(home: &Home, file: &Path, note: impl FnOnce(&mut UpdatedApp) -> bool) -> Result<(), Error> {
    let _turn = crate::updates::turn().map_err(Error::Said)?;
    let mut record = Record::read(home)?;
    let is_its = |which: &Which| {
        record.of(*which).is_some_and(|update| is_same_file(&app_at(home, update.sha256), file))
    };
    let Some(which) = [Which::Now, Which::Before].into_iter().find(is_its) else { return Ok(()) };
    match record.app_mut(which).is_some_and(note) {
        true => record.keep(home),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_that_of_a_program_which_lies_where_it_is_mounted() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mounted = root.join("mounted");
        std::fs::create_dir(&mounted).unwrap();
        let (program, image) = (mounted.join("hermit-desktop"), root.join("Hermit.AppImage"));
        let of = |image: &PathBuf, mounted: &Path| image_of(&program, image.clone(), mounted);
        assert_eq!(of(&image, &mounted).as_ref(), Some(&image));
        let otherwise = folder.path().join("mounted").join("..").join("mounted");
        assert_eq!(
            of(&image, &otherwise).as_ref(),
            Some(&image),
            "temporary folders are often named by links"
        );
        let others = [root.join("another"), PathBuf::from("/"), PathBuf::new()];
        assert!(others.iter().all(|other| of(&image, other).is_none()), "what another image tells");
        assert_eq!(
            of(&PathBuf::from("Hermit.AppImage"), &mounted),
            None,
            "it would be another one elsewhere"
        );
    }
}
