//! The case of a trial: work of the person as it was recorded, taken out of the log, and what else a clone needs to play it.
//!
//! Only what can be played again is taken: a task that a person gave and a model did in one part, that is complete, and whose acts have
//! recordings. No secret leaves: a task with bytes that hold the value of one is left out, and whatever else holds one loses it.

use super::probes::ParentPlaces;
use super::reads::Unplayable;
use super::skills::{HandedSkill, Skills};
use super::skins::{self, WornSkin};
use super::told::Told;
use ::successor::limits::LEFT_OUT_MAX;
use ::successor::{Budget, Case, Change, RecordedAct, RecordedTask};
use api::Drawn;
use kernel::Kernel;
use kernel::state::TaskState;
use model::ingress::Channel;
use model::task::{ModelChoice, Origin, TaskContract, TaskStatus};
use model::tool_server::{ServerRegistration, ToolTerms};
use model::{Digest, TaskId};
use reasoning::Descriptor;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use words::successor::Arm;

/// Events read at once.
const STRIDE: usize = 1_000;
/// Events of one task that are read at once: each may be large.
const TASK_STRIDE: usize = 100;
/// Tasks that one case has at most.
pub const CASE_TASKS_MAX: usize = 100;
/// The tool by which a task has a change tried.
const TRIES: &str = "try_change";
/// Bytes of a case.
pub const CASE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of the tasks that a seed draws for one: what else stands in it has room beside them.
const DRAWN_BYTES_MAX: usize = CASE_BYTES_MAX / 2;

/// What a clone reads from its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handed {
    /// The case, in the canonical bytes that its digest is of.
    pub case: Case,
    /// Which arm it is.
    pub arm: Arm,
    /// What stands in contexts as the parent is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<::successor::WordsItem>,
    /// Skills that tasks could use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<HandedSkill>,
    /// What else a task was given, by its place in the case.
    pub terms: Vec<TaskTerms>,
    /// Rules of the parent that stand in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_rules: Option<String>,
    /// The model that its parent asks for it: another one where the change is one of the model, and where it is one of words that a model
    /// reads, one that is asked again in both arms; else answers are the recorded ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Descriptor>,
    /// Where its parent is, for the attempts to reach it.
    pub places: ParentPlaces,
}

impl Handed {
    /// Whether the model is asked for a task of the case, by its place there. A playbook reads no words, so that about those it does its
    /// task again without a model.
    pub(super) fn asks(&self, at: usize) -> bool {
        let is_of_model =
            self.case.patch.as_ref().is_some_and(|patch| matches!(patch.change, Change::Model { .. }));
        let did = self.terms.get(at).and_then(|terms| terms.playbook.as_ref());
        self.model.is_some() && (is_of_model || did.is_none())
    }
}

/// What else a task was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTerms {
    /// What must not happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// The rules of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_rules: Option<String>,
    /// The playbook that did it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playbook: Option<TaskPlaybook>,
    /// The skin that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skin: Option<WornSkin>,
    /// Skills that it could use, by the digests of their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Digest>,
}

/// The playbook that did a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPlaybook {
    /// Its name.
    pub name: String,
    /// What the person set of it, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// A server of tools, as a case holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedServer {
    /// Launch and manifest, without what opens anything.
    pub registration: ServerRegistration,
    /// What a person says of its tools.
    pub terms: BTreeMap<String, ToolTerms>,
}

/// What a case is made for.
#[derive(Debug, Clone)]
pub struct CaseOf<'a> {
    /// The trial.
    pub trial_id: &'a str,
    /// What the draw begins with.
    pub seed: u64,
    /// What a clone may use up.
    pub budget: Budget,
    /// The standard profile.
    pub profile: &'a str,
    /// The tasks.
    pub tasks: &'a [TaskId],
}

/// Draws tasks that can be played again, by a seed: the same log and seed give the same ones. Those that a person named come first. What
/// another machine gave is played only where a person names it: it would say by what a change of this one is judged. One that the seed
/// drew and that is too large to be read, or for the case with those before it, is left out, and told to be.
///
/// # Errors
/// In words, when the log cannot be read, or a named task cannot be played again.
pub fn draw(kernel: &Kernel, seed: u64, named: &[TaskId], most: usize) -> Result<Drawn, String> {
    let (mut tasks, mut left_out): (Vec<TaskId>, Vec<TaskId>) = (Vec::new(), Vec::new());
    let mut bytes = 0_usize;
    for task in named {
        let why = |why: Unplayable| format!("the task `{task}` cannot be played again: {why}");
        let played = recorded(kernel, *task).map_err(why)?;
        if !tasks.contains(task) {
            bytes = bytes.saturating_add(size_of(&played)?);
            tasks.push(*task);
        }
    }
    let mut others: Vec<(Digest, TaskId)> = with_receipts(kernel)?
        .into_iter()
        .filter(|task| !tasks.contains(task))
        .map(|task| (Digest::of(format!("{seed}:{task}").as_bytes()), task))
        .collect();
    others.sort();
    for (_, task) in others {
        if tasks.len() >= most.clamp(named.len(), CASE_TASKS_MAX.max(named.len())) {
            break;
        }
        if !is_given_here(kernel, task) {
            continue;
        }
        let with_it = match recorded(kernel, task) {
            Ok(played) => bytes.saturating_add(size_of(&played)?),
            Err(Unplayable::TooLarge { .. }) => usize::MAX,
            Err(Unplayable::Other(_)) => continue,
        };
        if with_it <= DRAWN_BYTES_MAX {
            bytes = with_it;
            tasks.push(task);
        } else if left_out.len() < LEFT_OUT_MAX {
            left_out.push(task);
        }
    }
    Ok(Drawn { tasks, left_out })
}

/// Bytes that a task has in a case.
fn size_of(played: &(RecordedTask, TaskTerms)) -> Result<usize, String> {
    serde_json::to_vec(played).map(|bytes| bytes.len()).map_err(|e| e.to_string())
}

/// Whether a task was given at this machine.
fn is_given_here(kernel: &Kernel, task: TaskId) -> bool {
    kernel.task(task).is_ok_and(|state| state.task.source_channel != Channel::Mesh)
}

/// Tasks with a receipt of an act.
fn with_receipts(kernel: &Kernel) -> Result<BTreeSet<TaskId>, String> {
    let (mut found, mut after) = (BTreeSet::new(), 0);
    loop {
        let events = kernel.reader().log(after, STRIDE).map_err(|e| e.to_string())?;
        let Some(last) = events.last() else { return Ok(found) };
        after = last.log_seq;
        for stored in &events {
            let event = stored.event().map_err(|e| e.to_string())?;
            if event.event_type == "effect.observed" {
                found.insert(event.task_id);
            }
        }
    }
}

/// The case of the parent's arm: no change in it.
///
/// # Errors
/// In words, when a task cannot be played again or the whole is too large.
pub fn export(kernel: &Kernel, of: &CaseOf<'_>, places: ParentPlaces) -> Result<Handed, String> {
    let mut case = Case {
        trial_id: of.trial_id.to_owned(),
        seed: of.seed,
        budget: of.budget,
        patch: None,
        rules: kernel.signed_rules().map_err(|e| e.to_string())?,
        profile: of.profile.to_owned(),
        tools: servers(kernel)?,
        tasks: Vec::new(),
    };
    let (mut terms, mut skills): (Vec<TaskTerms>, _) = (Vec::new(), Skills::default());
    for task in of.tasks {
        let (recorded, mut given) = played_again(kernel, *task)
            .map_err(|why| format!("the task `{task}` cannot be played again: {why}"))?;
        let folder = folder_of(kernel, &kernel.task(*task).map_err(|e| e.to_string())?);
        given.skills = skills.of_folder(kernel, folder.as_deref());
        case.tasks.push(recorded);
        terms.push(given);
    }
    let file_rules = std::fs::read_to_string(kernel.dir().join(kernel::drive::USER_RULES)).ok();
    let mut words = words_as_they_stand(kernel);
    words.extend(skins::as_they_stand(kernel, &mut terms));
    let (skills, model) = (skills.all, None);
    let handed = Handed { case, arm: Arm::Parent, words, skills, terms, file_rules, model, places };
    let bytes = serde_json::to_vec(&handed).map_err(|e| e.to_string())?;
    if bytes.len() > CASE_BYTES_MAX {
        return Err(format!(
            "the tasks have {} bytes together, and a clone is given {CASE_BYTES_MAX} at most; name fewer",
            bytes.len()
        ));
    }
    without_secrets(kernel, handed, &bytes)
}

/// The same without the value of any secret that is known now.
fn without_secrets(kernel: &Kernel, handed: Handed, bytes: &[u8]) -> Result<Handed, String> {
    let redactor = kernel.ports().redactor.now();
    if redactor.is_empty() {
        return Ok(handed);
    }
    let Some(clean) = redactor.json_bytes(bytes, false) else { return Ok(handed) };
    serde_json::from_value(clean.rest)
        .map_err(|e| format!("without the values of secrets it is no case: {e}"))
}

/// SOUL.md as it stands: both arms have it, unless the change is one of it.
fn words_as_they_stand(kernel: &Kernel) -> Vec<::successor::WordsItem> {
    let soul = kernel.identity().latest().and_then(|latest| {
        let bytes = kernel.artifacts().read(&latest.soul.sha256).ok()?;
        String::from_utf8(bytes).ok()
    });
    soul.map(|text| ::successor::WordsItem { what: "soul".to_owned(), name: "SOUL.md".to_owned(), text })
        .into_iter()
        .collect()
}

/// The registry of servers as it stands. What opens something stays behind: a server that needs a secret is without it.
fn servers(kernel: &Kernel) -> Result<Vec<serde_json::Value>, String> {
    let mut servers = Vec::new();
    for record in kernel.tool_registry().0.values().filter(|record| record.disabled.is_none()) {
        let Some(version) = record.latest() else { continue };
        let bytes = kernel.artifacts().read(&version.registration.sha256).map_err(|e| e.to_string())?;
        let mut registration: ServerRegistration =
            serde_json::from_slice(&bytes).map_err(|e| format!("a registration cannot be read: {e}"))?;
        registration.launch.secrets.clear();
        let said = record.classified.iter().filter(|(tool, _)| !record.is_off(tool));
        let terms = said.filter_map(|(tool, said)| Some((tool.clone(), said.last()?.terms.clone())));
        let terms = terms.filter(|(_, terms)| terms.only_in.is_none()).collect();
        servers
            .push(serde_json::to_value(RecordedServer { registration, terms }).map_err(|e| e.to_string())?);
    }
    Ok(servers)
}

/// A task of a trial that has begun: whole where it is complete, and as far as it came where it has the trial made.
fn played_again(kernel: &Kernel, task_id: TaskId) -> Result<(RecordedTask, TaskTerms), Unplayable> {
    match kernel.task(task_id).map_err(|e| e.to_string())?.task.status {
        TaskStatus::Completed => recorded(kernel, task_id),
        _ => so_far(kernel, task_id),
    }
}

/// A task as a clone plays it.
fn recorded(kernel: &Kernel, task_id: TaskId) -> Result<(RecordedTask, TaskTerms), Unplayable> {
    let state = kernel.task(task_id).map_err(|e| e.to_string())?;
    if state.task.status != TaskStatus::Completed {
        return Err(Unplayable::Other(format!("it is {}", state.task.status)));
    }
    told_as(kernel, &state, Told::acts)
}

/// A task that has a change tried, as a clone plays it up to the answer that proposes that: then it is over.
pub(super) fn so_far(kernel: &Kernel, task_id: TaskId) -> Result<(RecordedTask, TaskTerms), Unplayable> {
    let state = kernel.task(task_id).map_err(|e| e.to_string())?;
    let in_hand = state.attempt().and_then(|attempt| attempt.turn.act());
    if !in_hand.is_some_and(|act| act.is_dispatched() && act.tool == TRIES) {
        return Err(Unplayable::Other(format!("it is {}, and has no change tried", state.task.status)));
    }
    told_as(kernel, &state, |told, kernel| {
        told.end_before_the_last_answer()?;
        told.acts(kernel)
    })
}

/// A task as its events tell it, with the acts that are taken from them.
fn told_as(
    kernel: &Kernel,
    state: &TaskState,
    acts_of: fn(&mut Told, &Kernel) -> Result<Vec<RecordedAct>, Unplayable>,
) -> Result<(RecordedTask, TaskTerms), Unplayable> {
    let task_id = state.task.task_id;
    if state.task.origin() != Origin::Person || state.task.parent_task_id.is_some() {
        return Err("no person began it".into());
    }
    if state.steps.len() != 1 || !state.clarifications.is_empty() || !state.children.is_empty() {
        return Err("it has several parts, or asked questions".into());
    }
    let mut told = Told::default();
    let mut after = 0;
    loop {
        let events = kernel.reader().events(task_id, after, TASK_STRIDE).map_err(|e| e.to_string())?;
        let Some(last) = events.last() else { break };
        after = last.task_seq;
        for stored in &events {
            told.reads.event(&stored.bytes)?;
            let event = stored.event().map_err(|e| e.to_string())?;
            let body = kernel.reader().revealing(|shown| event.body(shown)).map_err(|e| e.to_string())?;
            told.take(kernel, &body.map_err(|e| e.to_string())?)?;
        }
    }
    let contract = told.artifacts.get(&state.task.task_contract_ref).ok_or("it has no contract")?;
    let contract = contract.content_hash;
    let contract: TaskContract = told.reads.object(kernel, &contract)?;
    if !contract.success_criteria.is_empty() {
        return Err("it has conditions that a person set for its end".into());
    }
    if !matches!(
        contract.model,
        ModelChoice::Playbook { .. }
            | ModelChoice::Openai { .. }
            | ModelChoice::Recorded { .. }
            | ModelChoice::Scripted { .. }
    ) {
        return Err("no model did it".into());
    }
    let goal = state.task.goal.shown().cloned().ok_or("its goal was erased")?;
    let project_rules = project_rules(kernel, state);
    let playbook = match contract.model {
        ModelChoice::Playbook { name, parameters, .. } => Some(TaskPlaybook { name, parameters }),
        _ => None,
    };
    let (constraints, skin) = (contract.constraints, told.skin(kernel)?);
    let terms = TaskTerms { constraints, project_rules, playbook, skin, skills: Vec::new() };
    let acts = acts_of(&mut told, kernel)?;
    let (profile, ended) = (state.task.policy_profile_ref.to_string(), state.task.status.to_string());
    let task = RecordedTask { task_id, goal, profile, ended, answers: told.answers, acts };
    // Evidence names the case by the digest of its canonical bytes.
    seal::canon::to_canonical(&task).map_err(|e| format!("it has no canonical form: {e}"))?;
    Ok((task, terms))
}

/// The rules of the folder that a task worked in, as they stand.
fn project_rules(kernel: &Kernel, state: &TaskState) -> Option<String> {
    kernel::drive::project_rules(&folder_of(kernel, state)?).ok().flatten()
}

/// The folder that a task worked in.
fn folder_of(kernel: &Kernel, state: &TaskState) -> Option<PathBuf> {
    let id = state.task.workspace_hint?;
    let root = kernel.store_state().workspaces.get(&id).cloned().flatten()?;
    kernel::workspace::decode_root(&root).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::successor::{Patch, WordsItem};
    use reasoning::{Reasoner as _, Scripted};

    /// A playbook reads no words, so that no model is asked for its task about those; another model is asked for each.
    #[test]
    fn a_model_is_asked_for_what_a_model_did_and_another_one_for_all() {
        let budget =
            Budget { wall_ms: 1, cpu_ms: 1, memory_bytes: 1, disk_bytes: 1, processes: 1, tokens: 1 };
        let case = Case {
            trial_id: "trial".to_owned(),
            seed: 1,
            budget,
            patch: None,
            rules: String::new(),
            profile: String::new(),
            tools: Vec::new(),
            tasks: Vec::new(),
        };
        let playbook = TaskPlaybook { name: "tidy".to_owned(), parameters: BTreeMap::new() };
        let terms =
            vec![TaskTerms::default(), TaskTerms { playbook: Some(playbook), ..TaskTerms::default() }];
        let recorded = Handed {
            case,
            arm: Arm::Parent,
            words: Vec::new(),
            skills: Vec::new(),
            terms,
            file_rules: None,
            model: None,
            places: ParentPlaces::default(),
        };
        let asks = |handed: &Handed| [handed.asks(0), handed.asks(1)];
        assert_eq!(asks(&recorded), [false, false]);
        let model = Some(Scripted::new(Vec::new()).descriptor());
        let anew = Handed { model, ..recorded };
        assert_eq!(asks(&anew), [true, false]);
        let with = |change: Change| {
            let patch = Patch { says: "one".to_owned(), sources: vec!["own".to_owned()], change };
            Handed { case: Case { patch: Some(patch), ..anew.case.clone() }, ..anew.clone() }
        };
        let item = WordsItem { what: "soul".to_owned(), name: "SOUL.md".to_owned(), text: "I".to_owned() };
        assert_eq!(asks(&with(Change::Words { items: vec![item] })), [true, false]);
        let other = Change::Model { address: "openai:http://127.0.0.1:1/v1#one".to_owned(), sha256: None };
        assert_eq!(asks(&with(other)), [true, true]);
    }
}
