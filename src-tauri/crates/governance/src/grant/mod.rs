//! Scoped authority: minted from a yes of policy or of a person, narrowed, never widened (HK-8.12, HK-16.6).

mod child;
mod mint;

pub use child::{ChildInput, child, is_subset};
pub use mint::{Approved, First, MintInput, mint};
