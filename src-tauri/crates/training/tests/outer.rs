//! Compression, messages and the mean, each against what a stranger may send.

use proptest::prelude::*;
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::BTreeSet;
use training::outer::{
    Compressor, Counted, OuterMessage, OuterSettings, Packed, Robust, Rounds, SignedMessage, State,
    pseudo_gradient, robust_mean,
};

pub fn key(number: usize) -> SeedSigner {
    SeedSigner::from_seed([u8::try_from(number + 1).unwrap(); 32])
}

pub fn signed(message: &OuterMessage, by: &SeedSigner) -> SignedMessage {
    let bytes = message.to_sign();
    SignedMessage { peer: by.public(), signature: by.sign(&bytes).unwrap(), bytes }
}

fn packed(numbers: &[f32]) -> Packed {
    Compressor::new(numbers.len()).unwrap().pack(numbers, numbers.len()).unwrap()
}

fn rounds(peers: usize, length: usize) -> Rounds {
    let peers: BTreeSet<_> = (0..peers).map(|at| key(at).public()).collect();
    Rounds::new(Digest::ZERO, OuterSettings::default(), State::first(vec![0.0; length]), peers).unwrap()
}

fn message(of: &Rounds, packed: Packed) -> OuterMessage {
    OuterMessage { run: of.run(), round: of.state().round, state: of.state().digest(), steps: 1, packed }
}

#[test]
fn a_message_counts_once_by_who_belongs_to_the_run_and_for_its_round_alone() {
    let mut of = rounds(4, 3);
    let one = message(&of, packed(&[1.0, 2.0, 3.0]));
    assert_eq!(of.take(&signed(&one, &key(0))), Ok(Counted::Now));
    assert_eq!(of.take(&signed(&one, &key(0))), Ok(Counted::Known));
    // A copy under another key is that peer's own.
    assert_eq!(of.take(&signed(&one, &key(1))), Ok(Counted::Now));
    assert_eq!(of.heard().len(), 2);
    let another = message(&of, packed(&[3.0, 2.0, 1.0]));
    assert!(
        of.take(&signed(&another, &key(0))).unwrap_err().to_string().contains("another one in this round")
    );
    assert!(of.take(&signed(&one, &key(9))).is_err(), "nobody of the run");
    let mut forged = signed(&one, &key(2));
    forged.bytes[60] ^= 1;
    assert!(of.take(&forged).unwrap_err().to_string().contains("signature"));
    for wrong in [
        OuterMessage { round: 1, ..one.clone() },
        OuterMessage { run: Digest::of(b"other"), ..one.clone() },
        OuterMessage { state: Digest::ZERO, ..one.clone() },
        OuterMessage { steps: 0, ..one.clone() },
        OuterMessage { packed: packed(&[1.0; 4]), ..one.clone() },
    ] {
        assert!(of.take(&signed(&wrong, &key(2))).is_err(), "{wrong:?}");
    }
    let all = of.heard();
    assert!(of.end(&all).is_err(), "two are too few");
    of.take(&signed(&one, &key(2))).unwrap();
    // Who goes is counted with what it sent; who comes sends in the same round.
    of.leave(&key(2).public());
    of.join(key(7).public()).unwrap();
    of.take(&signed(&one, &key(7))).unwrap();
    let all = of.heard();
    let mut other = of.clone();
    assert!(other.end(&BTreeSet::from([Digest::ZERO])).is_err());
    let end = of.end(&all).unwrap().clone();
    assert_eq!((end.round, &end), (1, other.end(&all).unwrap()));
    assert!(of.take(&signed(&one, &key(3))).is_err(), "it is late");
}

#[test]
fn what_is_no_number_gets_nowhere() {
    assert!(pseudo_gradient(&[f32::NAN], &[0.0]).is_err());
    assert!(pseudo_gradient(&[f32::MAX], &[f32::MIN]).is_err());
    assert!(Compressor::new(1).unwrap().pack(&[f32::INFINITY], 1).is_err());
    let mut bytes = packed(&[1.0, 2.0]).to_bytes();
    bytes[4..8].copy_from_slice(&f32::NAN.to_bits().to_be_bytes());
    assert!(Packed::from_bytes(&bytes, 2).is_err());
    bytes[4..8].copy_from_slice(&f32::MAX.to_bits().to_be_bytes());
    assert!(Packed::from_bytes(&bytes, 2).is_err());
    let settings = OuterSettings { rate: f32::NAN, ..OuterSettings::default() };
    assert!(Rounds::new(Digest::ZERO, settings, State::first(vec![0.0]), BTreeSet::new()).is_err());
    assert!(
        Rounds::new(Digest::ZERO, OuterSettings::default(), State::first(vec![f32::NAN]), BTreeSet::new())
            .is_err()
    );
}

fn numbers() -> impl Strategy<Value = Vec<f32>> {
    proptest::collection::vec(-100.0_f32..100.0, 1..60)
}

proptest! {
    #[test]
    fn bytes_are_read_as_they_are_written_and_nothing_else_is(all in numbers(), keep in 0_usize..60, cut in 1_usize..40) {
        let made = Compressor::new(all.len()).unwrap().pack(&all, keep).unwrap();
        let length = u32::try_from(all.len()).unwrap();
        let bytes = made.to_bytes();
        prop_assert_eq!(Packed::from_bytes(&bytes, length).unwrap(), made);
        prop_assert!(Packed::from_bytes(&bytes[..bytes.len().saturating_sub(cut)], length).is_err());
        prop_assert!(Packed::from_bytes(&bytes, length + 1).is_err());
        let mut more = bytes;
        more.push(0);
        prop_assert!(Packed::from_bytes(&more, length).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200), length in any::<u32>()) {
        let _ = OuterMessage::from_bytes(&bytes, length);
        if let Ok(read) = Packed::from_bytes(&bytes, length) {
            prop_assert_eq!(read.to_bytes(), bytes);
        }
    }

    #[test]
    fn what_was_not_sent_is_left_and_what_was_not_counted_comes_back(all in numbers(), keep in 0_usize..60) {
        let mut of = Compressor::new(all.len()).unwrap();
        let made = of.pack(&all, keep).unwrap();
        let mut sum = of.left().to_vec();
        for (place, number) in made.numbers() {
            sum[place as usize] += number;
        }
        for (sum, all) in sum.iter().zip(&all) {
            prop_assert!((sum - all).abs() < 1e-3);
        }
        of.take_back(&made);
        prop_assert!(of.left().iter().zip(&all).all(|(left, all)| (left - all).abs() < 1e-3));
        prop_assert!(Compressor::from_left(of.left().to_vec()).unwrap() == of);
    }

    #[test]
    fn fewer_poisoned_than_are_left_out_move_no_place_further_than_honest_ones(
        honest in proptest::collection::vec(proptest::collection::vec(-1.0_f32..1.0, 4), 8),
        poison in proptest::collection::vec(proptest::collection::vec(-100_000.0_f32..100_000.0, 4), 2),
    ) {
        let all: Vec<Packed> = honest.iter().chain(&poison).map(|one| packed(one)).collect();
        let clipped = Robust { clip: false, ..Robust::default() };
        let mean = robust_mean(&all.iter().collect::<Vec<_>>(), 4, clipped).unwrap();
        let of: Vec<Vec<f32>> = all[..8].iter().map(|one| {
            let mut whole = vec![0.0; 4];
            for (place, number) in one.numbers() { whole[place as usize] = number; }
            whole
        }).collect();
        for (place, mean) in mean.iter().enumerate() {
            let low = of.iter().map(|one| one[place]).fold(f32::INFINITY, f32::min);
            let high = of.iter().map(|one| one[place]).fold(f32::NEG_INFINITY, f32::max);
            prop_assert!((low - 1e-5..=high + 1e-5).contains(mean), "{} {} {}", low, mean, high);
        }
    }
}
