//! Small files are written by the room `disk` and nobody else: whoever writes and renames by hand forgets a sync.

use super::syntax::code_words;
use super::tree::sources;

/// Who gives a file a new name for another reason than to write it whole, and which.
const OTHERWISE: [(&str, &str); 7] = [
    ("src-tauri/crates/disk/src/lib.rs", "the writer itself"),
    ("src-tauri/crates/artifacts/src/write.rs", "each of its steps is a crash point of its own"),
    ("src-tauri/crates/effects/src/command/removal.rs", "a folder that goes is moved up before it does"),
    ("src-tauri/crates/effects/src/system/folder_moves.rs", "files of a person, beneath an open folder"),
    ("src-tauri/crates/host/src/successor/base.rs", "a folder that was built is there whole or not at all"),
    ("src-tauri/crates/host/src/logs.rs", "yesterday's log, which may be lost"),
    ("src-tauri/crates/runstream/src/schema.rs", "a damaged stream is set aside"),
];

fn renames(text: &str) -> bool {
    let words = format!(" {} ", code_words(text));
    [" fs :: rename ", " renameat ", " renameat_with ", " . persist "].iter().any(|said| words.contains(said))
}

#[test]
fn nobody_but_one_room_writes_a_file_beside_and_renames_it() {
    let of_rooms = |path: &str| path.starts_with("src-tauri/") && path.contains("/src/");
    let found: Vec<&str> = sources()
        .iter()
        .filter(|s| s.is_rust() && of_rooms(&s.path) && renames(&s.text))
        .map(|s| s.path.as_str())
        .filter(|path| OTHERWISE.iter().all(|(known, _)| known != path))
        .collect();
    assert!(found.is_empty(), "use `disk::replace` or `disk::Draft` in {}", found.join(", "));
    for (path, _) in OTHERWISE {
        assert!(
            sources().iter().any(|s| s.path == path && renames(&s.text)),
            "{path} renames nothing any more"
        );
    }
}

#[test]
fn a_rename_is_found_however_it_is_called() {
    assert!(renames("fn f() { std::fs::rename(a, b)?; }") && renames("fn f() { file.persist(path)?; }"));
    assert!(!renames("// fs::rename\nfn f() { disk::rename(a, b) }"));
}
