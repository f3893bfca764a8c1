//! Letters from node to node: numbered, kept until they were opened, taken in order and once.

use crate::node::{Node, text};
use crate::port::{Delivered, Fact, Never};
use crate::sealed::{Sealing, fits};
use crate::state::{Lane, Waiting};
use crate::{Answer, Chance, Cosigned, Error, FIELD_BYTES_MAX, FORMAT, Letter, NodeId, Opened, Says};
use seal::{Digest, canon};

/// Letters to one node that are on their way at once.
const ON_THEIR_WAY_MAX: usize = 32;
/// Letters to one node that wait.
const WAITING_MAX: usize = 16_384;
/// The highest number of a letter: below what canonical JSON holds.
const NUMBER_MAX: u64 = 1 << 50;
/// Letters of one node that came early and wait for those before them.
const EARLY_MAX: usize = 64;
/// After how long a letter is written again at first, in milliseconds; doubled each time.
const RETRY_MS: i64 = 10_000;
/// At most after how long a letter is written again, in milliseconds.
const RETRY_MS_MAX: i64 = 60 * 60_000;
/// After how long a letter is given up, in milliseconds: 30 days.
pub const NEVER_AFTER_MS: i64 = 30 * 86_400_000;

impl<S: Sealing> Node<S> {
    /// A letter that may be lost.
    pub(crate) fn loose(&self, to: NodeId, says: Says) -> Letter {
        let (before, chain) = (Digest::ZERO, Digest::ZERO);
        Letter { format: FORMAT.to_owned(), from: self.state.me, to, number: 0, says, before, chain }
    }

    /// A letter that waits.
    pub(crate) fn letter(&self, to: NodeId, number: u64, waiting: &Waiting) -> Letter {
        let Waiting { says, before, chain, .. } = waiting.clone();
        Letter { number, before, chain, ..self.loose(to, says) }
    }

    /// Whether so many letters more to a node may wait.
    pub(crate) fn has_room(&self, to: NodeId, more: usize) -> bool {
        let waiting = self.state.lanes.get(&to).map_or(0, |lane| lane.waiting.len());
        waiting.saturating_add(more) <= WAITING_MAX
    }

    /// Queues a letter: it is sent as soon as there is a way, until its receiver opened it.
    pub(crate) fn queue(&mut self, to: NodeId, says: Says) -> Result<(), Error> {
        if !self.state.is_peer(to) {
            return Err(Error::NotPaired(to));
        }
        let none = Lane::default();
        let lane = self.state.lanes.get(&to).unwrap_or(&none);
        let (number, before) = (lane.last + 1, lane.chain);
        if !self.has_room(to, 1) {
            return Err(Error::Refused("too many messages wait for this machine"));
        }
        if !fits(&text(&Letter { number, ..self.loose(to, says.clone()) })?) {
            return Err(Error::TooLarge);
        }
        if let Says::Answer(answer) = &says {
            self.told_waits.forget(to, answer.answers);
        }
        self.record(Fact::Queued { to, number, says, at: self.now, before });
        self.unwritten = true;
        Ok(())
    }

    /// Writes a letter that may be lost.
    pub(crate) fn write_loose(&mut self, to: NodeId, says: Says, chance: &mut dyn Chance) {
        if !self.has_way_to(to) {
            return;
        }
        let letter = text(&self.loose(to, says));
        if let Ok(event) = letter.and_then(|text| self.sealing.wrap(to, &text, self.now, chance)) {
            self.write_to(to, 0, &event);
        }
    }

    /// Writes whatever is due: letters for the first time or again, and what was opened.
    pub(crate) fn write_letters(&mut self, chance: &mut dyn Chance) {
        self.unwritten = false;
        let now = self.now;
        let lanes = self.state.lanes.iter().filter(|(_, lane)| !lane.waiting.is_empty());
        let receivers: Vec<NodeId> = lanes.map(|(to, _)| *to).collect();
        for to in receivers.into_iter().filter(|to| self.has_way_to(*to)).collect::<Vec<_>>() {
            let Some(lane) = self.state.lanes.get(&to) else { continue };
            let is_due = |number: &u64| self.retries.get(&(to, *number)).is_none_or(|(at, _)| *at <= now);
            let due = lane.waiting.iter().take(ON_THEIR_WAY_MAX).filter(|(number, _)| is_due(number));
            let due: Vec<(u64, Waiting)> = due.map(|(number, letter)| (*number, letter.clone())).collect();
            for (number, waiting) in due {
                let letter = text(&self.letter(to, number, &waiting));
                if let Ok(event) = letter.and_then(|text| self.sealing.wrap(to, &text, now, chance)) {
                    self.write_to(to, number, &event);
                }
                let tries = self.retries.get(&(to, number)).map_or(0, |(_, tries)| tries + 1);
                let wait = RETRY_MS.saturating_mul(1_i64 << tries.min(20)).min(RETRY_MS_MAX);
                self.retries.insert((to, number), (now.plus_ms(wait), tries));
            }
        }
        self.tell_waits(chance);
        for to in std::mem::take(&mut self.owed) {
            if self.has_way_to(to) {
                let (upto, chain) = self.state.opened(to);
                self.write_loose(to, Says::Opened(Opened { upto, chain }), chance);
            }
            // Where there is no way, the sender writes again, and is told then.
        }
    }

    /// Gives up what waited too long. Its number stays, with nothing in it.
    pub(crate) fn expire(&mut self) {
        let before = self.now.plus_ms(-NEVER_AFTER_MS);
        let lanes = self.state.lanes.iter();
        let late = lanes.flat_map(|(to, lane)| {
            let late = lane.waiting.iter().filter(|(_, one)| one.at < before && one.says != Says::Gone);
            late.map(|(number, _)| (*to, *number))
        });
        for (to, number) in late.collect::<Vec<_>>() {
            self.record(Fact::Never { to, number, why: Never::Expired });
        }
        self.expire_questions();
    }

    /// A letter of a paired node for this one.
    pub(crate) fn take_letter(&mut self, from: NodeId, text: &str, chance: &mut dyn Chance) {
        let Ok(letter) = canon::from_canonical::<Letter>(text.as_bytes()) else {
            return;
        };
        let is_meant = letter.format == FORMAT
            && letter.from == from
            && letter.to == self.state.me
            && letter.says.is_loose() == (letter.number == 0);
        if !is_meant {
            return;
        }
        if letter.number == 0 {
            self.take_loose(from, letter.says, chance);
            return;
        }
        self.owed.insert(from);
        let (taken, chain) = self.state.opened(from);
        let next = taken + 1;
        if letter.number > next {
            let early = self.early.entry(from).or_default();
            if early.len() < EARLY_MAX || early.contains_key(&letter.number) {
                early.insert(letter.number, letter);
            }
        } else if letter.number == next && letter.before == chain {
            self.take(letter, chance);
            self.take_early(from, chance);
        }
    }

    fn take_early(&mut self, from: NodeId, chance: &mut dyn Chance) {
        loop {
            let (taken, chain) = self.state.opened(from);
            let next = taken + 1;
            let Some(early) = self.early.get_mut(&from) else { return };
            early.retain(|number, _| *number >= next);
            let Some(letter) = early.remove(&next).filter(|letter| letter.before == chain) else { return };
            self.take(letter, chance);
        }
    }

    fn take_loose(&mut self, from: NodeId, says: Says, chance: &mut dyn Chance) {
        match says {
            Says::Opened(opened) => self.take_opened(from, opened, chance),
            Says::From { number, before } => {
                let (taken, _) = self.state.opened(from);
                if number > taken + 1 && number <= NUMBER_MAX {
                    self.record(Fact::Skipped { from, upto: number - 1, chain: before });
                    self.deliver(Delivered::LettersMissed { from, first: taken + 1, last: number - 1 });
                    self.take_early(from, chance);
                }
            }
            Says::Has { at, has, of } => self.answer_has(from, at, (&has, of), chance),
            Says::Sums { at, sums } => self.take_sums(from, at, &sums, chance),
            Says::Notices { notices } => {
                for notice in notices {
                    self.accept_notice(&notice);
                }
            }
            Says::Group(secret) => self.take_group(secret, Some(from)),
            Says::Prove(prove) => self.asked_to_prove(from, prove),
            Says::Proved(head) => self.take_proof(from, head),
            Says::Waits(waits) => self.take_waits(from, waits),
            _ => {}
        }
    }

    /// What a receiver says that it opened: it may know less than before, or other letters than these, where one of both was put back.
    fn take_opened(&mut self, from: NodeId, opened: Opened, chance: &mut dyn Chance) {
        let Opened { upto, chain } = opened;
        let none = Lane::default();
        let lane = self.state.lanes.get(&from).unwrap_or(&none);
        let first = lane.waiting.first_key_value().map(|(number, letter)| (*number, letter.before));
        let (first, before) = first.unwrap_or((lane.last + 1, lane.chain));
        if upto > NUMBER_MAX {
            return;
        }
        if upto + 1 < first {
            let is_early = self.told_from.get(&from).is_some_and(|at| at.plus_ms(RETRY_MS) > self.now);
            if !is_early {
                self.told_from.insert(from, self.now);
                self.write_loose(from, Says::From { number: first, before }, chance);
            }
            return;
        }
        let ours =
            if upto + 1 == first { Some(before) } else { lane.waiting.get(&upto).map(|one| one.chain) };
        if ours == Some(chain) {
            if upto >= first {
                self.record(Fact::Opened { to: from, upto, chain });
                let done: Vec<_> =
                    self.retries.range((from, 0)..=(from, upto)).map(|(key, _)| *key).collect();
                for key in done {
                    self.retries.remove(&key);
                }
                self.unwritten = true;
            }
            return;
        }
        self.record(Fact::Renumbered { to: from, after: upto, chain });
        self.deliver(Delivered::PutBack { by: from });
        self.retries.retain(|(to, _), _| *to != from);
        self.written.retain(|_, (to, _)| *to != from);
        self.unwritten = true;
    }

    /// A numbered letter, the next of its sender. Whatever it leads to is recorded in the same step.
    fn take(&mut self, letter: Letter, chance: &mut dyn Chance) {
        let from = letter.from;
        self.record(Fact::Took { from, number: letter.number, chain: letter.chain });
        match letter.says {
            Says::Input(input) => self.take_input(input),
            Says::Answer(answer) => self.take_answer(from, answer),
            Says::HandOver(over) => self.take_hand_over(from, over, chance),
            Says::Card(card) => self.take_card(from, card),
            Says::Part(part) => self.take_part(from, part),
            Says::Training(part) => self.take_parcel(from, part),
            Says::Decision(decision) => self.take_decision(from, decision),
            Says::Settled { approval } if self.state.questions.contains_key(&(from, approval.clone())) => {
                self.record(Fact::Answered { from, approval: approval.clone() });
                self.deliver(Delivered::Answered { from, approval });
            }
            Says::Cosigned(cosigned) if is_cosigned(&cosigned) => {
                self.deliver(Delivered::Cosigned { from, cosigned });
            }
            _ => {}
        }
    }

    fn take_answer(&mut self, from: NodeId, answer: Answer) {
        if answer.body.len() <= FIELD_BYTES_MAX {
            self.deliver(Delivered::Answer { from, answer });
        }
    }
}

/// Whether a signature under a head is as small as one is.
fn is_cosigned(cosigned: &Cosigned) -> bool {
    cosigned.origin.len() <= 256 && cosigned.line.len() <= 1_024 && cosigned.key.len() <= 512
}
