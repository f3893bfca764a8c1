//! Builds whose bytes do not tell where they were made: folders of whoever builds become fixed names, and every time is that
//! of the commit. `cargo xtask reproducible` builds in two folders and compares.

use crate::place::{Place, cargo_home};
use crate::shell::{run, say};
use crate::{Problem, sources_copy};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What separates the words of `CARGO_ENCODED_RUSTFLAGS`.
const BETWEEN: &str = "\u{1f}";
/// The smallest of the programs: package and name.
const SMALLEST: (&str, &str) = ("hermit-proof", "hermit-verify");
/// What `all` compares: package and program.
const ALL: [(&str, &str); 3] = [SMALLEST, ("hermit-exec", "hermit-exec"), ("hermit-cli", "hermit")];

/// A folder, and the name that it has in what is built.
type Renamed = (PathBuf, &'static str);

/// Folders whose names would be in the programs; a later one counts where two fit.
fn renamed(root: &Path, target: &Path) -> Result<Vec<Renamed>, Problem> {
    let cargo_home = cargo_home()?;
    let sysroot = PathBuf::from(said(Command::new("rustc").current_dir(root).args(["--print", "sysroot"]))?);
    Ok(vec![
        (cargo_home, "/cargo"),
        (sysroot, "/rust"),
        (root.to_owned(), "/hermit"),
        (target.to_owned(), "/target"),
    ])
}

/// What rustc is told.
fn rust_flags(renamed: &[Renamed]) -> String {
    let mut flags: Vec<String> = renamed
        .iter()
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
        .collect();
    if cfg!(all(windows, target_env = "msvc")) {
        // Else the linker writes the time into each program.
        flags.push("-Clink-arg=/Brepro".to_owned());
    }
    flags.join(BETWEEN)
}

/// What a compiler of C is told, behind what it is told already.
fn c_flags(renamed: &[Renamed], already: Option<String>) -> String {
    let flags = renamed.iter().map(|(folder, name)| format!("-ffile-prefix-map={}={name}", folder.display()));
    already.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
}

/// `cargo build --release` of the source in `root` into `target`, at the time of a commit. More words say what is built.
pub fn cargo(place: &Place, root: &Path, target: &Path, committed_at: &str) -> Result<Command, Problem> {
    let renamed = renamed(root, target)?;
    let mut cargo = place.cargo();
    cargo.current_dir(root).env("CARGO_TARGET_DIR", target).args(["build", "--release", "--locked"]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&renamed)).env("CARGO_INCREMENTAL", "0");
    if cfg!(unix) {
        for name in ["CFLAGS", "CXXFLAGS"] {
            cargo.env(name, c_flags(&renamed, std::env::var(name).ok()));
        }
    }
    cargo.env("SOURCE_DATE_EPOCH", committed_at).env("ZERO_AR_DATE", "1").env("TZ", "UTC").env("LC_ALL", "C");
    Ok(cargo)
}

/// When the commit of a checkout was made, in seconds since 1970.
pub fn committed_at(root: &Path) -> Result<String, Problem> {
    said(Command::new("git").current_dir(root).args(["show", "-s", "--format=%ct", "HEAD"]))
}

/// The one line that a program says.
pub fn said(command: &mut Command) -> Result<String, Problem> {
    let shown = crate::shell::spelled(command);
    let output = command.output().map_err(|e| format!("`{shown}` could not be started: {e}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed ({})", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Builds the smallest program in two folders, or with `all` each of them, and compares their bytes.
pub fn compare(place: &Place, words: &[String]) -> Result<(), Problem> {
    let programs: &[(&str, &str)] = match words {
        [] => &[SMALLEST],
        [word] if word == "all" => &ALL,
        other => return Err(format!("`{}` means nothing here; there is `all`", other.join(" "))),
    };
    let committed_at = committed_at(&place.root)?;
    // Names of two lengths, so that a folder's name which stays in a program moves what is behind it.
    let mut built = Vec::new();
    for name in ["one", "another-folder"] {
        let folder = place.target.join("reproducible").join(name);
        let (tree, target) = (folder.join("hermit"), folder.join("target"));
        say(&format!("building in `{}` ...", folder.display()));
        // What was built before would only be compared with itself.
        remove(&folder)?;
        sources_copy::copy(&place.root, &tree, &|_, _| Ok(None))?;
        let mut cargo = cargo(place, &tree, &target, &committed_at)?;
        for (package, program) in programs {
            cargo.args(["-p", package, "--bin", program]);
        }
        run(&mut cargo)?;
        built.push(target.join("release"));
    }
    let [one, other] = built.as_slice() else { return Err("two builds are compared".to_owned()) };
    let mut differ = Vec::new();
    for (_, program) in programs {
        let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let read = |folder: &Path| {
            fs::read(folder.join(&name))
                .map_err(|e| format!("cannot read `{name}` in `{}`: {e}", folder.display()))
        };
        match first_difference(&read(one)?, &read(other)?) {
            None => say(&format!("{name}: the same bytes")),
            Some(at) => differ.push(format!("{name} from byte {at}")),
        }
    }
    if !differ.is_empty() {
        return Err(format!("two builds of the same source differ: {}", differ.join(", ")));
    }
    remove(&place.target.join("reproducible"))
}

fn remove(folder: &Path) -> Result<(), Problem> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove `{}`: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The place of the first byte that is another.
fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    if one == other {
        return None;
    }
    let length = one.len().min(other.len());
    Some(one.iter().zip(other).position(|(one, other)| one != other).unwrap_or(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_gets_its_name_for_both_compilers_and_what_was_said_already_stays() {
        let renamed =
            [(PathBuf::from("/home/ana/.cargo"), "/cargo"), (PathBuf::from("/home/ana/hermit"), "/hermit")];
        let rust = rust_flags(&renamed);
        let words: Vec<&str> = rust.split(BETWEEN).take(2).collect();
        assert_eq!(
            words,
            ["--remap-path-prefix=/home/ana/.cargo=/cargo", "--remap-path-prefix=/home/ana/hermit=/hermit"]
        );
        assert_eq!(
            c_flags(&renamed, Some("-O2".to_owned())),
            "-O2 -ffile-prefix-map=/home/ana/.cargo=/cargo -ffile-prefix-map=/home/ana/hermit=/hermit"
        );
    }

    #[test]
    fn the_first_byte_that_is_another_is_found_also_where_one_is_longer() {
        assert_eq!(first_difference(b"same", b"same"), None);
        assert_eq!(first_difference(b"same", b"some"), Some(1));
        assert_eq!(first_difference(b"same", b"same and more"), Some(4));
    }
}
