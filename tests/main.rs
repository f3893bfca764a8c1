//! Every proof that the whole house stands, in one binary.

mod conformance;
mod house;
