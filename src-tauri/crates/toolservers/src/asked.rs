//! What a server tells and asks while its tool is at work: progress is passed on, a question goes to the person, it learns
//! which folder it sees, and everything else that it asks for is refused.

#![allow(deprecated, reason = "sampling and roots are of both wires, and the next one leaves them out")]

use crate::form::{Answer, Form};
use crate::sampled::NOT_OFFERED;
use effects::{Asking, Heard, Offers, Progress, Standing};
use model::limits::{SAMPLING_REFUSED_MAX, SERVER_QUESTION_MS, SERVER_QUESTIONS_MAX};
use model::tool_server::words_for_model;
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorCode, ErrorData, ListRootsResult, ProgressNotificationParam, Root,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// Letters of a report of progress.
const TOLD_MAX: usize = 200;
/// Reports of progress that wait to be passed on; more are lost.
const TOLD_WAITING: usize = 16;

/// One question, and where its answer goes.
pub(crate) struct Question {
    params: Value,
    answer: oneshot::Sender<ElicitResult>,
}

/// A question to a model, and where its answer goes.
pub(crate) struct ToModel {
    pub(crate) params: Value,
    pub(crate) answer: oneshot::Sender<Result<Value, String>>,
}

/// Hears a server between its answers.
pub(crate) struct Ears {
    config: ClientConfig,
    to_model: Option<mpsc::Sender<ToModel>>,
    questions: mpsc::Sender<Question>,
    told: mpsc::Sender<String>,
    changed: Arc<AtomicBool>,
    refused: Arc<AtomicU32>,
    folder: Option<PathBuf>,
}

/// The other side of the ears.
pub(crate) struct Inbox {
    pub(crate) questions: mpsc::Receiver<Question>,
    pub(crate) told: mpsc::Receiver<String>,
    pub(crate) to_model: mpsc::Receiver<ToModel>,
    /// It told that what it offers is something else now.
    pub(crate) changed: Arc<AtomicBool>,
    /// Questions to a model that were refused here, where nobody else hears of them, during this call.
    pub(crate) refused: Arc<AtomicU32>,
}

impl Inbox {
    /// Why the call is ended, where its server went on asking a model several things at once.
    pub(crate) fn refused_too_often(&self) -> Option<String> {
        let refused = self.refused.load(Ordering::SeqCst);
        (refused >= SAMPLING_REFUSED_MAX)
            .then(|| format!("it went on asking for a model after it was refused {refused} times"))
    }
}

impl Ears {
    pub(crate) fn new(config: ClientConfig, offers: Offers, folder: Option<PathBuf>) -> (Self, Inbox) {
        let (to_model, asked_of_model) = mpsc::channel(1);
        let to_model = offers.sampling.then_some(to_model);
        let (questions, asked) = mpsc::channel(SERVER_QUESTIONS_MAX);
        let (told, heard) = mpsc::channel(TOLD_WAITING);
        let (changed, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let inbox = Inbox {
            questions: asked,
            told: heard,
            to_model: asked_of_model,
            changed: Arc::clone(&changed),
            refused: Arc::clone(&refused),
        };
        (Self { config, to_model, questions, told, changed, refused, folder }, inbox)
    }
}

impl Ears {
    fn note_change(&self) -> std::future::Ready<()> {
        self.changed.store(true, Ordering::SeqCst);
        std::future::ready(())
    }
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let refused = |why: String| ErrorData::new(ErrorCode::INVALID_REQUEST, why, None);
        let Some(to_model) = &self.to_model else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, NOT_OFFERED, None));
        };
        let (answer, heard) = oneshot::channel();
        let params = serde_json::to_value(&request).unwrap_or(Value::Null);
        if to_model.try_send(ToModel { params, answer }).is_err() {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(refused("one question to a model at a time".to_owned()));
        }
        let came = heard.await.unwrap_or_else(|_| Err("nobody waits for the tool any more".to_owned()));
        serde_json::from_value(came.map_err(refused)?).map_err(|e| refused(e.to_string()))
    }

    fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ListRootsResult, ErrorData>> + Send + '_ {
        let folder = self.folder.as_deref().and_then(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            Some(Root::new(url::Url::from_file_path(folder).ok()?).with_name(name))
        });
        std::future::ready(Ok(ListRootsResult::new(folder.into_iter().collect())))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let decline = ElicitResult::new(ElicitationAction::Decline);
        let (answer, heard) = oneshot::channel();
        let params = serde_json::to_value(&request).unwrap_or(Value::Null);
        if self.questions.try_send(Question { params, answer }).is_err() {
            return Ok(decline);
        }
        tokio::select! {
            said = heard => Ok(said.unwrap_or(decline)),
            // The server takes its question back: the person is not asked any longer.
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change()
    }

    fn on_resource_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change()
    }

    fn on_prompt_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change()
    }

    fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let of = told.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let words = told.message.map(|words| format!(": {}", words_for_model(&words, TOLD_MAX)));
        // What nobody takes in time is lost: the next one says more.
        let _ = self.told.try_send(format!("{}{of}{}", told.progress, words.unwrap_or_default()));
        std::future::ready(())
    }
}

/// The question that is put to the person now.
pub(crate) struct Open {
    form: Form,
    asking: Asking,
    answer: oneshot::Sender<ElicitResult>,
    since: Instant,
}

/// Begins to ask the person; what cannot be asked is declined.
pub(crate) fn begin(question: Question, asked_before: usize) -> Option<Open> {
    let form = if asked_before < SERVER_QUESTIONS_MAX { Form::of(&question.params).ok() } else { None };
    match form {
        Some(form) => {
            let asking = form.question();
            Some(Open { form, asking, answer: question.answer, since: Instant::now() })
        }
        None => {
            let _ = question.answer.send(ElicitResult::new(ElicitationAction::Decline));
            None
        }
    }
}

impl Open {
    /// Looks how the question stands; nothing once it is over.
    pub(crate) fn look(mut self, heard: Heard<'_>) -> Option<Self> {
        heard(Progress::Asks(&self.asking));
        let answer = match self.asking.standing() {
            Standing::Answered(said) => self.form.take(&said),
            Standing::Waits(name)
                if self.answer.is_closed()
                    || self.since.elapsed() > Duration::from_millis(SERVER_QUESTION_MS as u64) =>
            {
                self.asking.stands(Standing::GivenUp(name));
                heard(Progress::Asks(&self.asking));
                Some(Answer::Cancel)
            }
            Standing::Waits(_) => return Some(self),
            // There is nobody to ask.
            Standing::New | Standing::Closed(_) | Standing::GivenUp(_) => Some(Answer::Decline),
        };
        let Some(answer) = answer else {
            self.asking = self.form.question();
            self.since = Instant::now();
            return Some(self);
        };
        let told = match answer {
            Answer::Accept(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            Answer::Decline => ElicitResult::new(ElicitationAction::Decline),
            Answer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        };
        let _ = self.answer.send(told);
        None
    }
}
