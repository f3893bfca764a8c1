//! Checks a bundle with no store at hand.
fn main() {}
