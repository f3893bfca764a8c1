//! The desktop app: whether it can be built and shown here, and how it becomes a package.

use crate::chores::programs;
use crate::place::{Place, cache};
use crate::setup::{Purpose, setup};
use crate::shell::{answers, run, say};
use crate::{Problem, licence_texts, model_box, package_files, pages, release};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The package of the app.
pub const PACKAGE: &str = "hermit-desktop";

/// Programs that lie beside the app in a package: the walls, the command line, the verifier.
pub const BESIDE: [&str; 3] = ["hermit-exec", "hermit", "hermit-verify"];

/// Libraries of the system that the app is linked with.
const LIBRARIES: [&str; 2] = ["webkit2gtk-4.1", "dbus-1"];

/// Whether the app can be built here.
pub fn can_build() -> bool {
    !cfg!(target_os = "linux") || LIBRARIES.iter().all(|name| answers("pkg-config", &["--exists", name]))
}

/// What a run over the whole workspace leaves out where the app cannot be built.
pub fn left_out() -> &'static [&'static str] {
    if can_build() { &[] } else { &["--exclude", PACKAGE] }
}

/// Whether somebody would see a window.
pub fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Builds the app with its pages inside, and the programs it needs beside it; where it is.
pub fn build(place: &Place) -> Result<PathBuf, Problem> {
    programs(place, false)?;
    run(place.cargo().args(["build", "-p", PACKAGE]))?;
    let app = place.target.join("debug").join(format!("{PACKAGE}{}", std::env::consts::EXE_SUFFIX));
    if app.exists() { Ok(app) } else { Err(format!("the build left no `{}`", app.display())) }
}

/// Leaves the model in the box out of a package, which is smaller then and built sooner.
const NO_MODEL_BOX: &str = "--no-model-box";

/// Makes packages of the app for this system, with the program of the model in the box.
pub fn bundle(place: &Place, words: &[String]) -> Result<(), Problem> {
    setup(Purpose::Start)?;
    let (ours, words): (Vec<_>, Vec<_>) = words.iter().partition(|word| *word == NO_MODEL_BOX);
    if !can_build() {
        return Err("the app cannot be built here; what is missing is said above".to_owned());
    }
    pages::interface(place)?;
    let sidecar =
        if ours.is_empty() { Some(model_box::build(place, &["--portable".to_owned()])?) } else { None };
    let debug = words.iter().any(|word| *word == "--debug");
    let built = programs(place, !debug)?;
    let folder = built.parent().ok_or("a program lies in a folder")?;
    let beside = place.root.join("src-tauri/binaries");
    fs::create_dir_all(&beside).map_err(|e| format!("cannot make `{}`: {e}", beside.display()))?;
    let triple = triple()?;
    for name in BESIDE {
        let (from, suffix) =
            (folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)), std::env::consts::EXE_SUFFIX);
        let to = beside.join(format!("{name}-{triple}{suffix}"));
        fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
    }
    let texts = licence_texts::packaged(place, sidecar.is_some())?;
    fs::copy(&texts, beside.join(licence_texts::FILE))
        .map_err(|e| format!("cannot copy `{}`: {e}", texts.display()))?;
    let mut tauri = pages::tool(place, "@tauri-apps/cli/tauri.js");
    tauri.args(["build", "--config", "src-tauri/bundle.json"]);
    if let Some(sidecar) = sidecar {
        let to = beside.join(format!("{}-{triple}{}", model_box::PROGRAM, std::env::consts::EXE_SUFFIX));
        fs::copy(&sidecar, &to).map_err(|e| format!("cannot copy `{}`: {e}", sidecar.display()))?;
        let all = BESIDE.iter().chain([&model_box::PROGRAM]);
        let all: Vec<String> = all.map(|name| format!("\"binaries/{name}\"")).collect();
        tauri.arg("--config").arg(format!("{{\"bundle\":{{\"externalBin\":[{}]}}}}", all.join(",")));
    }
    tauri.args(kinds(&words, has_tools_of_images()?)).args(words).env("CARGO_TARGET_DIR", &place.target);
    run(&mut tauri)?;
    let made = place.target.join(if debug { "debug" } else { "release" }).join("bundle");
    tell_sizes(&made);
    package_files::inspect(&made, &release::version(&place.root)?)
}

/// Whether Tauri's tools for an .AppImage are in the cache: else Tauri would fetch them, and a machine without a network would make no
/// package at all.
fn has_tools_of_images() -> Result<bool, Problem> {
    let ours = cache()?;
    let tool = format!("linuxdeploy-{}.AppImage", std::env::consts::ARCH);
    Ok(ours.parent().is_some_and(|folder| folder.join("tauri").join(tool).is_file()))
}

/// Which kinds of packages are made where a person named none: on Linux an .AppImage only with the tools for it.
fn kinds(words: &[&String], has_tools: bool) -> &'static [&'static str] {
    let is_named = words.iter().any(|word| *word == "-b" || word.starts_with("--bundles"));
    if std::env::consts::OS != "linux" || is_named || has_tools {
        return &[];
    }
    say(
        "no .AppImage is made: Tauri's tools for it are not in your cache; `--bundles appimage` lets Tauri fetch them",
    );
    &["--bundles", "deb,rpm"]
}

fn tell_sizes(folder: &std::path::Path) {
    for entry in
        fs::read_dir(folder).into_iter().flatten().flatten().flat_map(|kind| fs::read_dir(kind.path()))
    {
        for file in entry.flatten().filter(|file| file.path().is_file()) {
            let size = file.metadata().map_or(0, |found| found.len());
            say(&format!("{} ({:.1} MB)", file.path().display(), size as f64 / 1e6));
        }
    }
}

/// The name of this system as the compiler says it.
pub fn triple() -> Result<String, Problem> {
    let said =
        Command::new("rustc").arg("-vV").output().map_err(|e| format!("rustc could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say which system this is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_left_out_only_where_nobody_asked_for_it_and_its_tools_are_missing() {
        let is_linux = std::env::consts::OS == "linux";
        let left_out: &[&str] = if is_linux { &["--bundles", "deb,rpm"] } else { &[] };
        assert_eq!(kinds(&[], false), left_out);
        assert_eq!(kinds(&[], true), [""; 0]);
        for named in ["--bundles", "--bundles=appimage", "-b"] {
            assert_eq!(kinds(&[&named.to_owned()], false), [""; 0], "{named}");
        }
    }
}
