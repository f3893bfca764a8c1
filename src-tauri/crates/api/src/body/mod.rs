//! One function for each command, one file for each noun; names are the table's.

pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod changes;
pub(crate) mod context;
pub(crate) mod conversations;
pub(crate) mod erasure;
pub(crate) mod gate;
pub(crate) mod grants;
pub(crate) mod host;
pub(crate) mod keys;
pub(crate) mod knowledge;
pub(crate) mod ledger;
pub(crate) mod lineage;
pub(crate) mod models;
pub(crate) mod playbooks;
pub(crate) mod policy;
pub(crate) mod proof;
pub(crate) mod receipts;
pub mod room;
pub(crate) mod secrets;
pub(crate) mod store;
pub(crate) mod task;
mod task_control;
pub(crate) mod task_events;
mod task_show;
pub(crate) mod trace;
mod undo;
