//! A Bitcoin node for tests, built from the sources that lie inside a package of cargo's registry. It has no wallet and no window.

use crate::Problem;
use crate::setup::{Purpose, setup};
use crate::shell::{answers, run, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the part, and of its folder.
pub const NAME: &str = "bitcoind";
/// The package, its version, and the digest of it that cargo writes into a lock file once it has checked it.
const PACKAGE: (&str, &str) = ("libbitcoinkernel-sys", "0.4.1");
const SHA256: &str = "345d18a1ce19a1becfcaaa066e3a60e9c7813ef5c23ea8c20704ca4ba1a46339";
const ABOUT: &str = "Bitcoin Core, MIT, of the sources in libbitcoinkernel-sys 0.4.1: a node that a test mines with, and its `bitcoin-cli`";
/// The programs that are kept.
const PROGRAMS: [&str; 2] = ["bitcoind", "bitcoin-cli"];

/// What is left out or set otherwise than by itself. Not optimised: a chain of a test has no work, and half the time goes there.
const SETTINGS: [&str; 16] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
    "-DBUILD_BITCOIN_BIN=OFF",
    "-DBUILD_TX=OFF",
    "-DBUILD_UTIL=OFF",
    "-DBUILD_GUI=OFF",
    "-DBUILD_TESTS=OFF",
    "-DBUILD_BENCH=OFF",
    "-DBUILD_KERNEL_LIB=OFF",
    "-DENABLE_WALLET=OFF",
    "-DENABLE_IPC=OFF",
    "-DENABLE_EXTERNAL_SIGNER=OFF",
    // The package does not have that table.
    "-DWITH_EMBEDDED_ASMAP=OFF",
    "-DWITH_ZMQ=OFF",
    "-DWITH_CCACHE=OFF",
    "-DINSTALL_MAN=OFF",
];

/// Fetches the sources and builds the node, unless it is there already; says where it lies.
pub fn fetch(parts: &Path) -> Result<(), Problem> {
    let to = parts.join(NAME);
    if !is_there(&to) {
        setup(Purpose::BitcoinNode)?;
        let work = parts.join(format!("{NAME}-build"));
        let sources = fetch_sources(&work)?;
        let built = build(&sources, &work.join("build"))?;
        keep(&built, &to)?;
        let _ = fs::remove_dir_all(&work);
    }
    say(&format!("{ABOUT}\nhermit: lies in {}", to.display()));
    say("`npm test -- -p hermit-tests own_bitcoin` speaks to it");
    Ok(())
}

/// Whether the programs of this very source are there.
fn is_there(folder: &Path) -> bool {
    let of_source = fs::read_to_string(folder.join("source")).is_ok_and(|text| text.trim() == source());
    of_source && PROGRAMS.iter().all(|name| answers(&folder.join(name).to_string_lossy(), &["-version"]))
}

/// What the programs were built from, in one line.
fn source() -> String {
    format!("{} {} sha256 {SHA256}", PACKAGE.0, PACKAGE.1)
}

/// The sources, by cargo, whose lock file has to name the digest that is expected.
fn fetch_sources(work: &Path) -> Result<PathBuf, Problem> {
    let (name, version) = PACKAGE;
    say(&format!("fetching {name} {version} ..."));
    let broken = |e: std::io::Error| format!("cannot write to `{}`: {e}", work.display());
    fs::create_dir_all(work.join("src")).map_err(broken)?;
    let manifest = format!(
        "[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{name} = \"={version}\"\n\n[workspace]\n"
    );
    fs::write(work.join("Cargo.toml"), manifest).map_err(broken)?;
    fs::write(work.join("src/lib.rs"), "").map_err(broken)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo).current_dir(work).args(["vendor", "--quiet", "vendor"]))?;
    let lock = fs::read_to_string(work.join("Cargo.lock"))
        .map_err(|e| format!("cargo left no lock file in `{}`: {e}", work.display()))?;
    match digest_of(&lock, name) {
        Some(SHA256) => Ok(work.join("vendor").join(name).join("bitcoin")),
        found => Err(format!("the digest of {name} {version} is {found:?}, not {SHA256}; nothing was built")),
    }
}

/// The digest of a package in a lock file.
fn digest_of<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let named = format!("name = \"{name}\"");
    let of_package = lock.split("[[package]]").find(|one| one.lines().any(|line| line == named))?;
    let line = of_package.lines().find_map(|line| line.strip_prefix("checksum = \""))?;
    line.strip_suffix('"')
}

/// Builds both programs; the folder they lie in then.
fn build(sources: &Path, to: &Path) -> Result<PathBuf, Problem> {
    say("building bitcoind; that takes some 10 minutes on two cores that are free ...");
    run(Command::new("cmake").arg("-S").arg(sources).arg("-B").arg(to).args(["-G", "Ninja"]).args(SETTINGS))?;
    run(Command::new("cmake").arg("--build").arg(to).arg("--target").args(PROGRAMS))?;
    Ok(to.join("bin"))
}

/// Puts the programs where tests look for them, the line about their source last.
fn keep(built: &Path, to: &Path) -> Result<(), Problem> {
    let broken = |e: std::io::Error| format!("cannot write to `{}`: {e}", to.display());
    fs::create_dir_all(to).map_err(broken)?;
    for name in PROGRAMS {
        // A program that runs may be replaced, and not written over.
        let half = to.join(format!("{name}.part"));
        fs::copy(built.join(name), &half).map_err(broken)?;
        fs::rename(&half, to.join(name)).map_err(broken)?;
    }
    fs::write(to.join("source"), format!("{}\n", source())).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_lock_file_is_that_of_the_package_itself() {
        let lock = "version = 4\n\n[[package]]\nname = \"cc\"\nchecksum = \"aa\"\n\n[[package]]\nname = \"x\"\n\
                    version = \"1\"\nchecksum = \"bb\"\ndependencies = [\n \"cc\",\n]\n\n[[package]]\nname = \"y\"\n";
        assert_eq!((digest_of(lock, "x"), digest_of(lock, "cc")), (Some("bb"), Some("aa")));
        assert_eq!((digest_of(lock, "y"), digest_of(lock, "z")), (None, None));
    }
}
