//! Models that are asked one after the other: what a chain may be, and who is asked now.

use super::submit::{Reasoning, Submission};
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use model::task::{ModelChoice, Step, StepContract, TaskContract};
use reasoning::Address;

/// Models that may follow the first.
const FALLBACKS_MAX: usize = 4;

/// Whether a chain may be: models alone, each once, and none on another machine behind one on this machine unless a
/// person said so.
pub(crate) fn check(submission: &Submission) -> Result<(), Error> {
    let wrong = |why: String| Err(Error::Input(why));
    if submission.fallbacks.is_empty() {
        return Ok(());
    }
    if submission.fallbacks.len() > FALLBACKS_MAX {
        return wrong(format!("a model may have {FALLBACKS_MAX} others to follow it, and no more"));
    }
    let mut known = Vec::new();
    for reasoning in std::iter::once(&submission.reasoning).chain(&submission.fallbacks) {
        let Some(address) = address_of(reasoning) else {
            return wrong(
                "only a model follows a model: name addresses such as `openai:URL#NAME`".to_owned(),
            );
        };
        let is_behind_local = known.iter().any(|before: &Address| !before.leaves_this_machine());
        if address.leaves_this_machine() && is_behind_local && !submission.fallback_remote {
            return wrong(format!(
                "`{address}` is on another machine and would follow a model on this one, so what stays here now would \
                 leave; say `--fallback-remote` if it may"
            ));
        }
        if known.contains(&address) {
            return wrong(format!("`{address}` is named twice; a model is asked once"));
        }
        known.push(address);
    }
    Ok(())
}

fn address_of(reasoning: &Reasoning) -> Option<Address> {
    let Reasoning::Openai { api, base_url, model, .. } = reasoning else { return None };
    Some(Address::Server { api: *api, url: base_url.clone(), model: model.clone() })
}

/// A model's name, and whether it is on another machine.
pub(crate) fn named(choice: &ModelChoice) -> (String, bool) {
    match choice {
        ModelChoice::Openai { api, base_url, model, .. } => {
            let address = Address::Server { api: *api, url: base_url.clone(), model: model.clone() };
            (model.clone(), address.leaves_this_machine())
        }
        ModelChoice::Scripted { name } => (name.clone(), false),
        other => (other.proposer().to_string(), false),
    }
}

impl Kernel {
    /// The reasoner that a step names, else the one of the task's chain that is asked now.
    pub(crate) fn choice_in(
        &self,
        state: &TaskState,
        contract: &TaskContract,
        step: Option<&Step>,
    ) -> Result<ModelChoice, Error> {
        let mut chain = self.chain(state, contract, step)?;
        let at = state.fallen.min(chain.len().saturating_sub(1));
        Ok(chain.swap_remove(at))
    }

    /// Who may be asked in a step, in order: the step's own, else those of the task.
    pub(crate) fn chain(
        &self,
        state: &TaskState,
        contract: &TaskContract,
        step: Option<&Step>,
    ) -> Result<Vec<ModelChoice>, Error> {
        if let Some(step) = step {
            let step: StepContract = self.read_object(state, step.contract_ref)?;
            if let Some(own) = step.model {
                return Ok(vec![own]);
            }
        }
        Ok(std::iter::once(&contract.model).chain(&contract.fallbacks).cloned().collect())
    }
}
