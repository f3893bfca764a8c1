//! The clean room (HV-1-4, HV-7-4): what is studied lies apart and labelled, a change says what it was written from, and a
//! copy is found. The rule for people stands in `CLEAN_ROOM.md`.

pub mod foreign;
pub mod labels;
pub mod packages;
pub mod public_code;
pub mod reach;
pub mod similarity;
pub mod statement;
