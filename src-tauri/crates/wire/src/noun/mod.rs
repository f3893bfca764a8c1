//! One file for each noun of the table: its parameters and its answers.

pub mod agent;
pub mod approvals;
pub mod artifacts;
pub mod changes;
pub mod context;
pub mod conversations;
pub mod erasure;
pub mod gate;
pub mod grants;
pub mod host;
pub mod keys;
pub mod knowledge;
pub mod ledger;
pub mod lineage;
pub mod models;
pub mod playbooks;
pub mod policy;
pub mod proof;
pub mod receipts;
pub mod secrets;
pub mod store;
pub mod task;
pub mod task_events;
pub mod tools;
pub mod trace;
pub mod workspaces;
