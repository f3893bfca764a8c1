//! Commands in the folder itself: started behind walls, listened to within bounds, ended for certain, and their marks found afterwards.

pub(crate) mod capture;
mod manifest;
pub(crate) mod process_limits;
pub(crate) mod reach;
pub(crate) mod removal;
pub(crate) mod run;
pub(crate) mod spool;
pub(crate) mod supervise;
pub(crate) mod view;

pub(crate) use run::run;

use crate::{Error, Executors};
use manifest::{Difference, Manifest};

/// What differs from before a command whose host did not live to compare.
pub(crate) fn difference_since(
    executors: &Executors,
    request: model::ActionRequestId,
) -> Result<Difference, Error> {
    let folder = executors.spool.folder(request).join("before");
    let before = Manifest::load(&folder);
    before.map_err(|source| Error::Spool { doing: "reading a manifest", source })?.difference(executors)
}
