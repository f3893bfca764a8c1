//! A tool that changes files, called before anybody is asked: its server runs in a staged view of the folder, without the
//! network, for this one call. What it answered is kept beside what it changed there.

use super::called::{Record, answered, as_registered, changed, says_otherwise, told};
use super::process::Process;
use super::{Heard, START, Unspoken};
use crate::command::view::View;
use crate::{Error, Executors, Output};
use acts::Call;
use model::receipt::ResultCode;
use serde_json::Value;
use std::time::Instant;

/// How a call in a view went.
pub(crate) struct Answered {
    /// What whoever proposed the call is told of it.
    pub(crate) told: Output,
    /// What it answered in words.
    pub(crate) words: String,
    /// Why the answer is no success.
    pub(crate) error: Option<String>,
}

/// Why a call in a view came to nothing.
pub(crate) enum NoAnswer {
    /// The server could not be greeted, and not because it is slow: that may be of the view.
    NotGreeted(String),
    /// It was not called, or nobody answered.
    Failed(String),
    /// It says something else of the tool than when it was registered: what it says now, where that can be kept.
    Changed(String, Option<Output>),
}

impl From<Error> for NoAnswer {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Calls the tool once in the view.
pub(crate) fn call(
    executors: &Executors,
    asked: &Call,
    view: &mut View,
    heard: Heard<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answered, NoAnswer> {
    let pinned = as_registered(executors, asked)?;
    let begun = Instant::now();
    let mut process = Process::start_staged(executors, &asked.launch, view, super::offers_of(asked))?;
    let manifest = match process.manifest(executors, cancelled) {
        Ok(manifest) => manifest,
        Err(why) if cancelled() || begun.elapsed() >= START => {
            return Err(NoAnswer::Failed(clean(executors, &why)));
        }
        Err(why) => return Err(NoAnswer::NotGreeted(clean(executors, &why))),
    };
    let tool = pinned.manifest.tool(&asked.name);
    if manifest.tool(&asked.name) != tool {
        let redactor = executors.redactor.now();
        let kept = changed(asked, &manifest).filter(|output| redactor.holds(&output.bytes).is_empty());
        return Err(NoAnswer::Changed(says_otherwise(asked), kept));
    }
    let call = super::call_of(asked);
    let record = match process.call(call, heard, cancelled) {
        Err(Unspoken::NotCalled(why) | Unspoken::Lost(why)) => {
            return Err(NoAnswer::Failed(clean(executors, &why)));
        }
        Ok(Err(why)) => {
            let why = clean(executors, &why);
            Record { refused: Some(format!("the server refused the call: {why}")), ..Record::empty() }
        }
        Ok(Ok(reply)) => answered(executors, tool, &reply),
    };
    // What it does after its answer is nothing that it did.
    drop(process);
    let code = if record.refused.is_some() { ResultCode::Failed } else { ResultCode::Succeeded };
    let record = Record { started: Some(true), ..record };
    let words = record.answer.as_deref().map(words_of).unwrap_or_default();
    let told = told(asked, &record, code, record.refused.as_deref());
    Ok(Answered { told, words, error: record.refused })
}

fn clean(executors: &Executors, why: &str) -> String {
    executors.redactor.now().text(why).rest.into_owned()
}

fn words_of(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    super::words_of(&answer)
}
