//! Would Hermit be better so? Changes of Hermit, what a clone that had one did, and the verdict on it.
//!
//! # What this room is for
//!
//! A successor is a clone of Hermit behind walls that has a change which its parent has not (successor.md). Here is what both sides
//! write down, and what is made of it: the change, the case that is played by both arms, the evidence that each leaves, and the
//! verdict. Who makes the clone, plays the case and asks a person, is no matter here.
//!
//! # What this room must never do
//!
//! Read a clock or a file, run anything, or believe a clone: evidence is a stranger's word about itself, bounded, and compared.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. Equal cases, evidence and seed give the same verdict, byte for byte.
//! 2. Nothing that a change can write turns its verdict: the judge reads the case as the parent made it.
//! 3. A change that allows what was denied is unsafe, whatever else it does.
//! 4. A verdict is void unless each planted bad change was refused in the same run: no change is better or the same by it.
//! 5. A program that a change was built into speaks against that change, and never for it.
//! 6. What a stranger hands in is bounded, and what is too large is refused by name.
//!
//! # Where to start reading
//!
//! [`Patch`], [`Case`], [`Evidence`], [`Verdict`], then [`judge()`].

mod budget;
mod case;
mod constitutional;
mod diff;
mod edited;
mod error;
mod evidence;
mod judge;
pub mod limits;
mod patch;
mod planted;
mod read;
mod verdict;

pub use budget::{Budget, Used};
pub use case::{Case, RecordedAct, RecordedAnswer, RecordedTask};
pub use constitutional::constitutional;
pub use diff::added_text;
pub use edited::{TouchedTests, edited_tests, with_parents_tests};
pub use error::Error;
pub use evidence::{Evidence, Played, PlayedAct, Probe};
pub use judge::{ASKED_ONLY_ONCE, Judged, judge};
pub use patch::{Change, Patch, WordsItem};
pub use planted::planted;
pub use verdict::{
    Asked, Built, Measure, ParentTests, Planted, Reason, TestsRun, VERDICT_PAYLOAD_TYPE, Verdict,
};
pub use words::successor::{Arm, BudgetPart, MeasuredBy, PatchKind, TrialState, VerdictOutcome};
