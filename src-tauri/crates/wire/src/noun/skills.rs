//! Skills: folders with a `SKILL.md`, found, put to a person, and not trusted any more. Nothing here trusts one.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use words::knowledge::TrustTier;
use words::store::{SkillPlace, SkillState};

params! {
    /// Where to look.
    List {
        /// The folder of a project; without one, the person's own skills alone.
        folder: Option<String>,
    }
    /// One skill, with every word of it.
    Show {
        name: String,
        /// The one with these bytes; the first of its name when absent.
        sha256: Option<String>,
        /// A file of it, whose text is told.
        file: Option<String>,
        folder: Option<String>,
    }
    /// The skill that a person is asked about.
    Trust {
        name: String,
        /// As it was looked at; the first of its name that is not trusted when absent.
        sha256: Option<String>,
        folder: Option<String>,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// Skills that what recurs in a project would make.
    Drafts {
        /// The folder of the project.
        folder: String,
    }
    /// A drafted skill that a person wants in the folder of its project.
    Adopt {
        name: String,
        /// The folder of the project.
        folder: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The skill that is not trusted any more.
    Untrust {
        name: String,
        /// The one with these bytes; all of its name when absent.
        sha256: Option<String>,
        reason: Option<String>,
    }
}

answers! {
    /// What there is.
    SkillList {
        skills: Vec<SkillRow>,
        /// Playbooks, which stand beside them.
        playbooks: Vec<PlaybookLine>,
        /// What was not looked at and why, in words.
        left_out: Vec<String>,
    }
    /// One skill.
    SkillRow {
        /// Its name, which is its folder's.
        name: String,
        /// What it says it is for; none where it cannot be used.
        description: Option<String>,
        place: SkillPlace,
        /// Its folder.
        path: String,
        state: SkillState,
        /// Why, in words.
        why: Option<String>,
        /// What else a person should know of it.
        notes: Vec<String>,
        /// All of its bytes; none where it cannot be used.
        sha256: Option<String>,
        files: u32,
        byte_size: u64,
        /// Since when it is trusted.
        since: Option<i64>,
    }
    /// A playbook in a line.
    PlaybookLine { name: String, about: String }
    /// One skill with every word of it.
    SkillShown {
        skill: SkillRow,
        /// All of its `SKILL.md`.
        text: String,
        license: Option<String>,
        compatibility: Option<String>,
        /// Tools that it asks to be allowed; that allows nothing.
        allowed_tools: Option<String>,
        files: Vec<SkillFile>,
        /// The text of the file that was named, where it is a text.
        file_text: Option<String>,
        /// Which bytes of this name were trusted, in order.
        versions: Vec<SkillVersion>,
    }
    /// One of its files.
    SkillFile { path: String, byte_size: u64, sha256: String }
    /// Bytes that a person trusted.
    SkillVersion {
        sha256: String,
        since: i64,
        /// Why they are not trusted any more.
        untrusted: Option<String>,
        /// What it said and which files it had: `hermit recall` takes it.
        artifact_id: String,
    }
    /// What recurs, as skills that nobody has written yet.
    SkillDrafts { rows: Vec<SkillDraft> }
    /// A skill that would be made of what recurs.
    SkillDraft {
        name: String,
        /// What it would say it is for.
        description: String,
        /// All of its `SKILL.md`.
        text: String,
        /// The lowest trust of all that it was made of.
        trust: TrustTier,
        /// The record that it rests on.
        memory_id: String,
        /// The tasks that showed it.
        tasks: Vec<String>,
    }
    /// What is not trusted any more.
    Untrusted { name: String, sha256: Vec<String> }
}
