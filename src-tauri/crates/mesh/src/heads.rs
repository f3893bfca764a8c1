//! Heads of logs: a cosignature is asked for where a log is shown to have grown from the head that was seen before, and nowhere else.
//! Whoever missed notices of a machine takes its next head for what it says, as one that is not proven, and asks for the proof from
//! the last one that is.

use crate::node::Node;
use crate::port::Delivered;
use crate::sealed::{Sealing, WireEvent};
use crate::state::State;
use crate::{Chance, Error, Fact, Head, LOGS_MAX, NodeId, Prove, Says};
use model::UnixMs;
use seal::Digest;
use seal::cosignature::PROOF_LINES_MAX;
use seal::merkle::verify_consistency;
use seal::note::{Checkpoint, Note};

/// Bytes of the signed note of a head.
const NOTE_BYTES_MAX: usize = 4_096;
/// Machines that sign one head.
pub const COSIGNERS_MAX: usize = 16;
/// Bytes of the name of a log.
const ORIGIN_BYTES_MAX: usize = 256;
/// How often another machine is asked for a proof, or given one, in milliseconds.
const PROOF_EVERY_MS: i64 = 10 * 60_000;
/// How much earlier than that it may ask again: its clock is another one.
const PROOF_EARLY_MS: i64 = 60_000;

/// A head that was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToldHead {
    size: u64,
    root: Digest,
    at: UnixMs,
}

/// A head of a log: of another machine the newest that is shown to have grown from all before it, of this one the one that it told
/// last.
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
    /// The newest that was told since, where nobody here knows whether it grew from this one.
    pub(crate) unproven: Option<ToldHead>,
}

impl SeenHead {
    /// The size of the newest head, where it is not shown to have grown from this one: nobody is to take it for sound.
    pub fn unproven(&self) -> Option<u64> {
        self.unproven.map(|told| told.size)
    }
}

/// What a head is beside the one that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The same.
    Known,
    /// Shown to have grown from it.
    Grown,
    /// The first here: it is taken for what it says, and nobody signs it.
    Begun,
    /// The first after heads that never came, or grown from that one: nobody signs it until it is proven.
    Unproven,
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

    /// Whether this node is among those that sign a head of another: all of a small group, and of a large one a few, which others are
    /// for each head. More signatures prove no more, and each is a letter.
    pub fn cosigns(&self, maker: NodeId, root: &Digest) -> bool {
        let place = |node: &NodeId| {
            let mut hasher = seal::Hasher::new();
            hasher.update(node.0.as_bytes());
            hasher.update(root.as_bytes());
            hasher.finish()
        };
        let own = place(&self.me);
        let others = self.peers().map(|peer| peer.node).filter(|node| *node != maker);
        others.filter(|node| place(node) < own).take(COSIGNERS_MAX).count() < COSIGNERS_MAX
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
        let (size, root) = seen.unproven.map_or((seen.size, seen.root), |told| (told.size, told.root));
        if (head.size, head.root) == (size, root) {
            Judged::Known
        } else if head.old_size == size && grows((size, root), head) {
            if seen.unproven.is_some() { Judged::Unproven } else { Judged::Grown }
        } else if seen.is_gapped && head.old_size > size {
            Judged::Unproven
        } else {
            Judged::Back { seen: size, again: seen.is_forsaken }
        }
    }

    /// A head that was told. What another machine told of its log is never taken back, so that no notice makes it forgotten.
    pub(crate) fn claim_head(&mut self, maker: NodeId, head: &Head, at: UnixMs) {
        let (size, root) = (head.size, head.root);
        let newest = SeenHead { size, root, at, is_gapped: false, is_forsaken: false, unproven: None };
        let judged = match self.judge_head(maker, head) {
            // Of its own a node knows the one that it told last, also where its log was put back since.
            Judged::Back { .. } | Judged::Unproven if maker == self.me => Judged::Begun,
            judged => judged,
        };
        let key = (maker, head.origin.clone());
        match (judged, self.heads.get_mut(&key)) {
            (Judged::Unproven, Some(seen)) => {
                (seen.is_gapped, seen.unproven) = (false, Some(ToldHead { size, root, at }));
            }
            (Judged::Known, Some(seen)) if seen.unproven.is_some() => seen.is_gapped = false,
            (Judged::Known | Judged::Grown | Judged::Begun, _) => {
                self.heads.insert(key, newest);
            }
            (Judged::Unproven | Judged::Back { .. } | Judged::TooMany, _) => {}
        }
    }

    /// The proof came that the newest head grew from the one that is sure, or that it did not.
    pub(crate) fn head_proved(&mut self, maker: NodeId, origin: &str, holds: bool) {
        let Some(seen) = self.heads.get_mut(&(maker, origin.to_owned())) else { return };
        if !holds {
            seen.is_forsaken = true;
        } else if let Some(ToldHead { size, root, at }) = seen.unproven.take() {
            *seen = SeenHead { size, root, at, is_forsaken: false, ..*seen };
        }
    }

    /// Proofs that are to be asked of a machine.
    fn unproven(&self, maker: NodeId) -> impl Iterator<Item = Prove> {
        let heads = self.heads.range((maker, String::new())..).take_while(move |((by, _), _)| *by == maker);
        heads.filter_map(|((_, origin), seen)| {
            let size = seen.unproven()?;
            Some(Prove { origin: origin.clone(), old_size: seen.size, size })
        })
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
            Judged::Known | Judged::Begun | Judged::Unproven | Judged::TooMany | Judged::Back { .. } => {}
        }
    }

    /// A machine is here: it is asked for what it did not prove.
    pub(crate) fn ask_proof(&mut self, of: NodeId, chance: &mut dyn Chance) {
        let is_early = self.asked_proof.get(&of).is_some_and(|at| at.plus_ms(PROOF_EVERY_MS) > self.now);
        if is_early || !self.has_way_to(of) {
            return;
        }
        let unproven: Vec<Prove> = self.state.unproven(of).collect();
        if !unproven.is_empty() {
            self.asked_proof.insert(of, self.now);
        }
        for prove in unproven {
            self.write_loose(of, Says::Prove(prove), chance);
        }
    }

    /// Another machine asks for a proof of a log that this one told heads of. The kernel has the log.
    pub(crate) fn asked_to_prove(&mut self, from: NodeId, prove: Prove) {
        let told = self.state.head(self.state.me, &prove.origin);
        let is_told =
            told.is_some_and(|told| prove.size <= told.size) && prove.origin.len() <= ORIGIN_BYTES_MAX;
        let key = (from, prove.origin.clone());
        let every = PROOF_EVERY_MS - PROOF_EARLY_MS;
        let is_early = self.proved.get(&key).is_some_and(|at| at.plus_ms(every) > self.now);
        if is_told && !is_early && (1..prove.size).contains(&prove.old_size) {
            self.proved.insert(key, self.now);
            self.deliver(Delivered::Prove { from, prove });
        }
    }

    /// Shows another machine that the log of this one grew. Where it is lost, that one asks again.
    pub(crate) fn prove(&mut self, to: NodeId, head: Head, chance: &mut dyn Chance) -> Result<(), Error> {
        if !self.state.is_peer(to) {
            return Err(Error::NotPaired(to));
        }
        if !is_head(&head) {
            return Err(Error::TooLarge);
        }
        self.write_loose(to, Says::Proved(head), chance);
        Ok(())
    }

    /// What a machine shows of how its log grew: it is about the head that it told last, or about nothing.
    pub(crate) fn take_proof(&mut self, from: NodeId, head: Head) {
        let seen = self.state.head(from, &head.origin).copied();
        let Some((seen, told)) = seen.and_then(|seen| Some((seen, seen.unproven?))) else { return };
        if !is_head(&head) || (head.old_size, head.size) != (seen.size, told.size) {
            return;
        }
        let holds = head.root == told.root && grows((seen.size, seen.root), &head);
        if !holds && seen.is_forsaken {
            return;
        }
        let (origin, seen, told) = (head.origin, seen.size, head.size);
        self.record(Fact::Proved { maker: from, origin: origin.clone(), holds });
        self.deliver(match holds {
            true => Delivered::Head { from, note: head.note },
            false => Delivered::RolledBack { from, origin, seen, told },
        });
    }
}

/// Whether a head is shown to have grown from another.
fn grows((size, root): (u64, Digest), head: &Head) -> bool {
    head.size > size && verify_consistency(size, head.size, &root, &head.root, &head.proof).is_ok()
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
