//! What the words of a server's start name: variables that hold no secret, and the package whose program is started.

use crate::limits::{LAUNCH_VALUE_BYTES_MAX, LAUNCH_VARIABLES_MAX};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageSource {
    /// The registry of npm.
    Npm,
    /// The Python Package Index.
    Pypi,
    /// A registry of images of containers.
    Image,
}

impl PackageSource {
    /// What such a package is called.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Npm => "npm package",
            Self::Pypi => "PyPI package",
            Self::Image => "container image",
        }
    }
}

/// The package whose program is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchPackage {
    /// Where it comes from.
    pub source: PackageSource,
    /// Its name there.
    pub name: String,
    /// Its version, or the digest of an image; none where nobody says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the words of the start tell the version; else it is the one that is installed here.
    #[serde(default)]
    pub told: bool,
}

impl LaunchPackage {
    /// One line of it.
    pub fn in_words(&self) -> String {
        let name = format!("the {} \"{}\"", self.source.in_words(), self.name);
        match (&self.version, self.told) {
            (Some(version), true) => format!("{name}, version {version} as its words say"),
            (Some(version), false) => format!("{name}, version {version} as it is installed here"),
            (None, _) => format!("{name}, version not pinned"),
        }
    }
}

/// The package that the words of a start name, where its program is one that fetches packages.
pub fn package_of(argv: &[String]) -> Option<LaunchPackage> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let (program, rest) = without_env(&words).split_first()?;
    let rest = rest.to_vec();
    match (base(program), rest.first().copied()) {
        ("npx" | "pnpx" | "bunx", _) => npm(&rest),
        ("npm", Some("exec" | "x")) => npm(rest.get(1..)?),
        ("uvx", _) => pypi(&rest),
        ("uv", Some("tool")) if rest.get(1) == Some(&"run") => pypi(rest.get(2..)?),
        ("pipx", Some("run")) => pypi(rest.get(1..)?),
        ("docker" | "podman", Some("run")) => image(rest.get(1..)?),
        _ => None,
    }
}

/// The words without `env` and the variables that it sets.
pub fn without_env<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    match words.split_first() {
        Some((first, rest)) if base(first) == "env" => {
            let at = rest.iter().position(|word| !word.contains('=')).unwrap_or(rest.len());
            rest.get(at..).unwrap_or_default()
        }
        _ => words,
    }
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The word that one of these options is given, else the first word that is no option.
fn named<'a>(words: &[&'a str], options: &[&str], takes_a_word: &[&str]) -> Option<&'a str> {
    let mut at = 0;
    let mut first = None;
    while let Some(word) = words.get(at).copied() {
        at += 1;
        if let Some(value) = options.iter().find_map(|option| word.strip_prefix(option)?.strip_prefix('=')) {
            return Some(value);
        }
        if options.contains(&word) {
            return words.get(at).copied();
        }
        if takes_a_word.contains(&word) {
            at += 1;
        } else if !word.starts_with('-') {
            first = Some(word);
            break;
        }
    }
    first
}

fn npm(words: &[&str]) -> Option<LaunchPackage> {
    let word = named(words, &["--package", "-p"], &["--registry", "--cache", "--prefix"])?;
    let split = word.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, version) = match split {
        Some(at) => (word.get(..at)?, word.get(at + 1..)),
        None => (word, None),
    };
    // `1.2` and `latest` are whatever is newest by then.
    let is_exact = |version: &&str| {
        let core = version.split(['-', '+']).next().unwrap_or_default();
        let numbers: Vec<&str> = core.split('.').collect();
        numbers.len() == 3 && numbers.iter().all(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    Some(of(PackageSource::Npm, name, version.filter(is_exact)))
}

fn pypi(words: &[&str]) -> Option<LaunchPackage> {
    let with_a_word =
        ["--python", "-p", "--with", "--index-url", "--default-index", "--index", "--directory"];
    let word = named(words, &["--from", "--spec"], &with_a_word)?;
    let (name, version) = word
        .split_once("==")
        .or_else(|| word.split_once('@'))
        .map_or((word, None), |(name, version)| (name, Some(version)));
    let name = name.split(['[', '<', '>', '~', '!', '=']).next().unwrap_or(name);
    let is_exact = |version: &&str| {
        version.starts_with(|c: char| c.is_ascii_digit())
            && version.chars().all(|c| c.is_ascii_alphanumeric() || ".+-!".contains(c))
    };
    Some(of(PackageSource::Pypi, name, version.filter(is_exact)))
}

fn image(words: &[&str]) -> Option<LaunchPackage> {
    const WITH_A_WORD: [&str; 24] = [
        "-v",
        "--volume",
        "-e",
        "--env",
        "--env-file",
        "--name",
        "--network",
        "--net",
        "--mount",
        "-p",
        "--publish",
        "-u",
        "--user",
        "-w",
        "--workdir",
        "--entrypoint",
        "--platform",
        "-l",
        "--label",
        "-m",
        "--memory",
        "--cpus",
        "--add-host",
        "--pull",
    ];
    let word = named(words, &[], &WITH_A_WORD)?;
    if let Some((name, digest)) = word.split_once('@') {
        return Some(of(PackageSource::Image, name, Some(digest)));
    }
    // A `:` before a `/` is that of a port.
    let tag = word.rsplit_once(':').filter(|(_, tag)| !tag.contains('/') && *tag != "latest");
    Some(tag.map_or_else(
        || of(PackageSource::Image, word.strip_suffix(":latest").unwrap_or(word), None),
        |(name, tag)| of(PackageSource::Image, name, Some(tag)),
    ))
}

fn of(source: PackageSource, name: &str, version: Option<&str>) -> LaunchPackage {
    LaunchPackage {
        source,
        name: name.to_owned(),
        version: version.map(str::to_owned),
        told: version.is_some(),
    }
}

/// Whether variables with these values can be set for a server.
///
/// # Errors
/// What is wrong, in words. A value that may be a secret is refused with the way to a handle, and is not told.
pub fn check_variables(variables: &BTreeMap<String, String>) -> Result<(), String> {
    if variables.len() > LAUNCH_VARIABLES_MAX {
        return Err(format!("more than {LAUNCH_VARIABLES_MAX} variables are set"));
    }
    for (name, value) in variables {
        let shown = name.escape_debug();
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(letter) || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Err(format!("`{shown}` cannot be the name of a variable: letters, digits and `_`"));
        }
        let upper = name.to_ascii_uppercase();
        if upper.starts_with("LD_") || upper.starts_with("DYLD_") || upper == "GLIBC_TUNABLES" {
            return Err(format!(
                "`{name}` changes how programs are loaded, the sandbox's own among them, and is not set"
            ));
        }
        if KEPT.contains(&upper.as_str()) {
            return Err(format!("`{name}` is set by the sandbox"));
        }
        if value.len() > LAUNCH_VALUE_BYTES_MAX || value.contains('\0') {
            return Err(format!(
                "the value of `{name}` is longer than {LAUNCH_VALUE_BYTES_MAX} bytes, or holds a zero byte"
            ));
        }
        if may_be_secret(name, value) {
            return Err(may_be_secret_in_words(name));
        }
    }
    Ok(())
}

/// That a value is not taken because it may be a secret.
pub fn may_be_secret_in_words(name: &str) -> String {
    format!(
        "the value of `{name}` may be a secret, and would stand on cards and in proofs: keep it with `hermit secret set NAME`, \
         and give the server a stand-in with `--secret {name}=NAME --host HOST`"
    )
}

/// What the sandbox sets itself.
const KEPT: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "USER",
    "HERMIT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
];

/// Whether the value of a variable may be a key: by the name, or because it is long and mixed as keys are.
pub fn may_be_secret(variable: &str, value: &str) -> bool {
    const WORDS: [&str; 8] = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "COOKIE", "DSN"];
    let name = variable.to_ascii_uppercase();
    let is_mixed = |run: &str| {
        run.len() >= 16
            && run.contains(|c: char| c.is_ascii_digit())
            && run.contains(|c: char| c.is_ascii_alphabetic())
    };
    let is_path = value.starts_with('/') && !value.contains(['+', '=']);
    WORDS.iter().any(|word| name.contains(word))
        || (value.contains("://") && value.contains('@'))
        || (!is_path && value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_in_the_words_that_fetch_it_and_only_an_exact_version_is_one() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            package_of(&words).map(|found| (found.name, found.version))
        };
        let is = |name: &str, version: Option<&str>| Some((name.to_owned(), version.map(str::to_owned)));
        assert_eq!(of("npx -y @scope/pkg@1.2.3 ."), is("@scope/pkg", Some("1.2.3")));
        assert_eq!(of("/usr/bin/npx -y @scope/pkg ."), is("@scope/pkg", None));
        assert_eq!(of("npx pkg@latest"), is("pkg", None));
        assert_eq!(of("npx pkg@1.2"), is("pkg", None), "npm takes the newest 1.2");
        assert_eq!(of("npx --package=pkg@1.2.3-rc.1 tool"), is("pkg", Some("1.2.3-rc.1")));
        assert_eq!(of("npx -p pkg@1.2.3 tool"), is("pkg", Some("1.2.3")));
        assert_eq!(of("npm exec pkg@1.2.3"), is("pkg", Some("1.2.3")));
        assert_eq!(of("env A=b npx pkg@1.2.3"), is("pkg", Some("1.2.3")));
        assert_eq!(of("uvx mcp-server-git==2026.1.2 --repository ."), is("mcp-server-git", Some("2026.1.2")));
        assert_eq!(of("uvx --python 3.12 mcp-server-git@1.0"), is("mcp-server-git", Some("1.0")));
        assert_eq!(of("uvx mcp-server-git>=1"), is("mcp-server-git", None));
        assert_eq!(of("uvx --from pkg[more]==1.0 tool"), is("pkg", Some("1.0")));
        assert_eq!(of("docker run --rm -i -e A mcp/git:1.2"), is("mcp/git", Some("1.2")));
        assert_eq!(of("docker run -i host:5000/git"), is("host:5000/git", None));
        assert_eq!(of("podman run mcp/git:latest"), is("mcp/git", None));
        assert_eq!(of("docker run mcp/git@sha256:ab"), is("mcp/git", Some("sha256:ab")));
        assert_eq!(of("node server.js"), None);
        assert_eq!(of("npx -y"), None);
    }

    #[test]
    fn a_variable_that_may_hold_a_secret_or_changes_the_sandbox_is_refused_without_its_value() {
        let check =
            |name: &str, value: &str| check_variables(&BTreeMap::from([(name.to_owned(), value.to_owned())]));
        assert_eq!(check("MEMORY_FILE_PATH", "/data/memory.jsonl"), Ok(()));
        assert_eq!(check("LOG_LEVEL", "debug"), Ok(()));
        assert_eq!(check("DATA", "/home/anna/projects2026november/x"), Ok(()));
        for (name, value) in [("API_KEY", "x"), ("URL", "postgres://a:b@c/d"), ("X", "ghp0123456789abcdef")] {
            let why = check(name, value).expect_err(name);
            assert!(
                why.contains("hermit secret set")
                    && !why.contains(value.get(1..).filter(|v| v.len() > 3).unwrap_or("\n")),
                "{why}"
            );
        }
        for name in ["LD_PRELOAD", "ld_library_path", "PATH", "https_proxy", "A-B", "1A", ""] {
            assert!(check(name, "x").is_err(), "{name}");
        }
        let many = (0..=LAUNCH_VARIABLES_MAX).map(|n| (format!("A{n}"), String::new())).collect();
        assert!(check_variables(&many).is_err());
        assert!(check("A", &" ".repeat(LAUNCH_VALUE_BYTES_MAX + 1)).is_err());
    }
}
