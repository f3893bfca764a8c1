//! The facts of a node: what is recorded, and from which all that it believes is made again.

use crate::port::Way;
use crate::sealed::WireEvent;
use crate::{Card, Input, NodeId, Peer, Says, SignedDecision, Tells};
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A fact, to be recorded before anything else of its step is done. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A machine was paired.
    Paired(Peer),
    /// A paired machine reads elsewhere, by its own word: it is no other machine by that, and nothing of it is forgotten.
    Moved {
        /// The machine.
        node: NodeId,
        /// Where it reads.
        relays: Vec<String>,
    },
    /// A machine was withdrawn.
    Withdrawn {
        /// The machine.
        node: NodeId,
        /// Who said so.
        by: NodeId,
        /// The last of its notices that counts.
        upto: u64,
    },
    /// This node is in a group.
    Group {
        /// Which, counted from 1.
        epoch: u64,
        /// Its public key.
        group: NodeId,
        /// Machines that it was drawn to keep out.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        without: BTreeSet<NodeId>,
        /// Through whose hands its secret came.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        through: BTreeSet<NodeId>,
    },
    /// A letter waits to be sent: queued.
    Queued {
        /// To whom.
        to: NodeId,
        /// Its number.
        number: u64,
        /// What it says.
        says: Says,
        /// Since when.
        at: UnixMs,
        /// What all letters before it come to: where the record of one was erased, those behind it stand all the same.
        before: Digest,
    },
    /// A relay said that it has a letter: accepted, by that relay.
    Accepted {
        /// To whom.
        to: NodeId,
        /// Its number.
        number: u64,
        /// The way.
        way: Way,
    },
    /// The receiver said that it opened all letters up to one.
    Opened {
        /// The receiver.
        to: NodeId,
        /// The number of the last one.
        upto: u64,
        /// What all come to with it.
        chain: Digest,
    },
    /// A letter will not come: never.
    Never {
        /// To whom.
        to: NodeId,
        /// Its number.
        number: u64,
        /// Why.
        why: Never,
    },
    /// The receiver knows other letters in the place of those that wait: they follow after what it knows.
    Renumbered {
        /// The receiver.
        to: NodeId,
        /// The number of the last letter that it knows.
        after: u64,
        /// What those come to.
        chain: Digest,
    },
    /// A letter of another node was opened.
    Took {
        /// Whose.
        from: NodeId,
        /// Its number.
        number: u64,
        /// What all come to with it.
        chain: Digest,
    },
    /// Letters of another node were opened once, which this node does not know any more.
    Skipped {
        /// Whose.
        from: NodeId,
        /// The number of the last one.
        upto: u64,
        /// What all come to with it.
        chain: Digest,
    },
    /// A notice was taken in, of this node or of another.
    Noticed(WireEvent),
    /// A maker told two things under one number, and the other one counts: what it told from there on is let go.
    Forked {
        /// The maker.
        maker: NodeId,
        /// The last of its notices that both have.
        upto: u64,
    },
    /// Notices of a maker that are not to be had any more, and never came.
    Missed {
        /// The maker.
        maker: NodeId,
        /// The last of them.
        upto: u64,
    },
    /// A machine sent the proof that it was asked for, of how its log grew while its notices did not come.
    Proved {
        /// The machine.
        maker: NodeId,
        /// The log.
        origin: String,
        /// Whether it holds. Where it does not, the log is another one than it was.
        holds: bool,
    },
    /// This node told something once and does not know it any more: it tells it anew.
    Untold(Tells),
    /// A message waits for the owner of its conversation to be known.
    Held(Input),
    /// A held message went on its way.
    Released {
        /// [`Input::id`].
        input: Digest,
    },
    /// A message was given to its conversation here.
    Given {
        /// [`Input::id`].
        input: Digest,
    },
    /// A conversation was handed over: this node writes nothing to it any more.
    Passing {
        /// The conversation.
        conversation: String,
        /// To whom.
        to: NodeId,
        /// The epoch that begins.
        epoch: u64,
    },
    /// An approval key of another machine was registered.
    Registered {
        /// The machine.
        node: NodeId,
        /// Its key.
        key: PublicKey,
    },
    /// No approval key of another machine counts from now on.
    Unregistered {
        /// The machine.
        node: NodeId,
    },
    /// Other machines were asked.
    Asked {
        /// What.
        card: Card,
        /// Who.
        of: Vec<NodeId>,
    },
    /// A piece of a large content came.
    Part {
        /// Whose.
        from: NodeId,
        /// The piece.
        part: crate::Part,
    },
    /// The pieces of a content are needed no more.
    Whole {
        /// Whose.
        from: NodeId,
        /// The content.
        whole: Digest,
    },
    /// A question came from another node, and its packet before it, which is kept until it is answered.
    Question {
        /// Whose.
        from: NodeId,
        /// What.
        card: Card,
        /// When it came, by the clock of this node.
        at: UnixMs,
    },
    /// A question of another node needs no answer any more.
    Answered {
        /// Whose.
        from: NodeId,
        /// The approval.
        approval: String,
    },
    /// A yes or no came and counts.
    Decided {
        /// Whose.
        from: NodeId,
        /// The decision.
        decision: SignedDecision,
    },
    /// A decision came and does not count.
    Discounted {
        /// Whose.
        from: NodeId,
        /// The approval that it names.
        approval: String,
        /// Why.
        why: Discount,
    },
    /// A question of this node is closed.
    Settled {
        /// The approval.
        approval: String,
    },
}

/// Why a letter never comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Never {
    /// It waited too long.
    Expired,
    /// The receiver was withdrawn.
    Withdrawn,
    /// It went another way, since its conversation has another owner.
    Rerouted,
}

/// Why a decision does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discount {
    /// Nobody asked, or it is settled.
    NotAsked,
    /// It is about another packet, another question or another node.
    OtherPacket,
    /// It came after the question expired.
    Late,
    /// The key is not registered for that machine, or was withdrawn.
    NotRegistered,
    /// The signature does not hold.
    BadSignature,
    /// That machine decided before.
    Repeated,
    /// The approval itself did not take it.
    Refused,
}
