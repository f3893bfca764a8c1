//! A goal comes in: recorded first, then bound, then a task (HK-8.1-2, HK-8.1.2).

use super::add_input::used_before;
pub use super::enclose::Attachment;
use super::enclose::{Encloses, Enclosure, hand_over, room};
use super::firing::OWN_KEYS;
use super::plan::Part;
pub use super::reasoning::Reasoning;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Scope, Writeup};
use model::artifact::{ArtifactClass, ArtifactKind};
use model::body::{
    DuplicateRefused, FocusChanged, IngressBound, StepStatusChanged, TaskCreated, TaskStatusChanged,
};
use model::fault::Point;
use model::ingress::{Channel, ContinuationAnchor, IngressRecord, IngressResolution, IngressStatus};
use model::policy::Profile;
use model::principal::PrincipalType;
use model::schedule::ScheduledBy;
use model::task::{
    Budget, ModelChoice, Origin, ParallelismMode, Priority, StepStatus, Task, TaskContract, TaskStatus,
};
use model::{
    ArtifactId, Body, ConversationId, Event, IngressId, Sensitive, TaskId, UnixMs, WorkspaceId, limits,
};
use serde::{Deserialize, Serialize};

/// Everything a goal comes with. Stored word for word before anything follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The goal.
    pub goal: String,
    /// One line for lists; the goal's beginning when empty.
    pub title: String,
    /// The folder it works in.
    pub workspace_id: WorkspaceId,
    /// The policy profile.
    pub profile: Profile,
    /// Who proposes.
    pub reasoning: Reasoning,
    /// What it may spend.
    pub budget: Budget,
    /// How urgent.
    pub priority: Priority,
    /// What must not happen.
    pub constraints: Vec<String>,
    /// What must hold at the end, as [`model::criterion::Criterion`] reads it (HK-8.2-5).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<String>,
    /// When it expires.
    pub deadline_at: Option<UnixMs>,
    /// The surface it came through.
    pub channel: Channel,
    /// Who handed it in, when its channel does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Origin>,
    /// The conversation; the first one when none is named.
    pub conversation_id: Option<ConversationId>,
    /// The task it derives from, for decomposition only.
    pub parent_task_id: Option<TaskId>,
    /// What a follow-up to an ended task carries.
    pub continuation_anchor: Option<ContinuationAnchor>,
    /// Files and quotations that it takes over from another task.
    pub attachments: Vec<Attachment>,
    /// What comes with it.
    #[serde(default, skip_serializing_if = "Encloses::is_empty")]
    pub encloses: Encloses,
    /// The goal in parts; empty is one step with the whole goal (HK-9-1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Part>,
    /// Whether a person is asked when it has used what it may, instead of ending there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_at_limit: bool,
    /// Who proposes when the one before does not answer, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Reasoning>,
    /// Whether a model on another machine may follow one on this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback_remote: bool,
    /// The schedule that began it, and for which of its slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_by: Option<ScheduledBy>,
    /// Tasks whose end it waited for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// The same key twice is the same task.
    pub idempotency_key: String,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The task.
    pub task_id: TaskId,
    /// The record of what came in.
    pub ingress_id: IngressId,
    /// Whether it had come in before, and this is the first result.
    pub duplicate: bool,
}

impl Submission {
    /// A goal of one part that nothing more is said of: ordinary budget and urgency, edits allowed by policy, in the
    /// first conversation. `idempotency_key`: the same twice is the same task.
    pub fn of(
        goal: String,
        workspace_id: WorkspaceId,
        reasoning: Reasoning,
        channel: Channel,
        idempotency_key: String,
    ) -> Self {
        Self {
            goal,
            title: String::new(),
            workspace_id,
            profile: Profile::LocalEditAllowed,
            reasoning,
            budget: Budget::default(),
            priority: Priority::Normal,
            constraints: Vec::new(),
            done_when: Vec::new(),
            deadline_at: None,
            channel,
            by: None,
            conversation_id: None,
            parent_task_id: None,
            continuation_anchor: None,
            attachments: Vec::new(),
            encloses: Encloses::default(),
            steps: Vec::new(),
            asks_at_limit: false,
            fallbacks: Vec::new(),
            fallback_remote: false,
            scheduled_by: None,
            depends_on: Vec::new(),
            idempotency_key,
        }
    }

    /// Who handed it in, and how.
    pub(crate) fn sender(&self) -> Sender {
        let known = Sender::from(self.channel);
        Sender { by: self.by.unwrap_or(known.by), ..known }
    }
}

pub(super) const OUTRIGHT: &str = "a goal given outright starts a task of its own";

impl Kernel {
    /// Takes a goal in and makes its task.
    ///
    /// # Errors
    /// [`Error::Input`] when it cannot be used; nothing is recorded then.
    pub fn submit(&self, submission: &Submission) -> Result<Submitted, Error> {
        super::chain::check(submission)?;
        check(submission)?;
        self.takes_goals(submission.conversation_id, (submission.channel, &submission.idempotency_key))?;
        self.fits(submission)?;
        let ingress_id = match self.receive(submission) {
            Ok(ingress_id) => ingress_id,
            Err(Error::Ledger(ledger::Error::Duplicate { event_id })) => {
                return self.same_again(submission, event_id);
            }
            Err(error) => return Err(error),
        };
        let task_id = self.bind(submission, ingress_id, (OUTRIGHT, None), Vec::new())?;
        Ok(Submitted { task_id, ingress_id, duplicate: false })
    }

    /// A goal that its model could never be told whole is refused before anything is recorded.
    fn fits(&self, submission: &Submission) -> Result<(), Error> {
        let Reasoning::Openai { api, base_url, model, secret } = &submission.reasoning else { return Ok(()) };
        if submission.goal.len() <= limits::NOTE_BYTES_MAX / 16 {
            return Ok(());
        }
        let (base_url, model, secret) = (base_url.clone(), model.clone(), secret.clone());
        let choice = ModelChoice::Openai { api: *api, base_url, model, secret };
        // Whoever cannot be made now says so when it is asked.
        let Ok(reasoner) = self.ports.reasoners.reasoner(&choice, None) else { return Ok(()) };
        let takes = reasoner.descriptor().takes();
        // The goal stands in a pack as goal and as the step's objective.
        let needs = knowledge::count_tokens(&submission.goal).saturating_mul(2);
        if needs <= takes {
            return Ok(());
        }
        Err(Error::Input(format!(
            "the goal has {} bytes, and the model takes {takes} tokens in all; put the text into a file, `hermit artifacts \
             ingest` it, and say in the goal what to do with it",
            submission.goal.len()
        )))
    }

    /// The conversation's inbox stream, where what precedes a task is recorded (reconciliation C37).
    pub(crate) fn inbox(&self, named: Option<ConversationId>) -> Result<(ConversationId, TaskId), Error> {
        let store = lock(&self.store);
        let found = match named {
            Some(id) => store.conversations.iter().find(|c| c.conversation_id == id),
            None => store.conversations.first(),
        };
        let found = found.ok_or_else(|| Error::NotFound {
            kind: "conversation",
            id: named.map_or_else(|| "first".to_owned(), |id| id.to_string()),
        })?;
        Ok((found.conversation_id, found.inbox_task_id))
    }

    /// A writeup in an inbox stream.
    pub(crate) fn inbox_writeup(
        &self,
        point: Point,
        inbox: TaskId,
        correlation: String,
        sender: Sender,
    ) -> Result<Writeup<'_>, Error> {
        let heard = if sender.channel == Channel::Chat { self.heard_in(inbox) } else { None };
        let actor = heard.map_or_else(|| self.principal_of(sender), Ok)?;
        let scope = Scope { task_id: inbox, step_id: None, attempt_id: None, workspace_id: None };
        Ok(Writeup::new(self.sources(), point, scope, actor, correlation, None))
    }

    /// Recorded before it changes anything (HK-27-15).
    fn receive(&self, submission: &Submission) -> Result<IngressId, Error> {
        let (conversation_id, inbox) = self.inbox(submission.conversation_id)?;
        let with = self.enclosed(&submission.encloses)?;
        room(submission.attachments.len(), with.len())?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let sender = submission.sender();
        let mut w = self.inbox_writeup(Point::IngressReceive, inbox, ingress_id.to_string(), sender)?;
        let stored = serde_json::to_vec(submission).map_err(|e| Error::Input(e.to_string()))?;
        let mut new = NewArtifact::audit(ArtifactKind::Message).class(ArtifactClass::Source);
        new.trust_tier = sender.tier();
        let message = w.artifact(&stored, new)?;
        let kept = self.keep_enclosed(&mut w, &with)?;
        let kept = kept.iter().map(Enclosure::artifact_id);
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: submission.channel,
            raw_text: Sensitive::from(submission.goal.clone()),
            normalized_text: Sensitive::from(normalized(&submission.goal)),
            status: IngressStatus::Received,
            resolution: IngressResolution::PendingDisambiguation,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: None,
            referenced_artifact_refs: std::iter::once(message.artifact_id).chain(kept).collect(),
            chosen_task_id: None,
            prompt_ref: None,
            reply_to_ref: None,
            quoted_message_ref: with.message(),
            parent_task_id: submission.parent_task_id,
            rationale: None,
            spoken: with.spoken,
            idempotency_key: submission.idempotency_key.clone(),
        };
        w.receive(record, sender);
        self.commit(w)?;
        Ok(ingress_id)
    }

    /// A key names one request. What was erased since is compared with nothing.
    fn same_request(&self, now: &Submission, record: &IngressRecord) -> Result<(), Error> {
        self.same_words(&now.idempotency_key, &record.raw_text, &now.goal)?;
        // Words that were said to a task, or commands, are no goal.
        if self.goal_of(record)?.is_none() {
            return Err(used_before(&now.idempotency_key));
        }
        self.same_enclosed(&now.idempotency_key, record, &now.encloses)?;
        let Some(first) = self.stored_submission(record)? else { return Ok(()) };
        let same = |now: &Submission| {
            first.workspace_id == now.workspace_id
                && first.profile == now.profile
                && first.conversation_id == now.conversation_id
                && first.attachments == now.attachments
                && first.reasoning == now.reasoning
        };
        // It was kept without the values of secrets.
        let bytes = serde_json::to_vec(now).map_err(|e| Error::Input(e.to_string()))?;
        let kept = serde_json::from_slice(&self.ports.redactor.now().bytes(&bytes).rest);
        if same(now) || kept.is_ok_and(|kept| same(&kept)) {
            Ok(())
        } else {
            Err(used_before(&now.idempotency_key))
        }
    }

    /// The first result stands, and that somebody asked again is recorded (HK-13.3-2).
    fn same_again(&self, submission: &Submission, original: model::EventId) -> Result<Submitted, Error> {
        let record = self.received_at(original, &submission.idempotency_key)?;
        self.same_request(submission, &record)?;
        let ingress_id = record.ingress_id;
        let task_id = match self.bound_task(ingress_id)? {
            Some(task_id) => task_id,
            None => self.bind(submission, ingress_id, (OUTRIGHT, None), Vec::new())?,
        };
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::IngressReceive, actor, ingress_id.to_string(), None)?;
        w.push(DuplicateRefused {
            idempotency_key: submission.idempotency_key.clone(),
            original_event_id: original,
            what: "ingress".to_owned(),
        });
        self.commit(w)?;
        Ok(Submitted { task_id, ingress_id, duplicate: true })
    }

    /// The task an ingress record was bound to.
    pub(super) fn bound_task(&self, ingress_id: IngressId) -> Result<Option<TaskId>, Error> {
        let key = format!("bind:{ingress_id}");
        let Some(stored) = self.reader.by_idempotency_key(&key)? else { return Ok(None) };
        match self.body_of(&Event::from_bytes(&stored.bytes)?)? {
            Body::IngressBound(bound) => Ok(bound.chosen_task_id),
            _ => Ok(None),
        }
    }

    /// Binds what came in, and makes the task in the same commit, under a key of its own where one is given.
    pub(crate) fn bind(
        &self,
        submission: &Submission,
        ingress_id: IngressId,
        (why, begun): (&str, Option<String>),
        candidates: Vec<TaskId>,
    ) -> Result<TaskId, Error> {
        let (conversation_id, inbox) = self.inbox(submission.conversation_id)?;
        let task_id = TaskId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let sender = submission.sender();
        let mut w = self.inbox_writeup(Point::IngressBind, inbox, ingress_id.to_string(), sender)?;
        let resolution = match submission.parent_task_id {
            Some(_) => IngressResolution::ForkChild,
            None => IngressResolution::StartNewRoot,
        };
        w.push_keyed(
            Some(format!("bind:{ingress_id}")),
            IngressBound {
                ingress_id,
                resolution,
                chosen_task_id: Some(task_id),
                candidates,
                rationale: Sensitive::from(why.to_owned()),
                confidence: None,
                margin: None,
                anchor: submission.continuation_anchor.clone(),
            },
        );
        // Only what a person began takes the focus, no task derived from another (HK-13.6), and none that hears no words.
        let hears = !matches!(submission.reasoning, Reasoning::Rollback { .. } | Reasoning::Tools { .. });
        if submission.parent_task_id.is_none() && sender.origin() == Origin::Person && hears {
            w.push(FocusChanged {
                conversation_id,
                focus_task_id: Some(task_id),
                reason: "new task".to_owned(),
            });
        }
        w.scope =
            Scope { task_id, step_id: None, attempt_id: None, workspace_id: Some(submission.workspace_id) };
        self.create(&mut w, submission, (ingress_id, begun), conversation_id)?;
        self.commit(w)?;
        Ok(task_id)
    }

    fn create(
        &self,
        w: &mut Writeup<'_>,
        submission: &Submission,
        (ingress_id, begun): (IngressId, Option<String>),
        conversation_id: ConversationId,
    ) -> Result<(), Error> {
        let (task_id, sender) = (w.scope.task_id, submission.sender());
        let contract_ref = ArtifactId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let task = Task {
            task_id,
            title: Sensitive::from(title(submission)),
            goal: Sensitive::from(submission.goal.clone()),
            status: TaskStatus::Created,
            priority: submission.priority.min(most_urgent(submission)),
            owner_principal_id: w.actor.actor_id,
            policy_profile_ref: submission.profile,
            task_contract_ref: contract_ref,
            created_at: w.now,
            updated_at: w.now,
            parent_task_id: submission.parent_task_id,
            depends_on: submission.depends_on.clone(),
            labels: self.labels_of(submission, w.actor.actor_id),
            deadline_at: submission.deadline_at,
            workspace_hint: Some(submission.workspace_id),
            requested_by: self.asked_by(submission, w.actor.actor_id)?,
            source_channel: submission.channel,
            parallelism_mode: ParallelismMode::Serial,
            conversation_id,
            continuation_anchor: submission.continuation_anchor.clone(),
            origin: Some(sender.origin()).filter(|origin| *origin != Origin::Person),
            scheduled_by: submission.scheduled_by.clone(),
        };
        w.push_keyed(begun, TaskCreated { task, ingress_id });
        let model = self.model_choice(w, &submission.reasoning, sender.tier())?;
        let fallbacks = submission.fallbacks.iter();
        let fallbacks = fallbacks.map(|next| self.model_choice(w, next, sender.tier()));
        let fallbacks = fallbacks.collect::<Result<Vec<_>, Error>>()?;
        let contract = TaskContract {
            goal: submission.goal.clone(),
            model,
            budget: submission.budget,
            success_criteria: submission.done_when.clone(),
            constraints: submission.constraints.clone(),
            asks_at_limit: submission.asks_at_limit,
            fallbacks,
        };
        let bytes = seal::canon::to_canonical(&contract)?;
        let new = NewArtifact::audit(ArtifactKind::TaskContract).trust(sender.tier());
        w.artifact_named(contract_ref, &bytes, new)?;
        let given = self.attach(w, ingress_id, &submission.attachments)?;
        let ready = self.create_steps(w, submission, &given)?;
        w.scope.step_id = ready.first().copied();
        w.push(TaskStatusChanged {
            about_task_id: task_id,
            from: TaskStatus::Created,
            to: TaskStatus::Ready,
            reason: "accepted".to_owned(),
            note: None,
        });
        for about_step_id in ready {
            w.push(StepStatusChanged {
                about_step_id,
                from: StepStatus::Planned,
                to: StepStatus::Ready,
                reason: "no dependencies".to_owned(),
            });
        }
        Ok(())
    }

    /// Gives a new task what came with its goal, and what it takes over; returns what that is in the task.
    fn attach(
        &self,
        w: &mut Writeup<'_>,
        ingress_id: IngressId,
        attachments: &[Attachment],
    ) -> Result<Vec<ArtifactId>, Error> {
        let mut given = self.enclosed_in(ingress_id)?;
        let mut without_record = Vec::new();
        for attachment in attachments {
            match attachment.of.map(|id| self.enclosure(id)).transpose()?.flatten() {
                Some(known) => given.push(known),
                None => {
                    let mut new =
                        NewArtifact::audit(ArtifactKind::BinaryAttachment).class(ArtifactClass::Source);
                    new.trust_tier = attachment.trust_tier;
                    new.media_type = "application/octet-stream";
                    new.alias = Some(attachment.name.clone());
                    let made = w.artifact_of(attachment.sha256, attachment.byte_size, new);
                    without_record.push(made.artifact_id);
                }
            }
        }
        let mut all = hand_over(w, &given);
        all.extend(without_record);
        Ok(all)
    }
}

pub(super) fn check(submission: &Submission) -> Result<(), Error> {
    let bytes = submission.goal.len();
    let own = [Channel::Scheduler, Channel::System, Channel::Chat, Channel::Mesh];
    if submission.idempotency_key.starts_with(OWN_KEYS) && !own.contains(&submission.channel) {
        return Err(Error::Input(format!(
            "keys that begin with `{OWN_KEYS}` are Hermit's own: use another one"
        )));
    }
    if submission.goal.trim().is_empty() {
        return Err(Error::Input("the goal is empty; say what is to be done".to_owned()));
    }
    if bytes > limits::GOAL_BYTES_MAX {
        return Err(Error::Input(format!(
            "the goal has {bytes} bytes and at most {} are taken; put the text into a file, `hermit artifacts ingest` it, \
             and say in the goal what to do with it",
            limits::GOAL_BYTES_MAX
        )));
    }
    model::criterion::Criterion::check_all(&submission.done_when).map_err(Error::Input)?;
    super::plan::check(&submission.steps)
}

fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// Before everything else is what a person put there, and its parts.
fn most_urgent(submission: &Submission) -> Priority {
    let by_a_person = submission.sender().origin() == Origin::Person;
    if by_a_person || submission.parent_task_id.is_some() { Priority::High } else { Priority::Normal }
}

pub(super) fn title(submission: &Submission) -> String {
    let text = if submission.title.trim().is_empty() { &submission.goal } else { &submission.title };
    super::add_input::headline(text)
}
