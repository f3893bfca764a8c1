//! What an action is and touches, and which paths are delicate.

use super::world::*;
use acts::Action;
use acts::sensitive_paths::{PathKind, path_kind};
use model::action::{ActionClass, ChangeItem, Prior, ReadItem};
use model::{RelPath, ResourceId};
use proptest::prelude::*;

#[conforms::conforms("HK-10.4-2", "HK-25.2-2")]
#[test]
fn every_kind_of_action_has_its_classes_the_gravest_first() {
    use ActionClass::*;
    let cases: Vec<(Action, Vec<ActionClass>)> = vec![
        (read("a"), vec![ReadLocal]),
        (change(&[create("a")]), vec![WriteLocal]),
        (change(&[overwrite("a")]), vec![WriteLocal]),
        (change(&[delete("a")]), vec![DeleteLocal]),
        (change(&[rename("a", "b")]), vec![DeleteLocal, WriteLocal]),
        (change(&[create("a"), delete("b")]), vec![DeleteLocal, WriteLocal]),
        (change(&[]), vec![WriteLocal]),
        (change(&[overwrite("sub/.git/config")]), vec![VcsMutation, WriteLocal]),
        (change(&[overwrite(".GIT/config")]), vec![VcsMutation, WriteLocal]),
        (change(&[rename("a", ".git/HEAD")]), vec![VcsMutation, DeleteLocal, WriteLocal]),
        (change(&[create(".gitignore")]), vec![WriteLocal]),
        (change(&[create(".hermit/policy.rules")]), vec![CapabilityChange, WriteLocal]),
        (change(&[rename("sub/.Hermit./a", "b")]), vec![CapabilityChange, DeleteLocal, WriteLocal]),
        (change(&[create(".her\u{200c}MIT/policy.rules")]), vec![CapabilityChange, WriteLocal]),
        (change(&[create("hermit/policy.rules")]), vec![WriteLocal]),
        (command(&["make"], false), vec![ExecuteCommand]),
        (command(&["make"], true), vec![NetworkWrite, ExecuteCommand, NetworkRead]),
        (commit(), vec![VcsMutation]),
        (move_ref(true), vec![VcsMutation]),
        (move_ref(false), vec![VcsMutation, DeleteLocal]),
        (delete_ref(), vec![VcsMutation, DeleteLocal]),
        (fetch(), vec![NetworkRead]),
        (send(), vec![CredentialedApiCall, NetworkWrite]),
        (remember("x"), vec![DurableMemoryWrite]),
        (rollback(&[create("a")]), vec![Rollback, WriteLocal]),
        (rollback(&[delete("a")]), vec![Rollback, DeleteLocal]),
        (rollback(&[rename("a", "b")]), vec![Rollback, DeleteLocal, WriteLocal]),
        (rollback(&[]), vec![Rollback]),
        (rollback(&[delete(".hermit/policy.rules")]), vec![CapabilityChange, Rollback, DeleteLocal]),
    ];
    for (action, wanted) in cases {
        assert_eq!(action.classes(), wanted, "{action:?}");
    }
}

#[test]
fn no_two_classes_are_equally_grave() {
    let ranks: std::collections::BTreeSet<u8> =
        ActionClass::ALL.iter().map(|class| class.gravity()).collect();
    assert_eq!(ranks.len(), ActionClass::ALL.len());
}

#[test]
fn a_command_that_names_version_control_is_version_control() {
    let changes: [&[&str]; 16] = [
        &["git", "push"],
        &["/usr/bin/git", "commit", "-m", "x"],
        &["git.exe", "push"],
        &["GIT", "push"],
        &["git", "-c", "alias.status=!rm -rf .", "status"],
        &["git", "-C", "elsewhere", "log"],
        &["hg", "log"],
        &["jj", "new"],
        &["gh", "pr", "create"],
        &["sh", "-c", "ls; git push"],
        &["bash", "-lc", "(git push)"],
        &["env", "X=1", "git", "push"],
        &["sudo", "/usr/bin/git", "push"],
        &["xargs", "git", "rm"],
        &["find", ".", "-exec", "git", "rm", "{}", ";"],
        &["python3.13", "-c", "import os; os.system('git push')"],
    ];
    for argv in changes {
        assert_eq!(command(argv, false).classes()[0], ActionClass::VcsMutation, "{argv:?}");
    }
    let other: [&[&str]; 8] = [
        &["git"],
        &["git", "status"],
        &["git", "diff", "HEAD"],
        &["git", "--version"],
        &["grep", "git", "README"],
        &["sh", "-c", "cat .gitignore"],
        &["sh", "-c", "ls github"],
        &[],
    ];
    for argv in other {
        assert_eq!(command(argv, false).classes(), [ActionClass::ExecuteCommand], "{argv:?}");
    }
}

#[test]
fn resources_are_exactly_the_places_touched() {
    let names = |action: &Action| -> Vec<String> {
        action.resources(SPACE).iter().map(ToString::to_string).collect()
    };
    let at = |text: &str| format!("file:{SPACE}/{text}");
    assert_eq!(names(&change(&[rename("b", "a"), delete("b")])), [at("a"), at("b")]);
    assert_eq!(names(&command(&["make"], false)), [at("")]);
    assert_eq!(names(&command(&["make"], true)), [at(""), "host:*:0".to_owned()]);
    assert_eq!(names(&remember("x")), Vec::<String>::new());
    assert_eq!(names(&commit()), [at("a.sh"), at("gone.txt"), format!("ref:{SPACE}/refs/heads/main")]);
    assert_eq!(names(&delete_ref()), [format!("ref:{SPACE}/refs/tags/v1")]);
    assert_eq!(names(&fetch()), ["host:example.org:443"]);
    assert_eq!(names(&send()), ["host:api.example.org:8443", "secret:notes"]);
    let undo = names(&rollback(&[create("a")]));
    assert!(undo.contains(&at("a")) && undo.iter().any(|name| name.starts_with("receipt:rcp_")), "{undo:?}");
}

#[test]
fn delicate_paths_are_known_by_name() {
    use PathKind::*;
    let cases = [
        ("notes.txt", Plain),
        ("src/main.rs", Plain),
        ("environment.md", Plain),
        ("key", Plain),
        (".env", Secret),
        ("app/.ENV", Secret),
        (".env.production", Secret),
        (".env.example", Hidden),
        (".ssh/config", Secret),
        ("home/.SSH/id_rsa.pub", Secret),
        ("id_ed25519", Secret),
        ("id_ed25519.pub", Plain),
        ("server.pem", Secret),
        ("server.PEM ", Secret),
        ("approval.key", Secret),
        (".aws/credentials", Secret),
        // As some disk takes their names.
        ("home/.\u{17f}sh/config", Secret),
        ("app/.e\u{200d}nv", Secret),
        (".g\u{feff}it/hooks/pre-commit", ActsLater),
        ("infra/prod.tfstate", Secret),
        (".netrc", Secret),
        (".bashrc", ActsLater),
        ("home/.zshrc", ActsLater),
        (".git/hooks/pre-commit", ActsLater),
        (".github/workflows/ci.yml", ActsLater),
        (".github/CODEOWNERS", Hidden),
        (".config/fish/config.fish", ActsLater),
        (".config/autostart/x.desktop", ActsLater),
        (".editorconfig", Hidden),
        ("Makefile", ActsLater),
        ("sub/package.json", ActsLater),
        ("tests/conftest.py", ActsLater),
        ("setup.py", ActsLater),
        ("build.rs", ActsLater),
        ("app/build.gradle.kts", ActsLater),
        (".gitlab-ci.yml", ActsLater),
        (".envrc", ActsLater),
        (".vscode/tasks.json", ActsLater),
        (".npmrc", Secret),
        ("pyproject.toml", ActsLater),
        (".cargo/config.toml", ActsLater),
        ("Cargo.toml", ActsLater),
        ("vite.config.ts", ActsLater),
        ("makefile.md", Plain),
        ("secrets.rs", Plain),
        ("secrets.yaml", Secret),
        ("venv/certifi/cacert.pem", Plain),
    ];
    for (text, wanted) in cases {
        assert_eq!(path_kind(&path(text)), wanted, "`{text}`");
    }
    let raw = RelPath::from_bytes(b".ssh/\xff\xfe").expect("a path");
    assert_eq!(path_kind(&raw), Secret, "a name that is not UTF-8 is no exception");
}

#[test]
fn a_folder_is_secret_when_all_in_it_is_and_a_look_names_a_secret_by_path_or_glob() {
    use acts::sensitive_paths::{is_secret, names_secret};
    for (text, is_folder, wanted) in [
        (".ssh", true, true),
        ("home/.aws", true, true),
        (".ssh", false, true),
        (".env", false, true),
        (".env", true, false),
        ("secrets", true, false),
        ("", true, false),
    ] {
        assert_eq!(is_secret(&path(text), is_folder), wanted, "`{text}`");
    }
    let search = |at: &str, glob: Option<&str>| ReadItem::Search {
        path: path(at),
        pattern: ".".to_owned(),
        glob: glob.map(str::to_owned),
    };
    for (item, wanted) in [
        (search("", None), false),
        (search("", Some("[.]env")), false),
        (search("", Some("*.txt")), false),
        (search("", Some(".env")), true),
        (search("", Some("**/*.pem")), true),
        (search(".ssh", None), true),
        (search(".env", None), true),
        (ReadItem::Hash { path: path("server.key") }, true),
        (ReadItem::Hash { path: path("") }, false),
    ] {
        assert_eq!(names_secret(&item), wanted, "{item:?}");
    }
}

#[test]
fn git_is_a_look_also_inside_a_shell_but_not_with_other_settings_or_programs() {
    let mutates = |argv: &[&str]| command(argv, false).classes().contains(&ActionClass::VcsMutation);
    for look in [
        &["git", "status"][..],
        &["git", "--no-pager", "log", "-p"],
        &["sh", "-c", "git status"],
        &["bash", "-c", "git log --oneline | head -3 && ls"],
        &["sh", "-c", "echo 'the git push of today'"],
    ] {
        assert!(!mutates(look), "{look:?}");
    }
    for act in [
        &["git", "push"][..],
        &["git", "-c", "core.fsmonitor=./x", "status"],
        &["git", "-ccore.pager=./x", "log"],
        &["git", "log", "--output=.git/config"],
        &["git", "diff", "--ext-diff"],
        &["git", "show", "--textconv"],
        &["git", "grep", "-O", "x"],
        &["git", "--exec-path=/tmp", "status"],
        &["sh", "-c", "git status; git push"],
        &["sh", "-c", "git -c alias.status='!x' status"],
        &["sh", "-c", "git `echo push`"],
        &["./sh", "-c", "git status"],
        &["stdbuf", "git", "push"],
        &["flock", "x", "git", "push"],
        &["env", "git", "status"],
    ] {
        assert!(mutates(act), "{act:?}");
    }
}

/// Any change set, with names that are not UTF-8, delicate or plain.
pub(crate) fn any_items() -> impl Strategy<Value = Vec<ChangeItem>> {
    let name = prop_oneof![
        proptest::collection::vec(1u8..255, 1..6),
        prop_oneof![Just(".env"), Just(".git/HEAD"), Just("a"), Just("b/c"), Just("\u{202e}txt")]
            .prop_map(|text: &str| text.as_bytes().to_vec()),
    ];
    let place = name.prop_filter_map("it is no path", |bytes| RelPath::from_bytes(&bytes).ok());
    let prior = prop_oneof![Just(Prior::Absent), Just(Prior::Sha256(sha("old"))), Just(Prior::EmptyFolder)];
    let item = (place.clone(), place, prior, 0..3, proptest::option::of(0u32..0o7777)).prop_map(
        |(path, to, prior, kind, mode)| match kind {
            0 => ChangeItem::Write { path, content_sha256: sha("new"), byte_size: 3, prior, mode },
            1 => ChangeItem::Delete { path, prior },
            _ => ChangeItem::Move { from: path, to, prior },
        },
    );
    proptest::collection::vec(item, 0..8)
}

proptest! {
    #[test]
    fn classes_and_resources_are_sorted_and_without_repeats(items in any_items(), undo in any::<bool>()) {
        let action = if undo { rollback(&items) } else { change(&items) };
        let classes = action.classes();
        prop_assert!(!classes.is_empty());
        prop_assert!(classes.windows(2).all(|pair| pair[0].gravity() > pair[1].gravity()));
        let found = action.resources(SPACE);
        prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        let touched = |place: &RelPath| found.contains(&ResourceId::File(SPACE, place.clone()));
        for item in &items {
            let both = match item {
                ChangeItem::Write { path, .. }
                | ChangeItem::Delete { path, .. }
                | ChangeItem::Folder { path, .. }
                | ChangeItem::Link { path, .. } => touched(path),
                ChangeItem::Move { from, to, .. } => {
                    prop_assert!(classes.contains(&ActionClass::WriteLocal));
                    prop_assert!(classes.contains(&ActionClass::DeleteLocal));
                    touched(from) && touched(to)
                }
            };
            prop_assert!(both);
        }
    }

    #[test]
    fn what_a_change_set_holds_never_makes_it_less_grave(items in any_items(), more in any_items()) {
        let all = [items.clone(), more].concat();
        let classes = change(&all).classes();
        let fewer = change(&items).classes();
        prop_assert!(classes[0].gravity() >= fewer[0].gravity() || items.is_empty());
    }
}
