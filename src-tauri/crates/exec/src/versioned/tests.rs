//! Rules of a change of version control without a shell, over real git.

use super::*;
use std::fs;
use tempfile::TempDir;

/// A repository with one commit, and a folder for the words and bytes of a change; none where git is not installed.
struct World {
    folder: TempDir,
    git: PathBuf,
}

impl World {
    fn new() -> Option<Self> {
        let git = PathBuf::from(GIT);
        if Command::new(&git).arg("--version").output().is_err() {
            conforms::lacks("git");
            return None;
        }
        let world = Self { folder: tempfile::tempdir().unwrap(), git };
        for folder in ["root", "own"] {
            fs::create_dir(world.folder.path().join(folder)).unwrap();
        }
        world.git(&["init", "-q", "-b", "main"]);
        fs::write(world.root().join("a.txt"), "one\n").unwrap();
        fs::write(world.root().join("run.sh"), "true\n").unwrap();
        fs::write(world.root().join("gone.txt"), "one\n").unwrap();
        world.git(&["add", "."]);
        world.git(&["update-index", "--chmod=+x", "run.sh"]);
        world.git(&["commit", "-q", "-m", "first"]);
        Some(world)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn own(&self) -> PathBuf {
        self.folder.path().join("own")
    }

    /// What git of a person says, without its last line break; empty where it fails.
    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new(&self.git);
        command.current_dir(self.root()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        for whose in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{whose}_NAME"), "A Person");
            command.env(format!("GIT_{whose}_EMAIL"), "a@example.org");
        }
        let done = command.args(["-c", "core.autocrlf=false"]).args(words).output().unwrap();
        String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
    }

    fn at(&self, name: &str) -> String {
        self.git(&["rev-parse", "-q", "--verify", name])
    }

    /// The change, and where it said that the ref goes.
    fn does(&self, words: &[&str]) -> (Result<(), Stop>, String) {
        fs::write(self.own().join(WORDS), words.join("\0")).unwrap();
        let mut said = Vec::new();
        let done = change(&self.own(), &self.root(), &self.git, &mut said);
        (done, String::from_utf8(said).unwrap().trim_end().to_owned())
    }

    /// A commit of these: path, mode, bytes.
    fn commits(&self, prior: &str, files: &[(&str, &str, &str)]) -> (Result<(), Stop>, String) {
        let mut words = vec!["commit", "refs/heads/main", prior, "1000", "second\n\nwith a \"body\" $(id)\n"];
        let numbers: Vec<String> = (0..files.len()).map(|number| number.to_string()).collect();
        for ((path, mode, bytes), number) in files.iter().zip(&numbers) {
            fs::write(self.own().join(number), bytes).unwrap();
            words.extend([*path, *mode, number.as_str()]);
        }
        self.does(&words)
    }
}

fn why(done: Result<(), Stop>) -> String {
    done.unwrap_err().0
}

#[test]
fn a_commit_holds_what_was_laid_beside_its_words_and_keeps_what_a_disk_does_not_have() {
    let Some(world) = World::new() else { return };
    let first = world.at("main");
    // What lies in the folder now is not what was looked at, and is not read.
    fs::write(world.root().join("a.txt"), "not meant\n").unwrap();
    let files = [
        ("a.txt", KEPT, "two\n"),
        ("run.sh", KEPT, "false\n"),
        ("new/b.txt", KEPT, "b\r\n"),
        ("new/tool", "100755", "tool\n"),
        ("gone.txt", GONE, ""),
    ];
    let (done, said) = world.commits(&first, &files);
    assert_eq!(done, Ok(()));
    let second = world.at("main");
    assert_eq!(said, format!("hermit-new {second}"));
    assert_eq!(world.at("main^"), first);
    assert_eq!(world.git(&["show", "main:a.txt"]), "two");
    let list = world.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "main"]);
    assert_eq!(list, "100644 a.txt\n100644 new/b.txt\n100755 new/tool\n100755 run.sh");
    let about = world.git(&["log", "-1", "--format=%B%an <%ae> %ct", "main"]);
    assert_eq!(about, "second\n\nwith a \"body\" $(id)\nHermit <hermit@localhost> 1000");
    assert_eq!(world.git(&["fsck", "--strict"]), "");
    // The index knows of it, so that nothing stands there as staged.
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn a_commit_that_changes_nothing_or_goes_on_top_of_what_has_moved_is_not_made() {
    let Some(world) = World::new() else { return };
    let first = world.at("main");
    let (done, said) = world.commits(&first, &[("a.txt", KEPT, "one\n")]);
    assert_eq!(
        (why(done).as_str(), said.as_str()),
        ("there is nothing to commit: the files are as they are there", "")
    );
    world.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
    let moved = world.at("main");
    let (done, said) = world.commits(&first, &[("a.txt", KEPT, "two\n")]);
    assert!(why(done).starts_with("git update-ref did not succeed: "));
    assert!(said.starts_with("hermit-new "), "it is said before it is tried: {said}");
    assert_eq!(world.at("main"), moved);
}

#[test]
fn a_first_commit_goes_on_top_of_nothing_and_is_signed_as_the_repository_says() {
    let Some(world) = World::new() else { return };
    fs::remove_dir_all(world.root().join(".git")).unwrap();
    world.git(&["init", "-q", "-b", "main"]);
    world.git(&["config", "user.name", "Ann"]);
    let (done, _) = world.commits("", &[("a.txt", KEPT, "one\n")]);
    assert_eq!(done, Ok(()));
    assert_eq!(world.git(&["log", "--format=%an <%ae>", "main"]), "Ann <hermit@localhost>");
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", "main"]), "a.txt");
}

#[test]
fn ends_of_lines_are_not_turned_and_what_a_program_rewrites_is_not_committed() {
    let Some(world) = World::new() else { return };
    let first = world.at("main");
    let (done, said) = world.commits(&first, &[("a.txt", KEPT, "one\r\ntwo\r\n")]);
    assert!(why(done).contains("end as on Windows"));
    assert_eq!((said.as_str(), world.at("main")), ("", first.clone()));
    fs::write(world.root().join(".gitattributes"), "*.txt filter=secret\n").unwrap();
    let (done, _) = world.commits(&first, &[("a.txt", KEPT, "two\n")]);
    assert!(why(done).contains("rewrites a.txt when it is committed (filter)"));
    assert_eq!(world.at("main"), first);
}

#[test]
fn a_name_is_made_once_moves_from_where_it_is_and_goes() {
    let Some(world) = World::new() else { return };
    let first = world.at("main");
    world.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
    let next = world.at("main");
    let topic = "refs/heads/topic";
    let (done, said) = world.does(&["name", topic, "", "1000", &first]);
    assert_eq!((done, said, world.at(topic)), (Ok(()), format!("hermit-new {first}"), first.clone()));
    assert!(world.does(&["name", topic, "", "1000", &next]).0.is_err(), "never over something");
    let nobody = "1".repeat(40);
    let (done, said) = world.does(&["name", "refs/tags/v1", "", "1000", &nobody]);
    assert_eq!((why(done), said), (format!("there is no commit {nobody}"), String::new()));

    assert!(world.does(&["move", topic, &next, "1000", &next, "any"]).0.is_err(), "it is not there");
    assert_eq!(world.does(&["move", topic, &first, "1000", &next, "forward"]).0, Ok(()));
    assert_eq!(world.at(topic), next);
    let (done, _) = world.does(&["move", topic, &next, "1000", &first, "forward"]);
    assert!(why(done).contains("would leave commits behind"));
    assert_eq!(world.does(&["move", topic, &next, "1000", &first, "any"]).0, Ok(()));

    for words in [
        &["move", "refs/heads/main", &next, "1000", &first, "any"][..],
        &["delete", "refs/heads/main", &next, "1000"],
    ] {
        let (done, said) = world.does(words);
        assert_eq!(
            (why(done).as_str(), said.as_str()),
            ("refs/heads/main is checked out; it is left alone", "")
        );
    }
    let (done, said) = world.does(&["delete", topic, &first, "1000"]);
    assert_eq!((done, said.as_str(), world.at(topic).as_str()), (Ok(()), "hermit-new nothing", ""));
}

#[test]
fn words_that_nobody_wrote_do_nothing() {
    let Some(world) = World::new() else { return };
    let first = world.at("main");
    for words in [
        &[""][..],
        &["commit"],
        &["delete", "refs/heads/main"],
        &["commit", "refs/heads/main", &first, "1", "m", "a.txt"],
    ] {
        assert_eq!(why(world.does(words).0), "what is to be done is not known", "{words:?}");
    }
    assert_eq!(world.at("main"), first);
}

#[test]
fn the_folder_of_the_words_is_named_and_nothing_more() {
    let parse = |words: &[&str]| asked(words.iter().map(OsString::from));
    assert_eq!(parse(&["--git", "x"]).unwrap(), Some((PathBuf::from("x"), None)));
    let persons = Some((PathBuf::from("x"), Some(PathBuf::from("git"))));
    assert_eq!(parse(&["--git", "x", "git"]).unwrap(), persons, "a git of one person is named beside it");
    assert_eq!(parse(&["--own"]).unwrap(), None);
    assert!(parse(&["--git"]).is_err() && parse(&["--git", "x", "y", "z"]).is_err());
}

#[test]
fn a_line_that_ends_as_on_windows_is_found_across_two_reads() {
    struct Pieces(Vec<&'static [u8]>);
    impl std::io::Read for Pieces {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let Some(piece) = self.0.pop() else { return Ok(0) };
            to[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }
    for (pieces, is_found) in [
        (vec![&b"one\r"[..], b"\ntwo"], true),
        (vec![&b"one\r\n"[..]], true),
        (vec![&b"one\n"[..], b"two\r"], false),
        (vec![&b"\r"[..], b"x\n"], false),
        (vec![], false),
    ] {
        let shown = format!("{pieces:?}");
        let pieces = pieces.into_iter().rev().collect();
        assert_eq!(has_crlf(Pieces(pieces)).unwrap(), is_found, "{shown}");
    }
}
