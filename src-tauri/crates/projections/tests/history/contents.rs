//! What is said to a task, and what it makes.

use super::{History, Work};
use crate::world::{Place, words};
use model::artifact::ArtifactKind;
use model::body::*;
use model::event::Draft;
use model::ingress::IngressResolution;

impl History {
    pub(super) fn message(&mut self, work: &mut Work) -> (Vec<Draft>, Vec<Vec<u8>>) {
        let place = Place::task(work.task);
        if let (Some(ingress_id), true) = (work.inputs.last().copied(), self.chance(2)) {
            work.inputs.pop();
            let body = TaskInputAbsorbed {
                about_task_id: work.task,
                ingress_id,
                boundary: Boundary::PreCompilation,
            };
            return (vec![self.world.draft(place, body)], vec![]);
        }
        let at = self.roll(self.talks.len());
        let (conversation, inbox) = (self.talks[at].id, self.talks[at].inbox);
        let channel = self.channel();
        let (ingress_id, mut received) = self.world.ingress(conversation, inbox, channel);
        let (mut drafts, mut blobs) = (vec![], vec![]);
        // Now and then what is kept of it names the task.
        if self.chance(3) {
            let bytes = format!("what is kept of message {}, of {}", self.world.n, work.task).into_bytes();
            let (kept, draft) =
                self.world.artifact(Place::task(inbox), ArtifactKind::Message, &bytes, vec![]);
            if let Body::IngressReceived(b) = &mut received.body {
                b.record.referenced_artifact_refs = vec![kept.artifact_id];
            }
            work.artifacts.push(kept.artifact_id);
            drafts.push(draft);
            blobs.push(bytes);
        }
        let bound = self.world.bound(ingress_id, inbox, IngressResolution::AppendNote, Some(work.task));
        drafts.extend([received, self.world.attributed(ingress_id, inbox), bound]);
        if !work.status.is_terminal() {
            let (about_task_id, text) = (work.task, words("also", self.world.n));
            let body = TaskInputAdded { about_task_id, ingress_id, text, trust_tier: None, encloses: None };
            drafts.push(self.world.draft(place, body));
            work.inputs.push(ingress_id);
        }
        (drafts, blobs)
    }

    pub(super) fn content(&mut self, work: &mut Work) -> (Vec<Draft>, Vec<Vec<u8>>) {
        let place = work.attempt.map_or(Place::task(work.task), |(place, _)| place);
        let last = work.artifacts.last().copied();
        match (self.roll(5), last) {
            (0, Some(artifact_id)) => {
                let by = work.receipts.last().map_or_else(|| work.task.to_string(), ToString::to_string);
                (vec![self.world.draft(place, ArtifactSealed { artifact_id, by })], vec![])
            }
            (1, Some(artifact_id)) => {
                let body = ArtifactExpired { artifact_id, reason: "old".into() };
                (vec![self.world.draft(place, body)], vec![])
            }
            _ => {
                let bytes = format!("the content of note {}, bread and butter", self.world.n).into_bytes();
                let kinds = [
                    ArtifactKind::Answer,
                    ArtifactKind::FileSnapshot,
                    ArtifactKind::ModelRequest,
                    ArtifactKind::ActionRequest,
                ];
                let kind = kinds[self.roll(4)];
                // What is asked for may rest on what another task has.
                let other = self.works.last().and_then(|other| other.artifacts.last().copied());
                let inputs = last.into_iter().chain(other.filter(|_| kind == ArtifactKind::ActionRequest));
                let (made, mut draft) = self.world.artifact(place, kind, &bytes, inputs.collect());
                // Now and then a look into a secret, which nothing is drawn for.
                if self.world.n.is_multiple_of(4) {
                    crate::world::looked_into_a_secret(&mut draft);
                }
                work.artifacts.push(made.artifact_id);
                (vec![draft], vec![bytes])
            }
        }
    }
}
