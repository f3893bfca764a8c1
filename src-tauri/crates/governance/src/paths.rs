//! Which paths are delicate, by their names: keys and credentials, and files that act later as code.

use model::RelPath;

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

/// Names that begin like secrets and are made to be shared.
const SHARED_ENDINGS: [&str; 5] = [".example", ".sample", ".template", ".dist", ".pub"];

/// Folders whose content acts later as code or configuration.
const ACTING_FOLDERS: [&str; 10] =
    [".git", ".hg", ".svn", ".jj", ".husky", ".vscode", ".idea", "autostart", "launchagents", ".hermit"];

/// Files that act later as code or configuration.
const ACTING_NAMES: [&str; 22] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
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
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    "authorized_keys",
    "crontab",
];

/// How delicate a path is; case does not matter, nor do dots and spaces at the end of a part, which some file
/// systems drop.
pub fn path_kind(path: &RelPath) -> PathKind {
    let text = path.display_lossy().to_lowercase();
    let parts: Vec<&str> = text.split('/').map(|part| part.trim_end_matches([' ', '.'])).collect();
    let name = parts.last().copied().unwrap_or_default();
    if parts.iter().any(|part| SECRET_FOLDERS.contains(part)) || is_secret_name(name) {
        return PathKind::Secret;
    }
    let workflows =
        parts.windows(2).any(|pair| matches!(pair, [".github", "workflows"] | [".config", "fish"]));
    if workflows || parts.iter().any(|part| ACTING_FOLDERS.contains(part)) || ACTING_NAMES.contains(&name) {
        return PathKind::ActsLater;
    }
    if parts.iter().any(|part| part.starts_with('.')) { PathKind::Hidden } else { PathKind::Plain }
}

fn is_secret_name(name: &str) -> bool {
    if SHARED_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let begins = [".env.", "secrets.", "service-account", "service_account"];
    SECRET_NAMES.contains(&name)
        || begins.iter().any(|start| name.starts_with(start))
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a path is inside a version control folder.
pub(crate) fn is_version_control(path: &RelPath) -> bool {
    let text = path.display_lossy().to_lowercase();
    text.split('/')
        .map(|part| part.trim_end_matches([' ', '.']))
        .any(|part| matches!(part, ".git" | ".hg" | ".svn" | ".jj" | "git~1"))
}
