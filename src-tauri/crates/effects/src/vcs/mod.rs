//! Version control over real git, behind the same walls as any command: objects are written, then one ref moves by
//! compare-and-swap from exactly where it was when the person was asked. It is taken back like a file, and only while it
//! still is where this left it.

mod disk;
pub(crate) mod quiet;
mod refs;
mod steps;

pub use refs::Head;

use crate::change::scope::Scope;
use crate::command::removal::remove_tree;
use crate::command::run::{Asked, Ran, spawn};
use crate::command::spool::{self, Begun, Mark, Transcript, TranscriptState};
use crate::command::view::view;
use crate::system::permissions::PLAIN_FILE;
use crate::{Error, Executors, Kept, Outcome, Output, Progress};
use acts::{Action, ActionRequest};
use model::artifact::ArtifactKind;
use model::receipt::{Change, ItemOutcome, ResultCode};
use model::vcs::VcsChange;
use model::witness::{Found, StateWitness};
use model::{Digest, RelPath, ResourceId, Sensitive, UnixMs};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

const SCRIPT: &str = include_str!("git.sh");
/// How long it may take.
const LONGEST: Duration = Duration::from_secs(120);
/// What git says before the ref moves: where to.
const NEW: &str = "hermit-new ";
/// The same of a ref that goes.
const NOWHERE: &str = "nothing";

impl Executors {
    /// What is checked out in the folder's repository. Looks, and runs nothing.
    ///
    /// # Errors
    /// [`Error::Request`] where there is no repository of the folder's own, or one that cannot be read here.
    pub fn head(&self) -> Result<Head, Error> {
        refs::head(&self.workspace)
    }

    /// What is at a ref now.
    pub(crate) fn found_ref(&self, name: &str) -> Found {
        refs::found(&self.workspace, name)
    }
}

/// The commit that a ref is at.
pub(crate) fn ref_at(workspace: &crate::Workspace, name: &str) -> Result<Option<String>, Error> {
    refs::at(workspace, name)
}

/// A file before anything.
#[derive(Serialize, Deserialize)]
struct Place {
    path: RelPath,
    found: Found,
    /// Digest and length of its bytes, which are kept.
    bytes: Option<(Digest, u64)>,
}

/// The files that an undo puts back.
#[derive(Serialize, Deserialize)]
struct Before {
    /// That of the ref.
    #[serde(flatten)]
    of_ref: Place,
    /// That of its log, which goes with a ref that is deleted.
    #[serde(default)]
    log: Option<Place>,
    /// Lock files that somebody held.
    #[serde(default)]
    locks: Vec<RelPath>,
}

/// Where that is written down for whoever settles.
const BEFORE: &str = "ref.json";

/// Makes the change; every failure is in the outcome.
pub(crate) fn perform(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    started: UnixMs,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Outcome {
    let Action::Vcs(acts::Vcs { change }) = &request.action else {
        return refused(executors, request, started, "it is no change of version control".to_owned());
    };
    let mut spawned = false;
    let prepared = prepare(executors, scope, change);
    let ran = prepared.as_ref().map_err(ToString::to_string).and_then(|before| {
        run(executors, request, before, &mut spawned, cancelled, progress).map_err(|e| e.to_string())
    });
    match (prepared, ran) {
        (Ok(before), Ok(ran)) => told(executors, request, change, started, &before, &ran),
        (Ok(_), Err(why)) if spawned => settled(executors, request, change, started, Some(why)),
        (Ok(_), Err(why)) => refused(executors, request, started, why),
        (Err(error), _) => refused(executors, request, started, error.to_string()),
    }
}

/// Everything that can say no before git begins; the bytes of the ref's file are kept for an undo.
fn prepare(executors: &Executors, scope: &Scope<'_>, change: &VcsChange) -> Result<Before, Error> {
    change.check().map_err(Error::Request)?;
    let workspace = &executors.workspace;
    scope.covers(&ResourceId::Ref(workspace.id(), change.moves().to_owned()))?;
    change.files().iter().try_for_each(|file| scope.covers_path(&file.path))?;
    let walls = executors.sandbox.of_git();
    if !walls.has_walls() {
        let say = "version control is changed in a sandbox only, and this machine has none for it";
        return Err(Error::Request(walls.missing(say)));
    }
    if refs::at(workspace, change.moves())?.as_deref() != change.prior() {
        return Err(Error::Request(format!("`{}` has moved since; look again", change.moves())));
    }
    let mut of_ref = place(executors, refs::file_of(change.moves())?, refs::LOOSE_BYTES_MAX)?;
    let locks = disk::locked(workspace, change)?;
    let VcsChange::Delete { at, .. } = change else { return Ok(Before { of_ref, log: None, locks }) };
    if of_ref.bytes.is_none() {
        // It stands in the list of packed refs only: it is taken back as a file of its own.
        let (sha256, byte_size) = keep(executors, &of_ref.path, format!("{at}\n").as_bytes())?;
        of_ref.found = Found::File { sha256, byte_size, mode: PLAIN_FILE };
        of_ref.bytes = Some((sha256, byte_size));
    }
    let log = place(executors, refs::log_of(change.moves())?, refs::LOG_BYTES_MAX)?;
    Ok(Before { of_ref, log: log.bytes.is_some().then_some(log), locks })
}

/// What is at a place, with its bytes kept, at most so many.
fn place(executors: &Executors, path: RelPath, most: u64) -> Result<Place, Error> {
    let found = executors.workspace.look(&path);
    let there = refs::bytes_of(&executors.workspace, &path, most)?;
    let bytes = there.map(|bytes| keep(executors, &path, &bytes)).transpose()?;
    Ok(Place { path, found, bytes })
}

fn keep(executors: &Executors, path: &RelPath, bytes: &[u8]) -> Result<(Digest, u64), Error> {
    let kept = executors.contents.keep(bytes);
    let sha256 = kept.map_err(|why| Error::Content { path: path.clone(), why })?;
    Ok((sha256, bytes.len() as u64))
}

/// What is done, to which ref, from where, when, and with what; without the files of a commit.
fn head(request: &ActionRequest) -> Vec<String> {
    let Action::Vcs(acts::Vcs { change }) = &request.action else { return Vec::new() };
    let stamp = (request.proposed_at.0 / 1000).to_string();
    let (ref_name, prior) = (change.moves().to_owned(), change.prior().unwrap_or_default().to_owned());
    match change {
        VcsChange::Name { at, .. } => vec!["name".to_owned(), ref_name, prior, stamp, at.clone()],
        VcsChange::Move { to, forward, .. } => {
            let how = if *forward { "forward" } else { "any" };
            vec!["move".to_owned(), ref_name, prior, stamp, to.clone(), how.to_owned()]
        }
        VcsChange::Delete { .. } => vec!["delete".to_owned(), ref_name, prior, stamp],
        VcsChange::Commit { message, .. } => {
            vec!["commit".to_owned(), ref_name, prior, stamp, message.clone()]
        }
    }
}

/// The same for the script, with its files: path, mode, and the digest that its bytes have.
fn words(request: &ActionRequest) -> Vec<String> {
    let mut words: Vec<String> = ["sh", "-c", SCRIPT, "hermit-git"].map(str::to_owned).to_vec();
    words.extend(head(request));
    let Action::Vcs(acts::Vcs { change }) = &request.action else { return words };
    for file in change.files() {
        let mode = match (&file.sha256, file.executable) {
            (None, _) => "gone",
            (Some(_), true) => "100755",
            (Some(_), false) => "100644",
        };
        // Checked before: a path that is no UTF-8 is not committed from here.
        words.push(String::from_utf8_lossy(file.path.as_bytes()).into_owned());
        words.push(mode.to_owned());
        words.push(file.sha256.map(|sha256| sha256.to_string()).unwrap_or_default());
    }
    words
}

fn run(
    executors: &Executors,
    request: &ActionRequest,
    before: &Before,
    spawned: &mut bool,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Ran, Error> {
    let walls = executors.sandbox.of_git();
    let marked = walls.marks_start();
    // What is in the transcript's folder says whether it began; its words are in the request.
    let begun = Begun { argv: vec!["git".to_owned()], cwd: RelPath::ROOT, network: false, marked };
    let (folder, mark) = executors.spool.begin(request.action_request_id, &begun)?;
    let written = serde_json::to_vec(before).map_err(|e| Error::Request(e.to_string()))?;
    executors.spool.write_down(request.action_request_id, BEFORE, &written)?;
    let mut view = view(executors, &RelPath::ROOT, &folder)?;
    let argv = match walls.beside() {
        Some(exec) => steps::lay(executors, request, exec, &mut view)?,
        None => words(request),
    };
    let asked = Asked {
        argv: &argv,
        cwd: &RelPath::ROOT,
        network: false,
        timeout: LONGEST,
        hosts: &[],
        secrets: &[],
    };
    let behind = (executors, &walls);
    let mut ran = spawn(behind, &asked, &view, &folder, mark, spawned, cancelled, progress)?;
    let _ = remove_tree(&folder.join("private"));
    if marked {
        ran.mark =
            spool::mark(&folder).map_err(|source| Error::Spool { doing: "reading the mark", source })?;
    }
    Ok(ran)
}

/// What came of it, read from where the ref is now and not from what git said of itself.
fn told(
    executors: &Executors,
    request: &ActionRequest,
    change: &VcsChange,
    started: UnixMs,
    before: &Before,
    ran: &Ran,
) -> Outcome {
    let said = String::from_utf8_lossy(&ran.stdout.kept()).into_owned();
    let new = new_of(&said);
    let there = refs::at(&executors.workspace, change.moves());
    let moved = there.as_ref().is_ok_and(|now| new.as_ref() == Some(now));
    // A ref that cannot be read is at neither end.
    let is_where_it_was = there.as_ref().is_ok_and(|now| now.as_deref() == change.prior());
    let why = || {
        let complained = String::from_utf8_lossy(&ran.stderr.kept()).trim().to_owned();
        let mine = complained.lines().rev().find_map(|line| line.strip_prefix("hermit: ").map(str::to_owned));
        let unmarked = matches!(ran.mark, Mark::Nothing)
            .then(|| format!("the sandbox could not be set up: {complained}"));
        mine.or(unmarked).or_else(|| ran.error()).unwrap_or(complained)
    };
    let error = (!moved).then(|| match &there {
        Ok(_) if is_where_it_was => why(),
        Ok(_) => format!("`{}` is where nobody expected it; {}", change.moves(), why()),
        Err(error) => format!("`{}` cannot be read: {error}; {}", change.moves(), why()),
    });
    let now = there.as_ref().ok().and_then(Option::as_deref);
    let mut outcome = blank(executors, request, started, error);
    outcome.result_code = match (moved, is_where_it_was) {
        (true, _) => ResultCode::Succeeded,
        (false, true) => ResultCode::Failed,
        (false, false) => ResultCode::UnknownOutcome,
    };
    outcome.ran.exit_code = ran.code();
    outcome.ran.argv = Some(Sensitive::from(summary(change)));
    outcome.observed.extend(ran.lent.iter().cloned());
    outcome
        .observed
        .extend(said.lines().filter_map(|line| line.strip_prefix("hermit-index ").map(str::to_owned)));
    if ran.code().is_none() || ran.ended_by.is_some() {
        unlock(executors, change, new.flatten().as_deref(), before, &mut outcome);
    }
    if moved {
        finish(executors, change, now, before, &mut outcome);
    }
    outcome.outputs.extend(report(change, now, &outcome));
    outcome
}

fn unlock(
    executors: &Executors,
    change: &VcsChange,
    new: Option<&str>,
    before: &Before,
    outcome: &mut Outcome,
) {
    match disk::unlock(&executors.workspace, change, new, &before.locks) {
        Ok(mut said) => outcome.observed.append(&mut said),
        Err(error) => outcome.observed.push(format!("a lock file of git may be left: {error}")),
    }
}

/// The ref has moved: it is made durable, and its files before and after are told, so that it can be taken back like them.
fn finish(
    executors: &Executors,
    change: &VcsChange,
    now: Option<&str>,
    before: &Before,
    outcome: &mut Outcome,
) {
    for place in std::iter::once(&before.of_ref).chain(&before.log) {
        let resource = ResourceId::File(executors.workspace.id(), place.path.clone());
        outcome.changes.push(Change {
            resource: Sensitive::from(resource.to_string()),
            before: place.found.clone(),
            after: executors.workspace.look(&place.path),
            before_image: None,
            outcome: ItemOutcome::Done,
        });
        outcome.kept.extend(place.bytes.map(|(sha256, byte_size)| Kept { resource, sha256, byte_size }));
    }
    let (from, to) = (change.prior().unwrap_or("nothing"), now.unwrap_or("nothing"));
    outcome.observed.push(format!("`{}`: {from} before, {to} after", change.moves()));
    if let Err(error) = disk::sync(&executors.workspace, change) {
        outcome.result_code = ResultCode::UnknownOutcome;
        outcome.error = Some(format!("`{}` has moved, and may not last: {error}", change.moves()));
    }
}

/// After a crash, or an end that nobody heard: where the ref is tells what became of it.
pub(crate) fn settle(executors: &Executors, request: &ActionRequest, before: &StateWitness) -> Outcome {
    match &request.action {
        Action::Vcs(acts::Vcs { change }) => settled(executors, request, change, before.observed_at, None),
        _ => refused(executors, request, before.observed_at, "it is no change of version control".to_owned()),
    }
}

fn settled(
    executors: &Executors,
    request: &ActionRequest,
    change: &VcsChange,
    started: UnixMs,
    why: Option<String>,
) -> Outcome {
    let Transcript { state, stdout, .. } = spool::settle_any(executors, request);
    let new = new_of(&String::from_utf8_lossy(&stdout));
    let there = refs::at(&executors.workspace, change.moves());
    let reason = why.unwrap_or_else(|| "interrupted".to_owned());
    let (code, error) = match &there {
        Ok(now) if new.as_ref() == Some(now) => (ResultCode::Succeeded, None),
        // Something of it lives, and may yet move the ref.
        _ if state == TranscriptState::Running => {
            (ResultCode::UnknownOutcome, Some(format!("{reason}; it still runs")))
        }
        Ok(now) if now.as_deref() == change.prior() => {
            (ResultCode::Failed, Some(format!("{reason}; `{}` is where it was", change.moves())))
        }
        Ok(_) => {
            (ResultCode::UnknownOutcome, Some(format!("{reason}; `{}` is at neither end", change.moves())))
        }
        Err(error) => (ResultCode::UnknownOutcome, Some(format!("{reason}; {error}"))),
    };
    let mut outcome = blank(executors, request, started, error);
    outcome.result_code = code;
    let now = there.ok().flatten();
    let written = executors.spool.written(request.action_request_id, BEFORE).unwrap_or_else(|error| {
        outcome.observed.push(format!("what stood there before cannot be read: {error}"));
        None
    });
    let before: Option<Before> = written.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let (Some(before), false) = (&before, state == TranscriptState::Running) {
        unlock(executors, change, new.flatten().as_deref(), before, &mut outcome);
    }
    if code == ResultCode::Succeeded {
        outcome.observed.push("found out by looking".to_owned());
        if let Some(before) = before {
            finish(executors, change, now.as_deref(), &before, &mut outcome);
        }
    }
    outcome.outputs.extend(report(change, now.as_deref(), &outcome));
    outcome
}

/// Where git said the ref would be; `Some(None)` is nowhere.
fn new_of(said: &str) -> Option<Option<String>> {
    let new = said.lines().find_map(|line| line.strip_prefix(NEW))?.trim();
    Some((new != NOWHERE).then(|| new.to_owned()))
}

fn blank(executors: &Executors, request: &ActionRequest, started: UnixMs, error: Option<String>) -> Outcome {
    let walls = executors.sandbox.of_git();
    Outcome {
        result_code: ResultCode::Failed,
        changes: Vec::new(),
        outputs: Vec::new(),
        ran: executors.ran("hermit.vcs", request, started),
        sandbox_level: walls.level(),
        observed: vec![walls.told()],
        error,
        kept: Vec::new(),
    }
}

fn refused(executors: &Executors, request: &ActionRequest, started: UnixMs, why: String) -> Outcome {
    blank(executors, request, started, Some(why))
}

/// What was done, as a person would say it to git.
fn summary(change: &VcsChange) -> Vec<String> {
    match change {
        VcsChange::Commit { branch, message, .. } => {
            ["git", "commit", branch, message].map(str::to_owned).to_vec()
        }
        VcsChange::Name { name, at } => ["git", "update-ref", name, at].map(str::to_owned).to_vec(),
        VcsChange::Move { name, from, to, .. } => {
            ["git", "update-ref", name, to, from].map(str::to_owned).to_vec()
        }
        VcsChange::Delete { name, at } => ["git", "update-ref", "-d", name, at].map(str::to_owned).to_vec(),
    }
}

/// For the proposer, and for whoever looks it up.
fn report(change: &VcsChange, now: Option<&str>, outcome: &Outcome) -> Option<Output> {
    let value = json!({
        "op": "vcs",
        "ref": change.moves(),
        "before": change.prior(),
        "after": if outcome.result_code == ResultCode::Succeeded { now } else { change.prior() },
        "result_code": outcome.result_code,
        "files": change.files().len(),
        "observed": outcome.observed,
        "error": outcome.error,
    });
    let bytes = seal::canon::canonical_value(&value).ok()?;
    let about = format!("what became of `{}`", change.moves());
    Some(Output { kind: ArtifactKind::ActionResult, media_type: "application/json".to_owned(), bytes, about })
}
