//! More input for a task: recorded, and in the same commit a delta that is absorbed at a durable boundary
//! (HK-8.3-10). One commit, so that no crash can leave words on record that their task never hears.
//!
//! Steered words are heard at the next turn, and what waits for a yes is asked anew. Queued words wait until the run
//! would else be done. Words that stop end what the run is at and begin a new attempt, which hears them first.

use super::enclose::{self, Enclosed, Encloses, Enclosure};
use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::Writeup;
use ledger::Stored;
use model::body::{DuplicateRefused, IngressBound, TaskGoalChanged, TaskInputAdded, TaskInputQueued};
use model::fault::Point;
use model::ingress::{IngressRecord, IngressResolution, IngressStatus};
use model::principal::PrincipalType;
use model::{ArtifactId, Body, ClarificationId, EventId, IngressId, Sensitive, TaskId, limits};
use std::sync::atomic::Ordering;

/// Letters of a title that is how a goal begins.
const TITLE_CHARS_MAX: usize = 120;

/// How a text begins: what a task is called that nobody gave a title.
pub(super) fn headline(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(TITLE_CHARS_MAX).collect()
}

/// What a task is called once its goal is this; none where it keeps its title, because somebody gave it or it is the same.
fn retitled(state: &TaskState, goal: &str) -> Option<Sensitive<String>> {
    let (old, new) = (headline(&state.goal_text()), headline(goal));
    let is_how_it_begins = state.task.title.shown() == Some(&old);
    (is_how_it_begins && new != old).then(|| Sensitive::from(new))
}

/// Words for a task, as they came in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'w> {
    pub(crate) text: &'w str,
    pub(crate) sender: Sender,
    pub(crate) key: &'w str,
    pub(crate) resolution: IngressResolution,
    pub(crate) why: &'w str,
    pub(crate) answers: Answers<'w>,
    /// What comes with them.
    pub(crate) with: Option<&'w Enclosed>,
    /// Whether they name their task, answer it, quote it, or were said to it: not so where focus alone binds them.
    pub(crate) names: bool,
}

/// Words as a person or a program sends them to a task.
#[derive(Debug, Clone, Copy)]
pub struct Note<'n> {
    /// The words.
    pub text: &'n str,
    /// Who sent them.
    pub sender: Sender,
    /// What comes with them.
    pub encloses: Option<&'n Encloses>,
    /// The same key twice is the same message.
    pub idempotency_key: &'n str,
}

impl<'n> Note<'n> {
    /// Words that nothing comes with. `idempotency_key`: the same twice is the same message.
    pub fn of(text: &'n str, sender: impl Into<Sender>, idempotency_key: &'n str) -> Self {
        Self { text, sender: sender.into(), encloses: None, idempotency_key }
    }
}

/// Words that are on record, and what a task was given with them.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) ingress_id: IngressId,
    pub(crate) given: Vec<ArtifactId>,
}

/// What words refer to, as far as their sender or the kernel knows (HK-8.1.2-3).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answers<'w> {
    /// The question of a task that they answer.
    pub(crate) prompt: Option<ClarificationId>,
    /// What their sender says that they answer.
    pub(crate) reply_to: Option<&'w str>,
    /// The earlier message that they quote.
    pub(crate) quotes: Option<IngressId>,
}

impl Words<'_> {
    /// The event by which a task has them as its input.
    pub(crate) fn added(&self, about_task_id: TaskId, as_recorded: &Recorded) -> TaskInputAdded {
        let (text, trust_tier) = (Sensitive::from(self.text.to_owned()), Some(self.sender.tier()));
        let Recorded { ingress_id, given } = as_recorded;
        let encloses = Some(given.clone()).filter(|given| !given.is_empty());
        TaskInputAdded { about_task_id, ingress_id: *ingress_id, text, trust_tier, encloses }
    }
}

const NAMED: &str = "the task was named outright";

impl Kernel {
    /// Records words for a task and adds them as input not yet absorbed: it is steered at its next turn.
    ///
    /// # Errors
    /// As [`Kernel::steer`].
    pub fn append_note(
        &self,
        task_id: TaskId,
        text: &str,
        sender: impl Into<Sender>,
        idempotency_key: &str,
    ) -> Result<IngressId, Error> {
        self.steer(task_id, &Note::of(text, sender, idempotency_key))
    }

    /// Records words for a task, with what comes with them, and adds them as input not yet absorbed: it is steered at its next
    /// turn.
    ///
    /// # Errors
    /// [`Error::Conflict`] for an ended task: it is never reopened by a message; [`Error::Input`] for none or too much.
    pub fn steer(&self, task_id: TaskId, note: &Note<'_>) -> Result<IngressId, Error> {
        self.noted_with(task_id, note, |words, tx, as_recorded| {
            tx.push(words.added(task_id, as_recorded));
            Ok(())
        })
    }

    /// Records words that the task takes up when it would else be done, behind those that were queued before.
    ///
    /// # Errors
    /// As [`Kernel::steer`].
    pub fn queue(&self, task_id: TaskId, note: &Note<'_>) -> Result<IngressId, Error> {
        self.noted_with(task_id, note, |words, tx, as_recorded| {
            let TaskInputAdded { about_task_id, ingress_id, text, trust_tier, encloses } =
                words.added(task_id, as_recorded);
            tx.push(TaskInputQueued { about_task_id, ingress_id, text, trust_tier, encloses });
            Ok(())
        })
    }

    /// Ends what the task is at and lets it begin anew with these words: one commit, so that no crash can leave the
    /// one without the other.
    ///
    /// # Errors
    /// As [`Kernel::steer`]; [`Error::Conflict`] when an effect of it is not settled; [`Error::Refused`] for words
    /// that are not a person's.
    pub fn stop_and_send(&self, task_id: TaskId, note: &Note<'_>) -> Result<IngressId, Error> {
        note.sender.speaks_for_the_person("stop what a task is at")?;
        let ingress_id = self.noted_with(task_id, note, |words, tx, as_recorded| {
            tx.push(words.added(task_id, as_recorded));
            tx.at(Point::AttemptSupersede);
            self.supersede(tx, "stopped by a person")
        })?;
        self.cell(task_id)?.stop.store(true, Ordering::SeqCst);
        Ok(ingress_id)
    }

    /// A note that is looked at before anything is recorded, or that came before.
    fn noted_with(
        &self,
        task_id: TaskId,
        note: &Note<'_>,
        follows: impl FnOnce(&Words<'_>, &mut Tx<'_>, &Recorded) -> Result<(), Error>,
    ) -> Result<IngressId, Error> {
        let nothing = Encloses::default();
        let encloses = note.encloses.unwrap_or(&nothing);
        let words = noted(note.text, note.sender, note.idempotency_key)?;
        let first = self.reader.by_idempotency_key(&format!("ingress:{}", words.key))?;
        let with = match first {
            Some(first) => {
                self.same_enclosed(words.key, &self.received(&first, words.key)?, encloses)?;
                Enclosed::default()
            }
            None => self.enclosed(encloses)?,
        };
        let mut words = Words { with: Some(&with), ..words };
        words.answers.quotes = with.message();
        self.said(task_id, words, |tx, as_recorded| follows(&words, tx, as_recorded))
    }

    /// Edits the goal of a task. One that has not begun begins with the new one; of one at work the loop hears it at its
    /// next turn, what waits for a yes is asked anew, and whether to go on is the loop's to say. The goal it has already
    /// changes nothing. Every goal it had stays on record.
    ///
    /// # Errors
    /// As [`Kernel::append_note`]; [`Error::Refused`] for words that are not a person's.
    pub fn change_goal(&self, task_id: TaskId, goal: &str, sender: impl Into<Sender>) -> Result<bool, Error> {
        self.change_goal_heard(task_id, goal, sender, false)
    }

    /// The same, with the mark whether the goal was spoken and written down by a machine (RA-3-15).
    ///
    /// # Errors
    /// As [`Kernel::change_goal`].
    pub fn change_goal_heard(
        &self,
        task_id: TaskId,
        goal: &str,
        sender: impl Into<Sender>,
        spoken: bool,
    ) -> Result<bool, Error> {
        let (sender, with): (Sender, _) = (sender.into(), Enclosed::heard(spoken));
        sender.speaks_for_the_person("edit a goal")?;
        let (edits, same, has_begun) = {
            let cell = self.cell(task_id)?;
            let state = self.lock_task(&cell)?;
            (state.goal_edits, state.goal_text() == goal, state.current.is_some())
        };
        if same {
            return Ok(false);
        }
        let key = format!("goal:{task_id}:{edits}");
        let why = match has_begun {
            true => "the goal of a task at work was edited",
            false => "the goal of a task that has not begun was edited",
        };
        let (resolution, with) = (IngressResolution::Control, Some(&with));
        let words = Words { resolution, why, with, ..noted(goal, sender, &key)? };
        self.said(task_id, words, |tx, _| {
            if tx.goal_edits != edits {
                return Err(Error::Conflict("the goal was edited by somebody else just now".to_owned()));
            }
            let title = retitled(tx, goal);
            let about_task_id = task_id;
            tx.push(TaskGoalChanged { title, about_task_id, goal: Sensitive::from(goal.to_owned()) });
            self.plan_anew(tx, goal)
        })?;
        Ok(true)
    }

    /// Words that came in and what follows from them, in one commit.
    pub(crate) fn said(
        &self,
        task_id: TaskId,
        words: Words<'_>,
        follows: impl FnOnce(&mut Tx<'_>, &Recorded) -> Result<(), Error>,
    ) -> Result<IngressId, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        if let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{}", words.key))? {
            return self.said_before(words.key, words.text, first.event_id);
        }
        self.hears_words(&state)?;
        let (w, as_recorded) = self.words(&state, words)?;
        let mut tx = self.tx_from(&cell, state, w);
        follows(&mut tx, &as_recorded)?;
        self.clear_away(tx.commit()?);
        Ok(as_recorded.ingress_id)
    }

    /// Whether words reach a task: one that has ended hears none, nor does one whose only turn was its plan.
    pub(super) fn hears_words(&self, state: &TaskState) -> Result<(), Error> {
        let status = state.task.status;
        if status.is_terminal() {
            return Err(Error::Conflict(format!("the task is {status}; a follow-up is a task of its own")));
        }
        if self.plans_once(state)? {
            return Err(Error::Conflict(
                "this task does one thing that was asked for, and hears no words: answer its card, or cancel it"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The record of what came in first under a key, from its event.
    pub(super) fn received(&self, stored: &Stored, key: &str) -> Result<IngressRecord, Error> {
        match self.body_of(&stored.event()?)? {
            Body::IngressReceived(received) => Ok(received.record),
            _ => Err(Error::Conflict(format!("`{key}` was used for something else"))),
        }
    }

    /// As [`Kernel::received`], by the event's identifier.
    pub(super) fn received_at(&self, event: EventId, key: &str) -> Result<IngressRecord, Error> {
        let stored = self.reader.event(event)?;
        let stored = stored.ok_or_else(|| Error::Broken(format!("event `{event}` is missing")))?;
        self.received(&stored, key)
    }

    /// The first result stands, and that it came again is recorded (HK-13.3-2).
    fn said_before(
        &self,
        idempotency_key: &str,
        text: &str,
        original_event_id: EventId,
    ) -> Result<IngressId, Error> {
        let record = self.received_at(original_event_id, idempotency_key)?;
        self.same_words(idempotency_key, &record.raw_text, text)?;
        let ingress_id = record.ingress_id;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::IngressReceive, actor, ingress_id.to_string(), None)?;
        w.push(DuplicateRefused {
            idempotency_key: idempotency_key.to_owned(),
            original_event_id,
            what: "ingress".to_owned(),
        });
        self.commit(w)?;
        Ok(ingress_id)
    }

    /// A writeup that begins with the ingress record of words bound to a task, and goes on in that task.
    pub(crate) fn words(
        &self,
        state: &TaskState,
        words: Words<'_>,
    ) -> Result<(Writeup<'_>, Recorded), Error> {
        let nothing = Enclosed::default();
        let with = words.with.unwrap_or(&nothing);
        enclose::fits(state, with)?;
        let about = Some(state.task.task_id);
        let (conversation_id, inbox) = self.inbox(Some(state.task.conversation_id))?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w = self.inbox_writeup(Point::IngressBind, inbox, ingress_id.to_string(), words.sender)?;
        let kept = self.keep_enclosed(&mut w, with)?;
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: words.sender.channel,
            raw_text: Sensitive::from(words.text.to_owned()),
            normalized_text: Sensitive::from(words.text.trim().to_owned()),
            status: IngressStatus::Received,
            resolution: words.resolution,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: about.filter(|_| words.names),
            referenced_artifact_refs: kept.iter().map(Enclosure::artifact_id).collect(),
            chosen_task_id: about,
            prompt_ref: words.answers.prompt,
            reply_to_ref: words.answers.reply_to.map(str::to_owned),
            quoted_message_ref: words.answers.quotes,
            parent_task_id: None,
            rationale: None,
            spoken: with.spoken,
            idempotency_key: words.key.to_owned(),
        };
        w.receive(record, words.sender);
        w.push(IngressBound {
            ingress_id,
            resolution: words.resolution,
            chosen_task_id: about,
            candidates: Vec::new(),
            rationale: Sensitive::from(words.why.to_owned()),
            confidence: None,
            margin: None,
            anchor: None,
        });
        self.go_on_in(&mut w, state);
        let given = enclose::hand_over(&mut w, &kept);
        Ok((w, Recorded { ingress_id, given }))
    }

    /// A key names one request: with other words it is another request, and is refused.
    pub(crate) fn same_words(&self, key: &str, first: &Sensitive<String>, now: &str) -> Result<(), Error> {
        let redactor = self.ports.redactor.now();
        let same = |first: &str| {
            first == now || first == redactor.values(now).rest || first == redactor.text(now).rest
        };
        if first.shown().is_none_or(|first| same(first)) { Ok(()) } else { Err(used_before(key)) }
    }

    /// What follows in a writeup that began in an inbox belongs to a task.
    pub(crate) fn go_on_in(&self, w: &mut Writeup<'_>, state: &TaskState) {
        let in_task = self.writeup(Point::IngressBind, state, w.actor);
        w.scope = in_task.scope;
        w.batch.expect = in_task.batch.expect;
    }
}

/// The key of another request.
pub(crate) fn used_before(key: &str) -> Error {
    Error::Conflict(format!(
        "the idempotency key `{key}` was used for another request; give this one its own"
    ))
}

/// A note within its bounds, for a task that is named.
pub(crate) fn noted<'w>(text: &'w str, sender: impl Into<Sender>, key: &'w str) -> Result<Words<'w>, Error> {
    if text.trim().is_empty() || text.len() > limits::NOTE_BYTES_MAX {
        return Err(Error::Input(format!(
            "{} bytes were said and 1 to {} are taken; ingest what is longer as a file",
            text.len(),
            limits::NOTE_BYTES_MAX
        )));
    }
    let (sender, resolution, answers) = (sender.into(), IngressResolution::AppendNote, Answers::default());
    Ok(Words { text, sender, key, resolution, why: NAMED, answers, with: None, names: true })
}
