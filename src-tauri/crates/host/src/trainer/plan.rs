//! What a run was begun with, beside the folder that its program writes in, so that another process goes on with it.

use crate::model_box::Files;
use crate::{Error, Home};
use kernel::training_registry::TrainingRegistry;
use mesh::NodeId;
use model::artifact::ArtifactRef;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use training::outer::Terms;
use training::{Base, DatasetFile, Quant, RanOn, RunSpec};
use wire::Code;
use wire::training::Run;

/// The folder in that of the store.
const FOLDER: &str = "training";
/// How the file ends that says what a run was begun with. It lies beside the run's folder: the program writes there, and must
/// not say what it may read and use.
const PLAN: &str = ".json";
/// What the program is asked for.
const SPEC: &str = "run.json";
/// The copy of the dataset that the program reads; it goes when the program ends.
const DATASET: &str = "dataset.jsonl";

/// How the folder ends of what is kept of a run that machines learn together, beside that of its program.
const CIRCLE: &str = ".together";
/// How the file ends that says on which devices and machines a run was done, beside its folder; and how many of these are kept.
const RAN: &str = ".ran";
const RAN_MAX: usize = 16;
/// What is counted in a round, for the program, and where its messages lie.
const COUNTED: &str = "counted";
const COUNTED_LIST: &str = "counted.json";

/// Million weights of a model that training begins with; a larger one is trained once a smaller one was made better here (HV-7-3).
const FIRST_MILLIONS: f64 = 300.0;

/// With whom a run is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Together {
    /// By what all machines know it.
    pub(super) id: Digest,
    pub(super) name: String,
    /// The machine that leads; none where it is this one.
    pub(super) lead: Option<NodeId>,
    /// The others that were asked, where this one leads.
    pub(super) asked: Vec<NodeId>,
    /// What all have in common.
    pub(super) terms: Terms,
}

impl Together {
    /// Whether a machine has something to say here.
    pub(super) fn hears(&self, from: NodeId) -> bool {
        self.lead == Some(from) || (self.lead.is_none() && self.asked.contains(&from))
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub(super) run_id: String,
    pub(super) dataset: ArtifactRef,
    /// The name of the model in the box.
    pub(super) base: String,
    /// Whether it also works on battery, and while somebody is at the machine.
    pub(super) always: bool,
    pub(super) begun_at: i64,
    pub(super) spec: RunSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) together: Option<Together>,
}

pub(super) fn refused(code: Code, message: String, hint: &str) -> Error {
    Error::Said(wire::Error::new(code, message).hint(hint))
}

/// The folder of all runs.
pub(super) fn runs(home: &Home) -> PathBuf {
    home.path(FOLDER)
}

/// Whether a text can name a run: nothing else is ever looked for below the folder of runs.
fn is_run(run_id: &str) -> bool {
    run_id.strip_prefix("run_").is_some_and(|rest| {
        (1..=32).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

impl Plan {
    /// The plan of a run that a person wishes.
    ///
    /// # Errors
    /// [`Error::Said`] without the model, for one that is larger than what training begins with as long as nothing was made better here,
    /// and for what no run can be asked for.
    pub(super) fn of(
        (home, registry): (&Home, &TrainingRegistry),
        (run_id, begun_at): (String, i64),
        dataset: &ArtifactRef,
        wanted: &Run,
    ) -> Result<Self, Error> {
        let hint = "name a model in the box of 100 to 300 million weights: `hermit models get` shows what can be had";
        let name = wanted.base.as_deref().map(|name| name.strip_prefix("box:").unwrap_or(name));
        let name =
            name.ok_or_else(|| refused(Code::Usage, "no model is named to begin with".to_owned(), hint))?;
        let files = Files::of(home);
        let kept = files.all().into_iter().find(|one| one.name == name);
        let kept = kept.ok_or_else(|| {
            refused(Code::NotFound, format!("there are no weights of `{name}` on this machine"), hint)
        })?;
        let millions = files.million_weights(&kept);
        let is_proven = registry.runs.iter().any(|run| run.offered && run.recalled.is_none());
        if millions > FIRST_MILLIONS && !is_proven {
            let message = format!(
                "`{name}` has about {millions:.0} million weights, and no model has been made better on this machine yet"
            );
            let hint = "begin with a model of 100 to 300 million weights; once it is measured as better than its base, larger ones may follow";
            return Err(refused(Code::Usage, message, hint));
        }
        let licence = kept.license.or_else(|| wanted.licence.clone()).ok_or_else(|| {
            let hint = "say it by its SPDX identifier, such as `--licence Apache-2.0`";
            refused(Code::Usage, format!("nobody said under which licence `{name}` is"), hint)
        })?;
        let folder = runs(home).join(&run_id);
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let base = Base {
            path: text(&files.weights(&kept.sha256)),
            sha256: kept.sha256.parse::<Digest>().map_err(kernel::Error::from)?,
            licence,
        };
        let read = DatasetFile { path: text(&folder.join(DATASET)), sha256: dataset.sha256 };
        let mut spec = RunSpec::small(base, read, text(&folder));
        spec.threads = threads();
        asked(&mut spec, wanted)?;
        spec.check()
            .map_err(|error| refused(Code::Usage, error.to_string(), "see `hermit train run --help`"))?;
        let always = wanted.always;
        Ok(Self {
            run_id,
            dataset: dataset.clone(),
            base: name.to_owned(),
            always,
            begun_at,
            spec,
            together: None,
        })
    }

    pub(super) fn folder(&self) -> PathBuf {
        PathBuf::from(&self.spec.folder)
    }

    pub(super) fn spec_file(&self) -> PathBuf {
        self.folder().join(SPEC)
    }

    /// Where it is kept how a run stands that machines learn together.
    pub(super) fn circle(&self) -> PathBuf {
        beside(&self.folder(), CIRCLE)
    }

    /// On which devices and machines it was done until now; none where nobody said.
    pub(super) fn ran_on(&self) -> Vec<RanOn> {
        let kept = std::fs::read(beside(&self.folder(), RAN)).unwrap_or_default();
        serde_json::from_slice(&kept).unwrap_or_default()
    }

    /// Keeps that it is done on this one, too.
    pub(super) fn runs_on(&self, on: RanOn) {
        let mut all = self.ran_on();
        if all.contains(&on) || all.len() >= RAN_MAX {
            return;
        }
        all.push(on);
        let path = beside(&self.folder(), RAN);
        let text = serde_json::to_vec(&all).map_err(std::io::Error::other);
        if let Err(error) = text.and_then(|text| disk::replace(&path, &text)) {
            tracing::warn!(%error, path = %path.display(), "where a run of training is done could not be kept");
        }
    }

    /// The list of what is counted in a round, as the program is handed it.
    pub(super) fn counted(&self) -> PathBuf {
        self.folder().join(COUNTED).join(COUNTED_LIST)
    }

    /// Makes an empty folder for it, whatever the program left in its place, and gives it.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn counted_folder(&self) -> std::io::Result<PathBuf> {
        let folder = self.folder().join(COUNTED);
        let is_folder = std::fs::symlink_metadata(&folder).map(|there| there.is_dir());
        match is_folder {
            Ok(true) => std::fs::remove_dir_all(&folder)?,
            Ok(false) => std::fs::remove_file(&folder)?,
            Err(_) => {}
        }
        std::fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// What this machine has to say in a round, where its program writes it.
    pub(super) fn message(&self, round: u32) -> PathBuf {
        self.folder().join("together").join(format!("round-{round:06}.bin"))
    }

    /// Keeps it, with what the program is asked for, in a folder that is its owner's alone.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn keep(&self) -> Result<(), Error> {
        let folder = self.folder();
        std::fs::create_dir_all(&folder).map_err(|e| Error::io("make", &folder, &e))?;
        let write = |path: PathBuf, text: serde_json::Result<Vec<u8>>| {
            let text = text.map_err(|e| Error::io("write", &path, &std::io::Error::other(e)))?;
            disk::replace(&path, &text).map_err(|e| Error::io("write", &path, &e))
        };
        write(self.spec_file(), serde_json::to_vec_pretty(&self.spec))?;
        write(plan_of(&folder), serde_json::to_vec_pretty(self))
    }

    /// A run that was begun, where it is on this machine.
    ///
    /// # Errors
    /// [`Error::Said`] when it is not.
    pub(super) fn read(home: &Home, run_id: &str) -> Result<Self, Error> {
        let none = || {
            let hint = "`hermit train list` shows which there are";
            refused(Code::NotFound, format!("there is no run `{run_id}` on this machine"), hint)
        };
        let path = plan_of(&runs(home).join(run_id));
        let bytes = is_run(run_id).then(|| std::fs::read(path).ok()).flatten().ok_or_else(none)?;
        let plan: Self = serde_json::from_slice(&bytes).map_err(|_| none())?;
        let is_here = plan.run_id == run_id && plan.folder() == runs(home).join(run_id);
        if is_here { Ok(plan) } else { Err(none()) }
    }

    /// Runs that were begun on this machine, the newest first.
    pub(super) fn all(home: &Home) -> Vec<Self> {
        let entries = std::fs::read_dir(runs(home)).into_iter().flatten().flatten();
        let plans = entries
            .filter_map(|entry| Self::read(home, entry.file_name().to_str()?.strip_suffix(PLAN)?).ok());
        let mut plans: Vec<Self> = plans.collect();
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.begun_at));
        plans
    }

    /// Gives the program its copy of the dataset.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn lend(&self, lines: &[u8]) -> Result<(), Error> {
        let path = self.folder().join(DATASET);
        disk::replace(&path, lines).map_err(|e| Error::io("write", &path, &e))
    }

    /// Takes that copy away.
    pub(super) fn take_back(&self) {
        let copy = self.folder().join(DATASET);
        removed(&copy, std::fs::remove_file(&copy));
    }

    /// Whether what it learns from is kept.
    pub(super) fn is_kept(&self, registry: &TrainingRegistry) -> bool {
        registry.dataset(Some(self.dataset.artifact_id)).is_some()
    }

    /// Takes away everything that the run has on the disk.
    pub(super) fn remove(&self) {
        let folder = self.folder();
        removed(&folder, std::fs::remove_dir_all(&folder));
        self.leave_circle();
        let ran = beside(&folder, RAN);
        removed(&ran, std::fs::remove_file(&ran));
        // With its plan it is found again, where something could not be removed.
        if !folder.exists() {
            let plan = plan_of(&folder);
            removed(&plan, std::fs::remove_file(&plan));
        }
    }

    /// Takes away what is kept of learning together.
    pub(super) fn leave_circle(&self) {
        let circle = self.circle();
        removed(&circle, std::fs::remove_dir_all(&circle));
    }

    /// The newest checkpoint, by the number in its name, of those that its program did not leave out.
    pub(super) fn checkpoint(&self, left_out: &BTreeSet<OsString>) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.folder()).ok()?.flatten().map(|entry| entry.path());
        let is_one = |path: &PathBuf| {
            let Some(name) = path.file_name() else { return false };
            is_checkpoint(name) && !left_out.contains(name)
        };
        entries.filter(is_one).max()
    }
}

/// Whether a file is a checkpoint by its name.
pub(super) fn is_checkpoint(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("checkpoint-") && name.ends_with(".safetensors"))
}

/// The file that says what the run of a folder was begun with.
fn plan_of(folder: &Path) -> PathBuf {
    beside(folder, PLAN)
}

/// What lies beside the folder of a run, by the end of its name.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(end);
    path.into()
}

fn removed(path: &Path, came: std::io::Result<()>) {
    match came {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %path.display(), "what a run of training left could not be removed");
        }
        _ => {}
    }
}

/// Half of the machine: the other half is its person's.
fn threads() -> u32 {
    let all = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
    u32::try_from(all).unwrap_or(1).min(training::THREADS_MAX)
}

/// What a person wishes otherwise.
fn asked(spec: &mut RunSpec, wanted: &Run) -> Result<(), Error> {
    let no = |message: String| refused(Code::Usage, message, "see `hermit train run --help`");
    spec.steps = wanted.steps.unwrap_or(spec.steps);
    spec.rank = wanted.rank.unwrap_or(spec.rank);
    spec.batch = wanted.batch.unwrap_or(spec.batch);
    spec.sequence_length = wanted.tokens.unwrap_or(spec.sequence_length);
    spec.answer_tokens = spec.answer_tokens.min(spec.sequence_length.saturating_sub(1));
    spec.budget.seconds = wanted.seconds.unwrap_or(spec.budget.seconds);
    spec.threads = wanted.threads.unwrap_or(spec.threads);
    spec.seed = wanted.seed.unwrap_or(spec.seed);
    if let Some(megabytes) = wanted.memory_mb {
        spec.budget.memory_bytes = megabytes.saturating_mul(1_000_000);
    }
    if let Some(rate) = &wanted.rate {
        spec.learning_rate = rate.trim().parse().map_err(|_| no(format!("`{rate}` is no learning rate")))?;
    }
    if let Some(word) = &wanted.quant {
        let all = [Quant::F32, Quant::F16, Quant::Q8_0, Quant::Q4_1];
        let named = all.into_iter().find(|one| one.word().eq_ignore_ascii_case(word.trim()));
        spec.quant = named.ok_or_else(|| no(format!("`{word}` is none of F32, F16, Q8_0 and Q4_1")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_run;

    #[test]
    fn nothing_but_a_run_is_looked_for_below_the_folder_of_runs() {
        assert!(is_run("run_0a1b2c3d4e5f6071"));
        for other in
            ["", "run_", "run_../x", "run_0a/..", "..", "models", "run_0a1b2c3d4e5f60710a1b2c3d4e5f60710"]
        {
            assert!(!is_run(other), "{other}");
        }
    }
}
