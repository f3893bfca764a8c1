//! Checks of this room.

mod actions;
mod anchors;
mod approvals;
mod cards;
mod changed;
mod engine;
mod grants;
mod passkeys;
mod profiles;
mod risks;
mod shells;
mod standing;
mod wildcards;
mod world;
