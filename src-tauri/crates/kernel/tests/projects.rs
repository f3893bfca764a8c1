//! Projects of folders: what a folder says of itself, recorded when it is known and when it has changed.

use crate::story::{completed, log, packs, shows};
use kernel::command::memory::Memorandum;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{Error, Kernel};
use model::body::ProjectSource;
use model::ingress::Channel;
use model::{Body, Digest, WorkspaceId};
use std::path::Path;
use testkit::{World, done};

/// The events about projects, in their order.
fn told(kernel: &Kernel) -> Vec<(WorkspaceId, Digest, ProjectSource)> {
    let of = |body| match body {
        Body::ProjectKnown(b) => Some((b.workspace_id, b.project_hash, b.source)),
        _ => None,
    };
    log(kernel).into_iter().filter_map(|(_, body)| of(body)).collect()
}

/// A folder whose repository has this remote.
fn clone_of(at: &Path, name: &str, url: &str) -> std::path::PathBuf {
    let folder = at.join(name);
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/config"), format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap();
    folder.canonicalize().unwrap()
}

#[conforms::conforms(part = "HV-3.4-2")]
#[test]
fn two_clones_of_one_remote_are_one_project_in_every_store() {
    let (one, two) = (World::new(621), World::new(622));
    let urls = ["https://alice:s3cret@code.example/team/app.git", "git@code.example:team/app"];
    let first = clone_of(one.folder.path(), "first", urls[0]);
    let second = clone_of(one.folder.path(), "second", urls[1]);
    let ids = [&first, &second].map(|folder| one.kernel().workspace(folder).unwrap());
    let elsewhere = two.kernel().workspace(&clone_of(two.folder.path(), "third", urls[1])).unwrap();
    let of_one = one.kernel().store_state().projects;
    let project = of_one[&ids[0]];
    assert_eq!(project.1, ProjectSource::Remote);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(of_one[&ids[1]], project);
    assert_eq!(two.kernel().store_state().projects[&elsewhere], project);
    let kept =
        log(one.kernel()).into_iter().map(|(event, _)| String::from_utf8(event.to_bytes().unwrap()).unwrap());
    assert!(kept.into_iter().all(|text| !text.contains("s3cret") && !text.contains("code.example")));
}

#[conforms::conforms(part = "HV-3.4-2")]
#[test]
fn a_folder_without_a_remote_is_a_project_that_tells_nothing_of_its_path() {
    let (one, two) = (World::new(623), World::new(624));
    let folder = one.folder.path().canonicalize().unwrap();
    let id = one.kernel().workspace(&folder).unwrap();
    let other = two.kernel().workspace(&folder).unwrap();
    let (hash, source) = one.kernel().store_state().projects[&id];
    assert_eq!(source, ProjectSource::Folder);
    assert_ne!(
        hash,
        two.kernel().store_state().projects[&other].0,
        "nobody who guesses the path can check it"
    );
    let below = clone_of(&folder, "below", "/srv/app.git");
    let below = one.kernel().workspace(&below).unwrap();
    assert_eq!(
        one.kernel().store_state().projects[&below].1,
        ProjectSource::Folder,
        "a remote of this machine"
    );
}

#[test]
fn a_project_is_recorded_once_and_again_when_it_is_another_one() {
    let mut world = World::new(625);
    let folder = clone_of(world.folder.path(), "app", "https://code.example/a");
    let id = world.kernel().workspace(&folder).unwrap();
    assert_eq!(world.kernel().workspace(&folder).unwrap(), id);
    world.reopen();
    assert_eq!(world.kernel().workspace(&folder).unwrap(), id);
    assert_eq!(told(world.kernel()).len(), 1);
    clone_of(world.folder.path(), "app", "https://code.example/b");
    world.reopen();
    assert_eq!(world.kernel().workspace(&folder).unwrap(), id, "the folder is the same");
    std::fs::remove_dir_all(folder.join(".git")).unwrap();
    world.kernel().workspace(&folder).unwrap();
    let told = told(world.kernel());
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|(of, ..)| *of == id));
    assert!(told[0].1 != told[1].1 && told[1].1 != told[2].1);
    assert_eq!(told[2].2, ProjectSource::Folder);
    world.reopen();
    assert_eq!(world.kernel().store_state().projects[&id], (told[2].1, told[2].2), "as the log says");
}

fn remember(world: &World, claim: &str, at: &Path) {
    let said = Memorandum {
        claim: claim.to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "it was said".to_owned(),
        memory_type: None,
        pinned: true,
        days: None,
        replaces: None,
    };
    let task = world.kernel().propose_memory(said, at, (Channel::Cli, claim.to_owned())).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
}

#[test]
fn a_folder_that_was_moved_stays_the_project_that_it_was_with_what_is_remembered_there() {
    let mut world = World::new(626);
    let root = world.folder.path().canonicalize().unwrap();
    let [old, new, other] = ["old", "new", "other"].map(|name| root.join(name));
    std::fs::create_dir_all(&old).unwrap();
    std::fs::create_dir_all(&other).unwrap();
    let id = world.kernel().workspace(&old).unwrap();
    let project = world.kernel().store_state().projects[&id].0;
    remember(&world, "rates live in rates.toml", &old);
    remember(&world, "the logo is blue", &other);
    std::fs::rename(&old, &new).unwrap();
    let (there, kept) = world.kernel().workspace_moved(&old, &new).unwrap();
    assert!(there != id && kept == project);
    assert_eq!(world.kernel().workspace_moved(&old, &new).unwrap(), (there, project), "once is enough");
    world.reopen();
    assert_eq!(world.kernel().workspace(&new).unwrap(), there);
    assert_eq!(world.kernel().store_state().projects[&there], (project, ProjectSource::Folder));
    let goal = "What holds here?";
    world.reasoners.script(goal, vec![done("ok")]);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let submission = Submission { workspace_id: there, ..submission };
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive(task), completed());
    let told = packs(world.kernel(), task).remove(0);
    assert!(shows(&told, "rates live in rates.toml") && !shows(&told, "the logo is blue"));
    // Nothing that is remembered elsewhere is lost by it, and what a remote tells needs no such word.
    let cloned = clone_of(&root, "app", "https://code.example/a");
    for (from, to) in [(&old, &other), (&old, &cloned)] {
        let refused = world.kernel().workspace_moved(from, to);
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    }
    let unknown = world.kernel().workspace_moved(&root.join("never"), &new);
    assert!(matches!(unknown, Err(Error::NotFound { .. })), "{unknown:?}");
}
