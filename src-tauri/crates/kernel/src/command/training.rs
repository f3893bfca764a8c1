//! Training on record: datasets as a person was shown them, what was trained with them, and recalls, which take examples out
//! again and say which adapters saw them (successor.md 6, HV-3.8).

use super::collect::live_without;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::training_registry::{DatasetRecord, RecallRecord, RunRecord, TrainingRegistry};
use crate::writeup::{NewArtifact, Writeup};
use governance::Refusal;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef};
use model::body::{ArtifactExpired, TrainingCurated, TrainingExported, TrainingFinished, TrainingRecalled};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{ArtifactId, ReceiptId, Sensitive, TaskId};
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use training::{Example, Split};

/// Tasks, receipts and requests that one recall names at most.
const RECALLED_MAX: usize = 10_000;

/// Tasks, receipts and requests that one event names, of each.
const NAMED_MAX: usize = 1_000;

/// How datasets are kept.
const LINES: &str = "application/x-ndjson";

/// How a card is kept.
const CARD: &str = "text/markdown; charset=utf-8";

/// How adapters are kept.
const TENSORS: &str = "application/octet-stream";

/// How often a recall looks at what came in between before it gives way to what is at work.
const CATCH_UPS_MAX: u32 = 16;

/// Where one example came from: no word of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleSource {
    /// The example.
    pub id: Digest,
    /// The task whose turn it is.
    pub task: TaskId,
    /// What the model was sent.
    pub request: ArtifactId,
    /// What it answered.
    pub answer: ArtifactId,
    /// What came of it.
    pub receipts: Vec<ReceiptId>,
}

/// A dataset that is to be kept, as a person was shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDataset {
    /// Its examples.
    pub examples: Vec<Example>,
    /// Where each of them came from.
    pub sources: Vec<ExampleSource>,
    /// How much finished work was left out.
    pub left_out: u32,
    /// [`TrainingRegistry::erasures`] before the work was read.
    pub erasures: u64,
}

/// A run that ended with an adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun<'r> {
    /// The run.
    pub run_id: String,
    /// What it learned from.
    pub dataset: ArtifactRef,
    /// The model that it is for.
    pub base_sha256: Digest,
    /// What it learned.
    pub adapter: &'r [u8],
    /// How it was measured, as JSON.
    pub measures: &'r [u8],
    /// Whether it is better than its base.
    pub offered: bool,
}

/// What is to be recalled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallOf {
    /// As a person named it.
    pub said: String,
    /// Tasks, with all their turns.
    pub tasks: BTreeSet<TaskId>,
    /// Receipts: every turn that one of them came of.
    pub receipts: BTreeSet<ReceiptId>,
    /// Requests to models, and what else of a turn is named.
    pub requests: BTreeSet<ArtifactId>,
}

impl RecallOf {
    fn holds(&self, source: &ExampleSource) -> bool {
        self.tasks.contains(&source.task)
            || [source.request, source.answer].iter().any(|id| self.requests.contains(id))
            || source.receipts.iter().any(|receipt| self.receipts.contains(receipt))
    }
}

/// What a recall takes: datasets with what stays of each, and the runs whose adapters saw what goes.
#[derive(Debug, Clone, Default)]
pub(super) struct PlannedRecall {
    lost: Vec<Lost>,
    runs: Vec<String>,
}

#[derive(Debug, Clone)]
struct Lost {
    of: DatasetRecord,
    kept: Vec<Example>,
    sources: Vec<ExampleSource>,
    number: u32,
}

impl PlannedRecall {
    /// Whether nothing was learned from it.
    pub(super) fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.runs.is_empty()
    }

    /// Datasets whose content goes.
    pub(super) fn contents(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.lost.iter().map(|lost| &lost.of.dataset)
    }
}

fn unfit(error: training::Error) -> Error {
    Error::Input(error.to_string())
}

impl Kernel {
    /// Training as the store's own events say.
    pub fn training(&self) -> Arc<TrainingRegistry> {
        Arc::clone(&lock(&self.store).training)
    }

    /// Keeps a dataset as a person was shown it (HV-3.8-2).
    ///
    /// # Errors
    /// [`Error::Refused`] for whoever is no person; [`Error::Input`] when it is none; [`Error::Conflict`] when something of it was
    /// recalled meanwhile, or anything erased; [`Error::Secret`] when it holds a secret.
    pub fn keep_dataset(&self, new: &NewDataset, by: impl Into<Sender>) -> Result<DatasetRecord, Error> {
        let sender = by.into();
        sender.is_a_person("keep a dataset")?;
        training::check(&new.examples).map_err(unfit)?;
        let ids: BTreeSet<Digest> = new.examples.iter().map(|one| one.id).collect();
        let told: BTreeSet<Digest> = new.sources.iter().map(|one| one.id).collect();
        if ids != told || told.len() != new.sources.len() {
            return Err(Error::Input(
                "the dataset does not say of each example where it came from".to_owned(),
            ));
        }
        let actor = self.principal_of(sender)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, "training".to_owned(), None)?;
        let registry = {
            let store = lock(&self.store);
            w.batch.expect.push((store.system_task()?, store.seq));
            Arc::clone(&store.training)
        };
        if new.sources.iter().any(|one| registry.is_recalled(one.task, one.request, &one.receipts)) {
            let why = "something of the dataset was recalled meanwhile; look at what would be kept again";
            return Err(Error::Conflict(why.to_owned()));
        }
        if registry.erasures() != new.erasures {
            let why = "something was erased meanwhile; look at what would be kept again";
            return Err(Error::Conflict(why.to_owned()));
        }
        let curated = push_dataset(&mut w, (&new.examples, &new.sources), new.left_out, None)?;
        self.commit(w)?;
        let kept = self.training().datasets.iter().rfind(|one| one.dataset == curated).cloned();
        kept.ok_or_else(|| Error::Broken("a dataset that was kept is not known".to_owned()))
    }

    /// Puts on record what a run came to.
    ///
    /// # Errors
    /// [`Error::NotFound`] when its dataset was never kept; [`Error::Conflict`] for a run that is on record.
    pub fn finish_training(&self, run: &FinishedRun<'_>) -> Result<RunRecord, Error> {
        let registry = self.training();
        if !registry.datasets.iter().any(|one| one.dataset == run.dataset) {
            return Err(Error::NotFound { kind: "dataset", id: run.dataset.artifact_id.to_string() });
        }
        if registry.run(&run.run_id).is_some() {
            return Err(Error::Conflict(format!("the run `{}` is on record already", run.run_id)));
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, run.run_id.clone(), None)?;
        let from = [run.dataset.artifact_id];
        let new = |kind| NewArtifact::audit(kind).class(ArtifactClass::Derived).from(from);
        let adapter = w.artifact(run.adapter, new(ArtifactKind::TrainingAdapter).media(TENSORS))?;
        let measures = w.artifact(run.measures, new(ArtifactKind::TrainingMeasures))?;
        let at = w.now;
        w.push(TrainingFinished {
            run_id: run.run_id.clone(),
            dataset: run.dataset.clone(),
            base_sha256: run.base_sha256,
            adapter,
            measures,
            offered: run.offered,
            at,
        });
        self.commit(w)?;
        self.training_run(&run.run_id)
    }

    /// A run that is on record.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn training_run(&self, run_id: &str) -> Result<RunRecord, Error> {
        let none = || Error::NotFound { kind: "run of training", id: run_id.to_owned() };
        self.training().run(run_id).cloned().ok_or_else(none)
    }

    /// Whether a model may be made with the adapter of a run, or used.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason when it is worse than its base, or saw something that was recalled since.
    pub fn may_use_adapter(&self, run: &RunRecord) -> Result<(), Error> {
        let no = |why: String| Err(Error::Refused(Refusal::new("adapter_not_offered", why)));
        if !run.offered {
            return no(format!(
                "the adapter of `{}` is no better than its base, so it is not offered",
                run.run_id
            ));
        }
        if run.recalled.is_some() {
            return no(format!(
                "the adapter of `{}` learned from something that was recalled, so it is not offered any more",
                run.run_id
            ));
        }
        Ok(())
    }

    /// Puts on record that a model with the adapter of a run is among the models in the box.
    ///
    /// # Errors
    /// As [`Kernel::may_use_adapter`]; [`Error::NotFound`] for a run that is not on record.
    pub fn export_training(
        &self,
        run_id: &str,
        (name, model_sha256): (&str, Digest),
        card: &[u8],
    ) -> Result<RunRecord, Error> {
        let run = self.training_run(run_id)?;
        self.may_use_adapter(&run)?;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, run_id.to_owned(), None)?;
        let new = NewArtifact::audit(ArtifactKind::ModelCard).media(CARD).from([run.adapter.artifact_id]);
        let card = w.artifact(card, new)?;
        let at = w.now;
        w.push(TrainingExported { run_id: run_id.to_owned(), name: name.to_owned(), model_sha256, card, at });
        self.commit(w)?;
        self.training_run(run_id)
    }

    /// Recalls a source: datasets lose its examples, adapters that saw them are marked, and no dataset takes it up again.
    ///
    /// # Errors
    /// [`Error::Refused`] for whoever does not speak for the person; [`Error::Input`] for more than one recall may name;
    /// [`Error::Conflict`] when so much happens that nobody can say what else leads to the content.
    pub fn recall_training(&self, of: &RecallOf, by: impl Into<Sender>) -> Result<RecallRecord, Error> {
        let sender = by.into();
        sender.speaks_for_the_person("recall what is learned from")?;
        let named = of.tasks.len().saturating_add(of.receipts.len()).saturating_add(of.requests.len());
        if named > RECALLED_MAX {
            return Err(Error::Input(format!(
                "that names {named} tasks, receipts and requests, and a recall has {RECALLED_MAX} at most; recall it in parts"
            )));
        }
        for _ in 0..CATCH_UPS_MAX {
            match self.recall_on(of, sender) {
                Err(Error::Ledger(ledger::Error::Grown { .. })) => {}
                done => return done,
            }
        }
        Err(Error::Conflict("too much is at work to recall beside it; try again".to_owned()))
    }

    /// One attempt, on the log as it is now.
    fn recall_on(&self, of: &RecallOf, sender: Sender) -> Result<RecallRecord, Error> {
        let log_seq = self.reader.log_head()?;
        let plan = self.planned_recall(of);
        let own: BTreeSet<ArtifactId> = plan.contents().map(|one| one.artifact_id).collect();
        let elsewhere = live_without(&self.reader, &self.artifacts, &own)?;
        let held =
            |digest: &Digest| elsewhere.kept.contains_key(digest) || elsewhere.staged.contains_key(digest);
        let actor = self.principal_of(sender)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, "training".to_owned(), None)?;
        self.push_recall(&mut w, of, &plan)?;
        let gone: BTreeSet<Digest> =
            plan.contents().map(|one| one.sha256).filter(|digest| !held(digest)).collect();
        w.batch.erase_content.extend(&gone);
        w.batch.expect_log = Some(log_seq);
        self.commit(w)?;
        for digest in &gone {
            self.artifacts.erase(digest)?;
        }
        let last = self.training().recalls.last().cloned();
        last.ok_or_else(|| Error::Broken("a recall that was recorded is not known".to_owned()))
    }

    /// What a recall would take. A dataset of which nobody can tell any more where its examples came from goes whole.
    pub(super) fn planned_recall(&self, of: &RecallOf) -> PlannedRecall {
        let registry = self.training();
        let (mut plan, mut seen) = (PlannedRecall::default(), BTreeSet::new());
        for record in &registry.datasets {
            let sources = self.sources_of(record).unwrap_or_default();
            let (gone, stays): (Vec<ExampleSource>, Vec<ExampleSource>) =
                sources.into_iter().partition(|source| of.holds(source));
            if gone.is_empty() && !stays.is_empty() {
                continue;
            }
            seen.insert(record.dataset.artifact_id);
            if record.is_gone {
                continue;
            }
            let kept: BTreeSet<Digest> = stays.iter().map(|source| source.id).collect();
            let mut examples = self.examples_of(record).unwrap_or_default();
            examples.retain(|example| kept.contains(&example.id));
            let number = u32::try_from(gone.len()).unwrap_or(u32::MAX);
            plan.lost.push(Lost { of: record.clone(), kept: examples, sources: stays, number });
        }
        let saw = registry.runs.iter().filter(|run| seen.contains(&run.dataset.artifact_id));
        plan.runs = saw.map(|run| run.run_id.clone()).collect();
        plan
    }

    /// The events of a recall: each dataset goes, and what is left of it, where that is one still, takes its place.
    pub(super) fn push_recall(
        &self,
        w: &mut Writeup<'_>,
        of: &RecallOf,
        plan: &PlannedRecall,
    ) -> Result<(), Error> {
        for lost in &plan.lost {
            let artifact_id = lost.of.dataset.artifact_id;
            if training::check(&lost.kept).is_ok() {
                let left_out = lost.of.left_out.saturating_add(lost.number);
                push_dataset(w, (&lost.kept, &lost.sources), left_out, Some(artifact_id))?;
            }
            w.push(ArtifactExpired { artifact_id, reason: "recalled".to_owned() });
        }
        let number = self.training().recalls.len() as u64;
        let at = w.now;
        // What one event cannot hold stands in others before the one that says what was taken.
        let tasks: Vec<TaskId> = of.tasks.iter().copied().collect();
        let receipts: Vec<ReceiptId> = of.receipts.iter().copied().collect();
        let requests: Vec<ArtifactId> = of.requests.iter().copied().collect();
        let most = tasks.len().max(receipts.len()).max(requests.len());
        let parts = most.div_ceil(NAMED_MAX).max(1);
        for part in 1..=parts {
            let takes = part == parts;
            w.push(TrainingRecalled {
                number: number.saturating_add(part as u64),
                source: Sensitive::from(of.said.clone()),
                tasks: part_of(&tasks, part),
                receipts: part_of(&receipts, part),
                requests: part_of(&requests, part),
                datasets: plan.contents().filter(|_| takes).map(|one| one.artifact_id).collect(),
                runs: if takes { plan.runs.clone() } else { Vec::new() },
                at,
            });
        }
        Ok(())
    }

    /// Where the examples of a dataset came from.
    ///
    /// # Errors
    /// When that was erased, or is damaged.
    pub fn sources_of(&self, dataset: &DatasetRecord) -> Result<Vec<ExampleSource>, Error> {
        let bytes = self.artifacts.read(&dataset.sources.sha256)?;
        serde_json::from_slice(&bytes).map_err(|e| Error::Broken(format!("where a dataset came from: {e}")))
    }

    /// The examples of a dataset.
    ///
    /// # Errors
    /// When they were recalled or erased, or are damaged.
    pub fn examples_of(&self, dataset: &DatasetRecord) -> Result<Vec<Example>, Error> {
        training::read_lines(&self.artifacts.read(&dataset.dataset.sha256)?).map_err(unfit)
    }
}

/// The names of one part, which is counted from one.
fn part_of<T: Copy>(all: &[T], part: usize) -> Vec<T> {
    all.chunks(NAMED_MAX).nth(part.saturating_sub(1)).unwrap_or_default().to_vec()
}

/// Keeps examples, and where they came from, and says so.
fn push_dataset(
    w: &mut Writeup<'_>,
    (examples, sources): (&[Example], &[ExampleSource]),
    left_out: u32,
    replaces: Option<ArtifactId>,
) -> Result<ArtifactRef, Error> {
    let lines = training::write_lines(examples).map_err(unfit)?;
    let ids: BTreeSet<Digest> = examples.iter().map(|one| one.id).collect();
    let mut sources: Vec<&ExampleSource> = sources.iter().filter(|one| ids.contains(&one.id)).collect();
    sources.sort_by_key(|one| one.id);
    let new = |kind| NewArtifact::audit(kind).class(ArtifactClass::Derived);
    let dataset = w.artifact(&lines, new(ArtifactKind::TrainingDataset).media(LINES))?;
    let from = new(ArtifactKind::TrainingSources).from([dataset.artifact_id]);
    let sources = w.object(&sources, from)?;
    let held_out = examples.iter().filter(|one| one.split == Split::HeldOut).count();
    let narrow = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let at = w.now;
    w.push(TrainingCurated {
        dataset: dataset.clone(),
        sources,
        examples: narrow(examples.len()),
        held_out: narrow(held_out),
        left_out,
        receipts_root: training::receipts_root(examples),
        replaces,
        at,
    });
    Ok(dataset)
}
