//! Why a server that was started did not greet, and what a person can do about it.

use model::tool_server::ServerLaunch;
use std::process::ExitStatus;

/// By these two a fetcher that has no network says so at once, instead of trying for minutes.
pub(super) const OFFLINE: [(&str, &str); 2] = [("npm_config_offline", "true"), ("UV_OFFLINE", "1")];

/// How far a server came that did not greet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    /// Its program was not started.
    NotFound,
    /// Its sandbox could not be put up.
    NotWalled,
    /// It ended by itself.
    Ended(ExitStatus),
    /// It is still there.
    Lasts,
}

/// Why a server did not greet, and what to do: from how it ended, the last that was written on its error output, and what
/// was found by whoever spoke to it.
pub(super) fn told(
    launch: &ServerLaunch,
    ended: Option<ExitStatus>,
    last: &str,
    found: &str,
) -> (String, String) {
    let program = launch.argv.first().map_or("", String::as_str);
    let came = match ended.map(|status| (status, status.code())) {
        None => Came::Lasts,
        Some((_, Some(125..=127)))
            if last.contains(&format!("hermit-exec: `{program}` could not be started")) =>
        {
            Came::NotFound
        }
        Some((_, Some(125..=127))) if last.contains("hermit-exec: ") => Came::NotWalled,
        Some((status, _)) => Came::Ended(status),
    };
    let why = match came {
        Came::NotFound => format!("`{program}` could not be started"),
        Came::NotWalled => "its sandbox could not be put up".to_owned(),
        Came::Ended(status) => format!("it ended ({status}) before it had spoken the Model Context Protocol"),
        Came::Lasts => found.to_owned(),
    };
    (why, advice(launch, came, last))
}

/// Whether a program ended because it asked where a file really lies, which no program in an AppContainer is told.
fn asks_where(last: &str) -> bool {
    let is_refused = ["EPERM", "EBADF", "EACCES"].iter().any(|word| last.contains(word));
    is_refused && ["lstat", "realpath"].iter().any(|word| last.contains(word))
}

fn advice(launch: &ServerLaunch, came: Came, last: &str) -> String {
    match (came, acts::fetcher(&launch.argv)) {
        (Came::NotFound, _) => {
            "is it installed? Name a program that the sandbox sees, or its whole path with `--read` \
                                for its folder"
                .to_owned()
        }
        (Came::NotWalled, _) => "`hermit doctor` says what this machine lacks".to_owned(),
        (Came::Ended(_), _) if asks_where(last) => {
            "it looks at the folders above its own, which its sandbox does not show: start it as \
             `node --preserve-symlinks --preserve-symlinks-main FILE`, or as a program that is one file"
                .to_owned()
        }
        (_, Some(fetcher)) if launch.hosts.is_empty() => format!(
            "`{fetcher}` fetches what it runs, and the sandbox has no network: install the package in the folder first, or \
             name where it is fetched from with `--host HOST:443`"
        ),
        _ => format!(
            "it is started as `{}`: look in its documentation for the words by which it speaks over its standard streams \
             (stdio)",
            acts::visible(&launch.argv.join(" "))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn launch() -> ServerLaunch {
        ServerLaunch {
            argv: ["node", "files.js"].map(str::to_owned).to_vec(),
            url: None,
            secrets: BTreeMap::new(),
            variables: BTreeMap::new(),
            hosts: Vec::new(),
            reads: Vec::new(),
            pins: Vec::new(),
            package: None,
        }
    }

    #[test]
    fn a_program_that_asks_where_its_files_lie_is_told_how_to_be_started_without() {
        let ended = Some(ExitStatus::default());
        let of = |last: &str| told(&launch(), ended, last, "").1;
        for last in [
            "Error: EPERM: operation not permitted, lstat 'C:\\Users'",
            "Error: EBADF: bad file descriptor, realpath 'C:\\Users\\ann\\notes'",
        ] {
            assert!(of(last).contains("--preserve-symlinks-main"), "{last}");
        }
        for last in ["Error: EPERM: operation not permitted, open 'a.txt'", "lstat is deprecated", ""] {
            assert!(of(last).contains("(stdio)"), "{last}");
        }
    }
}
