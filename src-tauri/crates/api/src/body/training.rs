//! Training: what finished work a dataset would hold, datasets, runs, and recalls.

use super::mesh::{running, said};
use super::mesh_names::Names;
use crate::caller::{sender, speaker};
use crate::convert::all;
use crate::curation::{Curation as Curated, curate as curated};
use crate::ids::find;
use crate::{Host, Trainer, Wire as _, fold, no_host, not_found, usage};
use kernel::command::training::{NewDataset, RecallOf};
use kernel::sender::Sender;
use kernel::training_registry::{DatasetRecord, RecallRecord, RunRecord};
use lineage::NodeId;
use model::artifact::ArtifactKind;
use model::ingress::Channel;
use model::{ArtifactId, Digest, ReceiptId, TaskId};
use projections::query::TaskFilter;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use training::{Example, Measures, RanOn, Said, Split, SplitRule};
use wire::training::{
    Curate, Curation, DatasetRow, Export, ExportRow, Join, LeftOut, List, MeasuresRow, Pause, Preview,
    Private, PrivateFolders, Prove, Recall, RecallRow, Recalled, Run, RunRow, RunStands, ShownExample,
    Stands, Stop, Together, Trainings,
};
use wire::{Code, Error};

/// Examples that are shown of each side.
const SHOWN_MAX: usize = 4;

/// Letters of an example that are shown.
const CHARS_MAX: usize = 600;

/// Tasks that are named of one reason.
const TASKS_MAX: usize = 8;

fn trainer(host: &dyn Host) -> Result<&dyn Trainer, Error> {
    host.kernel()?;
    host.trainer().ok_or_else(no_host)
}

const fn rule(by_time: bool) -> SplitRule {
    SplitRule { held_out_percent: 20, whole_projects: !by_time }
}

/// What stands in the place of a digest where no dataset can be made.
fn digest_of(curated: &Curated) -> Result<Digest, Error> {
    let lines = curated.dataset.as_ref().map(|dataset| training::write_lines(&dataset.examples));
    let lines = lines.unwrap_or(Ok(Vec::new())).map_err(|error| usage(error.to_string()))?;
    Ok(Digest::of(&lines))
}

pub(crate) fn preview(host: &dyn Host, p: Preview) -> Result<Curation, Error> {
    let private = trainer(host)?.private()?;
    let curated = curated(host, private.clone(), rule(p.by_time))?;
    told(&curated, &private, p.by_time)
}

fn told(curated: &Curated, private: &[PathBuf], by_time: bool) -> Result<Curation, Error> {
    let examples =
        curated.dataset.as_ref().map_or(<&[Example]>::default(), |dataset| dataset.examples.as_slice());
    let narrow = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let of = |split| examples.iter().filter(move |example| example.split == split);
    let shown = of(Split::Train).take(SHOWN_MAX).chain(of(Split::HeldOut).take(SHOWN_MAX));
    let projects: BTreeSet<&str> = examples.iter().map(|example| example.project.as_str()).collect();
    let left_out = curated.left_out.iter().map(|(why, tasks)| LeftOut {
        why: *why,
        turns: tasks.values().fold(0, |all, one| all.saturating_add(*one)),
        tasks: tasks.keys().take(TASKS_MAX).map(TaskId::to_string).collect(),
    });
    Ok(Curation {
        sha256: digest_of(curated)?.to_string(),
        examples: narrow(examples.len()),
        held_out: narrow(of(Split::HeldOut).count()),
        receipts: narrow(training::receipts(examples).len()),
        receipts_root: training::receipts_root(examples).to_string(),
        projects: narrow(projects.len()),
        by_time,
        left_out: left_out.collect(),
        shown: shown.map(|example| shown_example(curated, example)).collect(),
        private: named(private),
        missing: missing(private),
        trouble: curated.dataset.as_ref().err().cloned(),
    })
}

fn named(folders: &[PathBuf]) -> Vec<String> {
    folders.iter().map(|folder| folder.display().to_string()).collect()
}

/// Marked folders that are not there: a mark is of a place, and does not follow what is moved.
fn missing(private: &[PathBuf]) -> Vec<String> {
    let gone = private.iter().filter(|folder| !folder.is_dir());
    gone.map(|folder| folder.display().to_string()).collect()
}

fn shown_example(curated: &Curated, example: &Example) -> ShownExample {
    let source = curated.sources.get(&example.id);
    ShownExample {
        id: example.id.to_string(),
        task_id: source.map(|source| source.task.to_string()).unwrap_or_default(),
        turns: u32::try_from(example.prompt.len()).unwrap_or(u32::MAX),
        asked: example.prompt.last().map(|turn| beginning(&turn.content)).unwrap_or_default(),
        answer: beginning(&example.answer),
        receipts: example.receipts.clone(),
        held_out: example.split == Split::HeldOut,
        at: example.at,
    }
}

fn beginning(text: &str) -> String {
    let mut cut: String = text.chars().take(CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

pub(crate) fn curate(host: &dyn Host, p: Curate) -> Result<DatasetRow, Error> {
    let private = trainer(host)?.private()?;
    let erasures = host.kernel()?.training().erasures();
    let curated = curated(host, private, rule(p.by_time))?;
    let is_shown = digest_of(&curated)?.to_string() == p.shown;
    let left_out = curated.left_out_turns();
    let dataset = curated.dataset.map_err(usage)?;
    if !is_shown {
        return Err(Error::new(Code::Conflict, "the dataset would be another one by now than was shown")
            .hint("look at what it would hold again: `hermit train curate`"));
    }
    let sources = dataset.examples.iter().filter_map(|one| curated.sources.get(&one.id).cloned()).collect();
    let new = NewDataset { examples: dataset.examples, sources, left_out, erasures };
    let kept = host.kernel()?.keep_dataset(&new, speaker(host, Channel::Cli)).wire()?;
    Ok(dataset_row(&kept))
}

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Trainings, Error> {
    let registry = fold::store_state(&host.reader()?)?.training;
    let runs = registry.runs.iter().rev().map(|run| run_row(host, run));
    Ok(Trainings {
        datasets: registry.datasets.iter().rev().map(dataset_row).collect(),
        runs: runs.collect::<Result<_, _>>()?,
        recalls: registry.recalls.iter().rev().map(recall_row).collect(),
    })
}

fn dataset_row(of: &DatasetRecord) -> DatasetRow {
    DatasetRow {
        dataset_id: of.dataset.artifact_id.to_string(),
        sha256: of.dataset.sha256.to_string(),
        examples: of.examples,
        held_out: of.held_out,
        left_out: of.left_out,
        receipts_root: of.receipts_root.to_string(),
        replaces: of.replaces.map(|id| id.to_string()),
        gone: of.is_gone,
        at: of.at.0,
    }
}

fn recall_row(of: &RecallRecord) -> RecallRow {
    RecallRow { source: of.source.clone(), datasets: all(&of.datasets), runs: of.runs.clone(), at: of.at.0 }
}

fn run_row(host: &dyn Host, of: &RunRecord) -> Result<RunRow, Error> {
    let bytes = crate::error::if_kept(host.artifacts()?.read(&of.measures.sha256))?;
    let said = bytes.and_then(|bytes| Said::parse(std::str::from_utf8(&bytes).ok()?));
    let (before, after, baseline, words, ran_on) = match said {
        Some(Said::Measured { before, after, baseline, words, ran_on, .. }) => {
            let baseline = per_mille(baseline.next_act_exact);
            (Some(measures(&before)), Some(measures(&after)), Some(baseline), Some(words), ran_on)
        }
        _ => (None, None, None, None, Vec::new()),
    };
    let exported = of.exported.as_ref().map(|one| ExportRow {
        name: one.name.clone(),
        address: format!("box:{}", one.name),
        sha256: one.model_sha256.to_string(),
        card_id: one.card.artifact_id.to_string(),
        at: one.at.0,
    });
    Ok(RunRow {
        run_id: of.run_id.clone(),
        dataset_id: of.dataset.artifact_id.to_string(),
        base_sha256: of.base_sha256.to_string(),
        adapter_id: of.adapter.artifact_id.to_string(),
        offered: of.offered && of.recalled.is_none(),
        words,
        before,
        after,
        baseline_per_mille: baseline,
        ran_on: ran_on.iter().map(RanOn::in_words).collect(),
        exported,
        recalled: of.recalled.map(|at| at.0),
        at: of.at.0,
    })
}

fn measures(of: &Measures) -> MeasuresRow {
    MeasuresRow {
        examples: of.examples,
        next_act_per_mille: per_mille(of.next_act_exact),
        valid_per_mille: per_mille(of.schema_valid),
        perplexity: format!("{:.3}", of.perplexity),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is held between 0 and 1000")]
fn per_mille(share: f64) -> u32 {
    (share * 1_000.0).round().clamp(0.0, 1_000.0) as u32
}

pub(crate) fn run(host: &dyn Host, p: Run) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    if let Some(run) = &p.resume {
        trainer.go_on(run)?;
        return Ok(trainer.stands());
    }
    trainer.begin(&dataset(host, &p)?, &p)?;
    Ok(trainer.stands())
}

/// The dataset that a run learns from.
fn dataset(host: &dyn Host, p: &Run) -> Result<DatasetRecord, Error> {
    let named = p.dataset.as_deref().map(|named| find::<ArtifactId>(host, named)).transpose()?;
    let registry = host.kernel()?.training();
    registry.dataset(named).cloned().ok_or_else(|| match &p.dataset {
        Some(named) => not_found("dataset", named),
        None => Error::new(Code::NotFound, "there is no dataset yet")
            .hint("look at what one would hold, and keep it: `hermit train curate`"),
    })
}

pub(crate) fn together(host: &dyn Host, p: Together) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    running(host)?;
    let registry = host.kernel()?.mesh_registry();
    let names = Names::of(&registry);
    let with = p.with.iter().map(|named| names.find(named)).collect::<Result<BTreeSet<_>, _>>()?;
    let with: Vec<_> = with.into_iter().collect();
    drop(registry);
    let dataset = dataset(host, &p.run)?;
    said(host, &p, p.signed.as_ref(), "have machines learn together")?;
    let others: Vec<String> = with.iter().map(|node| names.shown(*node)).collect();
    trainer.together(&dataset, &p, &with)?;
    recorded(host, &format!("leads the run `{}` with {}", p.name, others.join(", ")), &dataset)?;
    Ok(trainer.stands())
}

pub(crate) fn join(host: &dyn Host, p: Join) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    running(host)?;
    let registry = host.kernel()?.mesh_registry();
    let names = Names::of(&registry);
    let from = p.from.as_deref().map(|named| names.find(named)).transpose()?;
    drop(registry);
    let dataset = dataset(host, &p.run)?;
    said(host, &p, p.signed.as_ref(), "have this machine learn together with another")?;
    let lead = trainer.join(&dataset, &p, from)?;
    recorded(host, &format!("takes part in the run `{}` of {}", p.name, names.shown(lead)), &dataset)?;
    Ok(trainer.stands())
}

/// Puts on record that a person has this machine learn together with others.
fn recorded(host: &dyn Host, says: &str, dataset: &DatasetRecord) -> Result<(), Error> {
    let why = format!(
        "A person said so here. What it learns from, {}, stays on this machine; how far it came in each round does not",
        dataset.dataset.artifact_id
    );
    let by = Sender::from(Channel::Cli);
    host.kernel()?.record_together(&format!("This machine {says}"), &why, Some(by)).wire()
}

pub(crate) fn stands(host: &dyn Host, _: Stands) -> Result<RunStands, Error> {
    Ok(trainer(host)?.stands())
}

pub(crate) fn pause(host: &dyn Host, _: Pause) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    trainer.pause()?;
    Ok(trainer.stands())
}

pub(crate) fn stop(host: &dyn Host, _: Stop) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    trainer.stop()?;
    Ok(trainer.stands())
}

pub(crate) fn prove(host: &dyn Host, p: Prove) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    if host.kernel()?.training().run(&p.run).is_some() {
        return Err(Error::new(Code::Conflict, format!("the run `{}` was measured already", p.run))
            .hint("`hermit train list` shows what came of it"));
    }
    trainer.prove(&p.run)?;
    Ok(trainer.stands())
}

pub(crate) fn export(host: &dyn Host, p: Export) -> Result<RunStands, Error> {
    let trainer = trainer(host)?;
    let kernel = host.kernel()?;
    let run = kernel.training_run(&p.run).wire()?;
    kernel.may_use_adapter(&run).wire()?;
    trainer.export(&run, p.name.as_deref())?;
    Ok(trainer.stands())
}

pub(crate) fn private(host: &dyn Host, p: Private) -> Result<PrivateFolders, Error> {
    let trainer = trainer(host)?;
    if !p.private && !host.has_person() {
        return Err(Error::new(
            Code::Forbidden,
            "only a person lets work in a private folder be learned from",
        )
        .hint("say it in the process that holds the store, or on a page that was opened from a terminal"));
    }
    let folder = Path::new(&p.folder);
    // A mark is taken off a folder that is not there any more, too.
    let folder = match host.workspace(folder) {
        Ok(found) => found,
        Err(_) if !p.private && folder.is_absolute() => folder.to_owned(),
        Err(error) => return Err(error),
    };
    let folders = trainer.set_private(&folder, p.private)?;
    let learned = if p.private { learned(host, &folder)? } else { Vec::new() };
    Ok(PrivateFolders { folders: named(&folders), missing: missing(&folders), learned })
}

/// Datasets that are kept and hold work of a folder. One that cannot be read may hold it, too.
fn learned(host: &dyn Host, folder: &Path) -> Result<Vec<String>, Error> {
    let tasks = match tasks_in(host, folder) {
        Ok(tasks) => tasks,
        Err(error) if error.code == Code::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let kernel = host.kernel()?;
    let holds = |of: &&DatasetRecord| {
        let sources = kernel.sources_of(of);
        sources.map_or(true, |sources| sources.iter().any(|one| tasks.contains(&one.task)))
    };
    let registry = kernel.training();
    let kept = registry.datasets.iter().filter(|of| !of.is_gone).filter(holds);
    Ok(kept.map(|of| of.dataset.artifact_id.to_string()).collect())
}

pub(crate) fn recall(host: &dyn Host, p: Recall) -> Result<Recalled, Error> {
    let kernel = host.kernel()?;
    let of = meant(host, p.source.trim())?;
    let record = kernel.recall_training(&of, sender(host, Channel::Cli)).wire();
    if let Some(trainer) = host.trainer() {
        trainer.forget();
    }
    Ok(Recalled { recall: recall_row(&record?), standard: standard(host)? })
}

/// What to know of the default model, where it is of an adapter that saw what was recalled.
fn standard(host: &dyn Host) -> Result<Option<String>, Error> {
    let Some((address, sha256)) = host.trainer().and_then(Trainer::standard) else { return Ok(None) };
    let registry = host.kernel()?.training();
    let saw = registry.run_of_model(&sha256).is_some_and(|run| run.recalled.is_some());
    Ok(saw.then(|| {
        format!(
            "the default model `{address}` learned from what was recalled, and it stays the default until you choose another: \
             `hermit models use`"
        )
    }))
}

/// That a model that is to be the default learned from nothing that was recalled.
pub(super) fn may_be_standard(host: &dyn Host, address: &str) -> Result<(), Error> {
    let Some(sha256) = host.trainer().and_then(|trainer| trainer.weights_of(address)) else { return Ok(()) };
    let kernel = host.kernel()?;
    match kernel.training().run_of_model(&sha256) {
        Some(run) => kernel.may_use_adapter(run).wire(),
        None => Ok(()),
    }
}

/// What a person names as the source of a recall.
fn meant(host: &dyn Host, source: &str) -> Result<RecallOf, Error> {
    let mut of = RecallOf { said: source.to_owned(), ..RecallOf::default() };
    let begins = |prefix: &str| source.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_'));
    if Path::new(source).is_absolute() {
        of.tasks = tasks_in(host, Path::new(source))?;
    } else if begins(ReceiptId::PREFIX) {
        let receipt: ReceiptId = find(host, source)?;
        host.query()?.receipt(receipt).wire()?.ok_or_else(|| not_found("receipt", source))?;
        of.receipts.insert(receipt);
    } else if begins(ArtifactId::PREFIX) {
        let artifact: ArtifactId = find(host, source)?;
        let row = host.query()?.artifact(artifact).wire()?.ok_or_else(|| not_found("artifact", source))?;
        let (graph, _) = crate::lineages::around(&host.query()?, row.task_id)?;
        let found = graph.recall(&[NodeId::Artifact(artifact)]);
        of.requests.insert(artifact);
        let is_turn = |kind| matches!(kind, ArtifactKind::ModelRequest | ArtifactKind::ModelAnswer);
        of.requests.extend(found.artifacts.iter().filter_map(|id| match id {
            NodeId::Artifact(of) => graph.node(*id)?.artifact_kind.is_some_and(is_turn).then_some(*of),
            _ => None,
        }));
        of.receipts.extend(found.receipts.iter().filter_map(|id| match id {
            NodeId::Receipt(id) => Some(*id),
            _ => None,
        }));
    } else {
        let task: TaskId = find(host, source)?;
        host.query()?.task(task).wire()?.ok_or_else(|| not_found("task", source))?;
        of.tasks.insert(task);
    }
    Ok(of)
}

/// Tasks that worked in a folder, or below it.
fn tasks_in(host: &dyn Host, folder: &Path) -> Result<BTreeSet<TaskId>, Error> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let query = host.query()?;
    let within = crate::curation::folders(&query)?.into_iter().filter(|(_, path)| path.starts_with(&folder));
    let workspaces: Vec<_> = within.map(|(id, _)| id).collect();
    if workspaces.is_empty() {
        return Err(not_found("folder that was worked in", &folder.display().to_string()));
    }
    let filter = TaskFilter { workspaces, ..TaskFilter::default() };
    let rows = crate::convert::every(|ask| query.tasks(&filter, ask))?;
    Ok(rows.into_iter().map(|row| row.task_id).collect())
}
