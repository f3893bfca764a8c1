//! A yes or no at another machine of the same person (mesh.md 4): whom this machine asks, what comes of an answer, and what other
//! machines ask a person here.
//!
//! The approval key of another machine is enrolled as a passkey is, and says yes as one does; so whatever ends a passkey ends it, and
//! what is checked of a passkey is checked of it. A yes allows nothing that a yes here would not.

use super::{MeshDone, not_joined};
use crate::Error;
use crate::command::approve::Answered;
use crate::command::passkeys::{at_machine, puts_another_in_place};
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::MeshRegistry;
use crate::passkey_registry::PasskeyRecord;
use crate::query::{all, view};
use crate::store::StoreState;
use acts::ApprovalPacket;
use governance::Refusal;
use governance::approval::{host_of_asking, machine_enrolment, machine_of, passkey, sign_at_machine};
use mesh::port::Discount;
use mesh::{
    CLOCK_DIFFERENCE_MS, Card, Command, Decision, Delivered, Fact, NodeId, PACKET_BYTES_MAX, SignedDecision,
    State,
};
use model::approval::{ApprovalStatus, Surface};
use model::body::KeyPurpose;
use model::passkey::{MESH_ORIGIN, PasskeyEnrolment};
use model::principal::PrincipalType;
use model::visible::is_hidden;
use model::{ApprovalId, Digest, PrincipalId, UnixMs};
use seal::webauthn::{PasskeyKey, Signed, base64url};
use seal::{PublicKey, Signer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Questions of this machine that are open at the same time.
const ASKED_MAX: usize = 200;
/// Characters of a machine's name, as of a passkey's.
const NAME_MAX: usize = 80;

/// What another machine asks a person here, with what an answer needs beside the packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshQuestion {
    /// This machine.
    pub asked: NodeId,
    /// The machine that asks.
    pub from: NodeId,
    /// What it asks.
    pub card: Card,
    /// When it came, by the clock of this machine.
    pub came_at: UnixMs,
    /// What this machine has to count to with an answer that is given now.
    pub counter: u32,
}

impl MeshQuestion {
    /// The answer of a person here to exactly these packet bytes, signed by this machine's approval key.
    ///
    /// # Errors
    /// [`Error::Input`] for another packet than is asked about; [`Error::Refused`] for bytes that are none; whatever the key says.
    pub fn answer(
        &self,
        packet: &[u8],
        allow: bool,
        now: UnixMs,
        key: &dyn Signer,
    ) -> Result<SignedDecision, Error> {
        if Digest::of(packet) != self.card.packet {
            return Err(Error::Input("this is not the packet that is asked about".to_owned()));
        }
        let yes = if allow { Some(self.yes(packet, now, key)?) } else { None };
        let decision = Decision {
            approval: self.card.approval.clone(),
            packet: self.card.packet,
            nonce: self.card.nonce,
            asked_by: self.from,
            allow,
            decided_at: now,
            counter: self.counter,
        };
        Ok(decision.signed(yes.as_deref(), key)?)
    }

    fn yes(&self, packet: &[u8], now: UnixMs, key: &dyn Signer) -> Result<Vec<u8>, Error> {
        let person: PrincipalId = self.card.person.parse()?;
        let counted = (self.asked.0, self.from.0, self.counter);
        Ok(sign_at_machine(packet, (person, self.decided_at(now)), counted, key)?)
    }

    /// When that is by the clock of the machine that asks, and certainly not later: since the question came as much time passed there
    /// as here, and the clocks differ by no more than the mesh reckons with.
    fn decided_at(&self, now: UnixMs) -> UnixMs {
        let since = now.0.saturating_sub(self.came_at.0).max(0);
        self.card.asked_at.plus_ms(since).max(now.plus_ms(-CLOCK_DIFFERENCE_MS))
    }
}

/// What other machines ask a person here and can still be answered, with the packets' exact bytes.
pub fn questions(registry: &MeshRegistry, now: UnixMs) -> Vec<(MeshQuestion, Vec<u8>)> {
    let (Some(asked), Some(state)) = (registry.node(), registry.state()) else { return Vec::new() };
    // Also a store that was put back, or a clock that was set back, counts on.
    let seconds = u32::try_from(now.0.max(0) / 1_000).unwrap_or(u32::MAX);
    let counter = seconds.max(state.answers().saturating_add(1));
    let open = state.questions().filter(|(_, card, _)| card.expires_at > now);
    let question = |(from, card, came_at): (NodeId, &Card, UnixMs)| {
        let packet = state.packet(from, &card.approval)?;
        Some((MeshQuestion { asked, from, card: card.clone(), came_at, counter }, packet))
    };
    open.filter_map(question).collect()
}

/// Machines whose approval keys may say yes in this store, each with the SHA-256 of its key.
pub fn approvers(store: &StoreState) -> BTreeMap<NodeId, Digest> {
    let Some((keyid, _)) = store.keys.get(&KeyPurpose::Approval) else { return BTreeMap::new() };
    let of_mesh = store.passkeys.in_force(*keyid).filter(|one| one.origin == MESH_ORIGIN);
    of_mesh.filter_map(|one| Some((NodeId(machine_of(&one.credential_id)?), one.passkey))).collect()
}

/// What a person's approval key signs so that the approval key which another machine showed can say yes in this store.
///
/// # Errors
/// [`Error::NotFound`] for a machine that is not paired, [`Error::Conflict`] for one that showed no key.
pub fn enrolment(
    store: &StoreState,
    log_id: &str,
    node: NodeId,
    (surface, now): (Surface, UnixMs),
) -> Result<PasskeyEnrolment, Error> {
    let asking = store.mesh.node().ok_or_else(not_joined)?;
    let key = shown_key(store.mesh.state(), node)?;
    let person = store.principal(PrincipalType::User)?;
    Ok(machine_enrolment((node.0, &key), (log_id, asking.0), (person, surface), now))
}

/// The approval key that a machine showed when it was paired.
fn shown_key(state: Option<&State>, node: NodeId) -> Result<PublicKey, Error> {
    let peer = state.and_then(|state| state.peers().find(|peer| peer.node == node));
    let peer = peer.ok_or_else(|| Error::NotFound { kind: "machine", id: node.to_string() })?;
    peer.approval_key.ok_or_else(|| {
        let why = "this machine had no approval key when it was paired; run `hermit keys init` there, and pair it again";
        Error::Conflict(why.to_owned())
    })
}

fn no(code: &'static str, why: &str) -> Error {
    Error::Refused(Refusal::new(code, why))
}

/// Whether it would be refused again, however often it came.
const fn is_for_good(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::NotFound { .. }
            | Error::Input(_)
            | Error::Conflict(_)
            | Error::Model(_)
            | Error::Seal(_)
            | Error::Severed { .. }
            | Error::Artifacts(artifacts::Error::Missing { .. })
    )
}

impl Kernel {
    /// What other machines are to be asked, and what they need not answer any more.
    pub(super) fn news_of_approvals(&self, registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        let Some(state) = registry.state() else { return Ok(Vec::new()) };
        self.end_approvers(state)?;
        let approvers = approvers(&lock(&self.store));
        let has_shown = |node: &NodeId| shown_key(Some(state), *node).ok();
        let mut news = Vec::new();
        // A person may have ended one on the page of passkeys, or this host may have died before the node was told.
        let ended = state.approvers().filter(|node| !approvers.contains_key(node));
        news.extend(ended.map(|node| Command::Unregister { node }));
        let mut able = Vec::new();
        for (node, keyid) in &approvers {
            let Some(key) = has_shown(node).filter(|key| key.keyid() == *keyid) else { continue };
            if state.approver(*node) == Some(&key) {
                able.push(*node);
            } else {
                news.push(Command::Register { node: *node, key });
            }
        }
        let query = self.query()?;
        let now = self.ports.clock.now();
        for question in state.asked() {
            let approval = question.card.approval.clone();
            let row = match approval.parse::<ApprovalId>() {
                Ok(id) => query.approval(id).map_err(view)?,
                Err(_) => None,
            };
            let waits = row.is_some_and(|row| row.status == ApprovalStatus::Pending && row.expires_at > now);
            if !waits {
                news.push(Command::Settle { approval });
            }
        }
        if !able.is_empty() {
            news.extend(self.to_be_asked(state, &able, now)?);
        }
        Ok(news)
    }

    /// Every question that waits for a person and was asked of no other machine yet.
    fn to_be_asked(&self, state: &State, of: &[NodeId], now: UnixMs) -> Result<Vec<Command>, Error> {
        let query = self.query()?;
        let person = lock(&self.store).principal(PrincipalType::User)?.to_string();
        let mut room = ASKED_MAX.saturating_sub(state.asked().count());
        let mut asks = Vec::new();
        for row in all(|ask| query.inbox(now, ask))? {
            let approval = row.approval_id.to_string();
            if room == 0 {
                break;
            }
            if state.was_asked(&approval) {
                continue;
            }
            // What is too large to be read there to its end is answered here.
            let Ok(content) = self.artifacts.content(&row.packet_sha256) else { continue };
            if content.byte_size() > PACKET_BYTES_MAX as u64 {
                continue;
            }
            let packet = self.artifacts.read(&row.packet_sha256)?;
            // So is what puts another Hermit in the place of this one.
            if puts_another_in_place(&packet)? {
                continue;
            }
            // Of two yeses one may come from here, so one machine is enough to be asked.
            let read: ApprovalPacket = seal::canon::from_canonical(&packet)?;
            let need = if read.policy_result.needs_two() && of.len() > 1 { 2 } else { 1 };
            let mut nonce = [0; 32];
            self.ports.entropy.fill(&mut nonce);
            let card = Card {
                approval,
                packet: row.packet_sha256,
                nonce: Digest(nonce),
                person: person.clone(),
                asked_at: now,
                expires_at: row.expires_at,
                need,
            };
            asks.push(Command::Ask { card, packet, of: of.to_vec() });
            room -= 1;
        }
        Ok(asks)
    }

    /// What came of approvals between machines. A question of another one is on record with the facts of its step, and so is that it
    /// needs no answer any more.
    pub(super) fn deliver_approval(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        match delivered {
            Delivered::Decided { approval, allow, decisions } => {
                let mut done = MeshDone::default();
                for signed in decisions.iter().filter(|one| one.decision.allow == *allow) {
                    let Some(status) = self.decided_elsewhere(approval, signed, &mut done)? else { continue };
                    // Of two yeses the first is on record already, or becomes it.
                    if status != ApprovalStatus::Pending {
                        break;
                    }
                }
                Ok(done)
            }
            _ => Ok(MeshDone::default()),
        }
    }

    /// A person decided at another machine; what the approval is then. What does not hold is on record and changes nothing.
    fn decided_elsewhere(
        &self,
        approval: &str,
        signed: &SignedDecision,
        done: &mut MeshDone,
    ) -> Result<Option<ApprovalStatus>, Error> {
        let registry = self.mesh_registry();
        let Some(state) = registry.state() else { return Ok(None) };
        self.end_approvers(state)?;
        drop(registry);
        match self.take_decision(approval, signed) {
            Ok(Answered::Accepted { task_id, status }) => {
                done.drive.push(task_id);
                Ok(Some(status))
            }
            Ok(Answered::NotActive { status, .. }) => Ok(Some(status)),
            Err(error) if is_for_good(&error) => {
                tracing::warn!(%error, "a decision of another machine is refused");
                if let Some((from, _)) = self.machine_with(&signed.key) {
                    let approval = approval.chars().take(128).collect();
                    let fact = Fact::Discounted { from, approval, why: Discount::Refused };
                    self.record_mesh(&[fact], &[], None)?;
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn take_decision(&self, approval: &str, signed: &SignedDecision) -> Result<Answered, Error> {
        let id: ApprovalId = approval.parse()?;
        let unknown = || Error::NotFound { kind: "approval", id: approval.to_owned() };
        let row = self.query()?.approval(id).map_err(view)?.ok_or_else(unknown)?;
        let nobody = || no("passkey_unknown", "this machine may not answer here");
        let (_, record) = self.machine_with(&signed.key).ok_or_else(nobody)?;
        if signed.decision.allow {
            let none = || no("decision_unreadable", "this decision brings no yes that could be checked");
            let bytes = signed.approval_bytes().ok_or_else(none)?;
            let yes = Signed::parse(&bytes).map_err(|_| none())?;
            if base64url(&yes.webauthn.credential_id) != record.credential_id {
                return Err(no("passkey_other", "another key than that of the machine says yes"));
            }
            return self.decide_approval_by_passkey(row.task_id, id, &bytes);
        }
        let (keyid, _) = self.approval_key()?;
        if record.revoked_at.is_some() || record.keyid != keyid {
            return Err(no("passkey_revoked", "this machine may not answer here any more"));
        }
        let place = at_machine(record.name.as_deref());
        let feedback = format!("denied {place}");
        self.deny_where((row.task_id, id), Surface::Mesh, Some(feedback), Some(&place))
    }

    /// The machine whose approval key this is, as it was enrolled last.
    fn machine_with(&self, key: &PublicKey) -> Option<(NodeId, PasskeyRecord)> {
        let store = lock(&self.store);
        let record = store.passkeys.get(key.keyid()).filter(|one| one.origin == MESH_ORIGIN)?;
        Some((NodeId(machine_of(&record.credential_id)?), record.clone()))
    }

    /// A machine that was withdrawn says yes no more, nor does the key of one that was paired again with another; that is on record.
    fn end_approvers(&self, state: &State) -> Result<(), Error> {
        let (approvers, of_before) = {
            let store = lock(&self.store);
            let host = store.mesh.node().map(|asking| host_of_asking(asking.0));
            let is_other = |passkey: &Digest| {
                store.passkeys.get(*passkey).map(|one| one.rp_id.as_str()) != host.as_deref()
            };
            let approvers = approvers(&store);
            let of_before: BTreeSet<Digest> = approvers.values().copied().filter(is_other).collect();
            (approvers, of_before)
        };
        for (node, passkey) in approvers {
            let shown = shown_key(Some(state), node).map(|key| key.keyid());
            let why = match (state.is_peer(node), shown) {
                (true, Ok(shown)) if shown == passkey && of_before.contains(&passkey) => {
                    "this machine has another key in the mesh than the one that asked then"
                }
                (true, Ok(shown)) if shown == passkey => continue,
                (true, _) => "its machine has another approval key",
                (false, _) => "its machine was withdrawn from the mesh",
            };
            match self.revoke_passkey(passkey, why) {
                // Somebody else was quicker.
                Err(Error::Conflict(_)) => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    /// What other machines ask a person here.
    pub fn mesh_questions(&self) -> Vec<(MeshQuestion, Vec<u8>)> {
        questions(&self.mesh_registry(), self.ports.clock.now())
    }

    /// Lets the approval key of another machine say yes here, as this store's approval key signed ([`enrolment`]), or no more, for
    /// which nothing is signed. What the node is to be told.
    ///
    /// # Errors
    /// As [`Kernel::enrol_passkey`]; [`Error::NotFound`] for a machine that is not paired; [`Error::Conflict`] when it is so already.
    pub fn mesh_approver(
        &self,
        node: NodeId,
        allow: bool,
        envelope: Option<&[u8]>,
    ) -> Result<Vec<Command>, Error> {
        let registry = self.mesh_registry();
        let former = approvers(&lock(&self.store)).get(&node).copied();
        if !allow {
            let none = || Error::Conflict("this machine may not say yes here".to_owned());
            self.revoke_passkey(former.ok_or_else(none)?, "taken from its machine by a person")?;
            return Ok(vec![Command::Unregister { node }]);
        }
        let key = shown_key(registry.state(), node)?;
        if former == Some(key.keyid()) {
            return Err(Error::Conflict("this machine may say yes here already".to_owned()));
        }
        let unsigned =
            || no("signature_needed", "only a person with the approval key lets a machine say yes");
        let envelope = envelope.ok_or_else(unsigned)?;
        let (_, own) = self.approval_key()?;
        let signed = passkey(envelope, self.reader.log_id(), &own)?.enrolment;
        let asking = registry.node().ok_or_else(not_joined)?;
        let is_it = signed.origin == MESH_ORIGIN
            && signed.rp_id == host_of_asking(asking.0)
            && signed.public_key == PasskeyKey::ed25519(key).to_base64()
            && machine_of(&signed.credential_id) == Some(node.0);
        if !is_it {
            return Err(no("passkey_other", "this was signed for the approval key of another machine"));
        }
        if let Some(former) = former {
            self.revoke_passkey(former, "its machine has another approval key")?;
        }
        self.enrol_passkey(envelope, &name_of(&registry, node), &[])?;
        Ok(vec![Command::Register { node, key }])
    }

    /// A person's answer to what another machine asks, signed by this machine's approval key ([`MeshQuestion::answer`]). What the
    /// node is to be told.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nobody asks for it any more; [`Error::Refused`] when it is not this answer, or not signed here.
    pub fn mesh_decide(&self, approval: &str, allow: bool, signed: &[u8]) -> Result<Vec<Command>, Error> {
        let signed: SignedDecision = seal::canon::from_canonical(signed)?;
        let decision = &signed.decision;
        let (_, own) = self.approval_key()?;
        let holds = signed.key.verify(&decision.signed_bytes()?, &signed.signature).is_ok();
        if signed.key != own || !holds {
            return Err(no(
                "decision_signature",
                "the approval key of this machine did not sign this answer",
            ));
        }
        let registry = self.mesh_registry();
        let asked = |(from, card, _): &(NodeId, &Card, UnixMs)| {
            *from == decision.asked_by && card.approval == approval
        };
        let question = registry.state().and_then(|state| state.questions().find(asked));
        let gone = || Error::NotFound { kind: "question", id: approval.to_owned() };
        let (_, card, _) = question.ok_or_else(gone)?;
        let is_it = decision.approval == approval
            && decision.allow == allow
            && (decision.packet, decision.nonce) == (card.packet, card.nonce)
            && signed.approval.is_some() == allow;
        if !is_it {
            return Err(no("decision_other", "this was signed for another question or another answer"));
        }
        Ok(vec![Command::Decide(signed)])
    }
}

/// What a machine is called here, as a passkey is.
fn name_of(registry: &MeshRegistry, node: NodeId) -> String {
    let name: String =
        registry.name_of(node).chars().filter(|c| !is_hidden(*c) && !c.is_control()).take(NAME_MAX).collect();
    if name.trim().is_empty() { node.to_string().chars().take(12).collect() } else { name }
}
