//! Gateways: connected by a person's yes, paused, resumed, removed (schedule.md 2). Who is paired stands in [`super::pairing`],
//! what comes in in [`super::inbound`], what goes out in [`super::outbound`].

use super::person::{Matter, Signed};
use super::submit::Submitted;
use crate::Error;
use crate::gateway_registry::{GatewayRecord, GatewayRegistry};
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Scope, Writeup};
use acts::Register;
use model::artifact::ArtifactKind;
use model::body::{
    GatewayKept, GatewayPaused, GatewayRead, GatewayRemoved, GatewayResumed, PrincipalRegistered,
};
use model::event::Actor;
use model::fault::Point;
use model::gateway::{Gateway, GatewayState, KeepGateway};
use model::ingress::Channel;
use model::principal::{Principal, PrincipalType};
use model::{ActionRequestId, PrincipalId, Sensitive, TaskId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gateways that stand at the same time: each has a thread of the host.
const GATEWAYS_MAX: usize = 16;

impl Kernel {
    /// Makes the task that asks a person whether a gateway is connected. Nothing is listened to because of this.
    ///
    /// # Errors
    /// [`Error::Input`] when it cannot be meant, or its secret may not go to the hosts that it speaks with.
    pub fn propose_gateway(
        &self,
        mut gateway: Gateway,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        gateway.hosts.sort();
        gateway.hosts.dedup();
        gateway.check().map_err(Error::Input)?;
        self.may_be_opened(&gateway).map_err(Error::Input)?;
        let registry = self.gateway_registry();
        let standing = registry.standing(&gateway.name);
        // Whoever was paired there, and how far it was read, is as its service names it.
        if let Some(known) = registry.0.get(&gateway.name).filter(|known| known.service != gateway.service) {
            return Err(Error::Input(format!(
                "`{}` is the name of a gateway to {}; give this one another",
                known.name, known.service
            )));
        }
        if standing.is_none() && registry.all_standing().count() >= GATEWAYS_MAX {
            return Err(Error::Input(format!("{GATEWAYS_MAX} gateways stand; remove one first")));
        }
        let was = standing.map(|record| self.gateway_of(record)).transpose()?.map(Box::new);
        let version = next_version(&registry, &gateway.name);
        let change = Register::Gateway { keep: Box::new(KeepGateway { gateway, version, was }) };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Gateways as they stand.
    pub fn gateway_registry(&self) -> Arc<GatewayRegistry> {
        Arc::clone(&lock(&self.store).gateways)
    }

    /// A gateway with all that a person approved.
    ///
    /// # Errors
    /// When it was erased.
    pub fn gateway_of(&self, record: &GatewayRecord) -> Result<Gateway, Error> {
        self.object_at(&record.gateway)
    }

    /// Whether its secret is there and may go to every host that it speaks with.
    fn may_be_opened(&self, gateway: &Gateway) -> Result<(), String> {
        let terms = lock(&self.store).secrets.get(&gateway.secret).cloned();
        let Some(terms) = terms else {
            return Err(format!(
                "there is no secret `{0}`; `hermit secret set {0}` keeps one",
                gateway.secret
            ));
        };
        match gateway.hosts.iter().find(|host| !terms.hosts.contains(host)) {
            None => Ok(()),
            Some(host) => Err(format!(
                "the secret `{0}` may not go to `{host}`; `hermit secret set {0}` says where it may go",
                gateway.secret
            )),
        }
    }

    /// Pauses a gateway: it neither listens nor sends until a person resumes it. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it, [`Error::Conflict`] when it is paused already.
    pub fn pause_gateway(&self, name: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.push_paused(name, reason, by.into(), false)
    }

    /// A gateway pauses itself: its service refuses the token, and a person is asked.
    ///
    /// # Errors
    /// As [`Kernel::pause_gateway`].
    pub fn gateway_pauses_itself(&self, name: &str, reason: &str) -> Result<(), Error> {
        self.push_paused(name, reason, Sender::from(Channel::System), true)
    }

    fn push_paused(&self, name: &str, reason: &str, by: Sender, by_itself: bool) -> Result<(), Error> {
        let record = self.standing_gateway(name)?;
        if record.state != GatewayState::Active {
            return Err(Error::Conflict(format!("the gateway `{name}` is {} already", record.state)));
        }
        let mut w = self.gateway_writeup(by, name)?;
        if by_itself {
            self.act_as_supervisor(&mut w);
        }
        let reason = Sensitive::from(reason.to_owned());
        w.push(GatewayPaused { name: name.to_owned(), by_itself, reason });
        self.commit(w).map(drop)
    }

    /// Resumes a gateway that is paused.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it, [`Error::Conflict`] when it is not paused, [`Error::Refused`] when no person says it.
    pub fn resume_gateway(&self, name: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.resume_gateway_signed(name, by, None)
    }

    /// As [`Kernel::resume_gateway`], by what a person signed about [`GatewayRecord::resume_subject`]; it stands beside it.
    ///
    /// # Errors
    /// As [`Kernel::resume_gateway`].
    pub fn resume_gateway_signed(
        &self,
        name: &str,
        by: impl Into<Sender>,
        signed: Option<&Signed>,
    ) -> Result<(), Error> {
        let record = self.standing_gateway(name)?;
        let about = (Matter::Resume, record.resume_subject());
        let (sender, decided) = self.said_by_person((by.into(), "resume a gateway"), about, signed)?;
        if record.state != GatewayState::Paused {
            return Err(Error::Conflict(format!("the gateway `{name}` is not paused")));
        }
        let mut w = self.gateway_writeup(sender, name)?;
        let resumed_at = w.now;
        w.push(GatewayResumed { name: name.to_owned(), resumed_at });
        if let Some(decided) = decided {
            w.push(decided);
        }
        self.commit(w).map(drop)
    }

    /// Removes a gateway, and with it who is paired there. Any surface may: it only narrows. Its history stays.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it.
    pub fn remove_gateway(&self, name: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.standing_gateway(name)?;
        let mut w = self.gateway_writeup(by.into(), name)?;
        w.push(GatewayRemoved { name: name.to_owned(), reason: Sensitive::from(reason.to_owned()) });
        self.commit(w).map(drop)
    }

    /// A gateway that is not removed.
    pub(super) fn standing_gateway(&self, name: &str) -> Result<GatewayRecord, Error> {
        let record = lock(&self.store).gateways.standing(name).cloned();
        record.ok_or_else(|| Error::NotFound { kind: "gateway", id: name.to_owned() })
    }

    pub(super) fn gateway_writeup(&self, by: Sender, name: &str) -> Result<Writeup<'_>, Error> {
        let actor = self.principal_of(by)?;
        self.store_writeup(Point::DecisionRecord, actor, format!("gateway:{name}"), None)
    }

    /// Why a gateway cannot be connected as its card says, if it cannot.
    pub(super) fn gateway_outdated(&self, keep: &KeepGateway) -> Result<Option<String>, Error> {
        let name = &keep.gateway.name;
        let registry = self.gateway_registry();
        let was = registry.standing(name).map(|record| self.gateway_of(record)).transpose()?;
        if next_version(&registry, name) != keep.version || was.as_ref() != keep.was.as_deref() {
            return Ok(Some(format!("the gateway `{name}` is another by now; look at it and ask again")));
        }
        Ok(self.may_be_opened(&keep.gateway).err())
    }

    /// Connects a gateway in place of the one before; whoever is paired stays so.
    pub(super) fn push_gateway(
        &self,
        w: &mut Writeup<'_>,
        keep: &KeepGateway,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let name = &keep.gateway.name;
        let registry = self.gateway_registry();
        let known = registry.0.get(name);
        let (messages_task_id, principal_id) = match known {
            Some(known) => (known.messages_task_id, known.principal_id),
            None => {
                let principal_id = PrincipalId::fresh(clock, entropy);
                push_principal(w, principal_id, format!("gateway {name}"), format!("gateway:{name}"));
                (TaskId::fresh(clock, entropy), principal_id)
            }
        };
        let gateway = w.object(&keep.gateway, NewArtifact::audit(ArtifactKind::Gateway))?;
        w.push(GatewayKept {
            name: name.clone(),
            version: keep.version,
            service: keep.gateway.service,
            gateway,
            action_request_id,
            kept_at: w.now,
            messages_task_id,
            principal_id,
        });
        // How far one account was read says nothing of another.
        let is_same = keep.was.as_deref().is_some_and(|was| account(was) == account(&keep.gateway));
        if let Some(known) = known.filter(|known| !is_same && !known.traffic.cursor.is_empty()) {
            let (cursor, read_at) = (Sensitive::from(String::new()), w.now);
            in_messages(w, known, |w| {
                w.push(GatewayRead { name: name.clone(), cursor, read_at, matters: None })
            });
        }
        Ok(())
    }
}

/// What tells the account of a gateway from another of its service.
fn account(gateway: &Gateway) -> (&str, &str, &str, &BTreeMap<String, String>) {
    (&gateway.address, &gateway.user, &gateway.secret, &gateway.settings)
}

/// The version that a gateway of this name would have.
fn next_version(registry: &GatewayRegistry, name: &str) -> u32 {
    registry.0.get(name).map_or(1, |record| record.version.saturating_add(1))
}

/// A principal that is heard from outside: a gateway, a sender there, or whoever calls a hook.
pub(super) fn push_principal(
    w: &mut Writeup<'_>,
    principal_id: PrincipalId,
    display_name: String,
    label: String,
) {
    let created_at = w.now;
    w.push(PrincipalRegistered {
        principal: Principal {
            principal_id,
            principal_type: PrincipalType::Webhook,
            display_name: Sensitive::from(display_name),
            created_at,
            authn_context_ref: None,
            labels: vec![label],
            external_identity_ref: None,
        },
    });
}

/// The actor of what such a principal says.
pub(crate) const fn heard_as(actor_id: PrincipalId) -> Actor {
    Actor { actor_type: PrincipalType::Webhook, actor_id }
}

/// Writes into the stream of a gateway's messages.
pub(super) fn in_messages<T>(
    w: &mut Writeup<'_>,
    of: &GatewayRecord,
    write: impl FnOnce(&mut Writeup<'_>) -> T,
) -> T {
    let scope = Scope { task_id: of.messages_task_id, step_id: None, attempt_id: None, workspace_id: None };
    let before = std::mem::replace(&mut w.scope, scope);
    let written = write(w);
    w.scope = before;
    written
}
