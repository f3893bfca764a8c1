//! What carries out each tool: how it is done, what a crash left of it, and what of the rest may be done then.

use crate::change::scope::Scope;
use crate::{Executors, Outcome, Progress, Settled};
use acts::{Action, ActionRequest};
use model::UnixMs;
use model::witness::StateWitness;

/// One authorised act in hand.
pub(crate) struct Execution<'a> {
    pub(crate) executors: &'a Executors,
    pub(crate) scope: &'a Scope<'a>,
    pub(crate) request: &'a ActionRequest,
    pub(crate) started: UnixMs,
    /// Asked between items, and while a command runs.
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// A tool's executor. How it is undone stands in `undo`, from what its receipt tells.
pub(crate) trait Executor {
    /// Does what was authorised, and nothing else; every failure is in the outcome.
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome;

    /// After a crash: looks and never runs; puts what it found into `settled`. `before` is the witness observed before
    /// dispatch.
    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    );

    /// Does what `settled` found not done and whose prior still holds; none where a tool is never gone on with.
    fn roll_forward(&self, _act: &Execution<'_>, _settled: &Settled) -> Option<Outcome> {
        None
    }
}

/// Makes the modules of the executors, and the way from an action to its own, from the list of tools.
macro_rules! executors {
    ($($(#[$meta:meta])* $module:ident::$tool:ident = $tag:literal,)+) => {
        $(mod $module;)+

        /// The executor of an action.
        pub(crate) const fn executor(action: &Action) -> &dyn Executor {
            match action { $(Action::$tool(tool) => tool,)+ }
        }
    };
}

acts::each_tool!(executors);
