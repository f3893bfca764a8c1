//! Publishing who this instance is (mesh.md 2, HV-3.9-2): its chain, signed for relays by the key in force, and given to them by an
//! act that a person approves. Which of them took it is on record in the commit that tells what the act came to.

use super::capability::Planned;
use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::kernel::Kernel;
use crate::tx::Tx;
use acts::{ActionRequest, Publish, Tool as _};
use effects::{Outcome, Published};
use mesh::published;
use mesh::sealed::{NostrSealing, WireEvent};
use model::artifact::ArtifactKind;
use model::body::IdentityPublished;
use model::ingress::Channel;
use model::policy::Profile;
use model::task::Priority;
use seal::canon;

/// The folder of tasks that publish, below the store's. It holds nothing: in the one of the rules no rule of the person's would bear
/// on what leaves.
const FOLDER: &str = "publish";

impl Kernel {
    /// Makes the task that asks a person whether the chain of this instance is published at these relays. Nothing leaves this machine by
    /// it.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no relay, and for a chain that is longer than relays are given; [`Error::Conflict`] where the chain
    /// is not unbroken, or does not end with the key of now; [`Error::KeyLocked`].
    pub fn propose_publication(
        &self,
        relays: Vec<String>,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let publish = self.publication(relays)?;
        publish.check().map_err(Error::Input)?;
        let mut goal = publish.title();
        if let Some(first) = goal.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let planned = canon::to_canonical(&Planned::Publish { publish })?;
        let change = String::from_utf8(planned).map_err(|e| Error::Broken(e.to_string()))?;
        let workspace_id = self.workspace(&self.made_folder(FOLDER)?)?;
        let reasoning = Reasoning::Tools { change };
        let submission = Submission::of(goal, workspace_id, reasoning, channel, idempotency_key);
        let profile = Profile::ExternalPublishGated;
        self.submit(&Submission { profile, priority: Priority::High, ..submission })
    }

    /// The act that publishes the chain as it is now.
    fn publication(&self, relays: Vec<String>) -> Result<Publish, Error> {
        let registry = self.identity();
        let (Some(last), Some(first)) = (registry.links.last(), registry.first_soul()) else {
            let says = "this instance has said nothing of itself yet; `hermit identity edit` writes SOUL.md, and \
                        `hermit identity attest` signs it";
            return Err(Error::Conflict(says.to_owned()));
        };
        let graph = registry.graph(&self.artifacts)?;
        if !graph.unbroken {
            let says = "the chain of this instance is broken, and nobody could rely on it; see `hermit identity verify`";
            return Err(Error::Conflict(says.to_owned()));
        }
        let instance = self.ports.keys.instance(&first).ok_or(Error::KeyLocked("instance"))?;
        let instance_pubkey = instance.public();
        if graph.key_in_force.as_deref() != Some(instance_pubkey.as_str()) {
            let says = "the chain does not end with the key of this instance; `hermit identity attest` signs with it";
            return Err(Error::Conflict(says.to_owned()));
        }
        let (key, links) = registry.lines(&self.artifacts)?;
        let lines: Vec<Vec<u8>> = key.into_iter().chain(links).collect();
        let sealing = instance.with_secret(NostrSealing::new).map_err(of_mesh)?;
        let events = published::sign(&sealing, &lines, self.ports.clock.now()).map_err(of_mesh)?;
        let events = events.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        Ok(Publish {
            instance_id: self.instance_id(),
            instance_pubkey,
            links: last.number,
            link_sha256: last.link_sha256,
            events: events.map_err(|e| Error::Broken(e.to_string()))?,
            relays,
        })
    }

    /// Why a person's yes would not be about the chain as it is now, if it would not.
    pub(super) fn publish_outdated(&self, publish: &Publish) -> Option<String> {
        let newest = self.identity().links.last().map(|last| last.link_sha256);
        let is_newest = newest == Some(publish.link_sha256);
        (!is_newest).then(|| "the chain has another link by now; publish it again".to_owned())
    }

    /// In the commit that records what the act came to: which relays have it, where any has.
    pub(crate) fn push_published(
        &self,
        tx: &mut Tx<'_>,
        publish: &Publish,
        request: &ActionRequest,
        outcome: &Outcome,
    ) -> Result<(), Error> {
        let result = outcome.outputs.iter().find(|output| output.kind == ArtifactKind::ActionResult);
        let came = result.and_then(|result| serde_json::from_slice::<Published>(&result.bytes).ok());
        let Some(came) = came.filter(|came| !came.took.is_empty()) else { return Ok(()) };
        // The newest link is in the last of them.
        let event = publish.events.last().and_then(|event| serde_json::from_str::<WireEvent>(event).ok());
        let event_id = event.map(|event| event.id.to_string()).unwrap_or_default();
        let published_at = tx.now();
        self.in_store(tx, |w| {
            w.push(IdentityPublished {
                instance_id: publish.instance_id.clone(),
                link_sha256: publish.link_sha256,
                event_id,
                relays: came.took,
                action_request_id: request.action_request_id,
                published_at,
            });
            Ok(())
        })
    }
}

fn of_mesh(error: mesh::Error) -> Error {
    match error {
        mesh::Error::TooLarge => {
            let says = "the chain has more links than relays are given; `hermit identity export` writes it to a file";
            Error::Input(says.to_owned())
        }
        mesh::Error::Form(error) => Error::Seal(error),
        other => Error::Conflict(other.to_string()),
    }
}
