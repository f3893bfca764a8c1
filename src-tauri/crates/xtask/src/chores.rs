//! Building, starting and checking.

use crate::place::{Place, forget_this_package};
use crate::setup::{Purpose, setup};
use crate::shell::{run, say};
use crate::{Problem, app, dependencies, pages, shell};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The packages whose programs a person runs.
pub const PROGRAMS: [&str; 3] = ["hermit-cli", "hermit-exec", "hermit-proof"];

/// Sets up, builds, and opens the app. Where nobody would see it the host is begun without a window, and says where a
/// browser finds it. With words the first task is led through in the terminal.
pub fn start(place: &Place, args: &[String]) -> Result<ExitCode, Problem> {
    setup(Purpose::Start)?;
    say("building; the first time takes some minutes ...");
    if !args.is_empty() {
        let hermit = programs(place, false)?;
        return become_hermit(Command::new(hermit).arg("start").args(args));
    }
    if pages::at_hand() {
        pages::interface(place)?;
    }
    if app::has_display() && app::can_build() {
        let app = app::build(place)?;
        say("opening Hermit; its window closed, it goes on in the tray, and `Quit` there ends it");
        return become_hermit(&mut Command::new(app));
    }
    say(if app::has_display() {
        "the app cannot be built here, so its pages are served to a browser instead"
    } else {
        "there is no display here, so the pages are served to a browser instead"
    });
    let hermit = programs(place, false)?;
    become_hermit(Command::new(hermit).arg("serve"))
}

/// Builds and runs `hermit` with these words.
pub fn dev(place: &Place, args: &[String]) -> Result<ExitCode, Problem> {
    let hermit = programs(place, false)?;
    become_hermit(Command::new(hermit).args(args))
}

/// Release build, and the page that verifies.
pub fn build(place: &Place) -> Result<(), Problem> {
    setup(Purpose::Start)?;
    let hermit = programs(place, true)?;
    say(&format!("built `{}`", hermit.display()));
    if pages::at_hand() {
        say(&format!("built `{}`", pages::build(place)?.join("verify.html").display()));
    }
    Ok(())
}

/// Builds the programs and answers where `hermit` is.
pub fn programs(place: &Place, release: bool) -> Result<PathBuf, Problem> {
    let mut cargo = place.cargo();
    cargo.args(["build", "--bins"]).args(PROGRAMS.iter().flat_map(|p| ["-p", p]));
    cargo.args(release.then_some("--release"));
    run(&mut cargo)?;
    let folder = place.target.join(if release { "release" } else { "debug" });
    let hermit = folder.join(format!("hermit{}", std::env::consts::EXE_SUFFIX));
    if hermit.exists() { Ok(hermit) } else { Err(format!("the build left no `{}`", hermit.display())) }
}

/// Writes the kit of vectors by which others grade their verifiers; a test of `proof` makes it.
pub fn kit(place: &Place, args: &[String]) -> Result<(), Problem> {
    let [flag, folder] = args else { return Err("say where: `cargo xtask kit --out FOLDER`".to_owned()) };
    if flag != "--out" {
        return Err(format!("`{flag}` is no option; say where: `cargo xtask kit --out FOLDER`"));
    }
    let from = std::env::var_os("INIT_CWD").map_or_else(|| place.root.clone(), PathBuf::from);
    let folder = from.join(folder);
    let test = "kit::the_kit_is_written_where_it_is_asked_for";
    let mut cargo = place.cargo();
    cargo.args(["test", "-p", "hermit-proof", "--test", "all", "--", "--exact", test]);
    run(cargo.env("HERMIT_KIT", &folder))?;
    if !folder.join("kit.json").is_file() {
        return Err(format!(
            "nothing was written to `{}`: the kit is made on Linux and macOS",
            folder.display()
        ));
    }
    say(&format!("the kit is in `{}`; its README.md says how to grade with it", folder.display()));
    Ok(())
}

/// Runs with this terminal, in the folder the person stands in, and takes its exit code over.
fn become_hermit(command: &mut Command) -> Result<ExitCode, Problem> {
    if let Some(folder) = std::env::var_os("INIT_CWD") {
        command.current_dir(folder);
    }
    // Cargo's words about this program mean nothing to that one; the person's own (CARGO_HOME) do.
    forget_this_package(command);
    command.env_remove("CARGO");
    shell::hand_over(command)
}

/// Formatting, clippy, documentation, types and dependencies.
pub fn check(place: &Place) -> Result<(), Problem> {
    say("formatting ...");
    run(place.cargo().args(["fmt", "--all", "--check"]))?;
    run(Command::new("rustfmt").args(["--edition", "2024", "--check"]).args(listed(place)?))?;
    say("clippy ...");
    run(place
        .cargo()
        .args(["clippy", "--workspace", "--all-targets"])
        .args(app::left_out())
        .args(["--", "-D", "warnings"]))?;
    say("documentation ...");
    run(place
        .cargo()
        .args(["doc", "--workspace", "--no-deps"])
        .args(app::left_out())
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    if pages::at_hand() {
        say("types ...");
        pages::check(place)?;
    }
    say("dependencies ...");
    dependencies::check(place)?;
    say("all as it should be");
    Ok(())
}

/// The executors: a list names their modules, and cargo's formatter does not read it.
fn listed(place: &Place) -> Result<Vec<PathBuf>, Problem> {
    let folder = place.root.join("src-tauri/crates/effects/src/tools");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| e.to_string())).collect()
}

/// Proofs that are longer the larger they are asked for: their name, the test, and what tells it its size.
const SIZED: [(&str, &str, &str); 10] = [
    ("images", "simulation::images", "HERMIT_SIMULATION_IMAGES"),
    ("worlds", "simulation::worlds", "HERMIT_SIMULATION_WORLDS"),
    ("seeds", "simulation::seeds", "HERMIT_SIMULATION_SEEDS"),
    ("points", "simulation::points", "HERMIT_SIMULATION_DEATHS"),
    ("kills", "simulation::killed", "HERMIT_SIMULATION_KILLS"),
    ("fired", "simulation::fired", "HERMIT_SIMULATION_FIRED"),
    ("called", "journeys::called", "HERMIT_HOOK_DEATHS"),
    ("bursts", "simulation::bursts", "HERMIT_SIMULATION_FOLDERS"),
    ("history", "simulation::history_read", "HERMIT_SIMULATION_HISTORY"),
    ("playbooks", "journeys::large", "HERMIT_PLAYBOOK_FILES"),
];

/// The benchmarks, in the release profile; `NAME SIZE` runs one of the long proofs instead.
pub fn bench(place: &Place, args: &[String]) -> Result<(), Problem> {
    if !place.root.join("tests/bench").is_dir() {
        return Err("no benchmark stands in tests/bench yet".to_owned());
    }
    if let [word, size] = args
        && let Some((_, test, variable)) = SIZED.iter().find(|(name, ..)| name == word)
    {
        let mut cargo = place.cargo();
        cargo.args(["test", "--release", "-p", "hermit-tests", "--test", "house", test, "--", "--nocapture"]);
        return run(cargo.env(variable, size));
    }
    // Whatever is said is for the benchmarks: cargo takes one word alone, as a filter.
    let words = args.iter().skip_while(|word| *word == "--");
    run(place.cargo().args(["bench", "-p", "hermit-tests", "--"]).args(words))
}
