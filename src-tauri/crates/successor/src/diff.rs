//! Which files a unified diff touches. Only headers count: a line of a hunk that looks like one is a line of a hunk.

use crate::limits::FILES_MAX;

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TouchedFile {
    /// Its path before; none where it is new.
    pub(crate) before: Option<String>,
    /// Its path after; none where it is gone.
    pub(crate) after: Option<String>,
    /// Lines that go.
    pub(crate) removed: Vec<String>,
    /// Lines that come.
    pub(crate) added: Vec<String>,
}

impl TouchedFile {
    /// Its paths, before and after.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        let after = self.after.as_deref().filter(|after| self.before.as_deref() != Some(*after));
        self.before.as_deref().into_iter().chain(after)
    }
}

/// What a unified diff adds, by the path of each file that is there after it.
///
/// # Errors
/// In words, when it is none.
pub fn added_text(diff: &str) -> Result<Vec<(String, String)>, String> {
    let added = |file: TouchedFile| Some((file.after?, file.added.join("\n")));
    Ok(files(diff)?.into_iter().filter_map(added).collect())
}

/// The files of a diff.
///
/// # Errors
/// In words: a path that leaves the source, a hunk that is shorter than it says, content that is not text.
pub(crate) fn files(diff: &str) -> Result<Vec<TouchedFile>, String> {
    let mut found: Vec<TouchedFile> = Vec::new();
    let mut lines = diff.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let path = both(rest)?;
            found.push(TouchedFile { before: path.clone(), after: path, ..TouchedFile::default() });
        } else if let Some(rest) = line.strip_prefix("--- ") {
            let after = lines.next().and_then(|line| line.strip_prefix("+++ "));
            let after = after.ok_or("a `---` line of its diff has no `+++` line behind it")?;
            let (before, after) = (path(rest, "a/")?, path(after, "b/")?);
            // What git has headed already is the same file.
            let headed = found.last_mut().filter(|last| {
                last.removed.is_empty()
                    && last.added.is_empty()
                    && (last.before == before || last.after == after)
            });
            match headed {
                Some(last) => (last.before, last.after) = (before, after),
                None => found.push(TouchedFile { before, after, ..TouchedFile::default() }),
            }
        } else if let Some(rest) = line.strip_prefix("@@ ") {
            let (old, new) = counts(rest).ok_or("a hunk of its diff does not say how long it is")?;
            let file = found.last_mut().ok_or("its diff begins with a hunk of no file")?;
            hunk(&mut lines, (old, new), file)?;
        } else if let Some(rest) =
            line.strip_prefix("rename from ").or_else(|| line.strip_prefix("copy from "))
        {
            let file = found.last_mut().ok_or("its diff renames before it names a file")?;
            file.before = Some(inside(rest)?);
        } else if let Some(rest) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            let file = found.last_mut().ok_or("its diff renames before it names a file")?;
            file.after = Some(inside(rest)?);
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err("its diff changes a file that is no text".to_owned());
        } else if line.starts_with("deleted file mode")
            && let Some(file) = found.last_mut()
        {
            file.after = None;
        } else if line.starts_with("new file mode")
            && let Some(file) = found.last_mut()
        {
            file.before = None;
        }
        if found.len() > FILES_MAX {
            return Err(format!("its diff touches more than {FILES_MAX} files"));
        }
    }
    if found.iter().any(|file| file.before.is_none() && file.after.is_none()) {
        return Err("its diff touches a file that is neither there before nor after".to_owned());
    }
    Ok(found)
}

/// The lines of a hunk, as many as it says.
fn hunk<'d>(
    lines: &mut impl Iterator<Item = &'d str>,
    (mut old, mut new): (usize, usize),
    file: &mut TouchedFile,
) -> Result<(), String> {
    while old > 0 || new > 0 {
        let line = lines.next().ok_or("a hunk of its diff is shorter than it says")?;
        let short = || "a hunk of its diff is longer than it says".to_owned();
        if let Some(gone) = line.strip_prefix('-') {
            old = old.checked_sub(1).ok_or_else(short)?;
            file.removed.push(gone.to_owned());
        } else if let Some(come) = line.strip_prefix('+') {
            new = new.checked_sub(1).ok_or_else(short)?;
            file.added.push(come.to_owned());
        } else if line.is_empty() || line.starts_with(' ') {
            old = old.checked_sub(1).ok_or_else(short)?;
            new = new.checked_sub(1).ok_or_else(short)?;
        } else if !line.starts_with('\\') {
            return Err("a hunk of its diff has a line that is none".to_owned());
        }
    }
    Ok(())
}

/// `-1,3 +1,4 @@`: how many lines there are before and after.
fn counts(header: &str) -> Option<(usize, usize)> {
    let mut words = header.split(' ');
    let old = words.next()?.strip_prefix('-')?;
    let new = words.next()?.strip_prefix('+')?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

/// The path of a `---` or `+++` line; none for `/dev/null`.
fn path(header: &str, prefix: &str) -> Result<Option<String>, String> {
    let named = header.split('\t').next().unwrap_or_default();
    if named == "/dev/null" {
        return Ok(None);
    }
    inside(named.strip_prefix(prefix).unwrap_or(named)).map(Some)
}

/// The path of `a/PATH b/PATH`, where both are the same; what differs is said by the lines below.
fn both(header: &str) -> Result<Option<String>, String> {
    let half = header.len().saturating_sub(1) / 2;
    let (Some(before), Some(after)) = (header.get(..half), header.get(half + 1..)) else { return Ok(None) };
    match (before.strip_prefix("a/"), after.strip_prefix("b/")) {
        (Some(before), Some(after)) if before == after => inside(before).map(Some),
        _ => Ok(None),
    }
}

/// A path from the root of the source, which it does not leave.
fn inside(path: &str) -> Result<String, String> {
    let unfit = path.is_empty()
        || path.starts_with(['/', '"'])
        || path.contains('\\')
        || path.chars().any(char::is_control)
        || path.split('/').any(|part| matches!(part, "" | "." | ".." | ".git"));
    if unfit {
        return Err(format!("the path `{}` of its diff is not one below the source", path.escape_debug()));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]
    use super::files;

    #[test]
    fn only_headers_name_files() {
        let diff = "diff --git a/src/one.rs b/src/one.rs\nindex 1..2 100644\n--- a/src/one.rs\n+++ b/src/one.rs\n\
                    @@ -1,2 +1,2 @@\n--- a/tests/never.rs\n+++ b/tests/never.rs\n same\n\
                    diff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n\
                    --- a/gone.rs\t2026\n+++ /dev/null\n@@ -1 +0,0 @@\n-it\n";
        let found = files(diff).unwrap();
        let paths: Vec<Vec<&str>> = found.iter().map(|file| file.paths().collect()).collect();
        assert_eq!(paths, [vec!["src/one.rs"], vec!["old.rs", "new.rs"], vec!["gone.rs"]]);
        assert_eq!(found.first().unwrap().removed, ["-- a/tests/never.rs"]);
        assert_eq!(found.last().unwrap().after, None);
    }

    #[test]
    fn what_leaves_the_source_or_is_cut_is_refused() {
        for diff in [
            "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
            "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
            "--- a/x\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n",
            "--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n-a\n+b\n",
            "--- a/x\n",
            "@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/x\nGIT binary patch\n",
            "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert!(files(diff).is_err(), "{diff}");
        }
    }
}
