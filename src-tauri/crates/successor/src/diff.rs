//! Which files a unified diff touches. Only headers count: a line of a hunk that looks like one is a line of a hunk.
//!
//! `git apply` passes over what it does not understand, and so would find a file behind a line that was read otherwise here. So a diff
//! is headers and hunks and nothing else, and each path is named from the root as git names it.

use crate::limits::FILES_MAX;

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TouchedFile {
    /// Its path before; none where it is new.
    pub(crate) before: Option<String>,
    /// Its path after; none where it is gone.
    pub(crate) after: Option<String>,
    /// Every path that its headers name: what a later one takes back was named all the same.
    named: Vec<String>,
    /// Whether it has a hunk.
    has_hunk: bool,
    /// Lines that go.
    pub(crate) removed: Vec<String>,
    /// Lines that come.
    pub(crate) added: Vec<String>,
    /// All that the diff says of it, word for word.
    pub(crate) text: String,
}

impl TouchedFile {
    fn of(before: Option<String>, after: Option<String>) -> Self {
        let mut file = Self::default();
        file.stands(before, after);
        file
    }

    /// Takes in a line of the diff that is about it.
    fn says(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Its paths, before and after, as a header has them.
    fn stands(&mut self, before: Option<String>, after: Option<String>) {
        for path in before.iter().chain(&after) {
            if !self.named.contains(path) {
                self.named.push(path.clone());
            }
        }
        (self.before, self.after) = (before, after);
    }

    /// Its paths, before and after, and whatever else its headers name.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }
}

/// What a unified diff adds, by the path of each file that is there after it.
///
/// # Errors
/// In words, when it is none.
pub fn added_text(diff: &str) -> Result<Vec<(String, String)>, String> {
    let added = |mut file: TouchedFile| {
        let path = file.after.or_else(|| file.named.pop().filter(|_| !file.added.is_empty()))?;
        Some((path, file.added.join("\n")))
    };
    Ok(files(diff)?.into_iter().filter_map(added).collect())
}

/// The files of a diff.
///
/// # Errors
/// In words: a path that leaves the source, a hunk that is shorter than it says, a line that is none, content that is not text.
pub(crate) fn files(diff: &str) -> Result<Vec<TouchedFile>, String> {
    let mut found: Vec<TouchedFile> = Vec::new();
    let mut lines = diff.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let path = both(rest)?;
            let mut file = TouchedFile::of(path.clone(), path);
            file.says(line);
            found.push(file);
        } else if let Some(rest) = line.strip_prefix("--- ") {
            let behind = lines.next().unwrap_or_default();
            let after = behind.strip_prefix("+++ ");
            let after = after.ok_or("a `---` line of its diff has no `+++` line behind it")?;
            let (before, after) = (path(rest, "a/")?, path(after, "b/")?);
            // What git has headed already is the same file.
            let headed = found
                .last_mut()
                .filter(|last| !last.has_hunk && (last.before == before || last.after == after));
            match headed {
                Some(last) => last.stands(before, after),
                None => found.push(TouchedFile::of(before, after)),
            }
            if let Some(file) = found.last_mut() {
                file.says(line);
                file.says(behind);
            }
        } else if let Some(rest) = line.strip_prefix("@@ ") {
            let (old, new) = counts(rest).ok_or("a hunk of its diff does not say how long it is")?;
            let file = found.last_mut().ok_or("its diff begins with a hunk of no file")?;
            file.has_hunk = true;
            file.says(line);
            hunk(&mut lines, (old, new), file)?;
        } else {
            header(line, found.last_mut())?;
            if let Some(file) = found.last_mut() {
                file.says(line);
            }
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

/// A line between the head of a file and its first hunk, or behind its last one.
fn header(line: &str, file: Option<&mut TouchedFile>) -> Result<(), String> {
    const SAYS_NOTHING: [&str; 5] =
        ["index ", "similarity index ", "dissimilarity index ", "old mode ", "\\ "];
    if line.is_empty() {
        return Ok(());
    }
    let file = file.ok_or("its diff begins with a line of no file")?;
    if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
        return Err("its diff changes a file that is no text".to_owned());
    }
    if SAYS_NOTHING.iter().any(|begins| line.starts_with(begins)) {
        return Ok(());
    }
    if file.has_hunk {
        return Err("its diff has a line behind a hunk that belongs to no file".to_owned());
    }
    let rest = |begins: &[&str]| begins.iter().find_map(|begins| line.strip_prefix(begins));
    if let Some(from) = rest(&["rename from ", "copy from "]) {
        file.stands(Some(inside(from)?), file.after.clone());
    } else if let Some(to) = rest(&["rename to ", "copy to "]) {
        file.stands(file.before.clone(), Some(inside(to)?));
    } else if line.starts_with("deleted file mode ") {
        file.stands(file.before.clone(), None);
    } else if let Some(mode) = rest(&["new file mode ", "new mode "]) {
        if !matches!(mode.trim(), "100644" | "100755") {
            return Err("its diff makes a link, or what is no file of the source".to_owned());
        }
        if line.starts_with("new file mode ") {
            file.stands(None, file.after.clone());
        }
    } else {
        return Err("its diff has a line that is neither of a header nor of a hunk".to_owned());
    }
    Ok(())
}

/// The lines of a hunk, as many as it says.
fn hunk<'d>(
    lines: &mut impl Iterator<Item = &'d str>,
    (mut old, mut new): (usize, usize),
    file: &mut TouchedFile,
) -> Result<(), String> {
    while old > 0 || new > 0 {
        let line = lines.next().ok_or("a hunk of its diff is shorter than it says")?;
        file.says(line);
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
    let (old, new) = header.split_once(" @@")?.0.split_once(' ')?;
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<usize>().ok().filter(|_| is_number)
    };
    let count = |range: &str| {
        let (from, count) = range.split_once(',').unwrap_or((range, "1"));
        number(from).and_then(|_| number(count))
    };
    Some((count(old.strip_prefix('-')?)?, count(new.strip_prefix('+')?)?))
}

/// The path of a `---` or `+++` line; none for `/dev/null`.
fn path(header: &str, prefix: &str) -> Result<Option<String>, String> {
    let named = header.split('\t').next().unwrap_or_default();
    if named == "/dev/null" {
        return Ok(None);
    }
    let from_the_root = named.strip_prefix(prefix);
    let path = from_the_root.ok_or_else(|| {
        format!("the path `{}` of its diff does not begin with `{prefix}`", named.escape_debug())
    })?;
    inside(path).map(Some)
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
        || path.contains(['\\', ' '])
        || path.chars().any(char::is_control)
        || path.split('/').any(|part| matches!(part, "" | "." | ".."))
        || model::file_name::has_part(path.as_bytes(), &[".git"]);
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
                    --- a/gone.rs\t2026\n+++ /dev/null\n@@ -1 +0,0 @@\n-it\n\\ No newline at end of file\n";
        let found = files(diff).unwrap();
        let paths: Vec<Vec<&str>> = found.iter().map(|file| file.paths().collect()).collect();
        assert_eq!(paths, [vec!["src/one.rs"], vec!["old.rs", "new.rs"], vec!["gone.rs"]]);
        assert_eq!(found.first().unwrap().removed, ["-- a/tests/never.rs"]);
        // Every line is told of one file, in order.
        assert_eq!(found.iter().map(|file| file.text.as_str()).collect::<String>(), diff);
        assert!(
            found[1].text.starts_with("diff --git a/old.rs") && found[1].text.ends_with("rename to new.rs\n")
        );
        assert_eq!(found.last().unwrap().after, None);
    }

    #[test]
    fn what_a_header_takes_back_was_named() {
        let hidden = "diff --git a/tests/a.rs b/docs/a.md\nrename from tests/a.rs\nrename to docs/a.md\n\n\
                      new file mode 100644\n";
        let found = files(hidden).unwrap();
        assert_eq!(found.first().unwrap().paths().collect::<Vec<_>>(), ["tests/a.rs", "docs/a.md"]);
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
            // Git takes off whatever stands before the first `/`, and a time behind a path.
            "--- z/x\n+++ z/x\n@@ -1 +1 @@\n-a\n+b\n",
            "--- a/x 2026-01-01 00:00:00 +0000\n+++ b/x 2026-01-01 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n",
            // For git these are a hunk that is none, and then the head of another file.
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n@@ -n +n @@\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nno header\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndeleted file mode 100644\n",
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n",
        ] {
            assert!(files(diff).is_err(), "{diff}");
        }
    }
}
