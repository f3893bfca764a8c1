//! Chat services of a store that this process holds: adapters that send for the executors, and how each service stands. Who is
//! listened to stands in [`crate::chat_threads`]; what a message means is the kernel's business.

use acts::Message;
use chat::{Account, Adapter, Button, Fault, Incoming, OutFile, Outgoing, SignedCall, Unsaid};
use effects::{Delivered, Messenger, Secrets, Undelivered};
use kernel::Kernel;
use kernel::command::inbound::Heard;
use model::UnixMs;
use model::envelope::EnvelopeAttachment;
use model::gateway::{Gateway, Service};
use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use zeroize::Zeroizing;

/// The name of the file in which a text goes that is too long for a message.
const FILE_NAME: &str = "message.md";

/// An adapter that sends, of a version of a gateway.
type Sends = (u32, Arc<Mutex<Box<dyn Adapter>>>);

/// The way to chat services.
pub struct Chats {
    secrets: Arc<dyn Secrets>,
    kernel: Mutex<Weak<Kernel>>,
    senders: Mutex<BTreeMap<String, Sends>>,
    away: Mutex<BTreeMap<String, String>>,
    /// Gateways whose service did not answer their listener, and when it answered again, if it did.
    looks: Mutex<BTreeMap<String, Option<UnixMs>>>,
    /// Told of each that is back.
    told: Mutex<Option<SyncSender<()>>>,
    origin: Mutex<Option<String>>,
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Chats {
    /// Of a process that has no store yet: nothing is sent.
    pub(crate) fn new(secrets: Arc<dyn Secrets>) -> Self {
        let (kernel, senders, away) = (Mutex::new(Weak::new()), Mutex::default(), Mutex::default());
        let (looks, told) = (Mutex::default(), Mutex::default());
        Self { secrets, kernel, senders, away, looks, told, origin: Mutex::default() }
    }

    /// Pages of this host are reached from elsewhere under this name from now on, if under any.
    pub(crate) fn reached_at(&self, origin: Option<String>) {
        *lock(&self.origin) = origin;
    }

    /// Where pages of this host are reached from elsewhere, if they are.
    pub(crate) fn origin(&self) -> Option<String> {
        lock(&self.origin).clone()
    }

    /// The store's gateways are spoken for from now on.
    pub(crate) fn of(&self, kernel: &Arc<Kernel>) {
        *lock(&self.kernel) = Arc::downgrade(kernel);
    }

    /// Nothing is sent any more.
    pub(crate) fn end(&self) {
        *lock(&self.kernel) = Weak::new();
        lock(&self.senders).clear();
        lock(&self.looks).clear();
    }

    /// Tells of services that are back from now on, or no longer.
    pub(crate) fn tell_of_back(&self, told: Option<SyncSender<()>>) {
        *lock(&self.told) = told;
    }

    /// A service does not answer its listener.
    pub(crate) fn falls_silent(&self, gateway: &str) {
        lock(&self.looks).insert(gateway.to_owned(), None);
    }

    /// A service answers its listener; where it did not before, whoever sends is told.
    pub(crate) fn speaks(&self, gateway: &str, now: UnixMs) {
        let mut looks = lock(&self.looks);
        let Some(back) = looks.get_mut(gateway).filter(|back| back.is_none()) else { return };
        *back = Some(now);
        drop(looks);
        if let Some(told) = &*lock(&self.told) {
            // A word that waits already says the same.
            let _ = told.try_send(());
        }
    }

    /// When a service answered its listener again that had not, the last time.
    pub(crate) fn back_at(&self, gateway: &str) -> Option<UnixMs> {
        lock(&self.looks).get(gateway).copied().flatten()
    }

    /// Opens an adapter as a person approved it. It has spoken with nobody yet, and does so with approved hosts alone.
    pub(crate) fn open(&self, gateway: &Gateway) -> Result<Box<dyn Adapter>, String> {
        let account = Account {
            service: gateway.service,
            address: gateway.address.clone(),
            user: gateway.user.clone(),
            settings: gateway.settings.clone(),
        };
        let adapter = self.adapter(&account, &gateway.secret)?;
        let terms = self.secrets.terms(&gateway.secret);
        for host in hosts_of(&*adapter) {
            if !gateway.hosts.contains(&host) {
                return Err(format!(
                    "the service is at `{host}` by now, which nobody approved; add the gateway again"
                ));
            }
            if !terms.hosts.contains(&host) {
                return Err(format!("`secret:{}` may not go to `{host}` any more", gateway.secret));
            }
        }
        Ok(adapter)
    }

    fn adapter(&self, account: &Account, secret: &str) -> Result<Box<dyn Adapter>, String> {
        let value = self.secrets.value(secret)?;
        let token = std::str::from_utf8(&value).map_err(|_| format!("`secret:{secret}` is no text"))?;
        chat::open(account, Zeroizing::new(token.trim().to_owned()))
    }

    /// The adapter that sends for a gateway, in the version that a message is for.
    fn sender(&self, message: &Message) -> Result<Arc<Mutex<Box<dyn Adapter>>>, String> {
        if let Some((version, adapter)) = lock(&self.senders).get(&message.gateway)
            && *version == message.version
        {
            return Ok(Arc::clone(adapter));
        }
        let kernel = lock(&self.kernel).upgrade().ok_or("this process holds no store")?;
        let registry = kernel.gateway_registry();
        let record = registry.standing(&message.gateway).filter(|record| record.version == message.version);
        let record = record.ok_or_else(|| format!("the gateway `{}` is another by now", message.gateway))?;
        let gateway = kernel.gateway_of(record).map_err(|e| e.to_string())?;
        let adapter = Arc::new(Mutex::new(self.open(&gateway)?));
        lock(&self.senders).insert(message.gateway.clone(), (message.version, Arc::clone(&adapter)));
        Ok(adapter)
    }

    /// A service answered.
    pub(crate) fn answers(&self, gateway: &str) {
        lock(&self.away).remove(gateway);
    }

    /// A service does not do what it was asked; one that refuses the token pauses its gateway, and a person is asked.
    pub(crate) fn failed(&self, gateway: &str, fault: &Fault) {
        lock(&self.senders).remove(gateway);
        lock(&self.away).insert(gateway.to_owned(), fault.why().to_owned());
        let Fault::Token { why } = fault else { return };
        let Some(kernel) = lock(&self.kernel).upgrade() else { return };
        let reason = format!("the service refuses the token: {why}");
        if let Err(error) = kernel.gateway_pauses_itself(gateway, &reason) {
            tracing::warn!(gateway, %error, "a gateway whose token is refused is not paused");
        }
    }

    /// Whether a service did not answer when it was asked last.
    pub(crate) fn is_away(&self, gateway: &str) -> bool {
        lock(&self.away).contains_key(gateway)
    }
}

/// A message as the kernel hears it, with the files of it that were taken in.
pub(crate) fn heard(incoming: Incoming, attachments: Vec<EnvelopeAttachment>) -> Heard {
    Heard {
        message_id: incoming.message_id,
        chat: incoming.chat,
        is_group: incoming.is_group,
        sender: incoming.sender,
        sender_name: incoming.sender_name,
        sent_at: UnixMs(incoming.sent_at),
        text: incoming.text,
        reply_to: incoming.reply_to,
        button: incoming.button,
        attachments,
    }
}

/// Every host that an adapter speaks with, as `name:port`.
fn hosts_of(adapter: &dyn Adapter) -> Vec<String> {
    adapter.hosts().into_iter().map(|(name, port)| format!("{name}:{port}")).collect()
}

impl Messenger for Chats {
    fn send(&self, message: &Message, file: Option<Vec<u8>>) -> Result<Delivered, Undelivered> {
        let adapter = self.sender(message).map_err(Undelivered::NotSent)?;
        let mut adapter = lock(&adapter);
        let limits = adapter.limits();
        let button =
            |one: &model::gateway::MessageButton| Button { label: one.label.clone(), data: one.data.clone() };
        let buttons = message.buttons.iter().filter(|_| limits.buttons).map(button).collect();
        let file = file.filter(|_| limits.files).map(|bytes| OutFile {
            name: FILE_NAME.to_owned(),
            media_type: "text/markdown".to_owned(),
            bytes,
        });
        let out = Outgoing {
            chat: message.chat.clone(),
            text: message.text.clone(),
            reply_to: message.reply_to.clone(),
            buttons,
            edit_of: message.edits.clone(),
            file,
            repeat_key: message.repeat_key.clone(),
        };
        match adapter.send(&out) {
            Ok(message_id) => {
                self.answers(&message.gateway);
                Ok(Delivered { message_id, is_repeat_safe: limits.is_repeat_safe })
            }
            // It answered, and takes others.
            Err(Fault::Refused { why }) => Err(Undelivered::NotSent(why)),
            Err(fault) => {
                self.failed(&message.gateway, &fault);
                Err(match fault {
                    Fault::Unknown { why } => Undelivered::Unknown(why),
                    Fault::Away { why, .. } | Fault::Refused { why } | Fault::Token { why } => {
                        Undelivered::NotSent(why)
                    }
                })
            }
        }
    }
}

impl api::Chats for Chats {
    fn hosts(&self, account: &api::ChatAccount<'_>) -> Result<Vec<String>, wire::Error> {
        let service: Service = account.service;
        let of = Account {
            service,
            address: account.address.to_owned(),
            user: account.user.to_owned(),
            settings: account.settings.clone(),
        };
        let adapter = self.adapter(&of, account.secret).map_err(api::usage)?;
        Ok(hosts_of(&*adapter))
    }

    fn away(&self, gateway: &str) -> Option<String> {
        lock(&self.away).get(gateway).cloned()
    }

    fn said(&self, secret: &str, call: &api::messages::Call, now: UnixMs) -> Result<Heard, wire::Error> {
        let value = self.secrets.value(secret).ok();
        let signed = SignedCall {
            id: &call.id,
            timestamp: &call.timestamp,
            signatures: &call.signatures,
            body: &call.body,
        };
        let secret = value.as_ref().map(|value| value.trim_ascii());
        match chat::said(secret, &signed, now.0) {
            Ok(incoming) => Ok(heard(incoming, Vec::new())),
            Err(Unsaid::Unsigned) => Err(api::messages::refusal()),
            Err(Unsaid::Unreadable(why)) => Err(api::usage(format!("this is no message: {why}"))),
        }
    }
}
