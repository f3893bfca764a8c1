//! Policy: its profiles, its rules, and what other rules would have said.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
pub use crate::task::Submitted;
use serde::{Deserialize, Serialize};
use words::act::ActionClass;
use words::policy::{ApprovalStatus, PolicyVerdict, Profile, RiskBand, RuleEffect, RuleScope};

/// Rules on trial: the shipped ones with a change. They are in force nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Further Cedar rules; each `@id` begins with `trial.`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Names of rules that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// An act that nobody proposed, for asking what policy would say to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// Reads a file.
    Read {
        /// Relative to the workspace.
        path: String,
    },
    /// Writes a file.
    Write {
        /// Relative to the workspace.
        path: String,
        /// Whether something is there already.
        #[serde(default)]
        replaces: bool,
    },
    /// Deletes a file.
    Delete {
        /// Relative to the workspace.
        path: String,
    },
    /// Moves a file.
    Move {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// Runs a command.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Whether it asks for the network.
        #[serde(default)]
        network: bool,
    },
    /// Asks a server.
    Fetch {
        /// `https://…`, or `http://…`.
        url: String,
        /// `GET` when absent; `POST`, `PUT`, `PATCH` and `DELETE` send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<String>,
    },
}

impl Default for Act {
    fn default() -> Self {
        Self::Read { path: String::new() }
    }
}

params! {
    /// Nothing to say.
    Profiles {}

    /// Of which profile.
    Rules {
        profile: String,
        #[serde(default)]
        trial: Trial,
    }

    /// What would policy say to this act?
    Test {
        /// `local_edit_allowed` and others; the careful standard when absent.
        profile: Option<String>,
        act: Act,
        /// Whether the proposer had read anything untrusted.
        #[serde(default)]
        untrusted: bool,
        /// The walls a command would get: `namespaces_landlock` and others; full ones when absent.
        walls: Option<String>,
        #[serde(default)]
        trial: Trial,
    }

    /// What would these rules have said to every act of the history?
    Backtest {
        /// Another profile for all of it; each act's own when absent.
        profile: Option<String>,
        #[serde(default)]
        trial: Trial,
        /// Only acts of so many days back.
        days: Option<u32>,
        /// Rows of the answer at most; counts are of everything.
        limit: Option<u32>,
    }

    /// Which standing grants would have given the answers that a person gave?
    Suggest {
        /// Only answers of so many days back.
        days: Option<u32>,
    }

    /// Are these permission rules?
    Check {
        /// `user`, `project`, `task`.
        scope: Option<String>,
        text: String,
    }

    /// A denied act, and why it should be asked about after all.
    DraftOverride {
        /// The action request, or an approval or receipt of it.
        act: String,
        reason: String,
        /// For so many hours; one, when absent.
        hours: Option<u32>,
        /// So often; once, when absent.
        uses: Option<u32>,
    }

    /// An override as signed.
    AllowOverride {
        act: String,
        /// The DSSE envelope, base64.
        envelope: String,
    }

    /// A person's own rules.
    OwnRules {
        /// Count what each decided of so many days back; without it nothing is counted.
        days: Option<u32>,
    }

    /// What would a change of a person's own rules change? Nothing is asked and nothing changed by it.
    DraftRules {
        /// The line at which the rule stands that is changed or removed; a new rule has none.
        line: Option<u32>,
        /// The rule, with its examples and its reason; without it the one at `line` is removed.
        rule: Option<String>,
        /// The digest of the rules that the person saw.
        was_sha256: String,
        /// Only acts of so many days back.
        days: Option<u32>,
        /// Rows of the answer at most; counts are of everything.
        limit: Option<u32>,
    }

    /// A change of a person's own rules, which a task asks them about.
    ChangeRules {
        /// The line at which the rule stands that is changed or removed; a new rule has none.
        line: Option<u32>,
        /// The rule, with its examples and its reason; without it the one at `line` is removed.
        rule: Option<String>,
        /// The digest of the rules that the person saw.
        was_sha256: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }

    /// Why did policy say what it said?
    Explain {
        /// An approval or a receipt, or the beginning or end of its identifier; or an action request.
        about: String,
    }
}

answers! {
    /// Profiles.
    ProfileList { rows: Vec<ProfileRow> }
    /// A profile.
    ProfileRow {
        profile: Profile,
        /// What it allows, in a sentence.
        about: String,
        rules: u32,
        /// Digest of its rules: its version.
        policy_set_sha256: String,
    }
    /// Rules of a profile.
    RuleList { profile: Profile, rows: Vec<RuleRow> }
    /// A rule.
    RuleRow {
        name: String,
        /// `permit`, `forbid`, `ask`, `downgrade`.
        effect: RuleEffect,
        reason: String,
        /// Cedar.
        text: String,
    }
    /// What policy says.
    Judged {
        profile: Profile,
        /// `allow`, `require_approval`, `deny`, `downgrade`.
        verdict: PolicyVerdict,
        /// The lesser form, with a downgrade, as its rule names it.
        downgrade: Option<String>,
        /// With an act that is done instead of another: that other one, in a line, and by which rules.
        instead_of: Option<String>,
        risk: RiskBand,
        classes: Vec<ActionClass>,
        summary: String,
        risk_summary: String,
        reasons: String,
        /// The rules that decided.
        rules: Vec<RuleRow>,
        /// How many different keys have to say yes, where one is not enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        need: Option<u32>,
    }
    /// Standing grants that would have given a person's answers, those that spare most questions first.
    Suggestions {
        /// Questions that a person answered with yes.
        allowed: u64,
        /// Of these, those that no narrow grant covers without covering what was refused or never answered.
        left: u64,
        rows: Vec<Suggestion>,
    }
    /// One of them.
    Suggestion {
        /// What it would allow, in a sentence.
        words: String,
        /// What a person would sign, but for its identifier, its time, the surface and who signs.
        draft: serde_json::Value,
        /// Questions it would have answered as the person did.
        answers: u64,
    }
    /// Rules that are accepted.
    Checked {
        scope: RuleScope,
        rules: u32,
        /// What they compile to.
        cedar: String,
    }
    /// A person's own rules.
    OwnRuleList {
        /// The digest of those that were approved on cards, all of them.
        sha256: String,
        /// These as they are written, all of them.
        text: String,
        rows: Vec<OwnRule>,
        /// Acts that were judged again to count what each decided; 0 when nothing was to be counted.
        judged: u64,
    }
    /// A rule of a person.
    OwnRule {
        /// `signed` when it was approved on a card, `user` when it stands in the file of rules.
        scope: String,
        /// The line at which it begins.
        line: u32,
        /// The rule with its examples and its reason, as it is written.
        text: String,
        /// What it means.
        words: String,
        /// Acts of which it decided; 0 when nothing was to be counted.
        decided: u64,
    }
    /// What a change of a person's own rules would change.
    RulesDraft {
        /// What the rule meant; none for a new one.
        before: Option<String>,
        /// What it would mean; none for one that is removed.
        after: Option<String>,
        /// What of the last acts would have been answered differently.
        told: Backtested,
    }
    /// An override in the making.
    OverrideDraft {
        task_id: String,
        action_request_id: String,
        /// What would be overridden, in a sentence.
        words: String,
        /// What a person would sign, but for its identifier, its time, the surface and who signs.
        draft: serde_json::Value,
        /// What policy said.
        denied: Judged,
    }
    /// From now on a person is asked instead.
    OverrideAllowed { grant_id: String, task_id: String }
    /// What other rules would have said.
    Backtested {
        /// Acts judged again.
        judged: u64,
        /// Those that would have been answered differently.
        changed: u64,
        /// Those that could not be judged again, because what they were is gone.
        unreadable: u64,
        /// How often each answer would have become which.
        counts: Vec<Turn>,
        /// Acts answered differently, the newest first.
        rows: Vec<Changed>,
    }
    /// An answer and what it would have become.
    Turn {
        was: PolicyVerdict,
        would: PolicyVerdict,
        acts: u64,
        /// Of these, those that a person had allowed.
        allowed: u64,
        /// Of these, those that a person had refused.
        refused: u64,
    }
    /// An act that would have been answered differently.
    Changed {
        action_request_id: String,
        task_id: String,
        at: i64,
        class: Option<ActionClass>,
        summary: Text,
        was: PolicyVerdict,
        would: PolicyVerdict,
        /// The rules that would have decided.
        rules: Vec<String>,
        /// `granted` or `denied`, when a person answered.
        answered: Option<ApprovalStatus>,
    }
}
