//! Gathers from the source what a bundle holds, and checks on the way that it holds together.

use super::write::{Measure, Planned, each_event};
use crate::facts::{Facts, concealed};
use crate::layout::{self, Named};
use crate::prov::Prov;
use crate::{Error, Head, Options, PublicKeys, Scope, Source};
use model::artifact::ArtifactKind;
use model::audit::AuditEntry;
use model::receipt::{Receipt, Statement};
use model::{ApprovalId, Event, ReceiptId, TaskId, UnixMs};
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, Tree, leaf_hash, verify_inclusion};
use seal::note::{Checkpoint, Note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, dsse};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What has been gathered.
pub(super) struct Collected {
    pub(super) task_id: TaskId,
    pub(super) log_id: String,
    pub(super) keys: PublicKeys,
    pub(super) signed: bool,
    /// Number of the task's events and root over them.
    pub(super) size: u64,
    pub(super) root: Digest,
    pub(super) exported_at: UnixMs,
    pub(super) files: BTreeMap<String, Planned>,
    pub(super) left_out: Vec<String>,
    facts: Facts,
}

/// The signed heads that belong together.
struct Heads {
    task: (Head, Note, Checkpoint),
    gate: Option<(Head, Note, Checkpoint)>,
    global: (Head, Note, Checkpoint),
}

impl Collected {
    pub(super) fn of(
        source: &dyn Source,
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
        let mut collected = Self {
            task_id: task,
            log_id: source.log_id(),
            keys,
            signed,
            size: 0,
            root: Digest::ZERO,
            exported_at: UnixMs(0),
            files: BTreeMap::new(),
            left_out: Vec::new(),
            facts: Facts::default(),
        };
        let heads = if signed { Some(Heads::of(source, task)?) } else { None };
        let walk = collected.walk(source, options, heads.as_ref())?;
        if let Some(heads) = &heads {
            collected.head_files(source, heads)?;
        }
        let receipt = collected.receipts(source, options)?;
        if let Some(receipt) = &receipt {
            collected.chosen_events(&walk, options, receipt, heads.as_ref())?;
        }
        collected.gate(source, receipt.as_ref(), heads.as_ref())?;
        collected.artifacts(source, options, receipt.as_ref())?;
        Ok(collected)
    }

    pub(super) fn bytes(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.insert(path.to_owned(), Planned::bytes(bytes));
    }

    pub(super) fn text(&mut self, path: &str, text: String) {
        self.bytes(path, text.into_bytes());
    }

    /// Reads all events once: chain, tree, facts; and for a whole task their file, disclosures and lineage.
    fn walk(&mut self, source: &dyn Source, options: &Options, heads: Option<&Heads>) -> Result<Walk, Error> {
        let whole = options.scope == Scope::Task;
        let last = heads.map_or(u64::MAX, |heads| heads.task.2.size);
        let (mut chain, mut measure, mut prov) = (ChainVerifier::new(), Measure::new(), Prov::default());
        let mut walk = Walk::default();
        let mut newest = UnixMs(0);
        let seen = each_event(source, self.task_id, last, &mut |_, bytes| {
            chain.push(bytes).map_err(Error::inconsistent)?;
            let event = Event::from_bytes(bytes).map_err(Error::inconsistent)?;
            self.facts.take(&event).map_err(Error::inconsistent)?;
            newest = event.occurred_at;
            let leaf = leaf_hash(bytes);
            walk.frontier.push(leaf);
            if whole {
                measure.line(bytes);
                prov.take(&event);
                if options.disclosures {
                    self.disclosures(source, &event.payload, "/payload")?;
                }
            } else {
                walk.keep(&event, bytes, leaf);
            }
            Ok(())
        })?;
        if seen == 0 {
            return Err(Error::Unknown { what: "task", id: self.task_id.to_string() });
        }
        (self.size, self.root, self.exported_at) = (seen, walk.frontier.root(), newest);
        if let Some(heads) = heads {
            self.exported_at = heads.global.0.made_at;
            if (seen, self.root) != (heads.task.2.size, heads.task.2.root) {
                return Err(Error::inconsistent("the task's events do not give the root that was signed"));
            }
        }
        if whole {
            self.files.insert(layout::TASK_EVENTS.to_owned(), Planned::events(measure, seen));
            let prov = seal::canon::canonical_value(&prov.into_value()).map_err(Error::inconsistent)?;
            self.bytes(layout::PROV, prov);
        }
        Ok(walk)
    }

    fn head_files(&mut self, source: &dyn Source, heads: &Heads) -> Result<(), Error> {
        self.bytes(layout::LOG_CHECKPOINT, heads.global.0.note.clone());
        self.bytes(layout::TASK_CHECKPOINT, heads.task.0.note.clone());
        let proof = in_log(source, &heads.task, &heads.global)?;
        self.text(layout::TASK_CHECKPOINT_PROOF, proof);
        Ok(())
    }

    /// The envelopes of the receipts in scope; the receipt itself when there is one in scope alone.
    fn receipts(&mut self, source: &dyn Source, options: &Options) -> Result<Option<Receipt>, Error> {
        let chosen = match options.scope {
            Scope::Task => self.facts.receipts.iter().map(|(id, fact)| (*id, fact.envelope)).collect(),
            Scope::Receipt(id) => {
                let fact = self.facts.receipts.get(&id);
                let fact = fact.ok_or_else(|| Error::Unknown { what: "receipt", id: id.to_string() })?;
                vec![(id, fact.envelope)]
            }
        };
        let mut single = None;
        for (id, digest) in chosen {
            let Some(bytes) = self.stored(source, &digest)? else {
                self.left_out.push(format!("receipt {id}: its envelope is no longer kept"));
                continue;
            };
            let statement = self.receipt_file(id, bytes)?;
            if options.disclosures {
                self.disclosures(source, &statement, "")?;
            }
            if options.scope != Scope::Task {
                let read: Statement = serde_json::from_value(statement).map_err(Error::inconsistent)?;
                single = Some(read.predicate);
            }
        }
        if single.is_none() && options.scope != Scope::Task {
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

    /// For one receipt: the events that bind it to the log, each with its place in the task's tree.
    fn chosen_events(
        &mut self,
        walk: &Walk,
        options: &Options,
        receipt: &Receipt,
        heads: Option<&Heads>,
    ) -> Result<(), Error> {
        let mut chosen = Vec::new();
        chosen.extend(walk.receipts.get(&receipt.receipt_id));
        // The event that names the person's key is of use where the signed decision goes along.
        if options.artifacts.takes(Some(ArtifactKind::ApprovalDecision)) {
            chosen.extend(receipt.approval_ref.value().and_then(|id| walk.approvals.get(id)));
        } else {
            self.keys.approval = None;
        }
        let tree = Tree::from_leaves(&walk.leaves);
        for (seq, bytes) in chosen {
            self.bytes(&Named::Event(*seq).path(), bytes.clone());
            if let Some(heads) = heads {
                let path = tree.inclusion_proof(seq - 1).map_err(Error::inconsistent)?;
                let proof = TlogProof::new(seq - 1, path, heads.task.1.clone());
                self.text(&Named::EventProof(*seq).path(), proof.to_text());
            }
        }
        Ok(())
    }

    fn gate(
        &mut self,
        source: &dyn Source,
        receipt: Option<&Receipt>,
        heads: Option<&Heads>,
    ) -> Result<(), Error> {
        let failed = |why: String| Error::Source { what: "the gate's entries".to_owned(), why };
        let only = receipt.map(|receipt| receipt.authorized.audit_entry_sha256.value());
        let mut lines = Vec::new();
        let gate = heads.and_then(|heads| heads.gate.as_ref());
        for (number, bytes) in source.gate_entries(self.task_id).map_err(failed)? {
            let entry: AuditEntry = seal::canon::from_canonical(&bytes).map_err(Error::inconsistent)?;
            if only.is_some_and(|only| only != Some(&entry.entry_hash)) {
                continue;
            }
            if self.signed {
                let (_, note, head) =
                    gate.ok_or_else(|| Error::inconsistent("the gate has entries and no head"))?;
                let path = source.gate_proof(number, head.size).map_err(failed)?;
                let index =
                    number.checked_sub(1).ok_or_else(|| Error::inconsistent("entries count from 1"))?;
                verify_inclusion(&leaf_hash(&bytes), index, head.size, &path, &head.root)
                    .map_err(Error::inconsistent)?;
                let proof = TlogProof::new(index, path, note.clone());
                self.text(&Named::GateProof(number).path(), proof.to_text());
            }
            lines.extend(bytes);
            lines.push(b'\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.bytes(layout::GATE_ENTRIES, lines);
        if let (Some(gate), Some(heads)) = (gate, heads) {
            self.bytes(layout::GATE_CHECKPOINT, gate.0.note.clone());
            let proof = in_log(source, gate, &heads.global)?;
            self.text(layout::GATE_CHECKPOINT_PROOF, proof);
        }
        Ok(())
    }

    fn artifacts(
        &mut self,
        source: &dyn Source,
        options: &Options,
        receipt: Option<&Receipt>,
    ) -> Result<(), Error> {
        let wanted: BTreeSet<Digest> = match receipt {
            None => self.facts.artifacts.keys().copied().collect(),
            Some(receipt) => digests_of(receipt),
        };
        let envelopes: BTreeSet<Digest> = self.facts.receipts.values().map(|fact| fact.envelope).collect();
        let mut lost = 0_u64;
        for digest in wanted.difference(&envelopes) {
            if !options.artifacts.takes(self.facts.artifacts.get(digest).copied()) {
                continue;
            }
            match self.stored(source, digest)? {
                Some(bytes) => {
                    self.files.insert(Named::Artifact(*digest).path(), Planned::artifact(&bytes));
                }
                None => lost += 1,
            }
        }
        if lost > 0 {
            self.left_out.push(format!("{lost} artifacts whose content is no longer kept"));
        }
        Ok(())
    }

    fn stored(&self, source: &dyn Source, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let what = || format!("the artifact `{digest}`");
        let bytes = source.artifact(digest).map_err(|why| Error::Source { what: what(), why })?;
        match bytes {
            Some(bytes) if Digest::of(&bytes) != *digest => {
                Err(Error::inconsistent(format!("{} has other bytes than its digest says", what())))
            }
            other => Ok(other),
        }
    }

    fn disclosures(&mut self, source: &dyn Source, value: &Value, base: &str) -> Result<(), Error> {
        concealed(value, &mut base.to_owned(), &mut |digest, _| {
            let what = || format!("the disclosure `{digest}`");
            let bytes = source.disclosure(&digest).map_err(|why| Error::Source { what: what(), why })?;
            match bytes {
                None => Ok(()),
                Some(bytes) if Digest::of(&bytes) != digest => {
                    Err(Error::inconsistent(format!("{} has other bytes than its digest says", what())))
                }
                Some(bytes) => {
                    self.bytes(&Named::Disclosure(digest).path(), bytes);
                    Ok(())
                }
            }
        })
    }
}

/// What one pass over the events leaves behind.
struct Walk {
    frontier: Frontier,
    /// For one receipt alone: hashes of all leaves, and the events that may bind it.
    leaves: Vec<Digest>,
    receipts: BTreeMap<ReceiptId, (u64, Vec<u8>)>,
    approvals: BTreeMap<ApprovalId, (u64, Vec<u8>)>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            frontier: Frontier::new(),
            leaves: Vec::new(),
            receipts: BTreeMap::new(),
            approvals: BTreeMap::new(),
        }
    }
}

impl Walk {
    fn keep(&mut self, event: &Event, bytes: &[u8], leaf: Digest) {
        self.leaves.push(leaf);
        let kept = || (event.task_seq, bytes.to_vec());
        match event.event_type.as_str() {
            "receipt.issued" => {
                if let Ok(id) = event.entity_id.parse() {
                    self.receipts.insert(id, kept());
                }
            }
            "approval.granted" => {
                if let Ok(id) = event.entity_id.parse() {
                    self.approvals.insert(id, kept());
                }
            }
            _ => {}
        }
    }
}

impl Heads {
    fn of(source: &dyn Source, task: TaskId) -> Result<Self, Error> {
        let failed = |why: String| Error::Source { what: "the signed heads".to_owned(), why };
        let missing = |what: &str| Error::inconsistent(format!("there is no signed head of the {what}"));
        let read = |head: Head| -> Result<_, Error> {
            let note = Note::parse(&head.note).map_err(Error::inconsistent)?;
            let checkpoint = Checkpoint::from_text(&note.text).map_err(Error::inconsistent)?;
            Ok((head, note, checkpoint))
        };
        Ok(Self {
            task: read(source.task_head(task).map_err(failed)?.ok_or_else(|| missing("task"))?)?,
            gate: source.gate_head().map_err(failed)?.map(read).transpose()?,
            global: read(source.global_head().map_err(failed)?.ok_or_else(|| missing("log"))?)?,
        })
    }
}

/// The proof that a head's note stands in the global log.
fn in_log(
    source: &dyn Source,
    (head, note, _): &(Head, Note, Checkpoint),
    (_, global_note, global): &(Head, Note, Checkpoint),
) -> Result<String, Error> {
    let index =
        head.leaf_index.ok_or_else(|| Error::inconsistent("a head has no place in the global log"))?;
    let path = source
        .global_proof(index, global.size)
        .map_err(|why| Error::Source { what: "a place in the global log".to_owned(), why })?;
    verify_inclusion(&leaf_hash(note.text.as_bytes()), index, global.size, &path, &global.root)
        .map_err(Error::inconsistent)?;
    Ok(TlogProof::new(index, path, global_note.clone()).to_text())
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
    digests.extend(single.iter().filter_map(|slot| slot.value()).map(|artifact| artifact.sha256));
    digests.extend(lists.iter().flat_map(|list| list.iter()).map(|artifact| artifact.sha256));
    digests
}
