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
    (why, advice(launch, came))
}

fn advice(launch: &ServerLaunch, came: Came) -> String {
    match (came, acts::fetcher(&launch.argv)) {
        (Came::NotFound, _) => {
            "is it installed? Name a program that the sandbox sees, or its whole path with `--read` \
                                for its folder"
                .to_owned()
        }
        (Came::NotWalled, _) => "`hermit doctor` says what this machine lacks".to_owned(),
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
