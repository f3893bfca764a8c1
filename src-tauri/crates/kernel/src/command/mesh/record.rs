//! What a node believes and what it brings here, put on record in one commit.

use super::not_joined;
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::MeshRegistry;
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use mesh::{Command, Delivered, Fact, NodeId};
use model::artifact::{ArtifactClass, ArtifactKind};
use model::body::{KeyPurpose, MeshJoined, MeshLeft, MeshSettled, MeshStepped};
use model::fault::Point;
use model::principal::PrincipalType;
use model::visible::is_hidden;
use model::{Digest, Sensitive};
use seal::canon;
use std::borrow::Cow;
use std::sync::Arc;

/// Bytes of facts and deliveries in one event.
const STEP_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the name of a machine.
const NAME_BYTES_MAX: usize = 128;

/// Facts and deliveries of one event.
type Texts = (Vec<Sensitive<String>>, Vec<Sensitive<String>>);

impl Kernel {
    /// This machine is a node of the mesh from now on, under this name and with this key; with another key the node that it was has
    /// left. Said again with the same, it changes nothing.
    ///
    /// # Errors
    /// [`Error::Input`] for a name that is none.
    pub fn join_mesh(&self, node: NodeId, name: &str) -> Result<(), Error> {
        let name = name.trim();
        if name.is_empty()
            || name.len() > NAME_BYTES_MAX
            || name.chars().any(|c| c.is_control() || is_hidden(c))
        {
            return Err(Error::Input(format!(
                "the name of a machine has 1 to {NAME_BYTES_MAX} bytes, in one line"
            )));
        }
        let registry = self.mesh_registry();
        let before = registry.node();
        if before == Some(node) && registry.name() == Some(name) {
            return Ok(());
        }
        drop(registry);
        let mut w = self.mesh_writeup(node)?;
        let now = w.now;
        if let Some(left) = before.filter(|before| *before != node) {
            w.push(MeshLeft { node: left.0, left_at: now });
        }
        w.push(MeshJoined { node: node.0, name: Sensitive::from(name.to_owned()), joined_at: now });
        self.commit(w)?;
        Ok(())
    }

    /// This machine is no node any more.
    ///
    /// # Errors
    /// When the disk takes nothing.
    pub fn leave_mesh(&self) -> Result<(), Error> {
        let Some(node) = self.mesh_registry().node() else { return Ok(()) };
        let mut w = self.mesh_writeup(node)?;
        let left_at = w.now;
        w.push(MeshLeft { node: node.0, left_at });
        self.commit(w)?;
        Ok(())
    }

    /// Puts the facts of a step on record, what it brings here, and that the deliveries of an earlier one are done: in one commit,
    /// and before anything else of the step happens.
    ///
    /// # Errors
    /// [`Error::Conflict`] where this machine is no node; else when the disk takes nothing. Whoever made the facts believes nothing
    /// of them then.
    pub fn record_mesh(
        &self,
        facts: &[Fact],
        deliver: &[Delivered],
        settles: Option<u64>,
    ) -> Result<(), Error> {
        let registry = self.mesh_registry();
        let node = registry.node().ok_or_else(not_joined)?;
        let (steps, settles) = (registry.steps(), settles.filter(|number| registry.is_unsettled(*number)));
        // Whoever else held it would make a copy of it necessary.
        drop(registry);
        if facts.is_empty() && deliver.is_empty() && settles.is_none() {
            return Ok(());
        }
        let mut w = self.mesh_writeup(node)?;
        let now = w.now;
        if let Some(number) = settles {
            w.push(MeshSettled { number, settled_at: now });
        }
        let facts = facts.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let mut brought = Vec::with_capacity(deliver.len());
        for delivered in deliver {
            brought.push(text(&*kept(&mut w, delivered)?)?);
        }
        for (number, (facts, deliver)) in (steps + 1..).zip(split(facts, brought)) {
            w.push(MeshStepped { number, facts, deliver, stepped_at: now });
        }
        self.commit(w)?;
        Ok(())
    }

    /// The oldest step whose deliveries are not done yet, and these.
    pub fn next_mesh_delivery(&self) -> Option<(u64, Vec<Delivered>)> {
        self.mesh_delivery_after(0)
    }

    /// The oldest step after another whose deliveries are not done yet, and these: for whoever passes over what cannot be done now.
    pub fn mesh_delivery_after(&self, after: u64) -> Option<(u64, Vec<Delivered>)> {
        let registry = self.mesh_registry();
        registry.node()?;
        let (number, deliver) = registry.unsettled_after(after)?;
        Some((number, deliver.iter().map(|delivered| self.with_packet(delivered)).collect()))
    }

    /// A delivery with the content that was kept beside it.
    fn with_packet(&self, delivered: &Delivered) -> Delivered {
        match delivered {
            Delivered::Question { from, card, .. } => {
                let packet = self.artifacts.read(&card.packet).unwrap_or_default();
                Delivered::Question { from: *from, card: card.clone(), packet }
            }
            other => other.clone(),
        }
    }

    /// The key of this machine's log, where the others do not know it.
    pub(super) fn news_of_log_key(&self, registry: &MeshRegistry) -> Vec<Command> {
        let key = lock(&self.store).keys.get(&KeyPurpose::Log).map(|(_, key)| *key);
        let told = registry.node().and_then(|node| registry.state()?.log_key(node).copied());
        key.filter(|key| told != Some(*key)).map(|key| Command::LogKey { key }).into_iter().collect()
    }

    /// Folds what is left of the record, so that nothing is shown any more that was erased.
    pub(crate) fn fold_mesh_anew(&self) -> Result<(), Error> {
        if self.mesh_registry().messages().next().is_none() {
            return Ok(());
        }
        // Held throughout: what is committed meanwhile is folded behind it.
        let mut store = lock(&self.store);
        let (system, mut anew, mut after) = (store.system_task()?, MeshRegistry::default(), 0);
        while after < store.seq {
            let page = self.reader.events(system, after, 1_000)?;
            let Some(last) = page.last() else { break };
            after = last.task_seq;
            for stored in page.iter().filter(|stored| stored.task_seq <= store.seq) {
                anew.apply(&self.body_of(&stored.event()?)?);
            }
        }
        anew.erased_after(&store.mesh);
        store.mesh = Arc::new(anew);
        Ok(())
    }

    /// A writeup of the mesh, in the store's own stream.
    pub(super) fn mesh_writeup(&self, node: NodeId) -> Result<Writeup<'_>, Error> {
        let actor = self.actor(PrincipalType::System)?;
        self.store_writeup(Point::MeshRecord, actor, format!("mesh:{node}"), None)
    }
}

/// A delivery as it may be kept: the packet of a card as content, and of a message that holds a secret nothing.
fn kept<'d>(w: &mut Writeup<'_>, delivered: &'d Delivered) -> Result<Cow<'d, Delivered>, Error> {
    match delivered {
        Delivered::Input { input, .. } if !is_open(w, input.envelope.as_bytes()) => {
            let (id, origin, conversation) = (input.id(), input.origin, input.conversation.clone());
            Ok(Cow::Owned(Delivered::Secret { input: id, origin, conversation }))
        }
        Delivered::Question { card, packet, .. }
            if Digest::of(packet) == card.packet && is_open(w, packet) =>
        {
            let new = NewArtifact::audit(ArtifactKind::ApprovalPacket).class(ArtifactClass::Source);
            w.artifact(packet, new)?;
            Ok(Cow::Borrowed(delivered))
        }
        _ => Ok(Cow::Borrowed(delivered)),
    }
}

/// Whether bytes hold the value of no secret.
fn is_open(w: &Writeup<'_>, bytes: &[u8]) -> bool {
    redaction::exact(w.redactor(), bytes).is_ok()
}

/// The canonical JSON of a fact or a delivery.
fn text<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    let bytes = canon::to_canonical(value)?;
    String::from_utf8(bytes).map_err(|e| Error::Broken(e.to_string()))
}

/// What fits into one event each, in order: the facts, then the deliveries.
fn split(facts: Vec<String>, deliver: Vec<String>) -> Vec<Texts> {
    let (mut events, mut bytes): (Vec<Texts>, usize) = (Vec::new(), 0);
    let all = facts.into_iter().map(|text| (text, true));
    for (text, is_fact) in all.chain(deliver.into_iter().map(|text| (text, false))) {
        bytes = bytes.saturating_add(text.len());
        if bytes > STEP_BYTES_MAX || events.is_empty() {
            bytes = text.len();
            events.push(Texts::default());
        }
        if let Some((facts, deliver)) = events.last_mut() {
            let texts = if is_fact { facts } else { deliver };
            texts.push(Sensitive::from(text));
        }
    }
    events
}
