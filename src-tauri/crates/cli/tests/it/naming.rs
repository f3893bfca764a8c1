//! Things are called by what they are: files by their paths, acts in sentences, tasks by what they did and what became
//! of it.

use crate::bench::{Bench, real, text};
use crate::forgetting::{call, model};
use serde_json::json;
use std::path::Path;

/// A model reads a note whose name has a blank in it and writes a summary; the person allows it.
fn summarised(bench: &Bench) -> String {
    std::fs::write(bench.home().join("config.json"), "{\"context_tokens\": 32000}").unwrap();
    std::fs::create_dir(bench.folder().join("notes")).unwrap();
    std::fs::write(bench.folder().join("notes/meeting 1.md"), "the roof leaks\n").unwrap();
    let address = model(vec![
        call("read", &json!({ "path": "notes/meeting%201.md" })),
        call("write", &json!({ "path": "SUMMARY.md", "content": "fix the roof\n" })),
        call("done", &json!({ "summary": "written" })),
    ]);
    let folder = bench.folder();
    let words = [
        "run",
        "--goal",
        "summarise the notes",
        "--model",
        &address,
        "--workspace",
        folder.to_str().unwrap(),
    ];
    let ran = bench.run(&[&words[..], &["--json"]].concat()).ends_with(4).json();
    let task = text(&ran["row"]["task_id"]);
    bench.allow(&task, &text(&ran["waits_for"]["id"]));
    task
}

#[test]
fn a_file_that_was_read_is_recalled_by_its_path_and_what_came_of_it_is_explained_in_sentences() {
    let bench = Bench::new();
    let task = summarised(&bench);
    let note = bench.folder().join("notes").join("meeting 1.md");
    let recalled = bench.run(&["recall", note.to_str().unwrap()]).ends_with(0).out;
    assert!(recalled.contains("meeting 1.md\", as read"), "{recalled}");
    assert!(
        recalled.contains("hermit rollback rcp_"),
        "what was written from it is in the plan:\n{recalled}"
    );
    let lineage = bench.run(&["artifacts", "lineage", note.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert!(text(&lineage["artifact_id"]).starts_with("art_"), "{lineage}");
    let by_path = bench.run(&["search", &format!("{}:1", note.display())]).ends_with(0).out;
    assert!(by_path.contains("meeting 1.md"), "{by_path}");
    let never = bench.folder().join("notes").join("meeting 2.md");
    bench.run(&["recall", never.to_str().unwrap()]).ends_with(1);

    let summary = format!("{}:1", bench.folder().join("SUMMARY.md").display());
    let plain = bench.run(&["explain", &summary]).ends_with(0).out;
    for part in [
        "What was done on ",
        "for the task: summarise the notes",
        "a person was asked",
        "meeting 1.md",
        "hermit rollback rcp_",
    ] {
        assert!(plain.contains(part), "{part} in:\n{plain}");
    }
    assert!(!plain.contains("art_") && !plain.contains("apr_") && !plain.contains("%20"), "{plain}");
    let long = bench.run(&["explain", &summary, "--ids"]).ends_with(0).out;
    assert!(long.contains("art_") && long.len() > plain.len(), "{long}");

    let found = bench.run(&["search", "summarise"]).ends_with(0).out;
    let headings = found.lines().filter(|line| line.starts_with("20")).collect::<Vec<_>>();
    assert_eq!(
        headings.iter().filter(|line| line.contains(&task)).count(),
        1,
        "one heading for the task:\n{found}"
    );
    assert!(found.contains("summarise the notes") && !found.contains("\\u{a}"), "{found}");
    let hits = bench.run(&["search", "SUMMARY", "--json"]).ends_with(0).json();
    let rows = hits["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|hit| hit["kind"] == "receipt" && text(&hit["id"]).starts_with("rcp_")),
        "{hits}"
    );
    // What was kept is told by what it is, under its task.
    let hits = bench.run(&["search", "meeting", "--json"]).ends_with(0).json();
    let kept = hits["rows"].as_array().unwrap().iter().find(|hit| hit["kind"] == "artifact");
    let kept = kept.unwrap_or_else(|| panic!("what was read: {hits}"));
    assert_eq!(kept["title"], "summarise the notes", "{kept}");
    let what = text(&kept["what"]);
    assert!(what.starts_with("result of an action, ") && what.contains("meeting 1.md"), "{kept}");
    assert!(bench.run(&["search", "meeting"]).ends_with(0).out.contains(&what));
}

#[test]
fn a_file_that_is_searched_for_leads_to_the_receipt_that_moved_it() {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    let hits = bench.run(&["search", "b.jpg", "--json"]).ends_with(0).json();
    let first = &hits["rows"][0];
    assert_eq!((text(&first["kind"]), text(&first["id"])), ("receipt".to_owned(), receipt), "{hits}");
    let told = text(&first["excerpt"]);
    assert!(told.starts_with("b.jpg, moved to ") && told.ends_with("/b.jpg"), "{told}");
    let shown = bench.run(&["search", "b.jpg"]).ends_with(0).out;
    assert!(shown.contains(&told), "{shown}");
    assert!(!bench.run(&["search", "nothing.jpg"]).ends_with(0).out.contains("moved"));
}

#[test]
fn a_playbook_keeps_its_own_title_and_says_that_it_does_not_read_the_goal() {
    let bench = Bench::new();
    let folder = bench.folder();
    let words = ["run", "--playbook", "inventory", "--workspace", folder.to_str().unwrap()];
    // It writes its table, and waits for the answer about it.
    let ran = bench.run(&[&words[..], &["--goal", "sort them by year"]].concat()).ends_with(4);
    assert!(ran.err.contains("does not read the goal"), "{} {}", ran.err, ran.out);
    let listed = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(text(&listed["rows"][0]["title"]), "Inventory folder", "{listed}");
}

#[test]
fn a_list_tells_tasks_apart_by_name_and_folder_and_says_what_was_undone() {
    let bench = Bench::new();
    let (task, receipt) = bench.tidied();
    let listed = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let row = |listed: &serde_json::Value| {
        listed["rows"].as_array().unwrap().iter().find(|row| row["task_id"] == task.as_str()).unwrap().clone()
    };
    assert_eq!(row(&listed)["title"], "Tidy folder");
    assert_eq!(row(&listed)["undone"], serde_json::Value::Null);
    assert!(Path::new(&text(&row(&listed)["workspace"])).ends_with("folder"), "{listed}");
    let planned = bench.run(&["rollback", &receipt, "--json"]).ends_with(4).json();
    bench.allow(&text(&planned["row"]["task_id"]), &text(&planned["waits_for"]["id"]));
    let listed = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(row(&listed)["undone"], "all", "{listed}");
    let shown = bench.run(&["task", "list"]).ends_with(0).out;
    let line = shown.lines().find(|line| line.contains(&task[task.len() - 8..])).unwrap();
    assert!(line.contains("undone") && line.contains("Tidy folder"), "{line}");

    // A host that died in the middle leaves a task that nobody works on.
    let vault = bench.path("vault");
    let folder = bench.folder();
    let words = ["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--json"];
    let environment = [
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_FAULT", "context.compile:after:abort"),
    ];
    assert_ne!(bench.run_with(&words, &environment).code, 4);
    let listed = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let all = listed["rows"].as_array().unwrap();
    assert!(all.iter().any(|row| row["interrupted"] == true), "{listed}");
}

#[test]
fn folders_are_listed_with_the_project_that_they_belong_to() {
    let bench = Bench::new();
    let none = bench.run(&["workspace", "list"]).ends_with(0).out;
    assert!(none.contains("no folder"), "{none}");
    bench.waiting();
    let listed = bench.run(&["workspace", "list", "--json"]).ends_with(0).json();
    assert_eq!(text(&listed["workspaces"][0]["project_source"]), "folder");
    std::fs::create_dir(bench.folder().join(".git")).unwrap();
    let url = "[remote \"origin\"]\n\turl = https://alice:s3cret@code.example/app.git\n";
    std::fs::write(bench.folder().join(".git/config"), url).unwrap();
    let folder = bench.folder();
    bench.run(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--json"]);
    let listed = bench.run(&["workspace", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["workspaces"].as_array().unwrap().len(), 1);
    let one = &listed["workspaces"][0];
    assert_eq!(text(&one["folder"]), real(&bench.folder()));
    assert_eq!(text(&one["project_source"]), "remote");
    let hash = text(&one["project_hash"]);
    assert_eq!(hash.len(), 64);
    let shown = bench.run(&["workspace", "list"]).ends_with(0).out;
    assert!(shown.contains(&hash[..12]) && shown.contains("remote") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn tasks_are_listed_by_project_and_the_folder_worked_in_last_comes_first() {
    let bench = Bench::new();
    bench.waiting();
    let other = bench.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.txt"), "a\n").unwrap();
    bench.run(&["run", "--playbook", "tidy", "--workspace", other.to_str().unwrap(), "--json"]);
    let listed = bench.run(&["workspace", "list", "--json"]).ends_with(0).json();
    let rows = listed["workspaces"].as_array().unwrap();
    let told: Vec<_> =
        rows.iter().map(|one| (text(&one["folder"]), one["tasks"].clone(), one["waiting"].clone())).collect();
    assert_eq!(told, [(real(&other), 1.into(), 1.into()), (real(&bench.folder()), 1.into(), 1.into())]);
    let tasks = |folder: &Path| {
        let found = bench.run(&["task", "list", "--json", "--workspace", folder.to_str().unwrap()]);
        let found = found.ends_with(0).json();
        found["rows"].as_array().unwrap().iter().map(|row| text(&row["task_id"])).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&other), [text(&rows[0]["last_task_id"])]);
    assert_eq!(tasks(&bench.folder()), [text(&rows[1]["last_task_id"])]);
    let none = bench.run(&["task", "list", "--workspace", bench.path("nowhere").to_str().unwrap()]);
    assert!(none.err.contains("no task worked in"), "{}", none.err);
}
