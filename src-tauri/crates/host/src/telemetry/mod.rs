//! Telemetry in the form of OpenTelemetry, for a collector that a person names (`telemetry.otlp` in `config.json`): each task that ended
//! as a trace of its steps, attempts and actions, and counts of the host. Off until then: no connection is opened.
//!
//! It tells identifiers, kinds, codes, numbers and times, and no content (see `spans`).
//!
//! A thread of its own reads the log behind the work and sends what ended in bounded batches, within a time. A collector that does not
//! answer holds up nobody: the log keeps what is to be told, and a small file how far that came, so that the next host goes on from
//! there. What ended before it was turned on, or while it is off, is never told.

mod otlp;
mod record;
mod settings;
mod spans;

use crate::chance::SystemClock;
use crate::logs::OrLogged as _;
use crate::model_http::poster;
use crate::{Config, Home, Local};
use ledger::Reader;
use model::{Body, Clock as _, Digest, TaskId, action::ActionClass, receipt::ResultCode};
use otlp::Resource;
use record::Record;
use serde_json::Value as Json;
pub use settings::TelemetrySettings;
use spans::{Trace, Tracing};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wire::host::{Level, TelemetryStands};
use words::task::TaskStatus;

/// Spans of one request.
const BATCH_SPANS: usize = 256;
/// Events that are read at once.
const PAGE: usize = 512;
/// Events of one task that are read.
const EVENTS_MAX: usize = 200_000;
/// Tasks that are read before they are sent.
const TASKS_AT_ONCE: usize = 8;
/// How often the log is looked at and counts are sent, where nothing happens.
const LOOK: Duration = Duration::from_secs(60);
/// How long what could not be sent waits, the longer the more often.
const AGAIN: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(15), Duration::from_secs(60), Duration::from_secs(300)];
/// How long a connection may take to come about, and an answer.
const CONNECT: Duration = Duration::from_secs(3);
const ANSWER: Duration = Duration::from_secs(10);

/// By how much a disk's clock may lag behind that of the log, in milliseconds.
const LAG_MS: i64 = 20;

/// Counts since the host began.
#[derive(Debug, Default)]
struct Totals {
    tasks: BTreeMap<TaskStatus, u64>,
    actions: BTreeMap<(ActionClass, ResultCode), u64>,
    /// Tokens that models read and wrote.
    tokens: (u64, u64),
    failures: u64,
    /// Events of the log.
    events: u64,
}

impl Totals {
    fn add(&mut self, trace: &Trace) {
        if let Some(status) = trace.status {
            *self.tasks.entry(status).or_default() += 1;
        }
        for (key, n) in &trace.actions {
            *self.actions.entry(*key).or_default() += n;
        }
        self.tokens.0 = self.tokens.0.saturating_add(trace.tokens.0);
        self.tokens.1 = self.tokens.1.saturating_add(trace.tokens.1);
    }
}

/// What came of a request.
enum Sent {
    /// The collector took it.
    Taken,
    /// It may take it later.
    Later(String),
    /// It will not.
    Refused(String),
}

/// Where batches go.
struct Collector {
    address: String,
    authorities: Option<PathBuf>,
}

struct Exporter {
    local: Weak<Local>,
    resource: Resource,
    totals: Totals,
    /// How often in a row nothing could be sent.
    tries: usize,
    /// When the log is looked at again, whatever happens.
    next: Instant,
    /// When counts were sent last.
    counted: Option<Instant>,
    /// How far it came; in its file as often as something was sent.
    record: Option<Record>,
    /// When the settings were written that it looked at last.
    settings_at: Option<SystemTime>,
}

/// What came of a look at the log.
enum Looked {
    /// Everything that ended is told.
    Done,
    /// There is more.
    More,
    /// The collector takes nothing just now.
    Waits,
}

/// Tells a collector from now on, wherever a person names one; it ends with this process's store. Where there is no thread to be had
/// everything else works.
pub(crate) fn begin(local: &Arc<Local>) {
    let Ok(log) = api::Host::reader(&**local) else { return };
    let instance: String = Digest::of(log.log_id().as_bytes()).to_string().chars().take(16).collect();
    let mut exporter = Exporter {
        local: Arc::downgrade(local),
        resource: Resource { instance, since: SystemClock.now().0 },
        totals: Totals::default(),
        tries: 0,
        next: Instant::now(),
        counted: None,
        record: None,
        settings_at: written_at(local.home()),
    };
    let (send, heard) = sync_channel(1);
    let run = move || exporter.run(&heard);
    match std::thread::Builder::new().name("telemetry".to_owned()).spawn(run) {
        Ok(_) => local.notices.tell_of_statuses(Some(send)),
        Err(error) => tracing::warn!(%error, "no telemetry is sent while this host runs"),
    }
}

impl Exporter {
    fn run(&mut self, heard: &Receiver<()>) {
        loop {
            match heard.recv_timeout(self.next.saturating_duration_since(Instant::now())) {
                // Where sending fails, its time is waited for; only whether it is still wanted is seen at once.
                Ok(()) if self.tries > 0 && Instant::now() < self.next => {
                    self.heed();
                    continue;
                }
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let wait = match self.look() {
                None => return,
                Some(Looked::Done) => LOOK,
                Some(Looked::More) => Duration::ZERO,
                Some(Looked::Waits) => {
                    let wait = AGAIN.get(self.tries.saturating_sub(1)).or(AGAIN.last());
                    wait.copied().unwrap_or(LOOK)
                }
            };
            self.next = Instant::now() + wait;
        }
    }

    /// Forgets what it was to tell where nobody names a collector any more.
    fn heed(&mut self) {
        let Some(local) = self.local.upgrade() else { return };
        let home = local.home().clone();
        drop(local);
        let config = Config::load(&home).or_logged("no telemetry is sent");
        if config.is_some_and(|config| config.telemetry.otlp.is_none()) {
            self.turned_off(&home);
        }
    }

    fn turned_off(&mut self, home: &Home) {
        (self.record, self.tries) = (None, 0);
        Record::forget(home);
    }

    /// Sends what ended since the last look; none where the store is closed.
    fn look(&mut self) -> Option<Looked> {
        let local = self.local.upgrade()?;
        let home = local.home().clone();
        let reader = api::Host::reader(&*local).map_err(|error| error.message);
        drop(local);
        // First how far the log is: what is in it by then ended before these settings are read.
        let log = reader.and_then(|reader| {
            let head = reader.log_head().map_err(|e| e.to_string())?;
            Ok((reader, head))
        });
        let written = written_at(&home);
        let Some(config) = Config::load(&home).or_logged("no telemetry is sent") else {
            return Some(Looked::Done);
        };
        let Some(address) = config.telemetry.otlp.clone() else {
            self.turned_off(&home);
            return Some(Looked::Done);
        };
        let Some((reader, head)) = log.or_logged("the log cannot be read for telemetry") else {
            return Some(Looked::Done);
        };
        let collector = Collector { address, authorities: config.authorities() };
        let known = self.record.take().or_else(|| Record::read(&home));
        let (is_new, before) = (known.is_none(), std::mem::replace(&mut self.totals.events, head));
        let is_rewritten = std::mem::replace(&mut self.settings_at, written) != written;
        // What is behind it when it is turned on stays untold.
        let mut record = known.unwrap_or(Record { through: head, ..Record::default() });
        // A store that was put back from a copy has less than was told.
        record.through = record.through.min(head);
        if let Some(at) = written.filter(|_| is_new || is_rewritten) {
            // It may have been turned off and on again since the last look.
            record.leave_out(if is_new { head } else { before }, milliseconds(at).saturating_add(LAG_MS));
        }
        let ended = ended(&reader, &record).or_logged("the log cannot be read for telemetry");
        let Some(ended) = ended else {
            self.record = Some(record);
            return Some(Looked::Done);
        };
        let has_failed = record.failures;
        let is_due = !ended.traces.is_empty() || self.counted.is_none_or(|at| at.elapsed() >= LOOK);
        let looked = self.send_all(&collector, &mut record, &ended, is_due);
        if is_new || is_rewritten || is_due || record.failures != has_failed {
            record.save(&home).or_logged("how far the telemetry came is not kept; some is sent again");
        }
        self.record = Some(record);
        Some(looked)
    }

    fn send_all(
        &mut self,
        collector: &Collector,
        record: &mut Record,
        ended: &Ended,
        is_due: bool,
    ) -> Looked {
        for (place, trace) in &ended.traces {
            match self.send(collector, trace) {
                Sent::Taken => {
                    record.sent = record.sent.saturating_add(count(trace));
                    record.failing = None;
                }
                Sent::Refused(why) => {
                    tracing::warn!(%why, "a collector refuses a trace; it is not sent again");
                    record.refused = record.refused.saturating_add(count(trace));
                    record.fail(&why);
                    self.totals.failures += 1;
                }
                Sent::Later(why) => {
                    tracing::info!(%why, "a collector takes nothing just now");
                    record.fail(&why);
                    self.totals.failures += 1;
                    self.tries = self.tries.saturating_add(1);
                    return Looked::Waits;
                }
            }
            self.totals.add(trace);
            record.through = *place;
        }
        record.through = record.through.max(ended.through);
        self.tries = 0;
        if is_due {
            self.counted = Some(Instant::now());
            let counts = otlp::metrics(&self.resource, &self.totals, SystemClock.now().0);
            match collector.post("/v1/metrics", &counts) {
                Sent::Taken => record.failing = None,
                // The next ones hold these.
                Sent::Later(why) | Sent::Refused(why) => {
                    record.fail(&why);
                    self.totals.failures += 1;
                }
            }
        }
        match ended.traces.len() >= TASKS_AT_ONCE {
            true => Looked::More,
            false => Looked::Done,
        }
    }

    /// A trace in batches. What a collector takes twice it knows by its identifiers.
    fn send(&self, collector: &Collector, trace: &Trace) -> Sent {
        for batch in trace.spans.chunks(BATCH_SPANS) {
            match collector.post("/v1/traces", &otlp::traces(&self.resource, &trace.id, batch)) {
                Sent::Taken => {}
                other => return other,
            }
        }
        Sent::Taken
    }
}

/// When the settings were written; none where there are none.
fn written_at(home: &Home) -> Option<SystemTime> {
    std::fs::metadata(home.path(crate::config::FILE)).and_then(|found| found.modified()).ok()
}

fn milliseconds(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn count(trace: &Trace) -> u64 {
    u64::try_from(trace.spans.len()).unwrap_or(u64::MAX)
}

/// Tasks that ended behind a place in the log and are to be told, and how far that was read.
struct Ended {
    traces: Vec<(u64, Trace)>,
    through: u64,
}

fn ended(reader: &Reader, record: &Record) -> Result<Ended, ledger::Error> {
    let mut found = Ended { traces: Vec::new(), through: record.through };
    loop {
        let page = reader.log(found.through, PAGE)?;
        if page.is_empty() {
            return Ok(found);
        }
        for stored in page {
            found.through = stored.log_seq;
            let Some(event) = stored.event().or_logged("an event cannot be read for telemetry") else {
                continue;
            };
            if event.event_type != "task.status_changed" {
                continue;
            }
            let Ok(Body::TaskStatusChanged(b)) = event.body(&|_| None) else { continue };
            if b.about_task_id != stored.task_id || b.from.is_terminal() || !b.to.is_terminal() {
                continue;
            }
            if record.leaves_out(stored.log_seq, event.occurred_at.0) {
                continue;
            }
            let ended = trace(reader, stored.task_id, stored.task_seq);
            let ended = ended.or_logged("a task cannot be read for telemetry");
            found.traces.extend(ended.map(|trace| (stored.log_seq, trace)));
            if found.traces.len() >= TASKS_AT_ONCE {
                return Ok(found);
            }
        }
    }
}

/// The spans of a task up to its end.
fn trace(reader: &Reader, task: TaskId, end: u64) -> Result<Trace, ledger::Error> {
    let (mut tracing, mut at) = (Tracing::of(task), 0);
    for _ in 0..EVENTS_MAX / PAGE {
        let page = reader.events(task, at, PAGE)?;
        for stored in page.iter().filter(|stored| stored.task_seq <= end) {
            tracing.take(&stored.event()?);
        }
        match page.last() {
            Some(last) if last.task_seq < end => at = last.task_seq,
            _ => break,
        }
    }
    Ok(tracing.end())
}

impl Collector {
    /// One request. Where a collector sends on to is asked nothing.
    fn post(&self, path: &str, body: &Json) -> Sent {
        match self.status(path, body.to_string().as_bytes()) {
            Ok(200..=299) => Sent::Taken,
            Ok(status @ (408 | 429 | 500..=599)) => Sent::Later(format!("it answers {status}")),
            Ok(status) => Sent::Refused(format!("it answers {status}")),
            Err(why) => Sent::Later(why),
        }
    }

    fn status(&self, path: &str, body: &[u8]) -> Result<u16, String> {
        let is_here = settings::leads_here(&self.address);
        let agent = poster((CONNECT, ANSWER), is_here, self.authorities.as_deref())?;
        let uri = format!("{}{path}", self.address.trim_end_matches('/'));
        let request = ureq::http::Request::builder().method("POST").uri(uri);
        let request = request.header("content-type", "application/json").body(body);
        let answer = agent.run(request.map_err(|e| e.to_string())?);
        answer.map(|answer| answer.status().as_u16()).map_err(|e| e.to_string())
    }
}

/// To whom it is sent and how far that came; none while it is off.
pub(crate) fn stands(home: &Home, config: &Config) -> Option<TelemetryStands> {
    let otlp = config.telemetry.otlp.clone()?;
    let Record { sent, refused, failures, failing, .. } = Record::read(home).unwrap_or_default();
    Some(TelemetryStands { otlp, sent, refused, failures, failing })
}

/// What the doctor tells of it.
pub(crate) fn told(stands: &TelemetryStands) -> (Level, String) {
    let TelemetryStands { otlp, sent, refused, failures, failing } = stands;
    if failing.is_none() && *sent == 0 && *refused == 0 && *failures == 0 {
        return (Level::Fine, format!("to `{otlp}`, without contents; nothing was sent yet"));
    }
    let refused = match refused {
        0 => String::new(),
        n => format!(", {n} refused"),
    };
    let text =
        format!("to `{otlp}`, without contents: {sent} spans sent{refused}, {failures} requests failed");
    match failing {
        None => (Level::Fine, text),
        Some(why) => (Level::Note, format!("{text}; the last: {why}")),
    }
}
