//! A turn of a guest: the agent of another program works in a staged view, reaches the hosts of its grant through the
//! proxy, and has a HOME of its own. What its view shows as changed is told, its bytes are kept, and nothing of it is in
//! the folder: that is a change set of its own.

use super::door::{COMMAND, Cord, Door};
use super::work::{Lent, Went, Work};
use super::{Staging, Unstaged};
use crate::command::removal::remove_tree;
use crate::command::run::{Asked, digest_file, spawn};
use crate::command::view::{View, view};
use crate::egress_proxy::Outlet;
use crate::sandbox::Asks;
use crate::sandbox::bwrap::EXEC_INSIDE;
use crate::tools::Execution;
use crate::{Error, Executors, Outcome, Output, Progress};
use acts::{ActionRequest, Guest};
use model::action::ChangeItem;
use model::artifact::ArtifactKind;
use model::guest::{GuestLaunch, GuestReport};
use model::receipt::ResultCode;
use model::{RelPath, Sensitive, UnixMs, lasting};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long it may take to tell its version.
const VERSION: Duration = Duration::from_secs(20);
/// Letters of what it calls its version.
const VERSION_CHARS: usize = 80;
/// Lines of the end of what it printed that an error tells.
const LAST_LINES: usize = 8;
/// Letters of these.
const LAST_CHARS: usize = 800;

/// What is known of a turn that is over.
struct Turn {
    version: Option<String>,
    staging: Result<Staging, String>,
    went: Went,
}

/// Runs the turn of a guest; every failure is in the outcome.
pub(crate) fn run(act: &Execution<'_>, guest: &Guest, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
    let turn = match ready(act, guest) {
        Err(why) => Turn { version: None, staging: Err(why), went: Went::default() },
        Ok(hidden) => worked(act, guest, hidden, progress),
    };
    outcome(act.executors, act.request, guest, turn, act.started)
}

/// What it must not see, where it can be started at all.
fn ready(act: &Execution<'_>, guest: &Guest) -> Result<Vec<RelPath>, String> {
    let Execution { executors, scope, .. } = act;
    let launch = &guest.launch;
    scope.covers_path(&RelPath::ROOT).map_err(|e| e.to_string())?;
    let lacks =
        |asked: &[String], granted: &[String]| asked.iter().find(|one| !granted.contains(one)).cloned();
    if let Some(host) = lacks(&launch.hosts, scope.hosts()) {
        return Err(format!("the grant does not name the host `{host}`"));
    }
    if let Some(handle) = lacks(&launch.handles(), scope.secrets()) {
        return Err(format!("the grant does not name `secret:{handle}`"));
    }
    if !executors.sandbox.is_confined() || !executors.sandbox.can_hold_network() {
        return Err(executors.sandbox.lacks(Asks::Guest));
    }
    if executors.sandbox.is_by_profile() && launch.speaks_acp() {
        // What speaks to it is started inside, by a socket that no profile opens.
        return Err("a guest that is spoken to by the Agent Client Protocol is not started behind a Seatbelt profile yet; \
                    name one that is given its prompt as a word, without `acp:`"
            .to_owned());
    }
    if !executors.workspace.hidden().is_empty() {
        return Err("Hermit's own store lies in this folder; choose a smaller folder".to_owned());
    }
    if digest_file(Path::new(&launch.program.path)) != Some(launch.program.sha256) {
        return Err(format!(
            "the program `{}` is gone or is another one than when the task was begun; begin it anew",
            launch.program.path
        ));
    }
    crate::server::hidden_from(executors, vec!["guest".to_owned()])
}

fn worked(
    act: &Execution<'_>,
    guest: &Guest,
    hidden: Vec<RelPath>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Turn {
    let Execution { executors, request, cancelled, .. } = act;
    let launch = &guest.launch;
    let home = match executors.spool.home(request.attempt_id, &launch.home, guest.goes_on) {
        Ok(home) => home,
        Err(error) => return Turn { version: None, staging: Err(error.to_string()), went: Went::default() },
    };
    let version = version(executors, launch, &hidden, *cancelled);
    let (argv, hosts, secrets) = (argv(guest), &launch.hosts, launch.handles());
    let asked = Asked {
        argv: &argv,
        cwd: &RelPath::ROOT,
        network: !hosts.is_empty(),
        timeout: Duration::from_millis(guest.timeout_ms),
        hosts,
        secrets: &secrets,
    };
    let lend = |view: &mut View, folder: &Path| lend(act, guest, &home, view, folder);
    let went = RefCell::default();
    let work = Work::Guest { asked, hidden, home: &home, lend: &lend, went: &went };
    let staging = executors.stage_work(request.attempt_id, &work, *cancelled, progress);
    let staging =
        staging.map_err(|(Unstaged::Cannot(why) | Unstaged::Failed(why) | Unstaged::Changed(why, _))| why);
    let staging = staging.and_then(|staging| keep(executors, request, &staging).map(|()| staging));
    Turn { version, staging, went: went.into_inner() }
}

/// What is started in its view: its program, or what speaks to it there.
fn argv(guest: &Guest) -> Vec<String> {
    let words = guest.launch.argv(&guest.prompt, guest.goes_on);
    if !guest.launch.speaks_acp() {
        return words;
    }
    let again = guest.goes_on.then_some("--goes-on");
    let speaker = [EXEC_INSIDE, "--acp"].into_iter().chain(again).chain([guest.prompt.as_str(), "--"]);
    speaker.map(str::to_owned).chain(words).collect()
}

/// What its view has beside the folder: HOME, program, way out, and stand-ins for its secrets.
fn lend(
    act: &Execution<'_>,
    guest: &Guest,
    home: &Path,
    view: &mut View,
    folder: &Path,
) -> Result<Lent, Error> {
    let Execution { executors, request, .. } = act;
    let launch = &guest.launch;
    equip(view, launch, home);
    let door = Door::open(&*executors.door, folder, executors.workspace.root());
    let mut notes = Vec::new();
    let door = match door.map_err(|e| e.to_string()).and_then(|door| door) {
        Ok(door) => door.map(|(door, socket)| {
            view.tools = Some(socket);
            view.told.push(("HERMIT_MCP".to_owned(), COMMAND.into()));
            door
        }),
        // It works without them.
        Err(why) => {
            notes.push(format!("Hermit's own tools could not be offered to it: {why}"));
            None
        }
    };
    let cord = launch.speaks_acp().then(|| Cord::lay(folder)).transpose();
    let cord = cord.map_err(|source| Error::Spool { doing: "making a way to call a guest off", source })?;
    let cord = cord.map(|(cord, socket)| {
        view.cord = Some(socket);
        cord
    });
    if launch.hosts.is_empty() {
        return Ok(Lent { outlet: None, door, cord, notes });
    }
    let salt = request.action_request_id.to_string();
    let at = (folder, executors.sandbox.meets());
    let outlet = Outlet::open(at, &launch.hosts, &launch.handles(), &*executors.secrets, &salt)
        .map_err(Error::Request)?;
    outlet.keep_sent();
    for (name, handle) in &launch.secrets {
        view.told.extend(outlet.stand_in(handle).map(|stand_in| (name.clone(), stand_in)));
    }
    view.proxy = Some(outlet.way_out());
    Ok(Lent { outlet: Some(outlet), door, cord, notes })
}

fn equip(view: &mut View, launch: &GuestLaunch, home: &Path) {
    view.home = Some(home.to_owned());
    view.reads = launch.reads.iter().map(PathBuf::from).collect();
    // Programs of its own kind lie beside it: the interpreter that its first line names.
    let beside =
        Path::new(&launch.program.name).parent().into_iter().chain(Path::new(&launch.program.path).parent());
    let mut path = OsString::new();
    for folder in beside.filter(|folder| folder.is_absolute()) {
        path.push(folder);
        path.push(":");
    }
    path.push(crate::sandbox::PATH);
    view.told.push(("PATH".to_owned(), path));
    view.told.extend(launch.environment.iter().map(|(name, value)| (name.clone(), value.into())));
}

/// What the program calls its version, asked behind the walls, without a network and in a folder that it cannot change.
fn version(
    executors: &Executors,
    launch: &GuestLaunch,
    hidden: &[RelPath],
    cancelled: &dyn Fn() -> bool,
) -> Option<String> {
    if launch.tells_version.is_empty() {
        return None;
    }
    let folder = executors.spool.probe().ok()?;
    let told = asked_version(executors, launch, hidden, &folder, cancelled);
    let _ = remove_tree(&folder);
    told.ok().flatten()
}

fn asked_version(
    executors: &Executors,
    launch: &GuestLaunch,
    hidden: &[RelPath],
    folder: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<Option<String>, Error> {
    let fail = |source| Error::Spool { doing: "asking a guest for its version", source };
    let home = folder.join("home");
    std::fs::create_dir(&home).map_err(fail)?;
    let mark = File::create_new(folder.join("started")).map_err(fail)?;
    let mut view = view(executors, &RelPath::ROOT, folder)?;
    view.read_only = true;
    view.mask(hidden, folder)?;
    equip(&mut view, launch, &home);
    let argv: Vec<String> =
        std::iter::once(&launch.program.path).chain(&launch.tells_version).cloned().collect();
    let asked = Asked {
        argv: &argv,
        cwd: &RelPath::ROOT,
        network: false,
        timeout: VERSION,
        hosts: &[],
        secrets: &[],
    };
    let behind = (executors, &executors.sandbox);
    let ran = spawn(behind, &asked, &view, folder, mark, &mut false, cancelled, &mut |_| {})?;
    let printed = String::from_utf8_lossy(&ran.stdout.kept()).into_owned();
    let line = printed.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.filter(|_| ran.code() == Some(0));
    Ok(line.map(|line| line.chars().filter(|c| !c.is_control()).take(VERSION_CHARS).collect()))
}

/// The bytes that its view shows go to the store, so that they can be carried over.
fn keep(executors: &Executors, request: &ActionRequest, staging: &Staging) -> Result<(), String> {
    for item in &staging.staged.items {
        if let ChangeItem::Write { path, content_sha256, .. } = item {
            let bytes = executors.staged_bytes(request.attempt_id, path, content_sha256);
            let bytes = bytes.map_err(|e| e.to_string())?;
            executors.contents.keep(&bytes).map_err(|why| format!("nothing was done: `{path}`: {why}"))?;
        }
    }
    Ok(())
}

fn outcome(
    executors: &Executors,
    request: &ActionRequest,
    guest: &Guest,
    turn: Turn,
    started: UnixMs,
) -> Outcome {
    let mut ran = executors.ran(&request.action.executor(), request, started);
    ran.argv = Some(Sensitive::from(guest.launch.argv(&guest.prompt, guest.goes_on)));
    ran.executable_sha256 = Some(guest.launch.program.sha256);
    let took = ran.finished_at.0.saturating_sub(started.0);
    let Went { through, sent, transcript, saw } = turn.went;
    let (mut report, notes, more) = match turn.staging {
        Err(why) => (report(guest, ResultCode::Failed, Some(why)), Vec::new(), Vec::from_iter(transcript)),
        Ok(staging) => {
            let error = staging.staged.error.as_ref().map(|why| with_last_lines(why, &staging.printed));
            let code = if error.is_none() { ResultCode::Succeeded } else { ResultCode::Failed };
            ran.exit_code = staging.staged.exit_code;
            let mut report = report(guest, code, error);
            let (tells, transcript) = (guest.launch.tells, &staging.transcript.bytes);
            // It names places as it saw them.
            let root = saw.as_deref().unwrap_or(executors.workspace.root());
            let told = super::told::told(tells, transcript, root);
            (report.told, report.told_bytes) = (told.changed, told.left);
            (report.version, report.helpers) = (told.version, told.helpers);
            (report.exit_code, report.items) = (staging.staged.exit_code, staging.staged.items);
            report.left_out = staging.staged.left_out;
            let kept = vec![staging.transcript, staging.diff];
            (report, staging.staged.notes.into_iter().chain(told.read).collect(), kept)
        }
    };
    report.version = turn.version.or(report.version);
    report.summary = in_words(&report, took);
    let mut observed: Vec<String> =
        std::iter::once(report.summary.clone()).chain(through).chain(notes).collect();
    observed.extend(
        report.version.iter().map(|version| format!("it calls its version \u{201c}{version}\u{201d}")),
    );
    let error = report.error.clone();
    Outcome {
        result_code: report.result_code,
        changes: Vec::new(),
        outputs: told_of(&report).into_iter().chain(more).chain(sent).collect(),
        ran,
        sandbox_level: executors.sandbox.level(),
        observed,
        error,
        kept: Vec::new(),
    }
}

/// The outcome of a turn during which Hermit was ended.
pub(crate) fn interrupted(
    executors: &Executors,
    request: &ActionRequest,
    guest: &Guest,
    began: UnixMs,
) -> Outcome {
    let why = "Hermit was ended while the guest worked; the guest ended with it, and nothing of its work is left or in \
               the folder";
    let mut report = report(guest, ResultCode::Failed, Some(why.to_owned()));
    report.interrupted = true;
    why.clone_into(&mut report.summary);
    let mut ran = executors.ran(&request.action.executor(), request, began);
    ran.executable_sha256 = Some(guest.launch.program.sha256);
    let mut observed = vec![why.to_owned()];
    if !guest.launch.hosts.is_empty() {
        observed.push(format!("what it sent to {} before is not known", guest.launch.hosts.join(", ")));
    }
    Outcome {
        result_code: ResultCode::Failed,
        changes: Vec::new(),
        outputs: told_of(&report).into_iter().collect(),
        ran,
        sandbox_level: executors.sandbox.level(),
        observed,
        error: report.error,
        kept: Vec::new(),
    }
}

fn report(guest: &Guest, result_code: ResultCode, error: Option<String>) -> GuestReport {
    GuestReport {
        result_code,
        summary: String::new(),
        guest: guest.launch.guest.clone(),
        version: None,
        prompt: guest.prompt.clone(),
        heard: guest.heard,
        exit_code: None,
        error,
        interrupted: false,
        items: Vec::new(),
        left_out: Vec::new(),
        told: None,
        told_bytes: BTreeMap::new(),
        helpers: Vec::new(),
    }
}

fn in_words(report: &GuestReport, took_ms: i64) -> String {
    let took = lasting(Duration::from_secs((took_ms / 1000).max(0).unsigned_abs()));
    let what = match (report.items.len(), &report.error) {
        (0, Some(why)) => return format!("{}: {why}", report.guest),
        (0, None) => "changed nothing".to_owned(),
        (many, None) => format!("changed {}", acts::count(many, "place")),
        (many, Some(why)) => format!("changed {}, but {why}", acts::count(many, "place")),
    };
    format!("{} worked for {took} on its copy and {what}", report.guest)
}

/// Why it was no success, with the last that it printed.
fn with_last_lines(why: &str, printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or(&[]).join(" / ");
    let skipped = last.chars().count().saturating_sub(LAST_CHARS);
    let last: String = last.chars().skip(skipped).filter(|c| !c.is_control()).collect();
    if last.is_empty() { why.to_owned() } else { format!("{why}; it said last: {last}") }
}

fn told_of(report: &GuestReport) -> Option<Output> {
    // A report is made of texts and whole numbers, which always have a canonical form.
    let bytes = seal::canon::to_canonical(report).ok()?;
    let about = format!("what the turn of {} came to", report.guest);
    Some(Output { kind: ArtifactKind::GuestReport, media_type: "application/json".to_owned(), bytes, about })
}
