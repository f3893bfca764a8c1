//! Commands: started behind walls, listened to within bounds, ended for certain, and their marks found afterwards.

mod capture;
mod manifest;
mod run;
pub(crate) mod spool;
pub(crate) mod view;

pub(crate) use run::run;
