//! Twenty peers that learn one linear model together, four of them poisoned (HV-3.8-3): what they send beside plain
//! averaging is printed. `HERMIT_TRAINING_ROUNDS` makes it longer.

use crate::outer::{key, signed};
use seal::{Digest, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use training::outer::{Compressor, OuterMessage, OuterSettings, Robust, Rounds, State, pseudo_gradient};

const PEERS: usize = 20;
const POISONED: usize = 4;
const LENGTH: usize = 400;
const STEPS: u32 = 10;

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between -1 and 1.
    fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Steps of one peer alone: each of one example of its own data, a row of numbers with what the true model makes of it.
fn learn(state: &State, truth: &[f32], chance: &mut Chance) -> Vec<f32> {
    let mut own = state.parameters.clone();
    for _ in 0..STEPS {
        for ((own, truth), noise) in own.iter_mut().zip(truth).zip(std::iter::repeat_with(|| chance.number()))
        {
            *own -= 0.08 * (*own - *truth + noise * 0.2);
        }
    }
    own
}

fn loss(state: &State, truth: &[f32]) -> f64 {
    let squares = state.parameters.iter().zip(truth).map(|(own, truth)| f64::from(own - truth).powi(2));
    squares.sum::<f64>() / truth.len() as f64
}

struct Outcome {
    loss: f64,
    sent: usize,
    plain: usize,
}

/// A run; a peer that is gone in a round sends nothing and keeps what it has.
fn run(settings: OuterSettings, keep: usize, poisoned: usize) -> Outcome {
    let count = std::env::var("HERMIT_TRAINING_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60_u32);
    let mut chance = Chance(7);
    let truth: Vec<f32> = (0..LENGTH).map(|_| chance.number()).collect();
    let peers: BTreeSet<_> = (0..PEERS).map(|at| key(at).public()).collect();
    let first = State::first(vec![0.0; LENGTH]);
    let mut rounds = Rounds::new(Digest::of(b"run"), settings, first, peers).unwrap();
    let mut kept: BTreeMap<usize, Compressor> =
        (0..PEERS).map(|at| (at, Compressor::new(LENGTH).unwrap())).collect();
    let (mut sent, mut plain) = (0, 0);
    for round in 0..count {
        // One honest peer leaves in every fourth round, and is back in the next one.
        let gone = PEERS - 1 - (round as usize / 4) % (PEERS - POISONED);
        let is_gone = round % 4 == 3;
        if is_gone {
            rounds.leave(&key(gone).public());
        }
        for (at, kept) in kept.iter_mut().filter(|(at, _)| !(is_gone && **at == gone)) {
            let own = learn(rounds.state(), &truth, &mut chance);
            let mut way = pseudo_gradient(&rounds.state().parameters, &own).unwrap();
            if *at < poisoned {
                // Poison goes the other way, a thousand times as far.
                way.iter_mut().for_each(|number| *number *= -1_000.0);
                *kept = Compressor::new(LENGTH).unwrap();
            }
            let packed = kept.pack(&way, keep).unwrap();
            let (run, state) = (rounds.run(), rounds.state().digest());
            let message = OuterMessage { run, round, state, steps: STEPS, packed };
            let signed = signed(&message, &key(*at));
            sent += signed.bytes.len();
            plain += LENGTH * 4;
            rounds.take(&signed).unwrap();
        }
        let all = rounds.heard();
        rounds.end(&all).unwrap();
        rounds.join(key(gone).public()).unwrap();
    }
    Outcome { loss: loss(rounds.state(), &truth), sent, plain }
}

#[test]
fn four_poisoned_peers_of_twenty_do_not_keep_the_others_from_learning() {
    let began = 1.0 / 3.0;
    let honest = run(OuterSettings::default(), LENGTH / 4, 0);
    let attacked = run(OuterSettings::default(), LENGTH / 4, POISONED);
    let trusting =
        OuterSettings { robust: Robust { trim_percent: 0, clip: false }, ..OuterSettings::default() };
    let share = |one: &Outcome| one.sent as f64 * 100.0 / one.plain as f64;
    println!(
        "20 peers, {} bytes sent, plain averaging {} ({:.1} of a hundred); loss {:.5} of {began:.5}, with {POISONED} poisoned {:.5}",
        attacked.sent,
        attacked.plain,
        share(&attacked),
        honest.loss,
        attacked.loss
    );
    assert!(honest.loss < began / 20.0, "{}", honest.loss);
    assert!(attacked.loss < began / 20.0, "{}", attacked.loss);
    assert!(share(&attacked) < 30.0);
    // The same poison breaks a plain mean, so the attack is one.
    let broken = std::panic::catch_unwind(|| run(trusting, LENGTH / 4, POISONED).loss);
    assert!(broken.is_err() || broken.is_ok_and(|loss| !loss.is_finite() || loss > began * 10.0));
}
