//! Schedules that the mesh holds (HV-3.5-3).

use super::MeshDone;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use mesh::{Command, Delivered};

impl Kernel {
    pub(super) fn deliver_slot(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn news_of_slots(&self, _registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        Ok(Vec::new())
    }
}
