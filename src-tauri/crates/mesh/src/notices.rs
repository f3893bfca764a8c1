//! Notices to all: numbered and signed by their maker, so that whoever has one may pass it on, and whoever lacks one finds out.

use crate::node::{Node, text};
use crate::port::{Delivered, Fact};
use crate::sealed::{Sealing, WireEvent, fits};
use crate::state::number;
use crate::{Chance, Error, FORMAT, NodeId, Notice, Says, Tells};
use seal::canon;
use std::collections::BTreeMap;

/// Bytes of notices that one letter brings.
const MENDED_BYTES: usize = 14 * 1024;
/// Letters of notices that one question brings.
const MENDED_LETTERS: usize = 16;
/// How often one other node is told what is here, in milliseconds; less often in a large group.
const MEND_EVERY_MS: i64 = 20_000;
/// With how many others a node of a large group compares, of all that tell that they have other notices.
const MENDED_WITH: u32 = 8;
/// Makers that one question names.
const HAS_MAX: usize = 256;
/// Receipts in one notice.
const RECEIPTS_MAX: usize = 64;
/// The latest epoch that a claim may name: below what canonical JSON holds, so that there is always a later one.
const EPOCH_MAX: u64 = 1 << 40;
/// Notices that came early and wait for those before them.
const EARLY_MAX: usize = 1_024;

impl<S: Sealing> Node<S> {
    /// Tells all: recorded, then sealed for the group.
    pub(crate) fn tell_all(&mut self, tells: Tells, chance: &mut dyn Chance) -> Result<(), Error> {
        if !is_fit(&tells) {
            return Err(Error::TooLarge);
        }
        let next = number(self.state.notices.get(&self.state.me).map_or(0, Vec::len)) + 1;
        let notice = Notice { format: FORMAT.to_owned(), number: next, at: self.now, tells };
        let event = self.sealing.sign(&text(&notice)?, self.now)?;
        let sealed = text(&event)?;
        if !fits(&sealed) {
            return Err(Error::TooLarge);
        }
        self.take_in(&event, notice);
        if let Some((_, group)) = self.state.group {
            // It is recorded by now: where it cannot be sealed, the others will find that they lack it.
            if let Ok(event) = self.sealing.wrap(group, &sealed, self.now, chance) {
                self.write_to_all(&event);
            }
        }
        Ok(())
    }

    /// A text that a paired node sealed for the group: a notice, of its own or of another's.
    pub(crate) fn take_notice(&mut self, text: &str) {
        if let Ok(event) = canon::from_canonical::<WireEvent>(text.as_bytes()) {
            self.accept_notice(&event);
        }
    }

    /// A notice counts by its maker's signature, whoever brought it: paired, and the next of its maker.
    pub(crate) fn accept_notice(&mut self, event: &WireEvent) {
        let maker = event.pubkey;
        let last = self.state.last_notice(maker);
        let known = number(self.state.notices.get(&maker).map_or(0, Vec::len));
        if last <= known {
            return;
        }
        let is_new = |notice: &Notice| notice.number > known && notice.number <= last;
        let Some(notice) = parsed(event).filter(is_new) else {
            return;
        };
        if !self.sealing.is_signed(event) {
            return;
        }
        if notice.number > known + 1 {
            if self.early_notices.len() < EARLY_MAX {
                self.early_notices.insert((maker, notice.number), event.clone());
            }
            return;
        }
        self.take_in(event, notice);
        let mut next = known + 2;
        while let Some(event) = self.early_notices.remove(&(maker, next)) {
            let last = self.state.last_notice(maker);
            let Some(notice) = parsed(&event).filter(|notice| notice.number <= last) else {
                return;
            };
            self.take_in(&event, notice);
            next += 1;
        }
    }

    /// A notice that is the next of its maker.
    fn take_in(&mut self, event: &WireEvent, notice: Notice) {
        let maker = event.pubkey;
        match notice.tells {
            Tells::Owner { conversation, epoch: _, taken } => {
                self.owner_told(event, &conversation, taken);
            }
            Tells::Fired { schedule, slot, .. } => self.fired_told(event, &schedule, &slot),
            Tells::Withdrawn { node, upto } => {
                self.record(Fact::Noticed(event.clone()));
                // A machine that is withdrawn itself withdraws none, also by what it told before.
                if maker == self.state.me || self.state.is_peer(maker) {
                    self.take_withdrawal(node, maker, upto);
                }
            }
            Tells::Head { origin, size, root, note } => {
                let known = self.state.heads.get(&(maker, origin.clone())).copied();
                self.record(Fact::Noticed(event.clone()));
                if maker == self.state.me {
                    return;
                }
                let went_back = known.filter(|(seen, at)| *seen > size || (*seen == size && *at != root));
                match went_back {
                    Some((seen, _)) => {
                        self.deliver(Delivered::RolledBack { from: maker, origin, seen, told: size });
                    }
                    None => self.deliver(Delivered::Head { from: maker, note }),
                }
            }
            Tells::Receipts { lines } => {
                self.record(Fact::Noticed(event.clone()));
                if maker != self.state.me {
                    self.deliver(Delivered::Receipts { from: maker, lines });
                }
            }
            Tells::Schedule(_) | Tells::Lease { .. } => self.record(Fact::Noticed(event.clone())),
        }
    }

    /// Another node has other notices: it is told which ones are here, and sends what lacks.
    pub(crate) fn mend(&mut self, with: NodeId, chance: &mut dyn Chance) {
        let every = MEND_EVERY_MS.saturating_mul(self.largeness().max(1));
        let is_early = self.mended.get(&with).is_some_and(|at| at.plus_ms(every) > self.now);
        // In a large group not everybody is asked, but a few by chance: none is left out for long, and none twice in a row.
        let others = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        if is_early || !self.has_way_to(with) || chance.below(others) >= MENDED_WITH {
            return;
        }
        self.mended.insert(with, self.now);
        let all: Vec<(NodeId, u64)> = self.state.has().into_iter().collect();
        // All makers are named in turn, where they are too many for one letter.
        let from = match all.len() {
            0..=HAS_MAX => 0,
            more => usize::try_from(chance.below(u32::try_from(more).unwrap_or(u32::MAX))).unwrap_or(0),
        };
        let has: BTreeMap<NodeId, u64> =
            all.iter().cycle().skip(from).take(all.len().min(HAS_MAX)).copied().collect();
        self.write_loose(with, Says::Has { has }, chance);
    }

    /// What another node has: whatever it lacks is sent, as far as it says that it may lack it.
    pub(crate) fn answer_has(&mut self, to: NodeId, has: &BTreeMap<NodeId, u64>, chance: &mut dyn Chance) {
        if has.len() > HAS_MAX {
            return;
        }
        let is_whole = has.len() < HAS_MAX;
        let mut letters: Vec<Vec<WireEvent>> = Vec::new();
        let (mut letter, mut bytes) = (Vec::new(), 0);
        let lacking = self.state.notices.iter().flat_map(|(maker, all)| {
            // A maker that is not named may only not have fitted.
            let known = has.get(maker).copied().or(is_whole.then_some(0)).unwrap_or(u64::MAX);
            all.iter().skip(usize::try_from(known).unwrap_or(usize::MAX))
        });
        for notice in lacking {
            let length = notice.content.len() * 2 + 600;
            if bytes + length > MENDED_BYTES && !letter.is_empty() {
                letters.push(std::mem::take(&mut letter));
                bytes = 0;
            }
            if letters.len() == MENDED_LETTERS {
                break;
            }
            bytes += length;
            letter.push(notice.clone());
        }
        letters.push(letter);
        for notices in letters.into_iter().filter(|notices| !notices.is_empty()).take(MENDED_LETTERS) {
            self.write_loose(to, Says::Notices { notices }, chance);
        }
        // And what is here and newer there is asked for in turn.
        let lacks = has.iter().any(|(maker, count)| {
            (*count).min(self.state.last_notice(*maker))
                > number(self.state.notices.get(maker).map_or(0, Vec::len))
        });
        if lacks {
            self.mend(to, chance);
        }
    }
}

fn parsed(event: &WireEvent) -> Option<Notice> {
    let is_small = event.is_bounded() && event.tags.is_empty();
    let notice: Notice = canon::from_canonical(event.content.as_bytes()).ok().filter(|_| is_small)?;
    (notice.format == FORMAT && is_fit(&notice.tells)).then_some(notice)
}

fn is_fit(tells: &Tells) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.len() <= 256;
    let is_epoch = |epoch: u64| (1..=EPOCH_MAX).contains(&epoch);
    match tells {
        Tells::Schedule(one) => {
            is_name(&one.schedule)
                && (1..=crate::RANKS_MAX).contains(&one.ranks.len())
                && (1_000..=7 * 86_400_000).contains(&one.term_ms)
        }
        Tells::Lease { schedule, epoch } => is_name(schedule) && is_epoch(*epoch),
        Tells::Fired { schedule, slot, epoch } => is_name(schedule) && is_name(slot) && is_epoch(*epoch),
        Tells::Owner { conversation, epoch, .. } => is_name(conversation) && is_epoch(*epoch),
        Tells::Withdrawn { .. } => true,
        Tells::Head { origin, note, .. } => is_name(origin) && note.len() <= 4_096,
        Tells::Receipts { lines } => lines.len() <= RECEIPTS_MAX,
    }
}
