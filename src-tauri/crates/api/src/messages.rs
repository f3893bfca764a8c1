//! Messages that a program of the person's own brings to a gateway, signed with its secret (schedule.md 2, decision 280).
//!
//! Whoever calls has shown no token and gains none: what it says is heard as from every other chat, of senders whom a person paired. It
//! is answered only when it is on record. A gateway that takes no calls, a secret that is not there, a call that is not signed and one
//! that was signed at another time are refused in the same words.

use crate::{Host, Wire as _};
use kernel::command::inbound::Received;
use model::gateway::{GatewayState, MessageRefusal, Service};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use wire::{Code, Error};

/// Bytes of the body of a call.
pub const BYTES_MAX: usize = 128 * 1024;

/// A call, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`.
    pub timestamp: String,
    /// `webhook-signature`.
    pub signatures: String,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Whether it came before: nothing comes of it again.
    pub duplicate: bool,
}

/// Takes a message for a gateway. `turn`: one that is signed is heard after another, for each has the next number of its sender.
///
/// # Errors
/// [`Code::Forbidden`] for a call that is refused, whatever is wrong with it, and for a message that is not heard, with the reason;
/// [`Code::Usage`] for what is signed and no message; [`Code::Halted`] while nothing may begin.
pub fn take(host: &dyn Host, gateway: &str, call: Option<&Call>, turn: &Mutex<()>) -> Result<Taken, Error> {
    let kernel = host.kernel()?;
    if kernel.halted().is_some() {
        return Err(Error::new(Code::Halted, "Hermit is halted, and takes no messages"));
    }
    let (Some(call), Some(chats)) = (call, host.chats()) else { return Err(refusal()) };
    let registry = kernel.gateway_registry();
    let record = registry
        .standing(gateway)
        .filter(|one| one.service == Service::Webhook && one.state == GatewayState::Active);
    let secret = record.map(|record| kernel.gateway_of(record).map(|gateway| gateway.secret)).transpose();
    let secret = secret.wire()?.unwrap_or_default();
    let heard = chats.said(&secret, call, host.now())?;
    if record.is_none() {
        return Err(refusal());
    }
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let envelope = kernel.wrap(gateway, heard).wire()?;
    match kernel.receive_message(gateway, &envelope).wire()? {
        Received::Used(_, tasks) => {
            for task in tasks {
                host.drive(task)?;
            }
            Ok(Taken { duplicate: false })
        }
        Received::Refused(MessageRefusal::Repeated) => Ok(Taken { duplicate: true }),
        Received::Refused(why) => Err(Error::new(Code::Forbidden, format!("the message is refused: {why}"))),
    }
}

/// More calls come than are taken.
pub fn too_many() -> Error {
    Error::new(Code::Unavailable, "more messages come than are taken").hint("send it again in a minute")
}

/// What is told of every call that is refused.
pub fn refusal() -> Error {
    Error::new(Code::Forbidden, "no gateway here takes this message").hint(
        "sign it with the secret of the gateway when it is sent; `hermit gateway show NAME` says where and how",
    )
}
