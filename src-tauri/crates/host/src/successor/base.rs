//! What changes of code are built on: the parent's own source, built in the sandbox once for each version and kept, so that a change
//! costs what it makes anew and not all of Hermit. Nothing of a change is ever in it: each one is built on a copy.

use super::build::{CodeTrial, TARGET, cargo, last_lines, prepare, program_words, suite_words};
use super::confined::{LOOK, clear};
use effects::Sandbox;
use model::Digest;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, SystemTime};
use words::successor::TrialStage;

/// How long one is kept that nothing is built on.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where they are kept.
#[derive(Debug, Clone)]
pub struct Bases {
    /// A folder of its own, on the disk that is built on.
    pub folder: PathBuf,
    /// Whether one is made where there is none: it takes as long as a build of Hermit.
    pub makes: bool,
}

/// The turn of one who builds: side by side each would use up the time of the others.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other change is built by this process.
///
/// # Errors
/// In words, when `stopped` says so first.
pub(super) fn in_turn(stopped: &dyn Fn() -> bool) -> Result<MutexGuard<'static, ()>, String> {
    loop {
        match TURN.try_lock() {
            Ok(turn) => return Ok(turn),
            Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
            Err(TryLockError::WouldBlock) if stopped() => return Err("the trial was stopped".to_owned()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
}

/// The target folder of this source as it is without any change, where bases are kept; made where it is not there and is to be. One of
/// another source goes then.
///
/// # Errors
/// In words, when the source cannot be built as it is: no change of it could be.
pub(super) fn of(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    source: Digest,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<PathBuf>, String> {
    let Some(bases) = &code.bases else { return Ok(code.warm.clone()) };
    let failed = |e: io::Error| format!("`{}`: {e}", bases.folder.display());
    let at = bases.folder.join(source.to_string());
    if at.is_dir() {
        used(&at).map_err(failed)?;
        return Ok(Some(at));
    }
    if !bases.makes {
        return Ok(None);
    }
    (code.at)(TrialStage::BuildingBase);
    clear(&bases.folder).map_err(failed)?;
    std::fs::create_dir_all(&bases.folder).map_err(failed)?;
    let reads = prepare(code, source, stopped)?;
    for words in [program_words(code), suite_words(code, Some("--no-run"))] {
        let end = cargo(sandbox, code, &reads, &words, stopped)?;
        if !end.is_whole() {
            let why = last_lines(&end);
            return Err(format!(
                "Hermit's source as it is cannot be built here, nor any change of it: {why}"
            ));
        }
    }
    // It is there whole or not at all.
    std::fs::rename(code.folder.join(TARGET), &at).map_err(failed)?;
    Ok(Some(at))
}

/// Says that something is built on it.
fn used(at: &Path) -> io::Result<()> {
    std::fs::File::open(at)?.set_modified(SystemTime::now())
}

/// Takes away those that nothing was built on for long; whether none is left.
///
/// # Errors
/// What the disk says.
pub(super) fn sweep(folder: &Path) -> io::Result<bool> {
    let mut none_is_left = true;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        if age > KEPT {
            clear(&entry.path())?;
        } else {
            none_is_left = false;
        }
    }
    Ok(none_is_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_nothing_was_built_on_for_a_week_goes_and_another_stays() {
        let folder = tempfile::TempDir::new().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        for at in [&old, &new] {
            std::fs::create_dir_all(at.join("debug")).unwrap();
            let long_ago = SystemTime::now() - KEPT - Duration::from_secs(60);
            std::fs::File::open(at).unwrap().set_modified(long_ago).unwrap();
        }
        used(&new).unwrap();
        assert!(!sweep(folder.path()).unwrap());
        assert!(!old.exists() && new.join("debug").is_dir());
        clear(&new).unwrap();
        assert!(sweep(folder.path()).unwrap());
    }

    #[test]
    fn who_waits_for_its_turn_can_be_stopped_and_comes_to_it_once_the_other_is_done() {
        let first = in_turn(&|| false).unwrap();
        assert!(in_turn(&|| true).is_err());
        drop(first);
        assert!(in_turn(&|| true).is_ok());
    }
}
