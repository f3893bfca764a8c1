//! Test programs of earlier builds. A changed profile or feature gives every program a new name beside the old one, and a
//! folder that CI keeps would grow until the disk is full.

use crate::Problem;
use crate::shell::{in_ci, say, spelled};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// What every program that this build names has before its name.
const PROGRAM: &str = "\"executable\":\"";

/// Runs that build of all programs and, in CI, removes beside them those that no longer belong to it.
pub fn build(cargo: &mut Command) -> Result<(), Problem> {
    if !in_ci() {
        return crate::shell::run(cargo);
    }
    let shown = spelled(cargo);
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = cargo.spawn().map_err(|e| format!("`{shown}` could not be started: {e}"))?;
    let output = child.stdout.take().ok_or("cargo's output cannot be read")?;
    let mut programs = BTreeSet::new();
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|e| format!("cargo's output broke off: {e}"))?;
        programs.extend(program(&line));
    }
    let status = child.wait().map_err(|e| format!("cargo was lost: {e}"))?;
    if !status.success() {
        return Err(format!("`{shown}` failed ({status})"));
    }
    let mut removed = 0;
    for folder in
        programs.iter().filter_map(|p| p.parent()).filter(|f| f.ends_with("deps")).collect::<BTreeSet<_>>()
    {
        removed += remove_others(folder, &programs)?;
    }
    if removed > 0 {
        say(&format!("removed {} MB of programs that earlier builds had left", removed / 1_000_000));
    }
    Ok(())
}

/// The program that a line of cargo names.
pub fn program(line: &str) -> Option<PathBuf> {
    line.split_once(PROGRAM)?.1.split('"').next().map(PathBuf::from)
}

/// Removes the programs of the folder that are none of these; answers how many bytes they had.
fn remove_others(folder: &Path, programs: &BTreeSet<PathBuf>) -> Result<u64, Problem> {
    let broken = |e: std::io::Error| format!("cannot clear `{}`: {e}", folder.display());
    // A program that is no test lies beside the folder under a plain name, by a link of the same file.
    let linked: BTreeSet<_> =
        programs.iter().filter(|p| !p.starts_with(folder)).filter_map(|p| seen(p)).collect();
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let is_program =
            path.extension().map_or("", |e| e.to_str().unwrap_or("?")) == std::env::consts::EXE_EXTENSION;
        if !is_program || programs.contains(&path) || seen(&path).is_none_or(|it| linked.contains(&it)) {
            continue;
        }
        removed += path.metadata().map_err(broken)?.len();
        fs::remove_file(&path).map_err(broken)?;
    }
    Ok(removed)
}

/// A file's length and time, by which two links of one are known, with the first word of its name.
fn seen(path: &Path) -> Option<(OsString, u64, SystemTime)> {
    let data = path.metadata().ok().filter(fs::Metadata::is_file)?;
    let name = path.file_stem()?.to_str()?.replace('-', "_");
    let name =
        name.rsplit_once('_').filter(|(_, last)| last.len() == 16).map_or(name.as_str(), |(name, _)| name);
    Some((name.into(), data.len(), data.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_earlier_builds_go_and_all_else_stays() {
        let root = std::env::temp_dir().join(format!("hermit-stale-{}", std::process::id()));
        let deps = root.join("deps");
        fs::create_dir_all(&deps).unwrap();
        let named = |name: &str| deps.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let plain = root.join(format!("hermit-exec{}", std::env::consts::EXE_SUFFIX));
        for program in ["all-00000000000000aa", "all-00000000000000bb", "hermit_exec-00000000000000cc"] {
            fs::write(named(program), program).unwrap();
        }
        fs::write(named("hermit_exec-00000000000000dd"), "one of before").unwrap();
        fs::hard_link(named("hermit_exec-00000000000000cc"), &plain).unwrap();
        fs::write(deps.join("libacts-00000000000000aa.rlib"), "a library").unwrap();
        let line = format!(
            "{{\"target\":{{}},{PROGRAM}{}\",\"fresh\":true}}",
            named("all-00000000000000aa").display()
        );
        let programs = BTreeSet::from([program(&line).unwrap(), plain]);
        assert_eq!(program("{\"executable\":null}"), None);

        let removed = remove_others(&deps, &programs).unwrap();

        let mut left: Vec<_> = fs::read_dir(&deps).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(removed, 33, "`all-…bb` and `hermit_exec-…dd`");
        assert_eq!(left.len(), 3, "{left:?}");
    }
}
