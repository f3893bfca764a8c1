//! The model that is asked again about words that a model reads: named by a person, and told of a trial.

use crate::{Host, usage};
use ::successor::limits::NAME_CHARS_MAX;
use ::successor::{Asked, Patch, Verdict};
use kernel::trial_registry::Trial as Record;
use wire::Error;
use wire::successor::TrialAsked;
use words::successor::TrialStage;

/// The model that a person named, where it would be asked about one of these changes.
pub(super) fn named<'a>(ask: Option<&'a str>, patches: &[Patch]) -> Result<Option<&'a str>, Error> {
    let Some(ask) = ask.map(str::trim) else { return Ok(None) };
    if ask.is_empty() || ask.chars().count() > NAME_CHARS_MAX {
        return Err(usage(format!(
            "the model that is asked is named by its address, of {NAME_CHARS_MAX} characters at most"
        ))
        .hint("`hermit models list` shows the addresses of models that run here"));
    }
    if !patches.iter().any(Patch::is_read_by_models) {
        return Err(usage("a model is asked about words that it reads, and none of these changes is one")
            .hint("leave the model to ask away; another standard model is tried as a change of its own"));
    }
    Ok(Some(ask))
}

/// The model that was asked in a trial, or is while it runs, and what a trial that runs is at.
pub(super) fn of(
    host: &dyn Host,
    one: &Record,
    verdict: Option<&Verdict>,
) -> (Option<TrialAsked>, Option<TrialStage>) {
    let told =
        |asked: Asked| TrialAsked { model: asked.model, parent: asked.parent, successor: asked.successor };
    if let Some(verdict) = verdict {
        return (verdict.asked.clone().map(told), None);
    }
    match host.trials().filter(|_| one.is_running()) {
        Some(trials) => (trials.asked(&one.trial_id).map(told), trials.stage(&one.trial_id)),
        None => (None, None),
    }
}
