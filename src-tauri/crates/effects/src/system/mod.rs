//! What systems do differently, each in a file named after what it does. Where a system has no way yet, the function says so and
//! what depends on it is refused: none does nothing and calls it done.

pub(crate) mod file_identity;
pub(crate) mod folder_moves;
pub(crate) mod held_files;
pub(crate) mod layers;
pub(crate) mod lent_places;
pub(crate) mod local_sockets;
pub(crate) mod machine_start;
pub(crate) mod permissions;
pub(crate) mod process_group;
pub(crate) mod tried_against;
pub(crate) mod walls;
