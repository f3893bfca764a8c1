//! Tools that nobody here wrote, found and run in one place: for the tests of `seal` and of `proof`.
//!
//! A test whose tool is not on this machine is skipped and counted; with `HERMIT_STOCK_TOOLS=must`, which the run of all
//! tests sets in CI, a missing one fails.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each room uses its part, and a test that cannot go on stops"
)]
#![allow(clippy::disallowed_methods, reason = "this runs the tools that a stranger would run")]

use conforms::lacks;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian puts Go when it is not on the path, and the sources of its Go packages.
const DEBIAN_GO: &str = "/usr/lib/go/bin/go";
const DEBIAN_GOPATH: &str = "/usr/share/gocode";

/// What `bundle_check/check.py` of the room `proof` imports.
pub const STATEMENTS: &str =
    "rfc8785, securesystemslib.dsse, cryptography, in_toto_attestation.v1.statement, prov.model";

/// Whether the tool succeeded, and what it said; `None`, with a word, when it is not installed.
pub fn run(program: &str, folder: &Path, args: &[&str], stdin: &[u8]) -> Option<(bool, String)> {
    let spawned = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            lacks(&format!("`{program}`"));
            return None;
        }
        other => other.unwrap(),
    };
    // A tool that refuses early closes its input; that is its answer, not our failure.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// A python that has the module: on the path, or in the folder where `cargo xtask test` puts one.
pub fn python(module: &str) -> Option<String> {
    let parts = std::env::var_os("HERMIT_PARTS_DIR").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Some(cache.or_else(home)?.join("hermit/parts"))
    });
    let own = parts.map(|parts| parts.join("stock/bin/python3").to_string_lossy().into_owned());
    let import = format!("import {module}");
    let found = ["python3".to_owned()].into_iter().chain(own).find(|python| {
        Command::new(python).args(["-c", &import]).output().is_ok_and(|out| out.status.success())
    });
    if found.is_none() {
        lacks(&format!("python's `{module}`"));
    }
    found
}

/// Builds a Go program of Debian's `sumdb` packages once, and runs it; what it said if it was content.
pub fn go(source: &Path, folder: &Path, args: &[&str]) -> Option<Result<String, String>> {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let library = Path::new(DEBIAN_GOPATH).join("src/golang.org/x/mod/sumdb/tlog");
    let go = ["go", DEBIAN_GO].into_iter().find(|go| Command::new(go).arg("version").output().is_ok());
    let (Some(go), true) = (go, library.is_dir()) else {
        lacks("Go with `golang-golang-x-mod-dev`");
        return None;
    };
    let run = Command::new(go)
        .arg("run")
        .arg(source)
        .args(args)
        .current_dir(folder)
        .env("GO111MODULE", "off")
        .env("GOPATH", DEBIAN_GOPATH)
        .env("GOCACHE", scratch.join("go-cache"))
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    Some(if run.status.success() { Ok(said) } else { Err(said) })
}

/// The two commands of the README that need keys.
pub const OPENSSL: [&str; 10] = [
    "pkeyutl",
    "-verify",
    "-rawin",
    "-pubin",
    "-inkey",
    "keys/manifest.pub.pem",
    "-in",
    "SHA256SUMS",
    "-sigfile",
    "SHA256SUMS.ed25519",
];
pub const SSH_KEYGEN: [&str; 10] = [
    "-Y",
    "verify",
    "-f",
    "keys/allowed_signers",
    "-I",
    "manifest",
    "-n",
    "hermit-proof@v1",
    "-s",
    "SHA256SUMS.sshsig",
];

/// Which of the three stock tools of the README refuse the bundle in this folder; `None` when one is missing. A
/// file beside those listed, which `sha256sum` does not look for, is refused by comparing the names.
pub fn refusals(folder: &Path) -> Option<Vec<&'static str>> {
    let sums = std::fs::read(folder.join("SHA256SUMS")).unwrap_or_default();
    let (listed, _) = run("sha256sum", folder, &["-c", "--strict", "--quiet", "SHA256SUMS"], b"")?;
    let (openssl, _) = run("openssl", folder, &OPENSSL, b"")?;
    let (ssh, _) = run("ssh-keygen", folder, &SSH_KEYGEN, &sums)?;
    let said = [("sha256sum", listed), ("openssl", openssl), ("ssh-keygen", ssh)];
    Some(said.into_iter().filter(|(_, ok)| !ok).map(|(tool, _)| tool).collect())
}
