//! Authority: minted, used, taken back; and a person's lasting yes.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Page;
use crate::table::{answers, params};
use words::act::ActionClass;
use words::policy::{ApprovalStatus, GrantStatus, RuleScope, StandingState, Surface};

params! {
    /// Which grants; without a task those that can still be used.
    List { task: Option<String>, after: Option<String>, limit: Option<u32> }
    /// One grant or standing grant by identifier, or by its beginning or end.
    Revoke { grant: String, reason: Option<String> }
    /// Every standing grant; without those that hold no more unless asked for.
    Standing {
        #[serde(default)]
        all: bool,
    }
    /// The narrowest standing grants that would have answered a question.
    Propose {
        approval: String,
        /// Where they are to hold: `task`, `project`, `user`; the project of the act when absent, else its task. In a run of a
        /// schedule: its runs, `schedule`.
        scope: Option<String>,
    }
    /// A standing grant in the making: a command, a place or a host, and where it is to hold.
    Draft {
        /// Program and arguments.
        command: Option<Vec<String>>,
        /// Whether these are all the words.
        #[serde(default)]
        whole: bool,
        /// The folder it runs in, below the project; the project itself when absent.
        cwd: Option<String>,
        /// Whether it may ask for the network.
        #[serde(default)]
        network: bool,
        /// Globs of the places it may change; none is no place.
        #[serde(default)]
        changes: Vec<String>,
        /// A glob of places below the project.
        paths: Option<String>,
        /// `create`, `overwrite`, `delete`.
        #[serde(default)]
        acts: Vec<String>,
        /// A host, or `*.` and its ending.
        host: Option<String>,
        port: Option<u16>,
        /// Whether something may be sent there.
        #[serde(default)]
        write: bool,
        /// The project's folder; with neither task nor schedule, everywhere.
        workspace: Option<String>,
        task: Option<String>,
        /// The schedule in whose runs it holds, as it is.
        schedule: Option<String>,
        days: Option<u32>,
        uses: Option<u32>,
        /// Whether it holds also for a proposer that has read what nobody vouches for.
        #[serde(default)]
        after_untrusted: bool,
    }
    /// A standing grant that a person signed by itself.
    Allow {
        /// The DSSE envelope, base64.
        envelope: String,
    }
}

answers! {
    /// One grant.
    Grant {
        grant_id: String,
        task_id: String,
        action_request_id: String,
        action_class: ActionClass,
        state: GrantStatus,
        issued_at: i64,
        expires_at: i64,
        max_uses: u32,
        uses: u32,
        approval_id: Option<String>,
        reason: String,
        /// When it was used as often as it may be.
        consumed_at: Option<i64>,
        /// When it was taken back. One that was used too was taken back while its act was under way.
        revoked_at: Option<i64>,
    }
    /// It is taken back.
    Revoked {
        grant_id: String,
        /// None for a standing grant, which belongs to no task.
        task_id: Option<String>,
    }
    /// Standing grants.
    StandingList { rows: Vec<StandingGrant> }
    /// One standing grant.
    StandingGrant {
        grant_id: String,
        /// What it allows, in a sentence.
        words: Option<String>,
        scope: RuleScope,
        /// The project, the task or the schedule.
        place: Option<String>,
        state: StandingState,
        expires_at: i64,
        max_uses: u32,
        uses: u32,
        /// Where it was given: `approval_window`, `terminal`, `browser`, ...
        surface: Surface,
        /// The person who gave it.
        decided_by: String,
        /// Why it was taken back.
        reason: Option<String>,
    }
    /// Standing grants that could be given, the narrowest first.
    Proposals { rows: Vec<Proposal> }
    /// One of them, with what it would have meant.
    Proposal {
        /// What it would allow, in a sentence.
        words: String,
        /// What a person would sign, but for its identifier, its time, the surface and who signs.
        draft: serde_json::Value,
        /// What it would have meant so far.
        rehearsed: Rehearsed,
    }
    /// What a standing grant would have meant.
    Rehearsed {
        /// Questions of the past that it would have answered.
        answered: u64,
        /// Of these, those that a person had refused. It should be none.
        refused: u64,
        /// Questions that were put in all.
        questions: u64,
        /// The newest of those it would have answered.
        rows: Vec<Past>,
    }
    /// A question of the past.
    Past {
        action_request_id: String,
        task_id: String,
        at: i64,
        summary: crate::Text,
        /// `granted` or `denied`, when a person answered.
        answered: Option<ApprovalStatus>,
    }
    /// It holds from now on.
    Allowed { grant_id: String }
}

/// A part of the list.
pub type Grants = Page<Grant>;
