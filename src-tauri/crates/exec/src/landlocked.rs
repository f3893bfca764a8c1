//! Landlock: which files, which ports, which processes.

use crate::Error;
use crate::walls::Walls;
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, path_beneath_rules,
};

/// The version of Landlock this was written for; older kernels give what they have and it is said.
const VERSION: ABI = ABI::V7;

/// `full`, `part` or `none`. A place that does not exist is no place to open.
pub(crate) fn restrict(walls: &Walls) -> Result<&'static str, Error> {
    build(walls).map_err(|e| Error::wall("Landlock", e))
}

fn build(walls: &Walls) -> Result<&'static str, RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?;
    if !walls.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
    }
    let ruleset = ruleset.scope(Scope::from_all(VERSION))?.create()?;
    let ruleset = ruleset.add_rules(path_beneath_rules(&walls.read, AccessFs::from_read(VERSION)))?;
    let ruleset = ruleset.add_rules(path_beneath_rules(&walls.write, AccessFs::from_all(VERSION)))?;
    Ok(match ruleset.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => "full",
        RulesetStatus::PartiallyEnforced => "part",
        RulesetStatus::NotEnforced => "none",
    })
}
