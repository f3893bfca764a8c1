//! The clean room that a change of code is held to (`CLEAN_ROOM.md`, successor.md 5): what it says of its sources, whose notices stand
//! in what it adds, and whether anything in it leads out of the tree.

use ::successor::{Change, Patch, Reason, added_text};
use provenance::clean_room::statement::Statement;
use provenance::clean_room::{foreign, labels, reach};

/// Findings of one change that are told; of further ones the number is.
const FINDINGS_MAX: usize = 20;

/// What of a change does not keep to the clean room. Words, rules and models carry one line of their own for each source; the source of
/// Hermit is changed with a whole statement.
pub(super) fn check(patch: &Patch) -> Vec<Reason> {
    let Change::Code { diff, .. } = &patch.change else { return Vec::new() };
    let mut found: Vec<String> = Statement::read(&patch.sources.join("\n")).err().into_iter().collect();
    match added_text(diff) {
        Ok(files) => {
            let paths = files.iter().map(|(path, _)| path.as_str());
            found.extend(labels::refusal(paths));
            for (path, text) in &files {
                if foreign::is_taken(path) {
                    found.push(format!("`{path}` is where code of others is kept"));
                }
                let notices = foreign::notices(path, text).into_iter();
                found.extend(
                    notices.map(|notice| format!("`{path}` has a notice of somebody else: {notice}")),
                );
                let ways = reach::leaving(path, text).into_iter();
                found.extend(ways.map(|way| format!("`{path}` leads out of the tree: {way}")));
            }
        }
        Err(why) => found.push(why),
    }
    let more = found.len().saturating_sub(FINDINGS_MAX);
    found.truncate(FINDINGS_MAX);
    if more > 0 {
        found.push(format!("and {more} findings more"));
    }
    found.into_iter().map(|says| Reason { rule: "clean_room".to_owned(), says }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;

    const STATEMENT: &str = "Written-from: HV-1-4\nStudied: nothing\nCopied: nothing\nAdds: nothing";

    fn code(sources: &str, path: &str, added: &str) -> Patch {
        let sources = sources.lines().map(str::to_owned).collect();
        let diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,2 @@\n first\n+{added}\n");
        let change = Change::Code { source: Digest::of(b"source"), diff };
        Patch { says: "it is faster".to_owned(), sources, change }
    }

    fn found(patch: &Patch) -> Vec<String> {
        check(patch).into_iter().map(|reason| reason.says).collect()
    }

    #[test]
    fn a_change_of_code_is_held_to_the_clean_room() {
        let lib = "src-tauri/crates/seal/src/lib.rs";
        assert_eq!(found(&code(STATEMENT, lib, "fn more() {}")), Vec::<String>::new());
        for (sources, path, added, says) in [
            ("mine", lib, "fn more() {}", "lacks a line `Written-from:`"),
            (&STATEMENT.replace("Copied: nothing", "Copied: lamp.c"), lib, "fn more() {}", "is copied"),
            (STATEMENT, lib, concat!("// Copy", "right (c) 2020 Somebody Else"), "notice of somebody else"),
            (STATEMENT, lib, "include!(\"../../../../../lamp/fold.rs\");", "leads out of the tree"),
            (STATEMENT, "vendor/lamp/fold.rs", "fn more() {}", "code of others"),
        ] {
            let found = found(&code(sources, path, added));
            assert!(found.iter().any(|one| one.contains(says)), "{says}: {found:?}");
        }
    }
}
