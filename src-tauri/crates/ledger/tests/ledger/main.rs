//! The ledger from outside: what it takes, what it refuses, what survives, what verification finds.

mod appending;
mod backups;
mod checkpoints;
mod crashes;
mod erasing;
mod fencing;
mod groups;
mod histories;
mod immutable;
mod opening;
mod tampering;
mod world;
