//! Every playbook on a folder of many loose files: one question about all of them, whatever their number.
//!
//! More than the 1,100 files at which `tidy` once met the limit of its turns; `npm run bench -- playbooks 100000` says how
//! each fares with as many.

use super::stage::Stage;
use std::path::Path;
use std::time::Instant;

/// Loose files in the suite.
const FILES: usize = 1_200;
/// Of so many files one is a copy of the one before.
const COPIES: usize = 10;

fn files() -> usize {
    std::env::var("HERMIT_PLAYBOOK_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(FILES)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Loose files of four kinds, every tenth a copy of the one before it.
fn lay(folder: &Path, many: usize) {
    for (at, kind) in ["jpg", "pdf", "txt", "zip"].iter().cycle().take(many).enumerate() {
        let of = if at % COPIES == COPIES - 1 { at - 1 } else { at };
        std::fs::write(folder.join(format!("File {at:06}.{kind}")), format!("{of}\n")).expect("a file");
    }
}

/// Names of the playbooks that come with Hermit.
fn playbooks(stage: &Stage) -> Vec<String> {
    let listed = stage.hermit(&["playbooks"]).ends(0).json();
    let rows = listed["playbooks"].as_array().expect("playbooks").clone();
    rows.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
}

/// Asks a playbook about a folder, and gives the approval that it waits for.
fn asks(stage: &Stage, name: &str, folder: &Path) -> String {
    // What renames by case has something to rename in every folder.
    let more: &[&str] = if name == "rename" { &["--param", "lower_case=yes"] } else { &[] };
    let words = [&["run", "--playbook", name, "--workspace", text(folder)], more].concat();
    let ran = stage.hermit(&words).ends(4).json();
    ran["waits_for"]["id"].as_str().expect("an approval").to_owned()
}

/// All playbooks of one store, each in a folder of its own: a store, its keys and a program that starts cost more than
/// what a playbook does with so many files.
#[test]
fn every_playbook_asks_once_about_all_files_of_a_large_folder() {
    let many = files();
    let stage = Stage::new();
    let names = playbooks(&stage);
    assert!(names.len() >= 5, "{names:?}");
    for (waited, name) in names.iter().enumerate() {
        let folder = stage.at(name);
        std::fs::create_dir(&folder).expect("a folder");
        lay(&folder, many);
        if name == "changes" {
            // What changed since has a question only against a list of before.
            assert_eq!(stage.approve(&asks(&stage, "inventory", &folder)).0, 0);
            let listed = std::fs::read_to_string(folder.join("INVENTORY.csv")).expect("a list");
            assert_eq!(listed.lines().count(), many + 1, "a head and every file");
            std::fs::write(folder.join("File 000000.jpg"), "other\n").expect("a file");
        }
        let begun = Instant::now();
        let approval = asks(&stage, name, &folder);
        let waiting = stage.waiting();
        assert_eq!(waiting.len(), waited + 1, "`{name}` asks once");
        let row = waiting.iter().find(|row| row["approval_id"] == *approval).expect("it waits");
        let summary = row["summary"].as_str().expect("a summary");
        let files = |many: usize| format!("{} files", model::grouped(many as u64));
        let expected = match name.as_str() {
            "tidy" | "rename" => files(many),
            "duplicates" => files(many / COPIES),
            "inventory" => "INVENTORY.csv".to_owned(),
            _ => "CHANGES.md".to_owned(),
        };
        assert!(summary.contains(&expected), "`{name}` over {many} files asks to {summary}");
        let shown = stage.hermit(&["approvals", "show", &approval]).ends(0).json();
        assert_eq!(shown["row"]["summary"], row["summary"], "its card opens");
        println!(
            "playbooks: {name} over {many} files asks after {:.1} s to {summary}",
            begun.elapsed().as_secs_f64()
        );
    }
}
