//! Free words come into a conversation: recorded, then bound to what they are about, or left open with those they
//! might be about (HK-8.1.2, HK-8.1.3).
//!
//! What a message is about, in this order: what it names or answers, what identifier stands in it, the task in focus,
//! the one open task there is. Where that leaves more than one, nobody guesses: it waits for a person, and waiting is
//! no error. A task that has ended is never reopened: words about it make a task that follows it. Words never allow
//! and never refuse an act; only an answer to the approval itself does.

use super::add_input::{Answers, Words};
use super::enclose::{Enclosed, Encloses, Enclosure};
use super::named::Named;
use super::ranking::{Ranking, ranked};
use super::submit::Submission;
use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::writeup::Writeup;
use model::approval::ApprovalStatus;
use model::body::{ConversationOpened, FocusChanged, IngressBound};
use model::fault::Point;
use model::ingress::{Channel, IngressRecord, IngressResolution, IngressStatus};
use model::principal::PrincipalType;
use model::task::{Origin, TaskStatus};
use model::{ApprovalId, ClarificationId, ConversationId, IngressId, Sensitive, TaskId, WorkspaceId, limits};
use projections::Query;
use projections::query::{Ask, TaskFilter};
use projections::rows::TaskRow;

/// A message as it came in.
#[derive(Debug, Clone)]
pub struct Saying<'s> {
    /// The conversation; the first one when none is named.
    pub conversation_id: Option<ConversationId>,
    /// The words.
    pub text: &'s str,
    /// Who sent it.
    pub sender: Sender,
    /// The task it names outright.
    pub task: Option<TaskId>,
    /// What it answers: a task, approval, question, receipt or message, by its identifier.
    pub reply_to: Option<&'s str>,
    /// What comes with it.
    pub encloses: Option<&'s Encloses>,
    /// The task that it begins a part of.
    pub part_of: Option<TaskId>,
    /// What it begins where nothing else can be meant: no task was begun in the conversation yet.
    pub begins: Option<&'s Submission>,
    /// The same key twice is the same message.
    pub idempotency_key: &'s str,
}

impl<'s> Saying<'s> {
    /// Words that name nothing, in the first conversation. `idempotency_key`: the same twice is the same message.
    pub fn of(text: &'s str, sender: impl Into<Sender>, idempotency_key: &'s str) -> Self {
        let (conversation_id, task, part_of, reply_to) = (None, None, None, None);
        let (encloses, begins) = (None, None);
        Self {
            conversation_id,
            text,
            sender: sender.into(),
            task,
            reply_to,
            encloses,
            part_of,
            begins,
            idempotency_key,
        }
    }

    fn answers(&self, with: &Enclosed) -> Answers<'s> {
        Answers { prompt: None, reply_to: self.reply_to, quotes: with.message() }
    }
}

/// What a message turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Its record.
    pub ingress_id: IngressId,
    /// What it is.
    pub resolution: IngressResolution,
    /// The task it is about, or made.
    pub task_id: Option<TaskId>,
    /// What it might be about.
    pub candidates: Vec<TaskId>,
    /// Why.
    pub rationale: String,
}

/// What the words are about, as far as anybody can tell.
enum Meant {
    One(TaskId, String),
    Answer(TaskId, ClarificationId, String),
    Several(Ranking, String),
    Begins(Box<Submission>),
    Part(TaskId),
}

impl Kernel {
    /// Opens a conversation, in a folder or in none.
    ///
    /// # Errors
    /// [`Error::Input`] for a title that is none, and what the store says.
    pub fn open_conversation(
        &self,
        title: &str,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<ConversationId, Error> {
        let title: String = title.trim().lines().next().unwrap_or_default().chars().take(120).collect();
        if title.is_empty() {
            return Err(Error::Input("a conversation needs a title".to_owned()));
        }
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let conversation_id = ConversationId::fresh(clock, entropy);
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::IngressBind, actor, conversation_id.to_string(), None)?;
        let inbox_task_id = TaskId::fresh(clock, entropy);
        let title = Sensitive::from(title);
        w.push(ConversationOpened { conversation_id, inbox_task_id, title, workspace_id });
        self.commit(w)?;
        Ok(conversation_id)
    }

    /// A person turns to a task, or to none. Nothing else moves the focus but what a person says (HK-13.6).
    ///
    /// # Errors
    /// [`Error::Conflict`] for a task that has ended or belongs to another conversation.
    pub fn turn_to(&self, conversation: ConversationId, task: Option<TaskId>) -> Result<(), Error> {
        let (conversation_id, inbox) = self.inbox(Some(conversation))?;
        if let Some(task) = task {
            let cell = self.cell(task)?;
            let state = self.lock_task(&cell)?;
            if state.task.conversation_id != conversation_id {
                return Err(Error::Conflict("the task belongs to another conversation".to_owned()));
            }
            if state.task.status.is_terminal() {
                return Err(Error::Conflict(format!("the task is {}", state.task.status)));
            }
            self.hears_words(&state)?;
        }
        let sender = Sender::from(Channel::App);
        let mut w = self.inbox_writeup(Point::IngressBind, inbox, conversation_id.to_string(), sender)?;
        let reason = "a person turned to it".to_owned();
        w.push(FocusChanged { conversation_id, focus_task_id: task, reason });
        self.commit(w)?;
        Ok(())
    }

    /// Takes free words in and binds them, or leaves them open.
    ///
    /// # Errors
    /// [`Error::Input`] for none or too much; [`Error::NotFound`] for what they name and is not there. Nothing is
    /// recorded then.
    pub fn say(&self, saying: &Saying<'_>) -> Result<Bound, Error> {
        let (conversation_id, _) = self.inbox(saying.conversation_id)?;
        let nothing = Encloses::default();
        let encloses = saying.encloses.unwrap_or(&nothing);
        let Saying { text, sender, idempotency_key: key, .. } = *saying;
        super::add_input::noted(text, sender, key)?;
        if let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? {
            let record = self.received(&first, key)?;
            self.same_enclosed(key, &record, encloses)?;
            self.begun_before(&record, saying)?;
            return self.heard_before(&record, key, text);
        }
        let with = self.enclosed(encloses)?;
        let named = self.meant_by_name(saying, &with)?;
        let names = named.is_some();
        match named.map_or_else(|| self.meant(saying, conversation_id), Ok)? {
            Meant::Answer(task, question, why) if sender.origin() == Origin::Person => {
                let words = super::add_input::noted(text, sender, key)?;
                let (answers, with) = (saying.answers(&with), Some(&with));
                self.answer_as(task, question, Words { why: &why, answers, with, names, ..words })?;
                self.bound_by_key(key, IngressResolution::AppendNote, Some(task), why)
            }
            Meant::One(task, why) | Meant::Answer(task, _, why) if !self.has_ended(task)? => {
                let resolution = self.resolution_of(saying, task)?;
                let (answers, with) = (saying.answers(&with), Some(&with));
                let words = Words { text, sender, key, resolution, why: &why, answers, with, names };
                self.said(task, words, |tx, as_recorded| {
                    tx.push(words.added(task, as_recorded));
                    Ok(())
                })?;
                self.bound_by_key(key, resolution, Some(task), why)
            }
            Meant::One(task, why) | Meant::Answer(task, _, why) => {
                self.fits_behind(task, with.len())?;
                // Until the task is made it is open, with this one candidate: a crash in between leaves it to a person.
                let open = (Ranking::unranked(vec![task]), why.clone());
                let named = Some(task).filter(|_| names);
                let ingress_id = self.take_down(saying, &with, conversation_id, named, open)?;
                let why = format!("{why}; it has ended, so a task follows it");
                self.follow(task, ingress_id, text, sender, &why, Vec::new())
            }
            Meant::Part(parent) => {
                let why = "it was said to be a part of the task";
                self.fits_behind(parent, 0)?;
                let open = (Ranking::unranked(vec![parent]), why.to_owned());
                let ingress_id = self.take_down(saying, &with, conversation_id, None, open)?;
                let mut work = self.work_like(parent, text, sender, ingress_id)?;
                work.parent_task_id = Some(parent);
                self.make(&work, ingress_id, (why, None), vec![parent])
            }
            Meant::Begins(work) => {
                let (goal, idempotency_key) = (text.to_owned(), key.to_owned());
                let conversation_id = Some(conversation_id);
                let encloses = encloses.clone();
                let goal = Submission { goal, idempotency_key, conversation_id, encloses, ..*work };
                let made = self.submit(&goal)?;
                let why = "the first words of a conversation begin its work".to_owned();
                self.bound_by_key(key, IngressResolution::StartNewRoot, Some(made.task_id), why)
            }
            Meant::Several(ranking, why) => {
                let candidates = ranking.tasks.clone();
                let open = (ranking, why.clone());
                let ingress_id = self.take_down(saying, &with, conversation_id, None, open)?;
                let resolution = IngressResolution::PendingDisambiguation;
                Ok(Bound { ingress_id, resolution, task_id: None, candidates, rationale: why })
            }
        }
    }

    /// As what words to a task at work are bound: as an answer to an approval where they reply to a card that waits (HK-8.1.3-1).
    /// They allow nothing, whatever they say: a yes is signed. The task hears them, and the card is asked anew.
    fn resolution_of(&self, saying: &Saying<'_>, task: TaskId) -> Result<IngressResolution, Error> {
        let Some(approval) = saying.reply_to.and_then(|id| id.parse::<ApprovalId>().ok()) else {
            return Ok(IngressResolution::AppendNote);
        };
        let cell = self.cell(task)?;
        let state = self.lock_task(&cell)?;
        let waits =
            state.approvals.get(&approval).is_some_and(|one| one.approval.status == ApprovalStatus::Pending);
        Ok(if waits { IngressResolution::Approval } else { IngressResolution::AppendNote })
    }

    /// What the words say themselves that they are about, by the first two of the order of HK-8.1.3.
    fn meant_by_name(&self, saying: &Saying<'_>, with: &Enclosed) -> Result<Option<Meant>, Error> {
        let query = self.query()?;
        if let Some(parent) = saying.part_of {
            self.cell(parent)?;
            return Ok(Some(Meant::Part(parent)));
        }
        if let Some(task) = saying.task {
            self.cell(task)?;
            return self.one(&query, task, "the task was named outright".to_owned()).map(Some);
        }
        if let Some(reply) = saying.reply_to {
            let named = self.named(&query, reply)?;
            let named =
                named.ok_or_else(|| Error::NotFound { kind: "thing answered", id: reply.to_owned() })?;
            return self.of_named(&query, named, format!("it answers `{reply}`")).map(Some);
        }
        // A quotation leads to its task, where it has one (HK-8.1.3-2, the second of the order).
        if let Some(task) = with.task() {
            let why = "it quotes what was said or done in the task".to_owned();
            return self.one(&query, task, why).map(Some);
        }
        for word in saying.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            if let Some(named) = self.named(&query, word)? {
                return self.of_named(&query, named, format!("`{word}` stands in it")).map(Some);
            }
        }
        Ok(None)
    }

    /// What words are about that do not say it themselves, by the rest of the order of HK-8.1.3.
    fn meant(&self, saying: &Saying<'_>, conversation: ConversationId) -> Result<Meant, Error> {
        let query = self.query()?;
        let row = query.conversation(conversation).map_err(broken)?;
        if let Some(focus) = row.as_ref().and_then(|row| row.focus_task_id)
            && !self.has_ended(focus)?
            && self.heeds(focus)?
        {
            return self.one(&query, focus, "the task is in focus".to_owned());
        }
        let open = self.open_in(&query, conversation)?;
        let last = match row.and_then(|row| row.last_focus) {
            Some(last) if self.heeds(last)? => Some(last),
            _ => None,
        };
        match (open.as_slice(), last) {
            ([one], _) => self.one(&query, one.task_id, "no other task is open here".to_owned()),
            ([], Some(last)) => {
                let why = "no task is open here; it may follow the last one, or be something new";
                Ok(Meant::Several(Ranking::unranked(vec![last]), why.to_owned()))
            }
            ([], None)
                if let Some(work) = saying.begins.filter(|_| saying.sender.origin() == Origin::Person) =>
            {
                Ok(Meant::Begins(Box::new(work.clone())))
            }
            ([], None) => Ok(Meant::Several(Ranking::default(), "there is no task here yet".to_owned())),
            (several, _) => {
                let ranking = ranked(saying.text, several, limits::CANDIDATES_MAX);
                let mut why = format!("{} tasks are open and none is in focus", several.len());
                if ranking.margin > 0 {
                    why.push_str("; the words fit the first of them best");
                }
                Ok(Meant::Several(ranking, why))
            }
        }
    }

    /// A task that waits for one answer gets it.
    fn one(&self, query: &Query, task: TaskId, why: String) -> Result<Meant, Error> {
        let pending = Some(model::ingress::ClarificationStatus::Pending);
        let open = query.questions(Some(task), pending, Ask::ALL).map_err(broken)?.rows;
        Ok(match open.as_slice() {
            [question] => {
                Meant::Answer(task, question.clarification_id, format!("{why}, and waits for this answer"))
            }
            _ => Meant::One(task, why),
        })
    }

    fn of_named(&self, query: &Query, named: Named, why: String) -> Result<Meant, Error> {
        match named {
            Named::Task(task) => self.one(query, task, why),
            Named::Question(task, question) => Ok(Meant::Answer(task, question, why)),
            Named::Approval(task) => {
                Ok(Meant::One(task, format!("{why}; words neither allow nor refuse, so its task hears them")))
            }
        }
    }

    /// Root tasks of a conversation that have not ended, those worked on last first.
    pub(super) fn open_in(&self, query: &Query, conversation: ConversationId) -> Result<Vec<TaskRow>, Error> {
        let statuses = TaskStatus::ALL.iter().copied().filter(|status| !status.is_terminal()).collect();
        let filter = TaskFilter { statuses, conversation: Some(conversation), ..TaskFilter::default() };
        let mut rows = query.tasks(&filter, Ask::ALL).map_err(broken)?.rows;
        rows.retain(|row| row.parent_task_id.is_none());
        let mut heed = Vec::new();
        for row in rows {
            if self.heeds(row.task_id)? {
                heed.push(row);
            }
        }
        heed.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
        Ok(heed)
    }

    pub(super) fn has_ended(&self, task: TaskId) -> Result<bool, Error> {
        let cell = self.cell(task)?;
        let state = self.lock_task(&cell)?;
        Ok(state.task.status.is_terminal())
    }

    /// The record of a message that is not input of a task yet.
    fn take_down(
        &self,
        saying: &Saying<'_>,
        with: &Enclosed,
        conversation_id: ConversationId,
        named: Option<TaskId>,
        (Ranking { tasks, confidence, margin }, why): (Ranking, String),
    ) -> Result<IngressId, Error> {
        let (_, inbox) = self.inbox(Some(conversation_id))?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w =
            self.inbox_writeup(Point::IngressReceive, inbox, ingress_id.to_string(), saying.sender)?;
        let kept = self.keep_enclosed(&mut w, with)?;
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: saying.sender.channel,
            raw_text: Sensitive::from(saying.text.to_owned()),
            normalized_text: Sensitive::from(saying.text.trim().to_owned()),
            status: IngressStatus::Received,
            resolution: IngressResolution::PendingDisambiguation,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: named,
            referenced_artifact_refs: kept.iter().map(Enclosure::artifact_id).collect(),
            chosen_task_id: None,
            prompt_ref: None,
            reply_to_ref: saying.reply_to.map(str::to_owned),
            quoted_message_ref: with.message(),
            parent_task_id: saying.part_of,
            rationale: None,
            spoken: with.spoken,
            idempotency_key: saying.idempotency_key.to_owned(),
        };
        w.receive(record, saying.sender);
        w.push(IngressBound {
            ingress_id,
            resolution: IngressResolution::PendingDisambiguation,
            chosen_task_id: None,
            candidates: tasks,
            rationale: Sensitive::from(why),
            confidence: Some(confidence),
            margin: Some(margin),
            anchor: None,
        });
        self.commit(w)?;
        Ok(ingress_id)
    }

    /// A goal that was heard before is bound now, where a crash came between; said to a task it is another request.
    fn begun_before(&self, record: &IngressRecord, saying: &Saying<'_>) -> Result<(), Error> {
        let Some(submission) = self.stored_submission(record)? else { return Ok(()) };
        if saying.task.is_some() || saying.part_of.is_some() {
            return Err(super::add_input::used_before(saying.idempotency_key));
        }
        let row = self.query()?.message(record.ingress_id).map_err(broken)?;
        if row.is_some_and(|row| row.chosen_task_id.is_some()) {
            return Ok(());
        }
        self.submit(&submission).map(drop)
    }

    /// What a message came to that was heard before.
    pub(super) fn heard_before(&self, record: &IngressRecord, key: &str, text: &str) -> Result<Bound, Error> {
        self.same_words(key, &record.raw_text, text)?;
        let ingress_id = record.ingress_id;
        let row = self.query()?.message(ingress_id).map_err(broken)?;
        let row = row.ok_or_else(|| Error::NotFound { kind: "message", id: ingress_id.to_string() })?;
        Ok(Bound {
            ingress_id,
            resolution: row.resolution,
            task_id: row.chosen_task_id,
            candidates: row.candidates,
            rationale: row.rationale.and_then(|why| why.shown().cloned()).unwrap_or_default(),
        })
    }

    fn bound_by_key(
        &self,
        key: &str,
        resolution: IngressResolution,
        task_id: Option<TaskId>,
        rationale: String,
    ) -> Result<Bound, Error> {
        let stored = self.reader.by_idempotency_key(&format!("ingress:{key}"))?;
        let stored = stored.ok_or_else(|| Error::Broken("a message just heard is missing".to_owned()))?;
        let ingress_id = self.received(&stored, key)?.ingress_id;
        Ok(Bound { ingress_id, resolution, task_id, candidates: Vec::new(), rationale })
    }
}

/// Bound once: the key is taken then.
pub(super) fn bound(
    w: &mut Writeup<'_>,
    ingress_id: IngressId,
    resolution: IngressResolution,
    chosen_task_id: Option<TaskId>,
    candidates: Vec<TaskId>,
    why: &str,
) {
    let rationale = Sensitive::from(why.to_owned());
    let body = IngressBound {
        ingress_id,
        resolution,
        chosen_task_id,
        candidates,
        rationale,
        confidence: None,
        margin: None,
        anchor: None,
    };
    w.push_keyed(Some(format!("bind:{ingress_id}")), body);
}

pub(super) fn once(error: Error) -> Error {
    match error {
        Error::Ledger(ledger::Error::Duplicate { .. }) => {
            Error::Conflict("the message is bound already".to_owned())
        }
        other => other,
    }
}

pub(super) fn broken(error: projections::Error) -> Error {
    Error::Broken(error.to_string())
}
