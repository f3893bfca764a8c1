//! Messages to other machines and from them: how far each came, and what was answered.

use super::{MESSAGES_MAX, MeshMessage, MeshRegistry, Unanswered};
use mesh::port::Never;
use mesh::{Answer, Input, NodeId, Says};
use model::envelope::Envelope;
use model::mesh::{DeliveryState, NeverReason};
use model::{Digest, UnixMs};

impl MeshRegistry {
    /// A message is on its way to a machine, for the first time or on another way.
    pub(super) fn sent(&mut self, to: NodeId, input: &Input, at: UnixMs) {
        let id = input.id();
        if let Some(message) = self.message_mut(&id) {
            if message.is_outgoing {
                (message.state, message.never, message.node) = (DeliveryState::Queued, None, to);
            }
            return;
        }
        if Some(input.origin) == self.node {
            let envelope = Envelope::from_bytes(input.envelope.as_bytes()).ok();
            let said = envelope.map(|envelope| (envelope.payload.sender.message_id, envelope.payload.body));
            let (message_id, text) = said.unzip();
            self.sent.extend(message_id.map(|message_id| (message_id, id)));
            let message = shown(id, (to, true), &input.conversation, text, at);
            self.show(MeshMessage { state: DeliveryState::Queued, ..message });
        }
    }

    /// A message of another machine. Its words are shown where that machine signed them.
    pub(super) fn came(&mut self, id: Digest, of: (NodeId, &String), text: Option<String>, at: UnixMs) {
        let (node, conversation) = of;
        if Some(node) == self.node {
            // One that this machine took in came back: its conversation is here by now.
            if let Some(message) = self.message_mut(&id) {
                (message.state, message.never, message.node) = (DeliveryState::Opened, None, node);
            }
            return;
        }
        let (conversation, task_id) = (conversation.clone(), None);
        if self.message(&id).is_none() {
            self.show(shown(id, (node, false), &conversation, text, at));
        }
        let at = self.unanswered.get(&id).map_or(at, |one| one.at);
        self.unanswered.insert(id, Unanswered { node, conversation, at, task_id });
    }

    /// This machine answers a message.
    pub(super) fn answered(&mut self, answer: &Answer, at: UnixMs) {
        self.unanswered.remove(&answer.answers);
        if let Some(message) = self.message_mut(&answer.answers).filter(|one| !one.is_outgoing) {
            (message.answer, message.answered_at) = (Some(answer.body.clone()), Some(at));
            message.never = answer.refused.then_some(NeverReason::Refused);
        }
    }

    /// Another machine answered a message of this one: the first answer stands. Whoever names the message has read it.
    pub(super) fn heard(&mut self, from: NodeId, answer: &Answer, at: UnixMs) {
        let message = self.message_mut(&answer.answers);
        let is_open = |one: &&mut MeshMessage| {
            one.is_outgoing && one.answer.is_none() && one.conversation == answer.conversation
        };
        let Some(message) = message.filter(is_open) else { return };
        (message.answer, message.answered_at) = (Some(answer.body.clone()), Some(at));
        message.node = from;
        (message.state, message.never) = match answer.refused {
            true => (DeliveryState::Never, Some(NeverReason::Refused)),
            false => (DeliveryState::Opened, None),
        };
    }

    pub(super) fn never(&mut self, id: Digest, why: NeverReason) {
        if let Some(message) = self.message_mut(&id).filter(|one| one.is_outgoing) {
            (message.state, message.never) = (DeliveryState::Never, Some(why));
        }
    }

    /// The message that a letter carries which was not opened yet.
    pub(super) fn waiting(&self, to: NodeId, number: u64) -> Option<Digest> {
        match &self.state.as_ref()?.lanes().get(&to)?.waiting.get(&number)?.says {
            Says::Input(input) => Some(input.id()),
            _ => None,
        }
    }

    /// The messages of the letters up to one that were not opened yet.
    pub(super) fn waiting_upto(&self, to: NodeId, upto: u64) -> Vec<Digest> {
        let lane = self.state.as_ref().and_then(|state| state.lanes().get(&to));
        let letters = lane.into_iter().flat_map(|lane| lane.waiting.range(..=upto));
        let ids = letters.filter_map(|(_, letter)| match &letter.says {
            Says::Input(input) => Some(input.id()),
            _ => None,
        });
        ids.collect()
    }

    pub(super) fn index_of(&self, id: &Digest) -> Option<usize> {
        let (place, first) = (self.places.get(id)?, self.messages.front()?.place);
        usize::try_from(place.checked_sub(first)?).ok()
    }

    pub(super) fn message_mut(&mut self, id: &Digest) -> Option<&mut MeshMessage> {
        let index = self.index_of(id)?;
        self.messages.get_mut(index)
    }

    fn show(&mut self, message: MeshMessage) {
        self.said += 1;
        self.places.insert(message.id, self.said);
        self.messages.push_back(MeshMessage { place: self.said, ..message });
        if self.messages.len() > MESSAGES_MAX
            && let Some(oldest) = self.messages.pop_front()
        {
            self.places.remove(&oldest.id);
            if oldest.is_outgoing {
                self.sent.retain(|_, id| *id != oldest.id);
            }
        }
    }
}

/// A message as it is shown first. `place` is given where it is kept.
fn shown(
    id: Digest,
    (node, is_outgoing): (NodeId, bool),
    conversation: &str,
    text: Option<String>,
    at: UnixMs,
) -> MeshMessage {
    MeshMessage {
        place: 0,
        id,
        at,
        is_outgoing,
        node,
        conversation: conversation.to_owned(),
        text,
        state: DeliveryState::Opened,
        accepted_by: None,
        never: None,
        task_id: None,
        answer: None,
        answered_at: None,
    }
}

pub(super) const fn reason(why: Never) -> NeverReason {
    match why {
        Never::Expired => NeverReason::Expired,
        Never::Withdrawn => NeverReason::Withdrawn,
        Never::Rerouted => NeverReason::Rerouted,
    }
}
