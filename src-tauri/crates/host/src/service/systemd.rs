//! The seam to systemd: where a person's units lie, and what their manager is asked by `systemctl --user`.

use super::asked::{Asked, ask, ask_soon};
use super::definition::UNIT;
use super::{Stands, folder_of};
use std::path::{Path, PathBuf};

/// What `systemctl` says where no manager of this person runs, as in a container.
const NO_MANAGER: [&str; 5] = [
    "Failed to connect to",
    "Failed to get D-Bus connection",
    "not been booted with systemd",
    "No medium found",
    "$XDG_RUNTIME_DIR not defined",
];

/// The unit's path; none where no home folder is known.
pub(super) fn file() -> Option<PathBuf> {
    let config = folder_of("XDG_CONFIG_HOME").or_else(|| folder_of("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("systemd/user").join(UNIT))
}

fn systemctl(words: &[&str]) -> Asked {
    systemctl_by(ask, words)
}

fn systemctl_by(ask: fn(&str, &[&str]) -> Asked, words: &[&str]) -> Asked {
    let words: Vec<&str> = std::iter::once("--user").chain(words.iter().copied()).collect();
    match ask("systemctl", &words) {
        Asked::Failed(why) if NO_MANAGER.iter().any(|said| why.contains(said)) => {
            Asked::NotHere(format!("no systemd of yours runs here ({why})"))
        }
        asked => asked,
    }
}

/// Starts the service now and with each login; one that runs is started again where its unit is another.
pub(super) fn begin(is_new: bool) -> Asked {
    let start = if is_new { "restart" } else { "start" };
    let steps: [&[&str]; 3] = [&["daemon-reload"], &["enable", UNIT], &[start, UNIT]];
    let mut last = Asked::Done(String::new());
    for step in steps {
        last = systemctl(step);
        if !matches!(last, Asked::Done(_)) {
            return last;
        }
    }
    last
}

/// Ends the service, and starts it with no login any more.
pub(super) fn end(file: &Path) -> Asked {
    let ended = systemctl(&["disable", "--now", UNIT]);
    if matches!(ended, Asked::NotHere(_))
        && let Some(folder) = file.parent()
    {
        // What an earlier `enable` made would lead nowhere.
        let _ = std::fs::remove_file(folder.join("default.target.wants").join(UNIT));
    }
    ended
}

/// The unit's file is gone.
pub(super) fn forget() {
    let _ = systemctl(&["daemon-reload"]);
    // What it failed with is no news of a unit that is not there.
    let _ = systemctl(&["reset-failed", UNIT]);
}

/// Whether it runs. `is-active` ends with an error where it does not, and says how it stands.
pub(super) fn stands() -> Stands {
    match systemctl_by(ask_soon, &["is-active", UNIT]) {
        Asked::Done(_) => Stands::Runs,
        Asked::Failed(said) if said == "activating" => Stands::Ended("is about to start".to_owned()),
        Asked::Failed(said) if said == "failed" => {
            Stands::Ended(format!("failed; `journalctl --user -u {UNIT}` says why"))
        }
        Asked::Failed(_) => Stands::Ended("does not run".to_owned()),
        Asked::NotHere(why) => Stands::Unknown(why),
    }
}

/// How long it runs, in words: a person's units end with their last session, unless they linger.
pub(super) fn lasts() -> String {
    let user = std::env::var_os("USER").or_else(|| std::env::var_os("LOGNAME"));
    let lingers = user.is_some_and(|user| Path::new("/var/lib/systemd/linger").join(user).exists());
    match lingers {
        true => "It starts with this machine, also while you are not logged in.".to_owned(),
        false => "It starts when you log in and ends when you log out. To keep it always: `loginctl enable-linger`."
            .to_owned(),
    }
}

/// What a person does where nobody could be asked.
pub(super) fn by_hand() -> String {
    format!(
        "Where your systemd runs, start it with `systemctl --user daemon-reload` and `systemctl --user enable --now {UNIT}`. \
         Without systemd, let whatever starts programs here run the line `ExecStart` of that file."
    )
}
