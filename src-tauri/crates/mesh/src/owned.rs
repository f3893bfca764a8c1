//! Whose conversations are, and for how long that counts: a conversation that nobody spoke in for long falls silent. Nobody is told
//! of it anew then, and whoever knew whose it was knows that on, as far as silent ones are kept.
//!
//! What falls silent follows from the notices of its owner alone, in their order: from how many others it used since, and from the
//! times in them. So it is the same at every machine that has them, whatever its own clock says. A silent conversation has the owner
//! and the epoch that it had: who speaks in it reaches that machine, which tells anew that it has it.

use crate::NodeId;
use crate::chain::Claims;
use crate::slots::add_claim;
use crate::state::foremost;
use model::UnixMs;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Conversations of one machine of which it tells all anew: those that were spoken in last.
pub const OWNED_MAX: usize = 512;
/// After how long a conversation that nobody spoke in falls silent, in milliseconds: 90 days.
pub const OWNED_FOR_MS: i64 = 90 * 86_400_000;
/// Silent conversations of one machine whose owner is remembered, the newest.
pub const SILENT_MAX: usize = 4_096;
/// Machines that claimed a silent conversation and are remembered.
const CLAIMANTS_KEPT: usize = 4;

/// What is known of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Owned {
    claims: Claims,
    /// Machines whose claims did not lapse: when each used the conversation last by its own clock, and in which notice it said so.
    used: BTreeMap<NodeId, (UnixMs, u64)>,
}

/// Conversations, and who claims each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owners {
    me: NodeId,
    known: BTreeMap<String, Owned>,
    /// Of each machine those that did not lapse, by when it used them last.
    used: BTreeMap<NodeId, BTreeSet<(UnixMs, String)>>,
    /// Silent ones by whose they are, the oldest first.
    silent: BTreeMap<NodeId, VecDeque<String>>,
}

impl Owners {
    pub(crate) const fn new(me: NodeId) -> Self {
        Self { me, known: BTreeMap::new(), used: BTreeMap::new(), silent: BTreeMap::new() }
    }

    pub(crate) fn claims(&self, conversation: &str) -> Option<&Claims> {
        self.known.get(conversation).map(|one| &one.claims)
    }

    /// When a machine used a conversation last, unless its claim lapsed.
    pub(crate) fn used_at(&self, conversation: &str, maker: NodeId) -> Option<UnixMs> {
        self.known.get(conversation)?.used.get(&maker).map(|(at, _)| *at)
    }

    /// Whether a claim did not lapse, and this notice is the last that told it.
    pub(crate) fn is_told_by(&self, conversation: &str, maker: NodeId, number: u64) -> bool {
        let used = self.known.get(conversation).and_then(|one| one.used.get(&maker));
        used.is_some_and(|(_, told)| *told == number)
    }

    /// How many conversations are known.
    pub(crate) fn known(&self) -> usize {
        self.known.len()
    }

    /// How many claims of a machine did not lapse.
    pub(crate) fn count(&self, maker: NodeId) -> usize {
        self.used.get(&maker).map_or(0, BTreeSet::len)
    }

    /// A claim, with the number of its notice and when its maker used the conversation last.
    pub(crate) fn claim(
        &mut self,
        maker: NodeId,
        (conversation, epoch): (String, u64),
        (number, used_at): (u64, UnixMs),
    ) {
        let one = self.known.entry(conversation.clone()).or_default();
        if one.used.is_empty()
            && let Some((_, by)) = foremost(one.claims.keys())
            && let Some(silent) = self.silent.get_mut(&by)
        {
            silent.retain(|known| *known != conversation);
        }
        add_claim(&mut one.claims, (epoch, maker), number);
        let before = one.used.get(&maker).copied();
        let (at, told) = before.map_or((used_at, number), |(at, told)| (at.max(used_at), told.max(number)));
        one.used.insert(maker, (at, told));
        let used = self.used.entry(maker).or_default();
        if let Some((before, _)) = before {
            used.remove(&(before, conversation.clone()));
        }
        used.insert((at, conversation));
    }

    /// A machine told a notice at this time by its own clock: what it did not use for long, or has too much of, lapses. Answers with
    /// what nobody remembers any more.
    pub(crate) fn lapse(&mut self, maker: NodeId, at: UnixMs) -> Vec<String> {
        let Some(used) = self.used.get_mut(&maker) else { return Vec::new() };
        // Its clock was set back: what it used before is no newer than what it uses now.
        for (_, conversation) in used.split_off(&(at.plus_ms(1), String::new())) {
            if let Some(last) = self.known.get_mut(&conversation).and_then(|one| one.used.get_mut(&maker)) {
                last.0 = at;
            }
            used.insert((at, conversation));
        }
        let mut silent = Vec::new();
        while let Some((last, _)) = used.first() {
            if used.len() <= OWNED_MAX && last.plus_ms(OWNED_FOR_MS) >= at {
                break;
            }
            let Some((_, conversation)) = used.pop_first() else { break };
            let Some(one) = self.known.get_mut(&conversation) else { continue };
            one.used.remove(&maker);
            if one.used.is_empty() {
                silent.push(conversation);
            }
        }
        silent.into_iter().filter_map(|conversation| self.fall_silent(conversation)).collect()
    }

    /// Remembers whose a conversation is that nobody speaks in; answers with the one that is remembered no more.
    fn fall_silent(&mut self, conversation: String) -> Option<String> {
        let me = self.me;
        let one = self.known.get_mut(&conversation)?;
        // The last claim of each machine, the foremost first: one of them may be withdrawn, and the next counts then.
        let mut order: Vec<(u64, NodeId)> = one.claims.keys().copied().collect();
        order.sort_unstable_by_key(|(epoch, by)| (Reverse(*epoch), *by));
        let mut makers = BTreeSet::new();
        order.retain(|(_, by)| makers.insert(*by));
        order.truncate(CLAIMANTS_KEPT);
        let first = *order.first()?;
        one.claims.retain(|claim, _| order.contains(claim) || claim.1 == me);
        let silent = self.silent.entry(first.1).or_default();
        silent.push_back(conversation);
        let gone = if silent.len() > SILENT_MAX { silent.pop_front() } else { None };
        if let Some(gone) = &gone {
            self.known.remove(gone);
        }
        gone
    }

    /// Lets go of what a machine claimed first after one of its notices. Answers with what nobody remembers any more.
    pub(crate) fn cut(&mut self, maker: NodeId, upto: u64) -> Vec<String> {
        let mut used = BTreeSet::new();
        let mut silent: Vec<String> = std::mem::take(&mut self.silent).into_values().flatten().collect();
        for (conversation, one) in &mut self.known {
            one.claims.retain(|(_, by), at| *by != maker || *at <= upto);
            let Some((at, told)) = one.used.remove(&maker) else { continue };
            let first =
                one.claims.iter().filter(|((_, by), _)| *by == maker).map(|(_, number)| *number).max();
            match first {
                Some(first) => {
                    one.used.insert(maker, (at, if told <= upto { told } else { first }));
                    used.insert((at, conversation.clone()));
                }
                None if one.used.is_empty() => silent.push(conversation.clone()),
                None => {}
            }
        }
        self.used.insert(maker, used);
        self.known.retain(|_, one| !one.claims.is_empty());
        let (silent, mut gone): (Vec<String>, Vec<String>) =
            silent.into_iter().partition(|conversation| self.known.contains_key(conversation));
        gone.extend(silent.into_iter().filter_map(|conversation| self.fall_silent(conversation)));
        gone
    }
}
