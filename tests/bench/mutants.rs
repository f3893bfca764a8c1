//! The mutation harness at full size: `--mutants N` of all that there are, on both cores.

use crate::Asked;
use crate::board::Board;
use crate::proofs::shared::world::mutations::harness;

pub fn run(asked: &Asked, _: &Board) {
    let begin = std::time::Instant::now();
    let (tally, all) = harness(asked.mutants);
    for (class, count) in &tally.refused {
        println!("  {count:>9} refused  {class:?}");
    }
    println!("  {:>9} mutants in {:.0} s, of {all} there are", tally.total(), begin.elapsed().as_secs_f64());
    assert!(tally.passed.is_empty(), "passed: {:#?}", tally.passed);
}
