//! Changing version control.

use model::vcs::VcsChange;
use serde::{Deserialize, Serialize};

/// A change of version control: a commit, or one branch or tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vcs {
    /// Which change.
    pub change: VcsChange,
}
