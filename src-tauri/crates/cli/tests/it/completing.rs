//! What a shell offers at TAB, by running the program as a shell's script does.

use crate::bench::{Bench, Ran, text};

/// What is offered for the last of the words, a line each: fish shows the words beside a value, too.
fn offered(bench: &Bench, shell: &str, words: &[&str]) -> Ran {
    let index = words.len().to_string();
    let arguments: Vec<&str> = ["--", "hermit"].iter().chain(words).copied().collect();
    let environment =
        [("HERMIT_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", index.as_str()), ("_CLAP_IFS", "\n")];
    let ran = bench.run_with(&arguments, &environment).ends_with(0);
    assert_eq!(ran.err, "", "nothing is said into the line that is typed");
    ran
}

fn lines(bench: &Bench, shell: &str, words: &[&str]) -> Vec<String> {
    offered(bench, shell, words).out.lines().map(str::to_owned).collect()
}

/// The end of an identifier, as lists show it.
pub fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

#[test]
fn a_shell_offers_what_the_store_holds_the_newest_first_and_takes_nothing_from_it() {
    let bench = Bench::new();
    let (done, receipt) = bench.tidied();
    let folder = bench.folder();
    let later = bench.run(&[
        "run",
        "--playbook",
        "tidy",
        "--workspace",
        folder.to_str().unwrap(),
        "--json",
        "--title",
        "new\u{1b}[31m \u{202e}files",
    ]);
    let later = text(&later.json()["row"]["task_id"]);
    std::fs::write(bench.folder().join("d.txt"), "delta").unwrap();
    let (waiting, approval) = bench.waiting();
    let held = std::fs::read_dir(bench.home()).unwrap().count();

    for shell in ["bash", "zsh", "fish"] {
        let tasks = lines(&bench, shell, &["task", "show", ""]);
        let at = |id: &str| {
            tasks
                .iter()
                .position(|line| line.starts_with(short(id)))
                .unwrap_or_else(|| panic!("{id} in {tasks:?}"))
        };
        assert!(at(&waiting) < at(&later) && at(&later) < at(&done), "{tasks:?}");
        assert!(!tasks.iter().any(|line| line.contains("--json")), "flags follow a dash: {tasks:?}");
        assert!(lines(&bench, shell, &["task", "show", "--js"])[0].starts_with("--json"));
        let open = lines(&bench, shell, &["task", "cancel", ""]);
        assert!(open.len() == 1 && open[0].starts_with(short(&waiting)), "{open:?}");
        let one = lines(&bench, shell, &["task", "show", &done[..20]]);
        assert!(one.iter().any(|line| line.starts_with(&done)), "whole to whoever began it: {one:?}");
        let asked = lines(&bench, shell, &["approvals", "approve", ""]);
        assert!(asked.len() == 1 && asked[0].starts_with(short(&approval)), "{asked:?}");
        for words in [&["receipts", "show", ""][..], &["rollback", ""], &["proof", "export", ""]] {
            let found = lines(&bench, shell, words);
            assert!(found.iter().any(|line| line.starts_with(short(&receipt))), "{words:?}: {found:?}");
        }
        let profiles = lines(&bench, shell, &["run", "--profile", "dest"]);
        assert!(profiles.len() == 1 && profiles[0].starts_with("destructive_denied"), "{profiles:?}");
        let playbooks = lines(&bench, shell, &["run", "--playbook", "ti"]);
        assert!(playbooks.iter().any(|line| line.starts_with("tidy")), "{playbooks:?}");
    }
    // The words beside a value are a task's, and nothing in them reaches a terminal as a command.
    let shown = offered(&bench, "fish", &["task", "show", short(&later)]).out;
    assert!(shown.contains(r"new\u{1b}[31m \u{202e}files"), "{shown:?}");
    assert_eq!(shown.lines().count(), 1, "{shown:?}");
    assert_eq!(std::fs::read_dir(bench.home()).unwrap().count(), held, "nothing is made by looking");
}

#[test]
fn the_settings_are_offered_and_what_a_shell_would_run_is_not() {
    let bench = Bench::new();
    let models = ["openai:http://127.0.0.1:8080/v1#qwen", "openai:http://127.0.0.1:8080/v1#$(touch hit)"];
    let config = serde_json::json!({
        "default_model": models[0],
        "models": [{ "address": models[1], "context": 4096 }],
        "providers": [{ "url": "https://api.example.com/v1", "secret": "example" }],
    });
    std::fs::write(bench.home().join("config.json"), config.to_string()).unwrap();
    assert_eq!(lines(&bench, "bash", &["models", "use", ""]), [models[0]]);
    assert_eq!(lines(&bench, "bash", &["models", "rm", ""]), ["https://api.example.com/v1"]);
    assert!(lines(&bench, "fish", &["models", "use", ""])[0].ends_with("\tthe default"));
    // Bash breaks the word, and takes back its last piece.
    let pieces = ["models", "use", "openai", ":", "http", ":", "//1"];
    assert_eq!(lines(&bench, "bash", &pieces), ["//127.0.0.1:8080/v1#qwen"]);
    assert_eq!(lines(&bench, "bash", &["run", "--profile", "=", "dest"]), ["destructive_denied"]);
}

#[test]
fn where_there_is_no_store_or_a_damaged_one_nothing_is_said_and_nothing_made() {
    let bench = Bench::bare();
    assert_eq!(offered(&bench, "bash", &["receipts", "show", ""]).out.matches('_').count(), 0);
    assert!(!bench.home().exists());
    assert!(lines(&bench, "bash", &["playbooks", ""]).contains(&"tidy".to_owned()), "these need no store");
    // Another store, as the line names it.
    let other = Bench::new();
    let (task, _) = other.waiting();
    let home = other.home();
    let named = lines(&bench, "bash", &["--home", home.to_str().unwrap(), "task", "show", ""]);
    assert_eq!(named, [short(&task)]);
    std::fs::write(home.join("ledger.db"), "no database").unwrap();
    let named = lines(&bench, "bash", &["--home", home.to_str().unwrap(), "task", "show", ""]);
    assert!(!named.contains(&short(&task).to_owned()), "{named:?}");
}
