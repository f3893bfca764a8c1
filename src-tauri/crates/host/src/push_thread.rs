//! Tells browsers of a person by their push services that somebody waits for them, where they turned that on (schedule.md 4). On the same
//! occasions as a notification of the desktop: an approval that does not wait quietly, and a schedule that paused itself; and the end of
//! a task for those who asked for it. What is told has no word of a task in it.
//!
//! It is a thread of its own and holds the store for as long as it reads it: a service that does not answer holds up nobody. Nothing is
//! kept: what waits when a host begins was told by the one before.

use crate::chance::OsEntropy;
use crate::model_http::poster;
use crate::push_services::service_of;
use crate::{Error, Local};
use kernel::push_registry::PushRecord;
use model::{Digest, Entropy as _};
use seal::webauthn::base64url;
use seal::webpush::{Browser, SenderKey};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use ureq::http::Request;
use wire::{Code, Command, Notice};
use words::task::{Origin, TaskStatus};

/// Between two things that are told of one task.
const BETWEEN: Duration = Duration::from_secs(60);
/// How long what could not be told waits, each time.
const AGAIN: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(15), Duration::from_secs(60)];
/// How long a service keeps what it could not deliver: whoever comes back after that looks at the page.
const KEPT_SECONDS: u64 = 4 * 3600;
/// How long a signature for a service holds.
const SIGNED_SECONDS: i64 = 12 * 3600;
/// Whom a service may ask about the sender. Nobody: it learns of no address.
const CONTACT: &str = "mailto:hermit@example.com";
/// How long a connection may take to come about, and an answer.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);
/// Approvals that are looked at, the newest first.
const LOOKED_AT: u32 = 200;
/// Things that wait to be told; what is more is on the page.
const DUE_MAX: usize = 64;
/// Tasks of which it is known when they were told of last.
const TASKS_MAX: usize = 512;
/// When nothing is due.
const IDLE: Duration = Duration::from_secs(3600);

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Approval,
    Schedule,
    Done,
    Failed,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Schedule => "schedule",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether a person is waited for.
    const fn waits(self) -> bool {
        matches!(self, Self::Approval | Self::Schedule)
    }
}

/// Something that is told once.
#[derive(Debug, Clone)]
struct Occasion {
    kind: Kind,
    /// What it is known by.
    id: String,
    /// The task that it is about, or the schedule.
    about: String,
    /// The page on which it is seen.
    path: String,
    /// Since when it waits, milliseconds since 1970; 0 where that is not known.
    since: i64,
}

struct Due {
    at: Instant,
    what: Occasion,
    /// The browser that could not be told, and how often that was tried; every browser when it is new.
    again: Option<(Digest, usize)>,
}

/// What came of telling one browser.
enum Came {
    Told,
    /// The service does not know it any more.
    Gone,
    /// The service may take it later.
    Later,
    /// It will not.
    Refused,
}

/// What goes to a service.
struct Message {
    endpoint: String,
    is_here: bool,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    authorities: Option<PathBuf>,
}

struct Pushing {
    local: Weak<Local>,
    /// What waits and was told, or waited when it was first looked.
    known: BTreeSet<(Kind, String)>,
    /// When a task was told of last.
    last: BTreeMap<String, Instant>,
    due: Vec<Due>,
}

/// Tells browsers from now on; it ends with this process's store. Where there is no thread to be had everything else works.
pub(crate) fn begin(local: &Arc<Local>) {
    let heard = local.notices.listen();
    let mut pushing = Pushing {
        local: Arc::downgrade(local),
        known: BTreeSet::new(),
        last: BTreeMap::new(),
        due: Vec::new(),
    };
    let spawned = std::thread::Builder::new().name("push".to_owned()).spawn(move || pushing.run(&heard));
    if let Err(error) = spawned {
        tracing::warn!(%error, "no device is notified while this host runs");
    }
}

/// A command of the table, as this process has it.
fn ask<C: Command>(local: &Local, command: &C) -> Result<C::Answer, wire::Error> {
    let params = serde_json::to_value(command).map_err(api::failed)?;
    serde_json::from_value(api::call(local, C::NAME, params)?).map_err(api::failed)
}

fn approvals(local: &Local) -> Result<Vec<Occasion>, wire::Error> {
    let asked = wire::approvals::List { limit: Some(LOOKED_AT), ..wire::approvals::List::default() };
    let rows = ask(local, &asked)?.rows.into_iter().filter(|row| !row.origin.is_background());
    let occasion = |row: wire::approvals::ApprovalRow| Occasion {
        kind: Kind::Approval,
        path: format!("/?at={}", row.approval_id),
        id: row.approval_id,
        about: row.task_id,
        since: row.requested_at,
    };
    Ok(rows.map(occasion).collect())
}

fn schedules(local: &Local) -> Result<Vec<Occasion>, wire::Error> {
    let rows = ask(local, &wire::schedules::List {})?.schedules.into_iter().filter(|one| one.by_itself);
    let occasion = |name: String| Occasion {
        kind: Kind::Schedule,
        path: "/schedules".to_owned(),
        id: format!("schedule:{name}"),
        about: format!("schedule:{name}"),
        since: 0,
    };
    Ok(rows.map(|one| occasion(one.name)).collect())
}

/// How a task ended, where a person began it and may want to know.
fn ending(local: &Local, task: &str) -> Result<Option<Occasion>, wire::Error> {
    let Ok(id) = task.parse() else { return Ok(None) };
    let row = api::Host::query(local)?.task(id).map_err(api::of_projections)?;
    let Some(row) = row.filter(|row| !row.origin.is_background() && row.origin != Origin::Agent) else {
        return Ok(None);
    };
    let kind = match row.status {
        TaskStatus::Completed => Kind::Done,
        TaskStatus::Failed => Kind::Failed,
        _ => return Ok(None),
    };
    let (id, path) = (format!("{}:{task}", kind.as_str()), format!("/task/{task}"));
    Ok(Some(Occasion { kind, id, about: task.to_owned(), path, since: 0 }))
}

impl Pushing {
    fn run(&mut self, heard: &Receiver<Notice>) {
        self.look(Kind::Approval, Some(i64::MAX));
        self.look(Kind::Schedule, Some(i64::MAX));
        loop {
            let now = Instant::now();
            let wait = self.due.iter().map(|due| due.at.saturating_duration_since(now)).min();
            match heard.recv_timeout(wait.unwrap_or(IDLE)) {
                Ok(notice) => self.hear(&notice),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(at) = self.due.iter().position(|due| due.at <= Instant::now()) {
                let due = self.due.remove(at);
                self.tell(due);
            }
        }
    }

    fn hear(&mut self, notice: &Notice) {
        match notice {
            Notice::Event { event_type, task_id, .. } => match event_type.as_str() {
                "approval.requested" => self.look(Kind::Approval, None),
                "schedule.paused" => self.look(Kind::Schedule, None),
                "task.status_changed" => self.ended(task_id),
                "push.subscribed" => self.begin_with(),
                "passkey.revoked" | "key.rotated" | "key.revoked" => self.sweep(),
                _ => {}
            },
            // What could not be told while the vault was locked waits still.
            Notice::Keys { open: true } => {
                self.look(Kind::Approval, None);
                self.look(Kind::Schedule, None);
            }
            _ => {}
        }
    }

    /// What waited before a device was turned on is on the page that did so.
    fn begin_with(&mut self) {
        let Some(local) = self.local.upgrade() else { return };
        let newest = standing(&local).iter().map(|one| one.subscribed_at.0).max();
        drop(local);
        self.look(Kind::Approval, newest);
        self.look(Kind::Schedule, newest);
    }

    /// Looks at what waits now of one kind; what did not wait before is told, and of that what waits since `known_until` is only known
    /// from now on.
    fn look(&mut self, kind: Kind, known_until: Option<i64>) {
        let Some(local) = self.local.upgrade() else { return };
        if standing(&local).is_empty() {
            self.known.clear();
            return;
        }
        let found = match kind {
            Kind::Schedule => schedules(&local),
            Kind::Approval | Kind::Done | Kind::Failed => approvals(&local),
        };
        drop(local);
        let found = match found {
            Ok(found) => found,
            Err(error) => return tracing::warn!(%error, "what waits cannot be read to tell a device"),
        };
        self.known.retain(|(of, id)| *of != kind || found.iter().any(|one| one.id == *id));
        for one in found {
            if self.known.insert((kind, one.id.clone())) && known_until.is_none_or(|until| one.since > until)
            {
                self.queue(one);
            }
        }
    }

    fn ended(&mut self, task: &str) {
        let Some(local) = self.local.upgrade() else { return };
        if !standing(&local).iter().any(|one| one.outcomes) {
            return;
        }
        match ending(&local, task) {
            Ok(Some(one)) => self.queue(one),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the end of a task cannot be read to tell a device"),
        }
    }

    /// Tells it as soon as its task may be told of again.
    fn queue(&mut self, what: Occasion) {
        if self.due.len() >= DUE_MAX {
            return;
        }
        let now = Instant::now();
        let waiting = self.due.iter().filter(|due| due.again.is_none() && due.what.about == what.about);
        let after = waiting.map(|due| due.at).chain(self.last.get(&what.about).copied()).max();
        let at = after.map_or(now, |after| now.max(after + BETWEEN));
        self.due.push(Due { at, what, again: None });
    }

    /// Tells every browser, or one once more. Each is told from what stands now: one that was turned off meanwhile is not.
    fn tell(&mut self, due: Due) {
        let Some(local) = self.local.upgrade() else { return };
        if due.what.kind == Kind::Approval && !still_waits(&local, &due.what.id) {
            return;
        }
        let mut to = standing(&local);
        to.retain(|one| due.what.kind.waits() || one.outcomes);
        if let Some((only, _)) = due.again {
            to.retain(|one| one.subscription == only);
        } else {
            self.last.retain(|_, at| at.elapsed() < BETWEEN);
            if self.last.len() < TASKS_MAX {
                self.last.insert(due.what.about.clone(), Instant::now());
            }
        }
        let messages: Vec<_> =
            to.iter().map(|one| (one.subscription, message(&local, one, &due.what))).collect();
        drop(local);
        for (subscription, message) in messages {
            let came = match message {
                Ok(Some(message)) => send(&message),
                Ok(None) => Came::Gone,
                Err(error) if error.code == Code::KeyLocked => {
                    // It waits still when the keys are opened.
                    self.known.remove(&(due.what.kind, due.what.id.clone()));
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "nothing can be sent to a device");
                    Came::Refused
                }
            };
            let tries = due.again.map_or(0, |(_, tries)| tries);
            match came {
                Came::Told | Came::Refused => {}
                Came::Gone => self.end(subscription, "its push service does not know it any more"),
                Came::Later => {
                    if let Some(wait) = AGAIN.get(tries).filter(|_| self.due.len() < DUE_MAX) {
                        let (at, what) = (Instant::now() + *wait, due.what.clone());
                        self.due.push(Due { at, what, again: Some((subscription, tries + 1)) });
                    }
                }
            }
        }
    }

    /// Ends what rested on a passkey that says yes no more.
    fn sweep(&self) {
        let Some(local) = self.local.upgrade() else { return };
        let Ok(kernel) = local.owned_kernel() else { return };
        let all = kernel.pushes();
        for one in all.all() {
            if one.passkey.is_some_and(|passkey| !kernel.passkey_holds(passkey)) {
                self.end(one.subscription, "the passkey that its page was signed in with was revoked");
            }
        }
    }

    fn end(&self, subscription: Digest, reason: &str) {
        let Some(local) = self.local.upgrade() else { return };
        if let Err(error) = api::pushes::end_by_itself(&*local, &subscription.to_string(), reason) {
            tracing::warn!(%error, "a device that is notified no more is not struck off");
        }
    }
}

/// Browsers that are told now; none by a passkey that says yes no more.
fn standing(local: &Local) -> Vec<PushRecord> {
    let Ok(kernel) = local.owned_kernel() else { return Vec::new() };
    let all = kernel.pushes();
    let holds = |one: &&&PushRecord| one.passkey.is_none_or(|passkey| kernel.passkey_holds(passkey));
    all.all().iter().filter(holds).map(|one| (*one).clone()).collect()
}

/// Whether an approval still waits; where that cannot be read, nobody is disturbed.
fn still_waits(local: &Local, approval: &str) -> bool {
    approvals(local).is_ok_and(|found| found.iter().any(|one| one.id == approval))
}

/// What one browser is told, encrypted for it alone; none where nothing is kept of it.
fn message(local: &Local, to: &PushRecord, what: &Occasion) -> Result<Option<Message>, wire::Error> {
    let Some(given) = local.push_browser(to.subscription)? else { return Ok(None) };
    let Some(key) = local.push_key()? else { return Ok(None) };
    let browser = Browser::new(&given.p256dh, &given.auth).map_err(api::failed)?;
    let service = service_of(&given.endpoint).map_err(api::failed)?;
    // Which page shows it is all that is said, beside what kind it is.
    let plain = json!({ "kind": what.kind.as_str(), "path": what.path }).to_string();
    let body = sealed(&browser, plain.as_bytes()).map_err(Error::to_wire)?;
    // Of two things about one task that wait for a browser the newer is enough. The service cannot tell which task it is.
    let topic = Digest::of(format!("{}\n{}", to.subscription, what.about).as_bytes());
    let topic: Vec<u8> = topic.as_bytes().iter().take(24).copied().collect();
    let ends_at = api::Host::now(local).0 / 1000 + SIGNED_SECONDS;
    Ok(Some(Message {
        is_here: service.origin.starts_with("http://"),
        headers: headers(&key, &service.origin, ends_at, base64url(&topic), what.kind),
        body,
        authorities: local.config().authorities(),
        endpoint: given.endpoint,
    }))
}

fn headers(
    key: &SenderKey,
    service: &str,
    ends_at: i64,
    topic: String,
    kind: Kind,
) -> Vec<(&'static str, String)> {
    vec![
        ("authorization", key.authorization(service, ends_at, CONTACT)),
        ("content-encoding", "aes128gcm".to_owned()),
        ("content-type", "application/octet-stream".to_owned()),
        ("ttl", KEPT_SECONDS.to_string()),
        ("urgency", if kind.waits() { "high" } else { "normal" }.to_owned()),
        ("topic", topic),
    ]
}

/// Encrypted with a draw of its own. One draw in 2^32 is no key.
fn sealed(browser: &Browser, plain: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut ephemeral, mut salt) = (zeroize::Zeroizing::new([0_u8; 32]), [0_u8; 16]);
    let mut came = Ok(Vec::new());
    for _ in 0..4 {
        OsEntropy.fill(&mut *ephemeral);
        OsEntropy.fill(&mut salt);
        came = browser.encrypt(plain, &ephemeral, &salt);
        if came.is_ok() {
            break;
        }
    }
    came.map_err(|e| Error::Said(api::failed(e)))
}

fn send(message: &Message) -> Came {
    match post(message) {
        Ok(200..=299) => Came::Told,
        Ok(404 | 410) => Came::Gone,
        Ok(status @ (429 | 500..=599)) => {
            tracing::info!(status, "a push service takes nothing just now");
            Came::Later
        }
        Ok(status) => {
            tracing::warn!(status, "a push service refuses what is sent");
            Came::Refused
        }
        Err(why) => {
            tracing::info!(%why, "a push service does not answer");
            Came::Later
        }
    }
}

/// The status of the answer. Where a service sends on to is asked nothing.
fn post(message: &Message) -> Result<u16, String> {
    let agent = poster((CONNECT, ANSWER), message.is_here, message.authorities.as_deref())?;
    let mut request = Request::builder().method("POST").uri(&message.endpoint);
    for (name, value) in &message.headers {
        request = request.header(*name, value);
    }
    let request = request.body(message.body.as_slice()).map_err(|e| e.to_string())?;
    agent.run(request).map(|answer| answer.status().as_u16()).map_err(|e| e.to_string())
}
