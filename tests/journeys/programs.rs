//! The programs of this house, built beside this test binary, or those of the folder that `HERMIT_PROGRAMS` names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

/// `hermit`, with `hermit-exec` beside it.
pub fn hermit() -> &'static Path {
    static HERMIT: OnceLock<PathBuf> = OnceLock::new();
    HERMIT.get_or_init(|| {
        exec();
        built("hermit-cli", "hermit")
    })
}

/// `hermit-exec`.
pub fn exec() -> &'static Path {
    static EXEC: OnceLock<PathBuf> = OnceLock::new();
    EXEC.get_or_init(|| built("hermit-exec", "hermit-exec"))
}

/// `hermit-verify`.
pub fn verifier() -> &'static Path {
    static VERIFIER: OnceLock<PathBuf> = OnceLock::new();
    VERIFIER.get_or_init(|| built("hermit-proof", "hermit-verify"))
}

/// The app, when somebody has built it: its first build takes minutes, and no test begins one.
pub fn desktop_program() -> Option<&'static Path> {
    static DESKTOP: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = DESKTOP.get_or_init(|| {
        let test = std::env::current_exe().expect("this program");
        let there = test.ancestors().nth(2).expect("the folder of the profile").join("hermit-desktop");
        hermit();
        there.is_file().then(|| built("hermit-desktop", "hermit-desktop"))
    });
    found.as_deref()
}

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the checkout").to_owned()
}

/// A program as its sources are now: the one that lies there, or a new one when a source is younger.
fn built(package: &str, name: &str) -> PathBuf {
    let given = std::env::var_os("HERMIT_PROGRAMS").map(|folder| PathBuf::from(folder).join(name));
    if let Some(given) = given.filter(|path| path.is_file()) {
        return given;
    }
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().expect("no poison");
    let test = std::env::current_exe().expect("this program");
    let profile = test.ancestors().nth(2).expect("the folder of the profile");
    let path = profile.join(name);
    if is_fresh(&path) {
        return path;
    }
    let target = profile.parent().expect("the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package, "--bin", name, "--target-dir"]).arg(target);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.current_dir(root()).status().expect("cargo").success(), "`{name}` does not build");
    path
}

/// Whether a program is younger than every source that cargo says it was made of. Asking cargo would build it anew
/// with fewer features than the whole workspace has, which takes minutes.
fn is_fresh(path: &Path) -> bool {
    let age = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
    let (Some(made), Ok(list)) = (age(path), std::fs::read_to_string(path.with_extension("d"))) else {
        return false;
    };
    let here = root();
    let younger = |source: &str| age(Path::new(source)).unwrap_or_else(SystemTime::now) > made;
    let sources: Vec<&str> =
        list.split_once(": ").map_or("", |(_, sources)| sources).split_whitespace().collect();
    sources.iter().any(|source| Path::new(source).starts_with(&here))
        && !sources.iter().any(|source| younger(source))
}
