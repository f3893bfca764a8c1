//! The kernel's side of the mesh (mesh.md 4): what a node believes is put on record in the commit that also takes in what it brings,
//! and what it brings is done afterwards, each thing once however often it is tried. What other machines are to be told follows from
//! what is on record, so that it is said again until it is, and never twice.

pub mod approvals;
mod goals;
mod heads;
mod receipts;
mod record;
mod replies;
mod slots;

use super::submit::Reasoning;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::MeshRegistry;
pub(crate) use goals::opened;
use mesh::{Command, Delivered, NodeId};
use model::policy::Profile;
use model::{Digest, TaskId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What goals of other machines may, as a person set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshTerms {
    /// Folders that they may be for, by alias. Each path is absolute and canonical.
    pub folders: BTreeMap<String, PathBuf>,
    /// Who proposes.
    pub reasoning: Reasoning,
    /// The policy profile.
    pub profile: Profile,
}

/// What came of a delivery.
#[derive(Debug, Clone, Default)]
pub struct MeshDone {
    /// What the node is to be told, recorded together with the settling of the delivery.
    pub say: Vec<Command>,
    /// Tasks that are to be driven now.
    pub drive: Vec<TaskId>,
    /// Whether what it hangs on may still be on its way: it is not settled, and done again in a while. What came after it waits for
    /// nothing.
    pub waits: bool,
}

/// A goal for another machine, in the words of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshGoal {
    /// The machine.
    pub to: NodeId,
    /// The folder there, by its alias; the only one that it has when none is named.
    pub folder: Option<String>,
    /// The conversation that it goes on with; a new one when none is named.
    pub conversation: Option<String>,
    /// The words.
    pub text: String,
    /// The same key twice is the same goal.
    pub key: String,
}

/// A goal that is ready to be sent.
#[derive(Debug, Clone)]
pub struct MeshSent {
    /// What the node is to be told; nothing for a goal that was sent before.
    pub say: Vec<Command>,
    /// By what all machines know the message.
    pub id: Digest,
    /// Its conversation.
    pub conversation: String,
}

impl Kernel {
    /// This machine in the mesh, as the store's own events say.
    pub fn mesh_registry(&self) -> Arc<MeshRegistry> {
        Arc::clone(&lock(&self.store).mesh)
    }

    /// Does what a delivery asks for. Done before, it is not done again; what it leads to is said again all the same.
    ///
    /// # Errors
    /// Only what another try may get over; nothing that another machine sent is an error.
    pub fn deliver_mesh(&self, delivered: &Delivered, terms: &MeshTerms) -> Result<MeshDone, Error> {
        match delivered {
            Delivered::Input { input, .. } => self.deliver_input(input, terms),
            Delivered::Secret { input, origin, conversation } => {
                Ok(self.deliver_secret(*input, *origin, conversation))
            }
            Delivered::Head { .. } => self.deliver_head(delivered),
            Delivered::Cosigned { .. } => self.deliver_cosigned(delivered),
            Delivered::Prove { from, prove } => self.deliver_prove(*from, prove),
            Delivered::RolledBack { .. } => self.deliver_rolled_back(delivered),
            Delivered::Receipts { .. } => self.deliver_receipts(delivered),
            Delivered::Start { .. } | Delivered::Holds { .. } | Delivered::NotCounted { .. } => {
                self.deliver_slot(delivered)
            }
            Delivered::Question { .. } | Delivered::Answered { .. } | Delivered::Decided { .. } => {
                self.deliver_approval(delivered)
            }
            // Nothing is to be done: the registry shows them, and lets nothing new begin in a conversation that is elsewhere.
            // What a machine says that learns together with this one is the host's: it trains.
            Delivered::Answer { .. }
            | Delivered::Waits { .. }
            | Delivered::Training { .. }
            | Delivered::Owns { .. }
            | Delivered::Displaced { .. }
            | Delivered::Forked { .. }
            | Delivered::PutBack { .. }
            | Delivered::LettersMissed { .. }
            | Delivered::TooManyHandOvers { .. }
            | Delivered::NoticesMissed { .. } => Ok(MeshDone::default()),
        }
    }

    /// What the other machines are to be told by now and were not told yet.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn mesh_news(&self, _terms: &MeshTerms) -> Result<Vec<Command>, Error> {
        let registry = self.mesh_registry();
        if registry.node().is_none() {
            return Ok(Vec::new());
        }
        let mut news = self.news_of_log_key(&registry);
        news.extend(self.news_of_replies(&registry)?);
        news.extend(self.news_of_waits(&registry));
        news.extend(self.news_of_heads(&registry)?);
        news.extend(self.news_of_receipts(&registry)?);
        news.extend(self.news_of_slots(&registry)?);
        news.extend(self.news_of_approvals(&registry)?);
        Ok(news)
    }
}

/// This machine is no node.
pub(crate) fn not_joined() -> Error {
    Error::Conflict("the mesh is off on this machine; `hermit mesh on` turns it on".to_owned())
}
