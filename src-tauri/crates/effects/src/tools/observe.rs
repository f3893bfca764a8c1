//! Looking at files and folders.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Output, Progress, Settled, reads};
use acts::{ActionRequest, Observe, Tool as _};
use model::action::ReadItem;
use model::artifact::ArtifactKind;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;

impl Executor for Observe {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { executors, scope, request, started, .. } = act;
        let (bytes, errors) = reads::observe(
            (&executors.workspace, &executors.redactor),
            scope,
            &self.items,
            executors.parallel_reads,
        );
        let result_code = match errors.len() {
            0 => ResultCode::Succeeded,
            n if n == self.items.len() => ResultCode::Failed,
            _ => ResultCode::Partial,
        };
        let about = self.title();
        let media_type = "application/json".to_owned();
        let is_search = |item: &ReadItem| matches!(item, ReadItem::Search { .. });
        let kind = match !self.items.is_empty() && self.items.iter().all(is_search) {
            true => ArtifactKind::SearchBundle,
            false => ArtifactKind::ActionResult,
        };
        let output = Output { kind, media_type, bytes, about };
        Outcome {
            result_code,
            changes: Vec::new(),
            outputs: vec![output],
            ran: executors.ran(&request.action.executor(), request, *started),
            sandbox_level: SandboxLevel::Beneath,
            observed: errors.clone(),
            error: (!errors.is_empty()).then(|| errors.join("; ")),
            kept: Vec::new(),
        }
    }

    /// A look leaves nothing behind; it is made again.
    fn settle(&self, _: &Executors, _: &ActionRequest, _: &StateWitness, _: &mut Settled) {}
}
