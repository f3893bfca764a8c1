//! Whose a conversation is, and how a message finds it (HV-3.1-2, -4).

use crate::node::Node;
use crate::port::{Command, Delivered, Fact, Never};
use crate::sealed::{Sealing, WireEvent};
use crate::{Chance, Error, FIELD_BYTES_MAX, HOPS_MAX, HandOver, Input, NodeId, Says, Tells};

/// By how many epochs a conversation that is handed over may be later than what is known of it.
const EPOCHS_AHEAD_MAX: u64 = 1_024;
/// Messages that wait for an owner to be known.
const HELD_MAX: usize = 10_000;
/// How often all are told that a conversation is spoken in, in milliseconds.
const USED_EVERY_MS: i64 = 86_400_000;
/// Conversations of which that is told within an hour, whoever speaks in them. Of the others it is told when they are spoken in next.
const USED_MAX: usize = 64;
const HOUR_MS: i64 = 3_600_000;
/// Conversations that are taken over from one machine within a minute: all others are told of each.
const HAND_OVERS_MAX: u64 = 120;
const MINUTE_MS: u64 = 60_000;

impl<S: Sealing> Node<S> {
    pub(crate) fn said_of_conversation(
        &mut self,
        command: Command,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        match command {
            Command::Own { conversation } => {
                if self.state.owner(&conversation).is_some() {
                    return Err(Error::Refused("the conversation is on a machine already"));
                }
                self.own(conversation, 1, false, chance)
            }
            Command::HandOver { conversation, to, head } => {
                if !self.state.may_write(&conversation) {
                    return Err(Error::Refused("the conversation is not on this machine"));
                }
                let epoch = self.state.owner(&conversation).map_or(1, |(epoch, _)| epoch + 1);
                let over = HandOver { conversation: conversation.clone(), epoch, head };
                self.queue(to, Says::HandOver(over))?;
                self.record(Fact::Passing { conversation, to, epoch });
                Ok(())
            }
            Command::Take { conversation } => {
                if self.state.may_write(&conversation) {
                    return Err(Error::Refused("the conversation is on this machine already"));
                }
                let known = self.state.owner(&conversation).map_or(0, |(epoch, _)| epoch);
                // An owner that handed over, to a machine that never took it, begins after that one.
                let passed = self.state.passing.get(&conversation).map_or(0, |(_, epoch)| *epoch);
                self.own(conversation, known.max(passed) + 1, true, chance)
            }
            Command::Route { conversation, envelope } => {
                if envelope.len() > FIELD_BYTES_MAX || conversation.len() > 256 {
                    return Err(Error::TooLarge);
                }
                let input = Input { conversation, origin: self.state.me, envelope, hops: 0 };
                if self.route(input) {
                    Ok(())
                } else {
                    Err(Error::Refused(
                        "too many messages wait already for a conversation of which nobody says where it is; take it with \
                         `hermit mesh take`",
                    ))
                }
            }
            _ => Ok(()),
        }
    }

    fn own(
        &mut self,
        conversation: String,
        epoch: u64,
        taken: bool,
        chance: &mut dyn Chance,
    ) -> Result<(), Error> {
        let used_at = self.now;
        self.tell_all(Tells::Owner { conversation, epoch, taken, used_at }, chance)
    }

    /// Tells that conversations of this node are spoken in, where that was not told for long or one of them had fallen silent.
    pub(crate) fn tell_used(&mut self, chance: &mut dyn Chance) {
        let (now, me) = (self.now, self.state.me);
        for conversation in std::mem::take(&mut self.spoken) {
            let used_at = self.state.owners.used_at(&conversation, me);
            let is_known = used_at.is_some_and(|at| at.plus_ms(USED_EVERY_MS) > now);
            let own = self.state.owner(&conversation).filter(|(_, by)| *by == me);
            let Some((epoch, _)) = own.filter(|_| !is_known && self.state.may_write(&conversation)) else {
                continue;
            };
            self.used.retain(|at| (now.plus_ms(-HOUR_MS)..=now).contains(at));
            if self.used.len() < USED_MAX {
                self.used.push(now);
                // Where there is no room for it, the conversation stays as silent as it is.
                let _ = self.own(conversation, epoch, false, chance);
            }
        }
    }

    /// The old owner wrote nothing since it sent this: the conversation is this node's.
    pub(crate) fn take_hand_over(&mut self, from: NodeId, over: HandOver, chance: &mut dyn Chance) {
        let owner = self.state.owner(&over.conversation);
        let known = owner.map_or(0, |(epoch, _)| epoch);
        // Who was the owner until this epoch is known: nobody else hands it over. Where it is not, its claim may still be on its way.
        let is_anothers = owner.is_some_and(|(epoch, by)| epoch + 1 == over.epoch && by != from);
        let fits = over.epoch > known && over.epoch <= known + EPOCHS_AHEAD_MAX && !is_anothers;
        if fits && self.may_hand_over(from) {
            // A claim that does not fit is none: the conversation stays with nobody until it is taken.
            let _ = self.own(over.conversation, over.epoch, false, chance);
        }
    }

    /// Whether one more conversation is taken over from a machine now. What is more stays with nobody until it is taken, and a person is
    /// told once.
    fn may_hand_over(&mut self, from: NodeId) -> bool {
        let known = self.handed.get(&from).copied();
        let within = known.filter(|(since, _)| self.now.0.abs_diff(since.0) < MINUTE_MS);
        let (since, count) = within.unwrap_or((self.now, 0));
        self.handed.insert(from, (since, count.saturating_add(1)));
        if count == HAND_OVERS_MAX {
            self.deliver(Delivered::TooManyHandOvers { from, most: HAND_OVERS_MAX });
        }
        count < HAND_OVERS_MAX
    }

    pub(crate) fn owner_told(&mut self, event: &WireEvent, conversation: &str, taken: bool) {
        let me = self.state.me;
        let before = self.state.owner(conversation);
        self.record(Fact::Noticed(event.clone()));
        let after = self.state.owner(conversation);
        let Some((epoch, by)) = after.filter(|_| after != before) else {
            return;
        };
        if by == me {
            self.deliver(Delivered::Owns { conversation: conversation.to_owned(), epoch });
        } else if before.is_some_and(|(_, owner)| owner == me) {
            self.deliver(Delivered::Displaced { conversation: conversation.to_owned(), epoch, by });
        }
        if let Some((_, old)) = before.filter(|_| taken) {
            self.reroute(conversation, old, by);
        }
        self.route_held(Some(conversation));
    }

    /// What waits for an owner that did not hand over goes to the new one instead.
    fn reroute(&mut self, conversation: &str, old: NodeId, new: NodeId) {
        let Some(lane) = self.state.lanes.get(&old).filter(|_| old != new) else {
            return;
        };
        let waiting = lane.waiting.iter().filter_map(|(number, letter)| match &letter.says {
            Says::Input(input) if input.conversation == conversation => Some((*number, input.clone())),
            _ => None,
        });
        for (number, input) in waiting.collect::<Vec<_>>() {
            self.record(Fact::Never { to: old, number, why: Never::Rerouted });
            self.record(Fact::Held(input));
        }
    }

    /// Sends on what waited for the owner of a conversation to be known, or of any.
    pub(crate) fn route_held(&mut self, of: Option<&str>) {
        let state = &self.state;
        let has_owner = |name: &String| state.passing.contains_key(name) || state.owner(name).is_some();
        let is_of =
            |input: &&Input| of.is_none_or(|of| of == input.conversation) && has_owner(&input.conversation);
        let held: Vec<Input> = state.held.values().filter(is_of).cloned().collect();
        for input in held {
            let id = input.id();
            if self.send_on(Input { hops: 0, ..input }) {
                self.record(Fact::Released { input: id });
            }
        }
    }

    /// A message that another node passed here.
    pub(crate) fn take_input(&mut self, input: Input) {
        let is_fit = input.envelope.len() <= FIELD_BYTES_MAX && input.conversation.len() <= 256;
        if is_fit {
            // Where as many wait as may, it is lost: the node that took it in has no answer, and says so.
            self.route(input);
        }
    }

    fn route(&mut self, input: Input) -> bool {
        if self.send_on(input.clone()) {
            return true;
        }
        let may_wait = self.state.held.len() < HELD_MAX;
        if may_wait {
            self.record(Fact::Held(input));
        }
        may_wait
    }

    /// Gives a message to its conversation, or to the node that has it; false where neither can be.
    fn send_on(&mut self, input: Input) -> bool {
        let id = input.id();
        if self.state.given.contains(&id) {
            return true;
        }
        let passing = self.state.passing.get(&input.conversation).copied();
        let (epoch, owner) = match (passing, self.state.owner(&input.conversation)) {
            (Some((to, epoch)), _) => (epoch, to),
            (None, Some(owner)) => owner,
            (None, None) => return false,
        };
        if owner == self.state.me {
            self.record(Fact::Given { input: id });
            self.spoken.insert(input.conversation.clone());
            self.deliver(Delivered::Input { input, epoch });
            return true;
        }
        let hops = input.hops + 1;
        hops <= HOPS_MAX && self.queue(owner, Says::Input(Input { hops, ..input })).is_ok()
    }
}
