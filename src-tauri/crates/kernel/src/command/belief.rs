//! What a person says of what an agent holds true: they take it back, or correct it by their own words (HK-15.3).

use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use knowledge::Refusal;
use knowledge::belief::{self, Claim};
use model::artifact::{ArtifactClass, ArtifactKind, EvidenceRef, Selector};
use model::fault::Point;
use model::knowledge::Belief;
use model::principal::PrincipalType;
use model::{BeliefId, Body, TaskId};
use serde_json::json;

/// What a person says of a belief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Correction {
    /// How sure one may be of it, from 0 to 1000; never more than its evidence carries.
    Confidence(u16),
    /// What holds in its place.
    Instead(String),
    /// What holds against it; neither is dropped.
    Against(String),
    /// Its time is over.
    Over,
}

impl Kernel {
    /// Takes a belief back; it stays readable, and no later context shows it as held.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown belief, [`Error::Conflict`] for one that is not held any more.
    pub fn revoke_belief(&self, task_id: TaskId, belief_id: BeliefId, reason: &str) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::User)?;
        let belief = known(&tx, belief_id)?;
        let body = belief::revoke(&belief, reason).map_err(conflict)?;
        self.push_belief(&mut tx, body)?;
        tx.commit()?;
        Ok(())
    }

    /// Takes up what a person says of a belief, each an event of its own; what they hold instead or against it is a belief whose
    /// evidence is their words. Answers that one, where there is one.
    ///
    /// # Errors
    /// As [`Kernel::revoke_belief`]; [`Error::Conflict`] also for what cannot be held, [`Error::Refused`] for words that are not a
    /// person's.
    pub fn correct_belief(
        &self,
        (task_id, belief_id): (TaskId, BeliefId),
        correction: &Correction,
        reason: &str,
        sender: impl Into<Sender>,
    ) -> Result<Option<BeliefId>, Error> {
        let sender = sender.into();
        sender.speaks_for_the_person("correct a belief")?;
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::User)?;
        let old = known(&tx, belief_id)?;
        let (body, by) = match correction {
            Correction::Confidence(confidence) => {
                (belief::revise(&old, *confidence, &old.evidence_refs, reason).map_err(conflict)?, None)
            }
            Correction::Over => (belief::end(&old).map_err(conflict)?, None),
            Correction::Instead(claim) => {
                let new = self.hold_words(&mut tx, &old, claim, sender)?;
                (belief::supersede(&old, &new).map_err(conflict)?, Some(new.belief_id))
            }
            Correction::Against(claim) => {
                let new = self.hold_words(&mut tx, &old, claim, sender)?;
                (belief::contradict(&new, &old, reason).map_err(conflict)?.body, Some(new.belief_id))
            }
        };
        self.push_belief(&mut tx, body)?;
        tx.commit()?;
        Ok(by)
    }

    /// Holds what a person says where the other belief holds; their words are its evidence.
    fn hold_words(
        &self,
        tx: &mut Tx<'_>,
        old: &Belief,
        claim: &str,
        sender: Sender,
    ) -> Result<Belief, Error> {
        // An empty scope is everywhere: what was erased must not become that.
        let scope = old.scope.shown().cloned().ok_or_else(|| {
            Error::Conflict(
                "where this belief holds was erased; remember what holds now by itself".to_owned(),
            )
        })?;
        let new =
            NewArtifact::audit(ArtifactKind::BeliefExtract).class(ArtifactClass::Source).trust(sender.tier());
        let words = tx.object(&json!({ "claim": claim.trim(), "about": old.belief_id }), new)?;
        let evidence = EvidenceRef {
            artifact_id: words.artifact_id,
            selector: Selector::Whole,
            excerpt_hash: words.sha256,
            capture_method: "said by a person".to_owned(),
            confidence: 1000,
            trust_tier: sender.tier(),
        };
        let claim = Claim {
            claim: claim.to_owned(),
            scope,
            confidence: 1000,
            evidence: vec![evidence],
            expires_at: None,
        };
        let all: Vec<Belief> = tx.beliefs.values().cloned().collect();
        let body = belief::assert(&claim, &self.holding(tx), &all).map_err(conflict)?;
        let Body::BeliefAsserted(asserted) = &body else {
            return Err(Error::Broken("a belief was asserted by another event".to_owned()));
        };
        let held = asserted.belief.clone();
        self.push_belief(tx, body)?;
        Ok(held)
    }
}

fn known(tx: &Tx<'_>, belief_id: BeliefId) -> Result<Belief, Error> {
    let unknown = || Error::NotFound { kind: "belief", id: belief_id.to_string() };
    tx.beliefs.get(&belief_id).cloned().ok_or_else(unknown)
}

fn conflict(refusal: Refusal) -> Error {
    Error::Conflict(refusal.reason)
}
