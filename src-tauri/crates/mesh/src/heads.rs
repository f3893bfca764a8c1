//! Heads of logs: a cosignature is asked for where a log is shown to have grown from the head that was seen before, and nowhere else.

use crate::node::Node;
use crate::port::Delivered;
use crate::sealed::{Sealing, WireEvent};
use crate::state::State;
use crate::{Fact, Head, LOGS_MAX, NodeId};
use model::UnixMs;
use seal::Digest;
use seal::cosignature::PROOF_LINES_MAX;
use seal::merkle::verify_consistency;
use seal::note::{Checkpoint, Note};

/// Bytes of the signed note of a head.
const NOTE_BYTES_MAX: usize = 4_096;

/// A head of a log: of another machine the newest that holds, of this one the one that it told last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenHead {
    /// Notes in it.
    pub size: u64,
    /// Their root.
    pub root: Digest,
    /// When it was told.
    pub at: UnixMs,
    /// Whether notices behind it are not to be had, so that the next head may begin at one that never came.
    pub(crate) is_gapped: bool,
    /// Whether one was told since that does not follow from it.
    pub(crate) is_forsaken: bool,
}

/// What a head is beside the one that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The same.
    Known,
    /// Shown to have grown from it.
    Grown,
    /// The first here, or the first after heads that never came: it is taken for what it says, and nobody signs it.
    Begun,
    /// Smaller, of the same size with another root, or not shown to have grown.
    Back {
        /// The size that was seen.
        seen: u64,
        /// Whether that was found before.
        again: bool,
    },
    /// Of one log more than a machine has.
    TooMany,
}

impl State {
    /// The head of a log that is known of a machine; of this machine the one that it told last.
    pub fn head(&self, node: NodeId, origin: &str) -> Option<&SeenHead> {
        self.heads.get(&(node, origin.to_owned()))
    }

    pub(crate) fn judge_head(&self, maker: NodeId, head: &Head) -> Judged {
        let Some(seen) = self.head(maker, &head.origin) else {
            let all = self.heads.range((maker, String::new())..);
            return match all.take_while(|((by, _), _)| *by == maker).count() {
                LOGS_MAX.. => Judged::TooMany,
                _ if head.old_size == 0 => Judged::Grown,
                _ => Judged::Begun,
            };
        };
        let grows = || {
            let (old, new) = (&seen.root, &head.root);
            verify_consistency(seen.size, head.size, old, new, &head.proof).is_ok()
        };
        if (head.size, head.root) == (seen.size, seen.root) {
            Judged::Known
        } else if head.size > seen.size && head.old_size == seen.size && grows() {
            Judged::Grown
        } else if seen.is_gapped && head.old_size > seen.size {
            Judged::Begun
        } else {
            Judged::Back { seen: seen.size, again: seen.is_forsaken }
        }
    }

    /// A head that was told. What another machine told of its log is never taken back, so that no notice makes it forgotten.
    pub(crate) fn claim_head(&mut self, maker: NodeId, head: &Head, at: UnixMs) {
        let newest = SeenHead { size: head.size, root: head.root, at, is_gapped: false, is_forsaken: false };
        let judged = match self.judge_head(maker, head) {
            // Of its own a node knows the one that it told last, also where its log was put back since.
            Judged::Back { .. } if maker == self.me => Judged::Begun,
            judged => judged,
        };
        match judged {
            Judged::Known | Judged::Grown | Judged::Begun => {
                self.heads.insert((maker, head.origin.clone()), newest);
            }
            Judged::Back { .. } | Judged::TooMany => {}
        }
    }

    /// A head came that does not follow from the one that was seen: that is said once for each that was seen.
    pub(crate) fn forsake_head(&mut self, maker: NodeId, head: &Head) {
        if let Judged::Back { .. } = self.judge_head(maker, head)
            && let Some(seen) = self.heads.get_mut(&(maker, head.origin.clone()))
        {
            seen.is_forsaken = true;
        }
    }

    /// Some notices of a maker are not to be had: heads may be among them.
    pub(crate) fn lack_heads(&mut self, maker: NodeId) {
        for seen in self.heads.iter_mut().filter(|((by, _), _)| *by == maker).map(|(_, seen)| seen) {
            seen.is_gapped = true;
        }
    }
}

impl<S: Sealing> Node<S> {
    /// A head is the next notice of its maker.
    pub(crate) fn head_told(&mut self, event: &WireEvent, head: Head) {
        let from = event.pubkey;
        let judged = self.state.judge_head(from, &head);
        self.record(Fact::Noticed(event.clone()));
        // The notices of a machine that was withdrawn are taken in; it is signed for no more.
        if !self.state.is_peer(from) {
            return;
        }
        match judged {
            Judged::Grown => self.deliver(Delivered::Head { from, note: head.note }),
            Judged::Back { seen, again: false } => {
                self.deliver(Delivered::RolledBack { from, origin: head.origin, seen, told: head.size });
            }
            Judged::Known | Judged::Begun | Judged::TooMany | Judged::Back { .. } => {}
        }
    }
}

/// Whether a head is small, and what its note says.
pub(crate) fn is_head(head: &Head) -> bool {
    let is_small = head.note.len() <= NOTE_BYTES_MAX && head.proof.len() <= PROOF_LINES_MAX;
    let is_first = head.old_size == 0;
    if !is_small || head.old_size > head.size || (is_first && !head.proof.is_empty()) {
        return false;
    }
    let noted = Note::parse(head.note.as_bytes()).and_then(|note| Checkpoint::from_text(&note.text));
    noted.is_ok_and(|noted| {
        (noted.origin.as_str(), noted.size, noted.root) == (head.origin.as_str(), head.size, head.root)
    })
}
