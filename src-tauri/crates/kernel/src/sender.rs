//! Who sent what came in, and how far it may be relied on for that (decision 106).

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::open::{SUPERVISOR, registered};
use crate::writeup::Writeup;
use governance::Refusal;
use model::PrincipalId;
use model::artifact::TrustTier;
use model::body::{IngressAttributed, IngressReceived};
use model::event::Actor;
use model::ingress::{Channel, IngressRecord};
use model::principal::PrincipalType;
use model::task::Origin;
use projections::rows::IngressRow;

/// The sender of a goal, a message or a file: a party, and the channel it came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sender {
    /// Who it is, as far as anything shows: a token or a session shows that a program is there, and no person.
    pub by: Origin,
    /// The surface it came through.
    pub channel: Channel,
}

impl From<Channel> for Sender {
    fn from(channel: Channel) -> Self {
        let by = match channel {
            Channel::Cli | Channel::App => Origin::Person,
            Channel::RunApi
            | Channel::Mcp
            | Channel::Webhook
            | Channel::Acp
            | Channel::Chat
            | Channel::Mesh => Origin::Program,
            Channel::Scheduler => Origin::Scheduler,
            Channel::System => Origin::Service,
        };
        Self { by, channel }
    }
}

impl Sender {
    /// The same channel, by a program: nothing shows that a person is at it.
    #[must_use]
    pub const fn by_program(self) -> Self {
        match self.by {
            Origin::Person => Self { by: Origin::Program, ..self },
            Origin::Program | Origin::Service | Origin::Scheduler | Origin::Agent => self,
        }
    }

    /// How far the words may be relied on. The one table there is:
    ///
    /// - through a terminal, a window or page of this machine, the run API, or an editor that a person set up to
    ///   use Hermit: a person's own words, or those that a program hands over which they gave the token of their host;
    /// - through the mesh: a person's own words at a machine of theirs, which they paired with this one at both, and whose log's key
    ///   signed them (decision 307);
    /// - by a service or the scheduler: Hermit's own templates, filled with what it has seen;
    /// - through a chat: somebody whom a person paired there, as the service says; it and whoever has the account could
    ///   say it as well, so a model gets it as data, and it gives no authority (decision 269);
    /// - over MCP or a webhook: whoever wrote it, nobody here confirms it;
    /// - by the agent of another task: a model wrote it, of whatever it had read.
    pub const fn tier(self) -> TrustTier {
        match (self.by, self.channel) {
            (Origin::Agent, _) | (_, Channel::Mcp | Channel::Webhook) => TrustTier::Untrusted,
            (Origin::Service | Origin::Scheduler, _) | (_, Channel::System | Channel::Scheduler) => {
                TrustTier::Observed
            }
            (Origin::Person | Origin::Program, Channel::Chat) => TrustTier::Observed,
            (
                Origin::Person | Origin::Program,
                Channel::Cli | Channel::App | Channel::RunApi | Channel::Acp | Channel::Mesh,
            ) => TrustTier::UserAsserted,
        }
    }

    /// Who a task comes from that these words begin.
    pub const fn origin(self) -> Origin {
        match self.tier() {
            TrustTier::Observed if matches!(self.channel, Channel::Chat) => Origin::Program,
            TrustTier::Untrusted if matches!(self.by, Origin::Agent) => Origin::Agent,
            TrustTier::Untrusted => Origin::Program,
            TrustTier::Observed if matches!(self.by, Origin::Scheduler) => Origin::Scheduler,
            TrustTier::Observed => Origin::Service,
            TrustTier::Verified | TrustTier::UserAsserted | TrustTier::PolicyAsserted => Origin::Person,
        }
    }

    /// What only the person's own words do: answer a question, edit a goal, stop what is at work.
    pub(crate) fn speaks_for_the_person(self, what: &str) -> Result<(), Error> {
        match self.origin() {
            Origin::Person => Ok(()),
            by => Err(Error::Refused(Refusal::new(
                "sender_untrusted",
                format!("a {by} cannot {what} (`{}`): a person does, at this machine", self.channel),
            ))),
        }
    }

    /// What only a person says who is there: it lets something run by itself again, so that whoever has the host's token does not
    /// say it for them.
    pub(crate) fn is_a_person(self, what: &str) -> Result<(), Error> {
        match self.by {
            Origin::Person => self.speaks_for_the_person(what),
            by => Err(Error::Refused(Refusal::new(
                "sender_untrusted",
                format!(
                    "a {by} cannot {what} (`{}`): a person does, at this machine or with the approval passphrase",
                    self.channel
                ),
            ))),
        }
    }
}

impl Kernel {
    /// The principal of a sender.
    pub(crate) fn principal_of(&self, sender: Sender) -> Result<Actor, Error> {
        let service = |is_own| {
            let actor_id = lock(&self.store).service(is_own)?;
            Ok(Actor { actor_type: PrincipalType::Service, actor_id })
        };
        match sender.by {
            Origin::Person => self.actor(PrincipalType::User),
            Origin::Scheduler => self.actor(PrincipalType::Scheduler),
            Origin::Agent => self.actor(PrincipalType::Agent),
            Origin::Service => service(true),
            Origin::Program => service(false),
        }
    }

    /// Goes on in a writeup of the store's own stream as what watches over work that runs by itself: what it pauses was stopped by no
    /// person, and not by what begins that work either.
    pub(crate) fn act_as_supervisor(&self, w: &mut Writeup<'_>) {
        let known = lock(&self.store).labelled(SUPERVISOR.0, SUPERVISOR.2);
        let actor_id = known.unwrap_or_else(|| {
            let fresh = PrincipalId::fresh(&*self.ports.clock, &*self.ports.entropy);
            w.push(registered(SUPERVISOR, fresh, w.now));
            fresh
        });
        w.actor = Actor { actor_type: PrincipalType::Supervisor, actor_id };
    }

    /// The sender of a message that waits to be bound.
    pub(crate) fn sender_of(&self, row: &IngressRow) -> Result<Sender, Error> {
        let (sender, user) = (Sender::from(row.channel), self.actor(PrincipalType::User)?.actor_id);
        Ok(if row.actor.is_some_and(|actor| actor != user) { sender.by_program() } else { sender })
    }
}

impl Writeup<'_> {
    /// Puts on record what came in, and beside it who sent it.
    pub(crate) fn receive(&mut self, record: IngressRecord, sender: Sender) {
        let (ingress_id, principal_id) = (record.ingress_id, self.actor.actor_id);
        let key = format!("ingress:{}", record.idempotency_key);
        self.push_keyed(Some(key), IngressReceived { record });
        self.push(IngressAttributed { ingress_id, principal_id, trust_tier: sender.tier() });
    }
}
