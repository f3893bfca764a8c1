//! What only the whole kernel can show, in small worlds of its own. One binary: the kernel links half of Hermit.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test that cannot go on stops where it stands, and is told by the environment how long to go on"
)]

mod adopting;
mod adopting_edited;
mod afar;
mod anchoring;
mod answers;
mod approvals;
mod attempts;
mod audit;
mod authorities;
mod beliefs;
mod beside;
mod between;
mod bounded;
mod calls;
mod capability;
mod chain;
mod channels;
mod chatting;
mod children;
mod classes;
mod clocks;
mod closed;
mod collecting;
mod compacting;
mod conversing;
mod costs;
mod criteria;
mod cut;
mod decisions;
mod dreaming;
mod dual;
mod enclosing;
mod endings;
mod fallback;
mod fetching;
mod following;
mod gateways;
mod governed;
mod ground;
mod halting;
mod helping;
mod history;
mod hooks;
mod identity;
mod ingress;
mod kinds;
mod know_how;
mod lasting;
mod layers;
mod lengthy;
mod lessened;
mod lifecycles;
mod limits;
mod live;
mod lookers;
mod loops;
mod meaning;
mod memory;
mod mesh;
mod mesh_approvals;
mod mesh_heads;
mod meshed;
mod months;
mod objects;
mod observing;
mod offered;
mod overriding;
mod part;
mod passkeys;
mod pictures;
mod poison;
mod precedence;
mod principals;
mod projects;
mod publishing;
mod receipts;
mod recommended;
mod records;
mod recovery;
mod registered;
mod remembering;
mod resources;
mod retelling;
mod rules;
mod sampled;
mod schedules;
mod second_look;
mod secrets;
mod seeing;
mod senders;
mod several;
mod skills;
mod skins;
mod standing;
mod state_lines;
mod state_roots;
mod stations;
mod statuses;
mod steps;
mod story;
mod talk;
mod told;
mod trials;
mod triggers;
mod turn;
mod unattended;
mod undoing;
mod versioning;
mod views;
mod waiting;
mod withheld;
