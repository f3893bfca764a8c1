//! Receipts: recorded by the log, signed by the receipt key, and at one with what the log says was authorised.

use super::Check;
use super::manifest::envelope_of;
use super::rotations::Leads;
use crate::Trust;
use crate::container::Stop;
use crate::facts::ReceiptFact;
use crate::layout::{self as l, Named};
use crate::statement::Predicate;
use model::ReceiptId;
use model::artifact::ArtifactRef;
use model::receipt::{PREDICATE_TYPE, Receipt, STATEMENT_TYPE, Statement, Verifiability};
use seal::{Digest, PublicKey, dsse};

impl Check<'_> {
    pub(super) fn receipts(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        for name in self.sums.below("receipts/") {
            let (Some(Named::Receipt(id)) | Some(Named::BareReceipt(id))) = Named::parse(name) else {
                continue;
            };
            let wanted = predicate.receipt_id.is_none_or(|only| only == id);
            if !wanted || !self.facts.receipts.contains_key(&id) {
                return Err(Stop::at(name, "no event of this bundle records this receipt"));
            }
        }
        if let Some(only) = predicate.receipt_id
            && !self.facts.receipts.contains_key(&only)
        {
            return Err(Stop::at(
                "task/events",
                "none of the events records the receipt that is to be proven",
            ));
        }
        let facts: Vec<(ReceiptId, ReceiptFact)> =
            self.facts.receipts.iter().map(|(id, fact)| (*id, fact.clone())).collect();
        for (id, fact) in facts {
            self.receipt(id, &fact, predicate)?;
        }
        Ok(())
    }

    fn receipt(&mut self, id: ReceiptId, fact: &ReceiptFact, predicate: &Predicate) -> Result<(), Stop> {
        let (signed, bare) = (Named::Receipt(id).path(), Named::BareReceipt(id).path());
        let name = match (self.has(&signed), self.has(&bare)) {
            (true, false) => signed,
            (false, true) => bare,
            (false, false) => {
                self.lacks(format!("receipt {id}, which event {} records", fact.seq));
                return Ok(());
            }
            (true, true) => return Err(Stop::at(bare, "the same receipt is there twice")),
        };
        let bytes = self.whole(&name, l::WHOLE_BYTES_MAX)?;
        if Digest::of(&bytes) != fact.envelope {
            return Err(Stop::at(name, format!("event {} records other bytes of this receipt", fact.seq)));
        }
        let payload = self.payload(&name, id, fact, bytes)?;
        if Digest::of(&payload) != fact.statement {
            return Err(Stop::at(name, format!("event {} records another statement", fact.seq)));
        }
        let value = seal::canon::parse_canonical(&payload).map_err(|e| Stop::at(&name, e))?;
        self.open_leaves(&value, "")?;
        let statement: Statement = serde_json::from_value(value).map_err(|e| Stop::at(&name, e))?;
        if statement.statement_type != STATEMENT_TYPE || statement.predicate_type != PREDICATE_TYPE {
            return Err(Stop::at(name, "it is not the statement of a receipt"));
        }
        let receipt = &statement.predicate;
        let said = (
            receipt.receipt_id,
            receipt.task_id,
            receipt.receipt_class,
            receipt.action_class,
            receipt.result_code,
            receipt.verifiability,
        );
        let recorded = (
            id,
            predicate.task_id,
            fact.receipt_class,
            fact.action_class,
            fact.result_code,
            fact.verifiability,
        );
        if said != recorded {
            return Err(Stop::at(
                name,
                format!("it says otherwise than event {}, which records it", fact.seq),
            ));
        }
        subjects(&name, &statement)?;
        self.references(&name, receipt, predicate)?;
        self.authority(&name, receipt)?;
        self.counts.receipts += 1;
        self.signed_receipts += u64::from(Named::parse(&name) == Some(Named::Receipt(id)));
        Ok(())
    }

    /// What the receipt says, once whoever should have signed it has.
    fn payload(
        &self,
        name: &str,
        id: ReceiptId,
        fact: &ReceiptFact,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, Stop> {
        let bare = Named::BareReceipt(id).path() == name;
        match (bare, fact.verifiability, self.keys.receipt) {
            (true, Verifiability::HashOnly | Verifiability::HashChained, _) => Ok(bytes),
            (true, ..) => Err(Stop::at(name, "its event says it is signed, and nobody signed it")),
            (false, _, Some(key)) => {
                // A receipt is older than the key that followed its own: the envelope says which one signed.
                let signers = dsse::Envelope::parse(&bytes).map(|e| e.signatures).unwrap_or_default();
                let signed = |key: &PublicKey| signers.iter().any(|s| s.keyid == key.keyid());
                let key = self.ever("receipt").into_iter().find(signed).unwrap_or(key);
                envelope_of(name, &bytes, dsse::IN_TOTO, &key)
            }
            (false, _, None) => {
                Err(Stop::at(name, "it is signed, and the bundle has no key to check it with"))
            }
        }
    }

    /// Every artifact that the receipt names is the one that the log knows under that identifier.
    fn references(&mut self, name: &str, receipt: &Receipt, predicate: &Predicate) -> Result<(), Stop> {
        let single = [&receipt.action_request_ref, &receipt.environment_ref, &receipt.policy_result_ref];
        let lists = [&receipt.input_refs, &receipt.output_refs, &receipt.rollback.artifact_refs];
        let images = receipt.changes.iter().filter_map(|change| change.before_image.as_ref());
        let all: Vec<&ArtifactRef> = single
            .iter()
            .filter_map(|slot| slot.value())
            .chain(lists.iter().flat_map(|list| list.iter()))
            .chain(images)
            .collect();
        for artifact in all {
            self.named.insert(artifact.sha256);
            match self.facts.artifact_ids.get(&artifact.artifact_id) {
                Some(known) if *known != artifact.sha256 => {
                    let why =
                        format!("it names `{}` with another digest than the log does", artifact.artifact_id);
                    return Err(Stop::at(name, why));
                }
                None if predicate.is_whole() => {
                    let what = format!(
                        "the event that made {}, which receipt {} names",
                        artifact.artifact_id, receipt.receipt_id
                    );
                    self.not_shown(what);
                }
                _ => {}
            }
        }
        let ever = self.ever("receipt");
        let named = receipt.signer_ref.value();
        let known =
            ever.iter().any(|key| named == Some(&key.keyid())) || (ever.is_empty() && named.is_none());
        if !known && receipt.verifiability != Verifiability::HashChained {
            return Err(Stop::at(name, "it names another signer than the receipt key"));
        }
        self.manifest_named(name, receipt)
    }

    /// Nobody but the holder of the manifest key that the receipt names may have listed the files of this bundle.
    fn manifest_named(&mut self, name: &str, receipt: &Receipt) -> Result<(), Stop> {
        let Some(named) = receipt.manifest_ref.filter(|_| self.signed) else { return Ok(()) };
        match self.leads("manifest", &[Trust::KeyId(named)]) {
            Leads::Nowhere => Err(Stop::at(name, "it names another manifest key than this bundle's")),
            Leads::Revoked(_) => Ok(()),
            Leads::Itself | Leads::Through(..) => {
                self.has_named_manifest = true;
                Ok(())
            }
        }
    }
}

/// Each subject has the one digest by which a stranger's tool finds what it is about.
fn subjects(name: &str, statement: &Statement) -> Result<(), Stop> {
    for subject in &statement.subject {
        let digest = subject.digest.get("sha256").and_then(|hex| hex.parse::<Digest>().ok());
        if digest.is_none() || subject.digest.len() != 1 {
            return Err(Stop::at(name, "a subject has no SHA-256 digest, or more than that"));
        }
    }
    Ok(())
}
