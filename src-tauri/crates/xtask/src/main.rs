//! Set-up, build, test and release chores, in Rust.
fn main() {}
