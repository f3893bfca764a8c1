//! Passkeys as the table's commands tell of them. Nothing here enrols one.

use crate::caller::sender;
use crate::{Host, passkeys};
use model::ingress::Channel;
use wire::Error;
use wire::passkeys::{List, Passkey, Passkeys, Revoke};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Passkeys, Error> {
    Ok(Passkeys { passkeys: passkeys::list(host)? })
}

pub(crate) fn revoke(host: &dyn Host, p: Revoke) -> Result<Passkey, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("revoked by a {}", by.by));
    passkeys::revoke_because(host, &p.passkey, &reason)
}
