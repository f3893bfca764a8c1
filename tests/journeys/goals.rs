//! Small goals as people give them, each on a folder of its own and with a check that no model has a say in: what lies in
//! the folder afterwards, and what was answered.
//!
//! `npm run bench -- goals` gives them to a model and compares with what was reached before. What a model said then is in
//! `data/goals`, and is replayed here through the whole path. `data/goals-strong.json` holds what a strong model, Claude, said
//! to the requests of these goals, slips included; a server says it again, as chat completions with tool calls.

use super::stage::{APPROVAL, Stage};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Acts that a person says yes to before they say stop.
const CARDS_MAX: usize = 12;

/// A goal.
pub struct Goal {
    /// One word.
    pub name: &'static str,
    /// As a person gives it.
    pub words: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    /// What was committed one after the other before, as one file each; the first is tagged `v1.0`.
    pub(super) commits: &'static [&'static str],
    pub(super) check: fn(&Left) -> Result<(), String>,
}

/// What is there when a model has said that it is done.
pub struct Left {
    /// Texts by path, folders entered, git's own left out.
    texts: BTreeMap<String, String>,
    answer: String,
}

impl Left {
    fn text(&self, path: &str) -> Result<&str, String> {
        let all = || format!("`{path}` is not there, but {:?}", self.texts.keys().collect::<Vec<_>>());
        self.texts.get(path).map(String::as_str).ok_or_else(all)
    }

    pub(super) fn is(&self, path: &str, text: &str) -> Result<(), String> {
        let there = self.text(path)?;
        if there.trim_end() == text.trim_end() { Ok(()) } else { Err(format!("`{path}` holds {there:?}")) }
    }

    fn has(&self, path: &str, words: &[&str]) -> Result<(), String> {
        let there = self.text(path)?;
        let missing = words.iter().find(|word| !there.contains(*word));
        missing.map_or(Ok(()), |word| Err(format!("`{word}` is not in `{path}`: {there:?}")))
    }

    fn gone(&self, path: &str) -> Result<(), String> {
        if self.texts.contains_key(path) { Err(format!("`{path}` is still there")) } else { Ok(()) }
    }

    fn as_it_was(&self, goal: &str, paths: &[&str]) -> Result<(), String> {
        let goal = GOALS.iter().find(|one| one.name == goal).ok_or("no such goal")?;
        paths.iter().try_for_each(|path| {
            let was = goal.files.iter().find(|(name, _)| name == path).ok_or("no such file")?;
            self.is(path, was.1)
        })
    }
}

/// How it went.
pub struct Came {
    /// Whether the check holds, and why it does not.
    pub reached: Result<(), String>,
    /// Questions to the model.
    pub questions: usize,
    /// Tokens read and written.
    pub tokens: u64,
    /// What the screen showed.
    pub screen: String,
}

/// Gives a goal to a model, with a person at the terminal who says yes to everything, and checks what came of it.
pub fn work(goal: &Goal, model: &str, record: Option<&Path>) -> Came {
    let record = record.and_then(Path::to_str).map(|to| ("HERMIT_RECORD", to));
    work_on(&Stage::new(), goal, model, record.as_slice())
}

/// The same on a stage that is set, with more in the environment.
pub(super) fn work_on(stage: &Stage, goal: &Goal, model: &str, more: &[(&str, &str)]) -> Came {
    goal.lay(&stage.work());
    let folder = stage.work();
    let words = ["run", "--log", "--goal", goal.words, "--model", model, "--workspace"];
    let words: Vec<&str> = words.into_iter().chain(folder.to_str()).collect();
    let mut pty = stage.terminal(&words, more).without_hurry();
    let (mut cards, passphrase) = (0, format!("{APPROVAL}\r"));
    let asks = [
        ("Approve?", "y\r"),
        ("Type `high`", "high\r"),
        ("Type `critical`", "critical\r"),
        ("Approval passphrase", passphrase.as_str()),
    ];
    while let Some(which) = pty.expect_one_or_end(&asks.map(|(words, _)| words)) {
        cards += usize::from(which == 0);
        pty.send(if which == 0 && cards > CARDS_MAX { "stop\r" } else { asks[which].1 });
    }
    let (_, screen) = pty.end();
    let listed = stage.hermit(&["task", "list"]).ends(0).json();
    let row = &listed["rows"][0];
    let task = row["task_id"].as_str().expect("a task");
    let shown = stage.hermit(&["task", "show", task]).ends(0).json();
    let left =
        Left { texts: texts(&folder), answer: shown["summary"].as_str().unwrap_or_default().to_owned() };
    let ended = match row["status"].as_str() {
        Some("completed") => Ok(()),
        status => Err(format!("{}: {}", status.unwrap_or_default(), left.answer)),
    };
    Came {
        reached: ended.and_then(|()| (goal.check)(&left)),
        questions: stage.count(task, "attempt.model_requested"),
        tokens: row["tokens_used"].as_u64().unwrap_or_default(),
        screen,
    }
}

impl Goal {
    pub(super) fn lay(&self, folder: &Path) {
        for (path, text) in self.files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.current_dir(folder)
                .args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"])
                .args(words);
            let ran = git.output().expect("git");
            assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        };
        for (number, message) in self.commits.iter().enumerate() {
            if number == 0 {
                git(&["init", "--quiet"]);
            } else {
                std::fs::write(folder.join("program.txt"), format!("{number}\n")).expect("a file");
            }
            git(&["add", "."]);
            git(&["commit", "--quiet", "-m", message]);
            if number == 0 {
                git(&["tag", "v1.0"]);
            }
        }
    }
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in std::fs::read_dir(inner).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("inside").to_string_lossy().into_owned();
            if path.is_dir() && name != ".git" {
                open.push(path);
            } else if path.is_file() {
                texts.insert(
                    name,
                    String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned(),
                );
            }
        }
    }
    texts
}

/// All of them.
pub const GOALS: [Goal; 10] = [
    Goal {
        name: "rename",
        words: "Rename each scan after the number of the invoice in it, such as invoice-1999.txt",
        files: &[
            ("scan1.txt", "Larch Timber Ltd\nInvoice 2041\n2 November\nOak boards, 310 euros\n"),
            ("scan2.txt", "Brook Paper\nInvoice 2057\n9 November\nEnvelopes, 24 euros\n"),
            ("scan3.txt", "Larch Timber Ltd\nInvoice 2063\n14 November\nPine boards, 120 euros\n"),
        ],
        commits: &[],
        check: |left| {
            left.has("invoice-2041.txt", &["Invoice 2041", "Oak"])?;
            left.has("invoice-2057.txt", &["Invoice 2057", "Envelopes"])?;
            left.has("invoice-2063.txt", &["Invoice 2063", "Pine"])?;
            ["scan1.txt", "scan2.txt", "scan3.txt"].iter().try_for_each(|path| left.gone(path))
        },
    },
    Goal {
        name: "fix",
        words: "The test in test_vat.py fails. Find the mistake in vat.py and fix it",
        files: &[
            (
                "vat.py",
                "RATES = {\"de\": 19, \"fr\": 20}\n\n\ndef gross(net, country):\n    return net + net * RATES[country] / 10\n",
            ),
            (
                "test_vat.py",
                "from vat import gross\n\nassert gross(100, \"de\") == 119, gross(100, \"de\")\nassert gross(200, \"fr\") == 240, gross(200, \"fr\")\nprint(\"passed\")\n",
            ),
        ],
        commits: &[],
        check: |left| {
            left.as_it_was("fix", &["test_vat.py"])?;
            passes(left.text("vat.py")?, left.text("test_vat.py")?)
        },
    },
    Goal {
        name: "summary",
        words: "Summarise what changed in these notes and write SUMMARY.md",
        files: &super::summary::NOTES,
        commits: &[],
        check: |left| {
            left.has("SUMMARY.md", &["55,000", "February", "Chen"])?;
            left.as_it_was("summary", &["2026-11-02-kickoff.md", "2026-11-16-review.md"])
        },
    },
    Goal {
        name: "split",
        words: "Split orders.csv into DE.csv and FR.csv, one for each country, each with the header line first",
        files: &[("orders.csv", "id,country,total\n1,DE,40\n2,FR,15\n3,DE,22\n4,FR,9\n5,DE,31\n")],
        commits: &[],
        check: |left| {
            left.is("DE.csv", "id,country,total\n1,DE,40\n3,DE,22\n5,DE,31\n")?;
            left.is("FR.csv", "id,country,total\n2,FR,15\n4,FR,9\n")?;
            left.as_it_was("split", &["orders.csv"])
        },
    },
    Goal {
        name: "duplicates",
        words: "Two of these files have the same text. Delete the one whose name says that it is a copy, and write \
                REASON.md that says which file was deleted and why",
        files: &[
            ("beach.txt", "sand, sun and a red umbrella\n"),
            ("beach copy.txt", "sand, sun and a red umbrella\n"),
            ("forest.txt", "pines in the fog\n"),
        ],
        commits: &[],
        check: |left| {
            left.gone("beach copy.txt")?;
            left.has("REASON.md", &["beach", "copy"])?;
            left.as_it_was("duplicates", &["beach.txt", "forest.txt"])
        },
    },
    Goal {
        name: "port",
        words: "Change the port from 8080 to 9090 in config.toml and nothing else",
        files: &[(
            "config.toml",
            "# The server\nname = \"larch\"\nport = 8080\nthreads = 4\n\n# Limits\nbody_bytes = 8080000\n",
        )],
        commits: &[],
        check: |left| {
            let wanted = "# The server\nname = \"larch\"\nport = 9090\nthreads = 4\n\n# Limits\nbody_bytes = 8080000\n";
            left.is("config.toml", wanted)
        },
    },
    Goal {
        name: "sort",
        words: "Move every note that is about the garden into the folder garden, such as garden/a.txt",
        files: &[
            ("a.txt", "Plant the tulips before the frost.\n"),
            ("b.txt", "Pay the phone bill.\n"),
            ("c.txt", "The apple tree needs pruning in February.\n"),
        ],
        commits: &[],
        check: |left| {
            left.has("garden/a.txt", &["tulips"])?;
            left.has("garden/c.txt", &["apple"])?;
            left.as_it_was("sort", &["b.txt"])
        },
    },
    Goal {
        name: "todos",
        words: "Collect every TODO of the source files in TODO.md, one line each, with the name of its file",
        files: &[
            ("main.c", "int main(void) {\n    // TODO read the arguments\n    return 0;\n}\n"),
            ("list.c", "// TODO free the nodes\nvoid add(int n) {}\n"),
            ("map.c", "void put(int k) {}\n"),
        ],
        commits: &[],
        check: |left| {
            left.has("TODO.md", &["main.c", "read the arguments", "list.c", "free the nodes"])?;
            left.as_it_was("todos", &["main.c", "list.c", "map.c"])
        },
    },
    Goal {
        name: "question",
        words: "Which of these contracts ends first? Answer with the date and the name of the file that says so",
        files: &[
            ("gym.txt", "Membership. Ends on 30 June 2027.\n"),
            ("lease.txt", "Lease of the flat. Ends on 31 March 2027.\n"),
            ("phone.txt", "Phone contract. Ends on 15 May 2028.\n"),
        ],
        commits: &[],
        check: |left| {
            left.as_it_was("question", &["gym.txt", "lease.txt", "phone.txt"])?;
            // What it says is first, and not that it names them all.
            let first = left.answer.rsplit_once("first").map_or(left.answer.as_str(), |(_, rest)| rest);
            let first = first.split(". ").next().unwrap_or_default();
            let says = ["31 March 2027", "lease"].iter().all(|word| first.contains(word));
            let others = ["gym", "phone"].iter().any(|word| first.contains(word));
            if says && !others { Ok(()) } else { Err(format!("it answered {:?}", left.answer)) }
        },
    },
    Goal {
        name: "changelog",
        words: "Add the two commits since v1.0 to CHANGELOG.md under Unreleased, one line each; `git log --oneline` shows \
                them",
        files: &[
            ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## v1.0\n\n- First release\n"),
            ("program.txt", "0\n"),
        ],
        commits: &["First release", "Add export to CSV", "Fix the crash on empty input"],
        check: |left| {
            left.has(
                "CHANGELOG.md",
                &["Add export to CSV", "Fix the crash on empty input", "First release"],
            )?;
            let text = left.text("CHANGELOG.md")?;
            let place = |words: &str| text.find(words).unwrap_or(usize::MAX);
            let is_before =
                place("Fix the crash") < place("## v1.0") && place("Add export") < place("## v1.0");
            if is_before { Ok(()) } else { Err(format!("not under Unreleased: {text:?}")) }
        },
    },
];

/// Whether a program's test passes, run outside and by python itself.
fn passes(program: &str, test: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("vat.py"), program).expect("a file");
    std::fs::write(folder.path().join("test_vat.py"), test).expect("a file");
    let ran =
        Command::new("python3").arg("test_vat.py").current_dir(folder.path()).output().expect("python3");
    if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::programs::root;
    use super::*;
    use serde_json::Value;
    use testkit::{Chat, Large};

    #[test]
    fn what_a_small_model_has_reached_is_reached_again() {
        let data = root().join("tests/journeys/data/goals");
        let mut ran = 0;
        for goal in &GOALS {
            let transcript = data.join(format!("{}.jsonl", goal.name));
            if !transcript.is_file() {
                continue;
            }
            let came = work(goal, &format!("recorded:{}", transcript.display()), None);
            assert_eq!(came.reached, Ok(()), "{}: {}", goal.name, came.screen);
            assert!(came.questions > 1 && came.tokens > 100, "what it took is counted");
            ran += 1;
        }
        let recorded = std::fs::read_dir(&data).expect("recorded runs").count();
        assert!(ran == recorded && ran > 0, "{ran} of {recorded} transcripts are of a goal");
    }

    #[test]
    fn what_a_strong_model_has_reached_is_reached_again() {
        let said = include_str!("data/goals-strong.json");
        let said: BTreeMap<String, Vec<Value>> = serde_json::from_str(said).expect("answers by goal");
        assert_eq!(said.len(), GOALS.len());
        for goal in &GOALS {
            let answers = said.get(goal.name).expect("what was said to it");
            let chat = Chat::saying(Large::STRONG, answers.clone());
            let stage = Stage::new();
            stage.hermit(&["models", "set", &chat.address(), "--mode", "tools"]).ends(0);
            let came = work_on(&stage, goal, &chat.address(), &[]);
            assert_eq!(came.reached, Ok(()), "{}: {}", goal.name, came.screen);
            assert_eq!(came.questions, answers.len(), "{}: {}", goal.name, came.screen);
            let requests = chat.requests();
            assert!(requests.iter().all(|request| request["tools"].is_array()), "tools are offered natively");
        }
    }

    #[test]
    fn a_check_does_not_hold_before_anything_is_done() {
        for goal in &GOALS {
            let folder = tempfile::tempdir().expect("a folder");
            goal.lay(folder.path());
            let left = Left { texts: texts(folder.path()), answer: "All of it is done.".to_owned() };
            assert!((goal.check)(&left).is_err(), "{}", goal.name);
        }
    }
}
