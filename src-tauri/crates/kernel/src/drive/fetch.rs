//! Requests to servers: from a proposal to what is judged, shown and sent.

use super::normalise::{Unfit, told};
use crate::Error;
use crate::gateway_registry::GatewayRecord;
use crate::kernel::Kernel;
use crate::state::ObservedRef;
use acts::Action;
use model::gateway::GatewayState;
use model::web::{Fetch, WebUrl};

impl Kernel {
    /// The request as it is judged: secrets that there are, for hosts they may go to, and the version that this attempt
    /// has seen of what would be replaced.
    pub(super) fn fetch_of(
        &self,
        proposed: &Fetch,
        observed: &[ObservedRef],
    ) -> Result<Result<Action, Unfit>, Error> {
        let known = self.secrets();
        let server = proposed.url.server();
        for handle in proposed.secrets() {
            if let Some(why) = self.unusable_secret(&handle) {
                return Ok(Err(Unfit(why)));
            }
            if known.get(&handle).is_some_and(|terms| !terms.hosts.contains(&server)) {
                return Ok(Err(Unfit(format!(
                    "`secret:{handle}` may not go to `{server}`; a person says where it may go, so ask for it"
                ))));
            }
        }
        let mut fetch = proposed.clone();
        fetch.if_match = match fetch.method.replaces() {
            true => self.version_seen(&fetch.url, observed)?,
            false => None,
        };
        Ok(Ok(Action::Fetch(fetch)))
    }

    /// Why no act of a task uses a secret, if none does: there is none, or it opens a gateway, and whoever had it could write there
    /// past every card. That holds for one that was removed as long as the secret may go to its hosts: what its token can do does not
    /// end with it.
    pub(super) fn unusable_secret(&self, handle: &str) -> Option<String> {
        let secrets = self.secrets();
        let Some(terms) = secrets.get(handle) else {
            return Some(format!(
                "there is no `secret:{handle}`; a person sets it with `hermit secret set`, so ask for it"
            ));
        };
        let registry = self.gateway_registry();
        let opens = |record: &&GatewayRecord| {
            self.gateway_of(record).is_ok_and(|one| {
                let is_removed = record.state == GatewayState::Removed;
                one.secret == handle
                    && (!is_removed || one.hosts.iter().any(|host| terms.hosts.contains(host)))
            })
        };
        registry.0.values().find(opens).map(|record| {
            format!("`secret:{handle}` opens the gateway `{}`, and is for nothing else", record.name)
        })
    }

    /// The version that a server gave of a thing when this attempt last fetched it. A weak one cannot be demanded.
    fn version_seen(&self, url: &WebUrl, observed: &[ObservedRef]) -> Result<Option<String>, Error> {
        for seen in observed.iter().rev().filter(|seen| seen.tool == "fetch") {
            let bytes = self.artifacts.read(&seen.artifact.sha256)?;
            let value = told(&bytes)?;
            let text = |pointer: &str| value.pointer(pointer).and_then(|v| v.as_str());
            if text("/url") == Some(url.to_string().as_str()) {
                let tag = text("/headers/etag").filter(|tag| tag.starts_with('"') && tag.ends_with('"'));
                return Ok(tag.map(str::to_owned));
            }
        }
        Ok(None)
    }
}
