//! Anchors of the log, as the store's own stream tells them (mesh.md 3): what clocks were given, and how it stands at each.

use model::anchor::{AnchorClock, AnchorState, AnchorSubject, BlockTime};
use model::artifact::ArtifactRef;
use model::body::{AnchorRequested, Body};
use model::{Digest, TaskId, UnixMs};
use std::collections::BTreeMap;

const HOUR_MS: i64 = 3_600_000;
/// How long a stamp is completed by itself: calendars need hours, and what they did not do in two weeks they do not do.
const GIVE_UP_MS: i64 = 14 * 24 * HOUR_MS;
/// Hours between two askings about a stamp that is pending; the last one is repeated.
const AGAIN_HOURS: [i64; 5] = [1, 2, 4, 8, 12];
/// How long a stamp waits where each asking is a question to a person, who is asked once.
const ASKED_ONCE_HOURS: i64 = 6;
/// How long after a block proved it that block is looked for again, the first time and the last.
const LOOKED_AFTER_HOURS: [i64; 2] = [24, 7 * 24];

/// An anchor at one clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockRecord {
    /// How it stands.
    pub state: AnchorState,
    /// Who was asked, as `name:port`.
    pub at: Vec<String>,
    /// The proof as far as there is one.
    pub proof: Option<ArtifactRef>,
    /// The latest time at which it is proven that the digest was there.
    pub not_after: Option<UnixMs>,
    /// The block that proves it, or proved it until the chain went another way.
    pub block: Option<BlockTime>,
    /// Why it failed, or what went wrong the last time; nothing once that was erased.
    pub why: Option<String>,
    /// When the clock took it; anew when it was withdrawn.
    pub stamped_at: Option<UnixMs>,
    /// The newest task that asks the clock.
    pub asked_by: Option<TaskId>,
    /// When that was made.
    pub asked_at: Option<UnixMs>,
    /// Whether what it comes to is not on record yet.
    pub is_asked: bool,
    /// How often the clock was asked.
    pub attempts: u32,
    /// When it was proven.
    pub completed_at: Option<UnixMs>,
    /// How often the block was looked for since.
    pub looked: u32,
}

impl ClockRecord {
    const fn new() -> Self {
        Self {
            state: AnchorState::Pending,
            at: Vec::new(),
            proof: None,
            not_after: None,
            block: None,
            why: None,
            stamped_at: None,
            asked_by: None,
            asked_at: None,
            is_asked: false,
            attempts: 0,
            completed_at: None,
            looked: 0,
        }
    }

    /// Whether the clock is yet to be asked for the first time.
    pub fn is_new(&self) -> bool {
        self.attempts == 0 && self.state == AnchorState::Pending
    }

    /// Whether the clock has it and its time is not proven.
    pub fn is_open(&self) -> bool {
        matches!(self.state, AnchorState::Pending | AnchorState::Withdrawn) && self.stamped_at.is_some()
    }

    /// When it is given up, while it is open.
    pub fn given_up_at(&self) -> Option<UnixMs> {
        self.stamped_at.filter(|_| self.is_open()).map(|at| at.plus_ms(GIVE_UP_MS))
    }

    /// When the clock is asked again by itself; `is_covered`: whether a standing grant answers for that.
    pub(crate) fn again_at(&self, is_covered: bool) -> Option<UnixMs> {
        let since = self.asked_at?;
        if self.is_asked {
            return None;
        }
        if self.is_open() {
            if !is_covered {
                // A person who did not answer, or said no, is not asked once more.
                let is_first = self.attempts == 1;
                return self.stamped_at.filter(|_| is_first).map(|at| at.plus_ms(ASKED_ONCE_HOURS * HOUR_MS));
            }
            let nth = usize::try_from(self.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
            let hours = AGAIN_HOURS.get(nth).or(AGAIN_HOURS.last()).copied().unwrap_or(1);
            return Some(since.plus_ms(hours * HOUR_MS));
        }
        if self.state == AnchorState::Anchored && self.block.is_some() && is_covered {
            let after = LOOKED_AFTER_HOURS.get(usize::try_from(self.looked).unwrap_or(usize::MAX))?;
            return self.completed_at.map(|at| at.plus_ms(after * HOUR_MS));
        }
        None
    }
}

/// An anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorRecord {
    /// Its number, from 1.
    pub number: u64,
    /// What clocks were given.
    pub digest: Digest,
    /// What that is of.
    pub subject: AnchorSubject,
    /// When.
    pub requested_at: UnixMs,
    /// How it stands at each clock.
    pub clocks: BTreeMap<AnchorClock, ClockRecord>,
}

impl AnchorRecord {
    fn of(b: &AnchorRequested) -> Self {
        Self {
            number: b.number,
            digest: b.digest,
            subject: b.subject.clone(),
            requested_at: b.requested_at,
            clocks: b.clocks.iter().map(|clock| (*clock, ClockRecord::new())).collect(),
        }
    }

    /// The earliest time that any clock proves.
    pub fn not_after(&self) -> Option<UnixMs> {
        self.clocks.values().filter_map(|one| one.not_after).min()
    }
}

/// Every anchor that was ever asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorRegistry {
    records: BTreeMap<u64, AnchorRecord>,
    /// Digests of the links of the identity, by their numbers.
    links: BTreeMap<u64, Digest>,
}

impl AnchorRegistry {
    /// All of them, the oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &AnchorRecord> {
        self.records.values()
    }

    /// One of them.
    pub fn get(&self, number: u64) -> Option<&AnchorRecord> {
        self.records.get(&number)
    }

    /// The newest of the log itself.
    pub fn newest_head(&self) -> Option<&AnchorRecord> {
        self.all().rev().find(|one| matches!(one.subject, AnchorSubject::Head { .. }))
    }

    /// The digest of a link of the identity.
    pub(crate) fn link(&self, number: u64) -> Option<Digest> {
        self.links.get(&number).copied()
    }

    /// A link was signed.
    pub(crate) fn add_link(&mut self, number: u64, digest: Digest) {
        self.links.insert(number, digest);
    }

    /// The number of the next one.
    pub(crate) fn next_number(&self) -> u64 {
        self.records.keys().next_back().map_or(1, |last| last.saturating_add(1))
    }

    /// Whether an event is folded here.
    pub(crate) const fn is_of_anchors(body: &Body) -> bool {
        matches!(
            body,
            Body::AnchorRequested(_)
                | Body::AnchorAsked(_)
                | Body::AnchorStamped(_)
                | Body::AnchorCompleted(_)
                | Body::AnchorWithdrawn(_)
                | Body::AnchorFailed(_)
        )
    }

    fn at(&mut self, number: u64, clock: AnchorClock) -> Option<&mut ClockRecord> {
        self.records.get_mut(&number)?.clocks.get_mut(&clock)
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::AnchorRequested(b) => {
                self.records.insert(b.number, AnchorRecord::of(b));
            }
            Body::AnchorAsked(b) => {
                let Some(one) = self.at(b.number, b.clock) else { return };
                (one.asked_by, one.asked_at) = (Some(b.asked_by), Some(b.asked_at));
                (one.is_asked, one.attempts) = (true, b.attempt);
            }
            Body::AnchorStamped(b) => {
                let Some(one) = self.at(b.number, b.clock) else { return };
                one.is_asked = false;
                one.state = match one.state {
                    AnchorState::Withdrawn => AnchorState::Withdrawn,
                    _ => AnchorState::Pending,
                };
                if one.stamped_at.is_none() {
                    (one.stamped_at, one.at) = (Some(b.stamped_at), b.at.clone());
                }
                one.proof = b.proof.clone().or(one.proof.take());
                (one.not_after, one.why) = (None, None);
            }
            Body::AnchorCompleted(b) => {
                let Some(one) = self.at(b.number, b.clock) else { return };
                one.is_asked = false;
                let is_same = one.state == AnchorState::Anchored
                    && one.block.as_ref().map(|block| &block.hash)
                        == b.block.as_ref().map(|block| &block.hash);
                match is_same {
                    true => one.looked = one.looked.saturating_add(1),
                    false => (one.completed_at, one.looked) = (Some(b.completed_at), 0),
                }
                one.state = AnchorState::Anchored;
                (one.proof, one.not_after) = (Some(b.proof.clone()), Some(b.not_after));
                (one.block, one.why) = (b.block.clone(), None);
            }
            Body::AnchorWithdrawn(b) => {
                let Some(one) = self.at(b.number, b.clock) else { return };
                (one.is_asked, one.state) = (false, AnchorState::Withdrawn);
                (one.not_after, one.block) = (None, Some(b.block.clone()));
                // Its time begins anew: it was in no fault of the clock.
                (one.stamped_at, one.completed_at) = (Some(b.withdrawn_at), None);
            }
            Body::AnchorFailed(b) => {
                let Some(one) = self.at(b.number, b.clock) else { return };
                one.is_asked = false;
                one.why = b.why.shown().cloned();
                // What went wrong once the clock has it takes nothing from that, until it is given up.
                let is_kept = match one.given_up_at() {
                    Some(until) => b.failed_at < until,
                    None => one.state == AnchorState::Anchored,
                };
                if !is_kept {
                    one.state = AnchorState::Failed;
                }
            }
            _ => {}
        }
    }
}
