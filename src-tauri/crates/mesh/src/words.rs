//! The nouns of the mesh: nodes, peers, what letters and notices say, and every limit of them.

use crate::chain::Known;
use crate::decision::{Card, PACKET_BYTES_MAX, SignedDecision};
use crate::sealed::WireEvent;
use crate::waits::Waits;
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of letters and notices.
pub const FORMAT: &str = "hermit-mesh/1";
/// The version of the protocol that a presence tells.
pub const PROTOCOL: u32 = 2;
/// The first protocol that has letters of training. To a machine of an older one none is sent: it could not read the letter, and would take
/// none behind it.
pub const TRAINING_SINCE: u32 = 2;
/// Bytes of a large content that one letter carries.
pub const PART_BYTES: usize = 18 * 1024;
/// Parts of one large content: as many as the largest packet has that other machines are asked about.
pub const PARTS_MAX: u32 = 15;
const _: () = assert!(15 * PART_BYTES >= PACKET_BYTES_MAX, "the largest packet fits into its parts");
/// The longest text in one field of a letter or notice, in bytes.
pub const FIELD_BYTES_MAX: usize = 24 * 1024;
/// Relays that one node has.
pub const RELAYS_MAX: usize = 8;
/// Tools, models or folders that a presence tells, each.
pub const CAPABILITIES_MAX: usize = 64;
/// Peers that one node has.
pub const PEERS_MAX: usize = 4_096;
/// Machines through whose hands the secret of a group comes at most.
pub const THROUGH_MAX: usize = 16;
/// Withdrawn machines that the secret of a group names.
pub const WITHOUT_MAX: usize = 256;
/// How many nodes pass a message to a conversation on before it is refused.
pub const HOPS_MAX: u8 = 4;
/// Nodes that a schedule names.
pub const RANKS_MAX: usize = 32;
/// Logs of one machine whose heads are looked at.
pub const LOGS_MAX: usize = 4;

/// A node: the BIP-340 public key of its instance, as Nostr names it. In JSON 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub Digest);

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Debug for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for NodeId {
    type Err = seal::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Another machine that a person paired with this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The machine.
    pub node: NodeId,
    /// As its person calls it.
    pub name: String,
    /// Where it reads: the only relays that are written to for it.
    pub relays: Vec<String>,
    /// The key of its log as the pairing showed it, which signs the envelopes of messages that it takes in.
    pub log_key: PublicKey,
    /// The approval key that it showed; it counts for nothing until a person registers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_key: Option<PublicKey>,
}

/// What a node can do, as it tells its group (HV-3.7-1).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Tools, by name.
    pub tools: BTreeSet<String>,
    /// Models, by name.
    pub models: BTreeSet<String>,
    /// Folders, by the alias that a person gave them; never a path.
    pub folders: BTreeSet<String>,
}

impl Capabilities {
    /// Whether they are few, short, and no path.
    pub fn is_fit(&self) -> bool {
        let all = [&self.tools, &self.models, &self.folders];
        let is_name = |name: &String| name.len() <= 128 && !name.chars().any(model::visible::is_hidden);
        all.iter().all(|set| set.len() <= CAPABILITIES_MAX && set.iter().all(is_name))
            && !self.folders.iter().any(|alias| alias.contains(['/', '\\']))
    }
}

/// What a node says of itself, encrypted to its group; the newest counts until it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// The protocol that it speaks.
    pub protocol: u32,
    /// When it was told.
    pub at: UnixMs,
    /// Until when it counts.
    pub until: UnixMs,
    /// What it can do.
    pub can: Capabilities,
    /// How busy it is, in per cent.
    pub load: u8,
    /// Where it reads.
    pub relays: Vec<String>,
    /// The digest of which notices it has: two nodes that tell the same lack nothing of each other.
    pub has: Digest,
}

/// A letter: what one node says to another, sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letter {
    /// [`FORMAT`].
    pub format: String,
    /// Who writes; the seal has to say the same.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// Which letter of the sender to the receiver, from 1 without gaps; 0 for one that may be lost.
    pub number: u64,
    /// What it says.
    pub says: Says,
    /// What all letters before it come to; a receiver that took others in their place takes this one not.
    pub before: Digest,
    /// What all letters come to with this one, as it was queued.
    pub chain: Digest,
}

/// What a letter says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Says {
    /// A message to a conversation, for the node that owns it (HV-3.1-2).
    Input(Input),
    /// What the owner answers, to the node that took the message in.
    Answer(Answer),
    /// The conversation is the receiver's from now on.
    HandOver(HandOver),
    /// A decision is asked for.
    Card(Card),
    /// A piece of a large content.
    Part(Part),
    /// A piece of what machines that learn together say to each other.
    Training(Part),
    /// A decision that was asked for.
    Decision(SignedDecision),
    /// A decision that was asked for is made, or needs none any more.
    Settled {
        /// The approval.
        approval: String,
    },
    /// A signature under the receiver's head.
    Cosigned(Cosigned),
    /// The sender gave this letter up; the number stays, so that none is missing.
    Gone,
    /// The secret of a newer group.
    Group(GroupSecret),
    /// Which letters of the receiver were opened.
    Opened(Opened),
    /// Which notices the sender has.
    Has {
        /// When it had them: an old one that is shown again is not answered.
        at: UnixMs,
        /// How far, of each maker.
        has: BTreeMap<NodeId, Known>,
        /// In a large group: of which parts of the makers these are all. Of all of them where it is empty.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        of: BTreeSet<u8>,
    },
    /// Which notices the sender has, in short: for a large group.
    Sums {
        /// When it had them.
        at: UnixMs,
        /// The first hex digits of one sum for each part of the makers.
        sums: String,
    },
    /// The receiver opened all letters before this one once, and does not know it any more: they are not to be had.
    From {
        /// The number of the first letter that is to be had.
        number: u64,
        /// What all before it come to.
        before: Digest,
    },
    /// Notices that the receiver lacks.
    Notices {
        /// The notices.
        notices: Vec<WireEvent>,
    },
    /// The receiver is asked to show that its log grew from one head to another.
    Prove(Prove),
    /// A head of the sender's log, shown to have grown from the one that was asked for.
    Proved(Head),
    /// Whether a message that the receiver took in waits for the person of the sender.
    Waits(Waits),
}

impl Says {
    /// Whether it may be lost: the next of its kind makes up for it.
    pub const fn is_loose(&self) -> bool {
        matches!(
            self,
            Self::Opened(_)
                | Self::Has { .. }
                | Self::Sums { .. }
                | Self::From { .. }
                | Self::Notices { .. }
                | Self::Group(_)
                | Self::Prove(_)
                | Self::Proved(_)
                | Self::Waits(_)
        )
    }
}

/// A message to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The conversation.
    pub conversation: String,
    /// The node that took it in.
    pub origin: NodeId,
    /// The canonical bytes of its envelope (`model::envelope`), signed by that node as gateway.
    pub envelope: String,
    /// How many nodes passed it on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hops: u8,
}

fn is_zero(hops: &u8) -> bool {
    *hops == 0
}

impl Input {
    /// By what it is known, whichever way it comes.
    pub fn id(&self) -> Digest {
        let text = format!("hermit-mesh-input/1\n{}\n{}\n{}", self.conversation, self.origin, self.envelope);
        Digest::of(text.as_bytes())
    }
}

/// What the owner of a conversation answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The conversation.
    pub conversation: String,
    /// [`Input::id`] of what is answered.
    pub answers: Digest,
    /// The text.
    pub body: String,
    /// Whether nothing came of the message: the text says why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// A conversation passes to another owner. The old one writes nothing to it any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandOver {
    /// The conversation.
    pub conversation: String,
    /// The epoch that begins.
    pub epoch: u64,
    /// The head of the old owner's log.
    pub head: Digest,
}

/// A piece of a large content; the whole is known by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// SHA-256 of the whole.
    pub whole: Digest,
    /// Which piece, from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// Base64 of at most [`PART_BYTES`].
    pub data: String,
}

/// A signature of another machine under a head of one's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cosigned {
    /// The log.
    pub origin: String,
    /// Notes in it.
    pub size: u64,
    /// The line of the signature, as it stands in a signed note.
    pub line: String,
    /// The key that made it, as c2sp.org/signed-note spells one for `cosignature/v1`.
    pub key: String,
}

/// The secret of a group. It stands in no log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSecret {
    /// Which group, counted from 1; the later one counts, and of two of the same epoch that with the lower key.
    pub epoch: u64,
    /// 32 bytes in hex.
    pub secret: Digest,
    /// Machines that it was drawn to keep out: whoever has it gives it to none of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<NodeId>,
    /// Through whose hands it came: it is good for nothing once one of them is withdrawn.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub through: BTreeSet<NodeId>,
}

impl std::fmt::Debug for GroupSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupSecret").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// Which letters were opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// All up to this one.
    pub upto: u64,
    /// What they come to ([`Letter::chain`]).
    pub chain: Digest,
}

/// A notice: what a node says to all, signed, so that anyone may pass it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// [`FORMAT`].
    pub format: String,
    /// Which notice of its maker, from 1 without gaps.
    pub number: u64,
    /// The id of the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// The first of its maker's notices that is still needed: what those before it said is over, or was told anew.
    pub from: u64,
    /// When it was made, as its maker's clock says.
    pub at: UnixMs,
    /// What it tells.
    pub tells: Tells,
}

/// The time of what never was.
const fn never() -> UnixMs {
    UnixMs(0)
}

/// What a notice tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tells {
    /// A schedule, and who may hold it, by rank (HV-3.5-3).
    Schedule(Schedule),
    /// Whether the maker can run a schedule: its person approved the same one, it is not paused there, and its folder is there.
    Ready {
        /// The schedule.
        schedule: String,
        /// SHA-256 of what the mesh knows of it.
        sha256: Digest,
        /// Whether it can.
        is_ready: bool,
    },
    /// The maker holds a schedule.
    Lease {
        /// The schedule.
        schedule: String,
        /// The epoch of the lease.
        epoch: u64,
    },
    /// A slot began.
    Fired {
        /// The schedule.
        schedule: String,
        /// The slot's key.
        slot: String,
        /// The epoch of the lease under which it began.
        epoch: u64,
    },
    /// The maker owns a conversation.
    Owner {
        /// The conversation.
        conversation: String,
        /// The epoch that began.
        epoch: u64,
        /// Whether the owner before did not hand it over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        taken: bool,
        /// When it was spoken in last, by the maker's clock. Who told it before there was such a time is on record with none: the
        /// conversation is silent, and whose it is stays known.
        #[serde(default = "never")]
        used_at: UnixMs,
    },
    /// A machine is not to be believed from now on.
    Withdrawn {
        /// The machine.
        node: NodeId,
        /// The last of its notices that counts: what all know in the end.
        upto: u64,
    },
    /// The key of the maker's log from now on, which signs the envelopes of messages that it takes in.
    LogKey {
        /// The key.
        key: PublicKey,
    },
    /// A head of the maker's log, to be cosigned.
    Head(Head),
    /// Receipts of the maker's log, so that there is one list.
    Receipts {
        /// The receipts.
        lines: Vec<ReceiptLine>,
    },
}

/// A head of a log, and that it grew from the one that was told before (c2sp.org/tlog-witness).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The log.
    pub origin: String,
    /// Notes in the head that was told before; 0 where there was none.
    pub old_size: u64,
    /// Notes in it.
    pub size: u64,
    /// Their root.
    pub root: Digest,
    /// From that head to this one: the consistency proof of RFC 6962.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Digest>,
    /// The signed note.
    pub note: String,
}

/// A proof that is asked for: that a log grew from one head to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prove {
    /// The log.
    pub origin: String,
    /// Notes in the head that whoever asks is sure of.
    pub old_size: u64,
    /// Notes in the head that was told since.
    pub size: u64,
}

/// A schedule as the mesh knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its id.
    pub schedule: String,
    /// Its version; the later one counts.
    pub version: u64,
    /// SHA-256 of what a person approved.
    pub sha256: Digest,
    /// Who may hold it, the first one first.
    pub ranks: Vec<NodeId>,
    /// For how long a holder may be silent, in milliseconds.
    pub term_ms: i64,
}

/// A receipt in the list of all machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptLine {
    /// Its number in its log.
    pub number: u64,
    /// Its digest.
    pub sha256: Digest,
    /// When.
    pub at: UnixMs,
}
