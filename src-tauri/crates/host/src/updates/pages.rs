//! The pages of a release: one archive among its programs, signed by its digest as they are, and laid out beside the program that they
//! belong to. So they come and go with it. Who starts the program looks whether each file is as it was signed: a browser believes a page
//! as a person believes a program.

use super::turn;
use model::Digest;
use provenance::archive::{Archive, File};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Among the programs of a release, and beside the one that was installed.
pub(super) const PAGES: &str = "hermit-pages";
/// Beside a program: where it looks for its pages (`session.rs`).
const FOLDER: &str = "ui";
/// There, one that is being laid out.
const DRAFT: &str = "ui.part";
/// What every page begins with.
const INDEX: &str = "index.html";
/// Bytes of an archive.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How deep the folders of pages lie in each other.
const DEPTH_MAX: usize = 8;

/// Puts the pages of this digest beside a program, or takes away those that lie there where the release has none. The caller has the turn.
///
/// # Errors
/// What the disk says, and where the archive is another one, or none.
pub(super) fn install(from: &Path, signed: Option<Digest>, program: &Path) -> io::Result<()> {
    let kept = program.with_file_name(PAGES);
    let Some(signed) = signed else {
        removed(&program.with_file_name(FOLDER))?;
        return match fs::remove_file(&kept) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    };
    let bytes = read(from, signed)?;
    let archive = opened(&bytes)?;
    disk::replace(&kept, &bytes)?;
    lay_out(&archive, program)
}

/// The folder of the pages that belong to a program, each file as it was signed. One that was changed is laid out anew.
///
/// # Errors
/// What the disk says, and where the archive that is kept is another one, or another process has the turn.
pub(super) fn of(program: &Path, signed: Digest) -> io::Result<PathBuf> {
    let bytes = read(&program.with_file_name(PAGES), signed)?;
    let archive = opened(&bytes)?;
    let folder = program.with_file_name(FOLDER);
    if !is_laid_out(&archive, &folder) {
        let _turn = turn().map_err(|error| io::Error::other(error.message))?;
        // Another process may have done it until now, and shows them.
        if !is_laid_out(&archive, &folder) {
            lay_out(&archive, program)?;
        }
    }
    Ok(folder)
}

fn read(path: &Path, signed: Digest) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(BYTES_MAX).read_to_end(&mut bytes)?;
    match Digest::of(&bytes) == signed {
        true => Ok(bytes),
        false => Err(io::Error::other("its bytes are not those that were signed")),
    }
}

fn opened(bytes: &[u8]) -> io::Result<Archive<'_>> {
    let archive = Archive::read(bytes).map_err(|e| io::Error::other(e.to_string()))?;
    let is_deep = |file: &File<'_>| file.path.split('/').count() > DEPTH_MAX;
    if archive.files().iter().any(is_deep) || archive.text(INDEX).is_none() {
        return Err(io::Error::other("it holds no pages"));
    }
    Ok(archive)
}

/// Whether a folder, and no link to one, has these files, these bytes, and nothing beside.
fn is_laid_out(archive: &Archive<'_>, folder: &Path) -> bool {
    let is_same = |file: &File<'_>| {
        let at = folder.join(file.path);
        at.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == file.bytes.len() as u64)
            && fs::read(&at).is_ok_and(|bytes| bytes == file.bytes)
    };
    folder.symlink_metadata().is_ok_and(|found| found.is_dir())
        && archive.files().iter().all(is_same)
        && count(folder, 0).is_ok_and(|count| count == archive.files().len())
}

/// Files below a folder.
fn count(folder: &Path, depth: usize) -> io::Result<usize> {
    let mut found = 0_usize;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        found += match kind.is_dir() {
            true if depth < DEPTH_MAX => count(&entry.path(), depth + 1)?,
            false if kind.is_file() => 1,
            _ => return Err(io::Error::other("it holds what is no file")),
        };
    }
    Ok(found)
}

fn lay_out(archive: &Archive<'_>, program: &Path) -> io::Result<()> {
    let (folder, draft) = (program.with_file_name(FOLDER), program.with_file_name(DRAFT));
    // One that was broken off.
    removed(&draft)?;
    disk::owner_only::new_folder(&draft)?;
    for file in archive.files() {
        let at = draft.join(file.path);
        at.parent().map_or(Ok(()), fs::create_dir_all)?;
        disk::replace(&at, file.bytes)?;
    }
    removed(&folder)?;
    disk::rename(&draft, &folder)
}

fn removed(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use provenance::archive::pack;
    use std::collections::BTreeMap;

    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (false, text.as_bytes().to_vec()));
        pack(&files.iter().map(file).collect::<BTreeMap<_, _>>()).unwrap()
    }

    #[test]
    fn pages_lie_beside_their_program_as_they_were_signed_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (program, from) = (dir.path().join("hermit"), dir.path().join("from"));
        let bytes = packed(&[("assets/a.js", "1"), (INDEX, "<p>")]);
        fs::write(&from, &bytes).unwrap();
        assert!(install(&from, Some(Digest::of(b"another")), &program).is_err());
        install(&from, Some(Digest::of(&bytes)), &program).unwrap();
        let folder = program.with_file_name(FOLDER);
        assert_eq!(fs::read(folder.join("assets/a.js")).unwrap(), b"1");
        let archive = opened(&bytes).unwrap();
        assert!(is_laid_out(&archive, &folder) && !program.with_file_name(DRAFT).exists());
        assert_eq!(of(&program, Digest::of(&bytes)).unwrap(), folder);
        // A changed file, one more, and one less.
        for (path, text) in [("assets/a.js", Some("2")), ("assets/b.js", Some("1")), (INDEX, None)] {
            match text {
                Some(text) => fs::write(folder.join(path), text).unwrap(),
                None => fs::remove_file(folder.join(path)).unwrap(),
            }
            assert!(!is_laid_out(&archive, &folder), "{path}");
            lay_out(&archive, &program).unwrap();
            assert!(is_laid_out(&archive, &folder), "{path}");
        }
        fs::write(program.with_file_name(PAGES), packed(&[(INDEX, "another")])).unwrap();
        assert!(of(&program, Digest::of(&bytes)).is_err());
        // A release without pages takes none of an earlier one for its own.
        install(&from, None, &program).unwrap();
        assert!(!folder.exists() && !program.with_file_name(PAGES).exists());
        install(&from, None, &program).unwrap();
        let empty = packed(&[("a.txt", "no page")]);
        fs::write(&from, &empty).unwrap();
        assert!(install(&from, Some(Digest::of(&empty)), &program).is_err());
    }
}
