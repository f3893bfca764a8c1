//! Running one command.

use super::capture::Capture;
use super::manifest::{Difference, Manifest};
use super::removal::remove_tree;
use super::spool::{self, Begun, Ended, Mark};
use super::supervise::{Listener, end_all};
use super::view::{View, view};
use crate::change::scope::Scope;
use crate::egress_proxy::Outlet;
use crate::reads::read::encode;
use crate::sandbox::{Asks, Sandbox};
use crate::system::process_group;
use crate::{Error, Executors, Outcome, Output, Progress};
use acts::{Action, ActionRequest};
use model::action::Reach;
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::limits::COMMAND_MS_MAX;
use model::receipt::ResultCode;
use model::{Digest, RelPath, Sensitive, UnixMs};
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// A command as it was asked for.
pub(crate) struct Asked<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) cwd: &'a RelPath,
    pub(crate) network: bool,
    pub(crate) timeout: Duration,
    pub(crate) hosts: &'a [String],
    pub(crate) secrets: &'a [String],
}

/// A command as it ended.
pub(crate) struct Ran {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) ended_by: Option<String>,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) mark: Mark,
    pub(crate) program: Option<Digest>,
    /// What could not be lent to it or taken back, and what its walls may have kept from it, in words.
    pub(crate) lent: Vec<String>,
}

impl Ran {
    /// Its exit status.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Why it is no success, if it is none.
    pub(crate) fn error(&self) -> Option<String> {
        match &self.mark {
            Mark::Started => {}
            Mark::Nothing => return Some(format!("the sandbox could not be set up: {}", tail(&self.stderr))),
            Mark::Failed(why) => return Some(why.clone()),
        }
        if self.ended_by.is_some() || self.code() == Some(0) {
            return self.ended_by.clone();
        }
        Some(match (self.code(), self.status.as_ref().and_then(process_group::signal)) {
            (Some(code), _) => format!("the command ended with status {code}"),
            (None, Some(signal)) => format!("the command was ended by signal {signal}"),
            (None, None) => "how the command ended is not known".to_owned(),
        })
    }

    /// What of its output is not kept, and what was not lent or taken back, in words.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = String> {
        let lent = self.lent.clone();
        [("standard output", self.stdout.dropped()), ("standard error", self.stderr.dropped())]
            .into_iter()
            .filter(|(_, dropped)| *dropped > 0)
            .map(|(name, dropped)| format!("{dropped} bytes of {name} were left out"))
            .chain(lent)
    }
}

/// Runs the command of `request`; every failure is in the outcome.
pub(crate) fn run(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    started: UnixMs,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Outcome {
    let difference = Difference::default();
    let mut stage = Stage {
        executors,
        request,
        started,
        difference,
        begun: None,
        spawned: false,
        compared: false,
        connections: Vec::new(),
        reach: Reach::default(),
    };
    let ended = asked(scope, &request.action).and_then(|asked| {
        let ran = stage.run(&asked, scope, cancelled, progress)?;
        Ok((asked, ran))
    });
    stage.clean();
    match ended {
        Ok((asked, ran)) => stage.outcome(&asked, ran),
        Err(error) => stage.failed(&error),
    }
}

fn asked<'a>(scope: &Scope<'_>, action: &'a Action) -> Result<Asked<'a>, Error> {
    let asked = words(action)?;
    scope.covers_path(asked.cwd)?;
    scope.covers_path(&RelPath::ROOT)?;
    if asked.network && !scope.network() {
        return Err(Error::OutOfScope(
            "the command asks for the network and the grant names none".to_owned(),
        ));
    }
    let lacks =
        |asked: &[String], granted: &[String]| asked.iter().find(|one| !granted.contains(one)).cloned();
    if let Some(host) = lacks(asked.hosts, scope.hosts()) {
        return Err(Error::OutOfScope(format!("the grant does not name the host `{host}`")));
    }
    if let Some(handle) = lacks(asked.secrets, scope.secrets()) {
        return Err(Error::OutOfScope(format!("the grant does not name `secret:{handle}`")));
    }
    Ok(asked)
}

/// A command's words, as far as they can be run at all.
pub(crate) fn words(action: &Action) -> Result<Asked<'_>, Error> {
    let Action::Command(acts::Command { argv, cwd, network, timeout_ms, hosts, secrets }) = action else {
        return Err(Error::Request("the request is not a command".to_owned()));
    };
    if argv.first().is_none_or(String::is_empty) || argv.iter().any(|word| word.contains('\0')) {
        return Err(Error::Request("a command needs a program, and words without a zero byte".to_owned()));
    }
    let timeout = Duration::from_millis((*timeout_ms).min(COMMAND_MS_MAX));
    Ok(Asked { argv, cwd, network: *network, timeout, hosts, secrets })
}

struct Stage<'a> {
    executors: &'a Executors,
    request: &'a ActionRequest,
    started: UnixMs,
    difference: Difference,
    /// The transcript's folder, once it is ours.
    begun: Option<PathBuf>,
    spawned: bool,
    compared: bool,
    /// What went through the proxy, in words.
    connections: Vec<String>,
    /// What was hidden from it.
    reach: Reach,
}

impl Stage<'_> {
    fn run(
        &mut self,
        asked: &Asked<'_>,
        scope: &Scope<'_>,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Ran, Error> {
        let executors = self.executors;
        if asked.network && !executors.sandbox.can_hold_network() {
            return Err(Error::Request(executors.sandbox.lacks(Asks::Hosts)));
        }
        let marked = executors.sandbox.marks_start();
        let begun =
            Begun { argv: asked.argv.to_vec(), cwd: asked.cwd.clone(), network: asked.network, marked };
        let (folder, mark) = executors.spool.begin(self.request.action_request_id, &begun)?;
        self.begun = Some(folder.clone());
        let mut view = view(executors, asked.cwd, &folder)?;
        if executors.sandbox.can_hide() {
            // Looked for again: a key that has come since is hidden as well.
            self.reach = executors.reach(&self.request.action);
            view.mask(&self.reach.hidden, &folder)?;
        }
        let outlet = asked.network.then(|| self.outlet(asked, scope, &folder)).transpose()?;
        view.proxy = outlet.as_ref().map(Outlet::way_out);
        let before =
            Manifest::before(&executors.workspace, &folder.join("before"), &executors.redactor.now())?;
        let behind = (executors, &executors.sandbox);
        let ran = spawn(behind, asked, &view, &folder, mark, &mut self.spawned, cancelled, progress);
        // Also of a command whose end nobody saw: what it sent is on record.
        self.connections = outlet.map(Outlet::close).unwrap_or_default();
        let mut ran = ran?;
        self.difference = before.difference(executors)?;
        self.compared = true;
        let ended = Ended {
            exit_code: ran.status.and_then(|status| status.code()),
            signal: ran.status.as_ref().and_then(process_group::signal),
            ended_by: ran.ended_by.clone(),
            stdout_bytes: ran.stdout.total(),
            stderr_bytes: ran.stderr.total(),
        };
        crate::change::step(executors, Point::CommandTranscript, asked.cwd, || spool::end(&folder, &ended))?;
        if marked {
            ran.mark =
                spool::mark(&folder).map_err(|source| Error::Spool { doing: "reading the mark", source })?;
        }
        Ok(ran)
    }

    /// The way out, for the hosts and secrets of the grant and no others.
    fn outlet(&self, asked: &Asked<'_>, scope: &Scope<'_>, folder: &Path) -> Result<Outlet, Error> {
        let salt = self.request.action_request_id.to_string();
        let (sandbox, secrets) = (&self.executors.sandbox, &*self.executors.secrets);
        let opened = Outlet::open((folder, sandbox.meets()), scope.hosts(), asked.secrets, secrets, &salt);
        opened.map_err(Error::Request)
    }

    /// Copies aside have served their comparison; where it was not made they wait for who settles.
    fn clean(&self) {
        let Some(folder) = &self.begun else { return };
        let _ = remove_tree(&folder.join("private"));
        if self.compared || !self.spawned {
            let _ = remove_tree(&folder.join("before"));
        }
    }

    fn outcome(mut self, asked: &Asked<'_>, ran: Ran) -> Outcome {
        let (code, error) = (ran.code(), ran.error());
        let result_code = match (&error, self.difference.changes.is_empty()) {
            (None, _) => ResultCode::Succeeded,
            (Some(_), true) => ResultCode::Failed,
            (Some(_), false) => ResultCode::Partial,
        };
        let mut observed = vec![self.executors.sandbox.told()];
        observed.extend(super::reach::told(&self.reach));
        observed.append(&mut self.connections);
        observed.append(&mut self.difference.notes);
        observed.extend(ran.left_out());
        let mut happened = self.executors.ran("hermit.command", self.request, self.started);
        happened.argv = Some(Sensitive::from(asked.argv.to_vec()));
        happened.executable_sha256 = ran.program;
        happened.exit_code = code;
        Outcome {
            result_code,
            changes: self.difference.changes,
            outputs: transcript(asked, &ran, code).into_iter().collect(),
            ran: happened,
            sandbox_level: self.executors.sandbox.level(),
            observed,
            error,
            kept: self.difference.kept,
        }
    }

    fn failed(self, error: &Error) -> Outcome {
        let result_code = if self.spawned { ResultCode::UnknownOutcome } else { ResultCode::Failed };
        Outcome {
            result_code,
            changes: self.difference.changes,
            outputs: Vec::new(),
            ran: self.executors.ran("hermit.command", self.request, self.started),
            sandbox_level: self.executors.sandbox.level(),
            observed: [self.connections, self.difference.notes].concat(),
            error: Some(error.to_string()),
            kept: self.difference.kept,
        }
    }
}

/// Starts a command behind these walls and hears it to its end. `spawned` says whether it may have begun.
#[allow(clippy::too_many_arguments, reason = "everything that one process needs, once")]
pub(crate) fn spawn(
    (executors, walls): (&Executors, &Sandbox),
    asked: &Asked<'_>,
    view: &View,
    folder: &Path,
    mark: File,
    spawned: &mut bool,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Ran, Error> {
    let program = asked.argv.first().map_or("", String::as_str);
    let executable = crate::sandbox::program(view, program).and_then(|path| digest_file(&path));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let cpu = asked.timeout.as_secs().saturating_add(1).saturating_mul(cores);
    let command = walls.command(view, asked.argv, asked.network, cpu);
    let (mut command, lent) = command.map_err(Error::Request)?;
    let stdin = if walls.marks_start() { Stdio::from(mark) } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let fail = |e: std::io::Error| Error::Spawn { program: program.to_owned(), why: e.to_string() };
    process_group::lead(&mut command).map_err(fail)?;
    executors
        .faults
        .before(Point::CommandSpawn)
        .map_err(|e| Error::io("preparing a command in", asked.cwd, e))?;
    let mut child = command.spawn().map_err(fail)?;
    // The words and the standard input of the command are dropped: the lock is the command's alone from here.
    drop(command);
    *spawned = true;
    let result = executors
        .faults
        .after(Point::CommandSpawn)
        .map_err(|e| Error::io("completing a command in", asked.cwd, e))
        .and_then(|()| {
            Listener::new(folder, &executors.redactor)?.listen(
                &mut child,
                asked.timeout,
                walls.bounds(),
                cancelled,
                progress,
            )
        });
    if result.is_err() {
        end_all(&mut child);
    }
    let (status, ended_by, stdout, stderr) = result?;
    let mut lent = lent.take_back();
    if status.is_none_or(|status| !status.success()) {
        lent.extend(walls.may_have_kept_from(&stderr.kept()));
    }
    Ok(Ran { status, ended_by, stdout, stderr, mark: Mark::Started, program: executable, lent })
}

fn tail(capture: &Capture) -> String {
    let kept = capture.kept();
    String::from_utf8_lossy(kept.get(kept.len().saturating_sub(500)..).unwrap_or(&[])).trim().to_owned()
}

/// What it printed, as an artifact.
pub(crate) fn transcript(asked: &Asked<'_>, ran: &Ran, code: Option<i32>) -> Option<Output> {
    let mut value = json!({
        "op": "command",
        "argv": asked.argv,
        "cwd": asked.cwd.to_string(),
        "network": asked.network,
        "exit_code": code,
        "ended_by": ran.ended_by,
    });
    let object = value.as_object_mut()?;
    for (name, capture) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        let (_, encoding, text) = encode(capture.kept(), false);
        object.insert(name.to_owned(), json!(text));
        object.insert(format!("{name}_encoding"), json!(encoding));
        object.insert(format!("{name}_bytes"), json!(capture.total()));
        object.insert(format!("{name}_left_out"), json!(capture.dropped()));
    }
    let bytes = seal::canon::canonical_value(&value).ok()?;
    let about = format!("what `{}` printed", asked.argv.join(" "));
    Some(Output {
        kind: ArtifactKind::CommandTranscript,
        media_type: "application/json".to_owned(),
        bytes,
        about,
    })
}

pub(crate) fn digest_file(path: &Path) -> Option<Digest> {
    disk::digest(File::open(path).ok()?).ok().map(|(digest, _)| digest)
}
