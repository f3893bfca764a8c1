//! Whoever runs the program that trains, as commands ask for it.

use kernel::training_registry::{DatasetRecord, RunRecord};
use mesh::NodeId;
use std::path::{Path, PathBuf};
use wire::Error;
use wire::training::{Join, Run, RunStands, Together};

/// Runs of training of one store, of which one is in hand at a time.
pub trait Trainer: Send + Sync {
    /// How the run in hand stands, or the last one.
    fn stands(&self) -> RunStands;

    /// Begins a run with a dataset.
    ///
    /// # Errors
    /// [`wire::Code::NotFound`] without the program or the model, [`wire::Code::Usage`] for what no run can be asked for,
    /// [`wire::Code::Conflict`] while another is in hand.
    fn begin(&self, dataset: &DatasetRecord, wanted: &Run) -> Result<(), Error>;

    /// Begins a run that these machines learn together with this one, which leads, and asks each of them.
    ///
    /// # Errors
    /// As [`Trainer::begin`]; [`wire::Code::Usage`] for fewer machines than a mean needs that one of them cannot move.
    fn together(&self, dataset: &DatasetRecord, wanted: &Together, with: &[NodeId]) -> Result<(), Error>;

    /// Takes up an invitation to learn together; who leads the run.
    ///
    /// # Errors
    /// As [`Trainer::begin`]; [`wire::Code::NotFound`] without the invitation, or the model that it names;
    /// [`wire::Code::Ambiguous`] for several of that name.
    fn join(&self, dataset: &DatasetRecord, wanted: &Join, from: Option<NodeId>) -> Result<NodeId, Error>;

    /// Goes on with a run that is paused, or that ended before its end.
    ///
    /// # Errors
    /// As [`Trainer::begin`]; [`wire::Code::NotFound`] when there is no such run.
    fn go_on(&self, run_id: &str) -> Result<(), Error>;

    /// Pauses the run in hand.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] when none learns.
    fn pause(&self) -> Result<(), Error>;

    /// Ends the run in hand, behind a checkpoint.
    ///
    /// # Errors
    /// [`wire::Code::Conflict`] when there is none.
    fn stop(&self) -> Result<(), Error>;

    /// Measures what a run that ended before its end has learned.
    ///
    /// # Errors
    /// As [`Trainer::go_on`].
    fn prove(&self, run_id: &str) -> Result<(), Error>;

    /// Makes a model with the adapter of a run, under a name among the models in the box.
    ///
    /// # Errors
    /// As [`Trainer::go_on`]; [`wire::Code::Usage`] for a name that cannot be given.
    fn export(&self, run: &RunRecord, name: Option<&str>) -> Result<(), Error>;

    /// Takes away what runs left on this machine of datasets that are not kept any more: copies, checkpoints, and what else
    /// their programs wrote. The run in hand is stopped where it learns from one of them.
    fn forget(&self);

    /// Folders whose work is left out of datasets.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn private(&self) -> Result<Vec<PathBuf>, Error>;

    /// Sets whether work in a folder is left out.
    ///
    /// # Errors
    /// When the settings cannot be kept.
    fn set_private(&self, folder: &Path, is_private: bool) -> Result<Vec<PathBuf>, Error>;

    /// The default model, where it is one in the box: its address, and the digest of its weights.
    fn standard(&self) -> Option<(String, String)>;

    /// The digest of the weights of a model in the box.
    fn weights_of(&self, address: &str) -> Option<String>;
}
