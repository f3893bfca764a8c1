//! Outer-step training (HV-3.8-3): each peer learns alone for some steps, sends how far it came, compressed and signed,
//! and all go on from the robust mean of what was counted.

mod compress;
mod message;
mod robust;
mod rounds;
mod together;

pub use compress::{Compressor, PARAMETERS_MAX, Packed, pseudo_gradient};
pub use message::{MESSAGE_BYTES_MAX, OuterHead, OuterMessage, SignedMessage};
pub use robust::{Robust, robust_mean};
pub use rounds::{Counted, OuterSettings, PEERS_MAX, Rounds, State};
pub use together::{
    Course, MACHINES_MAX, PARCEL_BYTES_MAX, PATIENCE_S_MAX, Parcel, ParcelHead, ROUND_STEPS_MAX, ROUNDS_MAX,
    Sent, Terms, is_name,
};
