//! Words for the mesh of one's own machines. What its nodes say to each other is in the room `mesh`.

pub use words::mesh::{DeliveryState, MeshAlert, MeshPairingState, NeverReason};
