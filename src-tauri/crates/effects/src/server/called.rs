//! One call of one tool of a server: what is about to be asked is written down before, what came back before anybody is
//! told, so that after a crash it is known whether the server may have been asked; it is never asked twice unless a person
//! said that it may.

use super::alive::{Alive, hidden};
use super::{Heard, ToolReply, Unspoken, secrets_of};
use crate::change::scope::Scope;
use crate::{Error, Executors, Outcome, Output, Spool};
use acts::{ActionRequest, Call, Tool as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::limits::ANSWER_CONTENTS_MAX;
use model::receipt::{ResultCode, SandboxLevel};
use model::tool_server::{ServerRegistration, ServerTool, ToolManifest};
use model::{ActionRequestId, AttemptId, Digest, RelPath, Sensitive, UnixMs};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is written down before a tool is called.
const ASKED: &str = "call.json";
/// What is written down of the answer.
const ANSWER: &str = "answer.json";
/// What is said of a lost call of a tool that only looks.
const ONLY_LOOKED: &str =
    "a person said that this tool only looks, so nothing was to be changed: call it again if it is needed";

/// How a call went, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The tool was not called, for this reason.
    pub(super) not_called: Option<String>,
    /// It may have been called, and nobody answered.
    pub(super) lost: Option<String>,
    /// What the server answered, as JSON text.
    pub(super) answer: Option<String>,
    /// Why the answer is no success.
    pub(super) refused: Option<String>,
    /// What the server says it offers now, where that differs from when it was registered.
    pub(super) changed: Option<ToolManifest>,
    /// Whether its server was started for this call, and remembers nothing of calls before; none where no server was reached.
    #[serde(default)]
    pub(super) started: Option<bool>,
    /// What else was seen, in words.
    pub(super) notes: Vec<String>,
}

impl Record {
    pub(super) fn empty() -> Self {
        Self {
            not_called: None,
            lost: None,
            answer: None,
            refused: None,
            changed: None,
            started: None,
            notes: Vec::new(),
        }
    }

    pub(super) fn not_called(why: String) -> Self {
        Self { not_called: Some(why), ..Self::empty() }
    }

    pub(super) fn lost(why: String) -> Self {
        Self { lost: Some(why), ..Self::empty() }
    }
}

/// Calls the tool and says what came of it; every failure is in the outcome.
pub(crate) fn call(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    asked: &Call,
    started: UnixMs,
    heard: Heard<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Outcome {
    let record = match prepare(executors, scope, request, asked) {
        Ok(pinned) => exchange(executors, request, (asked, &pinned), heard, cancelled),
        Err(error) => Record::not_called(error.to_string()),
    };
    outcome(executors, request, asked, started, record)
}

/// Everything that can say no before the server is started; the server as it was registered.
fn prepare(
    executors: &Executors,
    scope: &Scope<'_>,
    request: &ActionRequest,
    asked: &Call,
) -> Result<ServerRegistration, Error> {
    asked.check().map_err(Error::Request)?;
    for path in &asked.paths {
        scope.covers_path(path)?;
    }
    let lacks = |all: &[String], granted: &[String]| all.iter().find(|one| !granted.contains(one)).cloned();
    if let Some(host) = lacks(asked.reaches(), scope.hosts()) {
        return Err(Error::OutOfScope(format!("the grant does not name the host `{host}`")));
    }
    if let Some(handle) = lacks(&secrets_of(&asked.launch), scope.secrets()) {
        return Err(Error::OutOfScope(format!("the grant does not name `secret:{handle}`")));
    }
    if executors.spool.written(request.action_request_id, ASKED)?.is_some() && !asked.is_repeatable() {
        return Err(Error::Request("this very call was made before, and is not made again".to_owned()));
    }
    if asked.changes_files() {
        let say =
            "a tool that changes files is called in a copy of the folder, and what it did there is missing";
        return Err(Error::Request(say.to_owned()));
    }
    as_registered(executors, asked)
}

/// The server as it was registered. A pin that cannot be read, or is another, blocks.
pub(super) fn as_registered(executors: &Executors, asked: &Call) -> Result<ServerRegistration, Error> {
    let unread = |why: String| Error::Request(format!("the server's registration cannot be read: {why}"));
    let bytes = executors.contents.read(&asked.registration_sha256).map_err(unread)?;
    let pinned: ServerRegistration =
        seal::canon::from_canonical(&bytes).map_err(|e| unread(e.to_string()))?;
    let same = pinned.server == asked.server
        && pinned.launch == asked.launch
        && pinned.manifest.pin().ok() == Some(asked.manifest_sha256)
        && said(&pinned.manifest, asked).map(|(_, pin)| pin) == Some(asked.tool_sha256);
    if !same {
        return Err(unread("it is not the one that was named".to_owned()));
    }
    let pins = executors.pins(&asked.launch);
    // A server that was registered before its package was looked up has none to be held against.
    let of_another =
        asked.launch.package.is_some() && executors.package(&asked.launch, &pins) != asked.launch.package;
    if pins != asked.launch.pins || of_another {
        return Err(Error::Request(format!(
            "the program of the server `{0}` is not the one that was registered; a person looks at it with \
             `hermit tools add {0} --again`",
            asked.server
        )));
    }
    Ok(pinned)
}

/// What a server says of what is asked for.
fn said(manifest: &ToolManifest, asked: &Call) -> Option<(String, Digest)> {
    manifest.part(asked.part, &asked.name)
}

fn exchange(
    executors: &Executors,
    request: &ActionRequest,
    (asked, pinned): (&Call, &ServerRegistration),
    heard: Heard<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Record {
    let id = request.action_request_id;
    let (manifest, mut process, started) = match alive(executors, request, asked, cancelled) {
        Ok(alive) => alive,
        Err(record) => return *record,
    };
    let changed = (manifest != pinned.manifest).then(|| manifest.clone());
    let noted = if said(&manifest, asked) != said(&pinned.manifest, asked) {
        Err(says_otherwise(asked))
    } else {
        crate::change::step(executors, Point::CallSend, &RelPath::ROOT, || {
            let write = if asked.only_looks() { Spool::note } else { Spool::write_down };
            write(&executors.spool, id, ASKED, asked.arguments.as_bytes())
        })
        .map_err(|error| error.to_string())
    };
    let is_noted = noted.is_ok();
    let tool = pinned.manifest.tool(&asked.name).filter(|_| asked.part.is_none());
    let call = super::call_of(asked);
    let record = match noted.map(|()| process.call(call, heard, cancelled)) {
        Err(why) => Record::not_called(why),
        Ok(Err(Unspoken::NotCalled(why))) => Record::not_called(why),
        Ok(Err(Unspoken::Lost(why))) => Record::lost(why),
        Ok(Ok(Err(why))) => {
            Record { refused: Some(format!("the server refused the call: {why}")), ..Record::empty() }
        }
        Ok(Ok(Ok(reply))) => answered(executors, tool, &reply),
    };
    let mut is_kept = record.lost.is_none();
    let mut changed = changed;
    if is_kept && process.has_changed() {
        // It said so while its tool was at work: what it offers now is looked at before anybody calls it again.
        match process.manifest(executors, cancelled) {
            Ok(now) => changed = (now != pinned.manifest).then_some(now),
            Err(_) => is_kept = false,
        }
    }
    let record = Record { changed, started: Some(started), notes: process.connections(), ..record };
    if is_kept {
        executors.sessions.put(key(request, asked), process);
    }
    let write = match (asked.only_looks(), is_noted) {
        (true, _) => Spool::note,
        (false, true) => Spool::write_more,
        (false, false) => Spool::write_down,
    };
    keep(executors, id, record, write)
}

/// Why a tool is not called whose words have changed.
pub(super) fn says_otherwise(asked: &Call) -> String {
    format!(
        "the server `{0}` says something else of `{1}` than when it was registered; it was not called, and a person looks at \
         the difference with `hermit tools add {0} --again`",
        asked.server, asked.name
    )
}

/// The server by the attempt that calls it.
fn key(request: &ActionRequest, asked: &Call) -> (AttemptId, Digest) {
    (request.attempt_id, asked.registration_sha256)
}

/// What the server offers now, the server, and whether it was started for this call: the one of an earlier call of this
/// attempt, while it lives, sees nothing that looks like a key by now and may ask for the same; else a new one, which remembers
/// nothing.
fn alive(
    executors: &Executors,
    request: &ActionRequest,
    asked: &Call,
    cancelled: &dyn Fn() -> bool,
) -> Result<(ToolManifest, Alive, bool), Box<Record>> {
    let hidden = hidden(executors, &asked.launch).map_err(|why| Box::new(Record::not_called(why)))?;
    // A server is told in its greeting what it may ask for: after that has changed it is greeted anew.
    let offers = super::offers_of(asked);
    let kept = executors.sessions.take(&key(request, asked));
    let kept = kept.filter(|process| process.hides(&hidden) && process.offers() == offers);
    if let Some(mut process) = kept
        && let Ok(manifest) = process.manifest(executors, cancelled)
    {
        return Ok((manifest, process, false));
    }
    let mut process = Alive::begin(executors, (&asked.server, &asked.launch), hidden, offers)
        .map_err(|error| Box::new(Record::not_called(error.to_string())))?;
    match process.manifest(executors, cancelled) {
        Ok(manifest) => Ok((manifest, process, true)),
        Err(why) => {
            let notes = process.connections();
            let record = Record { started: Some(true), notes, ..Record::not_called(why) };
            Err(Box::new(keep(executors, request.action_request_id, record, Spool::write_down)))
        }
    }
}

/// Writes a record down without the values of secrets in its words, before anybody is told.
fn keep(
    executors: &Executors,
    id: ActionRequestId,
    record: Record,
    write: fn(&Spool, ActionRequestId, &str, &[u8]) -> Result<(), Error>,
) -> Record {
    let redactor = executors.redactor.now();
    let clean = |text: Option<String>| text.map(|text| redactor.text(&text).rest.into_owned());
    let record = Record {
        not_called: clean(record.not_called),
        lost: clean(record.lost),
        refused: clean(record.refused),
        ..record
    };
    let kept = crate::change::step(executors, Point::CallAnswer, &RelPath::ROOT, || {
        let bytes = serde_json::to_vec(&record).map_err(|e| Error::Request(e.to_string()))?;
        write(&executors.spool, id, ANSWER, &bytes)
    });
    match kept {
        Ok(()) => record,
        // It is known now and may not be known later, so it is told now.
        Err(error) => {
            let mut notes = record.notes.clone();
            notes.push(format!("the answer could not be written down: {error}"));
            Record { notes, ..record }
        }
    }
}

/// An answer held against what the tool says its results are. It was called, whatever it answered.
pub(super) fn answered(executors: &Executors, tool: Option<&ServerTool>, reply: &ToolReply) -> Record {
    let clean = executors.redactor.now().json(reply.result.clone(), true).rest;
    let record = Record { answer: Some(clean.to_string()), ..Record::empty() };
    if reply.is_error {
        return Record { refused: Some("the tool says that it failed".to_owned()), ..record };
    }
    let Some(schema) = tool.and_then(|tool| tool.output_schema.as_ref()) else { return record };
    let fits = match reply.result.get("structuredContent") {
        Some(structured) => executors.servers.fits(schema, &structured.to_string()),
        None => Err("there is no structured result".to_owned()),
    };
    match fits {
        Ok(()) => record,
        Err(why) => Record {
            refused: Some(format!("its answer is not what the tool says its results are: {why}")),
            ..record
        },
    }
}

/// After a crash: what was written down, and nothing else; none where a person said that the call may be made again, and what
/// was written down is missing, or, of a mere look, cannot be read.
pub(crate) fn settle(
    executors: &Executors,
    request: &ActionRequest,
    asked: &Call,
    started: UnixMs,
) -> Option<Outcome> {
    let id = request.action_request_id;
    let looks_again = asked.only_looks() && asked.is_repeatable();
    let record = match (executors.spool.written(id, ASKED), executors.spool.written(id, ANSWER)) {
        (_, Ok(Some(bytes))) => match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) => record,
            Err(_) if looks_again => return None,
            Err(error) => Record::lost(format!("what was answered cannot be read: {error}")),
        },
        (Ok(None), Ok(None)) => Record::not_called("interrupted before the tool was called".to_owned()),
        (Ok(Some(_)), Ok(None)) if asked.is_repeatable() => return None,
        (Ok(Some(_)), Ok(None)) => Record::lost("interrupted while the tool was at work".to_owned()),
        (Err(_), _) | (_, Err(_)) if looks_again => return None,
        (Err(error), _) | (_, Err(error)) => Record::lost(format!("what was asked cannot be told: {error}")),
    };
    Some(outcome(executors, request, asked, started, record))
}

fn outcome(
    executors: &Executors,
    request: &ActionRequest,
    asked: &Call,
    started: UnixMs,
    record: Record,
) -> Outcome {
    let (result_code, error) = verdict(asked, &record);
    let mut outputs = vec![told(asked, &record, result_code, error.as_deref())];
    let media = record.answer.as_deref().map(media_of).unwrap_or_default();
    outputs.extend(media);
    let redactor = executors.redactor.now();
    let kept = record.changed.as_ref().and_then(|manifest| changed(asked, manifest));
    // Words that hold the value of a secret are kept by nobody.
    outputs.extend(kept.filter(|output| redactor.holds(&output.bytes).is_empty()));
    let is_here = asked.launch.url.is_none();
    let mut observed = Vec::new();
    if is_here {
        observed.push(executors.sandbox.told());
    }
    observed.extend(record.started.map(|started| match (started, is_here) {
        (true, true) => "server: started for this call".to_owned(),
        (true, false) => "server: a new conversation for this call".to_owned(),
        (false, _) => "server: the one of an earlier call of this attempt".to_owned(),
    }));
    observed.extend(record.notes);
    if let Some(manifest) = &record.changed {
        let tools = manifest.tools.len();
        observed.push(format!(
            "the server says something else of its tools than when it was registered: {tools} tools"
        ));
    }
    let mut ran = executors.ran("hermit.call", request, started);
    let words = asked.launch.url.clone().map_or_else(|| asked.launch.argv.clone(), |url| vec![url]);
    ran.argv = Some(Sensitive::from(words));
    ran.executable_sha256 = asked.launch.pins.first().map(|pin| pin.sha256);
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs,
        ran,
        sandbox_level: if record.not_called.is_some() || !is_here {
            SandboxLevel::NotApplicable
        } else {
            executors.sandbox.level()
        },
        observed,
        error,
        kept: Vec::new(),
    }
}

/// Whether it happened, by what came back, and why it is no success. Of a lost call nobody can tell, unless a person said that
/// its tool only looks: then nothing was to be changed, and it counts as not done.
fn verdict(asked: &Call, record: &Record) -> (ResultCode, Option<String>) {
    match record {
        Record { not_called: Some(why), .. } => (ResultCode::Failed, Some(why.clone())),
        Record { lost: Some(why), .. } if asked.only_looks() => {
            (ResultCode::Failed, Some(format!("{why}; {ONLY_LOOKED}")))
        }
        Record { lost: Some(why), .. } => (ResultCode::UnknownOutcome, Some(why.clone())),
        Record { refused: Some(why), .. } => (ResultCode::Failed, Some(why.clone())),
        _ => (ResultCode::Succeeded, None),
    }
}

/// What whoever proposed the call is told of it; `error` says why it is no success.
pub(super) fn told(asked: &Call, record: &Record, result_code: ResultCode, error: Option<&str>) -> Output {
    let mut answer: Value =
        record.answer.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    name_media(&mut answer);
    let told = json!({
        "op": "call",
        "server": asked.server,
        "tool": asked.name,
        "result_code": result_code.as_str(),
        "error": error,
        "server_process": record.started.map(|started| if started { "new" } else { "kept" }),
        "answer": answer,
    });
    Output {
        kind: ArtifactKind::ActionResult,
        media_type: "application/json".to_owned(),
        bytes: told.to_string().into_bytes(),
        about: format!("what `{}` of the server `{}` answered", asked.name, asked.server),
    }
}

/// Blocks of an answer that hold bytes, which are kept as contents of their own.
fn media_of(answer: &str) -> Vec<Output> {
    let answer: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    let blocks = answer.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let decoded = blocks.iter().filter_map(|block| {
        let bytes = STANDARD.decode(data_of(block)?).ok()?;
        let kind = match block.get("type").and_then(Value::as_str) {
            Some("image") => ArtifactKind::Image,
            _ => ArtifactKind::BinaryAttachment,
        };
        let named = block.get("mimeType").or_else(|| block.pointer("/resource/mimeType"));
        let media_type = named.and_then(Value::as_str).unwrap_or("application/octet-stream").to_owned();
        Some(Output { kind, media_type, bytes, about: "what a tool of a server answered".to_owned() })
    });
    decoded.take(ANSWER_CONTENTS_MAX).collect()
}

fn data_of(block: &Value) -> Option<&str> {
    block.get("data").or_else(|| block.pointer("/resource/blob")).and_then(Value::as_str)
}

/// In an answer as it is told, bytes are named by their digest.
fn name_media(answer: &mut Value) {
    let Some(blocks) = answer.get_mut("content").and_then(Value::as_array_mut) else { return };
    for block in blocks {
        let Some(data) = data_of(block) else { continue };
        // What are no bytes must not pass for the name of some.
        let named = match STANDARD.decode(data) {
            Ok(bytes) => json!(format!("{} bytes, sha256 {}", bytes.len(), Digest::of(&bytes))),
            Err(_) => json!("(no bytes in base64)"),
        };
        let at = if block.get("data").is_some() { "/data" } else { "/resource/blob" };
        if let Some(data) = block.pointer_mut(at) {
            *data = named;
        }
    }
}

/// What a server says it offers now.
pub(super) fn changed(asked: &Call, manifest: &ToolManifest) -> Option<Output> {
    let now = ServerRegistration {
        server: asked.server.clone(),
        launch: asked.launch.clone(),
        manifest: manifest.clone(),
    };
    Some(Output {
        kind: ArtifactKind::ToolManifest,
        media_type: "application/json".to_owned(),
        bytes: seal::canon::to_canonical(&now).ok()?,
        about: format!("what the server `{}` says it offers now", asked.server),
    })
}
