//! Version control over real git: one ref moves from where it was, nothing else of the repository is believed.
#![allow(clippy::disallowed_methods, reason = "the repository is made with git itself")]

use crate::reaching::walls;
use crate::support::{World, receipt, rel, undo_of};
use acts::{Action, ActionRequest};
use conforms::conforms;
use effects::Outcome;
use model::fault::Point;
use model::receipt::ResultCode;
use model::vcs::{Tracked, VcsChange};
use model::witness::{Found, StateWitness};
use model::{Digest, ResourceId};
use std::io;
use std::process::{Command, Stdio};

pub const MAIN: &str = "refs/heads/main";

/// What git says, without its last line break; empty when it fails.
pub fn git(world: &World, words: &[&str]) -> String {
    let done = Command::new("git")
        .current_dir(&world.root)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A Person")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A Person")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// A repository with one commit of `a.txt`, `b.txt` and `c.txt`.
pub fn world() -> World {
    let world = World::with(walls());
    for name in ["a.txt", "b.txt", "c.txt"] {
        world.put(name, format!("{name} one\n"));
    }
    git(&world, &["init", "-q", "-b", "main"]);
    git(&world, &["add", "."]);
    git(&world, &["commit", "-q", "-m", "first"]);
    world
}

pub fn at(world: &World, name: &str) -> Option<String> {
    match world.executors.observe(&[ResourceId::Ref(world.id, name.to_owned())]).remove(0).state {
        Found::Version { value } => Some(value),
        Found::Absent => None,
        other => panic!("{other:?}"),
    }
}

/// A commit of what these paths hold now.
pub fn commit(world: &World, paths: &[&str], message: &str) -> (ActionRequest, StateWitness) {
    let files = paths
        .iter()
        .map(|path| Tracked {
            path: rel(path),
            sha256: world.get(path).map(|bytes| Digest::of(&bytes)),
            executable: false,
        })
        .collect();
    let head = world.executors.head().unwrap();
    let change = VcsChange::Commit {
        branch: head.branch.unwrap(),
        prior: head.commit,
        files,
        message: message.to_owned(),
    };
    asked(world, change)
}

pub fn asked(world: &World, change: VcsChange) -> (ActionRequest, StateWitness) {
    let request = world.request(Action::Vcs(acts::Vcs { change }));
    let witness = world.witness(&request);
    (request, witness)
}

pub fn said(outcome: &Outcome) -> String {
    format!("{:?} {:?} {:?}", outcome.result_code, outcome.error, outcome.observed)
}

#[conforms("HK-25.2-5")]
#[test]
fn a_commit_holds_exactly_what_was_named_and_the_ref_moves_once() {
    let world = world();
    let first = at(&world, MAIN).unwrap();
    world.put("a.txt", "a two\n");
    world.put("b.txt", "not meant\n");
    world.put("new/d.txt", "new\n");
    std::fs::remove_file(world.at("c.txt")).unwrap();
    let (request, _) = commit(&world, &["a.txt", "new/d.txt", "c.txt"], "second\n\nwith a \"body\" $(id)\n");
    let outcome = world.perform(&request);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
    let second = at(&world, MAIN).unwrap();
    assert_eq!(git(&world, &["rev-parse", "HEAD^"]), first);
    assert_eq!(
        git(&world, &["log", "-1", "--format=%B%an <%ae>"]),
        "second\n\nwith a \"body\" $(id)\nHermit <hermit@localhost>"
    );
    let changed = git(&world, &["diff-tree", "-r", "--name-status", "--no-commit-id", "HEAD"]);
    assert_eq!(changed, "M\ta.txt\nD\tc.txt\nA\tnew/d.txt");
    assert_eq!(git(&world, &["status", "--porcelain"]), " M b.txt", "what was not named stays as it was");
    assert_eq!(git(&world, &["fsck", "--strict"]), "");
    let told = outcome.observed.join("\n");
    assert!(told.contains(&format!("`{MAIN}`: {first} before, {second} after")), "{told}");
    let again = world.perform(&request);
    assert_eq!(again.result_code, ResultCode::Failed, "the same request does nothing twice");
    assert_eq!(at(&world, MAIN), Some(second));
}

#[test]
fn a_first_commit_a_branch_and_a_tag_are_made_and_never_over_something() {
    let world = World::with(walls());
    git(&world, &["init", "-q", "-b", "main"]);
    world.put("a.txt", "one\n");
    let (request, _) = commit(&world, &["a.txt"], "the first");
    assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded);
    let first = at(&world, MAIN).unwrap();
    for name in ["refs/heads/topic/x", "refs/tags/v1.0"] {
        let (request, _) = asked(&world, VcsChange::Name { name: name.to_owned(), at: first.clone() });
        assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded, "{name}");
        assert_eq!(at(&world, name), Some(first.clone()));
        let (over, _) = asked(&world, VcsChange::Name { name: name.to_owned(), at: first.clone() });
        assert_eq!(world.perform(&over).result_code, ResultCode::Failed, "{name}");
    }
    git(&world, &["pack-refs", "--all"]);
    assert_eq!(at(&world, "refs/tags/v1.0"), Some(first.clone()), "packed refs are read as well");
    let nothing = VcsChange::Name { name: "refs/tags/none".to_owned(), at: "0".repeat(40) };
    let outcome = world.perform(&asked(&world, nothing).0);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(
        outcome.error.as_ref().is_some_and(|why| why.contains("there is no commit")),
        "{}",
        said(&outcome)
    );
}

const TOPIC: &str = "refs/heads/topic/x";

/// A repository in which `topic/x` is one commit behind `main`, and `aside` is a commit that nothing else leads to.
fn branched() -> (World, [String; 3]) {
    let world = world();
    let first = at(&world, MAIN).unwrap();
    git(&world, &["branch", "-q", "topic/x"]);
    git(&world, &["checkout", "-q", "-b", "aside"]);
    git(&world, &["commit", "-q", "--allow-empty", "-m", "aside"]);
    let aside = at(&world, "refs/heads/aside").unwrap();
    git(&world, &["checkout", "-q", "main"]);
    git(&world, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let second = at(&world, MAIN).unwrap();
    (world, [first, second, aside])
}

fn undone(world: &World, request: &ActionRequest, outcome: &Outcome) -> Outcome {
    let receipt = receipt(world, request, outcome);
    let places: Vec<ResourceId> =
        receipt.changes.iter().map(|c| c.resource.shown().unwrap().parse().unwrap()).collect();
    let items = effects::plan_rollback(&receipt, &world.executors.observe(&places)).unwrap();
    world.perform(&world.request(undo_of(receipt.receipt_id, items)))
}

#[conforms("HK-18.6-1")]
#[test]
fn a_branch_is_moved_forward_or_by_force_and_back_again() {
    for packed in [false, true] {
        let (world, [first, second, aside]) = branched();
        if packed {
            git(&world, &["pack-refs", "--all"]);
        }
        let to = |from: &str, to: &str, forward| VcsChange::Move {
            name: TOPIC.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            forward,
        };
        let (request, _) = asked(&world, to(&first, &second, true));
        let outcome = world.perform(&request);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
        assert_eq!(at(&world, TOPIC), Some(second.clone()));
        let (beside, _) = asked(&world, to(&second, &aside, true));
        let outcome = world.perform(&beside);
        assert!(
            outcome.error.as_ref().is_some_and(|w| w.contains("leave commits behind")),
            "{}",
            said(&outcome)
        );
        let (forced, _) = asked(&world, to(&second, &aside, false));
        assert_eq!(forced.action_class, model::action::ActionClass::VcsMutation);
        assert!(forced.action.classes().contains(&model::action::ActionClass::DeleteLocal));
        let outcome = world.perform(&forced);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
        assert_eq!(at(&world, TOPIC), Some(aside));
        assert_eq!(undone(&world, &forced, &outcome).result_code, ResultCode::Succeeded);
        assert_eq!(at(&world, TOPIC), Some(second), "{packed}");
        assert_eq!(git(&world, &["fsck", "--strict"]), "");
    }
}

#[conforms("HK-18.6-1")]
#[test]
fn a_branch_or_tag_that_is_deleted_comes_back_with_its_log() {
    for packed in [false, true] {
        let (world, [first, ..]) = branched();
        git(&world, &["tag", "v1", &first]);
        if packed {
            git(&world, &["pack-refs", "--all"]);
        }
        let log = git(&world, &["reflog", "show", "topic/x"]);
        assert!(!log.is_empty());
        for name in [TOPIC, "refs/tags/v1"] {
            let (request, witness) =
                asked(&world, VcsChange::Delete { name: name.to_owned(), at: first.clone() });
            let outcome = world.perform(&request);
            assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
            assert_eq!(at(&world, name), None);
            let told = outcome.observed.join("\n");
            assert!(told.contains(&format!("`{name}`: {first} before, nothing after")), "{told}");
            // Its host died before it could say so: the ref itself tells, and what was written down beforehand.
            world.ended(&request);
            let settled = world.executors.settle(&request, &witness).outcome.unwrap();
            assert_eq!(settled.result_code, ResultCode::Succeeded, "{}", said(&settled));
            assert_eq!(settled.changes, outcome.changes);
            let undone = undone(&world, &request, &outcome);
            assert_eq!(undone.result_code, ResultCode::Succeeded, "{}", said(&undone));
            assert_eq!(at(&world, name), Some(first.clone()), "{packed}");
        }
        assert_eq!(git(&world, &["reflog", "show", "topic/x"]), log);
        assert_eq!(git(&world, &["fsck", "--strict"]), "");
    }
}

#[test]
fn what_is_checked_out_anywhere_is_not_moved_under_whoever_works_there() {
    let (world, [first, second, aside]) = branched();
    let elsewhere = tempfile::tempdir().unwrap();
    let tree = elsewhere.path().join("tree").display().to_string();
    git(&world, &["worktree", "add", "-q", &tree, "topic/x"]);
    for (name, from) in [(MAIN, &second), (TOPIC, &first)] {
        let name = name.to_owned();
        let to = aside.clone();
        for change in [
            VcsChange::Delete { name: name.clone(), at: from.clone() },
            VcsChange::Move { name: name.clone(), from: from.clone(), to, forward: false },
        ] {
            let outcome = world.perform(&asked(&world, change).0);
            assert_eq!(outcome.result_code, ResultCode::Failed, "{}", said(&outcome));
            assert!(
                outcome.error.as_ref().is_some_and(|why| why.contains("checked out")),
                "{}",
                said(&outcome)
            );
            assert_eq!(at(&world, &name).as_ref(), Some(from));
        }
    }
}

#[conforms("HK-6.2-5")]
#[test]
fn a_ref_that_moved_and_a_file_that_changed_since_are_left_alone() {
    let world = world();
    world.put("a.txt", "a two\n");
    let (stale, _) = commit(&world, &["a.txt"], "mine");
    git(&world, &["commit", "-q", "--allow-empty", "-m", "somebody else"]);
    let theirs = at(&world, MAIN);
    let outcome = world.perform(&stale);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(outcome.error.as_ref().is_some_and(|why| why.contains("has moved since")), "{}", said(&outcome));
    let (changed, _) = commit(&world, &["a.txt"], "mine");
    world.put("a.txt", "a three\n");
    let outcome = world.perform(&changed);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(
        outcome.error.as_ref().is_some_and(|why| why.contains("a.txt has changed since")),
        "{}",
        said(&outcome)
    );
    let (same, _) = commit(&world, &["b.txt"], "nothing new");
    let outcome = world.perform(&same);
    assert!(
        outcome.error.as_ref().is_some_and(|why| why.contains("nothing to commit")),
        "{}",
        said(&outcome)
    );
    assert_eq!(at(&world, MAIN), theirs);
}

#[test]
fn no_program_that_a_repository_names_is_run() {
    let world = world();
    let evil = format!("touch {}", world.at("RAN").display());
    for (name, text) in
        [("pre-commit", &evil), ("reference-transaction", &evil), ("post-index-change", &evil)]
    {
        let path = format!(".git/hooks/{name}");
        world.put(&path, format!("#!/bin/sh\n{text}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.at(&path), mode).unwrap();
    }
    for (name, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("core.pager", &evil),
        ("core.editor", &evil),
        ("gpg.program", &evil),
        ("commit.gpgSign", "true"),
        ("credential.helper", "!touch RAN"),
        ("filter.evil.clean", &evil),
        ("alias.write-tree", "!touch RAN"),
        ("core.hooksPath", ".git/hooks"),
    ] {
        git(&world, &["config", name, value]);
    }
    world.put("a.txt", "a two\n");
    let (request, _) = commit(&world, &["a.txt"], "second");
    let outcome = world.perform(&request);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
    world.put(".git/info/attributes", "*.txt filter=evil\n");
    world.put("b.txt", "b two\n");
    let (request, _) = commit(&world, &["b.txt"], "third");
    let outcome = world.perform(&request);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(outcome.error.as_ref().is_some_and(|why| why.contains("rewrites b.txt")), "{}", said(&outcome));
    assert!(!world.at("RAN").exists());
}

#[conforms("HK-18.6-1")]
#[test]
fn a_commit_is_taken_back_like_a_file_and_only_while_it_is_still_the_last_word() {
    for somebody in [false, true] {
        let world = world();
        let first = at(&world, MAIN);
        world.put("a.txt", "a two\n");
        let (request, _) = commit(&world, &["a.txt"], "second");
        let outcome = world.perform(&request);
        if somebody {
            git(&world, &["commit", "-q", "--allow-empty", "-m", "third"]);
        }
        let now = at(&world, MAIN);
        let receipt = receipt(&world, &request, &outcome);
        let file = ResourceId::File(world.id, rel(".git/refs/heads/main"));
        let plan = effects::plan_rollback(&receipt, &world.executors.observe(&[file]));
        match plan {
            Ok(items) if !somebody => {
                let undo = world.request(undo_of(receipt.receipt_id, items));
                assert_eq!(world.perform(&undo).result_code, ResultCode::Succeeded);
                assert_eq!(at(&world, MAIN), first);
                assert_eq!(
                    git(&world, &["status", "--porcelain"]),
                    "M  a.txt",
                    "what was committed is staged again"
                );
                assert_eq!(world.get("a.txt").unwrap(), b"a two\n", "and no file has changed");
            }
            Err(_) if somebody => assert_eq!(at(&world, MAIN), now),
            other => panic!("{somebody}: {other:?}"),
        }
    }
}

#[conforms("HK-19.3-2")]
#[test]
fn after_an_interruption_the_ref_itself_says_what_became_of_it() {
    for (after, wanted) in [(false, ResultCode::Failed), (true, ResultCode::Succeeded)] {
        let world = world();
        world.put("a.txt", "a two\n");
        let (request, witness) = commit(&world, &["a.txt"], "second");
        if after {
            // It was done, and its host died before it could say so.
            assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded);
        } else {
            world.traps.set(|point, after| match (point, after) {
                (Point::CommandSpawn, false) => Err(io::Error::other("the host dies here")),
                _ => Ok(()),
            });
            world.perform(&request);
        }
        world.ended(&request);
        let settled = world.executors.settle(&request, &witness).outcome.unwrap();
        assert_eq!(settled.result_code, wanted, "{}", said(&settled));
        assert_eq!(settled.changes.len(), usize::from(after), "and it can be taken back");
        if after {
            git(&world, &["commit", "-q", "--allow-empty", "-m", "somebody else"]);
            world.ended(&request);
            let settled = world.executors.settle(&request, &witness).outcome.unwrap();
            assert_eq!(settled.result_code, ResultCode::UnknownOutcome, "{}", said(&settled));
        }
    }
}

#[test]
fn without_walls_or_without_a_repository_of_its_own_nothing_is_begun() {
    let bare = World::new();
    git(&bare, &["init", "-q", "-b", "main"]);
    bare.put("a.txt", "one\n");
    let (request, _) = commit(&bare, &["a.txt"], "first");
    let outcome = bare.perform(&request);
    assert!(
        outcome.error.as_ref().is_some_and(|why| why.contains("in a sandbox only")),
        "{}",
        said(&outcome)
    );
    assert_eq!(at(&bare, MAIN), None);
    let none = World::with(walls());
    assert!(none.executors.head().is_err());
    none.put(".git", "gitdir: /elsewhere\n");
    assert!(none.executors.head().is_err(), "a repository elsewhere is not this folder's");
}
