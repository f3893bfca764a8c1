//! Notices to all: numbered and signed by their maker, so that whoever has one may pass it on, and whoever lacks one finds out.

use crate::chain::{Chain, Known, NOTICES_MAX, read};
use crate::heads::is_head;
use crate::node::{Node, text};
use crate::port::{Delivered, Fact};
use crate::sealed::{Sealing, WireEvent, fits};
use crate::sums::{HAS_MAX, PARTS, part_of};
use crate::{Chance, Error, FORMAT, NodeId, Notice, Says, Tells};
use model::UnixMs;
use seal::{Digest, canon};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of notices that one letter brings.
const MENDED_BYTES: usize = 14 * 1024;
/// Letters of notices that one question brings.
const MENDED_LETTERS: usize = 16;
/// How often one other node is told what is here, in milliseconds; less often in a large group.
const MEND_EVERY_MS: i64 = 20_000;
/// With how many others a node of a large group compares, of all that tell that they have other notices.
const MENDED_WITH: u32 = 8;
/// For how long what another node has is answered, in milliseconds.
const HAS_COUNTS_MS: i64 = 10 * 60_000;
/// How often another node is answered, in milliseconds.
const ANSWER_EVERY_MS: i64 = 5_000;
/// Receipts in one notice.
pub const RECEIPTS_MAX: usize = 64;
/// The latest epoch that a claim may name: below what canonical JSON holds, so that there is always a later one.
const EPOCH_MAX: u64 = 1 << 40;
/// Notices of one maker that came early and wait for those before them.
const EARLY_MAX: usize = 64;
/// How far ahead a notice may be that waits.
const EARLY_AHEAD_MAX: u64 = NOTICES_MAX;
/// Times that a maker may take back what it told, while this node runs: more is no machine that was put back, but one that lies.
const FORKS_MAX: u32 = 256;
/// How long a machine that was put back waits for all that it told once, in milliseconds.
const UNTOLD_AFTER_MS: i64 = 3 * MEND_EVERY_MS;
/// Notices that are told anew at once.
const ANEW_MAX: usize = 4;

impl<S: Sealing> Node<S> {
    /// Tells all: recorded, then sealed for the group.
    pub(crate) fn tell_all(&mut self, tells: Tells, chance: &mut dyn Chance) -> Result<(), Error> {
        self.tell(tells, None, chance)?;
        self.tell_anew(chance);
        Ok(())
    }

    /// Makes the next notice; one that tells an earlier one anew lets go of that.
    fn tell(&mut self, tells: Tells, anew: Option<u64>, chance: &mut dyn Chance) -> Result<(), Error> {
        if !is_fit(&tells) {
            return Err(Error::TooLarge);
        }
        let chain = self.state.notices.get(&self.state.me);
        let (upto, before) = chain.map_or((0, None), |chain| (chain.last(), chain.id_at(chain.last())));
        let number = upto + 1;
        let from = self.first_needed(number, anew);
        if number - from >= NOTICES_MAX {
            return Err(Error::Refused("this machine told more that still counts than others keep"));
        }
        let notice = Notice { format: FORMAT.to_owned(), number, before, from, at: self.now, tells };
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

    /// The first notice of this node that is needed with one more: the oldest that still counts, once there are many.
    fn first_needed(&self, next: u64, anew: Option<u64>) -> u64 {
        let Some(chain) = self.state.notices.get(&self.state.me) else { return 1 };
        let mut from = chain.base + 1;
        let window = self.state.window();
        while next - from >= window {
            let counts = anew != Some(from)
                && chain.get(from).and_then(read).is_some_and(|notice| self.state.still_counts(&notice));
            if counts {
                break;
            }
            from += 1;
        }
        from
    }

    /// Tells the oldest notices of this node anew where they still count: whoever was away for longer than notices are kept finds
    /// all that counts among the newest.
    fn tell_anew(&mut self, chance: &mut dyn Chance) {
        for _ in 0..ANEW_MAX {
            let Some(chain) = self.state.notices.get(&self.state.me) else { return };
            let first = chain.base + 1;
            let is_long = chain.last() + 1 - first >= self.state.window();
            let oldest = chain.get(first).and_then(read).filter(|_| is_long);
            let Some(oldest) = oldest.filter(|notice| self.state.still_counts(notice)) else { return };
            if self.tell(oldest.tells, Some(first), chance).is_err() {
                return;
            }
        }
    }

    /// When what this node told before it was put back is told anew: as soon as the others had the time to say what they know.
    pub(crate) fn tells_untold_at(&self) -> UnixMs {
        self.forked_at.max(self.began).plus_ms(UNTOLD_AFTER_MS)
    }

    pub(crate) fn tell_untold(&mut self, chance: &mut dyn Chance) {
        if self.state.untold.is_empty() || self.tells_untold_at() > self.now {
            return;
        }
        let untold: Vec<Tells> = self.state.untold.iter().take(4 * ANEW_MAX).cloned().collect();
        for tells in untold {
            // It fitted when it was told first; where there is no room, it waits.
            let _ = self.tell_all(tells, chance);
        }
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
        let none = Chain::default();
        let chain = self.state.notices.get(&maker).unwrap_or(&none);
        let Some(notice) = parsed(event).filter(|notice| notice.number <= last) else {
            return;
        };
        let is_known = notice.number <= chain.base || chain.id_at(notice.number) == Some(event.id);
        if is_known || !self.sealing.is_signed(event) {
            return;
        }
        let known = chain.last();
        if notice.number <= known {
            self.told_twice(event, notice);
        } else {
            self.miss(maker, &notice);
            self.take_next(event, notice);
        }
        while let Some(event) = self.early_notices.remove(&(maker, self.state.noticed(maker) + 1)) {
            let last = self.state.last_notice(maker);
            let Some(notice) = parsed(&event).filter(|notice| notice.number <= last) else {
                return;
            };
            self.take_next(&event, notice);
        }
    }

    /// A maker says that nobody needs what this node lacks before a notice: it goes on from there.
    fn miss(&mut self, maker: NodeId, notice: &Notice) {
        let known = self.state.noticed(maker);
        if notice.from > known + 1 {
            self.record(Fact::Missed { maker, upto: notice.from - 1 });
            if known > 0 {
                self.deliver(Delivered::NoticesMissed {
                    from: maker,
                    first: known + 1,
                    last: notice.from - 1,
                });
            }
            self.own_was_forked(maker);
            let gone = |number: u64| number < notice.from;
            self.early_notices.retain(|(by, number), _| *by != maker || !gone(*number));
        }
    }

    /// Takes a notice in where it is the next, and keeps it where it came early.
    fn take_next(&mut self, event: &WireEvent, notice: Notice) {
        let maker = event.pubkey;
        let chain = self.state.notices.get(&maker);
        let known = chain.map_or(0, Chain::last);
        if notice.number > known + 1 {
            let waiting = self.early_notices.range((maker, 0)..=(maker, u64::MAX)).count();
            if waiting < EARLY_MAX && notice.number - known <= EARLY_AHEAD_MAX {
                self.early_notices.insert((maker, notice.number), event.clone());
            }
        } else if chain.unwrap_or(&Chain::default()).stands_on(&notice) {
            self.take_in(event, notice);
        } else {
            self.hold_untold(maker, notice.tells);
        }
    }

    /// Two notices of one maker with one number: it was put back to an earlier state, and told the number again. That which was
    /// made first counts for all, and whoever made both tells the other one anew.
    fn told_twice(&mut self, event: &WireEvent, notice: Notice) {
        let maker = event.pubkey;
        let Some(chain) = self.state.notices.get(&maker) else { return };
        let own = chain.get(notice.number).and_then(|own| Some((read(own)?.at, own.id)));
        let Some(own) = own.filter(|_| chain.stands_on(&notice)) else {
            // The branches part before it: what lies between comes too.
            return self.hold_untold(maker, notice.tells);
        };
        self.own_was_forked(maker);
        let forks = self.forks.entry(maker).or_default();
        *forks += 1;
        if *forks > FORKS_MAX {
            return;
        }
        self.deliver(Delivered::Forked { from: maker, number: notice.number });
        if (notice.at, event.id) < own {
            self.record(Fact::Forked { maker, upto: notice.number - 1 });
            self.take_in(event, notice);
        } else {
            self.hold_untold(maker, notice.tells);
        }
    }

    fn own_was_forked(&mut self, maker: NodeId) {
        if maker == self.state.me {
            self.forked_at = self.now;
        }
    }

    /// What this node told on a branch that does not count.
    fn hold_untold(&mut self, maker: NodeId, tells: Tells) {
        let is_new = maker == self.state.me
            && !matches!(tells, Tells::Head(_))
            && !self.state.untold.contains(&tells)
            && !self.state.notices(maker).iter().filter_map(read).any(|own| own.tells == tells);
        if is_new {
            self.forked_at = self.now;
            self.record(Fact::Untold(tells));
        }
    }

    /// A notice that is the next of its maker.
    fn take_in(&mut self, event: &WireEvent, notice: Notice) {
        let maker = event.pubkey;
        match notice.tells {
            Tells::Owner { conversation, epoch: _, taken, used_at: _ } => {
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
            Tells::Head(head) => self.head_told(event, head),
            Tells::Receipts { lines } => {
                self.record(Fact::Noticed(event.clone()));
                if maker != self.state.me {
                    self.deliver(Delivered::Receipts { from: maker, lines });
                }
            }
            Tells::Schedule(_) | Tells::Ready { .. } | Tells::Lease { .. } | Tells::LogKey { .. } => {
                self.record(Fact::Noticed(event.clone()));
            }
        }
    }

    /// Another node has other notices: it is told which ones are here, and sends what lacks.
    pub(crate) fn mend(&mut self, with: NodeId, chance: &mut dyn Chance) {
        let every = MEND_EVERY_MS.saturating_mul(self.state.largeness());
        let is_early = self.mended.get(&with).is_some_and(|at| at.plus_ms(every) > self.now);
        // In a large group not everybody is asked, but a few by chance: none is left out for long, and none twice in a row.
        let others = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        if is_early || !self.has_way_to(with) || chance.below(others) >= MENDED_WITH {
            return;
        }
        self.mended.insert(with, self.now);
        let has = self.state.has();
        if has.len() > HAS_MAX {
            self.tell_sums(with, chance);
        } else {
            self.write_loose(with, Says::Has { at: self.now, has, of: BTreeSet::new() }, chance);
        }
    }

    /// What another node has: whatever it lacks is sent, as far as it says that it may lack it.
    pub(crate) fn answer_has(
        &mut self,
        to: NodeId,
        at: UnixMs,
        (has, of): (&BTreeMap<NodeId, Known>, BTreeSet<u8>),
        chance: &mut dyn Chance,
    ) {
        let is_early = self.answered.get(&to).is_some_and(|at| at.plus_ms(ANSWER_EVERY_MS) > self.now);
        if has.len() > HAS_MAX || of.len() > PARTS || is_old(at, self.now) || is_early {
            return;
        }
        self.answered.insert(to, self.now);
        let is_named = |maker: NodeId| of.is_empty() || of.contains(&part_of(maker));
        let mut letters: Vec<Vec<WireEvent>> = Vec::new();
        let (mut letter, mut bytes) = (Vec::new(), 0);
        let none = Known { upto: 0, id: Digest::ZERO };
        let lacking = self.state.notices.iter().flat_map(|(maker, chain)| {
            // Of other parts nothing is said.
            let known = has.get(maker).copied().or(is_named(*maker).then_some(none));
            known.map(|known| lacks(chain, known)).unwrap_or_default()
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
        let asks = has.iter().any(|(maker, known)| {
            let here = self.state.notices.get(maker);
            let is_other = here.is_some_and(|chain| chain.id_at(known.upto).is_some_and(|id| id != known.id));
            is_other || known.upto.min(self.state.last_notice(*maker)) > here.map_or(0, Chain::last)
        });
        match asks {
            true if of.is_empty() => self.mend(to, chance),
            true => self.name(to, of, chance),
            false => {}
        }
    }
}

/// Whether what another node said that it has is no more than a memory. A relay may show it again, after a restart or for days: that
/// makes nobody lack anything.
pub(crate) fn is_old(at: UnixMs, now: UnixMs) -> bool {
    at.plus_ms(HAS_COUNTS_MS + crate::CLOCK_DIFFERENCE_MS) < now
}

/// What another node lacks of a maker. Where it is further back than what is kept, the newest goes first: in it the maker says from
/// where on there is something. Where it has another branch, it gets all of this one.
fn lacks(chain: &Chain, known: Known) -> Vec<&WireEvent> {
    let newest = chain.kept.last().filter(|_| known.upto < chain.base);
    let is_other = known.upto > 0 && chain.id_at(known.upto).is_some_and(|id| id != known.id);
    let after = if is_other { chain.base } else { known.upto };
    newest.into_iter().chain(chain.after(after)).collect()
}

fn parsed(event: &WireEvent) -> Option<Notice> {
    let is_small = event.is_bounded() && event.tags.is_empty();
    let notice: Notice = canon::from_canonical(event.content.as_bytes()).ok().filter(|_| is_small)?;
    let is_window = (1..=notice.number).contains(&notice.from) && notice.number - notice.from < NOTICES_MAX;
    (notice.format == FORMAT && is_window && is_fit(&notice.tells)).then_some(notice)
}

fn is_fit(tells: &Tells) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.len() <= 256;
    let is_epoch = |epoch: u64| (1..=EPOCH_MAX).contains(&epoch);
    match tells {
        Tells::Schedule(one) => {
            is_name(&one.schedule)
                && is_epoch(one.version)
                && (1..=crate::RANKS_MAX).contains(&one.ranks.len())
                && (1_000..=7 * 86_400_000).contains(&one.term_ms)
        }
        Tells::Ready { schedule, .. } => is_name(schedule),
        Tells::Lease { schedule, epoch } => is_name(schedule) && is_epoch(*epoch),
        Tells::Fired { schedule, slot, epoch } => is_name(schedule) && is_name(slot) && is_epoch(*epoch),
        Tells::Owner { conversation, epoch, .. } => is_name(conversation) && is_epoch(*epoch),
        Tells::Withdrawn { .. } | Tells::LogKey { .. } => true,
        Tells::Head(head) => is_name(&head.origin) && is_head(head),
        Tells::Receipts { lines } => lines.len() <= RECEIPTS_MAX,
    }
}
