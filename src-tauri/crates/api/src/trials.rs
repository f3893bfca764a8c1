//! What commands about trials of changes ask of whoever runs them.

use ::successor::Asked;
use model::TaskId;
use wire::Error;
use words::successor::TrialStage;

/// Tasks of the person's past work for a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Those that both arms play: the ones that were named, then the ones that the seed drew.
    pub tasks: Vec<TaskId>,
    /// Those that the seed drew and that are not played, as they are too large; as many as are told.
    pub left_out: Vec<TaskId>,
}

/// Trials of changes of Hermit, in the process that can make clones.
pub trait Trials: Send + Sync {
    /// Draws tasks of the person's past work that can be played again: those that are named, and as many more that the seed draws as
    /// there are to be `most` together. The same log and seed give the same ones.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for a named task that cannot be played again, with why.
    fn draw(&self, seed: u64, named: &[TaskId], most: usize) -> Result<Drawn, Error>;

    /// Whether what a task that is under way has done so far can be played again. Its act in hand is the one that asks for a trial.
    ///
    /// # Errors
    /// In words, why not.
    fn so_far(&self, _: TaskId) -> Result<(), String> {
        Err("what a task has done so far cannot be played again here".to_owned())
    }

    /// Begins to run a trial that is on record, and returns at once. `ask`: the model on this machine that is asked again about words that a
    /// model reads; where none is named, the one that did the tasks.
    ///
    /// # Errors
    /// [`wire::Code::Failed`] with why no clone can be made here.
    fn begin(&self, trial_id: &str, ask: Option<&str>) -> Result<(), Error>;

    /// Ends the clones of a trial that is stopped; nothing where none are at work.
    fn stop(&self, trial_id: &str);

    /// The model that a trial which runs asks again in both arms, and how often it has answered until now; none where none is asked.
    fn asked(&self, _: &str) -> Option<Asked> {
        None
    }

    /// What a trial that runs here is at; none where it has not begun to.
    fn stage(&self, _: &str) -> Option<TrialStage> {
        None
    }
}
