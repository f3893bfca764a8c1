//! From nothing to a proof at a real terminal, beside a host that runs from beginning to end: no keys, no task. What a
//! person types is counted, and printed with the seconds it took.

use super::programs::{hermit, verifier};
use super::stage::{APPROVAL, Stage, VAULT};
use super::tree;
use std::process::Command;
use std::time::Instant;
use testkit::pty::Pty;

/// Lines typed for a playbook, its command among them, from its beginning to its result.
const INPUTS_MAX: usize = 5;

/// One command at a terminal, as a person gives it.
struct Walk {
    what: &'static str,
    pty: Pty,
    begun: Instant,
    inputs: usize,
}

impl Walk {
    fn begin(what: &'static str, stage: &Stage, words: &[&str]) -> Self {
        Self { what, pty: at_terminal(stage, words), begun: Instant::now(), inputs: 1 }
    }

    fn answer(&mut self, question: &str, words: &str) -> &mut Self {
        self.pty.expect(question).send(&format!("{words}\r"));
        self.inputs += 1;
        self
    }

    fn yes(&mut self) -> &mut Self {
        self.answer("Approve?", "y").answer("Approval passphrase: ", APPROVAL)
    }

    /// Ends well; what was shown, and how much was typed.
    fn end(self) -> (String, usize) {
        let (code, shown) = self.pty.end();
        assert_eq!(code, 0, "{shown}");
        let seconds = self.begun.elapsed().as_secs_f32();
        println!("first minutes, at a terminal: {}: {} inputs, {seconds:.1} s", self.what, self.inputs);
        (shown, self.inputs)
    }
}

/// A terminal of a person who has set nothing up, where no keychain is.
fn at_terminal(stage: &Stage, words: &[&str]) -> Pty {
    let home = stage.home();
    let outside = stage.at("");
    let environment = [
        ("HERMIT_HOME", home.to_str().expect("UTF-8")),
        ("TMPDIR", outside.to_str().expect("UTF-8")),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere"),
    ];
    Pty::spawn(hermit(), words, &environment)
}

#[test]
fn the_first_minutes_at_a_terminal_need_few_words_and_no_program_to_be_stopped() {
    let stage = Stage::bare();
    let outside = stage.at("outside");
    std::fs::create_dir(&outside).expect("a folder");
    tree::mixed(&stage.work(), &outside);
    let before = tree::of(&stage.work());
    let work = stage.work();
    let work = work.to_str().expect("UTF-8");
    let mut serving = at_terminal(&stage, &["serve"]);
    serving.expect("/#token=").expect("Keys: none");

    let mut keys = Walk::begin("make keys", &stage, &["keys", "init"]);
    keys.pty.expect("No keychain works here").expect("8 characters or more");
    for (question, words) in [("Vault passphrase", VAULT), ("Approval passphrase", APPROVAL)] {
        keys.answer(&format!("{question}: "), words).answer(&format!("{question} once more: "), words);
    }
    keys.end();

    let mut first = Walk::begin("first result", &stage, &["run", "--playbook", "tidy", "--workspace", work]);
    first.yes();
    let (_, inputs) = first.end();
    assert!(inputs <= INPUTS_MAX, "{inputs}");
    assert_ne!(tree::of(&stage.work()), before);

    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    let task = tasks["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    let proof = stage.at("proof.zip");
    let export = ["proof", "export", &task, "--output", proof.to_str().expect("UTF-8")];
    Walk::begin("proof", &stage, &export).end();
    let listed = stage.hermit(&["keys", "list"]).ends(0).json();
    let keys = listed["keys"].as_array().expect("keys");
    let log = keys.iter().find(|key| key["purpose"] == "log").expect("its key");
    let mut verify = Command::new(verifier());
    verify.arg(&proof).arg("--trust").arg(log["keyid"].as_str().expect("an identifier"));
    let verified = verify.output().expect("it runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));

    let mut undo = Walk::begin("undo", &stage, &["undo"]);
    undo.yes();
    let (_, inputs) = undo.end();
    assert!(inputs <= INPUTS_MAX, "{inputs}");
    assert_eq!(tree::of(&stage.work()), before);

    serving.send("\u{3}");
    let (code, shown) = serving.end();
    assert_eq!(code, 0, "{shown}");
    for words in [VAULT, APPROVAL] {
        assert!(!shown.contains(words), "no passphrase is shown");
    }
}
