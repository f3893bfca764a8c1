//! The source of a version as one stream of bytes: files by path, in order, without times or owners.
//!
//! A line `F`, the mode (`644` or `755`), the length and the path stands before the bytes of each file, and a line break
//! behind them. This file uses the standard library alone: the build script of `source` compiles it too.

use std::collections::BTreeMap;
use std::fmt;

/// How an archive begins.
pub const HEAD: &str = "hermit-source 1\n";
/// Bytes of one archive: many times what Hermit has, and little enough to hold in memory twice.
pub const ARCHIVE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Files of one archive.
const FILES_MAX: usize = 100_000;
/// Bytes of a path in it.
const PATH_BYTES_MAX: usize = 512;
/// Bytes of the line before a file.
const LINE_BYTES_MAX: usize = PATH_BYTES_MAX + 32;

/// Files by path, each with whether it may be executed, and its bytes.
pub type Files = BTreeMap<String, (bool, Vec<u8>)>;

/// One file of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// From the root, with forward slashes.
    pub path: &'a str,
    /// Whether it may be executed.
    pub executable: bool,
    /// All of it.
    pub bytes: &'a [u8],
}

/// Why a stream is no archive, or files cannot become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// An archive that was read, over the bytes of its stream.
#[derive(Debug, Clone)]
pub struct Archive<'a> {
    files: Vec<File<'a>>,
}

impl<'a> Archive<'a> {
    /// Reads a whole stream.
    ///
    /// # Errors
    /// When it is not exactly what [`pack`] writes.
    pub fn read(stream: &'a [u8]) -> Result<Self, Malformed> {
        if stream.len() > ARCHIVE_BYTES_MAX {
            return Err(Malformed(format!("the archive has more than {ARCHIVE_BYTES_MAX} bytes")));
        }
        let head = || Malformed("this is no archive of Hermit's source".to_owned());
        let mut rest = stream.strip_prefix(HEAD.as_bytes()).ok_or_else(head)?;
        let mut files: Vec<File<'a>> = Vec::new();
        while !rest.is_empty() {
            let (file, behind) = entry(rest)
                .ok_or_else(|| Malformed(format!("entry {} of the archive is malformed", files.len())))?;
            if files.last().is_some_and(|last| last.path >= file.path) || files.len() >= FILES_MAX {
                return Err(Malformed(format!("`{}` stands where it may not", file.path)));
            }
            files.push(file);
            rest = behind;
        }
        Ok(Self { files })
    }

    /// Every file, by path.
    pub fn files(&self) -> &[File<'a>] {
        &self.files
    }

    /// The text of a file; none where there is none, or it is no text.
    pub fn text(&self, path: &str) -> Option<&'a str> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        std::str::from_utf8(self.files.get(at)?.bytes).ok()
    }
}

/// The file that a stream begins with, and what is behind it.
fn entry(stream: &[u8]) -> Option<(File<'_>, &[u8])> {
    let end = stream.iter().take(LINE_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let (line, after) = stream.split_at_checked(end)?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("F ")?;
    let (mode, line) = line.split_once(' ')?;
    let (length, path) = line.split_once(' ')?;
    let executable = match mode {
        "644" => false,
        "755" => true,
        _ => return None,
    };
    // One spelling of a number alone: two archives of the same files are the same bytes.
    let size: usize = length.parse().ok().filter(|size: &usize| size.to_string() == length)?;
    let (bytes, behind) = after.strip_prefix(b"\n")?.split_at_checked(size)?;
    is_plain(path).then_some((File { path, executable, bytes }, behind.strip_prefix(b"\n")?))
}

/// Whether a path stays in its folder on every system, and is no place of version control.
fn is_plain(path: &str) -> bool {
    let fits = !path.is_empty() && path.len() <= PATH_BYTES_MAX;
    let odd = |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    // A system that drops dots and blanks behind a name would make `..` or `.git` of some.
    let stays =
        |part: &str| !part.is_empty() && !part.ends_with(['.', ' ']) && !part.eq_ignore_ascii_case(".git");
    fits && !path.contains(odd) && path.split('/').all(stays)
}

/// The stream of these files.
///
/// # Errors
/// When a path leads out of its folder or is none of every system, or it is more than an archive may hold.
pub fn pack(files: &Files) -> Result<Vec<u8>, Malformed> {
    let mut stream = HEAD.as_bytes().to_vec();
    for (path, (executable, bytes)) in files {
        if !is_plain(path) {
            return Err(Malformed(format!("`{path}` is no path that every system has")));
        }
        let mode = if *executable { "755" } else { "644" };
        stream.extend_from_slice(format!("F {mode} {} {path}\n", bytes.len()).as_bytes());
        stream.extend_from_slice(bytes);
        stream.push(b'\n');
    }
    if files.len() > FILES_MAX || stream.len() > ARCHIVE_BYTES_MAX {
        return Err(Malformed("these are more files, or larger ones, than an archive holds".to_owned()));
    }
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(of: &[(&str, bool, &str)]) -> Files {
        of.iter()
            .map(|(path, executable, text)| ((*path).to_owned(), (*executable, text.as_bytes().to_vec())))
            .collect()
    }

    #[test]
    fn the_same_files_give_the_same_stream_and_come_back_as_they_went() {
        let one = files(&[("b/run", true, "#!\n"), ("a", false, "F 644 1 x\n"), ("c", false, "")]);
        let other = files(&[("c", false, ""), ("a", false, "F 644 1 x\n"), ("b/run", true, "#!\n")]);
        let stream = pack(&one).expect("it fits");
        assert_eq!(stream, pack(&other).expect("it fits"));
        let read = Archive::read(&stream).expect("an archive");
        let paths: Vec<(&str, bool, usize)> =
            read.files().iter().map(|file| (file.path, file.executable, file.bytes.len())).collect();
        assert_eq!(paths, [("a", false, 10), ("b/run", true, 3), ("c", false, 0)]);
        assert_eq!((read.text("a"), read.text("d")), (Some("F 644 1 x\n"), None));
    }

    #[test]
    fn an_archive_that_leads_out_or_is_not_as_it_is_written_is_refused_whole() {
        for path in [
            "../a",
            "/a",
            "a/../b",
            "a//b",
            "a\\b",
            "c:a",
            ".git/hooks/x",
            "a/.GIT/x",
            "",
            "a\nb",
            ".. /a",
            "a/.git./x",
        ] {
            assert!(pack(&files(&[(path, false, "")])).is_err(), "{path}");
            let stream = format!("{HEAD}F 644 0 {path}\n\n");
            assert!(Archive::read(stream.as_bytes()).is_err(), "{path}");
        }
        let whole = pack(&files(&[("a", false, "one"), ("b", false, "two")])).expect("it fits");
        for cut in HEAD.len() + 1..whole.len() {
            let broken = Archive::read(&whole[..cut]);
            // At the end of the first file the archive is another, and whole.
            assert!(broken.is_err() || broken.is_ok_and(|read| read.files().len() == 1), "cut at {cut}");
        }
        for text in [
            "F 644 0 b\n\nF 644 0 a\n\n",
            "F 644 0 a\n\nF 644 0 a\n\n",
            "F 777 0 a\n\n",
            "F 644 00 a\n\n",
            "F 644 1 a\n\n",
            "F 644 18446744073709551615 a\n\n",
        ] {
            assert!(Archive::read(format!("{HEAD}{text}").as_bytes()).is_err(), "{text}");
        }
        assert!(Archive::read(b"").is_err());
    }
}
