//! The label of study material: a file `STUDY` in the folder that holds it, or the folder's name `study`.
//!
//! The standard library alone: build script and chores compile this file too.

/// The file that labels the folder it lies in, with all below.
pub const MARKER: &str = "STUDY";
/// The name that labels a folder by itself.
pub const FOLDER: &str = "study";
/// Folders that a refusal names; the others are counted.
const NAMED: usize = 5;

/// The folders of study material among these files, in order; an empty one is the root itself.
pub fn labelled<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = paths.filter_map(label_of).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The folder that a file labels, or lies in, by its path.
fn label_of(path: &str) -> Option<&str> {
    let mut end = 0;
    for part in path.split('/') {
        let start = end;
        end += part.len() + 1;
        let is_file = end > path.len();
        if is_file {
            return part.eq_ignore_ascii_case(MARKER).then(|| path.get(..start.saturating_sub(1))).flatten();
        }
        if part.eq_ignore_ascii_case(FOLDER) {
            return path.get(..end - 1);
        }
    }
    None
}

/// Why a tree of these files is not built; none where nothing of it is study material.
pub fn refusal<'a>(paths: impl Iterator<Item = &'a str>) -> Option<String> {
    let found = labelled(paths);
    let named: Vec<String> = found.iter().take(NAMED).map(|folder| format!("`{folder}/`")).collect();
    let more = found.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!found.is_empty()).then(|| {
        format!(
            "{}{more} is labelled as study material, and a tree that holds such is not built: keep it in a repository of its \
             own, outside this one (CLEAN_ROOM.md)",
            named.join(", ")
        )
    })
}

/// What a label says of the material beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// What is studied.
    pub name: String,
    /// Where it came from.
    pub from: String,
    /// Its licence, as SPDX spells it.
    pub licence: String,
    /// What it is studied for.
    pub why: String,
}

impl Label {
    /// Reads the text of a marker: lines `name:`, `from:`, `licence:` and `why:`.
    ///
    /// # Errors
    /// The first of the four that it lacks, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let said = |word: &str| {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            let found = lines.filter(|(key, _)| key.trim() == word).map(|(_, value)| value.trim());
            found.filter(|value| !value.is_empty()).map(str::to_owned).next()
        };
        let must = |word: &str| said(word).ok_or_else(|| format!("the label lacks a line `{word}:`"));
        Ok(Self { name: must("name")?, from: must("from")?, licence: must("licence")?, why: must("why")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_and_a_name_label_a_folder_and_nothing_else_does() {
        let paths =
            ["a/STUDY", "a/b/x.rs", "ui/study/deep/y.ts", "study.md", "src/case_study/z.rs", "c/STUDY.rs"];
        assert_eq!(labelled(paths.into_iter()), ["a", "ui/study"]);
        assert_eq!(labelled(["STUDY"].into_iter()), [""]);
        let why = refusal(paths.into_iter()).expect("it is refused");
        assert!(why.contains("`ui/study/`") && why.contains("CLEAN_ROOM.md"), "{why}");
        assert_eq!(refusal(["src/lib.rs", "studying/a.rs"].into_iter()), None);
    }

    #[test]
    fn a_label_says_four_things() {
        let text = "name: lamp\nfrom: a fair: stand 4\nlicence: MIT\nwhy: how it folds\n";
        let label = Label::read(text).expect("whole");
        assert_eq!((label.from.as_str(), label.licence.as_str()), ("a fair: stand 4", "MIT"));
        assert!(Label::read(&text.replace("MIT", "")).is_err_and(|why| why.contains("`licence:`")));
    }
}
