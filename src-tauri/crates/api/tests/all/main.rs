//! Every command against a real store and a real kernel.

mod acts;
mod home;
mod proofs;
mod reads;
mod refusals;
