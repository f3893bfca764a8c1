//! What the process that runs the mesh is asked for by bodies: its settings, what is open just now, pairings, files that a person
//! carries.

use mesh::{Capabilities, NodeId};
use model::UnixMs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What this machine is in the mesh, as its settings say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshShown {
    /// Whether the mesh is on.
    pub on: bool,
    /// As its person calls it.
    pub name: Option<String>,
    /// Addresses of relays at which it reads.
    pub relays: Vec<String>,
    /// The address and port at which paired machines of the same network reach it.
    pub listen: Option<String>,
    /// Folders that other machines may send goals to, by alias.
    pub folders: BTreeMap<String, PathBuf>,
    /// Who proposes in goals of other machines.
    pub model: Option<String>,
    /// Whether everybody may see that it is here.
    pub public: bool,
}

/// Another machine, as it told of itself last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// Until when it counts.
    pub until: UnixMs,
    /// What it can do.
    pub can: Capabilities,
    /// How busy it is, in per cent.
    pub load: u8,
}

/// A relay, or a machine that is reached directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshWay {
    /// Its address.
    pub at: String,
    /// The machine, where it is one.
    pub node: Option<NodeId>,
    /// Whether it is open.
    pub is_open: bool,
    /// What it said last, or why it is not open.
    pub says: Option<String>,
}

/// The mesh as the process that runs it knows it; nothing of it is on record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshLive {
    /// Ways that are open or were tried.
    pub ways: Vec<MeshWay>,
    /// Whether others could hear of something: the node runs, and a way of its own is open. Where it is not so, this machine begins
    /// no time of a schedule that machines hold together.
    pub is_reached: bool,
    /// Machines that are heard of.
    pub here: BTreeMap<NodeId, Presence>,
    /// Machines that everybody sees, as they tell at relays.
    pub public: BTreeSet<NodeId>,
}

/// The mesh, in the process that holds the store.
pub trait Mesh: Send + Sync {
    /// What this machine is in the mesh.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn settings(&self) -> Result<MeshShown, wire::Error>;

    /// Sets it. It has taken effect when this returns: the mesh runs or is over. A `listen` of nothing but spaces is none, as are a
    /// `name` and a `model` of that kind.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] with what is wrong; [`wire::Code::Conflict`] where this instance has no key of its own yet.
    fn set(&self, wanted: &wire::mesh::Set) -> Result<(), wire::Error>;

    /// The mesh as it is just now; none where it does not run.
    fn live(&self) -> Option<MeshLive>;

    /// Has the node say something. It is on record when this returns.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] where the mesh does not run, or what is said may not be done now.
    fn say(&self, commands: Vec<mesh::Command>) -> Result<(), wire::Error>;

    /// Shows a code for another machine; one that was shown before counts no more.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] where the mesh does not run.
    fn invite(&self) -> Result<wire::mesh::Code, wire::Error>;

    /// Begins a pairing with the machine that shows this code. How it goes on is told by [`Self::pairing`].
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for what is no code or no address; [`wire::Code::Conflict`] where the mesh does not run.
    fn join(&self, code: &str, at: &[String]) -> Result<wire::mesh::PairingState, wire::Error>;

    /// How the pairing stands that was begun last.
    fn pairing(&self) -> wire::mesh::PairingState;

    /// Writes everything that waits, or what waits for one machine, to a new file.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] where the mesh does not run; when the file cannot be made.
    fn export(&self, path: &Path, only: Option<NodeId>) -> Result<wire::mesh::Carried, wire::Error>;

    /// Takes a file in that a person carried here.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] where the mesh does not run; [`wire::Code::Usage`] for what is no such file.
    fn import(&self, path: &Path) -> Result<wire::mesh::Carried, wire::Error>;
}
