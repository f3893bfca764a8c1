//! This machine in the mesh of its person, as the store's own events say (mesh.md 4). Everything here follows from recorded facts
//! and deliveries: whoever folds them again has what the node believes, what was said and came, and what a person has to know.

mod alerts;
mod kept;
mod messages;
mod receipts;
mod witnesses;

use crate::command::mesh::opened;
use kept::Kept;
use mesh::port::Never;
use mesh::{Delivered, Fact, NodeId, ReceiptLine, Says, State, Way};
use messages::Author;
use model::body::{Body, MeshStepped};
use model::mesh::{DeliveryState, MeshAlert, NeverReason};
use model::{Digest, Sensitive, TaskId, UnixMs};
use std::collections::BTreeMap;
pub(crate) use witnesses::witness_name;

/// Messages to one machine that are kept to be shown, and messages of one: those that still wait, then the newest.
const MESSAGES_EACH_MAX: usize = 500;
/// Alerts of one kind about one machine that are kept to be shown, the newest.
const ALERTS_EACH_MAX: usize = 20;
/// Conversations that are on their way to other machines, above which it is looked whether they still are.
const HANDED_MAX: usize = 1_024;
/// Receipts of one machine that are kept to be shown, the newest.
const RECEIPTS_EACH_MAX: usize = 10_000;

/// A message to another machine or from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshMessage {
    /// Its place in the list, from 1; the later one is newer.
    pub place: u64,
    /// By what all machines know it.
    pub id: Digest,
    /// When it was on record here first.
    pub at: UnixMs,
    /// Whether this machine took it in.
    pub is_outgoing: bool,
    /// The other machine: whom it goes to or who answered, or who took it in.
    pub node: NodeId,
    /// The conversation.
    pub conversation: String,
    /// What it says, unless it was erased or nobody bears it.
    pub text: Option<String>,
    /// How far it came.
    pub state: DeliveryState,
    /// Which relay said that it has it.
    pub accepted_by: Option<String>,
    /// Why it will never come, or came to nothing.
    pub never: Option<NeverReason>,
    /// The task here that it is about.
    pub task_id: Option<TaskId>,
    /// What was answered.
    pub answer: Option<String>,
    /// When that was on record here.
    pub answered_at: Option<UnixMs>,
    /// What was heard last of whether it waits for the person of the other machine, and when that was on record here.
    pub waits: Option<MeshWaits>,
}

/// Whether a message waits for the person of the machine that works on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeshWaits {
    /// Whether it does.
    pub waits: bool,
    /// Since when, by the clock of that machine.
    pub told_at: UnixMs,
    /// When that was on record here.
    pub heard_at: UnixMs,
}

/// Something that a person has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshAlerted {
    /// What.
    pub kind: MeshAlert,
    /// About which machine.
    pub node: Option<NodeId>,
    /// In words.
    pub says: String,
    /// When.
    pub at: UnixMs,
}

/// A receipt of another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshReceipt {
    /// Its place in the list, from 1; the later one is newer.
    pub place: u64,
    /// The machine.
    pub node: NodeId,
    /// The receipt.
    pub line: ReceiptLine,
}

/// A message of another machine that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// The machine that took it in.
    pub(crate) node: NodeId,
    /// The conversation.
    pub(crate) conversation: String,
    /// When it was on record here first.
    pub(crate) at: UnixMs,
    /// The task that it began.
    pub(crate) task_id: Option<TaskId>,
}

/// This machine in the mesh.
#[derive(Debug, Clone, Default)]
pub struct MeshRegistry {
    node: Option<NodeId>,
    name: Option<String>,
    is_joined: bool,
    state: Option<State>,
    steps: u64,
    unsettled: BTreeMap<u64, Vec<Delivered>>,
    unanswered: BTreeMap<Digest, Unanswered>,
    /// Conversations that this machine hands over, and to whom.
    handed: BTreeMap<String, NodeId>,
    messages: Kept<Author, MeshMessage>,
    /// Where each of them stands.
    places: BTreeMap<Digest, u64>,
    /// Those of this machine, each by the id that it gave them.
    sent: BTreeMap<String, Digest>,
    alerts: Kept<(NodeId, MeshAlert), MeshAlerted>,
    receipts: Kept<NodeId, MeshReceipt>,
    /// The key by which each machine signed a head of this log last.
    witnesses: BTreeMap<NodeId, String>,
    /// How many erasures this process saw.
    erasures: u64,
}

impl MeshRegistry {
    /// Whether an event is one of the mesh.
    pub(crate) const fn is_of_mesh(body: &Body) -> bool {
        matches!(
            body,
            Body::MeshJoined(_)
                | Body::MeshLeft(_)
                | Body::MeshStepped(_)
                | Body::MeshSettled(_)
                | Body::MeshTaken(_)
                | Body::CheckpointCosigned(_)
        )
    }

    /// How many erasures this process saw: whoever has a state from before one makes it anew from this.
    pub const fn erasures(&self) -> u64 {
        self.erasures
    }

    /// Counts an erasure on from this registry to the one that takes its place.
    pub(crate) const fn erased_after(&mut self, before: &Self) {
        self.erasures = before.erasures.saturating_add(1);
    }

    /// The key that this machine speaks with, while it is a node.
    pub fn node(&self) -> Option<NodeId> {
        self.node.filter(|_| self.is_joined)
    }

    /// What the node believes, or believed before it left.
    pub(crate) const fn believed(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// As its person calls this machine, while it is a node.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|_| self.is_joined)
    }

    /// What the node believes, while this machine is one.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref().filter(|_| self.is_joined)
    }

    /// The newest messages to each of the other machines and from each, the oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &MeshMessage> {
        self.messages.iter()
    }

    /// A message by what all machines know it, while it is kept.
    pub fn message(&self, id: &Digest) -> Option<&MeshMessage> {
        self.messages.get(*self.places.get(id)?)
    }

    /// A message of this machine by the id that it gave it, while it is kept.
    pub(crate) fn sent_as(&self, message_id: &str) -> Option<&MeshMessage> {
        self.message(self.sent.get(message_id)?)
    }

    /// The newest of what a person has to know about each machine, the oldest first.
    pub fn alerts(&self) -> impl DoubleEndedIterator<Item = &MeshAlerted> {
        self.alerts.iter()
    }

    /// The newest receipts of each of the other machines, the oldest first.
    pub fn receipts(&self) -> impl DoubleEndedIterator<Item = &MeshReceipt> {
        self.receipts.iter()
    }

    /// The oldest step whose deliveries are not done yet.
    pub fn unsettled(&self) -> Option<(u64, &[Delivered])> {
        self.unsettled_after(0)
    }

    /// The oldest step after another whose deliveries are not done yet. Steps are counted from 1.
    pub(crate) fn unsettled_after(&self, after: u64) -> Option<(u64, &[Delivered])> {
        let (number, deliver) = self.unsettled.range(after.saturating_add(1)..).next()?;
        Some((*number, deliver))
    }

    /// Whether a slot began here that is not done yet.
    pub(crate) fn has_unsettled_start(&self) -> bool {
        self.unsettled.values().flatten().any(|one| matches!(one, Delivered::Start { .. }))
    }

    /// Whether the deliveries of a step are not done yet.
    pub(crate) fn is_unsettled(&self, number: u64) -> bool {
        self.unsettled.contains_key(&number)
    }

    /// The number of the last step.
    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    /// Messages of other machines that have no answer yet.
    pub(crate) const fn unanswered(&self) -> &BTreeMap<Digest, Unanswered> {
        &self.unanswered
    }

    /// The task here that a message is about.
    pub(crate) fn task_of(&self, id: &Digest) -> Option<TaskId> {
        let waiting = self.unanswered.get(id).and_then(|one| one.task_id);
        waiting.or_else(|| self.message(id)?.task_id)
    }

    /// As this machine's person calls a machine.
    pub fn name_of(&self, node: NodeId) -> String {
        let peer = self.state.as_ref().and_then(|state| state.peer(node));
        peer.map_or_else(|| node.to_string().chars().take(12).collect(), |peer| peer.name.clone())
    }

    /// The other machine that owns a conversation which was this one's.
    pub(crate) fn owner_elsewhere(&self, conversation: &str) -> Option<NodeId> {
        let state = self.state().filter(|state| state.has_claimed(conversation))?;
        match state.handed_to(conversation) {
            Some(to) => Some(to),
            None => state.owner(conversation).map(|(_, by)| by).filter(|by| Some(*by) != self.node),
        }
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::MeshJoined(b) => self.join(NodeId(b.node), b.name.shown()),
            Body::MeshLeft(b) => self.leave(NodeId(b.node), b.left_at),
            Body::MeshStepped(b) => self.step(b),
            Body::MeshSettled(b) => self.settle(b.number),
            Body::CheckpointCosigned(b) => self.apply_cosigned(b),
            Body::MeshTaken(b) => {
                if let Some(one) = self.unanswered.get_mut(&b.input) {
                    one.task_id = Some(b.about_task_id);
                }
                let text = self.text_of(&b.input);
                if let Some(message) = self.message_mut(&b.input) {
                    message.task_id = Some(b.about_task_id);
                    // The notice of the key that signed it may have come after it.
                    message.text = message.text.take().or(text);
                }
            }
            _ => {}
        }
    }

    /// The words of a message that is not settled yet.
    fn text_of(&self, id: &Digest) -> Option<String> {
        let state = self.state.as_ref()?;
        let input = self.unsettled.values().flatten().find_map(|one| match one {
            Delivered::Input { input, .. } if input.id() == *id => Some(input),
            _ => None,
        })?;
        opened(state, input, &[]).ok().map(|envelope| envelope.payload.body)
    }

    /// With the key that it had, the node goes on where it was; with another one it begins anew.
    fn join(&mut self, node: NodeId, name: Option<&String>) {
        if self.node != Some(node) {
            (self.node, self.state) = (Some(node), Some(State::new(node)));
            (self.unsettled, self.unanswered) = (BTreeMap::new(), BTreeMap::new());
            self.handed.clear();
        }
        (self.is_joined, self.name) = (true, name.cloned());
    }

    /// What waits is let go of. What was told keeps its numbers, so that a node that joins again contradicts nothing.
    fn leave(&mut self, node: NodeId, at: UnixMs) {
        if self.node != Some(node) {
            return;
        }
        let lanes = self.state.iter().flat_map(State::lanes);
        let waiting = lanes.flat_map(|(to, lane)| lane.waiting.keys().map(move |number| (*to, *number)));
        let waiting: Vec<(NodeId, u64)> = waiting.collect();
        for (to, number) in waiting {
            self.believe(&Fact::Never { to, number, why: Never::Expired }, at);
        }
        let held: Vec<Digest> = self.state.iter().flat_map(|state| state.held()).collect();
        for input in held {
            self.never(input, NeverReason::Expired);
            self.believe(&Fact::Released { input }, at);
        }
        (self.unsettled, self.unanswered) = (BTreeMap::new(), BTreeMap::new());
        self.is_joined = false;
    }

    fn step(&mut self, b: &MeshStepped) {
        self.steps = self.steps.max(b.number);
        for fact in b.facts.iter().filter_map(read::<Fact>) {
            self.believe(&fact, b.stepped_at);
        }
        let deliver: Vec<Delivered> = b.deliver.iter().filter_map(read::<Delivered>).collect();
        for delivered in &deliver {
            self.take(delivered, b.stepped_at);
        }
        if !deliver.is_empty() {
            self.unsettled.insert(b.number, deliver);
        }
    }

    /// What came of a message is on record by now: one that began nothing waits for no answer.
    fn settle(&mut self, number: u64) {
        for delivered in self.unsettled.remove(&number).unwrap_or_default() {
            let id = match delivered {
                Delivered::Input { input, .. } => input.id(),
                Delivered::Secret { input, .. } => input,
                _ => continue,
            };
            if self.unanswered.get(&id).is_some_and(|one| one.task_id.is_none()) {
                self.unanswered.remove(&id);
            }
        }
    }

    /// A fact, and what it says of a message.
    fn believe(&mut self, fact: &Fact, at: UnixMs) {
        match fact {
            Fact::Queued { to, says: Says::Input(input), .. } => self.sent(*to, input, at),
            Fact::Queued { says: Says::Answer(answer), .. } => self.answered(answer, at),
            Fact::Accepted { to, number, way } => {
                if let Some(id) = self.waiting(*to, *number)
                    && let Some(message) = self.message_mut(&id)
                {
                    message.state = DeliveryState::Accepted;
                    message.accepted_by = Some(match way {
                        Way::Relay(url) => url.clone(),
                        Way::Direct(node) => node.to_string(),
                        Way::Carried => "a file".to_owned(),
                    });
                }
            }
            Fact::Opened { to, upto, .. } => {
                for id in self.waiting_upto(*to, *upto) {
                    if let Some(message) = self.message_mut(&id) {
                        (message.state, message.never) = (DeliveryState::Opened, None);
                    }
                }
            }
            Fact::Never { to, number, why } => {
                if let Some(id) = self.waiting(*to, *number) {
                    self.never(id, messages::reason(*why));
                }
            }
            // It waits for an owner to be known, and goes another way then.
            Fact::Held(input) => {
                // What was for a machine that was withdrawn goes nowhere until somebody takes its conversation.
                let is_lost = |one: &MeshMessage| one.never == Some(NeverReason::Withdrawn);
                let message = self.message_mut(&input.id());
                if let Some(message) = message.filter(|one| one.is_outgoing && !is_lost(one)) {
                    (message.state, message.never) = (DeliveryState::Queued, None);
                }
            }
            Fact::Passing { conversation, to, .. } => {
                if self.handed.len() >= HANDED_MAX {
                    let state = self.state.as_ref();
                    let is_open = |one: &str| state.is_some_and(|state| state.handed_to(one).is_some());
                    self.handed.retain(|conversation, _| is_open(conversation));
                }
                self.handed.insert(conversation.clone(), *to);
            }
            Fact::Withdrawn { node, .. } => self.unanswered.retain(|_, one| one.node != *node),
            _ => {}
        }
        if let Some(state) = &mut self.state {
            state.apply(fact);
        }
    }

    /// A delivery, as far as it needs nothing to be done.
    fn take(&mut self, delivered: &Delivered, at: UnixMs) {
        match delivered {
            Delivered::Input { input, .. } => {
                let envelope = self.state.as_ref().and_then(|state| opened(state, input, &[]).ok());
                let text = envelope.map(|envelope| envelope.payload.body);
                self.came(input.id(), (input.origin, &input.conversation), text, at);
            }
            Delivered::Secret { input, origin, conversation } => {
                self.came(*input, (*origin, conversation), None, at);
            }
            Delivered::Answer { from, answer } => self.heard(*from, answer, at),
            Delivered::Waits { from, waits } => self.heard_waits(*from, waits, at),
            Delivered::Receipts { from, lines } => self.apply_receipts(*from, lines),
            // Handed over by this machine, it is where its person wanted it.
            Delivered::Displaced { conversation, by, .. }
                if self.handed.remove(conversation).is_some_and(|to| to == *by) => {}
            other => self.alert(other, at),
        }
    }

    fn alert(&mut self, delivered: &Delivered, at: UnixMs) {
        if let Some((kind, node, says)) = alerts::of(self, delivered) {
            let one = MeshAlerted { kind, node: Some(node), says, at };
            self.alerts.push(((node, kind), ALERTS_EACH_MAX), one, |_| true);
        }
    }
}

/// A fact or a delivery as it was recorded, unless it was erased.
fn read<T: serde::de::DeserializeOwned>(text: &Sensitive<String>) -> Option<T> {
    let read = serde_json::from_str(text.shown()?);
    read.inspect_err(|e| tracing::error!(why = ?e.classify(), "what the mesh recorded cannot be read")).ok()
}
