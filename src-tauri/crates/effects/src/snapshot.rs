//! What there is, as a schedule that waits for changes compares it (schedule.md 1): files with their sizes and times, and where a
//! ref is. Nothing is run, and no file is read.
//!
//! Left out are `.git`, what the folder's own ignore rules leave out, what belongs to Hermit, links, other file systems, and what
//! programs leave beside a file while they write it.

use crate::stage::ignore::Ignore;
use crate::vcs;
use crate::workspace::descent::Descent;
use crate::workspace::entry::{Kind, Stat};
use crate::workspace::names::os_name;
use crate::{Error, Executors};
use globset::{GlobBuilder, GlobMatcher};
use model::RelPath;
use model::file_name::is_same;
use model::schedule::{SEEN_FILES_MAX, Unseen};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Entries that are looked at on the way.
const ENTRIES_MAX: usize = crate::MANIFEST_ENTRIES_MAX;
/// How names begin that programs give to what they have not finished.
const UNFINISHED_BEGIN: [&str; 4] = ["~$", ".~lock.", ".#", ".goutputstream-"];
/// How they end.
const UNFINISHED_END: [&str; 9] =
    ["~", ".swp", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download"];

/// Whether globs can be read.
///
/// # Errors
/// [`Error::Request`], which says what is wrong.
pub fn check_globs(globs: &[String]) -> Result<(), Error> {
    Globs::of(globs).map(drop)
}

/// Which files a schedule waits for.
struct Globs(Vec<GlobMatcher>);

impl Globs {
    fn of(globs: &[String]) -> Result<Self, Error> {
        let matcher = |glob: &String| {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            let wrong = |e: globset::Error| Error::Request(format!("`{glob}` is no glob: {}", e.kind()));
            built.map(|glob| glob.compile_matcher()).map_err(wrong)
        };
        globs.iter().map(matcher).collect::<Result<_, _>>().map(Self)
    }

    fn take(&self, path: &RelPath) -> bool {
        let fits = |glob: &GlobMatcher| {
            let text = if glob.glob().glob().contains('/') { path.as_bytes() } else { path.file_name() };
            os_name(text).is_ok_and(|name| glob.is_match(Path::new(&name)))
        };
        self.0.is_empty() || self.0.iter().any(fits)
    }

    /// Whether a program has not finished this file, by its name; one that a glob asks for by that ending is meant.
    fn is_unfinished(&self, name: &[u8]) -> bool {
        let name = String::from_utf8_lossy(name);
        let is_meant = |ending: &&str| self.0.iter().any(|glob| glob.glob().glob().ends_with(*ending));
        UNFINISHED_BEGIN.iter().any(|begin| name.starts_with(begin))
            || UNFINISHED_END.iter().any(|ending| name.ends_with(ending) && !is_meant(ending))
    }
}

impl Executors {
    /// The files that fit, each with its stamp: its size and when it was written, and behind the last point what file it is.
    ///
    /// # Errors
    /// Why they cannot be seen.
    pub fn files_seen(&self, globs: &[String]) -> Result<BTreeMap<RelPath, String>, Unseen> {
        let globs = Globs::of(globs).map_err(|_| Unseen::Unreadable)?;
        let ignore = Ignore::of(self);
        let mut descent = Descent::of(&self.workspace);
        let device = descent.folder(&RelPath::ROOT).map_err(|e| unseen(&e))?.device();
        let (mut found, mut looked, mut waiting) = (BTreeMap::new(), 0_usize, vec![RelPath::ROOT]);
        while let Some(at) = waiting.pop() {
            let folder = match descent.folder(&at) {
                Ok(folder) if folder.device() == device => folder,
                Err(error) if at.is_root() => return Err(unseen(&error)),
                Err(error) if fails(&error) => return Err(Unseen::Unreadable),
                // It went away, is closed to us, or is another file system.
                Ok(_) | Err(_) => continue,
            };
            let (names, more) = match folder.entries(ENTRIES_MAX.saturating_sub(looked)) {
                Ok(listed) => listed,
                Err(error) if at.is_root() || is_failure(&error) => return Err(Unseen::Unreadable),
                Err(_) => continue,
            };
            looked = looked.saturating_add(names.len());
            if more {
                return Err(Unseen::TooManyFiles);
            }
            for name in names {
                let Ok(path) = at.join(&name) else { continue };
                let stat = match folder.stat(&name, &path) {
                    Ok(stat) => stat,
                    Err(error) if fails(&error) => return Err(Unseen::Unreadable),
                    Err(_) => continue,
                };
                let is_folder = stat.kind == Kind::Folder;
                if is_same(&name, b".git") || self.workspace.is_hidden(&path) {
                    continue;
                }
                if ignore.names(&path, is_folder) && !ignore.tracks(&path) {
                    continue;
                }
                if is_folder {
                    waiting.push(path);
                } else if stat.kind == Kind::File && globs.take(&path) && !globs.is_unfinished(&name) {
                    found.insert(path, stamp(&stat));
                }
            }
            if found.len() > SEEN_FILES_MAX {
                return Err(Unseen::TooManyFiles);
            }
        }
        Ok(found)
    }

    /// The file system that the folder is on.
    pub fn device_seen(&self) -> Option<String> {
        let mut descent = Descent::of(&self.workspace);
        descent.folder(&RelPath::ROOT).ok().map(|folder| folder.device().to_string())
    }

    /// The commit that a ref is at; none where there is no such ref.
    ///
    /// # Errors
    /// Why it cannot be seen.
    pub fn ref_seen(&self, name: &str) -> Result<Option<String>, Unseen> {
        self.workspace.folder(&RelPath::ROOT).map_err(|e| unseen(&e))?;
        vcs::ref_at(&self.workspace, name).map_err(|error| match error {
            Error::Request(_) => Unseen::NoRepository,
            _ => Unseen::Unreadable,
        })
    }
}

/// Its size and when it was written; and behind the last point which file it is, by which one that moved is known.
fn stamp(stat: &Stat) -> String {
    format!("{:x}.{:x}.{:x}", stat.byte_size, stat.modified_ns, stat.inode)
}

/// Whether something could not be looked at that is there all the same: were it left out, it would have landed at the next look.
fn fails(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_failure(source))
}

fn is_failure(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    !matches!(error.kind(), PermissionDenied | NotFound | NotADirectory | InvalidInput | InvalidData)
}

fn unseen(error: &Error) -> Unseen {
    match error {
        Error::Absent(_) | Error::NotAFolder(_) | Error::Root { .. } => Unseen::FolderMissing,
        _ => Unseen::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_a_program_has_not_finished_is_left_out_unless_it_is_asked_for() {
        let all = Globs::of(&[]).unwrap();
        for name in [".~lock.a.odt#", "a.pdf.part", ".a.swp", "a~", "~$a.docx", "a.crdownload"] {
            assert!(all.is_unfinished(name.as_bytes()), "{name}");
        }
        assert!(!all.is_unfinished(b"a.pdf") && !all.is_unfinished(b".env"));
        let meant = Globs::of(&["*.tmp".to_owned()]).unwrap();
        assert!(!meant.is_unfinished(b"a.tmp") && meant.is_unfinished(b"a.part"));
    }

    #[test]
    fn a_glob_with_a_slash_is_of_the_path_and_another_of_the_name() {
        let takes =
            |glob: &str, path: &str| Globs::of(&[glob.to_owned()]).unwrap().take(&path.parse().unwrap());
        assert!(takes("*.pdf", "a/b/c.pdf") && takes("*.pdf", "c.pdf") && !takes("*.pdf", "c.png"));
        assert!(takes("scans/*.pdf", "scans/c.pdf") && !takes("scans/*.pdf", "scans/x/c.pdf"));
        assert!(takes("scans/**", "scans/x/c.pdf") && !takes("scans/**", "other/c.pdf"));
        assert!(check_globs(&["a[".to_owned()]).is_err_and(|e| e.to_string().contains("no glob")));
    }

    #[test]
    fn a_folder_that_is_closed_or_gone_is_left_out_and_one_that_fails_is_not() {
        let of = |code| fails(&Error::io("opening", &RelPath::ROOT, io::Error::from(code)));
        assert!(!of(io::ErrorKind::PermissionDenied) && !of(io::ErrorKind::NotFound));
        assert!(of(io::ErrorKind::StaleNetworkFileHandle) && of(io::ErrorKind::Other));
        assert!(!fails(&Error::Absent(RelPath::ROOT)));
    }
}
