//! What the mesh takes from the settings of this machine each time it needs it: who proposes in goals of others, and what can be told.

use crate::mesh_settings::MeshSettings;
use crate::reasoners::chosen;
use crate::{Config, Home};
use kernel::command::mesh::MeshTerms;
use model::policy::Profile;
use reasoning::Address;
use std::collections::BTreeSet;
use wire::task::Reasoner;

/// Where terms come from.
pub trait Terms: Send {
    /// The terms of goals from other machines.
    ///
    /// # Errors
    /// In words, where no model can be had.
    fn terms(&self, settings: &MeshSettings) -> Result<MeshTerms, String>;

    /// Models that this machine has, by name.
    fn models(&self, settings: &MeshSettings) -> BTreeSet<String>;
}

/// From the settings in force.
pub struct HomeTerms(pub Home);

/// Who is to propose, as the settings name it.
pub fn proposer(settings: &MeshSettings) -> Reasoner {
    match &settings.model {
        Some(address) => Reasoner::Address { address: address.clone() },
        None => Reasoner::Standard,
    }
}

impl Terms for HomeTerms {
    fn terms(&self, settings: &MeshSettings) -> Result<MeshTerms, String> {
        let config = Config::load(&self.0).map_err(|e| e.to_string())?;
        let reasoning = chosen(&proposer(settings), &config, &self.0).map_err(|e| e.message)?;
        Ok(MeshTerms { folders: settings.folders.clone(), reasoning, profile: Profile::LocalEditAllowed })
    }

    fn models(&self, settings: &MeshSettings) -> BTreeSet<String> {
        let config = Config::in_force(&self.0);
        let set = config.models.iter().map(|one| &one.address);
        let all = set.chain(&config.default_model).chain(&settings.model);
        all.filter_map(|address| named(address)).collect()
    }
}

/// A model by its name: where its server is is nobody's business.
fn named(address: &str) -> Option<String> {
    let address: Address = address.parse().ok()?;
    if let Some((name, _)) = address.in_box() {
        return Some(name.to_owned());
    }
    match address {
        Address::Server { model, .. } => Some(model),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_by_its_name_and_never_by_its_address() {
        assert_eq!(named("openai:http://127.0.0.1:8080/v1#qwen").as_deref(), Some("qwen"));
        assert_eq!(named("playbook:tidy"), None);
        assert_eq!(named("nothing"), None);
    }
}
