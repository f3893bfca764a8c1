//! Which paths are delicate, by their names: keys and credentials, and files that act later as code.

use model::RelPath;
use model::action::ReadItem;
use model::file_name::{folded, has_part};

/// How delicate a path is, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathKind {
    /// Nothing about its name says more.
    Plain,
    /// A hidden file or folder: settings of some program.
    Hidden,
    /// Runs or configures something later: shell start-up files, hooks, workflows, version control's own files.
    ActsLater,
    /// Looks like a private key, a password or a token.
    Secret,
}

/// Folders whose whole content is secret.
const SECRET_FOLDERS: [&str; 8] =
    [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".docker", "keyrings"];

/// File names that are secret as they stand.
const SECRET_NAMES: [&str; 23] = [
    ".env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".boto",
    ".s3cfg",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "secrets",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

/// Endings of file names that hold keys, or state that repeats them.
const SECRET_ENDINGS: [&str; 14] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".p8",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".ovpn",
    ".gpg",
    ".tfstate",
    ".tfstate.backup",
    ".mobileprovision",
];

/// Names that begin or end like secrets and are made to be shared; bundles of public certificates among them.
const SHARED_ENDINGS: [&str; 8] =
    [".example", ".sample", ".template", ".dist", ".pub", "cacert.pem", "ca-bundle.pem", "roots.pem"];

/// Endings of programs: `secrets.rs` is about secrets and holds none.
const SOURCE_ENDINGS: [&str; 10] =
    [".rs", ".go", ".ts", ".tsx", ".java", ".kt", ".cs", ".swift", ".scala", ".md"];

/// Folders whose content runs or configures something later, by name.
const ACTING_FOLDERS: [&str; 15] = [
    // Version control: hooks, filters, configuration.
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".husky",
    // Editors: tasks and settings that start programs.
    ".vscode",
    ".idea",
    ".devcontainer",
    // Desktops and this program.
    "autostart",
    "launchagents",
    ".hermit",
    // Builds and checks on servers.
    ".circleci",
    ".buildkite",
    ".gitea",
    ".forgejo",
];

/// Folders inside others whose content does: both names, one in the other.
const ACTING_INSIDE: [(&str, &str); 6] = [
    (".github", "workflows"),
    (".github", "actions"),
    (".config", "fish"),
    (".config", "git"),
    (".config", "systemd"),
    (".cargo", "config.toml"),
];

/// Files that run or configure something later, by name.
const ACTING_NAMES: [&str; 80] = [
    // Shells, editors and sessions.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".inputrc",
    ".envrc",
    ".vimrc",
    ".exrc",
    ".xinitrc",
    ".xprofile",
    "authorized_keys",
    "crontab",
    // Version control.
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    // Build tools: each runs what stands in it.
    "makefile",
    "gnumakefile",
    "justfile",
    "rakefile",
    "gemfile",
    "vagrantfile",
    "jenkinsfile",
    "dockerfile",
    "containerfile",
    "procfile",
    "brewfile",
    "taskfile.yml",
    "taskfile.yaml",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "cmakelists.txt",
    "cmakepresets.json",
    "configure",
    "configure.ac",
    "meson.build",
    "sconstruct",
    "wscript",
    "build.bazel",
    "workspace.bazel",
    "pom.xml",
    "build.sbt",
    "mix.exs",
    "flake.nix",
    "shell.nix",
    "default.nix",
    // Languages: install scripts, test set-up, plugins.
    "package.json",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "bunfig.toml",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "conftest.py",
    "noxfile.py",
    "fabfile.py",
    "tox.ini",
    "pytest.ini",
    "sitecustomize.py",
    "usercustomize.py",
    "cargo.toml",
    "build.rs",
    "rust-toolchain.toml",
    "composer.json",
    // Servers that build.
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
];

/// Endings of names of files that do.
const ACTING_ENDINGS: [&str; 14] = [
    ".gradle",
    ".gradle.kts",
    ".mk",
    ".cmake",
    ".gemspec",
    ".pth",
    ".config.js",
    ".config.cjs",
    ".config.mjs",
    ".config.ts",
    ".config.mts",
    ".desktop",
    ".service",
    ".code-workspace",
];

/// How delicate a path is, in whatever way some disk takes its names ([`model::file_name`]).
pub fn path_kind(path: &RelPath) -> PathKind {
    let folded: Vec<String> = path.as_bytes().split(|byte| *byte == b'/').map(folded).collect();
    let parts: Vec<&str> = folded.iter().map(String::as_str).collect();
    let name = parts.last().copied().unwrap_or_default();
    if parts.iter().any(|part| SECRET_FOLDERS.contains(part)) || is_secret_name(name) {
        return PathKind::Secret;
    }
    let inside = |(outer, inner): &(&str, &str)| parts.windows(2).any(|pair| pair == [*outer, *inner]);
    let acts = parts.iter().any(|part| ACTING_FOLDERS.contains(part))
        || ACTING_INSIDE.iter().any(inside)
        || ACTING_NAMES.contains(&name)
        || ACTING_ENDINGS.iter().any(|ending| name.ends_with(ending));
    if acts {
        return PathKind::ActsLater;
    }
    if parts.iter().any(|part| part.starts_with('.')) { PathKind::Hidden } else { PathKind::Plain }
}

/// Whether what is at a path looks like a key, a password or a token, or holds such. A folder is one when all its
/// content is; one that is called like a secret file is a folder like others.
pub fn is_secret(path: &RelPath, is_folder: bool) -> bool {
    match is_folder {
        true => path.join(b"x").is_ok_and(|inside| path_kind(&inside) == PathKind::Secret),
        false => path_kind(path) == PathKind::Secret,
    }
}

/// Whether a look names a secret, by its path or by its glob: then a person is asked, and after the yes it is looked
/// at. A look that names none is told which places were left out.
pub fn names_secret(item: &ReadItem) -> bool {
    let at = crate::observe::read_path(item);
    if path_kind(at) == PathKind::Secret {
        return true;
    }
    let ReadItem::Search { glob: Some(glob), .. } = item else { return false };
    let name = RelPath::from_bytes(glob.trim_start_matches(['*', '/']).as_bytes());
    name.is_ok_and(|name| path_kind(&name) == PathKind::Secret)
}

fn is_secret_name(name: &str) -> bool {
    if SHARED_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let begins = [".env.", "secrets.", "service-account", "service_account"];
    let source = SOURCE_ENDINGS.iter().any(|ending| name.ends_with(ending));
    SECRET_NAMES.contains(&name)
        || (!source && begins.iter().any(|start| name.starts_with(start)))
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a path is inside a version control folder.
pub fn is_version_control(path: &RelPath) -> bool {
    has_part(path.as_bytes(), &[".git", ".hg", ".svn", ".jj", "git~1"])
}

/// The folder of a project whose files say what Hermit may do there.
pub const CAPABILITY_FOLDER: &str = ".hermit";

/// Whether a path is inside the folder whose files say what Hermit may do in a project. It may be the project's root
/// by another name, so the folder counts at any depth.
pub fn is_capability(path: &RelPath) -> bool {
    has_part(path.as_bytes(), &[CAPABILITY_FOLDER, "hermit~1"])
}
