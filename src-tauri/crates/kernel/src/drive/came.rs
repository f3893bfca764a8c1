//! What came of one call of an agent outside: the events from its proposal to the next, in words.

use crate::Error;
use crate::kernel::Kernel;
use crate::state::RefusedBy;
use model::artifact::ArtifactRef;
use model::attempt::IterationRecord;
use model::receipt::ResultCode;
use model::{ActionRequestId, Body, ClarificationId, IngressId, ReceiptId, Sensitive, TaskId, limits};

/// Events read at once.
const STRIDE: usize = 200;
/// Bytes of what is told of one call.
const TOLD_BYTES_MAX: usize = 4 * limits::NOTE_BYTES_MAX;

/// What came of a call.
#[derive(Debug, Clone, Default)]
pub struct CallResult {
    /// What its agent is told, in plain lines.
    pub texts: Vec<String>,
    /// What a person has said to the task since the call before.
    pub said: Vec<String>,
    /// Whether it did not do what was asked.
    pub is_error: bool,
    /// Whose no it was, when it was refused.
    pub refused: Option<RefusedBy>,
    /// What the person said with their no.
    pub feedback: Option<String>,
    /// Whether it was a question that was answered.
    pub answered: bool,
    /// Its receipt.
    pub receipt_id: Option<ReceiptId>,
    /// What it was in one line.
    pub summary: String,
}

/// The story of a call, as far as it is told.
#[derive(Debug, Default)]
struct Story {
    inputs: Vec<(IngressId, String)>,
    act: Option<(ActionRequestId, String)>,
    result: Option<(ArtifactRef, ResultCode)>,
    receipt: Option<ReceiptId>,
    denied: bool,
    feedback: Option<String>,
    rejected: Option<String>,
    record: Option<IterationRecord>,
    question: Option<ClarificationId>,
    answer: Option<IngressId>,
    closed: Option<String>,
    ended: Option<String>,
}

/// A text as it is shown, or that it was erased.
pub(crate) fn words(text: &Sensitive<String>) -> String {
    text.shown().map_or_else(|| "(erased)".to_owned(), Clone::clone)
}

impl Story {
    /// Before the call: what a person has said since the one before.
    fn before(&mut self, body: &Body) {
        match body {
            Body::ModelRequested(_) => self.inputs.clear(),
            Body::TaskInputAdded(b) => self.inputs.push((b.ingress_id, words(&b.text))),
            _ => {}
        }
    }

    /// Since the call; whether the next one is due.
    fn since(&mut self, body: &Body) -> bool {
        match body {
            Body::ModelRequested(_) => return true,
            Body::TaskInputAdded(b) => self.inputs.push((b.ingress_id, words(&b.text))),
            Body::ModelOutputRejected(b) => self.rejected = Some(words(&b.reason)),
            Body::ActionRequested(b) => self.act = Some((b.action_request_id, words(&b.summary))),
            Body::ApprovalDenied(b) => {
                self.denied = true;
                self.feedback = b.feedback.as_ref().map(words);
            }
            Body::ApprovalGranted(_) | Body::ApprovalInvalidated(_) => self.denied = false,
            Body::EffectObserved(b) => self.result = Some((b.result.clone(), b.result_code)),
            Body::OutcomeResolved(b) => {
                self.receipt = Some(b.receipt_id);
                self.closed = Some(format!("a person has settled it: {}. {}", b.result_code, words(&b.note)));
            }
            Body::ReceiptIssued(b) => {
                let own = self.act.as_ref().map(|(id, _)| *id);
                if b.action_request_id.is_some() && b.action_request_id == own {
                    self.receipt = Some(b.receipt_id);
                }
            }
            Body::IterationCompleted(b) => self.record = Some(b.record.clone()),
            Body::ClarificationRequested(b) => self.question = Some(b.clarification.clarification_id),
            Body::ClarificationAnswered(b) => self.answer = Some(b.ingress_id),
            Body::ClarificationCancelled(_) => {
                self.closed = Some("the question was taken back; nobody has answered it".to_owned());
            }
            Body::RunTerminated(b) => self.ended = Some(words(&b.summary)),
            _ => {}
        }
        false
    }

    fn is_over(&self) -> bool {
        let asked = self.question.is_some() && self.answer.is_none() && self.closed.is_none();
        self.ended.is_some() || (!asked && (self.rejected.is_some() || self.record.is_some()))
    }
}

impl Kernel {
    /// What came of the call whose proposal is the event `at`, when it is over; `from` is the event of the call before.
    pub(super) fn came_of(&self, task_id: TaskId, from: u64, at: u64) -> Result<Option<CallResult>, Error> {
        let mut story = Story::default();
        let mut after = from;
        'story: loop {
            let page = self.reader.events(task_id, after, STRIDE)?;
            let Some(last) = page.last() else { break };
            after = last.task_seq;
            for stored in page {
                let body = self.body_of(&stored.event()?)?;
                if stored.task_seq < at {
                    story.before(&body);
                } else if stored.task_seq > at && story.since(&body) {
                    break 'story;
                }
            }
        }
        if story.is_over() { self.told_of_call(story).map(Some) } else { Ok(None) }
    }

    fn told_of_call(&self, story: Story) -> Result<CallResult, Error> {
        let mut came = CallResult {
            receipt_id: story.receipt,
            feedback: story.feedback,
            answered: story.answer.is_some(),
            ..CallResult::default()
        };
        for (ingress_id, text) in story.inputs {
            if story.answer == Some(ingress_id) {
                came.texts.push(text);
            } else {
                came.said.push(text);
            }
        }
        let error = story.record.as_ref().and_then(|record| record.error.as_ref()).map(words);
        let tool =
            story.record.as_ref().and_then(|record| record.tool_invocation.clone()).unwrap_or_default();
        came.summary = story.act.map(|(_, summary)| summary).unwrap_or_default();
        came.is_error = story.rejected.is_some() || error.is_some();
        if let Some((result, code)) = story.result {
            let bytes = self.artifacts.read(&result.sha256)?;
            came.is_error |= code != ResultCode::Succeeded;
            if code == ResultCode::Denied && story.denied {
                came.refused = Some(RefusedBy::Person);
            } else if code == ResultCode::Denied && is_denied(&bytes) {
                came.refused = Some(RefusedBy::Policy);
            }
            let told = reasoning::result_text::told(&tool, &came.summary, &String::from_utf8_lossy(&bytes));
            came.texts.extend(told.into_iter().map(|told| cut(&told)));
        }
        let more = [story.rejected, story.closed, story.ended];
        came.texts.extend(more.into_iter().flatten());
        if came.texts.is_empty() {
            came.texts.push(error.unwrap_or_else(|| "done".to_owned()));
        }
        Ok(came)
    }
}

/// Whether a result says that it was refused, and not that what was approved has changed.
fn is_denied(result: &[u8]) -> bool {
    let told: Option<serde_json::Value> = serde_json::from_slice(result).ok();
    told.is_some_and(|told| told.get("result_code").and_then(|code| code.as_str()) == Some("denied"))
}

/// A result within its bounds; what is cut says so.
fn cut(told: &reasoning::result_text::Told) -> String {
    let whole = format!("{}\n{}", told.title, told.text);
    if whole.len() <= TOLD_BYTES_MAX {
        return whole;
    }
    let mut end = TOLD_BYTES_MAX;
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let shown = whole.get(..end).unwrap_or_default();
    format!("{shown}\n(cut at {end} of {} bytes; {})", whole.len(), told.rest)
}
