//! Passkeys as the table's commands tell of them. One on a security key is enrolled by what a person signed at a terminal.

use crate::caller::sender;
use crate::convert::from_base64;
use crate::{Host, passkeys};
use model::ingress::Channel;
use wire::Error;
use wire::passkeys::{Enrol, List, Passkey, Passkeys, Revoke};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Passkeys, Error> {
    Ok(Passkeys { passkeys: passkeys::list(host)? })
}

pub(crate) fn enrol(host: &dyn Host, p: Enrol) -> Result<Passkey, Error> {
    passkeys::enrol_security_key(host, &from_base64("envelope", &p.envelope)?, &p.name)
}

pub(crate) fn revoke(host: &dyn Host, p: Revoke) -> Result<Passkey, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("revoked by a {}", by.by));
    passkeys::revoke_because(host, &p.passkey, &reason)
}
