//! Mutants: faults put into a copy of the sources, each behind a switch of its own, so that one build serves all; a claim is
//! worth something if the test that makes it fails with its fault switched on.
//!
//! A line of `tests/conformance/mutants.tsv` is `id,id<TAB>file<TAB>find<TAB>replace<TAB>package test`. What is found stands once in
//! the file; what stands between `«` and `»` of it, or all of it, is an expression or whole statements, and so is what
//! takes its place; `\n` is the end of a line. Several may stand in one place. A test of the package `browser` is
//! `file.test.ts::its name`; a fault of the pages is built into them when one is asked. What was killed is written into
//! `killed.tsv` as it stands in the list, so a line that was changed since counts as alive.

use crate::Problem;
use crate::conformance::{KILLED, MUTANTS};
use crate::place::Place;
use crate::shell::{self, say};
use crate::sources_copy;
use crate::stale;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Says which fault is switched on: the number of its line.
const SWITCH: &str = "HERMIT_MUTANT";
/// The same for the pages, where it is built in.
const PAGE_SWITCH: &str = "VITE_HERMIT_MUTANT";
/// The package whose tests are stories in a browser.
const BROWSER: &str = "browser";
/// How much longer than without a fault a test may take, and what is added, before it counts as failed.
const SLOWER: u32 = 5;
const PATIENCE: Duration = Duration::from_secs(30);

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Mutant<'a> {
    line: &'a str,
    id: &'a str,
    file: &'a str,
    find: &'a str,
    replace: &'a str,
    package: &'a str,
    test: &'a str,
}

fn parse(text: &str) -> Result<Vec<Mutant<'_>>, Problem> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let wrong = || format!("`{line}` is not `id,id<TAB>file<TAB>find<TAB>replace<TAB>package test`");
            let columns: Vec<&str> = line.split('\t').collect();
            let [id, file, find, replace, of] = columns[..] else { return Err(wrong()) };
            let (package, test) = of.split_once(' ').ok_or_else(wrong)?;
            Ok(Mutant { line, id, file, find, replace, package, test })
        })
        .collect()
}

/// The file with every fault of it behind its switch.
fn mutated(text: &str, file: &str, mutants: &[Mutant]) -> Result<String, Problem> {
    let mut places: BTreeMap<(usize, String), Vec<(usize, &str)>> = BTreeMap::new();
    for (number, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| mutant.file == file) {
        let find = mutant.find.replace("\\n", "\n");
        let (before, rest) = find.split_once('«').unwrap_or(("", &find));
        let (old, after) = rest.split_once('»').unwrap_or((rest, ""));
        let whole = format!("{before}{old}{after}");
        let mut found = text.match_indices(&whole);
        let (Some((at, _)), None) = (found.next(), found.next()) else {
            return Err(format!("`{whole}` does not stand once in `{file}`"));
        };
        places.entry((at + before.len(), old.to_owned())).or_default().push((number, mutant.replace));
    }
    let (mut out, mut from) = (String::new(), 0);
    for ((at, old), all) in places {
        out.push_str(text.get(from..at).ok_or_else(|| format!("two faults of `{file}` lie in each other"))?);
        out.push_str(&behind_switches(&old, &all, is_page(file)));
        from = at + old.len();
    }
    Ok(out + &text[from..])
}

/// Whether it is a file of the pages.
fn is_page(file: &str) -> bool {
    file.ends_with(".ts") || file.ends_with(".tsx")
}

/// What was there, and each fault that may take its place.
fn behind_switches(old: &str, all: &[(usize, &str)], page: bool) -> String {
    let statements = old.ends_with(';');
    let mut out = String::new();
    for (number, new) in all {
        out.push_str(&match (page, statements) {
            (false, _) => {
                let on = format!("::std::env::var_os(\"{SWITCH}\").is_some_and(|on| on == \"{number}\")");
                format!("if {on} {{ {new} }} else ")
            }
            (true, true) => format!("if (import.meta.env.{PAGE_SWITCH} === \"{number}\") {{ {new} }} else "),
            (true, false) => format!("import.meta.env.{PAGE_SWITCH} === \"{number}\" ? ({new}) : "),
        });
    }
    match (page, statements) {
        (_, true) => format!("{out}{{ {old} }}"),
        (false, false) => format!("({out}{{ {old} }})"),
        (true, false) => format!("({out}({old}))"),
    }
}

/// Puts the faults in, builds, and asks the named test of each that is asked for; an error code unless all of those are killed.
pub fn run(place: &Place, asked: &[String]) -> Result<ExitCode, Problem> {
    let list =
        fs::read_to_string(place.root.join(MUTANTS)).map_err(|e| format!("cannot read `{MUTANTS}`: {e}"))?;
    let mutants = parse(&list)?;
    let before = fs::read_to_string(place.root.join(KILLED)).unwrap_or_default();
    let before: BTreeSet<&str> = before.lines().collect();
    let words: Vec<&str> = asked.iter().map(String::as_str).filter(|word| *word != "conformance").collect();
    let is_asked = |mutant: &Mutant<'_>| wanted(mutant, &words, &before);
    each_is_known(&mutants, &words, &before)?;
    let begun = Instant::now();
    let tree = place.target.join("mutants/tree");
    let target = place.target.join("mutants/target");
    if let Some(lost) = mutants.iter().find(|mutant| !place.root.join(mutant.file).is_file()) {
        return Err(format!("there is no `{}`", lost.file));
    }
    sources_copy::copy(&place.root, &tree, &|name, text| {
        mutants.iter().any(|mutant| mutant.file == name).then(|| mutated(text, name, &mutants)).transpose()
    })?;
    sources_copy::lend(place, &target)?;
    let programs = build(place, &tree, &target, &mutants)?;
    let stories = Stories::over(place, &tree, &target)?;
    let verdicts = Mutex::new(BTreeMap::new());
    let (next, baselines) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((number, mutant)) = next_of(&mutants, &next) {
                    if !is_asked(mutant) {
                        continue;
                    }
                    let verdict = judge(number, mutant, (&programs, &stories), &baselines);
                    say(&format!("{} {}: {}", mutant.id, mutant.replace, said(&verdict)));
                    verdicts.lock().expect("no poison").insert(number, verdict);
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().map_err(|e| e.to_string())?;
    let is_dead = |number: &usize, mutant: &Mutant<'_>| match verdicts.get(number) {
        Some(verdict) => matches!(verdict, Ok(true)),
        None => before.contains(mutant.line),
    };
    let dead: Vec<&str> =
        mutants.iter().enumerate().filter(|(n, mutant)| is_dead(n, mutant)).map(|(_, m)| m.line).collect();
    let text =
        format!("# The mutants that were killed. Written by `cargo xtask mutants`.\n{}\n", dead.join("\n"));
    fs::write(place.root.join(KILLED), text).map_err(|e| format!("cannot write `{KILLED}`: {e}"))?;
    println!(
        "{} of {} mutants killed, {} asked in {} s; `cargo xtask report` writes the score down",
        dead.len(),
        mutants.len(),
        verdicts.len(),
        begun.elapsed().as_secs()
    );
    if verdicts.values().any(|verdict| !matches!(verdict, Ok(true))) {
        return Ok(ExitCode::FAILURE);
    }
    if !words.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    // It is as large as the build itself, and nobody looks for a survivor in it.
    fs::remove_dir_all(place.target.join("mutants"))
        .map_err(|e| format!("cannot remove the mutants: {e}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a word that asks for no mutant, before anything is built.
fn each_is_known(mutants: &[Mutant<'_>], words: &[&str], killed: &BTreeSet<&str>) -> Result<(), Problem> {
    let nobody = |word: &&&str| **word != "new" && !mutants.iter().any(|one| wanted(one, &[**word], killed));
    words.iter().find(nobody).map_or(Ok(()), |word| {
        Err(format!(
            "no mutant has the id or the test `{word}`; ask for all with no word, for `new`, for an id such as HK-27-14, or for \
             the end of a test's name"
        ))
    })
}

/// Whether a mutant is asked for: all where no word is given, what was not killed yet for `new`, else what an id or a test names.
fn wanted(mutant: &Mutant<'_>, words: &[&str], killed: &BTreeSet<&str>) -> bool {
    let named = |word: &&str| match *word {
        "new" => !killed.contains(mutant.line),
        word => mutant.id.split(',').any(|id| id == word) || mutant.test.ends_with(word),
    };
    words.is_empty() || words.iter().any(named)
}

fn next_of<'a, 'b>(mutants: &'b [Mutant<'a>], next: &AtomicUsize) -> Option<(usize, &'b Mutant<'a>)> {
    let number = next.fetch_add(1, Ordering::SeqCst);
    mutants.get(number).map(|mutant| (number, mutant))
}

fn said(verdict: &Result<bool, Problem>) -> &str {
    match verdict {
        Ok(true) => "killed",
        Ok(false) => "ALIVE",
        Err(problem) => problem,
    }
}

/// A test binary: its package, its target, and where it and its package lie.
type Programs = Vec<((String, String), (PathBuf, PathBuf))>;

/// Builds the binaries that are asked, with the features of a run of all tests, and with them the programs they start.
fn build(place: &Place, tree: &Path, target: &Path, mutants: &[Mutant]) -> Result<Programs, Problem> {
    say("building them; what they touch takes a while ...");
    let all = ["--workspace", "--exclude", "hermit-desktop"];
    let own = |mutant: &&Mutant| mutant.test.starts_with(&format!("{}::", mutant.package));
    let rust = mutants.iter().filter(|m| m.package != BROWSER);
    let mut targets: BTreeSet<&str> =
        rust.filter(|m| !own(m)).filter_map(|m| m.test.split("::").next()).collect();
    // With these come the programs of their packages. A plain build would make them with fewer features, and all anew.
    targets.extend(["all", "it"]);
    let mut cargo = place.cargo();
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", target).arg("test").args(all);
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    for mutant in mutants.iter().filter(own) {
        // A room may have tests of its own and others beside, both under its name.
        let room = tree.join("src-tauri/crates").join(mutant.package);
        let manifest = fs::read_to_string(room.join("Cargo.toml")).unwrap_or_default();
        let given = manifest.split_once("[[test]]").map_or("", |(_, given)| given);
        let is_beside = given.contains(&format!("name = \"{}\"", mutant.package))
            || room.join("tests").join(mutant.package).is_dir();
        targets.extend(is_beside.then_some(mutant.package));
    }
    cargo.args(mutants.iter().any(|mutant| own(&mutant)).then_some("--lib"));
    cargo.args(targets.iter().flat_map(|name| ["--test", name]));
    let output = cargo.output().map_err(|e| format!("cargo could not be started: {e}"))?;
    if !output.status.success() {
        say(&String::from_utf8_lossy(&output.stderr));
        return Err("a mutant does not build; see above".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(program).collect())
}

/// What a line of cargo says of a binary with tests.
fn program(line: &str) -> Option<((String, String), (PathBuf, PathBuf))> {
    let quoted = |line: &str, before: &str| {
        let (_, after) = line.split_once(before)?;
        Some(after.split('"').next().unwrap_or_default().to_owned())
    };
    let executable = stale::program(line)?;
    let folder = PathBuf::from(quoted(line, "\"manifest_path\":\"")?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let (_, target) = line.split_once("\"target\":{")?;
    Some(((package, quoted(target, "\"name\":\"")?), (executable, folder)))
}

type Baselines = Mutex<BTreeMap<String, Result<Duration, Problem>>>;

/// Whether the named test fails with the fault on, having passed without.
fn judge(
    number: usize,
    mutant: &Mutant,
    (programs, stories): (&Programs, &Stories),
    baselines: &Baselines,
) -> Result<bool, Problem> {
    let (target, test) = mutant.test.split_once("::").ok_or("a test is `target::path`")?;
    let story = mutant.package == BROWSER;
    let program = if story { None } else { Some(program_of(programs, mutant, target, test)?) };
    let ask = |switch: Option<usize>, patience: Duration| -> Result<(bool, Duration), Problem> {
        let mut command = match program {
            None => stories.ask(target, test),
            Some((program, folder)) => {
                let mut command = Command::new(program);
                command.args(["--exact", test]).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
                command.env("HERMIT_PROGRAMS", &stories.programs);
                command
            }
        };
        command.env_remove("HERMIT_CONFORMANCE_DIR").env_remove(SWITCH).env_remove(PAGE_SWITCH);
        for name in [SWITCH, PAGE_SWITCH] {
            command.envs(switch.map(|number| (name, number.to_string())));
        }
        passes(&mut command, if story { STORY_PASSED } else { TEST_PASSED }, patience)
    };
    let name = format!("{} {}", mutant.package, mutant.test);
    let mut known = baselines.lock().map_err(|e| e.to_string())?;
    let usual = known
        .entry(name)
        .or_insert_with(|| match ask(None, Duration::from_secs(600)) {
            Ok((true, took)) => Ok(took),
            Ok((false, _)) => Err("its test does not pass without it, or is not there".to_owned()),
            Err(problem) => Err(problem),
        })
        .clone();
    drop(known);
    Ok(!ask(Some(number), usual? * SLOWER + PATIENCE)?.0)
}

/// The binary that has the test, and the folder of its package.
fn program_of<'p>(
    programs: &'p Programs,
    mutant: &Mutant,
    target: &str,
    test: &str,
) -> Result<&'p (PathBuf, PathBuf), Problem> {
    let key = (mutant.package.to_owned(), target.to_owned());
    let has = |(program, _): &&(PathBuf, PathBuf)| {
        let listed = Command::new(program).arg("--list").output().map(|listed| listed.stdout);
        listed.is_ok_and(|all| {
            String::from_utf8_lossy(&all).lines().any(|line| line == format!("{test}: test"))
        })
    };
    let mut named = programs.iter().filter(|(name, _)| *name == key).map(|(_, found)| found);
    named.find(has).ok_or_else(|| format!("there is no test `{}`", mutant.test))
}

/// What a runner says of exactly one test that passed.
const TEST_PASSED: &[&str] = &[" 1 passed; 0 failed;"];
const STORY_PASSED: &[&str] = &["\"numPassedTests\":1,\"numFailedTests\":0,", "\"success\":true"];

/// The stories in a browser of the copy, over the programs that were built of it.
struct Stories {
    tree: PathBuf,
    programs: PathBuf,
}

impl Stories {
    /// The packages that the stories import are those of the checkout.
    fn over(place: &Place, tree: &Path, target: &Path) -> Result<Self, Problem> {
        let packages = tree.join("node_modules");
        if !packages.exists() {
            shell::lend(&place.root.join("node_modules"), &packages)
                .map_err(|e| format!("cannot lend `{}`: {e}", packages.display()))?;
        }
        Ok(Self { tree: tree.to_owned(), programs: target.join("debug") })
    }

    fn ask(&self, file: &str, name: &str) -> Command {
        let pattern: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == ' ' { c } else { '.' }).collect();
        let mut command = Command::new("npx");
        command.args(["vitest", "run", "--reporter=json", "--config", "tests/browser/vite.config.ts", file]);
        command.args(["-t", &format!("^{pattern}$")]).current_dir(&self.tree);
        command.env("HERMIT_PROGRAMS", &self.programs);
        command
    }
}

/// Whether exactly one test ran and passed in this time, as its runner says it, and how long it took.
fn passes(command: &mut Command, passed: &[&str], patience: Duration) -> Result<(bool, Duration), Problem> {
    let lost = |e: std::io::Error| format!("a test was lost: {e}");
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(lost)?;
    let output = child.stdout.take().ok_or("its output cannot be read")?;
    let (send, whole) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(std::io::read_to_string(output).unwrap_or_default()));
    while child.try_wait().map_err(lost)?.is_none() {
        if begun.elapsed() > patience {
            // What it started may hold its output open, so nobody waits for the end of that.
            child.kill().and_then(|()| child.wait()).map_err(lost)?;
            return Ok((false, begun.elapsed()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_content = child.wait().map_err(lost)?.success();
    // What it started may hold its output open here, too.
    let said = whole.recv_timeout(Duration::from_secs(20));
    let said = said.map_err(|_| "its output came to no end".to_owned())?;
    Ok((is_content && passed.iter().all(|words| said.contains(words)), begun.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# head\nHK-1-1\ta.rs\tif «a < b» {\ta <= b\tkernel all::x::y\nHK-1-2\ta.rs\tgo();\t\tgate rules::z\n";

    #[test]
    fn each_fault_stands_behind_its_switch_beside_what_was_there() {
        let mutants = parse(LIST).unwrap();
        let text = mutated("fn f() { if a < b { go(); } }", "a.rs", &mutants).unwrap();
        let switch =
            |n: usize| format!("if ::std::env::var_os(\"{SWITCH}\").is_some_and(|on| on == \"{n}\")");
        let first = format!("({} {{ a <= b }} else {{ a < b }})", switch(0));
        let second = format!("{} {{  }} else {{ go(); }}", switch(1));
        assert_eq!(text, format!("fn f() {{ if {first} {{ {second} }} }}"));
        assert!(mutated("if a < b {} if a < b {} go();", "a.rs", &mutants).unwrap_err().contains("once"));
        assert_eq!(mutated("as it was", "b.rs", &mutants).unwrap(), "as it was");
        let list = "HK-1-1\ta.tsx\tleft\tright\tbrowser x.test.ts::a\nHK-1-2\ta.tsx\tleft\tup\tbrowser x.test.ts::b\n";
        let text = mutated("go(left)", "a.tsx", &parse(list).unwrap()).unwrap();
        let on = |n: usize| format!("import.meta.env.{PAGE_SWITCH} === \"{n}\"");
        assert_eq!(
            text,
            format!("go(({} ? (right) : {} ? (up) : (left)))", on(0), on(1)),
            "two in one place"
        );
        assert!(parse("HK-1-1\ta.rs\tx\n").is_err());
    }

    #[test]
    fn those_that_were_not_killed_or_are_named_can_be_asked_alone() {
        let mutants = parse(LIST).unwrap();
        let killed = BTreeSet::from([mutants[0].line]);
        let asked = |words: &[&str]| {
            mutants.iter().filter(|m| wanted(m, words, &killed)).map(|m| m.id).collect::<Vec<_>>()
        };
        assert_eq!(asked(&[]), ["HK-1-1", "HK-1-2"]);
        assert_eq!(asked(&["new"]), ["HK-1-2"]);
        assert_eq!(asked(&["HK-1-1"]), ["HK-1-1"]);
        assert_eq!(asked(&["x::y", "z"]), ["HK-1-1", "HK-1-2"]);
    }

    #[test]
    fn a_binary_is_known_by_its_package_and_target() {
        let line = r#"{"reason":"compiler-artifact","package_id":"x","manifest_path":"/h/crates/kernel/Cargo.toml","target":{"kind":["test"],"name":"all","src_path":"x"},"executable":"/t/all-1"}"#;
        let ((package, target), (executable, folder)) = program(line).unwrap();
        assert_eq!((package.as_str(), target.as_str()), ("kernel", "all"));
        assert_eq!((executable, folder), ("/t/all-1".into(), "/h/crates/kernel".into()));
        assert!(program(r#"{"reason":"compiler-artifact","executable":null}"#).is_none());
    }
}
