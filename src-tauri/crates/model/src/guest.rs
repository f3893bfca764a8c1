//! Guests: agents of other programs, which work by themselves in a staged view of the folder (tools.md 4).

use crate::action::{ChangeItem, LeftOut};
use crate::path::RelPath;
use crate::reach::Program;
use crate::receipt::ResultCode;
use crate::{ArtifactId, limits};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Stands in the words of a guest for what it is asked to do.
pub const GOAL: &str = "{goal}";

/// How a guest is started, and all that it may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestLaunch {
    /// The preset's name, or the program's.
    pub guest: String,
    /// Its program, with the digest it had when the task was begun.
    pub program: Program,
    /// Words behind the program: [`GOAL`] stands for what is to be done.
    pub words: Vec<String>,
    /// The same where it goes on with what it did before; empty where it cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goes_on: Vec<String>,
    /// Words by which the program tells its version; empty where it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tells_version: Vec<String>,
    /// Hosts that it may reach, as `name:port`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Environment variables that hold the stand-in of a secret, by its handle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// Other environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Files of its own HOME: its settings, without secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub home: BTreeMap<RelPath, String>,
    /// Folders beside the system's that it may read: where its program and its libraries are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// How it tells what it changed; none where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tells: Option<GuestTells>,
}

crate::names! {
    /// How a guest tells of itself what it changed.
    pub enum GuestTells ("way in which a guest tells what it did") {
        /// Lines of JSON on its standard output, as `codex exec --json` prints them.
        CodexJson = "codex_json",
        /// Lines of JSON on its standard output, as `claude -p --output-format stream-json` prints them.
        ClaudeJson = "claude_json",
        /// Lines of text that name each file, as aider prints them.
        AiderText = "aider_text",
        /// By the Agent Client Protocol, which it is spoken to by as well: it is given its prompt and answered what it asks.
        Acp = "acp",
    }
}

impl GuestLaunch {
    /// The whole command line of a turn with this prompt.
    pub fn argv(&self, prompt: &str, goes_on: bool) -> Vec<String> {
        let words = if goes_on && !self.goes_on.is_empty() { &self.goes_on } else { &self.words };
        let named = words.iter().any(|word| word.contains(GOAL));
        let filled = words.iter().map(|word| word.replace(GOAL, prompt));
        let last = (!named && !self.speaks_acp()).then(|| prompt.to_owned());
        std::iter::once(self.program.path.clone()).chain(filled).chain(last).collect()
    }

    /// Whether it is spoken to by the Agent Client Protocol, so that its prompt is none of its words.
    pub fn speaks_acp(&self) -> bool {
        self.tells == Some(GuestTells::Acp)
    }

    /// Whether it can go on with what it did before.
    pub fn can_go_on(&self) -> bool {
        !self.goes_on.is_empty() || self.speaks_acp()
    }

    /// Handles of its secrets, sorted.
    pub fn handles(&self) -> Vec<String> {
        self.secrets.values().collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// Whether a guest can be started so at all.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn check(&self) -> Result<(), String> {
        let texts = self.words.iter().chain(&self.goes_on).chain(&self.hosts).chain(&self.reads);
        let files = self.home.values().chain(self.environment.values());
        let bytes: usize = texts.clone().chain(files).map(|text| text.len().saturating_add(1)).sum();
        if bytes > limits::LAUNCH_BYTES_MAX {
            return Err(format!(
                "the words, hosts, folders and settings of the guest are {bytes} bytes, more than {}",
                limits::LAUNCH_BYTES_MAX
            ));
        }
        if texts.chain(self.environment.values()).any(|word| word.contains('\0')) {
            return Err("the words of a guest hold no zero byte".to_owned());
        }
        let is_name = |name: &String| {
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        if let Some(name) = self.secrets.keys().chain(self.environment.keys()).find(|name| !is_name(name)) {
            return Err(format!("`{}` is no name of an environment variable", name.escape_debug()));
        }
        if self.hosts.is_empty() && !self.secrets.is_empty() {
            // Without a host there is nowhere that a value could go.
            return Err(
                "a guest that signs in with a secret needs a host: name it with `--agent-host`".to_owned()
            );
        }
        Ok(())
    }
}

/// What a turn of a guest came to, kept as its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestReport {
    /// In one word.
    pub result_code: ResultCode,
    /// In a sentence.
    pub summary: String,
    /// The preset's name, or the program's.
    pub guest: String,
    /// What it calls its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it was asked.
    pub prompt: String,
    /// How much a person had said to the task by then.
    pub heard: u32,
    /// Its exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Why it was no success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether Hermit was ended while it worked, so that nothing of its turn is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What its view shows as changed, in the order in which it can be carried over.
    pub items: Vec<ChangeItem>,
    /// What the folder's own ignore rules leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Places that it said it changed; none where it tells nothing at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Vec<RelPath>>,
    /// Bytes that it said it left in some of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub told_bytes: BTreeMap<RelPath, u64>,
    /// Its own helpers, each with what it said that they did, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
}

/// A place in which a guest said it left so many bytes, and its view shows others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestDiffers {
    /// Where.
    pub path: RelPath,
    /// What it said.
    pub told: u64,
    /// What its view shows.
    pub shown: u64,
}

/// Of a change set that a guest made: whose work it is, and what of it the guest itself has told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestWork {
    /// The preset's name, or the program's.
    pub guest: String,
    /// The artifact of what its turn came to.
    pub report: ArtifactId,
    /// Why its turn was no success, if it was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Places that it said it changed; none where it tells nothing at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Vec<RelPath>>,
    /// Places that its view shows as changed and that it did not tell of, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<RelPath>,
    /// Places that hold other than it said, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<GuestDiffers>,
    /// Its own helpers, each with what it said that they did, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(words: &[&str], goes_on: &[&str]) -> GuestLaunch {
        let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let program =
            Program { name: "a".to_owned(), path: "/usr/bin/a".to_owned(), sha256: crate::Digest([0; 32]) };
        GuestLaunch {
            guest: "a".to_owned(),
            program,
            words: all(words),
            goes_on: all(goes_on),
            tells_version: Vec::new(),
            hosts: Vec::new(),
            secrets: BTreeMap::new(),
            environment: BTreeMap::new(),
            home: BTreeMap::new(),
            reads: Vec::new(),
            tells: None,
        }
    }

    #[test]
    fn the_goal_takes_its_place_or_comes_last() {
        assert_eq!(launch(&["-p"], &[]).argv("do it", false), ["/usr/bin/a", "-p", "do it"]);
        let at = launch(&["--message={goal}", "--yes"], &["-c", "{goal}"]);
        assert_eq!(at.argv("x", false), ["/usr/bin/a", "--message=x", "--yes"]);
        assert_eq!(at.argv("x", true), ["/usr/bin/a", "-c", "x"]);
        // Whoever cannot go on begins anew.
        assert_eq!(launch(&["-p"], &[]).argv("y", true), ["/usr/bin/a", "-p", "y"]);
        // What is told over a protocol is none of its words.
        let acp = GuestLaunch { tells: Some(GuestTells::Acp), ..launch(&["acp"], &[]) };
        assert_eq!(
            (acp.argv("y", true), acp.can_go_on()),
            (vec!["/usr/bin/a".to_owned(), "acp".to_owned()], true)
        );
    }

    #[test]
    fn a_secret_without_a_host_a_wrong_variable_and_too_many_words_are_refused() {
        let mut one = launch(&[], &[]);
        assert_eq!(one.check(), Ok(()));
        one.secrets.insert("KEY".to_owned(), "key".to_owned());
        assert!(one.check().unwrap_err().contains("--agent-host"));
        one.hosts.push("api.example.org:443".to_owned());
        assert_eq!(one.check(), Ok(()));
        one.environment.insert("A B".to_owned(), String::new());
        assert!(one.check().unwrap_err().contains("environment variable"));
        let mut long = launch(&[], &[]);
        long.words.push("x".repeat(limits::LAUNCH_BYTES_MAX));
        assert!(long.check().is_err());
    }
}
