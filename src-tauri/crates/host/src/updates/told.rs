//! What a person is told of updates on a page: which version is at work, what became of the newest update and of its app, and the release
//! that was checked last. Nothing is done from there.

use super::app::UpdatedApp;
use super::{OWN, Record, Which, keep, kept, state};
use crate::logs::OrLogged as _;
use crate::service::{quoted, typed};
use crate::{Error, Home};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use wire::host::UpdateStands;

/// In the user's folder for state about updates: the valid release that was checked last.
const AT_HAND: &str = "at-hand.json";

/// A release that was checked with the pinned key and found valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtHand {
    /// Its version.
    pub version: String,
    /// Its folder.
    pub release: PathBuf,
}

impl AtHand {
    /// Keeps it: the page names it until something as new is at work.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoHome`].
    pub(super) fn keep(version: &str, folder: &Path) -> Result<(), Error> {
        let release = std::path::absolute(folder).map_err(|e| Error::io("read", folder, &e))?;
        keep(&state(AT_HAND)?, &Self { version: version.to_owned(), release })
    }

    /// The one that is newer than what is at work, where its folder is still there.
    pub(super) fn newer_than(at_work: &str) -> Option<Self> {
        let found = state(AT_HAND).and_then(|path| kept::<Self>(&path));
        let is_plain = |one: &Self| !one.release.to_string_lossy().contains(char::is_control);
        let is_due = |one: &Self| proof::is_newer(&one.version, at_work) && one.release.is_dir();
        found
            .or_logged("which release is at hand cannot be read")
            .flatten()
            .filter(|one| is_plain(one) && is_due(one))
    }
}

/// How updates stand for a store, for its page; none where that cannot be read.
pub(crate) fn told(home: &Home) -> Option<UpdateStands> {
    let record = Record::read(home).or_logged("how updates stand cannot be read")?;
    let update = record.at_work().and_then(|which| record.of(which));
    // A program that was updated to is newer than this one, where this one is the installed app.
    let at_work = update.map_or(OWN, |update| update.version.as_str()).to_owned();
    let at_hand = AtHand::newer_than(&at_work);
    let left = record.of(Which::Now).and_then(|newest| Some((&newest.version, newest.failed.as_ref()?)));
    let words = match &at_hand {
        Some(one) => format!("update apply {}", quoted(&one.release)),
        None => "update show".to_owned(),
    };
    Some(UpdateStands {
        since: update.map(|update| update.at),
        left: left.map(|(version, why)| format!("version {version} is not started any more: {why}")),
        app: update.and_then(|update| update.app.as_ref()).map(in_words),
        at_hand: at_hand.map(|one| one.version),
        command: typed(home.dir(), &words),
        at_work,
    })
}

/// How the app of an update stands.
#[must_use]
pub fn in_words(app: &UpdatedApp) -> String {
    match (&app.failed, app.healthy) {
        (Some(why), _) => format!("it is not started any more: {why}; the installed app goes on"),
        (None, true) => "it came up".to_owned(),
        (None, false) => "the installed app starts it next, once it answers".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;

    #[test]
    fn each_state_of_an_app_has_its_words() {
        let app = |healthy, failed: Option<&str>| UpdatedApp {
            sha256: Digest::of(b"app"),
            bytes: 3,
            starts: 0,
            healthy,
            failed: failed.map(str::to_owned),
        };
        assert_eq!(in_words(&app(true, None)), "it came up");
        assert!(in_words(&app(false, None)).contains("starts it next"));
        let left = in_words(&app(true, Some("it ended")));
        assert!(left.contains("it ended") && left.contains("the installed app goes on"), "{left}");
    }
}
