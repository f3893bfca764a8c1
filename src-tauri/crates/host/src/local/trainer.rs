//! Training in a store that this process holds, as commands ask for it.

use super::Local;
use crate::trainer::{Trainer, Wish, With, program};
use crate::{Config, Error, model_box};
use kernel::training_registry::{DatasetRecord, RunRecord};
use mesh::NodeId;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::training::{Join, Run, RunStands, Together};

/// Folders that can be marked.
const PRIVATE_MAX: usize = 1_000;

impl Local {
    fn for_training(&self) -> Result<With, wire::Error> {
        Ok(With {
            home: self.home.clone(),
            kernel: Arc::clone(&self.owned()?.kernel),
            executors: Arc::clone(&self.executors),
            notices: Arc::clone(&self.notices),
            mesh: self.owned()?.mesh.thread(),
        })
    }
}

impl api::Trainer for Local {
    fn stands(&self) -> RunStands {
        let resumable = self.owned.as_ref().map(|owned| self.trainer.resumable(&self.home, &owned.kernel));
        let invitations = self.owned.as_ref().map(|owned| Trainer::invitations(&self.home, &owned.kernel));
        let private = self.private().unwrap_or_default();
        RunStands {
            run: self.trainer.live(),
            resumable: resumable.unwrap_or_default(),
            invitations: invitations.unwrap_or_default(),
            private: private.iter().map(|folder| folder.display().to_string()).collect(),
            trouble: program().err(),
        }
    }

    fn begin(&self, dataset: &DatasetRecord, wanted: &Run) -> Result<(), wire::Error> {
        self.trainer.begin(self.for_training()?, dataset, wanted).map_err(Error::to_wire)
    }

    fn together(
        &self,
        dataset: &DatasetRecord,
        wanted: &Together,
        with: &[NodeId],
    ) -> Result<(), wire::Error> {
        self.trainer.together(self.for_training()?, dataset, wanted, with).map_err(Error::to_wire)
    }

    fn join(
        &self,
        dataset: &DatasetRecord,
        wanted: &Join,
        from: Option<NodeId>,
    ) -> Result<NodeId, wire::Error> {
        self.trainer.join(self.for_training()?, dataset, wanted, from).map_err(Error::to_wire)
    }

    fn go_on(&self, run_id: &str) -> Result<(), wire::Error> {
        self.trainer.go_on(self.for_training()?, run_id).map_err(Error::to_wire)
    }

    fn pause(&self) -> Result<(), wire::Error> {
        self.trainer.say(Wish::Pause).map_err(Error::to_wire)
    }

    fn stop(&self) -> Result<(), wire::Error> {
        self.trainer.say(Wish::Stop).map_err(Error::to_wire)
    }

    fn prove(&self, run_id: &str) -> Result<(), wire::Error> {
        self.trainer.prove(self.for_training()?, run_id).map_err(Error::to_wire)
    }

    fn export(&self, run: &RunRecord, name: Option<&str>) -> Result<(), wire::Error> {
        self.trainer.export(self.for_training()?, run, name).map_err(Error::to_wire)
    }

    fn forget(&self) {
        if let Some(owned) = &self.owned {
            self.trainer.forget(&self.home, &owned.kernel);
        }
    }

    fn private(&self) -> Result<Vec<PathBuf>, wire::Error> {
        Ok(Config::load(&self.home).map_err(Error::to_wire)?.private_folders)
    }

    fn set_private(&self, folder: &Path, is_private: bool) -> Result<Vec<PathBuf>, wire::Error> {
        let changed = Config::change(&self.home, |config| {
            config.private_folders.retain(|known| known != folder);
            if is_private && config.private_folders.len() >= PRIVATE_MAX {
                let message = format!("{PRIVATE_MAX} folders are marked private already");
                let hint = "mark a folder above several of them";
                return Err(Error::Said(wire::Error::new(wire::Code::Usage, message).hint(hint)));
            }
            if is_private {
                config.private_folders.push(folder.to_owned());
                config.private_folders.sort_unstable();
            }
            Ok(config.private_folders.clone())
        });
        changed.map_err(Error::to_wire)
    }

    fn standard(&self) -> Option<(String, String)> {
        let address = Config::in_force(&self.home).default_model?;
        let sha256 = self.weights_of(&address)?;
        Some((address, sha256))
    }

    fn weights_of(&self, address: &str) -> Option<String> {
        model_box::weights_of(&self.home, address)
    }
}
