//! What goes into a node and what comes out: the host does both, and nothing else.

pub use crate::fact::{Discount, Fact, Never};
use crate::{
    Answer, Capabilities, Card, Cosigned, Head, Input as ToConversation, NodeId, Peer, Prove, ReceiptLine,
    Schedule, SignedDecision, Waits,
};
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;
use serde::{Deserialize, Serialize};

/// Draws random bytes.
pub trait Chance {
    /// Fills the buffer.
    fn fill(&mut self, buffer: &mut [u8]);

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: u32) -> u32 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        let drawn = u64::from_le_bytes(bytes) % u64::from(end.max(1));
        u32::try_from(drawn).unwrap_or(0)
    }
}

/// By which way bytes come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A relay, by its URL.
    Relay(String),
    /// A WebSocket to the node itself.
    Direct(NodeId),
    /// A file that a person carried.
    Carried,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// Bytes of one message came.
    Received {
        /// The way.
        way: Way,
        /// One frame of NIP-01.
        bytes: Vec<u8>,
    },
    /// Time passed. The host calls at the latest at [`Step::wake_at`].
    Tick,
    /// A way opened.
    Up(Way),
    /// A way closed.
    Down(Way),
    /// A person or the kernel wants something.
    Said(Command),
    /// A file was carried here (`hermit mesh import`).
    Imported(Vec<u8>),
}

/// What a person or the kernel wants.
#[derive(Debug, Clone)]
pub enum Command {
    /// A pairing came to its end ([`crate::pairing`]).
    Pair {
        /// The other machine.
        peer: Peer,
        /// The group that it brought, where it brought one.
        group: Option<crate::GroupSecret>,
    },
    /// A machine is not to be believed from now on.
    Withdraw(NodeId),
    /// What this node tells of itself from now on.
    Tell {
        /// What it can do.
        can: Capabilities,
        /// How busy it is, in per cent.
        load: u8,
        /// Where it reads.
        relays: Vec<String>,
    },
    /// Whether everybody may see that this node is here ([`crate::public`]).
    Public {
        /// Whether they may.
        is_on: bool,
        /// The newest signed head of its log, which they see as well.
        head: Option<String>,
    },
    /// A conversation begins here.
    Own {
        /// The conversation.
        conversation: String,
    },
    /// A conversation passes to another machine.
    HandOver {
        /// The conversation.
        conversation: String,
        /// The new owner.
        to: NodeId,
        /// The head of this node's log.
        head: Digest,
    },
    /// A conversation is taken from an owner that does not answer.
    Take {
        /// The conversation.
        conversation: String,
    },
    /// A message to a conversation, wherever it is (HV-3.1-2).
    Route {
        /// The conversation.
        conversation: String,
        /// The canonical bytes of its signed envelope.
        envelope: String,
    },
    /// An answer to the node that took a message in.
    Reply {
        /// That node.
        to: NodeId,
        /// The answer.
        answer: Answer,
    },
    /// Whether a message waits for the person here, to the node that took it in.
    Waits {
        /// That node.
        to: NodeId,
        /// The conversation.
        conversation: String,
        /// [`ToConversation::id`] of the message.
        message: Digest,
        /// Whether it waits.
        waits: bool,
    },
    /// Other machines are asked for a decision.
    Ask {
        /// What is asked.
        card: Card,
        /// The packet's exact bytes.
        packet: Vec<u8>,
        /// Who is asked.
        of: Vec<NodeId>,
    },
    /// A decision that another node asked for, signed here.
    Decide(SignedDecision),
    /// A question needs no answer any more.
    Settle {
        /// The approval.
        approval: String,
    },
    /// A person registered the approval key of another machine at this one's terminal.
    Register {
        /// The machine.
        node: NodeId,
        /// Its key.
        key: PublicKey,
    },
    /// The approval key of another machine counts no more.
    Unregister {
        /// The machine.
        node: NodeId,
    },
    /// A schedule that the mesh may hold.
    Schedule(Schedule),
    /// Whether this node can run a schedule of the mesh as its own person approved it.
    Ready {
        /// The schedule.
        schedule: String,
        /// SHA-256 of what the mesh knows of it.
        sha256: Digest,
        /// Whether it can.
        is_ready: bool,
    },
    /// A slot came due by this node's own reckoning. It begins where this node holds the schedule; where it does not, nothing comes
    /// of it, and it is said again when it does.
    Due {
        /// The schedule.
        schedule: String,
        /// The slot's key.
        slot: String,
    },
    /// The key of this node's log, told where the others know another one or none.
    LogKey {
        /// The key.
        key: PublicKey,
    },
    /// A head of this node's log, to be cosigned.
    Head(Head),
    /// A signature under another node's head.
    Cosign {
        /// Whose head it is.
        node: NodeId,
        /// The signature.
        cosigned: Cosigned,
    },
    /// That this node's log grew as another asked ([`Delivered::Prove`]).
    Prove {
        /// Who asked.
        to: NodeId,
        /// The head, from the one that was asked for.
        head: Head,
    },
    /// Receipts of this node's log.
    Receipts(Vec<ReceiptLine>),
    /// Something for a machine that learns together with this one.
    Training {
        /// That machine.
        to: NodeId,
        /// Its bytes, at most [`crate::PARCEL_BYTES_MAX`].
        content: Vec<u8>,
    },
}

/// What the host gives to the kernel, in the commit that records the facts of its step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "delivered", rename_all = "snake_case")]
pub enum Delivered {
    /// A message to a conversation that this node owns.
    Input {
        /// The message.
        input: ToConversation,
        /// The epoch under which it is written.
        epoch: u64,
    },
    /// A message that may not be kept here, for it holds the value of a secret of this machine: the kernel records this in its
    /// place.
    Secret {
        /// [`ToConversation::id`] of it.
        input: Digest,
        /// The node that took it in.
        origin: NodeId,
        /// The conversation.
        conversation: String,
    },
    /// An answer to a message that this node took in.
    Answer {
        /// The owner.
        from: NodeId,
        /// The answer.
        answer: Answer,
    },
    /// Whether a message that this node took in waits for the person of the machine that works on it.
    Waits {
        /// That machine.
        from: NodeId,
        /// What it says.
        waits: Waits,
    },
    /// Another node asks a person here. The state has the packet as long as the question is open.
    Question {
        /// Which node.
        from: NodeId,
        /// What.
        card: Card,
        /// The packet's exact bytes, whose digest the card names; they are recorded as content, and not with the delivery.
        #[serde(skip)]
        packet: Vec<u8>,
    },
    /// A question of another node is to be taken off the screen.
    Answered {
        /// Which node.
        from: NodeId,
        /// The approval.
        approval: String,
    },
    /// Another machine decided. Where more than one yes is needed, each is handed on as it comes, and the last with all.
    Decided {
        /// The approval.
        approval: String,
        /// Whether they allow it.
        allow: bool,
        /// Each decision that counts.
        decisions: Vec<SignedDecision>,
    },
    /// A slot begins here.
    Start {
        /// The schedule.
        schedule: String,
        /// The slot's key.
        slot: String,
        /// The epoch of the lease.
        epoch: u64,
    },
    /// A slot that began here is counted for another node.
    NotCounted {
        /// The schedule.
        schedule: String,
        /// The slot's key.
        slot: String,
        /// Whose start counts.
        by: NodeId,
    },
    /// This node holds a schedule from now on: slots that came due and did not begin are to be said again.
    Holds {
        /// The schedule.
        schedule: String,
        /// The epoch of the lease.
        epoch: u64,
    },
    /// A conversation is another node's: what this one wrote under its epoch or later is kept aside.
    Displaced {
        /// The conversation.
        conversation: String,
        /// The epoch that another won.
        epoch: u64,
        /// Who owns it.
        by: NodeId,
    },
    /// This node owns a conversation from now on.
    Owns {
        /// The conversation.
        conversation: String,
        /// The epoch.
        epoch: u64,
    },
    /// A head of another node is to be cosigned: its log grew from the head that was seen before.
    Head {
        /// Whose.
        from: NodeId,
        /// The signed note.
        note: String,
    },
    /// Another node missed how this one's log grew, and asks for the proof of it.
    Prove {
        /// Which node.
        from: NodeId,
        /// From which head to which.
        prove: Prove,
    },
    /// The log of another node went back, or says two things.
    RolledBack {
        /// Whose.
        from: NodeId,
        /// The log.
        origin: String,
        /// The size that was seen.
        seen: u64,
        /// The size that was told.
        told: u64,
    },
    /// A machine, this one or another, told two things under one number: it was put back to an earlier state, or lies.
    Forked {
        /// Whose notices.
        from: NodeId,
        /// The number of the first one that there is twice.
        number: u64,
    },
    /// This machine was put back to an earlier state: another knows letters of it in the place of those that wait, which go behind.
    PutBack {
        /// Who knows them.
        by: NodeId,
    },
    /// Letters that this node opened before it was put back are not to be had any more.
    LettersMissed {
        /// Whose.
        from: NodeId,
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// This node was away for longer than the notices of a machine are kept. What of them still counts comes; the rest does not.
    NoticesMissed {
        /// Whose.
        from: NodeId,
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// A machine hands over more conversations within a minute than are taken of it: the others stay with nobody until they are taken.
    TooManyHandOvers {
        /// Which machine.
        from: NodeId,
        /// How many are taken.
        most: u64,
    },
    /// A signature under a head of this node.
    Cosigned {
        /// Who signed.
        from: NodeId,
        /// The signature.
        cosigned: Cosigned,
    },
    /// Receipts of another node.
    Receipts {
        /// Whose.
        from: NodeId,
        /// The receipts.
        lines: Vec<ReceiptLine>,
    },
    /// A piece of what a machine says that learns together with this one, in the order in which it was sent.
    Training {
        /// Whose.
        from: NodeId,
        /// The piece.
        part: crate::Part,
    },
}

/// What a person may want to see; nothing depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telling {
    /// A relay refused a message, in its own words.
    Refused {
        /// The way.
        way: Way,
        /// Its words, cut short.
        why: String,
    },
    /// Messages that nobody here can read came by a way since the last time.
    Unreadable {
        /// The way.
        way: Way,
        /// How many.
        count: u64,
    },
}

/// A secret that the keychain keeps before the facts of its step are recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct KeepSecret {
    /// The group's public key, by which it is found again.
    pub group: NodeId,
    /// The secret.
    pub secret: [u8; 32],
}

impl std::fmt::Debug for KeepSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeepSecret").field("group", &self.group).finish_non_exhaustive()
    }
}

/// What is to be done, in the order of its fields: secrets kept, facts and deliveries in one commit, then bytes written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Secrets for the keychain.
    pub keep: Vec<KeepSecret>,
    /// What is recorded.
    pub facts: Vec<Fact>,
    /// What the kernel gets, in the same commit.
    pub deliver: Vec<Delivered>,
    /// What goes out, each by its way.
    pub write: Vec<(Way, Vec<u8>)>,
    /// What a person may see.
    pub tell: Vec<Telling>,
    /// When to call with [`Input::Tick`] at the latest; none where nothing is due.
    pub wake_at: Option<UnixMs>,
}
