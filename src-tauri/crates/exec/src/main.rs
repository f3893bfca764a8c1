//! Placeholder until the next commit of this room.
fn main() {}
