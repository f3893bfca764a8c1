//! What the thread of a run does: it learns, is measured, and stands on record; or a model is made with what it learned.

use super::plan::{Plan, is_checkpoint};
use super::process::{self, Phase};
use super::{Told, Wish, With};
use crate::model_box;
use crate::surroundings;
use effects::ServerSessions;
use kernel::command::training::FinishedRun;
use model::schedule::Condition;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use training::{Control, Example, RanOn, Said};
use wire::training::LossPoint;
use words::training::TrainingState;

/// How often it is looked how the machine stands.
const LOOK: Duration = Duration::from_secs(5);
/// Losses that are kept for the curve; of more every second one goes.
const LOSSES_MAX: usize = 1_000;
/// Bytes of a card.
const CARD_BYTES_MAX: u64 = 256 * 1024;
/// Bytes of a checkpoint.
const ADAPTER_BYTES_MAX: u64 = 1 << 30;

/// Letters that are kept of what the program says in words.
const WORDS_MAX: usize = 1_000;
/// The highest number that whoever asks can be told.
const NUMBER_MAX: u64 = 9_000_000_000_000_000;

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// It learns and is measured.
    Learn,
    /// It is measured.
    Prove,
    /// A model is made, under this name.
    Export(String),
    /// It learns together with other machines, and is measured.
    Together,
}

/// A run in hand.
pub(super) struct Work {
    pub(super) with: With,
    pub(super) plan: Plan,
    pub(super) program: PathBuf,
    pub(super) told: Arc<Told>,
}

/// How it ended.
pub(super) struct Ended {
    pub(super) state: TrainingState,
    pub(super) words: Option<String>,
}

impl Work {
    /// Does it, and says how it ended.
    pub(super) fn to_the_end(&self, task: &Task) {
        let came = match self.lend() {
            Ok(()) => match task {
                Task::Learn => self.learn(),
                Task::Prove => self.prove(),
                Task::Export(name) => self.export(name),
                Task::Together => match &self.plan.together {
                    Some(of) => self.together(of),
                    None => self.learn(),
                },
            },
            Err(why) => Err(why),
        };
        self.plan.take_back();
        let ended = came.unwrap_or_else(|why| {
            tracing::warn!(run = %self.plan.run_id, %why, "a run of training broke off");
            Ended { state: TrainingState::Failed, words: Some(why) }
        });
        let is_kept = self.plan.is_kept(&self.with.kernel.training());
        if !is_kept {
            self.plan.remove();
        } else if ended.state == TrainingState::Done {
            // What other machines say of it from now on is let go of.
            self.plan.leave_circle();
        }
        let mut live = self.told.live();
        live.state = ended.state;
        live.words = if is_kept { ended.words.as_deref().map(cut) } else { Some(gone()) };
    }

    /// Gives the program the examples, as long as they are kept.
    fn lend(&self) -> Result<(), String> {
        let lines = self.with.kernel.artifacts().read(&self.plan.dataset.sha256);
        let is_kept = self.plan.is_kept(&self.with.kernel.training());
        let lines = lines.ok().filter(|_| is_kept).ok_or_else(gone)?;
        self.plan.lend(&lines).map_err(|error| error.to_string())
    }

    pub(super) fn phase(&self, phase: Phase, hear: &mut dyn FnMut(&Said)) -> Result<(), String> {
        let sessions = ServerSessions::default();
        let mut words = Words::of(self, phase);
        let mut hear = |said: &Said| {
            self.hear(said);
            hear(said);
        };
        let walls = self.with.executors.walls();
        process::run((walls, &sessions), &self.program, (&self.plan, phase), &mut hear, &mut || words.next())
    }

    fn learn(&self) -> Result<Ended, String> {
        let mut ended = None;
        self.phase(Phase::Run, &mut |said| {
            if let Said::Ended { step, words } = said {
                ended = Some((*step, words.clone()));
            }
        })?;
        let (step, words) = ended.ok_or_else(|| "the program that trains ended without a word".to_owned())?;
        if self.told.wish() == Wish::Stop {
            return Ok(Ended { state: TrainingState::Stopped, words });
        }
        if step == 0 {
            return Err(words.unwrap_or_else(|| "it learned nothing".to_owned()));
        }
        self.prove()
    }

    pub(super) fn prove(&self) -> Result<Ended, String> {
        self.told.live().state = TrainingState::Proving;
        let (mut measured, mut left_out) = (None, BTreeSet::new());
        self.phase(Phase::Prove, &mut |said| match said {
            Said::Measured { .. } => measured = Some(said.clone()),
            Said::Skipped { what, .. } => left_out.extend(checkpoint_of(what)),
            _ => {}
        })?;
        if self.told.wish() == Wish::Stop && measured.is_none() {
            return Ok(Ended { state: TrainingState::Stopped, words: None });
        }
        let none = || "the program that trains measured nothing".to_owned();
        let measured = measured.ok_or_else(none)?;
        let Said::Measured { before, after, .. } = measured else { return Err(none()) };
        // The numbers are its word; what follows from them, and what nobody had to learn for, is not.
        let mut baseline = training::majority(&self.examples()?);
        let training::Verdict { offered, words } = training::judge(&before, &after, &baseline);
        // That answer is of the dataset, and goes with it.
        baseline.answer.clear();
        let ran_on = self.plan.ran_on();
        let measured = Said::Measured { before, after, baseline, offered, words: words.clone(), ran_on };
        // The one that was measured: a newer one that is cut or changed was left out.
        let newest =
            self.plan.checkpoint(&left_out).ok_or_else(|| "it wrote no whole checkpoint".to_owned())?;
        let adapter = bounded(&newest, ADAPTER_BYTES_MAX)?;
        let measures = serde_json::to_vec(&measured).map_err(|error| error.to_string())?;
        let run = FinishedRun {
            run_id: self.plan.run_id.clone(),
            dataset: self.plan.dataset.clone(),
            base_sha256: self.plan.spec.base.sha256,
            adapter: &adapter,
            measures: &measures,
            offered,
        };
        self.with.kernel.finish_training(&run).map_err(|error| error.to_string())?;
        let mut words = if offered { words } else { format!("not offered: {words}") };
        if !left_out.is_empty() {
            words.push_str(
                "; a checkpoint that is not whole was left out, and the one before it was measured",
            );
        }
        Ok(Ended { state: TrainingState::Done, words: Some(words) })
    }

    /// What it learns from.
    fn examples(&self) -> Result<Vec<Example>, String> {
        let kernel = &self.with.kernel;
        let registry = kernel.training();
        let dataset = registry.dataset(Some(self.plan.dataset.artifact_id)).ok_or_else(gone)?;
        kernel.examples_of(dataset).map_err(|error| error.to_string())
    }

    fn export(&self, name: &str) -> Result<Ended, String> {
        self.told.live().state = TrainingState::Exporting;
        let mut made = None;
        self.phase(Phase::Export, &mut |said| {
            if let Said::Exported { file, sha256, card, .. } = said {
                made = Some((file.clone(), *sha256, card.clone()));
            }
        })?;
        if made.is_none() && self.told.wish() == Wish::Stop {
            return Ok(Ended { state: TrainingState::Stopped, words: None });
        }
        let (file, sha256, card) = made.ok_or_else(|| "the program that trains wrote no model".to_owned())?;
        let card = bounded(&self.within(&card)?, CARD_BYTES_MAX)?;
        let (spec, home) = (&self.plan.spec, &self.with.home);
        let about = format!("{} with what it learned here", self.plan.base);
        let kept = model_box::Kept {
            name: name.to_owned(),
            sha256: sha256.to_string(),
            bytes: 0,
            license: Some(spec.base.licence.clone()),
            about: Some(about),
        };
        let weights = self.within(&file)?;
        model_box::may_take_in(home, &kept, &weights).map_err(|error| error.to_string())?;
        // On record first: nobody finds a model by name that the log knows nothing of.
        let kernel = &self.with.kernel;
        kernel
            .export_training(&self.plan.run_id, (name, sha256), &card)
            .map_err(|error| error.to_string())?;
        model_box::take_in(home, kept, &weights).map_err(|error| error.to_string())?;
        Ok(Ended {
            state: TrainingState::Done,
            words: Some(format!("`box:{name}` is among the models in the box")),
        })
    }

    /// A file that the program says it wrote: a plain one in its own folder, and nothing else.
    fn within(&self, said: &str) -> Result<PathBuf, String> {
        let name = Path::new(said).file_name().ok_or_else(|| format!("`{said}` names no file"))?;
        let path = self.plan.folder().join(name);
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|there| there.is_file());
        if is_file { Ok(path) } else { Err(format!("`{}` is no file of the run", path.display())) }
    }

    /// Takes up what it says for whoever asks.
    fn hear(&self, said: &Said) {
        if let Said::RunsOn { on } = said {
            return runs_on(&self.plan, &self.told, on);
        }
        let mut live = self.told.live();
        match said {
            Said::Progress { step, loss, examples_per_s, memory } => {
                live.state = TrainingState::Learning;
                live.step = *step;
                live.words = None;
                live.memory = live.memory.max(*memory).min(NUMBER_MAX);
                live.examples_per_ks = thousandths(*examples_per_s);
                live.losses.push(LossPoint { step: *step, micros: thousandths(loss * 1_000.0) });
                if live.losses.len() > LOSSES_MAX {
                    let mut at = 0_usize;
                    live.losses.retain(|_| {
                        at += 1;
                        at % 2 == 1
                    });
                }
                let (done, total) = (u64::from(*step), u64::from(live.steps));
                drop(live);
                let what = "training".to_owned();
                self.with.notices.tell(&wire::Notice::Progress { task_id: None, what, done, total });
            }
            Said::Paused { step } => {
                live.step = *step;
                live.state = if self.told.wish() == Wish::Pause {
                    TrainingState::Paused
                } else {
                    TrainingState::Waiting
                };
            }
            Said::Resumed { step } => {
                live.step = *step;
                live.state = TrainingState::Learning;
            }
            Said::Checkpoint { step, .. } => live.checkpoint = Some(*step),
            Said::Skipped { what, words } => {
                let (what, words) = (cut(what), cut(words));
                tracing::warn!(run = %self.plan.run_id, %what, %words, "a run of training left something out");
            }
            Said::RunsOn { .. }
            | Said::Measured { .. }
            | Said::Exported { .. }
            | Said::Round { .. }
            | Said::Refused { .. }
            | Said::Ended { .. } => {}
        }
    }

    /// What the machine has to be for it to go on, where it is not that.
    pub(super) fn waits_for(&self) -> Option<&'static str> {
        if self.plan.always {
            return None;
        }
        let now = surroundings::now(&[Condition::Idle]);
        match (now.on_mains, now.is_idle) {
            (Some(false), _) => {
                Some("it waits until this machine is on mains power; `--always` works on battery, too")
            }
            (_, Some(false)) => {
                Some("it waits until nobody is at this machine; `--always` works meanwhile, too")
            }
            _ => None,
        }
    }
}

/// Words that the program is told, each once.
struct Words<'w> {
    of: &'w Work,
    learns: bool,
    looked: Option<Instant>,
    waits: Option<&'static str>,
    is_paused: bool,
    is_stopped: bool,
}

impl<'w> Words<'w> {
    fn of(of: &'w Work, phase: Phase) -> Self {
        let learns = phase == Phase::Run;
        Self { of, learns, looked: None, waits: None, is_paused: false, is_stopped: false }
    }

    fn next(&mut self) -> Option<Control> {
        let wish = self.of.told.wish();
        if self.is_stopped {
            return None;
        }
        if wish == Wish::Stop {
            self.is_stopped = true;
            return Some(Control::Stop);
        }
        if !self.learns {
            return None;
        }
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            self.looked = Some(Instant::now());
            self.waits = self.of.waits_for();
        }
        let rests = wish == Wish::Pause || self.waits.is_some();
        if rests == self.is_paused {
            return None;
        }
        self.is_paused = rests;
        let words = self.waits.filter(|_| wish != Wish::Pause).map(str::to_owned);
        self.of.told.live().words = words;
        Some(if rests { Control::Pause } else { Control::Resume })
    }
}

/// Keeps on which machine it is done, and tells it then: whoever asks how far it is waits for no disk.
fn runs_on(plan: &Plan, told: &Told, on: &RanOn) {
    let (device, machine) = (cut(&on.device), cut(&on.machine));
    plan.runs_on(RanOn { device, machine, threads: on.threads });
    let all: Vec<String> = plan.ran_on().iter().map(RanOn::in_words).collect();
    told.live().ran_on = all;
}

/// The name of a checkpoint that the program says it left out; none where that is an example.
fn checkpoint_of(what: &str) -> Option<OsString> {
    Path::new(what).file_name().filter(|name| is_checkpoint(name)).map(OsStr::to_os_string)
}

fn gone() -> String {
    "something of its dataset was recalled or erased; begin a run with another one".to_owned()
}

fn cut(words: &str) -> String {
    words.chars().take(WORDS_MAX).collect()
}

/// A number of thousandths; nothing for what is none.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is held between 0 and what numbers of the wire may be"
)]
fn thousandths(number: f32) -> u64 {
    (f64::from(number) * 1_000.0).round().clamp(0.0, 9.0e15) as u64
}

pub(super) fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be read: {error}", path.display());
    let there = std::fs::symlink_metadata(path).map_err(failed)?;
    if !there.is_file() {
        return Err(format!("`{}` is no file of the run", path.display()));
    }
    if there.len() > most {
        return Err(format!("`{}` is longer than {most} bytes", path.display()));
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::{Plan, Told, runs_on, thousandths};
    use model::ArtifactId;
    use model::artifact::ArtifactRef;
    use seal::Digest;
    use std::sync::Mutex;
    use std::time::{Duration, Instant};
    use training::{Base, DatasetFile, RanOn, RunSpec};
    use uuid::Uuid;
    use wire::training::LiveRun;
    use words::training::TrainingState;

    /// Somebody asks how far it is all the while.
    #[test]
    fn where_it_is_done_is_kept_while_whoever_asks_holds_what_is_told() {
        let folder = tempfile::TempDir::new().unwrap();
        let text = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let (sha256, licence) = (Digest::ZERO, "Apache-2.0".to_owned());
        let base = Base { path: text("weights"), sha256, licence };
        let spec = RunSpec::small(base, DatasetFile { path: text("dataset"), sha256 }, text("run_0a"));
        let artifact_id = ArtifactId::new(Uuid::from_u128(1));
        let plan = Plan {
            run_id: "run_0a".to_owned(),
            dataset: ArtifactRef { artifact_id, sha256 },
            base: "small".to_owned(),
            always: false,
            begun_at: 0,
            spec,
            together: None,
        };
        let live = LiveRun {
            run_id: plan.run_id.clone(),
            state: TrainingState::Loading,
            dataset_id: artifact_id.to_string(),
            base: plan.base.clone(),
            step: 0,
            steps: 1,
            losses: Vec::new(),
            examples_per_ks: 0,
            memory: 0,
            ran_on: Vec::new(),
            checkpoint: None,
            words: None,
            together: None,
            begun_at: 0,
        };
        let told = Told { live: Mutex::new(live), wish: Mutex::default() };
        let on = RanOn { device: "cpu".to_owned(), threads: 1, machine: "a machine".to_owned() };
        std::thread::scope(|scope| {
            let asks = told.live();
            scope.spawn(|| runs_on(&plan, &told, &on));
            let until = Instant::now() + Duration::from_secs(60);
            while plan.ran_on().is_empty() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(plan.ran_on(), [on.clone()]);
            drop(asks);
        });
        assert_eq!(told.live().ran_on, [on.in_words()]);
    }

    #[test]
    fn what_is_no_number_is_nothing() {
        assert_eq!((thousandths(1.5), thousandths(f32::NAN), thousandths(-1.0)), (1_500, 0, 0));
    }
}
