//! What changed between two looks at what a schedule waits for (schedule.md 1, HV-3.5-1).

use model::RelPath;
use model::schedule::{CHANGES_TOLD_MAX, ChangedFile, FileChange, FileChanges, RunEnd, SeenChange};
use model::task::TaskStatus;
use std::collections::BTreeMap;

/// Files by their path, each with its stamp: behind its last point stands which file it is, before that how it was written.
pub type Files = BTreeMap<RelPath, String>;

/// The changes of files that a schedule waits for, by path. `is_own`: whether what is at a path was left there by a run of the
/// schedule itself, which is no reason for another one.
pub fn files_changed(
    before: &Files,
    now: &Files,
    which: FileChanges,
    is_own: impl Fn(&RelPath) -> bool,
) -> Vec<ChangedFile> {
    let mut gone: BTreeMap<&str, &RelPath> = BTreeMap::new();
    let left = before.iter().filter(|(path, _)| !now.contains_key(*path));
    gone.extend(left.map(|(path, stamp)| (stamp.as_str(), path)));
    let mut all: Vec<ChangedFile> = Vec::new();
    let mut moved: Vec<&RelPath> = Vec::new();
    for (path, stamp) in now {
        let change = match before.get(path) {
            Some(was) if written(was) == written(stamp) => continue,
            Some(_) => (FileChange::Written, None),
            None => match gone.remove(stamp.as_str()) {
                Some(from) => {
                    moved.push(from);
                    (FileChange::Moved, Some(from.clone()))
                }
                None => (FileChange::Landed, None),
            },
        };
        all.push(ChangedFile { path: path.clone(), change: change.0, from: change.1 });
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path) && !moved.contains(path));
    all.extend(gone.map(|path| ChangedFile { path: path.clone(), change: FileChange::Gone, from: None }));
    let is_meant = |change: FileChange| match which {
        FileChanges::Landed => change == FileChange::Landed,
        FileChanges::Changed => change != FileChange::Gone,
        FileChanges::Any => true,
    };
    all.retain(|one| is_meant(one.change) && !is_own(&one.path));
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// How a file was written, of its stamp.
fn written(stamp: &str) -> &str {
    stamp.rsplit_once('.').map_or(stamp, |(written, _)| written)
}

/// Those changes as a task is told of them; none where there are none.
pub fn told(mut files: Vec<ChangedFile>) -> Option<SeenChange> {
    let more = files.len().saturating_sub(CHANGES_TOLD_MAX) as u64;
    files.truncate(CHANGES_TOLD_MAX);
    (!files.is_empty()).then_some(SeenChange::Files { files, more })
}

/// Of two looks what stayed the same from the first to the second; what did not is as it was before both.
pub fn steady(before: &Files, first: &Files, second: &Files) -> Files {
    let paths = before.keys().chain(second.keys()).chain(first.keys());
    let stands = |path: &RelPath| {
        let is_steady = first.get(path) == second.get(path);
        let stamp = if is_steady { second.get(path) } else { before.get(path) };
        stamp.map(|stamp| (path.clone(), stamp.clone()))
    };
    paths.filter_map(stands).collect()
}

/// Whether a run ended as a schedule waits for.
pub const fn ended_so(end: RunEnd, status: TaskStatus) -> bool {
    match end {
        RunEnd::Done => matches!(status, TaskStatus::Completed),
        RunEnd::Failed => matches!(status, TaskStatus::Failed),
        RunEnd::Either => status.is_terminal(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn files(all: &[(&str, &str)]) -> Files {
        all.iter().map(|(path, stamp)| (path.parse().unwrap(), (*stamp).to_owned())).collect()
    }

    fn changed(
        before: &[(&str, &str)],
        now: &[(&str, &str)],
        which: FileChanges,
    ) -> Vec<(String, FileChange)> {
        let all = files_changed(&files(before), &files(now), which, |_| false);
        all.into_iter().map(|one| (one.path.to_string(), one.change)).collect()
    }

    #[test]
    fn a_move_is_a_move_and_neither_a_file_that_is_gone_nor_one_that_landed() {
        let (before, now) = ([("a", "1.1.7"), ("b", "1.1.8")], [("b", "1.1.8"), ("x/a", "1.1.7")]);
        assert_eq!(changed(&before, &now, FileChanges::Any), [("x/a".to_owned(), FileChange::Moved)]);
        assert_eq!(changed(&before, &now, FileChanges::Landed), []);
        let all = files_changed(&files(&before), &files(&now), FileChanges::Changed, |_| false);
        assert_eq!(all[0].from.as_ref().unwrap().to_string(), "a");
        // Written on the way it is another file.
        let now = [("b", "1.1.8"), ("x/a", "2.1.7")];
        let both = [("a".to_owned(), FileChange::Gone), ("x/a".to_owned(), FileChange::Landed)];
        assert_eq!(changed(&before, &now, FileChanges::Any), both);
    }

    #[test]
    fn an_editor_that_saves_by_renaming_has_written_and_a_file_of_the_same_bytes_elsewhere_on_disk_has_not() {
        assert_eq!(
            changed(&[("a", "1.1.7")], &[("a", "2.5.9")], FileChanges::Changed),
            [("a".to_owned(), FileChange::Written)]
        );
        assert_eq!(changed(&[("a", "1.1.7")], &[("a", "1.1.9")], FileChanges::Any), []);
    }

    #[test]
    fn each_choice_takes_what_it_says_and_what_the_schedule_did_itself_is_left_out() {
        let (before, now) = ([("gone", "1.1.1"), ("kept", "1.1.2")], [("kept", "2.1.2"), ("new", "1.1.3")]);
        let names = |which| {
            changed(&before, &now, which).into_iter().map(|(path, _)| path).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(FileChanges::Landed), "new");
        assert_eq!(names(FileChanges::Changed), "kept new");
        assert_eq!(names(FileChanges::Any), "gone kept new");
        let own = |path: &RelPath| path.to_string() == "new";
        assert_eq!(files_changed(&files(&before), &files(&now), FileChanges::Landed, own), []);
    }

    #[test]
    fn a_task_is_told_two_hundred_names_and_how_many_more_there_are() {
        let one = |n: usize| ChangedFile {
            path: format!("{n:04}").parse().unwrap(),
            change: FileChange::Landed,
            from: None,
        };
        let Some(SeenChange::Files { files, more }) = told((0..203).map(one).collect()) else {
            panic!("files")
        };
        assert_eq!((files.len(), more), (CHANGES_TOLD_MAX, 3));
        assert_eq!(told(Vec::new()), None);
    }

    #[test]
    fn of_two_looks_what_still_changes_is_as_it_was() {
        let before = files(&[("log", "1.1.1"), ("gone", "1.1.4")]);
        let first = files(&[("log", "2.2.1"), ("new", "1.1.2"), ("grows", "1.1.3")]);
        let second = files(&[("log", "3.3.1"), ("new", "1.1.2"), ("grows", "2.2.3")]);
        assert_eq!(steady(&before, &first, &second), files(&[("log", "1.1.1"), ("new", "1.1.2")]));
    }

    #[test]
    fn an_end_is_one_that_was_waited_for() {
        use TaskStatus as S;
        let of =
            |end| [S::Completed, S::Failed, S::Cancelled, S::Running].map(|status| ended_so(end, status));
        assert_eq!(of(RunEnd::Done), [true, false, false, false]);
        assert_eq!(of(RunEnd::Failed), [false, true, false, false]);
        assert_eq!(of(RunEnd::Either), [true, true, true, false]);
    }
}
