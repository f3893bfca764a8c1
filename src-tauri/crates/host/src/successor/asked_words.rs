//! The model that a trial of words asks again: one on this machine, in both arms, with the same seed and settings and as many tokens for
//! each. It is the one that did the recorded tasks, or one that a person names. Without one the arms play recorded answers, and the
//! verdict says why.

use super::confined::CloneEnd;
use super::live_model::{LiveModel, reached};
use super::reads::object;
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
    /// For the arm without it once more, where it would be better.
    pub(super) again: Arc<LiveModel>,
}

impl AskedModel {
    /// Which it is, and how often it answered in both arms.
    pub(super) fn asked(&self) -> Asked {
        let (parent, successor) = (self.parent.answers(), self.successor.answers());
        Asked { model: self.address.clone(), parent, successor }
    }

    /// The same until now: without the change it may be asked once more.
    pub(super) fn asked_until_now(&self) -> Asked {
        let asked = self.asked();
        Asked { parent: asked.parent.saturating_add(self.again.answers()), ..asked }
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
            None => Ok(that_did_most(&self.choices()?)
                .and_then(|address| self.asked(&address).map_err(|why| format!("{why}, or {NAME_ONE}")))),
        }
    }

    fn asked(&self, address: &str) -> Result<AskedModel, String> {
        if self.named.is_some() && self.choices()?.iter().all(by_playbook) {
            return Err(no_model_did_it());
        }
        let reasoner = reached(self.home, &*self.kernel.ports().reasoners, address, None)?;
        let live =
            || Arc::new(LiveModel::new(address, Arc::clone(&reasoner), self.tokens_max, self.tasks.len()));
        Ok(AskedModel { address: address.to_owned(), parent: live(), successor: live(), again: live() })
    }

    /// What did each of the tasks.
    fn choices(&self) -> Result<Vec<ModelChoice>, String> {
        let choice = |task: &TaskId| {
            let state = self.kernel.task(*task).map_err(|e| e.to_string())?;
            let contract = state.digest_of(state.task.task_contract_ref).ok_or("a task has no contract")?;
            object::<TaskContract>(self.kernel, &contract).map(|contract| contract.model)
        };
        self.tasks.iter().map(choice).collect()
    }
}

/// The model on this machine that did most of the tasks; of several that did as many, the first.
///
/// # Errors
/// In words, that none did, and what to do.
fn that_did_most(choices: &[ModelChoice]) -> Result<String, String> {
    let did: Vec<Address> = choices.iter().filter_map(address_of).collect();
    let local: Vec<String> =
        did.iter().filter(|one| !one.leaves_this_machine()).map(Address::to_string).collect();
    let times = |address: &String| local.iter().filter(|one| *one == address).count();
    match local.iter().rev().max_by_key(|address| times(address)) {
        Some(address) => Ok(address.clone()),
        None if !did.is_empty() => Err(format!(
            "the models that did this work are on other machines, and none of it leaves this one for a trial; {NAME_ONE}"
        )),
        None if choices.iter().all(by_playbook) => Err(no_model_did_it()),
        None => Err(format!("the model that did this work cannot be asked any more; {NAME_ONE}")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::task::ModelApi;
    use std::collections::BTreeMap;

    fn server(base_url: &str) -> ModelChoice {
        named(base_url, "one")
    }

    fn named(base_url: &str, model: &str) -> ModelChoice {
        let (base_url, model) = (base_url.to_owned(), model.to_owned());
        ModelChoice::Openai { api: ModelApi::standard(), base_url, model, secret: None }
    }

    #[test]
    fn of_the_models_that_did_the_tasks_the_one_on_this_machine_that_did_most_is_asked() {
        let id = || "art_01a20000000070008000000000000001".parse().unwrap();
        let playbook = || ModelChoice::Playbook {
            name: "tidy".to_owned(),
            artifact_id: id(),
            parameters: BTreeMap::new(),
        };
        let (first, second) = (server("http://127.0.0.1:1/v1"), server("http://localhost:2/v1"));
        let away = server("https://models.example/v1");
        // A server of this machine hands what it is asked on to one elsewhere.
        let handed_on = named("http://127.0.0.1:11434", "gpt-oss:120b-cloud");
        let asked = |all: &[&ModelChoice]| {
            that_did_most(&all.iter().map(|one| (*one).clone()).collect::<Vec<ModelChoice>>())
        };
        let most = [&first, &away, &second, &away, &away, &playbook(), &second];
        assert_eq!(asked(&most).unwrap(), "openai:http://localhost:2/v1#one");
        assert_eq!(asked(&[&second, &first]).unwrap(), "openai:http://localhost:2/v1#one", "the first");
        for (all, says) in [
            (vec![&away, &playbook()], "on other machines"),
            (vec![&handed_on], "on other machines"),
            (vec![&playbook()], "no model did the tasks"),
            (vec![&ModelChoice::Recorded { artifact_id: id() }], "cannot be asked any more"),
        ] {
            let why = asked(&all).unwrap_err();
            assert!(why.contains(says), "`{says}` is not in `{why}`");
        }
    }
}
