//! What lock files name: packages of Rust and of JavaScript, each by its package URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The lock files of Hermit, by their path in the source: of all programs, of the pages, and of the programs that are built
/// apart.
pub(crate) const PATHS: [&str; 4] =
    ["Cargo.lock", "package-lock.json", "src-tauri/sidecar/Cargo.lock", "src-tauri/trainer/Cargo.lock"];

/// The registry whose packages have no address in their package URL: cargo's own.
const OF_CARGO: &str = concat!("registry+https://github.com/rust-lang/", "crates", ".io-index");
/// The licence of Hermit itself.
pub(crate) const OURS: &str = env!("CARGO_PKG_LICENSE");
/// What stands before a package's name in a lock of npm.
const MODULES: &str = "node_modules/";

/// A package that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub name: String,
    pub version: String,
    /// What its own manifest says; a lock of Rust does not tell it of packages of others.
    pub licence: Option<String>,
    /// Its digest, with the algorithm as CycloneDX names it.
    pub digest: Option<(&'static str, String)>,
    /// Whether it is used in building and testing alone.
    pub only_to_build: bool,
}

/// Packages by package URL: each once, however often a lock names it.
pub(crate) type Packages = BTreeMap<String, Package>;

/// The packages of a lock file, or what is wrong with it.
pub(crate) fn packages(path: &str, bytes: &[u8]) -> Result<Packages, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    if path.ends_with(".json") { of_npm(text) } else { of_cargo(text) }
}

#[derive(Deserialize)]
struct CargoLock {
    package: Vec<CargoPackage>,
}

#[derive(Deserialize)]
struct CargoPackage {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

fn of_cargo(text: &str) -> Result<Packages, String> {
    let lock: CargoLock = toml::from_str(text).map_err(|e| e.message().to_owned())?;
    let one = |package: CargoPackage| {
        let mut purl = format!("pkg:cargo/{}@{}", encoded(&package.name), encoded(&package.version));
        // What comes from nowhere is a room of ours.
        let licence = package.source.is_none().then(|| OURS.to_owned());
        if let Some(source) = package.source.filter(|source| source != OF_CARGO) {
            purl.push_str(&format!("?vcs_url={}", encoded(&source)));
        }
        let digest = package.checksum.map(|hex| ("SHA-256", hex));
        let (name, version) = (package.name, package.version);
        (purl, Package { name, version, licence, digest, only_to_build: false })
    };
    Ok(lock.package.into_iter().map(one).collect())
}

#[derive(Deserialize)]
struct NpmLock {
    packages: BTreeMap<String, NpmPackage>,
}

#[derive(Deserialize)]
struct NpmPackage {
    name: Option<String>,
    version: Option<String>,
    license: Option<serde_json::Value>,
    integrity: Option<String>,
    #[serde(default)]
    dev: bool,
}

fn of_npm(text: &str) -> Result<Packages, String> {
    let lock: NpmLock = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut found = Packages::new();
    for (place, package) in lock.packages {
        let Some((_, name)) = place.rsplit_once(MODULES) else { continue };
        let name = package.name.unwrap_or_else(|| name.to_owned());
        let version = package.version.ok_or_else(|| format!("`{place}` has no version"))?;
        // A scope is a folder in a package URL; its `@` is not the one before the version.
        let parts: Vec<String> = name.split('/').map(encoded).collect();
        let purl = format!("pkg:npm/{}@{}", parts.join("/"), encoded(&version));
        let licence = package.license.as_ref().and_then(|said| said.as_str()).map(str::to_owned);
        let digest = package.integrity.as_deref().and_then(sha512).map(|hex| ("SHA-512", hex));
        let one = Package { name, version, licence, digest, only_to_build: package.dev };
        found.entry(purl).and_modify(|before| before.only_to_build &= package.dev).or_insert(one);
    }
    Ok(found)
}

/// The SHA-512 of an `integrity`, in hexadecimal.
fn sha512(integrity: &str) -> Option<String> {
    let said = integrity.split_whitespace().find_map(|one| one.strip_prefix("sha512-"))?;
    let bytes = STANDARD.decode(said).ok().filter(|bytes| bytes.len() == 64)?;
    Some(bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// As a part of a package URL.
fn encoded(part: &str) -> String {
    part.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_either_kind_names_each_package_once_by_its_package_url() -> Result<(), String> {
        let cargo = format!(
            "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0+x\"\nsource = \"{OF_CARGO}\"\nchecksum = \"ab\"\n\
             [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n"
        );
        let found = packages("Cargo.lock", cargo.as_bytes())?;
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["pkg:cargo/a@1.0.0%2Bx", "pkg:cargo/ours@0.1.0"]);
        let npm = r#"{"lockfileVersion":3,"packages":{"":{"name":"hermit"},
            "node_modules/@x/y":{"version":"2.0.0","license":"MIT","dev":true},
            "node_modules/b/node_modules/@x/y":{"version":"2.0.0","license":"MIT"},
            "node_modules/b":{"version":"1.0.0","dev":true}}}"#;
        let found = packages("package-lock.json", npm.as_bytes())?;
        let told: Vec<_> = found.iter().map(|(purl, one)| (purl.as_str(), one.only_to_build)).collect();
        assert_eq!(told, [("pkg:npm/%40x/y@2.0.0", false), ("pkg:npm/b@1.0.0", true)]);
        assert!(packages("Cargo.lock", b"no lock").is_err() && packages("x.json", b"{}").is_err());
        Ok(())
    }
}
