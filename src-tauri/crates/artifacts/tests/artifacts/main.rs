//! The artifact store from outside: what it keeps, what it refuses to return, what a crash leaves.

mod crashes;
mod garbage;
mod keeping;
mod world;
