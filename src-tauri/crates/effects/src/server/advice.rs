//! What a person can do about a server that was started and did not greet.

use model::tool_server::ServerLaunch;
use std::process::ExitStatus;

/// By these two a fetcher that has no network says so at once, instead of trying for minutes.
pub(super) const OFFLINE: [(&str, &str); 2] = [("npm_config_offline", "true"), ("UV_OFFLINE", "1")];

/// Why a server did not greet: how it ended where it did, else what was found.
pub(super) fn why(launch: &ServerLaunch, ended: Option<ExitStatus>, found: String) -> String {
    let program = launch.argv.first().map_or("", String::as_str);
    match ended {
        None => found,
        Some(status) => match status.code() {
            Some(125..=127) => format!("`{program}` could not be started"),
            _ => format!("it ended ({status}) before it had spoken the Model Context Protocol"),
        },
    }
}

/// What to do about it.
pub(super) fn advice(launch: &ServerLaunch, ended: Option<ExitStatus>) -> String {
    let never_began = ended.and_then(|status| status.code()).is_some_and(|code| (125..=127).contains(&code));
    match acts::fetcher(&launch.argv) {
        _ if never_began => "is it installed? Name a program that the sandbox sees, or its whole path with \
                             `--read` for its folder"
            .to_owned(),
        Some(fetcher) if launch.hosts.is_empty() => format!(
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
