//! What a clone does: it opens a store of its own, takes the change over, plays each recorded task by the real kernel, tries to reach
//! its parent, and writes down what came of it.
//!
//! Its clock and its chance begin with the seed of the case, so that two clones of one case write the same. Names that are made of them
//! stand in contexts, and a change may draw more of them than its parent: so each is spelled by decimal digits and costs as many tokens
//! as any other.

use super::case::{CASE_BYTES_MAX, Handed, RecordedServer};
use super::changed_playbook::{self, PLAYBOOK};
use super::clone_world::{CloneChance, CloneClock, CloneKeys, Nobody, OneDay, signer};
use super::model_pipe::PipedModel;
use super::played::played;
use super::probes::probes;
use super::recorded_executors::{RecordedSource, RecordedWorld};
use super::recording::{action_digest, answer_of};
use super::skills::{self, SKILL};
use super::skins::{self, SKIN};
use ::successor::{Change, Evidence, Played, RecordedTask, Used, WordsItem};
use acts::ApprovalPacket;
use governance::PolicyEngine;
use kernel::command::submit::{Reasoning, Submission, Submitted};
use kernel::ports::{NoEmbedder, ReasonerSource};
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::approval::{Choice, Surface};
use model::body::KeyPurpose;
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::skill::SkillPlace;
use model::task::{ModelChoice, TaskStatus};
use model::{ApprovalId, Clock, Digest, TaskId};
use reasoning::{Descriptor, Playbook, Reasoner, Scripted};
use seal::{SeedSigner, Signer as _};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Questions of one task that are answered: the same one again and again is no play.
const QUESTIONS_MAX: u32 = 1_000;
/// Words of which there is one piece.
pub(super) const SOUL: &str = "soul";
/// How a task ended that left its recording.
const DIVERGED: &str = "diverged";

/// `hermit successor-clone`: the case on standard input, in one line, and the evidence on standard output. Between them, where a model is
/// asked for it, what the clone asks it and what it answers.
pub fn run_clone() -> ExitCode {
    let done = read().and_then(|handed| evidence(&handed)).and_then(|bytes| {
        let mut out = std::io::stdout().lock();
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|e| e.to_string())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn read() -> Result<Handed, String> {
    let mut bytes = Vec::new();
    let most = u64::try_from(CASE_BYTES_MAX).unwrap_or(u64::MAX).saturating_mul(2);
    std::io::stdin().lock().take(most).read_until(b'\n', &mut bytes).map_err(|e| e.to_string())?;
    let unread = |e: serde_json::Error| {
        format!(
            "standard input is no case of a trial that this version of Hermit reads: {e}. A case is played by the version \
             that took it out of its store"
        )
    };
    serde_json::from_slice(&bytes).map_err(unread)
}

/// Plays a case in a store below the home of this process.
fn evidence(handed: &Handed) -> Result<Vec<u8>, String> {
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or("a clone has a home")?;
    let dir = tempfolder(&home)?;
    let clone = CloneRun::open(&dir, handed)?;
    clone.prepare(handed)?;
    let mut tasks = Vec::with_capacity(handed.case.tasks.len());
    for (at, task) in handed.case.tasks.iter().enumerate() {
        tasks.push(clone.play(handed, at, task)?);
    }
    let case_sha256 = Digest::of(&handed.case.bytes().map_err(|e| e.to_string())?);
    let probes = probes(&handed.places);
    let (arm, used) = (handed.arm, Used::default());
    let evidence = Evidence { case_sha256, arm, tasks, probes, used, measured_by: None };
    evidence.bytes().map_err(|e| e.to_string())
}

/// A folder that nothing is in yet.
fn tempfolder(home: &Path) -> Result<PathBuf, String> {
    let made = |at: &Path| std::fs::create_dir(at).map_err(|e| format!("`{}`: {e}", at.display()));
    let at = home.join("clone");
    made(&at)?;
    let at = at.canonicalize().map_err(|e| e.to_string())?;
    made(&at.join("store"))?;
    made(&at.join("work"))?;
    Ok(at)
}

/// A clone at work.
struct CloneRun {
    dir: PathBuf,
    kernel: Kernel,
    executors: Arc<RecordedSource>,
    models: Arc<RecordedModels>,
    /// The model that its parent asks for it.
    model: Option<Descriptor>,
    /// Playbooks as the change has them.
    playbooks: BTreeMap<String, Playbook>,
    person: SeedSigner,
    standard: String,
    profile: Option<Profile>,
    asked: AtomicU64,
}

impl CloneRun {
    fn open(dir: &Path, handed: &Handed) -> Result<Self, String> {
        let clock: Arc<dyn Clock> = Arc::new(CloneClock::default());
        let entropy = Arc::new(CloneChance::new(handed.case.seed));
        let mut servers = BTreeMap::new();
        for server in &handed.case.tools {
            let server: RecordedServer =
                serde_json::from_value(server.clone()).map_err(|e| format!("a server of tools: {e}"))?;
            servers.insert(server.registration.server.clone(), server.registration);
        }
        let executors = Arc::new(RecordedSource::new(servers, Arc::clone(&clock), dir.join("shelf")));
        let (models, keys) = (Arc::new(RecordedModels::default()), Arc::new(CloneKeys::new(&*entropy)));
        let person = signer(&*entropy);
        let ports = Ports {
            executors: Arc::clone(&executors) as _,
            reasoners: Arc::clone(&models) as _,
            embedder: Arc::new(NoEmbedder),
            keys: Arc::clone(&keys) as _,
            observer: Arc::new(Nobody),
            clock,
            days: Arc::new(OneDay),
            entropy: entropy as _,
            faults: Arc::new(model::fault::NoFaults),
            policy: Arc::new(PolicyEngine::shipped().map_err(|e| e.to_string())?),
            redactor: redact::Shared::default(),
            projector: Arc::new(|| Box::new(projections::Fold::new())),
        };
        let store = dir.join("store");
        if let Some(rules) = &handed.file_rules {
            let file = store.join(kernel::drive::USER_RULES);
            std::fs::write(&file, rules).map_err(|e| format!("`{}`: {e}", file.display()))?;
        }
        let kernel = Kernel::open(&store, ports).map_err(|e| e.to_string())?;
        let public = [
            (KeyPurpose::Log, keys.log.public()),
            (KeyPurpose::Receipt, keys.receipt.public()),
            (KeyPurpose::Manifest, keys.manifest.public()),
            (KeyPurpose::Approval, person.public()),
        ];
        kernel.register_keys(&public, "memory of a clone").map_err(|e| e.to_string())?;
        let (dir, standard, asked) = (dir.to_owned(), handed.case.profile.clone(), AtomicU64::new(0));
        let named = match handed.case.patch.as_ref().map(|patch| &patch.change) {
            Some(Change::Policy { profile, .. }) => profile.as_ref(),
            _ => None,
        };
        let profile = named.map(|named| named.parse::<Profile>()).transpose().map_err(|e| e.to_string())?;
        let model = handed.model.clone();
        let playbooks = changed_playbook::of(handed.case.patch.as_ref())?;
        Ok(Self { dir, kernel, executors, models, model, playbooks, person, standard, profile, asked })
    }

    /// The person's rules, words and tools, as they stand or as the change has them.
    fn prepare(&self, handed: &Handed) -> Result<(), String> {
        let change = handed.case.patch.as_ref().map(|patch| &patch.change);
        let changed: &[WordsItem] = match change {
            Some(Change::Words { items }) => items,
            Some(Change::Model { .. }) if handed.model.is_none() => {
                return Err("a clone has no other model than the recorded one".to_owned());
            }
            _ => &[],
        };
        let stays = handed.words.iter().filter(|item| {
            !changed.iter().any(|one| one.what == item.what && (one.name == item.name || one.what == SOUL))
        });
        stays.chain(changed).try_for_each(|item| self.take_words(item))?;
        let root = self.dir.join("work");
        for server in &handed.case.tools {
            let server: RecordedServer =
                serde_json::from_value(server.clone()).map_err(|e| format!("a server of tools: {e}"))?;
            let (name, launch) = (&server.registration.server, &server.registration.launch);
            let made = self.kernel.propose_server(
                name,
                launch,
                server.terms,
                false,
                &root,
                (Channel::Cli, self.key()),
            );
            self.allow_all(made)?;
        }
        // Last: what stands already was taken over under other rules.
        let rules = match change {
            Some(Change::Policy { rules, .. }) => rules,
            _ => &handed.case.rules,
        };
        match rules.trim().is_empty() {
            true => Ok(()),
            false => self.allow_all(self.kernel.propose_rules(rules, "", (Channel::Cli, self.key()))),
        }
    }

    /// One piece of words, by the way that a person takes it over.
    fn take_words(&self, item: &WordsItem) -> Result<(), String> {
        match item.what.as_str() {
            SOUL => self.allow_all(self.kernel.propose_soul(&item.text, 0, (Channel::Cli, self.key()))),
            SKIN => {
                self.allow_all(self.kernel.propose_skin(item.text.as_bytes(), (Channel::Cli, self.key())))
            }
            // They are at work in the tasks that they did, or that can use them.
            PLAYBOOK | SKILL => Ok(()),
            other => Err(format!("a clone cannot take over words of the kind `{other}`")),
        }
    }

    /// A key that no submission of this clone had.
    fn key(&self) -> String {
        format!("clone:{}", self.asked.fetch_add(1, Ordering::SeqCst))
    }

    /// Drives a task of the clone's own person to its end; they allow what it asks.
    fn allow_all(&self, made: Result<Submitted, kernel::Error>) -> Result<(), String> {
        let task = made.map_err(|e| e.to_string())?.task_id;
        for _ in 0..QUESTIONS_MAX {
            match self.kernel.drive(task).map_err(|e| e.to_string())? {
                DriveOutcome::Waiting(Waiting::Approval(id)) => self.answer(task, id, Choice::Once)?,
                DriveOutcome::Ended { status: TaskStatus::Completed, .. } => return Ok(()),
                other => return Err(format!("the change cannot be taken over: {other:?}")),
            }
        }
        Err("the change cannot be taken over: it asks without an end".to_owned())
    }

    /// The person of the clone answers a question, by a signature of their own key.
    fn answer(&self, task: TaskId, approval: ApprovalId, choice: Choice) -> Result<(), String> {
        let packet = self.packet(task, approval)?;
        let who = self.kernel.store_state().principal(PrincipalType::User).map_err(|e| e.to_string())?;
        let now = self.kernel.ports().clock.now();
        let decision = governance::approval::answer(&packet, choice, Surface::Test, who, now, None)
            .map_err(|e| e.to_string())?;
        let envelope = governance::approval::sign(&decision, &self.person).map_err(|e| e.to_string())?;
        self.kernel.decide_approval(task, approval, &envelope).map(drop).map_err(|e| e.to_string())
    }

    /// What the person is shown, byte for byte.
    fn packet(&self, task: TaskId, approval: ApprovalId) -> Result<Vec<u8>, String> {
        let state = self.kernel.task(task).map_err(|e| e.to_string())?;
        let record = state.approvals.get(&approval).ok_or("nobody was asked that")?;
        self.kernel.artifacts().read(&record.approval.approval_packet_sha256).map_err(|e| e.to_string())
    }

    /// What a model is told of skins and skills in a task of the case, whose folder this is.
    fn equip(&self, handed: &Handed, at: usize, root: &Path) -> Result<(), String> {
        let store = self.kernel.store_state();
        let conversation = store.conversations.first().ok_or("a clone has no conversation")?.conversation_id;
        let worn = skins::worn(handed, at)?.map(|sha256| sha256.to_string());
        let chosen = self.kernel.choose_skin(conversation, worn.as_deref(), Channel::Cli);
        chosen.map_err(|e| e.to_string())?;
        let found = self.kernel.ports().executors.skills().ok_or("a clone finds no skills")?;
        for skill in skills::of_task(handed, at) {
            skills::lay_down(&skill, root)?;
            let read = found.book.read(Some(root), SkillPlace::ProjectHermit, &skill.name)?;
            if self.kernel.skill_registry().trusted(read.sha256).is_none() {
                let by = (Channel::Cli, self.key());
                self.allow_all(self.kernel.propose_skill(&skill.name, Some(read.sha256), Some(root), by))?;
            }
        }
        Ok(())
    }

    /// Plays one task to its end, or to where it leaves its recording; `at`: its place in the case.
    fn play(&self, handed: &Handed, at: usize, task: &RecordedTask) -> Result<Played, String> {
        let terms = handed.terms.get(at).cloned().unwrap_or_default();
        let model = self.model.as_ref().filter(|_| handed.asks(at));
        let root = self.dir.join("work").join(at.to_string());
        std::fs::create_dir(&root).map_err(|e| format!("`{}`: {e}", root.display()))?;
        if let Some(rules) = &terms.project_rules {
            let file = root.join(kernel::drive::PROJECT_RULES);
            let folder = file.parent().unwrap_or(&root);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&file, rules))
                .map_err(|e| format!("`{}`: {e}", file.display()))?;
        }
        self.equip(handed, at, &root)?;
        let playbook = changed_playbook::at_work(&self.playbooks, &terms);
        let world = Arc::new(RecordedWorld::of(task, model.is_some() || playbook.is_some())?);
        self.executors.put(root.clone(), Arc::clone(&world));
        let name = format!("task {at}");
        self.models.put(
            &name,
            match (model, playbook) {
                (Some(model), _) => Arc::new(PipedModel::new(at, model.clone(), &world)),
                (None, Some(playbook)) => changed_playbook::model_of(playbook, &world),
                (None, None) => model_of(task, &world)?,
            },
        );
        let workspace = self.kernel.workspace(&root).map_err(|e| e.to_string())?;
        let recorded = task.profile.parse::<Profile>().map_err(|e| e.to_string())?;
        let profile = self.profile.filter(|_| task.profile == self.standard).unwrap_or(recorded);
        let submission = Submission {
            profile,
            constraints: terms.constraints.clone(),
            ..Submission::of(
                task.goal.clone(),
                workspace,
                Reasoning::Scripted { name },
                Channel::Cli,
                self.key(),
            )
        };
        let own = self.kernel.submit(&submission).map_err(|e| e.to_string())?.task_id;
        let ended = self.drive(own, &world)?;
        skills::take_away(&root)?;
        played(&self.kernel, own, task.task_id, ended)
    }

    fn drive(&self, own: TaskId, world: &RecordedWorld) -> Result<String, String> {
        for _ in 0..QUESTIONS_MAX {
            match self.kernel.drive(own).map_err(|e| e.to_string())? {
                DriveOutcome::Waiting(Waiting::Approval(id)) => {
                    let packet: ApprovalPacket =
                        serde_json::from_slice(&self.packet(own, id)?).map_err(|e| e.to_string())?;
                    let action = action_digest(&packet.action_request.action).map_err(|e| e.to_string())?;
                    let choice = if world.would_allow(&action) { Choice::Once } else { Choice::Deny };
                    self.answer(own, id, choice)?;
                }
                DriveOutcome::Ended { status, .. } if world.diverged().is_none() => {
                    return Ok(status.to_string());
                }
                DriveOutcome::Ended { .. } | DriveOutcome::Waiting(_) => return Ok(DIVERGED.to_owned()),
                other => return Err(format!("the clone cannot go on: {other:?}")),
            }
        }
        Ok(DIVERGED.to_owned())
    }
}

/// The answers of a recorded task, in order. Where the task has left its recording, there is no answer that would fit.
fn model_of(task: &RecordedTask, world: &Arc<RecordedWorld>) -> Result<Arc<dyn Reasoner>, String> {
    let answers = task.answers.iter().map(|recorded| answer_of(&recorded.answer));
    let answers: Vec<Answer> = answers.collect::<Result<_, _>>().map_err(|e| format!("an answer: {e}"))?;
    let (world, mut given) = (Arc::clone(world), 0_usize);
    Ok(Arc::new(Scripted::with(move |_| {
        let over = |why: &str| reasoning::Error::Transcript { why: why.to_owned() };
        if world.diverged().is_some() {
            return Err(over("the task has left its recording"));
        }
        let answer = answers.get(given).cloned().ok_or_else(|| {
            world.diverge("the model is asked once more than it was");
            over("the recording has no more answers")
        })?;
        given = given.saturating_add(1);
        world.turn(u32::try_from(given).unwrap_or(u32::MAX));
        Ok(answer)
    })))
}

/// Models of a clone, by the names that it gave them.
#[derive(Default)]
struct RecordedModels(Mutex<BTreeMap<String, Arc<dyn Reasoner>>>);

impl RecordedModels {
    fn put(&self, name: &str, model: Arc<dyn Reasoner>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), model);
    }
}

impl ReasonerSource for RecordedModels {
    fn reasoner(&self, choice: &ModelChoice, _: Option<&[u8]>) -> Result<Arc<dyn Reasoner>, String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = match choice {
            ModelChoice::Scripted { name } => known.get(name).cloned(),
            _ => None,
        };
        named.ok_or_else(|| "a clone has no model but the recorded one".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::TaskTerms;
    use super::super::probes::ParentPlaces;
    use super::super::recording::coded;
    use super::super::skills::HandedSkill;
    use super::*;
    use ::successor::{Budget, Case, RecordedAnswer};
    use model::proposal::ToolCall;
    use model::skill::SKILL_FILE;
    use uuid::Uuid;
    use words::successor::Arm;

    /// Tasks that end with the first answer, each of which can use the skill `letters`.
    fn handed(tasks: u128) -> Handed {
        let arguments = serde_json::json!({ "summary": "done" });
        let done = Answer {
            calls: vec![ToolCall { name: "done".to_owned(), arguments }],
            finish_reason: "stop".to_owned(),
            ..Answer::default()
        };
        let answer = serde_json::to_value(&done).unwrap();
        let task = |number: u128| RecordedTask {
            task_id: TaskId::new(Uuid::from_u128(number)),
            goal: "say that it is done".to_owned(),
            profile: "local_edit_allowed".to_owned(),
            ended: "completed".to_owned(),
            answers: vec![RecordedAnswer { request_sha256: Digest::ZERO, answer: answer.clone(), tokens: 0 }],
            acts: Vec::new(),
        };
        let case = Case {
            trial_id: "trial".to_owned(),
            seed: 1,
            budget: Budget { wall_ms: 1, cpu_ms: 1, memory_bytes: 1, disk_bytes: 1, processes: 1, tokens: 1 },
            patch: None,
            rules: String::new(),
            profile: "local_edit_allowed".to_owned(),
            tools: Vec::new(),
            tasks: (1..=tasks).map(task).collect(),
        };
        let text = "---\nname: letters\ndescription: Writes letters.\n---\nDo it.\n";
        let files = [(SKILL_FILE, text.to_owned()), ("parts/more.md", "more\n".repeat(1_000))];
        let files = files.map(|(path, file)| (path.to_owned(), coded(file.as_bytes())));
        let sha256 = Digest::of(b"letters");
        let terms = TaskTerms { skills: vec![sha256], ..TaskTerms::default() };
        Handed {
            arm: Arm::Parent,
            words: Vec::new(),
            skills: vec![HandedSkill { name: "letters".to_owned(), sha256, files: BTreeMap::from(files) }],
            terms: vec![terms; case.tasks.len()],
            case,
            file_rules: None,
            model: None,
            places: ParentPlaces::default(),
        }
    }

    #[test]
    fn skills_of_a_task_take_room_while_it_is_played_and_no_longer() {
        let (home, handed) = (tempfile::TempDir::new().unwrap(), handed(3));
        let dir = tempfolder(home.path()).unwrap();
        let clone = CloneRun::open(&dir, &handed).unwrap();
        clone.prepare(&handed).unwrap();
        for (at, task) in handed.case.tasks.iter().enumerate() {
            let root = dir.join("work").join(at.to_string());
            let played = clone.play(&handed, at, task).unwrap();
            assert_eq!(played.turns, 1, "{played:?}");
            assert!(root.join(".hermit").is_dir(), "its skill lay there");
            assert!(!root.join(".hermit/skills").exists(), "its skill lies there still");
        }
        assert!(clone.kernel.skill_registry().names().contains("letters"), "it was trusted");
    }
}
