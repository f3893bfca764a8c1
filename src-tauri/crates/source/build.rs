//! Gathers the source that this build is made of. A debug build carries it as it is, which costs a moment; a release build
//! carries it deflated, and only what git tracks, so that no file of whoever builds it goes along.

#![allow(clippy::disallowed_methods, reason = "a build script is told by its environment, and asks git")]

#[allow(dead_code, reason = "the half that reads is for the room")]
#[path = "../provenance/src/archive.rs"]
mod archive;
#[path = "src/gather.rs"]
mod gather;
#[allow(dead_code, reason = "what a label says is for the room")]
#[path = "../provenance/src/clean_room/labels.rs"]
mod labels;

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    if let Err(why) = carry() {
        println!("cargo::error={why}");
    }
}

fn carry() -> io::Result<()> {
    let set = |name: &str| env::var_os(name).ok_or_else(|| io::Error::other(format!("{name} is not set")));
    let here = PathBuf::from(set("CARGO_MANIFEST_DIR")?);
    let root = here.ancestors().nth(3).ok_or_else(|| io::Error::other("this is no checkout of hermit"))?;
    let release = set("PROFILE")? == "release";
    let lies_here = gather::listed(root)?;
    if let Some(why) = labels::refusal(lies_here.iter().map(String::as_str)) {
        return Err(io::Error::other(why));
    }
    let told = tracked(root, release, &lies_here);
    if release && told.is_none() && root.join(".git").exists() {
        // Such as where the checkout belongs to somebody else than who builds.
        println!(
            "cargo::warning=git does not say what is tracked here, so every file that .gitignore does not name is carried"
        );
    }
    let paths = told.unwrap_or(lies_here);
    let files = gather::read(root, &paths)?;
    for path in files.keys() {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    let stream = archive::pack(&files).map_err(io::Error::other)?;
    let carried = if release {
        let mut deflated = GzEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(&stream)?;
        deflated.finish()?
    } else {
        stream
    };
    fs::write(Path::new(&set("OUT_DIR")?).join("carried"), carried)
}

/// What git tracks, and in a debug build what it would track of what lies here; none where this is no checkout, or git is not
/// here.
fn tracked(root: &Path, release: bool, lies_here: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    // Inside the checkout of something else git would tell of that.
    root.join(".git").exists().then_some(())?;
    let names = |of: &[&str]| -> Option<BTreeSet<String>> {
        let said = Command::new("git").current_dir(root).args(["ls-files", "-z"]).args(of).output().ok()?;
        let names = String::from_utf8(said.stdout).ok().filter(|_| said.status.success())?;
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    };
    let mut tracked = names(&["--cached"])?;
    if !release && !tracked.is_empty() {
        let others = names(&["--others", "--exclude-standard"])?;
        tracked.extend(others.into_iter().filter(|name| lies_here.contains(name)));
    }
    (!tracked.is_empty()).then_some(tracked)
}
