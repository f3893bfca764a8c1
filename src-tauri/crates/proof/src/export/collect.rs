//! Gathers from the source what a bundle holds, and checks on the way that it holds together.

use super::anchors::Along;
use super::ground::{Ground, Measure, Planned, What, event_proof};
use super::heads::{Heads, in_log};
use super::prov::Prov;
use crate::facts::{Facts, concealed};
use crate::layout::{self, Named};
use crate::names::Names;
use crate::{Error, Options, PublicKeys, Scope, Source};
use model::artifact::ArtifactKind;
use model::audit::AuditEntry;
use model::receipt::{Receipt, Statement};
use model::{ApprovalId, Event, ReceiptId, TaskId, UnixMs};
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, Tree, leaf_hash};
use seal::{Digest, dsse};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What has been gathered.
pub(super) struct Collected<'a> {
    pub(super) ground: Ground<'a>,
    pub(super) log_id: String,
    pub(super) keys: PublicKeys,
    pub(super) signed: bool,
    /// Whether it is one receipt of a store with keys, which leaves out what its proofs carry anyway.
    pub(super) single: bool,
    /// Number of the task's events and root over them.
    pub(super) size: u64,
    pub(super) root: Digest,
    pub(super) exported_at: UnixMs,
    pub(super) files: Names<Planned>,
    pub(super) left_out: Vec<String>,
    /// Anchors that go along.
    pub(super) along: Vec<Along>,
    /// Disclosures of one receipt alone, by digest.
    disclosed: BTreeMap<Digest, Vec<u8>>,
    /// How many sensitive leaves were met, readable or not.
    leaves: u64,
    facts: Facts,
}

impl<'a> Collected<'a> {
    pub(super) fn of(
        source: &'a dyn Source,
        signed: bool,
        task: TaskId,
        options: &Options,
    ) -> Result<Self, Error> {
        let keys = source.public_keys();
        if !signed && keys.log.is_some() {
            return Err(Error::Signing(seal::Error::KeyLocked { key: "receipt".to_owned() }));
        }
        // Without keys of its own a store may still know the key of a person who decides.
        let keys =
            if signed { keys } else { PublicKeys { approval: keys.approval, ..PublicKeys::default() } };
        let heads = if signed { Some(Heads::of(source, task)?) } else { None };
        let ground = Ground {
            source,
            task,
            last: heads.as_ref().map_or(u64::MAX, |heads| heads.task.2.size),
            gate: heads
                .as_ref()
                .and_then(|h| h.gate.as_ref())
                .map(|(_, note, head)| (note.clone(), head.clone())),
            entries: Vec::new(),
            prov: Prov::default(),
        };
        let mut collected = Self {
            ground,
            log_id: source.log_id(),
            keys,
            signed,
            single: signed && matches!(options.scope, Scope::Receipt(_)),
            size: 0,
            root: Digest::ZERO,
            exported_at: UnixMs(0),
            files: Names::default(),
            left_out: Vec::new(),
            along: Vec::new(),
            disclosed: BTreeMap::new(),
            leaves: 0,
            facts: Facts::default(),
        };
        collected.gather(options, heads.as_ref())?;
        Ok(collected)
    }

    fn gather(&mut self, options: &Options, heads: Option<&Heads>) -> Result<(), Error> {
        let walk = self.walk(options, heads)?;
        if let Some(heads) = heads {
            self.head_files(heads)?;
            self.state_files(options.scope, heads);
            self.instance_files(heads);
        }
        if let Some(previous) = &options.since {
            let none = || Error::Since { why: "this store has no keys".to_owned() };
            self.since(previous, heads.ok_or_else(none)?)?;
        }
        let receipt = self.receipts(options)?;
        self.chosen_events(&walk, options, receipt.as_ref(), heads)?;
        self.gate(options, receipt.as_ref(), heads)?;
        self.artifacts(options, receipt.as_ref())?;
        if !self.disclosed.is_empty() {
            let lines = self.disclosed.values().flat_map(|bytes| [bytes.as_slice(), b"\n"]);
            let lines = lines.collect::<Vec<_>>().concat();
            self.bytes(layout::DISCLOSED, lines);
        }
        self.files.settle();
        Ok(())
    }

    pub(super) fn bytes(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.add(path, Planned::whole(bytes));
    }

    pub(super) fn text(&mut self, path: &str, text: String) {
        self.bytes(path, text.into_bytes());
    }

    /// Reads all events once: chain, tree, facts; and what a whole task's files are made of.
    fn walk(&mut self, options: &Options, heads: Option<&Heads>) -> Result<Walk, Error> {
        let whole = options.scope == Scope::Task;
        let (mut chain, mut measure, mut walk) = (ChainVerifier::new(), Measure::new(), Walk::default());
        let mut newest = UnixMs(0);
        // Borrowed apart, so that the walk may fill what the ground does not need to be walked.
        let mut prov = Prov::default();
        let (mut facts, mut files) = (Facts::default(), std::mem::take(&mut self.files));
        let mut leaves = 0;
        let ground = &self.ground;
        let seen = ground.each_event(&mut |seq, bytes| {
            chain.push(bytes).map_err(Error::inconsistent)?;
            let event = Event::from_bytes(bytes).map_err(Error::inconsistent)?;
            newest = event.occurred_at;
            let leaf = leaf_hash(bytes);
            walk.frontier.push(leaf);
            if options.scope.covers(seq) {
                facts.take(&event).map_err(Error::inconsistent)?;
            }
            if whole {
                measure.line(bytes);
                prov.take(&event);
                for (digest, planned) in readable(ground, options, &event.payload, "/payload", &mut leaves)? {
                    files.add_named(Named::Disclosure(digest), planned);
                }
            } else {
                walk.keep(&event, leaf);
            }
            Ok(())
        })?;
        if seen == 0 {
            return Err(Error::Unknown { what: "task", id: ground.task.to_string() });
        }
        (self.size, self.root, self.exported_at) = (seen, walk.frontier.root(), newest);
        self.ground.last = seen;
        if let Some(heads) = heads {
            self.exported_at = heads.global.0.made_at;
            if (seen, self.root) != (heads.task.2.size, heads.task.2.root) {
                return Err(Error::inconsistent("the task's events do not give the root that was signed"));
            }
        }
        (self.facts, self.files, self.leaves) = (facts, files, leaves);
        if whole {
            self.files.add(layout::TASK_EVENTS, Planned::made(measure, What::Events));
            self.ground.prov = prov;
            self.files.add(layout::PROV, self.ground.plan(What::Prov)?);
        }
        Ok(walk)
    }

    /// The envelopes of the receipts in scope; the receipt itself when there is one in scope alone.
    fn receipts(&mut self, options: &Options) -> Result<Option<Receipt>, Error> {
        let chosen = match options.scope {
            Scope::Task | Scope::Span { .. } => {
                self.facts.receipts.iter().map(|(id, fact)| (*id, fact.envelope)).collect()
            }
            Scope::Receipt(id) => {
                let fact = self.facts.receipts.get(&id);
                let fact = fact.ok_or_else(|| Error::Unknown { what: "receipt", id: id.to_string() })?;
                vec![(id, fact.envelope)]
            }
        };
        let mut single = None;
        for (id, digest) in chosen {
            let Some(bytes) = self.ground.record(&digest)? else {
                self.left_out.push(format!("receipt {id}: its envelope is no longer kept"));
                continue;
            };
            let statement = self.receipt_file(id, bytes)?;
            self.disclose(options, &statement, "")?;
            if matches!(options.scope, Scope::Receipt(_)) {
                let read: Statement = serde_json::from_value(statement).map_err(Error::inconsistent)?;
                single = Some(read.predicate);
            }
        }
        if single.is_none() && matches!(options.scope, Scope::Receipt(_)) {
            return Err(Error::inconsistent("the receipt's envelope is no longer kept"));
        }
        Ok(single)
    }

    /// Adds a receipt's file, signed or bare, and returns its statement.
    fn receipt_file(&mut self, id: ReceiptId, bytes: Vec<u8>) -> Result<Value, Error> {
        match dsse::Envelope::parse(&bytes) {
            Ok(envelope) => {
                let statement =
                    seal::canon::parse_canonical(&envelope.payload).map_err(Error::inconsistent)?;
                self.bytes(&Named::Receipt(id).path(), bytes);
                Ok(statement)
            }
            Err(_) => {
                let statement = seal::canon::parse_canonical(&bytes).map_err(Error::inconsistent)?;
                self.bytes(&Named::BareReceipt(id).path(), bytes);
                Ok(statement)
            }
        }
    }

    /// Events that are shown without all the others, each with its place in the task's tree.
    fn chosen_events(
        &mut self,
        walk: &Walk,
        options: &Options,
        receipt: Option<&Receipt>,
        heads: Option<&Heads>,
    ) -> Result<(), Error> {
        let mut chosen = BTreeSet::new();
        match options.scope {
            Scope::Task => return Ok(()),
            Scope::Span { first, last } => {
                if first == 0 || first > last || last > self.size {
                    let id = format!("{first}..{last} of {} events", self.size);
                    return Err(Error::Unknown { what: "span", id });
                }
                chosen.extend(first..=last);
            }
            Scope::Receipt(id) => {
                chosen.extend(walk.receipts.get(&id));
                // The event that names the person's key is of use where what they signed goes along.
                if options.artifacts.takes(Some(ArtifactKind::ApprovalDecision)) {
                    let approval = receipt.and_then(|receipt| receipt.approval_ref.value());
                    chosen.extend(approval.and_then(|id| walk.approvals.get(id)).into_iter().flatten());
                    chosen.extend(self.standing_uses(id, receipt));
                } else {
                    self.keys.approval = None;
                }
            }
        }
        let tree = Tree::from_leaves(&walk.leaves);
        for seq in chosen {
            let bytes = self.ground.event(seq)?;
            if matches!(options.scope, Scope::Span { .. }) {
                let event = Event::from_bytes(&bytes).map_err(Error::inconsistent)?;
                self.disclose(options, &event.payload, "/payload")?;
            }
            self.bytes(&Named::Event(seq).path(), bytes);
            if let Some(heads) = heads {
                self.text(&Named::EventProof(seq).path(), event_proof(&tree, seq, &heads.task.1)?);
            }
        }
        Ok(())
    }

    /// Numbers of the events by which a standing grant answered for the act of this receipt.
    fn standing_uses(&self, id: ReceiptId, receipt: Option<&Receipt>) -> Vec<u64> {
        let about = self.facts.receipts.get(&id).and_then(|fact| fact.action_request_id);
        let named = receipt.and_then(|receipt| receipt.authorized.standing);
        let uses = named.and_then(|named| self.facts.standing.get(&named.envelope_sha256));
        let uses = uses.into_iter().flatten().filter(|fact| Some(fact.action_request_id) == about);
        uses.map(|fact| fact.seq).collect()
    }

    fn gate(
        &mut self,
        options: &Options,
        receipt: Option<&Receipt>,
        heads: Option<&Heads>,
    ) -> Result<(), Error> {
        let failed = |why: String| Error::Source { what: "the gate's entries".to_owned(), why };
        let source = self.ground.source;
        for number in source.gate_entries(self.ground.task).map_err(failed)? {
            if options.scope != Scope::Task {
                let bytes = self.ground.entry(number)?;
                let entry: AuditEntry = seal::canon::from_canonical(&bytes).map_err(Error::inconsistent)?;
                let wanted = match receipt {
                    Some(receipt) => receipt.authorized.audit_entry_sha256.value() == Some(&entry.entry_hash),
                    None => self.facts.dispatched.contains_key(&entry.entry_hash),
                };
                if !wanted {
                    continue;
                }
            }
            self.ground.entries.push(number);
            // One receipt alone names the entry by its hash, and is in the log itself.
            if self.signed && !self.single {
                self.files.add_named(Named::GateProof(number), self.ground.plan(What::EntryProof(number))?);
            }
        }
        if self.ground.entries.is_empty() {
            return Ok(());
        }
        self.files.add(layout::GATE_ENTRIES, self.ground.plan(What::Entries)?);
        if let (Some(heads), false) = (heads, self.single)
            && let Some(gate) = &heads.gate
        {
            self.bytes(layout::GATE_CHECKPOINT, gate.0.note.clone());
            self.text(layout::GATE_CHECKPOINT_PROOF, in_log(source, gate, &heads.global)?);
        }
        Ok(())
    }

    fn artifacts(&mut self, options: &Options, receipt: Option<&Receipt>) -> Result<(), Error> {
        let wanted: BTreeSet<Digest> = match receipt {
            None => self.facts.artifacts.keys().copied().collect(),
            Some(receipt) => self.with_enrolments(digests_of(receipt)),
        };
        let envelopes: BTreeSet<Digest> = self.facts.receipts.values().map(|fact| fact.envelope).collect();
        let mut lost = 0_u64;
        for digest in wanted.difference(&envelopes) {
            if !options.artifacts.takes(self.facts.artifacts.get(digest).copied()) {
                continue;
            }
            let Some(mut reader) = self.ground.artifact(digest)? else {
                lost += 1;
                continue;
            };
            let mut measure = Measure::new();
            std::io::copy(&mut reader, &mut measure).map_err(|e| Error::Source {
                what: format!("the artifact `{digest}`"),
                why: e.to_string(),
            })?;
            drop(reader);
            let (found, planned) = measure.by_digest();
            if found != *digest {
                let why = format!("the artifact `{digest}` has other bytes than its digest says");
                return Err(Error::inconsistent(why));
            }
            self.files.add_named(Named::Artifact(*digest), planned);
        }
        if lost > 0 {
            self.left_out.push(format!("{lost} artifacts whose content is no longer kept"));
        }
        Ok(())
    }

    /// These, and what lets a passkey say yes whose decision is among them.
    fn with_enrolments(&self, mut digests: BTreeSet<Digest>) -> BTreeSet<Digest> {
        let decisions = digests.iter().filter_map(|digest| self.facts.decisions.get(digest));
        let granted = decisions.filter_map(|fact| fact.granted.as_ref()?.enrolment);
        let enrolments: Vec<Digest> = granted.collect();
        digests.extend(enrolments);
        digests
    }

    /// Adds what may be read of a value: a file for each disclosure, or a line where one receipt is alone.
    fn disclose(&mut self, options: &Options, value: &Value, base: &str) -> Result<(), Error> {
        let mut leaves = 0;
        for (digest, planned) in readable(&self.ground, options, value, base, &mut leaves)? {
            if self.single {
                let bytes = self.ground.disclosure(&digest)?;
                self.disclosed.extend(bytes.map(|bytes| (digest, bytes)));
            } else {
                self.files.add_named(Named::Disclosure(digest), planned);
            }
        }
        self.leaves += leaves;
        Ok(())
    }

    /// How many sensitive leaves were met, readable or not.
    pub(super) fn concealed_leaves(&self) -> u64 {
        self.leaves
    }

    pub(super) fn known_artifacts(&self) -> u64 {
        self.facts.artifacts.len() as u64
    }

    pub(super) fn kind_of(&self, digest: &Digest) -> Option<ArtifactKind> {
        self.facts.artifacts.get(digest).copied()
    }

    /// How many events a bundle of this would show.
    pub(super) fn shown_events(&self) -> u64 {
        let chosen = self.files.below("task/events/").count() as u64;
        if chosen > 0 { chosen } else { self.size }
    }
}

/// Where an event lists roots of state; its disclosure is in no bundle.
const STATE_LIST: &str = "/payload/roots";

/// The disclosures below a value that are neither erased nor withheld.
fn readable(
    ground: &Ground<'_>,
    options: &Options,
    value: &Value,
    base: &str,
    leaves: &mut u64,
) -> Result<Vec<(Digest, Planned)>, Error> {
    let mut found = Vec::new();
    concealed(value, &mut base.to_owned(), &mut |digest, pointer| {
        *leaves += 1;
        // The list of all roots of state names every conversation and project of the store.
        if pointer == STATE_LIST {
            return Ok(());
        }
        let Some(bytes) = ground.disclosure(&digest)? else { return Ok(()) };
        let (_, _, value) = seal::disclose::verify_disclosure(&bytes).map_err(Error::inconsistent)?;
        if !options.redact.withholds(pointer, &value) {
            let mut measure = Measure::new();
            std::io::Write::write_all(&mut measure, &bytes).map_err(Error::inconsistent)?;
            found.push(measure.by_digest());
        }
        Ok(())
    })?;
    Ok(found)
}

impl Scope {
    /// Whether an event of this number may be shown.
    fn covers(self, seq: u64) -> bool {
        match self {
            Self::Span { first, last } => (first..=last).contains(&seq),
            Self::Task | Self::Receipt(_) => true,
        }
    }
}

/// What one pass over the events leaves behind.
struct Walk {
    frontier: Frontier,
    /// For a part of a task: hashes of all leaves, and the events that may bind a receipt.
    leaves: Vec<Digest>,
    receipts: BTreeMap<ReceiptId, u64>,
    approvals: BTreeMap<ApprovalId, Vec<u64>>,
}

impl Default for Walk {
    fn default() -> Self {
        let (receipts, approvals) = (BTreeMap::new(), BTreeMap::new());
        Self { frontier: Frontier::new(), leaves: Vec::new(), receipts, approvals }
    }
}

impl Walk {
    fn keep(&mut self, event: &Event, leaf: Digest) {
        self.leaves.push(leaf);
        match event.event_type.as_str() {
            "receipt.issued" => {
                self.receipts.extend(event.entity_id.parse().ok().map(|id| (id, event.task_seq)));
            }
            "approval.granted" | "approval.signed" => {
                if let Ok(id) = event.entity_id.parse() {
                    self.approvals.entry(id).or_default().push(event.task_seq);
                }
            }
            _ => {}
        }
    }
}

/// Every digest of content that a receipt names.
fn digests_of(receipt: &Receipt) -> BTreeSet<Digest> {
    let authorized = &receipt.authorized;
    let slots = [
        &authorized.policy_result_sha256,
        &authorized.approval_packet_sha256,
        &authorized.approval_decision_sha256,
        &authorized.capability_grant_sha256,
        &authorized.witness_sha256,
    ];
    let single = [&receipt.action_request_ref, &receipt.environment_ref, &receipt.policy_result_ref];
    let lists = [&receipt.input_refs, &receipt.output_refs, &receipt.rollback.artifact_refs];
    let mut digests: BTreeSet<Digest> = slots.iter().filter_map(|slot| slot.value().copied()).collect();
    digests.extend(authorized.standing.map(|standing| standing.envelope_sha256));
    digests.extend(authorized.first_decision_sha256);
    digests.extend(single.iter().filter_map(|slot| slot.value()).map(|artifact| artifact.sha256));
    digests.extend(lists.iter().flat_map(|list| list.iter()).map(|artifact| artifact.sha256));
    digests
}
