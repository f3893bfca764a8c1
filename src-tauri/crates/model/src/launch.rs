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

/// The word that one of these options is given, else the first word that is no option; none where an option is not known, or
/// several packages are named: which of the words is the package is then for nobody to say.
fn named<'a>(words: &[&'a str], options: &[&str], takes_a_word: &[&str], flags: &[&str]) -> Option<&'a str> {
    let mut at = 0;
    let mut by_option = None;
    while let Some(word) = words.get(at).copied() {
        at += 1;
        let value = match options.iter().find_map(|option| word.strip_prefix(option)?.strip_prefix('=')) {
            Some(value) => Some(value),
            None if options.contains(&word) => {
                at += 1;
                Some(words.get(at - 1).copied()?)
            }
            None => None,
        };
        if value.is_some() {
            if by_option.is_some() {
                return None;
            }
            by_option = value;
        } else if takes_a_word.contains(&word) {
            at += 1;
        } else if !word.starts_with('-') {
            return Some(by_option.unwrap_or(word));
        } else if !flags.contains(&word) && !takes_a_word.iter().any(|option| is_given(word, option)) {
            return None;
        }
    }
    by_option
}

fn is_given(word: &str, option: &str) -> bool {
    word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

/// Whether a word is the name of a package of a registry, and no path or address of another place.
fn is_of_a_registry(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    let is_scoped = word.starts_with('@') && parts.len() == 2;
    (parts.len() == 1 || is_scoped) && !word.starts_with('.') && !word.contains([':', '\\', '+'])
}

fn npm(words: &[&str]) -> Option<LaunchPackage> {
    let flags = ["-y", "--yes", "-q", "--quiet", "-s", "--silent", "--no", "--offline", "--prefer-offline"];
    let word = named(words, &["--package", "-p"], &["--registry", "--cache", "--prefix"], &flags)?;
    if !is_of_a_registry(word.split_once("@npm:").map_or(word, |(_, other)| other)) || word.contains("@npm:")
    {
        return None;
    }
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
    match version {
        Some(version) if !is_exact(&version) => Some(of(PackageSource::Npm, word, None)),
        version => Some(of(PackageSource::Npm, name, version)),
    }
}

fn pypi(words: &[&str]) -> Option<LaunchPackage> {
    let with_a_word =
        ["--python", "-p", "--with", "--index-url", "--default-index", "--index", "--directory"];
    let flags = ["-q", "--quiet", "--offline", "--no-cache", "--isolated"];
    let word = named(words, &["--from", "--spec"], &with_a_word, &flags)?;
    if !is_of_a_registry(word.split(['=', '<', '>', '~', '!']).next().unwrap_or(word)) {
        return None;
    }
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
    const FLAGS: [&str; 11] =
        ["-i", "-t", "-it", "-d", "--rm", "--init", "--interactive", "--tty", "--read-only", "-q", "--quiet"];
    let word = named(words, &[], &WITH_A_WORD, &FLAGS)?;
    // A tag may be moved to another image; only a digest says which it is.
    Some(match word.split_once("@sha256:") {
        Some((name, _)) => of(PackageSource::Image, name, word.get(name.len() + 1..)),
        None => of(PackageSource::Image, word, None),
    })
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
        if LOADS.contains(&upper.as_str()) || LOADS_BEGIN.iter().any(|begin| upper.starts_with(begin)) {
            return Err(format!(
                "`{name}` changes which programs are loaded or where a package comes from, which the card would not tell, \
                 and is not set"
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

/// Variables as the words of a command set them, `env NAME=VALUE PROGRAM`, which the same holds for.
pub fn set_in_words(argv: &[String]) -> BTreeMap<String, String> {
    let is_env = argv.first().is_some_and(|program| program.rsplit('/').next() == Some("env"));
    let pairs = argv.iter().skip(1).filter(|_| is_env).filter_map(|word| word.split_once('='));
    pairs
        .filter(|(name, _)| !name.starts_with('-'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What makes a program load other code than its words say.
const LOADS: [&str; 16] = [
    "GLIBC_TUNABLES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "BASH_ENV",
    "ENV",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "DENO_DIR",
];

/// How others of them begin: those of the loader, and where packages are fetched from.
const LOADS_BEGIN: [&str; 7] = ["LD_", "DYLD_", "NPM_CONFIG_", "UV_", "PIP_", "GIT_CONFIG", "GIT_EXEC_"];

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
    let is_uuid = value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && value.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    // `PWD` and `OLDPWD` name folders.
    let is_password = name.ends_with("PWD") && !matches!(name.as_str(), "PWD" | "OLDPWD");
    WORDS.iter().any(|word| name.contains(word))
        || is_uuid
        || is_password
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
        assert_eq!(of("npx pkg@latest"), is("pkg@latest", None));
        assert_eq!(of("npx pkg@1.2"), is("pkg@1.2", None), "npm takes the newest 1.2");
        assert_eq!(of("npx --package=pkg@1.2.3-rc.1 tool"), is("pkg", Some("1.2.3-rc.1")));
        assert_eq!(of("npx -p pkg@1.2.3 tool"), is("pkg", Some("1.2.3")));
        assert_eq!(of("npm exec pkg@1.2.3"), is("pkg", Some("1.2.3")));
        assert_eq!(of("env A=b npx pkg@1.2.3"), is("pkg", Some("1.2.3")));
        assert_eq!(of("uvx mcp-server-git==2026.1.2 --repository ."), is("mcp-server-git", Some("2026.1.2")));
        assert_eq!(of("uvx --python 3.12 mcp-server-git@1.0"), is("mcp-server-git", Some("1.0")));
        assert_eq!(of("uvx mcp-server-git>=1"), is("mcp-server-git", None));
        assert_eq!(of("uvx --from pkg[more]==1.0 tool"), is("pkg", Some("1.0")));
        assert_eq!(of("docker run --rm -i -e A mcp/git:1.2"), is("mcp/git:1.2", None), "a tag is moved");
        assert_eq!(of("docker run -i host:5000/git"), is("host:5000/git", None));
        assert_eq!(of("podman run mcp/git:latest"), is("mcp/git:latest", None));
        assert_eq!(of("docker run mcp/git@sha256:ab"), is("mcp/git", Some("sha256:ab")));
        assert_eq!(of("node server.js"), None);
        assert_eq!(of("npx -y"), None);
        for odd in [
            "npx ../../pkg",
            "npx /opt/pkg",
            "npx -p a@1.2.3 -p b@1.2.3 tool",
            "npx --loglevel good@1.2.3 evil",
            "npx pkg@npm:other@1.2.3",
            "uvx --from git+https://example.org/r@1.0 tool",
            "docker run --odd mcp/git",
        ] {
            assert_eq!(of(odd), None, "{odd}");
        }
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
        for name in [
            "LD_PRELOAD",
            "ld_library_path",
            "PATH",
            "https_proxy",
            "A-B",
            "1A",
            "",
            "node_options",
            "PYTHONPATH",
            "npm_config_registry",
            "UV_INDEX_URL",
        ] {
            assert!(check(name, "x").is_err(), "{name}");
        }
        for (name, value) in [("MYSQL_PWD", "hunter2"), ("ACCOUNT", "1b4e28ba-2fa1-11d2-883f-0016d3cca427")] {
            assert!(check(name, value).is_err(), "{name}");
        }
        for (name, value) in
            [("OLDPWD", "/srv/notes"), ("MODEL", "sonnet-3-5-20241022"), ("DAY", "2026-11-27")]
        {
            assert!(check(name, value).is_ok(), "{name}");
        }
        let many = (0..=LAUNCH_VARIABLES_MAX).map(|n| (format!("A{n}"), String::new())).collect();
        assert!(check_variables(&many).is_err());
        assert!(check("A", &" ".repeat(LAUNCH_VALUE_BYTES_MAX + 1)).is_err());
    }
}
