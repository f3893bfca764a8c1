//! Makes the folder of a release: the same programs, source and log give the same bytes.

use super::locks::{self, packages};
use super::log::{Log, hold};
use super::statement::{Lockfile, MadeOf, Statement};
use super::{
    BOM, FILES_MAX, LICENCES, LOCKS, LOG, PROGRAMS, PROOF, STATEMENT, TEXT_BYTES_MAX, TEXTS, bom, folder,
};
use crate::Error;
use seal::dsse::{self, IN_TOTO};
use seal::{Digest, Signer, canon};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Where the source says under which licence each crate is.
const KNOWN_LICENCES: &str = "tests/house/licences.tsv";

/// What a release is made from.
#[derive(Debug, Clone)]
pub struct ReleaseParts<'a> {
    /// What was built, of what, and by what.
    pub made_of: MadeOf,
    /// What came out: programs and packages, each under its own name.
    pub programs: &'a [PathBuf],
    /// The source, for its lock files and the licences of crates.
    pub root: &'a Path,
    /// The folder that keeps the log of releases; it is made where it is not there yet.
    pub log: &'a Path,
    /// The licence texts of what is in the programs, where they were gathered.
    pub texts: Option<&'a Path>,
}

/// Makes a release in a folder that is not there yet, and says which number it has in the log, from 0.
///
/// # Errors
/// [`Error::Exists`] when the folder is there, [`Error::Given`] for parts that no release may have, or a log that was changed or
/// that another release is being made with, [`Error::Io`] when the disk fails, [`Error::Signing`] when the key does not sign.
pub fn make_release(parts: &ReleaseParts<'_>, key: &dyn Signer, out: &Path) -> Result<u64, Error> {
    parts.made_of.check().map_err(refused)?;
    // From the leaves that are read to the head that is signed nobody else may append.
    let _held = hold(parts.log)?;
    let mut log = Log::kept(parts.log, &key.public())?;
    if fs::symlink_metadata(out).is_ok() {
        return Err(Error::Exists { path: out.display().to_string() });
    }
    fs::create_dir_all(out).map_err(|e| Error::io("make", out, &e))?;
    let mut files = BTreeMap::new();
    copy_programs(parts.programs, out, &mut files)?;
    let lockfiles = list_components(parts, out, &mut files)?;
    let statement = Statement::new(&files, parts.made_of.clone(), lockfiles);
    statement.files().map_err(refused)?;
    let payload = canon::to_canonical(&statement).map_err(Error::inconsistent)?;
    let envelope = dsse::sign(IN_TOTO, &payload, key).map_err(Error::Signing)?;
    let envelope = envelope.to_bytes().map_err(Error::inconsistent)?;
    written(out, STATEMENT, &envelope)?;
    let proof = log.append(&envelope, parts.log, key)?;
    written(out, LOG, log.to_text().as_bytes())?;
    written(out, PROOF, proof.to_text().as_bytes())?;
    Ok(proof.index)
}

fn refused(why: String) -> Error {
    Error::Given { what: "parts of the release", why }
}

/// Files of the release with their digest and bytes.
type Files = BTreeMap<String, (Digest, u64)>;

fn copy_programs(programs: &[PathBuf], out: &Path, files: &mut Files) -> Result<(), Error> {
    if programs.is_empty() || programs.len() > FILES_MAX / 2 {
        return Err(refused("there is no program among them, or there are too many".to_owned()));
    }
    let folder = out.join(PROGRAMS);
    fs::create_dir_all(&folder).map_err(|e| Error::io("make", &folder, &e))?;
    for program in programs {
        let name = program.file_name().and_then(|name| name.to_str()).filter(|name| folder::is_plain(name));
        let name =
            name.ok_or_else(|| refused(format!("`{}` is not the name of a program", program.display())))?;
        let to = folder.join(name);
        fs::copy(program, &to).map_err(|e| Error::io("copy", program, &e))?;
        // What lies in the release now is what is signed.
        let read = File::open(&to).and_then(disk::digest);
        let read = read.map_err(|e| Error::io("read", &to, &e))?;
        if files.insert(format!("{PROGRAMS}{name}"), read).is_some() {
            return Err(refused(format!("two programs have the name `{name}`")));
        }
    }
    Ok(())
}

/// Puts lock files, the list of components and that of licences into the release.
fn list_components(parts: &ReleaseParts<'_>, out: &Path, files: &mut Files) -> Result<Vec<Lockfile>, Error> {
    let mut add = |name: String, bytes: &[u8]| -> Result<(), Error> {
        written(out, &name, bytes)?;
        files.insert(name, (Digest::of(bytes), bytes.len() as u64));
        Ok(())
    };
    let (mut lockfiles, mut read) = (Vec::new(), Vec::new());
    for path in locks::PATHS {
        let bytes = source(parts.root, path)?;
        let named = packages(path, &bytes).map_err(|why| refused(format!("`{path}`: {why}")))?;
        let (sha256, components) = (Digest::of(&bytes), named.len() as u64);
        add(format!("{LOCKS}{path}"), &bytes)?;
        lockfiles.push(Lockfile { path: path.to_owned(), sha256, components });
        read.push((path.to_owned(), sha256, named));
    }
    let licences = known_licences(&source(parts.root, KNOWN_LICENCES)?);
    let list = bom::made(&parts.made_of, &read, &licences).map_err(Error::inconsistent)?;
    add(BOM.to_owned(), &list)?;
    add(LICENCES.to_owned(), bom::licences_text(&read, &licences).as_bytes())?;
    if let Some(path) = parts.texts {
        let bytes = fs::read(path).map_err(|e| Error::io("read", path, &e))?;
        if bytes.is_empty() || bytes.len() as u64 > TEXT_BYTES_MAX {
            return Err(refused(format!("`{}` has {} bytes", path.display(), bytes.len())));
        }
        add(TEXTS.to_owned(), &bytes)?;
    }
    Ok(lockfiles)
}

fn source(root: &Path, path: &str) -> Result<Vec<u8>, Error> {
    let place = root.join(path);
    fs::read(&place).map_err(|e| Error::io("read", &place, &e))
}

/// Licences of crates by name: two columns.
fn known_licences(bytes: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, said)| (name.to_owned(), said.to_owned()))
        .collect()
}

fn written(out: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = out.join(name);
    let write = || -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, bytes)
    };
    write().map_err(|e| Error::io("write", &path, &e))
}
