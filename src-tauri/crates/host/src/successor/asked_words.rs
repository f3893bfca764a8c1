//! The model that a trial of words asks again: one on this machine, in both arms, with the same seed and settings and as many tokens for
//! each. It is the one that did the recorded tasks, or one that a person names. Without one the arms play recorded answers, and the
//! verdict says why.

use super::confined::CloneEnd;
use super::live_model::{LiveModel, reached};
use super::told::object;
use crate::Home;
use ::successor::Asked;
use kernel::Kernel;
use model::TaskId;
use model::task::{ModelChoice, TaskContract};
use reasoning::Address;
use std::sync::Arc;

/// What to do where no model is asked.
const NAME_ONE: &str = "name a model on this machine (`--ask MODEL`)";

/// A model that is asked again in both arms.
#[derive(Clone)]
pub struct AskedModel {
    address: String,
    /// For the arm without the change.
    pub(super) parent: Arc<LiveModel>,
    /// For the arm with it.
    pub(super) successor: Arc<LiveModel>,
}

impl AskedModel {
    /// Which it is, and how often it has answered until now.
    pub(super) fn asked(&self) -> Asked {
        let (parent, successor) = (self.parent.answers(), self.successor.answers());
        Asked { model: self.address.clone(), parent, successor }
    }

    /// In words, that an arm came to no end with it.
    pub(super) fn unfinished(&self, end: &CloneEnd) -> String {
        format!(
            "the model `{}` did not come to the end of these tasks without the change: {}; try it on fewer tasks, or let each \
             clone use more",
            self.address,
            end.in_words()
        )
    }
}

/// What a model is looked for by.
pub(super) struct Wanted<'a> {
    /// The store.
    pub(super) home: &'a Home,
    /// Its log, and whoever makes models.
    pub(super) kernel: &'a Kernel,
    /// The one that a person named.
    pub(super) named: Option<&'a str>,
    /// Tasks that are played.
    pub(super) tasks: &'a [TaskId],
    /// Tokens that it may read and write in each arm.
    pub(super) tokens_max: u64,
}

impl Wanted<'_> {
    /// The model that is asked; or, within, why none is and what to do.
    ///
    /// # Errors
    /// In words, where a person named one and it cannot be asked.
    pub(super) fn found(&self) -> Result<Result<AskedModel, String>, String> {
        match self.named {
            Some(named) => self.asked(named).map(Ok),
            None => Ok(self
                .that_did_it()
                .and_then(|address| self.asked(&address).map_err(|why| format!("{why}, or {NAME_ONE}")))),
        }
    }

    fn asked(&self, address: &str) -> Result<AskedModel, String> {
        if self.named.is_some() && self.contracts()?.iter().all(by_playbook) {
            return Err(no_model_did_it());
        }
        let reasoner = reached(self.home, &*self.kernel.ports().reasoners, address, None)?;
        let live =
            || Arc::new(LiveModel::new(address, Arc::clone(&reasoner), self.tokens_max, self.tasks.len()));
        Ok(AskedModel { address: address.to_owned(), parent: live(), successor: live() })
    }

    /// The model on this machine that did most of the tasks.
    ///
    /// # Errors
    /// In words, that none did, and what to do.
    fn that_did_it(&self) -> Result<String, String> {
        let choices = self.contracts()?;
        let did: Vec<Address> = choices.iter().filter_map(address_of).collect();
        let local: Vec<String> = did.iter().filter(|one| !one.is_remote()).map(Address::to_string).collect();
        let times = |address: &String| local.iter().filter(|one| *one == address).count();
        // Of several that did as many, the first.
        match local.iter().rev().max_by_key(|address| times(address)) {
            Some(address) => Ok(address.clone()),
            None if !did.is_empty() => Err(format!(
                "the models that did this work are on other machines, and none of it leaves this one for a trial; {NAME_ONE}"
            )),
            None if choices.iter().all(by_playbook) => Err(no_model_did_it()),
            None => Err(format!("the model that did this work cannot be asked any more; {NAME_ONE}")),
        }
    }

    /// What did each of the tasks.
    fn contracts(&self) -> Result<Vec<ModelChoice>, String> {
        let choice = |task: &TaskId| {
            let state = self.kernel.task(*task).map_err(|e| e.to_string())?;
            let contract = state.digest_of(state.task.task_contract_ref).ok_or("a task has no contract")?;
            object::<TaskContract>(self.kernel, &contract).map(|contract| contract.model)
        };
        self.tasks.iter().map(choice).collect()
    }
}

fn no_model_did_it() -> String {
    "no model did the tasks that are played: name one that a model did (`--on TASK`)".to_owned()
}

fn by_playbook(choice: &ModelChoice) -> bool {
    matches!(choice, ModelChoice::Playbook { .. })
}

/// The address of a model behind a server, as a person names it.
fn address_of(choice: &ModelChoice) -> Option<Address> {
    match choice {
        ModelChoice::Openai { api, base_url, model, .. } => {
            Some(Address::Server { api: *api, url: base_url.clone(), model: model.clone() })
        }
        _ => None,
    }
}
