//! Training as the store's own stream tells it: datasets, what was trained with them, and what must not be learned from any more.

use model::artifact::ArtifactRef;
use model::body::Body;
use model::{ArtifactId, Digest, ReceiptId, TaskId, UnixMs};
use std::collections::BTreeSet;

/// Why an erasure lets artifacts go, as the log has it.
pub(crate) const ERASED: &str = "erased";

/// A dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetRecord {
    /// Its examples, one a line.
    pub dataset: ArtifactRef,
    /// Where each of them came from.
    pub sources: ArtifactRef,
    /// How many there are.
    pub examples: u32,
    /// How many of them are held out.
    pub held_out: u32,
    /// How much finished work was left out.
    pub left_out: u32,
    /// Root of the Merkle tree over the receipts of what is learned from.
    pub receipts_root: Digest,
    /// The one that it took the place of, with less in it.
    pub replaces: Option<ArtifactId>,
    /// Whether a recall or an erasure has let its content go.
    pub is_gone: bool,
    /// Since when.
    pub at: UnixMs,
}

/// An adapter that was trained and measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The run.
    pub run_id: String,
    /// What it learned from.
    pub dataset: ArtifactRef,
    /// The model that it is for.
    pub base_sha256: Digest,
    /// What it learned.
    pub adapter: ArtifactRef,
    /// How it was measured.
    pub measures: ArtifactRef,
    /// Whether it is better than its base.
    pub offered: bool,
    /// Since when.
    pub at: UnixMs,
    /// The model that was made with it.
    pub exported: Option<ExportRecord>,
    /// Since when something that it saw is recalled.
    pub recalled: Option<UnixMs>,
}

/// A model that was made with an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRecord {
    /// Its name among the models in the box.
    pub name: String,
    /// Digest of its weights.
    pub model_sha256: Digest,
    /// Its card.
    pub card: ArtifactRef,
    /// Since when.
    pub at: UnixMs,
}

/// A recall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallRecord {
    /// What a person named, unless that was erased.
    pub source: Option<String>,
    /// Datasets that lost examples.
    pub datasets: Vec<ArtifactId>,
    /// Runs whose adapters saw some.
    pub runs: Vec<String>,
    /// Since when.
    pub at: UnixMs,
}

/// Every dataset, run and recall, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainingRegistry {
    /// Datasets.
    pub datasets: Vec<DatasetRecord>,
    /// Runs that ended with an adapter.
    pub runs: Vec<RunRecord>,
    /// Recalls.
    pub recalls: Vec<RecallRecord>,
    tasks: BTreeSet<TaskId>,
    receipts: BTreeSet<ReceiptId>,
    requests: BTreeSet<ArtifactId>,
    erasures: u64,
}

impl TrainingRegistry {
    /// How often something was erased: examples that were read before the last time may hold what is gone.
    #[must_use]
    pub const fn erasures(&self) -> u64 {
        self.erasures
    }

    /// The newest dataset whose content is kept, or the one that is named.
    pub fn dataset(&self, named: Option<ArtifactId>) -> Option<&DatasetRecord> {
        let mut kept = self.datasets.iter().rev().filter(|one| !one.is_gone);
        kept.find(|one| named.is_none_or(|named| one.dataset.artifact_id == named))
    }

    /// A run.
    pub fn run(&self, run_id: &str) -> Option<&RunRecord> {
        self.runs.iter().rfind(|one| one.run_id == run_id)
    }

    /// The run whose model has these weights.
    pub fn run_of_model(&self, model_sha256: &str) -> Option<&RunRecord> {
        let is_it = |one: &ExportRecord| one.model_sha256.to_string() == model_sha256;
        self.runs.iter().rfind(|one| one.exported.as_ref().is_some_and(is_it))
    }

    /// Whether nothing may be learned from it any more: a turn of a task that sent this request, with the receipts of what it did.
    pub fn is_recalled(&self, task: TaskId, request: ArtifactId, receipts: &[ReceiptId]) -> bool {
        self.tasks.contains(&task)
            || self.requests.contains(&request)
            || receipts.iter().any(|receipt| self.receipts.contains(receipt))
    }

    /// Whether an event of the store's stream tells something of training.
    pub(crate) fn is_about(&self, body: &Body) -> bool {
        match body {
            Body::TrainingCurated(_)
            | Body::TrainingFinished(_)
            | Body::TrainingExported(_)
            | Body::TrainingRecalled(_)
            | Body::DisclosuresErased(_) => true,
            Body::ArtifactExpired(b) => {
                b.reason == ERASED || self.datasets.iter().any(|one| one.dataset.artifact_id == b.artifact_id)
            }
            _ => false,
        }
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::TrainingCurated(b) => self.datasets.push(DatasetRecord {
                dataset: b.dataset.clone(),
                sources: b.sources.clone(),
                examples: b.examples,
                held_out: b.held_out,
                left_out: b.left_out,
                receipts_root: b.receipts_root,
                replaces: b.replaces,
                is_gone: false,
                at: b.at,
            }),
            Body::TrainingFinished(b) => {
                // What was recalled while it learned, it saw.
                let known = self.datasets.iter().find(|one| one.dataset == b.dataset);
                let recalled = known.is_none_or(|one| one.is_gone).then_some(b.at);
                self.runs.push(RunRecord {
                    run_id: b.run_id.clone(),
                    dataset: b.dataset.clone(),
                    base_sha256: b.base_sha256,
                    adapter: b.adapter.clone(),
                    measures: b.measures.clone(),
                    offered: b.offered,
                    at: b.at,
                    exported: None,
                    recalled,
                });
            }
            Body::TrainingExported(b) => {
                if let Some(run) = self.runs.iter_mut().rfind(|one| one.run_id == b.run_id) {
                    run.exported = Some(ExportRecord {
                        name: b.name.clone(),
                        model_sha256: b.model_sha256,
                        card: b.card.clone(),
                        at: b.at,
                    });
                }
            }
            Body::TrainingRecalled(b) => {
                self.tasks.extend(&b.tasks);
                self.receipts.extend(&b.receipts);
                self.requests.extend(&b.requests);
                for run in self.runs.iter_mut().filter(|one| b.runs.contains(&one.run_id)) {
                    run.recalled.get_or_insert(b.at);
                }
                self.recalls.push(RecallRecord {
                    source: b.source.shown().cloned(),
                    datasets: b.datasets.clone(),
                    runs: b.runs.clone(),
                    at: b.at,
                });
            }
            Body::DisclosuresErased(_) => self.erasures += 1,
            Body::ArtifactExpired(b) => {
                self.erasures += u64::from(b.reason == ERASED);
                let of = self.datasets.iter_mut().filter(|one| one.dataset.artifact_id == b.artifact_id);
                of.for_each(|one| one.is_gone = true);
            }
            _ => {}
        }
    }
}
