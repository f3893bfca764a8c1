//! The program that trains: a part of its own, built and tested when somebody asks for it and by nothing else.

use crate::Problem;
use crate::place::{Place, cache};
use crate::shell::{run, say};
use std::fs;
use std::process::Command;

/// Its name.
const PROGRAM: &str = "hermit-train";

/// Its folder in the checkout, with a lock file of its own.
const FOLDER: &str = "src-tauri/trainer";

/// Builds it and puts it where Hermit finds it; with `test` runs its tests.
pub fn trainer(place: &Place, words: &[String]) -> Result<(), Problem> {
    match words {
        [] => build(place),
        [word, more @ ..] if word == "test" => test(place, more),
        other => Err(format!("`{}` means nothing here; there is `test`", other.join(" "))),
    }
}

/// A cargo in its folder. What was compiled stays with the user: it takes minutes, and is the same for every clone.
fn cargo(place: &Place) -> Result<Command, Problem> {
    let mut cargo = place.cargo();
    cargo.current_dir(place.root.join(FOLDER));
    cargo.env("CARGO_TARGET_DIR", cache()?.join("target").join("trainer"));
    Ok(cargo)
}

fn build(place: &Place) -> Result<(), Problem> {
    say("building the program that trains; candle takes some minutes the first time ...");
    // The bench measures it beside candle's plain loop, which stays where it is built.
    run(cargo(place)?.args(["build", "--release", "--locked", "--bins", "--example", "plain"]))?;
    let file = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let from = cache()?.join("target").join("trainer").join("release").join(&file);
    let folder = cache()?.join("trainer");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    let to = folder.join(file);
    // One that runs keeps its file, and a new one is written.
    let _ = fs::remove_file(&to);
    fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
    say(&format!("{} is there", to.display()));
    Ok(())
}

fn test(place: &Place, more: &[String]) -> Result<(), Problem> {
    run(cargo(place)?.args(["test", "--locked"]).args(more))
}
