//! The real kernel in small worlds that die: at every durable boundary, at random, and by `kill -9`.
//!
//! What must hold afterwards is in [`audit`]; how a world dies and comes back is in [`sim`].

mod audit;
mod disk;
mod images;
mod killed;
mod points;
mod recorded;
mod seeds;
mod sim;
mod stories;
mod traces;
mod tried;
mod worlds;

/// How much of something to do: `given` in the suite, and as much as a variable says, if it is more.
fn asked(variable: &str, given: usize) -> usize {
    let asked = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(given).max(given)
}
