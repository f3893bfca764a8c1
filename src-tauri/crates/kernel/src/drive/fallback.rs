//! A model does not answer: the next one that a person named for this case is asked, which is never silent. Its prices, its
//! size and its tools count from then on, because the turn is made anew for it.

use crate::Error;
use crate::command::chain::named;
use crate::kernel::Kernel;
use crate::state::AttemptState;
use crate::tx::Tx;
use model::Sensitive;
use model::attempt::AttemptStatus;
use model::body::ModelFellBack;

impl Kernel {
    /// Goes on with the next model of the chain, when there is one. Behind the last, the turn is made anew as well: whoever
    /// lets the task go on begins with the first again.
    pub(super) fn fall_back(
        &self,
        tx: &mut Tx<'_>,
        attempt: &AttemptState,
        error: &reasoning::Error,
    ) -> Result<bool, Error> {
        let contract = self.contract(tx)?;
        let chain = self.chain(tx, &contract, tx.step())?;
        let place = tx.fallen.saturating_add(1);
        let Some(next) = chain.get(place) else {
            if tx.fallen > 0 {
                tx.set_attempt(AttemptStatus::CompilingContext, "no model of the chain has answered")?;
            }
            return Ok(false);
        };
        let ((to_model, remote), from) = (named(next), chain.get(tx.fallen));
        tx.push(ModelFellBack {
            about_attempt_id: attempt.attempt.attempt_id,
            iteration: attempt.iteration,
            place: u32::try_from(place).unwrap_or(u32::MAX),
            from_model: from.map(|from| named(from).0).unwrap_or_default(),
            to_model,
            remote,
            why: Sensitive::from(error.to_string()),
        });
        tx.set_attempt(AttemptStatus::CompilingContext, "asks the next model")?;
        Ok(true)
    }
}
