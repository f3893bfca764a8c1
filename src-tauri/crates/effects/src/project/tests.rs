use super::*;

const CONFIG: &str = concat!("[remote \"origin\"]\n\turl = https://alice:", "s3cret@code.example/app.git\n");

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    folder
}

fn put(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_repository_says_its_remote_without_who_asks() {
    let folder = folder();
    assert_eq!(remote(folder.path()), None, "no configuration");
    put(&folder.path().join(".git/config"), CONFIG);
    assert_eq!(remote(folder.path()).as_deref(), Some("code.example/app"));
    assert_eq!(remote(&folder.path().join("below")), None, "a folder is what it says itself");
}

#[test]
fn a_worktree_and_a_submodule_say_what_their_repository_says() {
    let folder = folder();
    let main = folder.path().join(".git");
    put(&main.join("config"), CONFIG);
    put(&main.join("worktrees/two/commondir"), "../..\n");
    let worktree = tempfile::tempdir().unwrap();
    put(&worktree.path().join(".git"), format!("gitdir: {}\n", main.join("worktrees/two").display()));
    assert_eq!(remote(worktree.path()).as_deref(), Some("code.example/app"));
    put(&main.join("modules/sub/config"), CONFIG.replace("app", "sub"));
    put(&folder.path().join("sub/.git"), "gitdir: ../.git/modules/sub\n");
    assert_eq!(remote(&folder.path().join("sub")).as_deref(), Some("code.example/sub"));
}

#[test]
fn what_is_too_large_names_nothing() {
    let folder = folder();
    let config = folder.path().join(".git/config");
    let fill = |bytes: usize| format!("{CONFIG}#{}", "x".repeat(bytes - CONFIG.len() - 1));
    let most = usize::try_from(CONFIG_BYTES_MAX).unwrap();
    put(&config, fill(most));
    assert!(remote(folder.path()).is_some());
    put(&config, fill(most + 1));
    assert_eq!(remote(folder.path()), None);
    let other = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git").display().to_string();
    put(&other.path().join(".git"), format!("gitdir: {git}{}", "/.".repeat(3_000)));
    assert_eq!(remote(other.path()), None);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_and_no_pipe_waited_for() {
    use std::os::unix::fs::symlink;
    let real = folder();
    put(&real.path().join(".git/config"), CONFIG);
    let other = tempfile::tempdir().unwrap();
    symlink(real.path().join(".git"), other.path().join(".git")).unwrap();
    assert_eq!(remote(other.path()), None, "a link to a repository elsewhere");
    let third = folder();
    symlink(real.path().join(".git/config"), third.path().join(".git/config")).unwrap();
    assert_eq!(remote(third.path()), None, "a link to a configuration elsewhere");
    let pipe = folder();
    let made = std::process::Command::new("mkfifo").arg(pipe.path().join(".git/config")).status().unwrap();
    assert!(made.success());
    assert_eq!(remote(pipe.path()), None);
}
