//! Programs that start programs, in one table: whoever reads the words of a command looks here.

/// How a program comes to start another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// It runs whatever stands behind it: shells and launchers.
    Words,
    /// It runs the code that its first argument names.
    Script,
}

/// Shells and launchers: no prefix of their words says what they will run. A number at the end of a name is not part of it here.
const LAUNCHERS: [&str; 94] = [
    ".",
    "ash",
    "at",
    "awk",
    "bash",
    "batch",
    "builtin",
    "busybox",
    "bwrap",
    "chroot",
    "chrt",
    "cmd",
    "command",
    "conhost",
    "cscript",
    "csh",
    "dash",
    "dbus-launch",
    "dbus-run-session",
    "doas",
    "docker",
    "entr",
    "env",
    "eval",
    "exec",
    "expect",
    "faketime",
    "fakeroot",
    "find",
    "firejail",
    "fish",
    "flock",
    "forfiles",
    "gawk",
    "gdb",
    "ionice",
    "ksh",
    "ld.so",
    "ltrace",
    "mawk",
    "mksh",
    "mshta",
    "msiexec",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pcalua",
    "podman",
    "powershell",
    "prlimit",
    "proot",
    "proxychains",
    "psexec",
    "regsvr",
    "rlwrap",
    "runas",
    "rundll",
    "runuser",
    "schtasks",
    "screen",
    "script",
    "sed",
    "setpriv",
    "setsid",
    "sh",
    "socat",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "tcsh",
    "time",
    "timeout",
    "tmux",
    "torsocks",
    "toybox",
    "trap",
    "unshare",
    "uv",
    "watch",
    "wmic",
    "wscript",
    "wsl",
    "xargs",
    "xvfb-run",
    "yash",
    "zsh",
    "unbuffer",
    "catchsegv",
];

/// Interpreters: the words are said as far as the script, or the module, is named.
const INTERPRETERS: [&str; 17] = [
    "bun", "bunx", "deno", "guile", "java", "lua", "node", "nodejs", "npx", "perl", "php", "pwsh", "python",
    "ruby", "tclsh", "rscript", "julia",
];

/// Programs whose business is version control.
const VERSION_CONTROL: [&str; 11] =
    ["git", "git-lfs", "hg", "svn", "jj", "fossil", "bzr", "cvs", "gh", "glab", "hub"];

/// Acts of git that print names, counts and messages. Those that start a program which their words name are not among them, nor
/// is what puts files aside that git does not keep and shows them again.
const QUIET_ACTS: [&str; 13] = [
    "add",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "init",
    "merge",
    "mv",
    "reset",
    "restore",
    "revert",
    "rm",
    "switch",
];

/// What such an act may be told. Anything else may print what a change is (`-v`, `-p`), take its words from a file (`-F`, `-t`), name
/// a program (`-s`), or open an editor.
const QUIET_OPTIONS: [&str; 34] = [
    "-",
    "--",
    "--abort",
    "--all",
    "--allow-empty",
    "--amend",
    "--cached",
    "--continue",
    "--delete",
    "--detach",
    "--ff-only",
    "--force",
    "--hard",
    "--message",
    "--mixed",
    "--no-edit",
    "--no-ff",
    "--no-verify",
    "--quiet",
    "--soft",
    "--staged",
    "--update",
    "--worktree",
    "-A",
    "-B",
    "-D",
    "-a",
    "-am",
    "-b",
    "-d",
    "-f",
    "-m",
    "-q",
    "-r",
];

/// Shells whose `-c` is read word by word. Others have other grammars.
const READ_SHELLS: [&str; 3] = ["sh", "bash", "dash"];

/// What Windows lets people leave out at the end of a program's name; `.com` is left out here, because hosts have names like that.
const ENDS: [&str; 3] = [".exe", ".bat", ".cmd"];

/// A program's name without folder, case, version and ending: `/usr/bin/Python3.13` and `python.exe` are `python`. Windows knows a program
/// behind a drive alone (`C:git.exe`) as well, and passes over blanks and full stops at an end.
pub(crate) fn name(word: &str) -> String {
    let is_drive = |first: &str| first.len() == 1 && first.bytes().all(|b| b.is_ascii_alphabetic());
    let word = word.split_once(':').filter(|(first, _)| is_drive(first)).map_or(word, |(_, rest)| rest);
    let last = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    let last = Some(last.trim_end_matches([' ', '.'])).filter(|last| !last.is_empty()).unwrap_or(&last);
    let last = ENDS.iter().find_map(|end| last.strip_suffix(*end)).unwrap_or(last);
    let bare = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    // `.` is a program of its own, and a name of digits alone has nothing else.
    if bare.is_empty() { last.to_owned() } else { bare.to_owned() }
}

/// How a program starts others; none when it is not known to start what its words say.
pub fn starts(word: &str) -> Option<Starts> {
    let name = name(word);
    if LAUNCHERS.contains(&name.as_str()) {
        return Some(Starts::Words);
    }
    INTERPRETERS.contains(&name.as_str()).then_some(Starts::Script)
}

/// Whether a program starts what its words say, so that all of them are looked through.
pub fn starts_programs(word: &str) -> bool {
    starts(word).is_some()
}

/// Whether a word is a shell whose `-c` is read: by its bare name, or where the system keeps it. A file of the folder
/// that is called like one is no shell.
pub fn is_read_shell(word: &str) -> bool {
    let name = word.strip_prefix("/usr/bin/").or_else(|| word.strip_prefix("/bin/")).unwrap_or(word);
    READ_SHELLS.contains(&name)
}

/// Whether a word is a program of version control.
pub(crate) fn is_version_control(word: &str) -> bool {
    VERSION_CONTROL.contains(&name(word).as_str())
}

/// Whether a text names a program of version control anywhere.
pub(crate) fn mentions_version_control(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.split(|c| !is_word(c)).any(is_version_control)
}

/// Whether any of the words names a program of version control.
pub fn names_version_control(argv: &[String]) -> bool {
    argv.iter().any(|word| mentions_version_control(word))
}

/// Whether the words of a command are those of an act of git that starts nothing which they say, and prints no content of a file.
/// What its repository starts by itself does not stand in them.
pub fn prints_what_git_keeps(argv: &[String]) -> bool {
    let [program, act, told @ ..] = argv else { return false };
    let is_quiet = |word: &String| {
        !word.starts_with('-') || word.starts_with("--message=") || QUIET_OPTIONS.contains(&word.as_str())
    };
    if !told.iter().all(is_quiet) {
        return false;
    }
    let name = program.strip_prefix("/usr/bin/").or_else(|| program.strip_prefix("/bin/")).unwrap_or(program);
    name == "git" && QUIET_ACTS.contains(&act.as_str())
}

/// Whether anything may be added to the words of a command and it stays the program it is.
///
/// # Errors
/// Why not, in words.
pub fn open_ended(words: &[String]) -> Result<(), String> {
    let program = words.first().map_or("", String::as_str);
    let name = program.rsplit('/').next().unwrap_or(program);
    match starts(program) {
        None => Ok(()),
        Some(Starts::Words) => {
            Err(format!("`{name}` runs whatever stands behind it; allow exactly these words, or none"))
        }
        Some(Starts::Script) => {
            let script = words.get(1).is_some_and(|word| !word.starts_with('-'));
            let module = words.get(1).is_some_and(|word| word == "-m") && words.len() > 2;
            match script || module {
                true => Ok(()),
                false => Err(format!(
                    "`{name}` runs whatever stands behind it; name the script, or exactly all words"
                )),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tool as _;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn nothing_that_starts_programs_is_allowed_with_an_open_end_and_all_its_words_are_looked_through() {
        for program in LAUNCHERS {
            for spelled in [program.to_owned(), format!("/usr/bin/{program}"), format!("{program}.EXE")] {
                assert!(open_ended(&words(&[&spelled])).is_err(), "{spelled}");
                assert!(open_ended(&words(&[&spelled, "x"])).is_err(), "{spelled} x");
            }
        }
        for program in INTERPRETERS {
            for spelled in [program.to_owned(), format!("/usr/bin/{program}"), format!("{program}3.13")] {
                assert!(open_ended(&words(&[&spelled])).is_err(), "{spelled}");
                assert!(open_ended(&words(&[&spelled, "-c"])).is_err(), "{spelled} -c");
                assert!(open_ended(&words(&[&spelled, "script"])).is_ok(), "{spelled} script");
            }
        }
        for program in LAUNCHERS.iter().chain(&INTERPRETERS) {
            let argv = words(&[program, "git", "push"]);
            let command = crate::Command {
                argv,
                cwd: model::RelPath::ROOT,
                network: false,
                timeout_ms: 1,
                hosts: Vec::new(),
                secrets: Vec::new(),
            };
            assert!(
                command.classes().contains(&model::action::ActionClass::VcsMutation),
                "{program} git push"
            );
        }
    }

    #[test]
    fn an_act_of_git_prints_what_git_keeps_unless_its_words_say_what_to_start_or_show() {
        for quiet in [&["git", "commit", "-m", "x"][..], &["/usr/bin/git", "add", "-A"]] {
            assert!(prints_what_git_keeps(&words(quiet)), "{quiet:?}");
        }
        let others: [&[&str]; 15] = [
            &["git", "commit", "-v", "--dry-run"],
            &["git", "commit", "-F", "notes"],
            &["git", "commit", "--template=notes"],
            &["git", "add", "-p"],
            &["git", "checkout", "--pat", "other"],
            &["git", "merge", "-s", "mine"],
            &["git", "add", "--pathspec-from-file=notes"],
            &["git"],
            &["git", "-c", "alias.x=!cat *", "x"],
            &["git", "rebase", "--exec", "cat *"],
            &["git", "stash", "-u"],
            &["git", "fetch", "--upload-pack=cat *", "."],
            &["sh", "-c", "git commit -m x"],
            &["./git", "commit"],
            &["gh", "commit"],
        ];
        for other in others {
            assert!(!prints_what_git_keeps(&words(other)), "{other:?}");
        }
    }

    #[test]
    fn a_name_is_what_is_left_without_folder_case_version_and_ending() {
        for (word, wanted) in [
            ("/usr/bin/Python3.13", "python"),
            ("python3", "python"),
            ("C:\\Git\\Git.EXE", "git"),
            ("npx.CMD", "npx"),
            ("run.bat", "run"),
            ("RunDLL32.exe", "rundll"),
            ("C:git.exe", "git"),
            ("git.exe. ", "git"),
            ("build:git", "build:git"),
            (".", "."),
            ("7", "7"),
            ("ld.so", "ld.so"),
            ("git-lfs", "git-lfs"),
        ] {
            assert_eq!(name(word), wanted, "{word}");
        }
        assert!(is_read_shell("sh") && is_read_shell("/bin/dash") && is_read_shell("/usr/bin/bash"));
        for other in ["./sh", "bin/sh", "/tmp/sh", "/usr/bin/../../tmp/sh", "/usr/local/bin/sh", "zsh"] {
            assert!(!is_read_shell(other), "{other}");
        }
    }
}
