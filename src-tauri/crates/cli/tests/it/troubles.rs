//! What goes wrong says what it is and what to do.

use crate::bench::{Bench, Ran};

fn told(ran: &Ran, word: &str) {
    assert!(ran.err.contains(word), "`{word}` is not in:\n{}\n{}", ran.err, ran.out);
    assert!(ran.err.contains("hint:"), "no hint in:\n{}", ran.err);
    for word in ["panicked", "Err(", "unwrap", "::"] {
        assert!(!ran.err.contains(word), "`{word}` is in:\n{}", ran.err);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let bench = Bench::new();
    told(&bench.run(&["run", "--playbook", "tidy", "--workspace", "nowhere"]).ends_with(1), "nowhere");
    told(&bench.run(&["run", "--playbook", "tidy", "--workspace", "vault"]).ends_with(1), "it is no folder");
}

#[test]
fn the_store_is_no_workspace() {
    let bench = Bench::new();
    let home = bench.home();
    told(
        &bench.run(&["run", "--playbook", "tidy", "--workspace", home.to_str().unwrap()]).ends_with(3),
        "own store",
    );
}

#[test]
fn a_folder_that_holds_the_vaults_passphrase_is_no_workspace() {
    let bench = Bench::new();
    let inside = bench.folder().join("notes/pass");
    std::fs::create_dir(bench.folder().join("notes")).unwrap();
    std::fs::copy(bench.path("vault"), &inside).unwrap();
    let run = ["run", "--playbook", "tidy", "--workspace", "folder"];
    let ran = bench.run_with(&run, &[("HERMIT_PASSPHRASE_FILE", inside.to_str().unwrap())]);
    told(&ran.ends_with(3), "the vault's passphrase lies in this folder");
    bench.run(&run).ends_with(4);
}

#[test]
fn a_playbook_that_is_none_is_refused_before_anything_is_recorded() {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.yaml"), "name: [unclosed\n").unwrap();
    told(
        &bench.run(&["run", "--playbook", "./mine.yaml", "--workspace", "folder"]).ends_with(2),
        "mine.yaml",
    );
    told(&bench.run(&["run", "--playbook", "nonsense", "--workspace", "folder"]).ends_with(1), "nonsense");
    told(
        &bench
            .run(&["run", "--playbook", "tidy", "--param", "colour=red", "--workspace", "folder"])
            .ends_with(2),
        "colour",
    );
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(tasks["rows"].as_array().unwrap().len(), 0);
}

#[test]
fn a_model_that_is_down_leaves_the_task_as_it_is_and_says_what_to_do() {
    let bench = Bench::new();
    // A port that was free a moment ago: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let model = format!("openai:http://127.0.0.1:{port}/v1#nobody");
    let ran =
        bench.run(&["run", "--goal", "say hello", "--model", &model, "--workspace", "folder"]).ends_with(1);
    assert!(ran.err.contains("nothing answers at") && ran.err.contains("hermit task resume"), "{}", ran.err);
}

#[test]
fn a_wrong_vault_passphrase_is_told_and_nothing_is_lost() {
    let bench = Bench::new();
    std::fs::write(bench.path("wrong"), "something else").unwrap();
    let wrong = bench.path("wrong");
    let ran = bench.run_with(&["resume"], &[("HERMIT_PASSPHRASE_FILE", wrong.to_str().unwrap())]);
    told(&ran.ends_with(4), "is not the vault passphrase");
}

#[test]
fn keys_are_made_once() {
    let bench = Bench::new();
    told(&bench.keys().ends_with(1), "already there");
}

#[test]
fn first_steps_without_a_terminal_say_what_is_left_and_end_with_zero() {
    let bench = Bench::bare();
    let ran = bench.run(&["start", "--workspace", "folder"]).ends_with(0);
    assert!(ran.out.contains("hermit keys init"), "{}", ran.out);
    bench.keys().ends_with(0);
    let ran = bench.run(&["start", "--workspace", "folder"]).ends_with(0);
    assert!(ran.out.contains("hermit approvals approve"), "{}", ran.out);
}

#[test]
fn a_setting_that_does_not_exist_is_refused_by_name() {
    let bench = Bench::new();
    std::fs::write(bench.home().join("config.json"), "{\"log_levle\":\"debug\"}").unwrap();
    let run = ["run", "--playbook", "tidy", "--workspace", "folder"];
    told(&bench.run(&run).ends_with(2), "log_levle");
}

#[test]
fn a_number_of_reads_at_once_that_cannot_be_is_refused_with_the_bounds() {
    let bench = Bench::new();
    let run = ["run", "--playbook", "tidy", "--workspace", "folder"];
    for (settings, said) in [("0", "is 0; it is a number from 1 to 64"), ("65", "is 65; it is"), ("-1", "-1")]
    {
        let settings = format!("{{\"parallel_reads\":{settings}}}");
        std::fs::write(bench.home().join("config.json"), settings).unwrap();
        told(&bench.run(&run).ends_with(2), said);
    }
    std::fs::write(bench.home().join("config.json"), "{\"parallel_reads\":1}").unwrap();
    assert_ne!(bench.run(&run).code, 2);
}

#[test]
fn a_person_says_how_many_reads_run_at_the_same_time_and_every_other_setting_stays() {
    let bench = Bench::new();
    bench.waiting();
    let file = bench.home().join("config.json");
    std::fs::write(&file, "{\"bell\":false}").unwrap();
    let told =
        |words: &[&str]| bench.run(&[&["models", "reads"][..], words].concat()).ends_with(0).out.clone();
    assert!(told(&[]).contains("up to 10 reads of one answer run at the same time"), "{}", told(&[]));
    assert!(
        told(&["3"]).contains("up to 3 reads of one answer run at the same time; without a setting it is 10")
    );
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept, serde_json::json!({ "bell": false, "parallel_reads": 3 }));
    assert!(told(&["1"]).contains("one after the other"));
    for (wrong, said) in
        [("0", "from 1 to 64"), ("65", "from 1 to 64"), ("many", "from 1 to 64, or `standard`")]
    {
        let ran = bench.run(&["models", "reads", wrong]).ends_with(2);
        assert!(ran.err.contains(said), "{wrong}: {}", ran.err);
    }
    assert!(told(&[]).contains("one after the other"), "what cannot be changes nothing");
    assert!(told(&["standard"]).contains("up to 10 reads"));
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept, serde_json::json!({ "bell": false }));
}

#[test]
fn settings_that_cannot_be_read_stop_new_work_and_nothing_else() {
    let bench = Bench::new();
    bench.waiting();
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    for settings in ["", "{\"log_lev", "{\"log_levle\":\"debug\"}"] {
        std::fs::write(bench.home().join("config.json"), settings).unwrap();
        for words in [&["task", "list"][..], &["ledger", "verify"], &["resume"], &["halt"], &["boot"]] {
            let ran = bench.run(words).ends_with(0);
            assert!(ran.err.contains("the standard settings are in force"), "{words:?}: {}", ran.err);
        }
        let doctor = bench.run(&["doctor", "--json"]).json();
        let settings = doctor["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == "settings");
        assert_eq!(settings.unwrap()["level"], "trouble");
        bench.run(&["models", "use", "openai:http://127.0.0.1:9/v1#m"]).ends_with(2);
        assert_eq!(bench.run(&["run", "--playbook", "tidy", "--workspace", "folder"]).code, 2);
    }
}

#[test]
fn an_undo_that_can_do_nothing_says_so_once_and_names_each_place_with_its_reason() {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    for place in std::fs::read_dir(bench.folder()).unwrap() {
        std::fs::remove_dir_all(place.unwrap().path()).unwrap();
    }
    let ran = bench.run(&["rollback", &receipt]).ends_with(1);
    assert!(ran.out.starts_with("Not undone, nothing was changed: "), "{}", ran.out);
    for name in ["a.txt", "b.jpg", "c.zip"] {
        assert!(ran.out.contains(&format!("{name}\": what was moved is not there any more")), "{}", ran.out);
    }
    assert_eq!(ran.out.to_lowercase().matches("nothing was changed").count(), 1, "{}", ran.out);
}

#[test]
fn a_file_that_hermit_has_no_record_of_is_said_to_be_that_and_what_can_be_explained() {
    let bench = Bench::new();
    let unknown = bench.run(&["explain", "nosuch.txt"]).ends_with(1);
    told(&unknown, "Hermit has no record of");
    for taken in ["nosuch.txt", "file", "receipt", "artifact", "`:LINE`"] {
        assert!(unknown.err.contains(taken), "`{taken}` is not in:\n{}", unknown.err);
    }
    // Also of a line, and where its name ends as an identifier does.
    for (named, file) in [("nosuch.txt:3", "nosuch.txt`"), ("my_face", "my_face`"), ("my_face:3", "my_face`")]
    {
        let unknown = bench.run(&["explain", named]).ends_with(1);
        told(&unknown, "Hermit has no record of");
        assert!(unknown.err.contains(file), "`{file}` is not in:\n{}", unknown.err);
    }
}

#[test]
fn a_receipt_is_explained_by_what_a_page_shows_of_it_and_a_name_of_digits_that_is_none_says_how_to_name_a_file()
 {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    let end = &receipt[receipt.len() - 8..];
    for named in [format!("R-{end}"), format!("rcp_…{end}"), end.to_owned()] {
        let told = bench.run(&["explain", &named, "--json"]).ends_with(0).json();
        assert_eq!(told["subject"], receipt.as_str(), "{named}");
    }
    let unknown = bench.run(&["explain", "cafebabecafe"]).ends_with(1);
    told(&unknown, "no receipt and no artifact");
    for words in ["`./cafebabecafe`", "`:LINE`", "R-1a2b"] {
        assert!(unknown.err.contains(words), "`{words}` is not in:\n{}", unknown.err);
    }
    // Named so, it is a file of this folder.
    told(&bench.run(&["explain", "./cafebabecafe"]).ends_with(1), "Hermit has no record of");
}
