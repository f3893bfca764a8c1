//! A person's lasting yes: what it covers, where, how often and until when (governance.md 2, product.md pain 2).
//!
//! The signed text is the authority. Events name it by its envelope; whoever acts on it reads and verifies it again.

use crate::anchor::AnchorClock;
use crate::approval::{Shape, Surface};
use crate::{ApprovalId, GrantId, PrincipalId, RelPath, TaskId, UnixMs, WorkspaceId};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// DSSE payload type of a [`StandingGrant`].
pub const STANDING_PAYLOAD_TYPE: &str = "application/vnd.hermit.standing-grant+json";

/// The `format` of this version.
pub const STANDING_FORMAT: &str = "hermit-standing/1";

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 3600 * 1000;

crate::names! {
    /// What may be done to a path.
    pub enum PathAct ("path act") {
        /// A new file.
        Create = "create",
        /// New bytes in an old file.
        Overwrite = "overwrite",
        /// No file any more. A move is this where it comes from and `create` where it goes.
        Delete = "delete",
    }
}

/// What a standing grant covers. There is no "everything".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Cover {
    /// Commands, whose effects are bounded as well as their words.
    Command {
        /// The program and its first arguments, word for word.
        words: Vec<String>,
        /// Whether these are all the words; else more may follow.
        whole: bool,
        /// The folder it runs in.
        cwd: RelPath,
        /// Whether it may ask for the network.
        network: bool,
        /// Globs of the places it may change; none is no place.
        changes: Vec<String>,
        /// The programs that were meant, where they were looked up when it was given: others are not covered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        programs: Vec<crate::action::Program>,
    },
    /// Changes of files.
    Paths {
        /// `*` within a part, `**` across parts, `?` one byte; every path of the act matches.
        glob: String,
        /// What may be done there, sorted.
        acts: Vec<PathAct>,
    },
    /// Another machine.
    Host {
        /// Its name, or `*.` and the name it ends in.
        name: String,
        /// Its port.
        port: u16,
        /// Whether something may be sent there; else only fetched.
        write: bool,
    },
    /// Exactly this act, byte for byte: what an override is about.
    Act {
        /// Digest of the canonical typed action.
        action_sha256: Digest,
        /// The act in one line.
        summary: String,
    },
    /// Messages to one chat: what tasks of the sender who is paired there come to, ask and wait for.
    Chat {
        /// The gateway.
        gateway: String,
        /// Its version: a change of it ends the grant.
        version: u32,
        /// The chat, as the service names it.
        chat: String,
    },
    /// Stamps of one clock at these servers alone, and how they stand there: never what costs money.
    Anchor {
        /// The clock.
        clock: AnchorClock,
        /// Every server that may be spoken with, as `name:port`, sorted.
        hosts: Vec<String>,
    },
}

impl Cover {
    /// The shape, as decisions name it.
    pub const fn shape(&self) -> Shape {
        match self {
            Self::Command { whole: true, .. } | Self::Act { .. } => Shape::Exact,
            Self::Command { whole: false, .. } => Shape::ArgvPrefix,
            Self::Paths { .. } => Shape::PathGlob,
            Self::Host { .. } | Self::Chat { .. } | Self::Anchor { .. } => Shape::Host,
        }
    }
}

/// Where a standing grant holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StandingScope {
    /// In every project of this store.
    User,
    /// In one project.
    Project {
        /// Its workspace.
        workspace_id: WorkspaceId,
    },
    /// In one task.
    Task {
        /// The task.
        task_id: TaskId,
    },
    /// In the runs of one schedule, as it is: a change of it ends the grant (schedule.md).
    Schedule {
        /// Its name.
        name: String,
        /// Its version.
        version: u32,
    },
}

/// The question at which it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenAt {
    /// The approval.
    pub approval_id: ApprovalId,
    /// Digest of the packet that was shown.
    pub packet_sha256: Digest,
}

/// What a person signs; DSSE payload type [`STANDING_PAYLOAD_TYPE`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandingGrant {
    /// [`STANDING_FORMAT`].
    pub format: String,
    /// The store, by its log.
    pub log_id: String,
    /// Its identifier; consumption is counted under it.
    pub grant_id: GrantId,
    /// What it covers.
    pub cover: Cover,
    /// Where it holds.
    pub scope: StandingScope,
    /// Whether it holds also for a proposer that has read what nobody vouches for.
    pub after_untrusted: bool,
    /// From when.
    pub issued_at: UnixMs,
    /// Until when.
    pub expires_at: UnixMs,
    /// How often.
    pub max_uses: u32,
    /// The question at which it was given, if at one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_at: Option<GivenAt>,
    /// Why policy is overridden, when it is: then a denied act is asked about instead (HK-16.9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub override_reason: Option<String>,
    /// Where it was given.
    pub surface: Surface,
    /// Who gave it.
    pub decided_by: PrincipalId,
}

impl StandingGrant {
    /// The same with the days and uses that a person asked for, where they did.
    #[must_use]
    pub fn bounded(mut self, days: Option<u16>, uses: Option<u32>) -> Self {
        if let Some(days) = days {
            self.expires_at = self.issued_at.plus_ms(i64::from(days).saturating_mul(DAY_MS));
        }
        self.max_uses = uses.unwrap_or(self.max_uses);
        self
    }

    /// Whole days that it holds.
    pub const fn days(&self) -> i64 {
        self.expires_at.0.saturating_sub(self.issued_at.0) / DAY_MS
    }
}

/// A standing grant by name and by bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandingRef {
    /// Which.
    pub grant_id: GrantId,
    /// SHA-256 of the signed envelope.
    pub envelope_sha256: Digest,
}
