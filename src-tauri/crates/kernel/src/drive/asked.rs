//! Questions of servers of tools to the person, while a tool is at work. Each is a clarification of the task; what the
//! person says goes to the server and nowhere else. When the act is over, by whatever end, none of them is open.

use super::sampled::Asker;
use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::state::{TaskState, Turn};
use crate::tx::Tx;
use effects::{Asking, Standing};
use model::body::{ClarificationCancelled, ClarificationRequested};
use model::fault::Point;
use model::ingress::{Clarification, ClarificationStatus};
use model::principal::PrincipalType;
use model::{ActionRequestId, ClarificationId, Sensitive, limits};

impl Kernel {
    /// Opens a question of a server, looks how it stands, or takes it back.
    pub(super) fn asked_by_server(
        &self,
        cell: &Cell,
        by: (ActionRequestId, Option<&Asker>),
        asking: &Asking,
    ) {
        let stands = match asking.standing() {
            Standing::New => self.open_question(cell, by, asking).map(Some),
            Standing::Waits(name) => self.answer_to(cell, &name),
            Standing::GivenUp(name) => self.take_back(cell, &name).map(|()| None),
            Standing::Answered(_) | Standing::Closed(_) => Ok(None),
        };
        match stands {
            Ok(Some(stands)) => asking.stands(stands),
            Ok(None) => {}
            Err(error) => asking.stands(Standing::Closed(error.to_string())),
        }
    }

    fn open_question(
        &self,
        cell: &Cell,
        (act, asker): (ActionRequestId, Option<&Asker>),
        asking: &Asking,
    ) -> Result<Standing, Error> {
        let mut tx = self.begin_tx(cell, Point::ClarificationAsk, PrincipalType::Executor)?;
        let redactor = self.ports.redactor.now();
        let clean = |text: &str| Sensitive::from(redactor.text(text).rest.into_owned());
        let clarification_id = ClarificationId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let attempt_id = self.attempt_id(&tx)?;
        // Several may ask at the same time: each question says who does.
        let who = asker.map(|asker| (acts::visible(&asker.server), acts::visible(&asker.tool)));
        let who = who.map_or_else(String::new, |(server, tool)| {
            format!(", \"{server}\", while its tool \"{tool}\" is at work")
        });
        let question = format!("A server of tools asks you{who}. {}", asking.question);
        let clarification = Clarification {
            clarification_id,
            task_id: tx.task.task_id,
            attempt_id,
            question: clean(&question),
            choices: asking.choices.iter().map(|choice| clean(choice)).collect(),
            status: ClarificationStatus::Pending,
            requested_at: tx.now(),
            expires_at: tx.now().plus_ms(limits::SERVER_QUESTION_MS),
            answered_by: None,
        };
        tx.push(ClarificationRequested { clarification });
        tx.commit()?;
        lock(&cell.asked_in).insert(clarification_id, act);
        Ok(Standing::Waits(clarification_id.to_string()))
    }

    fn answer_to(&self, cell: &Cell, name: &str) -> Result<Option<Standing>, Error> {
        let id: Option<ClarificationId> = name.parse().ok();
        if let Some(said) = id.and_then(|id| lock(&cell.said).remove(&id)) {
            return Ok(Some(Standing::Answered(said)));
        }
        let state = self.lock_task(cell)?;
        let open = id.and_then(|id| state.clarifications.get(&id));
        let is_pending = open.is_some_and(|question| question.status == ClarificationStatus::Pending);
        // It is answered in two steps; the second is the one above.
        let is_answered = open.is_some_and(|question| question.status == ClarificationStatus::Answered);
        Ok((!is_pending && !is_answered).then(|| Standing::Closed("the question was taken back".to_owned())))
    }

    fn take_back(&self, cell: &Cell, name: &str) -> Result<(), Error> {
        let mut tx = self.begin_tx(cell, Point::ClarificationAsk, PrincipalType::Executor)?;
        // Others may be asked by servers at work beside this one.
        let own = |id: ClarificationId| id.to_string() == name;
        close_those(&mut tx, own);
        lock(&cell.said).retain(|id, _| !own(*id));
        tx.commit().map(drop)
    }

    /// Keeps what a person said to a server for whoever waits for it, without the values of secrets.
    pub(crate) fn say_to_server(&self, cell: &Cell, id: ClarificationId, text: &str) {
        let said = self.ports.redactor.now().text(text).rest.into_owned();
        lock(&cell.said).insert(id, said);
    }
}

/// Whether the open questions of a task are those of a server whose tool is at work.
pub(crate) fn is_asked_by_server(state: &TaskState) -> bool {
    let turn = state.attempt().map(|attempt| &attempt.turn);
    matches!(turn, Some(Turn::Acting { .. } | Turn::Trying { .. }))
}

/// Takes back the open questions that were asked during this act, or of which nobody here knows during which.
pub(super) fn close_questions_of(tx: &mut Tx<'_>, cell: &Cell, act: ActionRequestId) -> Vec<String> {
    let asked = close_those(tx, |id| lock(&cell.asked_in).get(&id).is_none_or(|of| *of == act));
    lock(&cell.asked_in).retain(|_, of| *of != act);
    asked
}

/// Takes back every open question.
pub(crate) fn close_questions(tx: &mut Tx<'_>) -> Vec<String> {
    close_those(tx, |_| true)
}

fn close_those(tx: &mut Tx<'_>, which: impl Fn(ClarificationId) -> bool) -> Vec<String> {
    let open = tx.clarifications.values().filter(|c| c.status == ClarificationStatus::Pending);
    let open = open.filter(|c| which(c.clarification_id));
    let open: Vec<_> = open.map(|c| (c.clarification_id, c.question.clone())).collect();
    let mut asked = Vec::new();
    for (clarification_id, question) in open {
        tx.push(ClarificationCancelled { clarification_id });
        asked.extend(question.shown().cloned());
    }
    asked
}
