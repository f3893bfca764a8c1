//! What a person erases of one artifact is in nothing any more that was made of it.

use crate::home::Home;
use api::Host as _;
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use kernel::command::submit::{Reasoning, Submission};
use model::Clock as _;
use model::artifact::ArtifactKind;
use model::policy::Profile;
use projections::ArtifactState;
use projections::query::{ArtifactFilter, Ask};
use projections::rows::ArtifactRow;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use testkit::{done, look, say};

const PLANTED: &str = "quokka zanzibar 7731 under the third stone";

/// Artifacts whose content can be read and holds the words.
fn holding(home: &Home) -> Vec<ArtifactRow> {
    let (query, mut ask, mut found) = (home.query().unwrap(), Ask::ALL, Vec::new());
    loop {
        let page = query.artifacts(&ArtifactFilter::default(), ask).unwrap();
        found.extend(page.rows.into_iter().filter(|row| {
            let bytes = home.artifacts().unwrap().read(&row.content_hash).unwrap_or_default();
            row.state != ArtifactState::Expired && holds(&bytes)
        }));
        match page.next {
            Some(next) => ask = Ask::ALL.after(Some(next)),
            None => return found,
        }
    }
}

fn holds(bytes: &[u8]) -> bool {
    bytes.windows(PLANTED.len()).any(|window| window == PLANTED.as_bytes())
}

fn kinds(rows: &[ArtifactRow]) -> BTreeSet<String> {
    rows.iter().map(|row| row.kind.to_string()).collect()
}

fn is_made_of_others(row: &ArtifactRow) -> bool {
    use ArtifactKind as K;
    matches!(
        row.kind,
        K::ContextPack
            | K::ContextSummary
            | K::AnswerCheck
            | K::ModelRequest
            | K::ModelResponse
            | K::ModelAnswer
            | K::WorkingState
    )
}

/// Erases an artifact as it is planned, as a person does.
fn erase(home: &Home, artifact: &str) -> Value {
    let plan = home.must("erasure.plan", json!({ "artifact": artifact }));
    let rows = |name: &str| plan[name].as_array().unwrap().clone();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let mut erasure = Erasure {
        values: rows("values").iter().map(|row| text(row, "digest").parse().unwrap()).collect(),
        contents: rows("contents")
            .iter()
            .map(|row| (text(row, "artifact_id").parse().unwrap(), text(row, "sha256").parse().unwrap()))
            .collect(),
        written: rows("written").iter().map(|row| text(row, "sha256").parse().unwrap()).collect(),
        tasks: rows("tasks").iter().map(|row| row.as_str().unwrap().parse().unwrap()).collect(),
    };
    erasure.values.sort_unstable();
    erasure.contents.sort_unstable();
    erasure.written.sort_unstable();
    erasure.tasks.sort_unstable();
    let (world, kernel) = (&home.world, home.world.kernel());
    let (log_id, now) = (kernel.reader().log_id().to_owned(), world.clock.now());
    let sha256 = erasure.sha256().unwrap();
    let signed = Signed::of(&log_id, Matter::Erase, sha256, now, world.person.signer()).unwrap();
    kernel.erase(&erasure, &signed).unwrap();
    plan
}

/// Files below a folder that hold the words.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false if holds(&std::fs::read(&path).unwrap_or_default()) => vec![path.display().to_string()],
            false => Vec::new(),
        })
        .collect()
}

#[test]
fn what_is_erased_of_one_artifact_is_in_no_context_no_request_and_no_check_of_it() {
    let home = Home::new(176);
    home.world.file("notes.txt", &format!("The first line of the notes.\n\t\"{PLANTED}\" is said here.\n"));
    home.world.file("other.txt", "Something else that stays as it is.\n");
    let asked = vec![look("notes.txt"), look("other.txt"), done("Both were read.")];
    let task = home.world.script("read them", asked);
    home.world.drive(task);
    let there = holding(&home);
    assert!(there.iter().any(|row| row.kind == ArtifactKind::ContextPack), "{:?}", kinds(&there));
    let sources: Vec<&ArtifactRow> = there.iter().filter(|row| !is_made_of_others(row)).collect();
    let first = sources.first().expect("what was seen").artifact_id;
    erase(&home, &first.to_string());
    let left = holding(&home);
    assert!(!left.iter().any(is_made_of_others), "{:?} of {:?}", kinds(&left), kinds(&there));
    // What was seen besides is there, and what else holds the words is erased by itself.
    let shown = home.must("task.show", json!({ "task": task.to_string() }));
    assert_eq!(shown["row"]["task_id"], task.to_string());
    for row in left {
        erase(&home, &row.artifact_id.to_string());
    }
    assert_eq!(kinds(&holding(&home)), BTreeSet::new());
    home.world.kernel().scrub().unwrap();
    assert_eq!(files(home.world.store.path()), Vec::<String>::new());
}

#[test]
fn what_was_searched_drafted_and_tested_goes_with_its_task_and_a_test_with_its_words() {
    let home = Home::new(178);
    home.world.file("notes.txt", "alpha\n");
    let goal = "search, and delete nothing";
    let answers = vec![
        say("search", json!({ "pattern": "alpha" })),
        say("delete", json!({ "path": "notes.txt" })),
        done("not deleted"),
    ];
    home.world.reasoners.script(goal, answers);
    let submission = home.world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let (profile, done_when) = (Profile::ReadonlyAnalysis, vec!["file: notes.txt".to_owned()]);
    let task = home.world.kernel().submit(&Submission { profile, done_when, ..submission }).unwrap().task_id;
    home.world.drive_allowing(task);
    let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
    let made = home.query().unwrap().artifacts(&filter, Ask::ALL).unwrap().rows;
    let goes = |plan: &Value, kind: ArtifactKind| {
        let row = made.iter().find(|row| row.kind == kind).unwrap_or_else(|| panic!("no {kind}"));
        let id = json!(row.artifact_id.to_string());
        plan["contents"].as_array().unwrap().iter().any(|content| content["artifact_id"] == id)
    };
    let plan = home.must("erasure.plan", json!({ "task": task.to_string() }));
    for kind in [ArtifactKind::SearchBundle, ArtifactKind::Patch, ArtifactKind::TestReport] {
        assert!(goes(&plan, kind), "{kind} stays: {plan}");
    }
    // What a person said must hold: where these words go, the report that repeats them does.
    let values = plan["values"].as_array().unwrap();
    let checked = values.iter().find(|value| value["event_type"] == "task.criteria_checked");
    let words = checked.expect("what was checked")["digest"].clone();
    let of_words = home.must("erasure.plan", json!({ "value": words }));
    assert!(goes(&of_words, ArtifactKind::TestReport), "{of_words}");
    assert!(!goes(&of_words, ArtifactKind::SearchBundle), "{of_words}");
}
