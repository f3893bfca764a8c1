//! What a change of version control is told where no shell is (`exec/src/versioned.rs`): words in a file, since a line of Windows holds
//! fewer, and the bytes of each file beside it, compared with those that a person was shown.

use crate::command::run::digest_file;
use crate::command::view::View;
use crate::system::walls::{persons_git, plain};
use crate::{Error, Executors, Workspace};
use acts::{Action, ActionRequest};
use model::vcs::Tracked;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Its folder, in the private one of the command.
const FOLDER: &str = "hermit-git";
/// The file of its words there.
const WORDS: &str = "words";

/// Lays words and bytes into the private folder of the view, which may read this program from now on; the words that start it.
///
/// # Errors
/// [`Error::Request`] where a file is another than was looked at; [`Error::Spool`] where the disk takes no more.
pub(super) fn lay(
    executors: &Executors,
    request: &ActionRequest,
    exec: &Path,
    view: &mut View,
) -> Result<Vec<String>, Error> {
    let at = plain(view.private.join(FOLDER));
    std::fs::create_dir_all(&at).map_err(fail)?;
    let files = match &request.action {
        Action::Vcs(acts::Vcs { change }) => change.files(),
        _ => &[],
    };
    let words = told(super::head(request), files);
    for (number, file) in files.iter().enumerate().filter(|(_, file)| file.sha256.is_some()) {
        copy(&executors.workspace, file, &at.join(number.to_string()))?;
    }
    std::fs::write(at.join(WORDS), words.join("\0")).map_err(fail)?;
    view.reads.push(exec.to_path_buf());
    // It reads attributes in the folder, and changes the repository alone.
    view.read_only = true;
    view.changes = vec![view.root.join(".git")];
    let named = |path: &Path| {
        let no_text = || Error::Request(format!("`{}` cannot be named to a command", path.display()));
        path.to_str().map(str::to_owned).ok_or_else(no_text)
    };
    let mut words = vec![named(exec)?, "--git".to_owned(), named(&at)?];
    // One that all users have is found behind the walls. A person's own lies where these show nothing: it is named, and lent.
    if crate::sandbox::on_path("git").is_none()
        && let Some((program, folder)) = persons_git()
    {
        words.push(named(&program)?);
        view.reads.push(folder);
    }
    Ok(words)
}

fn fail(source: io::Error) -> Error {
    Error::Spool { doing: "laying out a commit", source }
}

/// All words: behind what is done, each file with its path, its mode, and the name of its bytes. A disk without the bit of programs
/// says nothing of it, so the mode that the file has in the repository stays.
fn told(head: Vec<String>, files: &[Tracked]) -> Vec<String> {
    let mut words = head;
    for (number, file) in files.iter().enumerate() {
        let mode = match (&file.sha256, file.executable) {
            (None, _) => "gone",
            (Some(_), true) => "100755",
            (Some(_), false) => "kept",
        };
        // Checked before: a path that is no UTF-8 is not committed from here.
        words.push(String::from_utf8_lossy(file.path.as_bytes()).into_owned());
        words.extend([mode.to_owned(), number.to_string()]);
    }
    words
}

/// Copies the bytes of a file, where they are those that were looked at.
fn copy(workspace: &Workspace, file: &Tracked, to: &Path) -> Result<(), Error> {
    let path = &file.path;
    let (from, stat) = workspace.parent(path)?.open_file(path.file_name(), path)?;
    let mut copied = File::create_new(to).map_err(fail)?;
    io::copy(&mut from.take(stat.byte_size.saturating_add(1)), &mut copied).map_err(fail)?;
    drop(copied);
    if digest_file(to) == file.sha256 {
        Ok(())
    } else {
        Err(Error::Request(format!("`{path}` has changed since it was looked at")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Digest, RelPath};

    fn tracked(path: &str, bytes: Option<&[u8]>, executable: bool) -> Tracked {
        let path = RelPath::from_bytes(path.as_bytes()).unwrap();
        Tracked { path, sha256: bytes.map(Digest::of), executable }
    }

    #[test]
    fn each_file_stands_with_its_mode_and_the_name_of_its_bytes() {
        let files = [
            tracked("a b.txt", Some(b"a"), false),
            tracked("gone.txt", None, false),
            tracked("x/tool", Some(b"t"), true),
        ];
        let head = ["commit", "refs/heads/main", "", "1000", "a\nmessage"].map(str::to_owned).to_vec();
        let wanted = [
            &["commit", "refs/heads/main", "", "1000", "a\nmessage"][..],
            &["a b.txt", "kept", "0", "gone.txt", "gone", "1", "x/tool", "100755", "2"],
        ];
        assert_eq!(told(head, &files), wanted.concat());
        let alone = vec!["delete".to_owned()];
        assert_eq!(told(alone.clone(), &[]), alone);
    }

    #[test]
    fn bytes_are_copied_only_where_they_are_those_that_were_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let (root, own) = (folder.path().join("root"), folder.path().join("own"));
        for folder in [&root, &own] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(root.join("a.txt"), "one\r\n").unwrap();
        let id = format!("wsp_{}", "1".repeat(32)).parse().unwrap();
        let workspace = Workspace::open(&root, id).unwrap();
        copy(&workspace, &tracked("a.txt", Some(b"one\r\n"), false), &own.join("0")).unwrap();
        assert_eq!(std::fs::read(own.join("0")).unwrap(), b"one\r\n");
        let other = copy(&workspace, &tracked("a.txt", Some(b"one\n"), false), &own.join("1"));
        assert!(matches!(other, Err(Error::Request(why)) if why.contains("has changed since")));
    }
}
