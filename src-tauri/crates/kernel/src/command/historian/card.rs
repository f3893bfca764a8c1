//! The card of what the historian proposes: one act, whose lines a person chooses from.

use super::{ALIKE_MAX, Suggested};
use crate::Error;
use crate::kernel::Kernel;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{Action, Remember};
use model::artifact::{ArtifactClass, ArtifactKind, EvidenceRef, Selector};
use model::knowledge::Suggestion;
use model::{ArtifactId, Digest, TaskId};

impl Kernel {
    /// The lines as one act, each with an artifact that stands for what it was made of.
    pub(in crate::command) fn suggested(
        &self,
        tx: &mut Tx<'_>,
        batch: &Suggested,
    ) -> Result<Result<Action, String>, Error> {
        let workspace = tx
            .task
            .workspace_hint
            .ok_or_else(|| Error::Broken("a suggestion without a folder".to_owned()))?;
        let Some(project) = self.project_of(workspace, "project") else {
            return Ok(Err("the project of this folder is not known any more".to_owned()));
        };
        let (mut claims, mut withheld) = (Vec::new(), None);
        for line in &batch.lines {
            let from: Vec<TaskId> = line.grounds.iter().map(|ground| ground.task_id).collect();
            if let Some(why) = self.why_withheld(&from, &[], &[&line.claim, &line.reason])? {
                withheld = Some(why);
                continue;
            }
            let alike = self.saying(&[&line.claim], Some(project.hash), ALIKE_MAX)?;
            if alike.iter().any(|record| record.claim.shown().is_some_and(|claim| *claim == line.claim)) {
                continue;
            }
            let new = NewArtifact::audit(ArtifactKind::BeliefExtract)
                .class(ArtifactClass::Derived)
                .trust(line.trust_tier)
                .from(line.sources.iter().copied());
            let at = tx.object(line, new)?;
            claims.push(Remember {
                claim: line.claim.clone(),
                scope: "project".to_owned(),
                promotion_reason: format!("{} (found by the rule \"{}\")", line.reason, line.rule),
                evidence_refs: evidence(line, at.artifact_id),
                sources: line
                    .grounds
                    .iter()
                    .map(|ground| format!("{}: \"{}\"", ground.what, ground.quote))
                    .collect(),
                belief_id: None,
                project: Some(project.clone()),
                memory_type: Some(line.memory_type),
                retention: None,
                days: None,
                replaces: None,
                also: Vec::new(),
            });
        }
        let all = Remember::together(claims)
            .ok_or_else(|| withheld.unwrap_or("all of it is remembered already").to_owned());
        Ok(all.map(Action::Remember))
    }
}

/// What shows a line: no piece has more trust than the line, so that its best is what the line may claim.
fn evidence(line: &Suggestion, artifact_id: ArtifactId) -> Vec<EvidenceRef> {
    let refs = line.grounds.iter().map(|ground| {
        let id = ground.receipt_id.map_or_else(|| ground.event_id.to_string(), |receipt| receipt.to_string());
        EvidenceRef {
            artifact_id,
            selector: Selector::Record { id },
            excerpt_hash: Digest::of(ground.quote.as_bytes()),
            // No word of it: this is told by the event of what is remembered, from which nothing can be erased.
            capture_method: format!("{} (task {})", ground.what, ground.task_id),
            confidence: 1000,
            trust_tier: line.trust_tier,
        }
    });
    refs.collect()
}
