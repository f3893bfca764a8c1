//! Threads of the gateways of a store that is open: one that sends for all of them, and one for each that listens (schedule.md 2).
//!
//! Nothing is kept here that a restart could lose. A listener asks its service for what came since the cursor that the log has,
//! and moves that only when all of it was heard. One that waits for its service holds no store, and is not waited for.

use crate::Error;
use crate::chats::{Chats, heard, lock};
use crate::notices::Notices;
use crate::task_drivers::TaskDrivers;
use chat::{Adapter, Attachment, Fault, Incoming, Polled};
use kernel::Kernel;
use kernel::command::inbound::Received;
use kernel::command::ingest;
use model::artifact::TrustTier;
use model::envelope::EnvelopeAttachment;
use model::gateway::{Gateway, GatewayState, Service};
use model::ingress::Channel;
use model::limits::ENCLOSED_MAX;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a service is asked to wait for a message.
const WAIT: Duration = Duration::from_secs(25);
/// How long a service that did not answer is left alone, the first time.
const PAUSE_FIRST: Duration = Duration::from_secs(5);
/// Between two askings of which the first told nothing.
const PAUSE_IDLE: Duration = Duration::from_millis(500);
/// And at most; each time it is twice as long.
const PAUSE_MOST: Duration = Duration::from_secs(300);
/// Notices that come within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(200);
/// How long a message that is due waits at least, where it could not be begun.
const RETRY: Duration = Duration::from_secs(30);
/// Bytes of one file of a message.
const FILE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// The threads; dropped, they end: the one that sends at once, those that listen when their service answers.
pub struct ChatThreads {
    notices: Arc<Notices>,
    over: Arc<Over>,
    chats: Arc<Chats>,
    thread: Option<JoinHandle<()>>,
}

/// Whether the store is let go of, and whoever waits for that.
#[derive(Default)]
struct Over(Mutex<bool>, Condvar);

impl Over {
    fn is_over(&self) -> bool {
        *lock(&self.0)
    }

    fn end(&self) {
        *lock(&self.0) = true;
        self.1.notify_all();
    }

    /// Waits, unless it is over sooner.
    fn wait(&self, time: Duration) {
        let guard = lock(&self.0);
        let waited = self.1.wait_timeout_while(guard, time, |is_over| !*is_over);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl ChatThreads {
    /// Listens and sends from now on, as gateways stand.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(
        kernel: &Arc<Kernel>,
        drives: &Arc<TaskDrivers>,
        notices: Arc<Notices>,
        chats: Arc<Chats>,
    ) -> Result<Self, Error> {
        let (send, receive) = sync_channel(1);
        let over = Arc::new(Over::default());
        chats.of(kernel);
        chats.tell_of_back(Some(send.clone()));
        let outbox = Outbox {
            kernel: Arc::clone(kernel),
            drives: Arc::clone(drives),
            chats: Arc::clone(&chats),
            over: Arc::clone(&over),
        };
        let thread = std::thread::Builder::new().name("outbox".to_owned());
        let thread = thread.spawn(move || outbox.run(&receive));
        let thread = thread.map_err(|e| Error::io("start", Path::new("the outbox's thread"), &e))?;
        notices.tell_of_chats(Some(send));
        Ok(Self { notices, over, chats, thread: Some(thread) })
    }
}

impl Drop for ChatThreads {
    fn drop(&mut self) {
        self.over.end();
        self.notices.tell_of_chats(None);
        self.chats.tell_of_back(None);
        let _ = self.thread.take().map(JoinHandle::join);
        self.chats.end();
    }
}

/// Sends what waits, and sees that each gateway is listened to.
struct Outbox {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    chats: Arc<Chats>,
    over: Arc<Over>,
}

impl Outbox {
    fn run(&self, receive: &Receiver<()>) {
        let mut listeners: BTreeMap<String, (u32, JoinHandle<()>)> = BTreeMap::new();
        while !self.over.is_over() {
            let went_well = catch_unwind(AssertUnwindSafe(|| self.look(&mut listeners)));
            if went_well.is_err() {
                tracing::error!("sending messages panicked; what waits is tried again");
            }
            let told = match self.until_due() {
                Some(time) => receive.recv_timeout(time),
                None => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match told {
                Err(RecvTimeoutError::Disconnected) => return,
                // What is written together is looked at together.
                Ok(()) => self.over.wait(TOGETHER),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// How long it is until a message is due again, if one waits for that alone.
    fn until_due(&self) -> Option<Duration> {
        let now = self.kernel.ports().clock.now();
        let registry = self.kernel.gateway_registry();
        let dues = registry.all_standing().filter_map(|one| self.kernel.next_message(&one.name));
        let due = dues.min()?;
        let ms = u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0);
        Some(Duration::from_millis(ms).clamp(RETRY, Duration::from_secs(3_600)))
    }

    fn look(&self, listeners: &mut BTreeMap<String, (u32, JoinHandle<()>)>) {
        if self.drives.is_ending() {
            return;
        }
        let registry = self.kernel.gateway_registry();
        for record in registry.all_standing().filter(|one| one.state == GatewayState::Active) {
            let name = record.name.as_str();
            let listens = listeners
                .get(name)
                .is_some_and(|(version, thread)| *version == record.version && !thread.is_finished());
            if !listens && let Some(thread) = self.listen(name, record.version) {
                listeners.insert(name.to_owned(), (record.version, thread));
            }
            match self.send(name, record.service) {
                Ok(()) | Err(kernel::Error::Halted) => {}
                Err(error) => tracing::warn!(gateway = name, %error, "messages wait; they are tried again"),
            }
        }
    }

    fn send(&self, name: &str, service: Service) -> Result<(), kernel::Error> {
        self.kernel.settle_sent(name)?;
        self.kernel.queue_news(name, self.chats.origin().as_deref())?;
        // A service that does not answer is asked by its listener, and not with each message.
        if !(is_asked(service) && self.chats.is_away(name)) {
            let back = self.chats.back_at(name);
            self.kernel.send_due(name, back)?.into_iter().for_each(|task| self.drives.wake(task));
        }
        Ok(())
    }

    fn listen(&self, name: &str, version: u32) -> Option<JoinHandle<()>> {
        let listener = Listener {
            kernel: Arc::downgrade(&self.kernel),
            drives: Arc::downgrade(&self.drives),
            chats: Arc::clone(&self.chats),
            over: Arc::clone(&self.over),
            name: name.to_owned(),
            version,
            wait: WAIT,
        };
        let thread = std::thread::Builder::new().name("gateway".to_owned());
        match thread.spawn(move || listener.run()) {
            Ok(thread) => Some(thread),
            Err(error) => {
                tracing::warn!(gateway = name, %error, "there is no thread to listen with; it is tried again");
                None
            }
        }
    }
}

/// Whether a service is asked for what was said. A webhook brings it: whether it can be reached shows when something is sent.
const fn is_asked(service: Service) -> bool {
    !matches!(service, Service::Webhook)
}

/// Listens to one gateway, in one version of it.
struct Listener {
    kernel: Weak<Kernel>,
    drives: Weak<TaskDrivers>,
    chats: Arc<Chats>,
    over: Arc<Over>,
    name: String,
    version: u32,
    /// How long its service is asked to wait for a message.
    wait: Duration,
}

impl Listener {
    fn run(&self) {
        let (mut adapter, mut pause) = (None, PAUSE_FIRST);
        // How far this listener has read: what was refused is no news, and is on record as read only once in a while.
        let mut read: Option<String> = None;
        while let Some((gateway, written)) = self.stands() {
            let cursor = read.clone().unwrap_or(written);
            // A service may say what its adapter does not survive: it is read again later, and its gateway does not fall silent.
            let polled = catch_unwind(AssertUnwindSafe(|| self.poll(&mut adapter, &gateway, &cursor)));
            let polled = polled.unwrap_or_else(|_| {
                tracing::error!(
                    gateway = self.name,
                    "reading what a service says panicked; it is read again"
                );
                Err(Fault::Away { why: "what it says cannot be read".to_owned(), retry_after: None })
            });
            if self.over.is_over() {
                return;
            }
            let heard = match polled {
                Ok(polled) => {
                    if is_asked(gateway.service) {
                        self.answers();
                    }
                    let (to, is_empty) = (polled.cursor.clone(), polled.incoming.is_empty());
                    let heard = self.take(polled, &mut adapter);
                    if heard && is_empty && to == cursor {
                        // Nothing is new: a service that does not wait is not asked without end.
                        self.over.wait(PAUSE_IDLE);
                    }
                    read = if heard { Some(to) } else { read };
                    heard
                }
                Err(fault) => {
                    adapter = None;
                    tracing::warn!(gateway = self.name, why = fault.why(), "a chat service does not answer");
                    self.failed(&fault);
                    if let Fault::Away { retry_after: Some(after), .. } = fault {
                        pause = pause.max(after.min(PAUSE_MOST));
                    }
                    false
                }
            };
            if heard {
                pause = PAUSE_FIRST;
            } else {
                self.over.wait(pause);
                pause = pause.saturating_mul(2).min(PAUSE_MOST);
            }
        }
    }

    /// Its service answers. Where it did not before, what waits is due at once.
    fn answers(&self) {
        self.chats.answers(&self.name);
        if let Some(kernel) = self.kernel.upgrade() {
            self.chats.speaks(&self.name, kernel.ports().clock.now());
        }
    }

    /// Its service does not answer.
    fn failed(&self, fault: &Fault) {
        self.chats.failed(&self.name, fault);
        self.chats.falls_silent(&self.name);
    }

    /// The gateway and how far it was read, as long as it is to be listened to in this version.
    fn stands(&self) -> Option<(Gateway, String)> {
        if self.over.is_over() {
            return None;
        }
        let kernel = self.kernel.upgrade()?;
        let registry = kernel.gateway_registry();
        let record = registry.standing(&self.name)?;
        if record.version != self.version || record.state != GatewayState::Active {
            return None;
        }
        match kernel.gateway_of(record) {
            Ok(gateway) => Some((gateway, record.traffic.cursor.clone())),
            Err(error) => {
                tracing::warn!(gateway = self.name, %error, "a gateway cannot be read; nothing is heard of it");
                None
            }
        }
    }

    fn poll(
        &self,
        adapter: &mut Option<Box<dyn Adapter>>,
        gateway: &Gateway,
        cursor: &str,
    ) -> Result<Polled, Fault> {
        let opened = match adapter.take() {
            Some(adapter) => Ok(adapter),
            None => self.chats.open(gateway).map_err(|why| Fault::Away { why, retry_after: None }),
        };
        let adapter = adapter.insert(opened?);
        let polled = adapter.poll(cursor, self.wait);
        for note in adapter.notes() {
            tracing::warn!(gateway = self.name, note, "not everything is read");
        }
        polled
    }

    /// Has the kernel hear what came, one message after another; whether all of it was heard, so that the cursor moved on. What
    /// came for a gateway that was paused or changed meanwhile is left to whoever listens to it next.
    fn take(&self, polled: Polled, adapter: &mut Option<Box<dyn Adapter>>) -> bool {
        let mut is_news = false;
        for incoming in polled.incoming {
            if self.stands().is_none() {
                return false;
            }
            match catch_unwind(AssertUnwindSafe(|| self.hear(incoming, adapter))) {
                Ok(Ok(Some(Received::Used(_, tasks)))) => {
                    is_news = true;
                    // Where they are driven no more, the next host takes them up.
                    let Some(drives) = self.drives.upgrade() else { return false };
                    tasks.into_iter().for_each(|task| drives.wake(task));
                }
                Ok(Ok(Some(Received::Refused(why)))) => {
                    tracing::debug!(gateway = self.name, %why, "a message is refused");
                }
                Ok(Ok(None)) => return false,
                Ok(Err(error)) => {
                    tracing::warn!(gateway = self.name, %error, "a message was not heard; it is heard again");
                    return false;
                }
                Err(_) => {
                    tracing::error!(gateway = self.name, "hearing a message panicked; it is heard again");
                    return false;
                }
            }
        }
        if self.stands().is_none() {
            return false;
        }
        let Some(kernel) = self.kernel.upgrade() else { return false };
        match kernel.gateway_read(&self.name, &polled.cursor, is_news) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(gateway = self.name, %error, "how far a service was read is not written");
                false
            }
        }
    }

    /// Has the kernel hear a message; none where the store is let go of. While files of it are fetched, no store is held.
    fn hear(
        &self,
        mut incoming: Incoming,
        adapter: &mut Option<Box<dyn Adapter>>,
    ) -> Result<Option<Received>, kernel::Error> {
        let hears = |kernel: Arc<Kernel>| kernel.hears(&self.name, &incoming.sender, &incoming.chat);
        let mut attachments = Vec::new();
        // Nothing of a stranger is fetched.
        if !incoming.is_group && self.kernel.upgrade().is_some_and(hears) {
            for attachment in incoming.attachments.iter().take(ENCLOSED_MAX) {
                match self.fetch(attachment, adapter)? {
                    Some(file) => attachments.push(file),
                    // Whoever works on it says so, rather than to answer as if nothing had come.
                    None => incoming.text.push_str(&format!(
                        "\n\n[The file \"{}\" came with this, and could not be fetched.]",
                        attachment.name
                    )),
                }
            }
        }
        let Some(kernel) = self.kernel.upgrade().filter(|_| !self.over.is_over()) else { return Ok(None) };
        let heard = heard(incoming, attachments);
        let envelope = kernel.wrap(&self.name, heard)?;
        kernel.receive_message(&self.name, &envelope).map(Some)
    }

    /// A file that came with a message, taken in as content that nobody confirms; none where it cannot be had.
    fn fetch(
        &self,
        attachment: &Attachment,
        adapter: &mut Option<Box<dyn Adapter>>,
    ) -> Result<Option<EnvelopeAttachment>, kernel::Error> {
        let Some(adapter) = adapter.as_mut().filter(|_| !self.over.is_over()) else { return Ok(None) };
        let bytes = match adapter.fetch(attachment, FILE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(fault) => {
                tracing::warn!(
                    gateway = self.name,
                    why = fault.why(),
                    "a file of a message cannot be fetched"
                );
                return Ok(None);
            }
        };
        let media_type = reasoning::pictures::media_type_of(&bytes).unwrap_or("application/octet-stream");
        let mut read = bytes.as_slice();
        let incoming = ingest::Incoming {
            name: attachment.name.clone(),
            uri: format!("chat:{}", self.name),
            media_type,
            bytes: &mut read,
            trust_tier: TrustTier::Untrusted,
        };
        let Some(kernel) = self.kernel.upgrade() else { return Ok(None) };
        let (at, bytes) = kernel.ingest(incoming, Channel::Chat)?;
        let (artifact_id, sha256) = (at.artifact_id, at.sha256);
        Ok(Some(EnvelopeAttachment { artifact_id, sha256, name: attachment.name.clone(), bytes }))
    }
}

#[cfg(test)]
mod tests;
