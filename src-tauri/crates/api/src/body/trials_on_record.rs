//! Trials of changes, put on record before anything runs, and that one does not run after all.

use crate::{Wire as _, of_kernel};
use kernel::Kernel;
use kernel::command::successor::BegunTrial;
use wire::Error;

/// Puts trials on record: one, or a tournament. Where one cannot be, none of the others runs.
pub(super) fn on_record(kernel: &Kernel, all: Vec<BegunTrial>) -> Result<Vec<String>, Error> {
    let mut ids: Vec<String> = Vec::with_capacity(all.len());
    for one in &all {
        let id = match ids.first() {
            None => kernel.begin_trial(one),
            Some(first) => kernel.begin_trial_beside(first, one),
        };
        match id {
            Ok(id) => ids.push(id),
            Err(error) => {
                let mut refused = of_kernel(error);
                for id in &ids {
                    let why = "a change that was to race with it could not be tried";
                    if let Err(unsaid) = not_begun(kernel, id, why) {
                        let before = &refused.message;
                        refused.message = format!(
                            "{before}; that `{id}` does not run is not on record: {}",
                            unsaid.message
                        );
                    }
                }
                return Err(refused);
            }
        }
    }
    Ok(ids)
}

/// Says in the log that a trial did not begin. One that somebody stopped meanwhile has its end there.
pub(super) fn not_begun(kernel: &Kernel, trial_id: &str, why: &str) -> Result<(), Error> {
    match kernel.fail_trial(trial_id, why) {
        Ok(()) | Err(kernel::Error::Conflict(_)) => Ok(()),
        Err(error) => Err(error).wire(),
    }
}
