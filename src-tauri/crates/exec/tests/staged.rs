//! Commands that run in a staged view: what they did is known before anything of it is in the folder.

use crate::support::{self, World, rel, shell};
use acts::{Action, ActionRequest};
use effects::{Sandbox, Staging, Unstaged};
use model::RelPath;
use model::action::{ChangeItem, StageMethod};
use model::receipt::ResultCode;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");

/// Both ways of making a view: a layer, and a copy where the folder takes no layer.
pub fn worlds() -> Vec<World> {
    let walls = Sandbox::probe(Path::new(EXEC));
    [walls.clone(), walls.without_layers()].into_iter().map(World::with).collect()
}

#[test]
fn without_namespaces_nothing_is_staged_and_the_card_says_what_to_install() {
    let world = World::with(Sandbox::probe_without_namespaces(Path::new(EXEC)));
    furnish(&world);
    let (_, staging) = stage(&world, "cat d.txt");
    let Err(Unstaged::Cannot(said)) = staging else { panic!("{staging:?}") };
    assert!(said.contains("bubblewrap"), "{said}");
    assert_eq!(std::fs::read_dir(world.store.join("spool")).map_or(0, Iterator::count), 0, "nothing has run");
}

pub fn stage(world: &World, script: &str) -> (ActionRequest, Result<Staging, Unstaged>) {
    let request = world.request(shell(script));
    let staging = world.executors.stage(request.attempt_id, &request.action, &|| false, &mut |_| {});
    (request, staging)
}

/// The request as the kernel makes it of a staged run, with its bytes in the store.
pub fn requested(world: &World, mut request: ActionRequest, staging: &Staging) -> ActionRequest {
    let items = &staging.staged.items;
    request.staged = Some(staging.staged.clone());
    request.reach = staging.reach.clone();
    request.target_resources =
        acts::resources_of(world.id, &request.action, request.staged.as_ref(), request.reach.as_ref());
    for item in items {
        if let ChangeItem::Write { path, content_sha256, .. } = item {
            world.shelf.put(&world.executors.staged_bytes(request.attempt_id, path, content_sha256).unwrap());
        }
    }
    world.shelf.put(&staging.transcript.bytes);
    world.shelf.put(&staging.diff.bytes);
    request
}

type Tree = BTreeMap<PathBuf, Option<(Vec<u8>, u32)>>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if path.is_dir() {
                found.insert(name, None);
                waiting.push(path);
            } else {
                let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                found.insert(name, Some((std::fs::read(&path).unwrap(), mode)));
            }
        }
    }
    found
}

fn furnish(world: &World) {
    world.put("a.txt", "gone\n");
    world.put("b.txt", "moved\n");
    world.put("d.txt", "one\ntwo\n");
    world.put("e.sh", "#!/bin/sh\n");
    world.put("old/x.txt", "x\n");
    world.put("old/deep/y.txt", "y\n");
    world.put("bin", [0u8, 1, 2]);
    world.put("left.txt", "left alone\n");
    std::fs::create_dir(world.at("sub")).unwrap();
}

const BUSY: &str = "rm a.txt; mv b.txt sub/c.txt; printf 'three\\n' >> d.txt; chmod 755 e.sh; rm -r old; \
                    printf '\\0\\3' > bin; mkdir -p new/er; echo made > new/er/z.txt; touch left.txt; echo said";

fn effects_of(staging: &Staging) -> Vec<String> {
    staging.changes.iter().map(|change| format!("{} {}", change.effect, change.path)).collect()
}

#[conforms::conforms("HK-12.4-3")]
#[test]
fn a_staged_command_touches_nothing_and_tells_all_it_did_deletions_first() {
    for world in worlds() {
        furnish(&world);
        let before = tree(&world.root);
        let (request, staging) = stage(&world, BUSY);
        let staging = staging.unwrap();
        assert!(tree(&world.root) == before, "the folder is as it was");
        assert_eq!(
            effects_of(&staging),
            [
                "delete a.txt",
                "delete old/deep/y.txt",
                "delete old/x.txt",
                "rename sub/c.txt",
                "delete_folder old",
                "delete_folder old/deep",
                "replace bin",
                "replace d.txt",
                "mode e.sh",
                "create new/er/z.txt",
            ],
            "{:?}",
            staging.staged.notes
        );
        let text = |path: &str| {
            let change = staging.changes.iter().find(|c| c.path == rel(path)).unwrap();
            change.text.clone().unwrap_or_default()
        };
        assert!(text("d.txt").contains("+three"), "{}", text("d.txt"));
        assert!(text("a.txt").contains("-gone"));
        assert_eq!(text("bin"), "", "what is no text is told by size and digest");
        assert!(staging.printed.contains("said"));
        assert_eq!(staging.staged.exit_code, Some(0));
        world.executors.unstage(request.attempt_id).unwrap();
        let left: Vec<_> = std::fs::read_dir(world.store.join("spool")).unwrap().collect();
        assert!(left.is_empty(), "a no leaves nothing: {left:?}");
    }
}

#[test]
fn what_is_carried_over_is_what_was_shown_and_is_undone_item_by_item() {
    for world in worlds() {
        furnish(&world);
        let before = tree(&world.root);
        let (request, staging) = stage(&world, BUSY);
        let staging = staging.unwrap();
        let request = requested(&world, request, &staging);
        world.executors.unstage(request.attempt_id).unwrap();
        let outcome = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        assert_eq!(outcome.ran.exit_code, Some(0));
        assert_eq!(world.get("d.txt").unwrap(), b"one\ntwo\nthree\n");
        assert_eq!(world.get("sub/c.txt").unwrap(), b"moved\n");
        assert_eq!(world.get("new/er/z.txt").unwrap(), b"made\n");
        assert_eq!(std::fs::metadata(world.at("e.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        for gone in ["a.txt", "b.txt", "old"] {
            assert!(!world.at(gone).exists(), "`{gone}` went");
        }
        before.values().flatten().for_each(|(bytes, _)| _ = world.shelf.put(bytes));
        let receipt = support::receipt(&world, &request, &outcome);
        let items = effects::plan_rollback(&receipt, &support::current(&world, &receipt)).unwrap();
        let undo = world.request(Action::Change(acts::Change { items }));
        let undone = world.executors.perform(world.authorize(&undo), &undo, &|| false, &mut |_| {});
        assert_eq!(undone.result_code, ResultCode::Succeeded, "{undone:?}");
        let mut after = tree(&world.root);
        after.retain(|path, _| before.contains_key(path) || !path.starts_with("new"));
        assert!(after == before, "every byte and mode is back: {after:?}");
    }
}

#[conforms::conforms("HK-16.8-4")]
#[test]
fn an_edit_between_run_and_commit_is_a_conflict_and_stays() {
    for world in worlds() {
        furnish(&world);
        let (request, staging) = stage(&world, "echo agent >> d.txt");
        let request = requested(&world, request, &staging.unwrap());
        world.put("d.txt", "mine\n");
        let outcome = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
        assert!(outcome.error.unwrap().contains("`d.txt` is not as it was"));
        assert_eq!(world.get("d.txt").unwrap(), b"mine\n");
    }
}

#[test]
fn an_edit_while_it_runs_is_seen_and_it_runs_again_on_what_is_there_now() {
    for world in worlds() {
        furnish(&world);
        let request = world.request(shell("sleep 0.2; echo agent >> d.txt"));
        let edited = std::cell::Cell::new(false);
        let edit = || {
            if !edited.replace(true) {
                world.put("d.txt", "mine\n");
            }
            false
        };
        let staging = world.executors.stage(request.attempt_id, &request.action, &edit, &mut |_| {}).unwrap();
        let [ChangeItem::Write { path, content_sha256, .. }] = staging.staged.items.as_slice() else {
            panic!("{:?}", staging.staged.items)
        };
        let bytes = world.executors.staged_bytes(request.attempt_id, path, content_sha256).unwrap();
        assert_eq!(bytes, b"mine\nagent\n", "nothing of the person's is left out");
    }
}

#[test]
fn what_a_change_set_cannot_carry_is_not_staged_and_says_why() {
    for world in worlds() {
        furnish(&world);
        let before = tree(&world.root);
        for (script, why) in [
            ("mkfifo pipe", "a named pipe"),
            ("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"", "a socket"),
        ] {
            let (_, staging) = stage(&world, script);
            let Err(Unstaged::Cannot(said)) = staging else { panic!("`{script}`: {staging:?}") };
            assert!(said.contains(why), "{said}");
        }
        let network = Action::Command(acts::Command {
            argv: vec!["true".to_owned()],
            cwd: RelPath::ROOT,
            network: true,
            timeout_ms: 1_000,
            hosts: Vec::new(),
            secrets: Vec::new(),
        });
        assert!(world.executors.stageable(&network).unwrap_err().contains("network"));
        assert!(tree(&world.root) == before);
        assert_eq!(std::fs::read_dir(world.store.join("spool")).unwrap().count(), 0);
    }
}

#[test]
fn links_and_empty_folders_are_shown_carried_over_and_undone() {
    for world in worlds() {
        furnish(&world);
        std::os::unix::fs::symlink("b.txt", world.at("old-link")).unwrap();
        std::os::unix::fs::symlink("nowhere", world.at("other-link")).unwrap();
        std::fs::create_dir_all(world.at("hollow/inner")).unwrap();
        let before = world.tree();
        let script = "ln -s ../d.txt sub/new-link; ln -sfn a.txt old-link; rm other-link; mkdir -p empty/er; \
                      rm -r hollow; rm e.sh; ln -s /etc/passwd e.sh; rm b.txt; mkdir b.txt; mkdir new; mv a.txt new/";
        let (request, staging) = stage(&world, script);
        let staging = staging.unwrap();
        assert!(world.tree() == before, "the folder is as it was");
        let effects = effects_of(&staging);
        for wanted in [
            "delete other-link",
            "link sub/new-link",
            "link old-link",
            "make_folder empty/er",
            "link e.sh",
            "delete_folder hollow",
            "delete_folder hollow/inner",
            "delete b.txt",
            "make_folder b.txt",
            "rename new/a.txt",
        ] {
            assert!(effects.iter().any(|effect| effect == wanted), "{wanted}: {effects:?}");
        }
        let told = |path: &str| staging.changes.iter().find(|c| c.path == rel(path)).unwrap().text.clone();
        assert_eq!(told("e.sh").as_deref(), Some("+link to /etc/passwd\n"));
        assert_eq!(told("old-link").as_deref(), Some("-link to b.txt\n+link to a.txt\n"));
        let lost = |path: &str| staging.changes.iter().find(|c| c.path == rel(path)).unwrap().before_sha256;
        assert_eq!(lost("e.sh"), Some(model::Digest::of(b"#!/bin/sh\n")), "the file that the link replaces");
        assert_eq!(lost("old-link"), Some(model::Digest::of(b"b.txt")));
        assert_eq!(lost("sub/new-link"), None);
        let request = requested(&world, request, &staging);
        for image in world.executors.before_images(request.items()) {
            let (_, digest, bytes) = image.unwrap();
            assert_eq!(world.shelf.put(&bytes), digest);
        }
        let outcome = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        assert_eq!(std::fs::read_link(world.at("old-link")).unwrap(), Path::new("a.txt"));
        assert!(world.at("empty/er").is_dir() && !world.at("hollow").exists());
        let receipt = support::receipt(&world, &request, &outcome);
        let read = |digest: &model::Digest| world.shelf.0.lock().unwrap().get(digest).cloned();
        let plan =
            effects::plan_rollback_keeping(&receipt, &support::current(&world, &receipt), &read).unwrap();
        let undo = world.request(support::undo_of(receipt.receipt_id, plan.items));
        let undone = world.perform(&undo);
        assert_eq!(undone.result_code, ResultCode::Succeeded, "{undone:?}");
        assert!(world.tree() == before, "undone: {:?}", world.tree());
    }
}

#[test]
fn a_command_that_changes_nothing_or_fails_is_told_as_it_was() {
    for world in worlds() {
        furnish(&world);
        let (_, quiet) = stage(&world, "cat d.txt; touch d.txt; cp d.txt t; rm t");
        let quiet = quiet.unwrap();
        assert_eq!(quiet.staged.items, []);
        assert_eq!(quiet.staged.error, None);
        let (request, failed) = stage(&world, "echo half > half.txt; exit 3");
        let failed = failed.unwrap();
        assert_eq!(failed.staged.exit_code, Some(3));
        assert_eq!(effects_of(&failed), ["create half.txt"]);
        let request = requested(&world, request, &failed);
        let outcome = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(outcome.result_code, ResultCode::Partial);
        assert!(outcome.error.unwrap().contains("status 3"));
    }
}

fn git(world: &World, words: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.current_dir(&world.root)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .args(words);
    assert!(git.output().unwrap().status.success(), "git {words:?}");
}

#[test]
fn what_the_folders_own_ignore_rules_name_is_thrown_away_and_counted_but_for_what_git_keeps() {
    for world in worlds() {
        world.put(".gitignore", "target/\n*.log\n!keep.log\n");
        world.put("target/old.o", "old\n");
        world.put("target/kept.txt", "kept\n");
        world.put("pkg/a.txt", "a\n");
        world.put("pkg/debug.log", "debug\n");
        git(&world, &["init", "-q"]);
        git(&world, &["add", "-f", "target/kept.txt"]);
        let before = tree(&world.root);
        let script = "echo x > target/new.o; rm target/old.o; echo more >> target/kept.txt; echo l > a.log; \
                      echo k > keep.log; mkdir -p src/target/deep; echo s > src/b.txt; echo o > src/target/deep/o; \
                      rm -r pkg; echo '*' > .gitignore";
        let (request, staging) = stage(&world, script);
        let staging = staging.unwrap();
        assert!(tree(&world.root) == before, "the folder is as it was");
        assert_eq!(
            effects_of(&staging),
            [
                "delete pkg/a.txt",
                "delete pkg/debug.log",
                "delete_folder pkg",
                "replace .gitignore",
                "replace target/kept.txt",
                "create keep.log",
                "create src/b.txt",
            ],
            "the folder's rules count, not those that the command has written; what goes with its folder goes"
        );
        let left_out: BTreeMap<String, u64> =
            staging.staged.left_out.iter().map(|one| (one.path.to_string(), one.entries)).collect();
        assert_eq!(left_out.values().sum::<u64>(), 6, "{left_out:?}");
        assert_eq!(left_out.get("src/target"), Some(&3), "{left_out:?}");
        let request = requested(&world, request, &staging);
        let done = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(done.result_code, ResultCode::Succeeded, "{done:?}");
        assert!(done.observed.iter().any(|said| said.starts_with("thrown away")), "{:?}", done.observed);
        for (name, there) in
            [("target/old.o", true), ("target/new.o", false), ("a.log", false), ("pkg", false)]
        {
            assert_eq!(world.at(name).exists(), there, "{name}");
        }
    }
}

#[test]
fn permission_bits_of_folders_are_shown_carried_over_and_undone() {
    let bits = |world: &World, name: &str| {
        std::fs::metadata(world.at(name)).map(|found| found.permissions().mode() & 0o7777).ok()
    };
    for world in worlds() {
        furnish(&world);
        for (name, mode) in [("old", 0o755), ("old/deep", 0o700), ("sub", 0o755)] {
            std::fs::set_permissions(world.at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let before = tree(&world.root);
        let script = "chmod 750 old; mkdir -m 700 own; echo x > own/x; mkdir shut; echo y > shut/y; chmod 500 shut; \
                      mkdir -m 711 bare; rm -r old/deep";
        let (request, staging) = stage(&world, script);
        let staging = staging.unwrap();
        let told = effects_of(&staging);
        for wanted in
            ["mode old", "make_folder own", "make_folder shut", "make_folder bare", "delete_folder old/deep"]
        {
            assert!(told.iter().any(|one| one == wanted), "`{wanted}` is not told: {told:?}");
        }
        let request = requested(&world, request, &staging);
        let done = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(done.result_code, ResultCode::Succeeded, "{done:?}");
        let now = [("old", 0o750), ("own", 0o700), ("shut", 0o500), ("bare", 0o711), ("sub", 0o755)];
        for (name, mode) in now {
            assert_eq!(bits(&world, name), Some(mode), "{name}");
        }
        before.values().flatten().for_each(|(bytes, _)| _ = world.shelf.put(bytes));
        let receipt = support::receipt(&world, &request, &done);
        let items = effects::plan_rollback(&receipt, &support::current(&world, &receipt)).unwrap();
        let undo = world.request(Action::Change(acts::Change { items }));
        let undone = world.perform(&undo);
        assert_eq!(undone.result_code, ResultCode::Succeeded, "{undone:?}");
        assert!(tree(&world.root) == before, "undone");
        for (name, mode) in [("old", 0o755), ("old/deep", 0o700), ("sub", 0o755)] {
            assert_eq!(bits(&world, name), Some(mode), "{name}");
        }
    }
}

#[test]
fn what_staged_runs_left_is_swept_unless_it_is_wanted() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    let (kept, first) = stage(&world, "echo one > one.txt");
    let (_, second) = stage(&world, "mkdir more; echo two > more/two.txt");
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    let spool = effects::Spool::new(world.store.join("spool"));
    assert_eq!(spool.sweep(&Only(Some(kept.attempt_id))).unwrap(), 1);
    assert_eq!(spool.sweep(&Only(Some(kept.attempt_id))).unwrap(), 0);
    let item = first.unwrap().staged.items.remove(0);
    let ChangeItem::Write { path, content_sha256, .. } = item else { panic!("{item:?}") };
    assert_eq!(world.executors.staged_bytes(kept.attempt_id, &path, &content_sha256).unwrap(), b"one\n");
    assert_eq!(spool.sweep(&Only(None)).unwrap(), 1);
}

/// Of all that is in a spool one attempt is still at work, and nothing else is needed.
pub struct Only(pub Option<model::AttemptId>);

impl effects::Needed for Only {
    fn staged(&self, attempt: model::AttemptId) -> bool {
        self.0 == Some(attempt)
    }

    fn attempt(&self, attempt: model::AttemptId) -> bool {
        self.0 == Some(attempt)
    }

    fn act(&self, _: model::ActionRequestId) -> bool {
        false
    }
}

#[test]
fn a_file_for_a_folder_and_a_folder_for_a_file_are_carried_over() {
    for world in worlds() {
        furnish(&world);
        let script = "rm -r old; echo file > old; rm d.txt; mkdir d.txt; echo in > d.txt/in; \
                      rm -r sub; mkdir sub; echo fresh > sub/fresh";
        let (request, staging) = stage(&world, script);
        let request = requested(&world, request, &staging.unwrap());
        let outcome = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        assert_eq!(world.get("old").unwrap(), b"file\n");
        assert_eq!(world.get("d.txt/in").unwrap(), b"in\n");
        assert_eq!(world.get("sub/fresh").unwrap(), b"fresh\n");
    }
}

#[test]
fn a_commit_cut_short_is_settled_like_a_change_set_and_completed() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    furnish(&world);
    let (request, staging) = stage(&world, "rm a.txt; echo agent >> d.txt; echo new > n.txt");
    let request = requested(&world, request, &staging.unwrap());
    let before = world.witness(&request);
    // The host died after the first item.
    std::fs::remove_file(world.at("a.txt")).unwrap();
    let settled = world.executors.settle(&request, &before);
    assert!(settled.is_certain(), "{settled:?}");
    let outcome = world.executors.roll_forward(world.authorize(&request), &request, &settled);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
    assert_eq!(world.get("d.txt").unwrap(), b"one\ntwo\nagent\n");
    assert_eq!(world.get("n.txt").unwrap(), b"new\n");
    let settled = world.executors.settle(&request, &before);
    let again = world.executors.roll_forward(world.authorize(&request), &request, &settled);
    assert_eq!(again.result_code, ResultCode::Succeeded, "a second time changes nothing: {again:?}");
}

#[test]
fn a_large_folder_is_staged_without_being_copied() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    for n in 0..4_000 {
        world.put(&format!("{}/{n}.txt", n % 40), format!("number {n}\n"));
    }
    let begin = Instant::now();
    let (_, staging) = stage(&world, "echo one more >> 7/7.txt");
    let staging = staging.unwrap();
    println!("4,000 files: {} ms in all; {}", begin.elapsed().as_millis(), staging.staged.notes.join("; "));
    assert_eq!(effects_of(&staging), ["replace 7/7.txt"]);
    if staging.staged.method == StageMethod::Overlay {
        assert_eq!(world.get("7/7.txt").unwrap(), b"number 7\n");
    }
}

#[test]
fn on_a_disk_without_clones_a_view_is_a_whole_copy_and_is_told_as_one() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)).without_layers());
    furnish(&world);
    let mut clone = std::process::Command::new("cp");
    clone.arg("--reflink=always").args([world.at("a.txt"), world.store.join("clone")]);
    let has_clones = clone.output().unwrap().status.success();
    let (_, staging) = stage(&world, BUSY);
    let wanted = if has_clones { StageMethod::Reflink } else { StageMethod::Copy };
    assert_eq!(staging.unwrap().staged.method, wanted);
}
