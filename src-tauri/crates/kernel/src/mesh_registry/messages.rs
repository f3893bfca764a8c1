//! Messages to other machines and from them: how far each came, and what was answered.

use super::{MESSAGES_EACH_MAX, MeshMessage, MeshRegistry, MeshWaits, Unanswered};
use mesh::port::Never;
use mesh::{Answer, Input, NodeId, Says, Waits};
use model::envelope::Envelope;
use model::mesh::{DeliveryState, NeverReason};
use model::{Digest, UnixMs};

/// Whose messages are kept apart from those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Author {
    /// This machine, to another.
    To(NodeId),
    /// Another machine, which signed it.
    Of(NodeId),
    /// Whoever sent what no machine signed: what it names as its origin may be anybody's.
    Nobody,
}

impl MeshRegistry {
    /// A message is on its way to a machine, for the first time or on another way.
    pub(super) fn sent(&mut self, to: NodeId, input: &Input, at: UnixMs) {
        let id = input.id();
        if let Some(message) = self.message_mut(&id) {
            if message.is_outgoing {
                (message.state, message.never, message.node) = (DeliveryState::Queued, None, to);
                message.waits = None;
            }
            return;
        }
        if Some(input.origin) == self.node {
            let envelope = Envelope::from_bytes(input.envelope.as_bytes()).ok();
            let said = envelope.map(|envelope| (envelope.payload.sender.message_id, envelope.payload.body));
            let (message_id, text) = said.unzip();
            self.sent.extend(message_id.map(|message_id| (message_id, id)));
            let message = shown(id, (to, true), &input.conversation, text, at);
            self.show(Author::To(to), MeshMessage { state: DeliveryState::Queued, ..message });
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
        let at = self.unanswered.get(&id).map_or(at, |one| one.at);
        let waits = Unanswered { node, conversation: conversation.clone(), at, task_id: None };
        self.unanswered.insert(id, waits);
        if self.message(&id).is_none() {
            let author = if text.is_some() { Author::Of(node) } else { Author::Nobody };
            self.show(author, shown(id, (node, false), conversation, text, at));
        }
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
        (message.answer, message.answered_at, message.waits) = (Some(answer.body.clone()), Some(at), None);
        message.node = from;
        (message.state, message.never) = match answer.refused {
            true => (DeliveryState::Never, Some(NeverReason::Refused)),
            false => (DeliveryState::Opened, None),
        };
    }

    /// The machine that works on a message of this one says whether it waits for its person. What it said later counts.
    pub(super) fn heard_waits(&mut self, from: NodeId, told: &Waits, at: UnixMs) {
        let message = self.message_mut(&told.message);
        let is_open = |one: &&mut MeshMessage| {
            one.is_outgoing
                && one.answer.is_none()
                && one.node == from
                && one.conversation == told.conversation
                && one.waits.is_none_or(|before| before.told_at < told.at)
        };
        let Some(message) = message.filter(is_open) else { return };
        // What is said once more is as old as when it was heard first.
        let same = message.waits.filter(|before| before.waits == told.waits);
        let heard_at = same.map_or(at, |before| before.heard_at);
        message.waits = Some(MeshWaits { waits: told.waits, told_at: told.at, heard_at });
        // Whoever works on it has opened it.
        (message.state, message.never) = (DeliveryState::Opened, None);
    }

    pub(super) fn never(&mut self, id: Digest, why: NeverReason) {
        if let Some(message) = self.message_mut(&id).filter(|one| one.is_outgoing) {
            (message.state, message.never, message.waits) = (DeliveryState::Never, Some(why), None);
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

    pub(super) fn message_mut(&mut self, id: &Digest) -> Option<&mut MeshMessage> {
        let place = *self.places.get(id)?;
        self.messages.get_mut(place)
    }

    fn show(&mut self, author: Author, message: MeshMessage) {
        let place = self.messages.next_place();
        self.places.insert(message.id, place);
        let unanswered = &self.unanswered;
        // What still waits for its end is shown longest.
        let is_done = |one: &MeshMessage| match one.is_outgoing {
            true => one.answer.is_some() || one.never.is_some(),
            false => !unanswered.contains_key(&one.id),
        };
        let message = MeshMessage { place, ..message };
        if let Some(gone) = self.messages.push((author, MESSAGES_EACH_MAX), message, is_done) {
            self.places.remove(&gone.id);
            if gone.is_outgoing {
                self.sent.retain(|_, id| *id != gone.id);
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
        waits: None,
    }
}

pub(super) const fn reason(why: Never) -> NeverReason {
    match why {
        Never::Expired => NeverReason::Expired,
        Never::Withdrawn => NeverReason::Withdrawn,
        Never::Rerouted => NeverReason::Rerouted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mesh::{Delivered, ReceiptLine};
    use model::mesh::MeshAlert;

    const ME: NodeId = NodeId(Digest([1; 32]));
    const LOUD: NodeId = NodeId(Digest([2; 32]));
    const OTHER: NodeId = NodeId(Digest([3; 32]));
    const AT: UnixMs = UnixMs(0);

    fn id(n: u64) -> Digest {
        Digest::of(&n.to_be_bytes())
    }

    fn input(n: u64) -> Input {
        Input { conversation: "c".to_owned(), origin: ME, envelope: format!("envelope {n}"), hops: 0 }
    }

    fn answer(to: Digest) -> Answer {
        Answer { conversation: "c".to_owned(), answers: to, body: "done".to_owned(), refused: false }
    }

    #[test]
    fn what_a_machine_said_last_of_whether_a_message_waits_counts_until_its_answer() {
        let mut registry = MeshRegistry { node: Some(ME), ..MeshRegistry::default() };
        registry.sent(OTHER, &input(1), AT);
        let message = input(1).id();
        let told =
            |waits: bool, at: i64| Waits { conversation: "c".to_owned(), message, waits, at: UnixMs(at) };
        let stands = |registry: &MeshRegistry| registry.message(&message).unwrap().waits.map(|one| one.waits);
        // Only the machine that works on it says so, and of the conversation that it is in.
        registry.heard_waits(LOUD, &told(true, 1), AT);
        registry.heard_waits(OTHER, &Waits { conversation: "d".to_owned(), ..told(true, 1) }, AT);
        assert_eq!(stands(&registry), None);
        registry.heard_waits(OTHER, &told(true, 5), AT);
        assert_eq!(stands(&registry), Some(true));
        assert_eq!(registry.message(&message).unwrap().state, DeliveryState::Opened);
        // A machine that began anew says it once more: it waits no shorter for that.
        registry.heard_waits(OTHER, &told(true, 6), AT.plus_ms(9_000));
        assert_eq!(registry.message(&message).unwrap().waits.unwrap().heard_at, AT);
        registry.heard_waits(OTHER, &told(false, 4), AT);
        assert_eq!(stands(&registry), Some(true), "what was written before it came late");
        registry.heard_waits(OTHER, &told(false, 7), AT);
        assert_eq!(stands(&registry), Some(false));
        registry.heard_waits(OTHER, &told(true, 8), AT);
        registry.heard(OTHER, &answer(message), AT);
        assert_eq!(stands(&registry), None);
        registry.heard_waits(OTHER, &told(true, 9), AT);
        assert_eq!(stands(&registry), None, "it is answered");
    }

    #[test]
    fn a_flood_of_one_machine_pushes_out_no_message_of_another_and_none_of_the_person() {
        let (conversation, words) = ("c".to_owned(), || Some("words".to_owned()));
        let mut registry = MeshRegistry { node: Some(ME), ..MeshRegistry::default() };
        registry.sent(LOUD, &input(0), AT);
        registry.came(id(1), (OTHER, &conversation), words(), AT);
        registry.came(id(2), (LOUD, &conversation), words(), AT);
        // Signed and answered, signed and open, and such as only say that they are of the other one.
        for n in 10..1_500 {
            registry.came(id(n), (LOUD, &conversation), words(), AT);
            registry.answered(&answer(id(n)), AT);
        }
        registry.answered(&answer(id(1)), AT);
        assert!(registry.message(&id(2)).is_some(), "it waits still, and those that were answered do not");
        for n in 2_000..3_500 {
            registry.came(id(n), (LOUD, &conversation), words(), AT);
            registry.came(id(10_000 + n), (OTHER, &conversation), None, AT);
        }
        assert!(registry.message(&id(1)).is_some(), "the other machine's is there though it is over");
        assert!(registry.message(&input(0).id()).is_some(), "what the person sent to the loud one is there");
        assert_eq!(registry.messages().count(), 1 + 1 + 2 * MESSAGES_EACH_MAX);
        assert_eq!(registry.places.len(), registry.messages().count());
        // A person's own go by themselves alone, those that are over first.
        registry.sent(OTHER, &input(1), AT);
        for n in 2..1_000 {
            registry.sent(LOUD, &input(n), AT);
            registry.heard(LOUD, &answer(input(n).id()), AT);
        }
        assert!(registry.message(&input(0).id()).is_some() && registry.message(&input(1).id()).is_some());
        assert!(registry.message(&input(2).id()).is_none() && registry.message(&input(999).id()).is_some());
        let places: Vec<u64> = registry.messages().map(|one| one.place).collect();
        assert!(places.is_sorted_by(|one, next| one < next), "the oldest first");
    }

    #[test]
    fn a_flood_of_one_machine_pushes_out_no_alert_and_no_receipt_of_another() {
        let mut registry = MeshRegistry { node: Some(ME), ..MeshRegistry::default() };
        let went_back =
            |from: NodeId| Delivered::RolledBack { from, origin: "a log".to_owned(), seen: 2, told: 1 };
        let line = |number: u64| ReceiptLine { number, sha256: id(number), at: AT };
        registry.alert(&went_back(OTHER), AT);
        registry.alert(&went_back(LOUD), AT);
        registry.apply_receipts(OTHER, &[line(1)]);
        for number in 0..300 {
            registry.alert(&Delivered::Forked { from: LOUD, number }, AT);
        }
        for first in 0..220 {
            let lines: Vec<ReceiptLine> = (1..=50).map(|number| line(50 * first + number)).collect();
            registry.apply_receipts(LOUD, &lines);
            if first == 0 {
                registry.apply_receipts(LOUD, &lines);
                assert_eq!(registry.receipts().count(), 51, "what is told anew is there already");
            }
        }
        let went: Vec<_> = registry.alerts().filter(|one| one.kind == MeshAlert::RolledBack).collect();
        assert_eq!(went.len(), 2, "nor does it push out what there is to know about itself");
        assert_eq!(registry.alerts().count(), 2 + super::super::ALERTS_EACH_MAX);
        let of = |node: NodeId| registry.receipts().filter(move |one| one.node == node);
        assert_eq!((of(OTHER).count(), of(LOUD).count()), (1, super::super::RECEIPTS_EACH_MAX));
        assert_eq!(of(LOUD).next_back().map(|one| one.line.number), Some(11_000));
    }
}
