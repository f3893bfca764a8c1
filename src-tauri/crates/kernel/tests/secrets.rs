//! Secrets: by handle everywhere, and nothing that holds a value is kept.

use crate::receipts::{Walled, drive_allowing};
use crate::story::events;
use conforms::conforms;
use kernel::command::submit::Reasoning;
use kernel::ports::Notice;
use kernel::{DriveOutcome, Error, Kernel, Ports, Waiting};
use model::Body;
use model::TaskId;
use model::artifact::{ArtifactKind, Sensitivity};
use model::attempt::TerminationReason;
use model::body::ContentRedacted;
use model::proposal::Answer;
use model::secret::SecretTerms;
use model::task::TaskStatus;
use projections::query::Ask;
use redact::Redactor;
use serde_json::json;
use std::sync::Arc;
use testkit::{World, change, command, done, look, say, write};
use zeroize::Zeroizing;

const VALUE: &str = "kR7-u2Vq/9fXw+Lm4zPt0aBc8dEh";

fn knowing(seed: u64) -> World {
    let world = World::new(seed);
    know(&world);
    world
        .kernel()
        .register_secret("db", &SecretTerms::at(&["db.example.org:5432".to_owned()]), "test")
        .unwrap();
    world
}

fn know(world: &World) {
    let value = Zeroizing::new(VALUE.as_bytes().to_vec());
    world.redactor.put(Redactor::new([("db".to_owned(), value)]).unwrap());
}

/// Everything the ledger and the artifacts hold of a task, as text.
fn told(world: &World, task: TaskId) -> String {
    let kernel = world.kernel();
    let mut all = String::new();
    for stored in kernel.reader().events(task, 0, 10_000).unwrap() {
        all += &format!("{:?}\n", body(world, &stored));
    }
    for artifact in kernel.task(task).unwrap().artifacts.values() {
        all += &String::from_utf8_lossy(&kernel.artifacts().read(&artifact.content_hash).unwrap());
    }
    all
}

fn body(world: &World, stored: &ledger::Stored) -> Body {
    stored.event().unwrap().body(&|digest| world.kernel().reader().disclosure(digest).ok().flatten()).unwrap()
}

fn redacted(world: &World, task: TaskId) -> Vec<ContentRedacted> {
    let events = world.kernel().reader().events(task, 0, 10_000).unwrap();
    let found = events.iter().filter_map(|stored| match body(world, stored) {
        Body::ContentRedacted(body) => Some(body),
        _ => None,
    });
    found.collect()
}

#[conforms("HK-17.3-1", "HK-17.3-2", "HK-17.3-4", "HK-6.3-3")]
#[test]
fn a_value_that_is_read_said_or_written_leaves_its_handle_and_a_count() {
    let world = knowing(900);
    world.file("notes.txt", &format!("first\npassword {VALUE}\n"));
    let answers = vec![
        look("notes.txt"),
        write("copy.txt", &format!("the password is {VALUE}\n")),
        done(&format!("copied {VALUE}")),
    ];
    world.reasoners.script("copy", answers);
    let reasoning = Reasoning::Scripted { name: "copy".to_owned() };
    let asked = world.kernel().submit(&world.submission(&format!("copy {VALUE}"), reasoning)).unwrap();
    let task = asked.task_id;
    let (standing, _) = world.drive_allowing(task);
    assert_eq!(
        standing,
        DriveOutcome::Ended { status: TaskStatus::Completed, reason: Some(TerminationReason::Done) }
    );
    let all = told(&world, task);
    assert!(!all.contains(VALUE), "{all}");
    assert!(all.contains("[secret:db]"));
    // What was approved is what was written, byte for byte: the value was gone before anybody was asked.
    assert_eq!(world.files()["copy.txt"], b"the password is [secret:db]\n");
    let found = redacted(&world, task);
    assert!(found.iter().any(|body| body.found.get("secret:db") == Some(&1)), "{found:?}");
}

#[test]
fn what_holds_a_value_is_neither_overwritten_nor_deleted_because_its_bytes_would_be_kept() {
    let world = knowing(902);
    world.file("settings.old", &format!("DB={VALUE}\n"));
    let before = world.files();
    let answers = vec![
        look("settings.old"),
        write("settings.old", "DB=other\n"),
        say("delete", json!({ "path": "settings.old" })),
        done("left it"),
    ];
    let task = world.script("clean up", answers);
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(asked, 0, "{standing:?}");
    assert_eq!(world.files(), before);
    let all = told(&world, task);
    assert!(all.contains("leave this file to the person"), "{all}");
    assert!(!all.contains(VALUE));
}

#[test]
fn a_file_that_holds_a_value_can_be_moved_because_nothing_of_it_is_kept() {
    let world = knowing(903);
    world.file("a.env", &format!("DB={VALUE}\n"));
    let items = json!([{ "op": "move", "from": "a.env", "to": "b.env" }]);
    let task = world.script("move", vec![change(items), done("moved")]);
    assert_eq!(world.drive_allowing(task).1, 1);
    assert_eq!(world.files()["b.env"], format!("DB={VALUE}\n").into_bytes());
    assert!(!told(&world, task).contains(VALUE));
}

#[test]
fn a_placeholder_is_not_written_over_the_key_it_stands_for() {
    let world = World::new(904);
    let key = "AKIAIOSFODNN7EXAMPLE";
    world.file("config.ini", &format!("id = {key}\ncolour = red\n"));
    let answers = vec![
        look("config.ini"),
        write("config.ini", "id = [redacted: aws key]\ncolour = blue\n"),
        done("left it"),
    ];
    let task = world.script("paint it blue", answers);
    assert_eq!(world.drive_allowing(task).1, 0);
    assert_eq!(world.files()["config.ini"], format!("id = {key}\ncolour = red\n").into_bytes());
    assert!(told(&world, task).contains("would destroy"));
}

#[test]
fn pieces_of_an_answer_are_told_without_a_value_that_lies_across_them() {
    let world = knowing(905);
    let mut answer = done("done");
    answer.text = format!("I found {VALUE} there");
    let task = world.script("tell", vec![answer]);
    world.drive_allowing(task);
    let notices = world.listener.0.lock().unwrap();
    let told: String = notices
        .iter()
        .filter_map(|notice| match notice {
            Notice::Delta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(!told.contains(VALUE), "{told}");
}

#[conforms(part = "RA-1.2-14")]
#[test]
fn what_went_wrong_with_a_model_is_on_record_without_a_value_that_stands_in_it() {
    let world = knowing(910);
    let fails = reasoning::Scripted::with(|_| {
        let (why, advice) = (format!("the key {VALUE} is not known there"), "give another".to_owned());
        Err(reasoning::Error::Unavailable { why, advice })
    });
    world.reasoners.put("fails", std::sync::Arc::new(fails));
    let reasoning = Reasoning::Scripted { name: "fails".to_owned() };
    let task = world.kernel().submit(&world.submission("ask it", reasoning)).unwrap().task_id;
    let failed = world.kernel().drive(task).unwrap_err().to_string();
    assert!(failed.contains("the key [secret:db] is") && !failed.contains(VALUE), "whoever waits: {failed}");
    let events = world.kernel().reader().events(task, 0, 10_000).unwrap();
    let said = events.iter().find_map(|stored| match body(&world, stored) {
        Body::ModelFailed(failed) => failed.error.shown().cloned(),
        _ => None,
    });
    let said = said.expect("it is on record");
    assert!(said.contains("the key [secret:db] is not known there") && !said.contains(VALUE), "{said}");
}

#[test]
fn without_the_value_of_a_secret_it_names_a_store_does_no_work_and_then_goes_on() {
    let mut world = knowing(906);
    world.file("notes.txt", VALUE);
    let task = world.script("look", vec![look("notes.txt"), done("seen")]);
    world.redactor.put(Redactor::default());
    assert_eq!(world.drive(task), DriveOutcome::KeyLocked);
    world.reopen();
    assert_eq!(
        world.drive(task),
        DriveOutcome::KeyLocked,
        "the next host knows from the log that it is blind"
    );
    know(&world);
    assert!(matches!(world.drive(task), DriveOutcome::Ended { status: TaskStatus::Completed, .. }));
    assert!(!told(&world, task).contains(VALUE));
}

#[test]
fn a_handle_is_registered_with_hosts_only_when_its_value_is_known_and_is_forgotten_once() {
    let world = knowing(907);
    let kernel = world.kernel();
    let refused = kernel.register_secret("other", &SecretTerms::default(), "test");
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    for host in ["example.org", "example.org:0", ":443", "a b:443:"] {
        let refused = kernel.register_secret("db", &SecretTerms::at(&[host.to_owned()]), "test");
        assert!(matches!(refused, Err(Error::Input(_))), "{host}: {refused:?}");
    }
    assert!(matches!(kernel.register_secret("Db", &SecretTerms::default(), "test"), Err(Error::Input(_))));
    assert_eq!(kernel.secrets()["db"].hosts, ["db.example.org:5432"]);
    kernel.remove_secret("db").unwrap();
    assert!(kernel.secrets().is_empty());
    assert!(matches!(kernel.remove_secret("db"), Err(Error::NotFound { .. })));
}

#[test]
fn a_value_is_taken_out_of_an_answer_that_has_a_number_without_a_canonical_form() {
    let world = knowing(911);
    world.file("notes.txt", "first\n");
    let shares = json!({ "path": "notes.txt", "note": VALUE, "share": 0.5, "most": 1e300 });
    let task = world.script("share", vec![say("read", shares), done("left it")]);
    let (standing, _) = world.drive_allowing(task);
    assert_eq!(
        standing,
        DriveOutcome::Ended { status: TaskStatus::Completed, reason: Some(TerminationReason::Done) }
    );
    let all = told(&world, task);
    assert!(!all.contains(VALUE), "{all}");
    assert!(all.contains("0.5"), "{all}");
}

#[test]
fn what_a_look_into_a_file_of_secrets_brought_is_told_to_its_task_and_found_by_no_words() {
    let world = World::new(909);
    world.file(".env", "PET=flamingo\n");
    world.file("pets.txt", "PET=pelican\n");
    let search = |path: &str| say("search", json!({ "path": path, "pattern": "PET" }));
    let answers = vec![search("pets.txt"), search(".env"), look(".env"), done("ok")];
    let task = world.script("find the pets", answers);
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(
        standing,
        DriveOutcome::Ended { status: TaskStatus::Completed, reason: Some(TerminationReason::Done) }
    );
    assert_eq!(asked, 2, "both looks into the file of secrets");
    let kernel = world.kernel();
    let state = kernel.task(task).unwrap();
    let texts = |kinds: &[ArtifactKind]| -> Vec<(bool, String)> {
        let of_kinds = state.artifacts.values().filter(|artifact| kinds.contains(&artifact.kind));
        let told = of_kinds.map(|artifact| {
            let bytes = kernel.artifacts().read(&artifact.content_hash).unwrap();
            (artifact.sensitivity_class == Sensitivity::Secret, String::from_utf8(bytes).unwrap())
        });
        told.collect()
    };
    // It was allowed for exactly this: whoever asked is shown it.
    let packs = texts(&[ArtifactKind::ContextPack]);
    assert!(packs.iter().any(|(_, pack)| pack.contains("flamingo")), "{packs:?}");
    let brought = texts(&[ArtifactKind::SearchBundle, ArtifactKind::ActionResult]);
    for (is_secret, text) in &brought {
        assert_eq!(*is_secret, text.contains("flamingo"), "{text}");
    }
    assert_eq!(
        brought.iter().filter(|(_, text)| text.contains("flamingo")).count(),
        2,
        "a search and a read"
    );
    let query = kernel.query().unwrap();
    let hits = |words: &str| query.search(words, Ask::default()).unwrap().rows.len();
    assert_eq!((hits("pelican") > 0, hits("flamingo")), (true, 0));
}

/// A task that proposes these in a folder with a file of secrets and a repository, by a kernel whose commands have walls.
fn beside_secrets(world: &mut World, answers: Vec<Answer>) -> (Kernel, TaskId) {
    world.file(".env", "PET=flamingo\n");
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    world.file(".git/config", "[core]\n\tbare = false\n");
    world.reasoners.script("commit", answers);
    let mut submission = world.submission("commit", Reasoning::Scripted { name: "commit".to_owned() });
    submission.profile = model::policy::Profile::ExternalPublishGated;
    world.crash();
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    let kernel = Kernel::open(world.store.path(), Ports { executors, ..ports }).unwrap();
    let task = kernel.submit(&submission).unwrap().task_id;
    (kernel, task)
}

#[test]
fn what_git_prints_in_a_folder_with_a_file_of_secrets_is_found_by_words_unless_it_names_that_file() {
    let mut world = World::new(912);
    let answers = vec![
        command(&["git", "commit", "-m", "x"]),
        command(&["git", "commit", "-F", ".env"]),
        command(&["git", "stash", "-u"]),
        done("ok"),
    ];
    let (kernel, task) = beside_secrets(&mut world, answers);
    drive_allowing(&world, &kernel, task);
    let state = kernel.task(task).unwrap();
    let printed = state.artifacts.values().filter(|kept| kept.kind == ArtifactKind::CommandTranscript);
    let mut secret: Vec<bool> = printed.map(|kept| kept.sensitivity_class == Sensitivity::Secret).collect();
    secret.sort_unstable();
    assert_eq!(secret, [false, true, true]);
    assert!(!kernel.query().unwrap().search("hello", Ask::default()).unwrap().rows.is_empty());
}

#[test]
fn a_yes_for_an_act_of_git_beside_secrets_holds_no_more_where_the_repository_starts_a_program_since() {
    let mut world = World::new(914);
    let answers = vec![command(&["git", "commit", "-m", "x"]), done("ok")];
    let (kernel, task) = beside_secrets(&mut world, answers);
    let DriveOutcome::Waiting(Waiting::Approval(id)) = kernel.drive(task).unwrap() else {
        panic!("nobody was asked");
    };
    world.file(".git/hooks/pre-commit", "cat .env\n");
    world.person.allow(&kernel, task, id).unwrap();
    drive_allowing(&world, &kernel, task);
    let drifted: Vec<String> = events(&kernel, task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::WitnessDrifted(drifted) => Some(format!("{:?}", drifted.differences)),
            _ => None,
        })
        .collect();
    assert!(matches!(&drifted[..], [one] if one.contains("`.env` may be read by it now")), "{drifted:?}");
}

#[test]
fn what_a_model_repeats_of_a_secret_that_it_looked_at_is_found_by_no_words_and_the_rest_of_its_answer_is() {
    let world = World::new(913);
    world.file(".env", "PET=flamingo\n");
    let task = world.script("which pet?", vec![look(".env"), done("It is a flamingo, which is a bird.")]);
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(
        standing,
        DriveOutcome::Ended { status: TaskStatus::Completed, reason: Some(TerminationReason::Done) }
    );
    assert_eq!(asked, 1);
    assert!(told(&world, task).contains("a flamingo, which"), "whoever asked is told");
    let query = world.kernel().query().unwrap();
    let hits = |words: &str| query.search(words, Ask::default()).unwrap().rows.len();
    assert_eq!((hits("bird") > 0, hits("flamingo")), (true, 0));
}
