//! Secrets by handle, as the log knows them. Values are in a vault and never come here.

use crate::{Host, Wire as _, fold};
use model::Body;
use std::collections::BTreeMap;
use wire::secrets::{List, Secret, Secrets};
use wire::{Code, Error};
use words::UnknownName;

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Secrets, Error> {
    let reader = host.reader()?;
    let mut found = BTreeMap::new();
    if let Some(first) = reader.log(0, 1).wire()?.into_iter().next() {
        fold::walk(&reader, first.task_id, &mut |_, event, body| {
            match body {
                Body::SecretRegistered(b) => {
                    let (handle, hosts) = (b.handle.clone(), b.hosts.clone());
                    let kept_in = b
                        .kept_in
                        .parse()
                        .map_err(|e: UnknownName| Error::new(Code::Failed, e.to_string()))?;
                    let (also_in, since) = (Vec::new(), event.occurred_at.0);
                    found.insert(handle.clone(), Secret { handle, hosts, kept_in, also_in, since });
                }
                Body::SecretPlaced(b) => {
                    if let Some(secret) = found.get_mut(&b.handle) {
                        secret.also_in = b.also_in.iter().map(|place| place.as_str().to_owned()).collect();
                    }
                }
                Body::SecretRemoved(b) => {
                    found.remove(&b.handle);
                }
                _ => {}
            }
            Ok(())
        })?;
    }
    Ok(Secrets { secrets: found.into_values().collect() })
}
