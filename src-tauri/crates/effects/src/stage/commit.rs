//! Carrying a staged run over: exactly its bytes, each place only where it still is as the command saw it.

use crate::change::{self, settle::Settled};
use crate::tools::Execution;
use crate::{Executors, Outcome, Output, Progress};
use acts::{Action, ActionRequest};
use model::action::{LeftOut, Staged};
use model::artifact::ArtifactKind;
use model::receipt::ResultCode;
use model::{Sensitive, UnixMs};
use std::time::Duration;

/// Commits the staged run of a request, whose digests the authorization covers; with `settled`, what of it is left.
pub(crate) fn commit(
    act: &Execution<'_>,
    staged: &Staged,
    settled: Option<&Settled>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Outcome {
    let Execution { executors, request, started, .. } = act;
    let mut done = change::perform(act, &staged.items, settled, progress);
    let committed = done.result_code();
    let error = done.error.take().or_else(|| staged.error.clone());
    let result_code = match (committed, &error) {
        (code @ (ResultCode::UnknownOutcome | ResultCode::Partial), _) => code,
        (ResultCode::Succeeded, Some(_)) if staged.items.is_empty() => ResultCode::Failed,
        (ResultCode::Succeeded, Some(_)) => ResultCode::Partial,
        (code, _) => code,
    };
    let mut observed = vec![in_words(request, staged)];
    observed.extend(request.reach.as_ref().and_then(crate::command::reach::told));
    observed.extend(staged.left_out.iter().map(|LeftOut { path, entries }| {
        let place = if path.is_root() { "elsewhere".to_owned() } else { format!("`{path}`") };
        format!("thrown away, because the folder's own ignore rules name it: {place} ({entries} entries)")
    }));
    observed.extend(staged.notes.iter().cloned());
    observed.append(&mut done.observed);
    Outcome {
        result_code,
        changes: done.changes,
        outputs: outputs(executors, request, staged, &mut observed),
        ran: ran(executors, request, staged, *started),
        sandbox_level: staged.sandbox_level,
        observed,
        error,
        kept: Vec::new(),
    }
}

fn in_words(request: &ActionRequest, staged: &Staged) -> String {
    let words = match &request.action {
        Action::Command(acts::Command { argv, .. }) => argv.join(" "),
        Action::Call(call) => format!("{} of the server {}", call.name, call.server),
        _ => String::new(),
    };
    let took = u64::try_from(staged.finished_at.0.saturating_sub(staged.started_at.0)).unwrap_or(0);
    let took = model::lasting(Duration::from_millis(took));
    if staged.items.is_empty() {
        return format!(
            "`{words}` ran for {took} in a staged view and changed nothing; nothing was to be committed"
        );
    }
    let many = staged.items.len();
    let changes = if many == 1 { "1 change" } else { "changes" };
    let count = if many == 1 { String::new() } else { format!("{many} ") };
    format!("`{words}` ran for {took} in a staged view; {count}{changes} carried over, nothing ran again")
}

fn outputs(
    executors: &Executors,
    request: &ActionRequest,
    staged: &Staged,
    observed: &mut Vec<String>,
) -> Vec<Output> {
    let (kind, said, changed) = match request.action {
        Action::Call(_) => (ArtifactKind::ActionResult, "what the tool answered", "what the tool changed"),
        _ => (
            ArtifactKind::CommandTranscript,
            "what the staged command printed",
            "what the staged command changed",
        ),
    };
    let both = [(kind, &staged.transcript_sha256, said), (ArtifactKind::Diff, &staged.diff_sha256, changed)];
    let mut outputs = Vec::new();
    for (kind, sha256, about) in both {
        match executors.contents.read(sha256) {
            Ok(bytes) => outputs.push(Output {
                kind,
                media_type: "application/json".to_owned(),
                bytes,
                about: about.to_owned(),
            }),
            Err(why) => observed.push(format!("{about} cannot be read any more: {why}")),
        }
    }
    outputs
}

fn ran(
    executors: &Executors,
    request: &ActionRequest,
    staged: &Staged,
    started: UnixMs,
) -> model::receipt::Ran {
    let (executor, argv) = match &request.action {
        Action::Command(acts::Command { argv, .. }) => ("hermit.command.staged", argv.clone()),
        Action::Call(call) => ("hermit.call.staged", call.launch.argv.clone()),
        _ => ("hermit.staged", Vec::new()),
    };
    let mut ran = executors.ran(executor, request, started);
    ran.argv = Some(Sensitive::from(argv));
    ran.executable_sha256 = staged.executable_sha256;
    ran.exit_code = staged.exit_code;
    ran
}
