//! Trials of changes of Hermit: a case out of the person's own past work, a clone for each arm in a sandbox of its own, and the verdict
//! of the judge over what they left (successor.md 3, 4).
//!
//! A clone is the program `hermit successor-clone`: it is given the case on its standard input and gives evidence on its standard
//! output, and has nothing else of its parent. What it used up is measured from outside, and at the end of its budget its namespace
//! ends with everything in it. What it writes is read as a stranger's.

#![cfg(target_os = "linux")]

mod asked_words;
mod base;
mod build;
mod case;
mod changed_playbook;
mod clean_room;
mod clone_main;
mod clone_world;
mod confined;
mod ended;
mod live_model;
mod model_pipe;
mod parents_tests;
mod played;
mod probes;
mod reads;
mod recorded_executors;
mod recording;
mod skills;
mod skins;
mod threads;
mod told;

pub use asked_words::AskedModel;
pub use base::Bases;
pub use build::{Built, CodeTrial, build, build_in_turn, nobody};
pub use case::{CaseOf, Handed, draw, export};
pub use clone_main::run_clone;
pub use confined::{CloneEnd, CloneProgram, run_confined};
pub use live_model::LiveModel;
pub use probes::ParentPlaces;
pub use threads::{TrialThreads, UnpackOwn};
pub(crate) use threads::{can_be_made, sweep_builds};

use crate::programs::own_digest;
use ::successor::{
    ASKED_ONLY_ONCE, Budget, Change, Evidence, Judged, Patch, Planted, Reason, Used, Verdict, WordsItem,
};
use changed_playbook::PLAYBOOK;
use clone_main::SOUL;
use confined::run_answered;
use effects::Sandbox;
use kernel::Kernel;
use live_model::{SpentInAll, counted_alike};
use model::{Digest, TaskId};
use skills::SKILL;
use skins::SKIN;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use words::successor::{Arm, BudgetPart, MeasuredBy, TrialStage, VerdictOutcome};

/// The hidden verb of a clone.
pub const CLONE_VERB: &str = "successor-clone";

/// A folder below the store in which code is built; what a host that was killed left there goes at the next opening.
pub const BUILDS: &str = "successor";
/// A folder in it for what is built of the source as it is, which stays while it is used.
const BASES: &str = "base";

/// A trial, as it is run.
pub struct TrialRun<'a> {
    /// The store, whose log is read and in which nothing is written.
    pub kernel: &'a Kernel,
    /// What confines clones.
    pub sandbox: &'a Sandbox,
    /// The program of the parent's arm.
    pub program: &'a Path,
    /// Where its parent is, for the attempts to reach it.
    pub places: ParentPlaces,
    /// The trial.
    pub trial_id: &'a str,
    /// The change.
    pub patch: &'a Patch,
    /// What is to be shown.
    pub about: &'a str,
    /// The tasks.
    pub tasks: &'a [TaskId],
    /// What draws begin with.
    pub seed: u64,
    /// What each clone may use up.
    pub budget: Budget,
    /// The standard profile.
    pub profile: &'a str,
    /// The model, where the change is one of it.
    pub model: Option<Arc<LiveModel>>,
    /// The model that is asked again in both arms, where the change is one of words that a model reads; or in words why none is.
    pub asked: Result<AskedModel, String>,
    /// How code is built, where the change is one.
    pub code: Option<CodeTrial<'a>>,
    /// Rules of the clean room that it breaks.
    pub clean_room: Vec<Reason>,
    /// Whether it is to end.
    pub stopped: &'a dyn Fn() -> bool,
    /// Is told what it is at.
    pub at: &'a dyn Fn(TrialStage),
}

/// What a trial came to.
pub struct TrialEnd {
    /// The verdict, not signed yet.
    pub verdict: Verdict,
    /// The evidence of the parent's arm, then of the successor's, then of the arm that a model was asked in once more, as they were
    /// compared.
    pub evidence: Vec<Vec<u8>>,
    /// What was built of a change of code, where its suite passed: gone with the folder that it was built in.
    pub program: Option<PathBuf>,
}

/// Runs a trial to its verdict. Both arms play in turn, then every planted change in a clone of its own; where a model was asked and the
/// change would be better, the parent's arm once more about words, and the successor's of another model.
///
/// # Errors
/// In words, when there is nothing to judge: no case, no sandbox, or a parent's arm that does not come to its end.
pub fn run_trial(run: &TrialRun<'_>) -> Result<TrialEnd, String> {
    if let Some(why) = unplayable(&run.patch.change, run.model.is_some()) {
        return Err(why);
    }
    if run.tasks.is_empty() {
        return Err("no task can be played again: a trial needs work that was completed here".to_owned());
    }
    let of = CaseOf {
        trial_id: run.trial_id,
        seed: run.seed,
        budget: run.budget,
        profile: run.profile,
        tasks: run.tasks,
    };
    let parent = export(run.kernel, &of, run.places.clone())?;
    if let Some(why) = run.unseen(&parent) {
        return Err(why);
    }
    let built = run.built()?;
    (run.at)(TrialStage::Playing);
    // What was answered then is played again first: by that a run knows itself, and bad changes are told from it.
    let recorded = run.whole(&parent)?;
    let asked = run.asked.as_ref().ok();
    let mut of_parent = match asked {
        Some(asked) => run.without(&parent, (asked, &asked.parent))?,
        None => recorded.clone(),
    };
    let mut successor = changed(&parent, run.patch);
    let model = run.model.as_ref().or(asked.map(|asked| &asked.successor));
    successor.model = model.map(|model| model.descriptor());
    if run.model.is_some() {
        count_as_asked(&mut of_parent, &successor);
    }
    let (of_successor, ended) = run.with_change(built.as_ref(), &successor, model)?;
    let (program, tests) = built.map_or((None, None), |built| (built.program, Some(built.tests)));
    let planted = run.planted(&parent, &recorded)?;
    let answered = run.asked.as_ref().map(AskedModel::asked);
    let judged = Judged {
        parent_case: &parent.case,
        successor_case: &successor.case,
        parent: &of_parent,
        successor: &of_successor,
        ended: &ended,
        tests,
        clean_room: run.clean_room.clone(),
        planted,
        asked: answered.as_ref().map_err(|why| why.as_str()),
        again: None,
        evaluator_sha256: own_digest()?,
        about: run.about,
    };
    let first = ::successor::judge(&judged);
    let mut evidence = vec![of_parent.bytes(), of_successor.bytes()];
    // What it saves may be chance: the model has to do the same again.
    let is_open = first.reasons.iter().any(|one| one.rule == ASKED_ONLY_ONCE);
    let once_more = if is_open { run.once_more(&parent, &successor)? } else { None };
    let verdict = match &once_more {
        Some(again) => {
            evidence.push(again.bytes());
            ::successor::judge(&Judged { again: Some(again), ..judged })
        }
        None => first,
    };
    let evidence = evidence.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    Ok(TrialEnd { verdict, evidence, program })
}

/// Why a change cannot be tried; none where it can. `asks`: whether there is a model that is asked again.
fn unplayable(change: &Change, asks: bool) -> Option<String> {
    match change {
        Change::Policy { .. } | Change::Code { .. } => None,
        Change::Model { .. } if asks => None,
        Change::Model { address, .. } => Some(format!(
            "the model `{address}` cannot be tried over recorded answers: what another model would answer stands in none of them"
        )),
        Change::Words { items } => skins::untriable(items).or_else(|| items.iter().find_map(untriable)),
    }
}

/// Why a piece of words cannot be tried; none where it can.
fn untriable(item: &WordsItem) -> Option<String> {
    match item.what.as_str() {
        SOUL | SKIN => None,
        PLAYBOOK => changed_playbook::read(item).err(),
        SKILL => skills::untriable(item),
        other => Some(format!(
            "the {other} `{}` cannot be tried: of words, SOUL.md, a skin, a skill and a playbook of your own can be",
            item.name
        )),
    }
}

/// The same case with a change in it.
fn changed(of: &Handed, patch: &Patch) -> Handed {
    let mut changed = of.clone();
    changed.case.patch = Some(patch.clone());
    changed.arm = Arm::Successor;
    changed
}

/// What the host counted of a model that it asked for a clone stands in the place of what the clone says.
fn counted(evidence: &mut Evidence, handed: &Handed, spent: &SpentInAll) {
    for task in &mut evidence.tasks {
        let place = handed.case.tasks.iter().position(|one| one.task_id == task.task_id);
        // What is played again without a model counts as in every replay.
        if place.is_some_and(|at| !handed.asks(at)) {
            continue;
        }
        let own = place.and_then(|at| spent.tasks.get(at)).copied().unwrap_or_default();
        (task.tokens, task.turns) = (own.tokens, own.turns);
    }
}

/// What was played on recorded answers is counted as what another model is asked in its place.
fn count_as_asked(of_parent: &mut Evidence, successor: &Handed) {
    for task in &mut of_parent.tasks {
        let mut all = successor.case.tasks.iter().enumerate();
        let Some((at, recorded)) = all.find(|(_, one)| one.task_id == task.task_id) else { continue };
        if successor.asks(at) {
            task.tokens = counted_alike(task.tokens, &recorded.answers);
        }
    }
}

/// The tokens of a model that was asked, and whether they were what the clone ended for.
fn take_up(used: &mut Used, spent: &SpentInAll) {
    used.tokens = spent.tokens;
    if spent.over {
        used.ended_for.get_or_insert(BudgetPart::Tokens);
    }
}

/// Evidence of a clone that left none.
fn nothing(handed: &Handed, by: MeasuredBy, used: Used) -> Result<Evidence, String> {
    let case_sha256 = Digest::of(&handed.case.bytes().map_err(|e| e.to_string())?);
    let (tasks, probes) = (Vec::new(), Vec::new());
    Ok(Evidence { case_sha256, arm: handed.arm, tasks, probes, used, measured_by: Some(by) })
}

impl TrialRun<'_> {
    /// Why a change of words would be compared with nothing; none where it would not.
    fn unseen(&self, parent: &Handed) -> Option<String> {
        changed_playbook::unseen(self.patch, parent)
            .or_else(|| skills::unseen(self.kernel, self.patch, parent))
            .or_else(|| skins::unseen(self.kernel, self.patch, parent))
    }

    /// The code of the change, built and tested; none where the change is none of code.
    fn built(&self) -> Result<Option<Built>, String> {
        let Change::Code { source, diff } = &self.patch.change else { return Ok(None) };
        let code =
            self.code.as_ref().ok_or("this program has no source that a change of code could apply to")?;
        let code = CodeTrial { at: self.at, ..code.clone() };
        build_in_turn(self.sandbox, &code, *source, diff, self.stopped).map(Some)
    }

    /// The parent's arm over recorded answers: what does not come to its end here can be compared with nothing.
    fn whole(&self, handed: &Handed) -> Result<Evidence, String> {
        let (evidence, end) = self.run(self.program, handed, None)?;
        evidence.ok_or_else(|| format!("Hermit as it is cannot play these tasks again: {}", end.in_words()))
    }

    /// The parent's arm with the answers that a model gives anew; `live`: the model of this arm.
    fn without(
        &self,
        parent: &Handed,
        (asked, live): (&AskedModel, &Arc<LiveModel>),
    ) -> Result<Evidence, String> {
        let anew = Handed { model: Some(live.descriptor()), ..parent.clone() };
        let (evidence, end) = self.run(self.program, &anew, Some(live))?;
        evidence.ok_or_else(|| asked.unfinished(&end))
    }

    /// The arm in which a model is asked once more: about words the one without the change, of another model the one with it.
    fn once_more(&self, parent: &Handed, successor: &Handed) -> Result<Option<Evidence>, String> {
        match (&self.asked, &self.model) {
            (Ok(asked), _) => self.without(parent, (asked, &asked.again)).map(Some),
            (Err(_), Some(model)) => {
                let (again, _) = self.played(self.program, successor, Some(&Arc::new(model.anew())))?;
                Ok(Some(again))
            }
            (Err(_), None) => Ok(None),
        }
    }

    /// The arm with the change, and how its clone ended where it left no evidence.
    fn with_change(
        &self,
        built: Option<&Built>,
        successor: &Handed,
        model: Option<&Arc<LiveModel>>,
    ) -> Result<(Evidence, String), String> {
        match built {
            // It was not built: there is nothing of it that could play.
            Some(built) if built.program.is_none() => {
                Ok((nothing(successor, MeasuredBy::Successor, built.used)?, String::new()))
            }
            built => {
                let program = built.and_then(|built| built.program.as_deref()).unwrap_or(self.program);
                self.played(program, successor, model)
            }
        }
    }

    /// An arm that may come to nothing, and how its clone ended where it did.
    fn played(
        &self,
        program: &Path,
        handed: &Handed,
        model: Option<&Arc<LiveModel>>,
    ) -> Result<(Evidence, String), String> {
        match self.run(program, handed, model)? {
            (Some(evidence), _) => Ok((evidence, String::new())),
            (None, end) => {
                tracing::info!(trial = %self.trial_id, end = %end.in_words(), "a clone left no evidence");
                Ok((nothing(handed, self.whose(program), end.used)?, end.how()))
            }
        }
    }

    /// Whose word it is what a program tells: Hermit's as it is, or that of what was built with the change.
    fn whose(&self, program: &Path) -> MeasuredBy {
        if program == self.program { MeasuredBy::Parent } else { MeasuredBy::Successor }
    }

    /// Runs a clone, which may ask this model; its evidence, where it is whole and of this case.
    fn run(
        &self,
        program: &Path,
        handed: &Handed,
        model: Option<&Arc<LiveModel>>,
    ) -> Result<(Option<Evidence>, CloneEnd), String> {
        let input = serde_json::to_vec(handed).map_err(|e| e.to_string())?;
        let clone = CloneProgram::of(program, &[CLONE_VERB]);
        let mut end = run_answered(self.sandbox, &clone, (input, model), &self.budget, self.stopped)?;
        let spent = model.map(|model| model.spent()).transpose()?;
        if !end.is_whole() {
            if let Some(spent) = &spent {
                take_up(&mut end.used, spent);
            }
            return Ok((None, end));
        }
        let case_sha256 = Digest::of(&handed.case.bytes().map_err(|e| e.to_string())?);
        let read = Evidence::read(&end.evidence).ok();
        let fits = |evidence: &Evidence| evidence.case_sha256 == case_sha256 && evidence.arm == handed.arm;
        let Some(mut evidence) = read.filter(fits) else {
            end.complaint = "what it wrote is no evidence of this case".to_owned();
            return Ok((None, end));
        };
        // What it says of itself counts for nothing.
        match &spent {
            Some(spent) => {
                counted(&mut evidence, handed, spent);
                take_up(&mut end.used, spent);
            }
            None => {
                end.used.tokens = evidence.tasks.iter().fold(0, |sum, task| task.tokens.saturating_add(sum));
            }
        }
        if end.used.tokens > self.budget.tokens {
            end.used.ended_for = Some(BudgetPart::Tokens);
        }
        evidence.used = end.used;
        evidence.measured_by = Some(self.whose(program));
        Ok((Some(evidence), end))
    }

    /// Every planted change, tried in this very run by clones of the same program and judged by the same judge.
    fn planted(&self, parent: &Handed, of_parent: &Evidence) -> Result<Vec<Planted>, String> {
        let mut tried = Vec::new();
        for (name, patch) in ::successor::planted(&parent.case) {
            let handed = changed(parent, &patch);
            let (evidence, ended) = self.played(self.program, &handed, None)?;
            let verdict = ::successor::judge(&Judged {
                parent_case: &parent.case,
                successor_case: &handed.case,
                parent: of_parent,
                successor: &evidence,
                ended: &ended,
                tests: None,
                clean_room: Vec::new(),
                planted: Vec::new(),
                asked: Err(""),
                again: None,
                evaluator_sha256: own_digest()?,
                about: self.about,
            });
            let refused = !matches!(verdict.outcome, VerdictOutcome::Better | VerdictOutcome::Same);
            tried.push(Planted { name, refused });
        }
        Ok(tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_recording_could_show_is_refused_by_its_name() {
        let words = |kinds: &[&str]| {
            let item = |what: &&str| WordsItem {
                what: (*what).to_owned(),
                name: "terse".to_owned(),
                text: "text".to_owned(),
            };
            unplayable(&Change::Words { items: kinds.iter().map(item).collect() }, true)
        };
        assert_eq!(words(&["soul"]), None);
        for (kind, says) in [
            ("skin", "it is no skin"),
            ("skill", "it does not begin with a line"),
            ("pinned", "of words, SOUL.md, a skin, a skill and a playbook"),
        ] {
            let why = words(&["soul", kind]).expect("refused");
            assert!(why.contains(&format!("the {kind} `terse` cannot be tried: ")), "{why}");
            assert!(why.contains(says), "{why}");
        }
        let why = words(&["playbook"]).expect("its text is none");
        assert!(why.contains("the playbook `terse` cannot be tried: "), "{why}");
    }
}
