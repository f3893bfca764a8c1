//! Browsers that are told by a push service that a person is waited for, as a page of this host asks for it. It stands in no table: a
//! transport calls it for a request that it knows to come from a browser's session. Who a session is, is told by its SHA-256 alone.

use crate::{Host, Wire as _, no_host, not_found, usage};
use kernel::command::push::NewPush;
use kernel::push_registry::PushRecord;
use model::Digest;
use model::principal::PrincipalType;
use serde::{Deserialize, Serialize};
use wire::Error;

/// What Web Push needs of the process that holds the store: its key, and a place for what each browser gave.
pub trait Pushes: Send + Sync {
    /// The public key by which push services know this store, base64url; it is made when it is first asked for.
    ///
    /// # Errors
    /// [`wire::Code::KeyLocked`] while the vault is locked.
    fn key(&self) -> Result<String, Error>;

    /// The service of an address, by the name of its host.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for one that is no known push service, or not reached by HTTPS.
    fn service(&self, endpoint: &str) -> Result<String, Error>;

    /// Keeps where a browser is reached, in place of what was kept of it.
    ///
    /// # Errors
    /// As [`Pushes::key`], and [`wire::Code::Usage`] for what is no browser's key.
    fn keep(&self, subscription: Digest, given: &Subscription) -> Result<(), Error>;

    /// Forgets it.
    ///
    /// # Errors
    /// As [`Pushes::key`].
    fn forget(&self, subscription: Digest) -> Result<(), Error>;
}

/// What a browser says of its subscription, as it writes it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Where its push service takes messages for it: whoever knows it may send some.
    pub endpoint: String,
    /// Its public key, base64url.
    pub p256dh: String,
    /// The secret it shares with whoever may tell it, base64url.
    pub auth: String,
}

/// Who asks: a page of this host.
#[derive(Debug, Clone, Copy)]
pub struct Page<'p> {
    /// Its session.
    pub session: &'p str,
    /// Its origin.
    pub origin: &'p str,
    /// The passkey that signed it in, by its identifier.
    pub passkey: Option<&'p str>,
}

/// A browser that is told, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Its name: SHA-256 of its address at the service.
    pub subscription: String,
    /// What its owner calls the device; absent when that was erased.
    pub name: Option<String>,
    /// The push service, by the name of its host.
    pub service: String,
    /// The origin of its page.
    pub origin: String,
    /// Whether it is told as well that a task is done or has failed.
    pub outcomes: bool,
    /// Since when, milliseconds since 1970.
    pub since: i64,
    /// SHA-256 of the session that asked for it.
    #[serde(skip)]
    pub page: String,
}

/// What a session is known by in a subscription.
pub fn page_of(session: &str) -> String {
    Digest::of(session.as_bytes()).to_string()
}

/// The name of a subscription, of its address.
pub fn name_of(endpoint: &str) -> Digest {
    Digest::of(endpoint.as_bytes())
}

/// The key that a browser is told to take messages from.
///
/// # Errors
/// As [`Pushes::key`].
pub fn key(host: &dyn Host) -> Result<String, Error> {
    pushes(host)?.key()
}

/// Every browser that is told, the oldest first.
///
/// # Errors
/// [`wire::Code::NoHost`] in a process that only reads.
pub fn list(host: &dyn Host) -> Result<Vec<Told>, Error> {
    Ok(host.kernel()?.pushes().all().into_iter().map(row).collect())
}

/// A person lets the browser of this page be told from now on.
///
/// # Errors
/// As [`Pushes::service`] and [`Pushes::keep`]; [`wire::Code::Conflict`] when too many are told.
pub fn subscribe(
    host: &dyn Host,
    page: Page<'_>,
    name: &str,
    outcomes: bool,
    given: &Subscription,
) -> Result<(), Error> {
    let (kernel, pushes) = (host.kernel()?, pushes(host)?);
    let service = pushes.service(&given.endpoint)?;
    let passkey = page.passkey.map(str::parse::<Digest>).transpose().map_err(|e| usage(e.to_string()))?;
    let subscription = name_of(&given.endpoint);
    pushes.key()?;
    let was_known = kernel.pushes().get(subscription).is_some();
    pushes.keep(subscription, given)?;
    let new = NewPush {
        subscription,
        service,
        origin: page.origin.to_owned(),
        name: name.to_owned(),
        page: Digest::of(page.session.as_bytes()),
        passkey,
        outcomes,
    };
    let recorded = kernel.subscribe_push(new).wire();
    if recorded.is_err() && !was_known {
        // Nobody is told by what is not on record.
        let _ = pushes.forget(subscription);
    }
    recorded
}

/// A person ends that a browser is told; why, in words.
///
/// # Errors
/// [`wire::Code::NotFound`] when it is not told.
pub fn end(host: &dyn Host, subscription: &str, reason: &str) -> Result<(), Error> {
    end_by(host, subscription, PrincipalType::User, reason)
}

/// A browser is told no more because its service does not know it any more, or what it rested on has ended.
///
/// # Errors
/// As [`end`].
pub fn end_by_itself(host: &dyn Host, subscription: &str, reason: &str) -> Result<(), Error> {
    end_by(host, subscription, PrincipalType::System, reason)
}

fn end_by(host: &dyn Host, subscription: &str, by: PrincipalType, reason: &str) -> Result<(), Error> {
    let name: Digest = subscription.parse().map_err(|_| not_found("notified device", subscription))?;
    host.kernel()?.end_push(name, by, reason).wire()?;
    // What lies in a locked vault is read by nobody, and counts for nothing without its record.
    let _ = pushes(host).and_then(|pushes| pushes.forget(name));
    Ok(())
}

/// The browser of a page that is ended is told no more.
///
/// # Errors
/// As [`list`].
pub fn end_of_page(host: &dyn Host, session: &str, reason: &str) -> Result<(), Error> {
    let page = page_of(session);
    for told in list(host)?.into_iter().filter(|told| told.page == page) {
        end(host, &told.subscription, reason)?;
    }
    Ok(())
}

fn pushes(host: &dyn Host) -> Result<&dyn Pushes, Error> {
    host.pushes().ok_or_else(no_host)
}

fn row(record: &PushRecord) -> Told {
    Told {
        subscription: record.subscription.to_string(),
        name: record.name.clone(),
        service: record.service.clone(),
        origin: record.origin.clone(),
        outcomes: record.outcomes,
        since: record.subscribed_at.0,
        page: record.page.to_string(),
    }
}
