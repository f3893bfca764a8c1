//! What a person does with Hermit, done by the real programs: `hermit`, `hermit-exec`, `hermit-verify`, on real
//! folders, through a real terminal, across processes that end or are killed.
//!
//! A [`stage`] is a store with keys, a folder to work in, and a hand that types at a terminal.

mod acp;
mod agents;
mod agents_each_alone;
mod agents_interrupted;
mod agents_tools;
mod asked_by_servers;
mod attached;
mod background_killed;
mod bad_input;
mod bad_servers;
mod boxed;
mod changing_tools;
mod classified;
mod committed;
mod compacting;
mod costs;
mod cut_off;
mod dreamed;
mod editors;
mod embedded;
mod fallbacks;
mod fetched;
mod first_minutes;
#[path = "../../src-tauri/crates/seal/tests/foreign/mod.rs"]
mod foreign;
mod foreign_agents;
mod foreign_clients;
mod foreign_presets;
mod goals;
mod golden;
mod guest_walls;
mod guests;
mod hidden_keys;
mod injected;
mod inspected;
mod interop;
mod interop_clients;
mod keys;
mod killed;
mod large;
mod left_out;
mod logins;
mod meanwhile;
mod memory_then;
mod official;
mod own_rules;
mod packages;
mod passed_on;
mod planted;
mod programs;
mod reach;
mod remembered;
mod remote_tools;
mod remote_wires;
mod rug_pulls;
mod sampling;
mod scheduled;
mod server;
mod server_parts;
mod side_by_side;
mod skills;
mod skins;
mod stage;
mod staged;
mod summary;
mod tidy;
mod tool_bounds;
mod tool_servers;
mod tree;
mod triggered;
mod upgrade;
mod walled_servers;

pub use programs::{desktop_program, exec, hermit, verifier};
