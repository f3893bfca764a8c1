//! What a schedule waits for that is no time: changes of files, a ref that moves, the end of another run, an event at a relay or of
//! another machine (schedule.md 1, HV-3.5-1); and what a look at it saw.
//!
//! Who watches only wakes. What decides is a look, which compares what there is with what was last recorded: a host that was off
//! finds what changed, and a notice that was lost loses nothing.

use super::afar::{EventFilter, SeenEvent, ToldEvent, check_machine, machine_in_words};
use crate::artifact::ArtifactRef;
use crate::skill::check_skill_name;
use crate::task::TaskStatus;
use crate::tool_server::check_server_name;
use crate::vcs::is_ref;
use crate::{Digest, RelPath, TaskId, UnixMs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use words::schedule::{FileChange, FileChanges, MachineEvent, RunEnd, Unseen};

/// Globs that one schedule may name.
const GLOBS_MAX: usize = 20;
/// The longest glob, in bytes.
const GLOB_BYTES_MAX: usize = 300;
/// How long a file must have been left alone before its change counts, in milliseconds.
const QUIET_MS: RangeInclusive<u64> = 500..=600_000;
/// How long that is where nothing is said.
pub const QUIET_MS_USUAL: u64 = 2_000;
/// Files that a schedule may wait for.
pub const SEEN_FILES_MAX: usize = 20_000;
/// Changes that a task is told by name; of more, it is told how many.
pub const CHANGES_TOLD_MAX: usize = 200;
/// Runs that such a schedule begins within an hour where nothing is said.
pub const PER_HOUR_USUAL: u32 = 12;
/// The longest name of a hook: that of its secret has room for it.
const HOOK_NAME_MAX: usize = 48;
/// Bytes of the address of a resource that a schedule waits for.
const RESOURCE_URI_BYTES_MAX: usize = 1_000;
/// How often a resource is looked at, in milliseconds.
const EVERY_MS: RangeInclusive<u64> = MINUTE_MS..=60 * MINUTE_MS;
/// A minute, in milliseconds.
const MINUTE_MS: u64 = 60_000;
/// How often that is where nothing is said.
pub const EVERY_MS_USUAL: u64 = 15 * MINUTE_MS;
/// Bytes of a resource that a task is told; of more, it is told how many.
pub const RESOURCE_TOLD_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the body of a call.
pub const CALL_BYTES_MAX: usize = 64 * 1024;

/// The handle of the secret that calls of a hook are signed with.
pub fn hook_secret(hook: &str) -> String {
    format!("hook.{hook}")
}

/// Whether a text can be the name of a hook.
///
/// # Errors
/// In words.
pub fn check_hook_name(name: &str) -> Result<(), String> {
    match check_skill_name(name) {
        Ok(()) if name.len() <= HOOK_NAME_MAX => Ok(()),
        _ => Err(format!(
            "a hook is named with 1 to {HOOK_NAME_MAX} of a-z, 0-9 and single `-` between them, such as deploy"
        )),
    }
}

/// What a schedule waits for that is no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Trigger {
    /// Changes of files in its folder.
    Files {
        /// Which: one with a slash is held against the path below the folder, another against the name alone. All of them where
        /// there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        globs: Vec<String>,
        /// Which changes.
        changes: FileChanges,
        /// Milliseconds that a file must have been left alone before its change counts.
        quiet_ms: u64,
    },
    /// A ref of the folder's repository is somewhere else.
    Ref {
        /// Its whole name, such as `refs/heads/main`.
        name: String,
    },
    /// A run of another schedule, or a task, has ended.
    After {
        /// The schedule's name, or the task's identifier.
        of: String,
        /// How.
        end: RunEnd,
    },
    /// A hook is called: a program sends a signed request.
    Hook {
        /// Its name, as its address has it.
        name: String,
    },
    /// A resource of a server of tools reads otherwise than at the look before.
    Resource {
        /// The server's name.
        server: String,
        /// The resource's address there.
        uri: String,
        /// Milliseconds from one look to the next.
        every_ms: u64,
    },
    /// An event of Nostr comes to a relay.
    Events {
        /// Which.
        filter: EventFilter,
        /// Milliseconds from one look to the next.
        every_ms: u64,
    },
    /// Something of another machine of the mesh.
    Machine {
        /// The machine, as its person calls it, or by its key.
        name: String,
        /// What.
        event: MachineEvent,
        /// Of silence: for how many minutes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minutes: Option<u32>,
    },
}

impl Trigger {
    /// Whether it can be meant; globs are read by the room `effects`.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Files { globs, quiet_ms, .. } => {
                if globs.len() > GLOBS_MAX {
                    return Err(format!("a schedule names at most {GLOBS_MAX} kinds of files"));
                }
                if !QUIET_MS.contains(quiet_ms) {
                    return Err("a file has been left alone for half a second to ten minutes".to_owned());
                }
                globs.iter().try_for_each(|glob| check_glob(glob))
            }
            Self::Ref { name } if !is_ref(name) => Err(format!(
                "`{name}` is no name of a branch or tag: write it as main, refs/heads/main or refs/tags/v1"
            )),
            Self::After { of, .. } if of.parse::<TaskId>().is_err() => check_skill_name(of),
            Self::Ref { .. } | Self::After { .. } => Ok(()),
            Self::Hook { name } => check_hook_name(name),
            Self::Resource { server, uri, every_ms } => {
                check_server_name(server)?;
                if uri.is_empty()
                    || uri.len() > RESOURCE_URI_BYTES_MAX
                    || uri.chars().any(|c| c.is_whitespace() || c.is_control())
                {
                    return Err(format!(
                        "a resource is named by its address of 1 to {RESOURCE_URI_BYTES_MAX} bytes without spaces, such as docs://rates"
                    ));
                }
                check_every("a resource is", *every_ms)
            }
            Self::Events { filter, every_ms } => {
                filter.check()?;
                check_every("relays are", *every_ms)
            }
            Self::Machine { name, event, minutes } => check_machine(name, *event, *minutes),
        }
    }

    /// Milliseconds from one look to the next, where nothing but a look tells of a change.
    pub const fn every_ms(&self) -> Option<u64> {
        match self {
            Self::Resource { every_ms, .. } | Self::Events { every_ms, .. } => Some(*every_ms),
            Self::Machine { .. } => Some(MINUTE_MS),
            Self::Files { .. } | Self::Ref { .. } | Self::After { .. } | Self::Hook { .. } => None,
        }
    }

    /// As a person reads it, in the words by which it can be said.
    pub fn in_words(&self) -> String {
        match self {
            Self::Files { globs, changes, .. } => {
                let which = match globs.is_empty() {
                    true => String::new(),
                    false => format!(" matching {}", globs.join(", ")),
                };
                match changes {
                    FileChanges::Landed => format!("when a file{which} lands here"),
                    FileChanges::Changed => format!("when files{which} change"),
                    FileChanges::Any => format!("when files{which} change or go"),
                }
            }
            Self::Ref { name } => {
                format!("when {} moves", name.strip_prefix("refs/heads/").unwrap_or(name))
            }
            Self::After { of, end: RunEnd::Either } => format!("after {of}"),
            Self::After { of, end: RunEnd::Done } => format!("when {of} is done"),
            Self::After { of, end: RunEnd::Failed } => format!("when {of} fails"),
            Self::Hook { name } => format!("when the hook {name} is called"),
            Self::Resource { server, uri, every_ms } => {
                let every = every_in_words(*every_ms);
                format!("when the resource {uri} of the server {server} changes, looked at every {every}")
            }
            Self::Events { filter, every_ms } => {
                let (events, relays) = (filter.in_words(), filter.relays.join(", "));
                format!("when {events} comes at {relays}, looked at every {}", every_in_words(*every_ms))
            }
            Self::Machine { name, event, minutes } => machine_in_words(name, *event, *minutes),
        }
    }
}

fn check_every(what: &str, every_ms: u64) -> Result<(), String> {
    match EVERY_MS.contains(&every_ms) && every_ms % MINUTE_MS == 0 {
        true => Ok(()),
        false => Err(format!("{what} looked at every 1 to 60 minutes")),
    }
}

fn every_in_words(every_ms: u64) -> String {
    match every_ms / MINUTE_MS {
        1 => "minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

/// A glob of a folder stays below it.
fn check_glob(glob: &str) -> Result<(), String> {
    let leaves = glob.starts_with('/') || glob.split('/').any(|part| part == "..") || glob.contains('\\');
    if leaves {
        return Err(format!("`{glob}` leads out of the folder: name files below it, such as scans/*.pdf"));
    }
    if glob.is_empty() || glob.len() > GLOB_BYTES_MAX || glob.chars().any(char::is_control) {
        return Err(format!("a kind of files is named with 1 to {GLOB_BYTES_MAX} characters, such as *.pdf"));
    }
    Ok(())
}

/// What a look at what a schedule waits for saw, where that is another than the look before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// What there is, as the next look is compared with it; absent where it is as it was, or could not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ArtifactRef>,
    /// What changed since, where a slot came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ArtifactRef>,
    /// Why it cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
    /// Of a hook: the number of the newest call that the slot stands for; each until it is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Whether nothing can come any more: the task that it waited for has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
}

/// What there was at a look: the content of [`Seen::state`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SeenState {
    /// Files by their path below the folder, each with its stamp.
    Files {
        /// They.
        files: BTreeMap<RelPath, String>,
        /// The file system that the folder is on, where the system tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
    },
    /// A ref.
    Ref {
        /// The commit it is at; none where there is no such ref.
        at: Option<String>,
    },
    /// Runs.
    Runs {
        /// Those that have not ended.
        open: Vec<TaskId>,
        /// Those that have, of the newest.
        ended: Vec<TaskId>,
    },
    /// A resource of a server.
    Resource {
        /// SHA-256 over what it reads.
        sha256: Digest,
    },
    /// Events of relays.
    Events {
        /// Those before this second are not looked at.
        since: i64,
        /// Those after it that were seen, by time.
        seen: Vec<SeenEvent>,
    },
    /// Another machine.
    Machine {
        /// Whether it is silent.
        is_silent: bool,
        /// The place of its newest message or receipt among all that are kept here.
        newest: u64,
    },
}

/// What changed between two looks: the content of [`Seen::change`], and what the task of the slot is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SeenChange {
    /// Files.
    Files {
        /// The first of them, by path.
        files: Vec<ChangedFile>,
        /// How many more there are.
        more: u64,
    },
    /// A ref.
    Ref {
        /// Its whole name.
        name: String,
        /// The commit it was at; none where there was no such ref.
        from: Option<String>,
        /// The commit it is at; none where there is no such ref any more.
        to: Option<String>,
    },
    /// Runs ended.
    Ended {
        /// The schedule's name, or the task's identifier.
        of: String,
        /// They, with how each ended.
        runs: Vec<EndedRun>,
    },
    /// A hook was called.
    Called {
        /// Its name.
        hook: String,
        /// The newest calls, the newest last.
        calls: Vec<HookCall>,
        /// How many there were before these.
        more: u64,
    },
    /// A resource of a server reads otherwise.
    Resource {
        /// The server's name.
        server: String,
        /// The resource's address there.
        uri: String,
        /// SHA-256 over what it reads.
        sha256: Digest,
        /// The beginning of its text, without the values of secrets.
        text: String,
        /// Bytes of the text beyond that.
        more: u64,
    },
    /// Events came to relays.
    Events {
        /// The first of them, by time.
        events: Vec<ToldEvent>,
        /// How many more there are.
        more: u64,
    },
    /// Something happened at another machine.
    Machine {
        /// The machine.
        name: String,
        /// What.
        event: MachineEvent,
        /// How many messages or receipts came.
        count: u64,
    },
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookCall {
    /// Which, counted from 1 for its schedule.
    pub number: u64,
    /// When it came.
    pub called_at: UnixMs,
    /// Its body, byte for byte but for the values of secrets.
    pub content: ArtifactRef,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    /// Where, below the folder.
    pub path: RelPath,
    /// What became of it.
    pub change: FileChange,
    /// Where it was, where it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RelPath>,
}

/// A run that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndedRun {
    /// Its task.
    pub task_id: TaskId,
    /// How.
    pub status: TaskStatus,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(globs: &[&str]) -> Trigger {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        Trigger::Files { globs, changes: FileChanges::Changed, quiet_ms: QUIET_MS_USUAL }
    }

    #[test]
    fn what_leads_out_of_the_folder_or_names_nothing_is_refused_with_what_can_be_said() {
        for (glob, word) in [
            ("/etc/*", "below it"),
            ("../*.pdf", "below it"),
            ("scans/../../x", "below it"),
            ("C:\\x", "below it"),
            ("", "such as *.pdf"),
            ("a\nb", "such as *.pdf"),
        ] {
            assert!(files(&[glob]).check().is_err_and(|why| why.contains(word)), "{glob}");
        }
        assert!(files(&["*.pdf", "a/**/b..c"]).check().is_ok());
        assert!(files(&["*"; 21]).check().is_err());
        let quiet = |quiet_ms| Trigger::Files { globs: Vec::new(), changes: FileChanges::Any, quiet_ms };
        assert!(quiet(499).check().is_err() && quiet(600_001).check().is_err() && quiet(500).check().is_ok());
        for name in ["main", "refs/heads/../x", "refs/heads/a b", ""] {
            assert!(Trigger::Ref { name: name.to_owned() }.check().is_err(), "{name}");
        }
        let hook = |name: &str| Trigger::Hook { name: name.to_owned() };
        for name in ["", "De", "a/b", "a--b", "../x", &"a".repeat(49)] {
            assert!(hook(name).check().is_err_and(|why| why.contains("such as deploy")), "{name}");
        }
        assert!(hook(&"a".repeat(48)).check().is_ok());
        assert_eq!(hook("deploy").in_words(), "when the hook deploy is called");
        let resource = |server: &str, uri: &str, every_ms| {
            Trigger::Resource { server: server.to_owned(), uri: uri.to_owned(), every_ms }.check()
        };
        assert!(resource("notes", "docs://rates", EVERY_MS_USUAL).is_ok());
        for (server, uri, every_ms, word) in [
            ("No Name", "docs://rates", 60_000, "server"),
            ("notes", "", 60_000, "such as docs://rates"),
            ("notes", "docs://a b", 60_000, "without spaces"),
            ("notes", &"a".repeat(1_001), 60_000, "1 to 1000 bytes"),
            ("notes", "docs://rates", 59_999, "1 to 60 minutes"),
            ("notes", "docs://rates", 90_000, "1 to 60 minutes"),
            ("notes", "docs://rates", 3_660_000, "1 to 60 minutes"),
        ] {
            let refused = resource(server, uri, every_ms);
            assert!(refused.as_ref().is_err_and(|why| why.contains(word)), "{server} {uri}: {refused:?}");
        }
        let after = |of: &str| Trigger::After { of: of.to_owned(), end: RunEnd::Either };
        assert!(after("Not A Name").check().is_err() && after("evening").check().is_ok());
        assert!(after("task_0190a1b2c3d47e8f9a0b1c2d00000001").check().is_ok());
    }

    #[test]
    fn each_is_told_in_words() {
        let told = |globs: &[&str], changes| {
            let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
            Trigger::Files { globs, changes, quiet_ms: 2_000 }.in_words()
        };
        assert_eq!(told(&[], FileChanges::Changed), "when files change");
        assert_eq!(told(&[], FileChanges::Landed), "when a file lands here");
        let two = told(&["*.pdf", "*.png"], FileChanges::Landed);
        assert_eq!(two, "when a file matching *.pdf, *.png lands here");
        assert_eq!(told(&["**/*.rs"], FileChanges::Any), "when files matching **/*.rs change or go");
        assert_eq!(Trigger::Ref { name: "refs/heads/main".to_owned() }.in_words(), "when main moves");
        assert_eq!(Trigger::Ref { name: "refs/tags/v1".to_owned() }.in_words(), "when refs/tags/v1 moves");
        let after = |end| Trigger::After { of: "tidy".to_owned(), end }.in_words();
        let all = [RunEnd::Either, RunEnd::Done, RunEnd::Failed].map(after);
        assert_eq!(all, ["after tidy", "when tidy is done", "when tidy fails"]);
    }
}
