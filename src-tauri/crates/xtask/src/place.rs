//! Where the checkout is and where its builds go.
//!
//! The rule: `CARGO_TARGET_DIR` if it is set; else `HERMIT_TARGET_DIR`; else, with `CI=true`, `hermit/target` in
//! the user's cache folder, because CI throws its clones away; else `target/` of the checkout, where an editor
//! and a bare `cargo` look too.
//!
//! Cargo tells a stale file by its time alone and names the rooms by their path inside the checkout. Two clones
//! that share a target folder could therefore be handed each other's rooms. So a shared folder carries the name
//! of the clone that used it last, and another clone first clears the rooms away: third-party crates stay built,
//! every room is built again, and the folder stays as large as one clone's build, however many clones came by.
//! While one clone builds and tests there, the next one waits.

use crate::{Problem, shell};
use std::fs;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout and its build folder.
pub struct Place {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo builds, absolute.
    pub target: PathBuf,
}

impl Place {
    /// Finds both and makes the build folder.
    pub fn find() -> Result<Place, Problem> {
        let manifest = std::env::var("CARGO_MANIFEST_DIR")
            .map_err(|_| "start this as `cargo xtask`, not by the program's path".to_owned())?;
        let root = Path::new(&manifest).ancestors().nth(3);
        let root =
            root.ok_or_else(|| format!("`{manifest}` does not lie in a checkout of hermit"))?.to_owned();
        let target = target_of(&root, |name| std::env::var_os(name).map(PathBuf::from));
        fs::create_dir_all(&target).map_err(|e| format!("cannot make `{}`: {e}", target.display()))?;
        Ok(Place { root, target })
    }

    /// `cargo`, in the root, building into the target folder.
    pub fn cargo(&self) -> Command {
        self.cargo_of(Path::new(&std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())))
    }

    /// The same with a cargo of another toolchain.
    pub fn cargo_of(&self, cargo: &Path) -> Command {
        let mut command = Command::new(cargo);
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // They would tell a nested cargo the wrong package, and have it build anew what a bare one has built: build scripts of others ask
        // to run again when they change.
        forget_this_package(&mut command);
        // CI builds every room anew, so what rustc keeps for the next change would only fill the disk.
        if shell::in_ci() {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// Makes the build folder this clone's until the answer is dropped. Nothing is to be done for a folder
    /// inside the checkout.
    pub fn claim(&self) -> Result<Option<Claim>, Problem> {
        if self.target.starts_with(&self.root) {
            return Ok(None);
        }
        let stamp = self.target.join(".hermit-clone");
        let broken = |e: std::io::Error| format!("cannot use `{}`: {e}", stamp.display());
        let mut options = fs::File::options();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&stamp).map_err(broken)?;
        if file.try_lock().is_err() {
            shell::say("waiting for another clone that builds in the same folder ...");
            file.lock().map_err(broken)?;
        }
        let mut last = String::new();
        file.read_to_string(&mut last).map_err(broken)?;
        let name = self.root.to_string_lossy();
        if last != name {
            shell::say(&format!("builds go to `{}`, which other clones may share", self.target.display()));
            shell::run(self.cargo().args(["clean", "--workspace"]))?;
            file.rewind().and_then(|()| file.set_len(0)).map_err(broken)?;
            file.write_all(name.as_bytes()).map_err(broken)?;
        }
        Ok(Some(Claim { _lock: file }))
    }
}

/// The right to build in a shared folder. It ends when dropped, and when this program becomes another.
pub struct Claim {
    _lock: fs::File,
}

/// What cargo tells of the package that it starts.
const ABOUT_US: [&str; 4] = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_CRATE_", "CARGO_BIN_"];

/// Takes out what `cargo xtask` leaves of this package, which means nothing to another program.
pub fn forget_this_package(command: &mut Command) {
    let about_us = |name: &str| ABOUT_US.iter().any(|start| name.starts_with(start));
    for (name, _) in std::env::vars_os().filter(|(name, _)| about_us(&name.to_string_lossy())) {
        command.env_remove(name);
    }
}

fn target_of(root: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let set = |name: &str| variable(name).filter(|value| !value.as_os_str().is_empty());
    if let Some(chosen) = set("CARGO_TARGET_DIR").or_else(|| set("HERMIT_TARGET_DIR")) {
        return root.join(chosen);
    }
    let ci = set("CI").is_some_and(|ci| ci.as_os_str() != "false" && ci.as_os_str() != "0");
    match cache_in(variable) {
        Some(cache) if ci => cache.join("target"),
        _ => root.join("target"),
    }
}

/// Cargo's own folder.
pub fn cargo_home() -> Result<PathBuf, Problem> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    let found = named.or_else(|| home().map(|home| PathBuf::from(home).join(".cargo")));
    found.ok_or_else(|| "no home folder is known; set CARGO_HOME".to_owned())
}

/// Hermit's folder in the user's cache.
pub fn cache() -> Result<PathBuf, Problem> {
    cache_in(|name| std::env::var_os(name).map(PathBuf::from))
        .ok_or_else(|| "no home folder is known; set XDG_CACHE_HOME".to_owned())
}

fn cache_in(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let base = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA")).or_else(|| {
        let home = variable("HOME")?;
        Some(home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
    })?;
    base.is_absolute().then(|| base.join("hermit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(set: &[(&str, &str)]) -> PathBuf {
        target_of(Path::new("/a-clone"), |name| {
            set.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value))
        })
    }

    #[test]
    fn a_nested_cargo_is_told_nothing_of_this_package() {
        // Cargo gives these to its tests, as it does to `cargo xtask`.
        let given = ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR"];
        assert!(given.iter().all(|name| std::env::var_os(name).is_some()), "they are here");
        let place = Place { root: "/a-clone".into(), target: "/a-clone/target".into() };
        let command = place.cargo();
        for name in given {
            assert!(command.get_envs().any(|(n, value)| n == name && value.is_none()), "{name}");
        }
    }

    #[test]
    fn a_persons_builds_stay_in_the_checkout() {
        assert_eq!(target(&[("HOME", "/home/ana")]), Path::new("/a-clone/target"));
        assert_eq!(target(&[("HOME", "/home/ana"), ("CI", "false")]), Path::new("/a-clone/target"));
    }

    #[test]
    fn ci_builds_outlive_their_clone() {
        let cache = target(&[("XDG_CACHE_HOME", "/cache"), ("CI", "true")]);
        assert_eq!(cache, Path::new("/cache/hermit/target"));
        assert_eq!(
            target(&[("CI", "true")]),
            Path::new("/a-clone/target"),
            "without a home the checkout serves"
        );
    }

    #[test]
    fn a_named_folder_wins_and_cargos_own_variable_wins_over_ours() {
        let ours = ("HERMIT_TARGET_DIR", "/shared");
        assert_eq!(target(&[ours, ("CI", "true"), ("HOME", "/h")]), Path::new("/shared"));
        assert_eq!(target(&[ours, ("CARGO_TARGET_DIR", "/cargo")]), Path::new("/cargo"));
        assert_eq!(target(&[("CARGO_TARGET_DIR", "near")]), Path::new("/a-clone/near"));
    }
}
