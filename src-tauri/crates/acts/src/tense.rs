//! The title of an act as what is being done, and as what was done.

/// The verbs that titles of acts begin with: as what is to be done, is being done, and was done.
pub const VERBS: [(&str, &str, &str); 26] = [
    ("read ", "Reading ", "Read "),
    ("list ", "Listing ", "Listed "),
    ("look at ", "Looking at ", "Looked at "),
    ("search ", "Searching ", "Searched "),
    ("hash ", "Hashing ", "Hashed "),
    ("create ", "Creating ", "Created "),
    ("overwrite ", "Overwriting ", "Overwrote "),
    ("replace ", "Replacing ", "Replaced "),
    ("edit ", "Editing ", "Edited "),
    ("delete ", "Deleting ", "Deleted "),
    ("remove ", "Removing ", "Removed "),
    ("move ", "Moving ", "Moved "),
    ("run ", "Running ", "Ran "),
    ("fetch ", "Fetching ", "Fetched "),
    ("send ", "Sending ", "Sent "),
    ("make ", "Making ", "Made "),
    ("commit ", "Committing ", "Committed "),
    ("remember ", "Remembering ", "Remembered "),
    ("undo ", "Undoing ", "Undid "),
    ("change ", "Changing ", "Changed "),
    ("restore ", "Restoring ", "Restored "),
    ("call ", "Calling ", "Called "),
    ("register ", "Registering ", "Registered "),
    ("classify ", "Classifying ", "Classified "),
    ("try ", "Trying ", "Tried "),
    ("leave ", "Leaving ", "Left "),
];

/// `read "notes.md"` as what is being done: `Reading "notes.md"`.
pub fn doing(title: &str) -> String {
    in_words(title, |(_, doing, _)| doing)
}

/// `read "notes.md"` as what was done: `Read "notes.md"`.
pub fn done(title: &str) -> String {
    in_words(title, |(_, _, done)| done)
}

fn in_words(
    title: &str,
    word: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str,
) -> String {
    // What an undo does stands behind a colon, and a list of it behind commas.
    let mut out = String::with_capacity(title.len() + 8);
    for part in title.split_inclusive([',', ':']) {
        let inner = part.trim_start();
        let known = VERBS.iter().find_map(|verb| inner.strip_prefix(verb.0).map(|rest| (word(verb), rest)));
        out.push_str(part.get(..part.len() - inner.len()).unwrap_or_default());
        match known {
            Some((word, rest)) => {
                out.push_str(&word.to_lowercase());
                out.push_str(rest);
            }
            None => out.push_str(inner),
        }
    }
    let mut letters = out.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_said_in_words() {
        assert_eq!(doing("read \"notes/meeting 1.md\""), "Reading \"notes/meeting 1.md\"");
        assert_eq!(doing("delete 1 file, overwrite 2 files"), "Deleting 1 file, overwriting 2 files");
        assert_eq!(done("move 79 files"), "Moved 79 files");
        let wide = format!("move {}, delete 1 folder", crate::count(1_500, "file"));
        assert_eq!(done(&wide), "Moved 1,500 files, deleted 1 folder");
        assert_eq!(
            done("undo 1 receipt: delete 1 folder, move 3 files"),
            "Undid 1 receipt: deleted 1 folder, moved 3 files"
        );
        assert_eq!(
            done("undo 1 receipt: move 1 file, leave 3 places"),
            "Undid 1 receipt: moved 1 file, left 3 places"
        );
        assert_eq!(doing("\"ls\""), "\"ls\"");
        assert_eq!(done(""), "");
    }
}
