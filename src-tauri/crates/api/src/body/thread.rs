//! What was said and done in a conversation, line by line, across its tasks.

use super::conversations::{candidates, conversation};
use crate::convert::{ask, opt, opt_text, opt_word, text};
use crate::ids::find_opt;
use crate::{Host, Wire as _};
use model::ConversationId;
use model::ingress::IngressStatus;
use model::receipt::ResultCode;
use projections::rows::{MessageRow, QuestionRow};
use projections::{Ask, Query};
use wire::Error;
use wire::conversations::{Heard, Line, LineList, LineTask, Lines};
use words::task::MessageKind;

pub(crate) fn lines(host: &dyn Host, p: Lines) -> Result<LineList, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let query = host.query()?;
    let id = match p.conversation.as_deref() {
        Some(named) => conversation(host, named)?,
        None => first(&query)?,
    };
    let found = query.messages(id, task, ask(p.after.as_deref(), p.limit)?).wire()?;
    let rows = found.rows.iter().map(|row| line(host, &query, row)).collect::<Result<Vec<_>, Error>>()?;
    Ok(wire::Page { rows, next: opt(found.next) })
}

/// The conversation that was opened first, however many there are.
fn first(query: &Query) -> Result<ConversationId, Error> {
    let found = query.conversations(Ask { limit: 1, ..Ask::default() }.oldest_first()).wire()?;
    let first = found.rows.into_iter().next().map(|row| row.conversation_id);
    first.ok_or_else(|| Error::new(wire::Code::NotFound, "there is no conversation yet"))
}

fn line(host: &dyn Host, query: &Query, row: &MessageRow) -> Result<Line, Error> {
    let mut told = Line {
        seq: row.seq,
        kind: row.kind,
        role: row.role,
        at: row.at.0,
        text: opt_text(row.text.as_ref()),
        ref_id: row.ref_id.clone(),
        task: task_of(query, row)?,
        heard: None,
        question: None,
        choices: Vec::new(),
        approval: None,
        result: None,
        as_chosen: false,
        said_by: None,
        answer_check: None,
        termination: None,
        ended: None,
    };
    match row.kind {
        MessageKind::Message => told.heard = heard(host, query, row)?,
        MessageKind::Question => {
            if let Some(question) = question(query, &row.ref_id)? {
                told.question = Some(question.status);
                told.choices = question.choices.iter().map(text).collect();
            }
        }
        MessageKind::Approval => {
            let approval = row.ref_id.parse().ok().map(|id| query.approval(id)).transpose().wire()?.flatten();
            told.approval = approval.map(|approval| approval.status);
        }
        MessageKind::Receipt => {
            told.result = opt_word(Some(&row.note))?;
            if let (Some(ResultCode::Partial), Ok(receipt)) = (told.result, row.ref_id.parse()) {
                told.as_chosen = super::receipts::is_as_chosen(host, query, receipt)?;
            }
        }
        MessageKind::Answer => {
            told.termination = opt_word(Some(&row.note))?;
            let task = row.task_id.map(|id| query.task(id)).transpose().wire()?.flatten();
            let contract = task.map(|task| super::task_show::contract(host, &task)).transpose()?.flatten();
            told.said_by = Some(super::task_show::words_by(row.artifact_ref.is_some(), contract.as_ref()));
            if let (Some(task), Ok(attempt)) = (row.task_id, row.ref_id.parse()) {
                told.answer_check = super::answer_check::of(host, query, task, attempt)?;
            }
        }
        MessageKind::Ended => told.ended = opt_word(Some(&row.note))?,
    }
    Ok(told)
}

fn task_of(query: &Query, row: &MessageRow) -> Result<Option<LineTask>, Error> {
    let Some(id) = row.task_id else { return Ok(None) };
    let found = query.task(id).wire()?;
    Ok(found.map(|task| LineTask {
        task_id: id.to_string(),
        title: text(&task.title),
        status: task.run_status,
        follows: opt(task.anchor_task_id),
        parent_task_id: opt(task.parent_task_id),
    }))
}

fn question(query: &Query, id: &str) -> Result<Option<QuestionRow>, Error> {
    let Ok(id) = id.parse() else { return Ok(None) };
    query.question(id).wire()
}

/// What became of a message.
fn heard(host: &dyn Host, query: &Query, row: &MessageRow) -> Result<Option<Heard>, Error> {
    let Ok(id) = row.ref_id.parse() else { return Ok(None) };
    let Some(message) = query.message(id).wire()? else { return Ok(None) };
    let is_open = message.status == IngressStatus::PendingDisambiguation;
    let (quoted, attached) = super::encloses::told(host, query, &message)?;
    Ok(Some(Heard {
        channel: message.channel,
        trust: message.trust_tier,
        resolution: message.resolution,
        is_open,
        is_waiting: message.waits_for.is_some(),
        // Of what was decided, what else it might have been about is in the log.
        candidates: if is_open { candidates(host, &message.candidates)? } else { Vec::new() },
        confidence: message.confidence,
        margin: message.margin,
        rationale: opt_text(message.rationale.as_ref()),
        answers: opt(message.prompt_ref),
        reply_to: message.reply_to_ref,
        quotes: opt(message.quoted_message_ref),
        quoted,
        attached,
        spoken: message.spoken,
    }))
}
