//! File names as bytes, on every platform.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Whether names are held as Windows holds them.
pub(crate) const AS_WINDOWS: bool = cfg!(windows);

/// The system's form of a name's bytes. On Unix any bytes will do; elsewhere names are UTF-8 here.
#[cfg(unix)]
pub(crate) fn os_name(bytes: &[u8]) -> std::io::Result<OsString> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()))
}

/// The system's form of a name's bytes.
#[cfg(not(unix))]
pub(crate) fn os_name(bytes: &[u8]) -> std::io::Result<OsString> {
    let name = String::from_utf8(bytes.to_vec());
    let name =
        name.map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidInput, "the name is not UTF-8"))?;
    // What Windows takes for another name would be another file.
    if let Some(why) = name.split('/').find_map(super::windows_names::unheld) {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            format!("Windows cannot hold `{name}`: it {why}; give it another name"),
        ));
    }
    Ok(OsString::from(name))
}

/// A name's bytes.
#[cfg(unix)]
pub(crate) fn name_bytes(name: &std::ffi::OsStr) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec())
}

/// A name's bytes; none when it cannot be said in UTF-8.
#[cfg(not(unix))]
pub(crate) fn name_bytes(name: &std::ffi::OsStr) -> Option<Vec<u8>> {
    name.to_str().map(|name| name.as_bytes().to_vec())
}

/// The bytes of a relative path, its parts joined by `/`.
pub(crate) fn path_of(path: &Path) -> Option<Vec<u8>> {
    let parts: Option<Vec<_>> = path.iter().map(name_bytes).collect();
    Some(parts?.join(&b'/'))
}

/// The system's form of a path below `root`.
pub(crate) fn below(root: &Path, path: &[u8]) -> std::io::Result<PathBuf> {
    let mut whole = root.to_path_buf();
    for part in path.split(|b| *b == b'/').filter(|part| !part.is_empty()) {
        whole.push(os_name(part)?);
    }
    Ok(whole)
}
