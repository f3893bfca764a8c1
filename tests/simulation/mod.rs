//! The real kernel in small worlds that die: at every durable boundary, at random, and by `kill -9`.
//!
//! What must hold afterwards is in [`audit`]; how a world dies and comes back is in [`sim`].

mod audit;
mod killed;
mod points;
mod seeds;
mod sim;
mod stories;

/// How much of something to do: `given` in the suite, and with `HERMIT_SIMULATION_SEEDS` as much as that says.
fn size(given: usize) -> usize {
    let asked = std::env::var("HERMIT_SIMULATION_SEEDS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(given)
}
