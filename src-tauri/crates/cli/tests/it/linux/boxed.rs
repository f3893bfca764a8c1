//! The model in the box, by the program and a sidecar that a shell plays; by the real one where it and its weights are here.

use super::allow;
use crate::bench::{Bench, Ran, program, text};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::pty::Pty;

const PATIENCE: Duration = Duration::from_secs(60);

/// Speaks the protocol: reads the file, writes another once it has seen that one, and is done. It tells by its answer how
/// often it was asked, what it sees of the network and of the person's folder. `$HOW` is what it does else.
const SIDECAR: &str = r#"#!/bin/sh
asked=0
while IFS= read -r line; do
  case "$line" in
    '{"load":'*)
      case "$line" in *'"context":8192'*) context=8192 ;; *'"context":4096'*) context=4096 ;; *) context=1 ;; esac
      printf '{"loaded":{"protocol":1,"context":%s,"parameters":1500000000,"ms":1}}\n' "$context" ;;
    '{"generate":'*)
      asked=$((asked + 1))
      id=${line#*'"id":'}; id=${id%%,*}
      net=$(while read -r name rest; do case "$name" in lo:*|Inter*|face*) ;; *) printf '%s ' "$name" ;; esac; done < /proc/net/dev)
      seen=no; [ -e "@FOLDER@/a.txt" ] && seen=yes
      written=no; (: > "@WEIGHTS@") 2>/dev/null && written=yes
      case "$line" in
        *seen.txt*) answer='{\"tool\":\"done\",\"arguments\":{\"summary\":\"asked '$asked', context '$context', net ['$net'], folder '$seen', weights written '$written'\"}}' ;;
        *alpha*) answer='{\"tool\":\"write\",\"arguments\":{\"path\":\"seen.txt\",\"content\":\"one file\"}}' ;;
        *) answer='{\"tool\":\"read\",\"arguments\":{\"path\":\"a.txt\"}}' ;;
      esac
      @HOW@
      half=${answer%%,*}
      printf '{"reading":{"id":%s,"done":1,"of":2}}\n' "$id"
      printf '{"piece":{"id":%s,"text":"%s"}}\n' "$id" "$half"
      printf '{"piece":{"id":%s,"text":"%s"}}\n' "$id" "${answer#"$half"}"
      printf '{"end":{"id":%s,"because":"ended","took":{"tokens_in":100,"tokens_cached":60,"tokens_out":9,"prompt_ms":5,"answer_ms":5}}}\n' "$id" ;;
  esac
done
"#;

const GOAL: &str = "write down what is there";

/// A store with weights of nothing, and the sidecar.
struct Boxed {
    bench: Bench,
    digest: String,
}

/// A file that says of itself what weights say, and has none.
fn weights() -> Vec<u8> {
    let text = |text: &str| [(text.len() as u64).to_le_bytes().as_slice(), text.as_bytes()].concat();
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend([0_u64.to_le_bytes(), 2_u64.to_le_bytes()].concat());
    bytes.extend([text("general.size_label"), 8_u32.to_le_bytes().to_vec(), text("70B")].concat());
    bytes.extend([text("qwen2.context_length"), 4_u32.to_le_bytes().to_vec()].concat());
    bytes.extend(32_768_u32.to_le_bytes());
    bytes
}

impl Boxed {
    fn new(how: &str) -> Self {
        let bench = Bench::new();
        std::fs::write(bench.path("w.gguf"), weights()).unwrap();
        let from = bench.path("w.gguf");
        let got = bench
            .run(&["models", "get", "tiny", "--from", from.to_str().unwrap(), "--json"])
            .ends_with(0)
            .json();
        let digest = text(&got["sha256"]);
        let boxed = Self { bench, digest };
        boxed.plays(how);
        boxed
    }

    fn plays(&self, how: &str) {
        let weights = self.bench.home().join(format!("models/{}.gguf", self.digest));
        let script = SIDECAR
            .replace("@FOLDER@", self.bench.folder().to_str().unwrap())
            .replace("@WEIGHTS@", weights.to_str().unwrap())
            .replace("@HOW@", how);
        std::fs::write(self.sidecar(), script).unwrap();
        std::fs::set_permissions(self.sidecar(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn sidecar(&self) -> PathBuf {
        self.bench.path("sidecar")
    }

    fn run(&self, words: &[&str]) -> Ran {
        let vault = self.bench.path("vault");
        let sidecar = self.sidecar();
        self.bench.run_with(
            words,
            &[
                ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
                ("HERMIT_MODEL_BOX", sidecar.to_str().unwrap()),
            ],
        )
    }

    fn terminal(&self, words: &[&str]) -> Pty {
        let (home, vault, sidecar) = (self.bench.home(), self.bench.path("vault"), self.sidecar());
        let environment = [
            ("HERMIT_HOME", home.to_str().unwrap()),
            ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
            ("HERMIT_MODEL_BOX", sidecar.to_str().unwrap()),
        ];
        Pty::spawn(program(), words, &environment)
    }

    fn goal(&self, goal: &str) -> Ran {
        let folder = self.bench.folder();
        self.run(&[
            "run",
            "--goal",
            goal,
            "--workspace",
            folder.to_str().unwrap(),
            "--model",
            "box:tiny",
            "--json",
        ])
    }

    fn events(&self, task: &str) -> String {
        self.run(&["task", "events", task, "--json"]).ends_with(0).out
    }
}

#[test]
fn a_model_in_the_box_is_got_listed_chosen_asked_behind_walls_and_taken_away() {
    let boxed = Boxed::new(":");
    let listed = boxed.run(&["models", "list"]).ends_with(0);
    assert!(listed.out.contains("box:tiny") && listed.out.contains(&boxed.digest[..16]), "{}", listed.out);
    let used = boxed.run(&["models", "use", "box:tiny"]).ends_with(0);
    assert!(!used.out.contains("not here"), "{}", used.out);
    let found = boxed.run(&["models", "list", "--json"]).ends_with(0).json();
    assert_eq!(found["standard"], "box:tiny");
    let server =
        found["servers"].as_array().unwrap().iter().find(|one| one["url"] == "box:").unwrap().clone();
    assert_eq!(server["models"][0]["asked"]["context"], 8192, "{server}");
    boxed.run(&["models", "set", "box:tiny", "--context", "4096"]).ends_with(0);
    let waiting = boxed.goal(GOAL).ends_with(4).json();
    let task = text(&waiting["row"]["task_id"]);
    let mut terminal = boxed.terminal(&["approvals", "approve", &text(&waiting["waits_for"]["id"])]);
    allow(&mut terminal);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(boxed.bench.folder().join("seen.txt")).unwrap(), "one file");
    let shown = boxed.run(&["task", "show", &task, "--json"]).ends_with(0);
    assert_eq!(shown.json()["row"]["status"], "completed", "{}", shown.out);
    // Which weights thought is on record with every turn.
    let pinned = format!("tiny@sha256:{}", boxed.digest);
    let events = boxed.events(&task);
    assert!(events.contains(&pinned), "{events}");
    // Behind the walls there is no network and no folder, and the weights cannot be changed.
    assert!(shown.out.contains("net [], folder no, weights written no"), "{}", shown.out);
    assert!(shown.out.contains("context 4096"), "{}", shown.out);
    boxed.run(&["models", "rm", "box:tiny"]).ends_with(0);
    let gone = boxed.goal(GOAL).ends_with(1);
    assert!(
        gone.out.contains("no weights of") || gone.err.contains("no weights of"),
        "{}{}",
        gone.out,
        gone.err
    );
}

#[test]
fn how_far_the_model_has_read_is_told_while_it_is_waited_for() {
    let boxed = Boxed::new(r#"printf '{"reading":{"id":%s,"done":512,"of":2048}}\n' "$id"; sleep 2"#);
    let folder = boxed.bench.folder();
    let words = ["run", "--goal", GOAL, "--workspace", folder.to_str().unwrap(), "--model", "box:tiny"];
    let mut terminal = boxed.terminal(&words);
    terminal.expect("The model reads what it was sent, 512 of 2048").expect("The model writes its answer");
    terminal.expect("Approve?").send("later\r");
    terminal.end();
}

#[test]
fn a_sidecar_that_is_missing_or_ends_in_the_middle_is_told_with_what_to_do() {
    let boxed = Boxed::new(r#"printf '{"piece":{"id":%s,"text":"half"}}\n' "$id"; exit 3"#);
    let ended = boxed.goal(GOAL);
    assert!(![0, 4].contains(&ended.code), "{}", ended.out);
    let told = format!("{}{}", ended.out, ended.err);
    assert!(told.contains("the model in the box did not go on"), "{told}");
    // The same task goes on with one that works.
    boxed.plays(":");
    let (_, task) = told.split_once("hermit task resume ").expect("how it goes on");
    let task: String = task.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let went = boxed.run(&["task", "resume", &task, "--json"]);
    assert_eq!(went.code, 4, "{} {}", went.out, went.err);
    std::fs::remove_file(boxed.sidecar()).unwrap();
    let missing = boxed.goal(GOAL).ends_with(1);
    assert!(format!("{}{}", missing.out, missing.err).contains("HERMIT_MODEL_BOX"), "{}", missing.err);
}

#[test]
fn weights_that_were_changed_answer_nothing_until_they_are_got_again() {
    let boxed = Boxed::new(":");
    let path = boxed.bench.home().join(format!("models/{}.gguf", boxed.digest));
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let refused = boxed.goal(GOAL);
    let told = format!("{}{}", refused.out, refused.err);
    assert!(![0, 4].contains(&refused.code) && told.contains("the weights are damaged"), "{told}");
    assert!(told.contains("hermit models get tiny"), "{told}");
    let from = boxed.bench.path("w.gguf");
    boxed.run(&["models", "get", "tiny", "--from", from.to_str().unwrap()]).ends_with(0);
    boxed.goal(GOAL).ends_with(4);
}

#[test]
fn no_sidecar_outlives_a_host_that_is_killed() {
    let boxed = Boxed::new(r#"while :; do read -r line || exit 0; done"#);
    let mark = format!("{}", boxed.sidecar().display());
    let folder = boxed.bench.folder();
    let mut command = Command::new(program());
    command.args(["run", "--goal", GOAL, "--workspace", folder.to_str().unwrap(), "--model", "box:tiny"]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HERMIT_HOME", boxed.bench.home());
    command.env("HERMIT_PASSPHRASE_FILE", boxed.bench.path("vault")).env("HERMIT_MODEL_BOX", boxed.sidecar());
    let mut host: Child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it was started", || running(&mark) > 0);
    host.kill().unwrap();
    host.wait().unwrap();
    until("it ended with its host", || running(&mark) == 0);
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processes whose words hold this, but for the host itself.
fn running(mark: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let words = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    words.filter(|words| String::from_utf8_lossy(words).contains(mark)).count()
}
