//! Which machines are paired, which are here, and the group that they share (HV-3.7-1).

use crate::moves::are_relays;
use crate::node::{Node, text};
use crate::port::{Fact, KeepSecret, Never};
use crate::sealed::Sealing;
use crate::{
    Chance, Error, GroupSecret, NodeId, PEERS_MAX, PROTOCOL, Peer, Presence, THROUGH_MAX, WITHOUT_MAX,
};
use model::UnixMs;
use seal::{Digest, canon};
use std::collections::BTreeSet;

/// How often a node tells that it is here, in milliseconds, in a group of up to [`PRESENCE_MACHINES`]; less often in proportion in
/// a larger one, so that what each reads in a minute does not grow with the group.
pub const PRESENCE_EVERY_MS: i64 = 60_000;
/// Machines of a group up to which presence is as frequent as it gets.
pub const PRESENCE_MACHINES: i64 = 32;
/// How many times it could have been told anew before a presence expires.
pub const PRESENCE_COUNTS: i64 = 10;
/// How many times less often a machine tells that it is here which has no news and holds no schedule, and is to hold none.
const QUIET: i64 = 5;
/// For how long a presence may say that it counts, in milliseconds.
const PRESENCE_MS_MAX: i64 = 2 * 86_400_000;

/// The latest epoch that the first group of a node may have.
const EPOCH_FIRST_MAX: u64 = 1 << 40;
/// For how long a node waits for another to draw a group anew that a withdrawn machine may have, in milliseconds.
const RENEW_AFTER_MS: i64 = 2 * PRESENCE_EVERY_MS;
/// How long the machines have to follow to a newer group, in milliseconds.
const FOLLOW_MS: i64 = 10 * PRESENCE_EVERY_MS;
/// How many of a large group tell a machine the newer group that speaks to an older one.
const SHARED_BY: u32 = 16;
/// By how many epochs a group may be later than the one before it.
const EPOCHS_AHEAD_MAX: u64 = 1_024;

/// What a node knows of another that is here.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) presence: Presence,
    /// When it came, by this node's clock.
    pub(crate) heard: UnixMs,
}

impl<S: Sealing> Node<S> {
    /// Which machines are here, and what they can do (HV-3.7-1): those whose presence did not expire.
    pub fn here(&self) -> impl Iterator<Item = (NodeId, &Presence)> {
        let counts = |seen: &Seen| seen.presence.until.plus_ms(crate::CLOCK_DIFFERENCE_MS) > self.now;
        let here = self.seen.iter().filter(move |(node, seen)| self.state.is_peer(**node) && counts(seen));
        here.map(|(node, seen)| (*node, &seen.presence))
    }

    pub(crate) fn presence(&mut self, from: NodeId, group: NodeId, text: &str, chance: &mut dyn Chance) {
        let Ok(presence) = canon::from_canonical::<Presence>(text.as_bytes()) else {
            return;
        };
        let is_fit = presence.can.is_fit()
            && are_relays(&presence.relays)
            && presence.load <= 100
            && presence.at <= self.now.plus_ms(crate::CLOCK_DIFFERENCE_MS)
            && presence.until.plus_ms(crate::CLOCK_DIFFERENCE_MS) > self.now
            && presence.until.0.saturating_sub(presence.at.0) <= PRESENCE_MS_MAX;
        // A relay may show an old one again: it makes nobody younger.
        let is_newer = self.seen.get(&from).is_none_or(|seen| seen.presence.at < presence.at);
        if !is_fit || !is_newer {
            return;
        }
        self.reads_elsewhere(from, &presence.relays);
        let has = presence.has;
        self.seen.insert(from, Seen { presence, heard: self.now });
        self.share_group(from, group, chance);
        if has != self.has_digest() {
            self.mend(from, chance);
        }
        self.ask_proof(from, chance);
        self.give_back(chance);
    }

    /// A peer that speaks to an older group gets the newer one.
    fn share_group(&mut self, to: NodeId, theirs: NodeId, chance: &mut dyn Chance) {
        // That one was withdrawn may be known from who has the secret before its notice comes.
        let is_kept_out = self.state.without.contains(&to);
        if is_kept_out || self.state.group.is_none_or(|(_, group)| group == theirs) {
            return;
        }
        // All that hear it could tell it. In a large group a few do, and again each time that it speaks to the older one.
        let others = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        if others > SHARED_BY && chance.below(others) >= SHARED_BY {
            return;
        }
        if let Some(secret) = self.own_group() {
            self.write_loose(to, crate::Says::Group(secret), chance);
        }
    }

    /// The secret of the newest group, and whom it keeps out; the machine that shows a code tells it.
    pub fn own_group(&self) -> Option<GroupSecret> {
        let (epoch, group) = self.state.group?;
        let secret = Digest(self.sealing.group_secret(group)?);
        let (without, through) = (self.state.without.clone(), self.state.through.clone());
        Some(GroupSecret { epoch, secret, without, through })
    }

    /// The secret of a group: one that no withdrawn machine may have, then the later epoch, and of the same epoch that with the
    /// lower key.
    pub(crate) fn take_group(&mut self, mut secret: GroupSecret, from: Option<NodeId>) {
        secret.through.extend(from);
        // Nobody takes the last epoch there is: the group could never be drawn anew.
        let next = self.state.group.map_or(EPOCH_FIRST_MAX, |(epoch, _)| epoch + EPOCHS_AHEAD_MAX);
        if secret.epoch > next || secret.without.len() > WITHOUT_MAX || secret.through.len() > THROUGH_MAX {
            return;
        }
        let known = self.state.group;
        let is_this = known.is_some_and(|(epoch, group)| {
            epoch == secret.epoch && self.sealing.group_secret(group) == Some(*secret.secret.as_bytes())
        });
        let is_open = self.may_be_had(&secret.without, &secret.through);
        let mends = self.is_overheard() && !is_open;
        let is_late = |(epoch, _)| (secret.epoch < epoch || is_open) && !mends;
        if is_this || known.is_some_and(is_late) {
            return;
        }
        // Each one pushes out an older one, which others may still speak to: they get the time to follow.
        let now = self.now;
        self.given_groups.retain(|at| at.plus_ms(FOLLOW_MS) > now);
        if from.is_some() && self.given_groups.len() + 1 >= crate::GROUPS_KEPT {
            return;
        }
        self.given_groups.extend(from.map(|_| now));
        if let Ok(group) = self.sealing.add_group(secret.secret.as_bytes()) {
            let wins = |(epoch, id)| crate::state::wins((secret.epoch, group), (epoch, id));
            if mends || known.is_none_or(wins) {
                self.step.keep.push(KeepSecret { group, secret: *secret.secret.as_bytes() });
                let GroupSecret { epoch, without, through, .. } = secret;
                self.record(Fact::Group { epoch, group, without, through });
                self.subscribe();
                self.told_at = None;
            } else if let Some(secret) = known.and_then(|(_, id)| self.sealing.group_secret(id)) {
                // The newest stays the one that seals.
                let _ = self.sealing.add_group(&secret);
            }
        }
    }

    fn draw_group(&mut self, chance: &mut dyn Chance) {
        let epoch = self.state.group.map_or(1, |(epoch, _)| epoch + 1);
        let secret = self.sealing.draw_group(chance);
        let without = self.state.withdrawn.keys().take(WITHOUT_MAX).copied().collect();
        let secret = GroupSecret { epoch, secret: Digest(secret), without, through: BTreeSet::new() };
        self.take_group(secret, None);
    }

    /// Draws a group that no withdrawn machine can read, and gives it to all others.
    fn renew_group(&mut self, chance: &mut dyn Chance) {
        self.draw_group(chance);
        let peers: Vec<NodeId> = self.state.peers().map(|peer| peer.node).collect();
        if let Some(secret) = self.own_group() {
            for peer in peers {
                self.write_loose(peer, crate::Says::Group(secret.clone()), chance);
            }
        }
    }

    /// Whether a withdrawn machine may have the secret of the group: two that were withdrawn at once, or one that drew it itself.
    fn is_overheard(&self) -> bool {
        self.state.group.is_some() && self.may_be_had(&self.state.without, &self.state.through)
    }

    fn may_be_had(&self, without: &BTreeSet<NodeId>, through: &BTreeSet<NodeId>) -> bool {
        let withdrawn = &self.state.withdrawn;
        // More than a secret can name are taken to be kept out.
        (withdrawn.len() <= WITHOUT_MAX && withdrawn.keys().any(|node| !without.contains(node)))
            || through.iter().any(|node| withdrawn.contains_key(node))
    }

    /// Draws the group anew where a withdrawn machine may have it and whoever withdrew that did not mend it: any does, by chance.
    pub(crate) fn keep_group_closed(&mut self, chance: &mut dyn Chance) {
        if !self.is_overheard() {
            self.overheard = None;
            return;
        }
        let since = *self.overheard.get_or_insert(self.now);
        let peers = u32::try_from(self.state.peers().count()).unwrap_or(u32::MAX);
        if since.plus_ms(RENEW_AFTER_MS) <= self.now && chance.below(peers) == 0 {
            self.renew_group(chance);
        }
    }

    pub(crate) fn announce(&mut self, chance: &mut dyn Chance) {
        let has = self.has_digest();
        let (Some((_, group)), Some((can, load, relays))) = (self.state.group, &self.own) else {
            return;
        };
        let presence = Presence {
            protocol: PROTOCOL,
            at: self.now,
            until: self.now.plus_ms(self.presence_every() * PRESENCE_COUNTS),
            can: can.clone(),
            load: (*load).min(100),
            relays: relays.clone(),
            has,
        };
        let event = text(&presence).and_then(|text| self.sealing.announce(group, &text, self.now, chance));
        if let Ok(event) = event {
            self.told_at = Some(self.now);
            self.news = false;
            self.write_to_all(&event);
        }
    }

    pub(crate) fn presence_every(&self) -> i64 {
        PRESENCE_EVERY_MS.saturating_mul(self.state.largeness())
    }

    /// How often the machines tell that they are here which schedules name: no machine waits for any other to fall silent.
    pub(crate) fn watched_every(&self) -> i64 {
        let watched: BTreeSet<&NodeId> = self.state.schedules().flat_map(|one| &one.ranks).collect();
        let watched = i64::try_from(watched.len()).unwrap_or(i64::MAX);
        let times = watched.saturating_add(PRESENCE_MACHINES - 1) / PRESENCE_MACHINES;
        PRESENCE_EVERY_MS.saturating_mul(times.max(1)).min(self.presence_every())
    }

    /// When this node tells next that it is here.
    pub(crate) fn tells_at(&self) -> UnixMs {
        let is_watched = self.state.schedules().any(|one| one.ranks.contains(&self.state.me));
        let every = match (is_watched, self.news) {
            (true, _) => self.watched_every(),
            (false, true) => self.presence_every(),
            (false, false) => self.presence_every().saturating_mul(QUIET),
        };
        self.told_at.map_or(self.now, |at| at.plus_ms(every))
    }

    /// When a node was last here, by this node's clock; since it began, it is given the time to tell.
    pub(crate) fn last_heard(&self, node: NodeId) -> UnixMs {
        self.seen.get(&node).map_or(self.began, |seen| seen.heard.max(self.began))
    }

    /// When each paired machine was here last, by this node's clock; of one that was not heard since this node listens, since when that
    /// is, and `false`.
    pub fn heard(&self) -> impl Iterator<Item = (NodeId, UnixMs, bool)> {
        let since = if self.is_reached() { self.began.max(self.reached) } else { self.now };
        self.state.peers().map(move |peer| {
            let heard = self.seen.get(&peer.node).map(|seen| seen.heard).filter(|at| *at >= since);
            (peer.node, heard.unwrap_or(since), heard.is_some())
        })
    }

    /// How long a machine that is here may say nothing, in milliseconds, twice over.
    pub fn quiet_ms(&self) -> i64 {
        self.presence_every().saturating_mul(2 * QUIET)
    }

    pub(crate) fn pair(
        &mut self,
        peer: Peer,
        group: Option<&GroupSecret>,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        if peer.node == self.state.me || self.state.withdrawn.contains_key(&peer.node) {
            return Err(Error::Refused("this key cannot be paired: it is this machine's, or was withdrawn"));
        }
        if self.state.peers.len() >= PEERS_MAX || !are_relays(&peer.relays) || peer.name.len() > 128 {
            return Err(Error::TooLarge);
        }
        match group {
            Some(group) => self.take_group(group.clone(), Some(peer.node)),
            None if self.state.group.is_none() => self.draw_group(chance),
            None => {}
        }
        self.record(Fact::Paired(peer));
        Ok(())
    }

    pub(crate) fn withdraw(&mut self, node: NodeId, chance: &mut dyn Chance) -> Result<(), Error> {
        if !self.state.is_peer(node) {
            return Err(Error::NotPaired(node));
        }
        let upto = self.state.noticed(node);
        self.tell_all(crate::Tells::Withdrawn { node, upto }, chance)?;
        // Whoever is left gets a group that the withdrawn machine cannot read.
        self.renew_group(chance);
        Ok(())
    }

    /// A machine is withdrawn: what waits for it will never come, and what it was to pass on looks for another owner.
    pub(crate) fn take_withdrawal(&mut self, node: NodeId, by: NodeId, upto: u64) {
        let known = self.state.withdrawn.get(&node);
        let is_flood = known.is_none()
            && !self.state.peers.contains_key(&node)
            && self.state.withdrawn.len() >= PEERS_MAX;
        if is_flood {
            return;
        }
        if node == self.state.me || known.is_some_and(|known| *known <= upto) {
            return;
        }
        let lane = self.state.lanes.get(&node).cloned().unwrap_or_default();
        for (number, letter) in lane.waiting {
            self.record(Fact::Never { to: node, number, why: Never::Withdrawn });
            if let crate::Says::Input(input) = letter.says {
                self.record(Fact::Held(input));
            }
        }
        self.record(Fact::Withdrawn { node, by, upto });
        self.seen.remove(&node);
        self.moves.forget(node);
        self.early.remove(&node);
        self.retries.retain(|(to, _), _| *to != node);
        self.owed.remove(&node);
        self.early_notices.retain(|(maker, _), _| *maker != node);
        self.route_held(None);
    }
}
