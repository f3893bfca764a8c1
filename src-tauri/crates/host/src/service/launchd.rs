//! The seam to launchd: where a person's agents lie, and what `launchctl` is asked.

use super::asked::{Asked, ask, ask_soon};
use super::definition::LABEL;
use super::{Stands, folder_of};
use std::path::{Path, PathBuf};

/// The agent's path; none where no home folder is known.
pub(super) fn file() -> Option<PathBuf> {
    folder_of("HOME").map(|home| home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
}

/// The domain of this person's session.
fn domain() -> Result<String, Asked> {
    match ask_soon("id", &["-u"]) {
        Asked::Done(id) if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(format!("gui/{id}"))
        }
        Asked::Done(said) => Err(Asked::Failed(format!("`id -u` said `{said}`"))),
        asked => Err(asked),
    }
}

/// Whether launchd says that it knows no such agent.
fn is_unknown(why: &str) -> bool {
    ["No such process", "Could not find", "not find service"].iter().any(|said| why.contains(said))
}

/// Starts the agent now and with each login; one that runs is started again where its file is another.
pub(super) fn begin(file: &Path, is_new: bool) -> Asked {
    let domain = match domain() {
        Ok(domain) => domain,
        Err(asked) => return asked,
    };
    let service = format!("{domain}/{LABEL}");
    if is_new {
        let _ = ask("launchctl", &["bootout", &service]);
    } else if matches!(ask("launchctl", &["print", &service]), Asked::Done(_)) {
        return ask("launchctl", &["kickstart", &service]);
    }
    let path = file.display().to_string();
    ask("launchctl", &["bootstrap", &domain, &path])
}

/// Ends the agent, and starts it with no login any more.
pub(super) fn end() -> Asked {
    let domain = match domain() {
        Ok(domain) => domain,
        Err(asked) => return asked,
    };
    match ask("launchctl", &["bootout", &format!("{domain}/{LABEL}")]) {
        Asked::Failed(why) if is_unknown(&why) => Asked::Done(String::new()),
        asked => asked,
    }
}

/// Whether it runs.
pub(super) fn stands() -> Stands {
    let domain = match domain() {
        Ok(domain) => domain,
        Err(Asked::Done(why) | Asked::Failed(why) | Asked::NotHere(why)) => return Stands::Unknown(why),
    };
    match ask_soon("launchctl", &["print", &format!("{domain}/{LABEL}")]) {
        Asked::Done(said) if said.lines().any(|line| line.trim() == "state = running") => Stands::Runs,
        Asked::Done(_) | Asked::Failed(_) => Stands::Ended("does not run".to_owned()),
        Asked::NotHere(why) => Stands::Unknown(why),
    }
}

/// How long it runs, in words.
pub(super) fn lasts() -> String {
    "It starts when you log in and ends when you log out.".to_owned()
}

/// What a person does where nobody could be asked.
pub(super) fn by_hand(file: &Path) -> String {
    format!("Start it with `launchctl bootstrap gui/$(id -u) '{}'`.", file.display())
}
