//! Browsers that a person lets be told by a push service: on record from when they say so until it ends (schedule.md 4). Nothing is
//! sent from here, and what is told of a task never passes through here.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::push_registry::PushRegistry;
use model::body::{PushEnded, PushSubscribed};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{Digest, Sensitive};

/// Browsers that are told at the same time.
const SUBSCRIPTIONS_MAX: usize = 16;
/// Characters of a name.
const NAME_MAX: usize = 80;

/// What a person lets a browser be told.
#[derive(Debug, Clone)]
pub struct NewPush {
    /// SHA-256 of its address at the service.
    pub subscription: Digest,
    /// The service, by the name of its host.
    pub service: String,
    /// The origin of the page.
    pub origin: String,
    /// What its owner calls the device.
    pub name: String,
    /// SHA-256 of the session that asks.
    pub page: Digest,
    /// What had signed that page in, where a passkey had.
    pub passkey: Option<Digest>,
    /// Whether it is told as well that a task is done or has failed.
    pub outcomes: bool,
}

impl Kernel {
    /// Browsers that are told now.
    pub fn pushes(&self) -> PushRegistry {
        lock(&self.store).pushes.clone()
    }

    /// Records that a browser is told from now on; what was said of the same one before is replaced.
    ///
    /// # Errors
    /// [`Error::Input`] for a name that cannot be one; [`Error::Conflict`] when there are too many.
    pub fn subscribe_push(&self, new: NewPush) -> Result<(), Error> {
        let name = new.name.trim().to_owned();
        if !(1..=NAME_MAX).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(Error::Input(format!(
                "give the device a name of 1 to {NAME_MAX} characters, in one line"
            )));
        }
        {
            let store = lock(&self.store);
            let is_known = store.pushes.get(new.subscription).is_some();
            if !is_known && store.pushes.all().len() >= SUBSCRIPTIONS_MAX {
                let why =
                    format!("{SUBSCRIPTIONS_MAX} devices are notified already; turn it off for one of them");
                return Err(Error::Conflict(why));
            }
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, new.subscription.to_string(), None)?;
        let subscribed_at = w.now;
        w.push(PushSubscribed {
            subscription: new.subscription,
            service: new.service,
            origin: new.origin,
            name: Sensitive::from(name),
            page: new.page,
            passkey: new.passkey,
            outcomes: new.outcomes,
            subscribed_by: actor.actor_id,
            subscribed_at,
        });
        self.commit(w)?;
        Ok(())
    }

    /// Records that a browser is told no more. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is not told.
    pub fn end_push(&self, subscription: Digest, by: PrincipalType, reason: &str) -> Result<(), Error> {
        let record = lock(&self.store).pushes.get(subscription).cloned();
        let record = record
            .ok_or_else(|| Error::NotFound { kind: "notified device", id: subscription.to_string() })?;
        let actor = self.actor(by)?;
        let mut w = self.store_writeup(Point::KeyRevoke, actor, subscription.to_string(), None)?;
        let ended_at = w.now;
        w.push(PushEnded {
            subscription,
            subscribed_by: record.subscribed_by,
            reason: Sensitive::from(reason.to_owned()),
            ended_at,
        });
        self.commit(w)?;
        Ok(())
    }
}
