//! What a shell offers at TAB, by typing into bash; and the scripts of shells.

use crate::bench::{Bench, program};
use crate::completing::short;
use std::path::Path;
use testkit::pty::Pty;

#[test]
fn bash_completes_at_tab() {
    let bench = Bench::new();
    let (task, _) = bench.waiting();
    let address = "openai:http://127.0.0.1:8080/v1#qwen";
    let config = serde_json::json!({ "default_model": address });
    std::fs::write(bench.home().join("config.json"), config.to_string()).unwrap();
    let script = bench.path("completions.bash");
    std::fs::write(&script, bench.run(&["completions", "bash"]).ends_with(0).out).unwrap();
    let home = bench.home();
    let environment = [("HERMIT_HOME", home.to_str().unwrap()), ("PS1", "ready> ")];
    let mut bash = Pty::spawn(Path::new("bash"), &["--norc", "--noprofile", "-i"], &environment);
    // The program is not in PATH; what is typed is its name, as a person does.
    let said = format!("hermit() {{ '{}' \"$@\"; }}; source '{}'\r", program().display(), script.display());
    bash.expect("ready> ").send(&said).expect("ready> ");
    // Ctrl-U takes the line away.
    bash.send("hermit task show \t").expect(short(&task));
    bash.send("\u{15}hermit models use openai:http:\t").expect("//127.0.0.1:8080/v1#qwen");
    bash.send("\u{15}hermit run --profile=dest\t").expect("ructive_denied");
    bash.send("\u{15}exit 0\r");
    let (_, shown) = bash.end();
    assert!(!shown.contains("error"), "{shown}");
}

#[test]
fn the_script_of_every_shell_asks_this_program_and_completing_takes_nothing_away() {
    let bench = Bench::bare();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.run(&["completions", shell]).ends_with(0).out;
        assert!(
            script.contains(&format!("HERMIT_COMPLETE={shell}"))
                || script.contains(&format!("HERMIT_COMPLETE=\"{shell}\"")),
            "{script}"
        );
        assert!(script.contains(program().to_str().unwrap()), "{script}");
    }
    // A playbook of one's own is still named by its path.
    let own = bench.run(&["run", "--playbook", "./mine.yaml", "--workspace", "."]);
    assert!(own.err.contains("cannot read the playbook `./mine.yaml`"), "{}", own.err);
}
