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

#[test]
fn every_playbook_asks_once_about_all_files_of_a_large_folder() {
    let many = files();
    let listed = Stage::new().hermit(&["playbooks"]).ends(0).json();
    let names: Vec<&str> = listed["playbooks"]
        .as_array()
        .expect("playbooks")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let stage = Stage::new();
        lay(&stage.work(), many);
        let work = stage.work();
        // What changed since has a question only against a list of before.
        let more: &[&str] = match name {
            "rename" => &["--param", "lower_case=yes"],
            "changes" => {
                let (_, approval) = stage.asks("inventory");
                assert_eq!(stage.approve(&approval).0, 0);
                let listed = std::fs::read_to_string(work.join("INVENTORY.csv")).expect("a list");
                assert_eq!(listed.lines().count(), many + 1, "a head and every file");
                std::fs::write(work.join("File 000000.jpg"), "other\n").expect("a file");
                &[]
            }
            _ => &[],
        };
        let begun = Instant::now();
        let words = [&["run", "--playbook", name, "--workspace", text(&work)], more].concat();
        let ran = stage.hermit(&words).ends(4).json();
        let approval = ran["waits_for"]["id"].as_str().expect("an approval").to_owned();
        assert_eq!(stage.waiting().len(), 1, "`{name}` asks once");
        let shown = stage.hermit(&["approvals", "show", &approval]).ends(0).json();
        let summary = shown["row"]["summary"].as_str().expect("a summary").to_owned();
        let expected = match name {
            "tidy" | "rename" => format!("{many} files"),
            "duplicates" => format!("{} files", many / COPIES),
            "inventory" => "INVENTORY.csv".to_owned(),
            _ => "CHANGES.md".to_owned(),
        };
        assert!(summary.contains(&expected), "`{name}` over {many} files asks to {summary}");
        println!(
            "playbooks: {name} over {many} files asks after {:.1} s to {summary}",
            begun.elapsed().as_secs_f64()
        );
    }
}
