//! The program of the model in the box: a part of its own, built when somebody asks for it and by nothing else.

use crate::Problem;
use crate::place::{Place, cache};
use crate::setup::{Purpose, setup};
use crate::shell::{run, say};
use std::fs;
use std::path::PathBuf;

/// Its name.
pub const PROGRAM: &str = "hermit-model-box";

/// Its folder in the checkout, with a lock file of its own.
pub const FOLDER: &str = "src-tauri/sidecar";

fn file() -> String {
    format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX)
}

/// Where Hermit looks for it in the user's cache; what packages take along lies beside, for any processor of its kind.
fn kept(portable: bool) -> Result<PathBuf, Problem> {
    let folder = cache()?.join("model-box");
    Ok(if portable { folder.join("portable").join(file()) } else { folder.join(file()) })
}

/// Builds it, puts it where Hermit finds it, or `--portable` where packages take it from, and says where that is.
pub fn build(place: &Place, words: &[String]) -> Result<PathBuf, Problem> {
    let portable = match words {
        [] => false,
        [word] if word == "--portable" => true,
        other => return Err(format!("`{}` means nothing here; there is --portable", other.join(" "))),
    };
    setup(Purpose::ModelBox)?;
    // What was compiled stays with the user: it takes minutes, and is the same for every clone.
    let target = cache()?.join("target").join("model-box");
    say("building the model in the box; llama.cpp takes some minutes the first time ...");
    let mut cargo = place.cargo();
    cargo.current_dir(place.root.join(FOLDER)).env("CARGO_TARGET_DIR", &target);
    cargo.args(["build", "--release", "--locked"]);
    if !portable {
        cargo.args(["--features", "native"]);
    }
    run(&mut cargo)?;
    let (from, to) = (target.join("release").join(file()), kept(portable)?);
    let folder = to.parent().ok_or("a program lies in a folder")?;
    fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    // One that runs keeps its file, and a new one is written.
    let _ = fs::remove_file(&to);
    fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
    say(&format!("{} is there; `hermit models get` fetches a model for it", to.display()));
    Ok(to)
}
